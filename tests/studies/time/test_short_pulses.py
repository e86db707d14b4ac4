"""A pulse of a millisecond in a long run: found by smooth solvers, warned of by two-step runs."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.jit import jnp

BEGIN, WIDTH, FORCE = 123.4567, 1e-3, 5e4


def hammer(t):
    return jnp.where((t >= BEGIN) & (t < BEGIN + WIDTH), FORCE, 0.0)


@pytest.fixture(scope="module")
def model():
    body = sw.Body("block", mass=20.0, inertia=(1, 1, 1))
    push = sw.AppliedForce("hammer", body, force=(hammer, 0, 0))
    rail = sw.Slider("rail", sw.WORLD, body, axis="x")
    return sw.compile(sw.System("block", [body], [rail], [push]))


@pytest.mark.parametrize("how", [{}, {"solver": "stiff"}, {"solver": "rk4", "step": 0.05}])
def test_a_pulse_of_a_millisecond_gives_its_impulse(model, how):
    """It was lost without a message."""
    run = sw.simulate(model, duration=300.0, output_step=1.0, **how)
    speed = run.joint_rate.values[:, 0]
    assert speed[-1] == pytest.approx(FORCE * WIDTH / 20.0, rel=1e-6)
    assert not np.any(speed[:124])


def test_the_two_step_scheme_warns_of_what_its_steps_do_not_see(model):
    how = {"duration": 130.0, "output_step": 1.0, "solver": "two_step", "start": "described"}
    with pytest.warns(sw.SwelltreeWarning, match=r"step 0.1 s is too long .* at t = 123\.45"):
        sw.simulate(model, step=0.1, **how)


def test_cases_of_a_batch_get_the_impulse_of_a_pulse(model):
    masses = [20.0, 30.0]
    runs = sw.simulate_batch(
        model,
        parameters={"block.mass": masses},
        duration=130.0,
        output_step=1.0,
        step=0.05,
        channels=["joint_rate"],
        reduce=["series"],
    )
    speed = runs.joint_rate_series.values[:, -1, 0]
    np.testing.assert_allclose(speed * np.array(masses), FORCE * WIDTH, rtol=1e-6)
