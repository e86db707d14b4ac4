"""Samples and surfaces of controllers between the steps of the two-step scheme."""

from __future__ import annotations

from dataclasses import replace

from swelltree.integrate.complementarity.start import motion_at
from swelltree.integrate.complementarity.state import StepperState
from swelltree.jit import Array, jax
from swelltree.model.capabilities import CommandsStrokes, HasFirstStates, having
from swelltree.model.effect import Instant
from swelltree.model.internal_state import InternalState
from swelltree.model.model import Model


def sampled(
    model: Model, h: Array, state: StepperState, before: StepperState | None = None
) -> StepperState:
    """The state with what controllers command from now on, after samples and crossed surfaces.

    They measure the velocities of the half step before.

    Args:
        model: as compiled.
        h: step [s].
        state: at the end of a step.
        before: at its beginning; None: the run begins here.
    """

    def now_of(state: StepperState, later: Array | float = 0.0) -> Instant:
        motion = motion_at(model, state.pose, state.v_minus, state.angles)
        return Instant(state.t + later, motion, InternalState(state.chi, state.elements))

    for effect in having(model, HasFirstStates):
        if effect.kind not in state.elements:
            continue
        now = now_of(state)
        if before is None:
            states = effect.first_states(model, lambda now=now: now)
            if states is None:
                continue
        elif isinstance(effect, CommandsStrokes) and effect.event_count:
            # a sample is due at this step or, by rounding, a little behind it
            hit = effect.event_values(model, now_of(state, 1e-6 * h)) <= 0.0
            hit = hit & (effect.event_values(model, now_of(before)) > 0.0)
            states = jax.lax.cond(
                hit.any(),
                lambda x, effect=effect, now=now, hit=hit: effect.switched(model, now, hit),
                lambda x: x,
                state.elements[effect.kind],
            )
        else:
            continue
        state = replace(state, elements=state.elements | {effect.kind: states})
    return state
