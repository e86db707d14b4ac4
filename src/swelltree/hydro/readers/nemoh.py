"""NEMOH's folders, versions 2 and 3, and the two files of AQUAPLUS that came before it.

NEMOH's convention is ours (exp(-iwt), SI, per metre of amplitude); phases refer to the wave
measurement point of `Nemoh.cal`. A folder holds `Nemoh.cal`, the `.tec` files (in it or in
`results/`) and, if they were computed, `KH*.dat` and `Hydrostatics*.dat` (in it or in `mesh/`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.files.numbers import to_integer, to_number, to_positive
from swelltree.hydro.data.dataset import DOFS, HydroParts, make_label, wavenumber
from swelltree.hydro.readers.capytaine import adjacent_hydrostatics
from swelltree.hydro.readers.textfile import TextFile, leading_numbers

FILES = {
    "excitation_force": "ExcitationForce.tec",
    "Froude_Krylov_force": "FKForce.tec",
    "diffraction_force": "DiffractionForce.tec",
}


@dataclass
class NemohCase:
    """Contents of `Nemoh.cal`.

    Args:
        file: the file itself.
        rho: density.
        g: gravity.
        depth: inf for deep water.
        wave_point: where phases refer to.
        bodies: names, after their meshes.
        motions: labels of the DOFs.
        forces: labels of the generalised forces.
        centers: reference point per body.
        frequencies: how many were to be computed.
    """

    file: TextFile
    rho: float
    g: float
    depth: float
    wave_point: np.ndarray
    bodies: list[str] = field(default_factory=list)
    motions: list[str] = field(default_factory=list)
    forces: list[str] = field(default_factory=list)
    centers: list[np.ndarray] = field(default_factory=list)
    frequencies: int = 0


def read_nemoh(path: Path) -> HydroParts:
    """The contents of a NEMOH folder.

    Args:
        path: of the folder, or of a file in it.
    """
    root = path if path.is_dir() else path.parent
    if root.name.lower() in ("results", "mesh") and not lookup(root, "Nemoh.cal"):
        root = root.parent
    cal = lookup(root, "Nemoh.cal")
    if cal is None:
        raise SwelltreeError(
            f"'{root}' has no 'Nemoh.cal', which gives density, depth and bodies. "
            "Put it beside the results."
        )
    case = read_cal(TextFile(cal))
    radiation = lookup(root, "RadiationCoefficients.tec")
    if radiation is None and lookup(root, "Cw.tec"):
        return read_aquaplus(root, case)
    if radiation is None:
        raise SwelltreeError(
            f"'{root}' has no 'RadiationCoefficients.tec', neither in it nor in 'results'. "
            "Run NEMOH's solver and postprocessor first."
        )
    omega, added, damping = _radiation(TextFile(radiation), case)
    keep = [dof for dof in case.motions if dof in case.forces]
    rows = [case.forces.index(dof) for dof in keep]
    columns = [case.motions.index(dof) for dof in keep]
    parts = _parts(
        case, keep, omega, added[:, rows][:, :, columns], damping[:, rows][:, :, columns]
    )
    parts.files.append(radiation)
    parts.sources.update(added_mass=radiation, radiation_damping=radiation)
    for name, file_name in FILES.items():
        there = lookup(root, file_name)
        if there is None:
            continue
        file = TextFile(there)
        headings, grid, values = _forces(file, case)
        if not _same(grid, omega, 1e-4):
            raise SwelltreeError(
                f"'{there}' has {grid.size} frequencies, 'RadiationCoefficients.tec' has "
                f"{omega.size} or others. Keep only files of one run together."
            )
        if parts.directions is not None and not _same(parts.directions, headings):
            raise SwelltreeError(
                f"'{there}' has other headings than '{parts.files[-1].name}'. Keep only files of "
                "one run together."
            )
        parts.directions = headings
        parts.sources[name] = there
        parts.forces[name] = to_origin(values[:, :, rows], omega, headings, case)
        parts.files.append(there)
    _hydrostatics(root, case, parts)
    return parts


def _same(a: np.ndarray, b: np.ndarray, rtol: float = 1e-9) -> bool:
    return a.shape == b.shape and np.allclose(a, b, rtol=rtol)


def lookup(root: Path, name: str) -> Path | None:
    """A file in the folder or its `results` and `mesh`, case-insensitive."""
    if not root.is_dir():
        return None
    folders = [
        root,
        *(p for p in root.iterdir() if p.is_dir() and p.name.lower() in ("results", "mesh")),
    ]
    for folder in folders:
        for entry in sorted(folder.iterdir()):
            if entry.is_file() and entry.name.lower() == name.lower():
                return entry
    return None


def _parts(
    case: NemohCase, dofs: list[str], omega: np.ndarray, added: np.ndarray, damping: np.ndarray
) -> HydroParts:
    parts = HydroParts(
        case.bodies,
        dofs,
        omega,
        added,
        damping,
        case.rho,
        case.g,
        case.depth,
        attrs={"solver": "NEMOH", "format": "NEMOH"},
        files=[case.file.path],
        announced={case.file.path: case.frequencies},
    )
    parts.points["rotation_center"] = np.array(case.centers)
    return parts


# --- Nemoh.cal ------------------------------------------------------------------------------------


def read_cal(file: TextFile) -> NemohCase:
    """Environment, bodies, DOFs and generalised forces of `Nemoh.cal`."""
    rho = to_positive(file.numbers(1, "density RHO")[0], "density RHO", file.at(1))
    g = to_positive(file.numbers(2, "gravity G")[0], "gravity G", file.at(2))
    depth = file.numbers(3, "water depth DEPTH (0 for deep water)")[0]
    depth = np.inf if depth == 0 else to_positive(depth, "water depth", file.at(3))
    point = file.numbers(4, "wave measurement point XEFF YEFF", 2)
    count = file.count(6, "number of bodies", 1)
    case = NemohCase(file, rho, g, depth, np.array(point[:2]))
    row = 7
    for _ in range(count):
        if row + 1 >= len(file.lines):
            raise file.fail(len(file.lines), f"{count} bodies")
        mesh = file.lines[row + 1].split("!")[0].strip() or "body"
        name = Path(mesh.split()[0].replace("\\", "/")).stem.replace("__", "_") or "body"
        if name in case.bodies:
            name = f"{name}{len(case.bodies) + 1}"
        case.bodies.append(name)
        center = np.zeros(3)
        row += 3  # heading, mesh, number of points
        for labels in (case.motions, case.forces):
            number = file.count(row, "number of degrees of freedom or of forces")
            for k in range(number):
                values = file.numbers(row + 1 + k, "type, direction (3), point (3)", 7)
                kind = to_integer(values[0], "type of DOF", file.at(row + 1 + k), 1, 2)
                label = make_label(name, _freedom(kind, values, k))
                if label in labels:
                    raise file.fail(row + 1 + k, f"'{label}' once among the DOFs of the body")
                labels.append(label)
                if kind == 2:
                    center = np.array(values[4:7])
            row += number + 1
        case.centers.append(center)
        row += 1 + file.count(row, "number of lines of additional information")
    if row + 1 < len(file.lines):  # behind the heading of the load cases
        numbers = file.numbers(row + 1, "number of frequencies, first and last", 3)
        # version 3 gives their kind first
        case.frequencies = to_integer(numbers[-3], "number of frequencies", file.at(row + 1))
    return case


def _freedom(kind: int, values: list[float], index: int) -> str:
    """Name of a DOF; a motion along no axis is an own mode."""
    for axis in range(3):
        if np.allclose(values[1:4], np.eye(3)[axis]):
            return DOFS[axis + (3 if kind == 2 else 0)]
    return f"Mode{index + 1}"


# --- .tec files -----------------------------------------------------------------------------------


def _zones(file: TextFile, columns: int) -> list[tuple[int, np.ndarray]]:
    """Title line and numbers of every zone; all have the same first column."""
    starts = [k for k, line in enumerate(file.lines) if line.strip().lower().startswith("zone")]
    if not starts:
        raise file.fail(len(file.lines), "a line 'Zone t=...'")
    zones = []
    for start, stop in zip(starts, [*starts[1:], len(file.lines)], strict=True):
        places = [k for k in range(start + 1, stop) if file.lines[k].strip()]
        values = file.rows(places, columns, f"{columns} numbers").values
        if not places:
            raise file.fail(start + 1, f"rows of {columns} numbers")
        if zones and not _same(values[:, 0], zones[0][1][:, 0]):
            raise file.wrong(
                start, "this zone has other frequencies than the first one. Is the file whole?"
            )
        zones.append((start, values))
    return zones


def _to_omega(file: TextFile, column: np.ndarray) -> np.ndarray:
    """First column as omega: version 3 can write Hz or seconds instead."""
    if (column <= 0).any():
        raise SwelltreeError(
            f"'{file.path}' has the frequency or period {column[column <= 0][0]:g}. Fix it."
        )
    head = " ".join(file.lines[:2]).lower()
    if "hz" in head:
        return 2 * np.pi * column
    if re.search(r"\(s\)|period", head):
        return 2 * np.pi / column
    return column


def _radiation(file: TextFile, case: NemohCase) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Omega, added mass and damping (omega, force, motion): one zone per motion."""
    n = len(case.forces)
    zones = _zones(file, 1 + 2 * n)
    if len(zones) != len(case.motions):
        raise SwelltreeError(
            f"'{file.path}' has {len(zones)} zones but 'Nemoh.cal' describes {len(case.motions)} "
            "degrees of freedom. Keep only files of one run together."
        )
    if not zones:
        raise file.fail(len(file.lines), "a zone for each degree of freedom")
    table = np.stack([values for _, values in zones], axis=-1)
    return _to_omega(file, table[:, 0, 0]), table[:, 1::2], table[:, 2::2]


def _forces(file: TextFile, case: NemohCase) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Headings, omega and forces (omega, heading, force): one zone per heading."""
    headings, tables = [], []
    for row, values in _zones(file, 1 + 2 * len(case.forces)):
        match = re.search(r"beta\s*=\s*([^\s\"]+)", file.lines[row])
        if not match:
            raise file.fail(row, "a heading 'beta = ... deg' in the zone")
        headings.append(np.deg2rad(to_number(match[1], "heading beta", file.at(row))))
        tables.append(values)
    table = np.stack(tables, axis=1)
    force = table[..., 1::2] * np.exp(1j * table[..., 2::2])
    return np.array(headings), _to_omega(file, table[:, 0, 0]), force


def to_origin(
    force: np.ndarray, omega: np.ndarray, headings: np.ndarray, case: NemohCase
) -> np.ndarray:
    """Phases moved from the wave measurement point to the origin: times exp(i k.x)."""
    k = wavenumber(omega, case.depth, case.g)
    along = case.wave_point[0] * np.cos(headings) + case.wave_point[1] * np.sin(headings)
    return force * np.exp(1j * k[:, None] * along[None])[:, :, None]


def _hydrostatics(root: Path, case: NemohCase, parts: HydroParts) -> None:
    count = len(case.bodies)
    folders = [root, *(p for p in root.iterdir() if p.is_dir() and p.name.lower() == "mesh")]
    for folder in folders:
        adjacent = adjacent_hydrostatics(folder, count)
        if adjacent is not None:
            parts.points.update(adjacent.points)
            parts.files.extend(adjacent.files)
            break
    names = ["KH.dat"] if count == 1 else [f"KH_{k}.dat" for k in range(count)]
    files = [lookup(root, name) for name in names]
    stiffness = np.zeros((len(parts.dofs), len(parts.dofs)))
    if not any(files):
        return
    for body, path, name in zip(case.bodies, files, names, strict=True):
        if path is None:
            raise SwelltreeError(
                f"'{root}' has no '{name}', the stiffness of body '{body}', but those of other "
                "bodies. Compute all of them, or remove the others."
            )
        values = TextFile(path).table((6,), "six numbers of the stiffness matrix")[6].values
        if len(values) != 6:
            raise SwelltreeError(f"'{path}' has {len(values)} rows, expected 6. Is it whole?")
        have = [k for k, dof in enumerate(DOFS) if make_label(body, dof) in parts.dofs]
        rows = [parts.dofs.index(make_label(body, DOFS[k])) for k in have]
        stiffness[np.ix_(rows, rows)] = values[np.ix_(have, have)]
        parts.files.append(path)
    parts.matrices["hydrostatic_stiffness"] = stiffness


# --- AQUAPLUS -------------------------------------------------------------------------------------


def read_aquaplus(root: Path, case: NemohCase) -> HydroParts:
    """`Cw.tec` and `Fex.tec` of AQUAPLUS, the code that NEMOH grew out of; one body.

    Zones are titled "Force sur 1- Mvt de 1 ij"; pairs that are not there are zero or follow from
    symmetry. Its phases lead (surge of a long wave at +90 degrees), so they are conjugated.
    """
    file = TextFile(_need(root, "Cw.tec"))
    zones = _zones(file, 4)
    omega = zones[0][1][:, 0]
    added, damping = np.full((2, omega.size, 6, 6), np.nan)
    for row, values in zones:
        pair = re.search(r"([1-6])([1-6])\"", file.lines[row])
        if pair is None or "1- Mvt de  1" not in file.lines[row]:
            raise file.fail(row, "a zone 'Force sur 1- Mvt de 1 ij'")
        i, j = int(pair[1]) - 1, int(pair[2]) - 1
        if not np.isnan(added[0, i, j]):
            raise file.wrong(row, f"the pair {i + 1}{j + 1} comes twice. Keep one of the zones.")
        damping[:, i, j], added[:, i, j] = values[:, 1], values[:, 2]
    for i in range(6):
        if np.isnan(added[0, i, i]):
            raise file.fail(len(file.lines), f"a zone of {DOFS[i]} alone, '{i + 1}{i + 1}'")
    for matrix in (added, damping):
        mirror = np.swapaxes(matrix, 1, 2)
        matrix[:] = np.where(np.isnan(matrix), np.where(np.isnan(mirror), 0.0, mirror), matrix)
    dofs = [make_label(case.bodies[0], dof) for dof in DOFS]
    parts = _parts(case, dofs, omega, added, damping)
    parts.attrs.update(solver="AQUAPLUS", format="AQUAPLUS")
    parts.files.append(file.path)
    parts.notes.append("AQUAPLUS writes some pairs only; the others are zero or by symmetry.")
    force = lookup(root, "Fex.tec")
    if force is not None:
        text = TextFile(force)
        numbers: list[float] = []
        for k, line in enumerate(text.lines):
            if '"' in line:
                continue
            leading = leading_numbers(line, text.at(k))
            if len(leading) != len(line.split()):
                raise text.fail(k, "numbers")
            numbers += leading
        if len(numbers) % 13 or not numbers:
            raise text.fail(len(text.lines), "records of 13 numbers (period, moduli, arguments)")
        table = np.array(numbers).reshape(-1, 13)
        if not (table[:, 0] > 0).all():
            bad = table[table[:, 0] <= 0, 0][0]
            raise text.fail(len(text.lines), f"positive periods, not {bad:g} s")
        parts.directions = np.zeros(1)
        parts.force_omega = 2 * np.pi / table[:, 0]
        values = table[:, 1:7] * np.exp(-1j * np.deg2rad(table[:, 7:]))
        parts.forces["excitation_force"] = values[:, None]
        parts.sources["excitation_force"] = force
        parts.files.append(force)
    return parts


def _need(root: Path, name: str) -> Path:
    file = lookup(root, name)
    assert file is not None
    return file
