"""Time in programs whose floats have four bytes."""

import numpy as np
import pytest

from swelltree.integrate.runge_kutta import control
from swelltree.jit.backend import jax, jnp
from swelltree.jit.ensemble.programs import Cases
from swelltree.jit.ensemble.rows import in_two_halves
from threads_here import ThreadsHere

STEP, BETWEEN, SPEED = 0.2, 0.6, 3.1  # s, s, rad/s


def counted(fixed, longest, state, times):
    """Steps to each time: how many, how many are the fixed one, and a sine of time."""

    def step(now, target):
        t, (steps, full, x) = now
        h, lands = control.landing_step(target - t, longest * control.ROUNDING)
        same = jnp.abs(h - fixed["step"]) < 1e-9 * fixed["step"]
        at = jnp.floor(t / fixed["step"] + 0.5)  # a place on a grid
        x = x + jnp.sin(fixed["speed"] * t) * x * h + 0.0 * fixed["grid"][at.astype(int) % 7]
        return jnp.where(lands, target, t + h), (steps + 1.0, full + same, x)

    def to(now, target):
        now = jax.lax.while_loop(lambda now: now[0] < target, lambda now: step(now, target), now)
        steps, full, x = now[1]
        return now, (steps, full, x, x * jnp.cos(fixed["speed"] * target))

    (_, state), found = jax.lax.scan(to, (times[0], state), times[1:])
    return state, found


@pytest.mark.parametrize("short", [False, True])
def test_steps_are_counted_alike_whatever_floats_have(short):
    """After three hours, where a float of four bytes tells times apart by a millisecond."""
    fixed = {"step": np.array(STEP), "speed": np.array(SPEED), "grid": np.linspace(0, 1, 7)}
    count, x = 3, np.array([0.3, -1.7, 2.2])
    times = 10_800.2 + BETWEEN * np.arange(41)
    state = (np.zeros(count), np.zeros(count), x)
    cases = Cases(fixed, np.array(STEP), state, count)
    _, (steps, full, grown, turned) = ThreadsHere(counted, short).run(cases, [times])
    np.testing.assert_array_equal(steps[:, -1], 120.0)
    np.testing.assert_array_equal(full[:, -1], 120.0)
    t = 10_800.2 + STEP * np.arange(120)
    right = x[:, None] * np.cumprod(1.0 + STEP * np.sin(SPEED * t))[2::3]
    near = 1e-5 if short else 1e-9
    np.testing.assert_allclose(grown, right, rtol=near)
    np.testing.assert_allclose(turned, right * np.cos(SPEED * times[1:]), rtol=0, atol=3 * near)


def test_two_halves_are_the_whole():
    x = np.array([0.2, -1e-7 / 3.0, 10_800.2, 0.0, np.inf, 1e300])
    halves = in_two_halves(x).view(np.float32).reshape(-1, 2)
    total = halves.astype(float).sum(1)
    np.testing.assert_allclose(total[:4], x[:4], rtol=1e-14)
    assert (total[4:] == np.inf).all()


def test_sines_of_four_bytes_are_right_to_their_last_digits():
    """Up to some thousand turns, and beyond."""

    def both(fixed, shared, x, times):
        return x, (jnp.sin(x)[None], jnp.cos(x)[None])

    rng = np.random.default_rng(8)
    x = np.concatenate([rng.uniform(-1, 1, 400), rng.uniform(-6e4, 6e4, 400), [0.0, 1e6]])
    x = x.astype(np.float32).astype(float)[None]
    cases = Cases(np.zeros(1), np.zeros(1), x, 1)
    _, found = ThreadsHere(both, short=True).run(cases, [np.zeros(1)])
    for values, right in zip(found, (np.sin(x), np.cos(x)), strict=True):
        np.testing.assert_allclose(values[0], right, rtol=0, atol=1.5e-7)
