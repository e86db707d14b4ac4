"""The hydrodynamic dataset: one form for the data of every code.

An `xarray.Dataset` with Capytaine's names. Dimensions: `omega` [rad/s] in rising order, where 0
and inf are legal, `wave_direction` [rad, towards], `influenced_dof` and `radiating_dof` with
labels such as `float__Heave`, `body`, `xyz`. Complex forces follow exp(-iwt), are per metre of
wave amplitude and have their phase at the global origin. A body's DOFs are about its
`rotation_center`, in world axes. What a file does not give is NaN or left out.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.describe.files import numbers
from swelltree.describe.files.atomic import plain_bytes
from swelltree.describe.files.numbers import to_positive
from swelltree.describe.values import NamedValues
from swelltree.jit import Array

if TYPE_CHECKING:
    import xarray as xr

DOFS = ("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw")
XYZ = ("x", "y", "z")
RADIATION = ("omega", "influenced_dof", "radiating_dof")
FORCE = ("omega", "wave_direction", "influenced_dof")
MATRIX = ("influenced_dof", "radiating_dof")
TIME_CONVENTION = "exp(-iwt)"

# dimensions, unit and meaning of every variable
VARIABLES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "added_mass": (RADIATION, "kg, kg m, kg m^2", "added mass"),
    "radiation_damping": (RADIATION, "N s/m, N s, N m s", "radiation damping"),
    "excitation_force": (FORCE, "N/m, N m/m", "wave excitation per metre of amplitude"),
    "Froude_Krylov_force": (FORCE, "N/m, N m/m", "Froude-Krylov force per metre of amplitude"),
    "diffraction_force": (FORCE, "N/m, N m/m", "diffraction force per metre of amplitude"),
    "hydrostatic_stiffness": (MATRIX, "N/m, N, N m", "hydrostatic stiffness"),
    "inertia_matrix": (MATRIX, "kg, kg m, kg m^2", "inertia of the bodies"),
    "mean_drift": (FORCE, "N/m^2, N m/m^2", "mean drift force per square metre of amplitude"),
    "center_of_mass": (("body", "xyz"), "m", "centre of mass in world axes"),
    "rotation_center": (("body", "xyz"), "m", "point that the DOFs refer to"),
    "center_of_buoyancy": (("body", "xyz"), "m", "centre of buoyancy in world axes"),
    "displaced_volume": (("body",), "m^3", "displaced volume"),
    "body_position": (("body", "xyz"), "m", "origin of the body in the data"),
    "body_axes": (("body", "xyz", "axis"), "1", "axes of the body in the data, as columns"),
}


@dataclass
class HydroParts:
    """What a reader found, before it becomes a dataset. SI units, exp(-iwt), global origin.

    Args:
        bodies: names, in the order of the file.
        dofs: labels of all DOFs, in the order of the matrices.
        omega: of added mass and damping [rad/s], any order.
        added_mass: (omega, dof, dof), force first, motion second.
        radiation_damping: the same.
        rho: density the data were made with [kg/m^3].
        g: gravity [m/s^2].
        depth: [m], inf for deep water.
        directions: wave headings [rad].
        force_omega: frequencies of the forces, where they differ from `omega`.
        forces: excitation, Froude-Krylov, diffraction (force_omega, direction, dof).
        matrices: stiffness and inertia (dof, dof).
        points: values per body.
        extra: further variables as (dims, values), with their coordinates as `coords`.
        coords: coordinates of the extra variables.
        notes: what the reader had to assume, one message each.
        attrs: provenance.
        files: the files that were read, for the hash.
        sources: files of single variables, for messages.
        announced: numbers of frequencies, 0 and inf apart, stated in the control files.
    """

    bodies: list[str]
    dofs: list[str]
    omega: np.ndarray
    added_mass: np.ndarray
    radiation_damping: np.ndarray
    rho: float
    g: float
    depth: float
    directions: np.ndarray | None = None
    force_omega: np.ndarray | None = None
    forces: dict[str, np.ndarray] = field(default_factory=dict)
    matrices: dict[str, np.ndarray] = field(default_factory=dict)
    points: dict[str, np.ndarray] = field(default_factory=dict)
    extra: dict[str, tuple[tuple[str, ...], np.ndarray]] = field(default_factory=dict)
    coords: NamedValues = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    attrs: NamedValues = field(default_factory=dict)
    files: list[Path] = field(default_factory=list)
    sources: dict[str, Path] = field(default_factory=dict)
    announced: dict[Path, int] = field(default_factory=dict)


def assemble(parts: HydroParts) -> xr.Dataset:
    """Dataset of the parts found by a reader: sorted, limits of omega filled, provenance added."""
    import xarray as xr

    check_parts(parts)
    omega = merged_omega(parts.omega, parts.force_omega)
    dofs = np.array(parts.dofs, dtype=object)
    variables: NamedValues = {}
    rows = rows_of(parts.omega, omega)
    for name, values in (
        ("added_mass", parts.added_mass),
        ("radiation_damping", parts.radiation_damping),
    ):
        full = np.full((omega.size, *values.shape[1:]), np.nan)
        full[rows] = values
        if name == "radiation_damping":
            full[(omega == 0.0) | np.isinf(omega)] = 0.0  # no waves are made at either end
        variables[name] = (RADIATION, full)
    coords: NamedValues = {"omega": omega, "influenced_dof": dofs, "radiating_dof": dofs}
    stiffness = parts.matrices.get("hydrostatic_stiffness")
    if parts.forces and parts.directions is not None:
        order = np.argsort(parts.directions, kind="stable")
        coords["wave_direction"] = np.asarray(parts.directions, dtype=float)[order]
        force_omega = parts.omega if parts.force_omega is None else parts.force_omega
        rows = rows_of(force_omega, omega)
        for name, values in _all_forces(parts.forces).items():
            full = np.full((omega.size, order.size, dofs.size), np.nan + 0j)
            full[rows] = values[:, order]
            _fill_limits(name, full, omega, stiffness, parts.dofs)
            variables[name] = (FORCE, full)
    for name, values in parts.matrices.items():
        variables[name] = (MATRIX, np.asarray(values, dtype=float))
    for name in ("center_of_mass", "rotation_center", "center_of_buoyancy", "displaced_volume"):
        dims = VARIABLES[name][0]
        unknown = np.full((len(parts.bodies), 3)[: len(dims)], np.nan)
        variables[name] = (dims, np.asarray(parts.points.get(name, unknown), dtype=float))
    variables.update(parts.extra)
    coords.update(body=np.array(parts.bodies, dtype=object), xyz=np.array(XYZ, dtype=object))
    coords.update(parts.coords)
    scalars = {"rho": parts.rho, "g": parts.g, "water_depth": parts.depth}
    data = xr.Dataset({**variables, **{k: ((), float(v)) for k, v in scalars.items()}}, coords)
    return stamp(data, parts)


def stamp(data: xr.Dataset, parts: HydroParts) -> xr.Dataset:
    """Add units, names and provenance."""
    for name, (_, units, meaning) in VARIABLES.items():
        if name in data:
            data[name].attrs.update(units=units, long_name=meaning)
    for name, units in (("omega", "rad/s"), ("wave_direction", "rad"), ("rho", "kg/m^3")):
        if name in data.variables:
            data[name].attrs["units"] = units
    data["g"].attrs["units"], data["water_depth"].attrs["units"] = "m/s^2", "m"
    data.attrs.update(
        time_convention=TIME_CONVENTION,
        phase_reference="global origin",
        **{key: str(value) for key, value in parts.attrs.items()},
        source=", ".join(path.name for path in parts.files),
        hash=hash_of(parts.files),
        notes="\n".join(parts.notes),
    )
    return data


def hash_of(files: Sequence[Path]) -> str:
    """SHA-256 of the files, one after the other."""
    digest = hashlib.sha256()
    for path in files:
        digest.update(plain_bytes(path))
    return digest.hexdigest()


def merged_omega(omega: np.ndarray, other: np.ndarray | None) -> np.ndarray:
    """Sorted union of both lists; values that differ by rounding only are merged."""
    values = np.sort(np.concatenate([omega, [] if other is None else other]))
    keep = [True] + [not _same(a, b) for a, b in itertools.pairwise(values)]
    return values[np.array(keep[: values.size], dtype=bool)]


def _same(a: float, b: float) -> bool:
    return bool(a == b or (np.isfinite(b) and abs(b - a) <= 2e-6 * max(abs(a), abs(b))))


def rows_of(part: np.ndarray, full: np.ndarray) -> np.ndarray:
    finite = np.where(np.isinf(full), 1e300, full)
    requested = np.where(np.isinf(part), 1e300, part)
    after = np.clip(np.searchsorted(finite, requested), 1, max(finite.size - 1, 1))
    if finite.size == 1:
        return np.zeros(requested.size, dtype=int)
    before = after - 1
    return np.where(requested - finite[before] <= finite[after] - requested, before, after)


def _all_forces(forces: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Fill in excitation or one of its two parts from the other two."""
    # some files hold places for parts that were not computed
    result = {name: values for name, values in forces.items() if not np.isnan(values).all()}
    total, fk, rest = "excitation_force", "Froude_Krylov_force", "diffraction_force"
    if total not in result and fk in result and rest in result:
        result[total] = result[fk] + result[rest]
    if rest not in result and fk in result and total in result:
        result[rest] = result[total] - result[fk]
    if fk not in result and rest in result and total in result:
        result[fk] = result[total] - result[rest]
    if total in forces and total not in result:
        result[total] = forces[total]  # not given: a gap
    return result


def _fill_limits(
    name: str, force: np.ndarray, omega: np.ndarray, stiffness: np.ndarray | None, dofs: list[str]
) -> None:
    """Limits of the force: zero at omega = inf; hydrostatic at omega = 0."""
    force[np.isinf(omega)] = np.where(np.isnan(force[np.isinf(omega)]), 0.0, force[np.isinf(omega)])
    still = (omega == 0.0) & np.isnan(force).all(axis=(1, 2))
    if name == "diffraction_force":
        force[still] = 0.0
    elif name in ("excitation_force", "Froude_Krylov_force") and stiffness is not None:
        heave = [split_label(dof)[1] == "Heave" for dof in dofs]
        force[still] = stiffness[:, heave].sum(axis=1)


# --- names ------------------------------------------------------------------------------------


def make_label(body: str, dof: str) -> str:
    """Label of a DOF: float__Heave."""
    return f"{body}__{dof}"


def split_label(label: str) -> tuple[str, str]:
    """Body and DOF of a label; a label without a body belongs to the body ''."""
    body, _, dof = str(label).rpartition("__")
    return body, dof


def rigid_labels(body: str, modes: int = 0) -> list[str]:
    """Labels of the six rigid DOFs and of generalised modes 7, 8 ..."""
    names = (*DOFS, *(f"Mode{7 + k}" for k in range(modes)))
    return [make_label(body, name) for name in names]


def body_names(data: xr.Dataset) -> tuple[str, ...]:
    """Names of the bodies, in the order of the data."""
    return tuple(str(name) for name in data["body"].values)


def dofs_of(data: xr.Dataset, body: str) -> tuple[str, ...]:
    return tuple(str(x) for x in data["influenced_dof"].values if split_label(x)[0] == body)


def find_body(data: xr.Dataset, name: str) -> str:
    """Body of that name with its original spelling; case-insensitive."""
    known = body_names(data)
    if name in known:
        return name
    near = [body for body in known if body.lower() == name.lower()]
    if len(near) == 1:
        return near[0]
    raise SwelltreeError(
        f"hydro data have no body '{name}'.{suggest(name, known)} They hold {listed(known)}; "
        "give names=... to rename them when they are read."
    )


def select_bodies(data: xr.Dataset, bodies: Sequence[str]) -> xr.Dataset:
    """The data of some bodies, in the order asked for; the others are taken away.

    The remaining bodies still feel the presence of those taken away (their waves were computed
    with them), but no longer their motion.
    """
    result = [find_body(data, name) for name in bodies]
    dofs = [dof for body in result for dof in dofs_of(data, body)]
    return data.sel(body=result, influenced_dof=dofs, radiating_dof=dofs)


def rename_bodies(data: xr.Dataset, names: Sequence[str] | Mapping[str, str]) -> xr.Dataset:
    """The data with other names of the bodies.

    Args:
        data: hydrodynamic data.
        names: new names in the order of the data, or a table {old: new}.
    """
    old = body_names(data)
    if isinstance(names, Mapping):
        table = {find_body(data, key): value for key, value in names.items()}
        new = [table.get(name, name) for name in old]
    else:
        new = list(names)
        if len(new) != len(old):
            raise SwelltreeError(
                f"names has {len(new)} entries but the hydro data hold {len(old)} bodies "
                f"({listed(old)}). Give one name for each, or a table {{old: new}}."
            )
    if len(set(new)) < len(new):
        raise SwelltreeError(f"names {listed(new)} are not all different. Give each body its own.")
    table = dict(zip(old, new, strict=True))
    labels = [
        make_label(table[body], dof)
        for body, dof in (split_label(x) for x in data["influenced_dof"].values)
    ]
    dofs = np.array(labels, dtype=object)
    return data.assign_coords(
        body=np.array(new, dtype=object), influenced_dof=dofs, radiating_dof=dofs
    )


# --- parts of the data ------------------------------------------------------------------------


def finite_rows(data: xr.Dataset) -> xr.Dataset:
    """Rows with 0 < omega < inf."""
    omega = data["omega"].values
    return data.isel(omega=np.flatnonzero((omega > 0.0) & np.isfinite(omega)))


def nan_rows(data: xr.Dataset) -> np.ndarray:
    bad = np.zeros(data.sizes["omega"], dtype=bool)
    for name in ("added_mass", "radiation_damping", "excitation_force"):
        if name in data:
            values = data[name].transpose("omega", ...).values
            bad |= np.isnan(values).reshape(bad.size, -1).any(axis=1)
    return data["omega"].values[bad]


def complete(data: xr.Dataset) -> xr.Dataset:
    """The data without frequencies with missing values (NaN)."""
    return data.sel(omega=~np.isin(data["omega"].values, nan_rows(data)))


def infinite_added_mass(data: xr.Dataset) -> np.ndarray | None:
    """Added mass at omega = inf as the data give it, or None."""
    omega = data["omega"].values
    if not np.isinf(omega).any():
        return None
    result = data["added_mass"].transpose(*RADIATION).values[np.isinf(omega)][0]
    return None if np.isnan(result).any() else result


def wavenumber(omega: Array, depth: float, g: float) -> np.ndarray:
    """Wavenumber [1/m] of every frequency; zero at omega = 0 and, by convention, at inf."""
    from swelltree.waves.dispersion import dispersion

    omega = np.asarray(omega, dtype=float)
    return np.asarray(dispersion(np.where(np.isinf(omega), 0.0, omega), depth, g))


# --- What a reader found, checked before it becomes data: sizes, order, and what no sea has

MAX_NUMBER = np.float64(
    numbers.MAX_NUMBER
)  # a plain number would be rounded to float32 with the data


def check_parts(parts: HydroParts) -> None:
    """Reject what cannot be: NaN where gaps are not allowed, infinite values, what comes twice.

    Gaps in added mass, damping and forces stay NaN here; `gaps` treats them.
    """
    main = parts.files[0] if parts.files else None

    def fail(text: str, name: str = "") -> SwelltreeError:
        path = parts.sources.get(name, main)
        return SwelltreeError(f"{_where(path)}: {text}")

    to_positive(parts.rho, "density rho", fail)
    to_positive(parts.g, "gravity g", fail)
    if not parts.depth > 0:
        raise fail(f"water depth {parts.depth:g} m is not positive. Fix it; deep water is inf.")
    for what, names in (("bodies", parts.bodies), ("degrees of freedom", parts.dofs)):
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if twice or not names:
            text = f"{what} come twice: {listed(twice[:3])}" if twice else f"no {what} are there"
            raise fail(f"{text}. Give each its own name.")
    for name, omega in (("added_mass", parts.omega), ("excitation_force", parts.force_omega)):
        if omega is not None:
            _check_omega(np.asarray(omega, dtype=float), lambda text, name=name: fail(text, name))
    if parts.directions is not None:
        beta = np.asarray(parts.directions, dtype=float)
        if not (np.abs(beta) <= 1e3).all():
            k = int(np.argmin(np.abs(beta) <= 1e3))
            raise fail(f"heading {k + 1} is {np.rad2deg(beta[k]):g} deg. Fix it.")
        if np.unique(beta).size < beta.size:
            again = np.sort(beta)[:-1][np.diff(np.sort(beta)) == 0][0]
            raise fail(f"heading {np.rad2deg(again):g} deg comes twice. Keep one of them.")
    _check_shapes(parts, fail)


def check_announced(parts: HydroParts, *, refuse: bool) -> None:
    """Find files that end before the last of the frequencies they were to hold.

    Args:
        parts: of a reader.
        refuse: raise; else only a note is made.
    """
    for name, omega in (("added_mass", parts.omega), ("excitation_force", parts.force_omega)):
        if omega is None:
            continue
        count = int(((omega > 0) & np.isfinite(omega)).sum())
        for path, announced in parts.announced.items():
            if count >= announced:
                continue
            source = parts.sources.get(name, parts.files[0] if parts.files else None)
            sentence = (
                f"{_where(source)} holds {count} of the {announced} frequencies that "
                f"'{path.name}' states."
            )
            if refuse:
                raise SwelltreeError(
                    f"{sentence} Is the file whole? Write it again, or give gaps='drop' to take "
                    "what is there."
                )
            parts.notes.append(sentence)


def check_agrees(path: Path, name: str, specified: float, stated: float) -> None:
    """Message if the user's number differs from that of the files."""
    if not np.isclose(specified, stated, rtol=1e-3):
        raise SwelltreeError(
            f"'{path}' was computed with {name} = {stated:g}, but {name} = {specified:g} is given. "
            f"Leave {name} out, or recompute the data."
        )


def _where(path: Path | None) -> str:
    return "hydro data" if path is None else f"'{path}'"


def _check_omega(omega: np.ndarray, fail) -> None:
    if not (omega >= 0).all():
        k = int(np.argmin(omega >= 0))
        raise fail(f"frequency {k + 1} is omega = {omega[k]:g} rad/s. Fix it or leave it out.")
    if omega.size == 0:
        raise fail("there are no frequencies. Recompute with a range of frequencies.")
    values = np.sort(omega)
    same = values[1:] == values[:-1]
    if same.any():
        raise fail(f"omega = {values[1:][same][0]:g} rad/s comes twice. Keep one of them.")


def _check_shapes(parts: HydroParts, fail) -> None:
    n, n_omega = len(parts.dofs), np.size(parts.omega)
    n_force = n_omega if parts.force_omega is None else np.size(parts.force_omega)
    n_beta = 0 if parts.directions is None else np.size(parts.directions)
    tables = {
        "added_mass": (parts.added_mass, (n_omega, n, n)),
        "radiation_damping": (parts.radiation_damping, (n_omega, n, n)),
    }
    tables |= {name: (values, (n_force, n_beta, n)) for name, values in parts.forces.items()}
    tables |= {name: (values, (n, n)) for name, values in parts.matrices.items()}
    for name, (values, shape) in tables.items():
        if np.shape(values) != shape:
            raise fail(f"{name} has shape {np.shape(values)}, expected {shape}.", name)
        gappy = name not in parts.matrices
        good = np.abs(values) <= MAX_NUMBER
        if gappy:
            good |= np.isnan(values)
        if not good.all():
            place = tuple(int(k) for k in np.argwhere(~good)[0])
            raise fail(f"{name} is {values[place]} at index {place}. Fix it.", name)
    for name, (_, values) in parts.extra.items():
        if np.isinf(values).any() or (np.abs(values) > MAX_NUMBER).any():
            raise fail(f"{name} holds infinite values. Fix it.", name)
    for name, values in parts.coords.items():
        numbers = np.asarray(values[1] if isinstance(values, tuple) else values)
        # frequencies may hold inf
        good = np.isfinite(numbers) if numbers.dtype.kind == "f" else np.ones(1, dtype=bool)
        if not (good | (name.endswith("omega") & (numbers == np.inf))).all():
            raise fail(f"coordinate '{name}' holds values that are not finite. Fix it.")
    for name, values in parts.points.items():
        rows = np.reshape(values, (len(parts.bodies), -1))
        for body, row in zip(parts.bodies, rows, strict=True):
            # what a file does not give is NaN as a whole
            if not (np.isnan(row).all() or (np.abs(row) <= MAX_NUMBER).all()):
                raise fail(f"{name} of body '{body}' is {row.tolist()}. Fix it.", name)
            if name == "displaced_volume" and (row < 0).any():
                raise fail(f"displaced_volume of body '{body}' is {row[0]:g} m^3. Fix it.", name)
