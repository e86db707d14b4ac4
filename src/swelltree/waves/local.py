r"""Linear seas near a body: a few terms instead of hundreds of components.

The waves of one heading are an analytic function of one complex number, with xi the distance
ahead,

.. math:: \frac{p}{\rho g} = \mathrm{Re} \sum_c A_c\, e^{i k_c \zeta - i\omega_c t}, \qquad
          \zeta = \xi - i z

About the body's own place a carrier times a polynomial is as good,

.. math:: e^{i\bar k(\zeta - \zeta_0)} \sum_m C_m(t)\, (\zeta - \zeta_0)^m, \qquad
          C_m = \sum_c A_c e^{i k_c \zeta_0 - i\omega_c t}\, \frac{(i(k_c - \bar k))^m}{m!}

and its coefficients are sums over the components once, not at every point. The centre moves with
the body, so that the expansion stays valid wherever it drifts. Finite depth adds the same with
the mirrored exponential. A regular wave has one term, and is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from swelltree.jit import Array, Tree, each_sum, namespace, pytree
from swelltree.spatial.loops import rows_of, sum_along
from swelltree.waves.airy import Components
from swelltree.waves.component_sums import height
from swelltree.waves.dispersion import AnyWater, is_deep
from swelltree.waves.quick_trig import sin_cos
from swelltree.waves.ramp import ramp

TOLERANCE = 3e-5  # of the elevation's rms
SELDOM = 5.0  # times the rms: elevations that are hardly ever seen
MOST_TERMS = 48
MOST_HEADINGS = 24
Weight = Callable[[Array, Array], Array]  # of a component: of its wavenumber and frequency
DEEP = 1e-7  # of the amplitude: weaker reflections from the bottom are left out


@pytree("mirrored")
class LocalWaves:
    """A sea expanded about the place of a body; h headings with c components each, m terms.

    Args:
        components: the sea itself.
        radius: within which the expansion holds [m].
        ahead: cosine and sine of the headings (2, h).
        carrier: wavenumber of each heading (h,) [1/m].
        amplitude: (h, c), zero where padded [m].
        omega: (h, c) [rad/s].
        wavenumber: (h, c) [1/m].
        phase: (h, c) [rad].
        taylor: ((k - carrier) radius)^m / m! (h, m, c).
        mirrored: the bottom is felt.
    """

    components: Components
    radius: Array
    ahead: Array
    carrier: Array
    amplitude: Array
    omega: Array
    wavenumber: Array
    phase: Array
    taylor: Array
    mirrored: bool


def terms_needed(
    a: np.ndarray, k: np.ndarray, carrier: float, radius: float, tolerance: float
) -> int:
    """Number of terms for a remainder below the tolerance of the rms."""
    x = np.abs(k - carrier) * radius
    rest = np.ones_like(x)
    complete = math.sqrt((a**2).sum())
    for m in range(1, MOST_TERMS + 1):
        rest = rest * x / m
        # the next terms of the series are smaller by x / (m + 1) each
        later = 1.0 / np.maximum(1.0 - x / (m + 1), 0.1)
        if math.sqrt(((a * rest * later) ** 2).sum()) <= tolerance * complete:
            return m
    return MOST_TERMS + 1


def local_waves(
    waves: Components, radius: float, water: AnyWater, tolerance: float = TOLERANCE
) -> LocalWaves | Components:
    """The sea expanded about a body; the sea itself where an expansion would not be shorter.

    Args:
        waves: realised components.
        radius: farthest point from the body's centre [m].
        water: depth.
        tolerance: largest rms error as a part of the elevation's rms.
    """
    a, omega, k, beta, phase = (
        np.asarray(row, dtype=float)
        for row in (waves.amplitude, waves.omega, waves.wavenumber, waves.beta, waves.phase)
    )
    live = a > 0
    if not live.any():
        return waves
    # stretching moves points by the elevation, seldom more than this
    radius = radius + min(a.sum(), SELDOM * math.sqrt(0.5 * (a**2).sum()))
    a, omega, k, beta, phase = (row[live] for row in (a, omega, k, beta, phase))
    headings, group = np.unique(np.round(beta, 12), return_inverse=True)
    if len(headings) > MOST_HEADINGS:
        return waves
    rows = [np.flatnonzero(group == i) for i in range(len(headings))]
    carrier, terms = np.zeros(len(headings)), 1
    for i, row in enumerate(rows):
        # the best carrier lies between the mean of the energy and the middle of the band
        middle = 0.5 * (k[row].min() + k[row].max())
        mean = float((a[row] ** 2 * k[row]).sum() / (a[row] ** 2).sum())
        choices = np.linspace(mean, middle, 9)
        share = tolerance * math.sqrt((a**2).sum() / (a[row] ** 2).sum())
        needed = [terms_needed(a[row], k[row], c, radius, share) for c in choices]
        carrier[i] = choices[int(np.argmin(needed))]
        terms = max(terms, min(needed))
    if terms > MOST_TERMS or (len(headings) > 1 and len(headings) * (terms + 8) > 8 * len(a)):
        return waves
    # seas of similar kind share a compiled program
    terms = terms if terms == 1 else 2 * math.ceil(terms / 2)
    width = max(2, *(len(row) for row in rows))

    def padded(values: np.ndarray, fill: float = 0.0) -> np.ndarray:
        out = np.full((len(rows), width), fill)
        for i, row in enumerate(rows):
            out[i, : len(row)] = values[row]
        return out

    K = padded(k, 1.0)
    taylor = np.ones((len(rows), terms, width))
    for m in range(1, terms):
        taylor[:, m] = taylor[:, m - 1] * (K - carrier[:, None]) * radius / m
    echo = np.exp(-2.0 * k * max(water.depth - radius, 0.0))
    return LocalWaves(
        components=waves,
        radius=np.array(float(radius)),
        ahead=np.stack([np.cos(headings), np.sin(headings)]),
        carrier=carrier,
        amplitude=padded(a),
        omega=padded(omega, 1.0),
        wavenumber=K,
        phase=padded(phase),
        taylor=taylor,
        mirrored=bool(math.sqrt(((a * echo) ** 2).sum()) > DEEP * math.sqrt((a**2).sum())),
    )


def roomy(near: LocalWaves, water: AnyWater) -> LocalWaves:
    """The same expansion in as many terms as any has, those behind it zero.

    In finite depth the bottom counts as felt.
    """
    if len(near.components) == 1:
        return near
    empty = MOST_TERMS - near.taylor.shape[1]
    taylor = np.pad(near.taylor, ((0, 0), (0, empty), (0, 0)))
    return replace(near, taylor=taylor, mirrored=not is_deep(water.depth))


class Expansion:
    """The sea about one centre (3,) at one time."""

    def __init__(self, waves: LocalWaves, t: Array, centre: Array) -> None:
        self.waves, self.t, self.centre = waves, t, centre
        self.xp = namespace(waves.amplitude, t, centre)
        self.ahead = centre[0] * waves.ahead[0] + centre[1] * waves.ahead[1]  # (h,)

    def coefficients(self, *weights: Callable[[Array, Array], Array]) -> tuple[Array, ...]:
        """Real and imaginary parts (h, m) of the sums over components, each times a weight.

        Args:
            weights: of a wavenumber and a frequency.
        """
        waves, t = self.waves, self.t
        start = ramp(t, waves.components.ramp)
        # times i^m
        turn = np.arange(waves.taylor.shape[1]) % 4
        real = np.array([1.0, 0.0, -1.0, 0.0])[turn]
        imag = np.array([0.0, 1.0, 0.0, -1.0])[turn]

        def heading(rows: tuple[Array, ...], ahead: Array) -> tuple[Array, ...]:
            def component(
                a: Array, omega: Array, k: Array, phase: Array, taylor: Array
            ) -> tuple[Array, ...]:
                sine, cosine = sin_cos(k * ahead - omega * t + phase)
                parts = [(a * w(k, omega)) for w in weights]
                return tuple(x * y * taylor for x in parts for y in (cosine, sine))

            sums = sum_along(self.xp, component, *rows)
            pairs = [(start * sums[j], start * sums[j + 1]) for j in range(0, len(sums), 2)]
            return tuple(
                part for re, im in pairs for part in (re * real - im * imag, re * imag + im * real)
            )

        rows = waves.amplitude, waves.omega, waves.wavenumber, waves.phase, waves.taylor
        return rows_of(self.xp, heading, rows, self.ahead)

    def over_headings(self, function: Callable[..., tuple[Array, ...]], *rows: Array) -> Tree:
        """Sums of a function of cosine, sine and carrier of a heading, and of a row of each array.

        Args:
            function: gives a tuple of arrays.
            rows: first axis for the headings.
        """
        waves = self.waves
        rows = waves.ahead[0], waves.ahead[1], waves.carrier, *rows
        if len(rows[0]) == 1:
            return function(*(row[0] for row in rows))
        if self.xp is not np:
            return each_sum(function, *rows)
        parts = [function(*row) for row in zip(*rows, strict=True)]
        return tuple(sum(x) for x in zip(*parts, strict=True))

    def rise(self, cos: Array, sin: Array, carrier: Array, *parts: Array) -> tuple[Array, ...]:
        """Elevation of one heading from its phases and coefficients."""
        return self.wave(carrier, parts[:3], *parts[3:], None, 1.0)[:1]

    def phases(self, x: Array, y: Array) -> tuple[Array, Array, Array]:
        """Of every heading: distance ahead over the radius, sine and cosine of the carrier (h,).

        The elevation and what lies under it use the same, at points of any shape (h, ...).

        Args:
            x: [m].
            y: [m].
        """
        near = 1.0 / self.waves.radius

        def heading(cos: Array, sin: Array, carrier: Array) -> tuple[Array, ...]:
            xi = (x - self.centre[0]) * cos + (y - self.centre[1]) * sin
            return xi * near, *sin_cos(carrier * xi)

        rows = self.waves.ahead[0], self.waves.ahead[1], self.waves.carrier
        if len(rows[0]) > 1:
            return rows_of(self.xp, heading, *rows)
        one = heading(*(row[0] for row in rows))
        return tuple(part[None] for part in one)

    def wave(
        self, carrier: Array, phase: tuple[Array, ...], re: Array, im: Array, *place: Array
    ) -> tuple[Array, Array]:
        """Real and imaginary part of sum_c C_c exp(i k xi + sign k z) of one heading.

        Args:
            carrier: its wavenumber [1/m].
            phase: its own of `phases`.
            re: real parts of the coefficients (m,).
            im: imaginary parts (m,).
            place: height above the centre [m] or None at the still water, and the sign of the
                exponential in it.
        """
        z, sign = place
        u, sine, cosine = phase
        f, g = re[-1], im[-1]
        if z is None:
            for m in range(re.shape[0] - 2, -1, -1):
                f, g = re[m] + u * f, im[m] + u * g
            return f * cosine - g * sine, f * sine + g * cosine
        v = -sign * z / self.waves.radius
        for m in range(re.shape[0] - 2, -1, -1):
            f, g = re[m] + u * f - v * g, im[m] + u * g + v * f
        decay = namespace(carrier, z).exp(sign * carrier * z)
        return decay * (f * cosine - g * sine), decay * (f * sine + g * cosine)


def surface_about(
    waves: LocalWaves, t: Array, centre: Array, water: AnyWater, stretching: str = "wheeler"
) -> Callable[[Array, Array, Array], tuple[Array, Array]]:
    """Elevation and dynamic pressure head p / rho g [m] as a function of x, y and z near a centre.

    Args:
        waves: from `local_waves`.
        t: one time [s].
        centre: points lie within the radius of it, (3,) [m].
        water: depth.
        stretching: "wheeler", "constant" or "extrapolate".
    """
    near = Expansion(waves, t, centre)
    level, z0, (down, up) = _about(near, water.depth, stretching)
    of_head = near.coefficients(down, up) if waves.mirrored else near.coefficients(down)

    def at(x: Array, y: Array, z: Array) -> tuple[Array, Array]:
        phases = near.phases(x, y)
        (eta,) = near.over_headings(near.rise, *phases, *level)
        above = height(z, eta, water.depth, stretching) - z0

        def pressed(cos: Array, sin: Array, carrier: Array, *parts: Array) -> tuple[Array, ...]:
            phase, rows = parts[:3], parts[3:]
            head = near.wave(carrier, phase, *rows[:2], above, 1.0)[0]
            if waves.mirrored:
                head = head + near.wave(carrier, phase, *rows[2:], above, -1.0)[0]
            return (head,)

        return eta, near.over_headings(pressed, *phases, *of_head)[0]

    return at


def _about(
    near: Expansion, depth: Array, stretching: str
) -> tuple[tuple[Array, ...], Array, tuple[Weight, Weight]]:
    """Coefficients of the elevation, stretched height of the centre, weights of exponentials."""
    level = near.coefficients(lambda k, omega: np.ones(()))
    z0 = height(near.centre[2], level[0][:, 0].sum(), depth, stretching)
    exp = near.xp.exp

    def down(k: Array, omega: Array) -> Array:
        return exp(k * z0) if is_deep(depth) else exp(k * z0) / (1.0 + exp(-2.0 * k * depth))

    def up(k: Array, omega: Array) -> Array:
        if is_deep(depth):
            return 0.0 * k
        return exp(-k * (z0 + 2.0 * depth)) / (1.0 + exp(-2.0 * k * depth))

    return level, z0, (down, up)
