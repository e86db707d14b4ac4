"""The power matrix of the RM3, and the bookkeeping of many short cases.

    python benchmarks/campaign.py [--states 10] [--seeds 6] [--duration 3600] [--workers N]
    python benchmarks/campaign.py --short 10000

The first runs states x states sea states, report included. The second runs short cases of a small
body in one process and says what each costs besides its own computing, and the memory used; in
blocks of 32 in lanes of the CPU on every machine, since bookkeeping is by blocks, and memory that a
GPU takes in this process is not the campaign's.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import swelltree as sw
from swelltree.campaigns import campaign as campaigns
from swelltree.campaigns import pool, work
from swelltree.campaigns.store import Store

LANES = 32  # cases of a block


def power_matrix(states: int, seeds: int, duration: float, workers: int | None) -> None:
    device = sw.gallery.rm3()
    heights, periods = np.linspace(0.75, 5.25, states), np.linspace(5.5, 14.5, states)
    begin = time.perf_counter()
    campaign = sw.Campaign(
        device.model(),
        [sw.ScatterDiagram(heights, periods, np.ones((states, states))), sw.Seeds(seeds)],
        device.sea,
        duration=duration,
        output_step=0.25,
        step=0.25,
        channels=["absorbed_power", "pto_stroke", "pto_force"],
        name="rm3",
    )
    with tempfile.TemporaryDirectory() as folder:
        result = campaign.run(Path(folder) / "store", workers=workers)
        ran = time.perf_counter() - begin
        sw.write_campaign_report(result, Path(folder) / "report.html")
        full = time.perf_counter() - begin
        seconds = float(result["seconds"].sum())
    count = states * states * seeds
    print(f"{count} cases of {duration:g} s: {ran:.1f} s, with the report {full:.1f} s")
    print(f"  {seconds:.1f} s of computing in all processes together")
    print(f"  {count * duration / ran:.3g} simulated s per s")


def resident() -> float:
    """Memory of this process now [MiB]."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


class Watched(Store):
    """A store that looks at the memory after every tenth of the blocks."""

    memory: ClassVar[list[float]] = []
    every = 1

    def write(self, block: int, *rest: Any) -> None:
        super().write(block, *rest)
        if (block + 1) % self.every == 0:
            self.memory.append(resident())


class Clocked:
    """What blocks take of the processors, whatever else runs there."""

    def __init__(self) -> None:
        self.seconds, self.run = 0.0, pool.run_here

    def __call__(self, *specified: Any) -> work.Block:
        begin = time.process_time()
        try:
            return self.run(*specified)
        finally:
            self.seconds += time.process_time() - begin


def short_cases(count: int, workers: int, as_json: bool) -> None:
    body = sw.Body("float", 1000.0, (1.0, 1.0, 1.0))
    spring = sw.SpringDamper("spring", sw.WORLD.at(0, 0, 3), body, stiffness=4e3)
    rail = sw.Slider("rail", sw.WORLD, body, axis="z", position=0.1)
    model = sw.compile(sw.System("small", [body], [rail], [spring]))
    values = np.linspace(3e3, 5e3, count)
    campaign = sw.Campaign(
        model,
        [sw.Values("spring.stiffness", values)],
        duration=2.0,
        output_step=0.2,
        step=0.2,
        channels=["position"],
        name="short",
        lanes=LANES,
        device="cpu",
    )
    campaigns.Store = Watched
    Watched.every = max(1, count // LANES // 10)
    pool.run_here = clocked = Clocked()
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        cpu = time.process_time()
        result = campaign.run(Path(folder) / "store", workers=workers)
        full, cpu = time.perf_counter() - begin, time.process_time() - cpu
        own = float(result["seconds"].sum())
        besides = 1e3 * (cpu - clocked.seconds) / count
        opened = time.perf_counter()
        sw.open_campaign(Path(folder) / "store")["position"].mean().compute()
        opened = time.perf_counter() - opened
        files = [file for file in Path(folder).rglob("*") if file.is_file()]
        size = sum(file.stat().st_size for file in files)
    top = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{count} short cases: {full:.1f} s, of these {own:.1f} s in the blocks")
    who = "the driver and the scheduler" if workers else "bookkeeping"
    print(f"  {besides:.3g} ms per case of {who}, by time of the processor")
    print(f"  opened and averaged in {opened:.2f} s, largest memory {top:.0f} MiB")
    print("  memory after each tenth: " + " ".join(f"{x:.0f}" for x in Watched.memory) + " MiB")
    print(f"  store of {len(files)} files, {size / count:.0f} bytes per case")
    if as_json:
        numbers = {
            "cases": count,
            "bookkeeping_ms": besides,
            "memory_mib": Watched.memory,
            "seconds": full,
        }
        print(json.dumps(numbers))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--duration", type=float, default=3600.0)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--short", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="numbers of --short on the last line")
    specified = parser.parse_args()
    if specified.short:
        short_cases(specified.short, specified.workers or 0, specified.json)
    else:
        power_matrix(specified.states, specified.seeds, specified.duration, specified.workers)


if __name__ == "__main__":
    main()
