r"""Fourier series in time: a mean and N harmonics, no Nyquist term.

.. math:: x(t) = x_0 + \sum_{k=1}^N a_k \cos k\omega t + b_k \sin k\omega t

Coefficients are rows in the order mean, cosines, sines. Values are taken at equidistant nodes,
more of them than coefficients, so that products of series are projected back without aliasing.
"""

from __future__ import annotations

import functools

import numpy as np

from swelltree.jit import Array, namespace, pytree

BY_MATRIX = 25  # harmonics up to which products with matrices beat the Fourier transform


@pytree("harmonics")
class Basis:
    """Period, nodes, and matrices between coefficients and values."""

    omega: Array  # rad/s, fundamental frequency
    time: Array  # (nodes,) s
    harmonics: int  # N

    def _matrices(self) -> tuple[np.ndarray, ...]:
        return _matrices(float(self.omega), self.harmonics, self.time.shape[0])

    @property
    def value(self) -> np.ndarray:
        """(nodes, 2N + 1)."""
        return self._matrices()[0]

    @property
    def rate(self) -> np.ndarray:
        """(nodes, 2N + 1)."""
        return self._matrices()[1]

    @property
    def second(self) -> np.ndarray:
        """(nodes, 2N + 1)."""
        return self._matrices()[2]

    @property
    def project(self) -> np.ndarray:
        """(2N + 1, nodes) coefficients of values."""
        return self._matrices()[3]


def basis(period: float, harmonics: int, nodes: int | None = None) -> Basis:
    """Series of a period.

    Args:
        period: [s].
        harmonics: N.
        nodes: number of equidistant nodes, at least 2N + 1; twice as many as coefficients, or a
            few more for the Fourier transform, if not given.
    """
    count = good_size(2 * (2 * harmonics + 1)) if nodes is None else nodes
    return Basis(np.array(2.0 * np.pi / period), period * np.arange(count) / count, harmonics)


@functools.lru_cache(maxsize=8)
def _matrices(omega: float, harmonics: int, count: int) -> tuple[np.ndarray, ...]:
    """Matrices of values, rates, second rates and projection, cached."""
    k = np.arange(1, harmonics + 1) * omega
    # all angles are multiples of one
    angle = np.outer(np.arange(count), np.arange(1, harmonics + 1)) % count
    turn = 2.0 * np.pi * np.arange(count) / count
    cos, sin = np.cos(turn)[angle], np.sin(turn)[angle]
    one = np.ones((count, 1))
    value = np.concatenate([one, cos, sin], axis=1)
    rate = np.concatenate([0.0 * one, -k * sin, k * cos], axis=1)
    second = np.concatenate([0.0 * one, -(k**2) * cos, -(k**2) * sin], axis=1)
    project = value.T * np.where(np.arange(2 * harmonics + 1) == 0, 1.0, 2.0)[:, None] / count
    return value, rate, second, project


def at_nodes(basis: Basis, coefficients: Array) -> tuple[Array, Array, Array]:
    """Values, rates and second rates at the nodes (nodes, u) of a series (2N + 1, u)."""
    n, count = basis.harmonics, basis.time.shape[0]
    if n <= BY_MATRIX * (2 if coefficients.shape[1] == 1 else 1):
        return tuple(m @ coefficients for m in (basis.value, basis.rate, basis.second))
    xp = namespace(coefficients)
    # a cos + b sin = Re[(a - i b) exp(+iwt)]
    cos, sin = coefficients[1 : n + 1], coefficients[n + 1 :]
    hat = 0.5 * count * xp.concatenate([2.0 * coefficients[:1] + 0j, cos - 1j * sin])
    spin = 1j * basis.omega * np.arange(n + 1)[:, None]
    return tuple(xp.fft.irfft(x, n=count, axis=0) for x in (hat, spin * hat, spin**2 * hat))


def to_coefficients(basis: Basis, values: Array) -> Array:
    """Series (2N + 1, u) by least squares from values at the nodes (nodes, u)."""
    n, count = basis.harmonics, basis.time.shape[0]
    if n <= BY_MATRIX:
        return basis.project @ values
    xp = namespace(values)
    hat = xp.fft.rfft(values, axis=0)[: n + 1] / count
    return xp.concatenate([hat[:1].real, 2.0 * hat[1:].real, -2.0 * hat[1:].imag])


def good_size(least: int) -> int:
    """The smallest number 4, 5 or 6 times a power of two above a minimum."""
    power = 2 ** max(int(np.ceil(np.log2(max(least, 1) / 8))), 0)
    return min(k * power for k in (4, 5, 6, 8) if k * power >= least)


def to_complex(coefficients: Array) -> Array:
    """Complex amplitudes (N + 1, ...) with x = Re sum X_k exp(-i k omega t), the mean first."""
    n = (coefficients.shape[0] - 1) // 2
    cos, sin = coefficients[1 : n + 1], coefficients[n + 1 :]
    return namespace(coefficients).concatenate([coefficients[:1] + 0j, cos + 1j * sin])


def from_complex(amplitudes: Array) -> np.ndarray:
    """Coefficients (2N + 1, ...) of complex amplitudes."""
    parts = [np.real(amplitudes[:1]), np.real(amplitudes[1:]), np.imag(amplitudes[1:])]
    return np.concatenate(parts)
