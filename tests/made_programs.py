"""Small functions of JAX, one for each thing that programs do."""

import numpy as np

from swelltree.jit import each, each_sum, jax, jnp

BESIDE = 0.0123  # keeps steps away from ties that rounding decides
TABLE = np.linspace(-1.0, 1.0, 5000) ** 3
XS, YS = np.linspace(-1.5, 1.5, 7), np.cos(np.linspace(0.0, 3.0, 7))
INDEX = np.array([2, 0, 3, 1])
SOLVE = jax.scipy.linalg


@jax.custom_jvp
def own_derivative(x):
    return jnp.tanh(x)


own_derivative.defjvp(lambda x, dx: (own_derivative(*x), 3.0 * dx[0]))


def wide(x):
    """Fourteen rows of eight numbers."""
    return jnp.sin(jnp.arange(112.0).reshape(14, 8) + x.sum()) + x[0]


def large(x):
    """Positive definite, fourteen rows."""
    rows = jnp.cos(jnp.arange(14.0)[:, None] * x[None, :] + jnp.arange(4.0))
    return rows @ rows.T + 3.0 * jnp.eye(14) + 0.1 * x[1]


def exchanging(n, x):
    """Well conditioned once its rows have changed places."""
    rows = jnp.sin(7.3 * jnp.arange(float(n * n)).reshape(n, n) ** 0.7 + x[0])
    return rows + 20.0 * jnp.roll(jnp.eye(n), 3, axis=0)


def picked_twice(x):
    """One number chosen in two equations."""
    row, k = jnp.cumsum(x), jnp.astype(jnp.abs(2.0 * x[3]) + 1.2, int) % 4
    return row[k - 1], row[k - 1] * row[k]


def spd(x):
    return jnp.outer(x, x) + jnp.diag(2.0 + x * x)


ELEMENTWISE = {
    "sin": jnp.sin,
    "cos": jnp.cos,
    "tan": jnp.tan,
    "asin": lambda x: jnp.arcsin(jnp.tanh(x)),
    "acos": lambda x: jnp.arccos(jnp.tanh(x)),
    "atan": jnp.arctan,
    "sinh": jnp.sinh,
    "cosh": jnp.cosh,
    "tanh": jnp.tanh,
    "asinh": jnp.arcsinh,
    "atanh": lambda x: jnp.arctanh(0.9 * jnp.tanh(x)),
    "exp": jnp.exp,
    "exp2": jnp.exp2,
    "expm1": jnp.expm1,
    "log": lambda x: jnp.log(jnp.abs(x) + 0.1),
    "log1p": lambda x: jnp.log1p(jnp.abs(x)),
    "cbrt": lambda x: jnp.cbrt(x + BESIDE),
    "sqrt": lambda x: jnp.sqrt(1.0 + x * x),
    "rsqrt": lambda x: jax.lax.rsqrt(1.0 + x * x),
    "pow": lambda x: (jnp.abs(x) + 0.3) ** (x - 0.4),
    "whole power": lambda x: x**5,
    "negative power": lambda x: (2.0 + x * x) ** -3,
    "square": jnp.square,
    "logistic": jax.nn.sigmoid,
    "abs": jnp.abs,
    "sign": jnp.sign,
    "floor": lambda x: jnp.floor(2.0 * x + BESIDE),
    "ceil": lambda x: jnp.ceil(2.0 * x + BESIDE),
    "round": lambda x: jnp.round(2.0 * x + BESIDE),
    "remainder": lambda x: jnp.remainder(x + BESIDE, 0.7),
    "clip": lambda x: jnp.clip(x, -0.5, 0.5),
    "clamp": lambda x: jax.lax.clamp(-0.5, x, 0.5),
    "relu": jax.nn.relu,
    "finite": lambda x: jnp.where(jnp.isfinite(1.0 / jnp.floor(x)), x, -x),
    "next": lambda x: jnp.nextafter(x, x[::-1]),
    "custom derivative": own_derivative,
    "stopped": lambda x: jax.lax.stop_gradient(x) * x,
    "untaken": lambda x: jnp.where(x > 0.3, jnp.sqrt(jnp.where(x > 0.3, x, 0.0)), x),
    "bare root": lambda x: jnp.where(x > 0.0, jnp.sqrt(x), -2.0 * x),
    "bare quotient": lambda x: jnp.where(jnp.abs(x) > 0.1, jnp.sin(x) / x, 1.0 - x),
    "huge integers": lambda x: 1e-9 * jnp.astype(jnp.astype(1e12 * x, jnp.int32), float),
    "integers": lambda x: jnp.astype(jnp.astype(3.0 * x + BESIDE, int) * 2 - 1, float),
    "unsigned": lambda x: (
        1e-9 * jnp.astype(jnp.astype(jnp.astype(5.0 * x, int), jnp.uint32) // 3, float)
    ),
    "shifts": lambda x: (
        1.0 * ((jnp.astype(9.0 * x, int) << 3) >> 1)
        + jax.lax.shift_right_logical(jnp.astype(9.0 * x, jnp.int32), jnp.full(4, 28, jnp.int32))
    ),
    "bits": lambda x: 1.0 * ((jnp.astype(9.0 * x, int) & 5) ^ 3 | 8),
    "sum of booleans": lambda x: x * jnp.sum(x > 0.0),
    "sum of chosen booleans": lambda x: (x > 0.1) + (x > -0.2) + 0.0 * x,
    "xor": lambda x: jnp.where((x > 0.0) ^ (x < 0.5), x, 0.0),
    "any, all": lambda x: x * jnp.any(x > 1.0) - x * jnp.all(x < 1.0),
}
ARRAYS = {
    "division of integers": lambda x: 1.0 * (jnp.astype(9.0 * x, int) // jnp.array([3, -2, 0, 5])),
    "rest of integers": lambda x: (
        1.0 * jax.lax.rem(jnp.astype(9.0 * x, int), jnp.array([3, -2, 0, 5]))
    ),
    "ties of max": lambda x: jnp.maximum(x, x[::-1]),
    "ties of largest": lambda x: jnp.max(jnp.stack([x, x, x[::-1]]), axis=0),
    "smallest": jnp.min,
    "largest of nothing": lambda x: jnp.max(x[:0], initial=-0.2) + jnp.min(x[4:], initial=0.3) + x,
    "interpolated": lambda x: jnp.interp(x + BESIDE, XS, YS),
    "sorted": lambda x: jnp.sort(jnp.outer(x, jnp.arange(1.0, 4.0)), axis=0),
    "order": lambda x: jnp.sin(x) * jnp.argsort(-x) + jnp.argsort(x < 0.2),
    "order of pairs": lambda x: jax.lax.sort((jnp.sign(x), -x, x * x), num_keys=2)[2],
    "order of no numbers": lambda x: jnp.sort(jnp.where(x > 0.0, x, jnp.nan)),
    "median": lambda x: jnp.median(x * x[::-1] + x) * x,
    "picked twice": lambda x: jnp.stack(picked_twice(x)),
    "table that moves": lambda x: jnp.interp(x, jnp.cumsum(0.1 + x * x), jnp.sin(x)),
    "places": lambda x: x + jnp.searchsorted(XS, x, side="right"),
    "order of sorting": lambda x: (
        x * jax.lax.lt_to_p.bind(jnp.where(x > 0, x, jnp.nan), jnp.where(x < 0.4, x, jnp.nan)[::-1])
        - x * jax.lax.le_to_p.bind(-0.0 * x, 0.0 * x[::-1])
    ),
    "product": jnp.prod,
    "argmax": lambda x: x[jnp.argmax(x)] + jnp.argmin(x),
    "atan2": lambda x: jnp.arctan2(x, x[::-1] + 0.1),
    "running sum": jnp.cumsum,
    "running product, back": lambda x: jax.lax.cumprod(x, reverse=True),
    "running largest": jax.lax.cummax,
    "reversed": lambda x: x[::-1],
    "transposed": lambda x: (x[:, None] * x[None, :] ** 2).T,
    "strided": lambda x: x[1::2],
    "padded": lambda x: jax.lax.pad(x, 0.5, [(1, -1, 2)]),
    "stacked": lambda x: jnp.stack([x, 2.0 * x], axis=1),
    "rolled": lambda x: jnp.roll(x, 1),
    "taken": lambda x: x[np.array([3, 0, 0])],
    "taken by what is computed": lambda x: x[jnp.astype(jnp.abs(3.0 * x), int) % 4],
    "out of range": lambda x: x.at[jnp.astype(9.0 * x, int)].get(mode="fill", fill_value=7.0),
    "table": lambda x: jnp.asarray(TABLE)[jnp.clip(jnp.astype(2500.3 * (1.007 + x), int), 0, 4999)],
    "window": lambda x: jax.lax.dynamic_slice(x, (jnp.astype(3.0 * x[0], int),), (2,)),
    "new window": lambda x: jax.lax.dynamic_update_slice(
        x, x[:2] ** 2, (jnp.astype(3.0 * x[0], int),)
    ),
    "set": lambda x: x.at[jnp.astype(jnp.abs(3.0 * x[0]), int)].set(x[1] ** 2),
    "column set": lambda x: jnp.outer(x, x).at[:, jnp.astype(x[0] > 0.0, int)].set(x),
    "added at": lambda x: x.at[np.array([1, 1, 3])].add(x[:3]),
    "added at what is computed": lambda x: x.at[jnp.astype(9.0 * x, int)].add(x * x),
    "largest at": lambda x: x.at[np.array([1, 1, 3])].max(x[:3]),
    "dot": lambda x: jnp.outer(x, x) @ x,
    "batched dot": lambda x: jnp.einsum(
        "bij,bj->bi", jnp.stack([spd(x), spd(-x)]), jnp.stack([x, x])
    ),
    "factored": lambda x: SOLVE.cho_solve(SOLVE.cho_factor(spd(x), lower=True), x),
    "factored by rows": lambda x: SOLVE.cho_solve(SOLVE.cho_factor(large(x), lower=True), wide(x)),
    "upper triangle by rows": lambda x: SOLVE.solve_triangular(large(x), wide(x), trans=1),
    "rows after rows": lambda x: (wide(x).T @ large(x)) @ wide(x),
    "upper triangle": lambda x: SOLVE.solve_triangular(spd(x), x, lower=False, trans=1),
    "orthogonal": lambda x: jnp.linalg.qr(jnp.stack([x, x**2 + 1.0]).T, mode="complete")[0],
    "triangle of it": lambda x: jnp.linalg.qr(spd(x))[1],
    "exchanged rows": lambda x: jnp.linalg.solve(jnp.outer(x, x**2) + jnp.eye(4)[::-1], x),
    "factors of it": lambda x: jax.lax.linalg.lu(jnp.outer(x, x**2) + jnp.eye(4)[::-1] * x)[0],
    "exchanged by loops": lambda x: jnp.linalg.solve(
        exchanging(17, x), jnp.concatenate([x] * 5)[:17]
    ),
    "factors by loops": lambda x: jax.lax.linalg.lu(exchanging(16, x))[0],
    "split": lambda x: jnp.split(x, 2)[1] * jnp.split(x, 2)[0],
    "iota": lambda x: x * jnp.arange(4),
    "chosen": lambda x: jax.lax.cond(x[0] > 0.1, jnp.sin, lambda x: x[0] * x, x),
    "switch": lambda x: jax.lax.switch(
        jnp.astype(3.0 * x[0], int), [jnp.sin, jnp.cos, lambda x: x * x[1]], x
    ),
    "many cases": lambda x: jax.lax.select_n(
        jnp.astype(jnp.abs(x) * 1.9, jnp.int32) % 3, x, -x, x * x
    ),
    "scan": lambda x: jax.lax.scan(lambda c, r: (jnp.sin(c) + r, c * r), 0.3, x)[1],
    "scan back": lambda x: jax.lax.scan(lambda c, r: (c * r + 1.0, c), x[0], x, reverse=True)[0],
    "scan of scans": lambda x: jax.lax.scan(
        lambda c, r: (jax.lax.scan(lambda d, q: (d + q * r, d), c, x)[0], c), 0.1, x
    )[0],
    "each": lambda x: each(lambda r, c: jnp.sin(r) * x[1] + c[0], x, jnp.outer(x, x[:3])),
    "each of columns": lambda x: each(lambda c: (c @ c) * x[:2], jnp.outer(x[:3], x), axis=-1),
    "sum of each": lambda x: each_sum(lambda r, k: r[k] * x[1:] + r[0], jnp.outer(x, x), INDEX),
    "each of each": lambda x: each(
        lambda r: each_sum(lambda s: jnp.where(s > r, s * r, jnp.sin(s)), x), x
    ),
    "each with loops": lambda x: each(
        lambda r: jax.lax.fori_loop(0, 3, lambda k, y: jnp.cos(y) + r * x[k], r), x
    ),
    "counted by each": lambda x: (
        x * each_sum(lambda r: (1 * (r > 0.0), jnp.astype(3.0 * r, int)), x)[1]
    ),
    "repeat": lambda x: jax.lax.fori_loop(0, 5, lambda k, y: jnp.cos(y) + 0.1 * k, x),
    "swap": lambda x: jnp.stack(
        jax.lax.fori_loop(0, 3, lambda k, ab: (ab[1], ab[0] * 0.5), (x, x[::-1] + 1.0))
    ),
    "rows": lambda x: jax.lax.fori_loop(
        0, 3, lambda k, t: t.at[k].set(jnp.sin(t.sum(0)) + x), jnp.zeros((3, 4))
    ),
    "a row too far": lambda x: jax.lax.fori_loop(
        0, 5, lambda k, t: t.at[k].set(t.sum(0) + x), jnp.ones((3, 4))
    ),
}
UNTIL = {
    "each until its own end": jax.vmap(
        lambda x: jax.lax.while_loop(
            lambda s: (jnp.abs(s[0]).max() > 0.1) & (s[1] < 40),
            lambda s: (s[0] * jnp.array([0.8, 0.5]), s[1] + 1),
            (x * jnp.ones(2), 0),
        )
    ),
    "until": lambda x: jax.lax.while_loop(
        lambda s: (jnp.abs(s[0]) > 0.1).any() & (s[1] < 40),
        lambda s: (0.8 * s[0], s[1] + 1),
        (x, 0),
    ),
    "loop in a branch": lambda x: jax.lax.cond(
        x[0] > 0.0,
        lambda x: jax.lax.while_loop(lambda y: y.max() > 0.1, lambda y: 0.5 * y, x),
        lambda x: x,
        x,
    ),
}
