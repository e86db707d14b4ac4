"""`simulate`: the motion of a model in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.values import NamedValues
from swelltree.integrate.stepper import OutputOptions, Stepper, drive
from swelltree.jit import Array, Tree, let_go_of_large, trim_cache
from swelltree.model.model import Model, Pose
from swelltree.model.solved import coupled_effect
from swelltree.multibody.formulations import Formulation
from swelltree.results.sea import finished
from swelltree.studies.options import study_of_model
from swelltree.studies.time.complementarity.stepper import two_step_stepper
from swelltree.studies.time.complementarity.traced import two_step_traced
from swelltree.studies.time.result import checked, result_of
from swelltree.studies.time.smooth import smooth_stepper, smooth_traced
from swelltree.studies.time.task import TWO_STEP, RunOptions, Sampling, Stepping, Task, read_task
from swelltree.studies.time.winch_findings import (
    validate_winch_commands,
    warn_light_hook_loads,
)
from swelltree.waves.sea import AnySea

if TYPE_CHECKING:
    import xarray as xr

CHUNK = 200  # samples between two moves of the progress bar
SLOW_CHUNK = 20  # the same where every sample takes long


@study_of_model
def simulate(
    model: Model,
    sea: AnySea | None = None,
    *,
    duration: float = 0.0,
    output_step: float | None = None,
    times: Array | None = None,
    extremes: Sequence[str] = (),
    formulation: str | Formulation | None = None,
    solver: str | None = None,
    rtol: float = 1e-6,
    atol: float = 1e-9,
    step: float | None = None,
    max_step: float | None = None,
    start: Tree = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    progress: bool | None = None,
    chunk: int | None = None,
    max_steps_per_output: int = 64,
    case: int | str = 0,
    excitation: str = "components",
    provenance: NamedValues | None = None,
) -> xr.Dataset:
    """Simulate a model and return an `xarray.Dataset`.

    Inside `jit`, `grad` or `vmap` it gives what `simulate_traced` does.

    Args:
        model: from `compile`.
        sea: a described sea; still water if not given.
        duration: [s].
        output_step: time between samples, over which steps may pass [s]; if not given a twentieth
            of the shortest period of the waves and of the bodies, and no more than a two-hundredth
            of the duration.
        times: the output times themselves, instead of duration and step [s].
        extremes: channels whose largest, smallest and mean values between samples are kept, step
            by step: ``["line_tension"]`` gives ``line_tension_max``, ``line_tension_min`` and
            ``line_tension_mean`` since the sample before.
        formulation: name or object: path_matrix (the default), partial_velocity, composite_body,
            partition, lagrange. The two-step scheme knows lagrange (its default) and path_matrix
            (its default where all bodies and joints together have more than 100 unknowns).
        solver: tsit5 (adaptive, the default), dopri5 (adaptive), rk4 (fixed step) or stiff
            (implicit). Systems with dynamic lines or contacts are stepped by two_step or
            interior_point.
        rtol: relative tolerance of the adaptive solvers.
        atol: absolute tolerance of the adaptive solvers; ten times the largest residual of steps of
            the two-step scheme [m, rad].
        step: step of rk4 [s], the output step if not given; of the two-step scheme, chosen from
            the waves and the bodies' periods if not given.
        max_step: longest step of any solver [s]. Without it steps grow as far as the tolerances
            allow; they end at the breakpoints of tables and operations, and functions of time are
            sampled for theirs.
        start: the result of another run of the same model, to go on where it ended (time goes on
            too, and with it the waves); another initial phase than the assembled one; or a word:
            "equilibrium" (at rest in still water, the default of systems with lines) or
            "described" (bodies as described, lines at rest), with dynamic lines also "cold" (drawn
            straight between their ends).
        checkpoint: folder that keeps the run chunk by chunk.
        resume: continue from that folder.
        progress: show a progress bar; by default on a terminal.
        chunk: samples per chunk, 200 if not given, 20 with weak scatterers.
        max_steps_per_output: most steps between outputs inside a derivative.
        case: number or name of the run; with the seed of the sea it gives the random phases.
        excitation: "components" (sum over the waves) or "convolution" (impulse response on the
            elevation at the origin, which looks ahead in time).
        provenance: attributes added to the result.
    """
    output_options = OutputOptions(CHUNK if chunk is None else chunk, progress, checkpoint, resume)
    sampling = Sampling(duration, output_step, times, _names(extremes))
    stepping = Stepping(rtol, atol, step, max_step)
    requested = RunOptions(stepping, solver, formulation, start, case, excitation)
    task = read_task(model, sea, sampling, requested)
    if task.traced:
        return _traced(task, max_steps_per_output)  # type: ignore[return-value]
    findings = checked(task.still)
    validate_winch_commands(task.model, task.times)
    warn_light_hook_loads(task.model)
    trim_cache()
    if chunk is None and coupled_effect(task.model) is not None:
        output_options = replace(output_options, chunk=SLOW_CHUNK)
    stepper = stepper_of(task, min(output_options.chunk, len(task.times)))
    try:
        return result_of(
            task, drive(stepper, task.times, output_options), sea, findings, provenance
        )
    finally:
        let_go_of_large()


def simulate_traced(
    model: Model,
    sea: AnySea | None = None,
    *,
    duration: float = 0.0,
    output_step: float | None = None,
    times: Array = None,
    extremes: Sequence[str] = (),
    formulation: str | Formulation | None = None,
    solver: str | None = None,
    rtol: float = 1e-6,
    atol: float = 1e-9,
    step: float | None = None,
    max_step: float | None = None,
    start: Tree = None,
    max_steps_per_output: int = 64,
    case: int | str = 0,
    excitation: str = "components",
) -> dict[str, Array]:
    """Simulate inside `jit`, `grad` or `vmap`: arrays under the names of `simulate`, time first.

    Besides the channels there are `time`, `code` (`solvers.solution.Code`) and `loop_margin`, of
    smooth solvers `phase` too (the state at every sample), of the two-step scheme `solved`.
    Arguments as in `simulate`.
    """
    sampling = Sampling(duration, output_step, times, _names(extremes))
    stepping = Stepping(rtol, atol, step, max_step)
    requested = RunOptions(stepping, solver, formulation, start, case, excitation)
    task = read_task(model, sea, sampling, requested)
    return _traced(task, max_steps_per_output)


def stepper_of(task: Task, width: int) -> Stepper:
    """The stepper of the solver that a task asks for.

    Args:
        task: of the run.
        width: samples that one program has room for.
    """
    return two_step_stepper(task, width) if task.solver in TWO_STEP else smooth_stepper(task)


def _names(extremes: Sequence[str]) -> tuple[str, ...]:
    if isinstance(extremes, str):
        raise SwelltreeError(f"extremes '{extremes}' is one name. Give a list: ['{extremes}'].")
    return tuple(extremes)


def _traced(task: Task, max_steps: int) -> dict[str, Array]:
    """The whole run in one graph, under the names of results."""
    two_step = task.solver in TWO_STEP
    channels = two_step_traced(task) if two_step else smooth_traced(task, max_steps)
    adjacent = {name: channels.pop(name) for name in TRACED_ONLY if name in channels}
    first = Pose(channels["position"][0], channels["rotation"][0])
    datum, _ = task.datum_at(float(task.times[0]), first)
    return finished(task.model.replace(datum=datum), channels) | adjacent


TRACED_ONLY = ("time", "phase", "solved", "code", "loop_margin")  # what only traced runs give
