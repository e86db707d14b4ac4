"""Steps of dynamic lines by native code (LLVM) and by XLA, and the first run of a fresh process.

    python benchmarks/moored_engines.py [--segments 20 50]

The float of `moorings.py` on its three chains, free in surge and heave, in a regular wave. Steps:
CPU microseconds per step of 0.05 s, all of `simulate` counted but its start: the difference of a
long and a short run, the minimum of five. First run: CPU seconds of `simulate` over 10 s in a fresh
process, import and compile of the model left out, with an empty folder of programs and with the one
that this leaves.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time

import moorings

import swelltree as sw

SHORT, LONG, STEP = 10.0, 60.0, 0.05
REPEATS = 5
SEA = sw.RegularWave(height=2.2, period=10.0)


def floating(segments: int) -> sw.System:
    """The float on its chains, held up by a spring, without users' functions."""
    mooring = moorings.moored(segments, 1e9)
    system = moorings.coupled(mooring)
    return system.replace(forces=[])


def cpu_seconds(model: object, duration: float) -> tuple[float, str]:
    """Of one run, and what computed it."""
    before = time.process_time()
    run = sw.simulate(model, SEA, duration=duration, output_step=0.1, step=STEP, chunk=100)
    return time.process_time() - before, run.attrs["engine"]


def one(segments: int, steps: bool) -> None:
    """Print the first run, and then the cost of a step."""
    model = sw.compile(floating(segments))
    first, engine = cpu_seconds(model, SHORT)
    print(f"{engine.split(':')[0]} first {first:.2f}", end="")
    if steps:
        long, short = (
            min(cpu_seconds(model, duration)[0] for _ in range(REPEATS))
            for duration in (LONG, SHORT)
        )
        per_step = long - short
        print(f" step {1e6 * per_step / ((LONG - SHORT) / STEP):.1f}", end="")
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segments", type=int, nargs="+", default=[20, 50])
    parser.add_argument("--one", type=int, default=None, help="only this count, in this process")
    parser.add_argument("--steps", action="store_true")
    chosen = parser.parse_args()
    if chosen.one is not None:
        one(chosen.one, chosen.steps)
        return
    print("| segments | engine | first run, empty / filled cache, CPU s | us per step |")
    print("|---|---|---|---|")
    for segments in chosen.segments:
        for engine in ("llvm", "xla"):
            with tempfile.TemporaryDirectory() as folder:
                known = {"SWELLTREE_CACHE_DIR": folder, "SWELLTREE_ENGINE": engine}
                command = [sys.executable, __file__, "--one", str(segments)]
                words = [
                    subprocess.run(
                        [*command, *more], env=os.environ | known, capture_output=True, check=True
                    )
                    .stdout.decode()
                    .split()
                    for more in ([], ["--steps"])
                ]
            name, first, filled, step = words[0][0], words[0][2], words[1][2], words[1][4]
            print(f"| {segments} | {name} | {first} / {filled} | {step} |", flush=True)


if __name__ == "__main__":
    main()
