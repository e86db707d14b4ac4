"""Smaller linear systems: drifting part split off, balanced truncation, minimal realisation.

Everything is numpy; a system is the tuple A, B, C of x' = A x + B u, y = C x. The direct term of
an output plays no part here: it stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swelltree.hydro.radiation.reduction import StateSpace, balance, response, truncate
from swelltree.jit import Tree

SLOW_DECAY = 1e-6  # of the fastest mode: what decays more slowly counts as not decaying
SAME = 1e-6  # of its size: eigenvalues so near count as one
REL_TOL = 1e-9  # of the scaled system: a direction that is not reached or not seen


@dataclass(frozen=True)
class Parts:
    """A system as the sum of an unstable or drifting part and a stable part."""

    unrestrained: StateSpace
    decaying: StateSpace
    poles: np.ndarray  # of the drifting part
    rows: tuple[np.ndarray, np.ndarray]  # states of both parts from those of the whole


@dataclass(frozen=True)
class Reduced:
    """Reduced system, its error bound, and scaled Hankel singular values."""

    system: StateSpace
    n_unrestrained: int
    error: float  # largest scaled difference over all frequencies looked at
    bound: float  # guaranteed: twice the sum of what was cut off
    hankel: np.ndarray


def split_unrestrained(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> Parts:
    """Split off modes that do not decay, exactly (ordered Schur form, Sylvester equation)."""
    from scipy.linalg import schur, solve_sylvester

    n = A.shape[0]
    T0 = _diagonal_scale(A)
    A, B, C = A * T0 / T0[:, None], B / T0[:, None], C * T0
    limit = -SLOW_DECAY * max(np.abs(np.linalg.eigvals(A)).max(initial=0.0), 1e-300)
    form: Tree = schur(A, output="real", sort=lambda re, im: re > limit)
    T, Q, k = form
    B, C = Q.T @ B, C @ Q
    # T = [[T1, T12], [0, T2]]: remove T12 by x1 -> x1 + X x2 with T1 X - X T2 = -T12
    X = np.zeros((k, n - k))
    if 0 < k < n:
        X = solve_sylvester(T[:k, :k], -T[k:, k:], -T[:k, k:])
    slow = (T[:k, :k], B[:k] - X @ B[k:], C[:, :k])
    fast = (T[k:, k:], B[k:], C[:, k:] + C[:, :k] @ X)
    turned = Q.T / T0
    rows = (turned[:k] - X @ turned[k:], turned[k:])
    poles = np.linalg.eigvals(T[:k, :k]) if k else np.zeros(0, dtype=complex)
    return Parts(slow, fast, np.asarray(poles), rows)


def _diagonal_scale(A: np.ndarray) -> np.ndarray:
    """Scales of the states that balance A."""
    from scipy.linalg import matrix_balance

    if A.shape[0] == 0:
        return np.ones(0)
    return matrix_balance(A, permute=False, separate=True)[1][0]


def frequencies(A: np.ndarray, count: int = 400) -> np.ndarray:
    """Frequencies of possible peaks: zero, a wide grid, and near every mode [rad/s]."""
    poles = np.linalg.eigvals(A)
    size = np.abs(poles)
    if size.size == 0 or size.max() == 0:
        return np.array([0.0, 1.0])
    low = 0.03 * size[size > 0].min()
    grid = np.geomspace(low, 10 * size.max(), count)
    width, centre = np.abs(poles.real), np.abs(poles.imag)
    near = (centre[:, None] + width[:, None] * np.linspace(-2, 2, 9)).ravel()
    return np.unique(np.concatenate([[0.0], grid, near[near > 0]]))


def channel_scales(peak: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Factors for outputs and inputs with which every channel's largest response is one.

    Args:
        peak: largest response of each output to each input.
    """
    rows, columns = np.ones(peak.shape[0]), np.ones(peak.shape[1])

    def inverse(x: np.ndarray) -> np.ndarray:
        return np.where(x > 0, 1.0 / np.where(x > 0, x, 1.0), 1.0)

    for _ in range(6):
        rows = inverse((peak * columns).max(axis=1, initial=0.0))
        columns = inverse((peak * rows[:, None]).max(axis=0, initial=0.0))
    return rows, columns


def scaled_channels(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Channel scale factors of a stable system."""
    if A.shape[0] == 0:
        return np.ones(C.shape[0]), np.ones(B.shape[1])
    return channel_scales(np.abs(response(A, B, C, frequencies(A))).max(axis=0))


def reduced(
    A: np.ndarray, B: np.ndarray, C: np.ndarray, order: int | None, error: float | None
) -> Reduced:
    """Balanced truncation of the part that decays; the drifting part is kept exactly.

    Inputs and outputs are scaled so that the largest response of each is one; `error` is the
    largest singular value of the scaled difference over frequency.

    Args:
        A: state matrix.
        B: input matrix.
        C: output matrix.
        order: states in all; the smallest that keeps the error if not given.
        error: largest difference allowed; with an order, the error found is only reported.
    """
    parts = split_unrestrained(A, B, C)
    k = parts.unrestrained[0].shape[0]
    a, b, c = parts.decaying
    out, into = scaled_channels(a, b, c)
    scale = _diagonal_scale(a)
    a, b, c = a * scale / scale[:, None], b / scale[:, None] * into, c * scale * out[:, None]
    if a.shape[0] == 0 or not b.any() or not c.any():
        hankel = np.zeros(0)
        small, result, bound = (np.zeros((0, 0)), b[:0], c[:, :0]), 0.0, 0.0
    else:
        hankel, right, left = balance(a, b, c)
        omega = frequencies(a)
        full = response(a, b, c, omega)
        tail = 2 * np.append(np.cumsum(hankel[::-1])[::-1], 0.0)
        if order is not None:
            tried = [min(max(order - k, 0), hankel.size)]
        else:
            # no model of order r is better than the next Hankel singular value
            first = int((hankel > (error or 0.0)).sum())
            tried = range(first, hankel.size + 1)
        small, result, bound = truncate(a, b, c, right, left, 0), np.inf, np.inf
        for r in tried:
            small = truncate(a, b, c, right, left, r)
            result, bound = _largest_gap((a, b, c), small, omega, full), float(tail[r])
            if error is None or result <= error:
                break
    a, b, c = small[0], small[1] / into, small[2] / out[:, None]
    return Reduced(_joined(parts.unrestrained, (a, b, c)), k, result, bound, hankel)


def _largest_gap(one: StateSpace, two: StateSpace, omega: np.ndarray, known: np.ndarray) -> float:
    """Largest singular value of the difference of two responses, sharpened about its peak.

    Args:
        one: a system.
        two: another.
        omega: frequencies to look at first [rad/s].
        known: response of the first there.
    """
    size = np.linalg.norm(known - response(*two, omega), 2, axis=(1, 2))
    for _ in range(3):
        k = int(size.argmax())
        low, high = omega[max(k - 1, 0)], omega[min(k + 1, len(omega) - 1)]
        omega = np.linspace(low, high, 17)
        # the old peak is among the new points but for rounding
        size = np.linalg.norm(response(*one, omega) - response(*two, omega), 2, axis=(1, 2))
    return float(size.max())


def _joined(one: StateSpace, two: StateSpace) -> StateSpace:
    k, n = one[0].shape[0], two[0].shape[0]
    A = np.zeros((k + n, k + n))
    A[:k, :k], A[k:, k:] = one[0], two[0]
    return A, np.vstack([one[1], two[1]]), np.hstack([one[2], two[2]])


def reached(A: np.ndarray, B: np.ndarray, size: np.ndarray | None = None) -> np.ndarray:
    """Orthonormal basis of the states that the inputs can move.

    The states must be scaled so that unit steps compare; see `comparable`. Modes that decay are
    checked individually (a left eigenvector that no input touches is not moved), those with one
    eigenvalue together; the drifting part, which may lack eigenvectors, by a staircase.

    Args:
        A: state matrix.
        B: input matrix.
        size: of every input, that of its column if not given; much smaller is rounding.
    """
    from scipy.linalg import null_space

    n = A.shape[0]
    norm = np.linalg.norm(B, axis=0) if size is None else size
    B = B[:, norm > 0] / norm[norm > 0]
    if n == 0 or B.shape[1] == 0:
        return np.zeros((n, 0))
    parts = split_unrestrained(A, B, np.zeros((0, n)))
    slow, fast = parts.rows
    still = [null_space(_staircase(*parts.unrestrained[:2]).T).T @ slow]
    values, V = np.linalg.eig(parts.decaying[0])
    left = np.linalg.inv(V) @ fast
    todo = list(np.flatnonzero(np.imag(values) >= 0))
    while todo:
        near = [k for k in todo if abs(values[k] - values[todo[0]]) < SAME * abs(values[todo[0]])]
        todo = [k for k in todo if k not in near]
        W = np.linalg.qr(left[near].conj().T)[0].conj().T
        U, touch, _ = np.linalg.svd(W @ B)
        touch = np.append(touch, np.zeros(len(near)))[: len(near)]
        silent = U.conj().T[touch < REL_TOL] @ W
        still += [np.real(silent), np.imag(silent)]
    silent = np.concatenate(still)
    length = np.linalg.norm(silent, axis=1)
    silent = silent[length > REL_TOL] / length[length > REL_TOL, None]
    return null_space(silent, rcond=1e-6) if len(silent) else np.eye(n)


def _staircase(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Orthonormal basis of what B, A B, A^2 B ... span, for a few states."""
    n = A.shape[0]
    basis, new = np.zeros((n, 0)), B
    size = max(np.linalg.norm(A, 2) if n else 0.0, 1e-300)
    while new.shape[1] and basis.shape[1] < n:
        # twice, or rounding errors would pass for new directions
        for _ in range(2):
            new = new - basis @ (basis.T @ new)
        U, length, _ = np.linalg.svd(new, full_matrices=False)
        new = U[:, length > REL_TOL]
        basis = np.hstack([basis, new])
        new = A @ new / size
    return basis[:, :n]


def comparable(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, StateSpace]:
    """Scales of the states that make them comparable, and the scaled system."""
    scale = _diagonal_scale(A)
    B, C = B / scale[:, None], C * scale
    return scale, (A * scale / scale[:, None], B, C)


def minimal(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> StateSpace:
    """Minimal realisation: the controllable and observable part."""
    _, (A, B, C) = comparable(A, B, C)
    Q = reached(A, B)
    size = np.linalg.norm(C, axis=1)
    A, B, C = Q.T @ A @ Q, Q.T @ B, C @ Q
    Q = reached(A.T, C.T, size)
    return Q.T @ A @ Q, Q.T @ B, C @ Q


def zero_order_hold(A: np.ndarray, B: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """The same system sampled, its inputs held over each step (exact)."""
    from scipy.linalg import expm

    n, m = B.shape
    both = np.zeros((n + m, n + m))
    both[:n, :n], both[:n, n:] = A, B
    both = expm(both * step)
    return both[:n, :n], both[:n, n:]
