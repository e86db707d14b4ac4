"""Batches by XLA: the fixed-step run of one case, mapped over lanes, compiled once.

Every array of the model has a row per lane, so that lanes have nothing in common: what a case gives
does not depend on its neighbours. The number of lanes is fixed; lanes without a case repeat one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.linear.radiation import with_exact_memory
from swelltree.integrate.runge_kutta.smooth import Options, integrate
from swelltree.integrate.runge_kutta.smooth import start as start_carry
from swelltree.integrate.solution import Code, describe
from swelltree.jit import Array, Tree, jax, jnp, mapped, on_first_choice
from swelltree.jit import shapes_of as shapes_of_results
from swelltree.model.model import Model, Pose
from swelltree.multibody.formulations import Formulation
from swelltree.multibody.formulations.equations import (
    Phase,
    begun,
    event_count,
    observe,
    start_phase,
)
from swelltree.pto.controllers.controllers import raise_faults
from swelltree.results.sea import chosen, finished_now
from swelltree.spatial.rotations import compact
from swelltree.studies.batch.cases import BatchCase, CaseMaker
from swelltree.studies.batch.engine import Engine, Outcome, Plan, budget
from swelltree.studies.batch.shared import SeveralLayoutsError, in_groups
from swelltree.studies.statics.placed import placed
from swelltree.studies.time.smooth import first_phase, problem, smooth_stepper
from swelltree.studies.time.task import starts_at_equilibrium
from swelltree.studies.time.verify import with_watch

# what a run needs to look at itself
BUDGET = ("kinetic_energy", "potential_energy", "work", "closure", "joint_point")
LOOPS = ("coordinate", "position", "rotation")


class Xla(Engine):
    """Lanes of one program of XLA."""

    name = "xla"

    def shapes(self, plan: Plan) -> dict[str, tuple[int, ...]]:
        """By tracing one sample."""
        return shapes_of(plan)

    def run(self, plan: Plan, cases: list[BatchCase], first: int = 0) -> list[Outcome]:
        """All cases in parallel, where they have one layout; else in groups of one layout."""
        return in_groups(lambda some: self._run(plan, some, first), maker_of(plan), cases)

    def _run(self, plan: Plan, cases: list[BatchCase], first: int) -> list[Outcome]:
        """Cases of one layout; those that cannot be made leave their lane to another."""
        maker = maker_of(plan)
        rows, refused = LaneRows(plan.lanes), {}
        for lane, case in enumerate(cases, first):
            try:
                built = maker.in_sea(case)
            except SwelltreeError as error:
                refused[lane] = Outcome(None, str(error))
            else:
                rows.put(lane, built)
        outcomes = refused | (self._stepped(plan, rows) if rows.filled else {})
        return [outcomes[first + k] for k in range(len(cases))]

    def _stepped(self, plan: Plan, rows: LaneRows) -> dict[int, Outcome]:
        """Model and first phase of each lane, run."""
        how = plan.formulation
        matters = how.settling_matters(plan.model)
        program = _program(how, matters, event_count(plan.model), plan.channels, rows.form)
        options = options_of(plan, rows.example[0])
        with place_of(plan):
            channels, codes, fails = program(rows.leaves(), options, plan.times)
        raise_faults(plan.model)
        channels = {name: np.asarray(x) for name, x in channels.items()}
        codes, fails = np.asarray(codes), np.asarray(fails)
        return {
            lane: outcome({name: x[lane] for name, x in channels.items()}, codes[lane], fails[lane])
            for lane in rows.filled
        }


def place_of(plan: Plan) -> AbstractContextManager[object]:
    """Where XLA computes."""
    return on_first_choice() if plan.device == "jax" else nullcontext()


def outcome(channels: dict[str, np.ndarray], code: Array, failed: float) -> Outcome:
    """What became of a case by its code, and the time of its failure [s]."""
    code = Code(int(code))
    message = (
        "" if code is Code.SUCCESS else describe(code, failed if np.isfinite(failed) else None)
    )
    return Outcome(None if message else channels, message)


class LaneRows:
    """Arrays of all lanes, filled row by row, so that they are in memory once.

    Args:
        lanes: how many.
    """

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.filled: list[int] = []
        self.form: object = None
        self.example: Tree = None
        self._arrays: list[np.ndarray] = []

    def put(self, lane: int, tree: Tree) -> None:
        """A case into its lane."""
        leaves, form = jax.tree.flatten(tree)
        if not self.filled:
            self.form, self.example = form, tree
            self._arrays = [np.empty((self.lanes, *np.shape(x)), np.result_type(x)) for x in leaves]
        shapes = [np.shape(x) for x in leaves]
        if form != self.form or shapes != [x.shape[1:] for x in self._arrays]:
            raise SeveralLayoutsError
        for array, x in zip(self._arrays, leaves, strict=True):
            array[lane] = x
        self.filled.append(lane)

    def leaves(self) -> list[np.ndarray]:
        """All lanes; those without a case repeat one."""
        empty = [lane for lane in range(self.lanes) if lane not in self.filled]
        for array in self._arrays:
            array[empty] = array[self.filled[0]]
        return self._arrays


def shapes_of(plan: Plan) -> dict[str, tuple[int, ...]]:
    """Shape at one time of the channels of a plan, traced once or from the disk."""
    start = start_phase(plan.model, plan.formulation)
    found = shapes_of_results(_all_channels(plan.formulation), plan.model, np.zeros(()), start)
    return {name: x.shape for name, x in found.items() if name in (plan.channels or found)}


@functools.lru_cache(maxsize=16)
def _all_channels(how: Formulation) -> Callable[[Model, Array, Tree], Tree]:
    """Function of one sample; one object, so that its shapes are found once."""
    return lambda model, t, y: finished_now(model, observe(model, how, t, y))


def maker_of(plan: Plan, sums_step: float | None = None) -> CaseMaker:
    """Makes models that are ready for fixed steps; `sums_step` as of `CaseMaker`."""
    assert plan.step is not None
    step = plan.step
    return CaseMaker(
        plan.model,
        plan.end,
        prepare=lambda model: with_exact_memory(model, step),
        start=lambda model: begun(
            model,
            plan.formulation,
            np.zeros(()),
            first_phase(model, plan.formulation, plan.start),
        ),
        sums_step=sums_step,
        datum=lambda model, phase: _datum(plan, model, phase),
    )


def _datum(plan: Plan, model: Model, phase: Phase) -> Pose:
    """From where displacements of a case count, as in single runs."""
    if not starts_at_equilibrium(model, plan.start):
        return model.datum
    return mapped(np.asarray, placed(plan.formulation)(model, phase.state)[0])


def options_of(plan: Plan, model: Model) -> Options:
    """Numbers of the steps, with the breakpoints at which they end."""
    return smooth_stepper(plan.task(model, plan.model)).options


@functools.lru_cache(maxsize=16)
def sampler(
    how: Formulation, names: tuple[str, ...], short: bool = False
) -> Callable[[Model, Tree, Tree], Tree]:
    """Function that gives chosen channels, and those by which a run looks at itself.

    Args:
        how: formulation.
        names: of channels.
        short: a few sums take the place of energies where there are no loops (`budget`).
    """

    def sample(model: Model, t: Array, y: Tree) -> Tree:
        with compact():
            raw = observe(model, how, t, y)
        watched = BUDGET + (LOOPS if model.cut_rows else ())
        if short and not model.cut_rows:
            return chosen(model, raw, names), budget(model, raw, "rk4")
        return chosen(model, raw, names), {name: raw[name] for name in watched}

    return sample


@functools.lru_cache(maxsize=16)
def _program(
    how: Formulation, matters: bool, events: int, names: tuple[str, ...], form: object
) -> Tree:
    """``run(leaves, options, times) -> (channels, code, time of failure)``, lanes first."""
    equations = problem(how, matters, events > 0)

    sample = sampler(how, names)

    def one(leaves: list[Tree], options: Options, times: Array) -> Tree:
        model, y = jax.tree.unflatten(form, leaves)
        begin = start_carry(0.0, y, events=events)
        carry, (channels, budget) = integrate(
            equations, model, begin, times, options, method="rk4", observe=sample
        )
        watched = with_watch(model, budget | {"time": times}, carry.code, "rk4")
        failed = jnp.where(carry.code == Code.SUCCESS, jnp.nan, carry.t_fail)
        return channels, watched["code"], failed

    return jax.jit(jax.vmap(one, in_axes=(0, None, None)))
