"""Validation: swelltree against closed forms, invariants, papers and other codes."""

from __future__ import annotations

import importlib
from pathlib import Path

from validation.table import CASES, Case, Check, reference_folder, run_cases

# modules that register cases, in the order of the table
_MODULES = (
    "multibody.joints_adams",
    "multibody.trees",
    "multibody.motions",
    "multibody.conservation",
    "multibody.loops",
    "multibody.bearings",
    "multibody.mechanisms",
    "hydro.hydro_readers",
    "hydro.fitted_motion",
    "hydro.hydro_bem",
    "hydro.hydro_sphere",
    "hydro.hydro_devices",
    "hydro.wecsim_import",
    "hydro.hydro_forces",
    "hydro.headings",
    "pto.ptos",
    "hydro.hulls",
    "hydro.viscous",
    "hydro.viscous_hydrodyn",
    "hydro.rods",
    "mooring.rm3_moored",
    "hydro.drift",
    "pto.control",
    "multibody.combinations",
    "pto.control_models",
    "pto.many_cases",
    "hydro.hinge_barge",
    "mooring.lines",
    "mooring.moored",
    "mooring.jumper",
    "mooring.elastica",
    "mooring.winches",
    "mooring.cables",
    "hydro.splash",
    "hydro.weak_scatterers.submerged",
    "hydro.weak_scatterers.ladder",
    "hydro.weak_scatterers.accuracy",
    "hydro.weak_scatterers.second_order",
    "hydro.weak_scatterers.mean_drift",
    "hydro.weak_scatterers.entry",
    "hydro.weak_scatterers.systems",
)

__all__ = ["Case", "Check", "all_cases", "validate"]


def all_cases() -> dict[str, Case]:
    """Every registered case by name."""
    for module in _MODULES:
        importlib.import_module(f"validation.{module}")
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
