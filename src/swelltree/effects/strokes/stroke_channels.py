"""Channels of forces on strokes, under the names of what was described.

Springs report tension and length, joint forces their force, PTOs their energy balance: absorbed =
change of stored + delivered + lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.effects.strokes.laws.base import LawOutputs
from swelltree.engine.arrays import Array, namespace

if TYPE_CHECKING:
    from swelltree.effects.strokes.stroke_forces import StrokeForces

# quantity -> channel of power take-offs
BOOKS = {
    "force": "pto_force",
    "stroke": "pto_stroke",
    "rate": "pto_rate",
    "control": "pto_control",
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


def stroke_channels(
    forces: StrokeForces, channels: dict[str, Array], outputs: list[LawOutputs]
) -> dict[str, Array]:
    """Channels by role.

    Args:
        forces: the effect (`stroke_forces.StrokeForces`).
        channels: quantities of all elements, (e,) each.
        answers: of the laws, for quantities of their own.
    """
    out = {}
    springs, joints = (np.array(forces.with_role(x), dtype=int) for x in ("spring", "joint_force"))
    if springs.size:
        out["spring_tension"] = -channels["force"][springs]
        out["spring_length"] = (channels["stroke"] + forces.strokes.rest)[springs]
        out["spring_rate"] = channels["rate"][springs]
        out["spring_control"] = channels["control"][springs]
    if joints.size:
        out["joint_force_force"] = channels["force"][joints]
        out["joint_force_control"] = channels["control"][joints]
    if forces.ptos:
        channels = channels | _of_single_laws(outputs)
        out |= {BOOKS[key]: of_ptos(forces, values) for key, values in channels.items()}
        out["absorbed_power"] = -out["pto_force"] * out["pto_rate"]
    return out


def of_ptos(forces: StrokeForces, values: Array) -> Array:
    """Values (e,) of the power take-offs, in the order of their description."""
    return values[np.array(forces.ptos, dtype=int)]


def _of_single_laws(outputs: list[LawOutputs]) -> dict[str, Array]:
    """Quantities that only some laws have, NaN for the elements of others."""
    names = dict.fromkeys(name for outputs in outputs for name in outputs.shown)
    out = {}
    for name in names:
        parts = [a.shown.get(name, np.nan + 0.0 * a.force) for a in outputs]
        out[name] = namespace(outputs[0].force).concatenate(parts)
    return out
