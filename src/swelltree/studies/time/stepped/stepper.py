"""`stepper`: a run for users' own loops."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from swelltree.describe.errors import SwelltreeError, shown
from swelltree.describe.options import StepperOptions, TracedOptions, complete, with_options
from swelltree.describe.values import NamedValues
from swelltree.hydro.linear.data import Window
from swelltree.jit import is_traced, trim_cache
from swelltree.model.model import Model
from swelltree.model.solved import fixed_step
from swelltree.studies.options import (
    check_times,
    end_time,
    is_run,
    realised,
    records_of,
    study_of_model,
)
from swelltree.studies.time.complementarity.start import default_step
from swelltree.studies.time.simulate import checked, stepper_of
from swelltree.studies.time.stepped.commands import no_commands, read_values
from swelltree.studies.time.stepped.run import SteppedRun, StepperSetup, seconds
from swelltree.studies.time.task import TWO_STEP, Task, read_task, required_step
from swelltree.studies.time.verify import (
    longest_step,
    validate_winch_commands,
    warn_light_hook_loads,
)
from swelltree.waves.gridded import GridWaves
from swelltree.waves.measured import last_time

if TYPE_CHECKING:
    from swelltree.waves.sea import AnySea


LONGEST = 1e7  # s: a season
LOOKED_AT = 10_800.0  # s for which set speeds of winches are looked at
POINTS = 4096  # times at which the loads of the sea are made ready at once: some minutes
TENTHS = 0.1  # s: steps of the two-step scheme are whole parts of it


@study_of_model
@with_options(StepperOptions)
def stepper(
    model: Model, sea: AnySea | None = None, **options: Unpack[StepperOptions]
) -> SteppedRun:
    """A run that is stepped by hand.

    ``run.step(0.1, {"pto": force})`` advances the run, ``run["float.Heave"]`` is the current value
    of a channel, ``run.save()`` and ``run.restore(saved)`` save and restore its state,
    ``run.result()`` is the dataset of all samples.

    Args:
        model: from `compile`.
        sea: a described sea; still water if not given.
    """
    chosen: NamedValues = {**options}
    keep, start = chosen.pop("keep"), chosen["start"]
    if is_traced(model):
        raise SwelltreeError(
            "stepper: the model is traced (jit, grad, vmap). Use simulate_traced there."
        )
    if keep is not None and not (isinstance(keep, int) and keep >= 1):
        raise SwelltreeError(f"keep {shown(keep)} is not a number of samples. Give one or more.")
    begin = end_time(start) if is_run(start) else 0.0
    duration = chosen.pop("duration")
    until = _end(model, sea, chosen["case"], begin, duration)
    forces, requested = chosen.pop("forces"), complete(TracedOptions, **chosen) | {"times": [begin]}

    def task_of(model: Model, sea: AnySea | None, t: float, requested: NamedValues) -> Task:
        window = Window(max(t, begin), POINTS)
        return replace(read_task(model, sea, requested, until, window), by_hand=True)

    task = task_of(model, sea, begin, requested)
    known = duration is not None or records_of(sea)
    check_times(sea, task.waves, begin, until if known else np.inf)
    step = _fixed_step(task, until)
    requested = requested | {"step": step}
    findings = checked(model)
    validate_winch_commands(task.model, np.array([begin, min(until, begin + LOOKED_AT)]))
    warn_light_hook_loads(task.model)
    trim_cache()
    commands = no_commands(model)
    only = step if task.solver in TWO_STEP else None
    first = commands.now | read_values(model, forces, only, tuple(commands.now))
    setup = StepperSetup(
        task_of=lambda model, sea, t: task_of(model, sea, t, requested),
        stepper_of=stepper_of,
        forces=replace(commands, now=first, before=first),
        until=until,
        keep=keep,
        findings=findings,
    )
    return SteppedRun(model, sea, setup)


def _end(
    model: Model, sea: AnySea | None, case: int | str, begin: float, duration: float | None
) -> float:
    """Last time that can be reached [s]."""
    if duration is None:
        waves = None if sea is None else realised(model, sea, case)
        if isinstance(waves, GridWaves):
            return float(waves.end)
        return min([begin + LONGEST, *(last_time(record) for record in records_of(sea))])
    return begin + seconds("duration", duration)


def _fixed_step(task: Task, until: float) -> float | None:
    """The step of a run [s]; None where steps are adaptive or the model has its own."""
    specified = task.stepping.step
    if specified is not None:
        return specified
    if (
        task.solver == "rk4"
        and required_step(task.model) is None
        and fixed_step(task.model) is None
    ):
        raise SwelltreeError(
            "stepper: solver 'rk4' needs a step, because future times are not known. Give "
            "step=0.05, or solver='tsit5'."
        )
    if task.solver not in TWO_STEP:
        return None
    if task.goes_on:
        return float(task.start.attrs["step"])
    times = np.array([task.begin, min(until, task.begin + LOOKED_AT)])
    longest = min(default_step(task.model, task.waves), longest_step(task.model, times))
    return _part_of_a_tenth(min(longest, task.stepping.longest))


def _part_of_a_tenth(longest: float) -> float:
    """The longest of 0.1, 0.05, 0.02, 0.01 ... s up to a limit."""
    parts = (base * 10**power for power in range(9) for base in (1, 2, 5))
    return next(TENTHS / n for n in parts if TENTHS / n <= longest * (1.0 + 1e-9))
