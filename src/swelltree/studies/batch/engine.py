"""Engines of batches: a scheme on a target, run by one driver.

A scheme prepares cases, steps one case through a chunk of times, and observes it there. A target
runs such steps for many cases in parallel. What a scheme cannot do on a target is stated in
`engines.LIMITS`, before anything is compiled; only whether the operations of a particular model can
be lowered shows in its program, which is then run.

A `Plan` says how all cases are run, an `Outcome` what became of one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, NamedTuple

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.values import NamedValues
from swelltree.hydro.linear.data import grid_points
from swelltree.hydro.linear.hydro import hydro_table
from swelltree.integrate.problem import Code, describe
from swelltree.jit import Array, Axes, Cases, Tree, flatten, jnp
from swelltree.model.model import Model
from swelltree.multibody.formulations import Formulation
from swelltree.pto.controllers.controllers import raise_faults
from swelltree.results.sea import chosen
from swelltree.studies.batch.cases import BatchCase, CaseMaker, SeveralLayoutsError, grid_step
from swelltree.studies.batch.summaries import BUDGET, EXTREMES, Requested, Retained, Summaries
from swelltree.studies.time.task import Stepping, Task
from swelltree.studies.time.verify import (
    ended_with_loops,
    energy_allowance,
    lasting,
    lost_limit_of,
    open_limit_of,
)
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


JOINT_ANGLES = ("joint_coordinate",)  # whose turns need more than the last sample


class Engine(ABC):
    """A way to run the cases of a batch."""

    name: str
    is_gpu: bool = False
    one_at_a_time: bool = False  # sequential single runs on the CPU
    most: int = 32  # max number of cases in parallel

    @abstractmethod
    def shapes(self, plan: Plan) -> dict[str, tuple[int, ...]]:
        """Shape at one time of the channels of a plan by name; of all where it names none."""

    def fitting(self, plan: Plan, per_case: int, room: float) -> int:
        """Cases that fit into memory.

        Args:
            plan: how they are run.
            per_case: numbers of the samples and of the model of a case.
            room: memory of this machine [bytes].
        """
        return int(room / (8.0 * (per_case + _numbers_of_loads(plan))))

    def summaries(self, plan: Plan, cases: list[BatchCase], requested: Requested) -> Summary | None:
        """Summaries computed where the samples are; None where samples are needed for them.

        Args:
            plan: how cases are run.
            cases: at most as many as there are lanes.
            requested: of each channel.
        """
        return None

    @abstractmethod
    def run(self, plan: Plan, cases: list[BatchCase], first: int = 0) -> list[Outcome]:
        """The result of each case.

        Args:
            plan: how they are run.
            cases: at most as many as there are lanes.
            first: lane of the first of them.
        """


def _numbers_of_loads(plan: Plan) -> int:
    """Numbers of a case for loads of waves on a grid over the run."""
    if hydro_table(plan.model) is None or plan.device != "cpu":
        return 0
    points = grid_points(plan.end, grid_step(plan.model))
    return 2 * points * 6 * plan.model.layout.n_bodies  # loads and rates


class PreparedBatch(NamedTuple):
    """Cases as a program takes them.

    Args:
        runs: numbers of the cases that can be run.
        refused: error messages of the others, by number.
        cases: those that can be run.
        models: of each of them.
        loads: inputs that are filled before each chunk; None: there are none.
    """

    runs: list[int]
    refused: dict[int, str]
    cases: Cases = Cases(None, None, None, 0)
    models: list[Model] = []  # noqa: RUF012
    loads: Tree = None


class Steps(NamedTuple):
    """The steps of a scheme.

    Args:
        function: ``function(fixed, shared, state, chunk) -> (state, samples)`` of one case; the
            same object for the same steps.
        chunks: last arguments of the function, all of one shape.
        rows: as of `jit.ManyProgram`.
    """

    function: Callable[..., Tree]
    chunks: list[np.ndarray]
    rows: Callable[..., Axes] | None = None


class Target(ABC):
    """What runs the steps of many cases."""

    name: str
    is_gpu: ClassVar[bool] = False
    sums_loads: ClassVar[bool] = False  # of waves, chunk by chunk; else they are known before
    sums_up: ClassVar[bool] = True  # computes summaries where the samples are

    @property
    def most(self) -> int:
        """Max number of cases in parallel."""
        return 32

    def unavailable(self) -> str:
        """Why there is no such target here; empty if there is."""
        return ""

    def numbers_of_case(self, steps: Steps, built: PreparedBatch) -> int | str:
        """Numbers of the program of a case in its memory, or why it cannot be compiled."""
        return 0

    def free_memory(self, room: float) -> float:
        """Memory for a batch [bytes], where this machine has some room."""
        return room

    @abstractmethod
    def stepped(
        self, plan: Plan, steps: Steps, built: PreparedBatch, first: int
    ) -> tuple[Tree, Tree]:
        """State at the end, and samples of all cases."""

    @abstractmethod
    def summed(
        self, steps: Steps, built: PreparedBatch, requested: Requested
    ) -> tuple[Tree, Summaries]:
        """State at the end, and summaries of all cases."""


class Scheme(ABC):
    """How a case is prepared, stepped and observed."""

    @abstractmethod
    def shapes(self, plan: Plan) -> dict[str, tuple[int, ...]]:
        """Shape at one time of the channels of a plan by name; of all where it names none."""

    @abstractmethod
    def maker(self, plan: Plan, target: Target) -> CaseMaker:
        """Makes models of cases."""

    @abstractmethod
    def prepared(self, plan: Plan, target: Target, cases: list[BatchCase]) -> PreparedBatch:
        """Cases ready to step."""

    @abstractmethod
    def steps(self, plan: Plan, target: Target, built: PreparedBatch) -> Steps:
        """The steps of prepared cases, with their observation."""

    @abstractmethod
    def chunk(self, plan: Plan, target: Target) -> int:
        """Samples of a chunk of times."""

    def has_sums_of_loads(self, plan: Plan) -> bool:
        """Whether loads of waves can be summed chunk by chunk."""
        return False

    def stepped_alone(
        self, plan: Plan, cases: list[BatchCase], stuck: list[int]
    ) -> dict[int, Outcome]:
        """Results of some of the cases whose steps could not be solved, run sequentially."""
        return {}


class Parallel(Engine):
    """A scheme on a target.

    Args:
        scheme: how cases are stepped.
        target: what runs them.
    """

    def __init__(self, scheme: Scheme, target: Target) -> None:
        self.scheme, self.target = scheme, target
        self.name, self.is_gpu, self.most = target.name, target.is_gpu, target.most
        self.of_case = 4000  # numbers of the program of a case, until it is compiled

    def unsupported_reason(self, plan: Plan, case: BatchCase) -> str:
        """Why the program of cases like this one cannot be compiled; empty if it can."""
        try:
            built = self.scheme.prepared(plan, self.target, [case])
        except SwelltreeError:
            return ""  # reported where the case is run
        if not built.runs:
            return ""
        found = self.target.numbers_of_case(self.scheme.steps(plan, self.target, built), built)
        if isinstance(found, str):
            return found
        self.of_case = max(self.of_case, found)
        return ""

    def shapes(self, plan: Plan) -> dict[str, tuple[int, ...]]:
        return self.scheme.shapes(plan)

    def fitting(self, plan: Plan, per_case: int, room: float) -> int:
        if not self.is_gpu:
            # loads that are summed chunk by chunk take no memory
            sums = self.target.sums_loads and self.scheme.has_sums_of_loads(plan)
            return int(room / (8.0 * per_case)) if sums else super().fitting(plan, per_case, room)
        numbers = sum(int(np.prod(shape)) for shape in self.shapes(plan).values()) + len(BUDGET)
        chunk = self.scheme.chunk(plan, self.target)
        of_case = self.of_case + (len(plan.times) + chunk) * numbers
        return int(self.target.free_memory(room) / (8.0 * of_case))

    def run(self, plan: Plan, cases: list[BatchCase], first: int = 0) -> list[Outcome]:
        try:
            return self._run(plan, cases, first)
        except SeveralLayoutsError:  # one layout after the other
            outcomes: dict[int, Outcome] = {}
            for rows in by_layout(self.scheme.maker(plan, self.target), cases):
                found = self._run(plan, [cases[k] for k in rows], 0)
                outcomes |= dict(zip(rows, found, strict=True))
            return [outcomes[k] for k in range(len(cases))]

    def _run(self, plan: Plan, cases: list[BatchCase], first: int) -> list[Outcome]:
        built = self.scheme.prepared(plan, self.target, cases)
        outcomes = {k: Outcome(None, text) for k, text in built.refused.items()}
        if built.runs:
            steps = self.scheme.steps(plan, self.target, built)
            state, (channels, budget) = self.target.stepped(plan, steps, built, first)
            found = _judged_outcomes(plan, built.models, state, channels, budget)
            outcomes |= dict(zip(built.runs, found, strict=True))
            outcomes |= self.scheme.stepped_alone(plan, cases, _stuck(built, state))
        return [outcomes[k] for k in range(len(cases))]

    def summaries(self, plan: Plan, cases: list[BatchCase], requested: Requested) -> Summary | None:
        """Runs with loops are judged by their samples, and so are the turns of joints."""
        angles = any(name in JOINT_ANGLES for name in plan.channels)
        if not self.target.sums_up or plan.model.cut_rows or angles:
            return None
        try:
            built = self.scheme.prepared(plan, self.target, cases)
        except SeveralLayoutsError:
            return None
        if not built.runs:
            return None
        steps = self.scheme.steps(plan, self.target, built)
        state, (channels, budget) = self.target.summed(steps, built, requested)
        raise_faults(plan.model)
        codes = np.asarray(state.code)
        failed = np.where(codes == Code.SUCCESS, np.nan, state.t_fail)
        extremes: dict[str, np.ndarray] = {
            str(name): row for name, row in zip(EXTREMES, budget.T, strict=True)
        }
        codes = judged_by_extremes(extremes, codes, plan.solver)
        messages = np.full(len(cases), "", dtype=object)
        for k in np.flatnonzero(codes != Code.SUCCESS):
            messages[built.runs[k]] = Outcome.of({}, codes[k], failed[k]).message
        again = self.scheme.stepped_alone(plan, cases, _stuck(built, state))
        for k, text in (built.refused | {k: one.message for k, one in again.items()}).items():
            messages[k] = text
        shapes = self.shapes(plan)
        without = (messages != "") | np.isin(np.arange(len(cases)), list(again))

        def placed(name: str, found: np.ndarray | None) -> np.ndarray | None:
            """Numbers of the cases that have run among all, entries in their shape."""
            if found is None:
                return None
            complete = np.full((len(cases), *shapes[name], *found.shape[2:]), np.nan)
            complete[built.runs] = found.reshape(len(built.runs), *complete.shape[1:])
            complete[without] = np.nan
            return complete

        values = {}
        for name, stored in channels.items():
            statistics, peaks, damage = (placed(name, part) for part in stored)
            assert statistics is not None
            values[name] = Retained(statistics, peaks, damage)
        return Summary(values, messages, again)


def _stuck(built: PreparedBatch, state: Tree) -> list[int]:
    """Numbers of cases whose steps could not be solved."""
    codes = np.asarray(state.code)
    return [built.runs[k] for k in np.flatnonzero(codes == Code.NO_PROGRESS)]


def _judged_outcomes(
    plan: Plan, models: list[Model], state: Tree, channels: Tree, budget: dict[str, Array]
) -> list[Outcome]:
    """Results of cases by their samples, (case, time, ...)."""
    raise_faults(plan.model)
    n = len(plan.times)
    channels = {name: x[:, :n] for name, x in channels.items()}
    budget = {name: x[:, :n] for name, x in budget.items()}
    codes = np.asarray(state.code)
    if plan.model.cut_rows:
        budget["time"] = np.broadcast_to(plan.times, (len(models), n))
        codes = ended_with_loops(models, budget, codes, plan.solver)
    else:
        codes = judged(budget, codes, plan.solver)
    failed = np.where(np.asarray(state.code) == Code.SUCCESS, np.nan, state.t_fail)
    return [
        Outcome.of({name: x[k] for name, x in channels.items()}, codes[k], failed[k])
        for k in range(len(models))
    ]


def by_layout(maker: CaseMaker, cases: Sequence[BatchCase]) -> list[list[int]]:
    """Numbers of cases that can run in parallel; invalid ones are a group."""
    groups: dict[Hashable, list[int]] = {}
    for k, case in enumerate(cases):
        try:
            leaves, form = flatten(maker.in_sea(case)[0])
            key = form, tuple(np.shape(x) for x in leaves)
        except SwelltreeError:  # reported where the case is run
            key = None
        groups.setdefault(key, []).append(k)
    return list(groups.values())
