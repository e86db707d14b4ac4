r"""Mean drift forces of bodies from the waves far away from them.

The momentum that waves carry off is the force they leave (Maruo 1960; Newman 1967): with the
Kochin function :math:`H(\theta)` of what a body scatters and radiates, in deep water,

.. math:: F = 2\pi\rho k^2 \int |H(\theta)|^2
          \left(\begin{smallmatrix} \cos\beta - \cos\theta \\
          \sin\beta - \sin\theta \end{smallmatrix}\right) d\theta

per square metre of amplitude. What the incident wave lost ahead of the body is what was scattered
and what dampers took out, whose power P adds a force :math:`P k / \omega` along the waves. Where
that is left to the Kochin function at that one angle, the small difference of two large numbers is
wrong by a third in long waves. The yaw moment is Capytaine's. The far field knows nothing of heave,
roll and pitch, and of several bodies only the sum.

Joints, PTOs and moorings matter through the motion: give that of the model (`rao`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from swelltree.describe.environment.water import Water
from swelltree.describe.errors import SwelltreeError, listed, warn_user
from swelltree.describe.joints.joint import Joint
from swelltree.describe.system import System
from swelltree.describe.values import DOFS, NamedValues
from swelltree.hydro.bem.solve import (
    LIDS,
    Wetted,
    floating_bodies,
    import_capytaine,
    lid_heights,
    quiet,
)
from swelltree.hydro.data.dataset import FORCE
from swelltree.jit import Array

if TYPE_CHECKING:
    import capytaine as cpt
    import xarray as xr

HOW = ("none", "free", "fixed")
ANGLES = 720  # around the body
MOTION = {
    "free": "one body that floats freely, without joints, moorings and PTOs",
    "fixed": "held: waves are scattered only",
}
EXTRA_ANGLES = 8  # angles beyond a whole turn, on either side
TOLERANCE = 0.05  # of the waves that are scattered: what may be missing in their energy


def check_drift(drift: str | xr.Dataset, system: System, names: Sequence[str]) -> None:
    """Reject what the far field cannot give; warn of what is left out for a freely floating body.

    Args:
        drift: "none", "free", "fixed", or the result of `rao`.
        system: the description.
        names: of the bodies in the water.
    """
    if not isinstance(drift, str):
        if "rao" not in drift or not {"body", "dof"} <= set(drift["rao"].dims):
            raise SwelltreeError("run_bem: drift is a dataset without `rao`. Give that of sw.rao.")
        missing = [name for name in names if name not in drift["body"].values]
        if missing:
            raise SwelltreeError(
                f"run_bem: drift has no motion of body '{missing[0]}'. Give the result of rao(...) "
                "of this system."
            )
        return
    if drift not in HOW:
        raise SwelltreeError(f"run_bem: drift '{drift}' is not a choice. Give 'free' or 'fixed'.")
    if drift != "none" and len(names) > 1:
        raise SwelltreeError(
            f"run_bem: drift='{drift}' is asked for {len(names)} bodies, but the far field gives "
            "only the sum of their forces. Run one body alone (without the others), give "
            "drift=sw.rao(model) for the sum on the device as jointed, or read "
            "second-order data of a code that integrates pressures (read_hydro)."
        )
    if drift == "free":
        held = [j.name for j in system.joints if j.kind != "free" and names[0] in _ends(j)]
        held += [p.name for p in system.ptos]
        if held:
            warn_user(
                f"run_bem: drift='free' is that of body '{names[0]}' alone, without {listed(held)}"
                ". For the device as jointed give drift=sw.rao(model)."
            )


def _ends(joint: Joint) -> tuple[str, str]:
    return joint.base.body, joint.follower.body


def with_mean_drift(
    data: xr.Dataset, bodies: list[Wetted], water: Water, lid: bool, how: str | xr.Dataset
) -> xr.Dataset:
    """The data with `mean_drift`, of several bodies with `mean_drift_total`.

    Args:
        data: of the bodies.
        bodies: their panels.
        water: density, gravity, depth.
        lid: close the hulls inside.
        how: "free" for a body that floats freely, "fixed" for one that is held, or the result of
            `rao` for the motion of a model.
    """
    from capytaine.post_pro.mean_drift_force import far_field_mean_drift_force

    omega = data["omega"].values
    some = np.flatnonzero((omega > 0.0) & np.isfinite(omega))
    centers = data["rotation_center"].values
    # Capytaine asks for directions within its angles
    beta = np.mod(data["wave_direction"].values, 2.0 * np.pi)
    highest = float(omega[some].max(initial=1e-3))
    heights = lid_heights(bodies, LIDS[0] if lid else None, highest, water.g)
    with quiet():
        far = _far_field(bodies, centers, omega[some], beta, water, heights)
    absorbed = np.zeros((len(some), len(beta)))
    if isinstance(how, str):
        words, motion = how, _motion(data, some, far) * (1.0 if how == "free" else 0.0)
    else:
        words, motion = "of the device as jointed", _prescribed_motion(how, data, some, far)
        absorbed = _absorbed(data, some, motion)
    yaw = far_field_mean_drift_force(motion, far)["drift_force_yaw"].values
    about_origin = np.real(np.diagonal(yaw, axis1=1, axis2=2))
    drift = np.zeros((len(omega), len(beta), 6))
    waves = _waves(motion, far, absorbed)
    drift[some, :, 0], drift[some, :, 1] = waves.surge, waves.sway
    single = len(bodies) == 1
    x, y = centers[0][:2] if single else (0.0, 0.0)
    drift[some, :, 5] = about_origin - (x * drift[some, :, 1] - y * drift[some, :, 0])
    notes = [
        data.attrs["notes"],
        f"mean drift by the far field, {words}: surge, sway and yaw only.",
    ]
    if waves.missing > TOLERANCE:
        notes.append(
            f"mean drift: {waves.missing:.0%} of the energy of scattered waves is missing. Give "
            "smaller panels."
        )
        warn_user(f"run_bem: {notes[-1]}")
    about = {
        "units": "N/m^2, N m/m^2",
        "long_name": "mean drift force per square metre",
        "motion": MOTION.get(words, words),
    }
    data = data.assign_attrs(notes="\n".join(notes))
    if single:
        return data.assign(mean_drift=(FORCE, drift, about))
    about |= {"point": "global origin", "bodies": "sum over all"}
    total = (("drift_omega", "drift_direction", "dof"), drift[some], about)
    return data.assign(mean_drift_total=total).assign_coords(
        drift_omega=omega[some],
        drift_direction=data["wave_direction"].values,
        dof=np.array(DOFS, dtype=object),
    )


def _far_field(
    bodies: list[Wetted],
    centers: np.ndarray,
    omega: np.ndarray,
    beta: np.ndarray,
    water: Water,
    lids: list[float | None],
) -> xr.Dataset:
    """Kochin functions of all problems in the form of Capytaine's functions."""
    import xarray as xr
    from capytaine.post_pro.kochin import compute_kochin

    cpt = import_capytaine()
    about = [replace(body, center=c) for body, c in zip(bodies, centers, strict=True)]
    floating = floating_bodies(about, lids)
    named = list(floating.dofs)
    solver = cpt.BEMSolver(method="indirect")  # far away one needs the sources
    theta = 2.0 * np.pi / ANGLES * np.arange(-EXTRA_ANGLES, ANGLES + EXTRA_ANGLES + 1)
    radiated = np.zeros((len(omega), len(named), len(theta)), complex)
    scattered = np.zeros((len(omega), len(beta), len(theta)), complex)
    numbers = np.zeros(len(omega))
    for i, w in enumerate(omega):
        common = {"body": floating, "omega": float(w), "water_depth": water.depth}
        common |= {"rho": water.rho, "g": water.g}
        for j, label in enumerate(named):
            problem = cpt.RadiationProblem(radiating_dof=label, **common)
            radiated[i, j] = compute_kochin(_solved(solver, problem), theta)
        for j, direction in enumerate(beta):
            problem = cpt.DiffractionProblem(wave_direction=float(direction), **common)
            scattered[i, j] = compute_kochin(_solved(solver, problem), theta)
        numbers[i] = cpt.DiffractionProblem(wave_direction=0.0, **common).wavenumber
        # in finite depth the forces of Capytaine want k tanh(k h) where its Kochin function has k
        radiated[i] *= numbers[i] * water.g / w**2
        scattered[i] *= numbers[i] * water.g / w**2
    return xr.Dataset(
        {
            "kochin_radiation": (("omega", "radiating_dof", "theta"), radiated),
            "kochin_diffraction": (("omega", "wave_direction", "theta"), scattered),
            "wavenumber": ("omega", numbers),
            "water_depth": water.depth,
            "rho": water.rho,
            "g": water.g,
        },
        {"omega": omega, "wave_direction": beta, "theta": theta, "radiating_dof": named},
    )


def _solved(solver: cpt.BEMSolver, problem: object) -> Any:
    return solver.solve(problem, keep_details=True, _check_wavelength=False)


def _motion(data: xr.Dataset, some: np.ndarray, far: xr.Dataset) -> xr.DataArray:
    """Motion of the body that floats freely, per metre of amplitude."""
    omega = data["omega"].values[some][:, None, None]
    M = data["inertia_matrix"].values + data["added_mass"].values[some]
    B, C = data["radiation_damping"].values[some], data["hydrostatic_stiffness"].values
    F = data["excitation_force"].values[some]
    Z = -(omega**2) * M - 1j * omega * B + C
    X = np.linalg.solve(Z[:, None], F[..., None])[..., 0]
    coords = {name: far[name].values for name in ("omega", "wave_direction", "radiating_dof")}
    return _labelled(X, coords)


def _labelled(values: np.ndarray, coords: NamedValues) -> xr.DataArray:
    """Motion with labels."""
    import xarray as xr

    return xr.DataArray(values, coords, ("omega", "wave_direction", "radiating_dof"))


def _prescribed_motion(
    rao: xr.Dataset, data: xr.Dataset, some: np.ndarray, far: xr.Dataset
) -> xr.DataArray:
    """Motion of a model, at the reference points in world axes, per metre of amplitude."""
    omega, beta = data["omega"].values[some], data["wave_direction"].values
    order = ("omega", "wave_direction", "body", "dof")
    for name, requested in (("omega", omega), ("wave_direction", beta)):
        there = rao[name].values
        absent = [x for x in requested if not np.isclose(there, x, rtol=1e-6, atol=1e-9).any()]
        if absent:
            raise SwelltreeError(
                f"run_bem: drift has no motion at {name} = {absent[0]:.6g}. Give "
                "rao(model, omega=..., wave_direction=...) with those of this run."
            )
    chosen = rao["rao"].sel(omega=omega, wave_direction=beta, method="nearest")
    X = chosen.sel(body=data["body"].values).transpose(*order).values.copy()
    for i, body in enumerate(data["body"].values):
        psi = float(rao["heading"].sel(body=body)) if "heading" in rao.coords else 0.0
        c, s = np.cos(psi), np.sin(psi)
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        X[:, :, i, :3], X[:, :, i, 3:] = X[:, :, i, :3] @ turn.T, X[:, :, i, 3:] @ turn.T
    coords = {name: far[name].values for name in ("omega", "wave_direction", "radiating_dof")}
    flat = X.reshape(*X.shape[:2], -1)
    return _labelled(flat, coords)


def _absorbed(data: xr.Dataset, some: np.ndarray, motion: xr.DataArray) -> np.ndarray:
    """Power that the motion takes out of the water (omega, wave_direction) [W/m^2].

    What the waves do on the bodies less what these radiate.
    """
    omega = data["omega"].values[some][:, None]
    B, F = data["radiation_damping"].values[some], data["excitation_force"].values[some]
    v = -1j * omega[..., None] * motion.values
    radiated = np.einsum("wbi,wij,wbj->wb", v.conj(), 0.5 * (B + np.swapaxes(B, 1, 2)), v)
    return 0.5 * (np.real((F * v.conj()).sum(axis=-1)) - np.real(radiated))


class _Waves(NamedTuple):
    """Far-field waves, (omega, wave_direction)."""

    surge: np.ndarray  # N/m^2
    sway: np.ndarray
    missing: float  # of their energy, where they are largest


def _waves(motion: xr.DataArray, far: xr.Dataset, absorbed: np.ndarray) -> _Waves:
    """Forces, and the energy of scattered waves against what the incident wave lost ahead."""
    H = 1j * (
        far["kochin_diffraction"] + (far["kochin_radiation"] * motion).sum("radiating_dof")
    ).transpose("omega", "wave_direction", "theta")
    rho, omega, m = float(far["rho"]), far["omega"].values, far["wavenumber"].values
    h, k0 = float(far["water_depth"]), omega**2 / float(far["g"])
    weight = m**2
    if np.isfinite(h):
        weight = m * (k0 * h) ** 2 / (h * ((m * h) ** 2 - (k0 * h) ** 2 + k0 * h))
    weight = 2.0 * np.pi * rho * weight[:, None]
    turn = H.sel(theta=slice(-1e-9, 2.0 * np.pi + 1e-9))
    power, theta, beta = np.abs(turn) ** 2, turn["theta"], far["wave_direction"]

    def scattered(weights: Array) -> np.ndarray:
        full = (power * weights).integrate("theta")
        return weight * full.transpose("omega", "wave_direction").values

    total = scattered(1.0 + 0.0 * theta)
    lost = np.zeros_like(total)
    for k, direction in enumerate(beta.values):
        ahead = H.isel(wave_direction=k).interp(theta=direction).values
        lost[:, k] = -2.0 * np.pi * rho * omega * np.imag(ahead)
    taken = absorbed * (m / omega)[:, None]
    worst, full = total.argmax(), total + taken
    missing = float(np.abs(full - lost).flat[worst] / full.flat[worst]) if total.any() else 0.0
    surge, sway = (scattered(f(beta) - f(theta)) + taken * f(beta.values) for f in (np.cos, np.sin))
    return _Waves(surge, sway, missing)
