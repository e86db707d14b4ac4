"""Effects that solve for a flow at every instant, and for the added mass it has there.

Such an effect is solved before loads are asked for. Its added mass is not inertia of the bodies: it
belongs to the mass matrix while accelerations are found, and to no kinetic energy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import numpy as np

from swelltree.jit import Array, namespace, on_first_choice
from swelltree.model.capabilities import (
    AT_REST,
    FluidSolver,
    HasUnknowns,
    InternalState,
    Reports,
    ReportsLines,
    having,
)
from swelltree.model.channels import CHANNELS
from swelltree.model.effect import Effect, Instant, Loads
from swelltree.model.model import Model
from swelltree.multibody.kinematics import Motion

if TYPE_CHECKING:
    from swelltree.multibody.layout import Layout


def coupled_effect(model: Model) -> FluidSolver | None:
    """The effect with an instantaneous added mass, None if there is none."""
    return next(iter(having(model, FluidSolver)), None)


def where_solved(model: Model) -> AbstractContextManager[object]:
    """Device of the matrices of such an effect."""
    return nullcontext() if coupled_effect(model) is None else on_first_choice()


def solved_at(model: Model, now: Instant) -> Model:
    """The model with the flow of that effect solved."""
    effect = coupled_effect(model)
    return model if effect is None else model.with_effect(effect.solved(model, now))


def with_solved_mass(model: Model, symmetric: bool = False) -> Model:
    """The model with the added mass of this instant, optionally symmetrised."""
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
    more = effect.added_mass_reaction(model, motion, v_dot)
    first = 0
    for each in model.effects[: list(model.effects).index(effect)]:
        first += len(each.names)
    power = loads.power.at[first : first + len(effect.names)].add(more.power)
    channels = dict(loads.channels)
    for name, values in more.channels.items():
        channels[effect.prefix + name] = channels[effect.prefix + name] + values
    return Loads(loads.wrench, loads.potential, power, channels)


def prepared(model: Model) -> Model:
    """The model with run constants of its effects."""
    effect = coupled_effect(model)
    return model if effect is None else model.with_effect(effect.before_run(model))


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
    effect = coupled_effect(model)
    if effect is None:
        return model
    return model.with_effect(effect.before_step(model, t, h, motion_at, internal))


def after_step(model: Model, now: Instant) -> InternalState:
    """Internal states after a step, corrected by that effect."""
    effect = coupled_effect(model)
    if effect is None or effect.kind not in now.internal.elements:
        return now.internal
    elements = now.internal.elements | {effect.kind: effect.after_step(model, now)}
    return InternalState(now.internal.radiation, elements)


def fixed_step(model: Model) -> float | None:
    """Fixed step required by the effects of a model [s]; None: any method."""
    effect = coupled_effect(model)
    return None if effect is None else effect.fixed_step


# --- All effects together: the wrench of every body, energies and powers by element, channels


def element_names(model: Model) -> tuple[str, ...]:
    """Names of the terms of the energy balance."""
    return tuple(name for effect in model.effects for name in effect.names)


def solved_terms(model: Model) -> tuple[str, ...]:
    """Terms of effects with unknowns, computed by their scheme."""
    return tuple(name for effect in having(model, HasUnknowns) for name in effect.solved_terms)


def total_loads(
    model: Model,
    t: Array,
    motion: Motion,
    internal: InternalState = AT_REST,
    solved: Loads | None = None,
) -> Loads:
    """Sum of all effects; the elements are those of `element_names`.

    Args:
        model: compiled.
        t: [s].
        motion: of all bodies.
        internal: states of radiation memory and elements.
        solved: loads of the effect that has unknowns, where a scheme has solved for them.
    """
    now = Instant(t, motion, internal, solved=solved)
    parts = [
        (effect, effect.loads(model, now).with_energy_terms(motion.v, len(effect.names)))
        for effect in model.effects
    ]
    xp = namespace(motion.pose.p)
    return Loads(
        sum(part.wrench for _, part in parts),
        xp.concatenate([part.potential for _, part in parts]),
        xp.concatenate([part.power for _, part in parts]),
        joined_channels([(effect, part.channels) for effect, part in parts], model.layout),
    )


SHARED = ("line", "junction", "winch")  # dimensions whose rows go on from effect to effect


def joined_channels(
    parts: Sequence[tuple[Effect, dict[str, Array]]], layout: Layout
) -> dict[str, Array]:
    """All channels by their full names.

    Args:
        parts: effects and their channels.
        layout: of the model.
    """
    result: dict[str, Array] = {}
    for effect, channels in parts:
        for name, values in channels.items():
            full = effect.prefix + name
            dims = CHANNELS[full].dims if full in CHANNELS else ()
            if effect.prefix or not dims or dims[0] not in SHARED:
                result[full] = values
            elif name not in result:
                blocks = [(e, None if e.prefix else of_effect.get(name)) for e, of_effect in parts]
                result[name] = joined_rows(blocks, dims, layout)
    return result


def joined_rows(
    blocks: Sequence[tuple[Effect, Array | None]], dims: tuple[str, ...], layout: Layout
) -> Array:
    """Rows of several effects below each other; what an effect does not give is NaN.

    Short rows begin with idle entries: points of lines at end A, all else zero.

    Args:
        blocks: effects, and their values or None.
        dims: of the values.
        layout: of the model.
    """
    rows = [(values, _rows_of(effect, dims[0], layout)) for effect, values in blocks]
    known = [values for values, _ in rows if values is not None]
    if sum(count > 0 for _, count in rows) == 1:
        return known[0]
    xp = namespace(*known)
    shape = list(known[0].shape[1:])
    if len(dims) > 1:
        lines = (effect for effect, _ in blocks if isinstance(effect, ReportsLines))
        shape[0] = max(shape[0], *(effect.row_sizes.get(dims[1], 0) for effect in lines))
    complete = []
    for values, count in rows:
        if values is None:
            complete.append(np.full((count, *shape), np.nan))
            continue
        values = xp.asarray(values, dtype=float)
        if shape and shape[0] > values.shape[1]:
            first = values[:, :1] if values.ndim > 2 else 0.0 * values[:, :1]
            idle = xp.repeat(first, shape[0] - values.shape[1], axis=1)
            values = xp.concatenate([idle, values], axis=1)
        complete.append(values)
    return xp.concatenate(complete)


def _rows_of(effect: Effect, dim: str, layout: Layout) -> int:
    """Number of rows of a shared dimension that belong to an effect."""
    if effect.prefix or not isinstance(effect, Reports):
        return 0
    known = effect.coordinates(layout)
    return len(known[dim][1]) if dim in known else 0
