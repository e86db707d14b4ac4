"""Many seas in parallel: simulated seconds per second of `simulate_batch`, on CPU or GPU.

    python benchmarks/batch.py rm3 --cases 1 16 256
    python benchmarks/batch.py barges rm3 ten spar --device gpu --seconds 300 --out batch.jsonl
    python benchmarks/batch.py barges rm3 --device gpu --tune
    OMP_NUM_THREADS=1 python benchmarks/batch.py rm3 barges ten --cases 64 --duration 3600
    python benchmarks/batch.py rm3 --device gpu --cases 16384 --reduce statistics peaks fatigue

Each line is one number of cases of a ready system in irregular seas of different seeds, steps of
0.1 s and samples every 0.5 s if `--step` and `--sample` do not say otherwise, all reduced to
statistics, or what `--reduce` says; seas, labels and all are in the time of the warm call; `cpu_s`
is the time of all cores together, `host_gb` the most memory of the process so far. On a GPU
`parts` shows where the time of the last batch went, `steps` is the rate of the stepping
alone, and `device_gb` the most memory that was taken there. `--check` compares 32 cases with lanes
of the CPU, and waves drawn there with those drawn here. `--tune` tries threads of a block,
registers of a thread and how many of them hold numbers of a product. No line is begun after
`--seconds`.
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import json
import resource
import time
import warnings
from typing import Any

import numpy as np

import swelltree as sw

COUNTS = (1, 64, 1024, 16_384, 131_072, 524_288)
STEP, SAMPLE = 0.1, 0.5
HOW: dict[str, Any] = {"output_step": SAMPLE, "step": STEP, "channels": ["position"]}


def system(name: str) -> tuple[Any, Any]:
    """Model and sea of a system."""
    if name == "ten":
        from ten_bodies import ten_bodies

        return ten_bodies()
    ready = sw.gallery.spar("dynamic") if name == "lines" else getattr(sw.gallery, name)()
    return ready.model(), ready.sea


def seas_of(sea: Any, count: int) -> list[Any]:
    """The sea with other seeds; descriptions are not checked again."""
    seas = []
    for seed in range(count):
        one = copy.copy(sea)
        object.__setattr__(one, "seed", seed)
        seas.append(one)
    return seas


def seconds_of_parts() -> dict[str, float]:
    """Where the time of the last run on a GPU went."""
    from swelltree.studies.batch import engines

    last = engines.LAST
    return {k: round(v, 4) for k, v in dataclasses.asdict(last[-1]).items()} if last else {}


def memory_there(begin: bool = False) -> float:
    """Most memory that was taken on a GPU since the beginning [GB]."""
    from swelltree.jit import gpu

    device = gpu()
    if isinstance(device, str):
        return 0.0
    if begin:
        device.most_held = device.held
    return device.most_held / 1e9


def measure(
    name: str,
    built: tuple[Any, Any],
    count: int,
    device: str,
    precision: str,
    duration: float,
    reduce: list[str],
) -> dict[str, Any]:
    """One line of the table."""
    model, sea = built
    seas = seas_of(sea, max(count, 2))[:count]
    many: Any = seas if count > 1 else [*seas, *seas]
    options = HOW | {"duration": duration, "device": device, "precision": precision}
    options |= {"reduce": reduce}
    seconds, busy = [], []
    if device == "gpu":
        memory_there(begin=True)
    for _ in range(2):
        begin, cpu = time.perf_counter(), time.process_time()
        result = sw.simulate_batch(model, many, **options)
        seconds.append(time.perf_counter() - begin)
        busy.append(time.process_time() - cpu)
        if seconds[0] > 20.0:
            break
    reported = [str(m) for m in result["message"].values if m]
    if reported:
        return {"system": name, "cases": count, "failed": len(reported), "says": reported[:1]}
    line = {
        "system": name,
        "precision": precision,
        "cases": count,
        "duration": duration,
        "step": HOW["step"],
        "sample": HOW["output_step"],
        "engine": result.attrs["engine"],
        "lanes": int(result.attrs["lanes"]),
        "first_s": round(seconds[0], 2),
        "warm_s": round(seconds[-1], 3),
        "cpu_s": round(busy[-1], 3),
        "host_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 1),
        "reduce": reduce,
        "simulated_s_per_s": float(f"{count * duration / seconds[-1]:.3g}"),
    }
    parts = seconds_of_parts() if device == "gpu" else {}
    if parts:
        last = count % line["lanes"] or line["lanes"]  # parts are of the last batch
        line["parts"] = parts
        line["device_gb"] = round(memory_there(), 2)
        line["steps"] = float(f"{last * duration / max(parts['calls'], 1e-9):.3g}")
        line["loads"] = float(f"{last * duration / max(parts['inputs'], 1e-9):.3g}")
    return line


def checked(name: str, built: tuple[Any, Any], precision: str) -> dict[str, Any]:
    """Largest difference from lanes, of the largest standard deviation."""
    model, sea = built
    options = HOW | {"duration": 120.0, "reduce": ["series"]}
    right = sw.simulate_batch(model, seas_of(sea, 32), **options)["position_series"]
    found = sw.simulate_batch(
        model, seas_of(sea, 32), device="gpu", precision=precision, **options
    )["position_series"]
    size = right.std("time").max(["case", "body"])
    apart = np.abs(found - right).max(["time", "case", "body"]) / np.where(size > 1e-9, size, 1.0)
    statistics = [
        sw.simulate_batch(model, seas_of(sea, 32), **(options | {"reduce": ["statistics"]}), **how)
        for how in ({}, {"device": "gpu", "precision": precision})
    ]
    std = [x["position"].sel(statistic="std") for x in statistics]
    off = float((np.abs(std[1] - std[0]) / std[0].max()).max())
    return {
        "check": name,
        "precision": precision,
        "of_std": {str(d): float(f"{v:.2g}") for d, v in apart.to_series().items()},
        "std_off": float(f"{off:.2g}"),
        "drawn_apart": drawn_apart(built),
    }


def drawn_apart(built: tuple[Any, Any]) -> float | None:
    """Largest difference of waves drawn on the processor from those drawn here; None: none are."""
    from swelltree.jit import GROUP, gpu
    from swelltree.studies.batch import many_seas
    from swelltree.studies.batch.cases import BatchCase, CaseMaker
    from swelltree.studies.batch.gpu_wave_sums import NUMBERS, DrawnWaves

    model, sea = built
    cases = [BatchCase(one, (), k) for k, one in enumerate(seas_of(sea, GROUP))]
    maker, device = CaseMaker(model, 30.0, sums_step=0.1), gpu()
    there, found = many_seas._drawn_there, []
    for draw in (there, lambda *args: None):
        many_seas._drawn_there = draw
        waves = many_seas.device_seas(model, maker, cases).waves
        if draw is there and not isinstance(waves, DrawnWaves):
            return None
        size = waves.count * NUMBERS * GROUP
        found.append(waves.rows(device, 1).rows(0, size, size, 1).reshape(-1, NUMBERS, GROUP))
    many_seas._drawn_there = there
    apart = np.abs(found[0] - found[1]).max((0, 2)) / np.abs(found[1]).max((0, 2))
    return float(f"{apart.max():.2g}")


def tuned(name: str, built: tuple[Any, Any], precision: str) -> list[dict[str, Any]]:
    """Rates of the stepping with other threads of a block and registers of a thread."""
    import swelltree.jit.ensemble.threads as threads
    from swelltree.jit.ensemble import gpu_runs
    from swelltree.studies.batch import engines

    lines, before = [], (gpu_runs.REGISTERS, gpu_runs.BLOCKS, threads.HELD)
    for held in (60, 120):
        engines.gpu_program.cache_clear()
        threads.HELD = threads.ThreadWriter.most = held
        for registers, block in ((255, 64), (255, 256), (128, 256)):
            gpu_runs.REGISTERS, gpu_runs.BLOCKS = registers, ((0, block),)
            line = measure(name, built, 67_584, "gpu", precision, 60.0, ["statistics"])
            lines.append({"held": held, "block": block, "registers": registers} | line)
    engines.gpu_program.cache_clear()
    gpu_runs.REGISTERS, gpu_runs.BLOCKS, threads.HELD = before
    threads.ThreadWriter.most = threads.HELD
    return lines


def main() -> None:
    """All lines that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("systems", nargs="+")
    parser.add_argument("--cases", type=int, nargs="*", default=list(COUNTS))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", nargs="*", default=["float64"])
    parser.add_argument("--duration", type=float, default=120.0)
    parser.add_argument("--step", type=float, default=STEP)
    parser.add_argument("--sample", type=float, default=SAMPLE)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--reduce", nargs="*", default=["statistics"])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--out", default=None)
    specified = parser.parse_args()
    HOW.update(step=specified.step, output_step=specified.sample)
    warnings.simplefilter("ignore", sw.SwelltreeWarning)
    begun = time.perf_counter()

    def notify(line: dict[str, Any]) -> None:
        text = json.dumps(line | {"at_s": round(time.perf_counter() - begun, 1)})
        print(text, flush=True)
        if specified.out:
            with open(specified.out, "a", encoding="utf8") as file:
                file.write(text + "\n")

    for name in specified.systems:
        built = system(name)
        for precision in specified.precision:
            try:
                if specified.check:
                    notify(checked(name, built, precision))
                if specified.tune:
                    for line in tuned(name, built, precision):
                        notify(line)
                for count in specified.cases:
                    if time.perf_counter() - begun > specified.seconds:
                        return
                    how = (name, built, count, specified.device, precision, specified.duration)
                    notify(measure(*how, specified.reduce))
            except Exception as error:
                notify({"system": name, "precision": precision, "error": repr(error)[:2000]})


if __name__ == "__main__":
    main()
