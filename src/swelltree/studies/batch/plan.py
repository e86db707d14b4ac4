"""How the cases of a batch are run, what becomes of each, and how runs check themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from swelltree.describe.values import NamedValues
from swelltree.integrate.problem import Code, describe
from swelltree.jit import Array, Tree, jnp
from swelltree.model.model import Model
from swelltree.multibody.formulations import Formulation
from swelltree.results.sea import chosen
from swelltree.studies.batch.summaries import Retained
from swelltree.studies.time.task import Stepping, Task
from swelltree.studies.time.verify import energy_allowance, lasting, lost_limit_of, open_limit_of
from swelltree.waves.sea import RealisedSea


@dataclass(frozen=True)
class Plan:
    """How all cases of a batch are run.

    Args:
        model: from `compile`, in still water.
        times: of the samples [s].
        step: of time stepping [s]; None where the scheme chooses its own.
        channels: names of results that are wanted.
        formulation: of the equations.
        solver: "rk4", or one of those of dynamic lines.
        start: as in `simulate`.
        lanes: cases that run in parallel.
        duration: of the sea [s], where it is longer than the samples.
        device: "cpu", "gpu", or "jax" for the one that JAX prefers.
        short: float32 on the GPU.
    """

    model: Model
    times: np.ndarray
    step: float | None
    channels: tuple[str, ...]
    formulation: Formulation
    solver: str = "rk4"
    start: str | None = None
    lanes: int = 32
    duration: float = 0.0
    device: str = "cpu"
    short: bool = False

    @property
    def end(self) -> float:
        """How long the sea lasts [s]."""
        return max(self.duration, float(self.times[-1]))

    def task(self, model: Model, still: Model, waves: RealisedSea | None = None) -> Task:
        """The single run that a case of the batch would be.

        Args:
            model: of the case, in its sea.
            still: the same in still water.
            waves: of its sea.
        """
        return Task(
            model=model,
            still=still,
            waves=waves,
            times=self.times,
            begin=0.0,
            formulation=self.formulation,
            solver=self.solver,
            stepping=Stepping.of(step=self.step),
            start=self.start,
        )


class Outcome(NamedTuple):
    channels: dict[str, np.ndarray] | None  # time first; None where there is no result
    message: str  # empty on success

    @classmethod
    def of(cls, channels: dict[str, np.ndarray], code: Array, failed: float) -> Outcome:
        """The result of a case by its code, and the time of its failure [s]."""
        code = Code(int(code))
        if code is Code.SUCCESS:
            return cls(channels, "")
        return cls(None, describe(code, failed if np.isfinite(failed) else None))


class Summary(NamedTuple):
    """Summaries of all cases of a batch, without their samples.

    Args:
        values: by channel, each with an axis of cases and those of the channel before its own.
        messages: (case,) empty on success.
        again: results of the cases that were run sequentially, by number.
    """

    values: dict[str, Retained]
    messages: np.ndarray
    again: Mapping[int, Outcome] = MappingProxyType({})


# --- Checks of parallel runs: a few sums of each sample instead of all energies

RTOL = 1e-6  # to which joints are closed where steps are fixed


# channels by which runs with loops are judged
WATCHED = (
    "kinetic_energy",
    "potential_energy",
    "work",
    "closure",
    "joint_point",
    "coordinate",
    "position",
    "rotation",
)


def sample_of(model: Model, raw: NamedValues, names: tuple[str, ...], solver: str) -> Tree:
    """The chosen channels of a sample, and those by which a run is judged."""
    if model.cut_rows:
        return chosen(model, raw, names), {name: raw[name] for name in WATCHED}
    return chosen(model, raw, names), budget(model, raw, solver)


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
    """Codes of finished runs, by the limits of `studies.time.verify`.

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
