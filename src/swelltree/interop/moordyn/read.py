"""`read_moordyn`: MoorDyn input files, version 2 and the tables of version 1.

MoorDyn reads columns by their place. So does this reader; of the titles it only takes the order of
the columns of lines, which version 1 has differently, and that of the drag coefficients of
version 1 (Can, Cat, Cdn, Cdt without a column EI).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from swelltree.describe import LineType, Seabed
from swelltree.describe.errors import SwelltreeError, suggest, warn_user
from swelltree.describe.files.atomic import plain_text, user_path
from swelltree.describe.files.numbers import is_number, to_number
from swelltree.describe.values import NamedValues
from swelltree.interop.moordyn.beside import DataLines, read_curve, read_flow, read_grid
from swelltree.interop.mooring_file import MooringFile, with_water
from swelltree.interop.mooring_rows import (
    ZERO,
    BodyRow,
    FailureRow,
    LineRow,
    LoadRow,
    Place,
    PointRow,
    RodRow,
    RodType,
    Row,
    TextRow,
    attachment,
    three,
)

# words of a heading, longest first, and the name of the section here
HEADINGS = {
    **dict.fromkeys(("line dictionary", "line types", "line type"), "line types"),
    **dict.fromkeys(("rod dictionary", "rod types", "rod type"), "rod types"),
    "syrope": "syrope ic",
    "external load": "external loads",
    **dict.fromkeys(("solver options", "options"), "options"),
    "failure": "failure",
    "control": "control",
    **dict.fromkeys(("outputs", "output"), "outputs"),
    **dict.fromkeys(("body list", "bodies"), "bodies"),
    **dict.fromkeys(("rod list", "rod properties", "rods"), "rods"),
    **dict.fromkeys(("connection properties", "node properties"), "points"),
    **dict.fromkeys(("point properties", "point list", "points"), "points"),
    **dict.fromkeys(("line properties", "line list", "lines"), "lines"),
}
WITHOUT_TITLES = ("options", "outputs")  # the others begin with a row of names and one of units
# options by their names in MoorDyn, old and new, in lower case
DEPTH = ("wtrdpth", "wtrdepth", "depth")
WATER = {**dict.fromkeys(("rho", "rhow", "wtrdnsty"), "rho"), "g": "g", "gravity": "g"}
SPRING = {"kbot": "stiffness", "kb": "stiffness", "cbot": "damping", "cb": "damping"}
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
    history: list[tuple[Place, TextRow]] = []
    for name, rows in sections:
        titles: tuple[str, ...] = ()
        if name not in WITHOUT_TITLES:
            titles = tuple(word.lower() for word in rows[0].words) if rows else ()
            rows = rows[2:]
        rows = [row for row in map(_uncommented, rows) if row.words]
        place = Place(path, name)
        if rows and name == "options":
            file = _options(file, rows, place)
        elif rows and name == "control":
            text = "lines paid out by a controller cannot be read. Take the section out."
            raise place.fail(rows[0], text)
        elif name == "syrope ic":
            history += [(place, row) for row in rows]
        elif rows and name in _ROWS:
            field, read = _ROWS[name]
            read = _old_line if _has_old_lines(name, titles) else read
            file = replace(file, **{field: tuple(read(row, place) for row in rows)})
            file = _counted(file) if name == "points" else file

    for place, row in history:
        file = _with_history(file, row, place)

    def fail(section: str, row: Row, text: str) -> SwelltreeError:
        return Place(path, section).fail(row, text)

    return with_water(file, {"depth": depth, "rho": rho, "g": g}, fail)


def file_text(path: Path) -> str:
    """Text of a mooring file."""
    path = user_path(path, "mooring file")
    try:
        return plain_text(path, errors="replace")
    except OSError as error:
        near = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
        hint = suggest(path.name, near) or " Check the path."
        raise SwelltreeError(
            f"mooring file '{path}' cannot be read: {error.strerror}.{hint}"
        ) from None


def read_sections(text: str) -> list[tuple[str, list[TextRow]]]:
    """All sections in order; text before the first is ignored."""
    sections: list[tuple[str, list[TextRow]]] = []
    ended = False
    for number, line in enumerate(text.splitlines(), 1):
        if "---" in line:
            words = " ".join(re.sub(r"[-=]", " ", line).lower().split())
            known = () if "input file" in words else HEADINGS.items()
            name = next((name for key, name in known if key in words), None)
            ended = name is None
            if name is not None:
                sections.append((name, []))
        elif sections and not ended and line.strip():
            sections[-1][1].append(TextRow(number, tuple(line.split())))
    return sections


def _uncommented(row: TextRow) -> TextRow:
    words: list[str] = []
    for word in row.words:
        head = re.split(r"[!#%]", word, maxsplit=1)[0]
        words += [head] if head else []
        if head != word:
            break
    return TextRow(row.number, tuple(words))


# --- Rows


def _line_type(row: TextRow, place: Place) -> LineType:
    name = row.words[0]
    diameter, mass = place.numbers(row, 1, 2, "diameter or mass")
    built: NamedValues = {"name": name, "diameter": diameter, "mass_per_length": mass}
    stiffness = place.word(row, 3, "EA")
    if "|" in stiffness:
        own = _original_curve(row, place) if stiffness.lower().startswith("syrope") else {}
        built |= own or _two_springs(row, place)
    else:
        if is_number(stiffness):
            built["EA"] = place.number(row, 3, "EA")
        else:
            built["stretch"] = read_curve(place, row, stiffness, "strain and tension")
        word = place.word(row, 4, "BA")
        if not is_number(word):
            text = f"BA '{word}' is not a number. Tables of damping are not modelled."
            raise place.fail(row, text)
        damping = place.number(row, 4, "BA")
        built |= {"BA": damping} if damping >= 0 else {"damping_ratio": -damping}
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


def _original_curve(row: TextRow, place: Place) -> NamedValues:
    """SYROPE:file|dynamic|slope in the column EA: a file names the curve and the working curves."""
    name, *springs = place.word(row, 3, "EA").split(":", 1)[-1].split("|")
    files = DataLines(place, row, name)
    shape = files.option("WCType")[1]
    if shape.upper() != "LINEAR":
        index = files.option("WCType")[0]
        raise files.fail(index, f"working curves '{shape}' are not modelled. Give LINEAR ones.")
    index, word = files.option("k1")
    EA = to_number(word, "of k1,", lambda text: files.fail(index, text))
    curve = read_curve(place, row, files.option("OWC")[1], "strain and tension")
    steep = [k for k, (a, b) in enumerate(pairwise(curve)) if b[1] - a[1] > EA * (b[0] - a[0])]
    if steep:
        text = f"the original curve is left out beyond {curve[steep[0]][1]:.4g} N: it rises more "
        warn_user(
            str(place.fail(row, text + f"steeply there than the working curves, {EA:.4g} N."))
        )
        curve = curve[: steep[0] + 1]
    plain = TextRow(row.number, (*row.words[:3], "|".join((f"{EA!r}", *springs)), *row.words[4:]))
    return _two_springs(plain, place) | {"original_curve": curve}


def _with_history(file: MooringFile, row: TextRow, place: Place) -> MooringFile:
    """The file whose lines have ropes with the max mean tension of a row."""
    most = place.number(row, 1, "Tmax0")
    types, lines = list(file.line_types), list(file.lines)
    for name in place.word(row, 0, "line").split(","):
        k = next((k for k, line in enumerate(lines) if line.id == name), None)
        kind = None if k is None else next((t for t in types if t.name == lines[k].type), None)
        if k is None or kind is None or kind.original_curve is None:
            raise place.fail(row, f"line '{name}' is not one of a SYROPE type. Give its number.")
        try:
            own = kind.replace(name=f"{kind.name}_{name}", max_mean_tension=most)
        except SwelltreeError as error:
            raise place.fail(row, str(error)) from None
        types.append(own)
        lines[k] = replace(lines[k], type=own.name)
    return replace(file, line_types=tuple(types), lines=tuple(lines))


def _two_springs(row: TextRow, place: Place) -> NamedValues:
    """Static|dynamic|slope in the column EA, and slow|fast damping in the column BA."""
    EA = (*place.bars(row, 3, (2, 3), "EA"), 0.0)
    if "|" not in place.word(row, 4, "BA"):
        raise place.fail(
            row,
            f"EA '{row.words[3]}' of line type '{row.words[0]}' is that of two springs, which need "
            "slow|fast damping. Give both in BA.",
        )
    slow, fast = place.bars(row, 4, (2,), "BA")
    springs = dict(zip(("EA", "dynamic_EA", "dynamic_EA_slope"), EA, strict=False))
    return springs | {"slow_BA": slow, "BA": fast}


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


def _rod_type(row: TextRow, place: Place) -> RodType:
    return RodType(row.words[0], *place.numbers(row, 1, 6, "a column"), line=row.number)


def _attached(row: TextRow, index: int, place: Place) -> str:
    word = place.word(row, index, "attachment")
    known = attachment(word)
    if known is None:
        raise place.fail(
            row, f"attachment '{word}' is not known. Give Fixed, Coupled, Free, Pinned or Body1."
        )
    return known


def _body(row: TextRow, place: Place) -> BodyRow:
    x = place.numbers(row, 2, 6, "position or angle")
    com = place.bars(row, 9, (1, 3), "CG")
    inertia = place.bars(row, 10, (1, 3), "I")
    drag = place.bars(row, 12, (1, 2, 3, 6), "CdA")
    added = place.bars(row, 13, (1, 3), "Ca")
    return BodyRow(
        row.words[0],
        _attached(row, 1, place),
        three(x[:3]),
        three(x[3:]),
        mass=place.number(row, 8, "mass"),
        com=three(com) if len(com) == 3 else (0.0, 0.0, com[0]),
        inertia=three(inertia * (3 // len(inertia))),
        volume=place.number(row, 11, "volume"),
        # two: of sliding and of turning
        drag_area=(drag[:1] * 3 + drag[1:] * 3) if len(drag) == 2 else drag * (6 // len(drag)),
        added_mass=three(added * (3 // len(added))),
        line=row.number,
    )


def _rod(row: TextRow, place: Place) -> RodRow:
    x = place.numbers(row, 3, 6, "a coordinate")
    kind, attached = place.word(row, 1, "rod type"), _attached(row, 2, place)
    segments = place.count(row, 9, "NumSegs")
    ends = three(x[:3]), three(x[3:])
    return RodRow(row.words[0], kind, attached, *ends, segments, line=row.number)


def _point(row: TextRow, place: Place) -> PointRow:
    position = three(place.numbers(row, 2, 3, "a coordinate"))
    mass, volume = place.numbers(row, 5, 2, "mass or volume")
    # version 1 has a force between volume and drag area
    count = len(row.words)
    old = count > 11 and is_number(place.word(row, 11, "Ca"))
    force = three(place.numbers(row, 7, 3, "force")) if old else ZERO
    drag, added = place.numbers(row, 10 if old else 7, 2, "CdA or Ca")
    kind = _attached(row, 1, place)
    return PointRow(row.words[0], kind, position, mass, volume, drag, added, force, line=row.number)


def _counted(file: MooringFile) -> MooringFile:
    """The file with points numbered by order where IDs are not unique."""
    ids = [row.id for row in file.points]
    again = next((name for k, name in enumerate(ids) if name in ids[:k]), None)
    if again is None:
        return file
    note = f"points: ID {again} occurs twice; all are numbered by their order, as MoorDyn does."
    points = tuple(replace(row, id=str(k)) for k, row in enumerate(file.points, 1))
    return replace(file, points=points, notes=(*file.notes, note))


def _has_old_lines(section: str, titles: tuple[str, ...]) -> bool:
    """Version 1: ID, type, length, segments, A, B."""
    is_length = any("len" in title for title in titles[2:3])
    return section == "lines" and is_length and "numseg" in " ".join(titles)


def _line(row: TextRow, place: Place, columns: Iterable[int] = (4, 5, 2, 3)) -> LineRow:
    length, segments, a, b = columns
    return LineRow(
        row.words[0],
        place.word(row, 1, "line type"),
        place.word(row, a, "end A").upper(),
        place.word(row, b, "end B").upper(),
        place.number(row, length, "UnstrLen"),
        place.count(row, segments, "NumSegs") or None,
        line=row.number,
    )


def _old_line(row: TextRow, place: Place) -> LineRow:
    return _line(row, place, (2, 3, 4, 5))


def _failure(row: TextRow, place: Place) -> FailureRow:
    return FailureRow(
        row.words[0],
        place.word(row, 1, "point").upper(),
        tuple(place.word(row, 2, "line").split(",")),
        place.number(row, 3, "FailTime"),
        place.number(row, 4, "FailTen"),
        line=row.number,
    )


def _load(row: TextRow, place: Place) -> LoadRow:
    return LoadRow(
        row.words[0],
        place.word(row, 1, "object").lower(),
        three(place.bars(row, 2, (3,), "Fext")),
        place.bars(row, 3, (2, 3), "Blin"),
        place.bars(row, 4, (2, 3), "Bquad"),
        row.words[5].upper() if len(row.words) > 5 else "-",
        line=row.number,
    )


# sections, the fields of the file, and how a row is read
_ROWS: dict[str, tuple[str, Callable[[TextRow, Place], object]]] = {
    "line types": ("line_types", _line_type),
    "rod types": ("rod_types", _rod_type),
    "bodies": ("bodies", _body),
    "rods": ("rods", _rod),
    "points": ("points", _point),
    "lines": ("lines", _line),
    "failure": ("failures", _failure),
    "external loads": ("loads", _load),
}


def _options(file: MooringFile, rows: list[TextRow], place: Place) -> MooringFile:
    water: NamedValues = {}
    bed: NamedValues = {"stiffness": 3.0e6, "damping": 3.0e5}
    notes: list[str] = []
    rubbing: list[float] = []
    sea, current = file.sea, file.current
    for row in rows:
        key = place.word(row, 1, "the name of the option").lower()
        if (key in DEPTH and not is_number(row.words[0])) or key in GRID:
            bed["grid"] = read_grid(place, row, row.words[0])
        elif key in DEPTH and place.number(row, 0, key) > 0:
            water["depth"] = place.number(row, 0, key)
        elif key in WATER:
            water[WATER[key]] = place.number(row, 0, key)
            if water.get("rho") == 0.0:
                water["rho"] = AIRLESS
                notes.append(f"line {row.number}: of no water {AIRLESS:g} kg/m^3 are taken.")
        elif key in SPRING:
            bed[SPRING[key]] = place.number(row, 0, key)
        elif key in FRICTION:
            rubbing.append(place.number(row, 0, key))
        elif key in FLOW:
            flow = read_flow(place, row)
            sea, current = flow.sea or sea, flow.current or current
            notes += flow.notes
        elif key not in (*SOLVER, *DEPTH):
            notes.append(f"line {row.number}: option '{row.words[1]}' is not known and left out.")
    skipped = [row.words[1] for row in rows if row.words[1].lower() in SOLVER]
    if skipped:
        notes.append(f"{', '.join(skipped)} steer MoorDyn itself and are left out.")
    if len(set(rubbing)) > 1:
        raise place.fail(
            rows[0],
            "friction along and across the line differ, which is not modelled. Give one value.",
        )
    if rubbing:
        bed["friction"] = rubbing[0]
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
