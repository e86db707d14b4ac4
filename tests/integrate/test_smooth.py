"""Time steppers: order, accuracy, landing on output times, failures, derivatives."""

import numpy as np
import pytest

from swelltree.describe.errors import SwelltreeError
from swelltree.integrate.problem import Code, describe
from swelltree.integrate.runge_kutta import smooth
from swelltree.integrate.runge_kutta.smooth import Options, Problem, compiled, integrate, start
from swelltree.jit import jax, jnp


def oscillator(omega, t, y):
    return {"q": y["s"], "s": -(omega**2) * y["q"]}


OSCILLATOR = Problem(oscillator)
AT_REST = {"q": 1.0, "s": 0.0}


def pendulum(length, t, y):
    q, s = y
    return s, -9.81 / length * jnp.sin(q)


PENDULUM = Problem(pendulum)


def end_error(method, **options):
    times = np.array([0.0, 3.0])
    carry, out = compiled(OSCILLATOR, method)(1.0, Options(**options), start(0.0, AT_REST), times)
    # amplitude and phase together, so that the error never passes through zero
    return np.hypot(out["q"][-1] - np.cos(3.0), out["s"][-1] + np.sin(3.0)), carry


def test_rk4_error_falls_with_the_fourth_power_of_the_step():
    errors = [end_error("rk4", step=h)[0] for h in (0.1, 0.05, 0.025)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx([4.0, 4.0], abs=0.1)


@pytest.mark.parametrize("method", ["tsit5", "dopri5"])
def test_adaptive_error_falls_with_the_fifth_power_of_the_mean_step(method):
    # fixed steps through max_step: tolerances so loose that every step is the largest
    options = {"rtol": 1e3, "atol": 1e3, "max_step": 1.0}
    errors = []
    for n in (8, 16, 32):
        times = np.linspace(0.0, 3.0, n + 1)
        first = start(0.0, AT_REST, first_step=1.0)
        carry, out = compiled(OSCILLATOR, method)(2.0, Options(**options), first, times)
        assert int(carry.n_accepted) == n
        errors.append(np.hypot(out["q"][-1] - np.cos(6.0), out["s"][-1] / 2 + np.sin(6.0)))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(orders > 4.7)


@pytest.mark.parametrize("method", ["tsit5", "dopri5"])
def test_adaptive_error_follows_the_tolerance(method):
    errors = [end_error(method, rtol=tol, atol=tol)[0] for tol in (1e-5, 1e-7, 1e-9, 1e-11)]
    assert errors[-1] < 1e-9
    # work grows like error ** (-1/5)
    work = [int(end_error(method, rtol=tol, atol=tol)[1].n_rate) for tol in (1e-6, 1e-11)]
    assert work[1] / work[0] == pytest.approx(10.0, rel=0.4)


def test_oscillator_keeps_its_energy():
    times = np.linspace(0.0, 100.0, 101)
    options = Options(rtol=1e-11, atol=1e-11)
    _, out = compiled(OSCILLATOR)(2.0, options, start(0.0, AT_REST), times)
    energy = 0.5 * out["s"] ** 2 + 2.0 * out["q"] ** 2
    assert np.abs(energy / energy[0] - 1.0).max() < 1e-8


@pytest.mark.parametrize("method", ["tsit5", "dopri5", "rk4"])
def test_outputs_land_exactly_on_uneven_times(method):
    clock = Problem(lambda args, t, y: jnp.ones(()))
    times = np.array([0.5, 0.5, 0.7, 0.7000001, 3.3, 10.0, 10.0])
    seen, out = compiled(clock, method, lambda args, t, y: (t, y))(
        None, Options(step=0.3), start(0.5, 0.0), times
    )
    assert np.array_equal(out[0], times)
    assert np.allclose(out[1], times - 0.5, atol=1e-12)
    assert float(seen.t) == 10.0
    assert int(seen.n_outputs) == len(times)


def test_rk4_takes_the_largest_step_that_divides_the_interval():
    times = np.array([0.0, 1.0, 1.25])
    carry, _ = compiled(OSCILLATOR, "rk4")(1.0, Options(step=0.1), start(0.0, AT_REST), times)
    assert int(carry.n_accepted) == 10 + 3
    assert int(carry.n_rate) == 4 * 13


def test_close_outputs_do_not_shorten_the_planned_step():
    wide, _ = compiled(OSCILLATOR)(1.0, Options(), start(0.0, AT_REST), np.array([0.0, 50.0]))
    times = np.concatenate([np.linspace(0.0, 1.0, 201), [50.0]])
    dense, _ = compiled(OSCILLATOR)(1.0, Options(), start(0.0, AT_REST), times)
    assert int(dense.n_accepted) <= int(wide.n_accepted) + 200
    assert int(dense.n_rejected) <= int(wide.n_rejected) + 2


def test_each_step_costs_six_evaluations_when_the_last_rate_is_kept():
    carry, _ = compiled(OSCILLATOR)(1.0, Options(), start(0.0, AT_REST), np.array([0.0, 5.0]))
    attempts = int(carry.n_accepted) + int(carry.n_rejected)
    assert int(carry.n_rate) == 1 + 6 * attempts


def test_keeping_the_last_rate_changes_nothing_when_settle_is_idle():
    def idle(args, t, y):
        return y

    times = np.linspace(0.0, 5.0, 11)
    results = []
    for changes in (True, False):
        problem = Problem(oscillator, settle=idle, settle_changes_rate=changes)
        results.append(compiled(problem)(1.0, Options(), start(0.0, AT_REST), times))
    (again, out_again), (stored, out_kept) = results
    assert np.allclose(out_again["q"], out_kept["q"], rtol=0, atol=1e-14)
    assert int(again.n_rate) == int(stored.n_rate) + int(stored.n_accepted) - 1


def test_settle_keeps_a_point_on_its_circle():
    turn = Problem(
        lambda omega, t, y: omega * jnp.stack([-y[1], y[0]]),
        settle=lambda omega, t, y: y / jnp.sqrt(jnp.sum(y * y)),
    )
    times = np.linspace(0.0, 50.0, 11)
    for method in ("tsit5", "rk4"):
        start_at = start(0.0, np.array([1.0, 0.0]))
        _, out = compiled(turn, method)(1.0, Options(rtol=1e-3, step=0.1), start_at, times)
        assert np.abs(np.hypot(*out.T) - 1.0).max() < 1e-15


def test_a_quadrature_left_out_of_the_norm_does_not_change_the_steps():
    def with_work(omega, t, y):
        s = y[1]
        return s, -y[0], 1e6 * jnp.sin(40.0 * t) * s

    steps = []
    for weights in (True, (True, True, False)):
        problem = Problem(with_work, weights=weights)
        carry, _ = compiled(problem)(1.0, Options(), start(0.0, (1.0, 0.0, 0.0)), np.array([5.0]))
        steps.append(int(carry.n_accepted))
    plain, _ = compiled(Problem(lambda a, t, y: (y[1], -y[0])))(
        1.0, Options(), start(0.0, (1.0, 0.0)), np.array([5.0])
    )
    assert steps[1] == int(plain.n_accepted) < steps[0]


@pytest.mark.parametrize("method", ["tsit5", "dopri5", "rk4"])
def test_blow_up_stops_near_its_time_and_keeps_the_part_before(method):
    problem = Problem(lambda args, t, y: y**2)  # y = 1 / (1 - t)
    times = np.linspace(0.0, 2.0, 21)
    carry, out = compiled(problem, method)(None, Options(step=0.001), start(0.0, 1.0), times)
    assert int(carry.code) in (Code.STEP_TOO_SMALL, Code.NOT_FINITE)
    assert float(carry.t_fail) == pytest.approx(1.0, abs=0.02)
    assert np.isfinite(float(carry.y))
    assert np.allclose(out[:9], 1.0 / (1.0 - times[:9]), rtol=1e-4)
    assert np.all(np.isnan(out[12:]))
    assert int(carry.n_outputs) == np.isfinite(out).sum()
    assert "stopped at t = 1" in describe(carry.code, carry.t_fail)


def test_a_rate_that_is_not_finite_stops_at_once():
    problem = Problem(lambda args, t, y: jnp.sqrt(y - 2.0))
    carry, out = compiled(problem)(None, Options(), start(0.0, 1.0), np.array([0.0, 1.0]))
    assert int(carry.code) == Code.NOT_FINITE
    assert float(carry.t_fail) == 0.0
    assert out[0] == 1.0


def test_motion_beyond_its_limit_stops_with_the_time():
    problem = Problem(lambda a, t, y: y, limit=lambda a, t, y: jnp.abs(y) > 10.0)
    times = np.linspace(0.0, 5.0, 51)
    carry, out = compiled(problem)(None, Options(), start(0.0, 1.0), times)
    assert int(carry.code) == Code.DIVERGED
    assert float(carry.t_fail) == pytest.approx(np.log(10.0), abs=0.11)
    assert np.isfinite(out).sum() == int(carry.n_outputs) == 24


def test_too_many_steps_is_said():
    carry, out = compiled(OSCILLATOR)(
        1.0, Options(max_steps=5), start(0.0, AT_REST), np.array([0.0, 100.0])
    )
    assert int(carry.code) == Code.TOO_MANY_STEPS
    assert np.isnan(out["q"][1])


def test_unknown_method_is_refused_with_a_suggestion():
    with pytest.raises(SwelltreeError, match="Did you mean 'tsit5'"):
        integrate(OSCILLATOR, 1.0, start(0.0, AT_REST), np.array([1.0]), method="tsit")


def test_the_rate_is_traced_once():
    calls = []

    def counted(args, t, y):
        calls.append(1)
        return -y

    jax.jit(lambda y: integrate(Problem(counted), None, start(0.0, y), np.array([0.0, 1.0])))(
        jnp.ones(3)
    )
    assert len(calls) == 1


# derivatives

TIMES = np.linspace(0.0, 2.0, 5)


def end_of_pendulum(length, method="tsit5", differentiable=True):
    carry, out = integrate(
        PENDULUM,
        length,
        start(0.0, (0.8, 0.1)),
        TIMES,
        Options(rtol=1e-9, atol=1e-9, step=0.02),
        method=method,
        differentiable=differentiable,
        max_steps_per_output=40,
    )
    return out[0][-1], carry.code


@pytest.mark.parametrize("method", ["tsit5", "rk4"])
def test_derivatives_of_the_end_state_agree_with_finite_differences(method):
    def f(length):
        return end_of_pendulum(length, method)[0]

    value, slope = jax.jit(jax.value_and_grad(f))(1.3)
    forward = jax.jit(jax.jacfwd(f))(1.3)
    g = jax.jit(f)
    difference = (g(1.3 + 1e-5) - g(1.3 - 1e-5)) / 2e-5
    assert slope == pytest.approx(float(forward), rel=1e-12)
    assert slope == pytest.approx(float(difference), rel=1e-6)
    plain, _ = jax.jit(lambda x: end_of_pendulum(x, method, differentiable=False))(1.3)
    assert value == pytest.approx(float(plain), rel=1e-12)


def test_forward_derivative_through_the_open_loop():
    def f(length):
        return end_of_pendulum(length, differentiable=False)[0]

    assert jax.jit(jax.jacfwd(f))(1.3) == pytest.approx(
        float(jax.jit(jax.grad(lambda x: end_of_pendulum(x)[0]))(1.3)), rel=1e-10
    )


def test_bounded_loop_says_when_its_bound_is_exceeded():
    carry, _ = jax.jit(
        lambda omega: integrate(
            OSCILLATOR,
            omega,
            start(0.0, AT_REST),
            np.array([0.0, 9.0]),
            differentiable=True,
            max_steps_per_output=4,
        )
    )(3.0)
    assert int(carry.code) == Code.TOO_MANY_STEPS


@pytest.mark.parametrize("differentiable", [False, True])
def test_a_batch_gives_the_same_as_its_members(differentiable):
    lengths = np.array([0.7, 1.3, 2.9])

    def f(length):
        return end_of_pendulum(length, differentiable=differentiable)

    batch, codes = jax.jit(jax.vmap(f))(lengths)
    alone = [float(jax.jit(f)(x)[0]) for x in lengths]
    assert np.all(np.asarray(codes) == 0)
    assert np.allclose(batch, alone, rtol=1e-12)


def test_gradient_of_a_batch():
    lengths = np.array([0.7, 1.3])

    def total(x):
        return jnp.sum(jax.vmap(lambda length: end_of_pendulum(length, "rk4")[0])(x))

    slopes = jax.jit(jax.grad(total))(lengths)
    alone = jax.jit(jax.grad(lambda x: end_of_pendulum(x, "rk4")[0]))
    assert np.allclose(slopes, [float(alone(x)) for x in lengths], rtol=1e-10)


def test_start_accepts_any_tree():
    carry = start(0.0, [1, (2.0, np.ones((2, 3)))])
    assert carry.y[1][1].shape == (2, 3)
    assert smooth.METHODS[0] == "tsit5"
