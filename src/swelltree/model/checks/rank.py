"""Rank of joint equations, judged against the size of the joints' own rows.

A row of a loop, written in the velocities of the tree, is a sum over the bodies that it joins. On
an axis that another joint holds already the terms cancel, and what remains is rounding: measured
by the largest entry of the Jacobian it may look like an equation, measured by the terms that
cancelled it is none. Every row is therefore divided by the size of its terms.
"""

from __future__ import annotations

import numpy as np

from swelltree.jit import Array, namespace

RANK = 1e-8  # of a row's size: less is none; closing and rounding leave some 1e-12


def term_size(jacobian: Array, P: Array) -> Array:
    """Size of each row's terms before they cancel, (m,).

    Args:
        jacobian: rows in body velocities (m, 6N).
        P: body velocities per velocity of the system (6N, n).
    """
    xp = namespace(jacobian, P)
    # lengths of vectors, not entries: a row is as large whichever way its axes point
    vectors = P.shape[0] // 3
    rows = xp.linalg.norm(jacobian.reshape(len(jacobian), vectors, 3), axis=2)
    moves = xp.linalg.norm(P.reshape(vectors, 3, P.shape[1]), axis=1)
    size = xp.linalg.norm(rows @ moves, axis=1)
    # a row that nothing can move is none
    return xp.where(size > 0.0, size, 1.0)


def rank_of(J: np.ndarray) -> int:
    """Number of independent rows of a Jacobian whose rows are divided by `term_size`."""
    return int((singular_values(J) > RANK).sum())


def null_space(J: np.ndarray) -> np.ndarray:
    """Motions (n, k) in the null space of such a Jacobian."""
    if 0 in J.shape:
        return np.eye(J.shape[1])
    Vt = np.linalg.svd(J)[2]
    return Vt[rank_of(J) :].T


def smallest_step(J: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Least-squares solution of J x = b of min norm, directions below the rank left out."""
    if 0 in J.shape:
        return np.zeros(J.shape[1])
    U, size, Vt = np.linalg.svd(J, full_matrices=False)
    keep = size > RANK
    return Vt[keep].T @ ((U[:, keep].T @ b) / size[keep])


def independent(J: np.ndarray) -> list[int]:
    """Independent rows by pivoted Gram-Schmidt."""
    work = J.copy()
    stored: list[int] = []
    for _ in range(min(J.shape)):
        size = np.linalg.norm(work, axis=1)
        best = int(size.argmax())
        if size[best] <= RANK:
            break
        direction = work[best] / size[best]
        # twice is enough
        for _ in range(2):
            work = work - np.outer(work @ direction, direction)
        work[best] = 0.0
        stored.append(best)
    return stored


def singular_values(J: np.ndarray) -> np.ndarray:
    """Singular values in descending order; empty without rows or velocities."""
    return np.linalg.svd(J, compute_uv=False) if 0 not in J.shape else np.zeros(0)
