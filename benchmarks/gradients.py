"""Gradients of runs: cost in runs, and seconds to the first, for example devices.

    python benchmarks/gradients.py [rm3 barges oswec spar] [optimise]

Cost is CPU time: following the steps back and all around it, over the same steps of `simulate`
without observation (`stepper.advance`); the min of seven. The first gradient and the first run are
those of this process with an empty cache of programs. With `optimise`, the damping and spring of
the RM3 are searched by gradients and by Nelder and Mead without any, in simulated seconds.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from typing import Any

os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="swelltree-bench-")
import numpy as np

import swelltree as sw
from chain import report
from swelltree.describe.options import GradientOptions, TracedOptions, complete
from swelltree.studies.design.adjoint import followed_back, recorded
from swelltree.studies.design.chain import Design, RunOf, chain_of
from swelltree.studies.design.gradient import Goal, value_of

POWER = sw.mean_of("absorbed_power")
DEVICES = {
    "rm3": (POWER, ["ptos.pto.damping", "bodies.float.mass", "bodies.spar.mass"]),
    "barges": (POWER, ["ptos.pto1.damping", "ptos.pto2.damping", "ptos.pto1.stiffness"]),
    "oswec": (POWER, ["ptos.pto.damping", "ptos.pto.stiffness", "bodies.flap.mass"]),
    "spar": (
        sw.rms_of("displacement", body="spar", dof="Surge"),
        ["bodies.spar.mass", "lines.line1.rest_length", "lines.line1.type.EA"],
    ),
}
RUN: dict[str, Any] = {"duration": 200.0, "output_step": 0.2}


def least(call: Any, count: int = 7) -> float:
    """CPU seconds of a call, the min of some."""
    spent = []
    for _ in range(count):
        begin = time.process_time()
        call()
        spent.append(time.process_time() - begin)
    return min(spent)


def cost(name: str) -> dict[str, Any]:
    """Of one device."""
    objective, names = DEVICES[name]
    device = getattr(sw.gallery, name)()
    model = device.model()
    begin = time.process_time()
    sw.gradient(model, device.sea, objective, names, **RUN)
    first = time.process_time() - begin
    begin = time.process_time()
    sw.gradient(model, device.sea, objective, names, **RUN)
    again = time.process_time() - begin
    options = complete(TracedOptions, **RUN)
    run = RunOf.prepared(Design(model, device.sea), options)
    chain = chain_of(run, names, options)
    stepper, times = run.stepper, run.task.times
    start = stepper.start()

    def steps() -> None:
        carry = start
        for k in range(0, len(times), 200):
            window = np.pad(times[k : k + 200], (0, max(0, k + 200 - len(times))), mode="edge")
            carry, _ = stepper.advance(carry, window)

    steps()
    record = recorded(run, 1e9)
    slopes = Goal(record, chain, objective, None).slopes()[1]
    back = chain.varied, chain.changes, chain.theta, slopes
    followed_back(record, *back)
    primal = least(steps)
    forward = least(lambda: recorded(run, 1e9))
    samples = least(lambda: Goal(record, chain, objective, None).slopes())
    backward = least(lambda: followed_back(record, *back))
    return {
        "device": name,
        "parameters": len(chain.names),
        "first gradient (CPU s)": round(first, 2),
        "warm gradient (CPU s)": round(again, 3),
        "run (CPU ms)": round(1e3 * primal, 2),
        "record": round(forward / primal, 2),
        "samples": round(samples / primal, 2),
        "back": round(backward / primal, 2),
        "runs in all": round((forward + samples + backward) / primal, 2),
    }


def searches() -> dict[str, Any]:
    """Damping and spring of the RM3 by gradients and by Nelder and Mead."""
    from scipy.optimize import minimize

    device = sw.gallery.rm3()
    model = device.model()
    bounds = {"ptos.pto.damping": (1e5, 6e6), "ptos.pto.stiffness": (-3e5, 1e6)}
    options: dict[str, Any] = {"duration": 150.0, "output_step": 0.25}
    found = sw.optimise(model, device.sea, POWER, bounds, maximise=True, **options)
    low, high = np.array(list(bounds.values())).T
    design, count = Design(model, device.sea), 0

    def loss(x: np.ndarray) -> float:
        nonlocal count
        count += 1
        numbers = low + np.clip(x, 0.0, 1.0) * (high - low)
        changed = design.at({n: np.asarray(v) for n, v in zip(bounds, numbers, strict=True)})
        return -value_of(changed, POWER, complete(GradientOptions, **options))

    start = (found.start.values - low) / (high - low)
    size = abs(loss(start))
    tolerances = {"fatol": 1e-6 * size, "xatol": 1e-3, "maxfev": 200}
    other = minimize(loss, start, method="Nelder-Mead", bounds=[(0, 1)] * 2, options=tolerances)
    return {
        "power by gradients (kW)": round(float(found.objective) / 1e3, 3),
        "by Nelder-Mead (kW)": round(-float(other.fun) / 1e3, 3),
        "simulated seconds by gradients": found.attrs["simulated_seconds"],
        "by Nelder-Mead": count * options["duration"],
    }


def main() -> None:
    warnings.simplefilter("ignore")
    chosen = sys.argv[1:] or [*DEVICES, "optimise"]
    for name in chosen:
        report(**(searches() if name == "optimise" else cost(name)))


if __name__ == "__main__":
    main()
