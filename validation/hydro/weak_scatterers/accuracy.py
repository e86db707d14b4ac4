"""What default meshes of weak scatterers reach in added mass, damping and excitation."""

from __future__ import annotations

import math

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import (
    WORLD,
    Body,
    Box,
    Cylinder,
    Sphere,
    SubsetJoint,
    System,
    Water,
    WeakScatterer,
)
from swelltree.describe.bodies.hulls import Hull
from swelltree.hydro.weak_scatterer.coefficients import weak_scatterer_coefficients
from validation.hydro.weak_scatterers.submerged_disc import heave_coefficients
from validation.table import Check, case

WATER = Water(rho=1000.0)
OMEGA = math.sqrt(WATER.g)  # k = 1 / m
LENGTH = 2.0 * math.pi
# run_bem(refine="extrapolate") on panels of 0.09 (box), 0.07 and 0.085 m; from the next coarser
# panels (0.12, 0.09, 0.12 m) they changed by 0.4 % at most
HULLS: dict[str, tuple[Hull, dict[str, float]]] = {
    "box": (
        Box(length=4.0, width=2.5, height=2.0, draft=1.0),
        {"A11": 2599.0, "A33": 8096.0, "A55": 6991.0, "B11": 10440.0, "B33": 2644.0},
    ),
    "cylinder": (
        Cylinder(radius=1.0, height=4.0, draft=2.0),
        {"A11": 3479.0, "A33": 1832.0, "A55": 3480.0, "B11": 10620.0, "B33": 66.35},
    ),
    "hemisphere": (
        Sphere(1.0),
        {"A11": 1203.0, "A33": 897.5, "B11": 2322.0, "B33": 1630.0},
    ),
}


# of the box, by BEM on panels of 0.11 m (extrapolated) and on cosine-spaced ones (586 to 2252 of
# them, extrapolated): 2398 and 2420 kg m^2, 1272 and 1297 N m s
ROLL = {"A44": 2409.0, "B44": 1285.0}


# a thin disc of 1 m with its middle 1 m deep
PLATE = Cylinder(radius=1.0, height=0.1, draft=0.1, offset=(0.0, 0.0, -0.95))


def default_coefficients(
    hull: Hull, symmetric: bool = True, spacing: float = 0.5
) -> dict[str, float]:
    """Added masses and dampings on a default mesh in a tank of 2.5 wavelengths."""
    body = Body("body", mass=100.0, inertia=(10.0,) * 3, hull=hull)
    joint = SubsetJoint("held", WORLD, body, dofs=("Surge", "Heave"))
    tank = WeakScatterer(
        "tank", radius=2.5 * LENGTH, spacing=spacing, far_spacing=LENGTH / 8, fine=1.5, levels=4,
        symmetric=symmetric, mode="linear",
    )  # fmt: skip
    model = compile_system(System("water", [body], [joint], [tank], water=WATER))
    found = weak_scatterer_coefficients(model, OMEGA, estimate=False)
    A, B = (np.diagonal(found[name].values) for name in ("added_mass", "radiation_damping"))
    rows = ("A", A), ("B", B)
    return {f"{n}{i + 1}{i + 1}": float(v) for n, values in rows for i, v in enumerate(values)}


@case("weak_scatterer", "default_meshes", source="BEM, two meshes extrapolated")
def default_meshes() -> list[Check]:
    """No panel size is given: boxes, cylinders and spheres at k = 1 / m."""
    checks = []
    for name, (hull, requested) in HULLS.items():
        ours = default_coefficients(hull)
        for which, value in requested.items():
            small = which[0] == "B" and value < 0.05 * OMEGA * requested[f"A{which[1:]}"]
            why = "error of 200 panels and of a spacing of a twelfth of the wavelength"
            if small:
                why = "small: a hundredth of the inertia of the added mass"
            within = 0.06 if small else 0.03
            checks.append(Check(f"{name} {which}", ours[which] / value, within, "", why, 1.0))
    ours = default_coefficients(HULLS["box"][0], symmetric=False)
    why = "error of 200 panels, and 1 % between two references"
    checks += [Check(f"box {n}", ours[n] / value, 0.03, "", why, 1.0) for n, value in ROLL.items()]
    return checks


@case("weak_scatterer", "heave_plate", source="matched eigenfunctions")
def heave_plate() -> list[Check]:
    """A plate of 1 m radius, 0.1 m thick, under 0.95 m of water: a third of that as spacing."""
    exact = heave_coefficients(1.0, 1.0, 0.95, 1.05, 10.0, WATER.rho, WATER.g)
    ours = default_coefficients(PLATE, spacing=0.3)
    why = "200 panels, and the surface over the plate on a spacing of 0.3 m"
    rows = zip((("A33", 0.01), ("B33", 0.04)), exact, strict=True)
    return [Check(n, ours[n] / value, within, "", why, 1.0) for (n, within), value in rows]
