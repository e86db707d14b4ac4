"""`read_moordyn`: MoorDyn input files, version 2 and the tables of version 1.

MoorDyn reads columns by their place. So does this reader; of the titles it only takes the order of
the columns of lines, which version 1 has differently, and that of the drag coefficients of
version 1 (Can, Cat, Cdn, Cdt without a column EI).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from swelltree.describe import LineType, Seabed
from swelltree.describe.errors import SwelltreeError, suggest
from swelltree.describe.files.numbers import is_number
from swelltree.describe.files.paths import plain_text, user_path
from swelltree.describe.values import NamedValues
from swelltree.interop.file_water import with_water
from swelltree.interop.moordyn.flow import read_flow
from swelltree.interop.moordyn.tables import (
    ZERO,
    BodyRow,
    FailureRow,
    LineRow,
    LoadRow,
    PointRow,
    RodRow,
    RodType,
    Row,
    attachment,
    read_curve,
    read_grid,
    three,
)
from swelltree.interop.mooring_file import MooringFile
from swelltree.interop.sections import Place, Section, TextRow, read_sections

# options by their names in MoorDyn, old and new, in lower case
DEPTH = ("wtrdpth", "wtrdepth", "depth")
RHO, GRAVITY = ("rho", "rhow", "wtrdnsty"), ("g", "gravity")
STIFFNESS, DAMPING = ("kbot", "kb"), ("cbot", "cb")
FRICTION = ("frictioncoefficient", "mu_kt", "mu_ka")
GRID = ("seafloorfile", "bathymetryfile")
# they steer MoorDyn's own solver and files
SOLVER = (
    *("dtm", "cfl", "tscheme", "dtout", "writelog", "writeunits", "echo", "outswitch"),
    *("dtic", "tmaxic", "cdscaleic", "threshic", "icdfac", "icthresh", "ictmax", "fileic"),
    *("icgendynamic", "disableoutput", "disableouttime", "inertialf", "inertialf_rampt"),
    *("fricdamp", "cv", "mc", "statdynfricscale", "unifycurrentgrid", "dtwave", "wavekin_rampt"),
)
AIRLESS = 1e-6  # kg/m^3, for files that have no water
FLOW = ("wavekin", "currents", "waterkin")


def read_moordyn(
    path: str | Path,
    *,
    depth: float | None = None,
    rho: float | None = None,
    g: float | None = None,
) -> MooringFile:
    """A MoorDyn input file; `parts` of the answer goes into a `System`.

    Args:
        path: of the file.
        depth: of the water [m], where the file does not give it; that of the anchors if they agree.
        rho: density of the water [kg/m^3], likewise.
        g: gravity [m/s^2], likewise.
    """
    path = Path(path)
    sections = read_sections(file_text(path))
    if not sections:
        raise SwelltreeError(
            f"mooring file '{path}' has no section such as '--- LINE TYPES ---'. Give a file of "
            "MoorDyn."
        )
    file = MooringFile(path=path, line_types=())
    for section in sections:
        read = _READERS.get(section.name)
        if read is not None and section.rows:
            file = read(file, section, Place(path, section.name))
    specified = {"depth": depth, "rho": rho, "g": g}

    def fail(section: str, row: Row, text: str) -> SwelltreeError:
        return Place(path, section).fail(row.line, text)

    return with_water(file, specified, fail)


def file_text(path: Path) -> str:
    """Text of a mooring file, or an error that says why there is none."""
    path = user_path(path, "mooring file")
    try:
        return plain_text(path, errors="replace")
    except OSError as error:
        near = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
        hint = suggest(path.name, near) or " Check the path."
        raise SwelltreeError(
            f"mooring file '{path}' cannot be read: {error.strerror}.{hint}"
        ) from None


def _line_types(file: MooringFile, section: Section, place: Place) -> MooringFile:
    return replace(file, line_types=tuple(_line_type(file, row, place) for row in section.rows))


def _line_type(file: MooringFile, row: TextRow, place: Place) -> LineType:
    name = row.words[0]
    diameter, mass = place.numbers(row, 1, 2, "diameter or mass")
    built: NamedValues = {"name": name, "diameter": diameter, "mass_per_length": mass}
    stiffness = place.word(row, 3, "EA")
    if stiffness.lower().startswith("syrope"):
        raise place.fail(
            row,
            f"EA '{stiffness}' of line type '{name}' keeps the largest load there was, which is "
            "not modelled. Give static|dynamic stiffness, one stiffness or a table.",
        )
    if "|" in stiffness:
        built |= _two_springs(row, place)
    elif is_number(stiffness):
        built["EA"] = place.number(row, 3, "EA")
    else:
        built["stretch"] = read_curve(place, row, stiffness, "strain and tension")
    if "|" not in stiffness:
        built |= _damping(row, place)
    old = len(row.words) < 10
    if old:  # version 1: no EI, added mass before drag
        names, first = ("Can", "Cat", "Cdn", "Cdt"), 5
    else:
        names, first = ("Cdn", "Can", "Cdt", "Cat"), 6
        built["EI"] = _bending(row, place)
    built |= dict(zip(names, place.numbers(row, first, 4, "a coefficient"), strict=True))
    if not old and len(row.words) > 10 and place.number(row, 10, "Cl") > 0:
        raise place.fail(
            row,
            f"Cl of line type '{name}' asks for vortex-induced vibration, which is not modelled. "
            "Give 0.",
        )
    try:
        return LineType(**built)
    except SwelltreeError as error:
        raise place.fail(row, str(error)) from None


def _two_springs(row: TextRow, place: Place) -> dict[str, float]:
    """Static|dynamic|slope in the column EA, and slow|fast damping in the column BA."""
    EA = place.bars(row, 3, (2, 3), "EA")
    if "|" not in place.word(row, 4, "BA"):
        raise place.fail(
            row,
            f"EA '{row.words[3]}' of line type '{row.words[0]}' is that of two springs, which need "
            "slow|fast damping. Give both in BA.",
        )
    slow, fast = place.bars(row, 4, (2,), "BA")
    slope = EA[2] if len(EA) == 3 else 0.0
    springs = {"EA": EA[0], "dynamic_EA": EA[1], "dynamic_EA_slope": slope}
    return springs | {"slow_BA": slow, "BA": fast}


def _damping(row: TextRow, place: Place) -> dict[str, float]:
    word = place.word(row, 4, "BA")
    if not is_number(word):
        raise place.fail(row, f"BA '{word}' is not a number. Tables of damping are not modelled.")
    value = place.number(row, 4, "BA")
    return {"BA": value} if value >= 0 else {"damping_ratio": -value}


def _bending(row: TextRow, place: Place) -> float:
    word = place.word(row, 5, "EI")
    if is_number(word):
        return place.number(row, 5, "EI")
    curve = read_curve(place, row, word, "curvature and moment")
    stiffnesses = [moment / curvature for curvature, moment in curve if curvature > 0]
    if max(stiffnesses) - min(stiffnesses) > 1e-6 * max(stiffnesses):
        raise place.fail(
            row,
            f"EI '{word}' is a table that is not a straight line. Give one bending stiffness.",
        )
    return stiffnesses[0]


def _rod_types(file: MooringFile, section: Section, place: Place) -> MooringFile:
    rows = tuple(
        RodType(row.words[0], *place.numbers(row, 1, 6, "a column"), line=row.number)
        for row in section.rows
    )
    return replace(file, rod_types=rows)


def _attached(row: TextRow, index: int, place: Place) -> str:
    word = place.word(row, index, "attachment")
    known = attachment(word)
    if known is None:
        raise place.fail(
            row, f"attachment '{word}' is not known. Give Fixed, Coupled, Free, Pinned or Body1."
        )
    return known


def _bodies(file: MooringFile, section: Section, place: Place) -> MooringFile:
    rows = []
    for row in section.rows:
        x = place.numbers(row, 2, 6, "position or angle")
        com = place.bars(row, 9, (1, 3), "CG")
        inertia = place.bars(row, 10, (1, 3), "I")
        drag = place.bars(row, 12, (1, 2, 3, 6), "CdA")
        added = place.bars(row, 13, (1, 3), "Ca")
        rows.append(
            BodyRow(
                row.words[0],
                _attached(row, 1, place),
                three(x[:3]),
                three(x[3:]),
                mass=place.number(row, 8, "mass"),
                com=three(com) if len(com) == 3 else (0.0, 0.0, com[0]),
                inertia=three(inertia * (3 // len(inertia))),
                volume=place.number(row, 11, "volume"),
                drag_area=_six(drag),
                added_mass=three(added * (3 // len(added))),
                line=row.number,
            )
        )
    return replace(file, bodies=tuple(rows))


def _six(drag: tuple[float, ...]) -> tuple[float, ...]:
    """Drag areas of the six DOFs from one, two, three or six numbers."""
    if len(drag) == 2:
        return (drag[0],) * 3 + (drag[1],) * 3
    return drag * (6 // len(drag))


def _rods(file: MooringFile, section: Section, place: Place) -> MooringFile:
    rows = []
    for row in section.rows:
        x = place.numbers(row, 3, 6, "a coordinate")
        rows.append(
            RodRow(
                row.words[0],
                place.word(row, 1, "rod type"),
                _attached(row, 2, place),
                three(x[:3]),
                three(x[3:]),
                place.count(row, 9, "NumSegs"),
                line=row.number,
            )
        )
    return replace(file, rods=tuple(rows))


def _points(file: MooringFile, section: Section, place: Place) -> MooringFile:
    rows = []
    for row in section.rows:
        position = three(place.numbers(row, 2, 3, "a coordinate"))
        mass, volume = place.numbers(row, 5, 2, "mass or volume")
        # version 1 has a force between volume and drag area
        count = len(row.words)
        old = count > 11 and is_number(place.word(row, 11, "Ca"))
        force = three(place.numbers(row, 7, 3, "force")) if old else ZERO
        drag, added = place.numbers(row, 10 if old else 7, 2, "CdA or Ca")
        kind = _attached(row, 1, place)
        rows.append(
            PointRow(
                row.words[0], kind, position, mass, volume, drag, added, force, line=row.number
            )
        )
    ids = [row.id for row in rows]
    if len(set(ids)) == len(ids):
        return replace(file, points=tuple(rows))
    again = next(name for k, name in enumerate(ids) if name in ids[:k])
    note = f"points: ID {again} comes twice; all are numbered by their order, as MoorDyn does."
    rows = [replace(row, id=str(k)) for k, row in enumerate(rows, 1)]
    return replace(file, points=tuple(rows), notes=(*file.notes, note))


def _lines(file: MooringFile, section: Section, place: Place) -> MooringFile:
    titles = " ".join(section.titles)
    # version 1: ID, type, length, segments, A, B
    old = any("len" in title for title in section.titles[2:3]) and "numseg" in titles
    length, segments, a, b = (2, 3, 4, 5) if old else (4, 5, 2, 3)
    rows = tuple(
        LineRow(
            row.words[0],
            place.word(row, 1, "line type"),
            place.word(row, a, "end A").upper(),
            place.word(row, b, "end B").upper(),
            place.number(row, length, "UnstrLen"),
            place.count(row, segments, "NumSegs") or None,
            line=row.number,
        )
        for row in section.rows
    )
    return replace(file, lines=rows)


def _failures(file: MooringFile, section: Section, place: Place) -> MooringFile:
    rows = tuple(
        FailureRow(
            row.words[0],
            place.word(row, 1, "point").upper(),
            tuple(place.word(row, 2, "line").split(",")),
            place.number(row, 3, "FailTime"),
            place.number(row, 4, "FailTen"),
            line=row.number,
        )
        for row in section.rows
    )
    return replace(file, failures=rows)


def _loads(file: MooringFile, section: Section, place: Place) -> MooringFile:
    rows = tuple(
        LoadRow(
            row.words[0],
            place.word(row, 1, "object").lower(),
            three(place.bars(row, 2, (3,), "Fext")),
            place.bars(row, 3, (2, 3), "Blin"),
            place.bars(row, 4, (2, 3), "Bquad"),
            row.words[5].upper() if len(row.words) > 5 else "-",
            line=row.number,
        )
        for row in section.rows
    )
    return replace(file, loads=rows)


def _unmapped(file: MooringFile, section: Section, place: Place) -> MooringFile:
    what = {"control": "lines paid out by a controller", "syrope ic": "the history of ropes"}
    raise place.fail(section.rows[0], f"{what[section.name]} cannot be read. Take the section out.")


def _options(file: MooringFile, section: Section, place: Place) -> MooringFile:
    water: NamedValues = {}
    bed: NamedValues = {"stiffness": 3.0e6, "damping": 3.0e5}
    notes: list[str] = []
    rubbing: dict[str, float] = {}
    sea, current = file.sea, file.current
    for row in section.rows:
        key = place.word(row, 1, "the name of the option").lower()
        if (key in DEPTH and not is_number(row.words[0])) or key in GRID:
            bed["grid"] = read_grid(place, row, row.words[0])
        elif key in DEPTH and place.number(row, 0, key) > 0:
            water["depth"] = place.number(row, 0, key)
        elif key in RHO and place.number(row, 0, key) == 0.0:
            water["rho"] = AIRLESS
            notes.append(f"line {row.number}: of no water {AIRLESS:g} kg/m^3 are taken.")
        elif key in RHO or key in GRAVITY:
            water["rho" if key in RHO else "g"] = place.number(row, 0, key)
        elif key in STIFFNESS or key in DAMPING:
            bed["stiffness" if key in STIFFNESS else "damping"] = place.number(row, 0, key)
        elif key in FRICTION:
            rubbing[key] = place.number(row, 0, key)
        elif key in FLOW:
            flow = read_flow(place, row)
            sea, current = flow.sea or sea, flow.current or current
            notes += flow.notes
        elif key not in (*SOLVER, *DEPTH):
            notes.append(f"line {row.number}: option '{row.words[1]}' is not known and left out.")
    skipped = [row.words[1] for row in section.rows if row.words[1].lower() in SOLVER]
    if skipped:
        notes.append(f"{', '.join(skipped)} steer MoorDyn itself and are left out.")
    if len(set(rubbing.values())) > 1:
        raise place.fail(
            section.rows[0].number,
            "friction along and across the line differ, which is not modelled. Give one value.",
        )
    if rubbing:
        bed["friction"] = next(iter(rubbing.values()))
    if not bed["stiffness"] > 0:
        bed |= {"stiffness": None, "damping": 0.0}
    return replace(
        file,
        water=file.water.replace(**water),
        seabed=Seabed(**bed),
        sea=sea,
        current=current,
        stated=tuple(water),
        notes=(*file.notes, *notes),
    )


_READERS: dict[str, Callable[..., MooringFile]] = {
    "line types": _line_types,
    "rod types": _rod_types,
    "bodies": _bodies,
    "rods": _rods,
    "points": _points,
    "lines": _lines,
    "failure": _failures,
    "external loads": _loads,
    "control": _unmapped,
    "syrope ic": _unmapped,
    "options": _options,
}
