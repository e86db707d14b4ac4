"""Implicit step for stiff problems: Kvaerno's ESDIRK method of order 5(4), from diffrax.

Only the step comes from diffrax (Kvaerno 2004; its Newton iteration is diffrax's VeryChord,
one Jacobian per step); control of the step, output and failure codes are those of `smooth`.
diffrax is imported here and nowhere else, because importing and tracing it takes seconds.
"""

from __future__ import annotations

from typing import Any

import diffrax

from swelltree.solvers.problem import Attempt, Carry, Options, Problem
from swelltree.spatial.engine import jnp

N_STAGES = 7


def implicit(
    problem: Problem, args: Any, options: Options, carry: Carry, h: Any, bounded: bool
) -> Attempt:
    """One step of length h from the carry."""
    solver = diffrax.Kvaerno5(
        root_finder=diffrax.VeryChord(rtol=options.rtol, atol=options.atol),
        scan_kind="bounded" if bounded else "lax",
    )
    term = diffrax.ODETerm(lambda t, y, args: problem.rate(args, t, y))
    state = (~carry.rate_known, carry.rate)
    y, error, _, state, result = solver.step(
        term, carry.t, carry.t + h, carry.y, args, state, made_jump=~carry.rate_known
    )
    return Attempt(
        y=y,
        error=error,
        rate_start=carry.rate,
        start_known=carry.rate_known,
        rate_end=state[1],  # pyright: ignore[reportOptionalSubscript]
        n_rate=jnp.asarray(N_STAGES, jnp.int32),
        converged=result == diffrax.RESULTS.successful,
    )
