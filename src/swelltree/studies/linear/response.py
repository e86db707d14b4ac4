"""`response`: a sea acting on the linear model, as standard deviations and mean powers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.options import ResponseOptions, with_options
from swelltree.describe.values import NamedValues
from swelltree.model.checks import refuse_lines_alone
from swelltree.model.model import Model
from swelltree.mooring.dynamic.lines import with_static_lines
from swelltree.multibody.formulations import formulation as chosen_formulation
from swelltree.studies.linear.drag import Waves
from swelltree.studies.linear.drag_response import check_drag, with_drag
from swelltree.studies.linear.excitation import waves_of
from swelltree.studies.linear.frequency_modes import (
    HEADING,
    WORLD,
    body_motion,
    damper_power,
    described_order,
    labels_of,
    pto_rows,
    wave_power,
)
from swelltree.studies.linear.line_response import line_system
from swelltree.studies.linear.line_tensions import response_variables, tensions, with_line_notes
from swelltree.studies.linear.linear_model import LinearModel
from swelltree.studies.linear.linearise import linear_model
from swelltree.studies.linear.rao import check_excited
from swelltree.studies.options import check_traced, study_of_model
from swelltree.studies.statics.relax import check_no_drums
from swelltree.waves.sea import AnySea

if TYPE_CHECKING:
    import xarray as xr


@study_of_model
@with_options(ResponseOptions)
def response(model: Model, sea: AnySea, **options: Unpack[ResponseOptions]) -> xr.Dataset:
    """Response of the linearised system to a sea: standard deviations and mean powers.

    Returns a dataset with `standard_deviation` (body, dof) of the displacement, in the axes of each
    body's heading, `velocity_deviation` of the `velocity` of runs (world axes),
    `coordinate_deviation`, the variance by component (`variance`, over `component` with its
    `omega`) and the response `spectrum`, divided by the band of the sea's spectrum that each
    component stands for (not a number for a regular wave, which has none); `absorbed_power` (pto)
    [W] and `capture_width` [m], and `damper_power` of all dampers (element) [W]; of lines
    `fairlead_tension_deviation` and `anchor_tension_deviation` [N] with their spectra, and along
    them `line_tension_deviation` or `line_node_tension_deviation`. With drag the nodes of dynamic
    lines are degrees of freedom; otherwise these lines are treated as static catenaries.

    Args:
        model: compiled with hydro data.
        sea: a described sea.
    """
    chosen: NamedValues = {**options}
    radiation, drag = chosen["radiation"], chosen["drag"]
    check_traced("response", model, sea)
    refuse_lines_alone(model, "response")
    with_lines, model = model, with_static_lines(model, "response")
    check_no_drums(model, "response")
    check_excited(model, radiation)
    how = chosen_formulation(chosen["formulation"])
    check_drag(drag)
    waves = waves_of(model, sea, chosen["case"])
    w, beta, a, _ = waves
    if drag == "harmonic" and len(w) > 1:
        raise SwelltreeError("drag='harmonic' is for regular waves. Use drag='stochastic'.")
    linear = linear_model(
        model, how, radiation, start=chosen["start"], drag_apart=drag != "none", study="response"
    )
    system = None if drag == "none" else line_system(linear, with_lines)
    moved = with_drag(linear, waves, linear.excitation(w, beta), drag, system)
    attrs = {"study": "response", "sea": repr(sea), "drag": drag, "drag_rounds": moved.rounds}
    result = _to_dataset(linear, waves, moved.y * a[:, None], attrs)
    found = tensions(linear, w, moved.y, system, moved.lines)
    if found is None:
        return result
    result = result.assign(response_variables(found, a, waves.width))
    return with_line_notes(result.assign_coords(line=list(found.lines)), system)


def _to_dataset(linear: LinearModel, waves: Waves, y: np.ndarray, attrs: NamedValues) -> xr.Dataset:
    """Deviations, spectra and powers of amplitudes (c, f) of the free directions."""
    import xarray as xr

    w, beta, a, width = waves
    X = body_motion(linear, y)
    variance = 0.5 * np.abs(X) ** 2
    rate = w[:, None, None] * np.abs(described_order(linear, y @ linear.to_bodies.T))
    joints = 0.5 * np.abs(y @ linear.to_coordinates.T) ** 2
    power = damper_power(linear, w, y).sum(axis=0)
    absorbed = power[pto_rows(linear)]
    motion = {
        "units": "m, rad",
        "long_name": "standard deviation of displacement",
        "frame": HEADING,
    }
    squared = motion | {"units": "m^2, rad^2", "long_name": "variance of displacement"}
    joint = {
        "units": "m, rad",
        "long_name": "standard deviation of joint coordinate",
        "frame": "joint axes",
    }
    data = {
        "standard_deviation": (("body", "dof"), np.sqrt(variance.sum(0)), motion),
        "velocity_deviation": (
            ("body", "dof"),
            np.sqrt(0.5 * (rate**2).sum(0)),
            {"units": "m/s, rad/s", "long_name": "standard deviation of velocity", "frame": WORLD},
        ),
        "coordinate_deviation": ("coordinate", np.sqrt(joints.sum(0)), joint),
        "variance": (("component", "body", "dof"), variance, squared),
        "absorbed_power": ("pto", absorbed, {"units": "W", "long_name": "mean absorbed power"}),
        "damper_power": (
            "element",
            power,
            {"units": "W", "long_name": "mean power of all dampers, PTOs or not"},
        ),
        "capture_width": (
            "pto",
            absorbed / wave_power(linear.at.model, w, a),
            {"units": "m", "long_name": "absorbed power over wave power per metre of crest"},
        ),
    }
    if width is not None and np.any(width):
        # a wave that stands for itself has no density
        band = np.where(width > 0, width, np.nan)[:, None, None]
        data["spectrum"] = (
            ("component", "body", "dof"),
            variance / band,
            {
                "units": "m^2 s/rad, rad s",
                "long_name": "response spectrum of displacement",
                "frame": HEADING,
            },
        )
    coords = {
        "omega": ("component", w, {"units": "rad/s"}),
        "wave_direction": ("component", beta, {"units": "rad"}),
    }
    notes = " ".join([*linear.at.model.report, *linear.notes, *linear.internal.notes()])
    return xr.Dataset(data, coords | labels_of(linear), attrs | {"report": notes})
