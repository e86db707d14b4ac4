r"""Between two steps: stiffness and damping asked anew, and cables that winches split and merge.

An element of a cable that swings or comes off a drum is another spring in every step. Its
stiffness :math:`\beta h^2 K` and damping are asked of the effect at the positions now, where those
of all others are kept from the start of the run.

Events of cables on winches need no time of their own: an element is split in the first step after
it got too long. The tree coordinates go on with the velocities of the half step before.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swelltree.integrate.complementarity.cayley import gibbs
from swelltree.integrate.complementarity.poses import half_velocity
from swelltree.integrate.complementarity.state import (
    MERGE,
    SPLIT,
    Log,
    SchemeOptions,
    StepConstants,
    StepperState,
    noted,
    winch_numbers,
)
from swelltree.jit import Array, jax, jnp
from swelltree.model.capabilities import HasEvents, HasTangent, HasWinches, InternalState, having
from swelltree.model.effect import Instant
from swelltree.model.model import Model
from swelltree.multibody.kinematics import Motion, forward, moved_positions
from swelltree.spatial.rotations import matmul, transpose


def with_derivatives_now(
    model: Model, setup: StepConstants, state: StepperState, motion: Motion
) -> StepConstants:
    """Step constants with updated stiffness and damping of effects that rotate far."""
    now = Instant(state.t, motion, InternalState(state.chi, state.elements))
    for effect in having(model, HasTangent):
        stiffness, damping = effect.tangent(model, now)
        # on the way to rest, where time stands still, nothing is damped
        damping = (setup.ahead / setup.h) * damping
        setup = replace(
            setup,
            coupled=setup.coupled + setup.beta * setup.h**2 * stiffness,
            damping=setup.damping + damping,
        )
    return setup


def without_turning(model: Model) -> Model:
    """The model without effects whose derivatives are updated in every step."""
    return model.replace(effects=tuple(e for e in model.effects if not isinstance(e, HasTangent)))


def after_events(
    model: Model, form: SchemeOptions, setup: StepConstants, u: Array, after: StepperState
) -> StepperState:
    """The state after a step, its cables on the elements they go on with.

    Args:
        model: as compiled.
        form: of the steps, with the events of the model.
        setup: constants of the run.
        u: change of the tree coordinates in the step (n,).
        after: where it led.
    """
    if form.events is None:
        return after
    internal = InternalState(after.chi, after.elements)
    phase = model, after.t, after.q, u / setup.h, after.work, internal
    # of winches alone: controllers have taken their samples
    rows = np.concatenate(
        [np.full(e.event_count, isinstance(e, HasWinches)) for e in having(model, HasEvents)]
    )
    values = jnp.where(rows, form.events.values(*phase), 1.0)

    def regridded() -> StepperState:
        q, s, work, elements = form.events.switched(*phase, values < 0.0)
        last = forward(model, moved_positions(model.layout, q, -setup.h * s))
        pose = forward(model, q)
        g = gibbs(matmul(pose.R, transpose(last.R)))
        return replace(
            after,
            q=q,
            pose=pose,
            v_minus=half_velocity(last.p, pose.p, g, setup.h),
            work=work,
            elements=elements,
            log=_noted(model, after, values),
        )

    return jax.lax.cond((values < 0.0).any(), regridded, lambda: after)


def _noted(model: Model, after: StepperState, values: Array) -> Log:
    """The log with split and merged elements."""
    log, first, numbers = after.log, 0, winch_numbers(model)
    for effect in having(model, HasEvents):
        if not isinstance(effect, HasWinches) or effect.winches is None:
            first += effect.event_count
        else:
            for k, name in enumerate(effect.winches.names):
                length = after.elements[effect.kind][k, 0]
                for what in (SPLIT, MERGE):
                    log = noted(log, values[first] < 0.0, after.t, what, numbers[name], length)
                    first += 1
    return log
