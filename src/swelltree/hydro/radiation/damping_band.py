"""Radiation damping between and beyond the frequencies of the data."""

import itertools
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from swelltree.describe.errors import SwelltreeError
from swelltree.jit import Array
from swelltree.spatial.cubic_spline import CubicSpline

TAIL_RANGE = (2.0, 8.0)  # exponents of decay that are believed
REACH = 30.0  # the tail is carried to this many times the band


@dataclass(frozen=True)
class ExtendedDamping:
    """Damping carried to zero and far above the data.

    Args:
        omega: closely spaced frequencies from 0 [rad/s].
        damping: B there.
        band: lowest and highest frequency of the data [rad/s].
        low_exponent: B grows like omega to this power below the band.
        tail_exponent: B falls like omega to minus this power above the band.
        edge: norm of B at the upper end of the data over its largest.
        tail_share: part of K(0) that comes from above the data.
    """

    omega: Float[Array, " x"]
    damping: Float[Array, "x m m"]
    band: tuple[float, float]
    low_exponent: float
    tail_exponent: float
    edge: float
    tail_share: float


def extend_damping(
    omega: Float[Array, " f"],
    damping: Float[Array, "f m m"],
    *,
    tail_exponent: float | None = None,
    points: int = 8,
) -> ExtendedDamping:
    """Refine the damping between its frequencies and carry it to zero and beyond the band.

    One exponent serves the whole matrix, so the extension is as positive as the ends are.
    Above the band it is the slope of the last sixth of the data (log-log, of the trace of the
    scaled
    matrix), kept between 2 and 8; below it the slope of the first two points, between 1 and 4.

    Args:
        omega: frequencies of the data, rising [rad/s].
        damping: B there.
        tail_exponent: decay above the band, default from the data.
        points: points put into each interval by a cubic spline.
    """
    omega, damping = finite_rows(omega, damping)
    scale = damping_scale(damping)
    trace = np.einsum("fii->f", damping / np.outer(scale, scale)).clip(min=1e-300)
    last = max(2, omega.size // 6)
    slope = -np.polyfit(np.log(omega[-last:]), np.log(trace[-last:]), 1)[0]
    p = float(np.clip(slope, *TAIL_RANGE)) if tail_exponent is None else float(tail_exponent)
    if p <= 1:
        raise SwelltreeError(
            f"tail_exponent {p} does not decay fast enough. Give a number above 1."
        )
    q = float(np.clip(np.log(trace[1] / trace[0]) / np.log(omega[1] / omega[0]), 1.0, 4.0))
    inside = np.unique(
        np.concatenate([np.linspace(a, b, points + 1) for a, b in itertools.pairwise(omega)])
    )
    low = np.linspace(0.0, omega[0], points + 1)[:-1]
    high = omega[-1] * np.geomspace(1.0, REACH, 40 * points)[1:]
    body = CubicSpline(omega, damping)(inside)
    parts = [
        (low / omega[0])[:, None, None] ** q * damping[0],
        body,
        (high / omega[-1])[:, None, None] ** -p * damping[-1],
    ]
    x, B = np.concatenate([low, inside, high]), np.concatenate(parts)
    area = np.einsum("fii->f", B / np.outer(scale, scale))
    total, above = np.trapezoid(area, x), np.trapezoid(area[x >= omega[-1]], x[x >= omega[-1]])
    size = np.linalg.norm(damping / np.outer(scale, scale), axis=(1, 2))
    return ExtendedDamping(
        x,
        B,
        (float(omega[0]), float(omega[-1])),
        q,
        p,
        float(size[-1] / size.max()),
        float(above / total) if total > 0 else 0.0,
    )


def damping_scale(damping: Float[Array, "f m m"]) -> Float[Array, " m"]:
    """Square root of the largest damping of each DOF, which makes DOFs comparable.

    DOFs that radiate nothing (the yaw of a round body) would blow up noise: translations and
    rotations of a body are each kept above one hundredth of the largest of their kind. Six
    DOFs are one body; other numbers are taken as one kind.
    """
    m = damping.shape[1]
    scale = np.sqrt(np.abs(np.diagonal(damping, axis1=1, axis2=2)).max(axis=0))
    if m % 6 == 0:
        kinds = scale.reshape(m // 3, 3)
        scale = np.maximum(kinds, 1e-2 * kinds.max(axis=1, keepdims=True)).ravel()
    else:
        scale = np.maximum(scale, 1e-2 * scale.max())
    return np.where(scale > 0, scale, 1.0)


def finite_rows(omega: Array, values: Array) -> tuple[Array, Array]:
    """Rows between zero and infinite frequency, in rising order."""
    omega = np.asarray(omega, dtype=float)
    keep = np.flatnonzero(np.isfinite(omega) & (omega > 0))
    keep = keep[np.argsort(omega[keep])]
    if keep.size < 4:
        raise SwelltreeError(
            f"radiation data have {keep.size} frequencies between zero and infinity. Give at "
            "least 4."
        )
    return omega[keep], np.asarray(values, dtype=float)[keep]
