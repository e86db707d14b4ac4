"""Numbers are data: a changed one makes no new program, in any study."""

import numpy as np
import pytest
from jax import monitoring

import rich_systems
import swelltree as sw
from made_hydro import heaving_float
from swelltree.describe.paths import number_at, with_numbers
from swelltree.mooring.dynamic.lines import lines_of

PROGRAMS: list[str] = []
monitoring.register_event_duration_secs_listener(
    lambda event, duration, **known: (
        PROGRAMS.append(f"{event} {known.get('fun_name', '')}")
        if "/core/compile/" in event
        else None
    )
)


def floats(mass=1e5, gap=0.1, damping=2e4, k=3e4, rest=0.3, point=0.5, drag=1e3, push=40.0):
    """A float on a rail with a flap on a hinge: each kind of number can be changed."""
    body = sw.Body("float", mass=mass, inertia=(1e3, 1.2e3, 1.4e3))
    flap = sw.Body("flap", mass=50.0, inertia=(5.0, 6.0, 7.0), position=(2.0 + gap, 0.3, 0.1))
    return sw.System(
        "floats",
        [body, flap],
        [
            sw.Slider("rail", sw.WORLD, body, axis="z"),
            sw.Hinge("hinge", body.at(1, 0, 0), flap.at(-1, 0, 0), axis="y"),
        ],
        ptos=[sw.LinearPto("pto", joint="rail", damping=damping)],
        forces=[
            sw.SpringDamper("spring", body.at(0, 0, point), flap, stiffness=k, rest_length=rest),
            sw.QuadraticDrag("drag", body, damping={"Heave": drag}, relative_to="ground"),
            sw.AppliedForce("push", flap, force=(0.0, 0.0, push)),
        ],
        moorings=[sw.LinearMooring("mooring", body, stiffness={"Heave": k})],
        water=sw.Water(rho=1000.0),
    )


CHANGES = ("mass", "gap", "damping", "k", "rest", "point", "drag", "push")
WAVE = {"amplitude": 0.2, "omega": 1.1, "ramp": 2.0}


def study(name, wave=None, **changes):
    hydro = heaving_float()
    model = sw.compile(floats(**changes), hydro)
    wave = sw.RegularWave(**(wave or WAVE))
    if name == "simulate":
        sw.simulate(model, wave, duration=2.0, output_step=0.5, progress=False)
    elif name == "steady_state":
        sw.steady_state(model, wave, harmonics=3)
    elif name == "rao":
        sw.rao(model, omega=[0.8, 1.2])
    else:
        getattr(sw, name)(model)


@pytest.mark.parametrize("name", ["simulate", "equilibrium", "modes", "rao", "steady_state"])
def test_a_changed_number_makes_no_new_program(name):
    for _ in range(2):  # two threads compile: what one of them lost in the first turn is there now
        study(name)
    defaults = dict(zip(CHANGES, floats.__defaults__, strict=True))
    built = {}
    for change in CHANGES:
        PROGRAMS.clear()
        study(name, **{change: 1.03 * defaults[change]})
        if PROGRAMS:
            built[change] = list(PROGRAMS)
    assert not built


@pytest.mark.parametrize("change", [{"amplitude": 0.21}, {"omega": 1.13}, {"phase": 0.4}])
def test_another_wave_makes_no_new_program(change):
    for _ in range(2):
        study("simulate")
    PROGRAMS.clear()
    study("simulate", wave=WAVE | change)
    assert not PROGRAMS


def test_another_seed_makes_no_new_program():
    model = sw.compile(floats(), heaving_float())
    spectrum = sw.Jonswap(Hs=0.5, Tp=5.0)
    for seed in (1, 2):
        sea = sw.IrregularSea(spectrum, seed=seed, ramp=1.0)
        PROGRAMS.clear()
        # the grid of the excitation has a power of two of points, 128 for both
        run = sw.simulate(model, sea, duration=3.0, output_step=0.5, progress=False)
    assert np.isfinite(run.position.values).all()
    assert not PROGRAMS


def standing():
    """A body on a rail with a leg in waves and current, in water of finite depth."""
    body = sw.Body("spar", mass=2e4, inertia=(2e5, 2.1e5, 1e4), position=(0.3, 0.2, -4))
    leg = sw.MorisonMember("leg", body.at(0, 0.1, 6), body.at(0.2, 0, -6), diameter=1.5)
    return sw.System(
        "standing",
        [body],
        [sw.Slider("rail", sw.WORLD, body, axis=(1.0, 0.2, 0.1))],
        [leg],
        moorings=[sw.LinearMooring("soft", body, stiffness={"Surge": 5e3, "Sway": 4e3})],
        water=sw.Water(rho=1010.0, g=9.8, depth=41.0),
        current=sw.UniformCurrent(speed=0.3, beta=0.4),
    )


FLOW = ("water.depth", "water.rho", "water.g", "current.speed", "current.beta")
LEG = ("forces.leg.diameter", "forces.leg.Cd", "forces.leg.a.position")
MOORING = ("moorings.soft.stiffness.Sway",)
SLOW = [pytest.param(study, marks=pytest.mark.slow) for study in ("rao", "steady_state")]
HEADED = {"amplitude": 0.4, "period": 7.0, "beta": 0.3}


def standing_study(name, system, wave):
    model = sw.compile(system)
    if name == "simulate":
        sea = sw.RegularWave(**wave)
        sw.simulate(model, sea, duration=2.0, output_step=0.5, solver="rk4", progress=False)
    elif name == "steady_state":
        sw.steady_state(model, sw.RegularWave(**wave), harmonics=3)
    elif name == "rao":
        sw.rao(model, omega=[0.8, 1.2], beta=[wave["beta"]])
    else:
        getattr(sw, name)(model)


@pytest.mark.parametrize("name", ["simulate", "equilibrium", "modes", *SLOW])
def test_other_water_current_and_members_make_no_new_program(name):
    system = standing()
    for _ in range(2):
        standing_study(name, system, HEADED)
    built = {}
    for path in (*FLOW, *LEG, *MOORING):
        changed = with_numbers(system, {path: another(system, path)})
        PROGRAMS.clear()
        standing_study(name, changed, HEADED)
        if PROGRAMS:
            built[path] = list(PROGRAMS)
    for key in HEADED:
        PROGRAMS.clear()
        standing_study(name, system, HEADED | {key: 1.04 * HEADED[key]})
        if PROGRAMS:
            built[key] = list(PROGRAMS)
    assert not built


def another(system, path):
    """A value a few percent off."""
    old = np.asarray(number_at(system, path))
    new = np.where(old == 0.0, 0.02, 0.97 * old).tolist()
    return tuple(new) if isinstance(new, list) else new


LIFT = (
    "lines.tag.rest_length",
    "line_types.wire.EA",
    "line_types.wire.mass_per_length",
    "winches.winch.speed",
    "ptos.ram.precharge",
    "ptos.ram.gas_volume",
    "bodies.hook.position",
    "bodies.buoy.mass",
    "seabed.stiffness",
    "contacts.touch.at.0",
    "water.depth",
    "water.rho",
    "current.speed",
)
HANG = ("lines.cable.rest_length", "line_types.rope.EA", "ptos.grip.friction", "bodies.low.com")
RICH = ("lines.bow.rest_length", "line_types.rope.EA", "joints.hinge.base.position",
        "forces.brake.upper", "ptos.pto.damping", "wind.speed", "bodies.float.position",
        "forces.drag.damping.Heave", "water.rho")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ["simulate", "equilibrium", "modes"])
@pytest.mark.parametrize(
    ("make", "paths"),
    [
        (rich_systems.lifting, LIFT),
        (rich_systems.hanging, HANG),
        (rich_systems.floating, RICH),
    ],
)
def test_numbers_of_rich_systems_make_no_new_program(name, make, paths):
    system = make()

    def study(system):
        model = sw.compile(system)
        if name == "simulate":
            options = {"duration": 0.4, "output_step": 0.2, "step": 0.05, "start": "described"}
            solver = None if lines_of(model) is not None else "rk4"
            sw.simulate(model, solver=solver, progress=False, **options)
        else:
            getattr(sw, name)(model)

    for _ in range(2):
        study(system)
    built = {}
    for path in paths:
        changed = with_numbers(system, {path: another(system, path)})
        PROGRAMS.clear()
        study(changed)
        if PROGRAMS:
            built[path] = list(PROGRAMS)
    assert not built
