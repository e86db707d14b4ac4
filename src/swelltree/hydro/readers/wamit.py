"""WAMIT's files: the listing .out and the numeric files .1 .3 .3fk .3sc .hst .8 .9 .12d .12s.

Everything is normalised by rho, g and the length scale; phases lead (exp(+iwt)), so complex
values are conjugated. Added mass and damping refer to the axes of each body (XBODY), phases to the
global origin. A period of -1 stands for omega = 0, a period of 0 for omega = inf. Pairs of modes
that a .1 file leaves out at every period are zero by symmetry; whatever else is absent is NaN here
and found by `gaps`.

The density is not in these files unless the .frc file has it (IALTFRC = 2): it must be given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from swelltree.hydro.dataset import HydroParts, rigid_labels
from swelltree.hydro.readers.textfile import Rows, TextFile, after_equals
from swelltree.hydro.readers.wamit_listing import read_listing_tables
from swelltree.hydro.readers.wamit_second import read_drift, read_qtf
from swelltree.hydro.soundness import check_agrees
from swelltree.system.errors import SwelltreeError
from swelltree.system.files.numbers import check_size, to_number, to_positive, to_whole
from swelltree.system.waters.water import Water

NUMERIC = (".1", ".3", ".3fk", ".3sc", ".hst", ".8", ".9", ".12d", ".12s")
MOST_MODES = 10_000  # a number beyond is a broken file
MOST_PERIODS = 1_000_000


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
        announced: numbers of frequencies, 0 and inf apart, by the file that tells them.
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
    announced: dict[Path, int] = field(default_factory=dict)


def read_wamit(
    path: Path,
    *,
    rho: float | None = None,
    g: float | None = None,
    depth: float | None = None,
    length: float | None = None,
    bodies: int | None = None,
    water: Water | None = None,
) -> HydroParts:
    """The contents of a family of WAMIT files with one stem.

    Args:
        path: any file of the family.
        rho: density [kg/m^3]; needed unless the .frc file tells it.
        g: gravity [m/s^2]; needed unless the .out file tells it.
        depth: [m]; needed unless .out or .pot tell it.
        length: scale ULEN [m]; that of the .out file, else 1.
        bodies: number of bodies, where no file tells it.
        water: whose density, gravity and depth hold where neither files nor the user tell them.
    """
    family = family_of(path)
    setup = read_setup(family)
    complete(path, setup, {"rho": rho, "g": g, "depth": depth}, water)
    if length is not None:
        setup.length = length
    require(path, setup, "no .out file tells it")
    return assemble_wamit(path, family, setup, bodies)


def complete(
    path: Path, setup: WamitSetup, given: dict[str, float | None], water: Water | None
) -> None:
    """Density, gravity and depth that the files do not tell, from the user or else the water."""
    for name, value in given.items():
        stated = getattr(setup, name)
        if stated is None and (value is not None or water is not None):
            setattr(setup, name, getattr(water, name) if value is None else value)
        elif stated is not None and value is not None:
            check_agrees(path, name, value, stated)


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
        entry.suffix.lower(): entry
        for entry in sorted(path.parent.iterdir())
        if entry.is_file() and entry.stem.lower() == stem
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
        kind = setup.period_kind
        periods, radiation = read_radiation(TextFile(family[".1"]), kind)
        source = family[".1"]
        files.append(source)
        tables = None
    elif listing is not None:
        tables = read_listing_tables(listing)
        periods, radiation, kind, source = tables.periods, tables.radiation, 1, listing.path
    else:
        raise SwelltreeError(
            f"'{path}': there is no '{path.stem}.1' with added mass and damping beside it. "
            "Run WAMIT's FORCE with IOPTN(1) = 1, or name another file."
        )
    if tables is None and ".3" not in family and listing is not None:
        tables = read_listing_tables(listing)
    if listing is not None:
        titles = {line.strip() for line in listing.lines if "Wave period (sec)" in line}
        setup.announced[listing.path] = len(titles)
    n_dofs = radiation.shape[1]
    _zero_by_symmetry(source, radiation, notes)
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
        sources={"added_mass": source, "radiation_damping": source},
        announced=dict(setup.announced),
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
        parts.sources["excitation_force"] = listing.path if listing else source
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
    periods, headings, values = read_forces(file, n, setup.period_kind)
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
    parts.sources[name] = file.path
    parts.files.append(file.path)


def read_radiation(file: TextFile, kind: int) -> tuple[np.ndarray, np.ndarray]:
    """Periods and (period, i, j, [A, B]) of a .1 file; what it leaves out is NaN."""
    table = file.table((4, 5), "PER I J A(I,J) [B(I,J)]")
    parts = [table[n] for n in (4, 5) if n in table]
    values = np.concatenate([np.pad(x.values, ((0, 0), (0, 5 - x.values.shape[1]))) for x in parts])
    rows = Rows(file, values, np.concatenate([x.lines for x in parts]))
    _check_periods(rows, kind)
    limit = _is_limit(rows.values[:, 0])
    if 4 in table and not limit[: len(table[4])].all():
        row = int(np.argmin(limit[: len(table[4])]))
        raise table[4].fail(row, "expected PER I J A(I,J) B(I,J), found four numbers.")
    rows.values[limit, 4] = 0.0  # no waves are made at either end
    periods, which = _groups(rows.values[:, 0])
    i, j = (rows.indices(k, name, MOST_MODES) for k, name in ((1, "mode I"), (2, "mode J")))
    rows.unrepeated(rows.values[:, 0], i, j, what="this pair of modes and period")
    n = int(max(i.max(), j.max())) + 1
    diagonal = np.unique(i[i == j])
    if diagonal.size < n:
        last = int(np.argmax(np.maximum(i, j)))
        absent = np.setdiff1d(np.arange(n), diagonal)[0] + 1
        raise rows.fail(
            last,
            f"mode {n} is there, but mode {absent} has no row I = J = {absent}. Recompute with all "
            "modes, or mend the number.",
        )
    check_size((periods.size, n, n, 2), "added mass and damping", lambda text: rows.fail(0, text))
    full = np.full((periods.size, n, n, 2), np.nan)
    full[which, i, j] = rows.values[:, 3:]
    return periods, full


def _zero_by_symmetry(path: Path, radiation: np.ndarray, notes: list[str]) -> None:
    """Pairs that are given at no period are zero; the note says which."""
    never = np.isnan(radiation).all(axis=(0, 3))
    radiation[:, never] = 0.0
    if never.any():
        pairs = [f"({i + 1},{j + 1})" for i, j in np.argwhere(never)]
        more = f" and {len(pairs) - 4} more" if len(pairs) > 4 else ""
        notes.append(
            f"'{path.name}' has no rows of {len(pairs)} pairs of modes, {', '.join(pairs[:4])}"
            f"{more}: they are zero by symmetry."
        )


def read_forces(file: TextFile, n: int, kind: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Periods, headings [deg] and forces (period, heading, i) of a .3 file; absent is NaN."""
    rows = file.table((7,), "PER BETA I Mod Pha Re Im")[7]
    _check_periods(rows, kind)
    i = _modes(rows, 2, n)
    rows.unrepeated(rows.values[:, 0], rows.values[:, 1], i, what="this mode, period and heading")
    periods, which = _groups(rows.values[:, 0])
    headings, heading = np.unique(rows.values[:, 1], return_inverse=True)
    shape = (periods.size, headings.size, n)
    check_size(shape, "forces", lambda text: rows.fail(0, text), 16)
    values = np.full(shape, np.nan + 0j)
    values[which, heading.reshape(-1), i] = rows.values[:, 5] + 1j * rows.values[:, 6]
    return periods, headings, values


def read_stiffness(file: TextFile, n: int) -> np.ndarray:
    """(i, j) of a .hst file, which holds every pair."""
    rows = file.table((3,), "I J C(I,J)")[3]
    i, j = _modes(rows, 0, n), _modes(rows, 1, n)
    rows.unrepeated(i, j, what="this pair of modes")
    values = np.full((n, n), np.nan)
    values[i, j] = rows.values[:, 2]
    absent = np.argwhere(np.isnan(values)) + 1
    if len(absent):
        pairs = ", ".join(f"({a},{b})" for a, b in absent[:4].tolist())
        raise SwelltreeError(
            f"'{file.path}' has no C(I,J) of {len(absent)} of {n * n} pairs of modes, such as "
            f"{pairs}. Is the file whole? Write it anew."
        )
    return values


def _modes(rows: Rows, column: int, n: int) -> np.ndarray:
    """Indices of modes that the .1 file has too."""
    i = rows.indices(column, "mode", MOST_MODES)
    if i.max() >= n:
        raise rows.fail(
            int(np.argmax(i >= n)),
            f"mode {i.max() + 1} is beyond the {n} of the .1 file. Keep only files of one run "
            "together.",
        )
    return i


def _groups(periods: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    periods_once, which = np.unique(periods, return_inverse=True)
    return periods_once, which.reshape(-1)


def _is_limit(first: np.ndarray) -> np.ndarray:
    """Rows of omega = 0 and inf: -1 and 0 in the first column, whatever it holds."""
    return (first == 0.0) | (first == -1.0)


def _check_periods(rows: Rows, kind: int, column: int = 0) -> None:
    """The first column holds positive numbers, or -1 and 0 for the limits."""
    first = rows.values[:, column]
    wrong = (first < 0) & (first != -1.0)
    if wrong.any():
        row = int(np.argmax(wrong))
        what = "period" if kind == 1 else "first column"
        raise rows.fail(
            row,
            f"{what} {first[row]:g} is negative; only -1 and 0 stand for limits. Mend the number.",
        )


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
    count = len(setup.places) or len(setup.names)
    if not count:
        count = n // 6 if n % 6 == 0 and not any(setup.modes) else bodies or 1
        if bodies is not None and bodies != count:
            raise SwelltreeError(
                f"'{path}' has {n} modes, those of {count} bodies, but names has {bodies} entries. "
                "Give one name for each, or keep the .cfg file with NEWMDS beside it."
            )
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
        potential = TextFile(family[".pot"])
        row = potential.find(" NPER")  # a comment that most files have, in either form
        if row is not None:
            _periods(potential, row, setup)
        if ".out" not in family:  # the listing tells the rest
            _potential(potential, setup)
    if ".frc" in family:
        _force_control(TextFile(family[".frc"]), setup)
    if ".out" in family:
        _listing(TextFile(family[".out"]), setup)
    return setup


def _configuration(file: TextFile, setup: WamitSetup) -> None:
    for index, line in enumerate(file.lines):
        fail = file.at(index)
        match = re.match(r"\s*IPEROUT\s*=\s*(\S+)", line, re.I)
        if match:
            setup.period_kind = to_whole(match[1], "IPEROUT", fail, 1, 4)
        match = re.match(r"\s*NEWMDS\s*(?:\((\d+)\))?\s*=\s*([\d\s]+)", line, re.I)
        if match:
            numbers = [to_whole(x, "NEWMDS", fail, 0, MOST_MODES) for x in match[2].split()]
            first = to_whole(match[1] or "1", "the body of NEWMDS", fail, 1, MOST_MODES) - 1
            setup.modes += [0] * (first + len(numbers) - len(setup.modes))
            setup.modes[first : first + len(numbers)] = numbers
    setup.files.append(file.path)


def deep_or(depth: float, file: TextFile, index: int) -> float:
    """Depth of a control file, where 0 and -1 stand for deep water."""
    return np.inf if depth in (0.0, -1.0) else to_positive(depth, "water depth", file.at(index))


def _potential(file: TextFile, setup: WamitSetup) -> None:
    """Depth and places of the bodies of a .pot file, in either form (IALTPOT = 1 and 2)."""
    setup.depth = deep_or(file.numbers(1, "water depth HBOT")[0], file, 1)
    setup.files.append(file.path)
    second = file.numbers(2, "IRAD IDIFF, or XBODY of the body", 2)
    if len(second) >= 4:  # one body: its axes stand here, its name nowhere
        setup.places = [second[:4]]
        return
    row = _periods(file, 3, setup)
    row, _ = _series(file, row, "number of headings NBETA")
    for k in range(file.count(row, "number of bodies NBODY", 1)):
        at = row + 1 + 3 * k
        if at >= len(file.lines) or not file.lines[at].split():
            raise file.fail(at, "name of a geometry file")
        name = Path(file.lines[at].split()[0]).stem
        setup.names.append(name if name not in setup.names else f"{name}{k + 1}")
        setup.places.append(file.numbers(at + 1, "XBODY of a body", 4)[:4])


def _periods(file: TextFile, row: int, setup: WamitSetup) -> int:
    """Periods or frequencies that are to be computed, and the line after them."""
    row, values = _series(file, row, "number of periods NPER")
    setup.announced[file.path] = int((values > 0).sum())  # the others are omega = 0 and inf
    return row


def _series(file: TextFile, row: int, what: str) -> tuple[int, np.ndarray]:
    """Numbers behind their count, which is negative where first and step are given instead."""
    number = to_number(file.numbers(row, what)[0], what, file.at(row))
    count = to_whole(abs(number), what, file.at(row), 0, MOST_PERIODS)
    values: list[float] = []
    while len(values) < (2 if number < 0 else count):
        row += 1
        values += file.numbers(row, f"values behind the {what}")
    if number < 0:
        return row + 1, values[0] + values[1] * np.arange(count)
    return row + 1, np.array(values[:count])


def _force_control(file: TextFile, setup: WamitSetup) -> None:
    """Density of a .frc file in the form of IALTFRC = 2: the line after the options is rho."""
    for index, line in enumerate(file.lines[:8]):
        match = re.match(r"\s*(\S+)\s.*\bRHO\b", line)
        if match:
            setup.rho = to_positive(match[1], "density RHO", file.at(index))
            setup.files.append(file.path)
            return


def _listing(file: TextFile, setup: WamitSetup) -> None:
    """The head of the .out file: gravity, length scale, depth, bodies and their centres."""
    head = file.find("Output from  WAMIT") or len(file.lines)
    names, places = [], []
    points: dict[str, list[list[float]]] = {"volume": [], "buoyancy": [], "gravity": []}
    for index, line in enumerate(file.lines[:head]):
        fail = file.at(index)
        if "Gravity:" in line:
            match = re.findall(r":\s*(\S+)", line)
            if len(match) < 2:
                raise file.fail(index, "'Gravity: ... Length scale: ...'")
            setup.g = to_positive(match[0], "gravity", fail)
            setup.length = to_positive(match[1], "length scale", fail)
        elif "Water depth:" in line:
            word = (line.split(":")[1].split() or [""])[0]
            deep = word.startswith("inf")
            setup.depth = np.inf if deep else to_positive(word, "water depth", fail)
        elif re.search(r"\S+\.gdf", line, re.I) and "file type" not in line:
            match = re.search(r"(\S+)\.gdf", line, re.I)
            names.append(Path(match[1]).name if match else "")
        elif "XBODY" in line and "=" in line:
            places.append(after_equals(line, fail))
        else:
            _centres(file, index, points)
    setup.points = points
    if places:
        setup.places = [(place + [0.0] * 4)[:4] for place in places]
    if len(names) == len(setup.places):
        setup.names = [x if names.count(x) == 1 else f"{x}{k + 1}" for k, x in enumerate(names)]
    setup.files.append(file.path)


CENTRES = {
    "Volumes": "volume",
    "Center of Buoyancy": "buoyancy",
    "Center of Gravity": "gravity",
}


def _centres(file: TextFile, index: int, points: dict[str, list[list[float]]]) -> None:
    """Three numbers behind a heading such as "Center of Buoyancy (Xb,Yb,Zb):"."""
    line = file.lines[index]
    name = next((key for key in CENTRES if key in line), None)
    if name is None or ")" not in line:
        return
    words = line.split(")", 1)[1].replace(":", " ").split()
    if len(words) < 3:
        raise file.fail(index, f"three numbers of '{name}'")
    points[CENTRES[name]].append([to_number(x, name, file.at(index)) for x in words[:3]])


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
    if not rows:
        return
    if len(rows) != len(modes):
        raise SwelltreeError(
            f"'{listing.path}' has restoring coefficients of {len(rows)} bodies, but "
            f"{len(modes)} bodies. Is the file whole?"
        )
    stiffness = np.zeros(scale.shape)
    starts = np.concatenate([[0], np.cumsum([6 + k for k in modes])])
    for row, start in zip(rows, starts, strict=False):
        for k, count in enumerate((3, 3, 2)):
            for j, value in enumerate(_behind_colon(listing, row + k, count), k + 2):
                stiffness[start + k + 2, start + j] = value
                if j < 5:  # the sixth column has no mirror image
                    stiffness[start + j, start + k + 2] = value
    unit = (setup.rho or 0.0) * (setup.g or 0.0) * setup.length**2
    parts.matrices["hydrostatic_stiffness"] = unit * scale * stiffness


def _behind_colon(file: TextFile, index: int, count: int) -> list[float]:
    """So many numbers behind the colon of a line."""
    words = file.lines[index].partition(":")[2].split() if index < len(file.lines) else []
    if len(words) != count:
        raise file.fail(index, f"{count} restoring coefficients behind a colon")
    return [to_number(word, "restoring coefficient", file.at(index)) for word in words]


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
        points = setup.points.get(key, [])
        if len(points) == count:
            parts.points[name] = np.array(
                [
                    place + turn @ row
                    for place, turn, row in zip(places[:, :3], turns, points, strict=True)
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
