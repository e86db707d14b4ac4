"""Other roads from radiation data to a state space, for comparison."""

import warnings
from collections.abc import Callable

import numpy as np

from swelltree.describe.errors import SwelltreeWarning
from swelltree.hydro.radiation.data import RadiationData
from swelltree.hydro.radiation.memory import radiation_kernel
from swelltree.hydro.radiation.reduction import (
    StateSpace,
    balance,
    hankel_identify,
    realise,
    response,
    truncate,
)
from swelltree.hydro.radiation.symmetry import linked
from swelltree.hydro.radiation.vector_fitting import vector_fit
from swelltree.jit import Array


def vector_fitted(omega: Array, K: Array, n_poles: int, weight: Array | None = None) -> StateSpace:
    """Common-pole model of a symmetric matrix, not reduced."""
    m = K.shape[1]
    i, j = np.triu_indices(m)
    factor = np.where(i == j, 1.0, np.sqrt(2.0))
    poles, residues = vector_fit(omega, K[:, i, j] * factor, n_poles, weight=weight)
    R = np.zeros((poles.size, m, m), dtype=complex)
    R[:, i, j] = residues / factor
    R[:, j, i] = residues / factor
    return realise(poles, R)


def balanced(
    data: RadiationData, error: float, limit: int, entry_order: int
) -> tuple[StateSpace, Array | None, list[str]]:
    """Vector fitting with enough poles for half the error, then the smallest balanced order."""
    most = max(4, min(24, data.omega.size // 2))
    n_poles, fitted, full = 4, np.inf, vector_fitted(data.omega, data.K, 4, data.weight)
    while (fitted := data.error(response(*full, data.omega))) > error / 2 and n_poles + 2 <= most:
        n_poles += 2
        full = vector_fitted(data.omega, data.K, n_poles, data.weight)
    A, B, C = full
    sigma, right, left = balance(A, B, C)
    reduced = full
    for order in range(2, min(limit, sigma.size) + 1, 2):
        reduced = truncate(A, B, C, right, left, order)
        if data.error(response(*reduced, data.omega)) <= error:
            break
    return reduced, None, [f"vector fitting with {n_poles} poles: error {100 * fitted:.2g} %."]


def era(
    data: RadiationData, error: float, limit: int, entry_order: int
) -> tuple[StateSpace, Array | None, list[str]]:
    """Hankel singular values of the kernel matrix, smallest order that reaches the error."""
    step, K, notes = _kernel(data)
    best: tuple[float, StateSpace, int] | None = None
    tried = sorted({min(limit, n) for n in (4, 8, 12, 18, 24, 36, 48, 72, 96, limit)})
    for order in tried:
        model, changed = hankel_identify(step, K, order)
        result = data.error(response(*model, data.omega))
        if best is None or result < best[0]:
            best = (result, model, changed)
        if result <= error:
            break
    assert best is not None
    if best[2]:
        notes.append(f"{best[2]} growing modes of the Hankel method were mirrored or dropped.")
    return best[1], None, notes


def kristiansen(
    data: RadiationData, error: float, limit: int, entry_order: int
) -> tuple[StateSpace, Array | None, list[str]]:
    """Hankel singular values of each entry by itself (Kristiansen and Egeland 2003)."""
    step, K, notes = _kernel(data)

    def fit(i: int, j: int) -> StateSpace:
        return hankel_identify(step, K[:, i : i + 1, j : j + 1], entry_order)[0]

    return _entries(data, fit), None, notes


def per_entry(
    data: RadiationData, error: float, limit: int, entry_order: int
) -> tuple[StateSpace, Array | None, list[str]]:
    """Vector fitting of each entry by itself."""

    def fit(i: int, j: int) -> StateSpace:
        return vector_fitted(data.omega, data.K[:, i : i + 1, j : j + 1], entry_order, data.weight)

    return _entries(data, fit), None, []


def _entries(data: RadiationData, fit: Callable[[int, int], StateSpace]) -> StateSpace:
    """One small model per pair of DOFs that radiate together."""
    parts: list[tuple[int, int, StateSpace]] = []
    for group in linked(data.K):
        for i in group:
            for j in group:
                if j >= i:
                    model = fit(i, j)
                    parts.append((i, j, model))
                    if i != j:
                        parts.append((j, i, model))
    m, k = data.scale.size, sum(p[2][0].shape[0] for p in parts)
    A, B, C, at = np.zeros((k, k)), np.zeros((k, m)), np.zeros((m, k)), 0
    for i, j, (a, b, c) in parts:
        rows = slice(at, at + a.shape[0])
        A[rows, rows], B[rows, j], C[i, rows] = a, b[:, 0], c[0]
        at += a.shape[0]
    return A, B, C


def _kernel(data: RadiationData) -> tuple[float, Array, list[str]]:
    """Samples of the scaled kernel for the Hankel methods."""
    step = np.pi / data.omega[-1] / 4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwelltreeWarning)
        kernel = radiation_kernel(data.omega, data.K.real, step=step)
    return step, kernel.values, list(kernel.notes)
