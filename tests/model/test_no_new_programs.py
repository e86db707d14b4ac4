"""Numbers are data: a changed one makes no new program, in any study."""

import numpy as np
import pytest
from jax import monitoring

import swelltree as sw
from made_hydro import heaving_float

PROGRAMS: list[str] = []
monitoring.register_event_duration_secs_listener(
    lambda event, duration, **_: PROGRAMS.append(event) if "/core/compile/" in event else None
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
    study(name)
    defaults = dict(zip(CHANGES, floats.__defaults__, strict=True))
    made = {}
    for change in CHANGES:
        PROGRAMS.clear()
        study(name, **{change: 1.03 * defaults[change]})
        if PROGRAMS:
            made[change] = list(PROGRAMS)
    assert not made


@pytest.mark.parametrize("change", [{"amplitude": 0.21}, {"omega": 1.13}, {"phase": 0.4}])
def test_another_wave_makes_no_new_program(change):
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
