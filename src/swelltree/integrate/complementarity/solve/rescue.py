"""Steps that Newton's method could not solve: interior point, theta = 1, halves, a message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.integrate.complementarity.attached import end_positions
from swelltree.integrate.complementarity.lines.winch_statics import present
from swelltree.integrate.complementarity.run import single_step
from swelltree.integrate.complementarity.start import set_up
from swelltree.integrate.complementarity.state import (
    LineState,
    SchemeOptions,
    StepConstants,
    StepperState,
    WinchStepperState,
)
from swelltree.jit import Array, Tree
from swelltree.model.model import Model
from swelltree.mooring.dynamic.lines import lines_of

if TYPE_CHECKING:
    from swelltree.integrate.complementarity.samples import Sample


NEARLY = 0.02  # of its length: a line that fails this near to its end is too short


def rescued(
    step: Callable[[Model, StepConstants, StepperState], tuple[StepperState, Sample]],
    model: Model,
    form: SchemeOptions,
    h: float,
    state: StepperState,
    derivatives: tuple[Array, Array],
    width: int,
) -> tuple[StepperState, Tree] | None:
    """The step after a failure, or None.

    Args:
        step: function of a single step.
        model: in its sea.
        form: coordinates.
        h: step [s].
        state: before the step that failed.
        derivatives: stiffness and damping of the model's forces.
        width: samples that a compiled program has room for.
    """
    inside = single_step(replace(form, interior_point=True), width)
    usual = set_up(model, form, h, derivatives)
    convex = set_up(model, form, h, derivatives, theta=1.0)
    cold = replace(state, lam=0.0 * state.lam, contact=0.0 * state.contact)
    if state.contact_rub is not None:
        cold = replace(cold, contact_rub=0.0 * state.contact_rub)
    tries = [(step, convex, state), (step, convex, cold)]
    lines = lines_of(model)
    if lines is not None and lines.arrays is not None:
        tries = [(inside, usual, state), (inside, convex, state), *tries]
    for solve, setup, tried in tries:
        after, sample = solve(model, setup, tried)
        if bool(sample.solved):
            return after, sample
    # two half steps, begun anew from the velocity of the last half step
    half = set_up(model, form, 0.5 * h, derivatives, theta=1.0)
    lines = state.lines
    if lines is not None:
        lines = replace(
            lines,
            q_last=0.5 * (lines.q + lines.q_last),
            y_last=0.5 * (lines.y + lines.y_last),
            winch=_half_as_long_ago(lines.winch),
        )
    now, first = replace(state, lines=lines), None
    for _ in range(2):
        now, sample = step(model, half, now)
        first = sample if first is None else first
        if not bool(sample.solved):
            return None
    full = now.lines
    if full is not None:
        full = replace(_a_step_ago(full, state.lines), y_last=state.lines.y)
    return replace(now, t=state.t + h, lines=full), first


def _half_as_long_ago(winch: WinchStepperState | None) -> WinchStepperState | None:
    """Winches as if their last step had half the length."""
    if winch is None:
        return None
    return replace(winch, rest_last=0.5 * (winch.rest + winch.rest_last))


def _a_step_ago(lines: LineState, before: LineState) -> LineState:
    """Lines after two half steps with where they were a whole step ago.

    On segments that were split or merged meanwhile the last half step is drawn out.
    """
    w, old = lines.winch, before.winch
    if w is None:
        return replace(lines, q_last=before.q)
    same = np.asarray(w.first) == np.asarray(old.first)
    q = np.where(same[:, None, None], before.q, 2.0 * lines.q_last - lines.q)
    rest = np.where(same, old.rest, 2.0 * w.rest_last - w.rest)
    return replace(lines, q_last=q, winch=replace(w, rest_last=rest))


def too_short(model: Model, state: StepperState) -> str | None:
    """Message about the first fully extended inextensible line; None if there is none."""
    model = present(model, state)
    lines = lines_of(model)
    if lines is None or lines.arrays is None:
        return None
    ends = np.asarray(end_positions(lines, state.pose, state.lines.y))
    gap = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    arrays = lines.arrays
    used = np.arange(arrays.n) >= np.asarray(arrays.first)[:, None]
    length = (np.asarray(arrays.rest_length) * used).sum(1)
    stiff = ~np.isfinite(np.asarray(arrays.EA)).any(axis=1)
    over = np.where(stiff, gap - length, -np.inf)
    k = int(over.argmax())
    if not over[k] > -NEARLY * length[k]:
        return None
    return (
        f"line '{lines.pieces[k]}' is pulled {max(over[k], 0.0):.2g} m beyond its length: "
        "give EA or lengthen it."
    )


def why(model: Model, state: StepperState) -> str:
    """Reason for which a run stopped, as a message."""
    short = too_short(model, state)
    if short is not None:
        return short
    lines = lines_of(model)
    if lines is not None and lines.arrays is not None:
        tension = np.abs(np.asarray(state.lines.mu))
        k = int(np.nanargmax(tension.max(axis=1)))
        return f"line '{lines.pieces[k]}' has the largest tension, {tension[k].max():.3g} N."
    speed = np.abs(np.asarray(state.v_minus)).max(axis=1)
    return f"look at body '{model.layout.bodies[int(np.nanargmax(speed))]}', the fastest there."
