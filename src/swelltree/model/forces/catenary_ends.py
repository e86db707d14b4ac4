r"""Pieces of line between two points in space: forces, stiffness and stored energy.

The energy of a piece, elastic and by weight, depends on the horizontal distance x of its ends and
on their heights; H and the vertical forces are its gradient,

.. math:: E(x, z_A, z_B) = H x + V_A h_A + V_B h_B - \int (T + \tfrac{T^2}{2 EA}) ds + W z_0

with heights h above the level z_0 (the bed where the line touches it, else the end A). Ends
above one another have no direction, so x is :math:`\sqrt{d_x^2 + d_y^2 + (\epsilon L)^2}`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.model.forces.catenary import Sections, hanging, span
from swelltree.model.forces.catenary_solve import LEAST, end_force
from swelltree.model.forces.catenary_touching import dips, touching
from swelltree.spatial.arrays import Array, namespace, pytree

UPRIGHT = 1e-6  # of the length: horizontal distance below which a line counts as upright
LOWEST = 1e-12  # of the length: height above the bed below which an end counts as lying on it


@pytree()
class Bed:
    """A plane, flat or sloped; far below where there is none."""

    level: Array  # z at the origin, m
    slope: Array  # (2,) rise along x and y
    friction: Array  # coefficient


@pytree("anchored", "may_touch")
class Pieces:
    """Pieces of line (e of them)."""

    sections: Sections
    bed: Bed
    anchored: tuple[bool, ...]  # end A lies on the bed
    may_touch: tuple[bool, ...]  # may hang from both ends and lie on the bed in between


@pytree()
class Ends:
    """What pieces do at their ends."""

    along: Array  # (e, 2) horizontal direction from A to B
    H: Array  # (e,) horizontal force at B, towards A, N
    H_A: Array  # (e,) at A, towards B, N
    down_A: Array  # (e,) vertical force at A, downwards, N
    down_B: Array  # (e,) at B, N
    stiffness: Array  # (e, 3, 3) derivatives of (H, down_A, down_B) by (x, z_A, z_B), N/m
    turning: Array  # (e,) H / x: stiffness across, N/m
    energy: Array  # (e,) J
    lying: Array  # (e, 2) where the lying part begins and ends, unstretched from A, m
    slack: Array  # (e,) a heap on the bed

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


def ends(pieces: Pieces, a: Array, b: Array) -> Ends:
    """Forces of pieces at their ends.

    Args:
        pieces: of lines.
        a: ends A (e, 3) [m].
        b: ends B (e, 3) [m].
    """
    xp = namespace(a, b, pieces.sections.length)
    anchored = np.array(pieces.anchored, dtype=bool)
    if anchored.all() or not anchored.any():
        rule = _anchored if anchored.any() else _between
        return rule(pieces, np.arange(len(anchored)), a, b)
    # both kinds: each on its own, then back into order
    rows = [np.flatnonzero(anchored), np.flatnonzero(~anchored)]
    first = _anchored(pieces, rows[0], a[rows[0]], b[rows[0]])
    second = _between(pieces, rows[1], a[rows[1]], b[rows[1]])
    order = np.argsort(np.concatenate(rows))
    fields = Ends.__dataclass_fields__
    both = {f: xp.concatenate([getattr(first, f), getattr(second, f)])[order] for f in fields}
    return Ends(**both)


def of_rows(sections: Sections, rows: np.ndarray) -> Sections:
    """Some of the pieces."""
    return Sections(
        *(x[rows] for x in (sections.length, sections.weight, sections.compliance, sections.rests))
    )


def _distance(sections: Sections, a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Horizontal distance, direction, and height of B above A."""
    xp = namespace(a, b)
    d = b - a
    small = UPRIGHT * sections.total_length
    x = xp.sqrt(d[:, 0] ** 2 + d[:, 1] ** 2 + small**2)
    return x, d[:, :2] / x[:, None], d[:, 2]


def _table(rows: list[list[Array]]) -> Array:
    """A 3x3 matrix for each piece."""
    xp = namespace(rows[0][0])
    return xp.stack([xp.stack(row, axis=-1) for row in rows], axis=-2)


def _anchored(pieces: Pieces, rows: np.ndarray, a: Array, b: Array) -> Ends:
    """Pieces whose end A lies on the bed."""
    sections, bed = of_rows(pieces.sections, rows), pieces.bed
    xp = namespace(a, b, sections.length)
    x, along, z = _distance(sections, a, b)
    slope = bed.slope[0] * along[:, 0] + bed.slope[1] * along[:, 1]
    friction = bed.friction + 0.0 * x
    z = xp.maximum(z, slope * x + LOWEST * sections.total_length)
    pull = end_force(sections, x, z, slope, friction)
    H = xp.maximum(pull.H, LEAST * sections.size)
    here = span(sections, H, pull.V, slope, friction)
    free_end = pull.V - sections.total_weight
    lies = free_end < H * slope
    cosine = 1.0 / xp.sqrt(1.0 + slope * slope)
    H_A = xp.where(pull.slack, 0.0, xp.where(lies, here.pull * cosine, pull.H))
    V_A = xp.where(pull.slack, 0.0, xp.where(lies, here.pull * cosine * slope, free_end))
    det = here.x_H * here.z_V - here.x_V * here.z_H
    det = xp.where(det > 0.0, det, 1e-300)
    none = 0.0 * H
    H_x, H_z = xp.where(pull.slack, 0.0, here.z_V / det), xp.where(pull.slack, 0.0, -here.x_V / det)
    V_x = xp.where(pull.slack, 0.0, -here.z_H / det)
    V_z = xp.where(pull.slack, 1.0 / xp.maximum(here.z_V, 1e-300), here.x_H / det)
    energy = H * x + pull.V * z - here.work + sections.total_weight * a[:, 2]
    lying = (sections.length - here.hung).sum(-1)
    return Ends(
        along,
        pull.H,
        H_A,
        -V_A,
        pull.V,
        _table([[H_x, -H_z, H_z], [-V_x, V_z, -V_z], [V_x, -V_z, V_z]]),
        pull.H / x,
        energy,
        xp.stack([none, lying], axis=-1),
        pull.slack,
    )


def _between(pieces: Pieces, rows: np.ndarray, a: Array, b: Array) -> Ends:
    """Pieces that hang between their ends, and may touch the bed there."""
    sections, bed = of_rows(pieces.sections, rows), pieces.bed
    xp = namespace(a, b, sections.length)
    x, along, z = _distance(sections, a, b)
    loose = Sections(sections.length, sections.weight, sections.compliance, 0.0 * sections.rests)
    W, flat = sections.total_weight, 0.0 * x
    pull = end_force(loose, x, z, flat, flat)
    H, V = pull.H, pull.V
    here = hanging(loose, H, V, flat)
    det = xp.maximum(here.x_H * here.z_V - here.x_V * here.z_H, 1e-300)
    H_x, H_z, V_z = here.z_V / det, -here.x_V / det, here.x_H / det
    free = Ends(
        along,
        H,
        H,
        W - V,
        V,
        _table([[H_x, -H_z, H_z], [-H_z, V_z, -V_z], [H_z, -V_z, V_z]]),
        H / x,
        H * x + V * z - here.work + W * a[:, 2],
        xp.stack([flat, flat], axis=-1),
        H < 0.0,
    )
    may = np.array(pieces.may_touch, dtype=bool)[rows]
    if not may.any():
        return free
    slope = bed.slope[0] * along[:, 0] + bed.slope[1] * along[:, 1]
    least = LOWEST * sections.total_length
    height_A = xp.maximum(a[:, 2] - bed_height(bed, a), least)
    height_B = xp.maximum(b[:, 2] - bed_height(bed, b), least)
    touches = may & dips(sections, H, V, slope, height_B)
    on_bed = _on_bed(sections, x, along, slope, height_A, height_B, touches)
    level = 0.5 * (bed_height(bed, a) + bed_height(bed, b))

    def chosen(one: Array, other: Array) -> Array:
        return xp.where(touches.reshape(touches.shape + (1,) * (one.ndim - 1)), one, other)

    on_bed = {**on_bed, "energy": on_bed["energy"] + W * level}
    return Ends(**{f: chosen(on_bed[f], getattr(free, f)) for f in Ends.__dataclass_fields__})


def _on_bed(
    sections: Sections,
    x: Array,
    along: Array,
    slope: Array,
    height_A: Array,
    height_B: Array,
    touches: Array,
) -> dict[str, Any]:
    """Fields of `Ends` for pieces that lie on the bed between their ends."""
    xp = namespace(x, height_A)
    found = touching(sections, x, slope, height_A, height_B, ~touches)
    upper, lower = found.upper, found.lower
    H = xp.maximum(found.H, LEAST * sections.size)
    parts = sections.length - upper.hung - lower.hung[:, ::-1]
    give = (parts * sections.compliance).sum(-1)
    B_H, B_V = upper.z_H - slope * upper.x_H, upper.z_V - slope * upper.x_V
    A_H, A_V = lower.z_H + slope * lower.x_H, lower.z_V + slope * lower.x_V
    B_V, A_V = xp.maximum(B_V, 1e-300), xp.maximum(A_V, 1e-300)
    by_B, by_A = upper.x_V / B_V, lower.x_V / A_V
    schur = upper.x_H + lower.x_H + give - by_B * B_H - by_A * A_H
    H_x = xp.where(found.slack | (schur <= 0.0), 0.0, 1.0 / xp.where(schur > 0.0, schur, 1.0))
    H_A, H_B = -by_A * H_x, -by_B * H_x
    rows = [
        [H_x, H_A, H_B],
        [-A_H / A_V * H_x, (1.0 - A_H * H_A) / A_V, -A_H / A_V * H_B],
        [-B_H / B_V * H_x, -B_H / B_V * H_A, (1.0 - B_H * H_B) / B_V],
    ]
    stored = H * x + found.V_A * height_A + found.V_B * height_B
    stored = stored - upper.work - lower.work - H * parts.sum(-1) - 0.5 * H * H * give
    begins = lower.hung.sum(-1)
    return {
        "along": along,
        "H": found.H,
        "H_A": found.H,
        "down_A": found.V_A,
        "down_B": found.V_B,
        "stiffness": _table(rows),
        "turning": found.H / x,
        "energy": stored,
        "lying": xp.stack([begins, begins + parts.sum(-1)], axis=-1),
        "slack": found.slack,
    }
