"""Runs that leave what they must keep say so: which loop, which joint, when."""

import warnings

import numpy as np
import pytest

import swelltree as sw
from agreement.compare import some
from multibody.formulations.examples import bar, four_bar
from swelltree.integrate.complementarity.start import start_motion
from swelltree.multibody.formulations.lagrange import Lagrange

TWO_STEP = {"formulation": "lagrange", "solver": "two_step", "step": 0.01}


def run(system, duration, output_step=0.05, **how):
    return sw.simulate(sw.compile(system), duration=duration, output_step=output_step, **how)


def driven(system, **motions):
    """The system with prescribed motions in the place of initial values."""
    return system.replace(
        joints=tuple(
            j.replace(velocity=(), position=(), motion=motions[j.name]) if j.name in motions else j
            for j in system.joints
        )
    )


def contradicting_drives():
    """Two drives of one loop that agree at the start, in value and rate, and not later."""
    model = sw.compile(four_bar())
    start = start_motion(model)
    k = list(model.layout.dof_labels).index("d__Pitch")
    rocker = sw.Polynomial((float(start.coordinate[k]), float(start.rate[k]), 2.0))
    return driven(four_bar(), a=sw.Polynomial((0.0, 1.0)), d=rocker)


def short_coupler(**motions):
    """A four-bar whose crank cannot go round: what follows it reaches no further than its rods."""
    crank, coupler = bar("crank", 0.0, 0.0, 0.5), bar("coupler", 0.75, 0.0, 1.0)
    coupler_ends = coupler.at(-0.75), coupler.at(0.75)
    top = np.array([1.5, 0.0, 1.0])
    foot = np.array([2.0, 0.0, 0.0])
    middle = 0.5 * (top + foot)
    rocker = bar("rocker", *middle)
    joints = [
        sw.Hinge("a", sw.WORLD, crank.at(0, 0, -0.5)),
        sw.Hinge("b", crank.at(0, 0, 0.5), coupler_ends[0]),
        sw.Hinge("c", coupler_ends[1], rocker.at(*(top - middle))),
        sw.Hinge("d", sw.WORLD.at(*foot), rocker.at(*(foot - middle))),
    ]
    return driven(sw.System("short", [crank, coupler, rocker], joints), **motions)


def parallelogram(**start):
    """Two equal cranks in a plane that is turned."""
    rng = np.random.default_rng(4)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    R = R * np.sign(np.linalg.det(R))
    axis = tuple(R[:, 1])

    def place(x, z):
        return R @ np.array([x, 0.0, z])

    def link(name, x, z):
        return sw.Body(name, 1.0, (0.1, 0.1, 0.1), position=tuple(place(x, z)))

    left, coupler, right = link("left", 0.0, 0.25), link("bar", 0.5, 0.5), link("right", 1.0, 0.25)
    down, up = place(0.0, -0.25), place(0.0, 0.25)
    joints = [
        sw.Hinge("a", sw.WORLD, left.at(*down), axis, **start),
        sw.Hinge("b", left.at(*up), coupler.at(*place(-0.5, 0.0)), axis),
        sw.Hinge("c", coupler.at(*place(0.5, 0.0)), right.at(*up), axis),
        sw.Hinge("d", sw.WORLD.at(*place(1.0, 0.0)), right.at(*down), axis),
    ]
    return sw.System("parallelogram", [left, coupler, right], joints)


@pytest.mark.parametrize("how", [{}, pytest.param(TWO_STEP, marks=pytest.mark.slow)])
def test_drives_that_contradict_each_other_are_named(how):
    with pytest.warns(sw.SwelltreeWarning, match="went wrong at t = "):
        result = run(contradicting_drives(), 1.0, **how)
    assert result.attrs["result"] == "loop_open"
    message = result.attrs["message"]
    assert "The loop of joint 'd' through 'a', 'b', 'c' is open by" in message
    assert "The prescribed motion of joint 'a', 'd' asks for what the loop cannot" in message


@pytest.mark.parametrize(
    "how", [{}, {"formulation": "lagrange"}, pytest.param(TWO_STEP, marks=pytest.mark.slow)]
)
def test_a_motion_that_a_loop_cannot_follow_is_named(how):
    with pytest.warns(sw.SwelltreeWarning):
        result = run(short_coupler(a=sw.Polynomial((0.0, -1.0))), 6.0, **how)
    assert result.attrs["result"] != "success"
    message = result.attrs["message"]
    assert "The loop of joint 'd' through 'a', 'b', 'c'" in message
    assert "The prescribed motion of joint 'a' asks for what the loop cannot follow" in message
    # the crank leans back by t; coupler and rocker reach its tip while 5 + 4 sin t < reach^2
    reach = 1.5 + np.sqrt(1.25)
    t_end = np.arcsin((reach**2 - 5.0) / 4.0)
    when = float(message.split("t = ")[1].split(" s")[0])
    assert when == pytest.approx(t_end, abs=0.06)


@pytest.mark.parametrize("formulation", some("path_matrix", "lagrange"))
def test_a_parallelogram_passes_its_flat_position_or_says_which_loop_it_was(formulation):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.SwelltreeWarning)
        result = run(parallelogram(position=0.4, velocity=6.0), 2.0, formulation=formulation)
    # nothing of the energy is lost in what is told, whether the run passes or stops
    gap = float(abs(result["energy_residual"]).max())
    assert gap < 1e-3 * float(result["kinetic_energy"].sum("body").max())
    # whether a step of the multipliers lands on the flat position is decided by rounding
    if formulation == "path_matrix" or result.attrs["result"] == "success":
        assert result.attrs["result"] == "success"
        assert result.time.values[-1] == pytest.approx(2.0)
    else:
        assert result.attrs["result"] == "loop_singular"
        message = result.attrs["message"]
        assert "The loop of joint 'd' through 'a', 'b', 'c'" in message
        stopped = float(message.split("stopped at t = ")[1].split(" s")[0])
        assert 0.0 <= stopped - result.time.values[-1] < 0.05
        # the cranks lie flat there: what is left of the angle is that of 0.05 s of acceleration
        last = result.isel(time=-1)
        angle, rate = (
            float(last[name].sel(coordinate="a__Pitch"))
            for name in ("joint_coordinate", "joint_rate")
        )
        assert abs(np.cos(angle + rate * (stopped - float(last.time)))) < 0.03


def test_a_run_that_diverged_because_a_loop_opened_says_so():
    # feedback that is faster than the step tears the joints apart
    how = Lagrange(stabilisation="baumgarte", time_constant=0.02)
    with pytest.warns(sw.SwelltreeWarning, match="is open by"):
        result = run(four_bar(), 5.0, 0.1, formulation=how, solver="rk4", step=0.1)
    assert result.attrs["result"] == "loop_open"
    message = result.attrs["message"]
    assert "does not hold together" in message
    assert " Then time stepping stopped at t = " in message


def test_a_start_in_a_singular_position_names_the_loop():
    with pytest.raises(
        sw.SwelltreeError,
        match="joint 'd': its loop through 'a', 'b', 'c' starts in a singular position",
    ):
        sw.compile(parallelogram(position=0.5 * np.pi, velocity=1.0))


def test_energy_that_a_coarse_step_loses_is_told():
    wheel = bar("wheel", 0.5)
    system = sw.System("s", [wheel], [sw.Hinge("h", sw.WORLD, wheel.at(-0.5), velocity=1.0)])
    with pytest.warns(sw.SwelltreeWarning, match="energy budget does not close"):
        result = run(system, 20.0, 1.0, solver="rk4", step=1.0)
    assert result.attrs["result"] == "energy_lost"
    assert run(system, 5.0, 0.5).attrs["result"] == "success"


def test_a_run_in_chunks_and_a_resumed_one_end_as_the_whole_run_does(tmp_path):
    wheel = bar("wheel", 0.5)
    hinge = sw.Hinge("h", sw.WORLD, wheel.at(-0.5), velocity=1.0)
    model = sw.compile(sw.System("s", [wheel], [hinge]))
    folder = tmp_path / "run.ckpt"
    coarse = {"duration": 20.0, "output_step": 1.0, "solver": "rk4", "step": 1.0}
    with pytest.warns(sw.SwelltreeWarning, match="energy budget does not close"):
        full = sw.simulate(model, **coarse)
    with pytest.warns(sw.SwelltreeWarning, match="energy budget does not close"):
        sw.simulate(model, chunk=6, checkpoint=folder, **coarse)
    for file in sorted(folder.iterdir())[2:]:
        file.unlink()
    with pytest.warns(sw.SwelltreeWarning, match="energy budget does not close"):
        resumed = sw.simulate(model, chunk=6, checkpoint=folder, resume=True, **coarse)
    assert full.attrs["result"] == resumed.attrs["result"] == "energy_lost"
    assert full.attrs["message"] == resumed.attrs["message"]


@pytest.mark.parametrize("height", [0.8, 0.93])
def test_a_hard_landing_in_long_steps_is_no_loss_of_energy(height):
    # the step of the impact has the mean of the velocities before and after it
    box = sw.Body("box", mass=2e4, inertia=(2e4,) * 3, position=(0, 0, height - 9.0))
    feet = [(x, y, -1.0) for x in (-1, 1) for y in (-1.3, 1)]
    system = sw.System(
        "landing",
        [box],
        [sw.Free("free", sw.WORLD, box, velocity={"Heave": -2.0})],
        water=sw.Water(depth=10.0),
        contacts=[sw.SeabedContact("feet", box, at=feet)],
        seabed=sw.Seabed(),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", sw.SwelltreeWarning)
        result = run(system, 1.0, 0.05, step=0.05, start="described", progress=False)
    assert result.attrs["result"] == "success"
    assert float(abs(result.energy_residual[-1])) < 0.05 * float(abs(result.work).max())
