r"""End stops: they push back in proportion to the overrun and to the closing speed.

.. math:: N = \max(0, k \delta + c\, s(\delta / r)\, \dot\delta), \qquad s(\xi) = \xi^2 (3 - 2 \xi)

The damping sets in over the overrun r, so that the force is continuous at contact; a stop never
pulls. A soft tip of thickness w, which searches for optimal control put on the stops, makes the
force a parabola over the first w, so that its slope is continuous as well.
"""

from __future__ import annotations

from swelltree.engine.arrays import Array, namespace, pytree


@pytree()
class Stops:
    """Stops of e coordinates."""

    lower: Array  # (e,) -inf: no stop
    upper: Array
    stop_stiffness: Array
    stop_damping: Array
    stop_ramp: Array
    tip: Array | None = None  # (e,) m, rad: thickness of a soft tip; none


def stop_forces(stops: Stops, x: Array, v: Array) -> tuple[Array, Array, Array]:
    """Force on each coordinate, its elastic part, and the elastic energy."""
    xp = namespace(x)
    over, under = xp.maximum(x - stops.upper, 0.0), xp.maximum(stops.lower - x, 0.0)
    depth = over + under  # one of them is zero
    share = xp.minimum(depth / stops.stop_ramp, 1.0)
    share = share * share * (3.0 - 2.0 * share)
    closing = xp.where(over > 0.0, v, -v)
    side = xp.where(over > 0.0, -1.0, 1.0)
    k, w = stops.stop_stiffness, stops.tip
    if w is None:
        elastic, squeezed = k * depth, 0.5 * k * depth * depth
        push = xp.maximum(elastic + stops.stop_damping * share * closing, 0.0)
    else:
        elastic = k * rounded(depth, w)
        squeezed = k * xp.where(
            depth < w, depth**3 / (6.0 * w), 0.5 * depth * (depth - w) + w * w / 6.0
        )
        push = elastic + stops.stop_damping * share * closing
        push = rounded(xp.maximum(push, 0.0), 0.5 * k * w + 1e-12)
    return side * push, side * elastic, squeezed


def rounded(x: Array, width: Array) -> Array:
    """x >= 0 less half a width, from zero by a parabola."""
    return namespace(x).where(x < width, 0.5 * x * x / width, x - 0.5 * width)
