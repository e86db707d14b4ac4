"""Where the nodes of a cable are as described: straight, or hanging where it is slack."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float


def onto(direction: Float[np.ndarray, " 3"]) -> Float[np.ndarray, "3 3"]:
    """Rotation without twist that turns the z axis into a direction."""
    x, y, z = direction / np.linalg.norm(direction)
    if z < -1.0 + 1e-9:
        return np.diag([1.0, -1.0, -1.0])
    f = 1.0 / (1.0 + z)
    return np.array(
        [[1.0 - f * x * x, -f * x * y, x], [-f * x * y, 1.0 - f * y * y, y], [-x, -y, z]]
    )


def described_nodes(
    a: Float[np.ndarray, " 3"], b: Float[np.ndarray, " 3"], lengths: Float[np.ndarray, " n"]
) -> Float[np.ndarray, "m 3"]:
    """Nodes from A to B: on the straight, stretched evenly, or on the catenary if it is slack.

    Args:
        a: end A [m].
        b: end B [m].
        lengths: unstretched lengths of the elements [m].
    """
    s = np.concatenate([[0.0], np.cumsum(lengths)])
    gap = b - a
    whole = s[-1]
    if np.linalg.norm(gap) >= whole * (1.0 - 1e-9):
        return a + gap * (s / whole)[:, None]
    across = np.array([gap[0], gap[1], 0.0])
    span = float(np.linalg.norm(across))
    # ends above each other: two legs a little apart
    least = 1e-3 * whole
    way = across / span if span > 1e-9 * whole else np.array([1.0, 0.0, 0.0])
    return a + _catenary(s, max(span, least), float(gap[2]), span, way)


def _catenary(s: np.ndarray, span: float, rise: float, true_span: float, way: np.ndarray):
    """Points at distances s along an inextensible catenary, from its first end."""
    whole = s[-1]
    goal = np.sqrt(max(whole**2 - rise**2, span**2 * (1.0 + 1e-12))) / span
    low, high = 1e-9, 40.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.sinh(middle) / middle < goal else (low, middle)
    c = 0.5 * span / (0.5 * (low + high))  # radius at the lowest point
    lowest = 0.5 * span - c * np.arctanh(rise / whole)  # from the first end
    begin = c * np.sinh(-lowest / c)  # distance of the first end from the lowest point
    x = lowest + c * np.arcsinh((s + begin) / c)
    z = c * np.cosh((x - lowest) / c) - c * np.cosh(lowest / c)
    # the ends themselves are met exactly
    share = s / whole
    x = x + share * (true_span - x[-1])
    z = z + share * (rise - z[-1])
    return x[:, None] * way + z[:, None] * np.array([0.0, 0.0, 1.0])
