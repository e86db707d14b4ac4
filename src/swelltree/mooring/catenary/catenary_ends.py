"""Pieces of line between two points in space: the forces at their ends.

Ends above one another have no direction, so the horizontal distance x is taken as
sqrt(dx^2 + dy^2 + (eps L)^2). What else is asked of pieces, such as their stiffness and energy,
is in `catenary_stiffness`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from swelltree.jit import Array, Tree, namespace, pytree
from swelltree.mooring.catenary.catenary import Sections, hanging, span, stretch_lying
from swelltree.mooring.catenary.catenary_solve import (
    FAR,
    MIN_HORIZONTAL,
    SHRINK,
    cut_step,
    end_force,
    iterate,
)
from swelltree.spatial.loops import settled

# --- Catenaries that hang from both ends and lie on the bed in between


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
    """Initial guess of the forces from the suspended weight."""
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
    """Reduce the unknowns to H: the heights give V_B and V_A."""
    (B_H, B_V), (A_H, A_V), (x_H, x_B, x_A) = jacobian
    xp = namespace(x_H)
    schur = x_H - x_B / B_V * B_H - x_A / A_V * A_H
    return -(r[0] - x_B / B_V * r[1] - x_A / A_V * r[2]) / xp.maximum(schur, 1e-300)


def _correct(u: tuple[Array, ...], args: Tree, r: tuple[Array, ...]) -> tuple[Array, ...]:
    """Change of the forces that corrects a misfit."""
    xp = namespace(*u)
    jacobian = _halves(args, u)[1]
    (B_H, B_V), (A_H, A_V), _ = jacobian
    dH = xp.where(u[0] <= MIN_HORIZONTAL * args[0].size, 0.0, _change_of_H(r, jacobian))
    return dH, -(r[1] + B_H * dH) / B_V, -(r[2] + A_H * dH) / A_V


def _newton(args: Tree, u: tuple[Array, ...]) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """Residuals and limited Newton step."""
    sections, slope = args[0], args[2]
    H, V_B, V_A = u
    xp = namespace(H, slope)
    r, jacobian = _halves(args, u)
    (B_H, B_V), (A_H, A_V), _ = jacobian
    slack = (MIN_HORIZONTAL * sections.size >= H) & (r[0] >= 0.0)
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
        least = MIN_HORIZONTAL * line.size
        guess = _first_guess(line, args[1], *args[3:5])
        start = (xp.maximum(guess[0], 10.0 * least), *guess[1:])
        return iterate(lambda *u: _newton(args, u), start, least, line.total_length, args[5] > 0.5)

    def residual(u: tuple[Array, ...], args: Tree) -> tuple[Array, ...]:
        return _halves(args, u)[0]

    # idle as a number: what the rules of derivatives take must be arguments
    args = (sections, x, slope, height_A, height_B, xp.where(idle, 1.0, 0.0))
    H, V_B, V_A = settled(solve, residual, _correct, args)
    slack = MIN_HORIZONTAL * sections.size >= H
    return Touching(xp.where(slack, 0.0, H), V_B, V_A, slack)


UPRIGHT = 1e-6  # of the length: horizontal distance below which a line counts as upright
LOWEST = 1e-12  # of the length: height above the bed below which an end counts as lying on it


@pytree()
class Bed:
    """Seabed plane, flat or sloped; far below without a seabed."""

    level: Array  # z at the origin, m
    slope: Array  # (2,) rise along x and y
    friction: Array  # coefficient


@pytree("anchored", "may_touch", "plain")
class Pieces:
    """Pieces of line (e of them)."""

    sections: Sections
    bed: Bed
    anchored: tuple[bool, ...]  # end A lies on the bed
    may_touch: tuple[bool, ...]  # may hang from both ends and lie on the bed in between
    plain: bool = False  # the bed is flat and has no friction


@pytree()
class Ends:
    """Results at the ends of pieces."""

    along: Array  # (e, 2) horizontal direction from A to B
    x: Array  # (e,) horizontal distance, m
    z: Array  # (e,) height of B above A, m
    H: Array  # (e,) horizontal force at B, towards A, N
    H_A: Array  # (e,) at A, towards B, N
    down_A: Array  # (e,) vertical force at A, downwards, N
    down_B: Array  # (e,) at B, N
    slack: Array  # (e,) a heap on the bed
    touches: Array  # (e,) lies on the bed between its ends

    @property
    def force_A(self) -> Array:
        """Force on the support at A, (e, 3) [N]."""
        xp = namespace(self.H)
        return xp.concatenate([self.H_A[:, None] * self.along, -self.down_A[:, None]], axis=-1)

    @property
    def force_B(self) -> Array:
        """Force on the support at B, (e, 3) [N]."""
        xp = namespace(self.H)
        return xp.concatenate([-self.H[:, None] * self.along, -self.down_B[:, None]], axis=-1)


def bed_height(bed: Bed, points: Array) -> Array:
    """Height of the bed under points (e, 3) [m]."""
    return bed.level + bed.slope[0] * points[:, 0] + bed.slope[1] * points[:, 1]


def rows_of(tree: Tree, rows: np.ndarray) -> Tree:
    """Some rows of every array of a pytree class."""
    values = ((name, getattr(tree, name)) for name in tree.__dataclass_fields__)
    return type(tree)(**{name: None if x is None else x[rows] for name, x in values})


def by_kind(
    pieces: Pieces, anchored: Callable[..., Tree], between: Callable[..., Tree], *arrays: Tree
) -> Tree:
    """Apply one rule to anchored pieces and another to the rest, and join the results.

    The rules take the numbers of their pieces and their rows of the arrays.
    """
    kind = np.array(pieces.anchored, dtype=bool)
    if kind.all() or not kind.any():
        return (anchored if kind.any() else between)(np.arange(len(kind)), *arrays)
    rows = [np.flatnonzero(kind), np.flatnonzero(~kind)]

    def rows_from(tree: Tree, some: np.ndarray) -> Tree:
        return rows_of(tree, some) if hasattr(tree, "__dataclass_fields__") else tree[some]

    first, second = (
        rule(some, *(rows_from(tree, some) for tree in arrays))
        for rule, some in zip((anchored, between), rows, strict=True)
    )
    order = np.argsort(np.concatenate(rows))

    def together(name: str) -> Array:
        parts = getattr(first, name), getattr(second, name)
        return namespace(*parts).concatenate(parts)[order]

    return type(first)(**{name: together(name) for name in first.__dataclass_fields__})


def ends(pieces: Pieces, a: Array, b: Array) -> Ends:
    """Forces of pieces at their ends.

    Args:
        pieces: of lines.
        a: ends A (e, 3) [m].
        b: ends B (e, 3) [m].
    """

    def anchored(rows: np.ndarray, a: Array, b: Array) -> Ends:
        return _anchored(pieces, rows_of(pieces.sections, rows), a, b)

    def between(rows: np.ndarray, a: Array, b: Array) -> Ends:
        may = np.array(pieces.may_touch, dtype=bool)[rows]
        return _between(pieces.bed, rows_of(pieces.sections, rows), may, a, b)

    return by_kind(pieces, anchored, between, a, b)


def _distance(sections: Sections, a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Horizontal direction, distance, and height of B above A."""
    xp = namespace(a, b)
    d = b - a
    small = UPRIGHT * sections.total_length
    x = xp.sqrt(d[:, 0] ** 2 + d[:, 1] ** 2 + small**2)
    return d[:, :2] / x[:, None], x, d[:, 2]


def slope_along(bed: Bed, along: Array) -> Array:
    """Slope of the bed in a direction (e, 2)."""
    return bed.slope[0] * along[:, 0] + bed.slope[1] * along[:, 1]


def _anchored(pieces: Pieces, sections: Sections, a: Array, b: Array) -> Ends:
    """Results of pieces whose end A lies on the bed."""
    xp = namespace(a, b, sections.length)
    along, x, z = _distance(sections, a, b)
    lowest = LOWEST * sections.total_length
    none = x < 0.0
    if pieces.plain:
        z = xp.maximum(z, lowest)
        pull = end_force(sections, x, z)
        up = xp.maximum(pull.V - sections.total_weight, 0.0)
        up = xp.where(sections.rests[:, 0] > 0.0, up, pull.V - sections.total_weight)
        return Ends(along, x, z, pull.H, pull.H, -up, pull.V, pull.slack, none)
    slope, friction = slope_along(pieces.bed, along), pieces.bed.friction + 0.0 * x
    z = xp.maximum(z, slope * x + lowest)
    pull = end_force(sections, x, z, slope, friction)
    here = span(
        sections, xp.maximum(pull.H, MIN_HORIZONTAL * sections.size), pull.V, slope, friction
    )
    free_end = pull.V - sections.total_weight
    lies = (free_end < pull.H * slope) & (sections.rests[:, 0] > 0.0)
    cosine = 1.0 / xp.sqrt(1.0 + slope * slope)
    H_A = xp.where(lies, here.pull * cosine, pull.H)
    V_A = xp.where(lies, here.pull * cosine * slope, free_end)
    H_A, V_A = (xp.where(pull.slack, 0.0, force) for force in (H_A, V_A))
    return Ends(along, x, z, pull.H, H_A, -V_A, pull.V, pull.slack, none)


def _between(bed: Bed, sections: Sections, may: np.ndarray, a: Array, b: Array) -> Ends:
    """Results of suspended pieces, which may touch the bed between their ends."""
    xp = namespace(a, b, sections.length)
    along, x, z = _distance(sections, a, b)
    pull = end_force(sections.loose(), x, z)
    H, V, W, none = pull.H, pull.V, sections.total_weight, x < 0.0
    free = Ends(along, x, z, H, H, W - V, V, none, none)
    if not may.any():
        return free
    slope = slope_along(bed, along)
    height_A, height_B = heights(bed, sections, a, b)
    touches = may & dips(sections, H, V, slope, height_B)
    result = touching(sections, x, slope, height_A, height_B, ~touches)

    def chosen(one: Array, other: Array) -> Array:
        return xp.where(touches, one, other)

    H = chosen(result.H, H)
    down_A, down_B = chosen(result.V_A, W - V), chosen(result.V_B, V)
    return Ends(along, x, z, H, H, down_A, down_B, touches & result.slack, touches)


def heights(bed: Bed, sections: Sections, a: Array, b: Array) -> tuple[Array, Array]:
    """Heights of both ends above the bed, not below it."""
    xp = namespace(a, b)
    least = LOWEST * sections.total_length
    return tuple(xp.maximum(end[:, 2] - bed_height(bed, end), least) for end in (a, b))
