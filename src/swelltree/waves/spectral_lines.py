r"""Sums of many spectral lines on a uniform time grid by one fast Fourier transform.

.. math:: f(t_n) = \sum_l c_l\, e^{-i\mu_l t_n}, \qquad t_n = n h

The lines need not be evenly spaced. Each is spread by a Gaussian over 24 points of a grid twice
as fine, one transform adds all of them, and a known factor takes the Gaussian away again
(Greengard and Lee 2004): L lines at T times cost O(L + T log T) in place of O(L T).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

BLOCK = 4096  # times that are summed by one transform
ROWS = 512  # times that are summed together directly
SPREAD = 12  # points on either side of a line: about twelve digits
PRODUCT_LIMIT = (
    1000  # lines up to which a product of matrices is quicker than a transform: measured
)
BLOCK_ROWS = 16  # of the matrix that a block is seen as: measured


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
    """Real part of the sum of all lines at the times 0, h, 2h ... (count, m).

    In blocks of one length, so that little more memory is needed than for the sum itself: what a
    time gets does not depend on how many come after it, to the last digit.
    """
    result = np.zeros((count + -count % BLOCK, c.shape[1]))
    columns = [m for m in range(c.shape[1]) if np.any(c[:, m])]
    of_block = (
        _few(mu, c[:, columns], step)
        if len(mu) <= PRODUCT_LIMIT
        else _many(mu, c[:, columns], step)
    )
    for first in range(0, count, BLOCK) if columns else ():
        result[first : first + BLOCK, columns] = of_block(first)
    return result[:count]


def _few(mu: np.ndarray, c: np.ndarray, step: float) -> Callable[[int], np.ndarray]:
    r"""One product of matrices per block: with :math:`t = t_k + \tau`, rows and columns of a block,

    .. math:: \mathrm{Re} \sum_l (c_l e^{-i\mu_l t_k})\, e^{-i\mu_l \tau}
    """
    columns = BLOCK // BLOCK_ROWS
    within = np.exp(-1j * np.outer(mu, step * np.arange(columns)))
    right = np.concatenate([np.real(within), -np.imag(within)])

    def of_block(first: int) -> np.ndarray:
        begin = np.exp(-1j * np.outer(step * (first + columns * np.arange(BLOCK_ROWS)), mu))
        left = begin[:, None, :] * c.T  # (row, m, line)
        rows = np.concatenate([np.real(left), np.imag(left)], axis=-1).reshape(-1, len(right))
        part = (rows @ right).reshape(BLOCK_ROWS, c.shape[1], columns)
        return part.transpose(0, 2, 1).reshape(BLOCK, -1)

    return of_block


def _many(mu: np.ndarray, c: np.ndarray, step: float) -> Callable[[int], np.ndarray]:
    """One transform per block and column."""

    def of_block(first: int) -> np.ndarray:
        phase = np.exp(-1j * mu * step * first)
        parts = [summed(mu, (x * phase)[:, None], step, BLOCK)[:, 0] for x in c.T]
        return np.real(np.stack(parts, axis=1))

    return of_block


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
