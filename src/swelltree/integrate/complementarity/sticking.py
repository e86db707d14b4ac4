r"""Strokes that stick by dry friction: their forces are unknowns of a step.

With the force p on a stroke x, the rate :math:`u = (x_{next} - x) / h` and any :math:`\varrho > 0`,

.. math:: p = \mathrm{clip}(p - \varrho u, -F, F)

(Alart and Curnier 1991; `solve.friction` has the same with a cone). Inside the limits the stroke
sticks, u = 0. The limit F is the static one while a stroke stood still in the step before, so the
first step after breaking away still has it. A stroke that sticks gives by a trifle while its force
changes, so that several brakes of one joint share a load; under a steady force nothing moves.

Between steps the forces are part of the states of the law (`effects.strokes.laws.sticking`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swelltree.integrate.complementarity.instant import Step
from swelltree.integrate.complementarity.poses import PoseStencil
from swelltree.integrate.complementarity.state import StepperState
from swelltree.jit import Array, Tree, jnp, namespace
from swelltree.model.model import Model
from swelltree.multibody.kinematics import Motion, dof_coordinates
from swelltree.pto.actuators.actuators import pair_wrench, stroke
from swelltree.pto.actuators.forces import stroke_forces

STICKS = 1e6  # resistance of what sticks over the inertia of a step
LONG = 1e3  # and in statics over that


def _elements(model: Model) -> np.ndarray:
    """Numbers of elements with stiction."""
    return np.flatnonzero(stroke_forces(model).can_stick())


def _laws(model: Model, elements: dict[str, Array]) -> list[tuple[Tree, Array, slice]]:
    """Laws that stick, their states (2, count), and where these lie among those of all strokes."""
    forces, out, first = stroke_forces(model), [], 0
    for law, count in zip(forces.laws, forces.counts, strict=True):
        rows = slice(first, first + law.states * count)
        first = rows.stop
        if law.sticks:
            out.append((law, elements[forces.kind][rows].reshape(law.states, count), rows))
    return out


def stick_forces(model: Model, state: StepperState) -> Array:
    """Stick forces after the last step (s,) [N, N m]."""
    found = [law.held(z) for law, z, _ in _laws(model, state.elements)]
    return jnp.concatenate(found) if found else jnp.zeros(0)


def _limits(step: Step) -> Array:
    """Maximum stick forces in this step."""
    return jnp.concatenate([law.limit(z) for law, z, _ in _laws(step.model, step.state.elements)])


def with_stick_forces(step: Step, p: Array) -> Step:
    """The step with law states that correspond to these forces."""
    if not p.shape[0]:
        return step
    elements, limit, first = step.state.elements, _limits(step), 0
    kind = stroke_forces(step.model).kind
    parts, last = [], 0
    for law, z, rows in _laws(step.model, elements):
        own = slice(first, first + z.shape[1])
        first = own.stop
        parts += [elements[kind][last : rows.start]]
        parts += [law.holding(p[own], limit[own]).reshape(-1)]
        last = rows.stop
    flat = jnp.concatenate([*parts, elements[kind][last:]])
    return replace(step, state=replace(step.state, elements=elements | {kind: flat}))


def stick_wrench(model: Model, motion: Motion, p: Array) -> Array:
    """Wrenches of stick forces on the bodies (N, 6)."""
    forces = stroke_forces(model)
    xp = namespace(p)
    every = xp.stack([p[k] * np.eye(len(forces.names))[i] for k, i in enumerate(_elements(model))])
    return pair_wrench(model, forces.strokes, motion, every.sum(0))


def stick_rows(step: Step, three: PoseStencil, p: Array) -> Array:
    """Residual of the stick law (s,) [m, rad]."""
    model, setup, here = step.model, step.setup, step.now.motion
    forces, rows = stroke_forces(model), _elements(model)
    coordinate = dof_coordinates(model, three.next_frames, step.now.next_angles)
    still = 0.0 * coordinate
    ahead = Motion(three.next, 0.0 * three.v_plus, three.next_frames, coordinate, still)
    way = (stroke(forces.strokes, ahead)[0] - stroke(forces.strokes, here)[0])[rows]
    give = setup.h**2 / setup.stick_mass
    last, limit = stick_forces(model, step.state), _limits(step)
    # in the long steps of statics what slides by little must not look as if it stuck, and what
    # sticks does not give by more
    long = jnp.where(setup.ahead > 0.0, 1.0, LONG * jnp.maximum(1.0, setup.h**2))
    tried = p - way * long / give
    sliding = give * (p - limit * jnp.sign(tried))
    held = way + give / (STICKS * long) * (p - last)
    return jnp.where(jnp.abs(tried) < limit, held, sliding)
