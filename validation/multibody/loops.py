"""Closed loops over a minute, and five formulations over twenty seconds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from swelltree.describe import System
from swelltree.results.energy import energy_scale
from validation.multibody.systems import REGULAR, four_bar, spatial_loop
from validation.run import places, run
from validation.table import Check, case

CLOSED = "projected after every step, to rounding"
BUDGET = "of the largest term of the energy balance; rtol 1e-10"
APART = "required for regular systems; rtol 1e-12"


def loop_checks(describe: Callable[[], System], formulations: tuple[str, ...]) -> list[Check]:
    """Closure and energy budget over 60 s.

    The residual is in parts of the largest kinetic energy, stored energy or work of an element.
    """
    checks = []
    for how in formulations:
        result = run(describe(), 60.0, 0.2, formulation=how, rtol=1e-10, atol=1e-12)
        residual = np.abs(result["energy_residual"].values).max() / energy_scale(result)
        checks += [
            Check(f"{how}: closure", float(result["closure"].max()), 1e-8, "m, rad", CLOSED),
            Check(f"{how}: energy residual", float(residual), 1e-8, "", BUDGET),
        ]
    return checks


@case("joints", "four_bar", source="closure and energy balance, 60 s")
def planar_loop(formulations: tuple[str, ...] = ("path_matrix", "lagrange")) -> list[Check]:
    """Planar four-bar linkage; three of its loop equations are redundant."""
    return loop_checks(four_bar, formulations)


@case("joints", "spatial_loop", source="closure and energy balance, 60 s")
def loop_in_space(formulations: tuple[str, ...] = ("path_matrix", "lagrange")) -> list[Check]:
    """R-S-U-R loop on a floating base."""
    return loop_checks(spatial_loop, formulations)


def agreement(name: str, formulations: tuple[str, ...]) -> Check:
    """Largest distance between the runs of one regular system over 20 s.

    Args:
        name: of the system, see `systems.REGULAR`.
        formulations: the first is compared with each of the others.
    """
    system = REGULAR[name]()
    first, *rest = (places(run(system, 20.0, 0.1, formulation=how)) for how in formulations)
    apart = max(float(np.abs(other - first).max()) for other in rest)
    return Check(f"{name}: {len(formulations)} formulations", apart, 1e-7, "m", APART)


@case("joints", "regular_systems", source="one formulation against another, 20 s")
def regular_systems(
    formulations: tuple[str, ...] = ("path_matrix", "partition", "lagrange"),
) -> list[Check]:
    """Moored chain, sliding mass, four-bar and spatial loop."""
    return [agreement(name, formulations) for name in REGULAR]
