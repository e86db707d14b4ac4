"""swelltree on the hinged chain, with the keys that `rigid_chain.py` prints for its peers.

`python benchmarks/ours.py 3` prints one line of JSON; `--first` computes one run and prints
the word `ready`, for `cold_start.py` to time from outside.
"""

from __future__ import annotations

import argparse
import sys
import time
from importlib import metadata

from chain import Chain, best_of, report

STEP = 0.01  # fixed step of RK4 [s]
SHORT, LONG = 20.0, 220.0  # two durations: their difference is free of the cost of a call [s]


def build(chain: Chain):
    """Describe the chain and compile it."""
    import swelltree as sw

    half = chain.length / 2
    bodies = [
        sw.Body(f"b{i}", mass=chain.mass, inertia=chain.inertia, position=(i * chain.length, 0, 0))
        for i in range(chain.n_bodies)
    ]
    hinges = [
        sw.Hinge(f"hinge{i + 1}", base.at(half, 0, 0), next_.at(-half, 0, 0), velocity=rate)
        for i, (base, next_, rate) in enumerate(
            zip(bodies[:-1], bodies[1:], chain.hinge_rates, strict=True)
        )
    ]
    system = sw.System(
        "chain",
        bodies=bodies,
        joints=[sw.Free("float", sw.WORLD, bodies[0]), *hinges],
        water=sw.Water(g=0.0),
    )
    return sw.compile(system)


def simulate(model, duration: float, solver: str, formulation: str):
    """One run that stores a sample every second, so that results do not dominate the time."""
    import swelltree as sw

    options = {"step": STEP} if solver == "rk4" else {"rtol": 1e-6, "atol": 1e-9}
    return sw.simulate(
        model,
        duration=duration,
        output_step=1.0,
        solver=solver,
        formulation=formulation,
        **options,
    )


def measure(n_bodies: int, formulation: str) -> None:
    chain = Chain(n_bodies)
    start = time.perf_counter()
    model = build(chain)
    run = simulate(model, SHORT, "rk4", formulation)
    first_call = time.perf_counter() - start
    energy = run["kinetic_energy"].sum("body")

    # second call with the same shapes: nothing is compiled any more
    short = best_of(lambda: simulate(model, SHORT, "rk4", formulation))
    simulate(model, LONG, "rk4", formulation)
    long = best_of(lambda: simulate(model, LONG, "rk4", formulation), repeats=3)
    steps = (LONG - SHORT) / STEP

    simulate(model, LONG, "tsit5", formulation)
    adaptive = best_of(lambda: simulate(model, LONG, "tsit5", formulation), repeats=3)
    report(
        engine="swelltree",
        version=metadata.version("swelltree"),
        n_bodies=n_bodies,
        formulation=formulation,
        rhs_us=None,  # never called individually from Python
        rhs_inside_stepper_us=(long - short) / steps / 4 * 1e6,
        second_ms=(long - short) / (LONG - SHORT) * 1e3,
        solver=f"rk4, step {STEP} s",
        first_call_s=first_call,
        call_ms=short * 1e3,
        adaptive_times_real_time=LONG / adaptive,
        kinetic_energy=float(energy[0]),
        energy_drift=abs(float(energy[-1]) / float(energy[0]) - 1.0),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n_bodies", type=int, nargs="*", default=[2, 3, 10, 30])
    parser.add_argument("--formulation", default="path_matrix")
    parser.add_argument("--first", action="store_true", help="one run, then the word 'ready'")
    options = parser.parse_args()
    for n_bodies in options.n_bodies:
        if options.first:
            run = simulate(build(Chain(n_bodies)), 10.0, "tsit5", options.formulation)
            float(run["kinetic_energy"][-1].sum())
            print("ready", "JAX" if "jax" in sys.modules else "no JAX", flush=True)
        else:
            measure(n_bodies, options.formulation)


if __name__ == "__main__":
    main()
