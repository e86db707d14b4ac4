r"""Stiffness, stored energy and lying part of pieces whose end forces are known.

The energy of a piece, elastic and by weight, depends on the horizontal distance x of its ends and
on their heights; H and the vertical forces are its gradient,

.. math:: E(x, z_A, z_B) = H x + V_A h_A + V_B h_B - \int (T + \tfrac{T^2}{2 EA}) ds + W z_0

with heights h above the level z_0 (the bed where the line touches it, else the end A).
"""

from __future__ import annotations

import numpy as np

from swelltree.jit import Array, namespace, pytree
from swelltree.mooring.catenary.catenary import (
    Sections,
    hanging,
    span,
    stretch_lying,
)
from swelltree.mooring.catenary.catenary_ends import (
    Bed,
    Ends,
    Pieces,
    bed_height,
    by_kind,
    heights,
    rows_of,
    slope_along,
)
from swelltree.mooring.catenary.catenary_solve import MIN_HORIZONTAL


@pytree()
class Inside:
    """Internal state of a piece from its end forces."""

    stiffness: Array  # (e, 3, 3) derivatives of (H, down_A, down_B) by (x, z_A, z_B), N/m
    energy: Array  # (e,) J
    lying: Array  # (e, 2) where the lying part begins and ends, unstretched from A, m


def inside(pieces: Pieces, result: Ends, a: Array, b: Array) -> Inside:
    """Stiffness, energy and lying part.

    Args:
        pieces: of lines.
        result: their end forces.
        a: ends A (e, 3) [m].
        b: ends B (e, 3) [m].
    """

    def anchored(rows: np.ndarray, result: Ends, a: Array, b: Array) -> Inside:
        return _anchored(pieces, rows_of(pieces.sections, rows), result, a)

    def between(rows: np.ndarray, result: Ends, a: Array, b: Array) -> Inside:
        may = np.array(pieces.may_touch, dtype=bool)[rows]
        return _between(pieces.bed, rows_of(pieces.sections, rows), may, result, a, b)

    return by_kind(pieces, anchored, between, result, a, b)


def _table(rows: list[list[Array]]) -> Array:
    """A 3x3 matrix for each piece."""
    xp = namespace(rows[0][0])
    return xp.stack([xp.stack(row, axis=-1) for row in rows], axis=-2)


def _anchored(pieces: Pieces, sections: Sections, result: Ends, a: Array) -> Inside:
    """Stiffness of pieces whose end A lies on the bed; this end is fixed."""
    xp = namespace(result.H)
    slope, friction = None, 0.0
    if not pieces.plain:
        slope = slope_along(pieces.bed, result.along)
        friction = pieces.bed.friction + 0.0 * result.x
    H = xp.maximum(result.H, MIN_HORIZONTAL * sections.size)
    here = span(sections, H, result.down_B, slope, friction)
    det = here.x_H * here.z_V - here.x_V * here.z_H
    det = xp.where(det > 0.0, det, 1e-300)

    def unless_slack(value: Array) -> Array:
        return xp.where(result.slack, 0.0, value)

    H_x, H_z = unless_slack(here.z_V / det), unless_slack(-here.x_V / det)
    V_x = unless_slack(-here.z_H / det)
    V_z = xp.where(result.slack, 1.0 / xp.maximum(here.z_V, 1e-300), here.x_H / det)
    energy = H * result.x + result.down_B * result.z - here.work + sections.total_weight * a[:, 2]
    lying = (sections.length - here.hung).sum(-1)
    return Inside(
        _table([[H_x, -H_z, H_z], [-V_x, V_z, -V_z], [V_x, -V_z, V_z]]),
        energy,
        xp.stack([0.0 * lying, lying], axis=-1),
    )


def _between(
    bed: Bed, sections: Sections, may: np.ndarray, result: Ends, a: Array, b: Array
) -> Inside:
    """Stiffness of suspended pieces."""
    xp = namespace(result.H)
    H = xp.maximum(result.H, MIN_HORIZONTAL * sections.size)
    here = hanging(sections.loose(), H, result.down_B, None)
    det = xp.maximum(here.x_H * here.z_V - here.x_V * here.z_H, 1e-300)
    H_x, H_z, V_z = here.z_V / det, -here.x_V / det, here.x_H / det
    stored = H * result.x + result.down_B * result.z - here.work
    free = Inside(
        _table([[H_x, -H_z, H_z], [-H_z, V_z, -V_z], [H_z, -V_z, V_z]]),
        stored + sections.total_weight * a[:, 2],
        xp.stack([0.0 * H, 0.0 * H], axis=-1),
    )
    if not may.any():
        return free
    on_bed, flag = _touching(bed, sections, result, a, b), result.touches
    return Inside(
        xp.where(flag[:, None, None], on_bed.stiffness, free.stiffness),
        xp.where(flag, on_bed.energy, free.energy),
        xp.where(flag[:, None], on_bed.lying, free.lying),
    )


def _touching(bed: Bed, sections: Sections, result: Ends, a: Array, b: Array) -> Inside:
    """Stiffness of pieces that touch the bed between their ends."""
    xp = namespace(result.H)
    slope = slope_along(bed, result.along)
    height_A, height_B = heights(bed, sections, a, b)
    H = xp.maximum(result.H, MIN_HORIZONTAL * sections.size)
    upper = hanging(sections, H, result.down_B, slope)
    lower = hanging(sections.reversed(), H, result.down_A, -slope)
    parts = sections.length - upper.hung - lower.hung[:, ::-1]
    pull = H[:, None] + 0.0 * parts
    _, give, stretched = stretch_lying(sections, parts, pull, pull)
    B_H, B_V = upper.z_H - slope * upper.x_H, upper.z_V - slope * upper.x_V
    A_H, A_V = lower.z_H + slope * lower.x_H, lower.z_V + slope * lower.x_V
    B_V, A_V = xp.maximum(B_V, 1e-300), xp.maximum(A_V, 1e-300)
    by_B, by_A = upper.x_V / B_V, lower.x_V / A_V
    schur = upper.x_H + lower.x_H + give - by_B * B_H - by_A * A_H
    H_x = xp.where(result.slack | (schur <= 0.0), 0.0, 1.0 / xp.where(schur > 0.0, schur, 1.0))
    H_A, H_B = -by_A * H_x, -by_B * H_x
    rows = [
        [H_x, H_A, H_B],
        [-A_H / A_V * H_x, (1.0 - A_H * H_A) / A_V, -A_H / A_V * H_B],
        [-B_H / B_V * H_x, -B_H / B_V * H_A, (1.0 - B_H * H_B) / B_V],
    ]
    level = 0.5 * (bed_height(bed, a) + bed_height(bed, b))
    stored = H * result.x + result.down_A * height_A + result.down_B * height_B
    stored = stored - upper.work - lower.work - H * parts.sum(-1) - stretched
    begins = lower.hung.sum(-1)
    lying = xp.stack([begins, begins + parts.sum(-1)], axis=-1)
    return Inside(_table(rows), stored + sections.total_weight * level, lying)
