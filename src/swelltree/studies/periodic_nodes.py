r"""The periodic equations node by node, with their derivatives.

At a node the unknowns are w = (y, y', y''), displacements with their rates, and further inputs a.
JAX gives residual r, body velocities v and transformation P there, and their slopes in w. Series,
memory and sums over nodes are plain products: with the memory force mu held,

.. math::
    R = \Pi\,(r - P^\top \mu), \qquad
    \delta R = \Pi\,\big[ (r_w - P_w^\top \mu)\, \delta w + P^\top K v_w\, \delta w \big]

so that a change of the residual costs no evaluation of the equations, and small systems have
their whole Jacobian. The programs do not depend on the number of harmonics and run in numpy.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from swelltree.formulations import Formulation
from swelltree.solvers.fourier import at_nodes, to_coefficients
from swelltree.spatial.engine import jax
from swelltree.spatial.in_numpy import in_numpy, staged
from swelltree.spatial.products import compact
from swelltree.studies.periodic_problem import Period, node, sizes

TOGETHER = 2560  # nodes times slopes evaluated together, which keeps arrays in the cache
Values = tuple[np.ndarray, ...]  # r (nodes, u), v (nodes, 6N), P (nodes, 6N, n), and more


def at_node(how: Formulation, period: Period, t: Any, w: Any) -> tuple[Any, Any, Any]:
    """Residual without radiation, body velocities and P of w = (y, y', y'')."""
    u = sum(sizes(how, period))
    with compact():
        return node(how, period, t, w[:u], w[u : 2 * u], w[2 * u :])


@functools.lru_cache(maxsize=32)
def traced(function: Any, *static: Any) -> Any:
    """function(*static, period, t, w), traced once for all that is made of it."""

    def one(period: Period, t: Any, w: Any) -> Any:
        return function(*static, period, t, w)

    return staged(one)


@functools.lru_cache(maxsize=32)
def values_of(function: Any, *static: Any) -> Any:
    """Program for the values of function(*static, period, t, w) at all nodes."""
    return in_numpy(jax.vmap(traced(function, *static), in_axes=(None, 0, 0)), fixed=2)


@functools.lru_cache(maxsize=32)
def slopes_of(function: Any, *static: Any) -> Any:
    """Program for values and slopes in w at all nodes."""

    def one(period: Period, t: Any, w: Any) -> Any:
        def both(w: Any) -> Any:
            out = traced(function, *static)(period, t, w)
            return out, out

        slopes, values = jax.jacfwd(both, has_aux=True)(w)
        return values, slopes

    return in_numpy(jax.vmap(one, in_axes=(None, 0, 0)), fixed=2)


def in_chunks(program: Any, slopes: int, period: Period, *batch: Any) -> Any:
    """A program over all nodes, some at a time; it takes so many slopes."""
    count = len(batch[0])
    parts = 1
    while count * slopes // parts > TOGETHER and count % (2 * parts) == 0:
        parts *= 2
    if parts == 1:
        return program(period, *batch)
    size = count // parts
    found = [
        program(period, *(jax.tree.map(lambda x, s=s: x[s], one) for one in batch))
        for s in (slice(k * size, (k + 1) * size) for k in range(parts))
    ]
    return jax.tree.map(lambda *x: np.concatenate(x), *found)


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
        self.pinned = np.asarray(period.pinned)
        self.unbalanced = np.asarray(period.unbalanced)
        self.evaluations = 0

    @property
    def B(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Matrices from coefficients to values, rates and second rates at the nodes."""
        return self.basis.value, self.basis.rate, self.basis.second

    # --- programs, which further inputs extend ---------------------------------------------
    def values_program(self) -> Any:
        """(period, t, w) -> values."""
        return values_of(at_node, self.how)

    def slopes_program(self) -> Any:
        """(period, t, w) -> values and slopes."""
        return slopes_of(at_node, self.how)

    def inputs(self, Y: np.ndarray) -> np.ndarray:
        """w at the nodes."""
        return np.concatenate(at_nodes(self.basis, Y), axis=1)

    # --- residual ------------------------------------------------------------------------
    def convolved(self, v: np.ndarray, adjoint: bool = False) -> np.ndarray:
        """Memory of body velocities, or its adjoint, along the first axis."""
        K = np.conj(np.swapaxes(self.memory, 1, 2)) if adjoint else self.memory
        hat = np.fft.rfft(v, axis=0)
        flat = hat.reshape(len(hat), hat.shape[1], -1)
        force = (K @ flat).reshape(hat.shape)
        if self.count % 2 == 0:
            force[-1] = force[-1].real
        return np.fft.irfft(force, n=self.count, axis=0)

    def at(self, w: np.ndarray) -> tuple[Values, np.ndarray]:
        """Values at the nodes and the memory force there."""
        values = in_chunks(self.values_program(), 1, self.bare, self.time, w)
        self.evaluations += 1
        return values, self.held(values)

    def with_slopes(self, w: np.ndarray) -> tuple[Values, Values, np.ndarray]:
        """Values, slopes and the memory force."""
        values, slopes = in_chunks(self.slopes_program(), w.shape[1], self.bare, self.time, w)
        self.evaluations += 1
        return values, slopes, self.held(values)

    def held(self, values: Values) -> np.ndarray:
        """Memory force at the nodes, (nodes, 6N)."""
        return -self.convolved(values[1]) if self.remembers else np.zeros_like(values[1])

    def residual(self, Y: np.ndarray, values: Values, mu: np.ndarray) -> np.ndarray:
        """Coefficients (c, u), pinned means put in place of what cannot be balanced."""
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
        """Mean force left over in each pinned direction."""
        return self.unbalanced @ self.unprojected(values, mu).mean(axis=0)

    # --- derivatives ---------------------------------------------------------------------
    def node_slopes(self, slopes: Values, mu: np.ndarray) -> np.ndarray:
        """Slopes of the residual at nodes with the memory force held, (nodes, u, w)."""
        out = np.array(slopes[0])
        out[:, : self.n] -= np.einsum("jbnw,jb->jnw", slopes[2], mu)
        return out

    def jacobian(self, values: Values, slopes: Values, mu: np.ndarray) -> np.ndarray:
        """Of the residual coefficients in Y, (c u, c u)."""
        u, c = self.u, self.c
        rho, V, P, B = self.node_slopes(slopes, mu), slopes[1], values[2], self.B
        # node residual per coefficient: (nodes, u, c, u)
        at: Any = sum(
            rho[:, :, None, k * u : (k + 1) * u] * B[k][:, None, :, None] for k in range(3)
        )
        if self.remembers:
            moved: Any = sum(
                V[:, :, None, k * u : (k + 1) * u] * B[k][:, None, :, None] for k in range(2)
            )
            # by matrix products over bodies, then over nodes
            back = self.convolved(moved.reshape(*moved.shape[:2], c * u))
            at[:, : self.n] += (np.swapaxes(P, 1, 2) @ back).reshape(self.count, self.n, c, u)
        J = np.tensordot(self.basis.project, at, 1)  # (c, u, c, u)
        for d, e in zip(self.pinned, self.unbalanced, strict=True):
            J[0] -= np.einsum("a,bcd,b->acd", e, J[0], e)
            J[0, :, 0, :] += np.outer(e, d)
        return J.reshape(c * u, c * u)

    def along(self, values: Values, slopes: Values, rho: np.ndarray, D: np.ndarray) -> np.ndarray:
        """Change of the residual coefficients along D (c, u), without evaluating anything."""
        w = self.inputs(D)
        tau = np.einsum("jew,jw->je", rho, w)
        if self.remembers:
            back = self.convolved(np.einsum("jbw,jw->jb", slopes[1], w))
            tau[:, : self.n] += np.einsum("jbn,jb->jn", values[2], back)
        out = to_coefficients(self.basis, tau)
        for d, e in zip(self.pinned, self.unbalanced, strict=True):
            out[0] = out[0] - (e @ out[0]) * e + (d @ D[0]) * e
        return out
