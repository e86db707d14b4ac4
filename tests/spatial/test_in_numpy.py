"""Traced programs in numpy: the same as compiled by JAX, for all kinds of operations."""

import numpy as np
import pytest

from swelltree.engine.backend import jax, jnp
from swelltree.engine.in_numpy import in_numpy, staged

RNG = np.random.default_rng(4)
X = RNG.standard_normal((5, 3))
A = RNG.standard_normal((4, 4)) + 5 * np.eye(4)
PICK = np.array([2, 0, 2])

FUNCTIONS = {
    "elements": lambda x: (
        jnp.sin(x) * jnp.exp(-(x**2)) + jnp.tanh(x) / (2 + jnp.cos(x)),
        jnp.arctan2(x, 1 + x * x),
        jnp.where(x > 0, x**3, -(x**-2)),
        jnp.maximum(x, 0.1) - jnp.minimum(x, -0.1),
        jnp.clip(x, -0.5, 0.5),
        jnp.sqrt(jnp.abs(x)) + jnp.log1p(x**2),
        jnp.round(3 * x) + jnp.floor(x) + jnp.sign(x),
        (x > 0) & ~(x < 1) | (x == 0),
        jnp.astype(jnp.floor(4 * x), int) // 3 + jnp.astype(jnp.floor(4 * x), int) % 3,
    ),
    "shapes": lambda x: (
        jnp.stack([x[0], x[1]], -1),
        jnp.concatenate([x, jnp.ones((2, 3)), 2 * x[:1]]),
        jnp.concatenate([x, 0.0 * x[:, :1]], 1).T,
        x[::2, 1:],
        x[::-1],
        x.reshape(3, 5).T.reshape(-1),
        x[:, None, :, None].reshape(5, 3, 1),
        jnp.pad(x, ((1, 2), (0, 1)), constant_values=7.0),
        jnp.split(x, [1, 3])[1],
        jnp.broadcast_to(x[:, :1], (5, 4)).reshape(-1),
        jnp.arange(4.0)[:, None] * jnp.ones((4, 2)),
    ),
    "sums": lambda x: (
        x.sum(),
        x.sum(0),
        jnp.broadcast_to(x[:, :1], (5, 4)).sum(1),
        jnp.broadcast_to(x[:, :1, None], (5, 1, 20)).sum((1, 2)),
        (x[:, :, None] * x[:, None, :]).sum(1),
        (x[:, None, :] * x[None] - x[None, :, :1] * x[:, None]).sum(2),
        (x[:, None, :] * jnp.ones((1, 9, 1)) * x[:, None, :1]).sum(1),
        (x[None] * jnp.cos(x)[:, None]).sum(0),
        (jnp.ones((8, 5, 3)) * x * x[:, :1]).sum(0),
        x.max(1) + x.min(1) + x.prod(1),
        x.argmax(0),
        jnp.cumsum(x, 1),
        (x > 0).all(0) | (x > 0).any(0),
    ),
    "products": lambda x: (
        x @ x.T,
        x[0] @ x[1],
        jnp.einsum("ij,kj->ikj", x, x),
        jnp.tensordot(x, x, ((0,), (0,))),
        jnp.matmul(x[:, :, None], x[:, None, :]),
    ),
    "places": lambda x: (
        x[PICK],
        x[:, PICK],
        x[PICK, np.array([0, 1, 2])],
        x[jnp.argmax(x[:, 0])],
        x.at[PICK].add(1.0),
        x.at[:, 1].set(0.0),
        x.at[1:3].mul(2.0),
        jax.lax.dynamic_slice(x, (jnp.argmax(x[:, 1]), 1), (2, 2)),
        x[np.array([[0, 1], [2, 3]])],
    ),
    "algebra": lambda x: (
        jnp.linalg.cholesky(A @ A.T + x[0, 0] ** 2 * jnp.eye(4)),
        jax.scipy.linalg.solve_triangular(jnp.asarray(A), x[:4], lower=True),
        jax.scipy.linalg.solve_triangular(jnp.asarray(A), x[:4], trans=1),
        jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(A @ A.T, lower=True), x[:4]),
        jnp.abs(jnp.linalg.qr(x, mode="complete")[0]),
        jnp.fft.irfft(jnp.fft.rfft(x[:, 0], n=8) * 2j, n=8),
    ),
    "loops": lambda x: (
        jax.lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, 2 * s[1] + x), (0, x))[1],
        jax.lax.scan(lambda c, y: (c + y, c * y), x[0], x),
        jax.lax.cond(x[0, 0] > 0, lambda y: y + 1, lambda y: y - 1, x),
        jax.lax.fori_loop(0, 4, lambda i, y: y * 0.5 + i, x),
    ),
}


def assert_same(found, expected, tol=1e-13):
    pairs = zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True)
    for a, b in pairs:
        b = np.asarray(b)
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        assert np.allclose(a, b, rtol=tol, atol=tol)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_in_numpy_gives_what_jax_gives(name):
    program = in_numpy(FUNCTIONS[name])
    assert_same(program(X), jax.jit(FUNCTIONS[name])(X))
    # nothing of this is compiled
    assert None not in program.programs.values()


@pytest.mark.parametrize("name", ["elements", "shapes", "sums", "products", "places"])
def test_batches_and_derivatives(name):
    def total(x):
        parts = [y for y in jax.tree.leaves(FUNCTIONS[name](x)) if y.dtype == float]
        return sum((jnp.sin(y) * jnp.arange(1.0, y.size + 1).reshape(y.shape)).sum() for y in parts)

    xs = X + 0.1 * RNG.standard_normal((4, 1, 1))
    for made in (
        jax.vmap(FUNCTIONS[name]),
        jax.vmap(jax.jacfwd(total)),
        jax.vmap(jax.jacfwd(jax.grad(staged(total)))),
    ):
        program = in_numpy(made)
        assert_same(program(xs), jax.jit(made)(xs), 1e-11)
        assert None not in program.programs.values()


def test_every_member_of_a_batch_leaves_a_loop_in_its_own_time():
    def halved(x):
        return jax.lax.while_loop(
            lambda s: jnp.abs(s[1]).max() > 0.5, lambda s: (s[0] + 1, 0.5 * s[1]), (0, x)
        )

    program = in_numpy(jax.vmap(halved))
    found = program(np.exp(X))
    assert_same(found, jax.jit(jax.vmap(halved))(np.exp(X)))
    assert len(set(found[0])) > 1
    assert None not in program.programs.values()


def test_what_depends_on_fixed_arguments_is_computed_once():
    program = in_numpy(lambda a, x: jnp.sin(a).sum() * x + a[0], fixed=1)
    a = np.arange(3.0)
    first = program(a, X)
    kept = program.last[2]
    assert program(a, 2 * X) is not first
    assert program.last[2] is kept
    assert_same(program(a, 2 * X), np.sin(a).sum() * 2 * X + a[0])
    assert_same(program(a + 1, X), np.sin(a + 1).sum() * X + a[0] + 1)


def test_unknown_operations_are_compiled():
    program = in_numpy(lambda x: jnp.linalg.eigh(x @ x.T)[0])
    assert list(program(X)) == pytest.approx(list(np.linalg.eigvalsh(X @ X.T)), abs=1e-12)
    assert list(program.programs.values()) == [None]


def test_inside_a_transformation_it_is_the_function_itself():
    program = in_numpy(lambda x: (x**3).sum())
    assert np.allclose(jax.grad(program)(X), 3 * X**2)


def test_nothing_beside_a_number_stays_nothing():
    def program(x):
        none = jnp.zeros((0, 3)) * x[0]
        wide = jnp.broadcast_to(x[1], (0, 3))
        return jnp.concatenate([none, wide], axis=1), jnp.stack([x[:0], 2.0 * x[:0]])

    assert_same(in_numpy(program)(X), jax.jit(program)(X))
