r"""What a series leaves out: the motion that its residual at the nodes would still make.

The equations are satisfied after projection on N harmonics. At the nodes, more than twice as many,
something is left: harmonics N + 1 and above. Divided by the impedance they are the motion that is
missing,

.. math:: \delta_k = -Z_k^{-1} \hat r_k, \qquad k > N

with the slopes of the equations averaged over the period in Z. The change that it makes in the
harmonics up to N comes from the residual of the motion with it.
"""

from __future__ import annotations

import numpy as np

from swelltree.engine.arrays import Array
from swelltree.solvers.fourier import at_nodes
from swelltree.studies.periodic.nodes import Nodes
from swelltree.studies.periodic.solve import with_pins

FINE = 64  # nodes that show what a short series leaves out


def truncation_error(nodes: Nodes, Y: np.ndarray) -> float:
    """Estimate of the largest displacement that the harmonics left out would add [m, rad].

    Args:
        nodes: the equations at `enough_nodes`.
        Y: coefficients of the motion found.
    """
    count, N = nodes.count, nodes.basis.harmonics
    known = at_nodes(nodes.basis, Y)
    values, jacobians, mu = nodes.with_jacobians(np.concatenate(known, axis=1))
    Z = _impedance(nodes, values[2].mean(axis=0), nodes.node_jacobians(jacobians, mu).mean(axis=0))
    left = np.fft.rfft(nodes.unprojected(values, mu), axis=0)
    left[: N + 1] = 0.0
    missing = -_solved(Z, left)
    s = 1j * nodes.omega * np.arange(count // 2 + 1)[:, None]
    wide = [np.fft.irfft(x * missing, n=count, axis=0) for x in (1.0, s, s * s)]
    # with the missing part, what is left in the harmonics below
    values, mu = nodes.at(np.concatenate([a + b for a, b in zip(known, wide, strict=True)], axis=1))
    below = np.fft.rfft(nodes.unprojected(values, mu), axis=0)
    below[N + 1 :] = 0.0
    missing[: N + 1] -= _solved(Z, below)[: N + 1]
    change = np.fft.irfft(missing, n=count, axis=0)[:, : nodes.n]
    return float(np.abs(change).max(initial=0.0))


def enough_nodes(harmonics: int) -> int:
    """Nodes that show what a series leaves out."""
    return max(2 * (2 * harmonics + 1), FINE)


def _impedance(nodes: Nodes, P: np.ndarray, jacobians: np.ndarray) -> np.ndarray:
    """Impedance at all harmonics of the transform, (count // 2 + 1, u, u)."""
    u, n = nodes.u, nodes.n
    R0, R1, R2 = (jacobians[:, k * u : (k + 1) * u] for k in range(3))
    s = 1j * nodes.omega * np.arange(nodes.count // 2 + 1)[:, None, None]
    Z = R0 + s * R1 + s * s * R2
    Z[:, :n, :n] += s * (P.T @ nodes.memory @ P)
    Z[0] = with_pins(Z[0], nodes.pinned, nodes.unbalanced)
    return Z


def _solved(Z: np.ndarray, r: Array) -> np.ndarray:
    try:
        return np.linalg.solve(Z, r[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return (np.linalg.pinv(Z) @ r[..., None])[..., 0]
