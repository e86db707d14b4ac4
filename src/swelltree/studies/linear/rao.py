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

from swelltree.effects.immersion.immersions import with_immersed_mass
from swelltree.effects.linear_hydro.data import without_table
from swelltree.effects.linear_hydro.in_sea import interpolated
from swelltree.effects.lines.dynamic.static_lines import with_static_lines
from swelltree.effects.strokes.stroke_forces import stroke_forces
from swelltree.effects.strokes.strokes import stroke
from swelltree.engine.arrays import Array
from swelltree.engine.backend import jax, jnp
from swelltree.engine.in_numpy import Staged, in_numpy, staged
from swelltree.engine.in_scalars import InScalars
from swelltree.formulations import Formulation, State
from swelltree.formulations import formulation as chosen_formulation
from swelltree.formulations.equations import settled_at
from swelltree.model.layout import DOFS
from swelltree.model.lines_alone import refuse_lines_alone
from swelltree.model.model import Model
from swelltree.model.total import total_loads
from swelltree.studies.given import study_of_model
from swelltree.studies.linear.drag import DragSolver, Linear, Waves, check_drag, drag_pieces
from swelltree.studies.linear.excitation import asked, excitation_of, has_table, table_of, waves_of
from swelltree.studies.linear.stroke_damping import linear_notes, stroke_damping
from swelltree.studies.linear.turned_data import turned_to_rest
from swelltree.studies.rest.equilibrium import find_rest
from swelltree.studies.rest.relax import check_no_drums
from swelltree.studies.traced import check_traced
from swelltree.system.errors import SwelltreeError, listed, suggest

RADIATION = ("data", "state_space")


@functools.lru_cache(maxsize=32)
def _balance(formulation: Formulation) -> Staged:
    """Forces, strokes and inertia at w = (step from rest, velocities), traced once."""

    def balance(rest: tuple[Model, State, Array], t: Array, w: Array) -> dict[str, Array]:
        model, state, lam = rest
        n = w.shape[0] // 2
        moved = formulation.retract(model, state, w[:n])
        kin = formulation.kinematics(model, t, State(moved.q, w[n:], moved.chart))
        internal = settled_at(model, formulation, state)
        wrench = total_loads(model, t, kin.motion, internal).wrench
        tau = formulation.project(model, kin, wrench) - formulation.bias(model, kin)
        # without the added mass of the data, which depends on frequency
        dry = with_immersed_mass(model.replace(added_mass=None), t, kin.motion)
        out = {
            "mass": formulation.mass(dry, kin),
            "P": kin.P,
            "stroke_damping": stroke_damping(model, t, kin.motion),
            "coordinate": kin.motion.coordinate,
            "stroke": stroke(stroke_forces(model).strokes, kin.motion)[0],
        }
        if kin.rows is not None and formulation.keeps_rows:
            out["rows"] = formulation.constraint(kin)[1]
            tau = tau + out["rows"].T @ lam
        return out | {"force": tau}

    return staged(balance)


@functools.lru_cache(maxsize=32)
def _in_scalars(formulation: Formulation) -> InScalars:
    return InScalars(_balance(formulation))


@functools.lru_cache(maxsize=32)
def _in_arrays(formulation: Formulation) -> Any:
    """Program for values and slopes at rest, where they are too many for single numbers."""

    def both(rest: Any, zero: Array) -> Any:
        def values(w: Array) -> Any:
            out = _balance(formulation)(rest, jnp.zeros(()), w)
            return out, out

        return jax.jacfwd(values, has_aux=True)(zero)

    return in_numpy(both)


def _linearised(
    formulation: Formulation, model: Model, state: State, lam: Array
) -> dict[str, np.ndarray]:
    """Everything but radiation memory and waves, linearised at rest."""
    rest, n = (model, state, lam), state.s.shape[0]
    zero = np.zeros(2 * n)
    scalars = _in_scalars(formulation).at(rest, np.zeros(1), 2 * n)
    found: Any = None
    if scalars is not None:
        values, jacobians = scalars.jacobians(zero[None])
        if all(np.isfinite(x).all() for x in (*values, *jacobians)):
            tree = _balance(formulation).closed(rest, np.zeros(()), zero)[1]
            found = [jax.tree.unflatten(tree, [y[0] for y in x]) for x in (jacobians, values)]
    slope, value = _in_arrays(formulation)(rest, zero) if found is None else found
    out = {name: value[name] for name in ("mass", "P", "stroke_damping", "rows") if name in value}
    out |= {name: slope[name][:, :n] for name in ("coordinate", "stroke")}
    return out | {"stiffness": -slope["force"][:, :n], "damping": -slope["force"][:, n:]}


def linear_system(
    model: Model, how: Formulation, start: State | None = None, drag: bool = True
) -> dict[str, Any]:
    """Matrices of the linearised system in its free directions, at the state of rest.

    Args:
        model: compiled.
        how: the formulation.
        start: state from which rest is sought.
        drag: linearise drag about the state of rest; otherwise leave it out and return its
            "pieces" for equivalent linearisation.
    """
    still = model
    if model.hydro is not None:
        # radiation is put in by `amplitudes`, also the constant damping of one frequency
        none = np.zeros_like(model.hydro.damping)
        hydro = replace(model.hydro, memory=None, waves=None, damping=none)
        still = without_table(model.with_effect(hydro))
    state, lam, _, _ = find_rest(still, how, start)
    n = state.s.shape[0]
    parts = _linearised(how, still, state, lam)
    pieces = []
    if not drag:
        # drag keeps what depends on the pose; what depends on velocity comes from its pieces
        pieces = drag_pieces(still, how.kinematics(still, jnp.zeros(()), state).motion)
        groups = tuple(group.without_drag() for group in still.effects)
        smooth = still.replace(effects=groups)
        parts["damping"] = _linearised(how, smooth, state, lam)["damping"]
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
        "to_strokes": parts["stroke"] @ Z,
        "stroke_damping": parts["stroke_damping"],
        "state": state,
        "pieces": pieces,
        "still": still,
        "free_directions": Z,
    }


def _radiation(model: Model, omega: np.ndarray, source: str) -> tuple[np.ndarray, np.ndarray]:
    """Added mass and damping at each frequency, from the data or from the fitted memory."""
    if not has_table(model):
        none = np.zeros((len(omega), 6 * model.layout.n_bodies, 6 * model.layout.n_bodies))
        return none if model.added_mass is None else none + np.asarray(model.added_mass), none
    table = table_of(model)
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
    model: Model,
    linear: dict[str, Any],
    omega: np.ndarray,
    force: np.ndarray,
    source: str,
    damping: np.ndarray | None = None,
) -> np.ndarray:
    """Amplitude of the free directions for excitation (f, ..., 6N).

    Args:
        model: compiled.
        linear: from `linear_system`.
        omega: (f,) [rad/s].
        force: excitation of the bodies.
        source: of the radiation.
        damping: further damping of the bodies, (6N, 6N) or (f, ..., 6N, 6N).
    """
    A, B = _radiation(model, omega, source)
    to_bodies = linear["to_bodies"]
    y = np.empty((*force.shape[:-1], to_bodies.shape[1]), dtype=complex)
    for i, w in enumerate(omega):
        M = linear["mass"] + to_bodies.T @ A[i] @ to_bodies
        C = linear["damping"] + to_bodies.T @ B[i] @ to_bodies
        D = -(w**2) * M - 1j * w * C + linear["stiffness"]
        if damping is not None:
            own = damping if damping.ndim == 2 else damping[i]
            D = D - 1j * w * (to_bodies.T @ own @ to_bodies)
        y[i] = np.linalg.solve(D, (force[i] @ to_bodies)[..., None])[..., 0]
    return y


def _checked(model: Model, radiation: str) -> None:
    if radiation not in RADIATION:
        raise SwelltreeError(
            f"radiation '{radiation}' is not known.{suggest(radiation, RADIATION)} "
            f"Choose one of {listed(RADIATION)}."
        )
    if not any(group.adds_excitation for group in model.effects):
        table_of(model)


def with_drag(
    model: Model,
    linear: dict[str, Any],
    waves: Waves,
    force: np.ndarray,
    radiation: str,
    drag: str,
) -> tuple[np.ndarray, list[np.ndarray], int]:
    """Amplitudes (c, n) per metre with linearised drag, its matrices, and the rounds it took."""
    if not linear["pieces"]:
        return amplitudes(model, linear, waves.omega, force, radiation), [], 0

    def solve(found: Linear) -> np.ndarray:
        shape = (len(waves.omega), *found.damping.shape[-2:])
        damping = np.broadcast_to(found.damping, shape)
        y = amplitudes(model, linear, waves.omega, force + found.force, radiation, damping)
        answers.append(y)
        return y @ linear["to_bodies"].T

    answers: list[np.ndarray] = []
    _, matrices, rounds = DragSolver(model, linear["pieces"], waves, solve).run(drag)
    return answers[-1], matrices, rounds


@study_of_model
def rao(
    model: Model,
    *,
    omega: Any = None,
    wave_direction: Any = None,
    formulation: str | Formulation = "path_matrix",
    radiation: str = "data",
    drag: str = "none",
    amplitude: Any = None,
    sea: Any = None,
    start: State | None = None,
    provenance: dict[str, Any] | None = None,
) -> Any:
    """Response amplitude operators of the jointed, moored system about its state of rest.

    Returns a dataset: `rao` (omega, wave_direction, body, dof) complex, per metre of wave
    amplitude at the reference points; `coordinate_rao`; `absorbed_power` of every damper per
    square metre of amplitude, and `capture_width`.

    Args:
        model: compiled with hydro data, or with members or bodies that feel waves without them.
        omega: frequencies [rad/s]; those of the data if not given.
        wave_direction: headings [rad]; those of the data if not given.
        formulation: name or object.
        radiation: "data" (A and B of the data) or "state_space" (the memory of the time domain).
        drag: "none" (only the linear part that drag has about a mean current), "harmonic"
            (equivalent drag in regular waves of the amplitude) or "stochastic" (in the sea).
        amplitude: of the waves of "harmonic" [m]: one number, or one for each omega.
        sea: of "stochastic".
        start: state from which rest is sought.
        provenance: attributes added to the result.
    """
    check_traced("rao", model, start)
    refuse_lines_alone(model, "rao")
    model = with_static_lines(model)
    check_no_drums(model, "rao")
    _checked(model, radiation)
    how = chosen_formulation(formulation)
    check_drag(drag)
    if drag == "harmonic" and amplitude is None:
        raise SwelltreeError("drag='harmonic' needs the amplitude of the waves. Give metres.")
    if drag == "stochastic" and sea is None:
        raise SwelltreeError("drag='stochastic' needs a sea. Give sea=IrregularSea(...).")
    w, beta = asked(model, omega, wave_direction)
    linear = linear_system(model, how, start, drag == "none")
    model = turned_to_rest(model, how, linear["state"])
    pairs = np.repeat(w, len(beta)), np.tile(beta, len(w))
    force = excitation_of(model, linear, how, *pairs)
    rounds = 0
    if drag == "none":
        y = amplitudes(model, linear, w, force.reshape(len(w), len(beta), -1), radiation)
    elif drag == "harmonic":
        a = np.repeat(np.broadcast_to(np.asarray(amplitude, float), w.shape), len(beta))
        y, _, rounds = with_drag(model, linear, Waves(*pairs, a), force, radiation, drag)
    else:
        waves = waves_of(model, sea, 0)
        own = excitation_of(model, linear, how, waves.omega, waves.beta)
        _, matrices, rounds = with_drag(model, linear, waves, own, radiation, drag)
        found = None
        if matrices:
            at = Waves(*pairs, np.ones(len(force)))
            found = DragSolver(model, linear["pieces"], at, None).linear(matrices)
            force = force + found.force
        force = force.reshape(len(w), len(beta), -1)
        y = amplitudes(model, linear, w, force, radiation, found and found.damping)
    y = y.reshape(len(w), len(beta), -1)
    attrs = {"drag": drag, "drag_rounds": rounds} | (provenance or {})
    return _to_dataset(model, how, linear, w, beta, y, radiation, attrs)


def damper_power(linear: dict[str, Any], w: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Mean power taken by every damper per square metre of amplitude, (..., e).

    Dampers are all elements on strokes, by the slope of their force at rest.
    """
    moved = y @ np.asarray(linear["to_strokes"]).T
    rate = w.reshape(-1, *(1,) * (moved.ndim - 1)) * np.abs(moved)
    return 0.5 * np.asarray(linear["stroke_damping"]) * rate**2


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
    power = damper_power(linear, w, y)
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
        "element": list(stroke_forces(model).names),
    }
    attrs = {
        "study": "rao",
        "formulation": how.name,
        "radiation": radiation,
        "time_convention": "exp(-iwt)",
        "rho": water.rho,
        "g": water.g,
        "water_depth": water.depth,
        "drawing": model.described.drawing,
        "report": " ".join([*model.report, *linear_notes(model)]),
    }
    return xr.Dataset(data, coords, attrs | (provenance or {}))


def wave_power(model: Model, w: np.ndarray, a: np.ndarray) -> float:
    """Power of waves per metre of crest [W/m]."""
    from swelltree.waves.dispersion import dispersion, group_speed

    water = model.water
    speed = group_speed(w, dispersion(w, water.depth, water.g), water.depth)
    return float((0.5 * water.rho * water.g * a**2 * speed).sum())


@study_of_model
def response(
    model: Model,
    sea: Any,
    *,
    formulation: str | Formulation = "path_matrix",
    radiation: str = "data",
    drag: str = "none",
    case: int | str = 0,
    start: State | None = None,
) -> Any:
    """Response of the linearised system to a sea: standard deviations and mean powers.

    Returns a dataset with `standard_deviation` (body, dof), `velocity_deviation`,
    `coordinate_deviation`, the variance by component (`variance`, over `component` with its
    `omega`) and the response `spectrum`, divided by the band of the sea's spectrum that each
    component stands for (not a number for a regular wave, which has none); `absorbed_power`
    (element) [W] and `capture_width` [m].

    Args:
        model: compiled with hydro data.
        sea: a described sea.
        formulation: name or object.
        radiation: "data" or "state_space".
        drag: "none", "stochastic" (equivalent drag of a Gaussian sea) or "harmonic" (of a regular
            wave).
        case: number or name of the run.
        start: state from which rest is sought.
    """
    import xarray as xr

    check_traced("response", model, sea)
    refuse_lines_alone(model, "response")
    model = with_static_lines(model)
    _checked(model, radiation)
    how = chosen_formulation(formulation)
    check_drag(drag)
    waves = waves_of(model, sea, case)
    w, beta, a, width = waves
    if drag == "harmonic" and len(w) > 1:
        raise SwelltreeError("drag='harmonic' is for regular waves. Use drag='stochastic'.")
    linear = linear_system(model, how, start, drag == "none")
    model = turned_to_rest(model, how, linear["state"])
    force = excitation_of(model, linear, how, w, beta)
    rounds = 0
    if drag == "none":
        y = amplitudes(model, linear, w, force, radiation)
    else:
        y, _, rounds = with_drag(model, linear, waves, force, radiation, drag)
    y = y * a[:, None]
    layout = model.layout
    order = [layout.bodies.index(name) for name in layout.described]
    X = (y @ linear["to_bodies"].T).reshape(len(w), layout.n_bodies, 6)[:, order]
    variance = 0.5 * np.abs(X) ** 2
    joints = 0.5 * np.abs(y @ linear["to_coordinates"].T) ** 2
    power = damper_power(linear, w, y).sum(axis=0)
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
        "capture_width": (
            "element",
            power / wave_power(model, w, a),
            {"units": "m", "long_name": "absorbed power over wave power per metre of crest"},
        ),
    }
    if width is not None and np.any(width):
        # a wave that stands for itself has no density
        band = np.where(width > 0, width, np.nan)[:, None, None]
        data["spectrum"] = (
            ("component", "body", "dof"),
            variance / band,
            {"units": "m^2 s/rad, rad s", "long_name": "response spectrum"},
        )
    coords = {
        "omega": ("component", w, {"units": "rad/s"}),
        "wave_direction": ("component", beta, {"units": "rad"}),
        "body": list(layout.described),
        "dof": list(DOFS),
        "coordinate": list(layout.dof_labels),
        "element": list(stroke_forces(model).names),
    }
    attrs = {"study": "response", "sea": repr(sea), "drag": drag, "drag_rounds": rounds}
    notes = " ".join([*model.report, *linear_notes(model)])
    return xr.Dataset(data, coords, attrs | {"report": notes})
