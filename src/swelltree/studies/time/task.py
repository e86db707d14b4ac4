"""What a run is to do: options read and checked, the sea realised, output times chosen."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.describe.options import SolverOptions, check_positive, complete
from swelltree.describe.values import NamedValues
from swelltree.hydro.linear.data import Window
from swelltree.hydro.linear.hydro import without_table
from swelltree.hydro.linear.in_sea import apply_sea
from swelltree.hydro.linear.radiation import radiation_memory
from swelltree.integrate.complementarity.state import usual_formulation
from swelltree.integrate.runge_kutta.smooth import METHODS
from swelltree.jit import Tree, is_traced
from swelltree.model.capabilities import HasUnknowns, StartsFromEquilibrium, having
from swelltree.model.model import Model, Pose
from swelltree.model.solved import coupled_effect, prepared
from swelltree.multibody.formulations import Formulation
from swelltree.multibody.formulations import formulation as chosen_formulation
from swelltree.results.displacement import DESCRIBED, EQUILIBRIUM, datum_of
from swelltree.studies.seas import check_times, realised
from swelltree.studies.time.continuing import continued, end_time, is_run
from swelltree.studies.time.output_step import output_times
from swelltree.waves.sea import AnySea, RealisedSea

TWO_STEP = ("two_step", "interior_point")  # solvers of systems with dynamic lines or contacts
TWO_STEP_FORMULATIONS = ("lagrange", "path_matrix")


@dataclass(frozen=True)
class Stepping:
    """Step control; see `SolverOptions`."""

    rtol: float
    atol: float
    step: float | None
    max_step: float | None

    @classmethod
    def of(cls, **values: float | None) -> Stepping:
        """Given values, and defaults."""
        check_positive(SolverOptions, values)
        options = complete(SolverOptions, **values)
        return cls(**{field.name: options[field.name] for field in fields(cls)})

    @property
    def longest(self) -> float:
        """Longest step allowed [s]."""
        return np.inf if self.max_step is None else self.max_step


@dataclass(frozen=True)
class Task:
    """Input of a stepper."""

    model: Model  # in its sea
    still: Model  # without it
    waves: RealisedSea | None
    times: np.ndarray  # of the samples [s]
    begin: float  # time at which the run begins [s]
    formulation: Formulation
    solver: str
    stepping: Stepping
    start: Tree
    extremes: tuple[str, ...] = ()
    datum: tuple[Pose, str] | None = None  # from which displacements count, where it is known
    by_hand: bool = False  # numbers change on the way, so that no program is shaped by them

    @property
    def traced(self) -> bool:
        """Whether it runs inside jit, grad or vmap."""
        return is_traced((self.model, self.start))

    @property
    def goes_on(self) -> bool:
        """Whether it continues another run."""
        return is_run(self.start)

    def datum_at(self, time: float, place: Pose) -> tuple[Pose, str]:
        """From which displacements count, and what it is in words.

        Args:
            time: of the first sample [s].
            place: where the bodies are there.
        """
        if self.datum is not None:
            return self.datum
        if self.goes_on:
            return datum_of(self.start, self.model)
        if starts_at_equilibrium(self.model, self.start) and time == self.begin:
            return place, EQUILIBRIUM
        return self.model.datum, DESCRIBED


def starts_at_equilibrium(model: Model, start: object) -> bool:
    """Whether a run starts at equilibrium: requested, or because of its lines."""
    if start is None:
        return bool(having(model, StartsFromEquilibrium))
    return isinstance(start, str) and start == "equilibrium"


def read_task(
    model: Model,
    sea: AnySea | None,
    options: NamedValues,
    until: float = 0.0,
    window: Window | None = None,
) -> Task:
    """The task of a run.

    The sea is made ready for the output times and for those up to `until` [s]; its loads only in a
    window, if one is given.

    Args:
        model: compiled.
        sea: described or realised.
        options: all of `TracedOptions`, and maybe others.
        until: end of what the sea is made for [s].
        window: part of it that is made ready at once, of a run by hand, which checks its times.
    """
    stepping = Stepping.of(**{field.name: options[field.name] for field in fields(Stepping)})
    start, specified, extremes = options["start"], options["times"], options["extremes"]
    if isinstance(extremes, str):
        raise SwelltreeError(f"extremes '{extremes}' is one name. Give a list: ['{extremes}'].")
    solver, how = chosen_solver(model, options["solver"], options["formulation"])
    waves = None if sea is None else realised(model, sea, options["case"])
    stored = stepping.step if stepping.step is not None else required_step(model)
    times = output_times(model, waves, options, stored)
    begin = 0.0
    if is_run(start):
        begin = end_time(start)
        times = continued(times, begin, specified is not None)
    in_sea = model
    if waves is not None:
        end = max(float(times[-1]), until)
        if window is None:
            check_times(sea, waves, begin, end)
        in_sea = apply_sea(model, waves, end, options["excitation"], window=window)
    return Task(
        model=prepared(without_table(in_sea)),
        still=model,
        waves=waves,
        times=times,
        begin=begin,
        formulation=how,
        solver=solver,
        stepping=stepping,
        start=start,
        extremes=tuple(extremes),
    )


def chosen_solver(
    model: Model, solver: str | None, formulation: str | Formulation | None
) -> tuple[str, Formulation]:
    """Solver and formulation of a run, requested or default."""
    two_step = having(model, HasUnknowns) or solver in TWO_STEP
    usual = usual_formulation(model) if two_step else "path_matrix"
    how = chosen_formulation(formulation or usual)
    fixed = coupled_effect(model)
    if fixed is not None and not two_step and solver not in (None, "rk4"):
        raise SwelltreeError(
            f"solver '{solver}' cannot go with {fixed.word}, which are stepped by solver='rk4', or "
            "with dynamic lines by 'two_step'. Leave the solver out."
        )
    solver = solver or ("two_step" if two_step else "tsit5" if fixed is None else "rk4")
    if two_step and (solver not in TWO_STEP or how.name not in TWO_STEP_FORMULATIONS):
        raise SwelltreeError(
            f"solver '{solver}' with formulation '{how.name}' does not step dynamic lines. Use "
            "solver='two_step' with 'lagrange' or 'path_matrix', or quasi-static lines."
        )
    if solver not in (*METHODS, *TWO_STEP):
        known = *METHODS, *TWO_STEP
        raise SwelltreeError(
            f"solver: there is no method '{solver}'.{suggest(solver, known)} "
            f"Choose one of {listed(known)}."
        )
    return solver, how


def required_step(model: Model) -> float | None:
    """Step for which the model was compiled [s], if any."""
    memory = radiation_memory(model)
    return None if memory is None else memory.required_step
