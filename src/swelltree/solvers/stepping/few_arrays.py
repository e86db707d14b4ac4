r"""One step of RK4 that keeps three arrays instead of the rates of all stages.

.. math::
    y_{i+1} = y_0 + a_i h k_i, \qquad s_{i+1} = s_i + b_i h k_i, \qquad y_1 = s_4

The value at a stage and the sum are all that stages hand on, so that many cases fit into the memory
near a processor. A linear part is carried on exactly, as in `exact_block` (ETDRK4): what stage 0
gives to stage 3 has a third array.
"""

from __future__ import annotations

from swelltree.engine.arrays import Array, Tree
from swelltree.engine.backend import jax, jnp
from swelltree.solvers.problem import LinearBlock, Problem
from swelltree.solvers.stepping.exact_block import SAME
from swelltree.solvers.stepping.tableaus import RK4
from swelltree.spatial.linear_steps import ExactStages

NEXT = (0.5, 0.5, 1.0, 0.0)  # weight of the rate of a stage in the value of the next


def rk4_step(problem: Problem, args: Tree, y0: Tree, t: Array, h: Array, latest: Array) -> Tree:
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
    linear = problem.block
    stages = None if linear is None else linear.stages(args)
    block = None if linear is None or stages is None else _Block(linear, stages, y0, h)

    def stage(i: Array, state: Tree) -> Tree:
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
        start = y0, block.put(y0, block.end), jnp.zeros_like(block.end)
    return jax.lax.fori_loop(0, 4, stage, start)[1]


class _Block:
    r"""z' = A z + f in the stages; where a step is not the fixed one, they are those of RK4.

    The formulas of Cox and Matthews (2002), eqs. 26-29, with a the value at the second stage:

    .. math:: z_4 = e^{hA/2} a - g_1 + 2 g_3, \qquad g_i = W_{21} f_i
    """

    def __init__(self, block: LinearBlock, stages: ExactStages, y0: Tree, h: Array) -> None:
        self.get, self.put, self.stages, self.h = block.get, block.put, stages, h
        self.whole = jnp.abs(h - stages.step) < SAME * stages.step
        self.z0 = block.get(y0)
        decay, W = jnp.asarray(stages.decay), jnp.asarray(stages.weights)
        self.half, self.first, self.last = decay[1], W[1, 0], W[4]
        self.middle = stages.times(self.half, self.z0)
        self.end = jnp.where(self.whole, stages.times(decay[4], self.z0), self.z0)

    def stage(self, i: Array, state: Tree, rate: Tree, following: Tree, added: Tree) -> Tree:
        """What a stage hands on, with the linear part in place."""
        y, total, part = state
        times, A = self.stages.times, jnp.asarray(self.stages.A)
        z, s, k = self.get(y), self.get(total), self.get(rate)

        f = k - times(A, z)
        g = times(self.first, f)
        after = jnp.where(i < 2, self.middle, part) + jnp.where(i == 2, 2.0, 1.0) * g
        part = jnp.where(i == 0, times(self.half, after) - g, part)
        z = jnp.where(self.whole, after, self.get(following))
        s = jnp.where(self.whole, s + times(self.last[i], f), self.get(added))
        return self.put(following, z), self.put(added, s), part
