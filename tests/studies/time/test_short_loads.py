"""Loads shorter than the steps: nothing is stepped over."""

import numpy as np
import pytest

import swelltree as sw
from made_hydro import MASS as MASS_OF_FLOAT
from made_hydro import heaving_float
from swelltree.compiler.functions_of_time import corner_times
from swelltree.jit import jnp

FIRST, LAST, PUSH, MASS = 3.37, 3.47, 50.0, 2.5
TIMES = np.arange(0.0, 11.0)


def pulse(t):
    """A push of a tenth of a second."""
    return jnp.where((t >= FIRST) & (t < LAST), PUSH, 0.0)


def swell(t):
    """A smooth push of a fifth of a second."""
    part = jnp.clip((t - FIRST) / 0.2, 0.0, 1.0)
    return PUSH * jnp.sin(np.pi * part) ** 2


def pushed(t, motion):
    """The push as a function of the motion too."""
    return pulse(t) * jnp.array([0.0, 1.0, 0.0]), jnp.zeros(3)


def puck(**force):
    """A mass on a rail in a general direction, pushed along it."""
    body = sw.Body("puck", mass=MASS, inertia=(1, 1, 1))
    rail = sw.Slider("rail", sw.WORLD, body, axis=(0.0, 1.0, 0.0))
    push = sw.AppliedForce("push", body, **force)
    return sw.compile(sw.System("rink", [body], [rail], forces=[push]))


def speed(model, **options):
    run = sw.simulate(model, times=TIMES, progress=False, **options)
    return run.joint_rate.sel(coordinate="rail__Sway").values


STEP = sw.Table((FIRST, FIRST + 1e-9, LAST, LAST + 1e-9), (0, PUSH, PUSH, 0), "linear")
TRAPEZOID = ((0.0, FIRST, FIRST + 0.02, LAST, LAST + 0.02, 10.0), (0, 0, PUSH, PUSH, 0, 0))


@pytest.mark.parametrize("solver", ["tsit5", "rk4"])
@pytest.mark.parametrize("interpolation", ["linear", "monotone"])
def test_impulse_of_a_short_trapezoid_arrives(solver, interpolation):
    table = sw.Table(*TRAPEZOID, interpolation)
    got = speed(puck(force=(0.0, table, 0.0)), solver=solver)
    impulse = PUSH * (LAST - FIRST)
    assert got[:4] == pytest.approx(0.0, abs=1e-15)
    # pieces are polynomials of the third degree: integrated exactly between corners
    assert got[4:] == pytest.approx(impulse / MASS, rel=1e-9)


@pytest.mark.parametrize(
    ("force", "impulse"),
    [
        ({"force": (0.0, pulse, 0.0)}, PUSH * (LAST - FIRST)),
        ({"function": pushed}, PUSH * (LAST - FIRST)),
        ({"force": (0.0, swell, 0.0)}, PUSH * 0.1),
    ],
    ids=["jumps", "of the motion", "smooth"],
)
@pytest.mark.parametrize("how", [{}, {"solver": "rk4"}, {"solver": "rk4", "step": 0.3}], ids=str)
def test_function_is_sampled_between(force, impulse, how):
    got = speed(puck(**force), **how)
    # the tolerance of 1e-6 in each of some tens of steps; a sixteenth of a step sees the smooth one
    exact = 2e-3 if how and force.get("force") == (0.0, swell, 0.0) else 5e-5
    assert got[4:] == pytest.approx(impulse / MASS, rel=exact)


def test_steps_that_are_too_long_for_a_function_are_told():
    model = puck(force=(0.0, lambda t: jnp.sin(40.0 * t), 0.0))
    with pytest.warns(sw.SwelltreeWarning, match=r"step 1 s is too long for a function of time"):
        sw.simulate(model, duration=300.0, output_step=1.0, solver="rk4", progress=False)


def test_fixed_steps_of_a_convolution_take_the_whole_impulse():
    body = sw.Body("float", mass=MASS_OF_FLOAT, inertia=(1e6,) * 3)
    rail = sw.Slider("rail", sw.WORLD, body)
    table = sw.Table(TRAPEZOID[0], tuple(1e4 * x for x in TRAPEZOID[1]), "linear")
    ends = []
    for radiation, how in (
        ("state_space", {"rtol": 1e-8}),
        ("convolution", {"solver": "rk4", "step": 0.2}),
    ):
        push = sw.AppliedForce("push", body, force=(0.0, 0.0, table))
        system = sw.System("float", [body], [rail], water=sw.Water(rho=1000.0), forces=[push])
        more = {"step": 0.2} if radiation == "convolution" else {}
        model = sw.compile(system, heaving_float(), radiation=radiation, **more)
        run = sw.simulate(model, duration=8.0, output_step=0.4, progress=False, **how)
        ends.append(run.position.sel(dof="Heave").values[:, 0])
    # the kernel is summed at the step; without means over it the push would be a third too weak
    assert np.abs(ends[1] - ends[0]).max() < 0.05 * np.abs(ends[0]).max()


def test_longest_step_finds_what_samples_between_cannot():
    # two milliseconds between samples five seconds apart
    short = puck(force=(0.0, lambda t: jnp.where((t > 3.371) & (t < 3.373), PUSH, 0.0), 0.0))
    times = np.array([0.0, 5.0])
    run = sw.simulate(short, times=times, max_step=1e-3, progress=False)
    assert run.joint_rate.values[-1, 0] == pytest.approx(PUSH * 0.002 / MASS, rel=1e-4)


def test_longest_step_is_a_sentence_when_it_is_none():
    with pytest.raises(sw.SwelltreeError, match=r"max_step 0 s is not positive"):
        sw.simulate(puck(force=(0, 1, 0)), duration=1.0, max_step=0)


def test_corners_are_found_wherever_signals_stand():
    body = sw.Body("a", mass=1.0, inertia=(1, 1, 1))
    motion = sw.Table((0.0, 1.25, 2.0), (0.0, 0.5, 0.5), "monotone")
    push = sw.Table((0.5, 0.75), (0.0, 3.0), "linear")
    rail = sw.Slider("rail", sw.WORLD, body, motion=motion)
    ram = sw.SpringDamper("ram", sw.WORLD.at(0, 0, -5), body, force=push)
    model = sw.compile(sw.System("driven", [body], [rail], forces=[ram]))
    assert corner_times(model).tolist() == [0.0, 0.5, 0.75, 1.25, 2.0]


def test_trapezoid_swings_only_as_a_spline():
    from swelltree.model.signals import compile_signal

    t = np.linspace(0.0, 10.0, 4001)
    least = {}
    for how in ("spline", "monotone", "linear"):
        signal = compile_signal(sw.Table(*TRAPEZOID, how))
        values = np.array([float(signal(x)) for x in t])
        least[how] = values.min()
        assert float(signal(np.array(FIRST + 0.02))) == pytest.approx(PUSH)
        # integral against its derivative, within and beyond the table
        for x in (-1.0, 0.7, 3.38, 3.4, 9.9, 12.0):
            rise = float(signal.integral(np.array(x + 1e-5)) - signal.integral(np.array(x - 1e-5)))
            assert rise / 2e-5 == pytest.approx(float(signal(np.array(x))), abs=1e-4)
    assert least["spline"] < -0.5 * PUSH
    assert least["monotone"] == least["linear"] == 0.0


def test_interpolation_and_longest_step_go_through_a_case_file():
    body = sw.Body("a", mass=1.0, inertia=(1, 1, 1))
    push = sw.AppliedForce("push", body, force=(0, 0, sw.Table((0.0, 1.0), (0.0, 2.0), "linear")))
    system = sw.System("case", [body], [sw.Free("free", sw.WORLD, body)], forces=[push])
    study = sw.SimulateStudy("run", 2.0, max_step=0.1)
    text = sw.Case(system, (study,)).to_toml()
    assert 'interpolation = "linear"' in text
    again = sw.loads(text)
    assert again.system.forces == system.forces
    assert again.study("run").arguments()["max_step"] == 0.1


def test_unknown_interpolation_is_named():
    with pytest.raises(
        sw.SwelltreeError, match=r"'splines' is not a way of interpolation. Did you mean 'spline'"
    ):
        sw.Table((0.0, 1.0), (0.0, 2.0), "splines")


def test_result_says_how_tables_are_joined_and_a_swinging_spline_is_warned_of():
    with pytest.warns(sw.SwelltreeWarning, match=r"'push': the table of its force .* ranges from"):
        model = puck(force=(0.0, sw.Table(*TRAPEZOID), 0.0))
    run = sw.simulate(model, times=[0.0, 1.0], progress=False)
    assert "is joined by a cubic spline, which ranges from -" in run.attrs["report"]
    run = sw.simulate(puck(force=(0.0, STEP, 0.0)), times=[0.0, 1.0], progress=False)
    assert "the table of its force is joined by straight lines." in run.attrs["report"]


def test_motion_by_straight_lines_is_refused():
    body = sw.Body("a", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(sw.SwelltreeError, match=r"'Heave' by straight lines jumps in velocity"):
        sw.Slider("rail", sw.WORLD, body, motion=sw.Table((0.0, 1.0), (0.0, 1.0), "linear"))


@pytest.mark.parametrize(
    ("force", "exact"),
    [
        ({"force": (0.0, sw.Table(*TRAPEZOID, "monotone"), 0.0)}, 1e-9),
        ({"force": (0.0, swell, 0.0)}, 0.02),  # eight samples in a step of a quarter second
        ({"function": pushed}, 0.35),
    ],
    ids=["table", "function", "function of the motion"],
)
def test_fixed_steps_of_the_two_step_scheme_take_the_whole_impulse(force, exact):
    got = speed(puck(**force), solver="two_step", step=0.25)
    impulse = PUSH * 0.1
    assert got[:3] == pytest.approx(0.0, abs=1e-9)
    assert got[5:] == pytest.approx(impulse / MASS, rel=exact)
