"""Products of small vectors and matrices, written so that XLA fuses them.

Sums of elementwise products, not dots: a loop body without dots compiles into
one kernel on the CPU, which is what makes small systems fast.
"""

from __future__ import annotations

from jaxtyping import Float

from swelltree.engine.arrays import Array, namespace


def cross(a: Float[Array, "*n 3"], b: Float[Array, "*m 3"]) -> Float[Array, "*k 3"]:
    """Vector product a x b along the last axis, broadcasting the others."""
    xp = namespace(a, b)
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return xp.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def dot(a: Float[Array, "*n i"], b: Float[Array, "*m i"]) -> Float[Array, "*k"]:
    """Scalar product along the last axis."""
    return (a * b).sum(-1)


def matvec(A: Float[Array, "*n i j"], x: Float[Array, "*m j"]) -> Float[Array, "*k i"]:
    """Small matrix times vector."""
    return (A * x[..., None, :]).sum(-1)


def matmul(A: Float[Array, "*n i j"], B: Float[Array, "*m j k"]) -> Float[Array, "*l i k"]:
    """Small matrix times matrix."""
    return (A[..., :, :, None] * B[..., None, :, :]).sum(-2)


def transpose(A: Float[Array, "*n i j"]) -> Float[Array, "*n j i"]:
    """Swap the last two axes."""
    return namespace(A).swapaxes(A, -1, -2)


def skew(a: Float[Array, "*n 3"]) -> Float[Array, "*n 3 3"]:
    """Matrix S(a) with S(a) b = a x b."""
    xp = namespace(a)
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    o = xp.zeros_like(x)
    rows = [xp.stack(r, axis=-1) for r in ((o, -z, y), (z, o, -x), (-y, x, o))]
    return xp.stack(rows, axis=-2)


def unskew(S: Float[Array, "*n 3 3"]) -> Float[Array, "*n 3"]:
    """Vector of the skew-symmetric part of a matrix."""
    xp = namespace(S)
    parts = [S[..., 2, 1] - S[..., 1, 2], S[..., 0, 2] - S[..., 2, 0], S[..., 1, 0] - S[..., 0, 1]]
    return 0.5 * xp.stack(parts, axis=-1)
