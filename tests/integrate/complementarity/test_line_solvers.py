"""Interior point, theta = 1, fallbacks and gradients."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

import swelltree as sw
from made_lines import HAND, led_lines, line_form, placed, quick_jit, stepped, straight
from swelltree.integrate.complementarity.solve.rescue import rescued
from swelltree.integrate.complementarity.start import at_rest, set_up
from swelltree.integrate.complementarity.step import advance
from swelltree.jit import namespace
from swelltree.mooring.dynamic.lines import lines_of
from swelltree.studies.time.complementarity.start import derivatives_at

N, DEPTH = 6, 20.0
A, B = np.array([-40.0, 0, -DEPTH]), np.zeros(3)
CHAIN = sw.LineType("chain", 0.1, 80.0, EA=1e7, Cdn=1.2, Can=1.0)


def swung(amplitude, rate):
    def signal(t):
        xp = namespace(t)
        return amplitude * xp.clip(t / 2.0, 0.0, 1.0) * xp.sin(rate * t)

    return signal


def model_of(motion=None, axial="inextensible", depth=DEPTH, rho=1025.0):
    line = sw.Line("bow", tuple(A), HAND, 48.0, CHAIN, segments=N, axial=axial)
    return led_lines([line], motion, sw.Water(rho, 9.81, depth))


def falling(model):
    """Not at rest: a straight line about to fall."""
    q = straight(A, B, N)
    q[1:-1, 2] = np.maximum(q[1:-1, 2] - 3.0, -DEPTH + 0.01)
    return placed(model, line_form(model), q[None])


LED = {"Surge": swung(2.0, 1.0), "Sway": swung(1.0, 1.3), "Heave": swung(1.0, 2.0)}


@pytest.mark.slow
def test_interior_point_takes_the_same_steps_as_newton():
    model = model_of(LED)
    runs = [
        stepped(model, 0.1, 60, falling(model), line_form(model, interior_point=inside))
        for inside in (False, True)
    ]
    for run in runs:
        assert run.samples.solved.all()
    assert np.mean(runs[1].samples.iterations) < 20
    np.testing.assert_allclose(runs[1].lines.q, runs[0].lines.q, rtol=0, atol=1e-6)
    size = np.max(runs[0].report.tension)
    a, b = (run.report.tension for run in runs)
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * size)


@pytest.mark.slow
def test_failed_steps_are_mended_by_the_next_solver():
    """Newton is not let through: the interior point takes the step; then two half steps do."""
    model = model_of(LED)
    form, h = line_form(model), 0.1
    state = stepped(model, h, 10, falling(model)).state
    found = derivatives_at(model)(state)
    usual = stepped(model, h, 1, state).state

    def step(model, setup, state):
        run = stepped(model, float(setup.h), 1, state, theta=float(setup.theta))
        sample = jax.tree.map(lambda x: x[0], run.samples)
        full = float(setup.h) == h
        return run.state, replace(sample, solved=sample.solved & (not full))

    by_inside, _ = rescued(step, model, form, h, state, found, 1)
    np.testing.assert_allclose(by_inside.lines.q, usual.lines.q, rtol=0, atol=1e-6)
    # with an interior point that may not iterate only the halves are left
    by_halves, _ = rescued(step, model, replace(form, max_iterations=0), h, state, found, 1)
    gap = np.abs(by_halves.lines.q - usual.lines.q).max()
    assert 1e-6 < gap < 0.05
    assert float(by_halves.t) == pytest.approx(float(usual.t))


def test_step_with_theta_one_solves_the_convex_program():
    """min 1/2 |r - y|_M^2/h^2 subject to |d| <= L and z >= -depth, by an independent optimiser."""
    model = model_of(rho=1e-9)
    h, g = 0.2, 9.81
    state = falling(model)
    q = state.lines.q[0]
    v = np.zeros_like(q)
    v[1:-1] = 3.0 * np.random.default_rng(1).normal(size=(N - 1, 3))
    state = replace(state, lines=replace(state.lines, q_last=(q - h * v)[None]))
    run = stepped(model, h, 1, state, theta=1.0)
    ours = np.asarray(run.state.lines.q)[0, 1:-1]
    y = (q + h * v + [0, 0, -g * h**2])[1:-1]

    def full(x):
        return np.concatenate([A[None], x.reshape(-1, 3), B[None]])

    best = minimize(
        lambda x: 0.5 * np.sum((x - y.ravel()) ** 2),
        q[1:-1].ravel(),
        jac=lambda x: x - y.ravel(),
        method="SLSQP",
        constraints=[
            {"type": "ineq", "fun": lambda x: 64.0 - np.sum(np.diff(full(x), axis=0) ** 2, -1)},
            {"type": "ineq", "fun": lambda x: x.reshape(-1, 3)[:, 2] + DEPTH},
        ],
        options={"ftol": 1e-15, "maxiter": 500},
    )
    value = 0.5 * np.sum((ours - y) ** 2)
    assert value == pytest.approx(best.fun, rel=1e-6)
    np.testing.assert_allclose(ours, best.x.reshape(-1, 3), rtol=0, atol=2e-3)
    assert np.max(run.report.length_violation) < 1e-8


@pytest.mark.slow
def test_gradient_of_a_run_is_that_of_finite_differences():
    """Derivative of the last tension by mass and by the place of the anchor, through 5 steps."""
    model = model_of(axial="elastic", depth=np.inf)  # contact makes kinks: no bed here
    form = line_form(model, differentiable=True, tolerance=1e-12)
    q = straight(A, B, N)
    q[1:-1, 2] -= 2.0
    q[1:-1, 1] += 0.3
    start = placed(model, form, q[None])
    setup = set_up(model, form, 0.1, derivatives_at(model)(at_rest(model, form)))

    def last(p):
        lines = lines_of(model)
        arrays = replace(lines.arrays, mass_per_length=lines.arrays.mass_per_length * p[0])
        points = jnp.asarray(lines.end_point).at[0, 0].add(p[1])
        here = model.with_effect(replace(lines, arrays=arrays, end_point=points))
        _, samples = jax.lax.scan(
            lambda state, _: advance(here, form, setup, state), start, None, length=5
        )
        return samples.lines.report.tension[-1, 0, -1]

    p = jnp.array([1.0, 0.1])
    value = quick_jit(last)
    reverse = quick_jit(jax.grad(last))(p)
    eps = 1e-5
    for k in range(2):
        d = jnp.zeros(2).at[k].set(eps)
        finite = (value(p + d) - value(p - d)) / (2 * eps)
        assert float(reverse[k]) == pytest.approx(float(finite), rel=1e-5)
