"""Mathematical functions in LLVM's language against extended precision."""

import numpy as np
import pytest

from swelltree.engine.machine.functions.written import OF_TWO, WRITERS, written
from swelltree.engine.machine.native import Native, object_code

LOOP = """
define void @run(ptr %fixed, ptr %in, ptr %out, ptr %work) {{
entry:
  %n = load i64, ptr %work
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%j, %loop]
  %pa = getelementptr double, ptr %fixed, i64 %i
  %pb = getelementptr double, ptr %in, i64 %i
  %po = getelementptr double, ptr %out, i64 %i
  %a = load double, ptr %pa
  %b = load double, ptr %pb
  %r = call double @st_{name}({arguments})
  store double %r, ptr %po
  %j = add i64 %i, 1
  %c = icmp slt i64 %j, %n
  br i1 %c, label %loop, label %end
end:
  ret void
}}
"""
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e308, -2.5, 2.0, 3.0, 0.5])
REFERENCE = {name: getattr(np, name, None) for name in WRITERS} | {
    "atan": np.arctan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan2": np.arctan2,
    "pow": np.power,
    "rem": np.fmod,
}
EXACT = {"nextafter", "rem"}  # as doubles have them
needs_long = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="no numbers of extended precision here"
)


def applied(name, a, b):
    arguments = "double %a, double %b" if name in OF_TWO else "double %a"
    native = Native(object_code(written({name}) + LOOP.format(name=name, arguments=arguments)))
    out = np.empty(a.size)
    native(a, b, out, np.array([a.size]))
    return out


def signed(rng, low, high, count):
    return rng.choice([-1.0, 1.0], count) * 10.0 ** rng.uniform(low, high, count)


def arguments(name, rng, n=20_000):
    """Numbers all over the range in which the function has a finite value."""
    positive = 10.0 ** rng.uniform(-300, 300, n)
    wide, unit = signed(rng, -17, 2, n), rng.uniform(-1.0, 1.0, n)
    angles = np.concatenate(
        [rng.uniform(-20, 20, n), signed(rng, -15, 9, n), np.pi / 2 * np.arange(1.0, 5000.0)]
    )
    of_one = {
        "exp": np.concatenate([rng.uniform(-708, 709, n), wide]),
        "exp2": rng.uniform(-1021, 1023, n),
        "expm1": np.concatenate([rng.uniform(-50, 709, n), wide]),
        "log": np.concatenate([positive, 1.0 + rng.uniform(-0.5, 1.0, n)]),
        "log1p": np.concatenate([signed(rng, -18, -0.01, n), 10.0 ** rng.uniform(0, 300, n)]),
        "sin": angles,
        "cos": angles,
        "tan": angles,
        "atan": signed(rng, -17, 17, n),
        "asin": unit,
        "acos": unit,
        "sinh": np.concatenate([rng.uniform(-700, 700, n), wide]),
        "cosh": np.concatenate([rng.uniform(-700, 700, n), wide]),
        "tanh": wide,
        "cbrt": signed(rng, -300, 300, n),
    }
    if name in of_one:
        return of_one[name], of_one[name]
    if name == "pow":
        return 10.0 ** rng.uniform(-20, 20, n), rng.uniform(-12.0, 12.0, n)
    return signed(rng, -5, 5, n), signed(rng, -5, 5, n)


@needs_long
@pytest.mark.parametrize("name", WRITERS)
def test_function_is_within_two_units_in_the_last_place(name):
    a, b = arguments(name, np.random.default_rng(0))
    exact = np.longdouble(1.0)
    given = (a, b) if name in EXACT else (exact * a, exact * b)
    right = np.longdouble(REFERENCE[name](*(given if name in OF_TWO else given[:1])))
    unit = np.spacing(np.abs(right.astype(float)))
    error = np.abs((applied(name, a, b) - right) / unit)
    assert np.isfinite(error).all()
    assert error.max() <= 2.0


@pytest.mark.parametrize("name", WRITERS)
def test_function_has_the_limits_and_signs_of_numpy(name):
    a, b = SPECIAL, SPECIAL
    if name in OF_TWO:
        a, b = (np.ascontiguousarray(x.ravel()) for x in np.meshgrid(SPECIAL, SPECIAL))
    with np.errstate(all="ignore"):
        right = REFERENCE[name](*((a, b) if name in OF_TWO else (a,)))
    found = applied(name, a, b)
    np.testing.assert_allclose(found, right, rtol=1e-15, atol=0.0)
    there = ~np.isnan(right)
    np.testing.assert_array_equal(np.signbit(found[there]), np.signbit(right[there]))
