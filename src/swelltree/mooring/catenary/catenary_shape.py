"""Shape of a piece of line whose end forces are known: points and tensions along it.

The part above a point of a catenary is a catenary with the same force at B.
"""

from __future__ import annotations

from dataclasses import replace

from swelltree.jit import Array, namespace
from swelltree.mooring.catenary.catenary import Sections, span
from swelltree.mooring.catenary.catenary_ends import Bed, Ends
from swelltree.mooring.catenary.catenary_solve import MIN_HORIZONTAL


def _above(sections: Sections, s: Array) -> Sections:
    """What lies between the distance s from A and B."""
    xp = namespace(s, sections.length)
    stop = xp.cumsum(sections.length, axis=-1)
    length = xp.minimum(xp.maximum(stop - s[:, None], 0.0), sections.length)
    return replace(sections, length=length)


def points_along(
    sections: Sections,
    bed: Bed,
    result: Ends,
    lying: Array,
    anchored: Array,
    a: Array,
    b: Array,
    s: Array,
) -> tuple[Array, Array]:
    """Positions (e, 3) and tensions (e,) at one point of each piece.

    Args:
        sections: of the pieces.
        bed: the bed.
        result: their end forces.
        lying: where the lying part begins and ends (e, 2) [m].
        anchored: whose end A lies on the bed (e,).
        a: ends A (e, 3) [m].
        b: ends B (e, 3) [m].
        s: unstretched distance from A (e,) [m].
    """
    xp = namespace(a, s, result.H)
    along, L = result.along, sections.total_length
    H = xp.maximum(result.H, MIN_HORIZONTAL * sections.size)
    begin, end = lying[:, 0], lying[:, 1]
    touches = end > begin
    slope = xp.where(touches, bed.slope[0] * along[:, 0] + bed.slope[1] * along[:, 1], 0.0)
    friction = xp.where(anchored, bed.friction, 0.0)
    rests = sections.rests * (touches | anchored)[:, None]
    resting = replace(sections, rests=rests)
    V = result.down_B
    upper = span(_above(resting, s), H, V, slope, friction)
    from_B = ((b - a)[:, :2] * along).sum(-1) - upper.x
    z = b[:, 2] - upper.z
    # the half that hangs from A, where the line lies on the bed between its ends
    at_A = touches & (begin > 0.0) & (s < begin)
    lower = span(_above(resting.reversed(), L - s), H, result.down_A, -slope, 0.0 * friction)
    x = xp.where(at_A, lower.x, from_B)
    z = xp.where(at_A, a[:, 2] - lower.z, z)
    # a heap is spread evenly between the ends of the lying part
    span_x = ((b - a)[:, :2] * along).sum(-1)
    share = (s - begin) / xp.where(touches, end - begin, 1.0)
    heap = result.slack & touches & (s >= begin) & (s <= end)
    x = xp.where(heap, span_x * share, x)
    weight = (_above(sections, s).length * sections.weight).sum(-1)
    V_s = xp.where(at_A, result.down_A - (sections.total_weight - weight), V - weight)
    lies = touches & (s >= begin) & (s <= end)
    hangs = xp.sqrt(result.H**2 + V_s**2)
    cosine = xp.sqrt(1.0 + slope * slope)
    on_bed = xp.where(anchored, upper.pull, result.H * cosine)
    tension = xp.where(lies, xp.where(result.slack, 0.0, on_bed), hangs)
    return xp.concatenate([a[:, :2] + x[:, None] * along, z[:, None]], axis=-1), tension
