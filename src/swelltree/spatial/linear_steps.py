"""Exact steps of linear systems, by the matrix exponential; in numpy."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from swelltree.jit import Array, Tree, jnp, namespace, pytree


@pytree("banded")
class ExactStages:
    r"""The four stages and the end of a step of RK4 for a linear part z' = A z + f.

    .. math:: z_i = e^{c_i h A} z_0 + \sum_j W_{ij} f_j

    Exact where f is constant, linear or quadratic in time over the step; for A = 0 it is RK4
    itself (ETDRK4; Cox and Matthews 2002, eqs. 26-29). Where A is made of blocks of two, matrices
    are kept as their three diagonals.
    """

    step: Array  # s
    A: Array  # (k, k) 1/s, or (3, k)
    decay: Array  # (5, k, k) of each stage, the end last, or (5, 3, k)
    weights: Array  # (5, 4, k, k) W, or (5, 4, 3, k)
    banded: bool

    def times(self, M: Array, x: Array) -> Array:
        """Matrix times vector without a dot product, so that a loop can become one kernel."""
        if not self.banded:
            return (M * x[..., None, :]).sum(-1)
        xp = namespace(M, x)
        none = xp.zeros_like(x[..., :1])
        before = xp.concatenate([none, x[..., :-1]], axis=-1)
        after = xp.concatenate([x[..., 1:], none], axis=-1)
        return M[..., 0, :] * before + M[..., 1, :] * x + M[..., 2, :] * after


def exact_stages(A: np.ndarray, step: float) -> ExactStages:
    """Stages of a matrix and a step, cached."""
    return _stages_of(np.ascontiguousarray(A, float).tobytes(), len(A), step)


@functools.lru_cache(maxsize=8)
def _stages_of(matrix: bytes, k: int, step: float) -> ExactStages:
    A = np.frombuffer(matrix).reshape(k, k)
    half, full = _phi(0.5 * step * A), _phi(step * A)
    first = 0.5 * step * half[1]
    decay = np.stack([np.eye(k), half[0], half[0], full[0], full[0]])
    W = np.zeros((5, 4, k, k))
    W[1, 0] = W[2, 1] = first
    W[3, 0], W[3, 2] = (half[0] - np.eye(k)) @ first, 2.0 * first
    _, one, two, three = full
    W[4, 0] = step * (one - 3.0 * two + 4.0 * three)
    W[4, 1] = W[4, 2] = step * (2.0 * two - 4.0 * three)
    W[4, 3] = step * (4.0 * three - two)
    number = np.arange(k)
    excess = np.abs(number[:, None] - number) > 1
    if any(np.any(M[..., excess]) for M in (A, decay, W)):
        return ExactStages(np.array(step), A, decay, W, banded=False)
    return ExactStages(np.array(step), *map(_diagonals, (A, decay, W)), banded=True)


@pytree("active")
class StagePorts:
    r"""Such a step seen from outside: u goes in, w = C z comes out, f = B u.

    .. math:: w_i = C e^{c_i h A} z_0 + \sum_j C W_{ij} B\, u_j, \qquad
              z_1 = e^{hA} z_0 + \sum_j W_{4j} B\, u_j

    Of u and w only the m numbers that the block knows count; the second and third stage count
    alike at the end.
    """

    outputs: Array  # (3 m, k) C, and behind half of the step and the whole
    near: Array  # (m, m) C W_10 B: of the stage before, at the second and third; twice at the last
    far: Array  # (m, m) C W_30 B: of the first stage at the last
    end: Array  # (k, 3 m) W_40 B, W_41 B, W_43 B
    active: tuple[int, ...]  # which numbers of u and w


class Ports(NamedTuple):
    """What the rest of a problem knows of its linear block z' = A z + B u: w = C z.

    Args:
        args: first argument of ``rate`` for which w stands in place of z, and u in place of z'.
        stages: of the fixed step.
    """

    args: Tree
    stages: StagePorts


def stage_ports(stages: ExactStages, B: np.ndarray, C: np.ndarray) -> StagePorts:
    """Stages of a block with its inputs and outputs, NumPy."""
    active = np.flatnonzero(B.any(0) | C.any(1))
    B, C = B[:, active], C[active]

    def times(M: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return np.stack([stages.times(M, column) for column in columns.T], axis=-1)

    one = np.eye(len(B))
    W = stages.weights
    return StagePorts(
        np.concatenate([C, *(C @ times(M, one) for M in stages.decay[[1, 4]])]),
        C @ times(W[1, 0], B),
        C @ times(W[3, 0], B),
        np.concatenate([times(W[4, j], B) for j in (0, 1, 3)], axis=1),
        tuple(active.tolist()),
    )


def _diagonals(M: np.ndarray) -> np.ndarray:
    """The lower, main and upper diagonal of matrices, each in its row (..., 3, k)."""
    out = np.zeros((*M.shape[:-2], 3, M.shape[-1]))
    for i, offset in enumerate((-1, 0, 1)):
        rows = np.arange(max(0, -offset), M.shape[-1] - max(0, offset))
        out[..., i, rows] = M[..., rows, rows + offset]
    return out


def _phi(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """exp Z, and (exp Z - 1) / Z, (exp Z - 1 - Z) / Z^2, (exp Z - 1 - Z - Z^2 / 2) / Z^3."""
    from scipy.linalg import expm

    k = len(Z)
    big = np.zeros((4 * k, 4 * k))
    big[:k, :k] = Z
    for i in range(3):
        big[i * k : (i + 1) * k, (i + 1) * k : (i + 2) * k] = np.eye(k)
    E = expm(big)[:k]
    return E[:, :k], E[:, k : 2 * k], E[:, 2 * k : 3 * k], E[:, 3 * k :]


def first_order_hold(
    A: np.ndarray, B: np.ndarray, step: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Discrete A, B0 and B1 with w linear in between: z+ = A z + B0 w + B1 w+."""
    from scipy.linalg import expm

    n, m = B.shape
    big = np.zeros((n + 2 * m, n + 2 * m))
    big[:n, :n], big[:n, n : n + m] = A * step, B * step
    big[n : n + m, n + m :] = np.eye(m)
    E = expm(big)
    start, slope = E[:n, n : n + m], E[:n, n + m :]
    return E[:n, :n], start - slope, slope


# --- (1 - c A)^-1 for the matrices of linear systems, which are often made of blocks of two


def partners_in(A: np.ndarray) -> tuple[int, ...] | None:
    """The other state of the block of each, itself where it is alone.

    None where blocks are larger than two.
    """
    A = np.asarray(A)
    near = (A != 0.0) | (A.T != 0.0)
    np.fill_diagonal(near, False)
    if (near.sum(1) > 1).any():
        return None
    alone = np.arange(len(A))
    return tuple(np.where(near.any(1), near.argmax(1), alone).tolist()) if len(A) else ()


def resolvent_of(
    A: Float[Array, "k k"], c: Array, partner: tuple[int, ...] | None
) -> Callable[[Array], Array]:
    """Function that gives (1 - c A)^-1 times vectors along the last axis.

    Args:
        A: the matrix.
        c: a number.
        partner: from `partners_in`; None: A is full.
    """
    if partner is None:
        inverse = jnp.linalg.inv(np.eye(A.shape[0]) - c * A)
        return lambda x: x @ inverse.T
    own, other = np.arange(len(partner)), np.array(partner, dtype=int)
    # blocks of two by Cramer's rule; a state that is alone has no entry beside its diagonal
    paired = np.where(own == other, 0.0, 1.0)
    diagonal, adjacent = 1.0 - c * A[own, own], -c * paired * A[own, other]
    inverse = 1.0 / (diagonal * diagonal[other] - adjacent * adjacent[other])
    return lambda x: inverse * (diagonal[other] * x - adjacent * x[..., other])
