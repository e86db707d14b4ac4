"""Winches and operations: balances of mass, momentum and energy, closed forms, landing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import (
    WORLD,
    Body,
    ConstantTension,
    Free,
    Harmonic,
    HeaveCompensation,
    Hinge,
    Junction,
    Line,
    LineType,
    Operation,
    SeabedContact,
    Slider,
    Stage,
    System,
    Table,
    Water,
    Winch,
)
from swelltree.interop.moordyn.read import read_moordyn
from swelltree.model.model import Model
from swelltree.studies.time.simulate import simulate
from validation.table import Check, case

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.describe.joints.joint import Joint


MASS, TOP, LENGTH = 20e3, 200.0, 20.0  # kg, m, m
WEIGHT = MASS * 9.81
WIRE = LineType("wire", 0.03, 4.0, EA=4e7, BA=0.0)
AIR = Water(rho=1e-9)
OMEGA = 0.8  # rad/s, of a crane tip


def hoist(
    stages: Sequence[Stage] = (),
    rope: LineType = WIRE,
    axial: str = "elastic",
    tip: object = None,
    **winch: Any,
) -> Model:
    """A load of 20 t that hangs on a winch, in air.

    Args:
        stages: of the winch "winch".
        rope: its type.
        axial: law of the line.
        tip: motion of the crane tip up and down; fixed if not given.
        winch: fields of the winch.
    """
    load = Body("load", mass=MASS, inertia=(MASS,) * 3, position=(0, 0, TOP - LENGTH))
    bodies, top = [load], WORLD.at(0, 0, TOP)
    joints: list[Joint] = [Free("free", WORLD, load)]
    if tip is not None:
        boom = Body("boom", mass=1e3, inertia=(1e3, 1e3, 1e3), position=(0, 0, TOP))
        bodies.append(boom)
        joints.append(Slider("heave", top, boom, axis="z", motion=tip))
        top = boom.at(0, 0, 0)
    line = Line("hoist", top, load, LENGTH, rope, segments=8, axial=axial)
    return compile_system(
        System(
            "hoist",
            bodies,
            joints,
            water=AIR,
            lines=[line],
            winches=[Winch("winch", line, **winch)],
            operations=[Operation("operation", stages)] if stages else [],
        )
    )


def down_and_up(length: float, speed: float, ramp: float) -> tuple[list[Stage], float]:
    """Stages that lower and lift again, and how long they take [s]."""
    down = Stage("pay_out", "winch", start=1.0, length=length, speed=speed, ramp=ramp)
    rest = Stage("hold", "winch", duration=2.0)
    up = Stage("haul_in", "winch", length=length, speed=speed, ramp=ramp)
    return [down, rest, up], 4.0 + 2.0 * down.seconds


def budget(run: xr.Dataset, h: float) -> np.ndarray:
    """Energy of load and rope less work of the winch and what rope brought in [J].

    At the inner of samples that are one step apart.
    """
    z = run.position.sel(body="load", dof="Heave").values
    v, middle = np.diff(z) / h, 0.5 * (z[1:] + z[:-1])
    rope = run.line_kinetic_energy + run.line_stored_energy + run.line_potential_energy
    winch = run.winch_work + run.winch_rope_energy
    energy = 0.5 * MASS * v**2 + WEIGHT * middle
    return 0.5 * (energy[1:] + energy[:-1]) + (rope.values - winch.values)[1:-1, 0]


def jumps(run: xr.Dataset, name: str) -> float:
    """Largest jump of a tension at a split or merge, over its mean.

    Samples before and after, one step apart, are drawn out by cubics to the time between them.
    """
    x = run[name].values[:, 0]
    k = np.flatnonzero(np.diff(run.winch_segments.values[:, 0]))
    k = k[(k > 3) & (k < len(x) - 5)]
    weights = np.array([35.0, -35.0, 21.0, -5.0]) / 16.0
    before = sum(w * x[k - i] for i, w in enumerate(weights))
    after = sum(w * x[k + 1 + i] for i, w in enumerate(weights))
    return float(np.abs(after - before).max() / x.mean())


def _lowered(length: float, speed: float, axial: str) -> list[Check]:
    h = 0.02
    stages, duration = down_and_up(length, speed, 4.0)
    run = simulate(hoist(stages, axial=axial), duration=duration, output_step=h, step=h)
    work = float(np.ptp(run.winch_work.values))
    left = budget(run, h)
    with_energy_terms = left + run.winch_lost_energy.values[1:-1, 0]
    mass = 4.0 * run.winch_length.values[:, 0]
    rope = run.winch_rope_momentum.values
    slip = np.abs(run.winch_lost_momentum.values).max() / np.abs(rope).max()
    requested = 2.0 * np.floor(length / 2.5)  # segments of 2.5 m
    name = f"{axial}: "
    return [
        Check(
            name + "mass of the segments, relative",
            float(np.abs(run.winch_rope_mass.values[:, 0] / mass - 1.0).max()),
            1e-9,
            "",
            "rounding",
        ),
        Check(name + "splits and merges", run.attrs["events"], 0.0, "", "", reference=requested),
        Check(
            name + "jump of the tension", jumps(run, "winch_tension"), 1e-3, "", "weight of a node"
        ),
        Check(
            name + "jump of the force on the crane",
            jumps(run, "anchor_tension"),
            3e-4,
            "",
            "continuous except for the step",
        ),
        Check(
            name + "energy residual, of the work",
            float(np.abs(left - left[0]).max()) / work,
            1e-4,
            "",
            "rope at the tip is assumed at rest",
        ),
        Check(
            name + "the same with splits and merges accounted for",
            float(np.abs(with_energy_terms - with_energy_terms[0]).max()) / work,
            1e-10,
            "",
            "rounding",
        ),
        Check(name + "momentum lost at events, of the rope's", float(slip), 5e-3, "", "stretch"),
        Check(
            name + "rope out at the end",
            float(run.winch_length[-1, 0]) - LENGTH,
            1e-9,
            "m",
            "what goes out comes back",
        ),
    ]


@case(
    "winches",
    "lowering 100 m and lifting back",
    source="conservation of mass, momentum and energy",
)
def lowering() -> list[Check]:
    """80 splits and merges of an elastic rope."""
    return _lowered(100.0, 2.0, "elastic")


@case("winches", "lowering on an inextensible rope", source="conservation of mass and energy")
def lowering_rigid() -> list[Check]:
    """The same over 20 m."""
    return _lowered(20.0, 2.0, "inextensible")


@case("winches", "winch at constant speed", source="the load moves as fast as the rope")
def constant_speed() -> list[Check]:
    """A rope of next to no mass that cannot stretch."""
    thread = LineType("thread", 0.01, 1e-3, EA=1e9)
    stages = [Stage("pay_out", "winch", length=8.0, speed=1.0, ramp=2.0, start=0.5)]
    model = hoist(stages, thread, "inextensible")
    run = simulate(model, duration=10.5, output_step=0.05, step=0.05)
    v = run.velocity.sel(body="load", dof="Heave").values
    t = run.time.values
    steady = (t > 3.0) & (t < 8.0)
    pull = run.winch_tension.values[steady, 0]
    power = run.winch_power.values[steady, 0]
    return [
        Check("velocity", float(np.abs(v[steady] + 1.0).max()), 1e-8, "m/s", "constraint"),
        Check("tension, relative", float(np.abs(pull / WEIGHT - 1.0).max()), 1e-5, "", "rope mass"),
        Check(
            "power, relative", float(np.abs(power / WEIGHT + 1.0).max()), 1e-5, "", "weight x speed"
        ),
        Check(
            "way",
            float(run.position.values[-1, 0, 2]) - (TOP - LENGTH - 8.0),
            1e-6,
            "m",
            "length of the rope",
        ),
    ]


@case("winches", "lifting", source="L(t) = 100.5 - t, as MoorDyn's test", needs="moor_analytic")
def lifting(folder: Path) -> list[Check]:
    """1 t on 100.5 m of line that is hauled in at 1 m/s for 10 s."""
    file = read_moordyn(folder / "inputs" / "lifting.txt")
    parts = file.parts()
    mass = parts["junctions"][0].mass
    load = Body("load", mass=mass, inertia=(mass,) * 3, position=(0, 0, -100.5))
    line = parts["lines"][0].replace(B=load)
    stages = [Stage("haul_in", "winch", duration=10.0, speed=1.0)]
    system = System(
        "lifting",
        [load],
        [Free("free", WORLD, load)],
        water=Water(rho=1000.0, g=9.80665, depth=500.0),
        lines=[line],
        line_types=parts.get("line_types", ()),
        winches=[Winch("winch", line)],
        operations=[Operation("lift", stages)],
    )
    run = simulate(compile_system(system), duration=10.0, output_step=0.1, step=0.02)
    z = run.position.sel(body="load", dof="Heave").values
    stretch = 1e3 * 9.80665 * 100.5 / 1e9
    off = np.abs(z + 100.5 - run.time.values + stretch)
    # a start at full speed throws the load up against its rope, by no more than all they had
    rope = line.rest_length * parts["line_types"][0].mass_per_length
    bounce = 0.5 * (1.0 + rope / mass) * 1.0**2 / 9.80665
    return [
        Check("height", float(off.max()), bounce, "m", "energy of load and rope at the jump"),
        Check("rope out", float(run.winch_length[-1, 0]), 1e-9, "m", "", reference=90.5),
    ]


def _heaved(model: Model, seconds: float, h: float) -> tuple[xr.Dataset, float]:
    """Run and amplitude of the load at the frequency of the tip, in its second half."""
    run = simulate(model, duration=seconds, output_step=0.1, step=h)
    t, z = run.time.values, run.position.sel(body="load", dof="Heave").values
    late = t > 0.5 * seconds
    columns = [np.cos(OMEGA * t), np.sin(OMEGA * t), np.ones_like(t), t]
    amplitudes = np.linalg.lstsq(np.stack(columns, -1)[late], z[late], rcond=None)[0]
    return run, float(np.hypot(*amplitudes[:2]))


@case("winches", "heave compensation", source="abs(1 - k / (1 + i omega T)) of the tip's motion")
def heave_compensation() -> list[Check]:
    """A tip that heaves by 1 m."""
    checks = []
    tip = Harmonic(1.0, OMEGA, 0.0, -1.0)
    seconds = 60.0
    for gain, lag in ((1.0, 0.5), (0.8, 0.0)):
        control = HeaveCompensation(gain=gain, time_constant=lag)
        model = hoist(rope=WIRE.replace(BA=4e5), tip=tip, control=control, drum=40.0)
        _, left = _heaved(model, seconds, 0.05)
        expected = abs(1.0 - gain / (1.0 + 1j * OMEGA * lag))
        checks.append(
            Check(
                f"remaining motion, gain {gain:g}, lag {lag:g} s",
                left,
                5e-3,
                "m",
                "stretch of the rope, h^2",
                reference=expected,
            )
        )
    limited = HeaveCompensation(stroke=1.0)
    model = hoist(rope=WIRE.replace(BA=4e5), tip=tip, control=limited, drum=40.0)
    run, left = _heaved(model, seconds, 0.05)
    way = float(np.ptp(run.winch_length.values))
    return [
        *checks,
        Check("rope moved with a stroke of 1 m", way, 1.0, "m", "stroke"),
        Check("left of the motion then", left, 0.2, "m", "half is taken out", reference=0.5),
    ]


@case("winches", "constant tension", source="first order: k a omega / abs(i omega + k G)")
def constant_tension() -> list[Check]:
    """100 m of rope from a heaving tip to a weight on rails that does not move."""
    a, EA, gain, target = 0.5, 1e7, 2e-5, 1e5
    rope = LineType("rope", 0.03, 0.5, EA=EA, BA=2e5)
    boom = Body("boom", mass=1e3, inertia=(1e3, 1e3, 1e3), position=(0, 0, TOP))
    motion = Harmonic(a, OMEGA, 0.0, -a)
    # taut at rest: the rope is shorter than its way by the strain
    length = 100.0 / (1.0 + target / EA)
    line = Line("line", boom.at(0, 0, 0), (0, 0, TOP - 100.0), length, rope, segments=10)
    control = ConstantTension(target, gain)

    def swing(control: object) -> float:
        winch = Winch("winch", line, control=control, drum=120.0)
        joint = Slider("heave", WORLD.at(0, 0, TOP), boom, axis="z", motion=motion)
        system = System("tension", [boom], [joint], water=AIR, lines=[line], winches=[winch])
        run = simulate(compile_system(system), duration=40.0, output_step=0.1, step=0.02)
        pull = run.winch_tension.values[run.time.values > 16.0, 0]
        return 0.5 * float(np.ptp(pull))

    stiffness = EA / length
    expected = stiffness * a * OMEGA / abs(1j * OMEGA + stiffness * gain)
    controlled = swing(control)
    return [
        Check(
            "amplitude of the tension, relative",
            controlled / expected - 1.0,
            0.05,
            "",
            "rope's own mass",
        ),
        Check(
            "of that of a stiff winch",
            controlled / (stiffness * a),
            0.4,
            "",
            "it holds the tension",
        ),
    ]


@case("winches", "landing and lift-off", source="complementarity: no bounce, no tension below zero")
def landing() -> list[Check]:
    """20 t set down on the seabed with 2.9 m of rope too much, and lifted again."""
    box = Body("box", mass=MASS, inertia=(2e4, 2e4, 2e4), position=(0, 0, -20))
    rope = LineType("rope", 0.03, 4.0, EA=4e7, BA=4e5)
    line = Line("hoist", WORLD.at(0, 0, 10), box.at(0, 0, 1), 29.0, rope, segments=6)
    corners = [(x, y, -1.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    stages = [
        Stage("pay_out", "winch", length=12.0, speed=1.0, ramp=2.0),
        Stage("hold", "winch", duration=4.0),
        Stage("haul_in", "winch", length=12.0, speed=1.0, ramp=2.0),
    ]
    system = System(
        "landing",
        [box],
        [Free("free", WORLD, box)],
        water=Water(depth=30.0),
        lines=[line],
        contacts=[SeabedContact("feet", box, at=corners)],
        winches=[Winch("winch", line)],
        operations=[Operation("land", stages)],
    )
    run = simulate(compile_system(system), duration=36.0, output_step=0.05, step=0.05)
    z = run.position.sel(body="box", dof="Heave").values + 29.0
    v = run.velocity.sel(body="box", dof="Heave").values
    down = np.flatnonzero(z < 1e-6)
    on_bed = slice(down[0] + 1, down[-1])
    last = run.line_tension.values[on_bed, 0, -1]
    pushed = run.contact_force.values[on_bed, :4, 2].sum(1)
    t = run.time.values
    middle = (t > 15.0) & (t < 18.0)
    return [
        Check("bounce", float(z[on_bed].max()), 1e-6, "m", "none"),
        Check("penetration", max(float(-z.min()), 0.0), 1e-6, "m", "rigid seabed"),
        Check("velocity after the impact", float(np.abs(v[on_bed][2:]).max()), 1e-6, "m/s", "none"),
        Check("min tension at the load", float(last.min()), 1.0, "N", "slack"),
        Check(
            "force of the seabed, of the weight",
            float(pushed[len(pushed) // 2]) / WEIGHT,
            2e-3,
            "",
            "half a segment of rope",
            reference=1.0,
        ),
        Check("height while the rope is slack", float(z[middle].max()), 1e-6, "m", "lies"),
        Check("height after the lift", float(z[-1]), 0.2, "m", "swing", reference=9.0),
    ]


@case("winches", "load caught and let go", source="kinematics, free fall")
def caught() -> list[Check]:
    """A hook is caught by a box on the seabed, lifts it by 3 m and lets it go."""
    box = Body("box", mass=MASS, inertia=(2e4, 2e4, 2e4), position=(0, 0, -29))
    hook = Junction("hook", (0, 0, -27.4), mass=500.0)
    rope = LineType("rope", 0.03, 4.0, EA=4e7, BA=4e5)
    line = Line("hoist", WORLD.at(0, 0, 10), hook, 37.4, rope, segments=6)
    corners = [(x, y, -1.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    stages = [
        Stage("couple", "hoist", to=box.at(0, 0, 1), start=1.0),
        Stage("haul_in", "winch", start=1.5, length=3.0, speed=0.5, ramp=2.0),
        Stage("release", "hoist", start=14.0),
    ]
    system = System(
        "hook",
        [box],
        [Free("free", WORLD, box)],
        water=Water(depth=30.0),
        lines=[line],
        junctions=[hook],
        contacts=[SeabedContact("feet", box, at=corners)],
        winches=[Winch("winch", line)],
        operations=[Operation("lift", stages)],
    )
    run = simulate(compile_system(system), duration=14.5, output_step=0.05, step=0.05)
    t = run.time.values
    z = run.position.sel(body="box", dof="Heave").values
    gap = run.junction_position.values[:, 0, 2] - z
    coupled = (t > 1.1) & (t < 13.9)
    free = t > 14.1
    a = np.polyfit(t[free], z[free], 2)[0] * 2.0
    stretch = WEIGHT * 34.4 / 4e7
    return [
        Check("hook on the box", float(np.ptp(gap[coupled])), 1e-8, "m", "constraint"),
        Check(
            "lift",
            float(z[(t > 9.0) & (t < 14.0)].mean()) + 29.0,
            0.03,
            "m",
            "swing",
            reference=3.0 - stretch,
        ),
        Check("acceleration after", float(a), 1e-3, "m/s^2", "free fall", reference=-9.81),
    ]


@case("winches", "crane with slewing and luffing", source="kinematics; two forms of the equations")
def crane() -> list[Check]:
    """A crane on a foundation slews by 40 and luffs by 15 degrees while it lowers."""
    column = Body("crane", mass=1e5, inertia=(1e6, 1e6, 1e6), position=(0, 0, 10))
    boom = Body("boom", mass=3e4, inertia=(1e4, 1e6, 1e6), position=(10, 0, 20))
    load = Body("load", mass=MASS, inertia=(2e4, 2e4, 2e4), position=(20, 0, 10))
    rope = LineType("rope", 0.03, 4.0, EA=4e7, BA=4e5)
    line = Line("hoist", boom.at(10, 0, 10), load, 20.0, rope, segments=5)
    t = np.linspace(0.0, 12.0, 13)
    rise = 10.0 * (t / 12.0) ** 3 - 15.0 * (t / 12.0) ** 4 + 6.0 * (t / 12.0) ** 5
    angles = np.radians(40.0), np.radians(-15.0)
    slew, luff = (Table(t, angle * rise) for angle in angles)
    joints = [
        Hinge("slew", WORLD.at(0, 0, 10), column, axis="z", motion=slew),
        Hinge("luff", column.at(0, 0, 2), boom.at(-10, 0, -8), axis="y", motion=luff),
        Free("free", WORLD, load),
    ]
    stages = [Stage("pay_out", "winch", length=5.0, speed=0.5, ramp=2.0, start=2.0)]
    system = System(
        "crane",
        [column, boom, load],
        joints,
        water=AIR,
        lines=[line],
        winches=[Winch("winch", line)],
        operations=[Operation("lower", stages)],
    )
    model = compile_system(system)
    runs = [
        simulate(model, duration=15.0, output_step=0.1, step=0.05, formulation=form)
        for form in ("lagrange", "path_matrix")
    ]
    tip = runs[0].line_position.values[-1, 0, 0]
    a, b = angles
    arm = np.array([np.cos(b) * 20.0 + np.sin(b) * 18.0, np.cos(b) * 18.0 - np.sin(b) * 20.0])
    place = np.array([np.cos(a) * arm[0], np.sin(a) * arm[0], 12.0 + arm[1]])
    off = np.abs(runs[0].position.values - runs[1].position.values).max()
    return [
        Check("tip of the boom", float(np.abs(tip - place).max()), 1e-8, "m", "constraint"),
        Check("two forms apart", float(off), 1e-8, "m", "the same motion"),
        Check(
            "rope out", float(runs[0].winch_length[-1, 0]), 1e-9, "m", "operation", reference=25.0
        ),
    ]
