r"""The periodic equations with driven elements, node by node, with all derivatives.

At a node the unknowns are w = (y, y', y'', u): displacements with their rates, and the actuator
forces. JAX gives residual, body velocities, transformation P, strokes and rates there, with first
and second derivatives in w; series, memory and sums over nodes are plain matrix products. That
keeps the compiled programs small, whatever the number of harmonics.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from swelltree.formulations import Formulation
from swelltree.model.signals import Constant
from swelltree.solvers.fourier import basis
from swelltree.spatial.engine import jax
from swelltree.spatial.products import compact
from swelltree.studies.control_ports import Ports, port_motion, with_signals
from swelltree.studies.periodic_problem import Period, node, sizes, state_at

Place = tuple[tuple[str, int], ...]


def _at(how: Formulation, place: Place, period: Period, t: Any, w: Any) -> tuple[Any, ...]:
    """Residual without radiation, body velocities, P, strokes (not from zero) and rates."""
    u = sum(sizes(how, period))
    p = len(place)
    y, y_rate, y_second, a = w[:u], w[u : 2 * u], w[2 * u : 3 * u], w[3 * u :]
    nothing = np.zeros(p)
    ports = Ports(("",) * p, place, nothing, nothing, nothing, (False,) * p)
    model = with_signals(period.model, ports, [Constant(a[i]) for i in range(p)])
    own = replace(period, model=model)
    with compact():
        r, v, P = node(how, own, t, y, y_rate, y_second)
        n = period.rest.s.shape[0]
        state, _ = state_at(how, own, y[:n], y_rate[:n])
        x, rate = port_motion(ports, model, how.kinematics(model, t, state).motion)
    return r, v, P, x, rate


@functools.lru_cache(maxsize=32)
def _first(how: Formulation, place: Place) -> Any:
    """Compiled values and first derivatives at all nodes."""

    def one(period: Period, t: Any, w: Any) -> Any:
        def both(w: Any) -> Any:
            out = _at(how, place, period, t, w)
            return out, out

        slopes, values = jax.jacfwd(both, has_aux=True)(w)
        return values, slopes

    return jax.jit(jax.vmap(one, in_axes=(None, 0, 0)))


@functools.lru_cache(maxsize=32)
def _second(how: Formulation, place: Place) -> Any:
    """Compiled Hessian at all nodes of a weighted sum of everything."""

    def one(period: Period, t: Any, w: Any, weight: Any) -> Any:
        def total(w: Any) -> Any:
            r, v, P, x, rate = _at(how, place, period, t, w)
            of_r, of_P, of_v, of_x, of_rate = weight
            return of_r @ r + (of_P * P).sum() + of_v @ v + of_x @ x + of_rate @ rate

        return jax.jacfwd(jax.grad(total))(w)

    return jax.jit(jax.vmap(one, in_axes=(None, 0, 0, 0)))


@dataclass
class Solved:
    """A periodic motion under given actuator series, with what its derivatives need."""

    Y: np.ndarray  # (c, u)
    a: np.ndarray  # (nodes, p)
    values: tuple[np.ndarray, ...]
    slopes: tuple[np.ndarray, ...]
    memory_force: np.ndarray  # (nodes, 6N)
    jacobian: np.ndarray  # (c u, c u)
    iterations: int


class Nodes:
    """The periodic problem with driven elements."""

    def __init__(self, how: Formulation, period: Period, ports: Ports, held: np.ndarray) -> None:
        self.how, self.period, self.ports = how, period, ports
        self.omega = float(period.basis.omega)
        b = period.basis
        self.B = tuple(np.asarray(x) for x in (b.value, b.rate, b.second))
        self.project = np.asarray(b.project)
        self.memory = np.asarray(period.memory)
        self.count, self.c = self.B[0].shape
        self.u = sum(sizes(how, period))
        self.n = period.rest.s.shape[0]
        self.p = len(ports)
        self.keep = np.ones((self.p, self.c), bool)
        self.keep[:, 0] = held
        self.keep = self.keep.reshape(-1)
        # strokes and rates are products of series: twice the harmonics
        out = min(2 * b.harmonics, (self.count - 1) // 2)
        self.out = np.asarray(basis(2 * np.pi / self.omega, out, self.count).project)
        self.time = np.asarray(b.time)
        self.evaluations = 0

    # --- the motion under a given u -----------------------------------------------------
    def _convolved(self, v: np.ndarray, adjoint: bool = False) -> np.ndarray:
        """Memory of body velocities, or its adjoint, along the first axis."""
        K = np.conj(np.swapaxes(self.memory, 1, 2)) if adjoint else self.memory
        hat = np.fft.rfft(v, axis=0)
        flat = hat.reshape(len(hat), hat.shape[1], -1)
        force = (K @ flat).reshape(hat.shape)
        if self.count % 2 == 0:
            force[-1] = force[-1].real
        return np.fft.irfft(force, n=self.count, axis=0)

    def series(self, z: np.ndarray) -> np.ndarray:
        """u at the nodes of the unknowns z, (nodes, p)."""
        full = np.zeros(self.p * self.c)
        full[self.keep] = z
        return self.B[0] @ full.reshape(self.p, self.c).T

    def evaluate(self, Y: np.ndarray, a: np.ndarray) -> tuple[Any, Any, np.ndarray, np.ndarray]:
        """Values and slopes at the nodes, memory force, residual (c, u)."""
        w = np.concatenate([*(B @ Y for B in self.B), a], axis=1)
        values, slopes = _first(self.how, self.ports.place)(self.period, self.time, w)
        values = tuple(np.asarray(x) for x in values)
        slopes = tuple(np.asarray(x) for x in slopes)
        self.evaluations += 1
        r, v, P = values[:3]
        mu = -self._convolved(v)
        tau = r.copy()
        tau[:, : self.n] -= np.einsum("jbn,jb->jn", P, mu)
        R = self.project @ tau
        for d, e in zip(self.period.pinned, self.period.unbalanced, strict=True):
            d, e = np.asarray(d), np.asarray(e)
            R[0] = R[0] - (e @ R[0]) * e + (d @ Y[0]) * e
        return values, slopes, mu, R

    def _node_slopes(self, values: Any, slopes: Any, mu: np.ndarray) -> np.ndarray:
        """Slopes of the residual at nodes with the memory force held, (nodes, u, w)."""
        out = slopes[0].copy()
        out[:, : self.n] -= np.einsum("jbnw,jb->jnw", slopes[2], mu)
        return out

    def jacobian(self, values: Any, slopes: Any, mu: np.ndarray) -> np.ndarray:
        """Of the residual coefficients in Y, (c u, c u)."""
        u, c = self.u, self.c
        rho, V, P = self._node_slopes(values, slopes, mu), slopes[1], values[2]
        # node residual per coefficient: (nodes, u, c, u)
        at: Any = sum(
            rho[:, :, None, k * u : (k + 1) * u] * self.B[k][:, None, :, None] for k in range(3)
        )
        if np.any(self.memory):
            moved: Any = sum(
                V[:, :, None, k * u : (k + 1) * u] * self.B[k][:, None, :, None] for k in range(2)
            )
            back = self._convolved(moved)
            at[:, : self.n] += np.einsum("jbn,jbcu->jncu", P, back)
        J = np.tensordot(self.project, at, 1)  # (c, u, c, u)
        for d, e in zip(self.period.pinned, self.period.unbalanced, strict=True):
            d, e = np.asarray(d), np.asarray(e)
            J[0] -= np.einsum("a,bcd,b->acd", e, J[0], e)
            J[0, :, 0, :] += np.outer(e, d)
        return J.reshape(c * u, c * u)

    def solve(
        self, a: np.ndarray, Y: np.ndarray, tol: float = 1e-12, max_iterations: int = 25
    ) -> Solved | None:
        """Newton with a natural monotonicity test; None when it fails."""
        values, slopes, mu, R = self.evaluate(Y, a)
        last = np.inf
        for k in range(max_iterations):
            J = self.jacobian(values, slopes, mu)
            try:
                inverse = np.linalg.inv(J)
            except np.linalg.LinAlgError:
                return None
            step = -(inverse @ R.reshape(-1)).reshape(Y.shape)
            size = float(np.abs(step).max())
            if not np.isfinite(size):
                return None
            scale = max(1.0, float(np.abs(Y).max()))
            if size <= tol * scale or (size <= 1e-9 * scale and size > 0.3 * last):
                return Solved(Y, a, values, slopes, mu, J, k)
            last = size
            part = 1.0
            while True:
                tried = Y + part * step
                values, slopes, mu, R = self.evaluate(tried, a)
                ahead = float(np.abs(inverse @ R.reshape(-1)).max())
                if np.isfinite(ahead) and (ahead < (1 - 0.25 * part) * size or size < 1e-9 * scale):
                    break
                part *= 0.5
                if part < 1e-3:
                    return None
            Y = tried
        return None

    # --- derivatives ---------------------------------------------------------------------
    def sensitivity(self, found: Solved) -> np.ndarray:
        """Change of w at the nodes with the unknowns, (nodes, w, z)."""
        rho = self._node_slopes(found.values, found.slopes, found.memory_force)
        u, c, p = self.u, self.c, self.p
        at = rho[:, :, None, 3 * u :] * self.B[0][:, None, :, None]  # (nodes, u, c, p)
        Jz = np.tensordot(self.project, at, 1)
        for e in self.period.unbalanced:
            e = np.asarray(e)
            Jz[0] -= np.einsum("a,bcp,b->acp", e, Jz[0], e)
        # unknowns run element by element
        Jz = np.moveaxis(Jz, 3, 2).reshape(c * u, p * c)[:, self.keep]
        S = -np.linalg.solve(found.jacobian, Jz).reshape(c, u, -1)
        parts = [np.tensordot(B, S, 1) for B in self.B]
        own = np.zeros((self.count, p, p * c))
        for i in range(p):
            own[:, i, i * c : (i + 1) * c] = self.B[0]
        return np.concatenate([*parts, own[:, :, self.keep]], axis=1)

    def curvature(
        self, found: Solved, W: np.ndarray, of_x: np.ndarray, of_rate: np.ndarray
    ) -> np.ndarray:
        """Second derivatives in z of sums of strokes and rates at nodes, weighted (nodes, p)."""
        u = self.u
        slopes, values = found.slopes, found.values
        slope = np.einsum("jp,jpw->jw", of_x, slopes[3]) + np.einsum(
            "jp,jpw->jw", of_rate, slopes[4]
        )
        in_Y = sum(self.B[k].T @ slope[:, k * u : (k + 1) * u] for k in range(3))
        lam = -np.linalg.solve(found.jacobian.T, np.reshape(in_Y, -1)).reshape(self.c, u)
        for e in self.period.unbalanced:
            e = np.asarray(e)
            lam[0] -= (e @ lam[0]) * e
        at = self.project.T @ lam  # (nodes, u)
        across = np.einsum("jbn,jn->jb", values[2], at[:, : self.n])
        nu = self._convolved(across, adjoint=True)
        of_P = -found.memory_force[:, :, None] * at[:, None, : self.n]
        w = np.concatenate([*(B @ found.Y for B in self.B), found.a], axis=1)
        H = np.asarray(
            _second(self.how, self.ports.place)(
                self.period, self.time, w, (at, of_P, nu, of_x, of_rate)
            )
        )
        z = W.shape[2]
        total = np.tensordot(W, H @ W, axes=([0, 1], [0, 1]))
        if np.any(self.memory):
            A = np.einsum("jbnw,jn->jbw", slopes[2], at[:, : self.n])
            left = (A @ W).reshape(-1, z)
            right = self._convolved(slopes[1] @ W).reshape(-1, z)
            cross = left.T @ right
            total = total + cross + cross.T
        return total
