r"""What a time stepper is given, what it remembers, and how it ended.

The value within a step is the continuous extension of Runge-Kutta methods. With
:math:`\theta = (t - t_0) / h` it is the cubic that has the values and rates of both ends, and
two terms more that give it the rates at two points between them,

.. math::
    y(t_0 + \theta h) = \text{cubic}(\theta)
        + \theta^2 (1 - \theta)^2 \left( m_0 + (\theta - \tfrac12) m_1 \right)

The rates are those at values of an extension that the stages of the step give by themselves, the
cubic with :math:`\theta^2 (1 - \theta)^2 h \sum_i d_i k_i`: Hairer, Norsett and Wanner (1993),
Solving Ordinary Differential Equations I, section II.6, for Dormand and Prince's method; the
interpolant of Tsitouras (2011) is of the same form, with the coefficients of its fourth power as d.
That one is of order four; a rate taken at it is as good as the steps, and so is the quintic with
such rates, which is of order five (there as well, "bootstrapping"). The two rates are stages of
the method behind its own, evaluated only in steps that hold samples.

The points, at a fifth and at the half, were chosen by the error of the quintic in single steps of
four nonlinear systems: it is some 1.2 times that of the step's end, where that of the extension of
order four is 6 times (tsit5) and 4 times (dopri5). Pairs near those of Lobatto's quadrature
(0.28 and 0.72) do not do: rates there add nothing to those of the ends.

The classical method of Kutta has the cubic alone, the last stage taken as rate of the end: of order
three, so that its error falls with the fourth power of the step, as that of these steps.

Failures inside a solve do not raise (a compiled loop cannot); they come back as a `Code` next to
the part that was computed.

Largest, smallest and mean values of channels between samples, kept step by step.

The mean is that of the trapezoidal rule over the steps, which need not be of equal length.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swelltree.integrate.runge_kutta.control import FIRST_ERROR
from swelltree.jit import Array, Shaped, Tree, is_jax, is_tracer, jax, jnp, mapped, namespace

if TYPE_CHECKING:
    from swelltree.spatial.linear_steps import ExactStages, Ports


EARLY, HALF = 0.2, 0.5  # of a step: where the rates between its ends are taken


class Extension(NamedTuple):
    """A polynomial within a step.

    Args:
        start: time of its start [s].
        length: of the step [s].
        terms: tree of the value, with a first axis of six: value at the start, change over the
            step, what bends it (Hairer's cont3 and cont4), and m_0 and m_1.
    """

    start: Tree
    length: Array
    terms: Tree

    def at(self, t: Array) -> Tree:
        x = (t - self.start) / self.length

        def value(c: Array) -> Array:
            bent = c[3] + (1.0 - x) * (c[4] + (x - HALF) * c[5])
            return c[0] + x * (c[1] + (1.0 - x) * (c[2] + x * bent))

        return jax.tree.map(value, self.terms)


def blank_extension(y: Tree) -> Extension:
    """Extension before the first step from a value."""
    terms = mapped(lambda x: np.zeros((6, *np.shape(x))), y)
    return Extension(np.zeros(()), np.ones(()), terms)


def cubic(y0: Array, y1: Array, rate0: Array, rate1: Array, h: Array) -> list[Array]:
    """The first four terms of one array: values and rates of both ends.

    Args:
        y0: value at the start of a step.
        y1: at its end.
        rate0: rate at the start.
        rate1: at the end.
        h: length of the step [s].
    """
    change = y1 - y0
    bend = h * rate0 - change
    return [y0, change, bend, change - h * rate1 - bend]


def inner_terms(terms: list[Array], early: Array, half: Array) -> list[Array]:
    r"""The last two terms: with them the rates at two points between the ends are as given.

    With :math:`g = \theta^2 (1 - \theta)^2` the derivatives of :math:`g` and
    :math:`(\theta - 1/2) g` are 0 and 1/16 at the half, 24/125 and -4/125 at a fifth.

    Args:
        terms: those of the cubic.
        early: rate at a fifth of the step, times its length.
        half: at its half.
    """
    _, change, bend, twist = terms

    def missing(x: float, rate: Array) -> Array:
        return rate - change - (1.0 - 2.0 * x) * bend - x * (2.0 - 3.0 * x) * twist

    m1 = 16.0 * missing(HALF, half)
    return [(missing(EARLY, early) + 4.0 / 125.0 * m1) * (125.0 / 24.0), m1]


def inner_rows(b: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Weights of the stages in the value at the two points, by the extension of order four (2, n).

    Args:
        b: weights of the value at the end, (n,); the last stage is the rate there.
        d: weights of the fourth power, (n,).
    """
    first, last = np.zeros_like(b), np.zeros_like(b)
    first[0] = last[-1] = 1.0
    bend = first - b
    twist = b - last - bend

    def row(x: float) -> np.ndarray:
        return x * (b + (1.0 - x) * (bend + x * (twist + (1.0 - x) * d)))

    return np.stack([row(EARLY), row(HALF)])


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


class Code(enum.IntEnum):
    SUCCESS = 0
    STEP_TOO_SMALL = 1
    NOT_FINITE = 2
    TOO_MANY_STEPS = 3
    STOPPED_BY_USER = 4
    DIVERGED = 5
    NO_PROGRESS = 6
    LOOP_OPEN = 7
    ENERGY_LOST = 8
    LOOP_SINGULAR = 9


_TEXT = {
    Code.SUCCESS: "the solve finished",
    Code.STEP_TOO_SMALL: (
        "the step needed for the asked accuracy fell below the smallest step; "
        "the motion changes too fast here: try solver='stiff', softer elements or a larger rtol"
    ),
    Code.NOT_FINITE: (
        "the equations gave a number that is not finite; "
        "look for a singular mass, a zero length or a force without bound at this time"
    ),
    Code.TOO_MANY_STEPS: (
        "more steps than allowed between two output times; "
        "raise max_steps, loosen rtol or try solver='stiff'"
    ),
    Code.STOPPED_BY_USER: "the run was stopped by the user; the part computed so far is kept",
    Code.DIVERGED: (
        "the motion left the allowed limits; "
        "check stiffnesses, damping and initial position, or take a smaller step"
    ),
    Code.NO_PROGRESS: (
        "the residual could not be made smaller; start nearer to the solution or use more steps "
        "of continuation"
    ),
    Code.LOOP_OPEN: "a joint does not hold together, so what follows means nothing",
    Code.ENERGY_LOST: "the energy budget does not close, so what follows means nothing",
    Code.LOOP_SINGULAR: "a loop is singular, so what follows is not determined",
}

# found by looking at a run that went on
AFTERWARDS = (Code.LOOP_OPEN, Code.ENERGY_LOST, Code.LOOP_SINGULAR)


def describe(code: Array, time: Array = None, *, what: str = "time stepping") -> str:
    """Message of a code with its time."""
    code = Code(int(code))
    if code is Code.SUCCESS:
        return f"{what}: {_TEXT[code]}."
    at = "" if time is None else f" at t = {float(time):.6g} s"
    verb = "went wrong" if code in AFTERWARDS else "stopped"
    return f"{what} {verb}{at}: {_TEXT[code]}."


SUFFIXES = ("_max", "_min", "_mean")


class Extremes(NamedTuple):
    """Extremes of channels since the last sample; {name: array} each but the last two."""

    largest: dict[str, Array]
    smallest: dict[str, Array]
    integral: dict[str, Array]
    latest: dict[str, Array]  # values at the end of the last step
    span: Array  # s, since the last sample
    any_known: Array  # False: nothing is known yet


def nothing_known(channels: dict[str, Shaped]) -> Extremes:
    """Before the first values of channels of these shapes."""
    zero = {name: np.zeros(x.shape) for name, x in channels.items()}
    return Extremes(zero, zero, zero, zero, np.zeros(()), np.zeros((), bool))


def known_now(channels: dict[str, Array]) -> Extremes:
    """Extremes just after a sample."""
    now = {name: namespace(x).asarray(x, dtype=float) for name, x in channels.items()}
    zero = mapped(lambda x: np.zeros(x.shape), now)
    return Extremes(now, now, zero, now, np.zeros(()), np.ones((), bool))


def with_step(known: Extremes, channels: dict[str, Array], step: Array) -> Extremes:
    """With the values at the end of one more step.

    Args:
        known: so far.
        channels: values at the end of the step.
        step: its length [s].
    """
    fresh = known_now(channels)
    now = fresh.latest
    each = jax.tree.map
    longer = Extremes(
        each(jnp.maximum, known.largest, now),
        each(jnp.minimum, known.smallest, now),
        each(lambda i, a, b: i + 0.5 * step * (a + b), known.integral, known.latest, now),
        now,
        known.span + step,
        known.any_known,
    )
    return each(lambda a, b: jnp.where(known.any_known, a, b), longer, fresh)


def as_channels(known: Extremes) -> dict[str, Array]:
    """Channels `<name>_max`, `<name>_min` and `<name>_mean`."""
    xp = namespace(known.span, *known.latest.values())
    full = known.span > 0.0
    span = xp.where(full, known.span, 1.0)
    out = {}
    for name, latest in known.latest.items():
        mean = xp.where(full, known.integral[name] / span, latest)
        values = known.largest[name], known.smallest[name], mean
        out |= {f"{name}{suffix}": x for suffix, x in zip(SUFFIXES, values, strict=True)}
    return out
