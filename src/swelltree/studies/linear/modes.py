r"""`modes`: natural periods, damping and mode shapes by automatic linearisation.

With y the free directions at the state of rest (the null space Z of the
constraint rows), the accelerations of the model itself are differentiated:

.. math:: \ddot y = Z^\top \frac{\partial \dot s}{\partial q} Z\, y
                  + Z^\top \frac{\partial \dot s}{\partial s} Z\, \dot y

so every force, joint and formulation is linearised exactly and alike. Added mass and radiation
damping of hydro data are those of each mode's own frequency (`own_frequency`).
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from swelltree.effects.linear_hydro.data import without_table
from swelltree.effects.linear_hydro.known_radiation import KnownRadiation
from swelltree.effects.lines.dynamic.static_lines import with_static_lines
from swelltree.engine.arrays import Array
from swelltree.engine.backend import is_traced, jax, jnp
from swelltree.formulations import Formulation, State
from swelltree.formulations import formulation as chosen_formulation
from swelltree.formulations.equations import settled_at, solve_motion
from swelltree.model.inertia import dense_inertia, world_inertia
from swelltree.model.model import Model
from swelltree.studies.given import study_of_model
from swelltree.studies.linear.own_frequency import (
    Radiation,
    own_frequency_modes,
    spectrum,
    state_matrix,
    traced_eigenvalues,
)
from swelltree.studies.linear.stroke_damping import linear_notes
from swelltree.studies.linear.turned_data import in_axes_of_rest
from swelltree.studies.rest.equilibrium import equilibrium_state, find_rest
from swelltree.studies.rest.relax import check_no_drums
from swelltree.system.errors import SwelltreeError

ADDED_MASS = {
    "frequency": "of the hydro data at each mode's own frequency, with its radiation damping",
    "infinite": "of the model, at infinite frequency, without radiation",
}


def accelerations(
    model: Model, formulation: Formulation, state: State
) -> tuple[Array, Array, Array, Array]:
    """Accelerations of the free directions per displacement, per rate and per wrench on the bodies
    (f, 6N), and body velocities per rate (6N, f).
    """
    t = jnp.zeros(())
    n = state.s.shape[0]
    internal = settled_at(model, formulation, state)
    kin = formulation.kinematics(model, t, state)
    Z = jnp.eye(n)
    if kin.rows is not None and formulation.keeps_rows:
        J = formulation.constraint(kin)[1]
        m = J.shape[0]
        Q, _ = jnp.linalg.qr(jax.lax.stop_gradient(J).T, mode="complete")
        Z0 = Q[:, m:]
        # same directions, but following the joints when a parameter moves them
        Z = Z0 - J.T @ jnp.linalg.solve(J @ J.T, J @ Z0)
    shape = (model.layout.n_bodies, 6)

    def free_acceleration(y: Array, rate: Array, wrench: Array) -> Array:
        pushed = model.with_effect(KnownRadiation(wrench.reshape(shape)))
        moved = formulation.retract(model, state, Z @ y)
        there = State(moved.q, Z @ rate, moved.chart)
        return Z.T @ solve_motion(pushed, formulation, t, there, internal)[2].s_dot

    zero = jnp.zeros(Z.shape[1])
    at = (zero, zero, jnp.zeros(shape[0] * 6))
    K, C, per_wrench = jax.jacfwd(free_acceleration, argnums=(0, 1, 2))(*at)
    return K, C, per_wrench, kin.P @ Z


def linearise(model: Model, formulation: Formulation, state: State) -> tuple[Array, Array]:
    """State matrix of (y, ydot) and body velocities per unit ydot (6N, f)."""
    K, C, _, to_bodies = accelerations(model, formulation, state)
    return _state_matrix(K, C), to_bodies


def _state_matrix(K: Array, C: Array) -> Array:
    eye = jnp.eye(K.shape[0])
    return jnp.block([[0.0 * eye, eye], [K, C]])


@functools.lru_cache(maxsize=32)
def _linearised(formulation: Formulation) -> Any:
    return jax.jit(lambda model, state: accelerations(model, formulation, state))


@study_of_model
def modes(
    model: Model,
    *,
    formulation: str | Formulation = "path_matrix",
    at_equilibrium: bool = True,
    start: State | None = None,
    added_mass: str = "frequency",
    provenance: dict[str, Any] | None = None,
) -> Any:
    """Natural periods, damping ratios and mode shapes about the state of rest.

    Returns a dataset with dimension `mode`, slowest oscillation first, then the modes that do
    not oscillate. Inside `jit`, `grad` or `vmap` the result is a dict with `eigenvalue` (all of
    them, unsorted) and `state_matrix` (with the added mass of the model, without radiation).

    Args:
        model: from `compile`.
        formulation: name or object.
        at_equilibrium: find the state of rest first; otherwise linearise at the start.
        start: state to begin from.
        added_mass: "frequency" (A and B of the hydro data at the frequency of each mode) or
            "infinite" (A_inf, no radiation). Without hydro data both are the same.
        provenance: attributes added to the result.
    """
    model = with_static_lines(model)
    check_no_drums(model, "modes")
    how = chosen_formulation(formulation)
    if added_mass not in ADDED_MASS:
        raise SwelltreeError(
            f"added_mass '{added_mass}' is not known. Choose 'infinite' or 'frequency'."
        )
    radiation = None
    if added_mass == "frequency" and model.hydro is not None and model.hydro.table is not None:
        radiation = Radiation(model.hydro.table, model.added_mass)
        # what the water does comes from the data, also the constant damping of one frequency
        none = np.zeros_like(model.hydro.damping)
        model = model.with_effect(replace(model.hydro, memory=None, damping=none))
    if is_traced((model, start)):
        return _traced(model, how, start, at_equilibrium, radiation)
    if at_equilibrium:
        state = find_rest(model, how, start)[0]
    else:
        state = how.start(model) if start is None else start
    state = State(state.q, jnp.zeros_like(state.s), state.chart)
    parts = tuple(np.asarray(x) for x in _linearised(how)(without_table(model), state))
    if not all(np.isfinite(x).all() for x in parts):
        raise SwelltreeError(
            "modes: the linearised equations are not finite. Check the state with equilibrium()."
        )
    if radiation is None:
        none = np.zeros((len(parts[3]), len(parts[3])))
        lam, shapes = spectrum(state_matrix(parts, none, none))
        which = ADDED_MASS["infinite"] if model.hydro is not None else "of the model; no hydro data"
    else:
        seen = in_axes_of_rest(model, how, state, parts)
        lam, shapes = own_frequency_modes(tuple(map(np.asarray, seen)), radiation)
        which = ADDED_MASS["frequency"]
    moving = energy_shares(model, how, state, parts[3] @ shapes)
    attrs = {"added_mass": which} | (provenance or {})
    return _to_dataset(model, how, lam, parts[3] @ shapes, moving, attrs)


def _traced(
    model: Model, how: Formulation, start: State | None, at_equilibrium: bool, radiation: Any
) -> dict[str, Array]:
    """Eigenvalues in one graph."""
    state = how.start(model) if start is None else start
    if at_equilibrium:
        state, _ = equilibrium_state(model, how, state)
    state = State(state.q, 0.0 * state.s, state.chart)
    parts = accelerations(model, how, state)
    A = _state_matrix(*parts[:2])
    if radiation is None:
        return {"state_matrix": A, "eigenvalue": jnp.linalg.eigvals(A)}
    seen = in_axes_of_rest(model, how, state, parts)
    return {"state_matrix": A, "eigenvalue": traced_eigenvalues(seen, radiation)}


def energy_shares(model: Model, how: Formulation, state: State, shapes: np.ndarray) -> np.ndarray:
    """Share of each direction of each body in the kinetic energy of a mode (6N, m).

    Metres and radians cannot be compared, energies can.
    """
    pose = how.kinematics(model, jnp.zeros(()), state).motion.pose
    inertia = np.diag(np.asarray(dense_inertia(model, world_inertia(model, pose))))
    energy = inertia[:, None] * np.abs(shapes) ** 2
    return energy / np.maximum(energy.sum(axis=0), 1e-300)


def _to_dataset(
    model: Model,
    how: Formulation,
    lam: np.ndarray,
    shapes: np.ndarray,
    moving: np.ndarray,
    provenance: dict[str, Any],
) -> Any:
    import xarray as xr

    from swelltree.model.layout import DOFS

    decay, swing = np.real(lam), np.imag(lam)
    largest = shapes[np.abs(shapes).argmax(axis=0), np.arange(len(lam))]
    shapes = shapes / np.where(largest == 0, 1.0, largest)
    order = [model.layout.bodies.index(name) for name in model.layout.described]
    shapes, moving = (
        np.moveaxis(x.reshape(model.layout.n_bodies, 6, -1)[order], 2, 0) for x in (shapes, moving)
    )
    omega = np.abs(lam)
    with np.errstate(divide="ignore", invalid="ignore"):
        damping = np.where(omega > 0, -decay / omega, 0.0)
        period = np.where(swing > 0, 2 * np.pi / np.abs(swing), np.inf)
    attrs = {
        "study": "modes",
        "formulation": how.name,
        "report": " ".join([*model.report, *linear_notes(model)]),
        "drawing": model.described.drawing,
        "unstable_modes": int((decay > 1e-9 * max(omega.max(initial=0.0), 1e-300)).sum()),
    }
    data = {
        "natural_frequency": (
            "mode",
            omega,
            {"units": "rad/s", "long_name": "undamped natural frequency, |eigenvalue|"},
        ),
        "natural_period": (
            "mode",
            period,
            {"units": "s", "long_name": "period of the damped swing, 2 pi / Im(eigenvalue)"},
        ),
        "damping_ratio": ("mode", damping, {"units": "1"}),
        "eigenvalue_real": ("mode", decay, {"units": "1/s"}),
        "eigenvalue_imag": ("mode", swing, {"units": "rad/s"}),
        "shape_real": (
            ("mode", "body", "dof"),
            np.real(shapes),
            {"units": "m, rad", "long_name": "mode shape, largest entry one"},
        ),
        "shape_imag": (("mode", "body", "dof"), np.imag(shapes), {"units": "m, rad"}),
        "energy_share": (
            ("mode", "body", "dof"),
            moving,
            {"units": "1", "long_name": "share of the kinetic energy of the mode"},
        ),
    }
    coords = {
        "mode": np.arange(1, len(lam) + 1),
        "body": list(model.layout.described),
        "dof": list(DOFS),
    }
    return xr.Dataset(data, coords, attrs | provenance)
