r"""Memory of the water: kernel K(t), added mass at infinite frequency, and the way back.

With the causal time factor :math:`e^{+i\omega t}` (A and B are real, so they do not depend on it),

.. math:: K(t) = \frac{2}{\pi} \int_0^\infty B(\omega) \cos\omega t \, d\omega , \qquad
    B + i\omega (A - A_\infty) = \int_0^\infty K(t)\, e^{-i\omega t} dt .

Ogilvie (1964). B is a chain of straight lines between closely spaced points; every integral of it
is exact.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from swelltree.describe.errors import warn_user
from swelltree.hydro.radiation.damping_band import (
    ExtendedDamping,
    damping_scale,
    extend_damping,
    finite_rows,
)
from swelltree.jit import Array

NEAR_ZERO, SERIES_TERMS = 0.5, 9  # of spherical Bessel functions: the next term is below 1e-20


@dataclass(frozen=True)
class Kernel:
    """Samples of K(t) and what is known about them.

    Args:
        time: lags, equally spaced from 0 [s].
        values: K(t), forces per velocity per second.
        damping: the damping they come from.
        remainder: max |K| in the last tenth of the lags over the max of all.
        notes: messages about extension and decay.
    """

    time: Float[Array, " lag"]
    values: Float[Array, "lag m m"]
    damping: ExtendedDamping
    remainder: float
    notes: tuple[str, ...]


@dataclass(frozen=True)
class InfiniteAddedMass:
    """Added mass at infinite frequency by Ogilvie's relation.

    Args:
        value: mean over the band.
        scatter: standard deviation over the band, each entry over the geometric mean of its
            diagonals.
    """

    value: Float[Array, "m m"]
    scatter: Float[Array, "m m"]

    @property
    def worst(self) -> float:
        """Maximum scatter on the diagonal."""
        return float(np.max(np.diagonal(self.scatter)))


def radiation_kernel(
    omega: Float[Array, " f"],
    damping: Float[Array, "f m m"],
    *,
    duration: float | None = None,
    step: float | None = None,
    tail_exponent: float | None = None,
) -> Kernel:
    """Kernel K(t) on equally spaced lags.

    Args:
        omega: frequencies of the data [rad/s]; rows at zero and infinity are skipped.
        damping: B there.
        duration: last lag [s], default where K stays below 1e-3 of its largest value, at most
            half the
            period at which data of this spacing repeat.
        step: time between lags [s], default an eighth of the shortest period in the data.
        tail_exponent: decay of B above the band, default from the data.
    """
    data = extend_damping(omega, damping, tail_exponent=tail_exponent)
    step = step or 2 * np.pi / data.band[1] / 8
    x = np.asarray(omega)[np.isfinite(omega) & (np.asarray(omega) > 0)]
    longest = np.pi / float(np.median(np.diff(x)))
    time = np.arange(0.0, (duration or longest) + 0.5 * step, step)
    values = cosine_transform(data.omega, data.damping, time) * (2 / np.pi)
    scale = damping_scale(data.damping)
    size = np.abs(values / np.outer(scale, scale)).max(axis=(1, 2))
    size = size / max(size.max(), 1e-300)
    if duration is None:
        after = np.flatnonzero(size > 1e-3)
        end = max(int(after[-1]) + 2 if after.size else 2, 8)
        time, values, size = time[:end], values[:end], size[:end]
    remainder = float(size[-max(1, size.size // 10) :].max())
    notes = _kernel_notes(data, remainder, float(time[-1]))
    return Kernel(time, values, data, remainder, notes)


def _kernel_notes(data: ExtendedDamping, remainder: float, end: float) -> tuple[str, ...]:
    """Notes for the user; an undecayed band edge is a warning."""
    notes = [
        f"B continued as omega^{data.low_exponent:.2g} below {data.band[0]:.3g} rad/s and as "
        f"omega^-{data.tail_exponent:.2g} above {data.band[1]:.3g} rad/s; the part above gives "
        f"{100 * data.tail_share:.1f} % of K(0).",
        f"At the last lag, {end:.3g} s, |K| is {100 * remainder:.2g} % of its largest value.",
    ]
    if data.edge > 0.1:
        notes.append(
            f"radiation damping has not decayed at the end of the data, {data.band[1]:.4g} rad/s: "
            "it is "
            f"{100 * data.edge:.0f} % of its largest value. Run the BEM to higher frequencies, or "
            "rely on the "
            "fit inside the band only."
        )
        warn_user(notes[-1])
    return tuple(notes)


def cosine_transform(
    x: Float[Array, " x"], y: Float[Array, "x m m"], t: Float[Array, " t"]
) -> Float[Array, "t m m"]:
    r""":math:`\int y(x) \cos(x t)\,dx`, exact for straight lines between the points.

    A piece of centre c, half width h, mean y and rise dy gives
    :math:`2h\,[\,y\,j_0(ht)\cos ct - \tfrac12 dy\,j_1(ht) \sin ct\,]` (Filon's method of first
    order).
    """
    return _transform(x, y, t)[0]


def sine_transform(
    x: Float[Array, " x"], y: Float[Array, "x m m"], t: Float[Array, " t"]
) -> Float[Array, "t m m"]:
    r""":math:`\int y(x) \sin(x t)\,dx`, exact for straight lines between the points."""
    return _transform(x, y, t)[1]


def _spherical_bessel(x: Float[Array, "t x"]) -> tuple[Float[Array, "t x"], Float[Array, "t x"]]:
    r"""The spherical Bessel functions :math:`j_0 = \sin x/x`, :math:`j_1 = (j_0 - \cos x)/x`.

    Near zero, where the difference cancels, by their series.
    """
    near = np.abs(x) < NEAR_ZERO
    far, square = np.where(near, 1.0, x), np.where(near, x * x, 0.0)
    j0 = np.where(near, 1.0 + square * _series(square, 1), np.sin(far) / far)
    j1 = np.where(near, x * (1.0 / 3.0 + square * _series(square, 3)), (j0 - np.cos(far)) / far)
    return j0, j1


def _series(square: Array, first: int) -> Array:
    """Series of j_0 (1) and j_1 / x (3) after 1/first, divided by x^2."""
    total, terms = np.zeros_like(square), [1.0 / first]
    for n in range(1, SERIES_TERMS):
        terms.append(-terms[-1] / (2 * n * (2 * n + first)))
    for term in terms[:0:-1]:
        total = term + square * total
    return total


def _transform(x: Array, y: Array, t: Array) -> tuple[Array, Array]:
    c, h = (x[1:] + x[:-1]) / 2, (x[1:] - x[:-1]) / 2
    mean, rise = (y[1:] + y[:-1]) / 2, (y[1:] - y[:-1]) / 2
    flat, shape = (mean.reshape(len(h), -1), rise.reshape(len(h), -1)), y.shape[1:]
    angle, small = np.outer(t, c), np.outer(t, h)
    j0, j1 = (2 * h * bessel for bessel in _spherical_bessel(small))
    cos, sin = np.cos(angle), np.sin(angle)
    even = (j0 * cos) @ flat[0] - (j1 * sin) @ flat[1]
    odd = (j0 * sin) @ flat[0] + (j1 * cos) @ flat[1]
    return even.reshape(len(t), *shape), odd.reshape(len(t), *shape)


def transform_kernel(
    time: Float[Array, " lag"], K: Float[Array, "lag m m"], omega: Float[Array, " f"]
) -> tuple[Float[Array, "f m m"], Float[Array, "f m m"]]:
    """The way back: A - A_inf and B from samples of K(t).

    Args:
        time: lags, rising from 0 [s].
        K: kernel there.
        omega: frequencies wanted, above zero [rad/s].
    """
    B, odd = _transform(time, K, omega)
    return -odd / omega[:, None, None], B


def added_mass_change(
    omega: Float[Array, " x"], damping: Float[Array, "x m m"], at: Float[Array, " f"]
) -> Float[Array, "f m m"]:
    r"""A - A_inf from the damping alone (Kramers and Kronig).

    .. math:: A(\omega) - A_\infty = \frac{2}{\pi}\, \mathrm{PV}\!\!\int_0^\infty
        \frac{B(x)}{x^2 - \omega^2}\, dx

    Exact for straight lines between the points of `omega`, the singular point included.
    """
    w = at[:, None]
    slope = (damping[1:] - damping[:-1]) / (omega[1:] - omega[:-1])[:, None, None]
    start = damping[:-1] - slope * omega[:-1, None, None]
    # B = start + slope x:  integral of B/(x^2 - w^2) by logarithms; they cancel where x = w
    minus = np.abs(omega - w)
    minus = np.log(np.where(minus > 0, minus, 1.0))
    plus = np.log(omega + w)
    step_minus, step_plus = np.diff(minus, axis=1) / (2 * w), np.diff(plus, axis=1) / (2 * w)
    a, b = start.reshape(len(start), -1), slope.reshape(len(slope), -1)
    out = (step_minus - step_plus) @ a + (w * (step_minus + step_plus)) @ b
    return (2 / np.pi) * out.reshape(len(at), *damping.shape[1:])


def infinite_added_mass(
    omega: Float[Array, " f"],
    added_mass: Float[Array, "f m m"],
    damping: Float[Array, "f m m"],
    *,
    tail_exponent: float | None = None,
) -> InfiniteAddedMass:
    """Added mass at infinite frequency from A and B inside the band.

    Ogilvie (1964): A - (A - A_inf) is the same at every frequency if A, B and the extension of B
    agree; its scatter says how well. The outer tenths of the band, where the extension
    matters most, are left out.

    Args:
        omega: frequencies [rad/s]; rows at zero and infinity are skipped.
        added_mass: A there.
        damping: B there.
        tail_exponent: decay of B above the band, default from the data.
    """
    data = extend_damping(omega, damping, tail_exponent=tail_exponent)
    x, A = finite_rows(omega, added_mass)
    cut = max(1, x.size // 10)
    inner = slice(cut, -cut) if x.size > 2 * cut + 2 else slice(None)
    estimate = A[inner] - added_mass_change(data.omega, data.damping, x[inner])
    value = estimate.mean(axis=0)
    value = (value + value.T) / 2
    size = np.sqrt(np.abs(np.diagonal(A, axis1=1, axis2=2)).max(axis=0))
    size = np.where(size > 0, size, 1.0)
    return InfiniteAddedMass(value, estimate.std(axis=0) / np.outer(size, size))
