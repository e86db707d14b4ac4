"""Programs number by number give what JAX gives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from swelltree.engine.in_numpy import staged
from swelltree.engine.in_scalars import UNKNOWNS, InScalars

GIVEN = {"A": np.array([[1.0, 0.0, 2.0], [0.0, -1.0, 0.5], [0.3, 0.0, 0.0]]), "k": np.array(1.7)}


def bent(given, t, w):
    """Most kinds of operations; zeros and ones in A."""
    y = given["A"] @ w[:3]
    turn = jnp.stack([jnp.cos(y[0]), jnp.sin(y[0])])
    far = jnp.sqrt(1.0 + (y**2).sum())
    drag = -given["k"] * w[1] * jnp.abs(w[1])
    held = jnp.where(w[0] > 0.2, jnp.tanh(w[0]) / far, jnp.exp(-(w[0] ** 2)))
    best = jnp.argmax(jnp.stack([w[0], w[1], 0.1 * t]))
    pick = jnp.where(best == 0, w[0] ** 3, jnp.where(best == 1, jnp.arctan2(w[1], far), w[2]))
    edges = jnp.maximum(w[2], 0.3) + jnp.minimum(w[0], w[1]) + jnp.clip(w[1], -0.5, 0.5)
    return jnp.concatenate([turn * t, jnp.stack([drag, held, pick, edges])]), jnp.outer(y, turn), y


@pytest.fixture(scope="module")
def nodes():
    rng = np.random.default_rng(0)
    return np.linspace(0.0, 2.0, 9), 0.7 * rng.standard_normal((9, 3))


def test_values_slopes_and_second_derivatives_are_those_of_jax(nodes):
    t, w = nodes
    found = InScalars(staged(bent)).at(GIVEN, t, 3)
    assert found is not None
    expected = jax.vmap(bent, (None, 0, 0))(GIVEN, t, w)
    jacobians = jax.vmap(jax.jacfwd(bent, 2), (None, 0, 0))(GIVEN, t, w)
    both = found.jacobians(w)
    for a, b in zip(
        (*found.values(w), *both[0], *both[1]), (*expected, *expected, *jacobians), strict=True
    ):
        np.testing.assert_allclose(a, b, atol=1e-13)
    rng = np.random.default_rng(1)
    weight = tuple(rng.standard_normal(x.shape) for x in expected)

    def total(t, w, weight):
        return sum((a * b).sum() for a, b in zip(weight, bent(GIVEN, t, w), strict=True))

    H = jax.vmap(jax.hessian(total, 1))(t, w, weight)
    second = found.second(w, weight)
    assert second is not None
    np.testing.assert_allclose(second, H, atol=1e-12)


def test_other_numbers_of_the_same_pattern_need_no_new_program(nodes):
    t, w = nodes
    program = InScalars(staged(bent))
    program.at(GIVEN, t, 3)
    other = {"A": 3.0 * GIVEN["A"] + (GIVEN["A"] == 1.0), "k": np.array(0.4)}
    other["A"][np.abs(GIVEN["A"]) == 1.0] = GIVEN["A"][np.abs(GIVEN["A"]) == 1.0]
    found = program.at(other, t, 3)
    assert found is not None
    assert len(program.programs) == 1
    expected = jax.vmap(bent, (None, 0, 0))(other, t, w)
    np.testing.assert_allclose(found.values(w)[0], expected[0], atol=1e-13)
    # a one in place of another number: expressions of their own
    found = program.at({"A": np.eye(3), "k": np.array(1.0)}, t, 3)
    assert found is not None
    assert len(program.programs) == 2
    expected = jax.vmap(bent, (None, 0, 0))({"A": np.eye(3), "k": 1.0}, t, w)
    np.testing.assert_allclose(found.values(w)[1], expected[1], atol=1e-13)


def test_what_cannot_be_written_so_is_left_to_others():
    def looped(given, t, w):
        return (jax.lax.while_loop(lambda x: x.sum() < 3.0, lambda x: x + given, w),)

    t = np.zeros(2)
    assert InScalars(staged(looped)).at(np.ones(2), t, 2) is None
    assert InScalars(staged(bent)).at(GIVEN, t, UNKNOWNS + 1) is None
