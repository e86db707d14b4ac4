r"""One step of RK4 that keeps three arrays instead of the rates of all stages.

.. math::
    y_{i+1} = y_0 + a_i h k_i, \qquad s_{i+1} = s_i + b_i h k_i, \qquad y_1 = s_4

The value at a stage and the sum are all that stages hand on, so that many cases fit into the memory
near a processor. A linear part is carried on exactly, as in `exact_block` (ETDRK4): what stage 0
gives to stage 3 has a third array.
"""

from __future__ import annotations

from typing import Any

from swelltree.engine.backend import jax, jnp
from swelltree.solvers.problem import Problem
from swelltree.solvers.stepping.exact_block import SAME
from swelltree.solvers.stepping.tableaus import RK4
from swelltree.spatial.linear_steps import ExactStages

NEXT = (0.5, 0.5, 1.0, 0.0)  # weight of the rate of a stage in the value of the next


def rk4_step(problem: Problem, args: Any, y0: Any, t: Any, h: Any, latest: Any) -> Any:
    """The value after a step of classical RK4.

    Args:
        problem: the functions.
        args: their first argument.
        y0: value at the beginning.
        t: time of it [s].
        h: length of the step [s].
        latest: time up to which rates are asked for [s].
    """
    c, b, a = (jnp.asarray(x) for x in (RK4.c, RK4.b, NEXT))
    stages = None if problem.block is None else problem.block.stages(args)
    block = None if stages is None else _Block(problem.block, stages, y0, h)

    def stage(i: Any, state: Any) -> Any:
        y, total, part = state
        rate = problem.rate(args, jnp.minimum(t + c[i] * h, latest), y)
        following = jax.tree.map(lambda start, k: start + h * a[i] * k, y0, rate)
        added = jax.tree.map(lambda s, k: s + h * b[i] * k, total, rate)
        if block is None:
            return following, added, part
        return block.stage(i, (y, total, part), rate, following, added)

    if block is None:
        start = y0, y0, jnp.zeros(0)
    else:
        start = y0, block.put(y0, block.end), block.third
    return jax.lax.fori_loop(0, 4, stage, start)[1]


class _Block:
    """z' = A z + f in the stages; where a step is not the fixed one, they are those of RK4."""

    def __init__(self, block: Any, stages: ExactStages, y0: Any, h: Any) -> None:
        self.get, self.put, self.stages, self.h = block.get, block.put, stages, h
        self.whole = jnp.abs(h - stages.step) < SAME * stages.step
        self.z0 = block.get(y0)
        decay, self.W = jnp.asarray(stages.decay), jnp.asarray(stages.weights)
        self.half = decay[1]
        self.end, self.third = self._chosen(decay[4], 1.0, self.z0), self._decayed(decay[3])

    def _chosen(self, M: Any, factor: Any, x: Any) -> Any:
        """A matrix, or the factor of RK4, times a vector."""
        return jnp.where(self.whole, self.stages.times(M, x), factor * x)

    def _decayed(self, M: Any) -> Any:
        return self._chosen(M, 1.0, self.z0)

    def stage(self, i: Any, state: Any, rate: Any, following: Any, added: Any) -> Any:
        """What a stage hands on, with the linear part in place."""
        y, total, part = state
        W, h = self.W, self.h
        own = jnp.where(self.whole, self.stages.times(jnp.asarray(self.stages.A), self.get(y)), 0.0)
        f = self.get(rate) - own
        b, a = jnp.asarray(RK4.b), jnp.asarray(NEXT)
        # weights of a stage in the next: W[1, 0], W[2, 1] and W[3, 2]
        after = W.reshape(20, *W.shape[2:])[jnp.minimum(5 * i + 4, 14)]
        base = jnp.where(i == 2, part, self._decayed(self.half))
        z = base + self._chosen(after, h * a[i], f)
        s = self.get(total) + self._chosen(W[4][i], h * b[i], f)
        part = part + jnp.where(i == 0, self._chosen(W[3, 0], 0.0, f), 0.0)
        return self.put(following, z), self.put(added, s), part
