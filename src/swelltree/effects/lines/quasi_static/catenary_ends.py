"""Pieces of line between two points in space: the forces at their ends.

Ends above one another have no direction, so the horizontal distance x is taken as
sqrt(dx^2 + dy^2 + (eps L)^2). What else is asked of pieces, such as their stiffness and energy,
is in `catenary_stiffness`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from swelltree.effects.lines.quasi_static.catenary import Sections, span
from swelltree.effects.lines.quasi_static.catenary_solve import LEAST, end_force
from swelltree.effects.lines.quasi_static.catenary_touching import dips, touching
from swelltree.engine.arrays import Array, Tree, namespace, pytree

UPRIGHT = 1e-6  # of the length: horizontal distance below which a line counts as upright
LOWEST = 1e-12  # of the length: height above the bed below which an end counts as lying on it


@pytree()
class Bed:
    """A plane, flat or sloped; far below where there is none."""

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
    """What pieces do at their ends."""

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
        """Force on what holds A, (e, 3) [N]."""
        xp = namespace(self.H)
        return xp.concatenate([self.H_A[:, None] * self.along, -self.down_A[:, None]], axis=-1)

    @property
    def force_B(self) -> Array:
        """Force on what holds B, (e, 3) [N]."""
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
    """Rise of the bed in a direction (e, 2)."""
    return bed.slope[0] * along[:, 0] + bed.slope[1] * along[:, 1]


def _anchored(pieces: Pieces, sections: Sections, a: Array, b: Array) -> Ends:
    """Pieces whose end A lies on the bed."""
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
    here = span(sections, xp.maximum(pull.H, LEAST * sections.size), pull.V, slope, friction)
    free_end = pull.V - sections.total_weight
    lies = (free_end < pull.H * slope) & (sections.rests[:, 0] > 0.0)
    cosine = 1.0 / xp.sqrt(1.0 + slope * slope)
    H_A = xp.where(lies, here.pull * cosine, pull.H)
    V_A = xp.where(lies, here.pull * cosine * slope, free_end)
    H_A, V_A = (xp.where(pull.slack, 0.0, force) for force in (H_A, V_A))
    return Ends(along, x, z, pull.H, H_A, -V_A, pull.V, pull.slack, none)


def _between(bed: Bed, sections: Sections, may: np.ndarray, a: Array, b: Array) -> Ends:
    """Pieces that hang between their ends, and may touch the bed there."""
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
