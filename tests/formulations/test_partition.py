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
