"""Many cases on a graphics processor: simulated seconds per second of the kernel and of all of it.

    python benchmarks/gpu.py barges 1024 16384 131072 [--float32]

Ready systems in irregular seas, steps of 0.1 s, samples every 0.5 s. `kernel` is the
kernel alone: loads of waves, steps and samples. `with_results` is the difference of a long and a
short run of the same cases: the way back of the samples is in it, making seas and their way to the
device are not. `seas` are different
ones (the rest repeat them), and `sea_ms` is what the host needs to make one.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np

import swelltree as sw
from swelltree.engine.backend import jax
from swelltree.engine.machine.many_cases import cuda
from swelltree.engine.machine.many_cases.programs import Cases, Own
from swelltree.studies.batch.batch import plan_batch
from swelltree.studies.batch.cases import BatchCase
from swelltree.studies.batch.lanes import _chunks, _gathered

SEAS, SHORT, LONG = 256, 4, 12  # seas, chunks of the two runs


def repeated(cases: Cases, count: int) -> Cases:
    """The same cases again and again."""
    several = [k % cases.count for k in range(count)]
    fixed = jax.tree.map(
        lambda x: Own([x.arrays[k] for k in several]) if isinstance(x, Own) else x, cases.fixed
    )
    state = jax.tree.map(lambda x: x[several], cases.state)
    return Cases(fixed, cases.shared, state, count)


def main(name: str, counts: list[int], precision: str) -> None:
    ready = getattr(sw.gallery, name)()
    model = ready.model()
    rows = [BatchCase(ready.sea.replace(seed=seed)) for seed in range(SEAS)]
    how = {"output_step": 0.5, "step": 0.1, "channels": ["position"], "lanes": SEAS}
    begin = time.perf_counter()
    planned = plan_batch(
        model, rows, duration=LONG * 32.0, device="gpu", precision=precision, **how
    )
    planning = time.perf_counter() - begin
    engine, plan = planned.engine, planned.plan
    maker = engine.maker(plan)
    begin = time.perf_counter()
    made = [maker.in_sea(case) for case in rows]
    sea_ms = 1e3 * (time.perf_counter() - begin) / SEAS
    cases = _gathered(plan, maker, rows[0], made)
    chunks = _chunks(plan.times, engine.chunk)
    begin = time.perf_counter()
    engine.stepped(plan, repeated(cases, 64), chunks[:1])
    first = time.perf_counter() - begin
    for count in counts:
        many, seconds = repeated(cases, count), {}
        for length in (SHORT, LONG):
            begin = time.perf_counter()
            state, _ = engine.stepped(plan, many, chunks[:length])
            took = time.perf_counter() - begin
            seconds[length] = min(took, seconds.get(length, np.inf))
            kernel = engine.program(plan).kernel_seconds
        assert not np.asarray(state.code).any()
        simulated = count * (chunks[LONG - 1][-1] - chunks[SHORT - 1][-1])
        rate = simulated / (seconds[LONG] - seconds[SHORT])
        alone = count * chunks[LONG - 1][-1] / kernel
        line = {
            "device": getattr(cuda.device(), "name", ""),
            "system": name,
            "precision": precision,
            "cases": count,
            "planning_s": round(planning, 2),
            "first_s": round(first, 2),
            "sea_ms": round(sea_ms, 2),
            "kernel_simulated_s_per_s": float(f"{alone:.3g}"),
            "with_results_simulated_s_per_s": float(f"{rate:.3g}"),
            "short_run_s": round(seconds[SHORT], 3),
        }
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    wanted = [int(word) for word in words[1:]] or [1024, 16384]
    main(words[0], wanted, "float32" if "--float32" in sys.argv else "float64")
