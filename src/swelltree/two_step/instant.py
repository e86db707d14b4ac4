"""What a step is given and holds fixed, and the forces of the model at the mean velocity."""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.effects.lines.seabed import bed_plane
from swelltree.engine.arrays import Array, pytree
from swelltree.engine.backend import jnp
from swelltree.model.constraints import Drives
from swelltree.model.effect import Loads, Now
from swelltree.model.inner import Inner, inner_rate
from swelltree.model.kinematics import Motion, dof_coordinates, dof_rates, joint_frames
from swelltree.model.model import Model
from swelltree.model.sea import surface_at, water_at
from swelltree.model.signals import drives_at
from swelltree.model.total import total_loads
from swelltree.spatial.products import apply
from swelltree.two_step.attached import held_points
from swelltree.two_step.immersed import apart, awash
from swelltree.two_step.lines.forces import NodeWater, freeze
from swelltree.two_step.lines.winch_rest import change_of_rest, next_state, present, rest_lengths
from swelltree.two_step.surplus import surplus_projector
from swelltree.two_step.walk import Form, Setup, Sizes, Walk


@pytree()
class Instant:
    """Positions now and what depends on them alone."""

    motion: Motion  # its velocity and rates are replaced by the mean ones
    next_angles: Array  # near those after the step, to choose the turn
    next_drives: Drives
    frozen: Any  # line_forces.Frozen of the lines, or None
    junction_water: Any  # velocity and acceleration of the water at junctions (J, 3) each
    normal: Array  # (contact, 3) of the bed under contact points
    offset: Array  # (contact,)
    winch: Any = None  # winches.WinchState after the step, or None
    awash: Any = None  # immersed.Awash of bodies at the surface
    surplus: Any = None  # (m, m) projector on joint equations that follow from others, or None


@pytree("form")
class Step:
    """All that a step is given."""

    model: Model
    form: Form
    setup: Setup
    walk: Walk
    now: Instant

    @property
    def size(self) -> Sizes:
        """Numbers of unknowns."""
        return Sizes.of(self.model, self.form)


def step_from(model: Model, form: Form, setup: Setup, walk: Walk) -> Step:
    """The step that leaves a walk."""
    model = present(model, walk)
    return Step(model, form, setup, walk, instant(model, form, setup, walk))


def instant(model: Model, form: Form, setup: Setup, walk: Walk) -> Instant:
    """Positions, joint coordinates, water and seabed now."""
    frames = joint_frames(model, walk.pose)
    coordinate = dof_coordinates(model, frames, walk.angles)
    motion = Motion(walk.pose, walk.v_minus, frames, coordinate, 0.0 * coordinate)
    # joints turn on about as fast as in the step before
    turning = dof_rates(model, walk.pose, frames, walk.v_minus)
    turning = turning[np.array(model.layout.angle_dofs, dtype=int)]
    next_angles = walk.angles + setup.ahead * turning
    drives = drives_at(model.drives, walk.t + setup.ahead)
    nothing = jnp.zeros((0, 3))
    frozen, water, normal, offset = None, (nothing, nothing), nothing, jnp.zeros(0)
    winch = None
    lines = model.lines
    if lines is not None and lines.arrays is not None:
        q, y = walk.lines.q, walk.lines.y
        nodes = q.reshape(-1, 3)
        reach = jnp.concatenate([_reach(lines.arrays.diameter, q), jnp.full(y.shape[0], 1e-3)])
        velocity, acceleration, wet = _water(model, walk.t, jnp.concatenate([nodes, y]), reach)
        count = nodes.shape[0]
        shape = q.shape[:2]
        at_nodes = NodeWater(
            velocity=velocity[:count].reshape(*shape, 3),
            acceleration=acceleration[:count].reshape(*shape, 3),
            wet=wet[:count].reshape(shape),
        )
        g = -model.gravity[2]
        winch = next_state(model, setup, walk)
        rest = None if winch is None else _lengths_around(model, setup, walk, winch)
        frozen = freeze(lines.arrays, lines.bed, q, at_nodes, g, model.rho, rest)
        share = wet[count:, None]
        water = velocity[count:] * share, acceleration[count:] * share
    if lines is not None and lines.n_contacts:
        y = walk.lines.y
        r = held_points(
            lines.contact_body, lines.contact_junction, lines.contact_point, walk.pose, y
        )
        normal, offset = bed_plane(lines.bed, r)
    at_surface = awash(model, setup, walk, motion)
    surplus = surplus_projector(model, form, motion, walk.angles, drives)
    places = motion, next_angles, drives, frozen, water, normal, offset
    return Instant(*places, winch, at_surface, surplus)


def _lengths_around(model: Model, setup: Setup, walk: Walk, winch: Any) -> Array:
    """Unstretched lengths one step ago and one step ahead (line, 2, segment)."""
    w, arrays = walk.lines.winch, model.lines.arrays
    ahead = w.rest + change_of_rest(model, setup, winch)
    both = [rest_lengths(arrays, w.first, rest) for rest in (w.rest_last, ahead)]
    return jnp.stack(both, axis=1)


def _reach(diameter: Array, q: Array) -> Array:
    """How far each node's share of its line reaches up and down [m], (line * node,)."""
    rise = 0.25 * jnp.abs(q[:, 1:, 2] - q[:, :-1, 2]) + 0.25 * diameter
    none = jnp.zeros_like(rise[:, :1])
    both = jnp.concatenate([none, rise], 1) + jnp.concatenate([rise, none], 1)
    return both.reshape(-1)


def _water(model: Model, t: Array, points: Array, reach: Array) -> tuple[Array, Array, Array]:
    """Velocity and acceleration of the water at points, and which share of them is wet."""
    under = surface_at(model, t, points) - points[:, 2]
    wet = jnp.clip(0.5 + 0.5 * under / reach, 0.0, 1.0)
    if model.sea.waves is None and model.sea.current is None:
        return jnp.zeros_like(points), jnp.zeros_like(points), wet
    flow = water_at(model, t, points)
    return flow.velocity, flow.acceleration, wet


def mean_memory(step: Step, v: Array) -> Any:
    """State of the radiation memory now: the implicit midpoint of its half steps."""
    memory, chi = step.setup.memory, step.walk.chi
    if memory is None:
        return chi
    X, XB = memory
    return apply(X, chi) + apply(XB, v.reshape(-1))


def now_at(step: Step, v: Array) -> Now:
    """What forces may depend on, at the mean velocity."""
    m, walk = step.now.motion, step.walk
    rates = dof_rates(step.model, m.pose, m.frames, v)
    motion = Motion(m.pose, v, m.frames, m.coordinate, rates)
    return Now(walk.t, motion, Inner(mean_memory(step, v), walk.elements))


def forces_at(step: Step, v: Array) -> Loads:
    """Forces of the model at the positions now and the mean velocity."""
    seen = now_at(step, v)
    return total_loads(apart(step.model), seen.t, seen.motion, seen.inner)


def element_rates(step: Step, v: Array) -> Any:
    """Rates of the states of force elements."""
    if not step.walk.elements:
        return step.walk.element_rates
    return inner_rate(step.model, now_at(step, v)).elements
