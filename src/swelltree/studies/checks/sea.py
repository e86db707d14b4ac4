"""Is the sea within the data, will it resonate, will it leave the linear range?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import Finding
from swelltree.hydro.data.relations import is_tail_known
from swelltree.hydro.froude_krylov.hulls import Hulls
from swelltree.hydro.linear.build import moving_at
from swelltree.hydro.linear.data import LEFT_OUT, NEGLIGIBLE
from swelltree.hydro.linear.hydro import hydro_table, linear_hydro
from swelltree.hydro.linear.radiation import radiation_memory
from swelltree.hydro.weak_scatterer.coefficients import weak_scatterer_coefficients
from swelltree.hydro.weak_scatterer.effect import WeakScatterers
from swelltree.hydro.weak_scatterer.incident.of_sea import main_frequency
from swelltree.model.capabilities import HasDrag, having
from swelltree.model.model import Model
from swelltree.multibody.formulations import Formulation
from swelltree.multibody.layout import DOFS
from swelltree.studies.linear.modes import modes
from swelltree.studies.linear.response import response
from swelltree.studies.options import linear_waves
from swelltree.waves.airy import Components
from swelltree.waves.gridded import GridWaves
from swelltree.waves.sea import AnySea, RealisedSea

if TYPE_CHECKING:
    import xarray as xr

DECAYED = 0.05  # of the largest damping: what may be left at the end of the data
MUCH = 0.2  # of it: what is more is a warning where nothing is known of the tail
CUT_OFF = 0.5  # of it: so much at the end of the data is reported before every run
UNMOVED = 1e-3  # of the largest translation or rotation: the waves do not excite that motion
LIGHT = 0.05  # of critical damping: less resonates strongly
TILT = np.radians(15.0)  # linear hydrostatics are good to a few per cent up to here
YAW = np.radians(20.0)
HIGH = 2.0  # significant height over what a hull reaches above or below the water
COARSE = 0.05  # estimated error of the coefficients of a tank that is warned of
STEEP = 0.04  # height over length of waves, Hs over the length of the mean period
AMPLITUDE_FACTOR = 3.0  # standard deviations: a large amplitude of a sea state


def sea_in_band(model: Model, waves: Components) -> list[Finding]:
    """Finding on the energy of the sea outside the band of the data."""
    table = hydro_table(model)
    if table is None:
        return []
    low, high = float(table.omega[0]), float(table.omega[-1])
    omega, energy = np.asarray(waves.omega), np.asarray(waves.amplitude) ** 2
    outside = (omega < low * (1 - 1e-9)) | (omega > high * (1 + 1e-9))
    part = float(energy[outside].sum() / energy.sum())
    if part <= NEGLIGIBLE:
        return []
    refused = part > LEFT_OUT
    return [
        Finding(
            "error" if refused else "warning",
            "band",
            f"{100 * part:.2g} % of the sea's energy lies outside the hydro data's {low:.3g} to "
            f"{high:.3g} rad/s, and {'a run will be refused' if refused else 'is left out'}. "
            f"Compute data up to {omega.max():.3g} rad/s or cut the spectrum with "
            f"omega_max={high:.4g}.",
            {"part": part},
        )
    ]


def mesh_of_the_tank(model: Model, waves: RealisedSea) -> list[Finding]:
    """Finding on the mesh error of weak scatterers at the main frequency of the sea."""
    effect = model.effect(WeakScatterers)
    if effect is None or effect.mesher is not None or isinstance(waves, GridWaves):
        return []
    omega = main_frequency(waves)
    each = np.atleast_1d(np.asarray(waves.omega))
    at = int(np.argmin(np.abs(each - omega)))
    beta = float(np.broadcast_to(np.asarray(waves.beta), each.shape)[at])
    found = weak_scatterer_coefficients(model, omega, beta)
    error, name = found.attrs["estimated_error"], effect.names[0]
    much = error > (COARSE if effect.accuracy is None else effect.accuracy)
    return [
        Finding(
            "warning" if much else "note",
            "mesh",
            f"force '{name}': added mass, damping and excitation at {omega:.3g} rad/s change by up "
            f"to {100 * error:.2g} % with a finer mesh."
            + (_advice(effect.accuracy) if much else ""),
            {"estimated_error": error},
        )
    ]


def _advice(accuracy: float | None) -> str:
    """Advice for a mesh that is too coarse."""
    if accuracy is None:
        return " Give a smaller panel_size, then a smaller spacing."
    return f" {100 * accuracy:.2g} % were asked. Give a smaller spacing, then a smaller accuracy."


def damping_decayed(model: Model, limit: float = DECAYED) -> Iterator[Finding]:
    """Finding on damping that has not decayed at the end of the data."""
    hydro, table = linear_hydro(model), hydro_table(model)
    if hydro is None or table is None or radiation_memory(model) is None:
        return
    omega, A, B = (np.asarray(x) for x in (table.omega, table.added_mass, table.radiation_damping))
    damping = np.diagonal(B, axis1=1, axis2=2)
    largest = damping.max(axis=0)
    # only what the joints let move in small motions
    matters = (largest > 1e-6 * largest.max(initial=0.0)) & moving_at(model, hydro.mean)
    left = np.where(matters, damping[-1] / np.where(matters, largest, 1.0), 0.0)
    if left.max(initial=0.0) > limit:
        # a tail that the added mass at infinite frequency confirms is carried on as it is
        known = is_tail_known(omega, A, B, np.asarray(table.added_mass_inf)) & (left <= CUT_OFF)
        lost = np.where(known, 0.0, left)
        sure = lost.max() <= max(limit, MUCH)
        k = int((left if sure else lost).argmax())
        yield Finding(
            "note" if sure else "warning",
            "kernel",
            f"the radiation damping of {model.layout.bodies[k // 6]} {DOFS[k % 6]} is still "
            f"{100 * left[k]:.2g} % of its largest where the data end at "
            f"{float(table.omega[-1]):.3g} rad/s, so the memory at short times relies on an "
            "assumed decay "
            + (
                "that the added mass at infinite frequency confirms."
                if known[k]
                else "that nothing confirms. Compute higher frequencies."
            ),
            {"left": float(left[k])},
        )


def energetic_band(waves: Components) -> tuple[float, float]:
    """Frequencies that contain 90 % of the energy [rad/s]."""
    omega = np.asarray(waves.omega)
    order = np.argsort(omega)
    energy = np.cumsum(np.asarray(waves.amplitude)[order] ** 2)
    part = energy / energy[-1]
    low = omega[order][np.searchsorted(part, 0.05)]
    high = omega[order][min(np.searchsorted(part, 0.95), len(omega) - 1)]
    return float(low), float(high)


def resonances(
    model: Model, how: Formulation, waves: Components, moved: xr.Dataset
) -> Iterator[Finding]:
    """Lightly damped modes within the waves that the waves excite.

    Args:
        model: compiled.
        how: the formulation.
        waves: of the sea.
        moved: `response` to them.
    """
    low, high = energetic_band(waves)
    swinging = modes(model, formulation=how)
    deviation = moved.standard_deviation.values  # bodies in the order of `modes`
    kinds = deviation.reshape(len(deviation), 2, 3).max(axis=(0, 2))
    for k in range(swinging.sizes["mode"]):
        omega = float(swinging.eigenvalue_imag[k])
        damping = float(swinging.damping_ratio[k])
        if not 0.9 * low <= omega <= 1.1 * high or damping >= LIGHT:
            continue
        share = swinging.energy_share[k].values
        i, dof = np.unravel_index(int(share.argmax()), share.shape)
        if deviation[i, dof] < UNMOVED * kinds[dof // 3]:
            continue
        if has_drag(model):
            yield Finding(
                "note",
                "resonance",
                f"{swinging.body.values[i]} {DOFS[dof]} resonates at {2 * np.pi / omega:.3g} s, "
                "within the waves; its amplitude depends on the drag coefficients.",
                {"omega": omega, "damping_ratio": damping},
            )
            continue
        yield Finding(
            "warning",
            "resonance",
            f"{swinging.body.values[i]} {DOFS[dof]} resonates at {2 * np.pi / omega:.3g} s, within "
            f"the waves, with only {100 * damping:.2g} % of critical damping: amplitudes depend "
            "on losses that linear data do not have. Add viscous damping (QuadraticDrag or "
            "LinearDamping).",
            {"omega": omega, "damping_ratio": damping},
        )


def expected_motion(
    model: Model, wave: AnySea, how: Formulation, case: int | str
) -> Iterator[Finding]:
    """Resonances and largest motions, by the linear answer, against the linear range."""
    waves = linear_waves("check", model, wave, case)
    steep = float(waves.Hs) * float(waves.omega[np.argmax(waves.amplitude)]) ** 2
    steep = steep / (2 * np.pi * model.water.g)
    if steep > STEEP:
        yield Finding(
            "warning",
            "steep",
            f"the waves have a height of {100 * steep:.2g} % of their length; linear waves are "
            f"good to about {100 * STEEP:.0f} %. Expect larger crests than computed, or use "
            "StreamFunctionWave with nonlinear hulls.",
            {"steepness": steep},
        )
    yield from too_high(model, float(waves.Hs))
    drag = "none"
    if has_drag(model):
        drag = "stochastic" if len(waves.amplitude) > 1 else "harmonic"
    moved = response(model, wave, formulation=how, case=case, drag=drag)
    yield from resonances(model, how, waves, moved)
    deviation = moved.standard_deviation.values  # in the order of the description
    factor = AMPLITUDE_FACTOR if len(waves.amplitude) > 1 else np.sqrt(2.0)
    wet = wet_rows(model)
    hydro = linear_hydro(model)
    assert hydro is not None
    reaches = np.broadcast_to(np.asarray(hydro.reach), model.layout.n_bodies)
    for i, name in enumerate(moved.body.values):
        k = model.layout.bodies.index(str(name))
        if not wet[k]:
            continue
        reach = float(reaches[k])
        yield from outside_linear_range(model, str(name), factor * deviation[i], reach, "will")


def too_high(model: Model, height: float) -> Iterator[Finding]:
    """Finding on waves higher than the hulls."""
    hydro = linear_hydro(model)
    assert hydro is not None
    volumes = np.asarray(hydro.buoyancy)[:, 2] / (float(model.rho) * model.water.g)
    reaches = np.broadcast_to(np.asarray(hydro.reach), model.layout.n_bodies)
    for name, reach, volume in zip(model.layout.bodies, reaches, volumes, strict=True):
        if nonlinear(model, name) or not volume > 0.0:
            continue
        # without a hull the draft of a ball that displaces as much
        draft = float(reach) if np.isfinite(reach) else float(np.cbrt(1.5 * volume / np.pi))
        if height > HIGH * draft:
            yield Finding(
                "warning",
                "high",
                f"waves of {height:.3g} m (significant height) are high for body '{name}', whose "
                f"hull reaches {draft:.3g} m from the water: they overtop it or leave it dry, "
                f"which is outside linear hydrodynamics. Use compile(..., nonlinear=['{name}']).",
                {"height": height, "reach": draft},
            )


def outside_linear_range(
    model: Model, name: str, amplitude: np.ndarray, reach: float, word: str
) -> Iterator[Finding]:
    """Findings about the amplitude (6,) of one body; `word` is "will" or "did"."""
    if nonlinear(model, name):
        return
    verb = "will heave" if word == "will" else "heaved"
    if amplitude[2] > reach:
        yield Finding(
            "warning",
            "linear range",
            f"body '{name}' {verb} by {amplitude[2]:.3g} m, more than its hull reaches above or "
            f"below the water ({reach:.3g} m); which is outside linear hydrodynamics. Use "
            f"compile(..., nonlinear=['{name}']) or smaller waves.",
            {"heave": float(amplitude[2])},
        )
    tilt = float(amplitude[3:5].max())
    if tilt > TILT:
        verb = "will tilt" if word == "will" else "tilted"
        yield Finding(
            "warning",
            "linear range",
            f"body '{name}' {verb} by {np.degrees(tilt):.3g} degrees; linear hydrostatics hold "
            f"to about {np.degrees(TILT):.0f}. Use compile(..., nonlinear=['{name}']) or smaller "
            "waves.",
            {"tilt": tilt},
        )


def has_drag(model: Model) -> bool:
    """Whether any element has drag."""
    return any(effect.without_drag() is not effect for effect in having(model, HasDrag))


def nonlinear(model: Model, name: str) -> bool:
    """Whether hydrostatics and Froude-Krylov forces of a body act on its actual wetted hull."""
    hulls = model.effect(Hulls)
    return hulls is not None and model.layout.bodies.index(name) in hulls.bodies


def wet_rows(model: Model) -> np.ndarray:
    """Bodies in the hydrodynamic data (N,)."""
    table = hydro_table(model)
    if table is None:
        return np.zeros(model.layout.n_bodies, dtype=bool)
    added = np.abs(np.diagonal(np.asarray(table.added_mass_inf)))
    return added.reshape(-1, 6).max(axis=1) > 0.0
