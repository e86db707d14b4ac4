"""A linear part of a problem that fixed steps carry on exactly."""

import numpy as np
import pytest
from scipy.linalg import expm

from swelltree.integrate.problem import LinearBlock, Options, Problem, start
from swelltree.integrate.runge_kutta.smooth import integrate
from swelltree.jit import jax, jnp
from swelltree.spatial.linear_steps import exact_stages, first_order_hold

RNG = np.random.default_rng(8)
A = RNG.normal(size=(5, 5)) - 3.0 * np.eye(5)
A[2:4, 2:4] = [[-0.4, 9.0], [-9.0, -0.4]]  # swings seven times faster than the rest
F = RNG.normal(size=(3, 5))  # f = F0 + F1 t + F2 t^2
Z0 = RNG.normal(size=5)


def block(stages):
    return LinearBlock(lambda y: y["z"], lambda y, z: y | {"z": z}, lambda args: stages)


def run(problem, y, times, step):
    carry, out = jax.jit(
        lambda: integrate(problem, (), start(0.0, y), times, Options(step=step), method="rk4")
    )()
    assert int(carry.code) == 0
    return out


def test_forcing_up_to_the_square_of_time_is_exact_for_long_steps():
    """Against the exponential of the whole system with 1, t and t^2 as states."""
    big = np.zeros((8, 8))
    big[:5, :5], big[:5, 5:] = A, F.T
    big[6, 5], big[7, 6] = 1.0, 2.0
    step, times = 0.8, 0.8 * np.arange(1, 6)  # 7 in the units of the swinging states

    def rate(args, t, y):
        # velocities that are polynomials come from states that RK4 integrates exactly
        z = A @ y["z"] + F[0] + F[1] * y["t"] + F[2] * y["tt"]
        return {"z": z, "t": jnp.ones(()), "tt": 2 * y["t"]}

    y = {"z": Z0, "t": np.zeros(()), "tt": np.zeros(())}
    exact = run(Problem(rate, block=block(exact_stages(A, step))), y, times, step)["z"]
    begin = np.concatenate([Z0, [1.0, 0.0, 0.0]])
    right = np.array([(expm(big * t) @ begin)[:5] for t in times])
    assert np.asarray(exact) == pytest.approx(right, rel=1e-12, abs=1e-12)
    plain = run(Problem(rate), y, times, step)["z"]
    assert np.abs(plain - right).max() > 1.0  # RK4 itself is not even stable here


def coupled(step):
    """An oscillator with the block as its memory, and its end."""
    stages = exact_stages(A, step)
    B, C = RNG_B, RNG_C

    def rate(args, t, y):
        pull = -jnp.sin(y["x"]) - 0.3 * C @ y["z"] + jnp.cos(1.3 * t)
        return {"x": y["v"], "v": pull, "z": A @ y["z"] + B * y["v"]}

    y = {"x": np.array(0.3), "v": np.array(0.0), "z": 0.0 * Z0}
    out = run(Problem(rate, block=block(stages)), y, np.array([2.0]), step)
    return np.array([out["x"][0], out["v"][0]])


RNG_B, RNG_C = RNG.normal(size=(2, 5))


def test_a_coupled_nonlinear_system_keeps_order_four():
    right = coupled(1.0 / 640)
    errors = [np.abs(coupled(h) - right).max() for h in (0.1, 0.05, 0.025)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 3.7).all(), orders


def test_matrices_of_blocks_are_kept_as_diagonals_and_mean_the_same():
    modal = np.diag([-1.0, -1.0, -0.2, -0.2, -3.0])
    modal[0, 1], modal[1, 0], modal[2, 3], modal[3, 2] = 2.0, -2.0, 5.0, -5.0
    turn = np.linalg.qr(RNG.normal(size=(5, 5)))[0]
    stored, full = exact_stages(modal, 0.4), exact_stages(turn @ modal @ turn.T, 0.4)
    assert stored.banded
    assert not full.banded
    x = RNG.normal(size=5)
    for i in range(5):
        requested = full.times(full.decay[i], turn @ x)
        assert turn @ stored.times(stored.decay[i], x) == pytest.approx(requested, abs=1e-13)
        for j in range(4):
            requested = full.times(full.weights[i, j], turn @ x)
            assert turn @ stored.times(stored.weights[i, j], x) == pytest.approx(
                requested, abs=1e-13
            )


def test_without_a_linear_part_the_stages_are_those_of_rk4():
    """A = 0, and steps that are cut short by an output time."""
    stages = exact_stages(np.zeros((1, 1)), 0.1)

    def rate(args, t, y):
        return {"z": jnp.cos(t) * y["z"]}

    times, y = np.array([0.25, 0.7]), {"z": np.ones(1)}
    one = run(Problem(rate, block=block(stages)), y, times, 0.1)["z"]
    two = run(Problem(rate), y, times, 0.1)["z"]
    assert np.asarray(one) == pytest.approx(np.asarray(two), rel=1e-14)


def test_a_step_of_a_velocity_that_is_linear_is_its_two_halves():
    B = RNG.normal(size=(5, 2))
    v = RNG.normal(size=(2, 2))
    middle = 0.5 * (v[0] + v[1])
    Phi, G0, G1 = first_order_hold(A, B, 0.6)
    complete = Phi @ Z0 + G0 @ v[0] + G1 @ v[1]
    Phi, G0, G1 = first_order_hold(A, B, 0.3)
    half = Phi @ Z0 + G0 @ v[0] + G1 @ middle
    assert Phi @ half + G0 @ middle + G1 @ v[1] == pytest.approx(complete, rel=1e-11)
