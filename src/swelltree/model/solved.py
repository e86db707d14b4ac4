"""Effects that solve for a flow at every instant, and for the added mass it has there.

Such an effect is solved before loads are asked for. Its added mass is not inertia of the bodies: it
belongs to the mass matrix while accelerations are found, and to no kinetic energy.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from swelltree.engine.arrays import Array
from swelltree.engine.backend import on_first_choice
from swelltree.model.effect import Effect, Loads, Now
from swelltree.model.internal_state import InternalState
from swelltree.model.kinematics import Motion
from swelltree.model.model import Model


def coupled_effect(model: Model) -> Effect | None:
    """The effect with an added mass of every instant, None if there is none."""
    return next((effect for effect in model.effects if effect.has_added_mass), None)


def where_solved(model: Model) -> AbstractContextManager[object]:
    """The device for the matrices of such an effect; others stay where they are."""
    return nullcontext() if coupled_effect(model) is None else on_first_choice()


def solved_at(model: Model, now: Now) -> Model:
    """The model with that effect solved."""
    effect = coupled_effect(model)
    return model if effect is None else model.with_effect(effect.solved(model, now))


def with_solved_mass(model: Model, symmetric: bool = False) -> Model:
    """The model with the added mass of this instant, as it is or made symmetric."""
    effect = coupled_effect(model)
    if effect is None:
        return model
    A = effect.solved_mass(model)
    A = 0.5 * (A + A.T) if symmetric else A
    return model.replace(added_mass=A if model.added_mass is None else A + model.added_mass)


def with_accelerations(model: Model, loads: Loads, motion: Motion, v_dot: Array) -> Loads:
    """Loads with what the added mass of this instant does at known accelerations.

    Args:
        model: solved.
        loads: of all effects.
        motion: of all bodies.
        v_dot: accelerations of all bodies (N, 6).
    """
    effect = coupled_effect(model)
    if effect is None:
        return loads
    more = effect.accelerated(model, motion, v_dot)
    first = 0
    for each in model.effects[: list(model.effects).index(effect)]:
        first += len(each.names)
    power = loads.power.at[first : first + len(effect.names)].add(more.power)
    channels = dict(loads.channels)
    for name, values in more.channels.items():
        channels[effect.prefix + name] = channels[effect.prefix + name] + values
    return Loads(loads.wrench, loads.potential, power, channels)


def made_ready(model: Model) -> Model:
    """The model with what its effects hold for a whole run."""
    return model.replace(effects=tuple(effect.before_run(model) for effect in model.effects))


def in_step(
    model: Model,
    t: Array,
    h: Array,
    motion_at: Callable[[Array], Motion],
    internal: InternalState,
) -> Model:
    """The model with what its effects hold for one step.

    Args:
        model: compiled.
        t: at the start of the step [s].
        h: its length [s].
        motion_at: motion of all bodies so long after the start, extrapolated.
        internal: states at the start.
    """
    effects = (effect.before_step(model, t, h, motion_at, internal) for effect in model.effects)
    return model.replace(effects=tuple(effects))


def after_step(model: Model, now: Now) -> InternalState:
    """Internal states after a step, with those of that effect brought into order."""
    effect = coupled_effect(model)
    if effect is None or effect.kind not in now.internal.elements:
        return now.internal
    elements = now.internal.elements | {effect.kind: effect.after_step(model, now)}
    return InternalState(now.internal.radiation, elements)


def fixed_step(model: Model) -> float | None:
    """The step with which the effects of a model must be stepped [s]; None: any method does."""
    steps = [effect.fixed_step for effect in model.effects]
    return min((step for step in steps if step is not None), default=None)
