"""All forces together: the wrench of every body, energies and powers by element."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from swelltree.model.forces.applied import Applied, applied
from swelltree.model.forces.controllers import CompiledController, actuation
from swelltree.model.forces.gravity import gravity
from swelltree.model.forces.hydrodynamics import TERMS, hydrodynamics
from swelltree.model.forces.joint_forces import JointForces, joint_forces
from swelltree.model.forces.loads import ForceGroup, Loads, Now
from swelltree.model.forces.moorings import Moorings, moorings
from swelltree.model.forces.springs import Springs, springs
from swelltree.model.inner import AT_REST
from swelltree.model.kinematics import Motion
from swelltree.model.model import Model
from swelltree.spatial.arrays import Array, namespace, pytree


@pytree()
class Forces:
    """Every force element of a system, grouped by kind."""

    springs: Springs
    joint_forces: JointForces
    applied: tuple[Applied, ...]
    moorings: Moorings
    controllers: tuple[CompiledController, ...]
    spring_signals: tuple[Any, ...]
    joint_signals: tuple[Any, ...]
    groups: tuple[ForceGroup, ...] = ()  # every other kind of force


def with_group(model: Model, group: ForceGroup) -> Model:
    """The model with one more kind of force."""
    forces = replace(model.forces, groups=(*model.forces.groups, group))
    return model.replace(forces=forces)


def element_names(model: Model) -> tuple[str, ...]:
    """Names of the terms of the energy budget."""
    others = tuple(name for group in model.forces.groups for name in group.names)
    return model.names.elements + others + (TERMS if model.hydro is not None else ())


def total_loads(model: Model, t: Array, motion: Motion, inner: Any = AT_REST) -> Loads:
    """Sum of all forces.

    Elements are ordered gravity, buoyancy, springs, joint forces, applied
    forces, moorings, other groups, hydrodynamics (`element_names`); channels are prefixed by
    their kind.

    Args:
        model: compiled.
        t: [s].
        motion: of all bodies.
        inner: states of radiation memory and elements.
    """
    forces: Forces = model.forces
    now = Now(t, motion, inner)
    spring_control, joint_control = actuation(model, now)
    parts = {"gravity": gravity(model, motion)}
    if forces.springs.body_a:
        parts["spring"] = springs(model, motion, spring_control)
    if forces.joint_forces.dof:
        parts["joint_force"] = joint_forces(model, motion, joint_control)
    if forces.applied:
        parts["applied"] = applied(model, t, motion)
    if forces.moorings.body:
        parts["mooring"] = moorings(model, motion)
    for group in forces.groups:
        parts[group.kind] = group.loads(model, now)
    if model.hydro is not None:
        parts["hydro"] = hydrodynamics(model.hydro, t, motion, inner)
    xp = namespace(motion.pose.p)
    wrench = sum(p.wrench for p in parts.values())
    channels = {f"{kind}_{name}": x for kind, p in parts.items() for name, x in p.channels.items()}
    if forces.springs.body_a:
        channels["spring_control"] = spring_control
    if forces.joint_forces.dof:
        channels["joint_force_control"] = joint_control
    return Loads(
        wrench,
        xp.concatenate([p.potential for p in parts.values()]),
        xp.concatenate([p.power for p in parts.values()]),
        channels,
    )
