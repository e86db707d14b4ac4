"""Steps by hand in a loop, as reinforcement learning and hardware in the loop take them.

The RM3 in an irregular sea, steps of 0.1 s, another force of the PTO in each, one channel read;
CPU time per step. "general" is the way of the first steps, before the native program of a long
loop is compiled. `python benchmarks/stepping.py` prints one line of JSON.
"""

from __future__ import annotations

import json
import time

import swelltree as sw
from swelltree.studies.time.stepped import run as stepped_run

STEP, COUNT = 0.1, 2000  # s, steps


def microseconds(read: bool, push: bool, native: bool) -> float:
    """CPU time of one step."""
    stepped_run.LONG_LOOP = 32 if native else 10**9
    device = sw.gallery.rm3()
    run = sw.stepper(device.model(), device.sea, duration=2 * COUNT * STEP)
    name = next(iter(run.forces))

    def loop(count: int) -> float:
        begin = time.process_time()
        for k in range(count):
            run.step(STEP, {name: 1e4 * (k % 7)} if push else None)
            if read:
                run["float.Heave"]
        return (time.process_time() - begin) / count * 1e6

    loop(64)
    return min(loop(COUNT // 5) for _ in range(5))


def main() -> None:
    """Print all figures [us]."""
    figures = {
        "step": (False, False),
        "step, new force": (False, True),
        "step, new force, channel": (True, True),
    }
    rows = {
        name: {way: round(microseconds(*what, way == "native"), 1) for way in ("general", "native")}
        for name, what in figures.items()
    }
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
