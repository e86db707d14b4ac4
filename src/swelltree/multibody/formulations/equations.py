"""Equations of motion of a model in a chosen formulation, ready for a solver.

`Phase` is what a solver steps: the state, the work done so far by each element,
and the internal states of radiation and elements. `rates` is its right-hand side,
`settle` brings it back onto the constraints, `observe` gives every channel of an
instant.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, suggest
from swelltree.hydro.linear.frame import in_axes, mean_yaw
from swelltree.hydro.linear.radiation import (
    PrescribedMemoryForce,
    fitted_memory,
    radiation_memory,
    with_radiation_memory,
)
from swelltree.hydro.splash_zone.immersions import with_immersed_mass
from swelltree.jit import Array, jax, jnp
from swelltree.model.capabilities import (
    AT_REST,
    CommandsStrokes,
    HasEquilibriumStates,
    HasEvents,
    HasFirstStates,
    InternalState,
    having,
    internal_at_rest,
    internal_rate,
    internal_settled,
    present,
)
from swelltree.model.effect import Instant, Loads
from swelltree.model.model import Model
from swelltree.model.solved import (
    after_step,
    coupled_effect,
    element_names,
    in_step,
    solved_at,
    total_loads,
    with_accelerations,
    with_solved_mass,
)
from swelltree.multibody.formulations.base import (
    Acceleration,
    Formulation,
    Kinematics,
    Phase,
    State,
)
from swelltree.multibody.formulations.channels import StepInstant, channels_at
from swelltree.multibody.formulations.composite_body import CompositeBody
from swelltree.multibody.formulations.lagrange import Lagrange
from swelltree.multibody.formulations.latches import latched_motion, stilled
from swelltree.multibody.formulations.partial_velocity import PartialVelocity
from swelltree.multibody.formulations.partition import Partition
from swelltree.multibody.formulations.path_matrix import PathMatrix
from swelltree.multibody.formulations.reeling import reeled
from swelltree.multibody.kinematics import Motion
from swelltree.pto.actuators.forces import latching_forces
from swelltree.spatial.linear_steps import Ports

if TYPE_CHECKING:
    from swelltree.spatial.linear_steps import ExactStages


FORMULATIONS: dict[str, type[Formulation]] = {
    cls.name: cls for cls in (PathMatrix, PartialVelocity, CompositeBody, Partition, Lagrange)
}


def formulation(chosen: str | Formulation) -> Formulation:
    """The formulation with that name."""
    if isinstance(chosen, Formulation):
        return chosen
    if chosen not in FORMULATIONS:
        raise SwelltreeError(
            f"formulation '{chosen}' is not known.{suggest(chosen, FORMULATIONS)} "
            f"Choose one of {', '.join(FORMULATIONS)}."
        )
    return FORMULATIONS[chosen]()


def start_phase(model: Model, formulation: Formulation) -> Phase:
    """Initial phase without work; NumPy unless the model is traced."""
    terms = len(element_names(model)) + len(model.layout.drives)
    state = formulation.start(model)
    return Phase(state, np.zeros(terms), settled_at(model, formulation, state))


def settled_at(model: Model, formulation: Formulation, state: State) -> InternalState:
    """Internal states for an initial state: mean yaws are those of the bodies."""
    internal = internal_at_rest(model)
    if not having(model, HasEquilibriumStates):
        return internal
    t = np.zeros(())
    pose = formulation.kinematics(present(model, internal), t, state).motion.pose
    return internal_settled(model, internal, pose)


def solve_motion(
    model: Model,
    formulation: Formulation,
    t: Array,
    state: State,
    internal: InternalState = AT_REST,
) -> tuple[Kinematics, Loads, Acceleration]:
    """Motion, loads and accelerations at one instant."""
    return _solved_motion(model, formulation, t, state, internal)[1:]


def _solved_motion(
    model: Model, formulation: Formulation, t: Array, state: State, internal: InternalState
) -> tuple[Model, Kinematics, Loads, Acceleration]:
    """Motion, loads and accelerations at one instant, and the model with its flow solved."""
    specified, model = model, present(model, internal)
    kin = formulation.kinematics(model, t, state)
    now = Instant(t, kin.motion, internal)
    model = solved_at(model, now)
    loads = total_loads(model, t, kin.motion, internal)
    heavy, coupled = with_immersed_mass(model, t, kin.motion), coupled_effect(model)
    if coupled is not None:
        specified = specified.with_effect(coupled)
    if latching_forces(model) is not None:
        heavy = with_solved_mass(heavy, symmetric=True)
        loads, acceleration, _ = latched_motion(heavy, formulation, kin, loads, now)
    elif coupled is not None:
        acceleration = coupled.acceleration(heavy, formulation, kin, loads.wrench)
    else:
        acceleration = formulation.acceleration(heavy, kin, loads.wrench)
    loads = with_accelerations(model, loads, kin.motion, acceleration.v_dot)
    return specified, kin, loads, acceleration


def step_model(model: Model, formulation: Formulation, t: Array, y: Phase, h: Array) -> Model:
    """The model with step constants of its effects."""
    if coupled_effect(model) is None:
        return model
    now = present(model, y.internal)
    kin = formulation.kinematics(now, t, y.state)
    rate = formulation.position_rate(now, kin, y.state)

    def motion_at(ahead: Array) -> Motion:
        moved = State(y.state.q + ahead * rate, y.state.s, y.state.chart)
        return formulation.kinematics(now, t + ahead, moved).motion

    return in_step(model, t, h, motion_at, y.internal)


def rates(model: Model, formulation: Formulation, t: Array, y: Phase) -> Phase:
    """Right-hand side of the equations of motion, including powers."""
    model, kin, loads, acceleration = _solved_motion(model, formulation, t, y.state, y.internal)
    q_dot = formulation.position_rate(model, kin, y.state)
    power = jnp.concatenate([loads.power, drive_power(model, formulation, kin, acceleration)])
    chart = 0.0 * y.state.chart if isinstance(y.state.chart, jnp.ndarray) else y.state.chart
    internal = internal_rate(model, Instant(t, kin.motion, y.internal))
    return Phase(State(q_dot, acceleration.s_dot, chart), power, internal)


def settle(model: Model, formulation: Formulation, t: Array, y: Phase) -> Phase:
    """Phase projected onto its constraints."""
    state = formulation.settle(present(model, y.internal), t, y.state)
    if latching_forces(model) is not None:
        state, _ = _stilled(model, formulation, t, Phase(state, y.work, y.internal))
    if coupled_effect(model) is not None:
        motion = formulation.kinematics(present(model, y.internal), t, state).motion
        y = Phase(y.state, y.work, after_step(model, Instant(t, motion, y.internal)))
    memory = radiation_memory(model)
    if memory is None or not memory.records:
        return Phase(state, y.work, y.internal)
    v = formulation.kinematics(model, t, state).motion.v
    v = in_axes(mean_yaw(y.internal), v).reshape(-1)
    past = memory.after_step(t, v, y.internal.radiation)
    return Phase(state, y.work, InternalState(past, y.internal.elements))


def event_count(model: Model) -> int:
    return sum(group.event_count for group in having(model, HasEvents))


def _now(model: Model, formulation: Formulation, t: Array, y: Phase) -> Instant:
    """Arguments of event functions; latch forces only if an event depends on them."""
    model = present(model, y.internal)
    kin = formulation.kinematics(model, t, y.state)
    now = Instant(t, kin.motion, y.internal)
    group = latching_forces(model)
    if group is None or not group.watches_hold:
        return now
    model = solved_at(model, now)
    loads = total_loads(model, t, kin.motion, y.internal)
    heavy = with_solved_mass(with_immersed_mass(model, t, kin.motion), symmetric=True)
    hold = latched_motion(heavy, formulation, kin, loads, now)[2]
    return Instant(t, kin.motion, y.internal, hold.needed)


def event_values(model: Model, formulation: Formulation, t: Array, y: Phase) -> Array:
    """Event functions, whose downward zero crossings are events, (event_count,)."""
    now = _now(model, formulation, t, y)
    watching = [group for group in having(model, HasEvents) if group.event_count]
    return jnp.concatenate([group.event_values(model, now) for group in watching])


def switched(model: Model, formulation: Formulation, t: Array, y: Phase, hit: Array) -> Phase:
    """Phase after events: changed internal states, and cables of winches."""
    now = _now(model, formulation, t, y)
    elements, first = dict(y.internal.elements), 0
    for group in having(model, HasEvents):
        if group.event_count:
            its_hits = hit[first : first + group.event_count]
            if group.kind in elements:
                elements[group.kind] = group.switched(model, now, its_hits)
            first += group.event_count
    after = Phase(y.state, y.work, InternalState(y.internal.radiation, elements))
    after = resolved(model, formulation, t, after)
    group = latching_forces(model)
    if group is not None:
        state, lost = _stilled(model, formulation, t, after)
        names = element_names(model)
        place = np.array([names.index(name) for name in group.names])
        after = Phase(state, after.work.at[place].add(lost), after.internal)
    return reeled(model, formulation, t, y, after)


def _stilled(model: Model, formulation: Formulation, t: Array, y: Phase) -> tuple[State, Array]:
    """State with zero rates of locked strokes, and the work of stopping them."""
    model = present(model, y.internal)
    kin = formulation.kinematics(model, t, y.state)
    now = Instant(t, kin.motion, y.internal)
    heavy = with_immersed_mass(solved_at(model, now), t, kin.motion)
    heavy = with_solved_mass(heavy, symmetric=True)
    return stilled(heavy, formulation, t, y.state, y.internal)


def resolved(model: Model, formulation: Formulation, t: Array, y: Phase) -> Phase:
    """Phase after deciding which strokes stick by friction."""
    group = latching_forces(model)
    if group is None or not group.sticks:
        return y

    def decide(states: Array, _: None) -> tuple[Array, None]:
        elements = y.internal.elements | {group.kind: states}
        trial = Phase(y.state, y.work, InternalState(y.internal.radiation, elements))
        return group.resolved(model, _now(model, formulation, t, trial)), None

    # first those at rest are locked, then one overloaded after the other lets go
    rounds = int(group.can_stick().sum()) + 1
    states = jax.lax.scan(decide, y.internal.elements[group.kind], None, length=rounds)[0]
    elements = y.internal.elements | {group.kind: states}
    return Phase(y.state, y.work, InternalState(y.internal.radiation, elements))


def begun(model: Model, formulation: Formulation, t: Array, y: Phase) -> Phase:
    """Phase at the start of a run, after the first sample of sampled controllers."""
    elements = dict(y.internal.elements)

    @cache
    def now() -> Instant:
        kin = formulation.kinematics(present(model, y.internal), t, y.state)
        return Instant(t, kin.motion, y.internal)

    for group in having(model, HasFirstStates):
        if group.kind in elements and (states := group.first_states(model, now)) is not None:
            elements[group.kind] = states
    return Phase(y.state, y.work, InternalState(y.internal.radiation, elements))


def next_due(model: Model, t: Array, y: Phase) -> Array:
    """Next time of a scheduled event [s]; infinite: none."""
    times = [group.next_sample(y.internal) for group in having(model, CommandsStrokes)]
    later = [jnp.where(due > t, due, jnp.inf) for due in times if due is not None]
    return jnp.min(jnp.stack(later)) if later else jnp.asarray(jnp.inf)


def drive_power(
    model: Model, formulation: Formulation, kin: Kinematics, acceleration: Acceleration
) -> Array:
    """Power that each prescribed motion puts into the system."""
    count = len(model.layout.drives)
    if count == 0:
        return jnp.zeros(0)
    assert kin.rows is not None
    rows = formulation.rows(model)
    each = acceleration.multipliers * kin.rows.velocity_rhs
    drives = np.array([r.j if r.prescribed else -1 for r in rows])
    hits = (np.arange(count)[:, None] == drives[None, :]).astype(float)
    return (hits * each[None]).sum(1)


def observe(model: Model, formulation: Formulation, t: Array, y: Phase) -> dict[str, Array]:
    """All reported quantities at one instant: see `channels_at`."""
    model, kin, loads, acceleration = _solved_motion(model, formulation, t, y.state, y.internal)
    rows, open_rows = formulation.rows(model), formulation.open_rows(model)
    instant = StepInstant(t, kin, loads, acceleration, y.internal, y.work, rows, open_rows)
    condition = formulation.condition(model, kin, y.state)
    extra = {} if condition is None else {"partition_condition": condition}
    return channels_at(model, instant) | extra


# --- The radiation memory of a phase as the linear block of its equations of motion


def memory_of(y: Phase) -> Array:
    return y.internal.radiation


def with_memory(y: Phase, chi: Array) -> Phase:
    """The phase with other radiation states."""
    return replace(y, internal=replace(y.internal, radiation=chi))


def exact_stages_of(model: Model) -> ExactStages | None:
    """Stages of a fixed step with exact radiation memory (`with_exact_memory`)."""
    memory = fitted_memory(model)
    return None if memory is None else memory.exact


def ports_of(model: Model) -> Ports | None:
    """Inputs and outputs of the memory in the stages of such a step."""
    memory = fitted_memory(model)
    if memory is None or memory.ports is None:
        return None
    specified = PrescribedMemoryForce(memory.B.shape[1], memory.ports.active)
    return Ports(with_radiation_memory(model, specified), memory.ports)


def matrix_of(model: Model) -> Array | None:
    """A of the radiation memory, None without states."""
    memory = fitted_memory(model)
    return None if memory is None else memory.A


def partners_of(model: Model) -> tuple[int, ...] | None:
    """The second state of each oscillator of the memory; None for other forms."""
    memory = fitted_memory(model)
    return None if memory is None else memory.partner
