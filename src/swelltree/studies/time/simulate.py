"""`simulate`: the motion of a model in time.

The labelled result of a run, with how it ended and what was found before and after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, Unpack, runtime_checkable

import numpy as np

from swelltree.describe.errors import Finding, SwelltreeError, sorted_findings, warn_user
from swelltree.describe.options import (
    OutputOptions,
    SimulateOptions,
    TracedOptions,
    options_of,
    with_options,
)
from swelltree.describe.values import NamedValues
from swelltree.forces.between_bodies import too_long_step
from swelltree.hydro.linear.hydro import excitation_of, linear_hydro
from swelltree.hydro.weak_scatterer.effect import WeakScatterers
from swelltree.integrate.complementarity.run import room_for
from swelltree.integrate.problem import Code
from swelltree.integrate.stepper import Driven, Stepper, drive, samples_per_chunk
from swelltree.jit import Array, Tree, let_go_of_large, trim_cache
from swelltree.model.checks import mass_against_displacement
from swelltree.model.model import Model, Pose
from swelltree.model.solved import coupled_effect
from swelltree.mooring.cable.cables import cables_of
from swelltree.mooring.catenary.left_out import warnings_of_lines
from swelltree.pto.controllers.controllers import raise_faults
from swelltree.results.dataset import Labelled, to_dataset
from swelltree.results.sea import finished
from swelltree.studies.checks.sea import (
    CUT_OFF,
    YAW,
    damping_decayed,
    mesh_of_the_tank,
    outside_linear_range,
)
from swelltree.studies.options import (
    Remembered,
    elevation_variable,
    end_row,
    study_of_model,
    with_sea_attributes,
)
from swelltree.studies.time.complementarity.stepper import two_step_stepper
from swelltree.studies.time.complementarity.traced import two_step_traced
from swelltree.studies.time.smooth import smooth_stepper, smooth_traced
from swelltree.studies.time.task import TWO_STEP, Task, read_task
from swelltree.studies.time.verify import (
    validate_winch_commands,
    warn_light_hook_loads,
    warn_winch_findings,
    watched,
)
from swelltree.waves.airy import Components
from swelltree.waves.sea import AnySea, RealisedSea

if TYPE_CHECKING:
    import xarray as xr


_known = Remembered()  # findings about the last models


def brief_check(model: Model) -> list[Finding]:
    """Quick checks before every run, without compilation."""
    # models that are equal in all arrays may be described with other hulls
    notes, afloat = _known.about(model), model.described.afloat
    if afloat not in notes:
        found = [*mass_against_displacement(model), *damping_decayed(model, CUT_OFF)]
        notes[afloat] = sorted_findings([one for one in found if one.severity != "note"])
    return notes[afloat]


# --- After a run: did the motion stay where the model holds?

HALF_TURN = 0.9 * np.pi  # rad: a bushing that is turned more may pass half a turn unseen
FAR = 0.125  # wave lengths: farther away, the excitation has another phase


def left_linear_range(model: Model, result: xr.Dataset, waves: RealisedSea | None) -> list[Finding]:
    """Findings about a run that went beyond what its linear data can say.

    Args:
        model: that was run.
        result: its dataset.
        waves: realised sea, or None.
    """
    findings: list[Finding] = []
    if "line_position" in result:
        findings += [*_through_the_ground(model, result), *_above_the_water(model, result)]
    findings += [*_half_a_turn(result), *_long_steps(model, result)]
    hydro = linear_hydro(model)
    if hydro is None:
        return findings
    stiffness = np.asarray(hydro.stiffness)
    for i, name in enumerate(result.body.values):
        k = model.layout.bodies.index(str(name))
        if not np.any(stiffness[6 * k : 6 * k + 6]):
            continue  # dry
        away = result.position.values[:, i] - result.position.values[0, i]
        amplitude = np.nanmax(np.abs(away), axis=0)
        reach = float(np.broadcast_to(np.asarray(hydro.reach), model.layout.n_bodies)[k])
        findings += outside_linear_range(model, str(name), amplitude, reach, "did")
        findings += _wandered(model, str(name), amplitude, waves)
    return findings


def _through_the_ground(model: Model, result: xr.Dataset) -> Iterator[Finding]:
    """Warn of multibody cables below the seabed, which they do not feel."""
    cables = cables_of(model)
    depth = float(model.water.depth)
    if cables is None or not np.isfinite(depth):
        return
    lowest = result.line_position.sel(axis="z").min("line_node")
    for name in cables.lines:
        of_line = lowest.sel(line=name)
        below = -depth - float(of_line.min())
        if below > 0.0:
            when = float(of_line.time[int(np.argmin(of_line.values))])
            yield Finding(
                "warning",
                "seabed",
                f"line '{name}' was {below:.3g} m below the seabed at t = {when:.4g} s: chains of "
                "bodies do not touch it. Use model='dynamic'.",
                {"below": below},
            )


def _above_the_water(model: Model, result: xr.Dataset) -> Iterator[Finding]:
    """Warn of quasi-static lines above the water, which keep their submerged weight."""
    for text in warnings_of_lines(model, result):
        yield Finding("warning", "dry line", text)


def _long_steps(model: Model, result: xr.Dataset) -> Iterator[Finding]:
    """Warn of fixed steps that are too long for friction between bodies."""
    step = float(result.attrs.get("step", 0.0))
    text = too_long_step(model, step) if step > 0.0 else ""
    if text:
        yield Finding("warning", "contact step", text)


def _half_a_turn(result: xr.Dataset) -> Iterator[Finding]:
    """Warn of bushings with rotations near half a turn, where the rotation vector changes sign."""
    if "bushing_deformation" not in result:
        return
    turns = np.linalg.norm(result.bushing_deformation.values[..., 3:], axis=-1)
    for name, turn in zip(result.bushing.values, turns.T, strict=True):
        if np.nanmax(turn) > HALF_TURN:
            when = float(result.time[int(np.argmax(turn > HALF_TURN))])
            yield Finding(
                "warning",
                "bushing",
                f"bushing '{name}' is turned by {np.degrees(np.nanmax(turn)):.0f} degrees, from "
                f"t = {when:.4g} s on near half a turn: beyond it its moment changes sign. Use a "
                "joint with a JointForce, which counts turns, or stiffen it.",
                {"turn": float(np.nanmax(turn))},
            )


def _wandered(
    model: Model, name: str, amplitude: np.ndarray, waves: RealisedSea | None
) -> Iterator[Finding]:
    """Warn of bodies that drift to another wave phase or heading."""
    loads = excitation_of(model)
    if loads is None or loads.follows_bodies or not isinstance(waves, Components):
        return
    k = float(waves.wavenumber[int(np.argmax(waves.amplitude))])
    length = 2 * np.pi / k
    gone = float(np.hypot(*amplitude[:2]))
    if gone > FAR * length:
        yield Finding(
            "warning",
            "linear range",
            f"body '{name}' went {gone:.3g} m from its mean position, {gone / length:.2g} of the "
            "wave's length, but its excitation was that of the mean position. Use "
            "simulate(..., excitation='moving').",
            {"distance": gone},
        )
    if amplitude[5] > YAW:
        yield Finding(
            "warning",
            "linear range",
            f"body '{name}' turned by {np.degrees(amplitude[5]):.3g} degrees, but its data stayed "
            "in fixed axes. Use compile(..., frame='yaw').",
            {"yaw": float(amplitude[5])},
        )


@runtime_checkable
class Run(Protocol):
    """A completed run, by the driver or step by step."""

    @property
    def stepper(self) -> Stepper: ...
    @property
    def times(self) -> np.ndarray: ...
    @property
    def state(self) -> Tree: ...
    @property
    def code(self) -> Code: ...
    @property
    def message(self) -> str: ...
    def channels(self) -> dict[str, np.ndarray]: ...


def result_of(
    task: Task,
    run: Run,
    sea: AnySea | None,
    findings: list[Finding],
    provenance: NamedValues | None = None,
) -> xr.Dataset:
    """The dataset of a run that has looked at itself.

    Args:
        task: of the run.
        run: as it was stepped.
        sea: described.
        findings: before the run, from `checked`.
        provenance: attributes added.
    """
    waves = None if sea is None else task.waves
    surface = {} if waves is None else elevation_variable(waves, run.times)
    result = watched(task.model, _labelled(task, run, provenance, surface))
    result = _with_findings(task, result, findings)
    return result if sea is None or waves is None else with_sea_attributes(result, sea, waves)


def _labelled(
    task: Task, run: Run, provenance: NamedValues | None, surface: dict[str, Labelled]
) -> xr.Dataset:
    """Dataset of a run, with its end state for continuation."""
    raise_faults(task.model)
    if len(run.times) == 0:
        raise SwelltreeError(run.message)
    if run.code is not Code.SUCCESS:
        warn_user(run.message)
    ended = {"result": run.code.name.lower(), "message": run.message}
    if isinstance(run, Driven):
        # the first row of each part is that of the run
        finish = lambda part: finished(_with_datum(task, run, part)[0], part)  # noqa: E731
        channels, done = run.streamed(finish)
    else:
        channels, done = run.channels(), None
    attrs = run.stepper.about(run.state) | ended | (provenance or {})
    near = task.start.joint_coordinate.values[-1] if task.goes_on else None
    end, time = run.stepper.end(run.state)
    stored = end_row(task.still, run.stepper.coordinates, end, time, float(run.times[-1]))
    model, source = _with_datum(task, run, channels)
    result = to_dataset(model, run.times, channels, attrs, near, stored, surface, source, done)
    if run.code is not Code.SUCCESS:
        # on the axis, so that every variable taken out of the result knows it
        result["time"].attrs["ended"] = run.message
    warn_winch_findings(task.model, result)
    return result


def _with_datum(task: Task, run: Run, channels: dict[str, np.ndarray]) -> tuple[Model, str]:
    """The model with its displacement datum, and the datum's description."""
    first = Pose(channels["position"][0], channels["rotation"][0])
    datum, source = task.datum_at(float(run.times[0]), first)
    return task.model.replace(datum=datum), source


def checked(model: Model) -> list[Finding]:
    """Emit quick model checks as warnings."""
    findings = brief_check(model)
    for finding in findings:
        warn_user(finding.sentence)
    return findings


def _with_findings(task: Task, result: xr.Dataset, before: list[Finding]) -> xr.Dataset:
    """The result with findings from before and after the run."""
    after = left_linear_range(task.model, result, task.waves)
    mesh = _mesh_accuracy(task)
    for finding in after + [finding for finding in mesh if finding.severity != "note"]:
        warn_user(finding.sentence)
    for finding in mesh:
        result.attrs["weak_scatterer_estimated_error"] = finding.numbers["estimated_error"]
    result.attrs["findings"] = "\n".join(str(finding) for finding in before + after + mesh)
    return result


def _mesh_accuracy(task: Task) -> list[Finding]:
    """Mesh error of weak scatterers with a requested accuracy."""
    effect = task.model.effect(WeakScatterers)
    if effect is None or effect.accuracy is None or task.waves is None:
        return []
    return mesh_of_the_tank(task.still, task.waves)


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
