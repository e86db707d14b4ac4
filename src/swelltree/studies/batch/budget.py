"""How parallel runs check themselves: a few sums of each sample, not all energies."""

from __future__ import annotations

import numpy as np

from swelltree.engine.arrays import Array
from swelltree.engine.backend import jnp
from swelltree.model.model import Model
from swelltree.solvers.solution import Code
from swelltree.studies.time.watch import (
    energy_allowance,
    lasting,
    lost_limit_of,
    open_limit_of,
)
from swelltree.system.named_values import NamedValues

RTOL = 1e-6  # to which joints are closed where steps are fixed


def budget(model: Model, raw: NamedValues, solver: str) -> dict[str, Array]:
    """Sums of one sample, by the names of `judged`."""
    kinetic, potential, work = (raw[x] for x in ("kinetic_energy", "potential_energy", "work"))
    points = jnp.asarray(raw["joint_point"])
    extent = (points.max(0) - points.min(0)).max() if points.size else jnp.zeros(())
    return {
        "kinetic": jnp.sum(kinetic),
        "stored": jnp.sum(potential),
        "done": jnp.sum(work),
        "largest_work": jnp.max(jnp.abs(work), initial=0.0),
        "allowed": energy_allowance(model, jnp.asarray(potential), solver, RTOL),
        "closure": jnp.max(jnp.asarray(raw["closure"]), initial=0.0),
        "extent": extent,
    }


def judged(sums: dict[str, np.ndarray], codes: np.ndarray, solver: str) -> np.ndarray:
    """Codes of runs that are over, by the limits of `studies.time.watch`.

    Args:
        sums: of all samples (case, time), from `budget`.
        codes: how stepping ended (case,).
        solver: its name.
    """
    stored, balance = sums["stored"], sums["kinetic"] + sums["stored"] - sums["done"]
    gap = np.abs(balance - balance[:, :1])
    extremes = {
        "kinetic": sums["kinetic"].max(1),
        "moved": np.abs(stored - stored[:, :1]).max(1),
        "largest_work": sums["largest_work"].max(1),
        "allowed": sums["allowed"].max(1),
        "closure": sums["closure"].max(1),
        "gap": lasting(gap.T).T.max(1),
        "extent": sums["extent"][:, 0],
    }
    return judged_by_extremes(extremes, codes, solver)


def judged_by_extremes(
    extremes: dict[str, np.ndarray], codes: np.ndarray, solver: str
) -> np.ndarray:
    """The same by the largest of all samples (case,), those of `summaries.EXTREMES`."""
    moved = np.maximum.reduce([extremes[x] for x in ("kinetic", "moved", "largest_work")])
    limit = lost_limit_of(moved, extremes["allowed"], solver, RTOL)
    opened = ~(extremes["closure"] <= open_limit_of(extremes["extent"], RTOL))
    # NaN counts as infinite on both sides
    lost = ~(limit >= extremes["gap"]) | ~np.isfinite(extremes["gap"])
    found = np.where(lost, Code.ENERGY_LOST, Code.SUCCESS)
    found = np.where(opened, Code.LOOP_OPEN, found)
    return np.where(codes != Code.SUCCESS, codes, found)
