"""The partition is chosen again before it turns singular, however far bodies swing."""

import numpy as np
import pytest

import swelltree as sw


def body(rng, name, place):
    return sw.Body(name, 1.0 + rng.random(), tuple(0.1 + 0.08 * rng.random(3)), position=place)


def hung(seed, rods):
    """A body on rods from random places, released far from where it would hang."""
    rng = np.random.default_rng(seed)
    a = body(rng, "a", tuple(1.5 * rng.normal(size=3)))
    joints = [
        sw.Distance(
            f"rod{k}", sw.WORLD.at(*(0.5 * rng.normal(size=3))), a.at(*(0.3 * rng.normal(size=3)))
        )
        for k in range(rods)
    ]
    return sw.System("hung", [a], joints)


def double(seed):
    """Two bodies, each on one rod."""
    rng = np.random.default_rng(seed)
    a, b = body(rng, "a", tuple(rng.normal(size=3))), body(rng, "b", tuple(2 * rng.normal(size=3)))
    points = 0.2 * rng.normal(size=(3, 3))
    joints = [
        sw.Distance("upper", sw.WORLD, a.at(*points[0])),
        sw.Distance("lower", a.at(*points[1]), b.at(*points[2])),
    ]
    return sw.System("double", [a, b], joints)


def check(model, duration=10.0):
    result = sw.simulate(model, duration=duration, output_step=1.0, formulation="partition")
    assert result.attrs["result"] == "success", result.attrs["message"]
    # adaptive steps at rtol 1e-6: up to 800 of them leave some 1e-4, of tens of joules
    moved = float(result["kinetic_energy"].sum("body").max())
    assert float(abs(result["energy_residual"]).max()) < 1.5e-4 * moved
    return result


def test_a_pendulum_on_a_rod_swings_far_between_long_output_steps():
    # the condition number of one dependent velocity is one, whatever it is worth
    for seed in (0, 1, 4, 5):
        model = sw.compile(hung(seed, 1))
        result = check(model)
        assert float(result["partition_condition"].max()) <= 4.0
    other = sw.simulate(model, duration=3.0, output_step=1.0, formulation="lagrange")
    gap = abs(result["position"].sel(time=other.time) - other["position"])
    assert float(gap[..., :3].max()) < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda k: hung(k, 2), lambda k: hung(k, 3), double])
def test_bodies_on_several_rods_swing_far(make):
    for seed in range(4):
        check(sw.compile(make(seed)))


def parallelogram(start, rate):
    """Two equal cranks; without weight they turn at a constant rate, through flat positions."""
    u = np.array([np.cos(start), 0.0, -np.sin(start)])
    place = {"left": 0.5 * u, "bar": u + [0.5, 0.0, 0.0], "right": 0.5 * u + [1.0, 0.0, 0.0]}
    left, bar, right = (
        sw.Body(name, 1.0, (0.1, 0.1, 0.1), position=tuple(p)) for name, p in place.items()
    )
    tip, foot = tuple(0.5 * u), tuple(-0.5 * u)
    joints = [
        sw.Hinge("a", sw.WORLD, left.at(*foot), axis="y", velocity=rate),
        sw.Hinge("b", left.at(*tip), bar.at(-0.5, 0, 0), axis="y"),
        sw.Hinge("c", bar.at(0.5, 0, 0), right.at(*tip), axis="y"),
        sw.Hinge("d", sw.WORLD.at(1.0, 0, 0), right.at(*foot), axis="y"),
    ]
    return sw.System("parallelogram", [left, bar, right], joints, water=sw.Water(g=0.0))


@pytest.mark.slow
def test_a_parallelogram_turns_on_through_its_flat_position():
    """Stages of steps lay off the joints, which near the flat position cost up to 0.1 rad."""
    model = sw.compile(parallelogram(1.3, 5.0))
    run = sw.simulate(model, duration=2.0, output_step=0.1, formulation="partition")
    assert run.attrs["result"] == "success"
    angle = run["joint_coordinate"].sel(coordinate="a__Pitch").values
    # three flat positions, rtol 1e-6
    assert np.abs(angle - 5.0 * run["time"].values).max() < 1e-4


@pytest.mark.slow
def test_three_bearings_of_a_falling_flap_are_as_good_as_in_other_formulations():
    """Falling, an independent linear velocity let relative errors of 80 m/s into the hinge."""
    axis = np.array([0.4, -0.5, 0.76])
    barge = sw.Body("barge", 100.0, (60.0, 70.0, 80.0))
    flap = sw.Body("flap", 3.0, (0.4, 0.5, 0.3), position=(0.6, 0.4, 0.5))
    joints = [sw.Free("free", sw.WORLD, barge)]
    for k, along in enumerate((0.0, 0.7, -0.9)):
        place = along * axis / np.linalg.norm(axis) + [0.2, 0.1, 0.3]
        ends = barge.at(*place), flap.at(*(place - flap.position))
        more = {"velocity": 0.3} if k == 0 else {}
        joints.append(sw.Hinge(f"bearing{k}", *ends, tuple(axis), **more))
    model = sw.compile(sw.System("falling", [barge, flap], joints))
    how = {"duration": 8.0, "output_step": 0.5}
    exact = sw.simulate(model, rtol=1e-11, atol=1e-13, **how)["position"]
    run = sw.simulate(model, formulation="partition", rtol=1e-6, atol=1e-9, **how)
    assert float(np.abs(run["position"] - exact).max()) < 1e-7
