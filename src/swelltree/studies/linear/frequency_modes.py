r"""Eigenvalues of a linear model whose added mass and damping depend on frequency.

.. math::
    \begin{bmatrix}
    \lambda^2 M(\omega) + \lambda C(\omega) + K & -F \\ -B_0 - \lambda B_1 & \lambda - A
    \end{bmatrix} \begin{bmatrix} y \\ z \end{bmatrix} = 0, \qquad
    \omega = |\mathrm{Im}\,\lambda|

with the added mass and damping of the data at omega in M and C, and internal states z of effects
(`internal_block`). Each oscillating mode is followed
from the added mass of the model to that of its own frequency; those that do not oscillate have the
added mass of the lowest frequency and no radiation.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from swelltree.describe.values import NamedValues
from swelltree.hydro.linear.radiation import RadiationData
from swelltree.jit import Array, Tree, jax, jnp, namespace, pytree
from swelltree.model.model import Model
from swelltree.multibody.layout import DOFS
from swelltree.pto.actuators.forces import stroke_forces
from swelltree.studies.linear.linear_model import LinearModel
from swelltree.waves.dispersion import dispersion, group_speed

CONTINUED = 20  # steps from the mode of the model to that in the water
MAX_ROUNDS = 100  # evaluations of a mode at the frequency it had
ROUNDING = 1e-6  # relative distance of eigenvalues that would be equal on panels of no size
EQUAL = 1e-3  # relative distance of eigenvalues whose modes have any basis
STILL = 1e-9  # rad/s relative to the fastest mode: slower counts as no oscillation


@pytree()
class Matrices:
    """Mass, damping and stiffness with the added mass of the model, and what goes with them."""

    mass: Array  # (f, f)
    damping: Array  # (f, f)
    stiffness: Array  # (f, f)
    to_data: Array  # (6N, f) velocities of the bodies
    inner: Array  # (k, k) of the internal states: their own rates,
    driven: Array  # (k, 2f) rates per y and y',
    pushing: Array  # (f, k) forces

    @classmethod
    def of(cls, linear: LinearModel) -> Matrices:
        states = linear.internal
        plain = linear.total_mass, linear.total_damping, linear.stiffness, linear.to_data
        return cls(*plain, states.A, states.B, states.F)

    def in_water(self, added_mass: Array, damping: Array) -> tuple[Array, Array]:
        """Mass and damping with more of both on the bodies, (6N, 6N) each."""
        T = self.to_data
        return self.mass + T.T @ added_mass @ T, self.damping + T.T @ damping @ T

    def pencil(self, lam: Array, M: Array, C: Array) -> tuple[Array, Array]:
        """The matrix of (y, z) that is singular at an eigenvalue, and its slope."""
        f, k = self.pushing.shape
        xp = namespace(M, self.inner, lam)
        one, B = xp.eye(k), self.driven
        upper = [lam**2 * M + lam * C + self.stiffness, -self.pushing]
        E = xp.block([upper, [-B[:, :f] - lam * B[:, f:], lam * one - self.inner]])
        return E, xp.block([[2 * lam * M + C, 0.0 * self.pushing], [-B[:, f:], one]])


def spectrum(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of a state matrix, swinging ones (one of each pair) first, and vectors (s, m)."""
    values, vectors = np.linalg.eig(A)
    size = np.abs(values)
    values = np.where(size < STILL * max(size.max(initial=0.0), 1e-300), 0.0, values)
    swing = np.imag(values)
    keep = sorted(np.flatnonzero(swing > 0), key=lambda i: size[i])
    keep += sorted(np.flatnonzero(swing == 0), key=lambda i: size[i])
    return values[keep], vectors[:, keep]


def state_matrix(matrices: Matrices, dA: np.ndarray, B: np.ndarray) -> np.ndarray:
    """State matrix of (y, y') and internal states, with more added mass and damping."""
    M, C = matrices.in_water(dA, B)
    forces = np.concatenate([-matrices.stiffness, -C, matrices.pushing], axis=1)
    upper = np.eye(*forces.shape, k=len(M))
    rates = np.concatenate([matrices.driven, matrices.inner], axis=1)
    return np.concatenate([upper, np.linalg.solve(M, forces), rates])


def modes_in_water(matrices: Matrices, data: RadiationData) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and vectors (s, m), each with the added mass and damping of its frequency."""

    def at(omega: float, share: float) -> tuple[np.ndarray, np.ndarray]:
        dA, B = data.near(omega)
        return spectrum(state_matrix(matrices, share * dA, share * B))

    def swinging(omega: float, share: float) -> tuple[np.ndarray, np.ndarray]:
        values, shapes = at(omega, share)
        swings = np.imag(values) > 0
        return values[swings], shapes[:, swings]

    f = len(matrices.mass)
    size = len(matrices.driven) + 2 * f
    lam, shapes = [], []
    for value, shape in zip(*(x.T for x in swinging(0.0, 0.0)), strict=True):
        # the water comes in little by little, and the mode is known again by its shape
        for share in np.linspace(0.0, 1.0, CONTINUED + 1)[1:]:
            omega = float(np.imag(value))
            for _ in range(MAX_ROUNDS if share == 1.0 else 1):
                values, vectors = swinging(omega, share)
                if not len(values):
                    break
                identical = _identical(vectors[:f], shape[:f], matrices.mass)
                # of shapes that are alike, as those without motion, the nearest in frequency
                near = int((identical - 1e-6 * abs(values - value) / abs(value)).argmax())
                equal = np.abs(values - values[near]) < EQUAL * abs(values[near])
                value, shape = values[near], _projected(shape, vectors[:, equal], f)
                moved = abs(float(np.imag(value)) - omega)
                omega = 0.5 * (omega + float(np.imag(value)))
                if moved < 1e-12 * max(omega, 1e-300):
                    break
        lam.append(value)
        shapes.append(shape)
    # modes of equal frequency, as surge and sway of a round body, have any basis until here
    for group in _groups(np.array(lam, complex)):
        for rank, mode in enumerate(group):
            value, omega = lam[mode], float(np.imag(lam[mode]))
            for _ in range(MAX_ROUNDS):
                values, vectors = swinging(omega, 1.0)
                members = np.argsort(np.abs(values - lam[group[0]]))[: len(group)]
                near = members[np.argsort(np.imag(values[members]))][rank]
                value, shapes[mode] = values[near], vectors[:, near]
                moved = abs(float(np.imag(value)) - omega)
                omega = 0.5 * (omega + float(np.imag(value)))
                if moved < 1e-12 * max(omega, 1e-300):
                    break
            lam[mode] = value
        exact = [m for m in group if abs(lam[m] - lam[group[0]]) < ROUNDING * abs(lam[group[0]])]
        for mode, shape in zip(exact, _along_axes(shapes, exact, matrices.mass).T, strict=True):
            shapes[mode] = shape
    values, vectors = at(0.0, 1.0)
    still = np.imag(values) == 0
    order = np.argsort(np.abs(lam))
    moving = np.array(shapes, complex).reshape(len(lam), size).T[:, order]
    return (
        np.concatenate([np.array(lam, complex)[order], values[still]]),
        np.concatenate([moving, vectors[:, still]], axis=1),
    )


def _identical(vectors: np.ndarray, shape: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """How much of a shape is in each column (modal assurance), from zero to one.

    Weighted by mass: modes are orthogonal in it, and metres are compared with radians.
    """
    overlap = np.abs(vectors.conj().T @ mass @ shape) ** 2
    sizes = np.abs((vectors.conj() * (mass @ vectors)).sum(0) * (shape.conj() @ mass @ shape))
    return overlap / np.maximum(sizes, 1e-300)


def _projected(shape: np.ndarray, vectors: np.ndarray, f: int) -> np.ndarray:
    """What of a mode is in the span of some: of one, that vector."""
    parts = np.linalg.lstsq(vectors[:f], shape[:f], rcond=None)[0]
    return vectors @ parts if np.abs(parts).max() > 0 else vectors[:, 0]


def _along_axes(shapes: list[np.ndarray], group: list[int], mass: np.ndarray) -> np.ndarray:
    """Another basis of some modes, each without the main directions of the others."""
    vectors = np.stack([shapes[mode] for mode in group], axis=1)
    weighted = np.sqrt(np.diag(mass))[:, None] * vectors[: len(mass)]
    main = np.sort(qr(weighted.T, mode="r", pivoting=True)[-1][: len(group)])
    return vectors @ np.linalg.inv(vectors[main])


def _groups(lam: np.ndarray) -> list[list[int]]:
    """Modes whose eigenvalues are equal, where there are at least two."""
    groups: list[list[int]] = []
    for mode in np.argsort(np.imag(lam)).tolist():
        last = groups[-1][-1] if groups else mode
        if groups and abs(lam[mode] - lam[last]) < EQUAL * abs(lam[mode]):
            groups[-1].append(mode)
        else:
            groups.append([mode])
    return [group for group in groups if len(group) > 1]


def traced_eigenvalues(matrices: Matrices, data: RadiationData) -> Array:
    """All 2f + k eigenvalues inside `jit`, `grad` and `vmap`; those that are not there are NaN.

    They are found outside the graph; one step of Newton there gives them their derivatives.
    """
    (f, k), n6 = matrices.pushing.shape, len(data.base)
    count = 2 * f + k

    def shaped(dtype: object, *shape: int) -> object:
        return jax.ShapeDtypeStruct(shape, dtype)

    kinds = [shaped(complex, count), *[shaped(complex, count, f + k)] * 2, shaped(float, count)]
    tables = [shaped(float, count, n6, n6)] * 4
    solved = jax.pure_callback(
        lambda specified: _solved(jax.tree.map(np.asarray, specified), data),
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
        off, per = (w @ matrix @ x for matrix in matrices.pencil(lam, M, C))
        # the matrices move with the frequency, which is the imaginary part
        moving = lam**2 * (T.T @ A_rate @ T) + lam * (T.T @ B_rate @ T)
        turn = sign * (w[:f] @ moving @ x[:f])
        jac = jnp.array([[per.real, turn.real - per.imag], [per.imag, per.real + turn.imag]])
        step = jnp.linalg.solve(jax.lax.stop_gradient(jac), -jnp.stack([off.real, off.imag]))
        return lam + jax.lax.complex(step[0], step[1])

    return jax.vmap(one)(*solved)


def _solved(matrices: Matrices, data: RadiationData) -> tuple[np.ndarray, ...]:
    """Eigenvalues, right and left vectors, sign of the frequency, tables: of both of each pair."""
    f, k = matrices.pushing.shape
    lam, vectors = modes_in_water(matrices, data)
    rows = []
    for value, vector in zip(lam, vectors.T, strict=True):
        x = np.delete(vector, slice(f, 2 * f))
        omega = abs(float(np.imag(value)))
        dA, B = data.near(omega)
        M, C = matrices.in_water(dA, B)
        E, slope = matrices.pencil(value, M, C)
        U, sizes, _ = np.linalg.svd(E)
        # of left vectors that are as good, the one that goes with the right vector
        U = U[:, sizes <= max(1e-9 * sizes[0], sizes[-1])]
        w = U.conj() @ (U.T @ (slope @ x).conj())
        w = w / max(np.abs(w).max(), 1e-300)
        row = (value, x, w, np.sign(np.imag(value)), dA, B, *data.near_rates(omega))
        rows.append(row)
        if omega > 0:
            rows.append((value.conj(), x.conj(), w.conj(), -row[3], *row[4:]))
    none = tuple(np.full_like(part, np.nan) for part in rows[0])
    rows = (rows + [none] * (2 * f + k))[: 2 * f + k]
    out = tuple(np.array([row[k] for row in rows]) for k in range(8))
    return (out[0].astype(complex), out[1].astype(complex), out[2].astype(complex), *out[3:])


# --- What results in the frequency domain share: motions, powers, labels

HEADING = "heading axes of the body: world axes turned about z by its yaw at the equilibrium"
WORLD = "world axes, at the reference point of the body"


def body_motion(linear: LinearModel, y: np.ndarray) -> np.ndarray:
    """Displacements of the bodies (..., body, dof) of free directions (..., f), described order."""
    return described_order(linear, y @ linear.to_displacements.T)


def described_order(linear: LinearModel, X: np.ndarray) -> np.ndarray:
    """Rows of six of all bodies (..., 6N) as (..., body, dof), in the order of the description."""
    layout = linear.at.model.layout
    order = [layout.bodies.index(name) for name in layout.described]
    return X.reshape(*X.shape[:-1], layout.n_bodies, 6)[..., order, :]


def damper_power(linear: LinearModel, w: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Mean power taken by every damper per square metre of amplitude, (..., e).

    Dampers are all elements on strokes, by the slopes of their forces at rest, with what
    controllers give.
    """
    moved = y @ linear.to_strokes.T
    rate = -1j * w.reshape(-1, *(1,) * (moved.ndim - 1)) * moved
    return -0.5 * np.real(linear.element_forces(w, y) * np.conj(rate))


def pto_rows(linear: LinearModel) -> list[int]:
    """Which of the elements are power take-offs."""
    forces = stroke_forces(linear.at.model)
    names = [forces.names[k] for k in forces.ptos]
    return [k for k, name in enumerate(linear.elements.names) if name in names]


def wave_power(model: Model, w: np.ndarray, a: np.ndarray) -> float:
    """Power of waves per metre of crest [W/m]."""
    water = model.water
    speed = group_speed(w, dispersion(w, water.depth, water.g), water.depth)
    return float((0.5 * water.rho * water.g * a**2 * speed).sum())


def labels_of(linear: LinearModel) -> NamedValues:
    """Coordinates of results: bodies, headings, dofs, joint coordinates, elements, PTOs."""
    layout = linear.at.model.layout
    order = [layout.bodies.index(name) for name in layout.described]
    about = {"units": "rad", "long_name": "yaw of the body at the equilibrium", "frame": "world"}
    return {
        "body": list(layout.described),
        "dof": list(DOFS),
        "coordinate": list(layout.dof_labels),
        "coordinate_turns": ("coordinate", [dof.turns for dof in layout.dofs]),
        "heading": ("body", np.asarray(linear.at.heading)[order], about),
        "element": list(linear.elements.names),
        "pto": [linear.elements.names[k] for k in pto_rows(linear)],
    }


def water_attributes(linear: LinearModel) -> NamedValues:
    model = linear.at.model
    return {
        "time_convention": "exp(-iwt)",
        "rho": model.water.rho,
        "g": model.water.g,
        "water_depth": model.water.depth,
        "drawing": model.described.drawing,
        "report": " ".join([*model.report, *linear.notes, *linear.internal.notes()]),
    }
