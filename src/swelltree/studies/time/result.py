"""The labelled result of a run, with how it ended and what was found before and after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from swelltree.effects.controllers.controllers import raise_faults
from swelltree.effects.weak_scatterer.effect import WeakScatterers
from swelltree.engine.arrays import Tree
from swelltree.model.model import Model, Pose
from swelltree.results.channels import finished
from swelltree.results.dataset import Labelled, to_dataset
from swelltree.solvers.solution import Code
from swelltree.solvers.stepper import Driven, Stepper
from swelltree.studies.doctor.brief import brief_check
from swelltree.studies.doctor.sea import mesh_of_the_tank
from swelltree.studies.seas import elevation_variable, with_sea_told
from swelltree.studies.time.continuing import end_row
from swelltree.studies.time.linear_range import left_linear_range
from swelltree.studies.time.task import Task
from swelltree.studies.time.watch import watched
from swelltree.studies.time.winch_findings import tell_of_winches
from swelltree.system.errors import SwelltreeError, warn_user
from swelltree.system.named_values import NamedValues

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.system.findings import Finding
    from swelltree.waves.sea import AnySea


@runtime_checkable
class Run(Protocol):
    """A run that was stepped, by the driver or by hand."""

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
    def channels(self) -> dict[str, np.ndarray]:
        """All channels at all times reached."""
        ...


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
    return result if sea is None or waves is None else with_sea_told(result, sea, waves)


def _labelled(
    task: Task, run: Run, provenance: NamedValues | None, surface: dict[str, Labelled]
) -> xr.Dataset:
    """The dataset of a run, with how it ended and where another can go on."""
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
    kept = end_row(task.still, run.stepper.coordinates, end, time, float(run.times[-1]))
    model, source = _with_datum(task, run, channels)
    result = to_dataset(model, run.times, channels, attrs, near, kept, surface, source, done)
    if run.code is not Code.SUCCESS:
        # on the axis, so that every variable taken out of the result knows it
        result["time"].attrs["ended"] = run.message
    tell_of_winches(task.model, result)
    return result


def _with_datum(task: Task, run: Run, channels: dict[str, np.ndarray]) -> tuple[Model, str]:
    """The model with what displacements are counted from, and what that is in words."""
    first = Pose(channels["position"][0], channels["rotation"][0])
    datum, source = task.datum_at(float(run.times[0]), first)
    return task.model.replace(datum=datum), source


def checked(model: Model) -> list[Finding]:
    """Brief checks of the physics of a model, given as warnings."""
    findings = brief_check(model)
    for finding in findings:
        warn_user(finding.sentence)
    return findings


def _with_findings(task: Task, result: xr.Dataset, before: list[Finding]) -> xr.Dataset:
    """The result with what was found before and after the run."""
    after = left_linear_range(task.model, result, task.waves)
    mesh = _asked_accuracy(task)
    for finding in after + [finding for finding in mesh if finding.severity != "note"]:
        warn_user(finding.sentence)
    for finding in mesh:
        result.attrs["weak_scatterer_estimated_error"] = finding.numbers["estimated_error"]
    result.attrs["findings"] = "\n".join(str(finding) for finding in before + after + mesh)
    return result


def _asked_accuracy(task: Task) -> list[Finding]:
    """Error of the mesh of weak scatterers of which an accuracy was asked."""
    effect = task.model.effect(WeakScatterers)
    if effect is None or effect.accuracy is None or task.waves is None:
        return []
    return mesh_of_the_tank(task.still, task.waves)
