"""What a step is given and holds fixed, and the forces of the model at the mean velocity."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.hydro.linear.frame import in_axes, mean_yaw
from swelltree.integrate.complementarity.attached import attached_points
from swelltree.integrate.complementarity.between_steps import with_derivatives_now
from swelltree.integrate.complementarity.immersed import apart, splash_state
from swelltree.integrate.complementarity.lines.forces import (
    NodeWater,
    freeze,
    node_parts,
    sink,
)
from swelltree.integrate.complementarity.lines.stretch import slow_spring
from swelltree.integrate.complementarity.lines.winch_statics import (
    change_of_rest,
    next_state,
    present,
)
from swelltree.integrate.complementarity.poses import PoseStencil
from swelltree.integrate.complementarity.state import (
    SchemeOptions,
    Sizes,
    StepConstants,
    StepperState,
    surplus_projector,
)
from swelltree.jit import Array, Tree, jnp, pytree
from swelltree.model.capabilities import InternalState, internal_rate
from swelltree.model.capabilities import present as present_inside
from swelltree.model.effect import Instant, Loads
from swelltree.model.model import Model
from swelltree.model.sea import surface_and_water_at
from swelltree.model.signals import drives_at
from swelltree.model.solved import after_step, coupled_effect, element_names, solved_at, total_loads
from swelltree.mooring.dynamic.arrays import rest_lengths
from swelltree.mooring.dynamic.lines import DynamicLines, lines_of, required_lines
from swelltree.mooring.seabed import bed_plane
from swelltree.multibody.kinematics import Motion, dof_coordinates, dof_rates, joint_frames
from swelltree.multibody.rows import Drives
from swelltree.spatial.rotations import apply

if TYPE_CHECKING:
    from swelltree.mooring.winches import WinchState


# Effects that solve for a flow at every instant (`model.solved`), in steps of the two-step
# scheme.
#
# Forces are taken at the positions now: the matrices of the flow are made there once and serve
# all iterations, whose mean velocity the flow follows. Its added mass joins that of the step.
# The states of the flow go on by steps of Runge and Kutta along the motion that the step found,
# with the same matrices: these are of first order in the motion of the mesh over a step, all
# else of second. On the way to rest, where time stands still, nothing flows.


def with_flow(
    model: Model, setup: StepConstants, state: StepperState, motion: Motion
) -> tuple[Model, StepConstants]:
    """The model with the matrices of this instant, and the step with its added mass.

    Args:
        model: at present.
        setup: constants of the step.
        state: its start.
        motion: positions now, with the velocity of the half step before.
    """
    effect = coupled_effect(model)
    if effect is None:
        return model, setup
    now = Instant(state.t, motion, InternalState(state.chi, state.elements))
    effect = effect.at_instant(model, now, setup.ahead > 0.0)
    model = model.with_effect(effect)
    A = effect.solved(model, now).solved_mass(model)
    return model, replace(setup, coupled=setup.coupled + jnp.where(setup.ahead > 0.0, A, 0.0))


def flow_power(model: Model, now: Instant, v_dot: Array) -> Array:
    """Powers of added mass among those of all elements.

    Args:
        model: with the matrices of this instant.
        now: the instant, at the mean velocity.
        v_dot: accelerations of all bodies (N, 6).
    """
    names = element_names(model)
    solved = solved_at(model, now)
    effect = coupled_effect(solved)
    if effect is None:
        return jnp.zeros(len(names))
    power = effect.added_mass_reaction(solved, now.motion, v_dot).power
    first = names.index(effect.names[0])  # names of elements are unique
    return jnp.pad(power, (first, len(names) - first - power.shape[0]))


def flow_advanced(
    model: Model, now: Instant, three: PoseStencil, ahead: Array, elements: dict[str, Tree]
) -> dict[str, Tree]:
    """States of effects after a step, those of the flow by steps of its own.

    Args:
        model: with the matrices of this instant.
        now: the instant, at the mean velocity.
        three: poses around the step.
        ahead: by which time goes on [s].
        elements: states of all effects after the step.
    """
    effect = coupled_effect(model)
    if effect is None or effect.kind not in elements:
        return elements
    stepped = effect.internal_advanced(model, now, three.v_plus, ahead)
    elements = elements | {effect.kind: stepped}
    still = jnp.zeros(np.shape(now.motion.coordinate))
    motion = Motion(three.next, three.v_plus, three.next_frames, now.motion.coordinate, still)
    later = Instant(now.t + ahead, motion, InternalState(now.internal.radiation, elements))
    return after_step(model, later).elements


MIN_RADIUS = 1e-3  # m: of junctions without volume


@pytree()
class JunctionWater:
    """Water at junctions, and the decrease of buoyancy as they rise (J,) [N/m]."""

    water: NodeWater
    sink: Array


@pytree()
class StepInstant:
    """Present positions and everything that depends on them alone."""

    motion: Motion  # its velocity and rates are replaced by the mean ones
    next_angles: Array  # near those after the step, to choose the turn
    next_drives: Drives
    frozen: Tree  # line_forces.Frozen of the lines, or None
    junctions: Tree  # JunctionWater, or None
    normal: Array  # (contact, 3) of the bed under contact points
    offset: Array  # (contact,)
    winch: Tree = None  # winches.WinchState after the step, or None
    splash_state: Tree = None  # immersed.Awash of bodies at the surface
    surplus: Array = None  # (m, m) projector on joint equations that follow from others, or None


@pytree("form")
class Step:
    """Input of a step."""

    model: Model
    form: SchemeOptions
    setup: StepConstants
    state: StepperState
    now: StepInstant

    @property
    def lines(self) -> DynamicLines:
        """The lines at their present lengths, of a model with lines."""
        return required_lines(self.model)

    @property
    def size(self) -> Sizes:
        """Numbers of unknowns."""
        return Sizes.of(self.model, self.form)


def step_from(model: Model, form: SchemeOptions, setup: StepConstants, state: StepperState) -> Step:
    model = present(model, state)
    now = present_inside(model, InternalState(state.chi, state.elements))
    if now.added_mass is not model.added_mass and model.added_mass is not None:
        assert now.added_mass is not None
        # added mass that turns with the mean yaw; on the way to rest the water has no inertia
        change = (now.added_mass - model.added_mass) * (setup.ahead / setup.h)
        setup = replace(setup, coupled=setup.coupled + change)
    here = instant(now, form, setup, state)
    now, setup = with_flow(now, setup, state, here.motion)
    return Step(now, form, with_derivatives_now(now, setup, state, here.motion), state, here)


def instant(
    model: Model, form: SchemeOptions, setup: StepConstants, state: StepperState
) -> StepInstant:
    """Positions, joint coordinates, water and seabed now."""
    frames = joint_frames(model, state.pose)
    coordinate = dof_coordinates(model, frames, state.angles)
    motion = Motion(state.pose, state.v_minus, frames, coordinate, 0.0 * coordinate)
    # joints turn on about as fast as in the step before
    turning = dof_rates(model, state.pose, frames, state.v_minus)
    turning = turning[np.array(model.layout.angle_dofs, dtype=int)]
    next_angles = state.angles + setup.ahead * turning
    drives = drives_at(model.drives, state.t + setup.ahead)
    nothing = jnp.zeros((0, 3))
    frozen, water, normal, offset = None, None, nothing, jnp.zeros(0)
    winch = None
    lines = lines_of(model)
    if lines is not None and lines.arrays is not None:
        q, y = state.lines.q, state.lines.y
        nodes = q.reshape(-1, 3)
        points = jnp.concatenate([nodes, y])
        surface, velocity, acceleration = surface_and_water_at(model, state.t, points)
        depth = surface - points[:, 2]
        count = nodes.shape[0]
        rise, reach = node_parts(lines.arrays, q)
        at_nodes = NodeWater(
            velocity=velocity[:count].reshape(q.shape),
            acceleration=acceleration[:count].reshape(q.shape),
            depth=depth[:count].reshape(q.shape[:2]) - rise,
            reach=reach,
        )
        g = -model.gravity[2]
        winch = next_state(lines, setup, state)
        rest = None if winch is None else _lengths_around(lines, setup, state, winch)
        frozen = freeze(lines.arrays, lines.bed, q, at_nodes, g, model.rho, rest)
        if lines.arrays.slow:
            moves = jnp.where(setup.ahead > 0.0, 1.0, 0.0)
            spring = slow_spring(lines.arrays, state.lines.slow, setup.h, moves)
            frozen = replace(frozen, spring=spring)
        floats = NodeWater(
            velocity=velocity[count:],
            acceleration=acceleration[count:],
            depth=depth[count:],
            # the radius of a sphere of that volume
            reach=jnp.maximum(jnp.cbrt(0.75 / jnp.pi * lines.junction_volume), MIN_RADIUS),
        )
        displaced = model.rho * lines.junction_volume
        slope = sink(lines.junction_mass, displaced, g, floats)
        water = JunctionWater(floats, slope)
    if lines is not None and lines.n_contacts:
        y = state.lines.y
        r = attached_points(
            lines.contact_body, lines.contact_junction, lines.contact_point, state.pose, y
        )
        normal, offset = bed_plane(lines.ground, r)
    at_surface = splash_state(model, setup, state, motion)
    surplus = surplus_projector(model, form, motion, state.angles, drives)
    places = motion, next_angles, drives, frozen, water, normal, offset
    return StepInstant(*places, winch, at_surface, surplus)


def _lengths_around(
    lines: DynamicLines, setup: StepConstants, state: StepperState, winch: WinchState
) -> Array:
    """Unstretched lengths one step ago and one step ahead (line, 2, segment)."""
    w, arrays = state.lines.winch, lines.nodes
    ahead = w.rest + change_of_rest(lines, setup, winch)
    both = [rest_lengths(arrays, w.first, rest) for rest in (w.rest_last, ahead)]
    return jnp.stack(both, axis=1)


def mean_memory(step: Step, v: Array) -> Array:
    """State of the radiation memory now: implicit midpoint of its half steps."""
    memory, chi = step.setup.memory, step.state.chi
    if memory is None:
        return chi
    X, XB = memory
    v = in_axes(mean_yaw(InternalState(chi, step.state.elements)), v)
    return apply(X, chi) + apply(XB, v.reshape(-1))


def now_at(step: Step, v: Array) -> Instant:
    """Arguments of forces, at the mean velocity."""
    m, state = step.now.motion, step.state
    rates = dof_rates(step.model, m.pose, m.frames, v)
    motion = Motion(m.pose, v, m.frames, m.coordinate, rates)
    return Instant(state.t, motion, InternalState(mean_memory(step, v), state.elements))


def forces_at(step: Step, v: Array) -> Loads:
    """Forces of the model at the positions now and the mean velocity."""
    now = now_at(step, v)
    model = solved_at(apart(step.model), now)
    return total_loads(model, now.t, now.motion, now.internal)


def element_rates(step: Step, v: Array) -> Tree:
    """Rates of the states of force elements."""
    if not step.state.elements:
        return step.state.element_rates
    return internal_rate(step.model, now_at(step, v)).elements
