"""Pendulum, snap and junction: points on inextensible and elastic lines."""

from itertools import pairwise

import jax.numpy as jnp
import numpy as np
import pytest

from made_lines import quick_jit
from swelltree.model.line_arrays import stack_lines
from swelltree.two_step.line_points import make_points
from swelltree.two_step.line_rest import settle
from swelltree.two_step.line_step import LineSetting, run_lines, start_lines

G, L, MASS = 9.81, 10.0, 100.0


def weight_on_a_string(angle):
    """A mass on one inextensible segment without mass, `angle` from the vertical."""
    lines = stack_lines([{"segments": 1, "rest_length": L, "mass_per_length": 1e-9}])
    points = make_points([[0, 1]], [0, 1], mass=[0, MASS], force=[[0, 0, 0], [0, 0, -MASS * G]])
    x = np.array([[0, 0, 0], [L * np.sin(angle), 0, -L * np.cos(angle)]])
    return lines, LineSetting(points, gravity=G, rho=0.0), x


LINES, SETTING, X = weight_on_a_string(np.radians(60.0))


@quick_jit
def swing(h, state):
    return run_lines(LINES, lambda t: jnp.zeros((2, 3)), h, 50, state, SETTING)


def swing_on(h, pieces, x):
    """50 steps, several times."""
    state, runs = start_lines(x[None], x), []
    for _ in range(pieces):
        runs.append(swing(h, state))
        state = runs[-1].state
    return runs


def energy(run, h):
    """Of the mass in the middle of the steps (kinetic at n + 1/2, potential averaged)."""
    x = np.concatenate([np.asarray(run.points)[:, 1], np.asarray(run.state.x)[1:, 1]])
    v = np.diff(x, axis=0) / h
    return 0.5 * MASS * np.sum(v**2, -1) + MASS * G * 0.5 * (x[1:, 2] + x[:-1, 2])


def test_pendulum_keeps_its_energy_and_length_for_a_minute():
    runs = swing_on(0.05, 24, X)
    E = np.concatenate([energy(run, 0.05) for run in runs])
    assert np.ptp(E) < 1e-8 * MASS * G * L
    for run in runs:
        assert np.max(np.abs(np.linalg.norm(run.points[:, 1], axis=1) - L)) < 1e-9
        assert np.max(run.error) < 1e-9
        assert np.max(run.iterations) <= 6


def test_pendulum_converges_with_order_two_in_position_and_tension():
    places, tensions = [], []
    for halvings in range(4):
        run = swing_on(0.1 / 2**halvings, 2**halvings + 1, X)[-1]
        places.append(np.asarray(run.points)[0, 1])
        tensions.append(float(run.report.tension[0, 0, 0]))
        assert float(run.time[0]) == pytest.approx(5.0)
    for series in (places, tensions):
        d = [np.linalg.norm(np.subtract(b, a)) for a, b in pairwise(series)]
        assert np.log2(d[1] / d[2]) == pytest.approx(2.0, abs=0.1)


def test_snap_is_plastic_and_keeps_the_energy_of_an_inelastic_impact():
    """A mass falls freely 3 m beside its anchor until the line is straight."""
    h = 0.05
    x = np.array([[0.0, 0, 0], [3.0, 0, 0.0]])
    fall = np.sqrt(L**2 - 9.0)
    speed = np.sqrt(2 * G * fall)
    normal = speed * fall / L
    run = swing_on(h, 1, x)[0]
    length = np.linalg.norm(run.points[:, 1], axis=1)
    taut = int(np.argmax(length > L - 1e-6))
    assert taut * h == pytest.approx(np.sqrt(2 * fall / G), abs=2 * h)
    E = energy(run, h)
    lost = 0.5 * MASS * normal**2
    # energy after the snap against the plastic value, as a share of what is lost
    assert E[taut + 2] == pytest.approx(-lost, abs=5e-3 * lost)
    assert np.ptp(E[taut + 2 :]) < 1e-9 * lost
    assert np.max(length[taut:]) - np.min(length[taut:]) < 1e-8  # no rebound
    # impulse beyond what weight and path ask for over the two steps
    mu = np.asarray(run.report.tension)[:, 0, 0]
    assert h * np.sum(mu[taut - 2 : taut + 1]) == pytest.approx(MASS * normal, rel=0.15)


def test_snap_energy_approaches_the_plastic_value_with_the_step():
    x = np.array([[0.0, 0, 0], [3.0, 0, 0.0]])
    fall = np.sqrt(L**2 - 9.0)
    lost = MASS * G * fall * (fall / L) ** 2
    h = 0.05 / 8
    E = energy(swing_on(h, 6, x)[-1], h)[-1]
    assert pytest.approx(-lost, abs=1e-3 * lost) == E


Y = stack_lines(
    [
        {"segments": 4, "rest_length": length / 4, "mass_per_length": 20.0, "diameter": 0.05}
        for length in (30.0, 30.0, 12.0)
    ]
)
Y_POINTS = make_points([[0, 3], [1, 3], [3, 2]], [0, 0, 0, 1], mass=50.0, force=[0, 0, -200.0])
Y_PLACES = np.array([[20.0, 10, -20], [20, -10, -20], [-4, 0, 0], [0, 0, -8]])


def y_shape():
    ends = [(0, 3), (1, 3), (3, 2)]
    s = np.linspace(0, 1, 5)[:, None]
    return np.stack([Y_PLACES[a] * (1 - s) + Y_PLACES[b] * s for a, b in ends])


@pytest.mark.slow
def test_lines_on_a_junction_balance_it_at_rest():
    setting = LineSetting(Y_POINTS)
    state, moved, error = quick_jit(lambda s: settle(Y, s, setting, steps=80))(
        start_lines(y_shape(), Y_PLACES)
    )
    assert moved < 1e-9
    assert error < 1e-8
    q, mu = np.asarray(state.q)[1], np.asarray(state.mu)
    d = np.diff(q, axis=1) / Y.rest_length[..., None]
    weight = (20.0 - 1025 * np.pi / 4 * 0.05**2) * 9.81
    pull = -mu[0, -1] * d[0, -1] - mu[1, -1] * d[1, -1] + mu[2, 0] * d[2, 0]
    half = 0.5 * weight * (7.5 + 7.5 + 3.0)
    balance = pull + [0, 0, -200.0 - half]
    assert np.abs(balance).max() < 1e-8 * np.abs(mu).max()
    # mirror lines carry the same
    np.testing.assert_allclose(mu[0], mu[1], rtol=1e-9)


@pytest.mark.slow
def test_moved_junction_never_fails_and_keeps_lengths():
    setting = LineSetting(Y_POINTS)
    places = jnp.asarray(Y_PLACES)

    def positions(t):
        ramp = jnp.minimum(t / 5.0, 1.0)
        move = ramp * jnp.stack([jnp.sin(0.9 * t), 0.0 * t, 0.7 * jnp.sin(1.3 * t)])
        return places + jnp.array([0.0, 0, 1, 0])[:, None] * move

    state, _, _ = quick_jit(lambda s: settle(Y, s, setting))(start_lines(y_shape(), Y_PLACES))
    run = quick_jit(lambda s: run_lines(Y, positions, 0.05, 2000, s, setting))(state)
    assert np.max(run.error) < 1e-9
    assert np.mean(run.iterations) < 5
    assert np.max(run.report.length_violation) < 1e-9
    tension = np.asarray(run.report.tension)
    assert np.abs(tension[:, 0] - tension[:, 1]).max() < 1e-6 * tension.max()
