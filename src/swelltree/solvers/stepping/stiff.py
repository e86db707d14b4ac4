"""Implicit step for stiff problems: Kvaerno's ESDIRK method of order 5(4), from diffrax.

Only the step comes from diffrax (Kvaerno 2004; its Newton iteration is diffrax's VeryChord,
one Jacobian per step); control of the step, output and failure codes are those of `smooth`.
diffrax is imported here and nowhere else, because importing and tracing it takes seconds.
"""

from __future__ import annotations

from typing import Any

import diffrax
from jax.flatten_util import ravel_pytree

from swelltree.engine.backend import jnp
from swelltree.solvers.problem import Attempt, Carry, Options, Problem

N_STAGES = 7


def implicit(
    problem: Problem, args: Any, options: Options, carry: Carry, h: Any, latest: Any, bounded: bool
) -> Attempt:
    """One step of length h from the carry, that sees no time behind `latest`."""
    solver = diffrax.Kvaerno5(
        root_finder=diffrax.VeryChord(rtol=options.rtol, atol=options.atol),
        scan_kind="bounded" if bounded else "lax",
    )
    # one vector: Newton's matrix is dense in it, and diffrax wants every leaf to be an array
    y0, unravel = ravel_pytree(carry.y)
    rate0, _ = ravel_pytree(carry.rate)

    def rate(t: Any, y: Any, args: Any) -> Any:
        return ravel_pytree(problem.rate(args, jnp.minimum(t, latest), unravel(y)))[0]

    term = diffrax.ODETerm(rate)
    state = (~carry.rate_known, rate0)
    y, error, _, state, result = solver.step(
        term, carry.t, carry.t + h, y0, args, state, made_jump=~carry.rate_known
    )
    assert state is not None
    assert error is not None
    return Attempt(
        y=unravel(y),
        error=unravel(error),
        rate_start=carry.rate,
        start_known=carry.rate_known,
        rate_end=unravel(state[1]),
        n_rate=jnp.asarray(N_STAGES, jnp.int32),
        converged=result == diffrax.RESULTS.successful,
    )
