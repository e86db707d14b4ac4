"""`operability`: the same operation in many conditions, judged by limits.

A case that gives no result - it could not be set up, its run ended early, a number is missing - is
neither operable nor inoperable: its state is "failed", its message is kept and told, and the others
go on.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from swelltree.system.errors import SwelltreeError, SwelltreeWarning, listed, suggest

UNITS = {"Hs": "m", "Tp": "s", "Tz": "s", "beta": "rad", "speed": "m/s"}


def operability(
    run: Callable[..., Any],
    over: Mapping[str, Sequence[float]],
    judge: Callable[[Any], Mapping[str, float]],
    limits: Mapping[str, Any],
) -> Any:
    """Run an operation over a grid of conditions and hold the results against limits.

    Args:
        run: function of the conditions by name, such as `lambda Hs, Tp: simulate(...)`.
        over: values of each condition, such as {"Hs": [1, 2, 3], "Tp": [6, 8, 10]}.
        judge: function of what `run` returns: numbers by name.
        limits: for some of these numbers the largest that is allowed, or (lowest, largest).

    Returns a dataset with the conditions as dimensions: every number of `judge`; `state`, one of
    "operable", "inoperable" and "failed" (no result to judge; the reasons are in the attribute
    `failures`); `utilisation`, the largest part of a limit that is used, one and less being
    operable; `governing`, whose limit that is; and `operable`, whether the state is that.
    """
    import xarray as xr

    if not over or any(len(values) == 0 for values in over.values()):
        raise SwelltreeError("operability: there are no conditions. Give values of each, e.g. Hs.")
    if not limits:
        raise SwelltreeError("operability: there are no limits. Give {number: largest value}.")
    limits = {name: _as_limit(name, limit) for name, limit in limits.items()}
    names, grid = tuple(over), [list(values) for values in over.values()]
    shape = tuple(len(values) for values in grid)
    found: dict[str, np.ndarray] = {}
    use = np.full((len(limits), *shape), np.nan)
    failures = []
    for place in itertools.product(*(range(n) for n in shape)):
        where = {name: grid[k][i] for k, (name, i) in enumerate(zip(names, place, strict=True))}
        try:
            numbers = judge(succeeded(run(**where)))
            refuse_gaps(numbers, limits)
        except SwelltreeError as error:
            told = ", ".join(f"{name} = {value:g}" for name, value in where.items())
            failures.append(f"{told}: {error}")
            continue
        unknown = [name for name in limits if name not in numbers]
        if unknown:
            raise SwelltreeError(
                f"operability: limit '{unknown[0]}' is not among the numbers."
                f"{suggest(unknown[0], numbers)} They are {listed(numbers)}."
            )
        for name, value in numbers.items():
            found.setdefault(name, np.full(shape, np.nan))[place] = value
        for k, (name, limit) in enumerate(limits.items()):
            use[(k, *place)] = _used(float(numbers[name]), limit)
    failed = np.isnan(use).any(axis=0)
    worst = np.where(failed, np.nan, use.max(axis=0))
    governing = np.where(failed, "", np.array(list(limits), dtype=object)[use.argmax(axis=0)])
    state = np.where(failed, "failed", np.where(worst <= 1.0, "operable", "inoperable"))
    if failures:
        warnings.warn(
            f"operability: {len(failures)} of {failed.size} cases have no result and are neither "
            f"operable nor inoperable. The first is {failures[0]}",
            SwelltreeWarning,
            stacklevel=2,
        )
    data: dict[str, Any] = {
        name: (names, values, {} if name not in limits else {"limit": limits[name]})
        for name, values in found.items()
    }
    data["utilisation"] = (names, worst, {"long_name": "largest part of a limit", "units": "1"})
    data["governing"] = (names, governing, {"long_name": "number with that limit"})
    data["state"] = (names, state.astype(object), {"long_name": "operable, inoperable or failed"})
    data["operable"] = (names, state == "operable", {"long_name": "within all limits"})
    coords = {
        name: (name, np.asarray(values, float), {"units": UNITS[name]} if name in UNITS else {})
        for name, values in zip(names, grid, strict=True)
    }
    attrs = {
        "study": "operability",
        "limits": "; ".join(f"{name} {_told(limit)}" for name, limit in limits.items()),
        "failures": "; ".join(failures),
    }
    return xr.Dataset(data, coords, attrs)


def succeeded(result: Any) -> Any:
    """The result of a run that ended well; Ctrl-C ends the whole study.

    Args:
        result: of a study, or anything else, which is taken as it is.
    """
    attrs = getattr(result, "attrs", {})
    ended = str(attrs.get("result", "success"))
    if ended == "stopped_by_user":
        raise KeyboardInterrupt
    if ended != "success":
        raise SwelltreeError(f"{ended}: {attrs.get('message', 'the run did not finish.')}")
    return result


def refuse_gaps(numbers: Mapping[str, float], limits: Mapping[str, Any]) -> None:
    """A number that is held against a limit must be one."""
    for name in limits:
        if name in numbers and np.isnan(numbers[name]):
            raise SwelltreeError(f"'{name}' is not a number. Look at the run and at judge.")


def _used(value: float, limit: float | tuple[float, float]) -> float:
    """Part of a limit that a value uses; one is the limit."""
    if isinstance(limit, tuple):
        low, high = limit
        # how far from the middle of what is allowed
        return abs(value - 0.5 * (low + high)) / (0.5 * (high - low))
    return value / limit


def _as_limit(name: str, limit: Any) -> float | tuple[float, float]:
    """A largest value, or the lowest and the largest, checked before anything runs."""
    try:
        numbers = np.asarray(limit, dtype=float)
    except (TypeError, ValueError):
        numbers = np.full(0, np.nan)
    if numbers.shape not in ((), (2,)) or not np.isfinite(numbers).all():
        raise SwelltreeError(
            f"operability: limit {limit!r} of '{name}' is neither a number nor two. "
            "Give the largest value, or (lowest, largest)."
        )
    if numbers.shape == ():
        if not numbers > 0:
            raise SwelltreeError(
                f"operability: limit {float(numbers):g} is not positive. "
                "Give (lowest, largest) instead."
            )
        return float(numbers)
    low, high = (float(x) for x in numbers)
    if not low < high:
        raise SwelltreeError(
            f"operability: limits {low:g} to {high:g} leave nothing. Give (lowest, largest)."
        )
    return low, high


def _told(limit: float | tuple[float, float]) -> str:
    return f"{limit[0]:g} to {limit[1]:g}" if isinstance(limit, tuple) else f"<= {limit:g}"
