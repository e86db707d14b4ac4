"""WAMIT's input files: potential (.pot), force (.frc) and configuration (.cfg)."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from swelltree.describe.files.numbers import to_integer, to_number, to_positive
from swelltree.hydro.readers.textfile import TextFile, after_equals
from swelltree.hydro.readers.wamit.numeric import MOST_MODES
from swelltree.hydro.readers.wamit.setup import WamitSetup

# --- The head of WAMIT's listing: gravity, length scale, depth, bodies and their centres

CENTRES = {
    "Volumes": "volume",
    "Center of Buoyancy": "buoyancy",
    "Center of Gravity": "gravity",
}


def read_listing_head(file: TextFile, setup: WamitSetup) -> None:
    """Head of the .out file: gravity, length scale, depth, bodies and their centres."""
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


def _centres(file: TextFile, index: int, points: dict[str, list[list[float]]]) -> None:
    """Three numbers after a heading such as "Center of Buoyancy (Xb,Yb,Zb):"."""
    line = file.lines[index]
    name = next((key for key in CENTRES if key in line), None)
    if name is None or ")" not in line:
        return
    words = line.split(")", 1)[1].replace(":", " ").split()
    if len(words) < 3:
        raise file.fail(index, f"three numbers of '{name}'")
    points[CENTRES[name]].append([to_number(x, name, file.at(index)) for x in words[:3]])


MOST_PERIODS = 1_000_000


def family_of(path: Path) -> dict[str, Path]:
    """Files with the same stem, by lower-case suffix."""
    stem = path.stem.lower()
    return {
        entry.suffix.lower(): entry
        for entry in sorted(path.parent.iterdir())
        if entry.is_file() and entry.stem.lower() == stem
    }


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
        if ".out" not in family:  # else the listing has the remaining data
            _potential(potential, setup)
    if ".frc" in family:
        _force_control(TextFile(family[".frc"]), setup)
    if ".out" in family:
        read_listing_head(TextFile(family[".out"]), setup)
    return setup


def _configuration(file: TextFile, setup: WamitSetup) -> None:
    for index, line in enumerate(file.lines):
        fail = file.at(index)
        match = re.match(r"\s*IPEROUT\s*=\s*(\S+)", line, re.I)
        if match:
            setup.period_kind = to_integer(match[1], "IPEROUT", fail, 1, 4)
        match = re.match(r"\s*NEWMDS\s*(?:\((\d+)\))?\s*=\s*([\d\s]+)", line, re.I)
        if match:
            numbers = [to_integer(x, "NEWMDS", fail, 0, MOST_MODES) for x in match[2].split()]
            first = to_integer(match[1] or "1", "the body of NEWMDS", fail, 1, MOST_MODES) - 1
            setup.modes += [0] * (first + len(numbers) - len(setup.modes))
            setup.modes[first : first + len(numbers)] = numbers
    setup.files.append(file.path)


def deep_or(depth: float, file: TextFile, index: int) -> float:
    """Depth in a control file, where 0 and -1 mean deep water."""
    return np.inf if depth in (0.0, -1.0) else to_positive(depth, "water depth", file.at(index))


def _potential(file: TextFile, setup: WamitSetup) -> None:
    """Depth and positions of the bodies in a .pot file of either form (IALTPOT = 1 and 2)."""
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
    """Requested periods or frequencies, and the line after them."""
    row, values = _series(file, row, "number of periods NPER")
    setup.announced[file.path] = int((values > 0).sum())  # the others are omega = 0 and inf
    return row


def _series(file: TextFile, row: int, what: str) -> tuple[int, np.ndarray]:
    """Numbers after their count, which is negative if start and step are given instead."""
    number = to_number(file.numbers(row, what)[0], what, file.at(row))
    count = to_integer(abs(number), what, file.at(row), 0, MOST_PERIODS)
    values: list[float] = []
    while len(values) < (2 if number < 0 else count):
        row += 1
        values += file.numbers(row, f"values behind the {what}")
    if number < 0:
        return row + 1, values[0] + values[1] * np.arange(count)
    return row + 1, np.array(values[:count])


def _force_control(file: TextFile, setup: WamitSetup) -> None:
    """Density in a .frc file of form IALTFRC = 2: the line after the options."""
    for index, line in enumerate(file.lines[:8]):
        match = re.match(r"\s*(\S+)\s.*\bRHO\b", line)
        if match:
            setup.rho = to_positive(match[1], "density RHO", file.at(index))
            setup.files.append(file.path)
            return
