"""Many seas side by side: simulated seconds per second of `simulate_batch`, on CPU or GPU.

    python benchmarks/batch.py barges 1 16 256 4096
    JAX_PLATFORMS=cpu python benchmarks/batch.py rm3 32

Each line is one number of cases of a ready system in irregular seas of different seeds, 120 s each,
steps of 0.1 s, samples every 0.5 s, all reduced to statistics; seas, labels and all are in the time
of the warm call. The first call has the compilation in it.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import swelltree as sw
from swelltree.engine.backend import jax

DURATION = 120.0


def measure(name: str, count: int) -> dict[str, Any]:
    """One line of the table."""
    ready = getattr(sw.gallery, name)()
    model = ready.model()
    seas = [ready.sea.replace(seed=seed) for seed in range(count)]
    options = {"duration": DURATION, "output_step": 0.5, "step": 0.1, "lanes": count}
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        result = sw.simulate_batch(model, seas, channels=["position"], **options)
        seconds.append(time.perf_counter() - begin)
    if not bool(result["position"].notnull().all()):
        raise SystemExit("cases failed: no speed is told")
    return {
        "device": jax.devices()[0].device_kind,
        "system": name,
        "cases": count,
        "engine": result.attrs["engine"],
        "first_s": round(seconds[0], 2),
        "warm_s": round(min(seconds[1:]), 3),
        "simulated_s_per_s": float(f"{count * DURATION / min(seconds[1:]):.3g}"),
    }


if __name__ == "__main__":
    for size in sys.argv[2:] or ("16",):
        print(json.dumps(measure(sys.argv[1], int(size))), flush=True)
