r"""Heave of a hemisphere and of an upright cylinder in series: BEM runs against exact values.

With a potential :math:`\phi` of unit velocity, :math:`A + i B/\omega = \rho \int \phi\, n_z\, dS`
over the wetted hull, normals outwards, exp(-iwt).
"""

from __future__ import annotations

import numpy as np

from swelltree.jit import Array

TERMS = 20  # of the hemisphere: four digits
RINGS = 400  # of the water below the cylinder: three digits, its edge converges slowly


def hemisphere_heave(Ka: float) -> complex:
    r"""A33 + i B33 / omega of a floating hemisphere in deep water, of its displaced mass.

    A source in the free surface and multipoles without waves, as Hulme (1982):

    .. math::
        \phi = q_0 \left(\tfrac{1}{r} + K F\right) + \sum_n q_n \left(
        \tfrac{P_{2n}}{r^{2n+1}} + \tfrac{K}{2n} \tfrac{P_{2n-1}}{r^{2n}}\right)

    Here their strengths come from least squares over the hull.

    Args:
        Ka: omega^2 radius / g.
    """
    from scipy.special import eval_legendre

    x, weight = np.polynomial.legendre.leggauss(120)
    down, weight = 0.5 * (x + 1.0), 0.5 * weight  # cosine of the angle from straight down
    out = np.sqrt(1.0 - down**2)

    def potentials(r: float) -> np.ndarray:
        columns = [_surface_source(r * out, -r * down, Ka)]
        for n in range(1, TERMS):
            pole = eval_legendre(2 * n, down) / r ** (2 * n + 1)
            columns.append(pole + Ka / (2 * n) * eval_legendre(2 * n - 1, down) / r ** (2 * n))
        return np.array(columns).T

    # fourth-order difference across the hull
    h = 1e-3
    near, far = (potentials(1 + k * h) - potentials(1 - k * h) for k in (1, 2))
    slope, root = (8 * near - far) / (12 * h), np.sqrt(weight)
    strength = np.linalg.lstsq(root[:, None] * slope, -root * down, rcond=None)[0]
    return complex(3.0 * (weight * down * (potentials(1.0) @ strength)).sum())


def _surface_source(R: np.ndarray, z: np.ndarray, K: float) -> np.ndarray:
    r"""1/r + K F of a source in the surface, F = PV int e^{kz} J0(kR) / (k - K) dk + i pi ...

    dF/dz - K F = 1/r carries F down from the surface, where it is -pi/2 (H0 + Y0).
    """
    from scipy.special import j0, struve, y0

    x, weight = np.polynomial.legendre.leggauss(60)
    most = np.arcsinh(-z / R)[:, None]
    u = 0.5 * most * (x + 1.0)
    carried = (0.5 * most * weight * np.exp(K * R[:, None] * np.sinh(u))).sum(axis=1)
    level = -0.5 * np.pi * (struve(0, K * R) + y0(K * R)) + 1j * np.pi * j0(K * R)
    return 1.0 / np.hypot(R, z) + K * np.exp(K * z) * (level - carried)


def cylinder_heave(omega: float, radius: float, draft: float, depth: float, g: float) -> complex:
    r"""A33 + i B33 / omega of an upright cylinder over the density, as Yeung (1981).

    Below the bottom :math:`\frac{y^2 - r^2/2}{2e} + \sum_n \beta_n \frac{I_0(\lambda_n r)}
    {I_0(\lambda_n a)} \cos\lambda_n y`, outside waves and :math:`K_0(k_m r) \cos k_m y`, y up from
    the seabed; potential and flow are the same where the two regions meet.

    Args:
        omega: frequency [rad/s].
        radius: a [m].
        draft: [m].
        depth: of the water [m].
        g: gravity [m/s^2].
    """
    from scipy.optimize import brentq
    from scipy.special import h1vp, hankel1, ive, kve

    a, e, K = radius, depth - draft, omega**2 / g
    count = round(RINGS * depth / e)
    lam = np.arange(RINGS) * np.pi / e
    k0: Array = brentq(lambda k: k * np.tanh(k * depth) - K, 1e-9, 5 * K + 10)
    k = [
        brentq(
            lambda k: k * np.sin(k * depth) + K * np.cos(k * depth),
            (j - 0.5) * np.pi / depth,
            j * np.pi / depth,
        )
        for j in range(1, count)
    ]
    # the wave (first column) is scaled by its value at the surface
    k, top = np.array(k), np.cosh(k0 * depth)
    sinh_part = np.sinh(2 * k0 * depth) / (2 * k0 * depth)
    norm = np.append((1 + sinh_part) / top**2, 1 + np.sin(2 * k * depth) / (2 * k * depth))
    norm = 0.5 * depth * norm
    overlap = np.empty((RINGS, count))
    overlap[:, 0] = k0 * np.sinh(k0 * e) / (k0**2 + lam**2) / top
    overlap[:, 1:] = k * np.sin(k * e) / (k**2 - lam[:, None] ** 2)
    overlap *= np.cos(lam * e)[:, None]
    outside = np.append(
        k0 * h1vp(0, k0 * a) / hankel1(0, k0 * a), -k * kve(1, k * a) / kve(0, k * a) + 0j
    )
    inside = lam * ive(1, lam * a) / ive(0, lam * a)
    diagonal = np.full(RINGS, 0.5 * e)
    diagonal[0] = e
    forced = np.append(e**2 / 6 - a**2 / 4, np.cos(lam[1:] * e) / lam[1:] ** 2)
    waves = overlap / (norm * outside)
    beta = np.linalg.solve(
        np.diag(diagonal) - (waves @ overlap.T) * inside,
        -forced - a / (2 * e) * (waves @ overlap[0]),
    )
    lift = np.append(a**2 / 2, inside[1:] * a / lam[1:] ** 2)
    bottom = (beta * np.cos(lam * e) * lift).sum() + (e**2 * a**2 / 2 - a**4 / 8) / (2 * e)
    return complex(2 * np.pi * bottom)
