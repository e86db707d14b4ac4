"""AQWA's database .AH1, with Froude-Krylov and diffraction forces of the listing .LIS.

Phases are lags (exp(-iwt)) with the crest at the centre of gravity of each body: they are moved
to the global origin by k.x. DOFs are about the centres of gravity.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.files.numbers import check_size, to_integer, to_positive
from swelltree.hydro.data.dataset import HydroParts, rigid_labels, wavenumber
from swelltree.hydro.readers.textfile import TextFile, is_number, leading_numbers
from swelltree.jit import Array

TABLES = {
    "FROUDE KRYLOV FORCES-VARIATION": "Froude_Krylov_force",
    "DIFFRACTION FORCES-VARIATION": "diffraction_force",
}
SPACED = re.compile(r"S\s*T\s*R\s*U\s*C\s*T\s*U\s*R\s*E(?:\s*N\s*U\s*M\s*B\s*E\s*R)?\s+(\d+)")


@dataclass
class Database:
    """Blocks of an .AH1 file: keyword and line range."""

    file: TextFile
    count: int
    headings: np.ndarray
    omega: np.ndarray
    blocks: dict[str, tuple[int, int]] = field(default_factory=dict)


def read_aqwa(path: Path) -> HydroParts:
    """The contents of an .AH1 file and, if there is one, of the .LIS file with the same stem.

    Args:
        path: of either file.
    """
    family = {
        p.suffix.lower(): p for p in path.parent.iterdir() if p.stem.lower() == path.stem.lower()
    }
    if ".ah1" not in family:
        raise SwelltreeError(
            f"'{path}' has no '{path.stem}.AH1' beside it. AQWA writes it with the option AHD1."
        )
    base = read_database(TextFile(family[".ah1"]))
    file, n = base.file, 6 * base.count
    general = _body_rows(base, "GENERAL", 3)
    # newer versions count the bodies in the first column
    first = general[0][1:] if len(general[0]) > 3 else general[0]
    depth, rho, g = (
        to_positive(x, name, lambda text: SwelltreeError(f"'{file.path}', block GENERAL: {text}"))
        for x, name in zip(first[:3], ("water depth", "density", "gravity"), strict=True)
    )
    cog = np.array([row[-3:] for row in _body_rows(base, "COG", 3)])
    shape = (base.omega.size, n, n)
    parts = HydroParts(
        [f"body{k + 1}" for k in range(base.count)],
        [],
        base.omega,
        _square(base, "ADDEDMASS", shape),
        _square(base, "DAMPING", shape),
        rho,
        g,
        depth if depth < 1e4 else np.inf,
        directions=np.deg2rad(base.headings),
        force_omega=base.omega,
        attrs={"solver": "AQWA", "format": "AQWA"},
        files=[file.path],
        sources={"added_mass": file.path, "radiation_damping": file.path},
    )
    parts.dofs = [x for body in parts.bodies for x in rigid_labels(body)]
    parts.points.update(rotation_center=cog, center_of_mass=cog)
    if "COB" in base.blocks:
        rows = _body_rows(base, "COB", 3)
        parts.points["center_of_buoyancy"] = np.array([row[-3:] for row in rows])
    if "DISPLACEMENT" in base.blocks:
        rows = _body_rows(base, "DISPLACEMENT", 1)
        parts.points["displaced_volume"] = np.array([row[-1] for row in rows])
    for keyword, name in (("HYDSTIFFNESS", "hydrostatic_stiffness"), ("MASS", "inertia_matrix")):
        if keyword in base.blocks:
            parts.matrices[name] = _blocks_of_bodies(base, keyword)
    _limits(base, parts, shape)
    if "FORCERAO" in base.blocks:
        parts.forces["excitation_force"] = _to_origin(_force_rao(base), parts, cog)
        parts.sources["excitation_force"] = file.path
    if ".lis" in family:
        _listing(TextFile(family[".lis"]), parts, cog)
    return parts


def read_database(file: TextFile) -> Database:
    """Headings, frequencies and blocks of an .AH1 file."""
    row = 0
    while row < len(file.lines) and (
        file.lines[row].startswith("*") or not file.lines[row].strip()
    ):
        row += 1
    first = file.numbers(row, "structure, number of headings, number of frequencies, headings", 3)
    n_headings, n_omega = (
        to_integer(x, name, file.at(row), 1, 100_000)
        for x, name in zip(first[1:3], ("number of headings", "number of frequencies"), strict=True)
    )
    numbers = first[3:]
    while len(numbers) < n_headings + n_omega:
        row += 1
        numbers += file.numbers(row, f"{n_headings} headings and {n_omega} frequencies")
    if len(numbers) > n_headings + n_omega:
        raise file.fail(row, f"{n_headings} headings and {n_omega} frequencies, not more")
    headings, omega = np.array(numbers[:n_headings]), np.array(numbers[n_headings:])
    if not (omega > 0).all():
        raise file.fail(row, "frequencies above zero")
    blocks: dict[str, tuple[int, int]] = {}
    keyword, start = "", row
    for k in range(row + 1, len(file.lines) + 1):
        words = file.lines[k].split() if k < len(file.lines) else ["END"]
        if words and not is_number(words[0]) and not words[0].startswith("*"):
            if keyword in blocks:
                raise file.wrong(start - 1, f"block {keyword} comes twice. Keep one of them.")
            if keyword:
                blocks[keyword] = (start, k)
            keyword, start = words[0].upper(), k + 1
    if "COG" not in blocks:
        raise file.fail(len(file.lines), "a block COG with the centres of gravity")
    begin, end = blocks["COG"]
    count = sum(bool(file.lines[k].strip()) for k in range(begin, end))
    if not count:
        raise file.fail(begin, "the centre of gravity of each body")
    shape = (omega.size, 6 * count, 6 * count)
    check_size(shape, "added mass", lambda text: SwelltreeError(f"'{file.path}': {text}"))
    return Database(file, count, headings, omega, blocks)


def _rows(base: Database, keyword: str) -> list[tuple[int, list[float]]]:
    if keyword not in base.blocks:
        raise base.file.fail(len(base.file.lines), f"a block {keyword}")
    begin, end = base.blocks[keyword]
    return [
        (k, base.file.numbers(k, f"numbers of block {keyword}"))
        for k in range(begin, end)
        if base.file.lines[k].strip()
    ]


def _body_rows(base: Database, keyword: str, least: int) -> list[list[float]]:
    rows = _rows(base, keyword)
    for k, row in rows:
        if len(row) < least:
            raise base.file.fail(k, f"{least} numbers of block {keyword}")
    if len(rows) != base.count:
        raise base.file.fail(
            base.blocks[keyword][1], f"{base.count} rows in block {keyword}, not {len(rows)}"
        )
    return [row for _, row in rows]


def _index(base: Database, k: int, value: float, what: str, most: int) -> int:
    """One-based number as zero-based index."""
    return to_integer(value, what, base.file.at(k), 1, most) - 1


def _blocks_of_bodies(base: Database, keyword: str) -> np.ndarray:
    """Six rows for each body, on the diagonal of the whole matrix."""
    rows = _rows(base, keyword)
    n = 6 * base.count
    if len(rows) != n:
        end = base.blocks[keyword][1]
        raise base.file.fail(end, f"{n} rows in block {keyword}, not {len(rows)}")
    complete = np.zeros((n, n))
    for i, (k, row) in enumerate(rows):
        if len(row) not in (6, 7):
            raise base.file.fail(k, f"six numbers of block {keyword}")
        first = 6 * (i // 6)
        complete[i, first : first + 6] = row[-6:]
    return complete


def _square(base: Database, keyword: str, shape: tuple[int, ...]) -> np.ndarray:
    """Six rows for each pair of bodies and frequency, the first led by its three indices."""
    values = np.full(shape, np.nan)
    i = j = w = 0
    line = 6  # of six; a row led by indices begins again
    for k, row in _rows(base, keyword):
        if len(row) == 9:
            i, j = (_index(base, k, x, "structure", base.count) for x in row[:2])
            w, line = _index(base, k, row[2], "frequency", shape[0]), 0
        elif len(row) != 6 or line > 5:
            raise base.file.fail(k, f"six numbers of block {keyword}")
        _put(base, k, values[w, 6 * i + line, 6 * j : 6 * j + 6], row[-6:])
        line += 1
    return values


def _put(base: Database, k: int, target: np.ndarray, row: Array) -> None:
    """Write numbers that are not set yet."""
    if not np.isnan(target).all():
        raise base.file.wrong(k, "these structures and this frequency come twice. Keep one.")
    target[:] = row


def _limits(base: Database, parts: HydroParts, shape: tuple[int, ...]) -> None:
    """Added mass at 0.001 and 100 rad/s (option LHFR) stand for omega = 0 and inf."""
    for ending, omega in (("LF", 0.0), ("HF", np.inf)):
        keyword = next((x for x in base.blocks if x.startswith("ADDEDMASS") and ending in x), None)
        if keyword is None:
            continue
        values = np.full(shape[1:], np.nan)
        i = j = 0
        line = 6
        for k, row in _rows(base, keyword):
            if len(row) > 6:
                i = _index(base, k, row[0], "structure", base.count)
                j = _index(base, k, row[1], "structure", base.count) if len(row) > 7 else 0
                line = 0
            elif len(row) != 6 or line > 5:
                raise base.file.fail(k, f"six numbers of block {keyword}")
            _put(base, k, values[6 * i + line, 6 * j : 6 * j + 6], row[-6:])
            line += 1
        parts.omega = np.append(parts.omega, omega)
        parts.added_mass = np.concatenate([parts.added_mass, values[None]])
        parts.radiation_damping = np.concatenate([parts.radiation_damping, 0 * values[None]])


def _force_rao(base: Database) -> np.ndarray:
    """(omega, heading, DOF): a row of moduli led by three indices, then one of phases."""
    shape = (base.omega.size, base.headings.size, 6 * base.count)
    check_size(shape, "forces", lambda text: SwelltreeError(f"'{base.file.path}': {text}"), 16)
    values = np.full(shape, np.nan + 0j)
    rows = _rows(base, "FORCERAO")
    if len(rows) % 2:
        raise base.file.fail(rows[-1][0], "a line of moduli, then one of phases")
    for (k, moduli), (_, phases) in zip(rows[::2], rows[1::2], strict=True):
        if len(moduli) != 9 or len(phases) != 6:
            raise base.file.fail(k, "three indices and six moduli, then a line of six phases")
        i, h, w = (
            _index(base, k, x, what, most)
            for x, what, most in zip(
                moduli[:3],
                ("structure", "heading", "frequency"),
                (base.count, base.headings.size, base.omega.size),
                strict=True,
            )
        )
        force = np.array(moduli[3:]) * np.exp(1j * np.deg2rad(phases))
        _put(base, k, values[w, h, 6 * i : 6 * i + 6], force)
    return values


def _to_origin(force: np.ndarray, parts: HydroParts, cog: np.ndarray) -> np.ndarray:
    """Phases from the crest at each centre of gravity to the crest at the origin: exp(i k.x)."""
    assert parts.force_omega is not None
    assert parts.directions is not None
    k = wavenumber(parts.force_omega, parts.depth, parts.g)
    beta = parts.directions
    along = cog[:, 0, None] * np.cos(beta) + cog[:, 1, None] * np.sin(beta)  # (body, heading)
    phase = k[:, None, None] * along.T[None]
    return force * np.repeat(np.exp(1j * phase), 6, axis=2)


def _listing(file: TextFile, parts: HydroParts, cog: np.ndarray) -> None:
    """Froude-Krylov and diffraction tables: period, frequency, [heading], six pairs."""
    assert parts.force_omega is not None
    assert parts.directions is not None
    omega, headings = parts.force_omega, np.rad2deg(parts.directions)
    shape = (omega.size, headings.size, len(parts.dofs))
    tables = {name: np.full(shape, np.nan + 0j) for name in TABLES.values()}
    body, name, heading = 0, "", 0
    for index, line in enumerate(file.lines):
        match = SPACED.search(line)
        if match:
            body, name = to_integer(match[1], "structure", file.at(index), 0) - 1, ""
            continue
        if "FORCES-VARIATION" in line:
            plain = "FROUDE KRYLOV +" not in line and "+ DIFFRACTION" not in line
            name = next((v for k, v in TABLES.items() if k in line and plain), "")
            continue
        if not name:
            continue
        numbers = leading_numbers(line, file.at(index))
        if len(numbers) == 15:
            heading = _nearest(file, index, headings, numbers[2], "heading [deg]")
        if len(numbers) in (14, 15) and 0 <= body < len(parts.bodies):
            w = _nearest(file, index, omega, numbers[1], "frequency [rad/s]")
            pairs = np.array(numbers[-12:]).reshape(6, 2)
            force = pairs[:, 0] * np.exp(1j * np.deg2rad(pairs[:, 1]))
            tables[name][w, heading, 6 * body : 6 * body + 6] = force
    for name, values in tables.items():
        if not np.isnan(values).all():
            parts.forces[name] = _to_origin(values, parts, cog)
            parts.sources[name] = file.path
    if len(parts.forces) > 1:
        parts.files.append(file.path)
    else:
        parts.notes.append(f"'{file.path.name}' has no Froude-Krylov or diffraction tables.")


def _nearest(file: TextFile, index: int, known: np.ndarray, value: float, what: str) -> int:
    """Index of a heading or frequency of the listing in the database."""
    gap = np.abs(known - value)
    k = int(np.argmin(gap))
    if gap[k] > 0.01 * max(abs(value), 1.0):
        raise file.wrong(index, f"{what} {value:g} is not among those of the .AH1 file.")
    return k
