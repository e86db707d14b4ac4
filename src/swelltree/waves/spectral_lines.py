r"""Sums of many spectral lines on a uniform time grid.

.. math:: f(t_n) = \sum_l c_l\, e^{-i\mu_l t_n}, \qquad t_n = n h

The lines need not be evenly spaced. `real_sum` adds them at the Chebyshev nodes of groups of times
and interpolates. `summed` spreads each line by a Gaussian over 24 points of a grid twice as fine,
one fast Fourier transform adds all of them, and a known factor takes the Gaussian away again
(Greengard and Lee 2004): L lines at T times cost O(L + T log T) in place of O(L T).
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.polynomial import chebyshev

ROWS = 512  # times that are summed together directly
SPREAD = 12  # points on either side of a line: about twelve digits
GROUP = 256  # times on one polynomial: measured
GROUPS = 8  # that are summed together: measured


def gridded(x: np.ndarray, c: np.ndarray, count: int) -> np.ndarray:
    """Lines at the angles x spread over 2 count points of the circle, (2 count, ...)."""
    size, n = 2 * count, c.shape[1]
    tau = np.pi * SPREAD / (3.0 * count**2)
    spacing = 2.0 * np.pi / size
    nearest = np.floor(x / spacing).astype(int)
    out = np.zeros((n, size), dtype=complex)
    for k in range(1 - SPREAD, SPREAD + 1):
        weight = np.exp(-((x - spacing * (nearest + k)) ** 2) / (4.0 * tau))
        where = (nearest + k) % size
        for m in range(n):
            row = weight * c[:, m]
            out[m] += np.bincount(where, np.real(row), size)
            out[m] += 1j * np.bincount(where, np.imag(row), size)
    return out.T


def ungridded(grid: np.ndarray, count: int) -> np.ndarray:
    """Values at the times 0 ... count - 1 of lines spread by `gridded`, (count, ...)."""
    tau = np.pi * SPREAD / (3.0 * count**2)
    k = np.arange(count) - count // 2
    result = np.fft.fft(grid, axis=0)[k % len(grid)] / len(grid)
    return np.sqrt(np.pi / tau) * np.exp(tau * k**2)[:, None] * result


def summed(mu: np.ndarray, c: np.ndarray, step: float, count: int) -> np.ndarray:
    """The sum of all lines at the times 0, h, 2h ..., complex (count, ...).

    Args:
        mu: frequency of each line [rad/s], of either sign.
        c: complex amplitudes (line, ...).
        step: h [s]; lines beyond its Nyquist frequency appear at their alias, as in samples.
        count: number of times, even.
    """
    return ungridded(gridded(*centred(mu, c, step, count), count), count)


def real_sum(mu: np.ndarray, c: np.ndarray, step: float, count: int) -> np.ndarray:
    """Real part of the sum of all lines at the times 0, h, 2h ... (count, m)."""
    return _sums(mu, c, step, count, kinds=1)[0]


def sum_and_rate(
    mu: np.ndarray, c: np.ndarray, step: float, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """`real_sum` and its derivative with respect to time, (count, m) each."""
    force, rate = _sums(mu, c, step, count, kinds=2)
    return force, rate


def _sums(mu: np.ndarray, c: np.ndarray, step: float, count: int, kinds: int) -> np.ndarray:
    r"""Values and, if there are two kinds, rates at the times 0, h, 2h ... (kind, count, m).

    The times form groups of one length. With :math:`t = t_k + \tau` in group k,

    .. math:: \mathrm{Re} \sum_l e^{-i\mu_l \tau} (c_l e^{-i\mu_l t_k})

    is a product of matrices. Lines that are slow compared with the steps are summed at the few
    Chebyshev nodes of each group; the polynomial through these has all other values, and the rates.
    """
    blocks = -(-count // (GROUP * GROUPS))
    result = np.zeros((kinds, blocks * GROUP * GROUPS, c.shape[1]))
    columns = np.flatnonzero(np.any(c, axis=0))
    part, m = c[:, None, columns], len(columns)
    # evenly spaced columns, as those of bodies in a plane, are written in one pass
    into = slice(None) if m == c.shape[1] else columns
    if m > 1 and len(set(np.diff(columns))) == 1:
        into = slice(columns[0], columns[-1] + 1, columns[1] - columns[0])
    half = 0.5 * (GROUP - 1) * step
    nodes = _node_count(half * np.abs(mu).max(initial=0.0))
    if nodes < GROUP:
        x, *matrices = _polynomial(nodes)
        matrices[1] = matrices[1] / half
        parts = [_of_lines(np.exp(-1j * np.outer(half * (1.0 + x), mu)))]
    else:
        value = np.exp(-1j * np.outer(step * np.arange(GROUP), mu))
        parts, matrices = [_of_lines(value)], []
        if kinds == 2:
            parts.append(_of_lines(-1j * mu * value))
    for block in range(blocks) if m else ():
        first = block * GROUPS
        begin = np.exp(-1j * np.outer(mu, step * GROUP * np.arange(first, first + GROUPS)))
        lines = begin[:, :, None] * part
        lines = np.concatenate([np.real(lines), np.imag(lines)]).reshape(2 * len(mu), -1)
        # products of one shape: their rounding depends neither on the number of times nor of kinds
        sums = [of_lines @ lines for of_lines in parts]
        for kind in range(kinds):
            rows = matrices[kind] @ sums[0] if matrices else sums[kind]
            there = result[kind, first * GROUP : (first + GROUPS) * GROUP]
            rows = rows.reshape(GROUP, GROUPS, m).transpose(1, 0, 2)
            there.reshape(GROUPS, GROUP, -1)[:, :, into] = rows
    return result[:, :count]


def _of_lines(phasors: np.ndarray) -> np.ndarray:
    """Matrix from real and imaginary parts of lines to the real part of their sum."""
    return np.hstack([np.real(phasors), -np.imag(phasors)])


def _node_count(phase: float) -> int:
    """Nodes that resolve exp(i phase x) for -1 <= x <= 1 to about twelve digits."""
    return int(np.ceil(phase + 7.0 * np.cbrt(phase) + 12.0))


@functools.lru_cache(maxsize=64)
def _polynomial(nodes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Chebyshev nodes, and the matrices from values there to values and slopes at the times."""
    angle = np.pi * (np.arange(nodes) + 0.5) / nodes
    coefficients = np.cos(np.outer(np.arange(nodes), angle)) * (2.0 / nodes)
    coefficients[0] *= 0.5
    at = np.linspace(-1.0, 1.0, GROUP)
    value = chebyshev.chebvander(at, nodes - 1) @ coefficients
    slope = chebyshev.chebvander(at, nodes - 2) @ chebyshev.chebder(coefficients)
    return np.cos(angle), value, slope


def centred(
    mu: np.ndarray, c: np.ndarray, step: float, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Angle per step of each line, in [0, 2 pi), and its amplitude at the middle of the grid."""
    x = (mu * step) % (2.0 * np.pi)
    return x, c * np.exp(-1j * x * (count // 2))[:, None]


def synthesised(t: np.ndarray, omega: np.ndarray, F: np.ndarray) -> np.ndarray:
    """Real part of sum F exp(-i omega t) at many times, in blocks of bounded memory."""
    # blocks of one size: what a time gets does not depend on how many come after it
    padded = np.pad(t, (0, -len(t) % ROWS))
    out = np.empty((len(padded), F.shape[1]))
    parts = np.concatenate([np.real(F), np.imag(F)])
    for first in range(0, len(padded), ROWS):
        angle = np.outer(padded[first : first + ROWS], omega)
        # Re[F exp(-i angle)] in real numbers
        turned = np.concatenate([np.cos(angle), np.sin(angle)], axis=1)
        out[first : first + ROWS] = turned @ parts
    return out[: len(t)]
