"""What hydrodynamic data hold, as text for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from swelltree.hydro.dataset import body_names, dofs_of, infinite_added_mass
from swelltree.hydro.report import Finding

if TYPE_CHECKING:
    import xarray as xr

OPTIONAL = ("Froude_Krylov_force", "diffraction_force", "hydrostatic_stiffness", "inertia_matrix")
SECOND = ("mean_drift", "mean_drift_total", "qtf_difference", "qtf_sum")


def hydro_outline(data: xr.Dataset, findings: Sequence[Finding]) -> str:
    """Contents and findings, one fact per line.

    Args:
        data: hydrodynamic data.
        findings: of `hydro_report`.
    """
    omega = data["omega"].values
    finite = omega[(omega > 0) & np.isfinite(omega)]
    limits = [
        name for name, there in (("0", 0.0 in omega), ("inf", np.isinf(omega).any())) if there
    ]
    also = f", and {' and '.join(limits)}" if limits else ""
    lines = [
        f"source       {data.attrs.get('source', '')} ({data.attrs.get('solver', 'unknown')})",
        f"water        rho {float(data['rho']):g} kg/m^3, g {float(data['g']):g} m/s^2, "
        f"depth {float(data['water_depth']):g} m",
        f"frequencies  {finite.size}, {finite.min():.4g} to {finite.max():.4g} rad/s{also}",
    ]
    if "wave_direction" in data.coords:
        beta = np.rad2deg(data["wave_direction"].values)
        lines.append(f"headings     {beta.size}, {beta.min():g} to {beta.max():g} deg")
    for k, body in enumerate(body_names(data)):
        point, volume = data["rotation_center"].values[k], data["displaced_volume"].values[k]
        where = "unknown" if np.isnan(point).any() else "({:g}, {:g}, {:g}) m".format(*point)
        lines.append(
            f"body         {body}: {len(dofs_of(data, body))} DOFs about {where}"
            + ("" if np.isnan(volume) else f", volume {volume:.6g} m^3")
        )
    optional_names = [name for name in ("excitation_force", *OPTIONAL, *SECOND) if name in data]
    lines.append(f"also holds   {', '.join(optional_names)}")
    given = "given" if infinite_added_mass(data) is not None else "not given"
    lines.append(f"A_inf        {given}")
    lines += [f"note         {text}" for text in str(data.attrs.get("notes", "")).splitlines()]
    lines.append("")
    lines += [str(finding) for finding in findings] or ["no findings: the data are consistent."]
    return "\n".join(lines)
