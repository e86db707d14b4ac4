"""Cubic splines of numpy arrays, as scipy has them, without the time that its import takes."""

from __future__ import annotations

import numpy as np


class CubicSpline:
    r"""Twice continuously differentiable cubics through data along the first axis.

    The third derivative does not jump at the second and the last but one place ("not-a-knot").
    With h the spacings and d the slopes of the data the derivatives s follow from

    .. math:: h_i s_{i-1} + 2 (h_{i-1} + h_i) s_i + h_{i-1} s_{i+1}
              = 3 (h_i d_{i-1} + h_{i-1} d_i)

    and a row at either end (de Boor, A Practical Guide to Splines, 1978, chapter IV). Beyond the
    data the outermost cubics go on. Two points give a line, three a parabola.

    Args:
        x: places, growing (k,).
        y: real data there (k, ...).
    """

    def __init__(self, x: np.ndarray, y: np.ndarray) -> None:
        self.x = x = np.asarray(x, float)
        y = np.asarray(y, float)
        h = np.diff(x).reshape(-1, *(1,) * (y.ndim - 1))
        d = np.diff(y, axis=0) / h
        s = _derivatives(h, d)
        t = (s[:-1] + s[1:] - 2.0 * d) / h
        self.c = np.stack([t / h, (d - s[:-1]) / h - t, s[:-1], y[:-1]])

    def __call__(self, at: np.ndarray) -> np.ndarray:
        """Values (k, ...) at points (k,)."""
        i = np.clip(np.searchsorted(self.x, at, side="right") - 1, 0, len(self.x) - 2)
        past = (at - self.x[i]).reshape(-1, *(1,) * (self.c.ndim - 2))
        a, b, c, d = self.c[:, i]
        return ((a * past + b) * past + c) * past + d


def _derivatives(h: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Derivatives at the points, from spacings and slopes."""
    if len(d) == 1:
        return np.concatenate([d, d])
    if len(d) == 2:
        middle = (h[1] * d[0] + h[0] * d[1]) / (h[0] + h[1])
        return np.stack([2.0 * d[0] - middle, middle, 2.0 * d[1] - middle])
    first, last = h[0] + h[1], h[-2] + h[-1]
    below = [*h[1:], last]
    diagonal = [h[1], *(2.0 * (h[:-1] + h[1:])), h[-2]]
    above = [first, *h[:-1]]
    right = [
        ((h[0] + 2.0 * first) * h[1] * d[0] + h[0] ** 2 * d[1]) / first,
        *(3.0 * (h[1:] * d[:-1] + h[:-1] * d[1:])),
        (h[-1] ** 2 * d[-2] + (2.0 * last + h[-1]) * h[-2] * d[-1]) / last,
    ]
    # one row after another is eliminated, and found again from the last
    for i, lower in enumerate(below):
        factor = lower / diagonal[i]
        diagonal[i + 1] = diagonal[i + 1] - factor * above[i]
        right[i + 1] = right[i + 1] - factor * right[i]
    right[-1] = right[-1] / diagonal[-1]
    for i in reversed(range(len(above))):
        right[i] = (right[i] - above[i] * right[i + 1]) / diagonal[i]
    return np.stack(right)
