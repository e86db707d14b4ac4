r"""One step of RK4 that keeps two arrays instead of the rates of all stages.

.. math::
    y_{i+1} = y_0 + a_i h k_i, \qquad s_{i+1} = s_i + b_i h k_i, \qquad y_1 = s_4

The value at a stage and the sum are all that stages hand on, so that many cases fit into the memory
near a processor. A linear part z' = A z + B u of which the rest knows w = C z only is carried on
exactly, as in `exact_block` (ETDRK4), and is not part of the stages: what they see of it follows
from z at the start and from u of earlier stages, and z is found once, at the end of the step.
"""

from __future__ import annotations

from swelltree.engine.arrays import Array, Tree
from swelltree.engine.backend import jax, jnp
from swelltree.solvers.problem import LinearBlock, Problem
from swelltree.solvers.stepping.exact_block import SAME
from swelltree.solvers.stepping.tableaus import RK4
from swelltree.spatial.linear_steps import ExactStages, Ports
from swelltree.spatial.products import apply

NEXT = (0.5, 0.5, 1.0, 0.0)  # weight of the rate of a stage in the value of the next
AHEAD = (1, 1, 2, 2)  # which of the three known parts of w the next stage sees
TIMES = (1.0, 1.0, 2.0, 0.0)  # what it sees of u, in parts of `StagePorts.near`
ALIKE = (0, 1, 1, 2)  # the second and third stage count alike at the end


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
    block = problem.block
    stages = None if block is None else block.stages(args)
    ports = None if block is None else block.ports(args)
    if block is None or stages is None or ports is None:
        return _by_tableau(problem, args, y0, t, h, latest)
    # the last step before a breakpoint or an output time may be shorter
    return jax.lax.cond(
        jnp.abs(h - stages.step) >= SAME * stages.step,
        lambda: _by_tableau(problem, args, y0, t, h, latest),
        lambda: _beside_block(problem, block, stages, ports, y0, t, h, latest),
    )


def _by_tableau(problem: Problem, args: Tree, y0: Tree, t: Array, h: Array, latest: Array) -> Tree:
    """All of it by the stages of RK4."""
    c, b, a = (jnp.asarray(x) for x in (RK4.c, RK4.b, NEXT))

    def stage(i: Array, state: Tree) -> Tree:
        y, total = state
        rate = problem.rate(args, jnp.minimum(t + c[i] * h, latest), y)
        following = jax.tree.map(lambda start, k: start + h * a[i] * k, y0, rate)
        return following, jax.tree.map(lambda s, k: s + h * b[i] * k, total, rate)

    return jax.lax.fori_loop(0, 4, stage, (y0, y0))[1]


def _beside_block(
    problem: Problem,
    block: LinearBlock,
    stages: ExactStages,
    ports: Ports,
    y0: Tree,
    t: Array,
    h: Array,
    latest: Array,
) -> Tree:
    r"""The linear part exactly, beside the stages of all else.

    The formulas of Cox and Matthews (2002), eqs. 26-29, multiplied by C:

    .. math:: w_2 = C e^{hA/2} z_0 + H u_1, \quad w_3 = C e^{hA/2} z_0 + H u_2, \quad
              w_4 = C e^{hA} z_0 + H' u_1 + 2 H u_3
    """
    c, b, a, times = (jnp.asarray(x) for x in (RK4.c, RK4.b, NEXT, TIMES))
    ahead, alike = jnp.asarray(AHEAD), jnp.asarray(ALIKE)
    z0, none, m = block.get(y0), jnp.zeros(0), len(ports.stages.active)
    # w at the three times of the stages, as far as it follows from the start
    w = apply(ports.stages.outputs, z0).reshape(3, m)
    rest = block.put(y0, none)

    def stage(i: Array, state: Tree) -> Tree:
        y, total, u = state
        rate = problem.rate(ports.args, jnp.minimum(t + c[i] * h, latest), y)
        now, rate = block.get(rate), block.put(rate, none)
        following = jax.tree.map(lambda start, k: start + h * a[i] * k, rest, rate)
        total = jax.tree.map(lambda s, k: s + h * b[i] * k, total, rate)
        first = jax.lax.cond(
            i == 2, lambda: apply(ports.stages.far, u[0]), lambda: jnp.zeros_like(now)
        )
        memory = w[ahead[i]] + times[i] * apply(ports.stages.near, now) + first
        return block.put(following, memory), total, u.at[alike[i]].add(now)

    start = block.put(y0, w[0]), rest, jnp.zeros_like(w)
    _, total, u = jax.lax.fori_loop(0, 4, stage, start)
    decayed = stages.times(jnp.asarray(stages.decay)[4], z0)
    return block.put(total, decayed + apply(ports.stages.end, u.reshape(-1)))
