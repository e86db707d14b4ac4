"""Pendulum, snap and junction: points on inextensible and elastic lines."""

from itertools import pairwise

import jax
import numpy as np
import pytest

import swelltree as sw
from made_lines import HAND, at_their_rest, led_lines, line_form, placed, stepped
from swelltree.integrate.complementarity.first_half_step import with_first_half_step
from swelltree.integrate.complementarity.start import set_up
from swelltree.jit import namespace
from swelltree.studies.time.complementarity.start import derivatives_at

G, L, MASS = 9.81, 10.0, 100.0
KNOT = sw.Junction("knot", (3.0, 0, -5.0), mass=MASS)
STRING = sw.LineType("string", 1e-4, 1e-9, EA=1e9)
MODEL = led_lines(
    [sw.Line("string", (0, 0, 0), KNOT, L, STRING, segments=1, axial="inextensible")],
    junctions=[KNOT],
)


def swing_on(h, pieces, x):
    """50 steps, several times, of a mass on one inextensible segment without mass from rest."""
    form = line_form(MODEL)
    state, runs = placed(MODEL, form, [[[0, 0, 0], x]], [x]), []
    setup = set_up(MODEL, form, h, derivatives_at(MODEL)(state))

    def once(model, setup, state):
        run = stepped(model, h, 1, state)
        return run.state, jax.tree.map(lambda x: x[0], run.samples)

    state = with_first_half_step(once, MODEL, setup, state)
    for _ in range(pieces):
        runs.append(stepped(MODEL, h, 50, state))
        state = runs[-1].state
    return runs


def places(run):
    return run.junctions[:, 0]


def energy(run, h):
    """Of the mass in the middle of the steps (kinetic at n + 1/2, potential averaged)."""
    x = places(run)
    v = np.diff(x, axis=0) / h
    return 0.5 * MASS * np.sum(v**2, -1) + MASS * G * 0.5 * (x[1:, 2] + x[:-1, 2])


TURNED = np.array([L * np.sin(np.radians(60.0)), 0, -L * np.cos(np.radians(60.0))])


def test_pendulum_keeps_its_energy_and_length_for_a_minute():
    runs = swing_on(0.05, 24, TURNED)
    E = np.concatenate([energy(run, 0.05) for run in runs])
    assert np.ptp(E) < 1e-8 * MASS * G * L
    for run in runs:
        assert np.max(np.abs(np.linalg.norm(places(run), axis=1) - L)) < 1e-9
        assert run.samples.solved.all()
        assert np.max(run.samples.iterations) <= 6


def test_pendulum_converges_with_order_two_in_position_and_tension():
    where, tensions = [], []
    for halvings in range(4):
        run = swing_on(0.1 / 2**halvings, 2**halvings + 1, TURNED)[-1]
        where.append(places(run)[0])
        tensions.append(float(run.report.tension[0, 0, 0]))
        assert float(run.samples.t[0]) == pytest.approx(5.0)
    for series in (where, tensions):
        d = [np.linalg.norm(np.subtract(b, a)) for a, b in pairwise(series)]
        assert np.log2(d[1] / d[2]) == pytest.approx(2.0, abs=0.1)


def test_snap_is_plastic_and_keeps_the_energy_of_an_inelastic_impact():
    """A mass falls freely 3 m beside its anchor until the line is straight."""
    h = 0.05
    fall = np.sqrt(L**2 - 9.0)
    speed = np.sqrt(2 * G * fall)
    normal = speed * fall / L
    run = swing_on(h, 1, np.array([3.0, 0, 0]))[0]
    length = np.linalg.norm(places(run), axis=1)[:-1]
    taut = int(np.argmax(length > L - 1e-6))
    assert taut * h == pytest.approx(np.sqrt(2 * fall / G), abs=2 * h)
    E = energy(run, h)
    lost = 0.5 * MASS * normal**2
    # energy after the snap against the plastic value, as a share of what is lost
    assert E[taut + 2] == pytest.approx(-lost, abs=5e-3 * lost)
    assert np.ptp(E[taut + 2 :]) < 1e-9 * lost
    assert np.max(length[taut:]) - np.min(length[taut:]) < 1e-8  # no rebound
    # impulse beyond what weight and path ask for over the two steps
    mu = run.report.tension[:, 0, 0]
    assert h * np.sum(mu[taut - 2 : taut + 1]) == pytest.approx(MASS * normal, rel=0.15)


def test_snap_energy_approaches_the_plastic_value_with_the_step():
    fall = np.sqrt(L**2 - 9.0)
    lost = MASS * G * fall * (fall / L) ** 2
    h = 0.05 / 8
    E = energy(swing_on(h, 6, np.array([3.0, 0, 0]))[-1], h)[-1]
    assert pytest.approx(-lost, abs=1e-3 * lost) == E


def three_legs(motion=None):
    """Two anchors and a hand on one junction that weighs 50 kg more than it displaces."""
    knot = sw.Junction("knot", (0, 0, -8.0), mass=50.0)
    chain = sw.LineType("chain", 0.05, 20.0, EA=1e9)
    ends = [((20.0, 10, -20), knot), ((20.0, -10, -20), knot), (knot, HAND.at(-4.0, 0, 0))]
    lines = [
        sw.Line(f"leg{k}", A, B, length, chain, segments=4, axial="inextensible")
        for k, ((A, B), length) in enumerate(zip(ends, (30.0, 30.0, 12.0), strict=True))
    ]
    return led_lines(lines, motion, sw.Water(rho=1025.0), junctions=[knot])


@pytest.mark.slow
def test_lines_on_a_junction_balance_it_at_rest():
    rest = at_their_rest(three_legs())
    q, T = rest.q, rest.report.tension
    d = np.diff(q, axis=1)
    d = d / np.linalg.norm(d, axis=-1, keepdims=True)
    weight = (20.0 - 1025 * np.pi / 4 * 0.05**2) * 9.81
    pull = -T[0, -1] * d[0, -1] - T[1, -1] * d[1, -1] + T[2, 0] * d[2, 0]
    half = 0.5 * weight * (7.5 + 7.5 + 3.0)
    balance = pull + [0, 0, -50.0 * 9.81 - half]
    assert np.abs(balance).max() < 1e-8 * T.max()
    np.testing.assert_allclose(T[0], T[1], rtol=1e-8)  # mirror lines carry the same


@pytest.mark.slow
def test_moved_junction_never_fails_and_keeps_lengths():
    def swung(amplitude, rate):
        def signal(t):
            xp = namespace(t)
            return amplitude * xp.minimum(t / 5.0, 1.0) * xp.sin(rate * t)

        return signal

    model = three_legs({"Surge": swung(1.0, 0.9), "Heave": swung(0.7, 1.3)})
    run = sw.simulate(model, duration=100.0, output_step=0.05, step=0.05)
    assert run.attrs["steps_rescued"] == 0
    assert run.attrs["iterations_per_step"] < 5
    assert run.length_violation.max() < 1e-9
    tension = run.line_tension.values
    assert np.abs(tension[:, 0] - tension[:, 1]).max() < 1e-6 * tension.max()
