"""A trial run: does it go, how long are its steps, how long will the whole take?

With dynamic lines the equilibrium and the run are found by one program, which is compiled without
optimisation: that takes a quarter of the time, and a few hundred steps do not repay more.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import replace

import numpy as np

from swelltree.describe.errors import Finding, SwelltreeError, SwelltreeWarning
from swelltree.describe.options import TracedOptions, complete
from swelltree.describe.values import NamedValues
from swelltree.integrate.problem import Code
from swelltree.model.model import Model
from swelltree.multibody.kinematics import Pose
from swelltree.studies.options import realised, records_of
from swelltree.studies.time.complementarity.start import to_rest
from swelltree.studies.time.complementarity.stepper import TwoStepStepper, two_step_stepper
from swelltree.studies.time.simulate import simulate
from swelltree.studies.time.task import read_task
from swelltree.studies.time.verify import validate_winch_commands
from swelltree.waves.airy import Components
from swelltree.waves.measured import last_time
from swelltree.waves.sea import AnySea

TRIAL = 4  # wave periods of the trial run


def wave_period(model: Model, sea: AnySea | None, case: int | str) -> float:
    """Mean period of the sea; ten seconds in still water [s]."""
    waves = None if sea is None else realised(model, sea, case)
    if isinstance(waves, Components) and len(waves.amplitude):
        return float(waves.Tz)
    return 10.0


def _length(period: float, sea: AnySea | None) -> float:
    """Duration of the trial run, limited to the record [s]."""
    return min([TRIAL * period, *(end for x in records_of(sea) if (end := last_time(x)) > 0.0)])


def trial_run(
    model: Model,
    sea: AnySea | None,
    duration: float | None,
    formulation: str | None,
    case: int | str,
) -> list[Finding]:
    """Short trial run, twice: the first call compiles, the second measures the speed."""
    period = wave_period(model, sea, case)
    length = _length(period, sea)
    began = time.perf_counter()
    options: NamedValues = {"formulation": formulation, "case": case, "progress": False}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SwelltreeWarning)  # reported already
            simulate(model, sea, duration=length, **options)
            first = time.perf_counter() - began
            began = time.perf_counter()
            run = simulate(model, sea, duration=length, **options)
    except SwelltreeError as error:
        return [_failed(length, error)]
    warm = time.perf_counter() - began
    if run.attrs["result"] != "success":
        return [_failed(length, run.message)]
    step = length / max(int(run.attrs["steps_accepted"]), 1)
    planned = length if duration is None else duration
    numbers = {"first_call_s": first, "real_time_factor": length / warm, "mean_step_s": step}
    text = (
        f"the first call takes about {first:.2g} s, a run of {planned:.4g} s then about "
        f"{planned / length * warm:.2g} s ({length / warm:.2g} times real time); steps are about "
        f"{step:.2g} s at rtol = 1e-6."
    )
    return [Finding("note", "time", text, numbers), *_stiff(step, period, numbers)]


class TrialOnLines:
    """Equilibrium and trial run of a system with dynamic lines or contacts."""

    def __init__(
        self, model: Model, sea: AnySea | None, formulation: str | None, case: int | str
    ) -> None:
        self.period = wave_period(model, sea, case)
        self.length = _length(self.period, sea)
        self.refused: SwelltreeError | None = None
        try:
            self.stepper = self._stepper(model, sea, formulation, case)
        except SwelltreeError as error:
            # rest needs no sea, and the run will be refused
            self.refused = error
            self.stepper = self._stepper(model, None, formulation, case)

    def _stepper(
        self, model: Model, sea: AnySea | None, formulation: str | None, case: int | str
    ) -> TwoStepStepper:
        """Stepper of the trial, compiled with few optimisations."""
        ends = np.array([0.0, self.length])
        options = complete(TracedOptions, times=ends, formulation=formulation, case=case)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SwelltreeWarning)  # reported by the response
            task = read_task(model, sea, options)
            stepper = two_step_stepper(task, len(task.times))
        plan = replace(stepper.plan, form=replace(stepper.plan.form, optimised=False))
        return replace(stepper, plan=plan)

    def rest(self) -> Pose:
        """Equilibrium pose."""
        task, form = self.stepper.task, self.stepper.plan.form
        return to_rest(task.model, form, self.stepper.width).sample.pose

    def run(self, duration: float | None) -> list[Finding]:
        """What a trial run says.

        Args:
            duration: of the planned run [s].
        """
        if self.refused is not None:
            return [_failed(self.length, self.refused)]
        task, step = self.stepper.task, float(self.stepper.plan.step)
        try:
            validate_winch_commands(task.model, task.times)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SwelltreeWarning)  # reported already
                state = self.stepper.start()
                began = time.perf_counter()
                state, _ = self.stepper.advance(state, task.times)
        except SwelltreeError as error:
            return [_failed(self.length, error)]
        took = time.perf_counter() - began
        code = Code(int(state.code))
        if code is not Code.SUCCESS:
            return [_failed(self.length, self.stepper.failure(state, code)[1])]
        planned = self.length if duration is None else duration
        speed = self.length / took
        numbers = {"real_time_factor": speed, "mean_step_s": step}
        text = (
            f"steps are {step:.2g} s, and a run of {planned:.4g} s takes at most about "
            f"{planned / speed:.2g} s once it is compiled ({speed:.2g} times real time or faster)."
        )
        return [Finding("note", "time", text, numbers), *_stiff(step, self.period, numbers)]


def _failed(length: float, why: object) -> Finding:
    return Finding("error", "trial run", f"a trial run of {length:.3g} s failed: {why}")


def _stiff(step: float, period: float, numbers: dict[str, float]) -> list[Finding]:
    """Finding on steps much shorter than the waves."""
    if step >= period / 400:
        return []
    text = (
        f"steps of {step:.2g} s are needed for waves of {period:.3g} s: something in the model is "
        "much stiffer than the sea. Soften that spring, stop or friction, or use solver='stiff'."
    )
    return [Finding("warning", "stiff", text, numbers)]
