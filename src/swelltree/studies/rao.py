r"""`rao` and `response`: the jointed, moored system in the frequency domain.

The model itself is linearised by automatic differentiation at its state of
rest. With Z the free directions and P the velocity transformation there,

.. math::
    \left[ -\omega^2 Z^\top (M_s + P^\top A(\omega) P) Z
           - i\omega\, Z^\top (C + P^\top B(\omega) P) Z + Z^\top K Z \right] y
    = Z^\top P^\top \hat F(\omega, \beta), \qquad X = P Z y

per metre of wave amplitude and exp(-iwt). K and C are the derivatives of all
generalised forces, so joints, springs, moorings and PTOs need no second model.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from swelltree.formulations import Formulation, State
from swelltree.formulations import formulation as chosen_formulation
from swelltree.model.forces.springs import lengths
from swelltree.model.forces.total import total_loads
from swelltree.model.hydrodynamics import Table, without_table
from swelltree.model.inner import inner_at_rest
from swelltree.model.layout import DOFS
from swelltree.model.model import Model
from swelltree.model.sea_state import excitation_at, in_band, interpolated
from swelltree.spatial.arrays import Array
from swelltree.spatial.engine import jax, jnp
from swelltree.studies.equilibrium import find_rest
from swelltree.studies.simulate import realised
from swelltree.system.errors import SwelltreeError, listed, suggest
from swelltree.waves.airy import Components

RADIATION = ("data", "state_space")


@functools.lru_cache(maxsize=32)
def _linearised(formulation: Formulation) -> Any:
    """Compiled linearisation of everything but radiation memory and waves."""

    def linear(model: Model, state: State, lam: Array) -> dict[str, Array]:
        t = jnp.zeros(())
        inner = inner_at_rest(model)
        zero = jnp.zeros_like(state.s)

        def force(step: Array, s: Array) -> Array:
            moved = formulation.retract(model, state, step)
            here = State(moved.q, s, moved.chart)
            kin = formulation.kinematics(model, t, here)
            tau = formulation.project(model, kin, total_loads(model, t, kin.motion, inner).wrench)
            tau = tau - formulation.bias(model, kin)
            if kin.rows is not None and formulation.keeps_rows:
                tau = tau + formulation.constraint(kin)[1].T @ lam
            return tau

        def watched(step: Array) -> tuple[Array, Array]:
            moved = formulation.retract(model, state, step)
            motion = formulation.kinematics(model, t, moved).motion
            return motion.coordinate, lengths(model.forces.springs, motion)[0]

        kin = formulation.kinematics(model, t, state)
        K, C = jax.jacfwd(force, argnums=(0, 1))(zero, zero)
        to_coordinate, to_length = jax.jacfwd(watched)(zero)
        dry = model.replace(added_mass=None)
        out = {
            "stiffness": -K,
            "damping": -C,
            "mass": formulation.mass(dry, formulation.kinematics(dry, t, state)),
            "P": kin.P,
            "coordinate": to_coordinate,
            "length": to_length,
        }
        if kin.rows is not None and formulation.keeps_rows:
            out["rows"] = formulation.constraint(kin)[1]
        return out

    return jax.jit(linear)


def linear_system(model: Model, how: Formulation, start: State | None = None) -> dict[str, Any]:
    """Matrices of the linearised system in its free directions, at the state of rest."""
    still = model
    if model.hydro is not None:
        # radiation is put in by `amplitudes`, also the constant damping of one frequency
        none = np.zeros_like(model.hydro.damping)
        hydro = replace(model.hydro, memory=None, waves=None, damping=none)
        still = without_table(model.replace(hydro=hydro))
    state, lam, _, _ = find_rest(still, how, start)
    n = state.s.shape[0]
    parts = {name: np.asarray(x) for name, x in _linearised(how)(still, state, lam).items()}
    Z = np.eye(n)
    if "rows" in parts and parts["rows"].size:
        _, size, Vt = np.linalg.svd(parts["rows"])
        Z = Vt[int((size > 1e-10 * size.max()).sum()) :].T
    return {
        "mass": Z.T @ parts["mass"] @ Z,
        "damping": Z.T @ parts["damping"] @ Z,
        "stiffness": Z.T @ parts["stiffness"] @ Z,
        "to_bodies": parts["P"] @ Z,
        "to_coordinates": parts["coordinate"] @ Z,
        "to_lengths": parts["length"] @ Z,
        "free_directions": Z,
        "state": state,
    }


def _table(model: Model) -> Table:
    if model.hydro is None or model.hydro.table is None:
        raise SwelltreeError(
            "rao: the model has no hydro data. Compile with compile(system, hydro=...)."
        )
    return model.hydro.table


def _radiation(model: Model, omega: np.ndarray, source: str) -> tuple[np.ndarray, np.ndarray]:
    """Added mass and damping at each frequency, from the data or from the fitted memory."""
    table = _table(model)
    if source == "data":
        A = interpolated(table.omega, table.added_mass, omega)
        return A, interpolated(table.omega, table.radiation_damping, omega)
    A_inf = np.asarray(model.added_mass)
    A = np.repeat(A_inf[None], len(omega), axis=0)
    B = np.repeat(np.asarray(model.hydro.damping)[None], len(omega), axis=0)
    memory = model.hydro.memory
    if memory is None:
        return A, B
    eye = np.eye(memory.A.shape[0])
    for i, w in enumerate(omega):
        K = memory.C @ np.linalg.solve(1j * w * eye - memory.A, memory.B.astype(complex))
        # K(iw) = B + i w (A - A_inf)
        B[i] += np.real(K)
        A[i] += np.imag(K) / w
    return A, B


def amplitudes(
    model: Model, linear: dict[str, Any], omega: np.ndarray, force: np.ndarray, source: str
) -> np.ndarray:
    """Amplitude of the free directions for excitation (f, ..., 6N)."""
    A, B = _radiation(model, omega, source)
    to_bodies = linear["to_bodies"]
    y = np.empty((*force.shape[:-1], to_bodies.shape[1]), dtype=complex)
    for i, w in enumerate(omega):
        M = linear["mass"] + to_bodies.T @ A[i] @ to_bodies
        C = linear["damping"] + to_bodies.T @ B[i] @ to_bodies
        D = -(w**2) * M - 1j * w * C + linear["stiffness"]
        y[i] = np.linalg.solve(D, (force[i] @ to_bodies).reshape(-1, D.shape[0]).T).T.reshape(
            y[i].shape
        )
    return y


def _checked(model: Model, radiation: str) -> None:
    if radiation not in RADIATION:
        raise SwelltreeError(
            f"radiation '{radiation}' is not known.{suggest(radiation, RADIATION)} "
            f"Choose one of {listed(RADIATION)}."
        )
    _table(model)


def rao(
    model: Model,
    *,
    omega: Any = None,
    wave_direction: Any = None,
    formulation: str | Formulation = "path_matrix",
    radiation: str = "data",
    start: State | None = None,
    provenance: dict[str, Any] | None = None,
) -> Any:
    """Response amplitude operators of the jointed, moored system about its state of rest.

    Returns a dataset: `rao` (omega, wave_direction, body, dof) complex, per metre of wave
    amplitude at the reference points; `coordinate_rao`; `absorbed_power` of every damper per
    square metre of amplitude, and `capture_width`.

    Args:
        model: compiled with hydro data.
        omega: frequencies [rad/s]; those of the data if not given.
        wave_direction: headings [rad]; those of the data if not given.
        formulation: name or object.
        radiation: "data" (A and B of the data) or "state_space" (the memory of the time domain).
        start: state from which rest is sought.
        provenance: attributes added to the result.
    """
    _checked(model, radiation)
    how = chosen_formulation(formulation)
    table = _table(model)
    w = np.atleast_1d(np.asarray(table.omega if omega is None else omega, dtype=float))
    beta = table.direction if wave_direction is None else wave_direction
    beta = np.atleast_1d(np.asarray(beta, dtype=float))
    if (w < table.omega[0] * (1 - 1e-9)).any() or (w > table.omega[-1] * (1 + 1e-9)).any():
        raise SwelltreeError(
            f"hydro data reach from omega = {table.omega[0]:.4g} to {table.omega[-1]:.4g} rad/s "
            f"but {w.min():.4g} to {w.max():.4g} is asked for. Compute data there."
        )
    linear = linear_system(model, how, start)
    pairs = np.repeat(w, len(beta)), np.tile(beta, len(w))
    force = excitation_at(table, *pairs).reshape(len(w), len(beta), -1)
    y = amplitudes(model, linear, w, force, radiation)
    return _to_dataset(model, how, linear, w, beta, y, radiation, provenance)


def damper_power(model: Model, linear: dict[str, Any], w: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Mean power taken by every spring's and joint force's damper per square metre, (..., e)."""
    forces = model.forces
    dofs = np.array(forces.joint_forces.dof, dtype=int)
    moved = np.concatenate([linear["to_lengths"], linear["to_coordinates"][dofs]])
    c = np.concatenate([forces.springs.damping, forces.joint_forces.damping])
    stroke = y @ moved.T
    rate = w.reshape(-1, *(1,) * (stroke.ndim - 1)) * np.abs(stroke)
    return 0.5 * c * rate**2


def _to_dataset(
    model: Model,
    how: Formulation,
    linear: dict[str, Any],
    w: np.ndarray,
    beta: np.ndarray,
    y: np.ndarray,
    radiation: str,
    provenance: dict[str, Any] | None,
) -> Any:
    import xarray as xr

    from swelltree.waves.dispersion import dispersion, group_speed

    layout, water = model.layout, model.water
    order = [layout.bodies.index(name) for name in layout.described]
    X = (y @ linear["to_bodies"].T).reshape(len(w), len(beta), layout.n_bodies, 6)[:, :, order]
    power = damper_power(model, linear, w, y)
    k = dispersion(w, water.depth, water.g)
    flux = 0.5 * water.rho * water.g * group_speed(w, k, water.depth)
    both = ("omega", "wave_direction")
    data = {
        "rao": (
            (*both, "body", "dof"),
            X,
            {"units": "m/m, rad/m", "long_name": "motion of the reference point", "frame": "world"},
        ),
        "coordinate_rao": (
            (*both, "coordinate"),
            y @ linear["to_coordinates"].T,
            {"units": "m/m, rad/m", "long_name": "joint coordinate"},
        ),
        "absorbed_power": (
            (*both, "element"),
            power,
            {"units": "W/m^2", "long_name": "mean absorbed power per square metre of amplitude"},
        ),
        "capture_width": (
            (*both, "element"),
            power / flux[:, None, None],
            {"units": "m", "long_name": "absorbed power over wave power per metre of crest"},
        ),
    }
    coords = {
        "omega": ("omega", w, {"units": "rad/s"}),
        "wave_direction": ("wave_direction", beta, {"units": "rad"}),
        "body": list(layout.described),
        "dof": list(DOFS),
        "coordinate": list(layout.dof_labels),
        "element": [*model.names.springs, *model.names.joint_forces],
    }
    attrs = {
        "study": "rao",
        "formulation": how.name,
        "radiation": radiation,
        "time_convention": "exp(-iwt)",
        "rho": water.rho,
        "g": water.g,
        "water_depth": water.depth,
        "report": " ".join(model.report),
    }
    return xr.Dataset(data, coords, attrs | (provenance or {}))


def response(
    model: Model,
    sea: Any,
    *,
    formulation: str | Formulation = "path_matrix",
    radiation: str = "data",
    case: int | str = 0,
    start: State | None = None,
) -> Any:
    """Response of the linearised system to a sea: standard deviations and mean powers.

    Returns a dataset with `standard_deviation` (body, dof), `velocity_deviation`,
    `coordinate_deviation`, the variance by component (`variance`, over `component` with its
    `omega`), and `absorbed_power` (element) [W].

    Args:
        model: compiled with hydro data.
        sea: a described sea.
        formulation: name or object.
        radiation: "data" or "state_space".
        case: number or name of the run.
        start: state from which rest is sought.
    """
    import xarray as xr

    _checked(model, radiation)
    how = chosen_formulation(formulation)
    table = _table(model)
    waves = realised(model, sea, case)
    if not isinstance(waves, Components):
        raise SwelltreeError(
            "response works on linear waves, and this sea is not linear. Use RegularWave(...)."
        )
    inside = in_band(table, waves)
    w, beta = np.asarray(waves.omega)[inside], np.asarray(waves.beta)[inside]
    a = np.asarray(waves.amplitude)[inside]
    linear = linear_system(model, how, start)
    y = amplitudes(model, linear, w, excitation_at(table, w, beta), radiation) * a[:, None]
    layout = model.layout
    order = [layout.bodies.index(name) for name in layout.described]
    X = (y @ linear["to_bodies"].T).reshape(len(w), layout.n_bodies, 6)[:, order]
    variance = 0.5 * np.abs(X) ** 2
    joints = 0.5 * np.abs(y @ linear["to_coordinates"].T) ** 2
    power = damper_power(model, linear, w, y).sum(axis=0)
    data = {
        "standard_deviation": (("body", "dof"), np.sqrt(variance.sum(0)), {"units": "m, rad"}),
        "velocity_deviation": (
            ("body", "dof"),
            np.sqrt((w[:, None, None] ** 2 * variance).sum(0)),
            {"units": "m/s, rad/s"},
        ),
        "coordinate_deviation": ("coordinate", np.sqrt(joints.sum(0)), {"units": "m, rad"}),
        "variance": (("component", "body", "dof"), variance, {"units": "m^2, rad^2"}),
        "absorbed_power": ("element", power, {"units": "W", "long_name": "mean absorbed power"}),
    }
    coords = {
        "omega": ("component", w, {"units": "rad/s"}),
        "wave_direction": ("component", beta, {"units": "rad"}),
        "body": list(layout.described),
        "dof": list(DOFS),
        "coordinate": list(layout.dof_labels),
        "element": [*model.names.springs, *model.names.joint_forces],
    }
    return xr.Dataset(data, coords, {"study": "response", "sea": repr(sea)})
