r"""`modes`: natural periods, damping and mode shapes by automatic linearisation.

The eigenvalues of the linear model about the equilibrium (`linear_model`), in which every force,
joint and formulation is linearised exactly and alike. Added mass and radiation damping of hydro
data are those of each mode's own frequency (`frequency_modes`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack, cast

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.options import ModesOptions, ModesTracedOptions, with_options
from swelltree.describe.values import NamedValues
from swelltree.hydro.linear.frame import columns_in_axes
from swelltree.hydro.linear.hydro import linear_hydro
from swelltree.jit import Array, is_traced, jnp
from swelltree.model.model import Model
from swelltree.mooring.dynamic.lines import with_static_lines
from swelltree.multibody.formulations import formulation as chosen_formulation
from swelltree.multibody.inertia import dense_inertia, world_inertia
from swelltree.multibody.layout import DOFS
from swelltree.studies.linear.excitation import has_table
from swelltree.studies.linear.frequency_modes import (
    HEADING,
    Matrices,
    modes_in_water,
    spectrum,
    traced_eigenvalues,
)
from swelltree.studies.linear.linear_model import LinearModel, OperatingPoint
from swelltree.studies.linear.linearise import linear_model, resting_motion, traced_model
from swelltree.studies.options import study_of_model
from swelltree.studies.statics.equilibrium import specified_state
from swelltree.studies.statics.relax import check_no_drums

if TYPE_CHECKING:
    import xarray as xr

ADDED_MASS = {
    "frequency": "of the hydro data at each mode's own frequency, with its radiation damping",
    "infinite": "of the model, at infinite frequency, without radiation",
}


@study_of_model
@with_options(ModesOptions)
def modes(model: Model, **options: Unpack[ModesOptions]) -> xr.Dataset:
    """Natural periods, damping ratios and mode shapes about the equilibrium.

    Internal states of effects (oil, flywheels, lags, states of controllers) are part of the modes;
    `report` names those that are held.

    Returns a dataset with dimension `mode`, slowest oscillation first, then the modes that do
    not oscillate: `natural_frequency` and `natural_period` are undamped, `damped_period` is that of
    the motion. Inside `jit`, `grad` or `vmap` it gives what `modes_traced` gives.

    Args:
        model: from `compile`.
    """
    chosen: NamedValues = {**options}
    provenance = chosen.pop("provenance") or {}
    chosen["start"] = start = specified_state(chosen["start"], "modes")
    if is_traced((model, start)):
        return cast("xr.Dataset", modes_traced(model, **chosen))
    model, source = _prepared(model, chosen["added_mass"])
    how, at_equilibrium = chosen_formulation(chosen["formulation"]), chosen["at_equilibrium"]
    linear = linear_model(
        model, how, source, start=start, at_equilibrium=at_equilibrium, study="modes"
    )
    if not np.isfinite(linear.state_matrix()).all():
        raise SwelltreeError(
            "modes: the linearised equations are not finite. Check the state with equilibrium()."
        )
    data = linear.radiation.data
    if data is not None:
        lam, shapes = modes_in_water(Matrices.of(linear), data)
        which = ADDED_MASS["frequency"]
    else:
        A = linear.internal.around(linear.state_matrix(), linear.total_mass)
        lam, shapes = spectrum(A)
        which = (
            ADDED_MASS["infinite"]
            if linear_hydro(model) is not None
            else "of the model; no hydro data"
        )
    attrs = {"added_mass": which} | provenance
    return _to_dataset(linear, lam, linear.to_displacements @ shapes[: linear.free], attrs)


@with_options(ModesTracedOptions)
def modes_traced(model: Model, **options: Unpack[ModesTracedOptions]) -> dict[str, Array]:
    """Eigenvalues inside `jit`, `grad` or `vmap`.

    Returns `eigenvalue` (all of them, unsorted) and `state_matrix` (with the added mass of the
    model, without radiation), both with the internal states of effects; those that change at
    events only have eigenvalues of zero.

    Args:
        model: from `compile`.
    """
    chosen: NamedValues = {**options}
    model, source = _prepared(model, chosen["added_mass"])
    how = chosen_formulation(chosen["formulation"])
    linear = traced_model(model, how, source, chosen["start"], chosen["at_equilibrium"])
    data = linear.radiation.data
    A = linear.internal.around(linear.state_matrix(), linear.total_mass)
    if data is not None:
        eigenvalue = traced_eigenvalues(Matrices.of(linear), data)
    else:
        eigenvalue = jnp.linalg.eigvals(A)
    return {"state_matrix": A, "eigenvalue": eigenvalue}


def _prepared(model: Model, added_mass: str) -> tuple[Model, str]:
    """The model with massless lines, and its radiation source."""
    if added_mass not in ADDED_MASS:
        raise SwelltreeError(
            f"added_mass '{added_mass}' is not known. Choose 'infinite' or 'frequency'."
        )
    model = with_static_lines(model, "modes")
    check_no_drums(model, "modes")
    return model, "data" if added_mass == "frequency" and has_table(model) else "infinite"


def energy_shares(at: OperatingPoint, shapes: np.ndarray) -> np.ndarray:
    """Fraction of each direction of each body in the kinetic energy of a mode (6N, m).

    Directions are those of the headings, as of the shapes.

    Metres and radians cannot be compared, energies can.
    """
    pose = resting_motion(at.formulation)(at.model, at.state)[0].pose
    inertia = np.asarray(dense_inertia(at.model, world_inertia(at.model, pose)))
    inertia = columns_in_axes(at.heading, columns_in_axes(at.heading, inertia).T)
    inertia = np.diag(inertia)
    energy = inertia[:, None] * np.abs(shapes) ** 2
    return energy / np.maximum(energy.sum(axis=0), 1e-300)


def _to_dataset(
    linear: LinearModel, lam: np.ndarray, shapes: np.ndarray, provenance: NamedValues
) -> xr.Dataset:
    import xarray as xr

    model, moving = linear.at.model, energy_shares(linear.at, shapes)
    decay, swing = np.real(lam), np.imag(lam)
    largest = shapes[np.abs(shapes).argmax(axis=0), np.arange(len(lam))]
    shapes = shapes / np.where(largest == 0, 1.0, largest)
    order = [model.layout.bodies.index(name) for name in model.layout.described]
    shapes, moving = (
        np.moveaxis(x.reshape(model.layout.n_bodies, 6, -1)[order], 2, 0) for x in (shapes, moving)
    )
    omega = np.abs(lam)
    with np.errstate(divide="ignore", invalid="ignore"):
        damping = np.where(omega > 0, -decay / omega, 0.0)
        damped = np.where(swing > 0, 2 * np.pi / np.abs(swing), np.inf)
        natural = np.where(swing > 0, 2 * np.pi / omega, np.inf)
    attrs = {
        "study": "modes",
        "formulation": linear.at.formulation.name,
        "report": " ".join([*model.report, *linear.notes, *linear.internal.notes()]),
        "drawing": model.described.drawing,
        "unstable_modes": int((decay > 1e-9 * max(omega.max(initial=0.0), 1e-300)).sum()),
    }
    data = {
        "natural_frequency": (
            "mode",
            omega,
            {"units": "rad/s", "long_name": "undamped natural frequency, |eigenvalue|"},
        ),
        "natural_period": (
            "mode",
            natural,
            {
                "units": "s",
                "long_name": "undamped natural period, 2 pi / |eigenvalue|; inf if not oscillating",
            },
        ),
        "damped_period": (
            "mode",
            damped,
            {"units": "s", "long_name": "period of the damped oscillation, 2 pi / Im(eigenvalue)"},
        ),
        "damping_ratio": ("mode", damping, {"units": "1"}),
        "eigenvalue_real": ("mode", decay, {"units": "1/s"}),
        "eigenvalue_imag": ("mode", swing, {"units": "rad/s"}),
        "shape_real": (
            ("mode", "body", "dof"),
            np.real(shapes),
            {
                "units": "m, rad",
                "long_name": "mode shape, displacement with largest entry one",
                "frame": HEADING,
            },
        ),
        "shape_imag": (
            ("mode", "body", "dof"),
            np.imag(shapes),
            {"units": "m, rad", "long_name": "the same, imaginary part", "frame": HEADING},
        ),
        "energy_share": (
            ("mode", "body", "dof"),
            moving,
            {
                "units": "1",
                "long_name": "fraction of the kinetic energy of the mode",
                "frame": HEADING,
            },
        ),
    }
    coords = {
        "mode": np.arange(1, len(lam) + 1),
        "body": list(model.layout.described),
        "dof": list(DOFS),
    }
    return xr.Dataset(data, coords, attrs | provenance)
