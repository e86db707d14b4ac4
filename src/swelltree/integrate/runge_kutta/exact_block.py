"""The linear part of a problem within the stages of a fixed step, carried on exactly.

Where a problem has none, or a step is not the fixed one (the last before a breakpoint or an output
time), the stages are those of the tableau.
"""

from __future__ import annotations

from dataclasses import dataclass

from swelltree.integrate.problem import Carry, LinearBlock, Problem
from swelltree.jit import Array, Tree, jnp
from swelltree.spatial.linear_steps import ExactStages

SAME = 1e-9  # of the fixed step


class NoBlock:
    """Nothing is linear, or the steps are not fixed."""

    def start(self) -> Tree:
        """What the stages remember."""
        return ()

    def at(self, i: Array, y: Tree, forcing: Tree) -> Tree:
        """The value at a stage."""
        return y

    def stored(self, i: Array, forcing: Tree, y: Tree, rate: Tree) -> Tree:
        """What the stages remember after one."""
        return forcing


@dataclass(frozen=True)
class ExactBlock(NoBlock):
    """z' = A z + f in the stages of a step."""

    block: LinearBlock
    stages: ExactStages
    carry: Carry
    full: Array  # the step is the fixed one
    count: int  # stages

    def forcing(self, y: Tree, rate: Tree) -> Tree:
        """f = z' - A z."""
        return self.block.get(rate) - self.stages.times(self.stages.A, self.block.get(y))

    def start(self) -> Tree:
        """f at the stages: that of the first where the rate at the start is known."""
        first = self.forcing(self.carry.y, self.carry.rate)
        return jnp.zeros((self.count, *first.shape)).at[0].set(first)

    def at(self, i: Array, y: Tree, forcing: Tree) -> Tree:
        """The value at a stage with its linear part in place; the last stage is the end."""
        decay, weights = jnp.asarray(self.stages.decay)[i], jnp.asarray(self.stages.weights)[i]
        times = self.stages.times
        z = times(decay, self.block.get(self.carry.y)) + times(weights, forcing).sum(0)
        return self.block.put(y, jnp.where(self.full, z, self.block.get(y)))

    def stored(self, i: Array, forcing: Tree, y: Tree, rate: Tree) -> Tree:
        """f at the stages after one more."""
        return forcing.at[i].set(self.forcing(y, rate))


def exact_block(problem: Problem, args: Tree, carry: Carry, h: Array, count: int) -> NoBlock:
    """How a step treats the linear part of its problem.

    Args:
        problem: the functions.
        args: their first argument.
        carry: start of the step.
        h: its length [s].
        count: stages of the method.
    """
    stages = None if problem.block is None else problem.block.stages(args)
    if problem.block is None or stages is None or stages.weights.shape[1] != count:
        return NoBlock()
    full = jnp.abs(h - stages.step) < SAME * stages.step
    return ExactBlock(problem.block, stages, carry, full, count)
