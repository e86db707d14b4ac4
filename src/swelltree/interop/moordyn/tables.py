"""Files beside a MoorDyn file: stress-strain curves, bending curves, bathymetry."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from swelltree.describe import DepthGrid, SwelltreeError
from swelltree.describe.files.numbers import is_number, to_integer, to_number
from swelltree.describe.files.paths import plain_text
from swelltree.interop.sections import Place, TextRow

T = TypeVar("T")
MAX_GRID_POINTS = 100_000  # places along an axis of a bathymetry
Curve = tuple[tuple[float, float], ...]


class DataLines:
    """Non-empty lines of an additional file, as numbers or an error."""

    def __init__(self, place: Place, row: TextRow, name: str) -> None:
        self.name = name.strip("\"'")
        self._fail = lambda text: place.fail(row, text)
        lines = enumerate(_text(place, row, name).splitlines(), 1)
        # rules of dashes separate headings
        self.lines = [(k, x) for k, x in lines if x.strip() and not x.strip().startswith("---")]

    def __len__(self) -> int:
        return len(self.lines)

    def fail(self, index: int, text: str) -> SwelltreeError:
        """The error about a line, from zero; past the end when the file stops too early."""
        if index >= len(self):
            return self._fail(f"file '{self.name}' ends too early: {text} Is it whole?")
        return self._fail(f"file '{self.name}' line {self.lines[index][0]}: {text}")

    def numbers(self, index: int, least: int, what: str) -> list[float]:
        """All words of a line as numbers."""
        words = self.lines[index][1].split() if index < len(self) else []
        if len(words) < least:
            raise self.fail(index, f"expected {what}.")
        return [to_number(x, f"in {what},", lambda text: self.fail(index, text)) for x in words]

    def option(self, name: str) -> tuple[int, str]:
        """Index of the line of an option, and its value, which stands before the name."""
        for index, (_, text) in enumerate(self.lines):
            words = text.split()
            if len(words) > 1 and words[1].lower() == name.lower():
                return index, words[0].strip("\"'")
        raise self.fail(len(self), f"expected '<value> {name}'.")

    def described(self, kind: Callable[..., T], **values: object) -> T:
        """A description of what the file holds, or the error about it."""
        try:
            return kind(**{key: _plain(value) for key, value in values.items()})
        except SwelltreeError as error:
            raise self._fail(f"file '{self.name}': {error}") from None

    def headings(self) -> int:
        """How many lines stand before the first that begins with a number."""
        first = (k for k, (_, x) in enumerate(self.lines) if is_number(x.split()[0]))
        return next(first, len(self))


def _plain(value: object) -> object:
    return tuple(value.tolist()) if isinstance(value, np.ndarray) else value


def find_file(place: Place, name: str) -> Path | None:
    """A file that is named beside its own, or from a folder above, as MoorDyn is run."""
    text = name.strip("\"'")
    folders = [place.path.parent, *place.path.resolve().parents[1:]]
    return next((at / text for at in folders if (at / text).is_file()), None)


def _text(place: Place, row: TextRow, name: str) -> str:
    try:
        path = find_file(place, name) or place.path.parent / name.strip("\"'")
        return plain_text(path, errors="replace")
    except (OSError, ValueError) as error:  # a value error: of a NUL among its letters
        why = getattr(error, "strerror", error)
        raise place.fail(
            row, f"'{name}' is neither a number nor a file that can be read: {why}."
        ) from None


def read_curve(place: Place, row: TextRow, name: str, columns: str) -> Curve:
    """Two columns of numbers, from the origin upwards; headings are skipped."""
    lines = DataLines(place, row, name)
    rows = [
        lines.numbers(k, 2, f"two numbers of {columns}")
        for k in range(lines.headings(), len(lines))
    ]
    # the part below zero is that of compression, which a line does not have
    table = [(x, y) for x, y, *_ in rows if x >= 0.0]
    if table and table[0] != (0.0, 0.0):
        table.insert(0, (0.0, 0.0))
    if len(table) < 2 or (np.diff(np.array(table), axis=0) <= 0).any():
        raise place.fail(
            row, f"file '{name}' does not hold {columns} that grow from zero. Sort its rows."
        )
    return tuple(table)


def write_curve(path: Path, name: str, curve: Curve) -> None:
    """A curve as MoorDyn reads it."""
    from swelltree.describe.files.atomic import write_atomic

    rows = [f"----{name}----", "Strain Tension", "(-) (N)"]
    rows += [f"{strain!r} {tension!r}" for strain, tension in curve]
    write_atomic(path, "\n".join(rows) + "\n")


def read_grid(place: Place, row: TextRow, name: str) -> DepthGrid:
    """Bathymetry, in the forms of MoorDyn-C and of MoorDyn-F and MoorPy."""
    lines = DataLines(place, row, name)
    titled = any("ngridx" in text.lower() for _, text in lines.lines[:3])
    x, y, depth = (_grid_of_rows if titled else _grid_of_points)(lines)
    try:
        return DepthGrid(x, y, tuple(tuple(r) for r in depth.tolist()))
    except SwelltreeError as error:
        raise place.fail(row, f"file '{name}': {error}") from None


Axes = tuple[tuple[float, ...], tuple[float, ...], np.ndarray]


def _grid_of_rows(lines: DataLines) -> Axes:
    """Depths in rows of one y behind a heading of x, as MoorDyn-F and MoorPy have them."""
    counts = []
    for title in ("ngridx", "ngridy"):
        at = next((k for k, (_, text) in enumerate(lines.lines) if title in text.lower()), None)
        if at is None:
            raise lines.fail(len(lines), f"expected '{title} ...'.")
        word = (lines.lines[at][1].split() + [""])[1]
        counts.append(
            to_integer(word, title, lambda text, at=at: lines.fail(at, text), 1, MAX_GRID_POINTS)
        )
    at += 1
    x = tuple(lines.numbers(at, counts[0], f"{counts[0]} places along x"))[: counts[0]]
    what = f"y and {len(x)} depths"
    rows = [lines.numbers(at + 1 + k, 1 + len(x), what) for k in range(counts[1])]
    return x, tuple(r[0] for r in rows), np.array([r[1 : len(x) + 1] for r in rows]).T


def _grid_of_points(lines: DataLines) -> Axes:
    """Places along x, places along y, and x, y, height of every point, as MoorDyn-C has them."""
    counts = lines.numbers(0, 2, "numbers of places along x and y")
    x, y = (tuple(lines.numbers(k, 1, f"places along {axis}")) for k, axis in ((1, "x"), (2, "y")))
    for k, (count, values) in enumerate(zip(counts, (x, y), strict=False), 1):
        if count != len(values):
            raise lines.fail(k, f"expected {count:g} places, found {len(values)}.")
    depth = np.full((len(x), len(y)), np.nan)
    for k in range(3, len(lines)):
        at_x, at_y, value = lines.numbers(k, 3, "x, y and height of a point")[:3]
        if at_x not in x or at_y not in y:
            raise lines.fail(k, f"({at_x:g}, {at_y:g}) is not on the grid. Fix it.")
        place = x.index(at_x), y.index(at_y)
        if not np.isnan(depth[place]):
            raise lines.fail(k, f"({at_x:g}, {at_y:g}) comes twice. Keep one of the rows.")
        depth[place] = abs(value)
    if np.isnan(depth).any():
        i, j = np.argwhere(np.isnan(depth))[0]
        raise lines.fail(len(lines), f"expected the depth at ({x[i]:g}, {y[j]:g}).")
    return x, y, depth


def write_grid(path: Path, grid: DepthGrid) -> None:
    """Bathymetry in the form of MoorDyn-C, which has heights, not depths."""
    from swelltree.describe.files.atomic import write_atomic

    rows = [f"{len(grid.x)} {len(grid.y)}"]
    rows += [" ".join(f"{v!r}" for v in axis) for axis in (grid.x, grid.y)]
    rows += [
        f"{x!r} {y!r} {-grid.depth[i][j]!r}"
        for i, x in enumerate(grid.x)
        for j, y in enumerate(grid.y)
    ]
    write_atomic(path, "\n".join(rows) + "\n")


# --- What a mooring file of MoorDyn or MoorPy says, row by row, before it is put into a system

PoseStencil = tuple[float, float, float]
ZERO: PoseStencil = (0.0, 0.0, 0.0)
# words of older files and other programs
WORDS = {
    "fix": "fixed",
    "anchor": "fixed",
    "anch": "fixed",
    "vessel": "coupled",
    "ves": "coupled",
    "fairlead": "coupled",
    "fair": "coupled",
    "cpld": "coupled",
    "connect": "free",
    "con": "free",
    "connection": "free",
    "point": "free",
    "vesselpinned": "coupledpinned",
    "vespin": "coupledpinned",
    "cpldpin": "coupledpinned",
}


def three(values: Iterable[float]) -> PoseStencil:
    """Three numbers as such."""
    x, y, z = (float(value) for value in values)
    return x, y, z


def attachment(word: str) -> str | None:
    """An attachment in our spelling, None if it is unknown."""
    word = word.lower()
    word = WORDS.get(word, word)
    if word in ("fixed", "coupled", "free", "pinned", "coupledpinned"):
        return word
    if re.fullmatch(r"pinned\d+", word):
        return "pinned"
    match = re.fullmatch(r"(?:body|b|turbine|t)(\d+)(pinned|pin)?", word)
    return None if match is None else f"body{match[1]}" + ("pinned" if match[2] else "")


def rod_end(text: str) -> tuple[str, str] | None:
    """ID of a rod and its end "A" or "B" from a text such as "R1A"; None for points."""
    match = re.fullmatch(r"R(?:OD)?(\d+)([AB])", text.upper())
    return None if match is None else (match[1], match[2])


@dataclass(frozen=True)
class Row:
    """A row of a table; `line` is its number in the file, for messages."""

    id: str
    line: int = field(default=0, compare=False, kw_only=True)


@dataclass(frozen=True)
class PointRow(Row):
    """A point where lines end."""

    attachment: str
    position: PoseStencil
    mass: float = 0.0
    volume: float = 0.0
    drag_area: float = 0.0
    added_mass: float = 0.0
    force: PoseStencil = ZERO


@dataclass(frozen=True)
class BodyRow(Row):
    """A body with six degrees of freedom."""

    attachment: str
    position: PoseStencil
    rotation_deg: PoseStencil = ZERO
    mass: float = 0.0
    com: PoseStencil = ZERO
    inertia: PoseStencil = ZERO
    volume: float = 0.0
    drag_area: tuple[float, ...] = (0.0,) * 6
    added_mass: PoseStencil = ZERO


@dataclass(frozen=True)
class RodType(Row):
    """What a rod is made of; `id` is its name."""

    diameter: float
    mass_per_length: float
    Cd: float = 0.0
    Ca: float = 0.0
    Cd_end: float = 0.0
    Ca_end: float = 0.0


@dataclass(frozen=True)
class RodRow(Row):
    """A rod; without segments it has no length and `b` is its direction."""

    type: str
    attachment: str
    a: PoseStencil
    b: PoseStencil
    segments: int


@dataclass(frozen=True)
class LineRow(Row):
    """A line."""

    type: str
    A: str
    B: str
    length: float
    segments: int | None = None


@dataclass(frozen=True)
class FailureRow(Row):
    """Lines that let go of a point at a time or at a tension; zero: never."""

    point: str
    lines: tuple[str, ...]
    time: float
    tension: float


@dataclass(frozen=True)
class LoadRow(Row):
    """Constant force, linear and quadratic damping of an object such as "body1"."""

    object: str
    force: PoseStencil
    linear: tuple[float, ...]
    quadratic: tuple[float, ...]
    axes: str = "-"
