"""The implicit method on classical stiff problems (Hairer and Wanner, Solving ODEs II)."""

import numpy as np
import pytest

from swelltree.engine.backend import jax, jnp
from swelltree.solvers.stepping.smooth import Options, Problem, compiled, integrate, start


def van_der_pol(mu, t, y):
    return y[1], mu * (1.0 - y[0] ** 2) * y[1] - y[0]


def robertson(args, t, y):
    a, b, c = y[0], y[1], y[2]
    slow, fast = 0.04 * a - 1e4 * b * c, 3e7 * b * b
    return jnp.stack([-slow, slow - fast, fast])


def test_van_der_pol_takes_few_implicit_steps():
    problem = Problem(van_der_pol)
    times = np.linspace(0.0, 1500.0, 4)
    options = Options(rtol=1e-6, atol=1e-8)
    carry, out = compiled(problem, "stiff")(1000.0, options, start(0.0, (2.0, 0.0)), times)
    assert int(carry.code) == 0
    assert int(carry.n_accepted) < 1000  # an explicit method needs about a million
    # slow branch: log(x) - x^2 / 2 = -t / mu + constant, to first order in 1/mu
    x = np.asarray(out[0])[1]
    assert np.log(x) - x**2 / 2 - (np.log(2.0) - 2.0) == pytest.approx(0.5, abs=2e-3)
    assert out[0][-1] < 0.0  # the jump near t = 807 is past


def test_robertson_agrees_with_the_published_end_value():
    problem = Problem(robertson)
    options = Options(rtol=1e-8, atol=1e-12)
    times = np.array([0.0, 0.4, 40.0, 4000.0])
    first = start(0.0, np.array([1.0, 0.0, 0.0]))
    carry, out = compiled(problem, "stiff")(None, options, first, times)
    assert int(carry.code) == 0
    # Robertson problem as tabulated with LSODE (Hindmarsh 1980)
    assert np.asarray(out[1]) == pytest.approx([9.8517e-1, 3.3864e-5, 1.4794e-2], rel=1e-4)
    assert np.asarray(out[2]) == pytest.approx([7.1583e-1, 9.1850e-6, 2.8416e-1], rel=1e-3)
    assert np.asarray(out[3]) == pytest.approx([1.8320e-1, 8.9423e-7, 8.1680e-1], rel=1e-3)
    assert np.sum(out[3]) == pytest.approx(1.0, abs=1e-9)


def test_reverse_derivative_of_a_stiff_run():
    def end(rate):
        problem = Problem(lambda k, t, y: -k * (y - jnp.cos(t)))
        _, out = integrate(
            problem,
            rate,
            start(0.0, 0.5),
            np.array([0.3]),
            Options(rtol=1e-8, atol=1e-10),
            method="stiff",
            differentiable=True,
            max_steps_per_output=100,
        )
        return out[-1]

    f = jax.jit(end)
    slope = jax.jit(jax.grad(end))(50.0)
    assert slope == pytest.approx(float((f(50.01) - f(49.99)) / 0.02), rel=1e-3)
