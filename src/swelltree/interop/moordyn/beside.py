"""Files beside a MoorDyn file: stress-strain curves, bending curves, bathymetry, waves, currents.

MoorDyn-C names the kind of flow by a number and finds it in files of fixed names in the folder of
the input file; MoorDyn-F names a file with a wave record and a current profile.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from swelltree.describe import (
    CurrentGrid,
    DepthGrid,
    MeasuredWave,
    RegularWave,
    SeaOf,
    SwelltreeError,
)
from swelltree.describe.environment.seas import Sea
from swelltree.describe.environment.water import Current
from swelltree.describe.errors import listed, warn_user
from swelltree.describe.files.atomic import plain_text, write_atomic
from swelltree.describe.files.numbers import is_number, to_integer, to_number
from swelltree.interop.mooring_rows import Place, TextRow

T = TypeVar("T")
MAX_GRID_POINTS = 100_000  # places along an axis of a bathymetry
Curve = tuple[tuple[float, float], ...]


class DataLines:
    """Non-empty lines of an auxiliary file, parsed as numbers or rejected with an error."""

    def __init__(self, place: Place, row: TextRow, name: str) -> None:
        self.name = name.strip("\"'")
        self._fail = lambda text: place.fail(row, text)
        lines = enumerate(_text(place, row, name).splitlines(), 1)
        # rules of dashes separate headings
        self.lines = [(k, x) for k, x in lines if x.strip() and not x.strip().startswith("---")]

    def __len__(self) -> int:
        return len(self.lines)

    def fail(self, index: int, text: str) -> SwelltreeError:
        """Error about a line; past the end if the file stops too early."""
        if index >= len(self):
            return self._fail(f"file '{self.name}' ends too early: {text} Is it whole?")
        return self._fail(f"file '{self.name}' line {self.lines[index][0]}: {text}")

    def numbers(self, index: int, least: int, what: str) -> list[float]:
        words = self.lines[index][1].split() if index < len(self) else []
        if len(words) < least:
            raise self.fail(index, f"expected {what}.")
        return [to_number(x, f"in {what},", lambda text: self.fail(index, text)) for x in words]

    def option(self, name: str) -> tuple[int, str]:
        """Line index and value of an option; the value precedes the name."""
        for index, (_, text) in enumerate(self.lines):
            words = text.split()
            if len(words) > 1 and words[1].lower() == name.lower():
                return index, words[0].strip("\"'")
        raise self.fail(len(self), f"expected '<value> {name}'.")

    def described(self, kind: Callable[..., T], **values: object) -> T:
        try:
            return kind(**{key: _plain(value) for key, value in values.items()})
        except SwelltreeError as error:
            raise self._fail(f"file '{self.name}': {error}") from None

    def headings(self) -> int:
        """Number of lines before the first that begins with a number."""
        first = (k for k, (_, x) in enumerate(self.lines) if is_number(x.split()[0]))
        return next(first, len(self))


def _plain(value: object) -> object:
    return tuple(value.tolist()) if isinstance(value, np.ndarray) else value


def find_file(place: Place, name: str) -> Path | None:
    """A file named relative to its own folder or a parent, as MoorDyn is run."""
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
    """Depths in rows of constant y below a row of x, as in MoorDyn-F and MoorPy."""
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
    """Coordinates along x and y, and x, y, height of every point, as in MoorDyn-C."""
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
    rows = [f"{len(grid.x)} {len(grid.y)}"]
    rows += [" ".join(f"{v!r}" for v in axis) for axis in (grid.x, grid.y)]
    rows += [
        f"{x!r} {y!r} {-grid.depth[i][j]!r}"
        for i, x in enumerate(grid.x)
        for j, y in enumerate(grid.y)
    ]
    write_atomic(path, "\n".join(rows) + "\n")


# --- Waves and currents

STEADY, DYNAMIC, GRID = (
    "current_profile.txt",
    "current_profile_dynamic.txt",
    "current_profile_4d.txt",
)
FREQUENCIES, RECORD = "wave_frequencies.txt", "wave_elevation.txt"
MAX_FREQUENCIES = 20_000


class Flow(NamedTuple):
    """Waves and current of a mooring file, and omitted parts."""

    sea: Sea | None = None
    current: Current | None = None
    notes: tuple[str, ...] = ()


def read_flow(place: Place, row: TextRow) -> Flow:
    """Flow requested by the options WaveKin, Currents and WaterKin."""
    key, kind = row.words[1].lower(), row.words[0].strip("\"'")
    if kind in ("0", ""):
        return Flow()
    if (key, kind.upper()) in (("wavekin", "1"), ("waterkin", "SEASTATE")):
        text = f"line {row.number}: {row.words[1]} is left out; its waves come from another program"
        return Flow(notes=(f"{text}. Give a study its sea.",))
    if key == "waterkin":
        return read_water_file(place, row)
    table = _WAVES if key == "wavekin" else _CURRENTS
    if kind not in table:
        known = listed(["0", *table])
        raise place.fail(row, f"{row.words[1]} {kind} cannot be read. {row.words[1]} is {known}.")
    name, read = table[kind]
    if find_file(place, name) is None:
        text = f"line {row.number}: {row.words[1]} {kind} needs '{name}', which is not there."
        warn_user(f"{place.path.name}, {text}")
        return Flow(notes=(text,))
    found = read(DataLines(place, row, name))
    return Flow(sea=found) if isinstance(found, Sea) else Flow(current=found)


def _steady(lines: DataLines) -> Current:
    """Height and velocity; three headings."""
    rows = [lines.numbers(k, 3, "height and velocity") for k in range(lines.headings(), len(lines))]
    return _profile(lines, rows)


def _profile(lines: DataLines, rows: list[list[float]]) -> Current:
    if not rows:
        raise lines.fail(len(lines), "expected heights and velocities.")
    rows = sorted(rows, key=lambda row: row[0])
    # vertical velocities may be left out
    z, u, v, w = np.array([[*row, 0.0][:4] for row in rows]).T
    return lines.described(CurrentGrid, u=u, v=v, w=w, z=z)


def _dynamic(lines: DataLines) -> Current:
    """Four lines of notes, heights, a line of notes, then time and velocities by height."""
    numbered = {number: index for index, (number, _) in enumerate(lines.lines)}
    first = next((numbered[n] for n in numbered if n >= 5), len(lines))
    z = lines.numbers(first, 1, "heights")
    begin = next((numbered[n] for n in numbered if n >= 7), len(lines))
    rows = []
    for k in range(begin, len(lines)):
        values = lines.numbers(k, 1 + len(z), f"a time and {len(z)} velocities")
        parts, left = divmod(len(values) - 1, len(z))
        if left or parts > 3:
            raise lines.fail(
                k, f"expected a time and {len(z)}, {2 * len(z)} or {3 * len(z)} velocities."
            )
        rows.append(values + [0.0] * (3 - parts) * len(z))
    if not rows:
        raise lines.fail(len(lines), "expected times and velocities.")
    table = np.array(rows)
    order = np.argsort(z)
    u, v, w = (part[:, order].ravel() for part in np.split(table[:, 1:], 3, axis=1))
    return lines.described(CurrentGrid, u=u, v=v, w=w, time=table[:, 0], z=np.array(z)[order])


def _grid(lines: DataLines) -> Current:
    """Numbers of points, the four axes, and x, y, z, time and velocity of each point."""
    counts = [int(n) for n in lines.numbers(0, 4, "numbers of points along x, y, z and time")[:4]]
    names = "x", "y", "z", "time"
    axes = [lines.numbers(1 + k, n, f"{n} values of {names[k]}")[:n] for k, n in enumerate(counts)]
    rows = [
        lines.numbers(k, 7, "x, y, z, time and three velocities")[:7] for k in range(5, len(lines))
    ]
    velocity = np.full((*counts, 3), np.nan)
    for k, row in enumerate(rows, 5):
        try:
            velocity[tuple(axis.index(x) for axis, x in zip(axes, row, strict=False))] = row[4:]
        except ValueError:
            raise lines.fail(k, f"{row[:4]} is not a point of the grid.") from None
    if np.isnan(velocity).any():
        point = [axis[i] for axis, i in zip(axes, np.argwhere(np.isnan(velocity))[0], strict=False)]
        raise lines.fail(len(lines), f"expected the velocity at {point}.")
    u, v, w = np.moveaxis(velocity, (3, 4), (0, 1)).reshape(counts[3], 3, -1).transpose(1, 0, 2)
    x, y, z, time = axes
    parts = {"u": u.ravel(), "v": v.ravel(), "w": w.ravel()}
    return lines.described(CurrentGrid, **parts, time=time, x=x, y=y, z=z)


_CURRENTS: dict[str, tuple[str, Callable[[DataLines], Current]]] = {
    "1": (STEADY, _steady),
    "2": (DYNAMIC, _dynamic),
    "5": (GRID, _grid),
}


def _record(lines: DataLines, beta: float = 0.0) -> Sea:
    rows = [lines.numbers(k, 2, "a time and an elevation")[:2] for k in range(len(lines))]
    time, elevation = np.array(rows).reshape(-1, 2).T
    return lines.described(MeasuredWave, time=time, elevation=elevation, beta=beta)


def _components(lines: DataLines, evenly: bool = False) -> Sea:
    """Complex amplitudes by frequency, with headings.

    Two conventions of MoorDyn: the sum of components is a sin(w t - k x + arg A), the inverse
    Fourier transform Re A exp(i (w t - k x)) with half of its highest frequency, after linear
    interpolation to equal steps.
    """
    rows = [lines.numbers(k, 3, "frequency and complex amplitude") for k in range(len(lines))]
    omega, real, imaginary, beta = np.array([[*r, 0.0][:4] for r in rows]).reshape(-1, 4).T
    A = real + 1j * imaginary
    if evenly:
        step = np.diff(omega).min(initial=np.inf)
        if not 0.0 < step < np.inf or omega[0] != 0.0:
            raise lines.fail(0, "WaveKin 2 needs increasing frequencies from 0 rad/s.")
        count = round(float(omega[-1] / step)) + 1
        if count > MAX_FREQUENCIES:
            raise lines.fail(len(lines) - 1, f"{count} frequencies, more than {MAX_FREQUENCIES}.")
        even = step * np.arange(count)
        beta, A = np.interp(even, omega, beta), np.interp(even, omega, A)
        omega, A[-1] = even, 0.5 * A[-1]
    phase = -np.angle(A) if evenly else 0.5 * math.pi - np.angle(A)
    waves = [
        RegularWave(amplitude=float(abs(a)), omega=float(w), beta=float(b), phase=float(p))
        for a, w, b, p in zip(A, omega, beta, phase, strict=True)
        if w > 0.0 and a != 0.0
    ]
    if not waves:
        raise lines.fail(len(lines), "expected a frequency with an amplitude.")
    return lines.described(SeaOf, trains=waves)


def _even_components(lines: DataLines) -> Sea:
    return _components(lines, evenly=True)


_WAVES: dict[str, tuple[str, Callable[[DataLines], Sea]]] = {
    "2": (FREQUENCIES, _even_components),
    "3": (RECORD, _record),
    "7": (FREQUENCIES, _components),
}


def read_water_file(place: Place, row: TextRow) -> Flow:
    """Waves and current of a file of MoorDyn-F that the option WaterKin names."""
    lines = DataLines(place, row, row.words[0])
    sea: Sea | None = None
    current: Current | None = None
    notes: list[str] = []
    waves, (at, profile) = lines.option("WaveKinMod")[1], lines.option("CurrentMod")
    if waves in ("1", "3"):
        index, heading = lines.option("WaveDir")
        beta = to_number(heading, "WaveDir", lambda text: lines.fail(index, text))
        record = DataLines(place, row, lines.option("WaveKinFile")[1])
        sea = _record(record, math.radians(beta))
    elif waves != "0":
        notes.append(f"line {row.number}: waves of SeaState are left out. Give a study its sea.")
    if profile == "1":
        # a row of titles and one of units come first
        rows = [lines.numbers(k, 3, "height and velocity") for k in range(at + 3, len(lines))]
        current = _profile(lines, [numbers[:3] for numbers in rows])
    elif profile != "0":
        notes.append(f"line {row.number}: the current of SeaState is left out. Give System one.")
    return Flow(sea, current, tuple(notes))
