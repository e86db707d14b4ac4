"""The functions of MATLAB that input scripts use; nothing else can be called."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from swelltree.interop.wecsim.script.tree import CannotRead
from swelltree.interop.wecsim.script.values import (
    Act,
    Object,
    Objects,
    Unknown,
    Value,
    Work,
    as_integer,
    matrix,
    scalar,
    spaced,
)

CONSTANTS = {
    "pi": np.pi,
    "inf": np.inf,
    "Inf": np.inf,
    "nan": np.nan,
    "NaN": np.nan,
    "eps": 2.0**-52,
    "true": 1.0,
    "false": 0.0,
}

EACH: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("sin", "cos", "tan")},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("sinh", "cosh", "tanh")},
    **{name: getattr(np, name) for name in ("sqrt", "exp", "log", "log10", "log2", "abs")},
    **{name: getattr(np, name) for name in ("floor", "ceil", "sign", "isnan", "isinf")},
    "fix": np.trunc,
    "round": lambda x: np.sign(x) * np.floor(np.abs(x) + 0.5),
    "deg2rad": np.deg2rad,
    "rad2deg": np.rad2deg,
    "sind": lambda x: np.sin(np.deg2rad(x)),
    "cosd": lambda x: np.cos(np.deg2rad(x)),
    "tand": lambda x: np.tan(np.deg2rad(x)),
    "double": lambda x: x,
    "logical": lambda x: np.not_equal(x, 0),
    "real": lambda x: x,
}
PAIRS: dict[str, Act] = {
    "atan2": np.arctan2,
    "mod": lambda a, b: np.where(b == 0, a, np.mod(a, np.where(b == 0, 1.0, b))),
    "power": np.power,
    "times": np.multiply,
    "plus": np.add,
    "minus": np.subtract,
    "rdivide": np.divide,
    "hypot": np.hypot,
}
FILLED = {"zeros": 0.0, "ones": 1.0, "eye": 0.0, "nan": np.nan, "NaN": np.nan, "inf": np.inf}
OVER = {"sum": np.sum, "mean": np.mean, "prod": np.prod, "cumsum": np.cumsum, "max": np.max}
OVER["min"] = np.min


def call(name: str, specified: tuple[Value, ...], work: Work) -> Value:
    """What a function of MATLAB gives.

    Args:
        name: of the function.
        specified: its arguments.
        work: pays for what is made.
    """
    for value in specified:
        if isinstance(value, Unknown):
            raise CannotRead(value.why)
    with np.errstate(all="ignore"):
        if name in EACH and len(specified) == 1:
            x = matrix(specified[0])
            work.take(x.size)
            return np.asarray(EACH[name](x), dtype=float)
        if name in PAIRS and len(specified) == 2:
            return _pair(PAIRS[name], matrix(specified[0]), matrix(specified[1]), work)
        if name in FILLED:
            return _filled(name, specified, work)
        if name in OVER:
            return _over(name, specified, work)
        if name in OTHERS:
            return OTHERS[name](specified, work)
    raise CannotRead(f"'{name}' is not known here, and user functions are not supported")


def is_function(name: str) -> bool:
    """Whether a name can be called."""
    return any(name in table for table in (EACH, PAIRS, FILLED, OVER, OTHERS))


def _pair(act: Act, a: np.ndarray, b: np.ndarray, work: Work) -> np.ndarray:
    if a.shape != b.shape and 1 not in (a.size, b.size):
        raise CannotRead("two arguments differ in size")
    work.take(max(a.size, b.size))
    return np.asarray(act(a, b), dtype=float)


def _sizes(specified: tuple[Value, ...]) -> tuple[int, int]:
    """Rows and columns that zeros(...) and its like are asked for."""
    numbers = [x for x in specified if not isinstance(x, str)]
    if not numbers:
        return 1, 1
    if len(numbers) == 1:
        row = [as_integer(x) for x in matrix(numbers[0]).reshape(-1)]
        numbers = row * 2 if len(row) == 1 else row
    sizes = [max(as_integer(x), 0) for x in numbers]
    if len(sizes) != 2:
        raise CannotRead("matrices have two sizes")
    return sizes[0], sizes[1]


def _filled(name: str, specified: tuple[Value, ...], work: Work) -> np.ndarray:
    rows, columns = _sizes(specified)
    work.take(rows * columns)
    return np.eye(rows, columns) if name == "eye" else np.full((rows, columns), FILLED[name])


def _over(name: str, specified: tuple[Value, ...], work: Work) -> np.ndarray:
    if len(specified) == 2 and name in ("max", "min"):
        return _pair(getattr(np, f"{name}imum"), matrix(specified[0]), matrix(specified[1]), work)
    if len(specified) != 1:
        raise CannotRead(f"'{name}' of {len(specified)} arguments is not supported")
    x = matrix(specified[0])
    work.take(x.size)
    if not x.size:
        return np.zeros((1, 1)) if name == "sum" else np.zeros((0, 0))
    axis = 1 if x.shape[0] == 1 else 0
    result = OVER[name](x, axis=axis)
    return result if name == "cumsum" else np.expand_dims(result, axis)


def _linspace(specified: tuple[Value, ...], work: Work) -> np.ndarray:
    if not 2 <= len(specified) <= 3:
        raise CannotRead("linspace has two or three arguments")
    count = as_integer(specified[2]) if len(specified) == 3 else 100
    work.take(count)
    return np.linspace(scalar(specified[0]), scalar(specified[1]), max(count, 1))[None, :]


def _reshape(specified: tuple[Value, ...], work: Work) -> np.ndarray:
    x = matrix(specified[0])
    sizes = [None if matrix(s).size == 0 else as_integer(s) for s in specified[1:]]
    if len(sizes) == 1 and len(specified) == 2:
        sizes = [as_integer(s) for s in matrix(specified[1]).reshape(-1)]
    if len(sizes) != 2 or sizes == [None, None]:
        raise CannotRead("reshape has two sizes")
    known = next((s for s in sizes if s is not None), 1) or 1
    shape = [x.size // max(known, 1) if s is None else s for s in sizes]
    if min(shape) < 0 or shape[0] * shape[1] != x.size:
        raise CannotRead(f"{x.size} values do not fit {shape[0]} x {shape[1]}")
    work.take(x.size)
    return x.reshape(shape[0], shape[1], order="F")


def meshgrid(specified: tuple[Value, ...], work: Work) -> list[np.ndarray]:
    """[X, Y] = meshgrid(x, y)."""
    if not 1 <= len(specified) <= 2:
        raise CannotRead("meshgrid has one or two arguments")
    x, y = matrix(specified[0]).reshape(-1), matrix(specified[-1]).reshape(-1)
    work.take(x.size * y.size)
    work.take(x.size * y.size)
    return list(np.meshgrid(x, y))


def _repmat(specified: tuple[Value, ...], work: Work) -> np.ndarray:
    x, (rows, columns) = matrix(specified[0]), _sizes(specified[1:])
    work.take(x.size * rows * columns)
    return np.tile(x, (rows, columns))


def _diag(specified: tuple[Value, ...], work: Work) -> np.ndarray:
    x = matrix(specified[0])
    if len(specified) != 1:
        raise CannotRead("diag has one argument")
    if 1 in x.shape:
        work.take(x.size**2)
        return np.diag(x.reshape(-1))
    return np.diag(x)[:, None]


def _size(specified: tuple[Value, ...], work: Work) -> np.ndarray:
    shape = _shape(specified[0])
    if len(specified) == 1:
        return np.array([shape], dtype=float)
    axis = as_integer(specified[1])
    return np.array([[float(shape[axis - 1] if 1 <= axis <= 2 else 1)]])


def _shape(value: Value) -> tuple[int, int]:
    if isinstance(value, str | list):
        return 1, len(value)
    if isinstance(value, Objects):
        return 1, max(value.items, default=0)
    result = matrix(value)
    return result.shape[0], result.shape[1]


def _one(x: float) -> np.ndarray:
    return np.array([[float(x)]])


def _same_text(specified: tuple[Value, ...], work: Work) -> np.ndarray:
    a, b = specified if len(specified) == 2 else (None, None)
    return _one(isinstance(a, str) and a == b)


def _vectors(specified: tuple[Value, ...]) -> tuple[np.ndarray, np.ndarray]:
    a, b = (matrix(x).reshape(-1) for x in specified) if len(specified) == 2 else (np.ones(1),) * 2
    if a.size != b.size or len(specified) != 2:
        raise CannotRead("two vectors of one length are expected")
    return a, b


def _cross(specified: tuple[Value, ...], work: Work) -> np.ndarray:
    a, b = _vectors(specified)
    if a.size != 3:
        raise CannotRead("cross has two vectors of three")
    return np.cross(a, b)[None, :]


def _number(specified: tuple[Value, ...], work: Work) -> np.ndarray:
    value = specified[0]
    try:
        return _one(float(value) if isinstance(value, str) else scalar(value))
    except (CannotRead, ValueError):
        return _one(np.nan)


def _colon(specified: tuple[Value, ...], work: Work) -> np.ndarray:
    values = [scalar(x) for x in specified]
    first, step, last = values if len(values) == 3 else (values[0], 1.0, values[-1])
    return spaced(first, step, last, work)


OTHERS: dict[str, Callable[[tuple[Value, ...], Work], Value]] = {
    "linspace": _linspace,
    "reshape": _reshape,
    "meshgrid": lambda specified, work: meshgrid(specified, work)[0],
    "repmat": _repmat,
    "diag": _diag,
    "size": _size,
    "colon": _colon,
    "length": lambda specified, work: _one(
        max(_shape(specified[0])) if min(_shape(specified[0])) else 0
    ),
    "numel": lambda specified, work: _one(_shape(specified[0])[0] * _shape(specified[0])[1]),
    "isempty": lambda specified, work: _one(0 in _shape(specified[0])),
    "strcmp": _same_text,
    "str2double": _number,
    "str2num": _number,
    "norm": lambda specified, work: _one(float(np.sqrt((matrix(specified[0]) ** 2).sum()))),
    "dot": lambda specified, work: _one(float(np.dot(*_vectors(specified)))),
    "cross": _cross,
    "transpose": lambda specified, work: matrix(specified[0]).T,
    "struct": lambda specified, work: _struct(specified),
}


def _struct(specified: tuple[Value, ...]) -> Objects:
    names = [name for name in specified[::2] if isinstance(name, str)]
    if 2 * len(names) != len(specified):
        raise CannotRead("struct has pairs of a name and a value")
    built = Object("struct", (), 0, dict(zip(names, specified[1::2], strict=True)))
    return Objects({1: built})
