r"""`linear_and_nonlinear`: what the linearised system would do, beside the motion itself.

The linear answer is the sum of the responses to every component of the sea,

.. math:: x(t) = x_0 + r(t) \sum_c \mathrm{Re}\left[ X(\omega_c, \beta_c)\, a_c\,
                 e^{-i\omega_c t + i\varphi_c} \right]

with X of `rao` and x_0 the equilibrium (MBS4WEC, figures 4 and 6). It is the steady answer:
the comparison begins when the ramp is over and its transient has died out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.options import ComparedOptions, with_options
from swelltree.describe.values import NamedValues
from swelltree.model.model import Model, Pose
from swelltree.multibody.kinematics import displacement
from swelltree.studies.linear.frequency_modes import HEADING
from swelltree.studies.linear.rao import rao
from swelltree.studies.options import study_of_model
from swelltree.studies.seas import linear_waves
from swelltree.studies.statics.equilibrium import equilibrium
from swelltree.studies.time.operability import succeeded
from swelltree.studies.time.simulate import simulate
from swelltree.waves.sea import AnySea

if TYPE_CHECKING:
    import xarray as xr


@study_of_model
@with_options(ComparedOptions)
def linear_and_nonlinear(
    model: Model, sea: AnySea, **options: Unpack[ComparedOptions]
) -> xr.Dataset:
    """The motion in a sea, and what the linearised system would do.

    Returns a dataset with `nonlinear` and `linear` (time, body, dof), the displacements of the
    reference points from the equilibrium, in the axes of each body's heading there; the same of
    the joints as `joint_nonlinear` and `joint_linear` (time, coordinate); and, over the times after
    `settled`, `difference` (body, dof) and `joint_difference`, the largest distance between the
    two, with the `amplitude` and `joint_amplitude` of the linear answer (half its range) to compare
    with.

    Args:
        model: compiled with hydro data.
        sea: a described sea.
    """
    run_options: NamedValues = {**options}
    settled, radiation = run_options.pop("settled"), run_options.pop("radiation")
    duration, case = run_options["duration"], run_options["case"]
    formulation = run_options["formulation"] = run_options["formulation"] or "path_matrix"
    import xarray as xr

    start = 2.0 * duration / 3.0 if settled is None else settled
    waves = linear_waves("linear_and_nonlinear", model, sea, case)
    ramp = float(waves.ramp)
    if not ramp <= start < duration:
        raise SwelltreeError(
            f"settled {start:g} s must lie between the end of the ramp, {ramp:g} s, and the "
            f"duration, {duration:g} s."
        )
    run = simulate(model, sea, **run_options)
    succeeded(run)
    rest = equilibrium(model, formulation=formulation)
    time = run["time"].values
    omega, beta = np.asarray(waves.omega), np.asarray(waves.beta)
    amplitude = np.asarray(waves.complex_amplitude)
    grown = np.where(time < ramp, 0.5 * (1.0 - np.cos(np.pi * time / max(ramp, 1e-30))), 1.0)
    bodies = np.zeros(run["position"].shape)
    joints = np.zeros(run["joint_coordinate"].shape)
    # one call per heading: `rao` answers for every pair of frequency and heading
    for heading in np.unique(beta):
        mine = beta == heading
        transfer = rao(
            model,
            omega=omega[mine],
            wave_direction=heading,
            formulation=formulation,
            radiation=radiation,
        )
        turning = grown[:, None] * np.exp(-1j * np.outer(time, omega[mine])) * amplitude[mine]
        bodies += np.real(np.einsum("tc,cbd->tbd", turning, transfer["rao"].values[:, 0]))
        joints += np.real(turning @ transfer["coordinate_rao"].values[:, 0])
    both = (("time", "body", "dof"), ("time", "coordinate"))
    still = Pose(rest["position"].values[:, :3], rest["rotation"].values)
    moved = displacement(still, run["position"].values[..., :3], run["rotation"].values)
    turned = run["joint_coordinate"].values - rest["joint_coordinate"].values
    later = time >= start
    data = {
        "nonlinear": (both[0], moved, {"units": "m, rad", "frame": HEADING}),
        "linear": (both[0], bodies, {"units": "m, rad", "frame": HEADING}),
        "joint_nonlinear": (both[1], turned, {"units": "m, rad"}),
        "joint_linear": (both[1], joints, {"units": "m, rad"}),
    }
    for prefix, dims, real, guess in (
        ("", ("body", "dof"), moved, bodies),
        ("joint_", ("coordinate",), turned, joints),
    ):
        away = np.abs(real - guess)[later].max(axis=0)
        size = 0.5 * np.ptp(guess[later], axis=0)
        data[f"{prefix}difference"] = (dims, away, {"units": "m, rad"})
        data[f"{prefix}amplitude"] = (dims, size, {"units": "m, rad"})
    coords = {name: run[name] for name in ("time", "body", "dof", "coordinate", "coordinate_turns")}
    data["elevation"] = run["elevation"]
    attrs = {"study": "linear_and_nonlinear", "settled": start, "sea": repr(sea)}
    return xr.Dataset(data, coords, run.attrs | attrs)
