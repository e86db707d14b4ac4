"""Units for people: degrees instead of radians, kilo and mega where numbers are large."""

from __future__ import annotations

import math

ANGLES = {
    "rad": "deg",
    "rad/s": "deg/s",
    "rad/s^2": "deg/s²",
    "rad/m": "deg/m",
}
PREFIXED = ("N", "N m", "W", "J", "Pa")


def unit_of(units: str, turns: bool) -> str:
    """The unit of one entry: "m, rad" is metres for translations, radians for rotations."""
    parts = [part.strip() for part in units.split(",")]
    return parts[-1] if turns else parts[0]


def readable(unit: str) -> tuple[str, float]:
    """A unit that people read, and the factor to it."""
    if unit in ANGLES:
        return ANGLES[unit], 180.0 / math.pi
    return {"1": "", "m^3": "m³", "m/s^2": "m/s²"}.get(unit, unit), 1.0


def prefixed(unit: str, largest: float) -> tuple[str, float]:
    """The unit with a prefix that fits the largest value, and the factor to it."""
    if unit in PREFIXED:
        for prefix, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
            if largest >= 2 * size:
                return prefix + unit, 1.0 / size
    return unit, 1.0


def power_text(watts: float) -> str:
    """A power with a unit that fits."""
    unit, factor = prefixed("W", 2.0 * abs(watts))
    return f"{watts * factor:.3g} {unit}"
