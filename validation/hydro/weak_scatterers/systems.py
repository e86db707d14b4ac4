"""Floaters in systems: the linear mode of weak scatterers against hydro data of the same bodies.

Compared are motions in a wave at one frequency, with added mass, damping and excitation of the
discrete tank (`harmonic`) in the place of hydro data: runs in time come to these after a while.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import (
    WORLD,
    Axisymmetric,
    Body,
    Box,
    Hinge,
    Junction,
    Line,
    LinearMooring,
    LinearPto,
    RegularWave,
    SubsetJoint,
    System,
    Water,
    WeakScatterer,
    Weld,
)
from swelltree.hydro.bem.run import run_bem
from swelltree.hydro.weak_scatterer.effect import WeakScatterers
from swelltree.hydro.weak_scatterer.harmonic import harmonic
from swelltree.studies.linear.rao import rao
from swelltree.waves.sea import realise
from validation.mooring.cables import OMEGA, rope
from validation.table import Check, case

if TYPE_CHECKING:
    import xarray as xr

AFLOAT = ("Surge", "Heave", "Pitch")
# two barges at 2.2 rad/s: coupled data, panels of 0.2 m and of half that extrapolated
# (tests/hydro/weak_scatterer/test_ladder.py, by_nested_data) [m/m, rad/m]
HINGED = {
    "surge": -0.00849 + 0.45291j,
    "heave": 0.64276 - 0.89643j,
    "pitch": -0.02843 - 0.63915j,
    "hinge": 0.09363 + 0.31439j,
}


def hinged_barges() -> System:
    """Two boxes on the surface, the first moored softly, the second on its hinge."""
    hull = Box(length=3.0, width=1.6, height=1.2, draft=0.6)
    a, b = (Body(name, position=(x, 0, 0), hull=hull) for name, x in (("a", -2.0), ("b", 2.0)))
    joints = [
        SubsetJoint("afloat", WORLD.at(-2.0, 0, 0), a, dofs=AFLOAT),
        Hinge("hinge", a.at(2.0, 0, 0.2), b.at(-2.0, 0, 0.2), axis="y"),
    ]
    pto = LinearPto("pto", joint="hinge", damping=5e3)
    mooring = LinearMooring("moored", a, stiffness={"Surge": 2000.0})
    water = Water(rho=1000.0)
    return System("barges", [a, b], joints, ptos=[pto], moorings=[mooring], water=water)


def crane_on_a_float() -> System:
    """A float with a crane, from which a load hangs on a cable of three elements.

    Cable and load are those of Wuillaume et al. (2017), section 6.2. The float is half a spheroid
    of revolution under water instead of a cylinder, so that the water resists its pitch too.
    """
    a, b, hangs, crane_mass = 0.4, 0.3, 11.0, 4.0
    turn = np.linspace(-0.5 * math.pi, 0.5 * math.pi, 41)[1:-1]
    sides = [(a * math.cos(u), b * math.sin(u)) for u in turn]
    hull = Axisymmetric(((0.0, -b), *sides, (0.0, b)), panel_size=0.06)
    water = Water(rho=1025.0)
    mass = water.rho * 2.0 / 3.0 * math.pi * a**2 * b - hangs - crane_mass
    # ballast that keeps it upright under the load beside it
    ballast = -(hangs * 0.3 + crane_mass * 0.15) / mass
    body = Body("float", mass=mass, inertia=(6.0, 6.0, 6.0), com=(ballast, 0, -0.15), hull=hull)
    crane = Body("crane", mass=crane_mass, inertia=(0.3, 0.3, 0.1), position=(0.15, 0, 0.35))
    load = Junction("load", (0.3, 0, -1.0), mass=5.0)
    tip = crane.at(0.15, 0, 0.15)
    line = Line("rope", tip, load, 1.5, rope(2.0), model="multibody", segments=3, dry=True)
    joints = [
        SubsetJoint("afloat", WORLD, body, dofs=AFLOAT),
        Weld("foot", body.at(0.15, 0, 0.35), crane),
    ]
    mooring = LinearMooring(
        "moored", body, stiffness={"Surge": 800.0}, damping={"Surge": 150.0, "Pitch": 5.0}
    )
    return System(
        "crane", [body, crane], joints, moorings=[mooring], lines=[line], junctions=[load],
        water=water,
    )  # fmt: skip


def crane_tank(mode: str) -> WeakScatterer:
    """The water around the float with the crane."""
    return WeakScatterer(
        "tank", 9.5, 0.2, ("float",), fine=0.3, far_spacing=1.0, panel_size=0.09, levels=3,
        symmetric=True, mode=mode,
    )  # fmt: skip


def with_tank(system: System, tank: WeakScatterer, data: xr.Dataset, omega: float) -> xr.Dataset:
    """Hydro data whose row of a frequency is that of the linear mode in a tank.

    Args:
        system: in deep water.
        tank: around all bodies of the data.
        data: what is replaced.
        omega: of the row [rad/s].
    """
    model = compile_system(system.replace(forces=(*system.forces, tank)))
    effect = model.effect(WeakScatterers)
    assert effect is not None
    waves = realise(RegularWave(amplitude=0.01, omega=omega), system.water)
    A, B, F = harmonic(effect.in_sea(model, waves).scene, omega, math.inf)
    ours = data.copy(deep=True)
    at = int(np.argmin(np.abs(data["omega"].values - omega)))
    ours["added_mass"].values[at], ours["radiation_damping"].values[at] = A, B
    ours["excitation_force"].values[at, 0] = F
    return ours


def response(system: System, data: xr.Dataset, omega: float) -> xr.Dataset:
    """Complex amplitudes per metre of a wave along x."""
    return rao(compile_system(system, data, radiation="none"), omega=[omega])


@case("weak_scatterer", "two_barges_on_a_hinge", source="coupled BEM")
def two_barges_on_a_hinge() -> list[Check]:
    """Surge, heave and pitch of the first, and the angle of the hinge, with their phases."""
    omega, system = 2.2, hinged_barges()
    length = 2.0 * math.pi * 9.81 / omega**2
    tank = WeakScatterer(
        "tank", 1.6 * length, 0.35, fine=1.0, far_spacing=length / 9, panel_size=0.2,
        symmetric=True, mode="linear",
    )  # fmt: skip
    # a rough run for the form of the data; its row is replaced
    rough = [b.replace(hull=b.hull.replace(panel_size=0.5)) for b in system.bodies if b.hull]
    near = [0.8 * omega, omega, 1.25 * omega]
    data = run_bem(system.replace(bodies=rough), omega=near, progress=False)
    ours = response(system, with_tank(system, tank, data, omega), omega)["coordinate_rao"]
    values = ours.isel(omega=0, wave_direction=0).values
    why = "edges of 90 degrees: the potential varies with the power 2/3 of the distance"
    return [
        Check(f"{name}: difference with its phase", abs(x - y) / abs(y), 0.02, "", why)
        for x, (name, y) in zip(values, HINGED.items(), strict=True)
    ]


@case("weak_scatterer", "crane_cable_and_load", source="BEM; Wuillaume et al. (2017), 6.2")
def crane_cable_and_load() -> list[Check]:
    """Float, load and tension in a small wave: the tank and hydro data, at one frequency."""
    system = crane_on_a_float()
    near = [0.8 * OMEGA, OMEGA, 1.25 * OMEGA]
    data = run_bem(system, omega=near, refine="extrapolate", progress=False)
    ours = with_tank(system, crane_tank("linear"), data, OMEGA)
    found = [response(system, d, OMEGA) for d in (ours, data)]
    rows = []
    for f in found:
        floats = f["rao"].sel(body="float", dof=list(AFLOAT)).values.reshape(-1)
        load = f["rao"].sel(body="rope_3", dof=["Surge", "Heave"]).values.reshape(-1)
        # elements stretch with the tension
        tension = f["coordinate_rao"].sel(coordinate="rope_1_link__Heave").values.reshape(-1)
        rows.append(np.concatenate([floats, load, tension]))
    names = ("surge", "heave", "pitch", "load along the wave", "load, heave", "tension")
    off = np.abs(rows[0] - rows[1]) / np.abs(rows[1])
    why = "595 vertices, panels of 0.09 m"
    return [Check(n, float(x), 0.03, "", why) for n, x in zip(names, off, strict=True)]
