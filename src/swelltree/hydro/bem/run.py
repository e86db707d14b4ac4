"""`run_bem`: hydrodynamic data of a system from its hulls, by Capytaine.

All bodies with a hull are solved together, so the data hold their coupling. A result is kept in
the cache folder; the same hulls, water and frequencies come back without computing, whatever the
masses and reference points are.
"""

from __future__ import annotations

import importlib.metadata
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import signature
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.bodies.body import Body
from swelltree.describe.bodies.hulls import MeshFile, PanelHull
from swelltree.describe.bodies.meshes import Panels, mesh_notes
from swelltree.describe.bodies.solids import Immersed, hull_immersed
from swelltree.describe.casefile.case import Case
from swelltree.describe.environment.water import Water
from swelltree.describe.errors import SwelltreeError, SwelltreeWarning, listed, suggest, warn_user
from swelltree.describe.system import System
from swelltree.describe.values import DOFS, NamedValues, warn_suspicious_units
from swelltree.hydro.bem.drift import check_drift, with_mean_drift
from swelltree.hydro.bem.errors import with_errors
from swelltree.hydro.bem.hydrostatics import buoyancy_stiffness, load_stiffness
from swelltree.hydro.bem.meshes import (
    check_apart,
    checked_panels,
    is_thin,
    notify,
    standing,
    wet_panels,
    wetted_panels,
)
from swelltree.hydro.bem.solve import (
    GREEN,
    METHOD,
    Solved,
    Wetted,
    green_functions,
    import_capytaine,
    solve,
)
from swelltree.hydro.data import cache as stored
from swelltree.hydro.data.report import residual_findings, warnings_about
from swelltree.jit import Numbers

if TYPE_CHECKING:
    import xarray as xr

VERSION = 11  # to be raised when the computation changes
WRONG = 0.1  # residual that is warned of where forces are small beside those of the band, too
COARSER = (1.0, np.sqrt(2.0), 2.0)  # panel sizes of a refinement study, the result's first
FINER = (1.0, 0.5)  # mesh files can only be divided


@dataclass(frozen=True)
class _Job:
    """Validated arguments of a run."""

    bodies: tuple[Body, ...]
    water: Water
    omega: np.ndarray
    directions: np.ndarray
    lid: bool
    green: str
    method: str
    cache: bool
    dofs: tuple[str, ...] = DOFS

    def center(self, body: Body) -> np.ndarray:
        """Of the rotations that are solved [m], (3,).

        All six degrees of freedom are carried over to the reference point afterwards, which may
        move with the mass; some of them are solved about it.
        """
        return _above(body) if self.dofs == DOFS else reference_in_world(body)


def run_bem(
    system: System,
    omega: Sequence[float] | np.ndarray,
    wave_direction: Sequence[float] | np.ndarray | float = (0.0,),
    *,
    dofs: Sequence[str] | None = None,
    lid: bool = True,
    green: str = "auto",
    method: str = METHOD,
    refine: bool | str = False,
    drift: str | xr.Dataset = "none",
    threads: int | None = None,
    cache: bool = True,
    progress: bool | Callable[[int, int], None] | None = None,
) -> xr.Dataset:
    """Hydrodynamic data of a system by the boundary-element method.

    The DOFs of each body are about its reference point as described; forces are complex
    amplitudes exp(-iwt) per metre of wave amplitude, phases at the global origin. omega = inf is
    added for the added mass, and omega = 0 in deep water (in finite depth the added mass in heave
    has no limit there). A frequency that fails is tried with another Green function, else left
    out; `notes` of the result say so.

    Args:
        system: bodies with hulls take part; the others are dry.
        omega: frequencies [rad/s].
        wave_direction: directions the waves travel towards [rad].
        dofs: degrees of freedom of every body to solve, such as ["Heave"]; all six if not given.
            The water does not act in the others: the joints must hold them.
        lid: close the hulls inside at the waterline, against irregular frequencies.
        green: "auto", "delhommeau", "delhommeau_legacy" (the fits of NEMOH in finite depth) or
            "liang_wu_noblesse" (deep water). "auto" takes the last for thin bodies in deep water,
            else the first, and another one at frequencies at which the data are more consistent
            with it.
        method: "direct" (unknown potential), or "indirect" (unknown sources) to compare with codes
            that do so (NEMOH, AQUAPLUS); on a sphere its error is several times larger.
        refine: True to solve with larger panels too and estimate the error of every coefficient
            (`added_mass_error` ...), "extrapolate" to also correct the result by it; costs a
            third more. Mesh files are divided instead, which costs sixteen times as much.
        drift: "free" for the mean drift force on one body that floats freely (without joints,
            moorings and PTOs), "fixed" on one that is held, or the result of `rao` for that on the
            device as jointed: surge, sway and yaw from the waves far away, of several bodies
            their sum (`mean_drift_total`).
        threads: of the processor; all of them if not given.
        cache: keep the result and look for it before computing.
        progress: whether to show a bar (None: in a terminal), or a function of (done, total).
    """
    if refine not in (True, False, "extrapolate"):
        raise SwelltreeError(
            f"run_bem: refine {refine!r} is not a choice. Give True, False or 'extrapolate'."
        )
    if method not in ("direct", "indirect"):
        raise SwelltreeError(
            f"run_bem: there is no method {method!r}. Give 'direct' or 'indirect'."
        )
    job = _job(system, omega, wave_direction, lid, green, method, cache)
    job = replace(job, dofs=_chosen_dofs(dofs))
    check_drift(drift, system, [body.name for body in job.bodies])
    requested = not isinstance(drift, str) or drift != "none"
    if requested and job.dofs != DOFS:
        raise SwelltreeError("run_bem: drift needs all six degrees of freedom. Leave dofs out.")
    scales = (1.0,)
    if refine:
        files = any(isinstance(p, PanelHull) for body in job.bodies for p in body.hull.parts)
        scales = FINER if files else COARSER
    total = len(scales) * (job.omega.size)
    with _bar(progress, total) as tick, _threads(threads):
        levels = [_level(job, scales[0], tick)]
        levels += [_level(job, scale, tick, levels[0][0]) for scale in scales[1:]]
    solved, wet, panels, key = levels[0]
    data = _dataset(job, solved, wet, panels, key)
    if len(levels) > 1:
        data = with_errors(data, levels, refine == "extrapolate")
    if requested:
        with _threads(threads):
            data = with_mean_drift(data, _wetted(job), job.water, job.lid, drift)
    notes = [data.attrs["notes"], *warnings_about(data, "run_bem", ("frequencies", "nan"))]
    for finding in residual_findings(data):
        if finding.severity == "warning" or finding.numbers["difference"] > WRONG:
            warn_user(f"run_bem: {finding.sentence}")
        else:
            notes.append(f"run_bem: {finding.sentence}")
    return data.assign_attrs(notes="\n".join(notes))


def _chosen_dofs(dofs: Sequence[str] | None) -> tuple[str, ...]:
    if dofs is None:
        return DOFS
    required = [dofs] if isinstance(dofs, str) else list(dofs)
    for name in required:
        if name not in DOFS:
            raise SwelltreeError(
                f"run_bem: dofs holds {name!r}.{suggest(name, DOFS)} The choices are "
                f"{listed(DOFS)}."
            )
    if not required:
        raise SwelltreeError("run_bem: dofs is empty. Give at least one, such as ['Heave'].")
    return tuple(name for name in DOFS if name in required)


def _wetted(job: _Job) -> list[Wetted]:
    """Bodies with their wetted panels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwelltreeWarning)  # said before
        panels = {body.name: _panels(body, 1.0, job.water, []) for body in job.bodies}
        wet = wet_panels(panels, [])
    return [
        Wetted(body.name, panels[body.name], _above(body), wet[body.name]) for body in job.bodies
    ]


def _capytaine_version() -> str:
    try:
        return importlib.metadata.version("capytaine")
    except importlib.metadata.PackageNotFoundError:
        return "none"


def bem_of_case(
    case: Case, *, cache: bool = True, progress: bool | Callable[[int, int], None] | None = None
) -> xr.Dataset:
    """The BEM run that the [hydro] section of a case asks for.

    Args:
        case: with `hydro`, its source "capytaine".
        cache: as in `run_bem`.
        progress: as in `run_bem`.
    """
    spec = case.hydro
    if spec is None or spec.source != "capytaine":
        raise SwelltreeError(
            'the case asks for no BEM run. Add [hydro] with source = "capytaine" and '
            "omega = { from = 0.5, to = 12.0, count = 60 }."
        )
    specified = ("system", "omega", "wave_direction", "progress")
    options = spec.options_of(
        name for name in signature(run_bem).parameters if name not in specified
    )
    options["cache"] = cache and spec.cache
    return run_bem(case.system, spec.frequencies, spec.wave_direction, progress=progress, **options)


def _job(
    system: System,
    omega: Numbers,
    wave_direction: Numbers,
    lid: bool,
    green: str,
    method: str,
    cache: bool,
) -> _Job:
    """Validate the arguments."""
    resolved = system.resolved
    bodies = tuple(body for body in resolved.bodies if body.hull is not None)
    if not bodies:
        raise SwelltreeError(
            f"run_bem: no body of system '{system.name}' has a hull. Give one to the bodies in "
            "the water, for example hull=Box(length, width, height, draft)."
        )
    if not system.water.g > 0:
        raise SwelltreeError("run_bem: g is zero, so there are no waves. Give the water a g.")
    frequencies = np.unique(np.atleast_1d(np.asarray(omega, float)))
    if not frequencies.size or not (frequencies >= 0.0).all():  # nan is not
        raise SwelltreeError("run_bem: omega has no or negative frequencies. Give rad/s above 0.")
    directions = np.unique(np.atleast_1d(np.asarray(wave_direction, float)))
    if not directions.size or not np.isfinite(directions).all():
        raise SwelltreeError("run_bem: wave_direction is empty or not finite. Give radians.")
    warn_suspicious_units(float(np.abs(directions).max()), system.water.rho, "run_bem")
    if green not in GREEN:
        raise SwelltreeError(
            f"run_bem: there is no Green function '{green}'.{suggest(green, GREEN)} "
            f"The choices are {listed(GREEN)}."
        )
    deep = np.isinf(system.water.depth)
    if green == "liang_wu_noblesse" and not deep:
        raise SwelltreeError(f"run_bem: green='{green}' needs infinite depth. Use green='auto'.")
    ends = [0.0, np.inf] if deep else [np.inf]
    frequencies = np.unique(np.concatenate([frequencies[frequencies > 0.0], ends]))
    return _Job(bodies, system.water, frequencies, directions, lid, green, method, cache)


def _level(
    job: _Job, scale: float, tick: Callable[[], None], like: Solved | None = None
) -> tuple[Solved, list[Immersed], list[int], str]:
    """Solve at one panel size with the lids of another, or load from the cache."""
    files = [any(isinstance(p, PanelHull) for p in body.hull.parts) for body in job.bodies]
    notes: list[str] = []
    panels = {
        b.name: _panels(b, scale, job.water, notes)
        for b, f in zip(job.bodies, files, strict=True)
        if not f
    }
    points = [job.center(body) for body in job.bodies]
    parts: list[object] = [scale if any(files) else None]
    for body, point in zip(job.bodies, points, strict=True):
        parts += [body.name, point]
        if body.name in panels:
            parts += [panels[body.name].vertices, panels[body.name].faces]
        else:
            parts += [body.hull.table(), body.rotation_matrix]
            parts += [*_file_bytes(body), *mesh_notes(body.hull)]
    parts += [job.omega, job.directions, job.water.rho, job.water.g, str(job.water.depth)]
    if like is not None:
        parts += [like.omega, like.lid, *like.green]
    key = stored.content_key(
        VERSION, _capytaine_version(), *parts, job.lid, job.green, job.method, *job.dofs
    )
    result = stored.load("bem", key) if job.cache else None
    if result is not None:
        for _ in job.omega:
            tick()
        solved, wet, counts = _unpack(result)
        for text in json.loads(str(result.get("said", "[]"))):
            warn_user(text)
        return _about_references(solved, job), wet, counts, key
    import_capytaine()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        solved, counts = _solved(job, scale, panels, points, notes, tick, like)
    for one in heard:
        warn_user(one.message, one.category)
    wet = [hull_immersed(body.hull, body.rotation_matrix) for body in job.bodies]
    if job.cache:
        # what was found wrong with meshes and results is said again whenever they come back
        said = [str(one.message) for one in heard if one.category is SwelltreeWarning]
        packed = _pack(solved, wet, counts) | {"said": np.array(json.dumps(said))}
        stored.store("bem", key, packed)
    return _about_references(solved, job), wet, counts, key


def _solved(
    job: _Job,
    scale: float,
    panels: dict[str, Panels],
    points: list[np.ndarray],
    notes: list[str],
    tick: Callable[[], None],
    like: Solved | None,
) -> tuple[Solved, list[int]]:
    """Results of one panel size and the number of panels of each body."""
    for body in job.bodies:
        if body.name not in panels:
            panels[body.name] = _panels(body, scale, job.water, notes)
    ordered = {body.name: panels[body.name] for body in job.bodies}
    check_apart(ordered)
    wet = wet_panels(ordered, notes)
    bodies = [
        Wetted(body.name, panels[body.name], point, wet[body.name], job.dofs)
        for body, point in zip(job.bodies, points, strict=True)
    ]
    thin = any(is_thin(body) for body in job.bodies)
    green = green_functions(job.green, thin, job.water.depth)
    solved = solve(
        bodies,
        job.omega,
        job.directions,
        job.water,
        lid=job.lid,
        green=green,
        fixed=job.green != "auto",
        method=job.method,
        like=like,
        tick=tick,
    )
    solved.notes[:0] = [f"Green function {green[0]}" + (" (thin body)." if thin else "."), *notes]
    return solved, [len(body.panels.faces) for body in bodies]


def _above(body: Body) -> np.ndarray:
    """The point on the water above or below the origin of a body (3,): centre of the solved dofs.

    The results are carried over to the reference point, which may move with the mass.
    """
    return np.array([body.position[0], body.position[1], 0.0])


def _about_references(solved: Solved, job: _Job) -> Solved:
    """Coefficients about the reference points: xi at the solved point is T xi at the reference."""
    if job.dofs != DOFS:
        return solved
    bodies = job.bodies
    n = len(bodies)
    T = np.eye(6 * n)
    for i, body in enumerate(bodies):
        x, y, z = _above(body) - reference_in_world(body)
        S = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        T[6 * i : 6 * i + 3, 6 * i + 3 : 6 * i + 6] = -S
    return replace(
        solved,
        added_mass=T.T @ solved.added_mass @ T,
        radiation_damping=T.T @ solved.radiation_damping @ T,
        froude_krylov=solved.froude_krylov @ T,
        diffraction=solved.diffraction @ T,
    )


def _file_bytes(body: Body) -> list[bytes]:
    from swelltree.describe.bodies.meshes import mesh_bytes

    return [mesh_bytes(part.path) for part in body.hull.parts if isinstance(part, MeshFile)]


def _panels(body: Body, scale: float, water: Water, notes: list[str]) -> Panels:
    """Wetted panels after checks."""
    for text in mesh_notes(body.hull):
        notify(f"body '{body.name}': {text}", notes)
    result = checked_panels(body.name, wetted_panels(body, scale), notes)
    return standing(body.name, result, water.depth, notes)


def reference_in_world(body: Body) -> np.ndarray:
    """The reference point of a body where it is described [m], (3,)."""
    return np.array(body.position) + body.rotation_matrix @ np.array(body.reference)


def _pack(solved: Solved, wet: list[Immersed], counts: list[int]) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {
        name: getattr(solved, name) for name in Solved.__dataclass_fields__ if name != "notes"
    }
    for name in Immersed.__dataclass_fields__:
        arrays[f"wet_{name}"] = np.array([getattr(w, name) for w in wet])
    return {**arrays, "counts": np.array(counts), "notes": np.array(json.dumps(solved.notes))}


def _unpack(result: dict[str, np.ndarray]) -> tuple[Solved, list[Immersed], list[int]]:
    notes = json.loads(str(result["notes"]))
    fields = {name: result[name] for name in Solved.__dataclass_fields__ if name != "notes"}
    names = Immersed.__dataclass_fields__
    rows = zip(*(result[f"wet_{name}"] for name in names), strict=True)
    wet = [Immersed(**dict(zip(names, row, strict=True))) for row in rows]
    return Solved(**fields, notes=notes), wet, result["counts"].tolist()


def _dataset(
    job: _Job, solved: Solved, wet: list[Immersed], counts: list[int], key: str
) -> xr.Dataset:
    """The coefficients with names, units and provenance."""
    import importlib.metadata

    import xarray as xr

    n = len(job.bodies)
    stiffness, inertia = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n))
    reference, com, buoyancy = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3))
    for i, (body, w) in enumerate(zip(job.bodies, wet, strict=True)):
        block = slice(6 * i, 6 * i + 6)
        origin, R = np.array(body.position), body.rotation_matrix
        above = _above(body)
        reference[i] = reference_in_world(body)
        com[i] = origin + R @ np.array(body.com)
        buoyancy[i] = w.center + above
        arm = com[i] - reference[i]
        weight = load_stiffness(-body.mass * job.water.g, arm)
        stiffness[block, block] = buoyancy_stiffness(w, reference[i] - above, job.water) + weight
        inertia[block, block] = _inertia(body.mass, R @ body.inertia_matrix @ R.T, arm)
    FK, D = solved.froude_krylov, solved.diffraction
    # long waves only lift the water level: the force is that of the hydrostatics
    still = solved.omega == 0.0
    rows = np.array([6 * i + DOFS.index(dof) for i in range(n) for dof in job.dofs])
    FK = np.where(still[:, None, None], stiffness[rows, 2::6].sum(1), FK)
    stiffness, inertia = (values[np.ix_(rows, rows)] for values in (stiffness, inertia))
    axes = np.array([body.rotation_matrix for body in job.bodies])
    labels = np.array([f"{b.name}__{dof}" for b in job.bodies for dof in job.dofs], dtype=object)
    radiation = ("omega", "influenced_dof", "radiating_dof")
    force = ("omega", "wave_direction", "influenced_dof")
    matrix = ("influenced_dof", "radiating_dof")
    kg, per_m = "kg, kg m, kg m^2", "N/m, N m/m"
    variables: NamedValues = {
        "added_mass": (radiation, solved.added_mass, kg),
        "radiation_damping": (radiation, solved.radiation_damping, "N s/m, N s, N m s"),
        "excitation_force": (force, FK + D, per_m),
        "Froude_Krylov_force": (force, FK, per_m),
        "diffraction_force": (force, D, per_m),
        "haskind_residual": (("omega", "influenced_dof"), solved.haskind, "1"),
        "far_field_residual": (("omega", "influenced_dof"), solved.far_field, "1"),
        "hydrostatic_stiffness": (matrix, stiffness, "N/m, N, N m"),
        "inertia_matrix": (matrix, inertia, kg),
        "center_of_mass": (("body", "xyz"), com, "m"),
        "rotation_center": (("body", "xyz"), reference, "m"),
        "center_of_buoyancy": (("body", "xyz"), buoyancy, "m"),
        "displaced_volume": (("body",), np.array([w.volume for w in wet]), "m^3"),
        "body_position": (("body", "xyz"), np.array([b.position for b in job.bodies]), "m"),
        "body_axes": (("body", "xyz", "axis"), axes, "1"),
        "panels": (("body",), np.array(counts), "1"),
        "rho": ((), job.water.rho, "kg/m^3"),
        "g": ((), job.water.g, "m/s^2"),
        "water_depth": ((), job.water.depth, "m"),
    }
    data = xr.Dataset(
        {k: (dims, values, {"units": unit}) for k, (dims, values, unit) in variables.items()},
        {
            "omega": ("omega", solved.omega, {"units": "rad/s"}),
            "wave_direction": ("wave_direction", job.directions, {"units": "rad"}),
            "influenced_dof": labels,
            "radiating_dof": labels,
            "body": np.array([body.name for body in job.bodies], dtype=object),
            "xyz": np.array(["x", "y", "z"], dtype=object),
            "axis": np.array(["x", "y", "z"], dtype=object),
        },
        {
            "time_convention": "exp(-iwt)",
            "phase_reference": "global origin",
            "source": "capytaine",
            "solver": f"Capytaine {importlib.metadata.version('capytaine')}, {job.method} method",
            "lid": str(job.lid).lower(),
            "hash": key,
            "notes": "\n".join(solved.notes),
        },
    )
    data["hydrostatic_stiffness"].attrs["weight"] = "included"
    return data


def _inertia(mass: float, inertia: np.ndarray, arm: np.ndarray) -> np.ndarray:
    """Inertia of a body about its reference point, world axes (6, 6)."""
    x, y, z = arm
    S = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    top = np.hstack([mass * np.eye(3), -mass * S])
    return np.vstack([top, np.hstack([mass * S, inertia - mass * S @ S])])


@contextmanager
def _bar(
    progress: bool | Callable[[int, int], None] | None, total: int
) -> Iterator[Callable[[], None]]:
    """Callback of the progress bar, called after each frequency."""
    done = 0
    if callable(progress):

        def count() -> None:
            nonlocal done
            done += 1
            progress(done, total)

        yield count
        return
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    shown = console.is_terminal if progress is None else bool(progress)
    with Progress(console=console, transient=True, disable=not shown) as bar:
        task = bar.add_task("BEM", total=total)
        yield lambda: bar.advance(task)


@contextmanager
def _threads(count: int | None) -> Iterator[None]:
    if count is None:
        yield
        return
    try:
        import threadpoolctl
    except ImportError:
        raise SwelltreeError(
            f"run_bem: threads={count} needs threadpoolctl. Run `pip install threadpoolctl`, or "
            "set OMP_NUM_THREADS before starting."
        ) from None
    with threadpoolctl.threadpool_limits(limits=count):
        yield
