r"""Drag as pieces that a study in the frequency domain can linearise.

A piece sees the velocity of the fluid relative to the body in m directions and answers with a
force law f:

.. math:: w = D u(x) - L v, \qquad \text{wrench} = O f(w)

Pieces of a group are stacked; k of them share m and the law.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from jaxtyping import Float

from swelltree.engine.arrays import Array, namespace
from swelltree.spatial.vectors import dot

TINY = 1e-12  # (m/s)^2 under the root, so that drag has a derivative at rest


class DragPieces(NamedTuple):
    """Pieces of drag at one pose, in numpy."""

    body: Array  # (k,) depth-first number
    at: Array  # (k, 3) place in the world, m
    from_body: Array  # L, (k, m, 6) from the body's velocity in world axes
    from_water: Array  # D, (k, m, 3) from the velocity of waves; zero where it is not felt
    mean: Array  # (k, m) of the relative velocity: the current, m/s
    to_wrench: Array  # O, (k, 6, m) to the wrench at the reference point, world axes
    law: Callable[[Array], Array]  # (..., k, m) -> (..., k, m)


def size(w: Float[Array, "*k m"]) -> Float[Array, "*k 1"]:
    """Length of vectors, with a derivative at zero."""
    xp = namespace(w)
    return xp.sqrt(dot(w, w) + TINY)[..., None]
