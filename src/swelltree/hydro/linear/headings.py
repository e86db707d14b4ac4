r"""Between the headings of the data: the smoothest periodic curve through them.

A force with its phase at the body is a smooth periodic function of the heading: its first
harmonics hold nearly all of it. The curve through the data at :math:`\beta_j` is

.. math:: f(\beta) = \sum_{m \le h} \left(a_m \cos m\beta + b_m \sin m\beta\right)
          + \sum_j c_j\, B_6\!\left(\frac{\beta - \beta_j}{2\pi} \bmod 1\right),
          \qquad \sum_j c_j \cos m\beta_j = \sum_j c_j \sin m\beta_j = 0,

with the Bernoulli polynomial B_6: a periodic spline of fifth degree that has the harmonics up to h
exactly (Wahba 1990, ch. 2). Even headings all around give the trigonometric interpolation; a part
of the circle gives a spline that is exact for a small or a round body. It is linear in the data,
so that forces, mean drift and transfer functions use the same weights.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.jit import Array, namespace, pytree

TURN = 2.0 * np.pi
SAME = 1e-6  # rad: headings nearer than this are one
ALWAYS = 2  # harmonics kept exactly, however small the part of the circle
# of the forces: a larger error at left-out headings is reported. Without one the gap is doubled; on
# a barge the curve then missed 5 to 30 times as much as it does between all headings
TOO_COARSE = 0.2
MANY = 40  # frequencies at which headings are left out


@pytree("harmonics")
class Headings:
    """Headings of data and the interpolating curve through them."""

    first: Array  # rad, where the covered range begins
    covered: Array  # rad, its length; a whole turn when the data go all around
    nodes: Array  # (u,) rad, every heading once
    to_curve: Array  # (u + 1 + 2 harmonics, d) data to coefficients of the curve
    harmonics: int


def headings_of(direction: np.ndarray) -> Headings:
    """The curve through data at headings in any order.

    Args:
        direction: headings of the data [rad]; one that comes twice counts once.
    """
    direction = np.asarray(direction, float)
    _, once = np.unique(np.round((direction % TURN) / SAME) % round(TURN / SAME), return_index=True)
    once = once[np.argsort(direction[once] % TURN)]
    known = direction[once] % TURN
    gaps = np.diff(np.append(known, known[0] + TURN))
    # begin after the widest gap, so that headings on both sides of zero are one range
    first = (int(gaps.argmax()) + 1) % len(known)
    nodes = known[first] + (np.roll(known, -first) - known[first]) % TURN
    closed = len(nodes) > 1 and gaps.max() <= 1.01 * np.sort(gaps)[: max(1, len(gaps) - 1)].max()
    covered = TURN if closed else float(nodes[-1] - nodes[0])
    most = (len(nodes) - 1) // 2
    harmonics = min(most, max(ALWAYS, int(np.pi / gaps.max() - 1e-6) if closed else 0))
    T = _harmonics(np, nodes, harmonics)
    K = _bernoulli(np, nodes[:, None] - nodes)
    full = np.block([[K, T], [T.T, np.zeros((T.shape[1], T.shape[1]))]])
    unit = np.zeros((len(full), len(direction)))
    unit[np.arange(len(nodes)), np.roll(once, -first)] = 1.0
    to_curve = np.linalg.solve(full, unit)
    return Headings(np.array(nodes[0]), np.array(covered), nodes, to_curve, harmonics)


def basis(headings: Headings, beta: Array) -> Array:
    """Functions whose sum with the coefficients of the curve is its value (..., k)."""
    xp = namespace(beta)
    bumps = _bernoulli(xp, beta[..., None] - xp.asarray(headings.nodes))
    return xp.concatenate([bumps, _harmonics(xp, beta, headings.harmonics)], axis=-1)


def within(headings: Headings, beta: Array) -> Array:
    """Headings clipped to the range of the data [rad]."""
    xp = namespace(beta)
    past = (beta - headings.first) % TURN
    # beyond the middle of the gap the beginning is nearer
    past = xp.where(past > 0.5 * (headings.covered + TURN), 0.0, xp.minimum(past, headings.covered))
    return headings.first + past


def heading_weights(
    direction: np.ndarray, beta: np.ndarray, what: str = "hydro data"
) -> np.ndarray:
    """Weights (c, d) of the data at the wanted headings.

    Args:
        direction: headings of the data, in any order [rad].
        beta: wanted headings [rad].
        what: name of the data, for the message when a heading is outside them.
    """
    direction = np.asarray(direction, float)
    beta, back = np.unique(np.asarray(beta, float), return_inverse=True)
    headings = headings_of(direction)
    off = _apart(beta[:, None], direction)
    nearest, on_one = off.argmin(axis=1), off.min(axis=1) < SAME
    _check_covered(headings, direction, beta[~on_one], what)
    weights = basis(headings, beta) @ headings.to_curve
    weights[on_one] = np.eye(len(direction))[nearest[on_one]]
    return weights[back]


def _check_covered(headings: Headings, direction: np.ndarray, beta: np.ndarray, what: str) -> None:
    past = (beta - float(headings.first)) % TURN
    if not (past > float(headings.covered)).any():
        return
    worst = beta[past.argmax()]
    if len(headings.nodes) == 1:
        raise SwelltreeError(
            f"the wave has heading {worst:.4g} rad, but the {what} hold only "
            f"{direction[0]:.4g} rad. Compute data for that wave_direction."
        )
    raise SwelltreeError(
        f"the wave has heading {worst:.4g} rad, outside the {what}'s "
        f"{direction.min():.4g} to {direction.max():.4g} rad. Compute data for it, or give "
        "sw.mirror_headings(data) where port and starboard are the same."
    )


def left_out_error(direction: np.ndarray, values: np.ndarray) -> float:
    """How far the curve through the other headings misses each, of the size of the values.

    Args:
        direction: headings of the data [rad].
        values: (f, d, 6N), real or complex; DOFs of one kind are measured together.

    Returns:
        Root mean square over frequencies and headings, of the worst DOF; nan when no heading
        lies between others.
    """
    direction = np.asarray(direction, float)
    headings = headings_of(direction)
    used = [int(row.argmax()) for row in np.abs(heading_weights(direction, headings.nodes))]
    inner = used if float(headings.covered) >= TURN else used[1:-1]
    if len(used) < 3 or not inner:
        return float("nan")
    missed, size = np.zeros(values.shape[2]), np.zeros(values.shape[2])
    for j in inner:
        others = [i for i in used if i != j]
        curve = headings_of(direction[others])
        weights = basis(curve, direction[[j]]) @ curve.to_curve
        off = np.tensordot(values[:, others], weights[0], (1, 0)) - values[:, j]
        missed += (np.abs(off) ** 2).sum(axis=0)
        size += (np.abs(values[:, j]) ** 2).sum(axis=0)
    # a DOF that hardly feels waves is measured by its like: forces, moments
    size = size.reshape(-1, 2, 3)
    size = np.maximum(size, 0.01 * size.max(axis=(0, 2), keepdims=True)).reshape(-1)
    return float(np.sqrt(missed / np.where(size > 0, size, 1.0)).max(initial=0.0))


def warn_coarse(direction: Array, values: np.ndarray, beta: np.ndarray, what: str) -> None:
    """Warn when headings between those of the data are wanted and the data are too coarse.

    Args:
        direction: headings of the data [rad].
        values: (f, d, 6N) of the waves, with their amplitudes where those are known.
        beta: wanted headings [rad].
        what: name of the data.
    """
    if not len(values) or not len(beta):
        return
    off = _apart(np.asarray(beta)[:, None], np.asarray(direction)).min(axis=1)
    if not (off > SAME).any():
        return
    error = left_out_error(np.asarray(direction), values[:: max(1, len(values) // MANY)])
    requested = np.degrees(np.asarray(beta)[int(off.argmax())])
    start = f"the waves' heading of {requested:.4g} degrees lies between those of the {what}"
    if np.isnan(error):
        text = f"{start}, which are too few to check what is between them."
    elif error > TOO_COARSE:
        text = f"{start}, which miss a heading that is left out by {error:.1%} of the forces."
    else:
        return
    more = "Compute more headings, or use one of the data."
    warn_user(f"{text} {more}")


def _apart(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Angle between headings, along the shorter arc [rad]."""
    return np.abs((one - other + np.pi) % TURN - np.pi)


def _bernoulli(xp: ModuleType, angle: Array) -> Array:
    x = (angle / TURN) % 1.0
    x = xp.minimum(x, 1.0 - x)  # even; the difference is only round-off
    return x**6 - 3.0 * x**5 + 2.5 * x**4 - 0.5 * x**2


def _harmonics(xp: ModuleType, angle: Array, count: int) -> Array:
    rows = [xp.ones_like(angle)]
    for m in range(1, count + 1):
        rows += [xp.cos(m * angle), xp.sin(m * angle)]
    return xp.stack(rows, axis=-1)


def middle(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Mean of two headings along the shorter arc [rad]."""
    return first + 0.5 * ((second - first + np.pi) % TURN - np.pi)
