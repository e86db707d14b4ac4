"""Zeros of both signs, infinities, what is no number, ties, ends of ranges: as XLA has them.

But for numbers below 2.2e-308, which XLA takes for zero.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swelltree.jit.backend import jax, jnp
from swelltree.jit.program import Program

lax = jax.lax
FLOATS = np.array(
    [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.7, -3.7, 1e-290]
    + [-1e-280, 1e300, -1e305, 0.49999999999999994, 4503599627370497.5, 2.0**31, -(2.0**31) - 1]
    + [2.0**63, 2.0**32, 1e18]
)
WHOLE = np.array([0, 1, -1, 2, -2, 7, -7, 2**31 - 1, -(2**31), 31, 32, 63, 64, 100], np.int64)
X, Y = (np.ascontiguousarray(x.ravel()) for x in np.meshgrid(FLOATS, FLOATS))
P, Q = (np.ascontiguousarray(x.ravel()) for x in np.meshgrid(WHOLE, WHOLE))
OF_ONE = [
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arctanh",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1p",
    "log2",
    "cbrt",
    "sqrt",
    "abs",
    "sign",
    "floor",
    "ceil",
    "round",
    "trunc",
    "square",
    "reciprocal",
    "negative",
    "isnan",
    "isinf",
    "isfinite",
    "nan_to_num",
    "sinc",
    "cumsum",
    "cumprod",
]
OF_TWO = [
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "arctan2",
    "power",
    "fmod",
    "remainder",
    "floor_divide",
    "multiply",
    "heaviside",
    "add",
    "subtract",
    "less",
    "less_equal",
    "equal",
    "not_equal",
]
OF_WHOLE = "floor_divide remainder maximum minimum bitwise_and bitwise_or bitwise_xor multiply"
SHIFTS = (lax.shift_left, lax.shift_right_arithmetic, lax.shift_right_logical)
SMALLEST = 2.3e-308
TYPES = (np.int64, np.int32, np.uint32)


def functions_of_one(x):
    found = {name: getattr(jnp, name)(x) for name in OF_ONE}
    for power in (-3, -2, -1, 0, 1, 2, 5):
        found[f"power {power}"] = lax.integer_pow(x, power)
    for power in (0.0, 1.0, 2.0, 0.5, -0.5, 3.0):
        found[f"float power {power}"] = jnp.asarray(x) ** power
    for kind in (*TYPES, bool):
        found[f"as {np.dtype(kind)}"] = jnp.astype(x, kind)
    found["away"] = lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO)
    found["logistic"], found["rsqrt"] = lax.logistic(x), lax.rsqrt(jnp.abs(x))
    found["places"] = jnp.stack([jnp.argmax(x), jnp.argmin(x), jnp.nanargmax(x)])
    found["largest"] = jnp.stack([jnp.max(x), jnp.min(x), jnp.nanmax(x), jnp.nanmin(x)])
    found["searched"] = jnp.searchsorted(jnp.arange(5.0) / 4.0, x, side="right")
    found["between"] = jnp.interp(x, jnp.arange(5.0), jnp.arange(5.0) ** 2)
    return found


def functions_of_two(x, y):
    found = {name: getattr(jnp, name)(x, y) for name in OF_TWO}
    found["rest"], found["clamped"] = lax.rem(x, y), lax.clamp(x, y, y[::-1])
    less = x < y
    found["truths"] = jnp.stack([jnp.sum(less), jnp.prod(less), jnp.argmax(less), jnp.max(less)])
    found["counted"] = (jnp.cumsum(less), less + (x > y), less * 3, less < (y < x))
    return found


def functions_of_whole(*pairs):
    found = {}
    for p, q in pairs:
        for name in OF_WHOLE.split():
            found[f"{name} {p.dtype}"] = getattr(jnp, name)(p, q)
        for shift in SHIFTS:
            found[f"{shift.__name__} {p.dtype}"] = shift(p, q)
        for kind in (*TYPES, float, bool):
            found[f"{p.dtype} as {np.dtype(kind)}"] = jnp.astype(p, kind)
        found[f"of one {p.dtype}"] = (jnp.abs(p), jnp.sign(p), -p, ~p, lax.integer_pow(p, 3))
        found[f"sums {p.dtype}"] = (p.sum(dtype=p.dtype), p.max(), jnp.argmin(q), lax.cumsum(p))
        nothing = (lax.reduce_and(p[:0], (0,)), lax.reduce_or(p[:0], (0,)))
        found[f"nothing {p.dtype}"] = nothing
    return found


def same(found, right):
    """The same numbers, signs of zeros and types."""
    for (path, a), b in zip(
        jax.tree_util.tree_leaves_with_path(found), jax.tree.leaves(right), strict=True
    ):
        b, name = np.asarray(b), jax.tree_util.keystr(path)
        assert a.dtype == b.dtype, name
        assert a.shape == b.shape, name
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=SMALLEST, err_msg=name)
        if a.dtype.kind == "f":
            there = (np.abs(b) > SMALLEST) | (a == 0.0)
            signs = np.signbit(a[there]), np.signbit(b[there])
            np.testing.assert_array_equal(*signs, err_msg=f"signs of {name}")


PROGRAMS = {
    "one float": (functions_of_one, (FLOATS,)),
    "two floats": (functions_of_two, (X, Y)),
    "whole numbers": (
        lambda *rows: functions_of_whole(*zip(rows[::2], rows[1::2], strict=True)),
        tuple(x.astype(kind) for kind in TYPES for x in (P[::3], Q[::3])),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_special_values_are_those_of_xla(name):
    function, args = PROGRAMS[name]
    program = Program(function, fixed=0)
    assert program.engine(*args) == "LLVM"
    same(program(*args), jax.jit(function)(*args))


@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_known_beforehand_are_those_of_xla(name):
    """The same folded while the program is written."""
    function, args = PROGRAMS[name]
    few = tuple(x[::7] for x in args)
    program = Program(lambda one: (one, function(*few)), fixed=0)
    assert program.engine(1.0) == "LLVM"
    same(program(1.0)[1], jax.jit(function)(*few))


PLACES = np.array([-9, -5, -1, 0, 2, 4, 5, 9, 2**40])
ROW, SQUARE = np.array([0.3, -0.7, 1.2, -0.2, 0.9]), np.arange(9.0).reshape(3, 3) - 3.3


def indexed(i, j):
    """Looking up and changing numbers at places within and beyond arrays, in every mode."""
    found = {}
    for mode in ("fill", "clip"):
        for kind in (float, *TYPES, bool):
            row = jnp.asarray(3.0 * ROW).astype(kind)
            found[f"get {mode} {np.dtype(kind)}"] = row.at[i].get(mode=mode)
        new = jnp.arange(float(len(i))) + 0.5
        for change in ("set", "add", "multiply", "min", "max"):
            found[f"{change} {mode}"] = getattr(jnp.asarray(ROW).at[i], change)(new, mode=mode)
        found[f"rows {mode}"] = jnp.asarray(SQUARE).at[i].get(mode=mode)
        found[f"columns {mode}"] = jnp.asarray(SQUARE).at[:, i].add(new, mode=mode)
        found[f"numbers {mode}"] = jnp.asarray(SQUARE).at[i, i[::-1]].set(new, mode=mode)
    found["plain"] = jnp.asarray(ROW)[i]
    found["window"] = lax.dynamic_slice(jnp.asarray(SQUARE), (j, -j), (2, 2))
    found["new window"] = lax.dynamic_update_slice(jnp.asarray(SQUARE), SQUARE[:2, 1:], (j, -j))
    found["case"] = lax.switch(j, [jnp.sin, jnp.cos, jnp.square], jnp.asarray(ROW))
    found["no steps"] = lax.scan(lambda c, r: (c * r, c + r), 1.0 * j, jnp.asarray(ROW)[:0])
    return found


@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from(PLACES.tolist()), min_size=4, max_size=4), st.sampled_from([-7, 1, 3])
)
def test_places_beyond_arrays_are_treated_as_by_xla(places, corner):
    same(INDEXED(np.array(places), np.array(corner)), BY_XLA(np.array(places), np.array(corner)))
    assert INDEXED.engine(np.array(places), np.array(corner)) == "LLVM"


INDEXED, BY_XLA = Program(indexed, fixed=0), jax.jit(indexed)
