"""Is a model linear? First what it contains, then the equations that are left.

What acts in one place and not in another (end stops, slack, limits, laws and functions of users,
signals of time) is looked up in the model (`what_bends`). The rest are analytic functions of
displacements and velocities; an analytic function that is straight at random points is straight
everywhere.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from swelltree.formulations import Formulation, State
from swelltree.model.forces.immersions import with_immersed_mass
from swelltree.model.forces.laws.damper import Damper
from swelltree.model.forces.total import total_loads
from swelltree.model.inner import inner_at_rest
from swelltree.model.model import Model
from swelltree.model.signals import Constant
from swelltree.spatial.engine import jax, jnp
from swelltree.spatial.in_numpy import in_numpy
from swelltree.spatial.in_scalars import Prepared

LIMITLESS = 1e30  # a limit of a machine that is not there
SIZE = 0.3  # m, rad, m/s, rad/s: displacements and velocities tried
TOLERANCE = 1e-7  # of the forces there


@functools.lru_cache(maxsize=32)
def _leftover(how: Formulation) -> Any:
    """Program: change of force and of mass at a displacement and velocity."""

    def leftover(model: Model, rest: State, x: Any, s: Any) -> Any:
        t, inner = jnp.zeros(()), inner_at_rest(model)

        def force(x: Any, s: Any) -> Any:
            moved = how.retract(model, rest, x)
            kin = how.kinematics(model, t, State(moved.q, s, moved.chart))
            tau = how.project(model, kin, total_loads(model, t, kin.motion, inner).wrench)
            heavy = with_immersed_mass(model, t, kin.motion)
            return tau - how.bias(model, kin), how.mass(heavy, kin), kin.P

        zero = jnp.zeros_like(x)
        there, there_mass, P = force(x, s)
        here, here_mass, P0 = force(zero, zero)
        slope = jax.jvp(lambda a, b: force(a, b)[0], (zero, zero), (x, s))[1]
        bent = jnp.abs(there - here - slope).max() / jnp.abs(slope).max()
        heavier = jnp.abs(there_mass - here_mass).max() / jnp.abs(here_mass).max()
        return jnp.maximum(jnp.maximum(bent, heavier), jnp.abs(P - P0).max())

    return in_numpy(jax.vmap(leftover, in_axes=(None, None, 0, 0)))


def what_bends(model: Model, held: frozenset[str] = frozenset()) -> str:
    """The first part of a model by which it is not linear for sure, in words; empty: none.

    Args:
        model: driven elements without their signals.
        held: names of PTOs whose stroke stays off their stops.
    """
    forces, names = model.forces, model.names
    joints = forces.joint_forces
    for i, name in enumerate(names.joint_forces):
        if name not in held and np.isfinite([joints.lower[i], joints.upper[i]]).any():
            return f"joint force '{name}' has end stops"
    for name, slack in zip(names.springs, forces.springs.tension_only, strict=True):
        if slack:
            return f"spring '{name}' carries tension only"
    if forces.controllers:
        return "a controller acts"
    for name, own in zip(names.applied, forces.applied, strict=True):
        if own.function is not None or not all(map(_steady, own.signals)):
            return f"force '{name}' changes with time or motion"
    signals = (*forces.spring_signals, *forces.joint_signals)
    for name, signal in zip((*names.springs, *names.joint_forces), signals, strict=True):
        if not _steady(signal):
            return f"force '{name}' changes with time"
    if model.lines is not None:
        return "it has dynamic lines or contacts"
    for group in forces.groups:
        found = _machine_bends(group, held) if group.kind == "pto" else f"it has {group.kind}"
        if found:
            return found
    return ""


def _steady(signal: Any) -> bool:
    return signal is None or isinstance(signal, Constant)


def _machine_bends(group: Any, held: frozenset[str]) -> str:
    """The same for machines."""
    for law, own in zip(group.laws, group.slices(), strict=True):
        for i in range(own.start, own.stop):
            name = f"pto '{group.names[i]}'"
            stops = np.isfinite([group.stops.lower[i], group.stops.upper[i]]).any()
            if stops and group.names[i] not in held:
                return f"{name} has end stops"
            if not isinstance(law, Damper):
                return f"{name} has a law of its own"
            if min(float(group.force_limit[i]), float(group.power_limit[i])) < LIMITLESS:
                return f"{name} has a limit"
            if not _steady(group.signals[i]):
                return f"{name} is driven by a signal"
    return ""


def may_be_linear(model: Model, how: Formulation) -> bool:
    """Has the model nothing by which it is not linear for sure?"""
    if inner_at_rest(model).elements or any(g.uses_sea for g in model.forces.groups):
        return False
    return not (how.rows(model) and how.keeps_rows)


def is_affine(scalars: Prepared) -> bool:
    """Are all results sums of the unknowns, but for parts that nobody sees?"""
    count, size = scalars.count, len(scalars.programs.unknown)
    w = SIZE * np.random.default_rng(5).standard_normal((count, size))
    there = scalars.values(w)
    here, slopes = scalars.slopes(np.zeros_like(w))
    for a, b, slope in zip(there, here, slopes, strict=True):
        change = np.einsum("j...w,jw->j...", slope, w)
        size = max(float(np.abs(change).max(initial=0.0)), 1e-3)
        if not np.abs(a - b - change).max(initial=0.0) < TOLERANCE * size:
            return False
    return True


def is_linear(model: Model, how: Formulation, rest: State) -> bool:
    """Are forces, inertia and directions of motion those of the linearised model?

    Args:
        model: without radiation memory and waves.
        how: formulation.
        rest: its state of rest.
    """
    if not may_be_linear(model, how):
        return False
    n = rest.s.shape[0]
    rng = np.random.default_rng(5)
    x, s = SIZE * rng.standard_normal((2, 4, n))
    worst = float(np.max(np.asarray(_leftover(how)(model, rest, x, s))))
    return bool(worst < TOLERANCE)
