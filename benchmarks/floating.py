"""Floating systems in water: times real time, warm and at the first call.

The peer's column is the figure that SEA-Stack v1.0.0-beta publishes for the same device on its
own machine (Ryzen 9 9950X); it is printed for orientation only, because that code is not run
here. `python benchmarks/floating.py` prints one line of JSON per system. Systems whose reference
data are not there are left out.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from chain import best_of, report

Job = tuple[Any, Any, float, float]  # model, wave, duration [s], published times real time


def sphere(irregular: bool) -> Job:
    """The IEA sphere: decay, or an irregular sea of 600 s."""
    from reference import reference

    import swelltree as sw

    data = sw.read_hydro(reference("bem_sphere", "iea_oes_task10", "sphere.h5"))
    water = sw.Water(rho=1000.0, depth=float(data["water_depth"]))
    system = sw.gallery.sphere(lift=0.0 if irregular else 1.0).bare
    model = sw.compile(system.replace(water=water), data)
    sea = sw.IrregularSea(sw.Jonswap(Hs=2.0, Tp=7.0), seed=1) if irregular else None
    return (model, sea, 600.0, 97.0) if irregular else (model, None, 40.0, 659.0)


def flap() -> Job:
    """The OSWEC in a regular wave."""
    from reference import reference

    import swelltree as sw

    path = reference("bem_oswec", "capytaine", "oswec_hydrodynamics.nc")
    data = sw.read_hydro(path, names=["flap", "base"], gaps="drop")
    data = data.sel(omega=data["omega"] <= 8.0)
    model = sw.compile(sw.gallery.oswec(12e3).bare, data)
    return model, sw.RegularWave(height=2.5, period=8.0, ramp=50.0), 400.0, 269.0


def barges() -> Job:
    """Three hinged barges, all coupled, in an irregular sea."""
    import swelltree as sw

    model = sw.gallery.barges().model(fit={"error": 0.05})
    sea = sw.IrregularSea(sw.Jonswap(Hs=3, Tp=9), omega_max=2.2, seed=1)
    return model, sea, 300.0, 21.0


def two_bodies() -> Job:
    """RM3 with its damper in a regular wave, coupled, no mooring."""
    from reference import reference

    import swelltree as sw

    path = reference("bem_rm3", "wamit", "rm3.out")
    data = sw.read_hydro(path, names=["float", "spar"], rho=1000.0)
    model = sw.compile(sw.gallery.rm3(1.2e6, masses=(725_834.0, 886_691.0)).bare, data)
    return model, sw.RegularWave(height=2.5, period=8.0, ramp=100.0), 400.0, 15.0


def five_bodies() -> Job:
    """The five-segment attenuator in a regular wave; the published figure includes its lines."""
    from five_segments import attenuator, attenuator_data

    import swelltree as sw

    data, water = attenuator_data()
    names = [str(name) for name in data["body"].values]
    model = sw.compile(attenuator(names, water), data, fit={"error": 0.06})
    return model, sw.RegularWave(height=2.0, period=10.0, ramp=20.0), 300.0, 8.0


JOBS: dict[str, Callable[[], Job]] = {
    "sphere decay": lambda: sphere(False),
    "sphere irregular": lambda: sphere(True),
    "OSWEC regular": flap,
    "three barges": barges,
    "RM3": two_bodies,
    "five segments": five_bodies,
}


def measure(name: str) -> None:
    import swelltree as sw

    try:
        model, wave, duration, published = JOBS[name]()
    except SystemExit as missing:
        print(missing, file=sys.stderr)
        return

    def run() -> Any:
        return sw.simulate(model, wave, duration=duration, output_step=0.1)

    start = time.perf_counter()
    result = run()
    first = time.perf_counter() - start
    warm = best_of(run, repeats=3)
    memory = model.hydro.memory
    report(
        system=name,
        duration_s=duration,
        first_call_s=first,
        call_s=warm,
        times_real_time=duration / warm,
        published_by_sea_stack=published,
        radiation_states=0 if memory is None else int(memory.A.shape[0]),
        rate_evaluations=int(result.attrs["rate_evaluations"]),
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for chosen in sys.argv[1:] or list(JOBS):
        measure(chosen)
