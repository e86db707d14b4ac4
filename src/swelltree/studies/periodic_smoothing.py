"""Forces that change their sign over a small velocity: found from smoother ones, step by step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from swelltree.model.forces.controllers import pto_group
from swelltree.model.model import Model
from swelltree.studies.control_machines import with_machines

STEPS = (30.0, 15.0, 8.0, 4.0, 2.0, 1.4, 1.0)  # times the velocities of the model
FIELDS = ("smoothing_velocity", "friction_velocity")


def smoother(model: Model, factor: float) -> Model:
    """The model with these velocities so many times larger."""
    joints = model.forces.joint_forces
    wide = replace(joints, friction_velocity=factor * np.asarray(joints.friction_velocity))
    model = model.replace(forces=replace(model.forces, joint_forces=wide))
    group = pto_group(model)
    if group is None:
        return model
    laws = []
    for law in group.laws:
        own = {x: factor * np.asarray(getattr(law, x)) for x in FIELDS if hasattr(law, x)}
        laws.append(replace(law, **own) if own else law)
    return with_machines(model, replace(group, laws=tuple(laws)))


def sharp_forces(model: Model) -> list[str]:
    """Velocities over which forces change their sign, in words."""
    joints, names = model.forces.joint_forces, model.names.joint_forces
    found = [
        f"friction_velocity of joint force '{name}' ({float(joints.friction_velocity[i]):g} m/s)"
        for i, name in enumerate(names)
        if float(joints.friction[i])
    ]
    group: Any = pto_group(model)
    if group is None:
        return found
    for law, own in zip(group.laws, group.slices(), strict=True):
        for field in FIELDS:
            for k, value in enumerate(np.atleast_1d(getattr(law, field, []))):
                if field == "smoothing_velocity" or float(law.friction[k]):
                    found.append(f"{field} of pto '{group.names[own.start + k]}' ({value:g} m/s)")
    return found


def advice(model: Model) -> str:
    """What would make the forces smoother, as a part of a sentence."""
    found = sharp_forces(model)
    return f", raise {' and '.join(found)}," if found else ""
