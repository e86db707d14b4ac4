"""Books of the power take-offs: absorbed = change of stored + delivered + lost.

PTOs that were compiled as simple springs and dampers are booked alike: the spring stores, and what
the damper takes is delivered.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.model.forces.controllers import pto_group
from swelltree.model.model import Model
from swelltree.results.statistics import statistics

# channel of the group -> raw channel of the result
BOOKS = {
    "force": "pto_force",
    "stroke": "pto_stroke",
    "rate": "pto_rate",
    "delivered": "delivered_power",
    "stored": "pto_stored_energy",
    "lost": "pto_losses",
    "stop_force": "pto_stop_force",
    "limited": "pto_limited",
    "latch_force": "pto_latch_force",
    "pressure": "pto_pressure",
    "oil_volume": "pto_oil_volume",
    "oil_total": "pto_oil_total",
    "flywheel_speed": "pto_flywheel_speed",
    "copper_loss": "pto_copper_loss",
    "mode": "pto_mode",
}
ALWAYS = ("force", "stroke", "rate", "delivered", "stored", "lost")
_ABSENT = {"stop_force": 0.0, "limited": 0.0, "latch_force": 0.0}


def pto_books(model: Model, raw: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Channels of all PTOs in their described order, (time, pto) each."""
    group = pto_group(model)
    machines = () if group is None else group.names
    columns = []
    for name in model.names.ptos:
        if name in machines:
            i = machines.index(name)
            found = {key: raw[f"pto_{key}"][:, i] for key in BOOKS if f"pto_{key}" in raw}
        else:
            found = _simple(model, raw, name)
        columns.append(found)
    out: dict[str, np.ndarray] = {}
    for key, channel in BOOKS.items():
        if key in ALWAYS or any(key in column for column in columns):
            none = np.full(len(columns[0]["force"]), _ABSENT.get(key, np.nan))
            out[channel] = np.stack([column.get(key, none) for column in columns], axis=1)
    absorbed = [-column["force"] * column["rate"] for column in columns]
    return out | {"absorbed_power": np.stack(absorbed, axis=1)}


def _simple(model: Model, raw: dict[str, np.ndarray], name: str) -> dict[str, Any]:
    """Books of a PTO that is a spring-damper or a joint force."""
    names, forces = model.names, model.forces
    if name in names.springs:
        i, own = names.springs.index(name), forces.springs
        force, rate = -raw["spring_tension"][:, i], raw["spring_rate"][:, i]
        stroke = raw["spring_length"][:, i] - float(own.rest_length[i])
    else:
        i, own = names.joint_forces.index(name), forces.joint_forces
        force, rate = raw["joint_force_force"][:, i], raw["rate"][:, own.dof[i]]
        stroke = raw["coordinate"][:, own.dof[i]] - float(own.rest_position[i])
    k = float(own.stiffness[i])
    spring = k * stroke if k else 0.0 * stroke
    return {
        "force": force,
        "stroke": stroke,
        "rate": rate,
        "delivered": -(force + spring) * rate,
        "stored": 0.5 * spring * stroke if k else 0.0 * stroke,
        "lost": 0.0 * rate,
    }


def mean_books(dataset: Any) -> list[tuple[str, float, float, float]]:
    """Name, mean absorbed and delivered power [W] and mean losses [W] of every PTO.

    Over the window of `statistics`, as everywhere.
    """
    channels = ("absorbed_power", "delivered_power", "pto_losses")
    means = [statistics(dataset[name]).sel(statistic="mean").values for name in channels]
    return [
        (str(name), *(float(mean[i]) for mean in means))  # type: ignore[misc]
        for i, name in enumerate(dataset["pto"].values)
    ]
