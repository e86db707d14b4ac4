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
from dataclasses import replace

import numpy as np

from swelltree.engine.arrays import Array, namespace, pytree
from swelltree.waves.airy import Components, Kinematics
from swelltree.waves.dispersion import is_deep
from swelltree.waves.quick_trig import sin_cos
from swelltree.waves.ramp import ramp
from swelltree.waves.water import AnyWater

TOLERANCE = 3e-5  # of the elevation's rms
SELDOM = 5.0  # times the rms: elevations that are hardly ever seen
MOST_TERMS = 48
MOST_HEADINGS = 24
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
        taylor: ((k - carrier) radius)^m / m! (h, c, m).
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
    """Terms after which the remainder is below the tolerance of the rms."""
    x = np.abs(k - carrier) * radius
    rest = np.ones_like(x)
    whole = math.sqrt((a**2).sum())
    for m in range(1, MOST_TERMS + 1):
        rest = rest * x / m
        # the next terms of the series are smaller by x / (m + 1) each
        later = 1.0 / np.maximum(1.0 - x / (m + 1), 0.1)
        if math.sqrt(((a * rest * later) ** 2).sum()) <= tolerance * whole:
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
    taylor = np.ones((len(rows), width, terms))
    for m in range(1, terms):
        taylor[..., m] = taylor[..., m - 1] * (K - carrier[:, None]) * radius / m
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
    empty = MOST_TERMS - near.taylor.shape[-1]
    taylor = np.pad(near.taylor, ((0, 0), (0, 0), (0, empty)))
    return replace(near, taylor=taylor, mirrored=not is_deep(water.depth))


def over_headings(x: Array) -> Array:
    """Sum of (b, h, v) over the headings; as a product, so that XLA makes its terms by vectors."""
    if x.shape[1] == 1:
        return x[:, 0]
    return (np.ones((x.shape[0], 1, x.shape[1])) @ x)[:, 0]


class Expansion:
    """The sea about centres (b, 3) at one time: coefficients, and points relative to them."""

    def __init__(self, waves: LocalWaves, t: Array, centre: Array, x: Array, y: Array) -> None:
        xp = namespace(waves.amplitude, t, centre, x)
        self.waves, self.xp = waves, xp
        self.cos, self.sin = waves.ahead[0], waves.ahead[1]
        cos, sin = self.cos[:, None], self.sin[:, None]
        ahead = centre[:, 0, None] * self.cos + centre[:, 1, None] * self.sin
        theta = waves.wavenumber * ahead[:, :, None] - waves.omega * t + waves.phase
        a = ramp(t, waves.components.ramp) * waves.amplitude
        sine, cosine = sin_cos(theta)
        self.wave = a * cosine, a * sine  # (b, h, c)
        # distance ahead of the centre (b, h, v)
        self.xi = (x - centre[:, 0, None])[:, None] * cos + (y - centre[:, 1, None])[:, None] * sin
        carried = sin_cos(waves.carrier[:, None] * self.xi)
        self.carried = carried[1], carried[0]

    def heights(
        self, centre: Array, z: Array, eta: Array, depth: Array, stretching: str
    ) -> tuple[Array, Array]:
        """Stretched height of the centres (b, 1, 1), and of the points above them (b, 1, v)."""
        middle = self.wave[0].sum((1, 2))
        z0 = stretched(centre[:, 2], middle, depth, stretching)
        z = stretched(z, eta, depth, stretching)
        return z0[:, None, None], (z - z0[:, None])[:, None]

    def sum(self, weight: Array, z: Array | float, sign: float = 1.0) -> tuple[Array, Array]:
        """Real and imaginary part of sum_c weight_c A_c exp(i k xi + sign k z), (b, h, v)."""
        waves, xp = self.waves, self.xp
        C = [part * weight for part in self.wave]
        C = [(part[:, :, None, :] @ waves.taylor)[:, :, 0] for part in C]  # (b, h, m)
        # times i^m
        turn = np.arange(waves.taylor.shape[2]) % 4
        real = np.array([1.0, 0.0, -1.0, 0.0])[turn]
        imag = np.array([0.0, 1.0, 0.0, -1.0])[turn]
        re, im = C[0] * real - C[1] * imag, C[0] * imag + C[1] * real
        u, v = self.xi / waves.radius, -sign * z / waves.radius
        f, g = re[..., -1, None], im[..., -1, None]
        for m in range(waves.taylor.shape[2] - 2, -1, -1):
            f, g = re[..., m, None] + u * f - v * g, im[..., m, None] + u * g + v * f
        # XLA keeps the result of a division, where it would evaluate a sum again for every panel
        # around a vertex
        decay = waves.radius * xp.exp(sign * waves.carrier[:, None] * z)
        cos, sin = self.carried
        real, imag = decay * (f * cos - g * sin), decay * (f * sin + g * cos)
        return real / waves.radius, imag / waves.radius


def stretched(z: Array, eta: Array, depth: Array, stretching: str) -> Array:
    """Height at which linear theory is evaluated for a point at z."""
    xp = namespace(z, eta)
    if stretching == "wheeler":
        z = z - eta if is_deep(depth) else (z - eta) / (1.0 + eta / depth)
    return z if stretching == "extrapolate" else xp.minimum(z, 0.0)


def surface_head(
    waves: LocalWaves,
    t: Array,
    centre: Array,
    x: Array,
    y: Array,
    z: Array,
    water: AnyWater,
    stretching: str = "wheeler",
) -> tuple[Array, Array]:
    """Elevation and dynamic pressure head p / rho g at points (b, v) near centres (b, 3) [m].

    Args:
        waves: from `local_waves`.
        t: one time [s].
        centre: the points lie within the radius of it [m].
        x: [m].
        y: [m].
        z: [m].
        water: depth.
        stretching: "wheeler", "constant" or "extrapolate".
    """
    near = Expansion(waves, t, centre, x, y)
    eta = over_headings(near.sum(np.ones(()), np.zeros(()))[0])
    z0, z = near.heights(centre, z, eta, water.depth, stretching)
    xp, k = near.xp, waves.wavenumber
    down, up = _weights(k, z0, water.depth, xp)
    head = near.sum(down, z)[0]
    if waves.mirrored:
        head = head + near.sum(up, z, -1.0)[0]
    return eta, over_headings(head)


def _weights(k: Array, z0: Array, depth: Array, xp: object) -> tuple[Array, Array]:
    """Factors of the direct and of the mirrored exponential at the centre."""
    down = xp.exp(k * z0)  # pyright: ignore
    if is_deep(depth):
        return down, 0.0 * down
    whole = 1.0 + xp.exp(-2.0 * k * depth)  # pyright: ignore
    return down / whole, xp.exp(-k * (z0 + 2.0 * depth)) / whole  # pyright: ignore


def kinematics(
    waves: LocalWaves,
    t: Array,
    centre: Array,
    x: Array,
    y: Array,
    z: Array,
    water: AnyWater,
    stretching: str = "wheeler",
) -> tuple[Array, Kinematics]:
    """Elevation and motion of the water at points (b, v) near centres (b, 3)."""
    near = Expansion(waves, t, centre, x, y)
    xp, k = near.xp, waves.wavenumber
    eta = over_headings(near.sum(np.ones(()), np.zeros(()))[0])
    z0, z = near.heights(centre, z, eta, water.depth, stretching)
    down, up = _weights(k, z0, water.depth, xp)

    def both(scale: Array) -> tuple[Array, Array, Array, Array]:
        """Sums with C cos, C sin, S cos and S sin of linear theory."""
        c, s = near.sum(scale * down, z)
        c_up, s_up = near.sum(scale * up, z, -1.0) if waves.mirrored else (0.0, 0.0)
        return c + c_up, s + s_up, c - c_up, s - s_up

    gk = water.g * k
    head = near.sum(down, z)[0] + (near.sum(up, z, -1.0)[0] if waves.mirrored else 0.0)
    flow, push = both(gk / waves.omega), both(gk)
    cos, sin = near.cos[:, None], near.sin[:, None]
    velocity = [over_headings(part * flow[0]) for part in (cos, sin)]
    acceleration = [over_headings(part * push[1]) for part in (cos, sin)]
    return eta, Kinematics(
        xp.stack([*velocity, over_headings(flow[3])], -1),
        xp.stack([*acceleration, -over_headings(push[2])], -1),
        water.rho * water.g * over_headings(head),
    )
