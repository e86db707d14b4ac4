"""`weak_scatterer_coefficients`: the linear mode at one frequency, with the error of its mesh.

The same tank is solved again with a finer mesh. Errors of flat triangles fall with their size to
the power 1.5 at hulls with edges and 2 at round ones; the lower power is taken, so that the
estimate is rather too large.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe import RegularWave
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.weak_scatterer.build import build_weak_scatterers
from swelltree.hydro.weak_scatterer.effect import WeakScatterers
from swelltree.hydro.weak_scatterer.harmonic import Harmonic, harmonic_flow, mean_drift
from swelltree.model.model import Model
from swelltree.multibody.layout import DOFS
from swelltree.waves.sea import realise

if TYPE_CHECKING:
    import xarray as xr

FINER = 1.4  # sizes of the given mesh over those of the finer one
ERROR = 1.0 / (1.0 - FINER**-1.5)  # of the given mesh, over the difference between both
MIN_COEFFICIENT = 0.05  # of the largest: smaller coefficients have no error worth a number


def weak_scatterer_coefficients(
    model: Model, omega: float, beta: float = 0.0, *, estimate: bool = True
) -> xr.Dataset:
    """Added mass, damping and excitation of the tank of a model in its linear mode.

    They are what runs in time come to in small waves, and can be compared with hydro data
    (`run_bem`) term by term. `..._error` is the estimated error of each, in its own unit;
    `estimated_error`, an attribute, the largest of them over their size.
    `held_mean_drift` is the mean horizontal force on all bodies together where they are held, from
    the far field.

    Args:
        model: from `compile`, with a WeakScatterer without `crossing`.
        omega: [rad/s].
        beta: heading of the wave; along x in a symmetric tank [rad].
        estimate: solve on a finer mesh too (about four times the work).
    """
    import xarray as xr

    effect = model.effect(WeakScatterers)
    system = model.described.system
    if effect is None or system is None:
        raise SwelltreeError(
            "weak_scatterer_coefficients: the model has no WeakScatterer. Describe one, or use "
            "run_bem(...) for hydro data."
        )
    if effect.mesher is not None:
        raise SwelltreeError(
            f"weak_scatterer_coefficients: bodies of '{effect.names[0]}' may cross the surface, "
            "which is not linear. Leave crossing out."
        )
    waves = realise(RegularWave(amplitude=1e-3, omega=omega, beta=beta), model.water)
    depth = float(model.water.depth)
    flow = harmonic_flow(effect.in_sea(model, waves).scene, omega, depth, beta)
    labels = [f"{model.layout.bodies[b]}__{dof}" for b in effect.bodies for dof in DOFS]
    open_dofs = np.ones(len(labels), bool)
    if effect.scene.boundary.mirrors.symmetric:
        # sway, roll and yaw do not keep the plane of symmetry
        open_dofs = np.tile([True, False, True, False, True, False], len(effect.bodies))
    square = ("influenced_dof", "radiating_dof")
    dims = {"added_mass": square, "radiation_damping": square, "excitation_force": square[:1]}
    found = dict(zip(dims, _known(flow.coefficients, open_dofs), strict=True))
    drift = mean_drift(flow, np.zeros(len(labels), complex))
    result = xr.Dataset(
        {name: (dims[name], value) for name, value in found.items()}
        | {"held_mean_drift": ("axis", drift, {"units": "N/m^2"})},
        coords={"omega": omega, "beta": beta, "axis": ["x", "y"], **dict.fromkeys(square, labels)},
        attrs={"depth": depth, "vertices": effect.scene.boundary.vertices},
    )
    if not estimate:
        return result
    finer = build_weak_scatterers(system, model.layout, FINER)
    assert finer is not None
    again = harmonic_flow(finer.in_sea(model, waves).scene, omega, depth, beta).coefficients
    for name, value in zip(dims, _known(again, open_dofs), strict=True):
        result[f"{name}_error"] = (dims[name], ERROR * np.abs(value - found[name]))
    reach = float(np.linalg.norm(np.asarray(flow.wet.arm), axis=-1).max())
    return result.assign_attrs(estimated_error=_largest(result, reach))


def _known(found: Harmonic, open_dofs: np.ndarray) -> list[np.ndarray]:
    """Coefficients, not a number for motions that a symmetric tank does not know."""
    both = np.outer(open_dofs, open_dofs)
    A, B, F = found
    return [np.where(both, A, np.nan), np.where(both, B, np.nan), np.where(open_dofs, F, np.nan)]


def _largest(result: xr.Dataset, reach: float) -> float:
    """Largest error of coefficients over their size, of motions that move some water.

    Args:
        result: with errors.
        reach: of hulls from their reference points, which makes forces of moments [m].
    """
    turns = np.arange(len(result["influenced_dof"])) % 6 >= 3
    arm = np.where(turns, reach, 1.0)
    omega = float(result["omega"])
    A, B = (np.diagonal(result[name].values) for name in ("added_mass", "radiation_damping"))
    size = {
        "added_mass": (A / arm**2, 1.0),
        "radiation_damping": (B / arm**2, omega),
        "excitation_force": (np.abs(result["excitation_force"].values) / arm, 0.0),
    }
    water, worst = np.nanmax(size["added_mass"][0]), 0.0
    for name, (each, per_mass) in size.items():
        error = result[f"{name}_error"].values
        error = (np.diagonal(error) if error.ndim > 1 else error) / each
        error = error / (arm**2 if per_mass else arm)
        least = MIN_COEFFICIENT * (per_mass * water if per_mass else np.nanmax(each))
        worst = max(worst, float(error[np.nan_to_num(each) > least].max(initial=0.0)))
    return worst
