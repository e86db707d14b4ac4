"""Effects that solve for a flow at every instant (`model.solved`), in steps of the two-step scheme.

Forces are taken at the positions now: the matrices of the flow are made there once and serve all
iterations, whose mean velocity the flow follows. Its added mass joins that of the step. The states
of the flow go on by steps of Runge and Kutta along the motion that the step found, with the same
matrices: these are of first order in the motion of the mesh over a step, all else of second. On the
way to rest, where time stands still, nothing flows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swelltree.integrate.complementarity.poses import PoseStencil
from swelltree.integrate.complementarity.state import StepConstants, StepperState
from swelltree.jit import Array, Tree, jnp
from swelltree.model.effect import Instant
from swelltree.model.internal_state import InternalState
from swelltree.model.model import Model
from swelltree.model.solved import after_step, coupled_effect, element_names, solved_at
from swelltree.multibody.kinematics import Motion


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
