"""Nonlinear Froude-Krylov forces against the linear model: cost per simulated second.

A barge with about 1000 panels (2000 triangles) in its own radiation and diffraction data, in
still water, a regular wave and a sea of 200 components. `python benchmarks/hulls.py` prints one
line of JSON for each; run it with `taskset -c 0` for one core. "first call" holds compiling, with
an empty cache if SWELLTREE_CACHE_DIR=off.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from chain import best_of, report
from swelltree.hydro.froude_krylov.hulls import Hulls

DURATION = 100.0  # s


def barge() -> tuple[Any, Any]:
    """The barge and made-up data: six DOFs, memory, headings all around."""
    import xarray as xr

    import swelltree as sw
    from swelltree.hydro.bem.hydrostatics import hydrostatics
    from swelltree.hydro.froude_krylov.build import linear_froude_krylov
    from swelltree.multibody.kinematics import Pose

    body = sw.Body("barge", hull=sw.Box(20, 10, 6, 3, panel_size=0.82), com=(0.0, 0.0, -1.0))
    moorings = [sw.LinearMooring("mooring", body, stiffness={"Surge": 2e4, "Sway": 2e4})]
    system = sw.System("barge", [body], [sw.Free("free", sw.WORLD, body)], moorings=moorings)
    own = system.resolved.body("barge")
    omega, beta = np.linspace(0.1, 4.0, 60), np.radians(np.arange(0.0, 360.0, 30.0))
    found = hydrostatics(own, system.water)
    place = np.array(own.reference)
    # the fluid swings with one memory of second order in every DOF
    size = own.mass * np.array([0.2, 0.5, 1.0, 10.0, 30.0, 30.0])
    s = 1j * omega
    K = 1.2 * s * 1.4 / ((s + 0.7) ** 2 + 1.1**2)
    A = np.append(1.0 + K.imag / omega, 1.0)[:, None, None] * np.diag(size)
    B = np.append(K.real, 0.0)[:, None, None] * np.diag(size)
    F = 1.2 * linear_froude_krylov(own, Pose(place, np.eye(3)), system.water, omega, beta)
    both = ("influenced_dof", "radiating_dof")
    dofs = [f"barge__{dof}" for dof in ("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw")]
    data = xr.Dataset(
        {
            "added_mass": (("omega", *both), A),
            "radiation_damping": (("omega", *both), B),
            "excitation_force": (
                ("omega", "wave_direction", "influenced_dof"),
                np.concatenate([F, 0.0 * F[:1]]),
            ),
            "hydrostatic_stiffness": (both, found.stiffness),
            "displaced_volume": ("body", [found.volume]),
            "center_of_buoyancy": (("body", "xyz"), found.center_of_buoyancy[None]),
            "center_of_mass": (("body", "xyz"), np.array([own.com])),
            "rotation_center": (("body", "xyz"), place[None]),
            "rho": system.water.rho,
            "g": system.water.g,
            "water_depth": system.water.depth,
        },
        {
            "omega": np.append(omega, np.inf),
            "wave_direction": beta,
            "influenced_dof": dofs,
            "radiating_dof": dofs,
            "body": ["barge"],
            "xyz": ["x", "y", "z"],
        },
        {"time_convention": "exp(-iwt)"},
    )
    return system, data


def main() -> None:
    import swelltree as sw

    system, data = barge()
    seas = {
        "regular wave": sw.RegularWave(1.0, period=8.0, beta=0.4, ramp=20.0),
        "200 components": sw.IrregularSea(sw.Jonswap(2.0, 8.0), beta=0.4, ramp=20.0),
        "200 components, spread": sw.IrregularSea(
            sw.Jonswap(2.0, 8.0), beta=0.4, spreading=sw.Cos2s(25.0), ramp=20.0
        ),
    }
    for name, sea in seas.items():
        for kind in (False, True):
            model = sw.compile(system, data, nonlinear=kind)

            def run(model: Any = model, sea: Any = sea) -> Any:
                return sw.simulate(model, sea, duration=DURATION, output_step=0.5)

            start = time.perf_counter()
            result = run()
            first = time.perf_counter() - start
            warm = best_of(run, repeats=3)
            triangles = model.effect(Hulls).triangles.area.shape[-1] if kind else 0
            report(
                sea=name,
                model="nonlinear" if kind else "linear",
                triangles=int(triangles),
                first_call_s=first,
                call_s=warm,
                ms_per_simulated_second=1e3 * warm / DURATION,
                rate_evaluations=int(result.attrs["rate_evaluations"]),
            )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
