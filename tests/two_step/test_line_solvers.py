"""Interior point, theta = 1, fallbacks, gradients and the sentence about a line pulled too far."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

from made_lines import quick_jit, straight
from swelltree.model.bed import make_bed
from swelltree.model.line_arrays import stack_lines
from swelltree.system.errors import SwelltreeError
from swelltree.two_step.line_attempts import LineOptions
from swelltree.two_step.line_march import march_lines
from swelltree.two_step.line_points import held_ends
from swelltree.two_step.line_step import LineSetting, run_lines, start_lines

N, DEPTH = 6, 20.0
LINE = {"segments": N, "rest_length": 8.0, "mass_per_length": 80.0, "diameter": 0.1}
LINE |= {"Cdn": 1.2, "Can": 1.0}
LINES = stack_lines([LINE])
ENDS = np.array([[0.0, 0, -DEPTH], [40.0, 0, 0]])
SETTING = LineSetting(held_ends(1), make_bed(DEPTH))


def pulled(t):
    """End B goes round."""
    ramp = jnp.clip(t / 2.0, 0.0, 1.0)
    move = ramp * jnp.stack([2.0 * jnp.sin(t), jnp.cos(t), jnp.sin(2.0 * t)])
    return jnp.asarray(ENDS) + jnp.array([0.0, 1.0])[:, None] * move


@pytest.fixture(scope="module")
def rest():
    """Not quite at rest: a straight line about to fall."""
    q = straight(*ENDS, N)
    q[1:-1, 2] = np.maximum(q[1:-1, 2] - 3.0, -DEPTH + 0.01)
    return start_lines(q[None])


@pytest.fixture(scope="module")
def by_newton(rest):
    return quick_jit(lambda s: run_lines(LINES, pulled, 0.1, 60, s, SETTING))(rest)


def test_interior_point_takes_the_same_steps_as_newton(rest, by_newton):
    options = LineOptions(solver="interior_point")
    run = quick_jit(lambda s: run_lines(LINES, pulled, 0.1, 60, s, SETTING, options=options))(rest)
    assert np.max(run.error) < 1e-9
    assert np.max(by_newton.error) < 1e-9
    assert np.mean(run.iterations) < 15
    np.testing.assert_allclose(run.position, by_newton.position, rtol=0, atol=1e-6)
    size = np.max(by_newton.report.tension)
    np.testing.assert_allclose(
        run.report.tension, by_newton.report.tension, rtol=0, atol=1e-5 * size
    )


@pytest.mark.slow
def test_failed_steps_are_mended_by_the_next_solver(rest, by_newton):
    """With four evaluations Newton fails at some steps; the interior point takes them."""
    strict = LineOptions(max_iterations=4)
    run = march_lines(LINES, pulled, 0.1, 60, rest, SETTING, options=strict)
    np.testing.assert_allclose(run.position, by_newton.position, rtol=0, atol=1e-6)
    assert np.max(run.iterations) > 4
    # two evaluations are enough for nothing: every step is tried with theta = 1 and in halves
    hopeless = LineOptions(max_iterations=2, fallback=True)
    run = quick_jit(lambda s: run_lines(LINES, pulled, 0.1, 5, s, SETTING, options=hopeless))(rest)
    assert np.all(np.asarray(run.iterations) == 8)


@pytest.mark.slow
def test_two_half_steps_with_theta_one_come_out_near_the_whole_step(rest, by_newton):
    """Forced: tolerances that only the last attempt is asked to meet."""
    options = LineOptions(fallback=True, theta=1.0)
    run = quick_jit(lambda s: run_lines(LINES, pulled, 0.1, 60, s, SETTING, options=options))(rest)
    assert np.max(run.error) < 1e-9
    # theta = 1 damps, but the line goes the same way
    assert np.max(np.abs(run.position - by_newton.position)) < 0.5


def test_step_with_theta_one_solves_the_convex_program(rest):
    """min 1/2 |r - y|_M^2/h^2 subject to |d| <= L and z >= -depth, by an independent optimiser."""
    dry = LineSetting(held_ends(1), make_bed(DEPTH), rho=0.0)
    h, g = 0.2, 9.81
    options = LineOptions(theta=1.0)
    q = np.asarray(rest.q)[1, 0]
    rng = np.random.default_rng(1)
    v = np.zeros_like(q)
    v[1:-1] = 3.0 * rng.normal(size=(N - 1, 3))
    state = replace(
        jax.tree.map(np.asarray, rest), q=np.stack([q - h * v, q])[:, None], start=np.asarray(0.0)
    )
    held = lambda t: jnp.asarray(ENDS)  # noqa: E731
    run = quick_jit(lambda s: run_lines(LINES, held, h, 1, s, dry, options=options))(state)
    ours = np.asarray(run.state.q)[1, 0, 1:-1]
    y = (q + h * v + [0, 0, -g * h**2])[1:-1]

    def whole(x):
        return np.concatenate([ENDS[:1], x.reshape(-1, 3), ENDS[1:]])

    best = minimize(
        lambda x: 0.5 * np.sum((x - y.ravel()) ** 2),
        q[1:-1].ravel(),
        jac=lambda x: x - y.ravel(),
        method="SLSQP",
        constraints=[
            {"type": "ineq", "fun": lambda x: 64.0 - np.sum(np.diff(whole(x), axis=0) ** 2, -1)},
            {"type": "ineq", "fun": lambda x: x.reshape(-1, 3)[:, 2] + DEPTH},
        ],
        options={"ftol": 1e-15, "maxiter": 500},
    )
    value = 0.5 * np.sum((ours - y) ** 2)
    assert value == pytest.approx(best.fun, rel=1e-6)
    np.testing.assert_allclose(ours, best.x.reshape(-1, 3), rtol=0, atol=2e-3)
    assert np.max(run.report.length_violation) < 1e-8


@pytest.mark.slow
def test_pulling_an_inextensible_line_beyond_its_length_ends_with_a_sentence(rest):
    def away(t):
        return jnp.asarray(ENDS) + jnp.array([0.0, 1.0])[:, None] * jnp.stack(
            [6.0 * t, 0 * t, 0 * t]
        )

    with pytest.raises(
        SwelltreeError, match=r"line 'bow' is pulled 0\.\d+ m beyond its length 48 m"
    ):
        march_lines(LINES, away, 0.05, 60, rest, SETTING, names=("bow",))


@pytest.mark.parametrize(
    "law", [{"EA": 1e7, "kappa": 0.01}, pytest.param({}, marks=pytest.mark.slow)]
)
def test_gradient_of_a_run_is_that_of_finite_differences(law):
    """Derivative of the last tension by mass and by the amplitude of the pull, through 5 steps."""
    options = LineOptions(differentiable=True, tolerance=1e-12)
    lines = stack_lines([LINE | law])
    q = straight(*ENDS, N)
    q[1:-1, 2] -= 2.0
    q[1:-1, 1] += 0.3
    setting = LineSetting(held_ends(1))  # contact makes kinks: no bed here
    start = start_lines(q[None])

    def last(p):
        here = replace(lines, mass_per_length=lines.mass_per_length * p[0])

        def moved(t):
            return jnp.asarray(ENDS) + jnp.array([0.0, 1.0])[:, None] * p[1] * jnp.sin(3 * t)

        run = run_lines(here, moved, 0.1, 5, start, setting, options=options)
        return run.report.tension[-1, 0, -1]

    p = jnp.array([1.0, 0.5])
    value = quick_jit(last)
    reverse = quick_jit(jax.grad(last))(p)
    eps = 1e-5
    for k in range(2):
        d = jnp.zeros(2).at[k].set(eps)
        finite = (value(p + d) - value(p - d)) / (2 * eps)
        assert float(reverse[k]) == pytest.approx(float(finite), rel=1e-5)
