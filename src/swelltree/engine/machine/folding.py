"""Values of operations on numbers that are known beforehand."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from swelltree.engine.arrays import Array

TYPES = {"f8": np.float64, "i4": np.int32, "i8": np.int64, "u4": np.uint32, "b1": np.bool_}


def _quotient(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return a / b
    if b == 0:
        return ~a.dtype.type(0)  # all bits, as XLA has it
    whole = abs(int(a)) // abs(int(b))
    return np.int64(whole if (a < 0) == (b < 0) else -whole).astype(a.dtype)


def _remainder(a: Array, b: Array) -> Array:
    return np.fmod(a, b) if a.dtype.kind == "f" or b else a


def _shifted_left(x: Array, y: Array) -> int:
    return x << y if 0 <= y < 8 * x.itemsize else x.dtype.type(0)


def _shifted_right(x: Array, y: Array) -> int:
    return x >> (y if 0 <= y < 8 * x.itemsize else x.dtype.type(8 * x.itemsize - 1))


def _pushed_right(x: Array, y: Array) -> int:
    """Zeros come in from the left."""
    if not 0 <= y < 8 * x.itemsize:
        return x.dtype.type(0)
    unsigned = np.dtype(f"u{x.itemsize}")
    return (x.astype(unsigned) >> y.astype(unsigned)).astype(x.dtype)


VALUES: dict[str, Callable[..., float | None]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _quotient,
    "rem": _remainder,
    "neg": lambda a: -a,
    "abs": np.abs,
    "max": np.maximum,
    "min": np.minimum,
    "pow": lambda a, b: a**b,
    "atan2": np.arctan2,
    "nextafter": np.nextafter,
    "shift_left": _shifted_left,
    "shift_right_arithmetic": _shifted_right,
    "shift_right_logical": _pushed_right,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "not": lambda a: ~a,
    "where": lambda c, a, b: a if c else b,
    "finite": np.isfinite,
    "sign": np.sign,
    "round_even": np.rint,
    # the float below one half: what is rounded by the addition must not reach the next integer
    "round_away": lambda x: np.trunc(x + np.copysign(np.nextafter(0.5, 0.0), x)),
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
}
for _name in ("sqrt", "sin", "cos", "tan", "exp", "exp2", "log", "tanh", "sinh", "cosh"):
    VALUES[_name] = getattr(np, _name)
for _name in ("log1p", "expm1", "floor", "ceil", "cbrt"):
    VALUES[_name] = getattr(np, _name)


def folded(name: str, kind: str, kinds: list[str], values: list[float]) -> float | None:
    """Value of an operation; None where it is left to the program."""
    if name == "convert":
        return _converted(values[0], kind)
    if name not in VALUES:
        return None
    exact = [TYPES[k](v) for k, v in zip(kinds, values, strict=True)]
    with np.errstate(all="ignore"):
        return TYPES[kind](VALUES[name](*exact)).item()


def _converted(value: float, kind: str) -> float:
    """Another type as XLA gives it: integers are cut to their range, NaN becomes zero."""
    if kind == "f8":
        return float(value)
    if kind == "b1":
        return value != 0
    if isinstance(value, float):
        if math.isnan(value):
            return 0
        bounds = np.iinfo(TYPES[kind])
        low, high = int(bounds.min), int(bounds.max)
        if math.isinf(value):
            return high if value > 0 else low
        return min(max(int(value), low), high)
    return int(np.int64(value).astype(TYPES[kind]))
