r"""The periodic equations with driven elements: their motion under given forces, and derivatives.

At a node the actuator forces u are further unknowns beside w = (y, y', y''), and strokes and rates
of the driven elements further values. JAX gives first and second derivatives there; series, memory
and sums over nodes are plain matrix products (`periodic_nodes`).
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
from swelltree.spatial.in_numpy import in_numpy
from swelltree.spatial.products import compact
from swelltree.studies.control_ports import Ports, port_motion, with_signals
from swelltree.studies.periodic_nodes import Nodes, in_chunks, slopes_of, traced, values_of
from swelltree.studies.periodic_problem import Period, node, sizes, state_at

Place = tuple[tuple[str, int], ...]


def driven_node(how: Formulation, place: Place, period: Period, t: Any, w: Any) -> tuple[Any, ...]:
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
def _second(how: Formulation, place: Place) -> Any:
    """Program for the Hessian at all nodes of a weighted sum of everything."""

    def one(period: Period, t: Any, w: Any, weight: Any) -> Any:
        def total(w: Any) -> Any:
            found = traced(driven_node, how, place)(period, t, w)
            return sum((a * b).sum() for a, b in zip(weight, found, strict=True))

        return jax.jacfwd(jax.grad(total))(w)

    return in_numpy(jax.vmap(one, in_axes=(None, 0, 0, 0)))


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


class DrivenNodes(Nodes):
    """The periodic problem with driven elements."""

    def __init__(self, how: Formulation, period: Period, ports: Ports, held: np.ndarray) -> None:
        super().__init__(how, period)
        self.ports = ports
        self.p = len(ports)
        self.keep = np.ones((self.p, self.c), bool)
        self.keep[:, 0] = held
        self.keep = self.keep.reshape(-1)
        # strokes and rates are products of series: twice the harmonics
        out = min(2 * period.basis.harmonics, (self.count - 1) // 2)
        self.out = np.asarray(basis(2 * np.pi / self.omega, out, self.count).project)

    def values_program(self) -> Any:
        return values_of(driven_node, self.how, self.ports.place)

    def slopes_program(self) -> Any:
        return slopes_of(driven_node, self.how, self.ports.place)

    # --- the motion under a given u -----------------------------------------------------
    def series(self, z: np.ndarray) -> np.ndarray:
        """u at the nodes of the unknowns z, (nodes, p)."""
        full = np.zeros(self.p * self.c)
        full[self.keep] = z
        return self.B[0] @ full.reshape(self.p, self.c).T

    def evaluate(self, Y: np.ndarray, a: np.ndarray) -> tuple[Any, Any, np.ndarray, np.ndarray]:
        """Values and slopes at the nodes, memory force, residual (c, u)."""
        values, slopes, mu = self.with_slopes(np.concatenate([self.inputs(Y), a], axis=1))
        return values, slopes, mu, self.residual(Y, values, mu)

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
        rho = self.node_slopes(found.slopes, found.memory_force)
        u, c, p = self.u, self.c, self.p
        at = rho[:, :, None, 3 * u :] * self.B[0][:, None, :, None]  # (nodes, u, c, p)
        Jz = np.tensordot(self.basis.project, at, 1)
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
        at = self.basis.project.T @ lam  # (nodes, u)
        across = np.einsum("jbn,jn->jb", values[2], at[:, : self.n])
        nu = self.convolved(across, adjoint=True)
        of_P = -found.memory_force[:, :, None] * at[:, None, : self.n]
        w = np.concatenate([self.inputs(found.Y), found.a], axis=1)
        weight = (at, nu, of_P, of_x, of_rate)
        program = _second(self.how, self.ports.place)
        H = in_chunks(program, 2 * w.shape[1], self.bare, self.time, w, weight)
        z = W.shape[2]
        total = np.tensordot(W, H @ W, axes=([0, 1], [0, 1]))
        if np.any(self.memory):
            A = np.einsum("jbnw,jn->jbw", slopes[2], at[:, : self.n])
            left = (A @ W).reshape(-1, z)
            right = self.convolved(slopes[1] @ W).reshape(-1, z)
            cross = left.T @ right
            total = total + cross + cross.T
        return total
