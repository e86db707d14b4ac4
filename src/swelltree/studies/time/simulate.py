"""`simulate`: the motion of a model in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from swelltree.describe.options import (
    OutputOptions,
    SimulateOptions,
    TracedOptions,
    options_of,
    with_options,
)
from swelltree.describe.values import NamedValues
from swelltree.integrate.complementarity.run import room_for
from swelltree.integrate.stepper import Stepper, drive, samples_per_chunk
from swelltree.jit import Array, let_go_of_large, trim_cache
from swelltree.model.model import Model, Pose
from swelltree.model.solved import coupled_effect
from swelltree.results.sea import finished
from swelltree.studies.options import study_of_model
from swelltree.studies.time.complementarity.stepper import two_step_stepper
from swelltree.studies.time.complementarity.traced import two_step_traced
from swelltree.studies.time.result import checked, result_of
from swelltree.studies.time.smooth import smooth_stepper, smooth_traced
from swelltree.studies.time.task import TWO_STEP, Task, read_task
from swelltree.studies.time.winch_findings import (
    validate_winch_commands,
    warn_light_hook_loads,
)
from swelltree.waves.sea import AnySea

if TYPE_CHECKING:
    import xarray as xr

SLOW_CHUNK = 20  # samples of a chunk where every sample takes long


@study_of_model
@with_options(SimulateOptions)
def simulate(
    model: Model, sea: AnySea | None = None, **options: Unpack[SimulateOptions]
) -> xr.Dataset:
    """Simulate a model and return an `xarray.Dataset`.

    Inside `jit`, `grad` or `vmap` it gives what `simulate_traced` does.

    Args:
        model: from `compile`.
        sea: a described sea; still water if not given.
    """
    requested: NamedValues = {**options}
    output = {name: requested[name] for name in options_of(OutputOptions)}
    task = read_task(model, sea, requested)
    if task.traced:
        return _traced(task, requested["max_steps_per_output"])  # type: ignore[return-value]
    findings = checked(task.still)
    validate_winch_commands(task.model, task.times)
    warn_light_hook_loads(task.model)
    trim_cache()
    if output["chunk"] is None and coupled_effect(task.model) is not None:
        output["chunk"] = SLOW_CHUNK
    output["chunk"], room = chunk_and_room(task, output["chunk"])
    stepper = stepper_of(task, room)
    try:
        run = drive(stepper, task.times, **output)
        return result_of(task, run, sea, findings, requested["provenance"])
    finally:
        let_go_of_large()


@with_options(TracedOptions)
def simulate_traced(
    model: Model, sea: AnySea | None = None, **options: Unpack[TracedOptions]
) -> dict[str, Array]:
    """Simulate inside `jit`, `grad` or `vmap`: arrays under the names of `simulate`, time first.

    Besides the channels there are `time`, `code` (`solvers.solution.Code`) and `loop_margin`, of
    smooth solvers `phase` too (the state at every sample), of the two-step scheme `solved`.

    Args:
        model: from `compile`.
        sea: a described sea; still water if not given.
    """
    requested: NamedValues = {**options}
    return _traced(read_task(model, sea, requested), requested["max_steps_per_output"])


def stepper_of(task: Task, width: int) -> Stepper:
    """The stepper of the solver that a task asks for.

    Args:
        task: of the run.
        width: samples that one program has room for.
    """
    return two_step_stepper(task, width) if task.solver in TWO_STEP else smooth_stepper(task)


def chunk_and_room(task: Task, chunk: int | None) -> tuple[int, int]:
    """Samples of a chunk of a run, and samples that its program has room for.

    Args:
        task: of the run.
        chunk: as requested, or None.
    """
    if task.solver not in TWO_STEP:
        samples = samples_per_chunk(chunk, task.times)
        return samples, samples
    room = room_for(task.model)
    samples = samples_per_chunk(room if chunk is None else chunk, task.times)
    return samples, max(samples, room)


def _traced(task: Task, max_steps: int) -> dict[str, Array]:
    """The whole run in one graph, with result names."""
    two_step = task.solver in TWO_STEP
    channels = two_step_traced(task) if two_step else smooth_traced(task, max_steps)
    adjacent = {name: channels.pop(name) for name in TRACED_ONLY if name in channels}
    first = Pose(channels["position"][0], channels["rotation"][0])
    datum, _ = task.datum_at(float(task.times[0]), first)
    return finished(task.model.replace(datum=datum), channels) | adjacent


TRACED_ONLY = ("time", "phase", "solved", "code", "loop_margin")  # what only traced runs give
