"""Lines by themselves from the host: failed steps are mended, hopeless ones explained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from swelltree.model.line_arrays import LineArrays
from swelltree.spatial.arrays import Array
from swelltree.spatial.engine import jax
from swelltree.system.errors import SwelltreeError
from swelltree.two_step.line_attempts import LineOptions
from swelltree.two_step.line_step import LineRun, LineSetting, LineState, run_lines

MOST = 60  # iterations of the solvers that mend a step


def march_lines(
    lines: LineArrays,
    positions: Callable[[Array], Array],
    h: float,
    steps: int,
    state: LineState,
    setting: LineSetting | None = None,
    *,
    names: tuple[str, ...] | None = None,
    options: LineOptions | None = None,
    **more: Any,
) -> LineRun:
    """`run_lines` from the host: failed steps are mended, hopeless ones end with a sentence.

    Order: Newton; interior point; theta = 1; two half steps with theta = 1.

    Args:
        lines: all lines.
        positions: of the held points.
        h: step [s].
        steps: their number.
        state: at the start.
        setting: points, seabed, gravity and water.
        names: of the lines, for messages.
        options: how steps are solved.
        **more: `water`, `beyond` and `rest_length` as in `run_lines`.
    """
    options = LineOptions() if options is None else options
    names = tuple(f"line {k + 1}" for k in range(lines.n_lines)) if names is None else names

    def program(count: int, how: LineOptions):
        return jax.jit(
            lambda s: run_lines(lines, positions, h, count, s, setting, options=how, **more)
        )

    quick = program(steps, replace(options, fallback=False))
    mend: list[Any] = []
    most = max(MOST, options.max_iterations)
    parts: list[Any] = []
    done = 0
    while done < steps:
        run = quick(state)
        good = np.all(np.asarray(run.error) <= options.tolerance, axis=1)[: steps - done]
        count = len(good) if good.all() else int(np.argmin(good))
        parts.append(jax.tree.map(lambda a: np.asarray(a)[:count], _history(run)))  # noqa: B023
        done += count
        state = run.state if count == steps else _state_at(run, state, count, h)
        if done == steps:
            break
        # the failed step by other means
        if not mend:
            mend = [
                program(1, replace(options, solver=solver, fallback=fallback, max_iterations=most))
                for solver, fallback in (("interior_point", False), ("newton", True))
            ]
        for other in mend:
            run = other(state)
            if np.all(np.asarray(run.error) <= options.tolerance):
                break
        else:
            told = over_stretched(lines, np.asarray(run.state.q)[1], names)
            line = int(np.argmax(~(np.asarray(run.error)[0] <= options.tolerance)))
            raise SwelltreeError(
                told
                or f"line '{names[line]}': the step at t = {float(state.t):.4g} s does not "
                "converge. Take a smaller step."
            )
        parts.append(jax.tree.map(np.asarray, _history(run)))
        done += 1
        state = run.state
    whole = jax.tree.map(lambda *a: np.concatenate(a), *parts)
    return LineRun(*whole, state=state)


def _history(run: LineRun) -> tuple[Any, ...]:
    """What a run has one of per step."""
    return run.time, run.position, run.points, run.report, run.error, run.iterations


def _state_at(run: LineRun, start: LineState, k: int, h: float) -> LineState:
    """The state before step k of a run."""
    if k == 0:
        return start
    last = lambda a: np.asarray(a)[k]  # noqa: E731
    q, x = np.asarray(run.position), np.asarray(run.points)
    state = jax.tree.map(np.asarray, run.state)
    return replace(
        state,
        q=np.stack([q[k - 1], q[k]]),
        x=np.stack([x[k - 1], x[k]]),
        mu=np.ones_like(state.mu),
        nu=np.zeros_like(state.nu),
        point_nu=np.zeros_like(state.point_nu),
        t=last(run.time),
    )


def over_stretched(lines: LineArrays, q: Any, names: tuple[str, ...]) -> str:
    """The sentence about the inextensible line pulled furthest beyond its length, or nothing.

    Args:
        lines: all lines.
        q: positions of their nodes, of which the ends count (line, node, 3).
        names: of the lines.
    """
    q = np.asarray(q)
    span = np.linalg.norm(q[:, -1] - q[:, 0], axis=-1)
    active = np.arange(lines.n) >= np.asarray(lines.first)[:, None]
    length = np.sum(np.where(active, np.asarray(lines.rest_length), 0.0), -1)
    stiff = np.all(~np.isfinite(np.asarray(lines.EA)) | ~active, axis=-1)
    beyond = np.where(stiff, span - length, -np.inf)
    k = int(np.argmax(beyond))
    if not beyond[k] > 0.0:
        return ""
    return (
        f"line '{names[k]}' is pulled {beyond[k]:.2g} m beyond its length {length[k]:.4g} m and "
        "cannot stretch: give EA or lengthen it."
    )
