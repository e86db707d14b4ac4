r"""The value within a step: the continuous extension of Runge-Kutta methods.

With :math:`\theta = (t - t_0) / h` it is the cubic that has the values and rates of both ends, and
one term more from the stages,

.. math::
    y(t_0 + \theta h) = \text{cubic}(\theta) + \theta^2 (1 - \theta)^2 h \sum_i d_i k_i

Hairer, Norsett and Wanner (1993), Solving Ordinary Differential Equations I, section II.6, for
Dormand and Prince's method; the interpolant of Tsitouras (2011) is of the same form, with the
coefficients of its fourth power as d. Both are of order four within a step: their error falls with
the fifth power of its length, as that of the steps themselves. The classical method of Kutta has
the cubic alone, the last stage taken as rate of the end: of order three, so that its error falls
with the fourth power, as that of these steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swelltree.engine.arrays import Array, Tree
from swelltree.engine.backend import jax, jnp
from swelltree.engine.trees import mapped


class Extension(NamedTuple):
    """A polynomial within a step.

    Args:
        start: time of its start [s].
        length: of the step [s].
        terms: tree of the value, with a first axis of five: value at the start, change over the
            step, and what bends it (Hairer's cont1 to cont5).
    """

    start: Tree
    length: Array
    terms: Tree

    def at(self, t: Array) -> Tree:
        """The value at a time of the step."""
        x = (t - self.start) / self.length
        return jax.tree.map(
            lambda c: c[0] + x * (c[1] + (1.0 - x) * (c[2] + x * (c[3] + (1.0 - x) * c[4]))),
            self.terms,
        )


def blank_extension(y: Tree) -> Extension:
    """Before the first step from a value: a step of one second in which nothing is known."""
    terms = mapped(lambda x: np.zeros((5, *np.shape(x))), y)
    return Extension(np.zeros(()), np.ones(()), terms)


def quartic(y0: Tree, y1: Tree, rate0: Tree, rate1: Tree, more: Tree, h: Array) -> Tree:
    """Terms of the extension of one array.

    Args:
        y0: value at the start of a step.
        y1: at its end.
        rate0: rate at the start.
        rate1: at the end.
        more: the sum over the stages, times h.
        h: length of the step [s].
    """
    change = y1 - y0
    bend = h * rate0 - change
    return jnp.stack([y0, change, bend, change - h * rate1 - bend, more])
