"""The partition is chosen again before it turns singular, however far bodies swing."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

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
    # adaptive steps at rtol 1e-6: some hundred of them leave 1e-4 at most, of tens of joules
    moved = float(result["kinetic_energy"].sum("body").max())
    assert float(abs(result["energy_residual"]).max()) < 1e-4 * moved
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


def parallelogram(start, rate, size, seed=None):
    """Two cranks and a coupler in any plane, and the equation of motion of their angle."""
    R = np.eye(3)
    if seed is not None:
        R = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
        R = R * np.sign(np.linalg.det(R))
    crank, across = size * R @ [np.sin(start), 0.0, np.cos(start)], 0.9 * size * R[:, 0]
    axis = tuple(R[:, 1])
    a = sw.Body("a", 1.0, (0.1,) * 3, position=tuple(crank / 2))
    b = sw.Body("b", 1.3, (0.1,) * 3, position=tuple(across + crank / 2))
    c = sw.Body("c", 2.0, (0.2, 0.4, 0.2), position=tuple(across / 2 + crank))
    joints = [
        sw.Hinge("foot", sw.WORLD, a.at(*(-crank / 2)), axis, velocity=rate),
        sw.Hinge("top", a.at(*(crank / 2)), c.at(*(-across / 2)), axis),
        sw.Hinge("foot2", sw.WORLD.at(*across), b.at(*(-crank / 2)), axis),
        sw.Hinge("top2", b.at(*(crank / 2)), c.at(*(across / 2)), axis),
    ]
    inertia = 0.2 + 2.575 * size**2  # about the axis of a foot: cranks turn, the coupler does not
    lift = 3.15 * size  # kg m

    def rates(_, y):
        slope = R @ [np.cos(start + y[0]), 0.0, -np.sin(start + y[0])]
        return [y[1], -9.81 * lift * slope[2] / inertia]

    return sw.System("parallelogram", [a, b, c], joints), rates


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["tsit5", "dopri5", "rk4"])
@pytest.mark.parametrize(
    ("start", "rate", "size", "seed"),
    [(1.3, 5.0, 1.0, None), (0.77, -7.1, 1.0, 9), (2.3, -10.5, 1.0, 3), (-0.4, 3.0, 20.0, 1)],
)
def test_a_parallelogram_turns_through_its_flat_positions(start, rate, size, seed, solver):
    """Linear velocities were independent up to their turning points: 1e-4 to 7e-4 rad."""
    system, rates = parallelogram(start, rate, size, seed)
    how = {"step": 0.01} if solver == "rk4" else {"rtol": 1e-6}
    run = sw.simulate(
        sw.compile(system),
        duration=2.0,
        output_step=0.1,
        formulation="partition",
        solver=solver,
        **how,
    )
    assert run.attrs["result"] == "success"
    exact = solve_ivp(rates, (0.0, 2.0), [0.0, rate], t_eval=run.time, rtol=1e-11, atol=1e-12)
    # some ninety steps to 1e-6 each, of up to 20 rad
    assert np.abs(run.joint_coordinate[:, 0] - exact.y[0]).max() < 4e-5


@pytest.mark.slow
def test_three_bearings_of_a_falling_flap_are_as_good_as_one():
    """An independent linear velocity let relative errors of 80 m/s into the hinge: 1.2e-6 m."""
    from model.test_redundant_loops import DIRECTIONS, flap

    model = sw.compile(flap(DIRECTIONS["random 1"], "hinge", "hinge", afloat=True))
    how = {"duration": 8.0, "output_step": 0.5}
    exact = sw.simulate(model, rtol=1e-11, atol=1e-13, **how)["position"]
    for name in ("partition", "lagrange"):
        run = sw.simulate(model, formulation=name, **how)
        assert float(abs(run["position"] - exact).max()) < 1e-7, name
