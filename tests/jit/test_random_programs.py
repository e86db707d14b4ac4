"""Random programs over primitives and types at many points: as JAX computes them."""

import numpy as np
import pytest

from swelltree.jit.backend import jax, jnp
from swelltree.jit.points import Points

TABLE = np.linspace(-1.0, 1.0, 5000) ** 3
BESIDE = 0.0123  # keeps steps away from ties that rounding decides
XS, YS = np.linspace(-1.5, 1.5, 7), np.cos(np.linspace(0.0, 3.0, 7))


@jax.custom_jvp
def own_slope(x):
    return jnp.tanh(x)


own_slope.defjvp(lambda x, dx: (own_slope(*x), 3.0 * dx[0]))

FLOATS = {
    "sin": jnp.sin,
    "tanh": jnp.tanh,
    "abs": jnp.abs,
    "sign": jnp.sign,
    "square": jnp.square,
    "cube": lambda x: x**3,
    "inverse": lambda x: (2.0 + x * x) ** -2,
    "root": lambda x: jnp.sqrt(1.0 + x * x),
    "rsqrt": lambda x: jax.lax.rsqrt(1.0 + x * x),
    "power": lambda x: jnp.abs(x + 3.0) ** 1.7,
    "floor": lambda x: jnp.floor(2.0 * x + BESIDE),
    "round": lambda x: jnp.round(2.0 * x + BESIDE),
    "rest": lambda x: jnp.remainder(x + BESIDE, 0.7),
    "clip": lambda x: jnp.clip(x, -0.5, 0.5),
    "clamp": lambda x: jax.lax.clamp(-0.5, x, 0.5),
    "relu": jax.nn.relu,
    "logistic": jax.nn.sigmoid,
    "custom": own_slope,
    "stopped": lambda x: jax.lax.stop_gradient(x) * x,
    "untaken": lambda x: jnp.where(x > 0.3, jnp.sqrt(jnp.where(x > 0.3, x, 0.0)), x),
    "bare root": lambda x: jnp.where(x > 0.0, jnp.sqrt(x), -2.0 * x),
    "bare quotient": lambda x: jnp.where(jnp.abs(x) > 0.1, jnp.sin(x) / x, 1.0 - x),
    "table": lambda x: jnp.asarray(TABLE)[jnp.clip(jnp.astype(2500.3 * (1.007 + x), int), 0, 4999)],
    "long sum": lambda x: (jnp.asarray(TABLE) * x).sum(),
    "interp": lambda x: jnp.interp(x, XS, YS),
    "single": lambda x: jnp.astype(jnp.astype(x, jnp.float32) ** 2, float),
    "complex": lambda x: jnp.real((x + 0.5j) ** 2 * jnp.exp(1j * x)) + jnp.abs(x + 1j),
    "whole": lambda x: jnp.astype(jnp.astype(3.0 * x + BESIDE, int) * 2 - 1, float),
    "huge": lambda x: 1e-9 * jnp.astype(jnp.astype(1e12 * x, jnp.int32), float),
    "erf": jax.scipy.special.erf,
    "chosen": lambda x: jax.lax.cond(x > 0.1, jnp.sin, jnp.cos, x),
}
PAIRS = {
    "add": jnp.add,
    "sub": jnp.subtract,
    "mul": jnp.multiply,
    "div": lambda x, y: x / (1.5 + y * y),
    "max": jnp.maximum,
    "min": jnp.minimum,
    "atan2": lambda x, y: jnp.arctan2(x, 2.0 + y * y),
    "hypot": lambda x, y: jnp.sqrt(x * x + y * y + 0.1),
    "largest": lambda x, y: jnp.max(jnp.stack([x, y, 0.0 * x])),
    "first": lambda x, y: jnp.astype(jnp.argmax(jnp.stack([x, y + BESIDE, x])), float),
    "dot": lambda x, y: jnp.stack([x, y]) @ jnp.stack([y, 1.0 + x]),
}
TESTS = {
    "less": lambda x, y: x < y + BESIDE,
    "not less": lambda x, y: x >= y + BESIDE,
    "equal": lambda x, y: jnp.sign(x + BESIDE) == jnp.sign(y + BESIDE),
    "differ": lambda x, y: jnp.sign(x + BESIDE) != jnp.sign(y + BESIDE),
    "truth": lambda x, y: jnp.astype(jnp.floor(x + BESIDE), bool),
}
JOINED = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "not": lambda a, b: ~a,
    "same": lambda a, b: a == b,
}
COUNTED = {
    "sum of booleans": lambda a, b: 1.0 * a + 1.0 * b,
    "difference": lambda a, b: 1.0 * a - 1.0 * b,
    "product": lambda a, b: (1.0 * a) * (0.5 + b),
    "negative": lambda a, b: -1.0 * a + jnp.astype(b, float) ** 2,
    "count": lambda a, b: jnp.stack([a, b, a]).sum() * 0.5,
    "true": lambda a, b: jnp.astype(jnp.any(jnp.stack([a, b])), float),
    "chosen": lambda a, b: jnp.where(a, 1.0, jnp.where(b, 2, 3)),
}


def pick(rng, table):
    return table[list(table)[rng.integers(len(table))]]


def program(seed):
    """A random program of four numbers, a given number and a time."""

    def run(specified, t, w):
        rng = np.random.default_rng(seed)
        values = [w[0], w[1], w[2], w[3], specified * w[1], jnp.sin(t)]
        truths = [w[0] > 0.2, w[1] < t]

        def some(of):
            return of[rng.integers(len(of))]

        for _ in range(7):
            kind = rng.integers(5)
            if kind == 0:
                values.append(pick(rng, FLOATS)(some(values)))
            elif kind == 1:
                values.append(pick(rng, PAIRS)(some(values), some(values)))
            elif kind == 2:
                truths.append(pick(rng, TESTS)(some(values), some(values)))
                truths.append(pick(rng, JOINED)(some(truths), some(truths)))
            elif kind == 3:
                values.append(pick(rng, COUNTED)(some(truths), some(truths)))
            else:
                values.append(jnp.where(some(truths), some(values), some(values)))
        return jnp.stack([jnp.astype(x, float) for x in values[4:]]), jnp.stack(values[-2:])

    return run


def one_of_each(table, arguments):
    """A program of every entry of a table by itself."""

    def run(specified, t, w):
        found = [jnp.astype(f(*arguments(specified, t, w)), float) for f in table.values()]
        return jnp.stack(found), w[:1]

    return run


def nodes(seed=0):
    """Numbers in general position, with ties and zeros."""
    rng = np.random.default_rng(seed)
    w = 0.8 * rng.standard_normal((9, 4))
    w[0], w[1], w[2, 1:] = 0.0, w[1, 0], w[2, 0]
    w[3] = [0.5, -0.5, 1.0, -1.0]
    return np.linspace(0.1, 2.0, 9), w


def close(found, expected):
    """The same where JAX has a number; where it has none anything may stand."""
    for a, b in zip(found, expected, strict=True):
        a, b = np.asarray(a, float), np.asarray(b, float)
        there = np.isfinite(b)
        np.testing.assert_allclose(a[there], b[there], rtol=1e-9, atol=1e-9)


def compare(run, seed):
    """Values, Jacobians and second derivatives; what ran them."""
    t, w = nodes(seed)
    specified = np.array(0.37)
    values = jax.vmap(run, (None, 0, 0))
    jacobians = jax.vmap(jax.jacfwd(run, 2), (None, 0, 0))
    right = jax.jit(values)(specified, t, w), jax.jit(jacobians)(specified, t, w)
    points = Points(run, many=True)
    close(points.values(specified, t, w), right[0])
    engine = points.engine
    for a, b in zip(points.jacobians(specified, t, w), right, strict=True):
        close(a, b)
    assert points.engine == engine
    weight = tuple(np.random.default_rng(seed).standard_normal(x.shape) for x in right[0])

    def total(t, w, weight):
        return sum((a * b).sum() for a, b in zip(weight, run(specified, t, w), strict=True))

    second = points.second(specified, t, w, weight=weight)
    close([second], [jax.jit(jax.vmap(jax.hessian(total, 1)))(t, w, weight)])
    return engine


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_are_those_of_jax(seed):
    compare(program(seed), seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 400))
def test_many_random_programs_are_those_of_jax(seed):
    compare(program(seed), seed)


@pytest.mark.parametrize("name", FLOATS)
def test_every_function_is_that_of_jax(name):
    run = one_of_each({name: FLOATS[name]}, lambda specified, t, w: (w[0] + specified * w[1],))
    engine = compare(run, 3)
    assert engine == "LLVM" or name in ("single", "complex", "erf")


@pytest.mark.parametrize(
    "table", [PAIRS, TESTS, JOINED, COUNTED], ids=lambda table: next(iter(table))
)
def test_every_pair_is_that_of_jax(table):
    def arguments(specified, t, w):
        if table in (JOINED, COUNTED):
            return w[0] > w[1], jnp.abs(w[2]) > 0.4 * t
        return w[0], w[1]

    assert compare(one_of_each(table, arguments), 5) == "LLVM"
