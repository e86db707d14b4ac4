"""Wall time from the start of a fresh process to its first result, with empty and filled cache.

`python benchmarks/cold_start.py 3` starts processes of `ours.py --first`: the clock runs from
before the process exists until it has printed its result, so the imports are inside.
`SWELLTREE_CACHE_DIR` points them to a folder of this run only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from chain import report

OURS = Path(__file__).with_name("ours.py")


def first_result(n_bodies: int, cache: str) -> float:
    """Seconds until a fresh process has printed `ready`."""
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, str(OURS), "--first", str(n_bodies)],
        env={**os.environ, "SWELLTREE_CACHE_DIR": cache},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        ready = any(line.strip() == "ready" for line in process.stdout)
        elapsed = time.perf_counter() - start
        if process.wait() != 0 or not ready:
            raise SystemExit(f"ours.py --first {n_bodies} gave no result: see its message above")
    return elapsed


def measure(n_bodies: int, repeats: int = 3) -> None:
    cold, warm = [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(first_result(n_bodies, cache))
            warm.append(first_result(n_bodies, cache))
    report(engine="swelltree", n_bodies=n_bodies, cold_s=min(cold), cached_s=min(warm))


if __name__ == "__main__":
    for argument in sys.argv[1:] or ["2", "3", "10"]:
        measure(int(argument))
