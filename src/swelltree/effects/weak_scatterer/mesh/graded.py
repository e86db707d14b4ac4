"""Divisions of a line that are finer at its ends, where edges and waterlines are."""

from __future__ import annotations

import numpy as np

FINER = 0.6  # how much shorter than the mean a piece at such an end is


def graded(pieces: int, start: bool, end: bool) -> np.ndarray:
    """Where the pieces of a line of length one begin and end (pieces + 1,).

    Args:
        pieces: their number, at least one.
        start: they are finer at zero.
        end: they are finer at one.
    """
    part = np.arange(pieces + 1) / pieces
    if start and end:
        return part - FINER / (2.0 * np.pi) * np.sin(2.0 * np.pi * part)
    bend = FINER * part * (1.0 - part)
    return part + (bend if end else -bend if start else 0.0)
