"""Vector fitting: one set of poles for a whole matrix of measured transfer functions.

Gustavsen and Semlyen (1999) with the relaxed weight of Gustavsen (2006): the poles
are moved by a linear least-squares problem until its weight function is constant.
All entries share the poles; each has its own residues.
"""

import numpy as np
from jaxtyping import Complex, Float

from swelltree.jit import Array


def vector_fit(
    omega: Float[Array, " f"],
    K: Complex[Array, "f entry"],
    n_poles: int,
    *,
    weight: Float[Array, " f"] | None = None,
    iterations: int = 12,
    largest: float = 3.0,
) -> tuple[Complex[Array, " k"], Complex[Array, "k entry"]]:
    r"""Common poles and residues of a strictly proper transfer function.

    .. math:: K(i\omega) \approx \sum_k \frac{R_k}{i\omega - p_k}

    Gustavsen and Semlyen (1999), eqs. 2-10; Gustavsen (2006), eqs. 8-9 (relaxed weight).

    Args:
        omega: frequencies of the data [rad/s].
        K: one column per entry of the matrix.
        n_poles: how many poles; they start as complex pairs.
        weight: quadrature weight of each frequency, default 1.
        iterations: how often the poles are moved.
        largest: poles stay within this many times the highest frequency.

    Returns:
        stable poles, complex ones as neighbouring conjugate pairs, and their residues.
    """
    s = 1j * omega
    root = np.sqrt(weight) if weight is not None else np.ones(omega.size)
    # poles of the first round: lightly damped pairs across the band
    pairs = np.linspace(omega[0] + 1e-3 * omega[-1], omega[-1], max(n_poles // 2, 1))
    poles = np.ravel(np.column_stack([-0.05 * pairs + 1j * pairs, -0.05 * pairs - 1j * pairs]))
    if n_poles % 2:
        poles = np.append(poles, -omega[-1] + 0j)
    poles = poles[:n_poles] if n_poles > 1 else np.array([-omega[-1] + 0j])
    for _ in range(iterations):
        poles = _move(s, K, poles, root)
        poles = _contained(poles, largest * omega[-1])
    return poles, residues(s, K, poles, root)


def residues(s: Array, K: Array, poles: Array, root: Array) -> Array:
    """Least-squares residues for given poles, conjugate for conjugate poles."""
    basis = _basis(s, poles) * root[:, None]
    rows = np.vstack([basis.real, basis.imag])
    data = K * root[:, None]
    x, *_ = np.linalg.lstsq(rows, np.vstack([data.real, data.imag]), rcond=None)
    out = x.astype(complex)
    for k in _heads(poles):
        out[k], out[k + 1] = x[k] + 1j * x[k + 1], x[k] - 1j * x[k + 1]
    return out


def _heads(poles: Array) -> list[int]:
    """Index of the first of each conjugate pair."""
    return [k for k in range(len(poles)) if poles[k].imag > 0]


def _basis(s: Array, poles: Array) -> Array:
    """Partial fractions with real coefficients (Gustavsen and Semlyen 1999, eq. A.3)."""
    out = 1.0 / (s[:, None] - poles)
    for k in _heads(poles):
        a, b = out[:, k].copy(), out[:, k + 1].copy()
        out[:, k], out[:, k + 1] = a + b, 1j * (a - b)
    return out


def _move(s: Array, K: Array, poles: Array, root: Array) -> Array:
    """New poles: the zeros of the weight function found with the old ones."""
    n, basis = len(poles), _basis(s, poles)
    left = basis * root[:, None]
    left = np.vstack([left.real, left.imag])
    q, _ = np.linalg.qr(left)
    sigma = np.column_stack([basis, np.ones(len(s))])
    gram = np.zeros((n + 1, n + 1))
    # eliminate the residues of every entry; what is left concerns the weight only
    for column in K.T:
        right = -sigma * (column * root)[:, None]
        right = np.vstack([right.real, right.imag])
        right -= q @ (q.T @ right)
        gram += right.T @ right
    # relaxed condition: the mean of the weight over the band is one
    mean = sigma.real.sum(axis=0)
    size = np.sqrt(np.abs(K * root[:, None]) ** 2).sum() / len(s)
    gram += (size**2) * np.outer(mean, mean)
    x = np.linalg.lstsq(gram, size**2 * len(s) * mean, rcond=1e-14)[0]
    c, d = x[:-1], x[-1]
    if abs(d) < 1e-8:
        d = 1e-8 if d >= 0 else -1e-8
    # zeros of d + sum c/(s - p): eigenvalues of a real matrix
    M, b = np.zeros((n, n)), np.zeros(n)
    k = 0
    while k < n:
        if poles[k].imag > 0:
            a, w = poles[k].real, poles[k].imag
            M[k : k + 2, k : k + 2] = [[a, w], [-w, a]]
            b[k] = 2.0
            k += 2
        else:
            M[k, k], b[k] = poles[k].real, 1.0
            k += 1
    return np.linalg.eigvals(M - np.outer(b, c) / d)


def _contained(poles: Array, radius: float) -> Array:
    """Stable poles inside a circle, conjugate pairs adjacent, all with damping."""
    size = np.maximum(np.abs(poles), 1e-12)
    poles = poles * np.minimum(1.0, radius / size)
    real = np.abs(poles.imag) < 1e-9 * np.abs(poles).max()
    decay = np.maximum(np.abs(poles.real), 1e-3 * np.abs(poles))
    up = poles.imag > 0
    pairs = list((-decay + 1j * poles.imag)[up & ~real])
    flat = [complex(-d) for d in decay[real]]
    return np.array(
        [z for p in sorted(pairs, key=abs) for z in (p, np.conj(p))] + sorted(flat, key=abs)
    )
