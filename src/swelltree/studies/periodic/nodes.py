r"""The periodic equations node by node, with their derivatives.

At a node the unknowns are w = (y, y', y''), displacements with their rates, and further inputs a.
JAX gives residual r, body velocities v and transformation P there, and their slopes in w. Series,
memory and sums over nodes are plain products: with the memory force mu held,

.. math::
    R = \Pi\,(r - P^\top \mu), \qquad
    \delta R = \Pi\,\big[ (r_w - P_w^\top \mu)\, \delta w + P^\top K v_w\, \delta w \big]

so that a change of the residual costs no evaluation of the equations, and small systems have
their whole Jacobian. The programs do not depend on the number of harmonics.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from swelltree.integrate.fourier import Basis, at_nodes, to_coefficients
from swelltree.jit import XLA_REQUESTED, Array, Points, Tree
from swelltree.multibody.formulations import Formulation
from swelltree.spatial.rotations import compact
from swelltree.studies.periodic.problem import Period, flat, node, sizes


def derivative(basis: Basis, order: int) -> Tree:
    """Rows, columns and numbers of the matrix from coefficients to those of a derivative."""
    N = basis.harmonics
    k, w = np.arange(1, N + 1), float(basis.omega) * np.arange(1, N + 1)
    if order == 0:
        every = np.arange(2 * N + 1)
        return every, every, np.ones(2 * N + 1)
    if order == 1:
        return np.concatenate([k, k + N]), np.concatenate([k + N, k]), np.concatenate([w, -w])
    both = np.concatenate([k, k + N])
    return both, both, -(np.concatenate([w, w]) ** 2)


@functools.lru_cache(maxsize=8)
def _places(harmonics: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Differences and sums of two harmonics, as indices of a spectrum."""
    k = np.arange(harmonics + 1)
    return (k[:, None] - k) % count, (k[:, None] + k) % count


def mean_products(basis: Basis, rho: np.ndarray) -> np.ndarray:
    """Means over the nodes of rho times two basis functions, (c, c), symmetric."""
    N, count = basis.harmonics, len(rho)
    minus, plus = _places(N, count)
    hat = 0.5 * np.fft.fft(rho) / count
    cos, sin = hat.real, -hat.imag  # half the means of rho cos(m w t), rho sin(m w t)
    less, more = cos[minus], cos[plus]
    out = np.empty((2 * N + 1, 2 * N + 1))
    out[: N + 1, : N + 1] = less + more
    out[N + 1 :, N + 1 :] = (less - more)[1:, 1:]
    out[N + 1 :, : N + 1] = (sin[minus] + sin[plus])[1:]
    out[: N + 1, N + 1 :] = out[N + 1 :, : N + 1].T
    return out


def differentiated(basis: Basis, x: np.ndarray, order: int) -> np.ndarray:
    """Coefficients, first axis, of a derivative of series."""
    if order == 0:
        return x
    rows, columns, numbers = derivative(basis, order)
    out = np.zeros_like(x)
    out[rows] = numbers.reshape(-1, *(1,) * (x.ndim - 1)) * x[columns]
    return out


def series_jacobian(basis: Basis, rho: np.ndarray) -> np.ndarray:
    """Slope of the coefficients of sum(rho_k y^(k)) in those of y, rho (nodes, orders)."""
    c = 2 * basis.harmonics + 1
    out = np.zeros((c, c))
    for k in range(rho.shape[1]):
        column = rho[:, k]
        rows, columns, numbers = derivative(basis, k)
        if (column == column[0]).all():
            if column[0] != 0.0:
                out[rows, columns] += column[0] * numbers
        else:
            means = mean_products(basis, column)
            means[1:] *= 2.0
            if k == 0:
                out += means
            else:
                out[:, columns] += means[:, rows] * numbers
    return out


class Steady:
    """Cache of which arrays are equal at all nodes."""

    def __init__(self) -> None:
        self.met: dict[int, tuple[np.ndarray, bool, bool]] = {}

    def _look(self, x: np.ndarray) -> tuple[np.ndarray, bool, bool]:
        known = self.met.get(id(x))
        if known is None or known[0] is not x:
            while len(self.met) >= 16:
                self.met.pop(next(iter(self.met)))
            known = self.met[id(x)] = (x, bool((x == x[:1]).all()), bool(x.any()))
        return known

    def all(self, x: np.ndarray) -> bool:
        """Whether x (nodes, ...) is equal at all nodes."""
        return self._look(x)[1]

    def any(self, x: np.ndarray) -> bool:
        """Whether x has nonzero entries."""
        return self._look(x)[2]


UNROLL_LIMIT = 6  # unknowns of a node up to which they are taken individually
Values = tuple[np.ndarray, ...]  # r (nodes, u), v (nodes, 6N), P (nodes, 6N, n), and more


def at_node(how: Formulation, period: Period, t: Array, w: Array) -> tuple[Tree, Tree, Tree]:
    """Residual without radiation, body velocities and P of w = (y, y', y'')."""
    u = sum(sizes(how, period))
    with compact():
        return node(how, period, t, w[:u], w[u : 2 * u], w[2 * u :])


@functools.lru_cache(maxsize=32)
def points_of(function: Callable[..., Tree], *static: object) -> Points:
    """function(*static, period, t, w) at all nodes: values, slopes and second derivatives in w."""
    return Points(functools.partial(function, *static), many=True, share=True)


class Nodes:
    """Residual of a periodic problem and its derivatives."""

    def __init__(self, how: Formulation, period: Period) -> None:
        self.how, self.period = how, period
        self.bare = period.bare()
        b = period.basis
        self.basis = b
        self.omega = float(b.omega)
        self.memory = np.asarray(period.memory)
        self.remembers = bool(np.any(self.memory))
        self.time = np.asarray(b.time)
        self.count, self.c = len(self.time), 2 * b.harmonics + 1
        self.u = sum(sizes(how, period))
        self.n = period.rest.s.shape[0]
        states = np.abs(np.asarray(flat(period.internal)))
        self.states = np.where(states > 0.0, states, 1.0)
        self.pinned = np.asarray(period.pinned)
        self.unbalanced = np.asarray(period.unbalanced)
        self.steady = Steady()
        self.evaluations = 0

    def size(self, change: np.ndarray) -> float:
        """Size of a change of the coefficients: displacements, and states by their own size."""
        moved = np.abs(change[:, : self.n]).max(initial=0.0)
        states = np.abs(change[:, change.shape[1] - len(self.states) :]) / self.states
        return float(max(moved, states.max(initial=0.0)))

    @property
    def B(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Matrices from coefficients to values, rates and second rates at the nodes."""
        return self.basis.value, self.basis.rate, self.basis.second

    # --- programs, which further inputs extend ---------------------------------------------
    @functools.cached_property
    def points(self) -> Points:
        return points_of(at_node, self.how)

    def prepare(self) -> None:
        """Compile the program."""
        zero = np.zeros((self.count, self.inputs_size))
        self.points.values(self.bare, self.time, zero)

    def slower(self) -> str:
        """Message about what prevents native code."""
        if not self.points.reason or self.points.reason == XLA_REQUESTED:
            return ""
        return (
            f"The equations are compiled by XLA because of {self.points.reason} (in a law, a "
            "signal or a force); without it they would take less time."
        )

    @property
    def inputs_size(self) -> int:
        """Number of unknowns of a node."""
        return 3 * self.u

    def inputs(self, Y: np.ndarray) -> np.ndarray:
        return np.concatenate(at_nodes(self.basis, Y), axis=1)

    # --- residual ------------------------------------------------------------------------
    def convolved(self, v: np.ndarray, adjoint: bool = False) -> np.ndarray:
        """Memory force of body velocities, or its adjoint, along the first axis."""
        K = np.conj(np.swapaxes(self.memory, 1, 2)) if adjoint else self.memory
        hat = np.fft.rfft(v, axis=0)
        flat = hat.reshape(len(hat), hat.shape[1], -1)
        force = (K @ flat).reshape(hat.shape)
        if self.count % 2 == 0:
            force[-1] = force[-1].real
        return np.fft.irfft(force, n=self.count, axis=0)

    def at(self, w: np.ndarray) -> tuple[Values, np.ndarray]:
        """Values at the nodes and the memory force there."""
        self.evaluations += 1
        values = self.points.values(self.bare, self.time, w)
        return values, self.memory_force(values)

    def with_jacobians(self, w: np.ndarray) -> tuple[Values, Values, np.ndarray]:
        """Values, slopes and the memory force."""
        self.evaluations += 1
        values, jacobians = self.points.jacobians(self.bare, self.time, w)
        return values, jacobians, self.memory_force(values)

    def memory_force(self, values: Values) -> np.ndarray:
        """Memory force at the nodes, (nodes, 6N)."""
        return -self.convolved(values[1]) if self.remembers else np.zeros_like(values[1])

    def residual(self, Y: np.ndarray, values: Values, mu: np.ndarray) -> np.ndarray:
        """Coefficients (c, u), with pinned means in place of equations that cannot be balanced."""
        R = to_coefficients(self.basis, self.unprojected(values, mu))
        for d, e in zip(self.pinned, self.unbalanced, strict=True):
            R[0] = R[0] - (e @ R[0]) * e + (d @ Y[0]) * e
        return R

    def unprojected(self, values: Values, mu: np.ndarray) -> np.ndarray:
        """Residual at the nodes, (nodes, u)."""
        tau = np.array(values[0])
        tau[:, : self.n] -= np.einsum("jbn,jb->jn", values[2], mu)
        return tau

    def imbalance(self, values: Values, mu: np.ndarray) -> np.ndarray:
        """Mean force in each pinned direction."""
        return self.unbalanced @ self.unprojected(values, mu).mean(axis=0)

    # --- derivatives ---------------------------------------------------------------------
    def node_jacobians(self, jacobians: Values, mu: np.ndarray) -> np.ndarray:
        """Jacobians of the residual at nodes with constant memory force, (nodes, u, w)."""
        if not self.steady.any(jacobians[2]):
            return jacobians[0]
        out = np.array(jacobians[0])
        out[:, : self.n] -= np.einsum("jbnw,jb->jnw", jacobians[2], mu)
        return out

    def jacobian(self, values: Values, jacobians: Values, mu: np.ndarray) -> np.ndarray:
        """Jacobian of the residual coefficients, (c u, c u)."""
        u, c = self.u, self.c
        rho, V, P = self.node_jacobians(jacobians, mu), jacobians[1], values[2]
        if u <= UNROLL_LIMIT:
            J = np.zeros((u, u, c, c))
            for e, f in np.ndindex(u, u):
                J[e, f] = series_jacobian(self.basis, rho[:, e, f : 3 * u : u])
        else:
            # node residual per coefficient: (nodes, u, c, u)
            at: Array = sum(
                rho[:, :, None, k * u : (k + 1) * u] * self.B[k][:, None, :, None] for k in range(3)
            )
            J = np.tensordot(self.basis.project, at, 1).transpose(1, 3, 0, 2)
        if self.remembers:
            if self.steady.all(V) and self.steady.all(P):
                J[: self.n] += self._memory_jacobian(P[0], V[0])
            else:
                J[: self.n] += self._moving_memory_jacobian(P, V)
        for d, e in zip(self.pinned, self.unbalanced, strict=True):
            # the mean equations
            J[:, :, 0] -= np.einsum("a,bfc,b->afc", e, J[:, :, 0], e)
            J[:, :, 0, 0] += np.outer(e, d)
        return J.transpose(2, 0, 3, 1).reshape(c * u, c * u)

    def _memory_jacobian(self, P: np.ndarray, V: np.ndarray) -> np.ndarray:
        """Memory of constant directions, harmonic by harmonic, (n, u, c, c)."""
        u, N = self.u, self.basis.harmonics
        k = np.arange(N + 1)
        rates = V[:, :u] + 1j * self.omega * k[:, None, None] * V[:, u : 2 * u]
        Z: Tree = np.moveaxis(P.T @ self.memory[: N + 1] @ rates, 0, -1)  # (n, u, N + 1)
        out = np.zeros((*Z.shape[:2], self.c, self.c))
        cos, sin = k[1:], k[1:] + N
        out[..., k, k] = Z.real
        out[..., sin, sin] = Z.real[..., 1:]
        out[..., cos, sin], out[..., sin, cos] = Z.imag[..., 1:], -Z.imag[..., 1:]
        return out

    def _moving_memory_jacobian(self, P: np.ndarray, V: np.ndarray) -> np.ndarray:
        u, c, B = self.u, self.c, self.B
        moved: Tree = sum(
            V[:, :, None, k * u : (k + 1) * u] * B[k][:, None, :, None] for k in range(2)
        )
        # by matrix products over bodies, then over nodes
        back = self.convolved(moved.reshape(*moved.shape[:2], c * u))
        at = np.swapaxes(P, 1, 2) @ back
        J = np.tensordot(self.basis.project, at, 1)  # (c, n, c u)
        return J.reshape(c, self.n, c, u).transpose(1, 3, 0, 2)

    def along(
        self, values: Values, jacobians: Values, rho: np.ndarray, D: np.ndarray
    ) -> np.ndarray:
        """Directional derivative of the residual coefficients along D (c, u)."""
        w = self.inputs(D)
        tau = np.einsum("jew,jw->je", rho, w)
        if self.remembers:
            back = self.convolved(np.einsum("jbw,jw->jb", jacobians[1], w))
            tau[:, : self.n] += np.einsum("jbn,jb->jn", values[2], back)
        out = to_coefficients(self.basis, tau)
        for d, e in zip(self.pinned, self.unbalanced, strict=True):
            out[0] = out[0] - (e @ out[0]) * e + (d @ D[0]) * e
        return out
