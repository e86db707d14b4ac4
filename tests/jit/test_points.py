"""Values, Jacobians and second derivatives at points: those of JAX, for every rule."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_programs import ARRAYS, BESIDE, ELEMENTWISE, UNTIL, spd
from swelltree.jit.backend import jax, jnp
from swelltree.jit.points import Points

NO_DERIVATIVE = {"next", "orthogonal"}  # JAX has none
NO_REVERSE = {"a row too far", "repeat", "rows", "swap"}  # loops without a fixed length
NO_REVERSE |= {"running product, back", "running largest", "largest at"} | NO_DERIVATIVE
NO_REVERSE |= {"exchanged rows"}  # rows sorted back
NO_REVERSE |= {"factored by rows", "upper triangle by rows", "rows after rows"}  # too many numbers
GIVEN = {"A": np.array([[1.0, 0.0, 2.0], [0.0, -1.0, 0.5], [0.3, 0.0, 0.0]]), "k": np.array(1.7)}


def nodes():
    """Numbers in general position, with ties and zeros."""
    rng = np.random.default_rng(3)
    w = 0.8 * rng.standard_normal((6, 4))
    w[1], w[2], w[3] = 0.0, abs(w[2, 0]), [0.5, -0.5, 1.0, -1.0]
    return np.linspace(0.1, 2.0, 6), w


def close(found, right, tolerance=1e-12):
    """The same where JAX has a number; where it has none, zeros known beforehand may give one."""
    assert jax.tree.structure(found) == jax.tree.structure(right)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(right), strict=True):
        b = np.asarray(b)
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        there = np.isfinite(b)
        size = np.abs(b[there]).max(initial=1.0)
        np.testing.assert_allclose(a[there], b[there], rtol=tolerance, atol=tolerance * size)


def compare(function, fixed, *others, second=True):
    """A function of one point by LLVM at many points, and by JAX."""
    points = Points(function, many=True)
    last = 1 + len(others) - 1
    axes = (None, *(0 for _ in others))
    values = jax.jit(jax.vmap(function, axes))(fixed, *others)
    jacobians = jax.jit(jax.vmap(jax.jacfwd(function, last), axes))(fixed, *others)
    close(points.values(fixed, *others), values)
    assert points.engine == "LLVM"
    close(points.jacobians(fixed, *others), (values, jacobians))
    assert points.engine == "LLVM"
    if not second:
        return
    rng = np.random.default_rng(1)
    weight = jax.tree.map(lambda x: rng.standard_normal(x.shape), values)

    def total(weight, *args):
        pairs = zip(jax.tree.leaves(weight), jax.tree.leaves(function(fixed, *args)), strict=True)
        return sum((a * b).sum() for a, b in pairs)

    def curved(weight, *args):
        return jax.jacfwd(jax.grad(total, len(args)), len(args))(weight, *args)

    right = jax.jit(jax.vmap(curved))(weight, *others)
    close(points.second(fixed, *others, weight=weight), right, 1e-11)
    assert points.engine == "LLVM"


def bent(specified, t, w):
    """Most kinds of operations; zeros and ones in A."""
    y = specified["A"] @ w[:3]
    turn = jnp.stack([jnp.cos(y[0]), jnp.sin(y[0])])
    far = jnp.sqrt(1.0 + (y**2).sum())
    drag = -specified["k"] * w[1] * jnp.abs(w[1])
    chosen = jnp.where(w[0] > 0.2, jnp.tanh(w[0]) / far, jnp.exp(-(w[0] ** 2)))
    best = jnp.argmax(jnp.stack([w[0], w[1], 0.1 * t]))
    pick = jnp.where(best == 0, w[0] ** 3, jnp.where(best == 1, jnp.arctan2(w[1], far), w[2]))
    edges = jnp.maximum(w[2], 0.3) + jnp.minimum(w[0], w[1]) + jnp.clip(w[1], -0.5, 0.5)
    return jnp.concatenate([turn * t, jnp.stack([drag, chosen, pick, edges])]), jnp.outer(y, turn)


# factors of more than a dozen rows: their derivatives sort, or are too long to be written out
BY_XLA = {"exchanged by loops", "factors by loops"}


@pytest.mark.parametrize("name", sorted({*ELEMENTWISE, *ARRAYS} - BY_XLA))
def test_rule_has_the_derivatives_of_jax(name):
    function = (ELEMENTWISE | ARRAYS)[name]
    if name in NO_DERIVATIVE:
        pytest.skip("JAX has no derivative of it")
    t, w = nodes()
    compare(
        lambda specified, t, w: specified * function(w + 0.0 * t),
        np.array(1.3),
        t,
        w,
        second=name not in NO_REVERSE,
    )


@pytest.mark.parametrize("name", UNTIL)
def test_open_loop_has_the_derivatives_of_jax(name):
    _, w = nodes()
    compare(
        lambda specified, w: jax.tree.leaves(UNTIL[name](w))[0] * specified,
        np.array(1.3),
        w,
        second=False,
    )


@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from(sorted(ELEMENTWISE)), min_size=2, max_size=5),
    st.lists(st.floats(-1.5, 1.5), min_size=4, max_size=4),
)
def test_random_chains_have_the_derivatives_of_jax(names, x):
    if NO_DERIVATIVE & set(names):
        return
    w = (np.array(x) + BESIDE * np.arange(4))[None]

    def chain(specified, w):
        y = w
        for name in names:
            y = 0.5 * jnp.tanh(ELEMENTWISE[name](y)) + 0.3 * specified * w[::-1] + 0.17
        return y

    compare(chain, np.array(1.1), w, second=False)


def test_values_jacobians_and_second_derivatives_are_those_of_jax():
    t, w = nodes()
    compare(bent, GIVEN, t, w)


def test_one_value_may_have_two_derivatives():
    """The same number by a function with a derivative of its own, stopped, and as it is."""

    @jax.custom_jvp
    def same(x):
        return x * 1.0

    same.defjvp(lambda x, dx: (same(*x), 3.0 * dx[0]))

    @jax.custom_jvp
    def sine(x):
        return jnp.sin(x)

    sine.defjvp(lambda x, dx: (sine(*x), 0.0 * dx[0]))

    def function(specified, w):
        stopped = jax.lax.stop_gradient(w)
        return (
            jnp.concatenate([w * stopped, same(w) * w, -stopped, -w, same(same(w))]),
            jnp.concatenate([sine(w), jnp.sin(w), jnp.sin(stopped), sine(w) * jnp.sin(w)]),
        )

    compare(function, np.array(1.0), nodes()[1])


def test_matrix_kept_whole_has_its_derivatives():
    A = np.random.default_rng(2).standard_normal((12, 12))

    def function(A, w):
        x = jnp.concatenate([w, w**2, jnp.sin(w)])
        return A @ x, A.T @ (A @ x), (A * x).sum(1)

    compare(function, A, nodes()[1])


def test_factors_and_solutions_have_their_derivatives():
    def function(specified, w):
        solved = jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(spd(w), lower=True), w)
        return specified * solved, jnp.linalg.norm(spd(w) @ w)

    compare(function, np.array(0.7), nodes()[1] + BESIDE)


def test_other_numbers_and_other_counts_need_no_new_program():
    t, w = nodes()
    points = Points(bent, many=True)
    points.jacobians(GIVEN, t, w)
    other = {"A": np.where(np.abs(GIVEN["A"]) == 1.0, GIVEN["A"], 3.0 * GIVEN["A"]), "k": 0.4}
    other["k"] = np.array(0.4)
    found = points.jacobians(other, t[:2], w[:2])
    assert len(points.programs) == 1
    close(found[0], jax.vmap(bent, (None, 0, 0))(other, t[:2], w[:2]))
    # a one in place of another number is built in
    points.jacobians({"A": np.eye(3), "k": np.array(1.0)}, t, w)
    assert len(points.programs) == 2


def test_numbers_that_nobody_uses_are_not_looked_at():
    """Tables of complex numbers may lie in the first argument."""
    tree = {"a": np.array(2.0), "table": np.ones((3, 3), complex)}
    points = Points(lambda tree, w: tree["a"] * w**2)
    close(points.jacobians(tree, np.array([1.5, 2.0])), (np.array([4.5, 8.0]), np.diag([6.0, 8.0])))
    assert points.engine == "LLVM"


def test_what_cannot_be_flattened_is_named_and_runs_by_xla():
    points = Points(lambda A, w: jnp.linalg.eigh(A + jnp.outer(w, w))[0])
    A, w = np.diag([1.0, 2.0, 4.0]), np.array([0.1, 0.2, 0.3])
    values, jacobians = points.jacobians(A, w)
    assert points.engine.startswith("XLA: the operation 'eigh'")
    right = jax.jacfwd(lambda w: jnp.linalg.eigh(A + jnp.outer(w, w))[0])(w)
    close((values, jacobians), (jnp.linalg.eigh(A + jnp.outer(w, w))[0], right))
    assert isinstance(values, np.ndarray)


def test_inside_a_transformation_it_is_the_function_itself():
    points = Points(lambda k, w: (k * w**3).sum())
    w = np.array([1.0, 2.0])
    close(np.asarray(jax.grad(lambda w: points.values(2.0, w))(w)), 6.0 * w**2)
    slopes = jax.jit(lambda w: points.jacobians(2.0, w)[1])(w)
    close(np.asarray(slopes), 6.0 * w**2)


def test_every_point_leaves_a_loop_in_its_own_time():
    def halved(specified, x):
        return jax.lax.while_loop(
            lambda s: jnp.abs(s[1]).max() > 0.5 * specified,
            lambda s: (s[0] + 1, 0.5 * s[1]),
            (0, x),
        )

    x = np.exp(nodes()[1])
    program = Points(halved, many=True)
    found = program(np.array(1.0), x)
    close(found, jax.jit(jax.vmap(halved, (None, 0)))(np.array(1.0), x))
    assert len(set(found[0])) > 1
    assert program.engine == "LLVM"


def test_several_arguments_may_be_fixed_or_all():
    program = Points(lambda a, b, x: a * x + b, fixed=2)
    assert program(np.array(2.0), np.array(3.0), np.array(4.0)) == pytest.approx(11.0)
    full = Points(lambda a, b: (a @ b, a.shape[0] + 0 * a.astype(int)), fixed=2)
    value, counts = full(np.arange(3.0), np.ones(3))
    assert value == pytest.approx(3.0)
    assert counts.dtype == np.int64
    assert list(counts) == [3, 3, 3]


def test_nothing_beside_a_number_stays_nothing():
    def function(specified, x):
        none = jnp.zeros((0, 4)) * x[0]
        return jnp.concatenate([none, jnp.broadcast_to(x[1], (0, 4))]), x[:0], specified * x

    _, w = nodes()
    compare(function, np.array(2.0), w)


def test_second_derivatives_by_xla_are_those_of_machine_code(monkeypatch):
    def force(fixed, x):
        return fixed["A"] @ x[:3] * jnp.sin(fixed["k"] * x[3])

    x, weight = np.array([0.3, -0.7, 1.1, 0.4]), np.array([1.0, -2.0, 0.5])
    ours = Points(force).second(GIVEN, x, weight=weight)
    monkeypatch.setenv("SWELLTREE_ENGINE", "xla")
    points = Points(force)
    close(points.second(GIVEN, x, weight=weight), ours)
    assert points.engine == "XLA: SWELLTREE_ENGINE=xla asks for it"
