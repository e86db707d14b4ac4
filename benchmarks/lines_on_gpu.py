"""The job `lines` of `batch.py` with other registers of a thread: what bounds it.

python benchmarks/lines_on_gpu.py --registers 128 255 --cases 67584 --duration 10
"""

from __future__ import annotations

import argparse
import json
import warnings

import batch

import swelltree as sw
from swelltree.jit.ensemble import gpu_runs


def main() -> None:
    """A line for each number of registers and cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--registers", type=int, nargs="*", default=[128, 255])
    parser.add_argument("--cases", type=int, nargs="*", default=[67_584])
    parser.add_argument("--duration", type=float, default=10.0)
    specified = parser.parse_args()
    warnings.simplefilter("ignore", sw.SwelltreeWarning)
    built = batch.system("lines")
    for registers in specified.registers:
        gpu_runs.ROW_REGISTERS = registers
        for count in specified.cases:
            line = batch.measure(
                "lines", built, count, "gpu", "float64", specified.duration, ["statistics"]
            )
            print(json.dumps({"registers": registers} | line), flush=True)


if __name__ == "__main__":
    main()
