"""Divisions of a line that are finer at its ends, where edges and waterlines are."""

from __future__ import annotations

import numpy as np

FINER = 0.6  # how much shorter than the mean a piece at such an end is


def graded(pieces: int, start: bool, end: bool, edge: bool = False) -> np.ndarray:
    """Where the pieces of a line of length one begin and end (pieces + 1,).

    Args:
        pieces: their number, at least one.
        start: they are finer at zero.
        end: they are finer at one.
        edge: the water runs around an edge there, where the potential is not a smooth function of
            the distance: places go with its square. (A box of 4 m x 2.5 m, 1 m deep, on 76
            vertices: 3 % too little added mass in pitch in place of 7 %.)
    """
    part = np.arange(pieces + 1) / pieces
    if edge and start and end:
        return np.where(part < 0.5, 2.0 * part**2, 1.0 - 2.0 * (1.0 - part) ** 2)
    if edge and (start or end):
        return part**2 if start else 1.0 - (1.0 - part) ** 2
    if start and end:
        return part - FINER / (2.0 * np.pi) * np.sin(2.0 * np.pi * part)
    bend = FINER * part * (1.0 - part)
    return part + (bend if end else -bend if start else 0.0)
