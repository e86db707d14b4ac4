"""The ten lines of the README in a fresh process: cold, and with compiled programs in the cache.

python benchmarks/ten_lines.py
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
TIMES = 3


def lines() -> str:
    """The first block of Python of the README."""
    found = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert found is not None
    return found[1]


def spent(cache: str) -> tuple[float, float]:
    """Wall time and CPU time [s] of the lines."""
    env = os.environ | {"SWELLTREE_CACHE_DIR": cache}
    before, began = os.times(), time.perf_counter()
    subprocess.run([sys.executable, "-W", "ignore", "-c", lines()], env=env, check=True)
    after = os.times()
    machine = after.children_user + after.children_system
    return time.perf_counter() - began, machine - before.children_user - before.children_system


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        print("cold: {:.1f} s, {:.1f} s of the machine".format(*spent(cache)))
        warm = sorted(spent(cache) for _ in range(TIMES))[TIMES // 2]
        print("warm: {:.1f} s, {:.1f} s of the machine".format(*warm))


if __name__ == "__main__":
    main()
