"""Programs by LLVM against the same functions by XLA: every rule, derivatives, random programs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swelltree.engine.backend import jax, jnp
from swelltree.engine.machine.program import ASKED, Program

BESIDE = 0.0123  # keeps steps away from ties that rounding decides
TABLE = np.linspace(-1.0, 1.0, 5000) ** 3
XS, YS = np.linspace(-1.5, 1.5, 7), np.cos(np.linspace(0.0, 3.0, 7))
SOLVE = jax.scipy.linalg


@jax.custom_jvp
def own_derivative(x):
    return jnp.tanh(x)


own_derivative.defjvp(lambda x, dx: (own_derivative(*x), 3.0 * dx[0]))


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
    "upper triangle": lambda x: SOLVE.solve_triangular(spd(x), x, lower=False, trans=1),
    "orthogonal": lambda x: jnp.linalg.qr(jnp.stack([x, x**2 + 1.0]).T, mode="complete")[0],
    "triangle of it": lambda x: jnp.linalg.qr(spd(x))[1],
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


def numbers(seed):
    """In general position, and with ties and zeros."""
    rng = np.random.default_rng(seed)
    x = 0.8 * rng.standard_normal(4)
    special = [x, np.zeros(4), np.full(4, x[0]), np.array([0.5, -0.5, 1.0, -1.0])]
    return special[seed % 4]


def close(found, right):
    """The same within 1e-12 of its size; the same places without a number."""
    assert jax.tree.structure(found) == jax.tree.structure(right)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(right), strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        b = np.asarray(b)
        size = np.abs(b[np.isfinite(b)]).max(initial=1.0)
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * size)


def compare(function, points, derivative=True):
    program, by_xla = Program(function, fixed=0), jax.jit(function)
    assert program.engine(points[0]) == "LLVM"
    for x in points:
        close(program(x), by_xla(x))
    if not derivative:
        return
    jacobian, by_xla = program.jacobian(0), jax.jit(jax.jacfwd(function))
    assert jacobian.engine(points[0]) == "LLVM"
    for x in points:
        found, right = jacobian(x), by_xla(x)
        # a derivative that is no number may be one here: zeros known beforehand take it away
        right = jax.tree.map(lambda a, b: np.where(np.isfinite(b), b, a), found, right)
        close(found, right)


POINTS = [numbers(seed) for seed in range(4)]
NO_DERIVATIVE = {"next", "orthogonal"}  # JAX has none


@pytest.mark.parametrize("name", [*ELEMENTWISE, *ARRAYS])
def test_rule_gives_values_and_derivatives_of_jax(name):
    function = (ELEMENTWISE | ARRAYS)[name]
    compare(lambda x: 1.0 * function(x), POINTS, name not in NO_DERIVATIVE)


@pytest.mark.parametrize("name", UNTIL)
def test_open_loop_gives_values_of_jax(name):
    compare(UNTIL[name], POINTS, derivative=False)


@settings(max_examples=6, deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from(sorted(ELEMENTWISE)), min_size=2, max_size=5),
    st.lists(st.floats(-1.5, 1.5), min_size=4, max_size=4),
)
def test_random_chains_are_those_of_jax(names, x):
    x = np.array(x) + BESIDE * np.arange(4)

    def chain(x):
        y = x
        for name in names:
            y = 0.5 * jnp.tanh(ELEMENTWISE[name](y)) + 0.3 * x[::-1] + 0.17
        return y

    compare(chain, [x])


def test_second_derivatives_are_those_of_jax():
    x = numbers(0)

    def energy(x):
        return jnp.sin(x[0] * x[1]) * jnp.exp(x[2]) + (x @ spd(x) @ x)

    found = Program(energy, fixed=0).jacobian(0).jacobian(0)
    assert found.engine(x) == "LLVM"
    close(found(x), jax.jit(jax.hessian(energy))(x))


def test_parameters_are_inputs_of_one_program():
    def function(matrix, x):
        return matrix @ x

    program, rng = Program(function), np.random.default_rng(0)
    x = rng.standard_normal(5)
    for _ in range(4):
        matrix = rng.standard_normal((5, 5)) * np.tri(5)
        close(program(matrix, x), jax.jit(function)(matrix, x))
    assert len(program.programs) == 1
    for matrix in (np.eye(5), np.ones((5, 5)), -np.tri(5)):
        close(program(matrix, x), jax.jit(function)(matrix, x))


def test_integers_and_flags_of_parameters_are_built_in():
    def function(fixed, x):
        return jnp.where(fixed["on"], x[fixed["order"]], -x)

    program = Program(function)
    x = np.arange(3.0)
    for on in ([True, False, True], [False, False, True]):
        for order in ([2, 1, 0], [0, 0, 1]):
            fixed = {"on": np.array(on), "order": np.array(order)}
            close(program(fixed, x), jax.jit(function)(fixed, x))
    assert len(program.programs) == 4


REFUSED = {
    "complex numbers": (lambda x: jnp.real(jnp.exp(1j * x)), "complex128"),
    "single precision": (lambda x: jnp.astype(x, jnp.float32) ** 2, "float32"),
    "callback": (
        lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct((4,), float), x),
        "pure_callback",
    ),
    "unknown": (jax.scipy.special.gammaln, "lgamma"),
    "large": (lambda x: jnp.sin(x[0] + jnp.arange(21000.0)).sum(), "21000 numbers"),
    "many": (lambda x: jnp.sin(x[0] + jnp.arange(30000.0)).sum(), "90001 numbers, more than 70000"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_flattened_is_named_and_runs_by_xla(name):
    function, why = REFUSED[name]
    program, x = Program(function, fixed=0), numbers(0)
    assert program.engine(x).startswith("XLA: ")
    assert why in program.engine(x)
    np.testing.assert_array_equal(program(x), jax.jit(function)(x))


def test_engine_is_machine_code_unless_another_is_asked_for(monkeypatch):
    program, x = Program(jnp.sin, fixed=0), numbers(0)
    for chosen in ("", " LLVM "):
        monkeypatch.setenv("SWELLTREE_ENGINE", chosen)
        assert program.engine(x) == "LLVM"
    monkeypatch.setenv("SWELLTREE_ENGINE", "xla")
    assert program.engine(x) == f"XLA: {ASKED}"
    monkeypatch.setenv("SWELLTREE_ENGINE", "vulkan")
    assert "neither 'llvm' nor 'xla'" in program.engine(x)
    monkeypatch.delenv("SWELLTREE_ENGINE")
    assert program.engine(x) == "LLVM"


def test_program_within_another_is_traced():
    program = Program(jnp.sin, fixed=0)
    assert float(jax.grad(lambda x: program(x))(0.3)) == pytest.approx(np.cos(0.3))


BLOCKS = {
    "rows": lambda A, x, y: (A * x[None, :]).sum(1),
    "columns": lambda A, x, y: (A * y[:, None]).sum(0),
    "product": lambda A, x, y: A @ x,
    "transposed": lambda A, x, y: A.T @ y,
    "from the left": lambda A, x, y: y @ A,
    "many columns": lambda A, x, y: A @ jnp.stack([x, x * x, 0.0 * x], axis=1),
    "many rows": lambda A, x, y: jnp.stack([y, jnp.sin(y)]) @ A,
    "square form": lambda A, x, y: (A * x[None, :]).sum(1) @ (y * y),
    "kept apart": lambda A, x, y: A * x[None, :],
    "in a loop": lambda A, x, y: jax.lax.fori_loop(
        0, 3, lambda k, z: jnp.tanh((A * z[None, :]).sum(1)) @ A / 20.0 + x, x
    ),
}


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("shape", [(12, 21), (21, 12), (9, 13)])
def test_full_matrix_is_kept_whole_and_has_the_product_of_jax(name, shape):
    rng, function = np.random.default_rng(1), BLOCKS[name]
    program = Program(function)
    for _ in range(2):
        A = rng.standard_normal(shape)
        x, y = rng.standard_normal(shape[1]), rng.standard_normal(shape[0])
        assert program.engine(A, x, y) == "LLVM"
        close(program(A, x, y), jax.jit(function)(A, x, y))
    assert len(program.programs) == 1


def test_matrix_with_zeros_and_ones_is_built_in():
    A = np.eye(16)
    A[3, 5], A[7, 1] = 0.3, -1.0
    program, x = Program(lambda A, x: (A * x[None, :]).sum(1)), np.arange(16.0)
    close(program(A, x), A @ x)


def test_what_is_not_finite_is_noticed():
    program = Program(lambda x: (jnp.isfinite(x).all(), jnp.max(x), jnp.argmax(x)), fixed=0)
    for bad in (np.nan, np.inf, -np.inf, 1.0):
        x = np.array([0.5, bad, 2.0])
        close(program(x), jax.jit(program.function)(x))
