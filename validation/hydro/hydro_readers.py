"""Readers of hydrodynamic data against the published values of their files, and code by code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.hydro.data.dataset import complete, infinite_added_mass
from swelltree.hydro.readers.read import read_hydro
from swelltree.jit import Array
from validation.table import Check, case

if TYPE_CHECKING:
    import xarray as xr


READING = 1e-4  # of the value: published numbers have four to five digits
BETWEEN = 0.02  # panel codes on one mesh differ by 1.2 %, with a margin


def at(data: xr.Dataset, name: str, omega: float, *dofs: str) -> Array:
    """Entry of a variable at the frequency nearest to omega."""
    row = data[name].isel(omega=int(np.argmin(np.abs(data["omega"].values - omega))))
    row = row.sel(influenced_dof=dofs[0])
    return row.sel(radiating_dof=dofs[-1]).item() if "radiating_dof" in row.dims else row.values[0]


def reading(
    quantity: str, value: float, published: float, unit: str, share: float = READING
) -> Check:
    """A value as published, within a fraction of it."""
    reason = f"{share:g} of it: digits of the published value"
    return Check(quantity, value, share * abs(published), unit, reason, published)


@case("hydro", "read_rm3", source="WAMIT, Capytaine and NEMOH, by WEC-Sim", needs="bem_rm3")
def read_rm3(folder: Path) -> list[Check]:
    """RM3 in three formats."""
    names = ("float", "spar")
    wamit = read_hydro(folder / "wamit" / "rm3.out", rho=1000.0, names=names)
    others = {
        "Capytaine": read_hydro(folder / "capytaine" / "rm3_hydrodynamics.nc", names=names),
        "NEMOH": read_hydro(folder / "nemoh_v3", names=names),
    }
    stiffness = np.diagonal(wamit["hydrostatic_stiffness"].values)
    infinite = infinite_added_mass(wamit)
    assert infinite is not None
    checks = [
        reading("WAMIT K33 of the float", float(stiffness[2]), 2_800_981, "N/m"),
        reading("WAMIT K33 of the spar", float(stiffness[8]), 277_019, "N/m"),
        reading("WAMIT A_inf heave of the float", float(infinite[2, 2]), 1.2328e6, "kg"),
        reading("WAMIT A_inf heave of the spar", float(infinite[8, 8]), 8.9188e6, "kg"),
    ]
    for code, other in others.items():
        for dof in ("Surge", "Heave", "Pitch"):
            checks.append(_phase(code, dof, wamit, other))
        ours = at(other, "added_mass", 0.78, "float__Heave")
        ratio = ours / at(wamit, "added_mass", 0.78, "float__Heave")
        text = "codes on different meshes"
        checks.append(Check(f"{code} A33 of the float / WAMIT", ratio, 0.02, "", text, 1.0))
    return checks


def _phase(code: str, dof: str, wamit: xr.Dataset, other: xr.Dataset) -> Check:
    """Largest phase between two codes where the force is strong and neither is disturbed."""
    omega = other["omega"].values
    omega = omega[omega < 1.45]
    a, b = (
        data["excitation_force"]
        .sel(omega=omega, method="nearest")
        .sel(influenced_dof=f"float__{dof}")
        .values[:, 0]
        for data in (wamit, other)
    )
    strong = np.abs(a) > 0.05 * np.abs(a).max()
    worst = float(np.abs(np.rad2deg(np.angle(a[strong] / b[strong]))).max())
    reason = "where |F| > 5 %, below 1.45 rad/s (irregular frequencies above)"
    return Check(f"{code} phase of float {dof} to WAMIT's", worst, 2.0, "deg", reason)


@case("hydro", "read_sphere", source="WAMIT, Capytaine and NEMOH, by WEC-Sim", needs="bem_sphere")
def read_sphere(folder: Path) -> list[Check]:
    """A sphere in three formats, and one in BEMIO's."""
    names = ("sphere",)
    data = {
        "WAMIT": read_hydro(folder / "wecsim_wamit" / "sphere.1", rho=1000.0, names=names),
        "Capytaine": read_hydro(
            folder / "wecsim_capytaine" / "sphere_hydrodynamics.nc", names=names, gaps="drop"
        ),
        "NEMOH": read_hydro(folder / "wecsim_nemoh_v3", names=names),
    }
    omega = np.arange(0.3, 3.0, 0.02)
    omega = omega[(np.abs(omega - 2.25) > 0.25) & (np.abs(omega - 2.78) > 0.25)]
    checks = []
    for name in ("added_mass", "radiation_damping", "excitation_force"):
        curves = {}
        for code, each in data.items():
            rows = each[name].sel(omega=omega, method="nearest")
            rows = rows.sel(influenced_dof="sphere__Heave")
            if "radiating_dof" in rows.dims:
                rows = rows.sel(radiating_dof="sphere__Heave")
            curves[code] = np.abs(rows.values.reshape(-1))
        first = curves.pop("WAMIT")
        for code, curve in curves.items():
            apart = float(np.abs(curve - first).max() / first.max())
            text = "of the largest in 0.3 to 3 rad/s; NEMOH without 2.25, 2.78 ± 0.25 (irregular)"
            checks.append(Check(f"{code} heave {name} to WAMIT's", apart, BETWEEN, "", text))
    published = {
        "added_mass": (1.522e5, 1.540e5, 1.538e5),
        "radiation_damping": (8.835e4, 8.911e4, 8.874e4),
        "excitation_force": (4.085e5, 4.072e5, 4.073e5),
    }
    for name, values in published.items():
        for (code, each), value in zip(data.items(), values, strict=True):
            ours = float(abs(at(each, name, 1.0, "sphere__Heave")))
            checks.append(reading(f"{code} heave {name} at 1 rad/s", ours, value, "", 5e-4))
    task10 = read_hydro(folder / "iea_oes_task10" / "sphere.h5")
    infinite = infinite_added_mass(task10)
    assert infinite is not None
    damping = float(task10["radiation_damping"].values[:, 2, 2].max())
    return checks + [
        reading("BEMIO A_inf heave", float(infinite[2, 2]), 130_877, "kg"),
        reading("BEMIO largest heave damping", damping, 95_256, "N s/m"),
    ]


@case("hydro", "read_cylinder", source="AQUAPLUS, by NEMOH", needs="bem_cylinder_aquaplus")
def read_cylinder(folder: Path) -> list[Check]:
    """A vertical cylinder of AQUAPLUS."""
    data = read_hydro(folder)
    rows = {
        1.0: (749087.8, 234010.5, 223342.5, 17958.1),
        2.0: (239112.4, 355817.8, 236557.1, 373.3),
    }
    checks = []
    for omega, values in rows.items():
        pairs = (
            (dof, name)
            for dof in ("Surge", "Heave")
            for name in ("added_mass", "radiation_damping")
        )
        for (dof, name), value in zip(pairs, values, strict=True):
            ours = at(data, name, omega, f"Cylinder__{dof}")
            checks.append(reading(f"{name} {dof} at {omega:g} rad/s", ours, value, "", 2e-4))
    return checks


@case("hydro", "read_oc3_spar", source="WAMIT, by OpenFAST", needs="bem_oc3_spar")
def read_oc3_spar(folder: Path) -> list[Check]:
    """OC3 spar in WAMIT's numeric files."""
    data = read_hydro(folder / "Spar.1", rho=1025.0, g=9.80665, depth=320.0)
    infinite = infinite_added_mass(data)
    assert infinite is not None
    stiffness = data["hydrostatic_stiffness"].values
    return [
        reading("A_inf surge", float(infinite[0, 0]), 7.7591e6, "kg"),
        reading("A_inf heave", float(infinite[2, 2]), 2.4125e5, "kg"),
        reading("A_inf pitch", float(infinite[4, 4]), 3.7936e10, "kg m^2"),
        reading("stiffness heave", float(stiffness[2, 2]), 332_941, "N/m"),
        reading("stiffness pitch (buoyancy only)", float(stiffness[4, 4]), -4.99918e9, "N m"),
    ]


@case("hydro", "read_oswec", source="Capytaine, by WEC-Sim", needs="bem_oswec")
def read_oswec(folder: Path) -> list[Check]:
    """OSWEC: NaN rows found, added mass about the hinge."""
    from swelltree.hydro.data.frames import move_reference

    data = read_hydro(folder / "capytaine" / "oswec_hydrodynamics.nc", gaps="keep")
    full = complete(data)
    lost = data.sizes["omega"] - full.sizes["omega"]
    hinged = move_reference(full, {"oswec_flap": (0.0, 0.0, -8.9)})
    omega = hinged["omega"].values
    A, B = (
        float(np.interp(0.325, omega, hinged[name].values[:, 4, 4]))
        for name in ("added_mass", "radiation_damping")
    )
    return [
        Check("frequencies with NaN", float(lost), 0.0, "", "three in the file", 3.0),
        reading("added mass about the hinge", A, 5.632e7, "kg m^2", 1e-3),
        reading("damping about the hinge", B, 7.73e5, "N m s", 1e-2),
    ]


@case("hydro", "read_5sa", source="Capytaine, by SEA-Stack", needs="bem_5sa")
def read_5sa(folder: Path) -> list[Check]:
    """Five hinged segments: a large file."""
    data = read_hydro(folder / "5sa_directional_capytaine.nc")
    return [
        Check("DOFs", float(data.sizes["influenced_dof"]), 0.0, "", "five bodies", 30.0),
        Check("headings", float(data.sizes["wave_direction"]), 0.0, "", "all round", 13.0),
    ]
