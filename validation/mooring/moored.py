"""Dynamic lines with bodies: closed forms, conservation, order, and agreement of solvers."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import (
    WORLD,
    AppliedForce,
    Body,
    Free,
    Harmonic,
    Hinge,
    Line,
    LinearMooring,
    LinearPto,
    LineType,
    PowerLawCurrent,
    QuadraticDrag,
    RegularWave,
    System,
    Water,
)
from swelltree.gallery.spar import spar
from swelltree.model.model import Model
from swelltree.studies.linear.line_modes import line_modes
from swelltree.studies.linear.rao import rao
from swelltree.studies.statics.equilibrium import equilibrium
from swelltree.studies.time.simulate import simulate
from validation.table import Check, case

if TYPE_CHECKING:
    import xarray as xr


OMEGA = 2.0 * np.pi / 10.0  # rad/s, of the wave and what it does to the float
THREAD = LineType("thread", 0.01, 1e-3, EA=1e7)
AIR = Water(rho=1e-9)


def _hanging(mass: float, position: tuple[float, float, float], length: float) -> Model:
    """A body on one inextensible line of next to no mass."""
    body = Body("ball", mass=mass, inertia=(mass, mass, mass), position=position)
    line = Line("line", (0, 0, 0), body, length, THREAD, segments=1, axial="inextensible")
    return compile_system(
        System("hanging", [body], [Free("free", WORLD, body)], water=AIR, lines=[line])
    )


def _energy(run: xr.Dataset, mass: float, h: float) -> np.ndarray:
    """Energy of a point mass half way between samples that are one step apart [J]."""
    p = run.position.values[:, 0, :3]
    v = np.diff(p, axis=0) / h
    return 0.5 * mass * (v**2).sum(1) + mass * 9.81 * 0.5 * (p[1:, 2] + p[:-1, 2])


@case(
    "lines",
    "pendulum on an inextensible line",
    source="energy; m g (3 - 2 cos a) at the lowest point",
)
def pendulum() -> list[Check]:
    """60 s from 60 degrees with a step of 0.05 s."""
    angle = np.radians(60.0)
    model = _hanging(500.0, (10.0 * np.sin(angle), 0.0, -10.0 * np.cos(angle)), 10.0)
    run = simulate(model, duration=60.0, output_step=0.05, step=0.05, start="described")
    E = _energy(run, 500.0, 0.05)
    swing = 500.0 * 9.81 * 5.0
    trend = np.polyfit(np.arange(len(E)), E, 1)[0] * len(E)
    top = 500.0 * 9.81 * (3.0 - 2.0 * np.cos(angle))
    return [
        Check("trend of energy over m g h", trend / swing, 1e-6, "", "no trend by theorem"),
        Check("range of energy over m g h", float(np.ptp(E)) / swing, 1e-6, "", "same"),
        Check("length violation", float(run.length_violation.max()), 1e-8, "m", "solver"),
        Check(
            "largest tension, relative",
            float(run.fairlead_tension.max()) / top - 1.0,
            5e-3,
            "",
            "h^2 of a period of 6 s",
        ),
    ]


@case(
    "lines", "snap of a falling body", source="plastic impact: all momentum along the line is lost"
)
def snap() -> list[Check]:
    """2 t fall 1 m until 20 m of line come taut."""
    h = 0.02
    model = _hanging(2000.0, (0.0, 0.0, -19.0), 20.0)
    run = simulate(model, duration=1.5, output_step=h, step=h, start="described")
    lost = 2000.0 * 9.81 * 1.0
    E = _energy(run, 2000.0, h) + 2000.0 * 9.81 * 20.0
    impulse = float(run.fairlead_tension.sum()) * h
    fallen = 2000.0 * 9.81 * (float(run.time[-1]) + 0.5 * h)
    rebound = float(run.position.values[60:, 0, 2].max()) + 20.0
    return [
        Check("energy after, of what is lost", float(E[-1]) / lost, 1e-3, "", "plastic"),
        Check("rebound", max(rebound, 0.0), 1e-6, "m", "none"),
        Check("impulse, relative", impulse / fallen - 1.0, 1e-2, "", "one step of weight"),
    ]


def _kicked(axial: str) -> Model:
    """Two hinged bodies with three lines, in vacuum, moving."""
    a = Body("a", mass=1e5, inertia=(1e6, 2e6, 2e6))
    b = Body("b", mass=1e5, inertia=(1e6, 2e6, 2e6), position=(10, 0, 0))
    rope = LineType("rope", 0.1, 50.0, EA=1e8)
    ends = [(-60.0, 0, -5.0), (5.0, 58.0, 0.0), (70.0, -5.0, 3.0)]
    on = [a.at(-5, 0, 0), a.at(5, 2, 1), b.at(5, 0, 0)]
    lines = [
        Line(f"l{k}", end, point, 57.0, rope, segments=6, axial=axial)
        for k, (end, point) in enumerate(zip(ends, on, strict=True))
    ]
    joints = [Free("free", WORLD, a), Hinge("h", a.at(5, 0, 0), b.at(-5, 0, 0))]
    system = System("shock", [a, b], joints, water=Water(rho=1e-9, g=0.0), lines=lines)
    model = compile_system(system)
    s = np.zeros(7)
    s[[0, 1, 2, 5, 6]] = [0.6, 0.2, 0.3, 0.05, 0.1]
    return model.replace(start=dataclasses.replace(model.start, s=s))


@case("lines", "shock of hinged bodies on lines in vacuum", source="no energy is created")
def shock() -> list[Check]:
    """Lines at rest are hit by moving bodies; elastic and inextensible."""
    h, checks = 0.05, []
    for axial in ("elastic", "inextensible"):
        model = _kicked(axial)
        run = simulate(model, duration=20.0, output_step=h, step=h, start="cold", atol=1e-13)
        p, R = run.position.values[..., :3], run.rotation.values
        half = (run.velocity.values + 0.5 * h * run.acceleration.values)[:-1, :, 3:]
        W = np.einsum("tnji,tnj->tni", R[:-1], half)
        E = 0.5 * 1e5 * ((np.diff(p, axis=0) / h) ** 2).sum((1, 2))
        E = E + 0.5 * np.einsum("tni,nij,tnj->t", W, np.asarray(model.bodies.inertia), W)
        E = 0.5 * (E[1:] + E[:-1])
        E = E + (run.line_kinetic_energy + run.line_stored_energy).sum("line").values[1:-1]
        E = E[2:]
        rise = float(np.diff(E).max()) / E[0]
        checks.append(Check(f"largest rise, {axial}", max(rise, 0.0), 1e-11, "", "theorem"))
        if axial == "elastic":
            checks.append(
                Check("energy kept, elastic", E[-1] / E[0] - 1.0, 1e-9, "", "discrete gradient")
            )
    return checks


def moored_float(axial: str = "elastic", segments: int = 20) -> Model:
    """A float on three lines of chain with a sheared current."""
    body = Body(
        "float", mass=6e5, inertia=(1e7, 1e7, 1e7), position=(0, 0, -2), displaced_volume=620.0
    )
    chain = LineType("chain", 0.15, 150.0, EA=1e9, BA=1e7)
    lines = [
        Line(
            f"line{k}",
            (400 * np.cos(a), 400 * np.sin(a), -100),
            body.at(5 * np.cos(a), 5 * np.sin(a), -2),
            425.0,
            chain,
            segments=segments,
            axial=axial,
        )
        for k, a in enumerate(2.0 * np.pi / 3.0 * np.arange(3))
    ]
    return compile_system(
        System(
            "moored float",
            [body],
            [Free("free", WORLD, body)],
            water=Water(depth=100.0),
            current=PowerLawCurrent(speed=0.5, exponent=1 / 7),
            lines=lines,
            moorings=[LinearMooring("plane", body, {"Heave": 8e5, "Roll": 2e7, "Pitch": 2e7})],
            forces=[
                QuadraticDrag("drag", body, {"Surge": 4e4, "Sway": 4e4, "Heave": 8e4}),
                AppliedForce(
                    "waves",
                    body,
                    force=(Harmonic(3e5, OMEGA), 0.0, Harmonic(1.2e6, OMEGA, phase=1.0)),
                ),
            ],
        )
    )


@case(
    "lines",
    "float on three lines from a cold start",
    source="order 2 of heave; no failed step",
)
def cold_start() -> list[Check]:
    """Lines drawn straight, wave of 1.5 m and 10 s, sheared current; steps 0.1, 0.05, 0.025 s.

    Amplitude and phase of heave over the last three of twelve periods.
    """
    wave = RegularWave(amplitude=1.5, period=10.0)
    checks = []
    for axial in ("elastic", "inextensible"):
        model, heave, failed = moored_float(axial), {}, 0
        for h in (0.1, 0.05, 0.025):
            run = simulate(model, wave, duration=120.0, output_step=0.5, step=h, start="cold")
            late = run.isel(body=0).sel(dof="Heave", time=slice(90.1, None))
            turn = np.exp(1j * OMEGA * late.time.values)
            heave[h] = 2.0 * np.mean(late.position.values * turn)
            failed += int(run.attrs["steps_rescued"])
        first, second = (abs(heave[a] - heave[b]) for a, b in ((0.1, 0.05), (0.05, 0.025)))
        why = "touchdown and slack dominate the error at the smallest step"
        checks += [
            Check(f"failed steps, {axial}", float(failed), 0.5, "", "none allowed"),
            Check(f"change 0.1 to 0.05 s, {axial}", first / abs(heave[0.025]), 5e-3, "", "h^2"),
            Check(f"order, {axial}", float(np.log2(first / second)), 0.5, "", why, reference=2.0),
        ]
    return checks


@case("lines", "interior point and Newton", source="the same steps by two solvers")
def two_solvers() -> list[Check]:
    """A float on inextensible lines, 10 s."""
    model = moored_float("inextensible", 6)
    wave = RegularWave(amplitude=1.5, period=10.0)
    runs = [
        simulate(model, wave, duration=10.0, output_step=0.5, step=0.1, solver=solver)
        for solver in ("two_step", "interior_point")
    ]
    gap = float(abs(runs[0].position - runs[1].position).max())
    return [Check("difference of position", gap, 1e-8, "m", "tolerance of the solvers")]


@case(
    "lines", "joint coordinates and multipliers with lines", source="the same motion in two forms"
)
def two_forms() -> list[Check]:
    """Two hinged bodies with a PTO on two lines, in waves."""
    a = Body("a", mass=2e5, inertia=(2e6, 2e6, 2e6), displaced_volume=200.0)
    b = Body("b", mass=2e5, inertia=(2e6, 2e6, 2e6), position=(12, 0, 0), displaced_volume=200.0)
    chain = LineType("chain", 0.15, 150.0, EA=1e9, BA=1e7)
    lines = [
        Line("l", (-150, 10, -50), a.at(-5, 0, 0), 165.0, chain, segments=6),
        Line("r", (170, -5, -50), b.at(5, 0, 0), 170.0, chain, segments=6),
    ]
    plane = {"Heave": 1e6, "Roll": 1e7, "Pitch": 1e7}
    system = System(
        "two",
        [a, b],
        [Free("free", WORLD, a), Hinge("h", a.at(6, 0, 0), b.at(-6, 0, 0))],
        water=Water(depth=50.0),
        lines=lines,
        moorings=[LinearMooring(f"p{x.name}", x, plane) for x in (a, b)],
        ptos=[LinearPto("pto", joint="h", damping=1e6)],
    )
    model = compile_system(system)
    wave = RegularWave(amplitude=1.0, period=8.0, beta=0.3, ramp=4.0)
    gaps = {}
    for start in ("cold", "equilibrium"):
        one, other = (
            simulate(
                model,
                wave,
                duration=20.0,
                output_step=0.5,
                step=0.05,
                formulation=name,
                start=start,
            )
            for name in ("lagrange", "path_matrix")
        )
        gaps[start] = float(abs(one.position - other.position).max())
    from_rest = "each form stops when it moves by less than 1e-7 m"
    return [
        Check("difference of position", gaps["cold"], 1e-8, "m", "same equations, same start"),
        Check("the same from rest", gaps["equilibrium"], 1e-6, "m", from_rest),
    ]


@case("lines", "rest of dynamic lines and catenaries", source="n segments converge to the catenary")
def rest_of_lines() -> list[Check]:
    """Fairlead tension of 10, 20 and 40 segments."""
    from swelltree.mooring.dynamic.lines import with_static_lines

    model = moored_float(segments=10)
    still = model.replace(sea=dataclasses.replace(model.sea, current=None))
    exact = float(equilibrium(with_static_lines(still)).fairlead_tension[0])
    checks = []
    for n, limit in ((10, 2e-2), (20, 6e-3), (40, 2e-3)):
        model = moored_float(segments=n)
        still = model.replace(sea=dataclasses.replace(model.sea, current=None))
        ours = float(equilibrium(still).fairlead_tension[0])
        reason = "about n^-1.5, the touchdown falls between nodes"
        checks.append(
            Check(f"tension, {n} segments, relative", ours / exact - 1, limit, "", reason)
        )
    return checks


@case(
    "lines",
    "tension RAO of dynamic lines",
    source="the run in time of the same spar in a small regular wave",
)
def tension_rao() -> list[Check]:
    """OC3 spar on three chains, wave of 0.5 m and 9 s from aside; drag of the lines harmonic."""
    model = spar("dynamic").model()
    a, T, beta = 0.5, 9.0, 0.5
    found = rao(
        model,
        omega=[2.0 * np.pi / T],
        wave_direction=[beta],
        drag="harmonic",
        amplitude=a,
        radiation="state_space",
    )
    sea = RegularWave(amplitude=a, period=T, beta=beta, ramp=10 * T)
    run = simulate(model, sea, duration=60 * T, output_step=T / 30)
    last = run.isel(time=slice(-601, -1))
    turn = np.exp(2j * np.pi / T * last.time.values)[:, None]
    checks = []
    for name in ("fairlead_tension", "anchor_tension"):
        requested = 2.0 * (last[name].values * turn).mean(0) / a
        error = np.abs(found[f"{name}_rao"].values[0, 0] / requested - 1.0).max()
        why = "harmonic linearisation of drag, and second order in the amplitude"
        checks.append(Check(name.replace("_", " "), float(error), 5e-3, "", why))
    return checks


@case("lines", "modes of a taut line", source="string of lumps, 2 n/L sqrt(T/m) sin(k pi/2n)")
def taut_modes() -> list[Check]:
    """A line of 20 segments in air that is stretched by 2 %."""
    n, span, mass = 20, 100.0, 5.0
    rope = LineType("rope", 0.05, mass, EA=1e7)
    line = Line("line", (0.0, 0.0, 10.0), (60.0, 80.0, 10.0), span / 1.02, rope, segments=n)
    found = line_modes(compile_system(System("taut", lines=[line], water=AIR)), "line", modes=6)
    T = float(found.line_tension.mean())
    checks = []
    for k in (1, 2, 3):
        requested = 2.0 * n / span * np.sqrt(1.02 * T / mass) * np.sin(0.5 * k * np.pi / n)
        # one across and one within the plane of its weight; in that the first feels the sag
        ratio = float(np.abs(found.natural_frequency.values / requested - 1.0).min())
        checks.append(Check(f"mode {k}", ratio, 1e-3, "", "sag of 1/300 of the span"))
    return checks
