"""Choosing the step: error norm, PI controller, landing on output times.

The controller is that of DOPRI5 in Hairer, Norsett and Wanner (1993), Solving Ordinary
Differential Equations I, section II.4 and IV.2 (PI control), with two additions: steps are
stretched or divided evenly so that one lands exactly on every output time, and a step that
was shortened only to land does not shorten the next one.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from swelltree.jit import Array, Tree, jax, jnp

Scalar = Float[Array, ""]
Flag = Bool[Array, ""]

SAFETY = 0.9
SHRINK = 0.2  # largest reduction of the step from one attempt to the next
MEMORY = 0.04  # exponent of the previous error (the I in PI)
STRETCH = 1.05  # a step may be this much longer than planned to land on an output time
ROUNDING = 1.0 + 1e-9  # the same for a step that is given
GRID = 0.02  # ratio of one possible step to the next, less one
FIRST_ERROR = 1e-4  # error memory at the start


def error_norm(
    error: Array, y0: Tree, y1: Tree, weights: Tree, rtol: Scalar, atol: Scalar
) -> Scalar:
    r"""Root mean square of the error measured in tolerances.

    .. math:: \sqrt{\operatorname{mean}\left( w e / (a + r \max(|y_0|, |y_1|)) \right)^2}

    Args:
        error: estimate of the local error, same tree as y.
        y0: value at the start of the step.
        y1: value at its end.
        weights: prefix tree of y; False (or 0) leaves its part of y out of the norm, and so do
            the zeros of an array of weights.
        rtol: relative tolerance r.
        atol: absolute tolerance a.
    """
    total, count = jnp.zeros(()), 0

    def add(weight: Array, *parts: Tree) -> None:
        nonlocal total, count
        if weight is False or (isinstance(weight, int | float) and weight == 0):
            return
        for e, a, b in zip(*(jax.tree.leaves(part) for part in parts), strict=True):
            scale = atol + rtol * jnp.maximum(jnp.abs(a), jnp.abs(b))
            total = total + jnp.sum(jnp.square(weight * e / scale))
            count += np.count_nonzero(weight) if isinstance(weight, np.ndarray) else e.size

    jax.tree.map(add, weights, error, y0, y1)
    mean = total / max(count, 1)
    # the root has no derivative at zero; the controller works under stop_gradient anyway
    return jnp.sqrt(mean)


def all_finite(y: Tree) -> Flag:
    """Whether every number of the tree is finite."""
    fine = jnp.ones((), bool)
    for leaf in jax.tree.leaves(y):
        fine = fine & jnp.isfinite(leaf).all()
    return fine


def landing_step(
    remaining: Scalar, longest: Scalar, usual: Scalar | None = None
) -> tuple[Scalar, Flag]:
    """Step that divides the remaining time evenly, and whether it reaches the target.

    Args:
        remaining: time to the next output or breakpoint [s].
        longest: the step may be this long [s].
        usual: step that is taken while the target is further than two steps away [s]; None: time
            is divided evenly from afar.
    """
    n = jnp.maximum(jnp.ceil(remaining / longest), 1.0)
    even = remaining / n
    if usual is not None:
        even = jnp.where(n > 2.0, jnp.minimum(usual, longest), even)
    return even, n == 1.0


def first_step(speed: Scalar, rtol: Scalar) -> Scalar:
    """First guess of the step: a hundredth of the time in which y changes by its own size.

    Hairer et al., II.4, with the size of y taken as at least atol/rtol, so that the norm of
    the rate in tolerances is enough to know.
    """
    return 0.01 / jnp.maximum(rtol * speed, 1e-300)


def next_step(
    h: Scalar,
    planned: Scalar,
    error: Scalar,
    error_before: Scalar,
    after_rejection: Flag,
    finite: Flag,
    accepted: Flag,
    order: int,
    implicit: bool = False,
) -> Scalar:
    """Step to try next.

    Args:
        h: step just tried [s].
        planned: step the controller had asked for; h may be shorter, to land [s].
        error: error of the attempt in tolerances; 1 is just acceptable.
        error_before: error of the last accepted step.
        after_rejection: the attempt before this one was rejected, so do not grow.
        finite: whether the attempt gave finite numbers.
        accepted: whether the attempt was accepted.
        order: order of the method.
        implicit: stages are solved by iteration, which fails when the step changes too fast.
    """
    grow, shrink_not_finite = (2.0, 0.5) if implicit else (10.0, 0.25)
    error = jnp.where(finite, jnp.maximum(error, 1e-10), 1.0)
    base = SAFETY * error ** -(1.0 / order - 0.75 * MEMORY)
    # accepted: proportional-integral rule, no growth straight after a rejection
    factor = jnp.clip(base * error_before**MEMORY, SHRINK, grow)
    factor = jnp.where(after_rejection, jnp.minimum(factor, 1.0), factor)
    grown = h * factor
    # cut short to land on an output time without trouble: the plan still stands
    grown = jnp.where(factor >= 1.0, jnp.maximum(grown, planned), grown)
    # rejected: shrink by the error alone
    shrunk = h * jnp.where(finite, jnp.clip(base, SHRINK, 1.0), shrink_not_finite)
    return on_grid(jnp.where(accepted, grown, shrunk))


def on_grid(h: Scalar) -> Scalar:
    """The next shorter of steps that differ by `GRID`.

    An estimate of the error is a difference of almost equal numbers, so that its rounding shows in
    the step. With few lengths to choose from, runs on different computers take the same steps.
    """
    return jnp.exp(GRID * jnp.floor(jnp.log(h) / GRID + 1e-3))
