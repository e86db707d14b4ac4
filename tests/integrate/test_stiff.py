"""The implicit method on classical stiff problems (Hairer and Wanner, Solving ODEs II)."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from swelltree.integrate.problem import LinearBlock
from swelltree.integrate.runge_kutta.attempt import GAMMA, newton_matrix
from swelltree.integrate.runge_kutta.explicit import KVAERNO5
from swelltree.integrate.runge_kutta.smooth import Options, Problem, compiled, integrate, start
from swelltree.jit import Program, jax, jnp


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


class Swing(NamedTuple):
    q: Any
    v: Any
    work: Any
    z: Any


def swinging(block=True):
    """A pendulum that drives a stiff linear memory, which acts back on it; its loss is booked."""
    rng = np.random.default_rng(5)
    A = rng.normal(size=(6, 6)) - np.diag([2.0, 2.0, 3.0, 40.0, 400.0, 4000.0])
    B, C = rng.normal(size=6), 0.3 * rng.normal(size=6)

    def rate(args, t, y):
        spring = -4.0 * jnp.sin(y.q) + jnp.cos(3.0 * t) - C @ y.z
        return Swing(y.v, spring, (C @ y.z) * y.v, A @ y.z + B * y.v)

    memory = LinearBlock(lambda y: y.z, lambda y, z: y._replace(z=z), lambda a: None, lambda a: A)
    weights = Swing(True, True, False, True)
    return Problem(rate, weights=weights, block=memory if block else None)


REST = Swing(0.4, 0.0, 0.0, np.zeros(6))


def test_a_linear_block_is_eliminated_without_changing_the_run():
    times, options = np.array([0.0, 0.7, 2.0, 5.0]), Options(rtol=1e-7, atol=1e-9)
    runs = [
        compiled(swinging(block), "stiff")(None, options, start(0.0, REST), times)
        for block in (True, False)
    ]
    counts = [(int(carry.n_accepted), int(carry.n_rejected)) for carry, _ in runs]
    assert counts[0] == counts[1]  # the same chords, by other algebra
    for ours, theirs in zip(runs[0][1], runs[1][1], strict=True):
        assert np.asarray(ours) == pytest.approx(np.asarray(theirs), abs=1e-9)
    explicit = compiled(swinging(), "tsit5")(None, options, start(0.0, REST), times)
    assert int(explicit[0].n_accepted) > 10 * counts[0][0]
    for ours, exact in zip(runs[0][1], explicit[1], strict=True):
        assert np.asarray(ours) == pytest.approx(np.asarray(exact), abs=2e-6)


def test_errors_follow_the_tolerance():
    problem, times = swinging(), np.array([0.0, 3.0])
    fine = compiled(problem, "stiff")(
        None, Options(rtol=1e-11, atol=1e-13), start(0.0, REST), times
    )[1].q[-1]
    errors = []
    for rtol in (1e-4, 1e-6, 1e-8):
        options = Options(rtol=rtol, atol=0.01 * rtol)
        out = compiled(problem, "stiff")(None, options, start(0.0, REST), times)[1]
        errors.append(abs(float(out.q[-1] - fine)))
    assert errors[0] < 1e-3
    assert errors[1] < 1e-5
    assert errors[2] < 1e-7


def test_weights_of_the_implicit_method_are_of_order_five():
    A = KVAERNO5.A + np.diag([0.0] + 6 * [GAMMA])
    b, c = KVAERNO5.b, KVAERNO5.c
    assert A.sum(axis=1) == pytest.approx(c)
    trees = {  # Butcher's conditions of rooted trees of up to five nodes
        1 / 2: c,
        1 / 3: c**2,
        1 / 4: c**3,
        1 / 5: c**4,
        1 / 6: A @ c,
        1 / 8: c * (A @ c),
        1 / 12: A @ c**2,
        1 / 24: A @ A @ c,
        1 / 10: c**2 * (A @ c),
        1 / 15: c * (A @ c**2),
        1 / 20: (A @ c) ** 2,
        1 / 30: c * (A @ A @ c),
        1 / 40: A @ (c * (A @ c)),
        1 / 60: A @ A @ c**2,
        1 / 120: A @ A @ A @ c,
    }
    for value, tree in trees.items():
        assert b @ tree == pytest.approx(value, abs=1e-12)
    assert b @ (A @ c**3) == pytest.approx(1 / 20, abs=1e-12)


def test_forward_derivatives_are_those_of_the_solved_stages():
    def end(k):
        problem = Problem(lambda k, t, y: -k * (y**3 - jnp.cos(t)))
        options = Options(rtol=1e-8, atol=1e-10)
        return integrate(problem, k, start(0.0, 0.5), np.array([0.3]), options, method="stiff")[1]

    slope = jax.jit(jax.jacfwd(end))(50.0)
    f = jax.jit(end)
    assert slope[-1] == pytest.approx(float((f(50.01) - f(49.99))[-1] / 0.02), rel=1e-4)


@pytest.mark.parametrize("block", [True, False], ids=["eliminated", "whole"])
def test_newton_matrix_by_machine_code_is_that_of_jacfwd(block):
    """Changes of a stage solve (I - h gamma J) x = r with the Jacobian of JAX."""
    problem, h = swinging(block), np.array(0.13)
    y = Swing(np.array(0.9), np.array(-0.4), np.array(0.2), np.linspace(-1.0, 1.0, 6))
    right = np.cos(np.arange(9.0))

    def change(h, y, right):
        carry = start(0.3, y)
        return newton_matrix(problem, None, carry, h, np.array(1e9))(right)

    program = Program(change, fixed=0)
    assert program.engine(h, y, right) == "LLVM"
    flat, unravel = jax.flatten_util.ravel_pytree(y)

    def rate(x):
        return jax.flatten_util.ravel_pytree(problem.rate(None, 0.3, unravel(x)))[0]

    J = np.array(jax.jacfwd(rate)(flat))
    exact = np.linalg.solve(np.eye(9) - h * GAMMA * J, right)
    np.testing.assert_allclose(program(h, y, right), exact, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["van der Pol", "Robertson", "pendulum"])
def test_runs_by_machine_code_are_those_by_xla(name, monkeypatch):
    cases = {
        "van der Pol": (Problem(van_der_pol), 1000.0, (2.0, 0.0), np.linspace(0.0, 1500.0, 4)),
        "Robertson": (Problem(robertson), None, np.array([1.0, 0.0, 0.0]), np.array([0.0, 40.0])),
        "pendulum": (swinging(), None, REST, np.array([0.0, 0.7, 2.0])),
    }
    problem, args, y, times = cases[name]
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    program, options = compiled(problem, "stiff"), Options(rtol=1e-7, atol=1e-9)
    specified = args, options, start(0.0, y), times
    assert program.engine(*specified) == "LLVM"
    (ours, found), (theirs, right) = program(*specified), program.by_xla(*specified)
    assert int(ours.n_accepted) == int(theirs.n_accepted)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(right), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
