"""WAMIT's files: the listing .out and the numeric files .1 .3 .3fk .3sc .hst .8 .9 .12d .12s.

Everything is normalised by rho, g and the length scale; phases lead (exp(+iwt)), so complex
values are conjugated. Added mass and damping refer to the axes of each body (XBODY), phases to the
global origin. A period of -1 stands for omega = 0, a period of 0 for omega = inf.

The density is not in these files unless the .frc file has it (IALTFRC = 2): it must be given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from swelltree.hydro.dataset import HydroParts, rigid_labels
from swelltree.hydro.read_wamit_second import read_drift, read_qtf
from swelltree.hydro.textfile import TextFile, after_equals
from swelltree.hydro.wamit_listing import read_listing_tables
from swelltree.system.errors import SwelltreeError

NUMERIC = (".1", ".3", ".3fk", ".3sc", ".hst", ".8", ".9", ".12d", ".12s")


@dataclass
class WamitSetup:
    """What the listing and the input files tell beside the numbers.

    Args:
        names: of the bodies, if known.
        places: x, y, z of the body axes and their heading [m, deg], one row per body.
        g: gravity.
        rho: density.
        depth: inf for deep water.
        length: scale of the normalisation.
        modes: number of generalised modes per body.
        points: centre of gravity, buoyancy (body axes) and volume per body.
        period_kind: 1 period, 2 frequency, 3 and 4 wavenumber (IPEROUT).
        files: that were read.
    """

    names: list[str] = field(default_factory=list)
    places: list[list[float]] = field(default_factory=list)
    g: float | None = None
    rho: float | None = None
    depth: float | None = None
    length: float = 1.0
    modes: list[int] = field(default_factory=list)
    points: dict[str, list[list[float]]] = field(default_factory=dict)
    period_kind: int = 1
    files: list[Path] = field(default_factory=list)


def read_wamit(
    path: Path,
    *,
    rho: float | None = None,
    g: float | None = None,
    depth: float | None = None,
    length: float | None = None,
    bodies: int | None = None,
) -> HydroParts:
    """The contents of a family of WAMIT files with one stem.

    Args:
        path: any file of the family.
        rho: density [kg/m^3]; needed unless the .frc file tells it.
        g: gravity [m/s^2]; needed unless the .out file tells it.
        depth: [m]; needed unless .out or .pot tell it.
        length: scale ULEN [m]; that of the .out file, else 1.
        bodies: number of bodies, where no file tells it.
    """
    family = family_of(path)
    setup = read_setup(family)
    if rho is not None:
        setup.rho = rho
    if g is not None:
        setup.g = g
    if depth is not None:
        setup.depth = depth
    if length is not None:
        setup.length = length
    require(path, setup, "no .out file tells it")
    return assemble_wamit(path, family, setup, bodies)


def require(path: Path, setup: WamitSetup, why_g: str) -> None:
    """What dimensional values need and nothing tells must be given."""
    for value, name, why in (
        (setup.rho, "rho", "the results are divided by it and no file tells it"),
        (setup.g, "g", why_g),
        (setup.depth, "depth", "no .out or .pot file tells it (inf for deep water)"),
    ):
        if value is None:
            raise SwelltreeError(f"'{path}': {name} is not known: {why}. Give {name}=... .")


def family_of(path: Path) -> dict[str, Path]:
    """Files with the same stem, by ending in small letters."""
    stem = path.stem.lower()
    return {
        found.suffix.lower(): found
        for found in sorted(path.parent.iterdir())
        if found.is_file() and found.stem.lower() == stem
    }


def assemble_wamit(
    path: Path, family: dict[str, Path], setup: WamitSetup, bodies: int | None
) -> HydroParts:
    """The numbers of a family of files, dimensional and in our convention.

    Args:
        path: named by the user.
        family: files by ending.
        setup: complete.
        bodies: number of bodies, where no file tells it.
    """
    assert setup.rho is not None
    assert setup.g is not None
    assert setup.depth is not None
    notes: list[str] = []
    listing = TextFile(family[".out"]) if ".out" in family else None
    files = list(setup.files)
    if ".1" in family:
        periods, radiation = read_radiation(TextFile(family[".1"]))
        files.append(family[".1"])
        kind = setup.period_kind
        tables = None
    elif listing is not None:
        tables = read_listing_tables(listing)
        periods, radiation, kind = tables.periods, tables.radiation, 1
    else:
        raise SwelltreeError(
            f"'{path}': there is no '{path.stem}.1' with added mass and damping beside it. "
            "Run WAMIT's FORCE with IOPTN(1) = 1, or name another file."
        )
    if tables is None and ".3" not in family and listing is not None:
        tables = read_listing_tables(listing)
    n_dofs = radiation.shape[1]
    modes = split_dofs(path, n_dofs, setup, bodies)
    names = setup.names if len(setup.names) == len(modes) else _numbered(path.stem, len(modes))
    dofs = [x for name, k in zip(names, modes, strict=True) for x in rigid_labels(name, k)]
    power = np.concatenate([[0, 0, 0, 1, 1, 1] + [0] * k for k in modes])
    scale = setup.length ** (power[:, None] + power[None, :])
    omega = to_omega(periods, kind, setup)
    finite = np.where(np.isfinite(omega), omega, 0.0)
    parts = HydroParts(
        names,
        dofs,
        omega,
        setup.rho * setup.length**3 * scale * radiation[..., 0],
        setup.rho * setup.length**3 * scale * finite[:, None, None] * radiation[..., 1],
        setup.rho,
        setup.g,
        setup.depth,
        notes=notes,
        attrs={"solver": "WAMIT", "format": "WAMIT"},
        files=files,
    )
    force_scale = setup.rho * setup.g * setup.length ** (2 + power)
    for ending, name in (
        (".3", "excitation_force"),
        (".3fk", "Froude_Krylov_force"),
        (".3sc", "diffraction_force"),
    ):
        if ending in family:
            _force(parts, TextFile(family[ending]), name, setup, n_dofs, force_scale)
    if "excitation_force" not in parts.forces and tables is not None and tables.force is not None:
        parts.directions = np.deg2rad(tables.headings)
        parts.force_omega = to_omega(tables.force_periods, 1, setup)
        parts.forces["excitation_force"] = force_scale * tables.force.conj()
        notes.append(
            f"Excitation is from '{listing.path.name if listing else ''}', where WAMIT rounds "
            "phases to whole degrees; write the .3 file (NUMHDR, IOPTN(3)) for exact ones."
        )
    if ".hst" in family:
        stiffness = read_stiffness(TextFile(family[".hst"]), n_dofs)
        parts.matrices["hydrostatic_stiffness"] = (
            setup.rho * setup.g * setup.length**2 * scale * stiffness
        )
        files.append(family[".hst"])
    elif tables is not None or listing is not None:
        _listed_stiffness(parts, listing, setup, scale, modes)
    _second_order(parts, family, setup, modes)
    place_bodies(parts, setup, modes)
    return parts


def _force(
    parts: HydroParts, file: TextFile, name: str, setup: WamitSetup, n: int, scale: np.ndarray
) -> None:
    """Forces of a .3, .3fk or .3sc file."""
    periods, headings, values = read_forces(file, n)
    omega = to_omega(periods, setup.period_kind, setup)
    directions = np.deg2rad(headings)
    if parts.directions is None:
        parts.directions, parts.force_omega = directions, omega
    elif (
        parts.directions.shape != directions.shape
        or parts.force_omega is None
        or parts.force_omega.shape != omega.shape
        or not np.allclose(parts.directions, directions)
        or not np.allclose(parts.force_omega, omega, rtol=1e-4)
    ):
        raise SwelltreeError(
            f"'{file.path}' has other periods or headings than '{parts.files[-1].name}'. "
            "Keep only files of one run together."
        )
    parts.forces[name] = scale * values.conj()
    parts.files.append(file.path)


def read_radiation(file: TextFile) -> tuple[np.ndarray, np.ndarray]:
    """Periods and (period, i, j, [A, B]) of a .1 file; entries it leaves out are zero."""
    table = file.table((4, 5), "PER I J A(I,J) [B(I,J)]")
    four = table.get(4, np.zeros((0, 4)))
    five = table.get(5, np.zeros((0, 5)))
    rows = np.concatenate([np.column_stack([four, np.zeros(len(four))]), five])
    periods, which = _groups(rows[:, 0])
    i, j = _indices(rows[:, 1]), _indices(rows[:, 2])
    n = int(max(i.max(), j.max())) + 1
    values = np.zeros((periods.size, n, n, 2))
    values[which, i, j] = rows[:, 3:]
    return periods, values


def read_forces(file: TextFile, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Periods, headings [deg] and forces (period, heading, i) of a .3 file; missing is zero."""
    rows = file.table((7,), "PER BETA I Mod Pha Re Im")[7]
    periods, which = _groups(rows[:, 0])
    headings, heading = np.unique(rows[:, 1], return_inverse=True)
    i = _indices(rows[:, 2])
    if i.max() >= n:
        bad = int(np.argmax(i >= n))
        raise SwelltreeError(
            f"'{file.path}': mode {i[bad] + 1} is beyond the {n} of the .1 file. "
            "Keep only files of one run together."
        )
    values = np.zeros((periods.size, headings.size, n), dtype=complex)
    values[which, heading, i] = rows[:, 5] + 1j * rows[:, 6]
    return periods, headings, values


def read_stiffness(file: TextFile, n: int) -> np.ndarray:
    """(i, j) of a .hst file."""
    rows = file.table((3,), "I J C(I,J)")[3]
    i, j = _indices(rows[:, 0]), _indices(rows[:, 1])
    if max(i.max(), j.max()) >= n:
        raise SwelltreeError(
            f"'{file.path}' has {int(max(i.max(), j.max())) + 1} modes, the .1 file {n}. "
            "Keep only files of one run together."
        )
    values = np.zeros((n, n))
    values[i, j] = rows[:, 2]
    return values


def _groups(periods: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    found, which = np.unique(periods, return_inverse=True)
    return found, which.reshape(-1)


def _indices(column: np.ndarray) -> np.ndarray:
    return column.astype(int) - 1


def to_omega(periods: np.ndarray, kind: int, setup: WamitSetup) -> np.ndarray:
    """Frequencies of the first column.

    Args:
        periods: as written.
        kind: IPEROUT: 1 period, 2 frequency, 3 wavenumber of deep water, 4 of the depth;
            5 wave length (HAMS).
        setup: for g, depth and length scale.
    """
    g, length = float(setup.g or 9.81), setup.length
    depth = float(setup.depth or np.inf)
    if kind == 5:
        with np.errstate(divide="ignore"):
            k = np.where(periods < 0, 0.0, 2 * np.pi / np.where(periods < 0, 1.0, periods))
        return np.sqrt(g * k * np.tanh(np.minimum(k * depth, 700)))
    if kind == 1:  # -1 stands for omega = 0, 0 for inf
        with np.errstate(divide="ignore"):
            return np.where(periods < 0, 0.0, 2 * np.pi / np.where(periods < 0, 1.0, periods))
    k = np.where(periods < 0, 0.0, periods) / (length if kind > 2 else 1.0)
    omega = (
        k
        if kind == 2
        else np.sqrt(g * k * (np.tanh(np.minimum(k * depth, 700)) if kind == 4 else 1))
    )
    return np.where(periods < 0, np.inf, omega)


def split_dofs(path: Path, n: int, setup: WamitSetup, bodies: int | None) -> list[int]:
    """Generalised modes of each body, so that all freedoms are accounted for."""
    count = bodies or len(setup.places) or len(setup.names)
    if not count:
        count = max(n // 6, 1) if n % 6 == 0 or n < 6 else 1
    modes = (setup.modes + [0] * count)[:count]
    if 6 * count + sum(modes) < n and not any(modes) and count == 1:
        modes = [n - 6]
    if 6 * count + sum(modes) != n:
        raise SwelltreeError(
            f"'{path}' has {n} modes, which {count} bodies with {modes} generalised modes do not "
            "explain. Keep the .cfg file with NEWMDS beside it, or give names=... for all bodies."
        )
    return modes


def _numbered(stem: str, count: int) -> list[str]:
    return [stem] if count == 1 else [f"body{k + 1}" for k in range(count)]


# --- what stands beside the numbers ---------------------------------------------------------------


def read_setup(family: dict[str, Path]) -> WamitSetup:
    """Listing (.out), potential (.pot), force (.frc) and configuration (.cfg) files."""
    setup = WamitSetup()
    if ".cfg" in family:
        _configuration(TextFile(family[".cfg"]), setup)
    if ".pot" in family:
        _potential(TextFile(family[".pot"]), setup)
    if ".frc" in family:
        _force_control(TextFile(family[".frc"]), setup)
    if ".out" in family:
        _listing(TextFile(family[".out"]), setup)
    return setup


def _configuration(file: TextFile, setup: WamitSetup) -> None:
    for line in file.lines:
        found = re.match(r"\s*IPEROUT\s*=\s*(\d)", line, re.I)
        if found:
            setup.period_kind = int(found[1])
        found = re.match(r"\s*NEWMDS\s*(?:\((\d+)\))?\s*=\s*([\d\s]+)", line, re.I)
        if found:
            numbers = [int(x) for x in found[2].split()]
            first = int(found[1]) - 1 if found[1] else 0
            setup.modes += [0] * (first + len(numbers) - len(setup.modes))
            setup.modes[first : first + len(numbers)] = numbers
    setup.files.append(file.path)


def _potential(file: TextFile, setup: WamitSetup) -> None:
    """Depth and places of the bodies of a .pot file in the form of IALTPOT = 2."""
    try:
        depth = file.numbers(1, "water depth HBOT")[0]
        setup.depth = depth if depth > 0 else np.inf
        number = int(file.numbers(3, "number of periods NPER")[0])
        row = 4 + (1 if number < 0 else 0)
        found = 0
        while found < number:
            found += len(file.numbers(row, "wave periods PER"))
            row += 1
        number = int(file.numbers(row, "number of headings NBETA")[0])
        row, found, wanted = row + 1, 0, 2 if number < 0 else number
        while found < wanted:
            found += len(file.numbers(row, "wave headings BETA"))
            row += 1
        count = int(file.numbers(row, "number of bodies NBODY")[0])
        for k in range(count):
            setup.names.append(Path(file.lines[row + 1 + 3 * k].split()[0]).stem)
            setup.places.append(file.numbers(row + 2 + 3 * k, "XBODY of a body", 4)[:4])
    except (SwelltreeError, IndexError):
        setup.names, setup.places = [], []  # the older form: the listing tells the same
        return
    setup.files.append(file.path)


def _force_control(file: TextFile, setup: WamitSetup) -> None:
    """Density of a .frc file in the form of IALTFRC = 2: the line after the options is rho."""
    for line in file.lines[:8]:
        found = re.match(r"\s*([\d.+\-EeDd]+)\s.*\bRHO\b", line)
        if found:
            setup.rho = float(found[1].replace("D", "E"))
            setup.files.append(file.path)
            return


def _listing(file: TextFile, setup: WamitSetup) -> None:
    """The head of the .out file: gravity, length scale, depth, bodies and their centres."""
    head = file.find("Output from  WAMIT") or len(file.lines)
    names, places = [], []
    points: dict[str, list[list[float]]] = {"volume": [], "buoyancy": [], "gravity": []}
    for line in file.lines[:head]:
        if "Gravity:" in line:
            found = re.findall(r":\s*([\d.]+)", line)
            setup.g, setup.length = float(found[0]), float(found[1])
        elif "Water depth:" in line:
            word = line.split(":")[1].split()[0]
            setup.depth = np.inf if word.startswith("inf") else float(word)
        elif re.search(r"\S+\.gdf", line, re.I) and "file type" not in line:
            found = re.search(r"(\S+)\.gdf", line, re.I)
            names.append(Path(found[1]).name if found else "")
        elif "XBODY" in line and "=" in line:
            places.append(after_equals(line))
        elif "Volumes" in line:
            points["volume"].append([float(x) for x in line.split(":")[1].split()])
        elif "Center of Buoyancy" in line:
            points["buoyancy"].append([float(x) for x in line.split(":")[1].split()])
        elif "Center of Gravity" in line:
            points["gravity"].append([float(x) for x in re.split(r"\)\s*:?", line)[1].split()])
    setup.points = points
    if places:
        setup.places = [(place + [0.0] * 4)[:4] for place in places]
    if len(names) == len(setup.places):
        setup.names = [x if names.count(x) == 1 else f"{x}{k + 1}" for k, x in enumerate(names)]
    setup.files.append(file.path)


def _listed_stiffness(
    parts: HydroParts,
    listing: TextFile | None,
    setup: WamitSetup,
    scale: np.ndarray,
    modes: list[int],
) -> None:
    """Restoring coefficients C(3,3) ... C(5,6) of the listing."""
    if listing is None:
        return
    rows = [k for k, line in enumerate(listing.lines) if "C(3,3),C(3,4),C(3,5)" in line]
    if len(rows) != len(modes):
        return
    stiffness = np.zeros(scale.shape)
    starts = np.concatenate([[0], np.cumsum([6 + k for k in modes])])
    for row, start in zip(rows, starts, strict=False):
        values = [listing.lines[row + k].split(":")[1].split() for k in range(3)]
        for i, first, found in zip((2, 3, 4), (2, 3, 4), values, strict=True):
            for j, text in enumerate(found, first):
                stiffness[start + i, start + j] = float(text)
                if j < 5:  # the sixth column has no mirror image
                    stiffness[start + j, start + i] = float(text)
    unit = (setup.rho or 0.0) * (setup.g or 0.0) * setup.length**2
    parts.matrices["hydrostatic_stiffness"] = unit * scale * stiffness


def _second_order(
    parts: HydroParts, family: dict[str, Path], setup: WamitSetup, modes: list[int]
) -> None:
    unit = parts.rho * parts.g
    for ending in (".9", ".8"):
        if ending in family and "mean_drift" not in parts.extra:
            read_drift(parts, TextFile(family[ending]), unit, setup.length, modes, setup)
    for ending, name in ((".12d", "qtf_difference"), (".12s", "qtf_sum")):
        if ending in family:
            read_qtf(parts, TextFile(family[ending]), name, unit, setup.length, setup)


def place_bodies(parts: HydroParts, setup: WamitSetup, modes: list[int]) -> None:
    """Reference points, centres in world axes, and data turned to world axes."""
    from swelltree.hydro.frames import turn_parts

    count = len(modes)
    if len(setup.places) != count:
        parts.notes.append(
            "No .out or .pot file tells where the axes of the bodies are: they are taken at the "
            "origin. Give rotation_center=... if this is not so."
        )
        setup.places = [[0.0] * 4 for _ in range(count)]
    places = np.array(setup.places)
    turns = [rotation_about_z(np.deg2rad(angle)) for angle in places[:, 3]]
    parts.points["rotation_center"] = places[:, :3]
    for name, key in (("center_of_mass", "gravity"), ("center_of_buoyancy", "buoyancy")):
        found = setup.points.get(key, [])
        if len(found) == count:
            parts.points[name] = np.array(
                [
                    place + turn @ row
                    for place, turn, row in zip(places[:, :3], turns, found, strict=True)
                ]
            )
    volumes = setup.points.get("volume", [])
    if len(volumes) == count:
        # of VOLX, VOLY and VOLZ the last is what lifts the body
        parts.points["displaced_volume"] = np.array(volumes)[:, 2]
    if np.any(places[:, 3]):
        turn_parts(parts, turns)


def rotation_about_z(angle: float) -> np.ndarray:
    """Rotation matrix about +z."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
