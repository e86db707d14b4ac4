r"""The value within a step: the continuous extension of Runge-Kutta methods.

With :math:`\theta = (t - t_0) / h` it is the cubic that has the values and rates of both ends, and
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
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swelltree.jit import Array, Tree, jax, mapped

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
