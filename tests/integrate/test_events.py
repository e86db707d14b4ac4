"""Events are found in time, and what happens at them is exact."""

import numpy as np
import pytest

from swelltree.integrate.runge_kutta.smooth import Options, Problem, compiled, start
from swelltree.jit import jnp

G = 9.81
BOUNCE = 0.8


def ball() -> Problem:
    """A ball that bounces: y = (height, speed)."""
    return Problem(
        rate=lambda args, t, y: jnp.stack([y[1], -G + 0.0 * y[1]]),
        event=lambda args, t, y: y[:1],
        switch=lambda args, t, y, hit: jnp.stack([0.0 * y[0], -BOUNCE * y[1]]),
    )


@pytest.mark.parametrize("method", ["tsit5", "rk4", "stiff"])
def test_bounces_at_the_exact_times(method: str) -> None:
    """Height after three bounces against the closed form: free fall is exact for every method."""
    fall = np.sqrt(2.0 / G)  # from one metre
    speed = G * fall
    starts, speeds = [fall], [BOUNCE * speed]
    for _ in range(2):
        starts.append(starts[-1] + 2 * speeds[-1] / G)
        speeds.append(BOUNCE * speeds[-1])
    t = starts[-1] + 0.1
    times = np.linspace(0.0, t, 8)
    carry, out = compiled(ball(), method)(
        None, Options(step=0.03), start(0.0, np.array([1.0, 0.0]), events=1), times
    )
    expected = speeds[-1] * 0.1 - 0.5 * G * 0.1**2
    assert int(carry.n_events) == 3
    assert int(carry.code) == 0
    assert np.asarray(out)[-1, 0] == pytest.approx(expected, abs=3e-9)


def test_two_events_in_one_step_come_in_order() -> None:
    """Counters fed by two events within one long step."""
    problem = Problem(
        rate=lambda args, t, y: jnp.stack([1.0 + 0.0 * y[0], 0.0 * y[1], 0.0 * y[2]]),
        event=lambda args, t, y: jnp.stack([0.3 - y[0], 0.31 - y[0]]),
        switch=lambda args, t, y, hit: jnp.stack(
            [y[0], jnp.where(hit[0], t, y[1]), jnp.where(hit[1], 10.0 * y[1] + t, y[2])]
        ),
    )
    carry, out = compiled(problem, "tsit5")(
        None, Options(), start(0.0, np.zeros(3), events=2), np.array([1.0])
    )
    assert int(carry.n_events) == 2
    np.testing.assert_allclose(np.asarray(out)[-1], [1.0, 0.3, 3.31], atol=1e-8)


@pytest.mark.parametrize("method", ["tsit5", "rk4", "stiff"])
def test_an_event_is_not_lost_where_constraints_are_restored(method: str) -> None:
    """The last point before it was taken behind it by what restores constraints, and slept."""
    problem = Problem(
        rate=lambda args, t, y: jnp.stack([jnp.cos(t) + 0.0 * y[0], 0.0 * y[1]]),
        event=lambda args, t, y: 0.5 - y[:1],
        switch=lambda args, t, y, hit: jnp.stack([y[0], t]),
        settle=lambda args, t, y: jnp.stack([y[0] + 1e-9 * (jnp.abs(y[0] - 0.5) < 1e-9), y[1]]),
    )
    carry, out = compiled(problem, method)(
        None, Options(step=0.03), start(0.0, np.zeros(2), events=1), np.array([1.0])
    )
    assert int(carry.n_events) == 1
    # rk4 with steps of 0.03 s is good to 1e-9, tsit5 to its tolerance
    assert float(out[-1, 1]) == pytest.approx(np.arcsin(0.5), abs=1e-6)


def test_without_events_nothing_changes() -> None:
    """A value that stays positive costs no step and changes no number."""
    quiet = Problem(
        rate=lambda args, t, y: jnp.stack([y[1], -y[0]]),
        event=lambda args, t, y: 10.0 + y[:1],
        switch=lambda args, t, y, hit: 0.0 * y,
    )
    plain = Problem(rate=quiet.rate)
    y0, times = np.array([1.0, 0.0]), np.linspace(0.0, 5.0, 6)
    one, a = compiled(quiet, "tsit5")(None, Options(), start(0.0, y0, events=1), times)
    two, b = compiled(plain, "tsit5")(None, Options(), start(0.0, y0), times)
    assert int(one.n_accepted) == int(two.n_accepted)
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-14)
