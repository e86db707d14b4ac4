"""Integrals over triangles that are far from the points: a rule of seven points.

Beyond `FAR` times the longest side of a triangle, measured from its centroid, the rule of degree
five differs from the exact integrals by less than 2e-6 of them (tested), at a third of the cost.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from swelltree.effects.weak_scatterer.influence.triangle import Densities, frames
from swelltree.engine.arrays import Array
from swelltree.engine.backend import jnp

FAR = 4.0  # lengths of the longest side from the centroid

_ROOT = math.sqrt(15.0)
_NEAR, _WIDE = (6.0 - _ROOT) / 21.0, (6.0 + _ROOT) / 21.0
_INNER, _OUTER = (155.0 - _ROOT) / 1200.0, (155.0 + _ROOT) / 1200.0


def _turned(a: float) -> list[tuple[float, float, float]]:
    return [(1 - 2 * a, a, a), (a, 1 - 2 * a, a), (a, a, 1 - 2 * a)]


# Radon (1948): barycentric coordinates (7, 3) and weights (7,) of a rule of degree five
PLACES = np.array([(1 / 3, 1 / 3, 1 / 3), *_turned(_NEAR), *_turned(_WIDE)])
WEIGHTS = np.array([9 / 40] + [_INNER] * 3 + [_OUTER] * 3)


def far_densities(
    corners: Float[Array, "triangle corner xyz"],
    points: Float[Array, "point xyz"],
) -> Densities:
    """Sources and dipoles of linear density for points that are far from all triangles.

    Args:
        corners: of the triangles [m].
        points: where the potential is wanted [m].
    """
    tri = frames(corners)
    P = points.T[:, None, :]
    h = -sum((tri.corner[0, c][:, None] - P[c]) * tri.normal[c][:, None] for c in range(3))
    weight = (tri.area / (4.0 * math.pi))[:, None]
    source, dipole = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    for place, part in zip(PLACES, WEIGHTS, strict=True):
        at = jnp.einsum("i,ixt->xt", place, tri.corner)
        away = [at[c][:, None] - P[c] for c in range(3)]
        inverse = 1.0 / jnp.sqrt(away[0] ** 2 + away[1] ** 2 + away[2] ** 2)
        plain = part * weight * inverse
        turned = plain * h * inverse * inverse
        for i in range(3):
            source[i] = source[i] + place[i] * plain
            dipole[i] = dipole[i] + place[i] * turned
    return Densities(jnp.stack(source), jnp.stack(dipole))
