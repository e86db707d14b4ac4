"""Validation: swelltree against closed forms, invariants, papers and other codes."""

from __future__ import annotations

import importlib
from pathlib import Path

from swelltree.validation.table import CASES, Case, Check, reference_folder, run_cases

# modules that register cases, in the order of the table
_MODULES = (
    "mechanics.joints_adams",
    "mechanics.trees",
    "mechanics.motions",
    "mechanics.conservation",
    "mechanics.loops",
    "mechanics.bearings",
    "mechanics.mechanisms",
    "waters.hydro_readers",
    "waters.fitted_motion",
    "waters.hydro_bem",
    "waters.hydro_sphere",
    "waters.hydro_devices",
    "waters.wecsim_import",
    "waters.hydro_forces",
    "waters.headings",
    "machines.ptos",
    "waters.hulls",
    "waters.viscous",
    "waters.viscous_hydrodyn",
    "waters.rods",
    "moorings.rm3_moored",
    "waters.drift",
    "machines.control",
    "mechanics.combinations",
    "machines.control_models",
    "machines.many_cases",
    "waters.hinge_barge",
    "moorings.lines",
    "moorings.moored",
    "moorings.jumper",
    "moorings.elastica",
    "moorings.winches",
    "moorings.cables",
    "waters.splash",
    "waters.weak_scatterers.submerged",
    "waters.weak_scatterers.ladder",
    "waters.weak_scatterers.accuracy",
    "waters.weak_scatterers.second_order",
    "waters.weak_scatterers.mean_drift",
    "waters.weak_scatterers.systems",
)

__all__ = ["Case", "Check", "all_cases", "run_validation", "validate"]


def all_cases() -> dict[str, Case]:
    """Every registered case by name."""
    for module in _MODULES:
        importlib.import_module(f"swelltree.validation.{module}")
    return CASES


def validate(only: str | None = None, write: Path | None = None) -> int:
    """Run the validation cases and print one table.

    Args:
        only: name of a case or of a group (joints, hydro, viscous, pto, combinations,
            control_models, many_cases, periodic, lines, cables, winches, splash, weak_scatterer);
            all when not given.
        write: Markdown file that gets the table too.

    Returns:
        0 when nothing failed, else 1.
    """
    return run_cases(only, all_cases().values(), reference_folder(), write=write)


run_validation = validate
