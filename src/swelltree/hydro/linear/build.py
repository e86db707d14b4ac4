"""From hydrodynamic data to the model's linear hydrodynamics."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe import System
from swelltree.describe.bodies.hulls import Hull, PanelHull
from swelltree.describe.environment.hydro import FRAMES, RADIATION
from swelltree.describe.environment.water import Water
from swelltree.describe.errors import (
    SwelltreeError,
    listed,
    suggest,
    warn_user,
)
from swelltree.describe.values import NamedValues
from swelltree.hydro.drift.data import check_double_counting, drift_table
from swelltree.hydro.linear.data import Table
from swelltree.hydro.linear.excitation import Convolution, interpolated
from swelltree.hydro.linear.fits import MotionError, Said, SmallMotions
from swelltree.hydro.linear.frame import shared_out, welded_motion
from swelltree.hydro.linear.hydro import Hydro, linear_hydro
from swelltree.hydro.linear.radiation import Memory
from swelltree.model.model import Model
from swelltree.multibody.kinematics import (
    Pose,
    forward,
    joint_frames,
    moved_positions,
    tree_blocks,
    velocity_matrix,
)
from swelltree.multibody.layout import DOFS, Layout
from swelltree.spatial.linear_steps import partners_in
from swelltree.waves.dispersion import dispersion

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.hydro.radiation.model import RadiationModel

FIRST = 0.02  # error of K in the first fit, and of the motions where nothing else is asked for
LOOSE = 0.05  # error of K in the first fit where motions may be farther off than that
FURTHER = (0.02, 0.01, 0.005, 0.0025)  # errors of K that follow
DOUBTFUL = 0.1  # of the motions: if corrections change more, the data may have been right
IN_VAIN = 2  # fits that gain less than a fifth: no more are tried
DECAYED = 0.01  # of the largest damping of a DOF: it radiates no more


@dataclass(frozen=True)
class HydroOptions:
    """How hydrodynamic data are used.

    Args:
        radiation: "state_space" (memory fitted to the data), "convolution" (with the kernel, for
            the fixed-step solver), "constant" (added mass and damping of one frequency, as in
            MBS4WEC), or "none" (added mass at infinite frequency only).
        omega: the frequency of "constant" [rad/s].
        coupling: keep the coupling between bodies.
        fit: options of `hydro.radiation.fit.fit_radiation`, used by `with_fitted_memory`.
        step: time step of "convolution" [s].
        frame: axes of the data: "fixed" or "yaw" (following the mean yaw of each body).
        yaw_time: time over which the mean yaw is taken [s].
        nonlinear: bodies whose buoyancy and Froude-Krylov force act on the actual wetted hull.
        drift: second-order loads: "none", "mean", "newman" or "qtf"; None is "none".
    """

    radiation: str = "state_space"
    omega: float | None = None
    coupling: bool = True
    fit: tuple[tuple[str, object], ...] = ()
    step: float = 0.05
    frame: str = "fixed"
    yaw_time: float = 60.0
    nonlinear: tuple[str, ...] = ()
    drift: str | None = None


def wet_bodies(system: System, data: xr.Dataset) -> list[str]:
    """Names of the data's bodies, all of which must be in the system."""
    names = [str(name) for name in data["body"].values]
    known = [body.name for body in system.bodies]
    for name in names:
        if name not in known:
            raise SwelltreeError(
                f"hydro data hold body '{name}', which is not in the system."
                f"{suggest(name, known)} The bodies are {listed(known)}; "
                "rename with read_hydro(..., names=...)."
            )
    return names


def with_rotation_centers(system: System, data: xr.Dataset) -> System:
    """Bodies without a reference point take that of the data."""
    if "rotation_center" not in data:
        return system
    bodies = []
    for body in system.bodies:
        if body.name in wet_bodies(system, data) and body.reference_point is None:
            center = np.asarray(data["rotation_center"].sel(body=body.name).values, dtype=float)
            if np.isfinite(center).all():
                local = body.rotation_matrix.T @ (center - np.array(body.position))
                body = body.replace(reference_point=tuple(float(x) for x in local))
        bodies.append(body)
    return system.replace(bodies=tuple(bodies))


def check_water(system: System, data: xr.Dataset) -> None:
    water = system.water
    for name, described in (("rho", water.rho), ("g", water.g), ("water_depth", water.depth)):
        if name not in data:
            continue
        theirs = float(data[name])
        if np.isfinite(described) != np.isfinite(theirs) or (
            np.isfinite(described) and abs(theirs - described) > 1e-3 * abs(described)
        ):
            raise SwelltreeError(
                f"hydro data were made with {name} = {theirs:g}, but the system's water has "
                f"{described:g}. "
                f"Give Water({'depth' if name == 'water_depth' else name}={theirs:g}) "
                "or other data."
            )


class BodyOrder:
    """Maps data with labels body__Dof to 6N arrays in the model's order."""

    def __init__(self, layout: Layout, data: xr.Dataset, shift: dict[str, np.ndarray]) -> None:
        labels = [f"{body}__{dof}" for body in layout.bodies for dof in DOFS]
        have = [str(label) for label in data["influenced_dof"].values]
        unknown = [label for label in have if label not in labels]
        if unknown:
            raise SwelltreeError(
                f"hydro data hold the DOF '{unknown[0]}', which is not one of the six rigid "
                "ones of a body. Leave generalised modes out with .sel(...)."
            )
        self.labels = labels
        self.take = [label for label in labels if label in have]
        self.place = np.array([labels.index(label) for label in self.take], dtype=int)
        self.size = len(labels)
        # the data's point to ours: v_data = J v_ours
        J = np.eye(self.size)
        for name, r in shift.items():
            i = 6 * layout.bodies.index(name)
            x, y, z = r
            J[i : i + 3, i + 3 : i + 6] = np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]])
        self.J = J

    def matrix(self, values: xr.DataArray) -> np.ndarray:
        """(..., dof, dof) into (..., 6N, 6N)."""
        picked = values.sel(influenced_dof=self.take, radiating_dof=self.take)
        picked = picked.transpose(..., "influenced_dof", "radiating_dof")
        array = np.asarray(picked.values, dtype=float)
        out = np.zeros((*array.shape[:-2], self.size, self.size))
        out[..., self.place[:, None], self.place[None, :]] = array
        return self.J.T @ out @ self.J

    def vector(self, values: xr.DataArray) -> np.ndarray:
        """(..., dof) into (..., 6N)."""
        picked = values.sel(influenced_dof=self.take).transpose(..., "influenced_dof")
        array = np.asarray(picked.values)
        out = np.zeros((*array.shape[:-1], self.size), dtype=array.dtype)
        out[..., self.place] = array
        return out @ self.J


def _warn_of_missing(order: BodyOrder, wet: Sequence[str], moves: np.ndarray) -> None:
    """Warn of DOFs in which bodies move but have no data."""
    names = [label for label, there in zip(order.labels, moves, strict=True) if there]
    missing = [x for x in names if x not in order.take and x.rpartition("__")[0] in wet]
    if missing:
        text = f"hydro data have no {listed(missing)}, in which the joints let the body move: no "
        text += "water acts there. Compute them too, see dofs of run_bem."
        warn_user(text)


def build_hydro(
    system: System, model: Model, mean: Pose, data: xr.Dataset, options: HydroOptions
) -> tuple[Hydro, np.ndarray, list[str]]:
    """Hydrodynamics of the model, its added mass in the mass matrix, and what to report."""
    layout = model.layout
    if options.radiation not in RADIATION:
        raise SwelltreeError(
            f"radiation '{options.radiation}' is not known.{suggest(options.radiation, RADIATION)} "
            f"Choose one of {listed(RADIATION)}."
        )
    if options.frame not in FRAMES:
        raise SwelltreeError(
            f"frame '{options.frame}' is not known.{suggest(options.frame, FRAMES)} "
            f"Choose one of {listed(FRAMES)}."
        )
    if not options.yaw_time > 0:
        raise SwelltreeError(f"yaw_time {options.yaw_time} s is not positive. Give e.g. 60.")
    check_water(system, data)
    wet = wet_bodies(system, data)
    shift = {}
    if "rotation_center" in data:
        for name in wet:
            center = np.asarray(data["rotation_center"].sel(body=name).values, dtype=float)
            if np.isfinite(center).all():
                shift[name] = center - mean.p[layout.bodies.index(name)]
    order = BodyOrder(layout, data, shift)
    _warn_of_missing(order, wet, moving_dofs(model))
    table = _table(order, data, mean, system.water)
    if not options.coupling:
        table = _uncoupled(layout, table)
    buoyancy, stiffness = _hydrostatics(system, layout, mean, order, data, wet)
    check_double_counting(options.nonlinear, options.drift, data)
    drift, report = drift_table(order, data, table.place, options.drift)
    table = replace(table, drift=drift)
    if options.nonlinear:
        table, notes = _without_froude_krylov(system, layout, mean, table, options.nonlinear)
        report = [*report, *notes]
        for name in options.nonlinear:
            i = layout.bodies.index(name)
            block = slice(6 * i, 6 * i + 6)
            buoyancy[i], stiffness[block], stiffness[:, block] = 0.0, 0.0, 0.0
    damping = np.zeros_like(stiffness)
    memory, added = None, table.added_mass_inf
    if options.radiation == "constant":
        if options.omega is None:
            raise SwelltreeError("radiation='constant' needs omega. Give the wave's frequency.")
        added, damping = at_frequency(table, options.omega)
    elif options.radiation == "convolution":
        memory, sentence = kernel_memory(table, moving_dofs(model), options.step)
        report.append(sentence)
    reach = hull_reach(system, layout)
    hydro = Hydro(mean, buoyancy, stiffness, damping, memory, None, table, reach)
    return hydro, 0.5 * (added + added.T), report


def hull_reach(system: System, layout: Layout) -> np.ndarray:
    """Distance that every hull extends above or below the water, the smaller of both (N,) [m]."""
    reach = np.full(layout.n_bodies, np.inf)
    for i, name in enumerate(layout.bodies):
        body = system.body(name)
        if body.hull is not None:
            from_file = any(isinstance(part, PanelHull) for part in body.hull.parts)
            # files may change; other hulls are the same in all designs that leave them alone
            find = _reach_of if from_file else _known_reach
            reach[i] = find(body.hull, tuple(body.rotation_matrix[2].tolist()))
    return np.where(reach > 0.0, reach, np.inf)


def _reach_of(hull: Hull, up: tuple[float, ...]) -> float:
    """Distance that a hull extends above or below the water [m]; `up` in its own axes."""
    from swelltree.describe.bodies.hull_panels import hull_panels

    z = hull_panels(hull).vertices @ np.array(up)
    return max(min(float(z.max()), -float(z.min())), 0.0)


_known_reach = functools.lru_cache(maxsize=64)(_reach_of)


def _table(order: BodyOrder, data: xr.Dataset, mean: Pose, water: Water) -> Table:
    """The frequency-domain data in body order.

    Excitation is kept with its phase at each body: at the origin it would turn quickly with
    frequency and heading for bodies far away, and could not be interpolated.
    """
    from swelltree.hydro.linear.excitation import travelled

    omega = np.asarray(data["omega"].values, dtype=float)
    A, B = order.matrix(data["added_mass"]), order.matrix(data["radiation_damping"])
    # reciprocity: what is not symmetric is an error of the data, which `hydro_report` reports
    A, B = (0.5 * (x + np.swapaxes(x, 1, 2)) for x in (A, B))
    usable = np.isfinite(omega) & (omega > 0)
    if usable.sum() < 2:
        raise SwelltreeError("hydro data hold fewer than two usable frequencies. Give more.")
    infinite = np.isinf(omega)
    if infinite.any():
        A_inf = A[infinite][0]
    else:
        from swelltree.hydro.radiation.memory import infinite_added_mass

        A_inf = infinite_added_mass(omega[usable], A[usable], B[usable]).value
    direction = np.zeros(1)
    F = np.zeros((int(usable.sum()), 1, order.size), dtype=complex)
    if "excitation_force" in data:
        direction = np.asarray(data["wave_direction"].values, dtype=float)
        values = data["excitation_force"].transpose("omega", "wave_direction", "influenced_dof")
        F = order.vector(values)[usable]
    rank = np.argsort(omega[usable])
    place = np.repeat(mean.p[:, :2], 6, axis=0)
    k = np.asarray(dispersion(omega[usable], water.depth, water.g))
    pairs = (x.ravel() for x in np.meshgrid(k, direction, indexing="ij"))
    F = F * travelled(place, *pairs).conj().reshape(F.shape)
    return Table(
        omega[usable][rank],
        direction,
        A[usable][rank],
        B[usable][rank],
        F[rank],
        A_inf,
        place,
    )


def _without_froude_krylov(
    system: System, layout: Layout, mean: Pose, table: Table, names: tuple[str, ...]
) -> tuple[Table, list[str]]:
    """The table with the part of the excitation that nonlinear hulls leave to linear theory."""
    from swelltree.hydro.froude_krylov.build import SAME_HULL, linear_froude_krylov

    remaining, notes = table.excitation.copy(), []
    for name in names:
        i = layout.bodies.index(name)
        block = slice(6 * i, 6 * i + 6)
        if not np.abs(table.excitation[..., block]).max(initial=0.0) > 0.0:
            continue
        pose = Pose(mean.p[i], mean.R[i])
        F = linear_froude_krylov(
            system.body(name), pose, system.water, table.omega, table.direction
        )
        remaining[..., block] -= F
        # the longest wave is hardly diffracted: there the two must agree
        lift = table.excitation[0, :, 6 * i + 2]
        if np.abs(lift - F[0, :, 2]).max() > SAME_HULL * np.abs(lift).max():
            notes.append(
                f"body '{name}': Froude-Krylov heave of its hull and excitation of the data differ "
                f"by {np.abs(lift - F[0, :, 2]).max() / np.abs(lift).max():.0%} in the longest "
                "wave. Check that both have the same hull."
            )
    return replace(table, remaining=remaining), notes


def _uncoupled(layout: Layout, table: Table) -> Table:
    """The table without coupling between bodies."""
    same = np.kron(np.eye(layout.n_bodies), np.ones((6, 6)))
    return replace(
        table,
        added_mass=table.added_mass * same,
        radiation_damping=table.radiation_damping * same,
        added_mass_inf=table.added_mass_inf * same,
    )


def at_frequency(table: Table, omega: float) -> tuple[np.ndarray, np.ndarray]:
    """Added mass and damping of one frequency, interpolated."""
    if not table.omega[0] <= omega <= table.omega[-1]:
        raise SwelltreeError(
            f"omega {omega:g} rad/s is outside the data, {table.omega[0]:g} to "
            f"{table.omega[-1]:g} rad/s. Choose another, or compute data there."
        )
    from swelltree.hydro.linear.excitation import interpolated

    A = interpolated(table.omega, table.added_mass, np.array([omega]))[0]
    return A, interpolated(table.omega, table.radiation_damping, np.array([omega]))[0]


def moving_dofs(model: Model) -> np.ndarray:
    """Which of the 6N body velocities the joints allow, found at positions near the start."""
    layout = model.layout
    rng = np.random.default_rng(0)
    unit = np.zeros(layout.n_positions)
    for _, first in layout.quaternions:
        unit[first] = 1.0
    steps = (rng.uniform(-1.0, 1.0, layout.n_tree) for _ in range(3))
    poses = [forward(model, moved_positions(layout, unit, step)) for step in steps]
    return np.any([moving_at(model, pose) for pose in poses], axis=0)


def moving_at(model: Model, pose: Pose) -> np.ndarray:
    """Which of the 6N body velocities the joints allow in one pose: those of small motions."""
    P = velocity_matrix(*tree_blocks(model, pose, joint_frames(model, pose)))
    return np.abs(P).max(axis=1, initial=0.0) > 1e-9


def with_fitted_memory(model: Model, options: NamedValues, free: np.ndarray) -> Model:
    """The model with the state space of its radiation memory, judged by its motions.

    Args:
        model: with its start assembled and hydro data without memory.
        options: of `fit_radiation`; its `error` is that of the motions.
        free: tree velocities that loops leave free (n, f).
    """
    hydro = linear_hydro(model)
    assert hydro is not None
    assert hydro.table is not None
    assert model.added_mass is not None
    motion = welded_motion(model.layout, hydro.mean)
    motions = partial(SmallMotions, model, free=free)
    built = fit_memory(hydro.table, moving_dofs(model), motion, options, motions)
    memory, above, sentence = built
    assert model.added_mass is not None
    added = model.added_mass + 0.5 * (above + above.T)
    model = model.with_effect(replace(hydro, memory=memory)).replace(added_mass=added)
    return model.noted(sentence)


@dataclass(frozen=True)
class _Fit:
    """A fit of the radiation memory and its effect on the motions."""

    model: RadiationModel
    said: Said  # warnings about the data
    above: np.ndarray  # (6N, 6N) added mass of resonances above the band
    motions: MotionError

    @property
    def motion_error(self) -> float:
        """Maximum error of the motions."""
        return self.motions.size


def fit_memory(
    table: Table,
    moves: np.ndarray,
    motion: np.ndarray,
    options: NamedValues,
    motions: Callable[[Table], SmallMotions],
) -> tuple[Memory | None, np.ndarray, str]:
    """State space of the radiation memory on the dofs that move and radiate.

    The first fit is that of K. Where the motions are farther from those of the data than asked
    for, smaller errors of K follow, the frequencies weighted by what they do to the motions, until
    they are near enough; else the best of all fits is taken. All requests go the same way, those
    up to `FIRST` without the step from `LOOSE`, so that a smaller one never gives a worse fit: a
    looser fit of K may have more states and better motions than the next one.

    Also the added mass of resonances of the water above the band (6N, 6N), and a message.

    Args:
        table: the data.
        moves: which of the 6N body velocities can move.
        motion: T of `welded_motion`: bodies welded together are fitted as one.
        options: of `fit_radiation`.
        motions: judges fits to such data.
    """
    apart, T = table, motion
    table = replace(
        table,
        added_mass=T.T @ table.added_mass @ T,
        radiation_damping=T.T @ table.radiation_damping @ T,
        added_mass_inf=T.T @ table.added_mass_inf @ T,
    )
    size = np.abs(table.radiation_damping).max(axis=(0, 2))
    live = np.flatnonzero(moves & (size > 1e-9 * size.max(initial=0.0)))
    if live.size == 0:
        none = np.zeros_like(apart.added_mass_inf)
        return None, none, _no_memory(moves, size)
    specified = {"omega_max": _end_of_damping(table, live)} | options
    requested = float(specified.pop("error", FIRST))
    W = shared_out(apart.radiation_damping, T, live)
    best, own = _best_fit(table, apart, live, W, requested, specified, motions)
    stored = ""
    if own > DOUBTFUL and "as_specified" not in specified:
        # what looks like a jump may be the resonance of a moonpool: then the data can be fitted
        complete, _ = _best_fit(
            table, apart, live, W, requested, specified | {"as_specified": True}, motions
        )
        if complete.motion_error < own:
            best, own = complete, 0.0
            stored = " Frequencies at which the data jump were kept: a passive model follows them."
    fit = best.model
    for message, category in best.said:
        warn_user(message, category)
    sentence = (
        f"radiation: memory of order {fit.order}, motions within {100 * best.motion_error:.3g} % "
        f"of those with the data; fitted with an error of {100 * fit.error:.2g} %; kernel "
        f"{100 * fit.kernel_error:.2g} % in the band and {100 * fit.impulse_error:.2g} % as "
        f"impulse response, added mass {100 * fit.mass_error:.2g} % and damping "
        f"{100 * fit.damping_error:.2g} % where the bodies radiate."
    )
    sentence += stored
    if own > min(FIRST, requested):
        corrected = (
            "what was left out or corrected, because the data jump or added mass and damping "
            f"contradict each other, alone changes the motions by up to {100 * own:.2g} %."
        )
        sentence += f" {corrected[0].upper()}{corrected[1:]}"
        if own > requested:
            warn_user(
                f"radiation fit: {corrected} Asked for {100 * requested:.3g} %: compute the data "
                "with smaller panels or at more frequencies, or allow a larger error."
            )
    if best.motion_error > requested:
        missed = (
            f"radiation fit: with {fit.order} states the motions differ from those with the data "
            f"by up to {100 * best.motion_error:.3g} % ({best.motions.dof} at "
            f"{best.motions.omega:.4g} rad/s), asked for {100 * requested:.3g} %. Use "
            "radiation='convolution', allow a larger max_order or error, or give data at more "
            "frequencies."
        )
        warn_user(missed)
        sentence = f"{sentence} {missed}"
    notes = [n for n in fit.notes if "left out" in n]
    memory = Memory(fit.A, fit.B @ W.T, W @ fit.C, partner=partners_in(fit.A))
    return memory, best.above, " ".join([sentence, *notes])


def _best_fit(
    table: Table,
    apart: Table,
    live: np.ndarray,
    W: np.ndarray,
    requested: float,
    options: NamedValues,
    motions: Callable[[Table], SmallMotions],
) -> tuple[_Fit, float]:
    """The first fit with sufficient accuracy of motions, else the best; error of corrected data."""
    from swelltree.hydro.linear.fits import recent_fit

    pick = np.ix_(np.arange(len(table.omega)), live, live)
    A, B = table.added_mass[pick], table.radiation_damping[pick]
    A_inf = table.added_mass_inf[np.ix_(live, live)]
    judge: SmallMotions | None = None
    own = 0.0
    fits: list[_Fit] = []
    for level in (LOOSE if requested > FIRST else FIRST, *FURTHER):
        more = {}
        if judge is not None:
            first = fits[0].model
            weight = np.zeros(len(table.omega))
            at = np.searchsorted(table.omega, judge.rows - 1e-9)
            weight[at] = judge.importance(first.scale, W.T)
            more = {"importance": weight, "max_order": 2 * _most_states(live.size)}
        built, said = recent_fit(table.omega, A, B, A_inf, error=level, **{**more, **options})
        if judge is None:
            judge, own = _judge(apart, table, built, live, W, motions)
        above = W @ (built.A_inf - 0.5 * (A_inf + A_inf.T)) @ W.T
        # the fit itself, between the frequencies of the data too
        K = built.transfer(judge.omega, W.T @ judge.P)
        mass = judge.projected(apart.added_mass_inf + above) + K.imag / judge.omega[:, None, None]
        fits.append(_Fit(built, said, above, judge.error(mass, K.real)))
        if fits[-1].motion_error <= requested:
            return fits[-1], own
        # twice in vain: what is left is not the order's
        errors = [fit.motion_error for fit in fits]
        if len(errors) > IN_VAIN and min(errors[-IN_VAIN:]) > 0.8 * min(errors[:-IN_VAIN]):
            break
    return min(fits, key=lambda fit: fit.motion_error), own


def _judge(
    apart: Table,
    table: Table,
    built: RadiationModel,
    live: np.ndarray,
    W: np.ndarray,
    motions: Callable[[Table], SmallMotions],
) -> tuple[SmallMotions, float]:
    """Error of the motions with fitted data, and the deviation of these from the original data."""
    assert built.data is not None
    omega, A, B = built.data
    rows = np.searchsorted(apart.omega, omega - 1e-9)
    pick = np.ix_(rows, live, live)
    specified = _at_rows(apart, rows)
    repaired = replace(
        specified,
        added_mass=specified.added_mass + W @ (A - table.added_mass[pick]) @ W.T,
        radiation_damping=specified.radiation_damping
        + W @ (B - table.radiation_damping[pick]) @ W.T,
    )
    judge = motions(repaired)
    every = np.arange(rows[0], rows[-1] + 1)
    if every.size == rows.size and built.data_inconsistency == 0.0:
        return judge, 0.0
    complete = motions(_at_rows(apart, every))
    bridged = (
        interpolated(omega, complete.projected(x), complete.omega)
        for x in (repaired.added_mass, repaired.radiation_damping)
    )
    return judge, complete.error(*bridged).size


def _at_rows(table: Table, rows: np.ndarray) -> Table:
    """The data at selected frequencies."""
    return replace(
        table,
        omega=table.omega[rows],
        added_mass=table.added_mass[rows],
        radiation_damping=table.radiation_damping[rows],
        excitation=table.excitation[rows],
    )


def _most_states(dofs: int) -> int:
    """Maximum order of the first fit."""
    from swelltree.hydro.radiation.fit import PER_FREEDOM

    return max(PER_FREEDOM * dofs, 40)


def _no_memory(moves: np.ndarray, size: np.ndarray) -> str:
    """Reason for no radiation memory."""
    if not moves.any():
        return "radiation: the joints hold all bodies of the data, so there is no memory."
    if size.any():
        return (
            "radiation: the data have no damping in the directions in which their bodies can "
            "move, so there is no memory."
        )
    return "radiation: the data have no damping, so there is no memory."


def kernel_memory(table: Table, moves: np.ndarray, step: float) -> tuple[Convolution | None, str]:
    """Kernel at multiples of half a step, for the DOFs that move and radiate."""
    from swelltree.hydro.radiation.damping_band import damping_scale
    from swelltree.hydro.radiation.memory import radiation_kernel
    from swelltree.hydro.radiation.spikes import jumps

    if not step > 0:
        raise SwelltreeError(f"step {step} s of the convolution is not positive. Give e.g. 0.05.")
    size = np.abs(table.radiation_damping).max(axis=(0, 2))
    live = np.flatnonzero(moves & (size > 1e-9 * size.max(initial=0.0)))
    if live.size == 0:
        return None, _no_memory(moves, size)
    omega, A, B = (np.asarray(x) for x in (table.omega, table.added_mass, table.radiation_damping))
    A, B = A[:, live][:, :, live], B[:, live][:, :, live]
    off = jumps(omega, A, B, damping_scale(B))
    good = off == 0.0
    kernel = radiation_kernel(omega[good], B[good], step=step / 2)
    count = len(kernel.time) // 2 + 1
    K = np.zeros((2 * count + 2, live.size, live.size))
    K[: len(kernel.values)] = kernel.values
    sentence = (
        f"radiation: convolution over {kernel.time[-1]:.3g} s, the kernel's remainder is "
        f"{100 * kernel.remainder:.2g} % of its largest value."
    )
    if not good.all():
        names = ", ".join(f"{w:.4g}" for w in omega[~good])
        sentence += f" Frequencies at which the data jump were left out: {names} rad/s."
    return Convolution(K, np.array(step), tuple(int(i) for i in live)), sentence


def _end_of_damping(table: Table, live: np.ndarray) -> float:
    """Frequency beyond which no DOF radiates.

    There K = B + i w (A - A_inf) holds nothing but the small difference of two large added
    masses, often spoilt by irregular frequencies; a fit must not follow it.
    """
    damping = np.diagonal(table.radiation_damping, axis1=1, axis2=2)[:, live]
    size = damping / damping.max(axis=0)
    last = int(np.flatnonzero((size > DECAYED).any(axis=1)).max())
    return float(min(1.1 * table.omega[last], table.omega[-1]))


def _hydrostatics(
    system: System, layout: Layout, mean: Pose, order: BodyOrder, data: xr.Dataset, wet: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Buoyancy in the mean pose (N, 6) and stiffness of buoyancy alone (6N, 6N)."""
    N, water = layout.n_bodies, system.water
    buoyancy, G = np.zeros((N, 6)), np.zeros((6 * N, 6 * N))
    specified = _has_stiffness(data)
    if specified:
        G = order.matrix(data["hydrostatic_stiffness"])
    for name in wet:
        body, i = system.body(name), layout.bodies.index(name)
        block = slice(6 * i, 6 * i + 6)
        com = np.array(body.position) + body.rotation_matrix @ np.array(body.com)
        if not specified:
            from swelltree.hydro.bem.hydrostatics import hydrostatics

            if body.hull is None:
                raise SwelltreeError(
                    f"body '{name}': the hydro data hold no hydrostatic stiffness and the body "
                    "has no hull to take it from. Give one of them."
                )
            result = hydrostatics(body, water, weight=False)
            G[block, block] = result.stiffness
            buoyancy[i] = _lift(water, result.volume, result.center_of_buoyancy - mean.p[i])
            continue
        volume = _value(data, "displaced_volume", name)
        center = _value(data, "center_of_buoyancy", name)
        data_com = _value(data, "center_of_mass", name)
        # take the weight out of the data's stiffness: it acts as a force of its own
        mass = _data_mass(data, name)
        if mass is None:
            mass = body.mass if volume is None else water.rho * float(volume)
        arm = (com if data_com is None else data_com) - mean.p[i]
        G[block, block] -= weight_stiffness(mass * water.g, arm)
        if volume is None or center is None:
            # no displacement in the data: the body floats in equilibrium by itself
            weight = np.array([0.0, 0.0, -body.mass * water.g])
            buoyancy[i] = -np.concatenate([weight, np.cross(com - mean.p[i], weight)])
        else:
            buoyancy[i] = _lift(water, float(volume), center - mean.p[i])
    return buoyancy, G


def _has_stiffness(data: xr.Dataset) -> bool:
    # all of it may be unknown (NaN); `compile` rejects a part
    name = "hydrostatic_stiffness"
    return name in data and bool(np.isfinite(data[name].values).any())


def mass_is_load(system: System, data: xr.Dataset | None) -> set[str]:
    """Masses that feed the buoyancy too, because the data give no displacement ("float.mass")."""
    if data is None or not _has_stiffness(data):
        return set()
    needed = ("displaced_volume", "center_of_buoyancy")
    return {
        f"{name}.mass"
        for name in wet_bodies(system, data)
        if any(_value(data, key, name) is None for key in needed)
    }


def _data_mass(data: xr.Dataset, body: str) -> float | None:
    """Mass whose weight is in the stiffness of `run_bem`; None if unknown."""
    if data["hydrostatic_stiffness"].attrs.get("weight") != "included":
        return None
    label = f"{body}__Heave"
    value = float(data["inertia_matrix"].sel(influenced_dof=label, radiating_dof=label))
    return value if np.isfinite(value) else None


def _value(data: xr.Dataset, name: str, body: str) -> np.ndarray | None:
    """A finite value of a body in the data, or None."""
    if name not in data:
        return None
    value = np.asarray(data[name].sel(body=body).values, dtype=float)
    return value if np.isfinite(value).all() else None


def _lift(water: Water, volume: float, arm: np.ndarray) -> np.ndarray:
    """Wrench of buoyancy about the reference point."""
    force = np.array([0.0, 0.0, water.rho * water.g * volume])
    return np.concatenate([force, np.cross(arm, force)])


def weight_stiffness(weight: float, arm: np.ndarray) -> np.ndarray:
    """Stiffness of rotations due to a weight at `arm` from the reference point (6, 6)."""
    x, y, z = arm
    G = np.zeros((6, 6))
    G[3, 3] = G[4, 4] = -weight * z
    G[3, 5], G[4, 5] = weight * x, weight * y
    return G
