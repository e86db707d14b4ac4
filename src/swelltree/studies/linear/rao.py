r"""`rao`: response amplitude operators of the jointed, moored system.

.. math::
    \left[ -\omega^2 (M + T^\top A(\omega) T) - i\omega\, (C + T^\top B(\omega) T) + K \right] y
    = T^\top \hat F(\omega, \beta), \qquad X = T y

per metre of wave amplitude and exp(-iwt), with the matrices of the linear model (`linear_model`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import numpy as np

from swelltree.describe.options import RaoOptions, with_options
from swelltree.describe.values import NamedValues
from swelltree.hydro.linear.radiation import check_source
from swelltree.model.checks import refuse_lines_alone
from swelltree.model.model import Model
from swelltree.mooring.dynamic.lines import with_static_lines
from swelltree.multibody.formulations import formulation as chosen_formulation
from swelltree.studies.linear.drag import Waves
from swelltree.studies.linear.drag_response import check_drag, with_drag, with_drag_of_sea
from swelltree.studies.linear.excitation import requested, table_of
from swelltree.studies.linear.frequency_modes import (
    HEADING,
    body_motion,
    damper_power,
    labels_of,
    pto_rows,
    water_attributes,
)
from swelltree.studies.linear.line_response import line_system
from swelltree.studies.linear.line_tensions import rao_variables, tensions, with_line_notes
from swelltree.studies.linear.linear_model import LinearModel
from swelltree.studies.linear.linearise import linear_model
from swelltree.studies.linear.wave_forces import excited
from swelltree.studies.options import check_traced, study_of_model
from swelltree.studies.statics.relax import check_no_drums
from swelltree.waves.dispersion import dispersion, group_speed

if TYPE_CHECKING:
    import xarray as xr


def check_excited(model: Model, radiation: str) -> None:
    """Require wave excitation and a known radiation source."""
    check_source(radiation)
    if not excited(model):
        table_of(model)


@study_of_model
@with_options(RaoOptions)
def rao(model: Model, **options: Unpack[RaoOptions]) -> xr.Dataset:
    """Response amplitude operators of the jointed, moored system about its equilibrium.

    Returns a dataset: `rao` (omega, wave_direction, body, dof) complex, per metre of wave
    amplitude, displacements of the reference points in the axes of each body's heading at the
    equilibrium (roll and pitch are about the vessel's own axes); `coordinate_rao`; `absorbed_power`
    and `capture_width` of every PTO, per square metre of amplitude; `damper_power` of all dampers;
    of lines `fairlead_tension_rao`, `anchor_tension_rao` and, along them, `line_tension_rao` or
    `line_node_tension_rao` [N/m], with the tensions at the equilibrium. With drag the nodes of
    dynamic lines are degrees of freedom; otherwise these lines are treated as static catenaries.

    Args:
        model: compiled with hydro data, or with members or bodies loaded by waves without them.
    """
    chosen: NamedValues = {**options}
    radiation, drag, sea = chosen["radiation"], chosen["drag"], chosen["sea"]
    amplitude, start = chosen["amplitude"], chosen["start"]
    check_traced("rao", model, start)
    refuse_lines_alone(model, "rao")
    with_lines, model = model, with_static_lines(model, "rao")
    check_no_drums(model, "rao")
    check_excited(model, radiation)
    how = chosen_formulation(chosen["formulation"])
    check_drag(drag, amplitude, sea)
    w, beta = requested(model, chosen["omega"], chosen["wave_direction"])
    linear = linear_model(model, how, radiation, start=start, drag_apart=drag != "none")
    a = 1.0 if amplitude is None else np.asarray(amplitude, float)
    pairs = np.repeat(w, len(beta)), np.tile(beta, len(w))
    waves = Waves(*pairs, np.repeat(np.broadcast_to(a, w.shape), len(beta)))
    force = linear.excitation(*pairs)
    system = None if drag == "none" else line_system(linear, with_lines)
    if drag == "stochastic":
        response = with_drag_of_sea(linear, model, sea, waves, force, system)
    else:
        response = with_drag(linear, waves, force, drag, system)
    y = response.y.reshape(len(w), len(beta), -1)
    attrs = {"radiation": radiation, "drag": drag, "drag_rounds": response.rounds}
    result = _to_dataset(linear, w, beta, y, attrs | (chosen["provenance"] or {}))
    found = tensions(linear, waves.omega, response.y, system, response.lines)
    if found is None:
        return result
    result = result.assign(rao_variables(found, (len(w), len(beta))))
    return with_line_notes(result.assign_coords(line=list(found.lines)), system)


def _to_dataset(
    linear: LinearModel, w: np.ndarray, beta: np.ndarray, y: np.ndarray, attrs: NamedValues
) -> xr.Dataset:
    import xarray as xr

    model = linear.at.model
    water, X = model.water, body_motion(linear, y)
    power = damper_power(linear, w, y)
    absorbed = power[..., pto_rows(linear)]
    k = dispersion(w, water.depth, water.g)
    flux = 0.5 * water.rho * water.g * group_speed(w, k, water.depth)
    both = ("omega", "wave_direction")
    data = {
        "rao": (
            (*both, "body", "dof"),
            X,
            {
                "units": "m/m, rad/m",
                "long_name": "displacement of the reference point from the equilibrium",
                "frame": HEADING,
            },
        ),
        "coordinate_rao": (
            (*both, "coordinate"),
            y @ linear.to_coordinates.T,
            {"units": "m/m, rad/m", "long_name": "joint coordinate", "frame": "joint axes"},
        ),
        "absorbed_power": (
            (*both, "pto"),
            absorbed,
            {"units": "W/m^2", "long_name": "mean absorbed power per square metre of amplitude"},
        ),
        "damper_power": (
            (*both, "element"),
            power,
            {
                "units": "W/m^2",
                "long_name": "mean power of all dampers per square metre of amplitude",
            },
        ),
        "capture_width": (
            (*both, "pto"),
            absorbed / flux[:, None, None],
            {"units": "m", "long_name": "absorbed power over wave power per metre of crest"},
        ),
    }
    coords = {
        "omega": ("omega", w, {"units": "rad/s"}),
        "wave_direction": ("wave_direction", beta, {"units": "rad"}),
    }
    about = {"study": "rao", "formulation": linear.at.formulation.name}
    return xr.Dataset(data, coords | labels_of(linear), about | water_attributes(linear) | attrs)
