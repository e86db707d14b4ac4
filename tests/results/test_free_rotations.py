"""Roll, pitch and yaw of ball and free joints: what goes in comes out, and rates are rates."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.spatial.rotations import euler_rates, euler_velocity

GIVEN = {"Roll": 0.4, "Pitch": -0.7, "Yaw": 3.6}
RATES = {"Roll": 0.9, "Pitch": -0.5, "Yaw": 2.5}


def spinner(kind):
    """A body that turns in all directions, its joint frame turned in the base."""
    body = sw.Body("top", mass=2.0, inertia=(0.4, 0.7, 0.9))
    make = {"ball": sw.Ball, "free": sw.Free}[kind]
    joint = make(
        "turns", sw.WORLD, body, position=GIVEN, velocity=RATES, orientation_deg=(20, -35, 60)
    )
    return sw.compile(sw.System("spinner", [body], [joint], water=sw.Water(g=0.01)))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("ball", {}),
        ("ball", {"formulation": "lagrange"}),
        ("free", {}),
        ("free", {"solver": "two_step", "step": 0.005}),
    ],
)
def test_free_rotations_come_out_as_they_went_in(kind, options):
    run = sw.simulate(
        spinner(kind), duration=3.0, output_step=0.005, rtol=1e-9, progress=False, **options
    )
    names = [f"turns__{dof}" for dof in GIVEN]
    angle = run.joint_coordinate.sel(coordinate=names).values
    rate = run.joint_rate.sel(coordinate=names).values
    assert angle[0] == pytest.approx(list(GIVEN.values()), abs=1e-9)
    assert rate[0] == pytest.approx(list(RATES.values()), abs=1e-7)
    # beyond half a turn they go on, and their differences are their rates
    assert np.ptp(angle[:, 2]) > 2 * np.pi
    slope = (angle[2:] - angle[:-2]) / 0.01
    away = (
        np.abs(np.cos(angle[1:-1, 1])) > 0.2
    )  # differences near a quarter turn of pitch are coarse
    assert slope[away] == pytest.approx(rate[1:-1][away], abs=0.02)
    assert away.mean() > 0.5
    assert "intrinsic z-y-x" in run.joint_coordinate.attrs["long_name"]


def test_angles_of_positions_are_those_of_the_attitude_in_every_formulation():
    """They jump by a turn, by rounding a sample earlier or later; joint coordinates do not."""
    how = {"duration": 3.0, "output_step": 0.05, "rtol": 1e-9, "progress": False}
    one = sw.simulate(spinner("free"), **how)
    other = sw.simulate(spinner("free"), formulation="lagrange", **how)
    for channel in ("position", "displacement"):
        angle = one[channel].values[:, 0, 3:]
        assert np.abs(angle).max() <= np.pi
        assert np.abs(np.diff(angle, axis=0)).max() > 6.0
        apart = other[channel].values[:, 0, 3:] - angle
        assert np.abs(np.angle(np.exp(1j * apart))).max() < 1e-6
        assert "from -pi to pi" in one[channel].attrs["long_name"]
    apart = other.joint_coordinate.values - one.joint_coordinate.values
    assert np.abs(apart).max() < 1e-6
    assert np.ptp(one.joint_coordinate.values[:, 5]) > 2 * np.pi


def test_rates_and_angular_velocity_are_inverse_to_each_other():
    rng = np.random.default_rng(5)
    euler, rates = rng.uniform(-1.4, 1.4, (20, 3)), rng.normal(size=(20, 3))
    assert euler_rates(euler, euler_velocity(euler, rates)) == pytest.approx(rates, abs=1e-12)


def test_a_pitch_of_a_quarter_turn_is_finite():
    body = sw.Body("top", mass=2.0, inertia=(0.4, 0.7, 0.9))
    joint = sw.Ball("turns", sw.WORLD, body, position={"Pitch": np.pi / 2}, velocity={"Roll": 1.0})
    model = sw.compile(sw.System("up", [body], [joint], water=sw.Water(g=0.01)))
    run = sw.simulate(model, duration=0.1, output_step=0.05, progress=False)
    assert np.isfinite(run.joint_coordinate.values).all()
    assert np.isfinite(run.joint_rate.values).all()


def test_angles_go_on_where_a_run_goes_on():
    model, how = spinner("ball"), {"output_step": 0.05, "solver": "rk4", "progress": False}
    long = sw.simulate(model, duration=3.0, **how)
    first = sw.simulate(model, duration=2.0, **how)
    second = sw.simulate(model, duration=1.0, start=first, **how)
    both = np.concatenate([first.joint_coordinate.values, second.joint_coordinate.values[1:]])
    assert np.array_equal(both, long.joint_coordinate.values)
