"""Settings from the listing and the input files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from swelltree.describe.environment.water import Water
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.data.dataset import check_agrees


@dataclass
class WamitSetup:
    """Settings from the listing and the input files.

    Args:
        names: of the bodies, if known.
        places: x, y, z of the body axes and their heading [m, deg], one row per body.
        g: gravity.
        rho: density.
        depth: inf for deep water.
        length: scale of the normalisation.
        modes: number of generalised modes per body.
        points: centre of gravity, buoyancy (body axes) and volume per body.
        period_kind: 1 period, 2 frequency, 3 and 4 wavenumber (IPEROUT).
        files: that were read.
        announced: numbers of frequencies, 0 and inf apart, by the file that states them.
    """

    names: list[str] = field(default_factory=list)
    places: list[list[float]] = field(default_factory=list)
    g: float | None = None
    rho: float | None = None
    depth: float | None = None
    length: float = 1.0
    modes: list[int] = field(default_factory=list)
    points: dict[str, list[list[float]]] = field(default_factory=dict)
    period_kind: int = 1
    files: list[Path] = field(default_factory=list)
    announced: dict[Path, int] = field(default_factory=dict)


def complete(
    path: Path, setup: WamitSetup, specified: dict[str, float | None], water: Water | None
) -> None:
    """Density, gravity and depth that are not in the files, from the user or the water."""
    for name, value in specified.items():
        stated = getattr(setup, name)
        if stated is None and (value is not None or water is not None):
            setattr(setup, name, getattr(water, name) if value is None else value)
        elif stated is not None and value is not None:
            check_agrees(path, name, value, stated)


def require(path: Path, setup: WamitSetup, why_g: str) -> None:
    """Require quantities needed for dimensional values that no source gives."""
    for value, name, why in (
        (setup.rho, "rho", "the results are divided by it and no file gives it"),
        (setup.g, "g", why_g),
        (setup.depth, "depth", "no .out or .pot file gives it (inf for deep water)"),
    ):
        if value is None:
            raise SwelltreeError(f"'{path}': {name} is not known: {why}. Give {name}=... .")
