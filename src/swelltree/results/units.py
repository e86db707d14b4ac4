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
    """Unit of one entry: "m, rad" is metres for translations, radians for rotations."""
    parts = [part.strip() for part in units.split(",")]
    return parts[-1] if turns else parts[0]


def readable(unit: str) -> tuple[str, float]:
    """Display unit and its factor."""
    if unit in ANGLES:
        return ANGLES[unit], 180.0 / math.pi
    return {"1": "", "m^3": "m³", "m/s^2": "m/s²"}.get(unit, unit), 1.0


def prefixed(unit: str, largest: float) -> tuple[str, float]:
    """Unit with an SI prefix for the maximum value, and its factor."""
    if unit in PREFIXED:
        for prefix, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
            if largest >= 2 * size:
                return prefix + unit, 1.0 / size
    return unit, 1.0


def power_text(watts: float) -> str:
    """Power with a suitable unit."""
    unit, factor = prefixed("W", 2.0 * abs(watts))
    return f"{watts * factor:.3g} {unit}"
