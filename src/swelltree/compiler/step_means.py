r"""Loads in time as a scheme of fixed steps sees them: means over a step around each instant.

.. math:: \bar f(t_n) = \frac1h \int_{t_n - h/2}^{t_n + h/2} f\, dt

Fixed steps cannot end at breakpoints. With the mean the whole impulse of even a short load acts;
for smooth loads it differs from the value by :math:`h^2 \ddot f / 24`, less than the scheme does.
Tables are integrated exactly, users' functions sampled within the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from swelltree.forces.applied import Applied
from swelltree.jit import Array, Tree, is_tracer, jnp, mapped, namespace, pytree
from swelltree.model.model import Model
from swelltree.model.signals import Pieces, UserFunction, ZeroOrderHold
from swelltree.mooring.winches import SetSpeed
from swelltree.multibody.tree import PointMotion

SAMPLES = 8  # of a function in a step
PLACES = (np.arange(SAMPLES) + 0.5) / SAMPLES - 0.5


@pytree()
class MeanPieces:
    """Mean of a table over a step."""

    pieces: Pieces
    h: Array

    def __call__(self, t: Array) -> Array:
        integral, half = self.pieces.integral, 0.5 * self.h
        xp = namespace(t, self.h)
        none = self.h == 0.0
        mean = (integral(t + half) - integral(t - half)) / xp.where(none, 1.0, self.h)
        return xp.where(none, self.pieces(t), mean)


@pytree()
class MeanFunction:
    """Mean over a step of a user's function of time, by sampling."""

    function: UserFunction
    h: Array

    def __call__(self, t: Array) -> Array:
        return sum(self.function(t + part * self.h) for part in PLACES) / SAMPLES


@dataclass(frozen=True)
class MeanForce:
    """Mean over a step of a user's force as a function of time and motion, by sampling."""

    function: Callable[[Array, PointMotion], tuple[Array, Array]]
    h: Array | float

    def __call__(self, t: Array, point: PointMotion) -> tuple[Array, Array]:
        samples = [self.function(t + float(part) * self.h, point) for part in PLACES]
        force, torque = (sum(map(jnp.asarray, rows)) for rows in zip(*samples, strict=True))
        return force / SAMPLES, torque / SAMPLES


def with_step_means(model: Model, h: Array | float) -> Model:
    """The model whose loads in time are their means over steps of h [s].

    With h = 0 they are their values, in a model of the same structure: one program serves both.
    """

    width = h if is_tracer(h) else np.array(h)

    def known(part: object) -> bool:
        return isinstance(part, Pieces | UserFunction | ZeroOrderHold | Applied | SetSpeed)

    def mean(part: Tree) -> Tree:
        if isinstance(part, Pieces):
            return MeanPieces(part, width)
        if isinstance(part, UserFunction):
            return MeanFunction(part, width)
        if isinstance(part, ZeroOrderHold):
            return replace(part, signal=mean(part.signal), width=width)
        if isinstance(part, SetSpeed):
            return replace(part, width=width)
        if isinstance(part, Applied):
            function = part.function
            function = None if function is None else MeanForce(function, h)
            return replace(part, signals=tuple(map(mean, part.signals)), function=function)
        return part

    return model.replace(effects=mapped(mean, model.effects, is_leaf=known))
