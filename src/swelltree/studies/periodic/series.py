"""Products of slopes at nodes with series, without work for slopes that are the same everywhere."""

from __future__ import annotations

import functools

import numpy as np

from swelltree.integrate.fourier import Basis
from swelltree.jit import Tree


def derivative(basis: Basis, order: int) -> Tree:
    """Rows, columns and numbers of the matrix from coefficients to those of a derivative."""
    N = basis.harmonics
    k, w = np.arange(1, N + 1), float(basis.omega) * np.arange(1, N + 1)
    if order == 0:
        every = np.arange(2 * N + 1)
        return every, every, np.ones(2 * N + 1)
    if order == 1:
        return np.concatenate([k, k + N]), np.concatenate([k + N, k]), np.concatenate([w, -w])
    both = np.concatenate([k, k + N])
    return both, both, -(np.concatenate([w, w]) ** 2)


@functools.lru_cache(maxsize=8)
def _places(harmonics: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Differences and sums of two harmonics, as places in a spectrum of so many values."""
    k = np.arange(harmonics + 1)
    return (k[:, None] - k) % count, (k[:, None] + k) % count


def mean_products(basis: Basis, rho: np.ndarray) -> np.ndarray:
    """Means over the nodes of rho times two of the series' functions, (c, c), symmetric."""
    N, count = basis.harmonics, len(rho)
    minus, plus = _places(N, count)
    hat = 0.5 * np.fft.fft(rho) / count
    cos, sin = hat.real, -hat.imag  # half the means of rho cos(m w t), rho sin(m w t)
    less, more = cos[minus], cos[plus]
    out = np.empty((2 * N + 1, 2 * N + 1))
    out[: N + 1, : N + 1] = less + more
    out[N + 1 :, N + 1 :] = (less - more)[1:, 1:]
    out[N + 1 :, : N + 1] = (sin[minus] + sin[plus])[1:]
    out[: N + 1, N + 1 :] = out[N + 1 :, : N + 1].T
    return out


def differentiated(basis: Basis, x: np.ndarray, order: int) -> np.ndarray:
    """Coefficients, first axis, of a derivative of series."""
    if order == 0:
        return x
    rows, columns, numbers = derivative(basis, order)
    out = np.zeros_like(x)
    out[rows] = numbers.reshape(-1, *(1,) * (x.ndim - 1)) * x[columns]
    return out


def series_jacobian(basis: Basis, rho: np.ndarray) -> np.ndarray:
    """Slope of the coefficients of sum(rho_k y^(k)) in those of y, rho (nodes, orders)."""
    c = 2 * basis.harmonics + 1
    out = np.zeros((c, c))
    for k in range(rho.shape[1]):
        column = rho[:, k]
        rows, columns, numbers = derivative(basis, k)
        if (column == column[0]).all():
            if column[0] != 0.0:
                out[rows, columns] += column[0] * numbers
        else:
            means = mean_products(basis, column)
            means[1:] *= 2.0
            if k == 0:
                out += means
            else:
                out[:, columns] += means[:, rows] * numbers
    return out


class Steady:
    """Which arrays are the same at all nodes; those met before are known."""

    def __init__(self) -> None:
        self.met: dict[int, tuple[np.ndarray, bool, bool]] = {}

    def _look(self, x: np.ndarray) -> tuple[np.ndarray, bool, bool]:
        known = self.met.get(id(x))
        if known is None or known[0] is not x:
            while len(self.met) >= 16:
                self.met.pop(next(iter(self.met)))
            known = self.met[id(x)] = (x, bool((x == x[:1]).all()), bool(x.any()))
        return known

    def all(self, x: np.ndarray) -> bool:
        """Is x (nodes, ...) the same at all nodes?"""
        return self._look(x)[1]

    def any(self, x: np.ndarray) -> bool:
        """Is something in x not zero?"""
        return self._look(x)[2]
