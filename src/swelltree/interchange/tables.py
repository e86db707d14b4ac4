"""What a mooring file of MoorDyn or MoorPy says, row by row, before it is put into a system.

Attachments are in lower case: "fixed", "coupled", "free", "pinned", "body1", "body1pinned",
"coupledpinned". Line ends are the ID of a point ("3") or the end of a rod ("R1A").
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

Three = tuple[float, float, float]
ZERO: Three = (0.0, 0.0, 0.0)
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


def three(values: Iterable[float]) -> Three:
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
    position: Three
    mass: float = 0.0
    volume: float = 0.0
    drag_area: float = 0.0
    added_mass: float = 0.0
    force: Three = ZERO


@dataclass(frozen=True)
class BodyRow(Row):
    """A body with six degrees of freedom."""

    attachment: str
    position: Three
    rotation_deg: Three = ZERO
    mass: float = 0.0
    com: Three = ZERO
    inertia: Three = ZERO
    volume: float = 0.0
    drag_area: tuple[float, ...] = (0.0,) * 6
    added_mass: Three = ZERO


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
    a: Three
    b: Three
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
    force: Three
    linear: tuple[float, ...]
    quadratic: tuple[float, ...]
    axes: str = "-"
