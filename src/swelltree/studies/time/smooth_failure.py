"""Where and why a smooth run stopped: which loop, body or law."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from swelltree.effects.controllers.missing_numbers import not_finite
from swelltree.engine.arrays import Array, Tree
from swelltree.engine.backend import jax, jnp
from swelltree.formulations import Formulation
from swelltree.formulations.equations import rates
from swelltree.formulations.latches import dead_latches
from swelltree.model.effect import Now
from swelltree.model.model import Model
from swelltree.solvers.problem import Carry
from swelltree.solvers.solution import Code, describe
from swelltree.studies.time.watch import why_stopped

PROBES = 40  # states on the way into a failed step
AHEAD = 0.1  # s: at least so far they are looked for; methods of fixed steps keep no step


def failure(model: Model, how: Formulation, last: Carry, code: Code) -> tuple[Code, str]:
    """Which body or loop, when and why.

    Args:
        model: that was run.
        how: its formulation.
        last: the last good state.
        code: how it ended.
    """
    when = float(last.sampled) if code is Code.STOPPED_BY_USER else float(last.t_fail)
    sentence = describe(code, when)
    if code is Code.STOPPED_BY_USER:
        return code, sentence
    # the body that moves fastest at the last good state is where to look
    phase = jax.tree.map(jnp.asarray, last.y)
    kin = how.kinematics(model, jnp.asarray(last.t), phase.state)
    pose, coordinate = jax.tree.map(np.asarray, (kin.motion.pose, kin.motion.coordinate))
    angles = coordinate[np.array(model.layout.angle_dofs, dtype=int)]
    dead = dead_latches(model, how, kin, phase.internal, jnp.asarray(last.t))
    if dead:
        return Code.LOOP_SINGULAR, (
            f"time stepping stopped at t = {when:.6g} s. {', '.join(dead).capitalize()} locked at "
            "a dead centre of the loop: the stroke stands still there while the other joints move, "
            "and no force on it can hold them. Put the latch on a joint that turns there, or give "
            "a longer rearm time, so that it does not lock there."
        )
    loop = why_stopped(model, float(last.t), pose, angles)
    if loop is not None:
        return Code.LOOP_SINGULAR, f"time stepping stopped at t = {when:.6g} s. {loop}"
    speed = np.abs(np.asarray(kin.motion.v)).max(axis=1)
    body = model.layout.bodies[int(np.nanargmax(np.where(np.isnan(speed), np.inf, speed)))]
    law = not_finite(model, _moments(model, how, last, when))
    sentence += f" Look at body '{body}', which moves fastest there."
    for effect in model.effects:
        if effect.kind in phase.internal.elements:
            why = effect.why_stopped(phase.internal.elements[effect.kind])
            sentence += f" {why}" * bool(why)
    return code, sentence + (f" {law}" * bool(law))


def _moments(model: Model, how: Formulation, last: Carry, when: float) -> Iterator[Now]:
    """The last good state, a time just behind it, and where the motion was going from there.

    A step that failed met a law at a state that was not kept: the states on the tangent of the
    motion lead there, the nearest first.
    """
    y = jax.tree.map(jnp.asarray, last.y)
    t = float(last.t)

    def at(later: Array, h: Array, rate: Tree) -> Now:
        moved = y if rate is None else jax.tree.map(lambda a, b: a + h * b, y, rate)
        kin = how.kinematics(model, jnp.asarray(later), moved.state)
        return Now(jnp.asarray(later), kin.motion, moved.internal)

    yield at(t, 0.0, None)
    yield at(when + 1e-9, 0.0, None)
    rate = rates(model, how, jnp.asarray(t), y)
    probe = jax.jit(lambda h: at(t + h, h, rate))
    longest = max(float(last.step), when - t, AHEAD)
    for h in np.geomspace(1e-9, longest, PROBES):
        yield probe(h)
