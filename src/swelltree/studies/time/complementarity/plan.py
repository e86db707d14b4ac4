"""How a run by the two-step scheme is stepped: its coordinates, its step, where its samples lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from swelltree.compiler.functions_of_time import IN_A_STEP, functions_of_time, pulses, sampled
from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.hydro.linear.radiation import radiation_memory
from swelltree.integrate.complementarity.samples import Sample
from swelltree.integrate.complementarity.state import SchemeOptions, form_of, locks
from swelltree.jit import Array, is_traced
from swelltree.model.capabilities import (
    ChecksStep,
    CommandsStrokes,
    HasEvents,
    HasWinches,
    InternalState,
    having,
)
from swelltree.model.model import Model
from swelltree.model.solved import fixed_step
from swelltree.multibody.formulations.base import Phase, State
from swelltree.multibody.formulations.equations import event_values, switched
from swelltree.multibody.formulations.path_matrix import PathMatrix
from swelltree.pto.controllers.controllers import controllers_of
from swelltree.results.sea import chosen
from swelltree.studies.time.complementarity.channels import observe
from swelltree.studies.time.complementarity.start import default_step
from swelltree.studies.time.task import Task
from swelltree.studies.time.verify import longest_step, refuse_fast_winches

# Events that the two-step scheme lets happen between its steps, in tree coordinates.
#
# They are those of the smooth solvers: an element of a cable that is too long is split, one
# that is too short is merged. The scheme knows no formulation; it is handed this.

TREE = PathMatrix()


@dataclass(frozen=True)
class TreeEvents:
    """Events of a model at the end of a step; `Form.events`."""

    def values(
        self, model: Model, t: Array, q: Array, s: Array, work: Array, internal: InternalState
    ) -> Array:
        """Event functions that have crossed zero in the step."""
        return event_values(model, TREE, t, _phase(model, q, s, work, internal))

    def switched(
        self,
        model: Model,
        t: Array,
        q: Array,
        s: Array,
        work: Array,
        internal: InternalState,
        hit: Array,
    ) -> tuple[Array, Array, Array, dict[str, Array]]:
        """Coordinates, velocities, work and states of effects after the events."""
        after = switched(model, TREE, t, _phase(model, q, s, work, internal), hit)
        return after.state.q, after.state.s, after.work, after.internal.elements


def _phase(model: Model, q: Array, s: Array, work: Array, internal: InternalState) -> Phase:
    return Phase(State(q, s, TREE.start(model).chart), work, internal)


def with_events(model: Model, form: SchemeOptions) -> SchemeOptions:
    """The form with the events of the model."""
    winds = any(isinstance(e, HasWinches) and e.event_count for e in having(model, HasEvents))
    return replace(form, events=TreeEvents()) if winds else form


FINER = 20  # steps may be this much shorter than wanted to lead to uneven output times
OFF = 1e-6  # of a step: so far may an output time be from a whole number of steps


@dataclass(frozen=True)
class Plan:
    """Coordinates and step of a run."""

    form: SchemeOptions
    step: float
    marks: np.ndarray  # (sample,) steps from the start to each sample

    @property
    def formulation(self) -> str:
        """Name of the formulation with these coordinates."""
        return "path_matrix" if self.form.joint_coordinates else "lagrange"


def plan(task: Task) -> Plan:
    check_supported_discontinuities(task.model)
    if locks(task.model) and task.formulation.name == "lagrange":
        raise SwelltreeError(
            "formulation 'lagrange' has no tree coordinates, in which the elements on the drum of "
            "a winch are locked. Use formulation='path_matrix', or leave it out."
        )
    form = form_of_task(task)
    step, longest = task.stepping.step, task.stepping.longest
    if step is None and task.goes_on:
        step = task.start.attrs.get("step")
    requested = step
    if requested is None:
        requested = min(default_step(task.model, task.waves), longest_step(task.model, task.times))
    requested = min(requested, longest, fixed_step(task.model) or requested)
    every = sample_times(task.model)
    for effect in having(task.model, ChecksStep):
        if not (isinstance(effect, CommandsStrokes) and effect.event_count and step is None):
            effect.check_step(requested if step is None else step)
    refuse_fast_winches(task.model, requested, task.times)
    specified = step if step is not None and step <= longest else None
    times = task.times - task.begin
    if specified is None and every:
        requested = grid(np.union1d(times, every), requested)[0]
    built = Plan(form, *grid(times, requested, specified if not every else requested))
    warn_of_pulses(task.model, task.times, built.step)
    return built


def warn_of_pulses(model: Model, times: np.ndarray, step: float) -> None:
    """Warn of features of time functions that samples within steps do not resolve."""
    if is_traced(model) or len(times) < 2 or not times[-1] > times[0]:
        return
    at = np.linspace(times[0], times[-1], max(int(IN_A_STEP * np.ptp(times) / step), 2) + 1)
    for function in functions_of_time(model):
        found = pulses(function, at, sampled(function, at))
        if found.size:
            warn_user(
                f"step {step:g} s is too long for a function of time in this model: at "
                f"t = {found.min():.6g} s it does what {IN_A_STEP} samples in a step do not show. "
                "Give a shorter step, or a table, which is integrated exactly."
            )
            return


def sample_times(model: Model) -> list[float]:
    """Sample times of sampled controllers [s]."""
    known = (controller.sample_time for controller in controllers_of(model))
    return [float(every) for every in known if every is not None]


def form_of_task(task: Task) -> SchemeOptions:
    return replace(
        with_events(task.model, form_of(task.model, task.formulation.name)),
        interior_point=task.solver == "interior_point",
        tolerance=task.stepping.atol / 10.0,
        stored=output_channels(task.extremes),
    )


def check_supported_discontinuities(model: Model) -> None:
    """Reject forces with events or convolution memory, which fixed steps do not support."""
    memory = radiation_memory(model)
    if memory is not None and memory.fitted is None:
        raise SwelltreeError(
            "radiation='convolution' is not supported by the two-step scheme of dynamic lines and "
            "contacts. Compile with radiation='state_space'."
        )
    for effect in having(model, HasEvents):
        if what := effect.exact_events():
            raise SwelltreeError(
                f"{what} switches at events, which the two-step scheme of dynamic lines and "
                "contacts does not support. Use lines with model='quasi_static' and "
                "solver='tsit5', or another PTO."
            )
    for controller in controllers_of(model):
        rates = any(is_rate for _, _, is_rate in controller.measures)
        if controller.n_surfaces and rates and not controller.states:
            raise SwelltreeError(
                f"controller '{controller.name}': its force jumps with a rate, which the two-step "
                "scheme of dynamic lines and contacts solves for. Keep what jumps in a state, "
                "which changes between steps, or give sample_time."
            )


@lru_cache(maxsize=64)
def output_channels(
    names: tuple[str, ...],
) -> Callable[[Model, SchemeOptions, Sample], dict[str, Array]] | None:
    """Function of the channels whose extremes are recorded; None without any."""

    def stored(model: Model, form: SchemeOptions, sample: Sample) -> dict[str, Array]:
        return chosen(model, observe(model, form, sample), names)

    return stored if names else None


def grid(
    times: np.ndarray, requested: float, specified: float | None = None
) -> tuple[float, np.ndarray]:
    """Step that leads to all output times, and how many of them lie before each.

    Args:
        times: output times from the start of the run on [s].
        requested: longest step [s].
        specified: the step itself, if it is given [s].
    """
    gaps = np.diff(times, prepend=0.0)
    gaps = gaps[gaps > 1e-12 * max(1.0, times[-1])]
    shortest = 1.0
    if gaps.size:
        even = np.ptp(gaps) < 1e-9 * gaps[0]
        shortest = float(gaps[0] if even else gaps.min())
    if specified is not None:
        steps = np.round(times / specified)
        off = np.abs(times / specified - steps)
        if off.max() > OFF:
            raise _not_a_multiple(times, specified, int(off.argmax()))
        return specified, steps.astype(np.int64)
    least = max(1, int(np.ceil(shortest / requested - 1e-9)))
    for count in range(least, FINER * least + 1):
        steps = np.round(times * (count / shortest))
        if np.abs(times * (count / shortest) - steps).max() <= OFF:
            return shortest / count, steps.astype(np.int64)
    raise SwelltreeError(
        f"times: no step between {shortest / (FINER * least):.3g} and {shortest / least:.3g} s "
        "leads to all of them, and the two-step scheme has a fixed step. Give times on a grid, "
        "such as np.round(times, 2), or duration and output_step."
    )


def _not_a_multiple(times: np.ndarray, step: float, k: int) -> SwelltreeError:
    gaps = np.diff(times)
    if gaps.size and np.ptp(gaps) < 1e-9 * gaps[0]:
        return SwelltreeError(
            f"output_step {gaps[0]:g} s is not a multiple of step {step:g} s. Change one of them."
        )
    return SwelltreeError(
        f"times: {times[k]:g} s is not a multiple of step {step:g} s. Change one of them."
    )
