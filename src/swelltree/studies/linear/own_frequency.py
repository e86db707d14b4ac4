r"""Eigenvalues of a system whose added mass and damping depend on frequency.

With y the free directions, the accelerations of the model per displacement, per rate and per wrench
on its bodies, K, C and J, and T the body velocities per rate,

.. math::
    \left[\lambda^2 (I + J\,\Delta A(\omega)\,T) - \lambda (C - J B(\omega) T) - K\right] x = 0,
    \qquad \omega = |\mathrm{Im}\,\lambda|, \quad \Delta A = A(\omega) - A_{model}

Each mode that swings is followed from the added mass of the model to that of its own frequency;
those that do not swing have the added mass of the lowest frequency and no radiation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.effects.linear_hydro.in_sea import interpolated
from swelltree.engine.arrays import Array
from swelltree.engine.backend import jax, jnp

CONTINUED = 20  # steps from the mode of the model to that in the water
STILL = 1e-9  # rad/s relative to the fastest mode: slower counts as no oscillation


class Radiation:
    """Added mass beyond that of the model, and damping, at any frequency; (6N, 6N) each."""

    def __init__(self, table: Any, added_mass: Any) -> None:
        self.omega = np.asarray(table.omega)
        self.A, self.B = np.asarray(table.added_mass), np.asarray(table.radiation_damping)
        self.base = np.asarray(added_mass)

    def at(self, omega: float) -> tuple[np.ndarray, np.ndarray]:
        """Outside the data added mass stays; damping dies out towards zero frequency."""
        inside = np.clip(np.array([omega]), self.omega[0], self.omega[-1])
        A = interpolated(self.omega, self.A, inside)[0]
        B = interpolated(self.omega, self.B, inside)[0]
        return A - self.base, B * min(omega / self.omega[0], 1.0)

    def jacobians(self, omega: float) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives with frequency."""
        h = 1e-4 * max(omega, self.omega[0])
        (A0, B0), (A1, B1) = self.at(max(omega - h, 0.0)), self.at(omega + h)
        gap = omega + h - max(omega - h, 0.0)
        return (A1 - A0) / gap, (B1 - B0) / gap


def spectrum(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of a state matrix, swinging ones (one of each pair) first, and shapes (f, m)."""
    values, vectors = np.linalg.eig(A)
    f = A.shape[0] // 2
    size = np.abs(values)
    values = np.where(size < STILL * max(size.max(initial=0.0), 1e-300), 0.0, values)
    swing = np.imag(values)
    keep = sorted(np.flatnonzero(swing > 0), key=lambda i: size[i])
    keep += sorted(np.flatnonzero(swing == 0), key=lambda i: size[i])
    return values[keep], vectors[:f, keep]


def state_matrix(parts: Any, dA: np.ndarray, B: np.ndarray) -> np.ndarray:
    """State matrix of (y, ydot) with that much more added mass and damping."""
    K, C, J, T = parts
    M = np.eye(len(K)) + J @ dA @ T
    lower = np.linalg.solve(M, np.concatenate([K, C - J @ B @ T], axis=1))
    upper = np.concatenate([np.zeros_like(K), np.eye(len(K))], axis=1)
    return np.concatenate([upper, lower])


def own_frequency_modes(parts: Any, radiation: Radiation) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and shapes (f, m), each with the added mass and damping of its frequency."""

    def at(omega: float, share: float) -> tuple[np.ndarray, np.ndarray]:
        dA, B = radiation.at(omega)
        return spectrum(state_matrix(parts, share * dA, share * B))

    def swinging(omega: float, share: float) -> tuple[np.ndarray, np.ndarray]:
        values, shapes = at(omega, share)
        own = np.imag(values) > 0
        return values[own], shapes[:, own]

    T = parts[3]
    lam, shapes = [], []
    for found, shape in zip(*(x.T for x in swinging(0.0, 0.0)), strict=True):
        # the water comes in little by little, and the mode is known again by its shape
        for share in np.linspace(0.0, 1.0, CONTINUED + 1)[1:]:
            omega = float(np.imag(found))
            for _ in range(100 if share == 1.0 else 1):
                values, vectors = swinging(omega, share)
                if not len(values):
                    break
                near = int(_alike(T @ vectors, T @ shape).argmax())
                found, shape = values[near], vectors[:, near]
                moved = abs(float(np.imag(found)) - omega)
                omega = 0.5 * (omega + float(np.imag(found)))
                if moved < 1e-12 * max(omega, 1e-300):
                    break
        lam.append(found)
        shapes.append(shape)
    values, vectors = at(0.0, 1.0)
    still = np.imag(values) == 0
    order = np.argsort(np.abs(lam))
    moving = np.array(shapes, complex).reshape(len(lam), len(parts[0])).T[:, order]
    return (
        np.concatenate([np.array(lam, complex)[order], values[still]]),
        np.concatenate([moving, vectors[:, still]], axis=1),
    )


def _alike(vectors: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """How much of a shape is in each column (modal assurance), from zero to one."""
    overlap = np.abs(vectors.conj().T @ shape) ** 2
    return overlap / (np.abs(vectors) ** 2).sum(0) / (np.abs(shape) ** 2).sum()


def traced_eigenvalues(parts: tuple[Array, Array, Array, Array], radiation: Radiation) -> Array:
    """All 2f eigenvalues inside `jit`, `grad` and `vmap`; those that are not there are NaN.

    They are found outside the graph; one step of Newton there gives them their derivatives.
    """
    f = parts[0].shape[0]
    n6 = len(radiation.base)

    def shaped(dtype: Any, *shape: int) -> Any:
        return jax.ShapeDtypeStruct(shape, dtype)

    kinds = [shaped(complex, 2 * f), *[shaped(complex, 2 * f, f)] * 2, shaped(float, 2 * f)]
    tables = [shaped(float, 2 * f, n6, n6)] * 4
    found = jax.pure_callback(
        lambda *own: _solved(tuple(map(np.asarray, own)), radiation),
        (*kinds, *tables),
        *(jax.lax.stop_gradient(x) for x in parts),
        vmap_method="sequential",
    )
    K, C, J, T = parts

    def one(lam: Any, x: Any, w: Any, sign: Any, dA: Any, B: Any, A_rate: Any, B_rate: Any) -> Any:
        mass, damping = jnp.eye(f) + J @ dA @ T, C - J @ B @ T
        off = w @ ((lam**2 * mass - lam * damping - K) @ x)
        per = w @ ((2 * lam * mass - damping) @ x)
        # the matrices move with the frequency, which is the imaginary part
        turn = sign * (w @ ((lam**2 * (J @ A_rate @ T) + lam * (J @ B_rate @ T)) @ x))
        jac = jnp.array([[per.real, turn.real - per.imag], [per.imag, per.real + turn.imag]])
        step = jnp.linalg.solve(jax.lax.stop_gradient(jac), -jnp.stack([off.real, off.imag]))
        return lam + jax.lax.complex(step[0], step[1])

    return jax.vmap(one)(*found)


def _solved(parts: Any, radiation: Radiation) -> tuple[np.ndarray, ...]:
    """Eigenvalues, right and left vectors, sign of the frequency, tables: of both of each pair."""
    K, C, J, T = parts
    f = len(K)
    lam, shapes = own_frequency_modes(parts, radiation)
    rows = []
    for value, x in zip(lam, shapes.T, strict=True):
        omega = abs(float(np.imag(value)))
        dA, B = radiation.at(omega)
        A_rate, B_rate = radiation.jacobians(omega)
        N = value**2 * (np.eye(f) + J @ dA @ T) - value * (C - J @ B @ T) - K
        w = np.linalg.svd(N)[0][:, -1].conj()
        row = (value, x, w, np.sign(np.imag(value)), dA, B, A_rate, B_rate)
        rows.append(row)
        if omega > 0:
            rows.append((value.conj(), x.conj(), w.conj(), -row[3], *row[4:]))
    none = tuple(np.full_like(part, np.nan) for part in rows[0])
    rows = (rows + [none] * (2 * f))[: 2 * f]
    out = tuple(np.array([row[k] for row in rows]) for k in range(8))
    return (out[0].astype(complex), out[1].astype(complex), out[2].astype(complex), *out[3:])
