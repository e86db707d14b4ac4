"""Programs of arrays at one point and at many: the same as compiled by JAX, with derivatives."""

import numpy as np
import pytest

from swelltree.jit.backend import jax, jnp
from swelltree.jit.points import Points
from swelltree.jit.program import Program

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
def test_program_gives_what_jax_gives(name):
    program = Points(FUNCTIONS[name], fixed=0)
    assert_same(program(X), jax.jit(FUNCTIONS[name])(X))
    assert program.engine == "LLVM"
    many = Points(FUNCTIONS[name], fixed=0, many=True)
    xs = X + 0.1 * RNG.standard_normal((4, 1, 1))
    assert_same(many(xs), jax.jit(jax.vmap(FUNCTIONS[name]))(xs), 1e-12)


@pytest.mark.parametrize("name", ["elements", "shapes", "sums", "products", "places"])
def test_derivatives_of_a_sum_of_everything(name):
    def total(specified, x):
        parts = [y for y in jax.tree.leaves(FUNCTIONS[name](x.reshape(5, 3))) if y.dtype == float]
        waves = [jnp.sin(y) * jnp.arange(1.0, y.size + 1).reshape(y.shape) for y in parts]
        return specified * sum(y.sum() for y in waves)

    specified, xs = np.array(1.3), (X + 0.1 * RNG.standard_normal((4, 1, 1))).reshape(4, 15)
    points = Points(total, many=True)
    slope = jax.jit(jax.vmap(jax.jacfwd(total, 1), (None, 0)))(specified, xs)
    assert_same(points.jacobians(specified, xs)[1], slope, 1e-11)
    assert points.engine == "LLVM"
    nonlinearity = jax.jit(jax.vmap(jax.hessian(total, 1), (None, 0)))(specified, xs)
    assert_same(points.second(specified, xs, weight=np.ones(4)), nonlinearity, 1e-10)
    assert points.engine == "LLVM"


def test_operations_without_a_rule_run_by_xla():
    program = Points(lambda x: jnp.fft.irfft(jnp.fft.rfft(x[:, 0], n=8) * 2j, n=8), fixed=0)
    found = program(X)
    assert program.engine.startswith("XLA: ")
    assert_same(found, np.fft.irfft(np.fft.rfft(X[:, 0], n=8) * 2j, n=8), 1e-12)


@pytest.mark.parametrize("count", [26, 63])
def test_factors_and_solutions_in_loops_are_those_of_lapack(monkeypatch, count):
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    rng = np.random.default_rng(count)
    A, b = rng.standard_normal((count, count)), rng.standard_normal((count, 2))
    A[0, 0] = 0.0  # rows must be exchanged

    def run(A, b):
        factors, pivots, order = jax.lax.linalg.lu(A)
        upper = jax.scipy.linalg.solve_triangular(A + 20.0 * jnp.eye(count), b[:, 0])
        return factors, pivots, order, jnp.linalg.solve(A, b), upper

    program = Program(run, fixed=0)
    assert program.engine(A, b) == "LLVM"
    for found, right in zip(program(A, b), jax.jit(run)(A, b), strict=True):
        size = max(1.0, float(np.abs(right).max()))
        np.testing.assert_allclose(found, right, rtol=0, atol=2e-12 * size)
