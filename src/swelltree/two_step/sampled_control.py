"""Sampled controllers between the steps of the two-step scheme."""

from __future__ import annotations

from dataclasses import replace

from swelltree.engine.arrays import Array
from swelltree.engine.backend import jax
from swelltree.model.effect import Now
from swelltree.model.internal_state import InternalState
from swelltree.model.model import Model
from swelltree.two_step.start import motion_at
from swelltree.two_step.state import StepperState


def sampled(model: Model, h: Array, state: StepperState, begins: bool = False) -> StepperState:
    """The state with what sampled controllers command from now on.

    They measure the velocities of the half step before.

    Args:
        model: as compiled.
        h: step [s].
        state: at the end of a step.
        begins: the run begins here.
    """
    internal = InternalState(state.chi, state.elements)
    for effect in model.effects:
        if not effect.takes_samples:
            continue
        now = Now(state.t, motion_at(model, state.pose, state.v_minus, state.angles), internal)
        if begins:
            states = effect.begun(model, now)
        else:
            # a sample is due at this step or, by rounding, a little behind it
            hit = effect.event_values(model, now) <= 1e-6 * h
            states = jax.lax.cond(
                hit.any(),
                lambda x, effect=effect, now=now, hit=hit: effect.switched(model, now, hit),
                lambda x: x,
                state.elements[effect.kind],
            )
        state = replace(state, elements=state.elements | {effect.kind: states})
    return state
