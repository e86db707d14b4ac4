"""Rods: sinking, swinging and floating, against MoorDyn-F, closed forms and invariants."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import PointSensor, Rod, System, Water
from swelltree.interop.moordyn.read import read_moordyn
from swelltree.studies.time.simulate import simulate
from validation.table import Check, case

if TYPE_CHECKING:
    import xarray as xr

SINKING = ("md_horizontal", "md_vertical", "md_no_line")
NODES = "same lumping at the nodes, printed digits"


def baseline(folder: Path) -> tuple[list[str], np.ndarray]:
    """Names of the columns and numbers of an output of MoorDyn-F."""
    plain, packed = folder / "driver.MD.out", folder / "driver.MD.out.gz"
    text = plain.read_text() if plain.exists() else gzip.decompress(packed.read_bytes()).decode()
    lines = text.splitlines()
    first = next(k for k, line in enumerate(lines) if line.strip().startswith("Time"))
    return lines[first].split(), np.loadtxt(lines[first + 2 :])


def rod_alone(path: Path) -> System:
    """The rods of a file, with sensors at their ends; the dummy line is left out."""
    file = read_moordyn(path)
    rods = file.parts()["rods"]
    sensors = [
        PointSensor(f"{rod.name}_{word}", point)
        for rod in rods
        for word, point in (("A", rod.end_A), ("B", rod.end_B))
    ]
    return System("rods", rods=rods, sensors=sensors, water=file.water)


def run(system: System, duration: float, **more: Any) -> xr.Dataset:
    """A simulation without a progress bar, tight."""
    specified = {"rtol": 1e-9, "atol": 1e-10, "progress": False} | more
    return simulate(compile_system(system), duration=duration, **specified)


@case("lines", "moordyn_rods", source="MoorDyn-F baselines", needs="moor_moordyn_f")
def moordyn_rods(folder: Path) -> list[Check]:
    """Two sinking rods and a rod pendulum for 60 s: where the reported end is."""
    checks = []
    for name in SINKING:
        names, rows = baseline(folder / name)
        system = rod_alone(folder / name / "moordyn.dat")
        result = run(system, float(rows[-1, 0]), output_step=0.1)
        end = "Rod1_B" if "ROD1NBPX" in names else "Rod1_A"
        ours = result.point_position.sel(point=end).values[1:]
        error = np.linalg.norm(ours - rows[:, 1:4], axis=1).max()
        checks.append(Check(f"{name}: end of the rod", float(error), 1e-3, "m", NODES))
    return checks


@case("lines", "pinned_floating_rods", source="conservation of energy", needs="moor_analytic")
def pinned_floating_rods(folder: Path) -> list[Check]:
    """Two light rods on pins, at first level: inverted pendulums that keep their energy."""
    system = rod_alone(folder / "inputs" / "RodPinnedFloating.txt")
    result = run(system, 10.0)
    energy = result.kinetic_energy.sum("body") + result.potential_energy.sum("element")
    turned = result.kinetic_energy.sum("body").max()
    change = float(np.ptp(energy.values) / turned.values)
    ends = result.point_position.sel(point=["Rod1_B", "Rod2_B"], axis="z").values
    # quarter turn of a physical pendulum from level: above the pin at all later times
    above = float((ends[1:] < -5.0 - 1e-6).sum())
    return [
        Check("energy", change, 1e-6, "K", "rtol 1e-9"),
        Check("times below the pin", above, 0.0, "", "both turn upwards"),
        Check("difference of the two rods", float(np.ptp(ends, axis=1).max()), 1e-6, "m", "alike"),
    ]


@case("lines", "free_rod", source="z = a t^2 / 2 with added mass")
def free_rod() -> list[Check]:
    """A light level rod rises with constant acceleration: its own and the water's inertia."""
    g, rho, volume, mass = 9.80665, 1025.0, 2.0 * np.pi * 0.25**2, 200.0
    rod = Rod(
        "rod", (-1, 0, -10), (1, 0, -10), 0.5, 100.0, Cdn=0.0, Can=1.0, Cd_end=0.0, Ca_end=0.0
    )
    result = run(System("rises", rods=[rod], water=Water(rho, g)), 2.0)
    a = (rho * volume - mass) * g / (mass + rho * volume)
    z = result.position.sel(body="rod", dof="Heave").values
    exact = z[0] + 0.5 * a * result.time.values**2
    return [
        Check("acceleration", a, 5e-5, "m/s^2", "printed digits", 3.2962),
        Check("height", float(np.abs(z - exact).max()), 1e-7, "m", "rtol 1e-9"),
    ]


@case("lines", "floating_rod", source="conservation of energy")
def floating_rod() -> list[Check]:
    """A spar dropped aslant into the surface: without drag it keeps energy, with drag it loses."""
    checks = []
    for drag, word in ((0.0, "without drag"), (1.0, "with drag")):
        rod = Rod(
            "spar",
            (0.0, 0.0, -12.0),
            (4.0, 0.5, 4.0),
            2.0,
            2400.0,
            Cdn=drag,
            Cd_end=drag,
            Can=0.0,
            Ca_end=0.0,
            segments=8,
        )
        result = run(System("floats", rods=[rod], water=Water(1025.0, 9.81)), 20.0, rtol=1e-8)
        kinetic = result.kinetic_energy.sum("body").values
        energy = kinetic + result.potential_energy.sum("element").values
        if drag:
            rise = float(np.diff(energy).max() / kinetic.max())
            checks.append(
                Check(f"{word}: increases of energy", max(rise, 0.0), 1e-6, "K", "rtol 1e-8")
            )
        else:
            change = float(np.ptp(energy) / kinetic.max())
            checks.append(Check(f"{word}: energy", change, 1e-5, "K", "rtol 1e-8"))
    return checks


@case("lines", "moordyn_mass_on_a_line", source="MoorDyn-F baseline", needs="moor_moordyn_f")
def moordyn_mass_on_a_line(folder: Path, step: float = 0.05) -> list[Check]:
    """A mass on a line, pulled aside by a constant force, with linear and quadratic damping."""
    names, rows = baseline(folder / "md_BdyExtLdDmpg")
    file = read_moordyn(folder / "md_BdyExtLdDmpg" / "moordyn.dat", depth=300.0)
    duration = float(rows[-1, 0])
    result = simulate(
        compile_system(file.system("mass on a line")),
        duration=duration,
        output_step=0.1,
        step=step,
        start="described",
        progress=False,
    )
    place = result.position.sel(body="Body1").values[1:, :3]
    error = np.linalg.norm(place - rows[:, 1:4], axis=1).max()
    pulled = rows[:, names.index("ANCHTEN1")]
    tension = np.abs(result.anchor_tension.sel(line="Line1").values[1:] / pulled - 1.0)
    late = rows[:, 0] > 5.0
    return [
        Check("position", float(error), 5e-3, "m", "step of 0.05 s; 1 % of the way is 0.5 m"),
        Check("tension after 5 s", float(tension[late].max()), 2e-3, "", "end node or segment"),
    ]


@case("lines", "hanging_rod", source="symmetry", needs="moor_analytic")
def hanging_rod(folder: Path) -> list[Check]:
    """A rod let go on two equal ropes sinks without turning."""
    file = read_moordyn(folder / "inputs" / "RodHanging.txt")
    rod = file.parts()["rods"][0]
    ends = [PointSensor("A", rod.end_A), PointSensor("B", rod.end_B)]
    model = compile_system(file.system("hanging", sensors=ends))
    result = simulate(
        model, duration=20.0, output_step=0.1, step=0.1, start="described", progress=False
    )
    places = result.point_position.values
    height = np.abs(np.diff(places[:, :, 2], axis=1)).max() / rod.length
    side = np.abs(places.sum(1)[:, :2]).max() / rod.length
    return [
        Check("ends at different heights", float(height), 1e-6, "L", "1 % at the origin"),
        Check("middle moves aside", float(side), 1e-6, "L", "symmetric"),
        Check("sinks", float(places[0, 0, 2] - places[-1, 0, 2]), 5.0, "m", "it moves", 12.0),
    ]


@case("lines", "cantilever_on_a_rod", source="beam theory", needs="moor_analytic")
def cantilever_on_a_rod(folder: Path) -> list[Check]:
    """A line with bending stiffness, clamped along a fixed rod, bends under its weight."""
    file = read_moordyn(folder / "inputs" / "BeamCantilevered.txt")
    model = compile_system(file.system("beam"))
    result = simulate(model, duration=0.2, output_step=0.1, step=0.1, progress=False)
    node = result.line_position.sel(line="Line1").values[-1]
    x, L, EI, weight = node[:, 0], 10.0, 1e7, 100.0 * file.water.g
    theory = -weight * x**2 * (6 * L**2 - 4 * x * L + x**2) / (24 * EI)
    error = np.abs(node[:, 2] - 10.0 - theory).max()
    reason = "19 segments; 10 % is required"
    return [Check("sag", float(error / np.abs(theory).max()), 0.01, "", reason)]
