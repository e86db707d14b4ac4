"""Signals and their derivatives."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.jit import jax, jnp
from swelltree.model.signals import compile_signal, drives_at


def bump(t):
    """A user's signal."""
    return jnp.exp(-(t**2)) * jnp.sin(3.0 * t)


SIGNALS = {
    "number": 2.5,
    "harmonic": sw.Harmonic(0.3, 2.0, 0.5, 1.0),
    "polynomial": sw.Polynomial((1.0, -2.0, 0.5, 0.25)),
    "table": sw.Table((0.0, 0.5, 1.0, 1.7, 2.0), (0.0, 1.0, 0.5, -0.3, 0.2)),
    "function": bump,
}


@pytest.mark.parametrize("name", SIGNALS)
def test_rates_are_the_derivatives_of_values(name):
    signal = compile_signal(SIGNALS[name])
    t, h = np.array(0.8), 1e-4
    before, now, after = (signal.motion(t + k * h) for k in (-1, 0, 1))
    # central differences: h^2 times the third and fourth derivative
    assert float(now[1]) == pytest.approx(float(after[0] - before[0]) / (2 * h), abs=1e-6)
    assert float(now[2]) == pytest.approx(float(after[0] - 2 * now[0] + before[0]) / h**2, abs=1e-5)
    assert float(signal(t)) == pytest.approx(float(now[0]), abs=1e-15)


def test_table_moves_at_its_ends_and_rests_beyond():
    signal = compile_signal(SIGNALS["table"])
    assert abs(float(signal.motion(np.array(0.0))[1])) > 0.1
    assert [float(x) for x in signal.motion(np.array(5.0))] == pytest.approx([0.2, 0.0, 0.0])


def test_prescribed_table_needs_no_jax_to_check():
    body = sw.Body("a", mass=1.0, inertia=(1, 1, 1))
    drive = sw.Slider("rail", sw.WORLD, body, motion=SIGNALS["table"])
    model = sw.compile(sw.System("driven", [body], [drive]))
    assert isinstance(model.start.q, np.ndarray)
    assert model.start.s[0] == pytest.approx(
        float(compile_signal(SIGNALS["table"]).motion(np.array(0.0))[1])
    )


@pytest.mark.parametrize(
    "signal", [sw.Table((0.0, 1.0, 3.0), (1.0, 4.0, 2.0)), sw.Harmonic(1.0, 2.0, 0.3)]
)
def test_a_signal_with_traced_numbers_can_be_asked_at_a_plain_time(signal):
    compiled = compile_signal(signal)
    traced = jax.jit(lambda x: drives_at((x,), np.array(0.5)).rate)(compiled)
    assert traced[0] == pytest.approx(drives_at((compiled,), np.array(0.5)).rate[0], rel=1e-14)
