"""Programs by LLVM against the same functions by XLA: every rule, derivatives, random programs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_programs import ARRAYS, BESIDE, ELEMENTWISE, UNTIL, spd
from swelltree.jit import program as programs
from swelltree.jit import trees
from swelltree.jit.backend import jax, jnp
from swelltree.jit.lowering import Lowering
from swelltree.jit.program import XLA_REQUESTED, KernelBuilder, Program


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
    derivative = jax.jacfwd(function)
    jacobian, by_xla = Program(derivative, fixed=0), jax.jit(derivative)
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

    found = Program(jax.jacfwd(jax.jacfwd(energy)), fixed=0)
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
    "applied": (lambda x: x.at[1].apply(jnp.sin), "a function applied to parts of an array"),
    "long order": (
        lambda x: jnp.sort(jnp.sin(x[0] + jnp.arange(33.0)))[:4],
        "33 numbers put in order, more than 32",
    ),
    "unknown": (jax.scipy.special.gammaln, "lgamma"),
    "large": (lambda x: jnp.sin(x[0] + jnp.arange(21000.0)).sum(), "21000 numbers"),
    "many": (
        lambda x: jnp.sin(x[0] + jnp.arange(150000.0)).sum(),
        "300001 numbers, more than 200000",
    ),
    "many left": (
        lambda x: jnp.sin(jnp.cos(jnp.sin(x[0] + jnp.arange(15000.0)))).sum(),
        "more than 45000 operations",
    ),
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
    assert program.engine(x) == f"XLA: {XLA_REQUESTED}"
    monkeypatch.setenv("SWELLTREE_ENGINE", "vulkan")
    assert "neither 'llvm' nor 'xla'" in program.engine(x)
    monkeypatch.delenv("SWELLTREE_ENGINE")
    assert program.engine(x) == "LLVM"


def test_program_within_another_is_traced():
    program = Program(jnp.sin, fixed=0)
    assert float(jax.grad(lambda x: program(x))(0.3)) == pytest.approx(np.cos(0.3))


def test_programs_made_before_jax_came_serve_on(monkeypatch):
    """Else a run that imports JAX on its way would go on with another program, of other bits."""
    x = {"x": np.array([0.3, -0.2])}
    with monkeypatch.context() as patch:
        for module in (trees, programs):
            patch.setattr(module, "is_imported", lambda name: False)
        program = Program(lambda fixed, x: {"y": fixed["a"] @ x["x"]})
        before = program({"a": np.array([[2.0, 3.0], [4.0, 5.0]])}, x)
    for other in (0.0, 3.0):  # the same pattern of zeros, and one that the first one serves
        after = program({"a": np.array([[2.0, other], [4.0, 5.0]])}, x)
    assert np.array_equal(before["y"], after["y"])
    assert len({id(built) for built in program.programs.values()}) == 1


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


@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.integers(2, 34), st.integers(1, 17), st.integers(0, 1000))
def test_symmetric_systems_of_any_size_are_those_of_numpy(n, columns, seed):
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((n, n)), rng.standard_normal((n, columns))
    A = A @ A.T + np.eye(n)

    def solved(A, B):
        factor = jax.scipy.linalg.cho_factor(A, lower=True)
        return factor[0], jax.scipy.linalg.cho_solve(factor, B), B.T @ A @ B

    program = Program(solved, fixed=0)
    assert program.engine(A, B) == "LLVM"
    L, X, square = program(A, B)
    np.testing.assert_allclose(np.tril(L), np.linalg.cholesky(A), rtol=0, atol=1e-12 * n)
    np.testing.assert_allclose(A @ X, B, rtol=0, atol=1e-11 * n)
    np.testing.assert_allclose(square, B.T @ A @ B, rtol=0, atol=1e-12 * n * np.abs(A).max() * n)


def test_factors_of_what_is_not_definite_are_no_numbers():
    A = np.eye(15) * 2.5
    A[7, 7] = -1.5
    L = Program(jnp.linalg.cholesky, fixed=0)(A)
    assert np.isnan(L[7:, 7]).all()


def test_blocks_keep_programs_small():
    """A matrix of 150 x 30 times a vector, and 30 unknowns solved for, in few operations."""
    rng = np.random.default_rng(2)
    C, K = rng.standard_normal((150, 30)), rng.standard_normal((30, 30))

    def rate(C, z, x):
        K = jnp.outer(jnp.sin(x), jnp.cos(x)) + jnp.outer(x, x)
        M = K @ K.T + 40.0 * jnp.eye(30)
        factor = jax.scipy.linalg.cho_factor(M, lower=True)
        return jax.scipy.linalg.cho_solve(factor, (C * z[:, None]).sum(0)), (C * x[None, :]).sum(1)

    builder = KernelBuilder()
    values = C, rng.standard_normal(150), K[0]
    inputs = [
        builder.argument(w, x, w == "fixed")
        for w, x in zip(("fixed", "in", "in"), values, strict=True)
    ]
    closed = jax.make_jaxpr(rate)(*values)
    Lowering(builder.graph).run(closed.jaxpr, closed.consts, inputs)
    # numbers that are read, written and made: 45,000 multiplications, were they written out
    assert len(builder.graph.ops) < 9_000
    close(Program(rate)(*values), jax.jit(rate)(*values))


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
