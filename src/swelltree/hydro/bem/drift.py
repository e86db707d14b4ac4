r"""Mean drift forces of one body from the waves far away from it.

The momentum that waves carry off is the force they leave (Maruo 1960; Newman 1967): with the
Kochin function :math:`H(\theta)` of what a body scatters and radiates, in deep water,

.. math:: F = 2\pi\rho k^2 \int |H(\theta)|^2
          \left(\begin{smallmatrix} \cos\beta - \cos\theta \\
          \sin\beta - \sin\theta \end{smallmatrix}\right) d\theta

per square metre of amplitude. What the incident wave lost ahead of the body is what was scattered;
where it is left to the Kochin function at that one angle, the small difference of two large numbers
is wrong by a third in long waves. The yaw moment is Capytaine's. The far field knows nothing of
heave, roll and pitch, and of several bodies only the sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from swelltree.engine.arrays import Array
from swelltree.hydro.bem.lids import lid_inside
from swelltree.hydro.bem.meshes import to_capytaine
from swelltree.hydro.bem.solve import Wetted, import_capytaine, lid_height, quiet
from swelltree.system.errors import SwelltreeError, warn_user
from swelltree.system.values import DOFS
from swelltree.system.waters.water import Water

if TYPE_CHECKING:
    import capytaine as cpt
    import xarray as xr

HOW = ("none", "free", "fixed")
ANGLES = 720  # around the body
BESIDE = 8  # angles beyond a whole turn, on either side
TOLERANCE = 0.05  # of the waves that are scattered: what may be missing in their energy


def check_drift(how: str, count: int) -> None:
    """Refuse what the far field cannot tell."""
    if how not in HOW:
        raise SwelltreeError(f"run_bem: drift '{how}' is not a choice. Give 'free' or 'fixed'.")
    if how != "none" and count > 1:
        raise SwelltreeError(
            f"run_bem: drift='{how}' is asked for {count} bodies, but the waves far away tell only "
            "the sum of their forces. Run one body alone (without what the others scatter), or "
            "read second-order data of a code that integrates pressures (read_hydro)."
        )


def with_mean_drift(
    data: xr.Dataset, body: Wetted, water: Water, lid: bool, how: str
) -> xr.Dataset:
    """The data with `mean_drift`.

    Args:
        data: of one body.
        body: its panels.
        water: density, gravity, depth.
        lid: close the hull inside.
        how: "free" for a body that floats freely, "fixed" for one that is held.
    """
    from capytaine.post_pro.mean_drift_force import far_field_mean_drift_force

    omega = data["omega"].values
    some = np.flatnonzero((omega > 0.0) & np.isfinite(omega))
    center = data["rotation_center"].values[0]
    # Capytaine asks for directions within its angles
    beta = np.mod(data["wave_direction"].values, 2.0 * np.pi)
    highest = float(omega[some].max(initial=1e-3))
    height = lid_height(body, 0.5, highest, water.g) if lid else None
    with quiet():
        far = _far_field(body, center, omega[some], beta, water, height)
    motion = _motion(data, some, far) if how == "free" else 0.0 * _motion(data, some, far)
    yaw = far_field_mean_drift_force(motion, far)["drift_force_yaw"].values
    about_origin = np.real(np.diagonal(yaw, axis1=1, axis2=2))
    drift = np.zeros((len(omega), len(beta), 6))
    waves = _waves(motion, far)
    drift[some, :, 0], drift[some, :, 1] = waves.surge, waves.sway
    x, y = center[:2]
    drift[some, :, 5] = about_origin - (x * drift[some, :, 1] - y * drift[some, :, 0])
    notes = [data.attrs["notes"], f"mean drift by the far field, {how}: surge, sway and yaw only."]
    if waves.missing > TOLERANCE:
        notes.append(
            f"mean drift: {waves.missing:.0%} of the energy of scattered waves is missing. Give "
            "smaller panels."
        )
        warn_user(f"run_bem: {notes[-1]}")
    about = {"units": "N/m^2, N m/m^2", "long_name": "mean drift force per square metre"}
    dims = ("omega", "wave_direction", "influenced_dof")
    return data.assign(mean_drift=(dims, drift, about)).assign_attrs(notes="\n".join(notes))


def _far_field(
    body: Wetted,
    center: np.ndarray,
    omega: np.ndarray,
    beta: np.ndarray,
    water: Water,
    lid: float | None,
) -> xr.Dataset:
    """Kochin functions of all problems, as Capytaine's functions take them."""
    import xarray as xr
    from capytaine.post_pro.kochin import compute_kochin

    cpt = import_capytaine()
    mesh = to_capytaine(body.wet, body.name)
    inner = None if lid is None else lid_inside(body.panels, mesh, lid)
    dofs = cpt.rigid_body_dofs(rotation_center=tuple(center))
    named = {f"{body.name}__{dof}": dofs[dof] for dof in DOFS}
    floating = cpt.FloatingBody(mesh=mesh, lid_mesh=inner, dofs=named, name=body.name)
    solver = cpt.BEMSolver(method="indirect")  # far away one needs the sources
    theta = 2.0 * np.pi / ANGLES * np.arange(-BESIDE, ANGLES + BESIDE + 1)
    radiated = np.zeros((len(omega), 6, len(theta)), complex)
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
        {"omega": omega, "wave_direction": beta, "theta": theta, "radiating_dof": list(named)},
    )


def _solved(solver: cpt.BEMSolver, problem: object) -> Any:
    return solver.solve(problem, keep_details=True, _check_wavelength=False)


def _motion(data: xr.Dataset, some: np.ndarray, far: xr.Dataset) -> xr.DataArray:
    """Motion of the body that floats freely, per metre of amplitude."""
    import xarray as xr

    omega = data["omega"].values[some][:, None, None]
    M = data["inertia_matrix"].values + data["added_mass"].values[some]
    B, C = data["radiation_damping"].values[some], data["hydrostatic_stiffness"].values
    F = data["excitation_force"].values[some]
    Z = -(omega**2) * M - 1j * omega * B + C
    X = np.linalg.solve(Z[:, None], F[..., None])[..., 0]
    coords = {name: far[name].values for name in ("omega", "wave_direction", "radiating_dof")}
    return xr.DataArray(X, coords, ("omega", "wave_direction", "radiating_dof"))


class _Waves(NamedTuple):
    """Of waves far away, (omega, wave_direction)."""

    surge: np.ndarray  # N/m^2
    sway: np.ndarray
    missing: float  # of their energy, where they are largest


def _waves(motion: xr.DataArray, far: xr.Dataset) -> _Waves:
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
        whole = (power * weights).integrate("theta")
        return weight * whole.transpose("omega", "wave_direction").values

    total = scattered(1.0 + 0.0 * theta)
    lost = np.zeros_like(total)
    for k, direction in enumerate(beta.values):
        ahead = H.isel(wave_direction=k).interp(theta=direction).values
        lost[:, k] = -2.0 * np.pi * rho * omega * np.imag(ahead)
    worst = total.argmax()
    missing = float(np.abs(total - lost).flat[worst] / total.flat[worst]) if total.any() else 0.0
    surge, sway = (scattered(f(beta) - f(theta)) for f in (np.cos, np.sin))
    return _Waves(surge, sway, missing)
