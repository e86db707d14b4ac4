"""Engines that run batches, and the question which of them can run one.

An engine takes models that are ready to step, all of one layout, and gives their channels. The
first in `ENGINES` that does not refuse a batch runs it; the reasons of those before it are given in
the result.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from swelltree.describe.values import NamedValues
from swelltree.hydro.linear.hydro import POINTS_PER_PERIOD, hydro_table
from swelltree.integrate.solution import Code
from swelltree.jit import Array, jnp
from swelltree.model.model import Model
from swelltree.model.solved import coupled_effect
from swelltree.multibody.formulations import Formulation
from swelltree.pto.controllers.controllers import controllers_of
from swelltree.studies.batch.cases import BatchCase
from swelltree.studies.batch.summaries import Requested, Retained
from swelltree.studies.time.task import Stepping, Task, required_step
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
    """What became of one case."""

    channels: dict[str, np.ndarray] | None  # time first; None where there is no result
    message: str  # empty where all went well


class Summary(NamedTuple):
    """What is kept of all cases of a batch, without their samples.

    Args:
        values: by channel, each with an axis of cases and those of the channel before its own.
        messages: (case,) empty where all went well.
        again: cases that were run by themselves, whose samples give what is kept, by number.
    """

    values: dict[str, Retained]
    messages: np.ndarray
    again: Mapping[int, Outcome] = MappingProxyType({})


def own_steps(plan: Plan) -> str:
    """Which part of a model has steps of its own, so that cases cannot share theirs; or nothing."""
    if plan.solver != "rk4":
        return "dynamic lines and contacts are stepped by the two-step scheme"
    if required_step(plan.model) is not None:
        return "radiation='convolution' keeps the velocities of its own steps"
    if any(controller.preview is not None for controller in controllers_of(plan.model)):
        return "a controller knows its own sea ahead"
    if coupled_effect(plan.model) is not None:
        return "flows that are solved for have a step of their own"
    return ""


class Engine(ABC):
    """A way to run the cases of a batch."""

    name: str
    is_gpu: bool = False  # runs on a GPU
    one_at_a_time: bool = False  # case after case, by single runs on the CPU

    @property
    def most(self) -> int:
        """Max number of cases in parallel."""
        return 32

    def unsupported_reason_of(self, plan: Plan) -> str:
        """Which part of the model it cannot run; empty if there is none."""
        return own_steps(plan)

    def unsupported_reason(self, plan: Plan, case: BatchCase) -> str:
        """Why it cannot run cases like this one; empty if it can."""
        return ""

    @abstractmethod
    def shapes(self, plan: Plan) -> dict[str, tuple[int, ...]]:
        """Shape at one time of the channels of a plan by name; of all where it names none."""

    def room_of_loads(self, plan: Plan) -> int:
        """Numbers of a case that loads of waves take here: they lie on a grid for the whole run."""
        table = hydro_table(plan.model)
        if table is None:
            return 0
        points = plan.end * float(table.omega[-1]) * POINTS_PER_PERIOD / (2.0 * np.pi)
        # filled up to a power of two; loads and rates
        return int(2.0 * 2.0 * points * 6 * plan.model.layout.n_bodies)

    def fitting(self, plan: Plan) -> int:
        """Cases that fit into the memory of what runs them, besides that of this machine."""
        return self.most

    def summaries(self, plan: Plan, cases: list[BatchCase], requested: Requested) -> Summary | None:
        """What is kept, found where the samples arise; None where samples are needed for it.

        Args:
            plan: how cases are run.
            cases: at most as many as there are lanes.
            requested: of each channel.
        """
        return None

    @abstractmethod
    def run(self, plan: Plan, cases: list[BatchCase], first: int = 0) -> list[Outcome]:
        """What becomes of each case.

        Args:
            plan: how they are run.
            cases: at most as many as there are lanes.
            first: lane of the first of them.
        """


# --- How parallel runs check themselves: a few sums of each sample, not all energies

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
