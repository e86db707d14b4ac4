"""AQWA's database .AH1, with Froude-Krylov and diffraction forces of the listing .LIS.

Phases are lags (exp(-iwt)) with the crest at the centre of gravity of each body: they are moved
to the global origin by k.x. Freedoms are about the centres of gravity.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from swelltree.hydro.dataset import HydroParts, rigid_labels, wavenumber
from swelltree.hydro.textfile import TextFile, is_number, leading_numbers
from swelltree.system.errors import SwelltreeError

TABLES = {
    "FROUDE KRYLOV FORCES-VARIATION": "Froude_Krylov_force",
    "DIFFRACTION FORCES-VARIATION": "diffraction_force",
}
SPACED = re.compile(r"S\s*T\s*R\s*U\s*C\s*T\s*U\s*R\s*E(?:\s*N\s*U\s*M\s*B\s*E\s*R)?\s+(\d+)")


@dataclass
class Database:
    """Blocks of an .AH1 file: keyword, and where its lines are."""

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
    depth, rho, g = first[:3]
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
    n_headings, n_omega = int(first[1]), int(first[2])
    numbers = first[3:]
    while len(numbers) < n_headings + n_omega:
        row += 1
        numbers += file.numbers(row, f"{n_headings} headings and {n_omega} frequencies")
    headings, omega = np.array(numbers[:n_headings]), np.array(numbers[n_headings:])
    blocks: dict[str, tuple[int, int]] = {}
    keyword, start = "", row
    for k in range(row + 1, len(file.lines) + 1):
        words = file.lines[k].split() if k < len(file.lines) else ["END"]
        if words and not is_number(words[0]) and not words[0].startswith("*"):
            if keyword:
                blocks[keyword] = (start, k)
            keyword, start = words[0].upper(), k + 1
    if "COG" not in blocks:
        raise file.fail(len(file.lines), "a block COG with the centres of gravity")
    begin, end = blocks["COG"]
    count = sum(bool(file.lines[k].strip()) for k in range(begin, end))
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
    return [row for _, row in rows]


def _blocks_of_bodies(base: Database, keyword: str) -> np.ndarray:
    """Six rows for each body, on the diagonal of the whole matrix."""
    rows = _rows(base, keyword)
    n = 6 * base.count
    if len(rows) != n:
        raise base.file.fail(rows[-1][0], f"{n} rows in block {keyword}, not {len(rows)}")
    whole = np.zeros((n, n))
    for i, (k, row) in enumerate(rows):
        if len(row) not in (6, 7):
            raise base.file.fail(k, f"six numbers of block {keyword}")
        first = 6 * (i // 6)
        whole[i, first : first + 6] = row[-6:]
    return whole


def _square(base: Database, keyword: str, shape: tuple[int, ...]) -> np.ndarray:
    """Six rows for each pair of bodies and frequency, the first led by its three indices."""
    values = np.zeros(shape)
    rows = _rows(base, keyword)
    i = j = w = line = 0
    for k, row in rows:
        if len(row) == 9:
            i, j, w = (int(x) - 1 for x in row[:3])
            line = 0
            if not (i < base.count and j < base.count and w < shape[0]):
                raise base.file.fail(
                    k, f"structures up to {base.count}, frequency up to {shape[0]}"
                )
        elif len(row) != 6 or line > 5:
            raise base.file.fail(k, f"six numbers of block {keyword}")
        values[w, 6 * i + line, 6 * j : 6 * j + 6] = row[-6:]
        line += 1
    return values


def _limits(base: Database, parts: HydroParts, shape: tuple[int, ...]) -> None:
    """Added mass at 0.001 and 100 rad/s (option LHFR) stand for omega = 0 and inf."""
    for ending, omega in (("LF", 0.0), ("HF", np.inf)):
        keyword = next((x for x in base.blocks if x.startswith("ADDEDMASS") and ending in x), None)
        if keyword is None:
            continue
        values = np.zeros(shape[1:])
        i = j = line = 0
        for _, row in _rows(base, keyword):
            if len(row) > 6:
                i, j, line = int(row[0]) - 1, int(row[1]) - 1 if len(row) > 7 else 0, 0
            values[6 * i + line, 6 * j : 6 * j + 6] = row[-6:]
            line += 1
        parts.omega = np.append(parts.omega, omega)
        parts.added_mass = np.concatenate([parts.added_mass, values[None]])
        parts.radiation_damping = np.concatenate([parts.radiation_damping, 0 * values[None]])


def _force_rao(base: Database) -> np.ndarray:
    """(omega, heading, freedom): a row of moduli led by three indices, then one of phases."""
    values = np.full((base.omega.size, base.headings.size, 6 * base.count), np.nan + 0j)
    rows = _rows(base, "FORCERAO")
    for (k, moduli), (_, phases) in zip(rows[::2], rows[1::2], strict=False):
        if len(moduli) != 9 or len(phases) != 6:
            raise base.file.fail(k, "three indices and six moduli, then a line of six phases")
        i, h, w = (int(x) - 1 for x in moduli[:3])
        force = np.array(moduli[3:]) * np.exp(1j * np.deg2rad(phases))
        values[w, h, 6 * i : 6 * i + 6] = force
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
    for line in file.lines:
        found = SPACED.search(line)
        if found:
            body, name = int(found[1]) - 1, ""
            continue
        if "FORCES-VARIATION" in line:
            plain = "FROUDE KRYLOV +" not in line and "+ DIFFRACTION" not in line
            name = next((v for k, v in TABLES.items() if k in line and plain), "")
            continue
        if not name:
            continue
        numbers = leading_numbers(line)
        if len(numbers) == 15:
            heading = int(np.argmin(np.abs(headings - numbers[2])))
        if len(numbers) in (14, 15) and body < len(parts.bodies):
            w = int(np.argmin(np.abs(omega - numbers[1])))
            pairs = np.array(numbers[-12:]).reshape(6, 2)
            force = pairs[:, 0] * np.exp(1j * np.deg2rad(pairs[:, 1]))
            tables[name][w, heading, 6 * body : 6 * body + 6] = force
    for name, values in tables.items():
        if not np.isnan(values).any():
            parts.forces[name] = _to_origin(values, parts, cog)
    if len(parts.forces) > 1:
        parts.files.append(file.path)
    else:
        parts.notes.append(f"'{file.path.name}' has no whole Froude-Krylov or diffraction tables.")
