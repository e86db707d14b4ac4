"""Waves and currents beside a MoorDyn file.

MoorDyn-C names the kind of flow by a number and finds it in files of fixed names in the folder of
the input file; MoorDyn-F names a file with a wave record and a current profile.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from swelltree.describe import CurrentGrid, MeasuredWave, RegularWave, SeaOf
from swelltree.describe.environment.currents import Current
from swelltree.describe.environment.seas import Sea
from swelltree.describe.errors import listed, warn_user
from swelltree.describe.files.numbers import to_number
from swelltree.interop.moordyn.tables import DataLines, find_file
from swelltree.interop.sections import Place, TextRow

STEADY, DYNAMIC, GRID = (
    "current_profile.txt",
    "current_profile_dynamic.txt",
    "current_profile_4d.txt",
)
FREQUENCIES, RECORD = "wave_frequencies.txt", "wave_elevation.txt"
MAX_FREQUENCIES = 20_000


class Flow(NamedTuple):
    """Waves and current of a mooring file, and what was left out."""

    sea: Sea | None = None
    current: Current | None = None
    notes: tuple[str, ...] = ()


def read_flow(place: Place, row: TextRow) -> Flow:
    """What one of the options WaveKin, Currents and WaterKin asks for."""
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
