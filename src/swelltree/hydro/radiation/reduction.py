"""Linear state space: realisation, balanced truncation, Hankel identification, modal form."""

import numpy as np
from jaxtyping import Complex, Float

from swelltree.jit import Array

StateSpace = tuple[Array, Array, Array]


def realise(poles: Complex[Array, " k"], R: Complex[Array, "k m m"]) -> StateSpace:
    """Real matrices A, B, C with the given poles and matrix residues (Gilbert's form)."""
    m = R.shape[1]
    one, zero = np.eye(m), np.zeros((m, m))
    diagonal, inputs, outputs = [], [], []
    for p, r in zip(poles, R, strict=True):
        if p.imag > 0:
            diagonal.append(np.block([[p.real * one, p.imag * one], [-p.imag * one, p.real * one]]))
            inputs.append(np.vstack([2 * one, zero]))
            outputs.append(np.hstack([r.real, r.imag]))
        elif p.imag == 0:
            diagonal.append(p.real * one)
            inputs.append(one)
            outputs.append(r.real)
    return _block_diagonal(diagonal), np.vstack(inputs), np.hstack(outputs)


def _block_diagonal(blocks: list[Array]) -> Array:
    n = sum(b.shape[0] for b in blocks)
    out, k = np.zeros((n, n)), 0
    for b in blocks:
        out[k : k + b.shape[0], k : k + b.shape[0]] = b
        k += b.shape[0]
    return out


def balance(A: Array, B: Array, C: Array) -> tuple[Float[Array, " k"], Array, Array]:
    """Hankel singular values and the two projections of balanced truncation.

    Square-root method (Tombs and Postlethwaite 1987): keep the first columns of the right and rows
    of
    the left projection.
    """
    from scipy.linalg import solve_continuous_lyapunov

    reach = _root(solve_continuous_lyapunov(A, -B @ B.T))
    watch = _root(solve_continuous_lyapunov(A.T, -C.T @ C))
    U, sigma, Vt = np.linalg.svd(watch.T @ reach)
    keep = sigma > 1e-10 * sigma[0]
    sigma, U, Vt = sigma[keep], U[:, keep], Vt[keep]
    return sigma, reach @ Vt.T / np.sqrt(sigma), (watch @ U / np.sqrt(sigma)).T


def _root(X: Array) -> Array:
    """Factor of a positive semi-definite matrix."""
    values, vectors = np.linalg.eigh((X + X.T) / 2)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def truncate(A: Array, B: Array, C: Array, right: Array, left: Array, order: int) -> StateSpace:
    """The balanced model of a given order."""
    T, S = right[:, :order], left[:order]
    return S @ A @ T, S @ B, C @ T


def response(A: Array, B: Array, C: Array, omega: Float[Array, " f"]) -> Complex[Array, "f p m"]:
    """C (i omega - A)^-1 B."""
    Z = 1j * omega[:, None, None] * np.eye(A.shape[0]) - A
    return C @ np.linalg.solve(Z, np.broadcast_to(B, (omega.size, *B.shape)))


def hankel_identify(
    step: float, K: Float[Array, "lag m m"], order: int, *, size: int = 600
) -> tuple[StateSpace, int]:
    r"""Continuous model whose impulse response passes through the samples of K.

    The samples of :math:`K(t) = C e^{A t} B` fill a Hankel matrix of rank `order`; its singular
    vectors
    give :math:`e^{A h}`, B and C (Kung 1978; Juang and Pappa 1985), as Kristiansen and Egeland
    (2003) do
    for radiation. Nothing in the method keeps the model stable: growing modes are mirrored.

    Args:
        step: time h between samples [s].
        K: impulse response at 0, h, 2 h, ...
        order: number of states.
        size: rows of the Hankel matrix, about; the samples are thinned to fit.

    Returns:
        A, B, C and how many modes had to be mirrored or dropped.
    """
    n, m, _ = K.shape
    rows = min(max(size // m, 12), (n - 1) // 2)
    skip = max(1, (n - 1) // (2 * rows))
    h, G = step * skip, K[::skip]
    rows = min(rows, (G.shape[0] - 1) // 2)
    H = np.block([[G[i + j] for j in range(rows)] for i in range(rows + 1)])
    U, sigma, Vt = np.linalg.svd(H, full_matrices=False)
    order = min(order, int((sigma > 1e-12 * sigma[0]).sum()))
    watch, reach = U[:, :order] * np.sqrt(sigma[:order]), np.sqrt(sigma[:order, None]) * Vt[:order]
    z, V = modes(np.linalg.lstsq(watch[:-m], watch[m:], rcond=None)[0])
    inputs, outputs = np.linalg.solve(V, reach[:, :m]), watch[:m] @ V
    # a real negative z turns sign at every sample: no continuous mode does that
    keep = ~((z.imag == 0) & (z.real <= 0))
    grows = keep & (np.abs(z) >= 1)
    z = np.where(grows, z / np.maximum(np.abs(z), 1e-12) ** 2 * 0.999, z)[keep]
    poles = np.log(z) / h
    diagonal, left, right = [], [], []
    for p, b, c in zip(poles, inputs[keep], outputs.T[keep], strict=True):
        if p.imag > 0:
            diagonal.append(np.array([[p.real, p.imag], [-p.imag, p.real]]))
            left.append(2 * np.array([b.real, -b.imag]))
            right.append(np.column_stack([c.real, c.imag]))
        elif p.imag == 0:
            diagonal.append(np.array([[p.real]]))
            left.append(b.real[None])
            right.append(c.real[:, None])
    changed = int(grows.sum() + (~keep).sum())
    return (_block_diagonal(diagonal), np.vstack(left), np.hstack(right)), changed


def modes(A: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors as complex arrays."""
    values, vectors = np.linalg.eig(A)
    return values.astype(complex), vectors.astype(complex)


def modal(
    A: Array, B: Array, C: Array
) -> tuple[StateSpace, Complex[Array, " k"], Float[Array, "k k"], float]:
    """Real block-diagonal form: pairs [[a, w], [-w, a]] first, then real poles.

    Returns:
        the new matrices, the poles in the order of the states, the matrix T with chi_old = T
        chi_new, and its
        condition number.
    """
    poles, V = modes(A)
    pairs = sorted(np.flatnonzero(poles.imag > 0), key=lambda k: abs(poles[k]))
    reals = sorted(np.flatnonzero(poles.imag == 0), key=lambda k: abs(poles[k]))
    columns, order = [], []
    for k in pairs:
        # turn the vector so that its parts are perpendicular and equally long as far as possible
        z = V[:, k]
        z = z * np.exp(-0.5j * np.angle(np.sum(z * z)))
        columns += [z.real, z.imag]
        order += [poles[k], np.conj(poles[k])]
    for k in reals:
        columns.append(V[:, k].real)
        order.append(poles[k])
    T = np.column_stack(columns) if columns else np.zeros((0, 0))
    back = np.linalg.inv(T) if columns else T
    # same size of input and output for each block
    width = [2] * len(pairs) + [1] * len(reals)
    gauge = np.ones(A.shape[0])
    k = 0
    for n in width:
        into, out = np.linalg.norm(back[k : k + n] @ B), np.linalg.norm(C @ T[:, k : k + n])
        if into > 0 and out > 0:
            gauge[k : k + n] = np.sqrt(into / out)
        k += n
    T, back = T * gauge, back / gauge[:, None]
    blocks = np.zeros_like(A)
    for k, p in enumerate(order):
        blocks[k, k] = p.real
        if p.imag > 0:
            blocks[k, k + 1], blocks[k + 1, k] = p.imag, -p.imag
    return (
        (blocks, back @ B, C @ T),
        np.array(order, dtype=complex),
        T,
        float(np.linalg.cond(T)) if columns else 1.0,
    )
