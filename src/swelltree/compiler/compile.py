"""`compile`: from the described system to the model that solvers run.

From a case file to the model that its studies run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from swelltree.compiler.assembly import (
    Closure,
    assemble,
    initial_conditions,
    joined,
    requested_attitudes,
    with_constants,
)
from swelltree.compiler.checks import (
    Redundancy,
    check_mass,
    check_rows,
    find_redundancy,
    refuse_turned_over,
    row_notes,
    table_notes,
    unfelt_notes,
)
from swelltree.compiler.elements import (
    build_effects,
    build_sensors,
    described_pose,
    reference_pose,
)
from swelltree.compiler.functions_of_time import start_motion
from swelltree.describe import WORLD, Body, Case, System
from swelltree.describe.bodies.body import HOMOGENEOUS
from swelltree.describe.errors import SwelltreeError, shown
from swelltree.describe.forces.weak_scatterer import described_bodies, refuse_carried_twice
from swelltree.describe.joints.joint import Joint
from swelltree.describe.joints.kinds import SubsetJoint
from swelltree.describe.mooring.line import Junction, LineEnd, OnJunction
from swelltree.describe.mooring.seabed import SeabedContact
from swelltree.describe.values import NamedValues, warn_suspicious_units
from swelltree.forces.own_effect import check_own_effects
from swelltree.hydro.data.case import hydro_of_case, hydro_options
from swelltree.hydro.data.gaps import check_usable
from swelltree.hydro.data.report import warnings_about
from swelltree.hydro.drift.data import chosen
from swelltree.hydro.froude_krylov.build import (
    build_hulls,
    hull_notes,
    nonlinear_bodies,
    with_mesh_displacement,
)
from swelltree.hydro.linear.build import (
    HydroOptions,
    build_hydro,
    mass_is_load,
    moving_at,
    wet_bodies,
    with_fitted_memory,
    with_rotation_centers,
)
from swelltree.hydro.linear.data import NEGLIGIBLE
from swelltree.hydro.linear.data_place import placed
from swelltree.hydro.linear.excitation import covered_by
from swelltree.hydro.linear.frame import FollowingFrame
from swelltree.hydro.morison.build import viscous_notes, with_added_mass
from swelltree.jit import users_code
from swelltree.model.capabilities import internal_at_rest, present
from swelltree.model.checks import floating_sets, mass_against_displacement, with_a_body
from swelltree.model.effect import Instant
from swelltree.model.model import Described, Model, Start
from swelltree.model.sea import Sea, compile_current, compile_wind
from swelltree.model.signals import compile_signal, drives_at
from swelltree.model.values.parameters import direct_numbers
from swelltree.mooring.cable.build import build_cables, with_cable_added_mass
from swelltree.mooring.cable.expand import with_cables
from swelltree.mooring.dynamic.arrays import seabed_of
from swelltree.multibody.build_layout import (
    all_joints,
    build_bodies,
    build_couplings,
    build_joints,
    build_layout,
)
from swelltree.multibody.layout import DOFS, Layout
from swelltree.multibody.rows import Drives
from swelltree.status import doing
from swelltree.waves.airy import Components
from swelltree.waves.dispersion import compile_water
from swelltree.waves.sea import realise

if TYPE_CHECKING:
    import xarray as xr


MOVES = ("Surge", "Sway", "Heave")


def with_mixed_junctions(system: System) -> System:
    """The system with a body in place of each junction of lines of different models."""
    mixed = {j.name: j for j in system.junctions if len(_theories(system, j)) > 1}
    if not mixed:
        return system

    def end(value: LineEnd) -> LineEnd:
        if isinstance(value, OnJunction) and value.junction in mixed:
            return bodies[value.junction].at()
        return value

    bodies = {name: _body(system, junction) for name, junction in mixed.items()}
    joints = [SubsetJoint(f"{name}_free", WORLD, body, MOVES) for name, body in bodies.items()]
    # as every junction of dynamic lines, they do not sink into the ground
    touching = [name for name, j in mixed.items() if "dynamic" in _theories(system, j)]
    touching = touching if seabed_of(system) is not None else []
    contacts = [SeabedContact(f"{name}_ground", name, at=[(0.0, 0.0, 0.0)]) for name in touching]
    return system.replace(
        bodies=(*system.bodies, *bodies.values()),
        joints=(*system.joints, *joints),
        lines=tuple(line.replace(A=end(line.A), B=end(line.B)) for line in system.lines),
        junctions=tuple(j for j in system.junctions if j.name not in mixed),
        contacts=(*system.contacts, *contacts),
    )


def _theories(system: System, junction: Junction) -> set[str]:
    """Models of the lines that end at a junction."""
    at = OnJunction(junction.name)
    return {line.model for line in system.lines if at in (line.A, line.B)}


def _body(system: System, junction: Junction) -> Body:
    """Point mass equivalent to a junction."""
    theories = " and ".join(f"'{name}'" for name in sorted(_theories(system, junction)))
    if not junction.mass > 0:
        raise junction.fail(
            f"lines of the models {theories} meet at it, where it moves as a body, but it has no "
            "mass. Give it one, or all lines there the same model."
        )
    if junction.drag_area > 0:
        raise junction.fail(
            f"lines of the models {theories} meet at it, where it moves as a body, which takes no "
            "drag_area. Describe a Body with BodyDrag instead, or give all lines there the same "
            "model."
        )
    added = system.water.rho * junction.volume * junction.added_mass
    return Body(
        junction.name,
        mass=junction.mass,
        position=junction.position,
        displaced_volume=junction.volume or None,
        added_mass=dict.fromkeys(MOVES, added) if added > 0 else (),
    )


def data_origin(hydro: xr.Dataset | None) -> dict[str, str]:
    """Source, solver and hash of hydrodynamic data, where given."""
    attrs = getattr(hydro, "attrs", {})
    return {key: str(attrs[key]) for key in ("source", "hash", "solver") if attrs.get(key)}


def _largest_heading(hydro: xr.Dataset | None) -> float:
    """Largest wave heading of hydrodynamic data [rad]; rotated data may exceed a full turn."""
    if hydro is None or "wave_direction" not in hydro.coords:
        return 0.0
    beta = hydro["wave_direction"].values
    beta = beta[np.isfinite(beta)]
    largest, turn = float(np.abs(beta).max(initial=0.0)), 2.0 * np.pi
    if beta.size and np.ptp(beta) <= turn + 1e-6 and largest <= 2.0 * turn:
        return min(largest, turn)
    return largest


def compile(
    system: System,
    hydro: xr.Dataset | None = None,
    *,
    radiation: str = "state_space",
    omega: float | None = None,
    coupling: bool = True,
    fit: NamedValues | None = None,
    step: float = 0.05,
    frame: str = "fixed",
    yaw_time: float = 60.0,
    drift: str | None = None,
    nonlinear: bool | str | Sequence[str] = False,
    stretching: str = "wheeler",
    added_mass: np.ndarray | None = None,
) -> Model:
    """Compile a described system.

    Args:
        system: the description.
        hydro: hydrodynamic data of `read_hydro` or `run_bem`; the described poses are the mean
            ones. Bodies without data are dry.
        radiation: "state_space", "convolution", "constant" (of one frequency) or "none".
        omega: the frequency of "constant" [rad/s].
        coupling: keep the hydrodynamic coupling between bodies.
        fit: options of the radiation fit.
        step: time step of radiation="convolution" [s]; simulate it with solver="rk4".
        frame: "fixed", or "yaw": the axes of the data follow the mean yaw of each body, for
            vessels that turn far; headings of the waves are then relative to it.
        yaw_time: time over which that mean is taken [s], longer than the waves.
        drift: second-order wave loads from the data: "none" (the default), "mean", "newman" or
            "qtf" (difference and sum frequencies).
        nonlinear: True, or names of bodies: buoyancy and Froude-Krylov force act on the actual
            wetted hull, and linear theory keeps radiation and diffraction. Works without data too.
        stretching: of linear waves above the still water: "wheeler", "constant", "extrapolate".
        added_mass: 6N x 6N, in the order of `system.bodies`, six rows each
            (Surge ... Yaw), constant in world axes at the reference points
            [kg, kg m, kg m^2].

    The model's `report` says which loops were cut, what assembly moved and
    which constraints are redundant.
    """
    specified, options = system, {key: value for key, value in locals().items() if key != "system"}
    if not isinstance(system, System):
        raise SwelltreeError(
            f"compile: {shown(system)} is not a System. Give swelltree.System(name, bodies, "
            "joints); of a case file it is swelltree.load(path).system."
        )
    hulls = nonlinear_bodies(system, nonlinear, stretching)
    with_data = () if hydro is None else wet_bodies(system, hydro)
    refuse_carried_twice(system, {"nonlinear hull forces": hulls, "hydro data": with_data})
    system = with_mesh_displacement(system, hulls).resolved
    if hydro is not None or hulls:
        warn_suspicious_units(_largest_heading(hydro), float(system.water.rho), "compile")
    full, hydro, moved = _with_placed_data(system, hydro, added_mass)
    described = Described(
        full,
        data=data_origin(hydro),
        afloat=floating_sets(full, (*hulls, *described_bodies(full))),
        specified=specified,
        again=partial(compile, **options),
    )
    model, system, joints = _skeleton(full, described, stretching)
    if added_mass is not None:
        model = model.replace(added_mass=_added_mass(added_mass, model.layout, len(full.bodies)))
    notes: list[str] = []
    if hulls:
        model = model.with_effect(build_hulls(system, model.layout, hulls))
        notes += hull_notes(system, hulls)
    if hydro is not None:
        how = HydroOptions(
            radiation,
            omega,
            coupling,
            tuple((fit or {}).items()),
            step,
            frame,
            yaw_time,
            nonlinear=hulls,
            drift=drift,
        )
        model, hydro_notes = _with_hydro(model, system, hydro, how)
        notes += [*moved, *hydro_notes]
    elif chosen(drift) != "none":
        raise SwelltreeError(
            f"drift '{drift}' needs hydro data. Give compile(system, hydro=read_hydro(...))."
        )
    model, free = _started(model, system, joints, notes)
    if hydro is not None and radiation == "state_space":
        model = with_fitted_memory(model, dict(fit or {}), free)
    described = model.described.recording(
        direct_numbers(model, specified, _loads_by_mass(specified, full, hydro))
    )
    # a law that reads other numbers now is another law
    model = model.replace(users_code=users_code(model), described=described)
    described.keep(compiled=model)
    return model


def _loads_by_mass(specified: System, full: System, hydro: xr.Dataset | None) -> set[str]:
    """Names of the masses that feed an inertia or a buoyancy too."""
    even = {f"{body.name}.mass" for body in specified.bodies if body.inertia == HOMOGENEOUS}
    return even | mass_is_load(full, hydro)


def _with_placed_data(
    system: System, hydro: xr.Dataset | None, added_mass: np.ndarray | None
) -> tuple[System, xr.Dataset | None, list[str]]:
    """The system with its rotation centres, data at the described poses, and notes on them."""
    if hydro is None:
        return system, None, []
    if added_mass is not None:
        raise SwelltreeError("hydro and added_mass are both given. Give one of them.")
    wet_bodies(system, hydro)
    check_usable(hydro)
    there, moved = placed(system, hydro)
    return with_rotation_centers(system, there), there, moved


def _skeleton(
    full: System, described: Described, stretching: str
) -> tuple[Model, System, list[Joint]]:
    """The model with the effects of all described elements, its description, and its joints."""
    system, chains = with_cables(with_mixed_junctions(full))
    names = tuple(body.name for body in system.bodies)
    system = with_a_body(system)
    joints = all_joints(system)
    layout = build_layout(system, joints, names)
    bodies, reference = build_bodies([system.body(name) for name in layout.bodies])
    effects = build_effects(system, layout)
    bodies = with_added_mass(bodies, system, layout, effects)
    cables = build_cables(system, layout, chains) if chains else None
    if cables is not None:
        bodies = with_cable_added_mass(bodies, system, layout, cables, chains)
    signals = [compile_signal(signal) for joint in joints for signal in joint.motions().values()]
    model = Model(
        bodies=bodies,
        joints=build_joints(system, joints),
        water=compile_water(system.water),
        added_mass=None,
        effects=effects,
        sea=Sea(
            stretching=stretching,
            current=compile_current(system.current, system.water),
            wind=compile_wind(system.wind),
        ),
        drives=tuple(signals),
        sensors=build_sensors(system, layout),
        start=Start(np.zeros(0), np.zeros(0), np.zeros(0)),
        reference=reference,
        datum=described_pose(system, layout),
        layout=layout,
        cut_rows=layout.cut_rows,
        all_rows=layout.rows,
        surplus=0,
        redundant=False,
        described=described,
        couplings=build_couplings(system),
    )
    return model if cables is None else model.with_effect(cables), system, joints


def _with_hydro(
    model: Model, system: System, hydro: xr.Dataset, how: HydroOptions
) -> tuple[Model, list[str]]:
    """The model with linear hydrodynamics from data, and notes on them."""
    mean = described_pose(system, model.layout)
    loads, added, covered_by_data = build_hydro(system, model, mean, hydro, how)
    # data are those of small motions: what the joints hold in these is not judged
    moves = moving_at(model, mean)
    labels = [f"{body}__{dof}" for body in model.layout.bodies for dof in DOFS]
    free = [label for label, there in zip(labels, moves, strict=True) if there]
    covered_by_data = [
        *warnings_about(hydro, "hydro data", ("frequencies",), free),
        *covered_by_data,
    ]
    model = model.with_effect(loads).replace(added_mass=added)
    if how.frame == "yaw":
        model = model.with_effect(FollowingFrame(mean, np.array(how.yaw_time)))
    return model, [*covered_by_data, *viscous_notes(system, wet_bodies(system, hydro))]


def _started(
    model: Model, system: System, joints: list[Joint], notes: list[str]
) -> tuple[Model, np.ndarray]:
    """The model with initial state, independent rows and notes, and its free tree velocities."""
    layout = model.layout
    poses = [
        (
            reference_pose(system, joint.base.body),
            reference_pose(system, joint.follower.body),
        )
        for joint in joints
    ]
    q, angles = initial_conditions(model, joints, poses)
    now = drives_at(model.drives, np.zeros(()))
    drives = Drives(*(np.asarray(x) for x in (now.value, now.rate, now.acceleration)))
    check_rows(model, q)
    attitudes = requested_attitudes(model, joints, poses)
    model, q, angles, before = with_constants(model, joints, q, angles, drives, attitudes)
    layout = model.layout
    q, s, angles, moved = assemble(model, joints, q, angles, drives, attitudes)
    refuse_turned_over(model, joints, q)
    loops = dict(system.topology.loops)
    closure = Closure(model, drives, angles)
    result = Redundancy((), 0, [])
    if layout.cut_rows:
        result = find_redundancy(model, q, closure, loops)
    dropped = set(layout.cut_rows) - set(result.stored)
    internal = internal_at_rest(model)
    free = check_mass(present(model, internal), q, closure)
    model = model.replace(start=Start(q, s, angles))
    check_own_effects(model, Instant(np.zeros(()), start_motion(model), internal))
    placed = frozenset(body.name for body in system.bodies if any(body.position))
    before = [*_cuts(system), *joined(model, joints, poses, placed), *before, *moved]
    before += [*row_notes(model, q, angles), *result.report]
    floating = [f.sentence for f in mass_against_displacement(model) if f.severity != "note"]
    model = model.replace(
        cut_rows=result.stored,
        all_rows=tuple(row for row in layout.rows if row not in dropped),
        surplus=result.surplus,
        redundant=bool(result.report),
    )
    notes = [*table_notes(system), *notes, *unfelt_notes(system, model)]
    return model.noted(*before, *notes, *floating), free


def _cuts(system: System) -> list[str]:
    """Messages about loops and implicit joints."""
    out = []
    for name, loop in system.topology.loops:
        if loop and not system.joint(name).layout().rows_only:
            through = ", ".join(f"'{n}'" for n in loop)
            out.append(f"joint '{name}' closes a loop through {through} and was cut.")
    for body in system.topology.implicit_free:
        out.append(f"body '{body}' got the free joint '{body}_free': only constraints hold it.")
    return out


def _added_mass(added_mass: np.ndarray, layout: Layout, count: int) -> np.ndarray:
    """Check the added mass of the described bodies and reorder it depth first."""
    A = np.asarray(added_mass, dtype=float)
    n = 6 * count
    if A.shape != (n, n):
        raise SwelltreeError(
            f"added_mass has shape {A.shape}. Give {n} x {n}: six rows for each of the "
            f"{count} bodies, in the order of system.bodies."
        )
    if not np.isfinite(A).all():
        raise SwelltreeError("added_mass holds values that are not finite. Give numbers only.")
    if np.abs(A - A.T).max() > 1e-6 * np.abs(A).max():
        raise SwelltreeError(
            "added_mass is not symmetric. Give a matrix equal to its transpose, e.g. (A + A.T)/2."
        )
    # bodies of cables come behind the described ones
    A = np.pad(A, (0, 6 * layout.n_bodies - n))
    order = [6 * layout.described.index(name) + k for name in layout.bodies for k in range(6)]
    return 0.5 * (A + A.T)[np.ix_(order, order)]


def compile_case(case: Case, *, progress: bool | Callable[[int, int], None] | None = None) -> Model:
    """Compile the system of a case with the data and the options of its [hydro] section.

    Args:
        case: from `load` or `loads`.
        progress: of a BEM run, as in `run_bem`.
    """
    check_bands(case)
    data = hydro_of_case(case, progress=progress)
    with doing("compiling the model"):
        return compile(case.system, data, **hydro_options(case))


def check_bands(case: Case) -> list[str]:
    """The seas of the studies against the frequencies of a BEM run that is still to be made.

    An error where a sea would be rejected afterwards; notes on the energy that is left out.

    Args:
        case: from `load` or `loads`.
    """
    if case.hydro is None or case.hydro.source is None:
        return []
    low, high = min(case.hydro.frequencies), max(case.hydro.frequencies)
    notes = []
    for study in case.studies:
        run = study.in_time
        if run is None or run.sea is None:
            continue
        waves = realise(run.sea, case.system.water)
        if not isinstance(waves, Components) or not len(waves):
            continue
        try:
            _, part = covered_by(low, high, waves)
        except SwelltreeError as error:
            raise SwelltreeError(f"study '{study.name}': the {error}") from None
        if part > NEGLIGIBLE:
            notes.append(
                f"study '{study.name}': {100 * part:.2g} % of the energy of its sea lies outside "
                f"the {low:.4g} to {high:.4g} rad/s of [hydro] omega and is left out. Give "
                f"omega_max = {high:.4g} for the sea, or a wider omega."
            )
    return notes
