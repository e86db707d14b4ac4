"""Newton iteration: convergence, damping, singular Jacobians, continuation, derivatives."""

import numpy as np
import pytest

from swelltree.integrate.newton import attach_gradient, newton, newton_traced
from swelltree.integrate.problem import Code
from swelltree.jit import jax, jnp


def curves(args, x):
    return jnp.stack([x[0] ** 2 + args * x[1] ** 2 - 4.0, x[0] * x[1] - 1.0])


def arctangent(args, x):
    return jnp.arctan(x)


def spring_pair(stiffness, x):
    """Two masses joined by a spring of length 1 and pushed apart by 1 N: free to drift."""
    pull = stiffness * (x[1] - x[0] - 1.0)
    return jnp.stack([pull - 1.0, 1.0 - pull])


def test_newton_converges_quadratically():
    result = newton(curves, 1.0, [2.0, 0.3])
    assert result.code is Code.SUCCESS
    assert np.abs(result.residual).max() < 1e-10
    assert len(result.history) < 8
    assert result.history[-1] < result.history[-2] ** 1.8 + 1e-14


def test_line_search_tames_an_overshooting_step():
    result = newton(arctangent, None, [20.0])  # the full step diverges
    assert result.code is Code.SUCCESS
    assert np.all(np.diff(result.history) < 0)


def test_free_drift_is_met_by_the_least_step():
    result = newton(spring_pair, 10.0, [3.0, 4.0])
    assert result.code is Code.SUCCESS
    assert result.x == pytest.approx([2.95, 4.05])  # the middle stays where it was


def test_no_solution_is_said():
    result = newton(lambda args, x: x**2 + 1.0, None, [0.7])
    assert result.code in (Code.NO_PROGRESS, Code.TOO_MANY_STEPS)
    assert "Newton iteration stopped" in result.message


def test_not_finite_is_said():
    result = newton(lambda args, x: jnp.log(x), None, [-1.0])
    assert result.code is Code.NOT_FINITE


def test_continuation_reaches_what_the_first_guess_does_not():
    def snap(load, x):  # from 0 the plain iteration is caught in the hollow near 1
        return x**3 - 3.0 * x + load

    def path(fraction):
        return -2.5 * fraction

    plain = newton(snap, -2.5, [-1.2], max_iterations=30)
    assert plain.code is not Code.SUCCESS
    result = newton(snap, -2.5, [1.9], path=path)
    assert result.code is Code.SUCCESS
    assert result.fraction == 1.0

    def stiffening(k, x):
        return jnp.sinh(k * x) - 50.0 * k

    far = newton(stiffening, 5.0, [40.0], path=lambda s: 0.05 + 4.95 * s, max_iterations=12)
    assert far.code is Code.SUCCESS
    assert far.x[0] == pytest.approx(np.arcsinh(250.0) / 5.0)


def test_scaled_residuals_decide():
    result = newton(lambda a, x: 1e6 * (x - 1.0) ** 3, None, [2.0], tol=1e-3, scale=1e6)
    assert result.code is Code.SUCCESS
    assert result.x[0] - 1.0 < 0.1


@pytest.mark.parametrize("mode", [jax.jacfwd, jax.jacrev])
def test_attached_gradient_is_that_of_the_solution(mode):
    x = newton(curves, 1.3, [2.0, 0.3]).x
    slope = jax.jit(mode(lambda args: attach_gradient(curves, args, x)))(1.3)
    ends = [newton(curves, 1.3 + d, [2.0, 0.3]).x for d in (1e-5, -1e-5)]
    assert np.allclose(slope, (ends[0] - ends[1]) / 2e-5, rtol=1e-7)


def test_attached_gradient_of_a_drifting_pair_is_least_norm():
    x = newton(spring_pair, 10.0, [3.0, 4.0]).x
    slope = jax.jacrev(lambda k: attach_gradient(spring_pair, k, x))(10.0)
    assert np.allclose(slope, [0.005, -0.005])  # length 1 + 1/k


def test_traced_iteration_agrees_with_the_host_one():
    for residual, args, x0 in (
        (curves, 1.0, [2.0, 0.3]),
        (arctangent, None, [20.0]),
        (spring_pair, 10.0, [3.0, 4.0]),
    ):
        x, code = jax.jit(lambda a, x, f=residual: newton_traced(f, a, x))(args, np.array(x0))
        assert int(code) == Code.SUCCESS
        assert np.allclose(x, newton(residual, args, x0).x, atol=1e-9)


def test_traced_iteration_says_when_it_fails():
    _, code = jax.jit(lambda x: newton_traced(lambda a, x: x**2 + 1.0, None, x))(np.array([0.7]))
    assert int(code) in (Code.NO_PROGRESS, Code.TOO_MANY_STEPS)
    _, code = jax.jit(lambda x: newton_traced(lambda a, x: jnp.log(x), None, x))(np.array([-1.0]))
    assert int(code) == Code.NOT_FINITE


def test_traced_iteration_in_a_batch_with_gradient():
    def total(args):
        x, _ = jax.vmap(lambda a: newton_traced(curves, a, jnp.array([2.0, 0.3])))(args)
        return jnp.sum(x[:, 0])

    at = np.array([0.9, 1.3])
    slope = jax.jit(jax.grad(total))(at)
    ends = [[newton(curves, a + d, [2.0, 0.3]).x[0] for d in (1e-5, -1e-5)] for a in at]
    assert np.allclose(slope, [(a - b) / 2e-5 for a, b in ends], rtol=1e-6)
