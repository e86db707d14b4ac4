r"""`modes`: natural periods, damping and mode shapes by automatic linearisation.

With y the free directions at the state of rest (the null space Z of the
constraint rows), the accelerations of the model itself are differentiated:

.. math:: \ddot y = Z^\top \frac{\partial \dot s}{\partial q} Z\, y
                  + Z^\top \frac{\partial \dot s}{\partial s} Z\, \dot y

so every force, joint and formulation is linearised exactly and alike.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from swelltree.formulations import Formulation, State
from swelltree.formulations import formulation as chosen_formulation
from swelltree.formulations.equations import settled_at, solve_motion
from swelltree.model.dynamic_lines import with_static_lines
from swelltree.model.model import Model
from swelltree.spatial.arrays import Array
from swelltree.spatial.engine import jax, jnp
from swelltree.studies.equilibrium import equilibrium_state, find_rest
from swelltree.studies.linear_ptos import linear_notes
from swelltree.studies.relax import check_no_drums
from swelltree.studies.simulate import is_traced
from swelltree.system.errors import SwelltreeError

CONTINUED = 20  # steps from the dry mode to that in the water
STILL = 1e-9  # rad/s relative to the fastest mode: slower counts as no oscillation


def linearise(model: Model, formulation: Formulation, state: State) -> tuple[Array, Array]:
    """State matrix of (y, ydot) and body velocities per unit ydot (6N, f)."""
    t = jnp.zeros(())
    n = state.s.shape[0]
    inner = settled_at(model, formulation, state)
    kin = formulation.kinematics(model, t, state)
    Z = jnp.eye(n)
    if kin.rows is not None and formulation.keeps_rows:
        J = formulation.constraint(kin)[1]
        m = J.shape[0]
        Q, _ = jnp.linalg.qr(jax.lax.stop_gradient(J).T, mode="complete")
        Z0 = Q[:, m:]
        # same directions, but following the joints when a parameter moves them
        Z = Z0 - J.T @ jnp.linalg.solve(J @ J.T, J @ Z0)

    def free_acceleration(y: Array, rate: Array) -> Array:
        moved = formulation.retract(model, state, Z @ y)
        there = State(moved.q, Z @ rate, moved.chart)
        return Z.T @ solve_motion(model, formulation, t, there, inner)[2].s_dot

    zero = jnp.zeros(Z.shape[1])
    K, C = jax.jacfwd(free_acceleration, argnums=(0, 1))(zero, zero)
    eye = jnp.eye(Z.shape[1])
    A = jnp.block([[0.0 * eye, eye], [K, C]])
    return A, kin.P @ Z


@functools.lru_cache(maxsize=32)
def _linearised(formulation: Formulation) -> Any:
    return jax.jit(lambda model, state: linearise(model, formulation, state))


def modes(
    model: Model,
    *,
    formulation: str | Formulation = "path_matrix",
    at_equilibrium: bool = True,
    start: State | None = None,
    added_mass: str = "infinite",
    provenance: dict[str, Any] | None = None,
) -> Any:
    """Natural periods, damping ratios and mode shapes about the state of rest.

    Returns a dataset with dimension `mode`, slowest oscillation first, then the modes that do
    not oscillate. Inside `jit`, `grad` or `vmap` the result is a dict with `eigenvalue` (all of
    them, unsorted) and `state_matrix`.

    Args:
        model: from `compile`.
        formulation: name or object.
        at_equilibrium: find the state of rest first; otherwise linearise at the start.
        start: state to begin from.
        added_mass: "infinite" (A_inf, no radiation), or "frequency": A and B of the hydro data at
            the frequency of each mode, about the state of rest; oscillating modes only.
        provenance: attributes added to the result.
    """
    model = with_static_lines(model)
    check_no_drums(model, "modes")
    how = chosen_formulation(formulation)
    if added_mass not in ("infinite", "frequency"):
        raise SwelltreeError(
            f"added_mass '{added_mass}' is not known. Choose 'infinite' or 'frequency'."
        )
    if added_mass == "frequency":
        return _to_dataset(model, how, *_at_own_frequency(model, how, start), provenance)
    if is_traced((model, start)):
        state = how.start(model) if start is None else start
        if at_equilibrium:
            state, _ = equilibrium_state(model, how, state)
        A, _ = linearise(model, how, State(state.q, 0.0 * state.s, state.chart))
        return {"state_matrix": A, "eigenvalue": jnp.linalg.eigvals(A)}
    if at_equilibrium:
        state = find_rest(model, how, start)[0]
    else:
        state = how.start(model) if start is None else start
    state = State(state.q, jnp.zeros_like(state.s), state.chart)
    A, to_bodies = (np.asarray(x) for x in _linearised(how)(model, state))
    if not np.isfinite(A).all():
        raise SwelltreeError(
            "modes: the linearised equations are not finite. Check the state with equilibrium()."
        )
    return _to_dataset(model, how, *_spectrum(A, to_bodies), provenance)


def _spectrum(A: np.ndarray, to_bodies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, oscillating ones first, and their shapes (6N, mode)."""
    values, vectors = np.linalg.eig(A)
    f = A.shape[0] // 2
    size = np.abs(values)
    still = size < STILL * max(size.max(initial=0.0), 1e-300)
    values = np.where(still, 0.0, values)
    # one of each conjugate pair, oscillating modes first
    swing = np.imag(values)
    keep = sorted(np.flatnonzero(swing > 0), key=lambda i: size[i])
    keep += sorted(np.flatnonzero(swing == 0), key=lambda i: size[i])
    return values[keep], to_bodies @ vectors[:f, keep]


def _at_own_frequency(
    model: Model, how: Formulation, start: State | None
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues with A and B of the data at each mode's own frequency, and the shapes."""
    from swelltree.model.sea_state import interpolated
    from swelltree.studies.rao import linear_system

    if model.hydro is None or model.hydro.table is None:
        raise SwelltreeError(
            "modes: added_mass='frequency' needs hydro data. "
            "Compile with compile(system, hydro=...)."
        )
    table, linear = model.hydro.table, linear_system(model, how, start)
    P = linear["to_bodies"]

    def solved(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        M = linear["mass"] + P.T @ A @ P
        C = linear["damping"] + P.T @ B @ P
        upper = np.concatenate([np.zeros_like(M), np.eye(len(M))], axis=1)
        lower = -np.linalg.solve(M, np.concatenate([linear["stiffness"], C], axis=1))
        return _spectrum(np.concatenate([upper, lower]), P)

    A_inf = np.asarray(table.added_mass_inf)

    def at(omega: float, share: float) -> tuple[np.ndarray, np.ndarray]:
        """Oscillating modes with that share of what the water does at a frequency."""
        inside = np.clip(np.array([omega]), table.omega[0], table.omega[-1])
        A = interpolated(np.asarray(table.omega), np.asarray(table.added_mass), inside)[0]
        B = interpolated(np.asarray(table.omega), np.asarray(table.radiation_damping), inside)[0]
        values, vectors = solved(A_inf + share * (A - A_inf), share * B)
        swinging = np.imag(values) > 0
        return values[swinging], vectors[:, swinging]

    first, begun = at(float(table.omega[0]), 0.0)
    lam, shapes = [], []
    for found, shape in zip(first, begun.T, strict=True):
        # the water comes in little by little, and the mode is known again by its shape
        for share in np.linspace(0.0, 1.0, CONTINUED + 1)[1:]:
            omega = float(np.imag(found))
            for _ in range(100 if share == 1.0 else 1):
                values, vectors = at(omega, share)
                if not len(values):
                    break
                near = int(_alike(vectors, shape).argmax())
                found, shape = values[near], vectors[:, near]
                moved = abs(float(np.imag(found)) - omega)
                omega = 0.5 * (omega + float(np.imag(found)))
                if moved < 1e-10 * max(omega, 1e-300):
                    break
        lam.append(found)
        shapes.append(shape)
    slowest = np.argsort(np.abs(lam))
    return np.array(lam)[slowest], np.array(shapes).T[:, slowest]


def _alike(vectors: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """How much of a shape is in each column (modal assurance), from zero to one."""
    overlap = np.abs(vectors.conj().T @ shape) ** 2
    return overlap / (np.abs(vectors) ** 2).sum(0) / (np.abs(shape) ** 2).sum()


def _to_dataset(
    model: Model, how: Formulation, lam: np.ndarray, shapes: np.ndarray, provenance: Any
) -> Any:
    import xarray as xr

    from swelltree.model.layout import DOFS

    decay, swing = np.real(lam), np.imag(lam)
    largest = shapes[np.abs(shapes).argmax(axis=0), np.arange(len(lam))]
    shapes = shapes / np.where(largest == 0, 1.0, largest)
    order = [model.layout.bodies.index(name) for name in model.layout.described]
    shapes = np.moveaxis(shapes.reshape(model.layout.n_bodies, 6, -1)[order], 2, 0)
    omega = np.abs(lam)
    with np.errstate(divide="ignore", invalid="ignore"):
        damping = np.where(omega > 0, -decay / omega, 0.0)
        period = np.where(swing > 0, 2 * np.pi / np.abs(swing), np.inf)
    attrs = {
        "study": "modes",
        "formulation": how.name,
        "report": " ".join(linear_notes(model)),
        "drawing": model.described.drawing,
        "unstable_modes": int((decay > 1e-9 * max(omega.max(initial=0.0), 1e-300)).sum()),
    }
    data = {
        "natural_frequency": ("mode", omega, {"units": "rad/s"}),
        "natural_period": ("mode", period, {"units": "s", "long_name": "damped period"}),
        "damping_ratio": ("mode", damping, {"units": "1"}),
        "eigenvalue_real": ("mode", decay, {"units": "1/s"}),
        "eigenvalue_imag": ("mode", swing, {"units": "rad/s"}),
        "shape_real": (
            ("mode", "body", "dof"),
            np.real(shapes),
            {"units": "m, rad", "long_name": "mode shape, largest entry one"},
        ),
        "shape_imag": (("mode", "body", "dof"), np.imag(shapes), {"units": "m, rad"}),
    }
    coords = {
        "mode": np.arange(1, len(lam) + 1),
        "body": list(model.layout.described),
        "dof": list(DOFS),
    }
    return xr.Dataset(data, coords, attrs | (provenance or {}))
