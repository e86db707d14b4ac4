r"""End stops: they push back in proportion to the overrun and to the closing speed.

.. math:: N = \max(0, k \delta + c\, s(\delta / r)\, \dot\delta), \qquad s(\xi) = \xi^2 (3 - 2 \xi)

The damping sets in over the overrun r, so that the force is continuous at contact; a stop never
pulls.
"""

from __future__ import annotations

from swelltree.spatial.arrays import Array, namespace, pytree


@pytree()
class Stops:
    """Stops of e coordinates."""

    lower: Array  # (e,) -inf: no stop
    upper: Array
    stop_stiffness: Array
    stop_damping: Array
    stop_ramp: Array


def stop_forces(stops: Stops, x: Array, v: Array) -> tuple[Array, Array, Array]:
    """Force on each coordinate, its elastic part, and the elastic energy."""
    xp = namespace(x)
    over, under = xp.maximum(x - stops.upper, 0.0), xp.maximum(stops.lower - x, 0.0)
    depth = over + under  # one of them is zero
    share = xp.minimum(depth / stops.stop_ramp, 1.0)
    share = share * share * (3.0 - 2.0 * share)
    closing = xp.where(over > 0.0, v, -v)
    elastic = stops.stop_stiffness * depth
    push = xp.maximum(elastic + stops.stop_damping * share * closing, 0.0)
    side = xp.where(over > 0.0, -1.0, 1.0)
    return side * push, side * elastic, 0.5 * elastic * depth
