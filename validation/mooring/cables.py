"""Cables as multibody chains: the cases of Wuillaume et al. (2017), by three models of one cable.

The printed unit of the damping of Table 1, 1e5 "N s/m", can be read as C = 1e5 Pa s or as
CA = 1e5 N s: both are run. The lower node is taken as free.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import (
    WORLD,
    Body,
    HorizontalCylinder,
    JointForce,
    Junction,
    Line,
    LineType,
    Operation,
    RegularWave,
    Slider,
    Stage,
    System,
    Water,
    Winch,
)
from swelltree.describe.joints.joint import Joint
from swelltree.hydro.bem.run import run_bem
from swelltree.model.model import Model
from swelltree.multibody.formulations import formulation
from swelltree.multibody.formulations.base import State
from swelltree.multibody.formulations.equations import solve_motion, start_phase
from swelltree.studies.linear.rao import rao
from swelltree.studies.periodic.steady_state import steady_state
from swelltree.studies.statics.equilibrium import equilibrium
from swelltree.studies.time.simulate import simulate
from validation.run import run
from validation.table import Check, case

if TYPE_CHECKING:
    import xarray as xr


AREA = 0.25 * np.pi * 0.0332**2  # m^2, of both cables
EA = 7.75e7 * AREA  # N
READINGS = {"C = 1e5 Pa s": 1e5 * AREA, "CA = 1e5 N s": 1e5}  # N s
FORMS = (("multibody", "block"), ("multibody", "plain"), ("lumped", "block"))
OMEGA, AMPLITUDE = 3.14, 0.05  # of section 6.2: rad/s, m


def table_1(model: str, form: str, damping: float, segments: int = 3) -> System:
    """The cable of Table 1, drawn out straight and let go.

    Args:
        model: of the line.
        form: of a multibody cable.
        damping: CA [N s].
        segments: number of elements.
    """
    kind = LineType("rope", diameter=0.0332, mass_per_length=100.0, EA=EA, BA=damping)
    end = Junction("end", (-2.0, 0.0, 10.0))
    line = Line(
        "rope",
        WORLD.at(0, 0, 20),
        end,
        10.0,
        kind,
        model=model,
        segments=segments,
        form=form,
        slack="damped",
        dry=True,
    )
    return System("table 1", lines=[line], junctions=[end])


def lengths(system: System, **options: Any) -> np.ndarray:
    """Lengths of the elements over ten seconds (time, element)."""
    return run(system, 10.0, 0.05, **options)["line_stretched_length"].values[:, 0]


@case("cables", "cable_table_1", source="three models of one cable; third length by EQUATIONS.md")
def cable_table_1() -> list[Check]:
    """Lengths of three elements over 10 s, with both readings of the damping."""
    checks = []
    for (words, damping), third in zip(READINGS.items(), (3.40, 3.42), strict=True):
        tight = [lengths(table_1(*how, damping), rtol=1e-11, atol=1e-12) for how in FORMS]
        coarse = [lengths(table_1(*how, damping), solver="rk4", step=1e-3) for how in FORMS]
        for name, other in zip(("plain form", "lumped masses"), tight[1:], strict=True):
            off = float(np.abs(other - tight[0]).max())
            why = "the same equations by other coordinates"
            checks.append(Check(f"{words}: block and {name}", off, 1e-7, "m", why))
        off = max(float(np.abs(x - tight[0]).max()) for x in coarse)
        checks.append(Check(f"{words}: RK4, 1 ms", off, 5e-6, "m", "kink of the law at slack"))
        last = float(tight[0][-1, 2])
        checks.append(
            Check(f"{words}: third length at 10 s", last, 0.005, "m", "two digits known", third)
        )
    return checks


def hanging(first: object, kind: LineType, joints: Sequence[Joint] = (), **more: Any) -> System:
    """The cable of section 6.2 with its payload of 5 kg, below a point.

    Args:
        first: body or point it hangs on.
        kind: of the cable.
        joints: of the system.
        more: bodies and forces.
    """
    load = Junction("load", (0.0, 0.0, -1.5), mass=5.0)
    line = Line("rope", first, load, 1.5, kind, model="multibody", segments=3, dry=True)
    return System("section 6.2", joints=joints, lines=[line], junctions=[load], **more)


def rope(per_element: float) -> LineType:
    """The cable of section 6.2 by the mass of one of its three elements [kg]."""
    mass = per_element / 0.5
    return LineType("rope", diameter=0.0332, mass_per_length=mass, EA=EA, BA=100.0 * AREA)


@case("cables", "cable_table_2", source="Wuillaume et al. (2017), Table 2")
def cable_table_2() -> list[Check]:
    """Lengths at rest below a payload of 5 kg, from `equilibrium`.

    The printed lengths are those of 2 kg for each element, though the text says 2 kg/m, which
    would be 1 kg for an element of 0.5 m.
    """
    still = equilibrium(compile_system(hanging(WORLD.at(0, 0, 0), rope(2.0))))
    ours = still["line_stretched_length"].values[0]
    why = "five digits are printed"
    printed = (0.50073, 0.50058, 0.50044)
    return [Check(f"element {k + 1}", float(ours[k]), 1e-5, "m", why, printed[k]) for k in range(3)]


def floater(with_cable: bool) -> System:
    """The cylinder of section 6.2 in surge, with its cable or with the same mass in one piece."""
    hull = HorizontalCylinder(0.2, 1.0, axis="y", panel_size=0.04)
    mass = 64.4 if with_cable else 64.4 + 5.0 + 6.0
    body = Body("float", mass=mass, inertia=(6.0, 2.0, 6.0), hull=hull)
    slide = Slider("surge", WORLD, body, axis="x")
    spring = JointForce("spring", joint="surge", stiffness=1990.0)
    if not with_cable:
        return System("section 6.2, rigid", [body], [slide], [spring])
    return hanging(body.at(), rope(2.0), [slide], bodies=[body], forces=[spring])


def floater_model(with_cable: bool, method: str = "direct") -> Model:
    """Compiled with data of the boundary-element method."""
    omega = [*np.linspace(0.5, 12.0, 24), OMEGA]
    data = run_bem(floater(False), sorted(omega), method=method, progress=False)
    return compile_system(floater(with_cable), hydro=data)


def floater_run(with_cable: bool = True) -> xr.Dataset:
    """The run of 30 s that the paper prints, with a ramp of 5 s."""
    wave = RegularWave(amplitude=AMPLITUDE, omega=OMEGA, ramp=5.0)
    return simulate(floater_model(with_cable), wave, duration=30.0, output_step=0.05)


@case("cables", "floater_cable_payload", source="Wuillaume et al. (2017), section 6.2")
def floater_cable_payload() -> list[Check]:
    """Steady surge of a cylinder with a load on a cable, and with the same mass in one piece.

    The known values are those of unknown sources ("indirect") on panels of 0.04 m. Finer panels
    and the direct method, which converges sooner, give 0.0547 m and 0.0826 m.
    """
    checks = []
    wave = RegularWave(amplitude=AMPLITUDE, omega=OMEGA)
    for words, with_cable, about in (("cable", True, 0.057), ("one piece", False, 0.087)):
        model = floater_model(with_cable, "indirect")
        linear = rao(model, omega=[OMEGA], wave_direction=[0.0])
        surge = abs(complex(linear["rao"].sel(body="float", dof="Surge").squeeze()))
        ours = AMPLITUDE * surge
        checks.append(Check(f"{words}: surge by rao", ours, 0.001, "m", "two digits known", about))
        steady = steady_state(model, wave, harmonics=5)
        full = steady["position_harmonics"].sel(body="float", dof="Surge").isel(harmonic=1)
        off = abs(abs(complex(full)) - ours)
        why = "finite swing of the cable" if with_cable else "a linear system"
        limit = 6e-4 if with_cable else 1e-7
        checks.append(Check(f"{words}: steady_state and rao", off, limit, "m", why))
    return checks


@case("cables", "cable_block_and_plain", source="Wuillaume et al. (2017), eqs. 5 and 8 to 10")
def cable_block_and_plain() -> list[Check]:
    """Accelerations of ten elements in motion: three joints at a time, one at a time."""
    ours = []
    rng = np.random.default_rng(4)
    requested = rng.normal(size=30)
    for form in ("block", "plain"):
        end = Junction("end", (3.0, 2.0, 14.0))
        kind = LineType("rope", diameter=0.0332, mass_per_length=100.0, EA=EA, BA=100.0)
        line = Line(
            "rope", (0, 0, 20), end, 10.0, kind, model="multibody", segments=10, form=form, dry=True
        )
        model = compile_system(System("bent", lines=[line], junctions=[end]))
        nodes = [6 * model.layout.bodies.index(f"rope_{k}") for k in range(1, 11)]
        rows = np.concatenate([np.arange(k, k + 3) for k in nodes])
        how = formulation("composite_body")
        y = start_phase(model, how)
        P = np.asarray(how.kinematics(model, np.zeros(()), y.state).P)[rows]
        state = State(y.state.q, np.linalg.solve(P, requested), y.state.chart)
        solved = solve_motion(model, how, np.zeros(()), state, y.internal)[2]
        ours.append(np.asarray(solved.v_dot).reshape(-1)[rows])
    off = float(np.abs(ours[0] - ours[1]).max() / np.abs(ours[0]).max())
    return [Check("block and plain form", off, 1e-12, "", "rounding")]


def hoist(stages: list[Stage], rope: LineType, load: float, length: float, segments: int) -> System:
    """A load on a winch, in air, at first at rest 200 m up.

    Args:
        stages: of the winch "winch".
        rope: its type.
        load: mass [kg].
        length: that is out at first [m].
        segments: its elements.
    """
    body = Body("load", mass=load, inertia=(load,) * 3, position=(0, 0, 200.0 - length))
    line = Line(
        "hoist",
        (0, 0, 200),
        body.at(),
        length,
        rope,
        model="multibody",
        segments=segments,
        dry=True,
    )
    return System(
        "hoist",
        [body],
        lines=[line],
        winches=[Winch("winch", line)],
        operations=[Operation("operation", stages)],
    )


@case("cables", "cable_lowering", source="balances of mass, momentum and energy")
def cable_lowering() -> list[Check]:
    """20 t lowered by 100 m and lifted back on ten more elements of 10 m."""
    down = Stage("pay_out", "winch", start=1.0, length=100.0, speed=4.0, ramp=5.0)
    up = Stage("haul_in", "winch", length=100.0, speed=4.0, ramp=5.0)
    wire = LineType("wire", 0.03, 2.0, EA=2e7, BA=2e5)
    system = hoist([down, Stage("hold", "winch", duration=2.0), up], wire, 20e3, 20.0, 2)
    result = simulate(
        compile_system(system),
        duration=4.0 + 2.0 * down.seconds,
        output_step=0.02,
        start="equilibrium",
        rtol=1e-7,
        atol=1e-8,
        progress=False,
    )
    length = result["winch_length"].values[:, 0]
    mass = result["winch_rope_mass"].values[:, 0] / (2.0 * length) - 1.0
    work = float(np.ptp(result["winch_work"].values))
    lost = float(np.abs(result["winch_lost_energy"].values).max())
    tension = result["winch_tension"].values[:, 0]
    k = np.flatnonzero(np.diff(result["winch_segments"].values[:, 0]))
    trend = 0.5 * (tension[k] - tension[k - 1] + tension[k + 2] - tension[k + 1])
    jump = float(np.abs(tension[k + 1] - tension[k] - trend).max() / tension.mean())
    slip = np.abs(result["winch_lost_momentum"].values).max()
    rope = np.abs(result["winch_rope_momentum"].values).max()
    left = float(np.abs(result["energy_residual"].values).max())
    return [
        Check("events", float(result.attrs["events"]), 0.0, "", "ten splits, ten merges", 20.0),
        Check("mass of the elements, relative", float(np.abs(mass).max()), 1e-9, "", "rounding"),
        Check("length after all", float(length[-1]), 1e-6, "m", "tolerance of the run", 20.0),
        Check("jump of the tension", jump, 1e-3, "", "half the weight of an element"),
        Check("energy residual, of the work", left / work, 1e-4, "", "tolerance of the run"),
        Check("lost at events, of the work", lost / work, 1e-4, "", "kinks of a straight cable"),
        Check("momentum lost at events", float(slip / rope), 5e-3, "", "of what rope brought in"),
    ]


@case("cables", "cable_lifting", source="MoorDyn's test of a winch: L(t) = L - t")
def cable_lifting() -> list[Check]:
    """A mass of 1 t on 100.5 m of line without weight in water, hauled in at 1 m/s for 10 s."""
    line_type = LineType("line", 0.1, 7.85398, EA=1e7, damping_ratio=0.2, Cdn=0.0, Can=0.0)
    load = Junction("load", (0, 0, -100.5), mass=1e3)
    line = Line("line", (0, 0, 0), load, 100.5, line_type, model="multibody", segments=10)
    stage = Stage("haul_in", "winch", duration=10.0, length=9.0, ramp=1.0)
    system = System(
        "lifting",
        lines=[line],
        junctions=[load],
        water=Water(1000.0, 9.80665),
        winches=[Winch("winch", line)],
        operations=[Operation("lift", [stage])],
    )
    model = compile_system(system)
    result = simulate(
        model, duration=12.0, output_step=0.1, start="equilibrium", rtol=1e-6, progress=False
    )
    z = result["line_position"].isel(line=0, line_node=-1).sel(axis="z").values
    stretched = result["winch_length"].values[:, 0] * (1.0 + 1e3 * 9.80665 / 1e7)
    off = float(np.abs(z + stretched).max())
    return [
        Check("length at last", float(result["winch_length"][-1, 0]), 1e-6, "m", "", 91.5),
        Check("height of the load", off, 0.05, "m", "the load bounces when the winch starts"),
    ]
