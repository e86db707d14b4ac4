"""Forces on a spar whose motion is prescribed, against HydroDyn of OpenFAST (OC3-Hywind).

Surge, heave and pitch follow the recorded motion; radiation and hydrostatics are compared. The
waves of the reference cannot be made again, so there are none here.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import WORLD, Body, Hinge, SubsetJoint, System, Table
from swelltree.hydro.readers.read import read_hydro
from swelltree.model.model import Model
from validation.hydro.hydro_sphere import water_of
from validation.run import run
from validation.signals import largest_error, rms_error
from validation.table import Check, case

if TYPE_CHECKING:
    import xarray as xr


VOLUME = 8029.21  # m^3


def columns(path: Path) -> dict[str, np.ndarray]:
    """Columns of an OpenFAST output file by name."""
    with gzip.open(path, "rt") as file:
        lines = file.read().splitlines()
    names = lines[6].split()
    return dict(zip(names, np.loadtxt(lines[8:]).T, strict=True))


def spar(folder: Path, motion: dict[str, np.ndarray]) -> Model:
    """The spar on prescribed motions in surge, heave and pitch.

    Args:
        folder: of this case; the WAMIT files lie beside it.
        motion: columns of the reference.
    """
    origin = {"spar": (0.0, 0.0, 0.0)}
    data = read_hydro(
        folder.parent / "bem_oc3_spar" / "Spar.1",
        names=["spar"],
        rho=1025.0,
        g=9.80665,
        depth=320.0,
        length=1.0,
        rotation_center=origin,
        center_of_mass=origin,  # the stiffness holds no weight
        check=False,
    )
    time = motion["Time"]
    drive = {dof: Table(time, motion[f"B1{dof}"]) for dof in ("Surge", "Heave", "Pitch")}
    frame = Body("frame")
    body = Body("spar", mass=1025.0 * VOLUME, inertia=(5e9, 5e9, 2e8))
    joints = [
        SubsetJoint(
            "place",
            WORLD,
            frame,
            dofs=("Surge", "Heave"),
            motion={"Surge": drive["Surge"], "Heave": drive["Heave"]},
        ),
        Hinge("turn", frame, body, axis="y", motion=drive["Pitch"]),
    ]
    system = System("spar", [frame, body], joints, water=water_of(data))
    return compile_system(system, hydro=data, fit={"error": 0.02})


def forces(
    result: xr.Dataset, model: Model, motion: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Radiation, added mass at infinite frequency included, and hydrostatics (time, 6).

    The added mass takes the printed accelerations: those of a curve through the printed
    positions, far from the origin, would show their last digit.
    """
    i = 6 * model.layout.bodies.index("spar")
    assert model.added_mass is not None
    added = np.asarray(model.added_mass)[i : i + 6, i : i + 6]
    names = [f"B1{kind}{axis}i" for kind in ("TA", "RA") for axis in "xyz"]
    plane = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0])  # surge, heave and pitch move here
    acceleration = np.stack([motion[name] for name in names], axis=1) * plane
    memory = result["radiation_force"].sel(body="spar").values
    return memory - acceleration @ added, result["hydrostatic_force"].sel(body="spar").values


@case("hydro", "oc3_spar", source="OpenFAST HydroDyn", needs="hydrodyn_oc3_spar")
def oc3_spar(folder: Path) -> list[Check]:
    """Radiation and hydrostatic force under prescribed motion for 60 s."""
    full = columns(folder / "driver.out.gz")
    target = {name: column[::4] for name, column in full.items()}
    model = spar(folder, full)
    result = run(model, times=target["Time"], rtol=1e-6, atol=1e-8)
    radiation, static = forces(result, model, target)
    simple = "five times the error of a simple trapezoidal convolution"
    checks = [
        Check(
            f"radiation {dof}",
            rms_error(radiation[:, k], target[f"B1Rdt{name}"]),
            0.005,
            "",
            simple,
        )
        for dof, k, name in (("surge", 0, "Fxi"), ("heave", 2, "Fzi"), ("pitch", 4, "Myi"))
    ]
    for dof, k, name, limit in (("heave", 2, "Fzi", 1e-4), ("pitch", 4, "Myi", 5e-3)):
        error = largest_error(static[:, k], target[f"B1HDS{name}"])
        checks.append(
            Check(f"hydrostatics {dof}", error, limit, "", "of the range; printed digits")
        )
    return checks
