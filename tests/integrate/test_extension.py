"""Samples within steps: order, tolerance, constraints, corners, events, chunks, derivatives."""

import numpy as np
import pytest

from swelltree.integrate.problem import (
    EARLY,
    HALF,
    Extension,
    Options,
    Problem,
    cubic,
    inner_terms,
    padded_corners,
    start,
)
from swelltree.integrate.runge_kutta.explicit import TABLEAUS
from swelltree.integrate.runge_kutta.smooth import compiled, integrate
from swelltree.integrate.stepper import run_chunks
from swelltree.jit import jax, jnp

METHODS = ("tsit5", "dopri5", "rk4")


def swing(omega, t, y):
    """A driven oscillator that is not linear, with its work beside it."""
    q, s, _ = y
    force = jnp.sin(1.7 * t)
    return s, force - omega**2 * jnp.sin(q), force * s


SWING = Problem(swing, weights=(True, True, False))
FIRST = (0.4, 0.1, 0.0)


def run(method, times, free=True, problem=SWING, first=FIRST, by_xla=False, **options):
    program = compiled(problem, method, free=free)
    program = program.by_xla if by_xla else program
    numbers = Options(**options)._replace(free_until=float(times[-1]))
    return program(1.3, numbers, start(0.0, first), times)


def exact(times):
    out = run("tsit5", times, free=False, rtol=1e-13, atol=1e-14)[1]
    return np.stack(out)


@pytest.mark.parametrize("method", ["tsit5", "dopri5"])
def test_weights_of_inner_stages_integrate_cubics(method):
    """Values between the ends of a step, from its own stages: of order four."""
    A, c = TABLEAUS[method].with_inner_stages()
    assert tuple(c[-2:]) == (EARLY, HALF)
    for row, x in zip(A[-2:], c[-2:], strict=True):
        for power in range(4):
            assert row @ c**power == pytest.approx(x ** (power + 1) / (power + 1), abs=1e-13)


def test_terms_of_the_extension_meet_any_quintic():
    factors = np.random.default_rng(3).normal(size=6)
    quintic = np.polynomial.Polynomial(factors)
    slope = quintic.deriv()
    known = cubic(quintic(0.0), quintic(1.0), slope(0.0), slope(1.0), 1.0)
    terms = np.array([*known, *inner_terms(known, slope(EARLY), slope(HALF))])
    x = np.linspace(0.0, 1.0, 11)
    found = Extension(2.0, 0.5, terms[:, None]).at(2.0 + 0.5 * x)
    np.testing.assert_allclose(found, quintic(x), rtol=0, atol=1e-13)


@pytest.mark.parametrize(("method", "order"), [("tsit5", 6), ("dopri5", 6), ("rk4", 4)])
def test_error_within_one_step_falls_with_the_order(method, order):
    """Of order five for adaptive methods: the error of one step falls with its sixth power."""
    errors = []
    for h in (0.6, 0.3, 0.15):
        times = np.append(h * np.linspace(0.07, 0.93, 9), h)
        numbers = Options(rtol=1e3, atol=1e3, step=h, free_until=h)
        first = start(0.0, FIRST, first_step=h)
        carry, out = compiled(SWING, method, free=True)(1.3, numbers, first, times)
        assert int(carry.n_accepted) == 1
        errors.append(np.abs(np.stack(out) - exact(times))[:, :-1].max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(orders > order - 0.4), errors


def test_only_steps_with_samples_take_evaluations_more():
    times = np.array([0.0, 0.7, 0.72, 0.74, 2.0])
    free, _ = run("tsit5", times, max_step=0.1)
    none, _ = run("tsit5", times[[0, -1]], max_step=0.1)
    assert int(free.n_accepted) == int(none.n_accepted)
    assert int(free.n_rate) - int(none.n_rate) in (2, 4)


@pytest.mark.parametrize(("method", "order"), [("tsit5", 5), ("dopri5", 5), ("rk4", 4)])
def test_error_within_steps_falls_as_that_of_the_steps(method, order):
    # fixed steps through max_step, samples in general position within them
    times = np.linspace(0.013, 6.0, 173)
    right = exact(times)
    errors = []
    for n in (24, 48, 96):
        options = {"rtol": 1e3, "atol": 1e3, "max_step": 6.0 / n, "step": 6.0 / n}
        numbers = Options(**options, free_until=6.0)
        first = start(0.0, FIRST, first_step=6.0 / n)
        carry, out = compiled(SWING, method, free=True)(1.3, numbers, first, times)
        assert int(carry.n_accepted) == n
        errors.append(np.abs(np.stack(out) - right).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(orders > order - 0.4), errors


@pytest.mark.parametrize("method", ["tsit5", "dopri5"])
def test_samples_lie_within_the_tolerance_of_a_landed_run(method):
    times = np.linspace(0.0, 30.0, 601)
    right = exact(times)
    for rtol in (1e-5, 1e-7, 1e-9):
        free, out = run(method, times, rtol=rtol, atol=rtol)
        wide, sparse = run(method, times[::100], free=False, rtol=rtol, atol=rtol)
        landed, _ = run(method, times, free=False, rtol=rtol, atol=rtol)
        # errors of steps add up over some seven periods and are largest where nobody lands: those
        # within steps are of their size
        error, error_of_steps = np.stack(out) - right, np.stack(sparse) - right[:, ::100]
        assert np.abs(error)[:2].max() < 4.0 * np.abs(error_of_steps)[:2].max() < 200.0 * rtol
        # two evaluations more in a step of six
        assert int(free.n_rate) < 1.36 * int(wide.n_rate)
        if rtol > 1e-8:
            assert int(free.n_rate) < 0.75 * int(landed.n_rate)


@pytest.mark.parametrize("method", METHODS)
def test_machine_code_and_xla_take_the_same_samples(method):
    times = np.sort(np.random.default_rng(4).uniform(0.0, 8.0, 57))
    ours, found = run(method, times, step=0.19)
    theirs, right = run(method, times, step=0.19, by_xla=True)
    assert int(ours.n_rate) == int(theirs.n_rate)
    np.testing.assert_allclose(np.stack(found), np.stack(right), rtol=0, atol=1e-12)


def test_fixed_steps_keep_their_length_beside_any_samples():
    times = np.arange(0.0, 6.0, 0.07)
    carry, _ = run("rk4", times, step=0.25)
    assert int(carry.n_accepted) == np.ceil(times[-1] / 0.25)


def test_the_last_step_ends_at_the_last_sample():
    for method in METHODS:
        carry, _ = run(method, np.array([0.0, 0.3, 1.234567]), step=0.5)
        assert float(carry.t) == float(carry.sampled) == 1.234567


def test_samples_are_brought_onto_constraints():
    turn = Problem(
        lambda omega, t, y: omega * jnp.stack([-y[1], y[0]]),
        settle=lambda omega, t, y: y / jnp.sqrt(jnp.sum(y * y)),
    )
    times = np.linspace(0.0, 20.0, 333)
    carry, out = run("tsit5", times, problem=turn, first=np.array([1.0, 0.0]), rtol=1e-3)
    assert int(carry.n_accepted) < 100
    assert np.abs(np.hypot(*out.T) - 1.0).max() < 1e-15


def test_no_sample_sees_across_a_jump_of_the_load():
    pushed = Problem(lambda args, t, y: (y[1], jnp.where(t < 1.0, 2.0, -3.0)))
    times = np.linspace(0.0, 2.0, 41)
    corners = padded_corners([1.0])
    carry, out = run("tsit5", times, problem=pushed, first=(0.0, 0.0), corners=corners)
    later = np.maximum(times - 1.0, 0.0)
    early = np.minimum(times, 1.0)
    speed = 2.0 * early - 3.0 * later
    np.testing.assert_allclose(out[1], speed, atol=1e-12)
    np.testing.assert_allclose(out[0], early**2 + 2.0 * later - 1.5 * later**2, atol=1e-12)
    assert int(carry.n_accepted) < 20


def test_samples_on_both_sides_of_an_event_are_those_of_their_side():
    ball = Problem(
        lambda g, t, y: (y[1], -g),
        event=lambda g, t, y: y[0][None],
        switch=lambda g, t, y, hit: (0.0 * y[0], -y[1]),
    )
    times = np.linspace(0.0, 1.0, 101)
    numbers = Options(free_until=1.0)
    first = start(0.0, (0.5, 0.0), events=1)
    carry, out = compiled(ball, free=True)(9.0, numbers, first, times)
    down = np.sqrt(2 * 0.5 / 9.0)
    assert int(carry.n_events) == 1
    after = times > down
    height = np.where(
        after, 9.0 * down * (times - down) - 4.5 * (times - down) ** 2, 0.5 - 4.5 * times**2
    )
    np.testing.assert_allclose(out[0], height, atol=1e-8)
    assert np.all(out[1][after][:5] > 0.0)


@pytest.mark.parametrize("method", METHODS)
def test_chunks_that_end_within_a_step_change_no_bit(method, tmp_path):
    times = np.linspace(0.0, 5.0, 101)
    program = compiled(SWING, method, free=True)
    numbers = Options(free_until=5.0, step=0.17)

    def advance(carry, piece):
        return program(1.3, numbers, carry, piece)

    def driven(chunk, **more):
        return run_chunks(advance, start(0.0, FIRST), times, chunk=chunk, progress=False, **more)

    full = driven(101)
    parts = driven(7, checkpoint=tmp_path, key="k")
    ends = [float(np.load(file)["carry_0"]) for file in sorted(tmp_path.glob("*.npz"))]
    assert any(t > times[min(7 * k + 6, 100)] for k, t in enumerate(ends))
    for file in sorted(tmp_path.glob("*.npz"))[4:]:
        file.unlink()
    again = driven(7, checkpoint=tmp_path, key="k", resume=True)
    for other in (parts, again):
        for a, b in zip(full.outputs, other.outputs, strict=True):
            assert np.array_equal(a, b)
        for a, b in zip(full.carry.y, other.carry.y, strict=True):
            assert np.array_equal(a, b)


@pytest.mark.parametrize("method", METHODS)
def test_derivatives_of_samples_are_those_of_the_motion(method):
    times = np.linspace(0.1, 4.0, 23)

    def samples(omega):
        numbers = Options(rtol=1e-8, atol=1e-8, step=0.02 + 1e-4, free_until=4.0)
        first = start(0.0, FIRST)
        how = {"method": method, "differentiable": True, "free": True}
        return integrate(SWING, omega, first, times, numbers, **how)[1][0]

    change = 1e-4
    slope = (samples(1.3 + change) - samples(1.3 - change)) / (2 * change)
    forward = jax.jvp(samples, (1.3,), (1.0,))[1]
    np.testing.assert_allclose(forward, slope, rtol=1e-5, atol=1e-6)
    backward = jax.grad(lambda omega: samples(omega)[-3])(1.3)
    assert float(backward) == pytest.approx(float(forward[-3]), rel=1e-9)
