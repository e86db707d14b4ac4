"""Datasets of optimal control."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.model.layout import DOFS
from swelltree.solvers.fourier import to_complex
from swelltree.studies.control.goal import electrical, fine_values
from swelltree.studies.control.series import sampled
from swelltree.system.named_values import NamedValues

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.model.layout import Layout
    from swelltree.studies.control.ports import Ports
    from swelltree.studies.control.search import ControlSolution


def control_dataset(
    layout: Layout, ports: Ports, omega: float, solution: ControlSolution, attrs: NamedValues
) -> xr.Dataset:
    """Series, harmonics, multipliers and mean powers of an optimum, labelled.

    Args:
        layout: of the model.
        ports: driven elements.
        omega: of the period [rad/s].
        solution: of the search.
        attrs: attributes of the result.
    """
    import xarray as xr

    r, goal, program, optimum = solution.response, solution.goal, solution.program, solution.optimum
    u = r.force + ports.damping * r.rate + ports.stiffness * r.stroke
    n = (len(r.force) - 1) // 2
    count = 2 ** int(np.ceil(np.log2(max(16 * n, 64))))
    t = 2 * np.pi / omega * np.arange(count) / count
    F, v, x = (sampled(y, count) for y in (r.force, r.rate, r.stroke))
    absorbed = -F * v
    delivered = electrical(goal, absorbed, F)
    over = 0.0
    for limit in goal.limits:
        value = fine_values(omega, r, limit)
        over = max(over, max(value.max() - limit.high, limit.low - value.min()) / limit.scale)
    both = ("time", "pto")
    units = "N or N m"
    about = {"time_convention": "exp(-iwt)"}
    order = [layout.bodies.index(name) for name in layout.described]
    bodies = solution.bodies.reshape(len(solution.bodies), -1, 6)[:, order]
    active = np.flatnonzero(np.abs(optimum.multiplier) > 1e-7)
    rows = [
        (limit.name, ports.names[limit.port], float(time))
        for limit, times in zip(program.goal.limits, program.times, strict=True)
        for time in times
    ]
    names, where, when = zip(*(rows[i] for i in active), strict=True) if len(active) else ((),) * 3

    def series(
        y: np.ndarray, name: str, unit: str
    ) -> tuple[tuple[str, ...], np.ndarray, dict[str, str]]:
        return (both, y, {"units": unit, "long_name": name})

    data = {
        "force": series(F, "force of the PTO", units),
        "control": series(sampled(u, count), "actuator force u", units),
        "stroke": series(x, "stroke", "m or rad"),
        "rate": series(v, "rate of the stroke", "m/s or rad/s"),
        "absorbed_power": series(absorbed, "absorbed power", "W"),
        "electrical_power": series(delivered, "electrical power", "W"),
        "force_harmonics": (("harmonic", "pto"), to_complex(r.force), about | {"units": units}),
        "control_harmonics": (("harmonic", "pto"), to_complex(u), about | {"units": units}),
        "stroke_harmonics": (
            ("harmonic", "pto"),
            to_complex(r.stroke),
            about | {"units": "m, rad"},
        ),
        "position_harmonics": (
            ("body_harmonic", "body", "dof"),
            bodies,
            about
            | {"units": "m, rad", "long_name": "displacement from rest", "frame": "world axes"},
        ),
        "passive_damping": (
            "pto",
            solution.passive.damping,
            {"long_name": "best damper", "units": "N s/m"},
        ),
        "multiplier": (
            "active",
            optimum.multiplier[active],
            {"long_name": "of the scaled limit; negative at its lower side"},
        ),
    }
    coords = {
        "time": ("time", t, {"units": "s"}),
        "pto": list(ports.names),
        "harmonic": np.arange(n + 1),
        "body_harmonic": np.arange(len(bodies)),
        "body": list(layout.described),
        "dof": list(DOFS),
        "active_limit": ("active", np.array(names, dtype=str)),
        "active_pto": ("active", np.array(where, dtype=str)),
        "active_time": ("active", np.array(when, dtype=float), {"units": "s"}),
    }
    numbers = {
        "omega": omega,
        "period": 2 * np.pi / omega,
        "harmonics": n,
        "mean_power": float(absorbed.sum(axis=1).mean()),
        "electrical_power": float(delivered.sum(axis=1).mean()),
        "passive_power": solution.passive.power,
        "passive_electrical_power": solution.passive.electrical,
        "kkt_residual": optimum.kkt,
        "leak": max(float(over), 0.0),
        "iterations": len(optimum.history),
        "search_cpu": solution.search_cpu,
        "quadratic_iterations": optimum.quadratic_iterations,
    }
    return xr.Dataset(data, coords, numbers | attrs)
