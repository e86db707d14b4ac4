"""Catenaries that hang from both ends and lie on the bed in between.

One H and a vertical force at each end: each half hangs like a line from its end down to where it
runs along the bed. The part in between is held there; its friction is not taken into account.
"""

from __future__ import annotations

from swelltree.effects.lines.quasi_static.catenary import Sections, hanging, stretch_lying
from swelltree.effects.lines.quasi_static.catenary_solve import (
    FAR,
    LEAST,
    SHRINK,
    cut_step,
    iterate,
)
from swelltree.engine.arrays import Array, Tree, namespace, pytree
from swelltree.engine.loops import settled


@pytree()
class Touching:
    """Forces of pieces at both ends."""

    H: Array  # (e,) horizontal, N
    V_B: Array  # (e,) downwards at B, N
    V_A: Array  # (e,) downwards at A, N
    slack: Array  # (e,) a heap on the bed


def dips(sections: Sections, H: Array, V: Array, slope: Array, height: Array) -> Array:
    """Does a line that hangs free pass under the bed?

    Args:
        sections: of the pieces, all of which may rest.
        H: horizontal force (e,) [N].
        V: vertical force at B (e,) [N].
        slope: of the bed (e,).
        height: of B above the bed (e,) [m].
    """
    half = hanging(sections, H, V, slope)
    inside = (H * slope < V) & (V - sections.total_weight < H * slope)
    return inside & (half.z - slope * half.x > height)


def _first_guess(
    sections: Sections, x: Array, height_A: Array, height_B: Array
) -> tuple[Array, Array, Array]:
    """Forces to begin with, by the weight of what hangs."""
    xp = namespace(x, height_A, sections.length)
    w = sections.total_weight / sections.total_length
    excess = xp.maximum(sections.total_length - x, 1e-3 * (height_A + height_B))
    both = height_A**1.5 + height_B**1.5
    a = 2.0 / 9.0 * (both * both / excess**2 - both ** (2 / 3))
    a = xp.maximum(a, 1e-4 * (height_A + height_B))
    up_A, up_B = (xp.sqrt(h * (h + 2.0 * a)) for h in (height_A, height_B))
    return w * a, w * up_B, w * up_A


def _halves(args: Tree, u: tuple[Array, ...]) -> tuple[tuple[Array, ...], Tree]:
    """Misfits of distance and heights, and their derivatives.

    The derivatives: of the heights by H and by V, for B and A, and of the distance by H, V_B, V_A.
    """
    sections, x, slope, height_A, height_B, _ = args
    H, V_B, V_A = u
    xp = namespace(H, x)
    upper = hanging(sections, H, V_B, slope)
    lower = hanging(sections.reversed(), H, V_A, -slope)
    lying = sections.length - upper.hung - lower.hung[:, ::-1]
    cosine = 1.0 / xp.sqrt(1.0 + slope * slope)
    pull = H[:, None] + 0.0 * lying
    longer, give, _ = stretch_lying(sections, lying, pull, pull)
    misfit = (
        upper.x + lower.x + cosine * lying.sum(-1) + longer - x,
        upper.z - slope * upper.x - height_B,
        lower.z + slope * lower.x - height_A,
    )
    at_B = upper.z_H - slope * upper.x_H, xp.maximum(upper.z_V - slope * upper.x_V, 1e-300)
    at_A = lower.z_H + slope * lower.x_H, xp.maximum(lower.z_V + slope * lower.x_V, 1e-300)
    by = upper.x_H + lower.x_H + xp.maximum(give, 0.0), upper.x_V, lower.x_V
    return misfit, (at_B, at_A, by)


def _change_of_H(r: tuple[Array, ...], jacobian: Tree) -> Array:
    """The heights give V_B and V_A, what is left is an equation for H."""
    (B_H, B_V), (A_H, A_V), (x_H, x_B, x_A) = jacobian
    xp = namespace(x_H)
    schur = x_H - x_B / B_V * B_H - x_A / A_V * A_H
    return -(r[0] - x_B / B_V * r[1] - x_A / A_V * r[2]) / xp.maximum(schur, 1e-300)


def _correct(u: tuple[Array, ...], args: Tree, r: tuple[Array, ...]) -> tuple[Array, ...]:
    """Change of the forces that makes up for a misfit."""
    xp = namespace(*u)
    jacobian = _halves(args, u)[1]
    (B_H, B_V), (A_H, A_V), _ = jacobian
    dH = xp.where(u[0] <= LEAST * args[0].size, 0.0, _change_of_H(r, jacobian))
    return dH, -(r[1] + B_H * dH) / B_V, -(r[2] + A_H * dH) / A_V


def _newton(args: Tree, u: tuple[Array, ...]) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """Residuals and Newton's step, cut where it leads too far."""
    sections, slope = args[0], args[2]
    H, V_B, V_A = u
    xp = namespace(H, slope)
    r, jacobian = _halves(args, u)
    (B_H, B_V), (A_H, A_V), _ = jacobian
    slack = (LEAST * sections.size >= H) & (r[0] >= 0.0)
    dH = xp.where(slack, 0.0, cut_step(H, _change_of_H(r, jacobian)))

    def bounded(V: Array, dV: Array, rise: Array) -> Array:
        reach = FAR * (xp.abs(V) + H + sections.size)
        dV = xp.minimum(xp.maximum(dV, -reach), reach)
        lift = xp.maximum(V - H * rise, 0.0)
        return xp.maximum(dV, -SHRINK * lift)

    dV_B = bounded(V_B, -(r[1] + B_H * dH) / B_V, slope)
    dV_A = bounded(V_A, -(r[2] + A_H * dH) / A_V, -slope)
    return (xp.where(slack, 0.0, r[0]), r[1], r[2]), (dH, dV_B, dV_A)


def touching(
    sections: Sections, x: Array, slope: Array, height_A: Array, height_B: Array, idle: Array
) -> Touching:
    """Forces of pieces that lie on the bed between their ends.

    Args:
        sections: of the pieces, all of which may rest.
        x: horizontal distance of the ends, positive (e,) [m].
        slope: rise of the bed from A towards B (e,).
        height_A: of A above the bed, not negative (e,) [m].
        height_B: of B above the bed, not negative (e,) [m].
        idle: pieces that do not touch, whose result is not used (e,).
    """
    xp = namespace(x, height_A, sections.length)

    def solve(args: Tree) -> tuple[Array, ...]:
        line = args[0]
        least = LEAST * line.size
        guess = _first_guess(line, args[1], *args[3:5])
        start = (xp.maximum(guess[0], 10.0 * least), *guess[1:])
        return iterate(lambda *u: _newton(args, u), start, least, line.total_length, args[5] > 0.5)

    def residual(u: tuple[Array, ...], args: Tree) -> tuple[Array, ...]:
        return _halves(args, u)[0]

    # idle as a number: what the rules of derivatives take must be arguments
    args = (sections, x, slope, height_A, height_B, xp.where(idle, 1.0, 0.0))
    H, V_B, V_A = settled(solve, residual, _correct, args)
    slack = LEAST * sections.size >= H
    return Touching(xp.where(slack, 0.0, H), V_B, V_A, slack)
