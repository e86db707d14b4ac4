r"""Rotation increments as Gibbs vectors in world axes, and their exact differences.

With g = tan(angle / 2) axis, a step turns a body by

.. math:: C(g) = 1 + 2 \frac{\hat g + \hat g \hat g}{1 + |g|^2}

which is rational, an exact rotation, and holds for less than half a turn. For two steps in a row,
:math:`R_+ = C(g_+) R_n` and :math:`R_- = C(g_-)^\top R_n`, and any point p of the body,

.. math::
    R_+ p - R_- p = \sigma \times \tfrac12 (R_+ + R_-) p, \qquad
    \frac{\sigma}{2h} = T \bar\omega, \quad
    T = \frac{1 + \tfrac12 (\hat g_+ - \hat g_-)}{1 - g_+ \cdot g_-}, \quad
    \bar\omega = \frac{g_+ + g_-}{h}

so that a force F at p, applied as the wrench (F, T^T (l x F)) with l the averaged lever, has
exactly the power of the point's displacement. This is what makes energy balance in the discrete
equations.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from swelltree.jit import Array, namespace
from swelltree.spatial.rotations import dot, matmul, matvec, skew, transpose, unskew


def cayley(g: Float[Array, "*n 3"]) -> Float[Array, "*n 3 3"]:
    S = skew(g)
    return np.eye(3) + 2.0 * (S + matmul(S, S)) / (1.0 + dot(g, g))[..., None, None]


def gibbs(R: Float[Array, "*n 3 3"]) -> Float[Array, "*n 3"]:
    """Gibbs vector of a rotation by less than half a turn."""
    xp = namespace(R)
    trace = xp.trace(R, axis1=-2, axis2=-1)
    return 2.0 * unskew(R) / (1.0 + trace)[..., None]


def turning(g_plus: Float[Array, "*n 3"], g_minus: Float[Array, "*n 3"]) -> Float[Array, "*n 3 3"]:
    """T: from the mean angular velocity to the exact difference of rotations."""
    S = 0.5 * skew(g_plus - g_minus)
    return (np.eye(3) + S) / (1.0 - dot(g_plus, g_minus))[..., None, None]


def couple_of(T: Float[Array, "*n 3 3"], moment: Float[Array, "*n 3"]) -> Float[Array, "*n 3"]:
    """T^T m: a moment in the form of the discrete balance."""
    return matvec(transpose(T), moment)
