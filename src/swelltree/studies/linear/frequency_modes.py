r"""Eigenvalues of a linear model whose added mass and damping depend on frequency.

.. math::
    \left[\lambda^2 M(\omega) + \lambda C(\omega) + K\right] x = 0, \qquad
    \omega = |\mathrm{Im}\,\lambda|

with the added mass and damping of the data at omega in M and C. Each mode that swings is followed
from the added mass of the model to that of its own frequency; those that do not swing have the
added mass of the lowest frequency and no radiation.
"""

from __future__ import annotations

import numpy as np

from swelltree.effects.linear_hydro.radiation import RadiationData
from swelltree.engine.arrays import Array, Tree, pytree
from swelltree.engine.backend import jax, jnp
from swelltree.studies.linear.internal_block import InternalBlock
from swelltree.studies.linear.linear_model import LinearModel

CONTINUED = 20  # steps from the mode of the model to that in the water
STILL = 1e-9  # rad/s relative to the fastest mode: slower counts as no oscillation


@pytree()
class Matrices:
    """Mass, damping and stiffness with the added mass of the model, and body velocities."""

    mass: Array  # (f, f)
    damping: Array  # (f, f)
    stiffness: Array  # (f, f)
    to_data: Array  # (6N, f)

    @classmethod
    def of(cls, linear: LinearModel) -> Matrices:
        """Those of a linear model, with what radiation does at once."""
        return cls(linear.whole_mass, linear.whole_damping, linear.stiffness, linear.to_data)

    def in_water(self, added_mass: Array, damping: Array) -> tuple[Array, Array]:
        """Mass and damping with more of both on the bodies, (6N, 6N) each."""
        T = self.to_data
        return self.mass + T.T @ added_mass @ T, self.damping + T.T @ damping @ T


def spectrum(A: np.ndarray, f: int) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of a state matrix, swinging ones (one of each pair) first, and shapes (f, m)."""
    values, vectors = np.linalg.eig(A)
    size = np.abs(values)
    values = np.where(size < STILL * max(size.max(initial=0.0), 1e-300), 0.0, values)
    swing = np.imag(values)
    keep = sorted(np.flatnonzero(swing > 0), key=lambda i: size[i])
    keep += sorted(np.flatnonzero(swing == 0), key=lambda i: size[i])
    return values[keep], vectors[:f, keep]


def state_matrix(
    matrices: Matrices, dA: np.ndarray, B: np.ndarray, inner: InternalBlock | None = None
) -> np.ndarray:
    """State matrix of (y, y') and internal states, with more added mass and damping."""
    M, C = matrices.in_water(dA, B)
    lower = -np.linalg.solve(M, np.concatenate([matrices.stiffness, C], axis=1))
    upper = np.concatenate([np.zeros_like(M), np.eye(len(M))], axis=1)
    A = np.concatenate([upper, lower])
    return A if inner is None else inner.around(A, M)


def modes_in_water(
    matrices: Matrices, data: RadiationData, inner: InternalBlock | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and shapes (f, m), each with the added mass and damping of its frequency.

    Args:
        matrices: of the model.
        data: radiation.
        inner: internal states of effects.
    """

    def at(omega: float, share: float) -> tuple[np.ndarray, np.ndarray]:
        dA, B = data.near(omega)
        return spectrum(state_matrix(matrices, share * dA, share * B, inner), len(matrices.mass))

    def swinging(omega: float, share: float) -> tuple[np.ndarray, np.ndarray]:
        values, shapes = at(omega, share)
        swings = np.imag(values) > 0
        return values[swings], shapes[:, swings]

    T = matrices.to_data
    lam, shapes = [], []
    for value, shape in zip(*(x.T for x in swinging(0.0, 0.0)), strict=True):
        # the water comes in little by little, and the mode is known again by its shape
        for share in np.linspace(0.0, 1.0, CONTINUED + 1)[1:]:
            omega = float(np.imag(value))
            for _ in range(100 if share == 1.0 else 1):
                values, vectors = swinging(omega, share)
                if not len(values):
                    break
                near = int(_alike(T @ vectors, T @ shape).argmax())
                value, shape = values[near], vectors[:, near]
                moved = abs(float(np.imag(value)) - omega)
                omega = 0.5 * (omega + float(np.imag(value)))
                if moved < 1e-12 * max(omega, 1e-300):
                    break
        lam.append(value)
        shapes.append(shape)
    values, vectors = at(0.0, 1.0)
    still = np.imag(values) == 0
    order = np.argsort(np.abs(lam))
    moving = np.array(shapes, complex).reshape(len(lam), len(matrices.mass)).T[:, order]
    return (
        np.concatenate([np.array(lam, complex)[order], values[still]]),
        np.concatenate([moving, vectors[:, still]], axis=1),
    )


def _alike(vectors: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """How much of a shape is in each column (modal assurance), from zero to one."""
    overlap = np.abs(vectors.conj().T @ shape) ** 2
    return overlap / (np.abs(vectors) ** 2).sum(0) / (np.abs(shape) ** 2).sum()


def traced_eigenvalues(matrices: Matrices, data: RadiationData) -> Array:
    """All 2f eigenvalues inside `jit`, `grad` and `vmap`; those that are not there are NaN.

    They are found outside the graph; one step of Newton there gives them their derivatives.
    """
    f, n6 = matrices.mass.shape[0], len(data.base)

    def shaped(dtype: object, *shape: int) -> object:
        return jax.ShapeDtypeStruct(shape, dtype)

    kinds = [shaped(complex, 2 * f), *[shaped(complex, 2 * f, f)] * 2, shaped(float, 2 * f)]
    tables = [shaped(float, 2 * f, n6, n6)] * 4
    solved = jax.pure_callback(
        lambda given: _solved(jax.tree.map(np.asarray, given), data),
        (*kinds, *tables),
        jax.lax.stop_gradient(matrices),
        vmap_method="sequential",
    )

    def one(
        lam: Array,
        x: Array,
        w: Array,
        sign: Array,
        dA: Array,
        B: Array,
        A_rate: Array,
        B_rate: Array,
    ) -> Tree:
        M, C = matrices.in_water(dA, B)
        T = matrices.to_data
        off = w @ ((lam**2 * M + lam * C + matrices.stiffness) @ x)
        per = w @ ((2 * lam * M + C) @ x)
        # the matrices move with the frequency, which is the imaginary part
        turn = sign * (w @ ((lam**2 * (T.T @ A_rate @ T) + lam * (T.T @ B_rate @ T)) @ x))
        jac = jnp.array([[per.real, turn.real - per.imag], [per.imag, per.real + turn.imag]])
        step = jnp.linalg.solve(jax.lax.stop_gradient(jac), -jnp.stack([off.real, off.imag]))
        return lam + jax.lax.complex(step[0], step[1])

    return jax.vmap(one)(*solved)


def _solved(matrices: Matrices, data: RadiationData) -> tuple[np.ndarray, ...]:
    """Eigenvalues, right and left vectors, sign of the frequency, tables: of both of each pair."""
    f = len(matrices.mass)
    lam, shapes = modes_in_water(matrices, data)
    rows = []
    for value, x in zip(lam, shapes.T, strict=True):
        omega = abs(float(np.imag(value)))
        dA, B = data.near(omega)
        M, C = matrices.in_water(dA, B)
        w = np.linalg.svd(value**2 * M + value * C + matrices.stiffness)[0][:, -1].conj()
        row = (value, x, w, np.sign(np.imag(value)), dA, B, *data.near_rates(omega))
        rows.append(row)
        if omega > 0:
            rows.append((value.conj(), x.conj(), w.conj(), -row[3], *row[4:]))
    none = tuple(np.full_like(part, np.nan) for part in rows[0])
    rows = (rows + [none] * (2 * f))[: 2 * f]
    out = tuple(np.array([row[k] for row in rows]) for k in range(8))
    return (out[0].astype(complex), out[1].astype(complex), out[2].astype(complex), *out[3:])
