"""What a time stepper is given, what it remembers and what one attempt at a step returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swelltree.integrate.runge_kutta.control import FIRST_ERROR
from swelltree.integrate.runge_kutta.extension import Extension, blank_extension
from swelltree.jit import Array, Tree, is_jax, is_tracer, jnp, mapped

if TYPE_CHECKING:
    from swelltree.spatial.linear_steps import ExactStages, Ports


class LinearBlock(NamedTuple):
    """A part z of y with z' = A z + f.

    Fixed steps carry it on exactly, implicit ones eliminate it by its own Jacobian.
    """

    get: Callable[[Tree], Array]  # y -> z
    put: Callable[[Tree, Array], Tree]  # (y, z) -> y
    stages: Callable[
        [Tree], ExactStages | None
    ]  # args -> linear_steps.ExactStages of the fixed step, or None
    matrix: Callable[[Tree], Array | None] = lambda args: None  # args -> A (k, k), or None
    ports: Callable[[Tree], Ports | None] = lambda args: None  # args -> those of the fixed step
    # args -> the other state of each, where A is made of blocks of one and two; None: it is not
    partners: Callable[[Tree], tuple[int, ...] | None] = lambda args: None


@dataclass(frozen=True)
class Problem:
    """Functions that define an initial-value problem.

    Args:
        rate: ``rate(args, t, y) -> dy/dt``, same tree as y.
        settle: ``settle(args, t, y) -> y``, applied after each accepted step (projection on
            constraints, unit quaternions), or None.
        limit: ``limit(args, t, y) -> bool``, True when the motion has left its limits, or None.
        weights: prefix tree of y saying which leaves count in the error norm: True, False or
            a positive number. Integrals that nothing depends on are left out by False.
        settle_changes_rate: False promises that ``rate`` is the same (to the tolerance)
            before and after ``settle``, which saves one evaluation per step.
        event: ``event(args, t, y) -> (k,)``, values whose fall through zero is an event, or None.
        switch: ``switch(args, t, y, hit) -> y``, applied at an event; hit (k,) says which.
        due: ``due(args, t, y) -> t``, the next time at which an event is known to happen [s], or
            None. Steps end there; an event whose value is zero at the end of a step is at it.
        block: a linear part of y, or None.
        in_step: ``in_step(args, t, y, h) -> args``, what the stages of a step from (t, y) get, or
            None.
    """

    rate: Callable[[Tree, Array, Tree], Tree]
    settle: Callable[[Tree, Array, Tree], Tree] | None = None
    limit: Callable[[Tree, Array, Tree], Array] | None = None
    weights: Tree = True
    settle_changes_rate: bool = True
    event: Callable[[Tree, Array, Tree], Array] | None = None
    switch: Callable[[Tree, Array, Tree, Array], Tree] | None = None
    due: Callable[[Tree, Array, Tree], Array] | None = None
    block: LinearBlock | None = None
    in_step: Callable[[Tree, Array, Tree, Array], Tree] | None = None


class Options(NamedTuple):
    """Numbers of a run; changing them does not recompile.

    Args:
        rtol: relative tolerance.
        atol: absolute tolerance, in the units of y.
        step: step of a fixed-step method [s].
        min_step: smallest step of an adaptive method [s].
        max_step: largest step of any method [s].
        max_steps: most attempts between two output times.
        corners: breakpoints: increasing times at which the rate jumps or has a kink, infinite at
            the end (`padded_corners`) [s]. Steps end there, and what they see of a jump is the side
            they are on: the rate is evaluated just before a breakpoint, never at it, by the step
            that ends there.
        parts: equal parts of a step of a fixed-step method, all with what ``Problem.in_step`` gives
            for the whole step.
        free_until: where steps pass over output times (``free`` of `smooth.integrate`), they do so
            up to here, and land on each output time behind it [s].
    """

    rtol: Array = 1e-6
    atol: Array = 1e-8
    step: Array = 0.01
    min_step: Array = 1e-10
    max_step: Array = float("inf")
    max_steps: Array = 100_000
    corners: Array = np.array([np.inf])
    parts: Array = 1
    free_until: Array = float("-inf")


def padded_corners(times: Array) -> Array:
    """Breakpoints in order, infinite from there on.

    The length is a power of two, so that runs with a few breakpoints more share a compiled program.
    """
    if is_tracer(times):
        return jnp.append(times, jnp.inf)
    known = np.unique(np.asarray(times, float))
    known = known[np.isfinite(known)]
    length = 2 ** int(np.ceil(np.log2(len(known) + 1)))
    return np.append(known, np.full(length - len(known), np.inf))


class Carry(NamedTuple):
    """Stepper state, as stored in a checkpoint."""

    t: Array  # time [s]
    y: Tree  # value, any tree
    step: Array  # step the controller asks for [s]; 0: not chosen yet
    error: Array  # error of the last accepted step, in tolerances
    after_rejection: Array  # the last attempt was rejected
    rate: Tree  # rate at (t, y), same tree as y
    rate_known: Array  # whether `rate` holds it
    n_accepted: Array
    n_rejected: Array
    n_outputs: Array  # output times reached
    n_rate: Array  # evaluations of the right-hand side (of stages, for an implicit method)
    code: Array  # solution.Code
    t_fail: Array  # time of failure [s], NaN while all is well
    crossing: Array  # a time behind the next event [s], infinite while none is known
    excess: Array  # values of the events there (k,)
    n_events: Array
    extension: Extension  # of the last attempt
    sampled: Array  # time of the last output [s]


def start(t0: float, y0: Tree, *, first_step: float = 0.0, events: int = 0) -> Carry:
    """State of the stepper before the first step (numpy, or traced when y0 is).

    Args:
        t0: time of y0 [s].
        y0: initial value, already settled.
        first_step: first step of an adaptive method [s]; 0 chooses one.
        events: number of values of ``Problem.event``.
    """

    def as_float(x: Array) -> Array:
        return x.astype(float) if is_jax(x) else np.asarray(x, float)

    y0 = mapped(as_float, y0)
    zero = np.zeros((), np.int32)
    return Carry(
        t=np.asarray(t0, float) if not is_jax(t0) else t0,
        y=y0,
        step=np.asarray(first_step, float),
        error=np.asarray(FIRST_ERROR),
        after_rejection=np.zeros((), bool),
        rate=mapped(lambda x: np.zeros(x.shape), y0),
        rate_known=np.zeros((), bool),
        n_accepted=zero,
        n_rejected=zero,
        n_outputs=zero,
        n_rate=zero,
        code=zero,
        t_fail=np.asarray(np.nan),
        crossing=np.asarray(np.inf),
        excess=np.zeros(events),
        n_events=zero,
        extension=blank_extension(y0),
        sampled=np.asarray(t0, float) if not is_jax(t0) else t0,
    )


class Attempt(NamedTuple):
    """Result of one attempt at a step."""

    y: Tree  # value at the end of the step
    error: Tree  # estimate of its error, or None for a fixed-step method
    rate_start: Tree  # rate at the start
    start_known: Array  # whether `rate_start` holds it
    rate_end: Tree  # rate at the end, or None
    n_rate: Array
    converged: Array  # False when an implicit stage was not solved
    extension: Extension | None = None  # the value within the step
    stages: Tree = None  # rates of an explicit method (stage, ...), those within the step last
