"""One body over the rows of arrays: values and derivatives of `jax.vmap`, by XLA and by LLVM."""

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from swelltree.jit.backend import jax, jnp
from swelltree.jit.loops import derivatives_along, each, each_sum
from swelltree.jit.points import Points
from swelltree.jit.program import Program

STEPS = {
    "sine": lambda r, s, k: jnp.sin(r) + s[0],
    "product": lambda r, s, k: r * s[:2] + r[::-1],
    "chosen": lambda r, s, k: jnp.where(r > 0.2, r * r, s[1]),
    "largest": lambda r, s, k: jnp.maximum(r, s[2]),
    "looked up": lambda r, s, k: r * s[k],
    "swung": lambda r, s, k: jax.lax.fori_loop(0, 2, lambda j, y: jnp.cos(y) * s[j], r),
    "rooted": lambda r, s, k: jnp.sqrt(1.0 + r * r) - k,
    "within": lambda r, s, k: each(lambda a: jnp.tanh(a) * s[0] + r[1], r),
    "summed within": lambda r, s, k: r + each_sum(lambda a: a * r * s[1], s),
    "branch": lambda r, s, k: jax.lax.cond(k > 1, jnp.sin, lambda y: y * s[0], r),
    "held": lambda r, s, k: jax.lax.stop_gradient(r) * r,
}
CHAINS = st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=4)


def by_vmap(function, *rows, axis=0):
    return jax.vmap(function, axis)(*rows)


def sum_by_vmap(function, *rows, axis=0):
    return jax.tree.map(lambda x: x.sum(0, dtype=x.dtype), jax.vmap(function, axis)(*rows))


def program(names, length, axis, one, total):
    """Rows (and their sums) of a chain of steps, with something after them."""

    def run(rows, shared):
        index, shared = jnp.arange(length) % 3, jnp.asarray(shared)
        rows = rows if axis == 0 else rows.T

        def body(r, k):
            for name in names:
                r = 0.6 * jnp.tanh(STEPS[name](r, shared, k)) + 0.1
            return r, (r[0] * r[1], k + 1)

        found, (both, count) = one(lambda r: body(r, 1), rows, axis=axis)
        sums, (more, full) = total(body, rows if axis == 0 else rows.T, index)
        return found * sums + both[:, None], more, full + count.sum(), found

    return run


def close(found, right):
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(right), strict=True):
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * max(1.0, np.abs(b).max(initial=0.0)))


def weighed(function):
    """A single number of all results that are floats."""
    return lambda *args: sum(jnp.sin(x + 0.3).sum() for x in function(*args)[:2])


@settings(max_examples=6, deadline=None, derandomize=True, phases=[Phase.generate])
@given(CHAINS, st.integers(1, 9), st.sampled_from([0, 1]), st.integers(0, 1000))
def test_values_derivatives_and_batches_are_those_of_vmap(names, length, axis, seed):
    rng = np.random.default_rng(seed)
    rows, shared = rng.standard_normal((length, 2)), rng.standard_normal(3)
    ours = program(names, length, axis, each, each_sum)
    theirs = program(names, length, axis, by_vmap, sum_by_vmap)
    moved = rng.standard_normal(rows.shape), rng.standard_normal(shared.shape)
    many = np.stack([rows, 2.0 * rows]), np.stack([shared, shared + 1.0])

    def results(function):
        along = jax.jvp(lambda *x: function(*x)[:2], (rows, shared), moved)
        back = jax.grad(weighed(function), (0, 1))
        twice = jax.jvp(back, (rows, shared), moved)
        batches = [jax.vmap(function)(*many), jax.vmap(function, (0, None))(many[0], shared)]
        turned = jax.vmap(back, (2, None))(np.moveaxis(many[0], 0, 2), shared)
        return function(rows, shared), along, back(rows, shared), twice, batches, turned

    close(jax.jit(lambda: results(ours))(), jax.jit(lambda: results(theirs))())


@settings(max_examples=6, deadline=None, derandomize=True, phases=[Phase.generate])
@given(CHAINS, st.integers(1, 21), st.sampled_from([0, 1]), st.integers(0, 1000))
def test_machine_code_has_values_and_jacobians_of_vmap(names, length, axis, seed):
    rng = np.random.default_rng(seed)
    rows, shared = rng.standard_normal((length, 2)), rng.standard_normal(3)
    ours = program(names, length, axis, each, each_sum)
    theirs = program(names, length, axis, by_vmap, sum_by_vmap)
    for fixed in (0, 1):
        compiled = Program(ours, fixed=fixed)
        assert compiled.engine(rows, shared) == "LLVM"
        close(compiled(rows, shared), jax.jit(theirs)(rows, shared))
    # beside arrays whose rows are computed in loops of their own
    among = Program(ours, fixed=0, rows=lambda *_: {(length,): length})
    assert among.engine(rows, shared) == "LLVM"
    close(among(rows, shared), jax.jit(theirs)(rows, shared))
    jacobian = Program(jax.jacfwd(lambda *x: ours(*x)[:2], (0, 1)), fixed=0)
    assert jacobian.engine(rows, shared) == "LLVM"
    right = jax.jit(jax.jacfwd(lambda *x: theirs(*x)[:2], (0, 1)))(rows, shared)
    close(jacobian(rows, shared), right)


def test_points_differentiate_through_rows():
    """Jacobians and second derivatives taken while the program is written."""
    rows = np.linspace(-1.0, 1.0, 30)

    def run(specified, t, w):
        total = each_sum(lambda r: jnp.sin(r * w[0] + t) * w, specified)
        return (total + each(lambda r: w[1] * jnp.cos(r * w), specified[:3])[1],)

    t, w = np.array([0.2, 0.7]), np.array([[0.3, -0.4], [1.1, 0.6]])
    points = Points(run, many=True)
    jacobian = jax.vmap(jax.jacfwd(run, 2), (None, 0, 0))(rows, t, w)
    close(points.jacobians(rows, t, w)[1], jacobian)
    assert points.engine == "LLVM"
    weight = (np.array([[0.3, 0.8], [-0.2, 0.5]]),)

    def weighed(t, w, q):
        return (q * run(rows, t, w)[0]).sum()

    second = jax.vmap(jax.hessian(weighed, 1))(t, w, weight[0])
    close([points.second(rows, t, w, weight=weight)], [second])


@pytest.mark.parametrize("count", [5, 19])
def test_derivatives_along_directions_are_those_of_jax(monkeypatch, count):
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    x = np.linspace(-0.8, 1.1, count)

    def function(x):
        z = jnp.sin(x) * x[::-1] + x[2]
        return (z[1:] * z[:-1], {"sum": z.sum()}), jnp.cos(z)

    program = Program(lambda x: derivatives_along(function, x), fixed=0)
    assert program.engine(x) == "LLVM"
    right = jax.jit(jax.jacfwd(function, has_aux=True))(x)
    close(program(x), right)
    close(jax.jit(lambda x: derivatives_along(function, x))(x), right)


def test_no_rows_give_no_results_and_sums_of_zero():
    def run(x):
        return each(jnp.sin, x), each_sum(lambda r: (jnp.sin(r), 1), x)

    close(Program(run, fixed=0)(np.zeros(0)), run(np.zeros(0)))


def test_rows_of_different_counts_are_refused():
    with pytest.raises(ValueError, match=r"each: \[3, 4\] rows; give arrays with the same number"):
        each(jnp.add, np.zeros(3), np.zeros(4))


def test_axis_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"each: an array of shape \(3,\) has no axis 1"):
        each(jnp.sin, np.zeros(3), axis=1)
