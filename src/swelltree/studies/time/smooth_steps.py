"""Lengths of the steps of smooth solvers, and where they end."""

from __future__ import annotations

import math

import numpy as np

from swelltree.compiler.corners import corner_times, noticed_times
from swelltree.compiler.unseen import unseen_times
from swelltree.engine.arrays import Tree
from swelltree.engine.backend import is_traced
from swelltree.formulations.equations import event_count
from swelltree.model.solved import coupled_effect, fixed_step
from swelltree.solvers.problem import Options, padded_corners
from swelltree.studies.time.task import Task, kept_step
from swelltree.system.errors import SwelltreeError, warn_user

SAME_STEP = 1e-6  # of a step: how far samples may lie from its multiples


def options_of(task: Task) -> Options:
    """Tolerances and steps of a task, with the breakpoints at which steps end."""
    step, parts = task.stepping.step, 1
    if kept_step(task.model) is not None:
        step = _convolution_step(task)
    whole = fixed_step(task.model)
    if whole is not None:
        step = whole if step is None else step
        for effect in task.model.effects:
            effect.check_step(min(step, task.stepping.longest))
        # flows that are solved for keep their own, longer step
        parts = max(1, math.ceil(whole / step * (1 - 1e-9)))
        step = parts * step
    gaps = np.diff(task.times, prepend=task.begin)
    numbers = task.stepping
    options = Options(
        rtol=numbers.rtol,
        atol=numbers.atol,
        step=float(gaps.max()) if step is None else step,
        max_step=numbers.longest,
        parts=parts,
        free_until=_free_until(task, step),
    )
    return options._replace(corners=_corners(task, options))


def _free_until(task: Task, step: float | None) -> float:
    """Until when steps pass over samples: to the end of the run, or never [s].

    Events are found between the ends of steps, and a body that dips into the water could do so
    within one: where a run has such things no step is longer than the time between samples. Fixed
    steps land on samples that are multiples of them, and so do those that are as long as the
    samples are apart.
    """
    never, model = -np.inf, task.model
    if task.solver == "stiff" or coupled_effect(model) is not None or kept_step(model) is not None:
        return never
    if event_count(model) or task.by_hand:
        return never
    if any(effect.is_sudden for effect in model.effects):
        return never
    if task.solver == "rk4" and (step is None or _lie_on_steps(task, step)):
        return never
    return float(task.times[-1])


def _lie_on_steps(task: Task, step: float) -> bool:
    """Are the times between samples multiples of a step [s]?"""
    counts = np.diff(task.times, prepend=task.begin) / step
    return bool(np.abs(counts - np.round(counts)).max() < SAME_STEP)


def _convolution_step(task: Task) -> float:
    """The step of the convolution, which the run must keep."""
    kept, step = kept_step(task.model), task.stepping.step
    assert kept is not None
    if event_count(task.model):
        raise SwelltreeError(
            "radiation='convolution' keeps its step, and this model switches at events "
            "(latching, declutching) between steps. Compile with radiation='state_space'."
        )
    if task.solver != "rk4":
        raise SwelltreeError(
            f"radiation='convolution' needs solver='rk4' with its step of {kept:g} s, "
            f"not '{task.solver}'. Use radiation='state_space' with adaptive solvers."
        )
    if step is not None and abs(step - kept) > 1e-9 * kept:
        raise SwelltreeError(
            f"step {step:g} s is not the {kept:g} s that the convolution was compiled for. "
            f"Compile with step={step:g}."
        )
    ratio = np.diff(task.times - task.begin, prepend=0.0) / kept
    if np.abs(ratio - np.round(ratio)).max() > 1e-6:
        raise SwelltreeError(
            f"output times must be multiples of the convolution's step of {kept:g} s. "
            "Choose output_step accordingly."
        )
    return kept


def _corners(task: Task, options: Options) -> Tree:
    """Where steps end besides the samples."""
    model, step = task.model, options.step / options.parts
    times = np.union1d(task.begin, task.times)
    if kept_step(model) is not None:  # means over the steps stand for loads in time
        return padded_corners(())
    known = corner_times(model)
    if is_traced(model):
        return padded_corners(known)
    if task.solver != "rk4":
        return padded_corners(np.concatenate([known, noticed_times(model, times)]))
    if np.isfinite(options.free_until):  # the steps themselves, which pass over samples
        times = np.append(np.arange(times[0], times[-1], step), times[-1])
    unseen, divided = unseen_times(model, times, step)
    if divided and not unseen.size:
        warn_user(
            f"step {step:g} s is too long for a function of time in this model: in {divided} steps "
            "it does what its values at their ends and middles do not show. Give a shorter step."
        )
    return padded_corners(np.concatenate([known, unseen]))
