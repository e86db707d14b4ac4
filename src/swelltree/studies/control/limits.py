"""Limits of a control study: as users write them, and what to say when they cannot be kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.describe.options import LimitLike
from swelltree.describe.values import NamedValues
from swelltree.integrate.programming import Point, smallest_excess
from swelltree.studies.control.actuators import Ports
from swelltree.studies.control.goal import ControlProgram, Limit
from swelltree.studies.control.limited import (
    FORCE,
    FORCE_RATE,
    POWER,
    STROKE,
    VELOCITY,
    AtRest,
)

QUANTITIES = {
    "force_max": FORCE,
    "stroke_max": STROKE,
    "force_rate_max": FORCE_RATE,
    "velocity_max": VELOCITY,
    "power_min": POWER,
    "power_max": POWER,
}


def read_limits(
    ports: Ports, specified: dict[str, LimitLike], power_scale: float
) -> tuple[Limit, ...]:
    """Limits from a number, a pair (low, high), or a dict of these by PTO."""
    out = []
    for name, value in specified.items():
        if value is None:
            continue
        check_names(ports, name, value)
        for i, port in enumerate(ports.names):
            bound = value.get(port) if isinstance(value, dict) else value
            if bound is None:
                continue
            low, high = _ends(name, bound)
            if np.isinf(low) and np.isinf(high):
                continue
            quantity = QUANTITIES[name]
            scale = power_scale if quantity.is_product else max(abs(low), abs(high))
            if np.isinf(scale):
                scale = min(abs(low), abs(high))
            out.append(Limit(quantity, name, i, low, high, scale or 1.0))
    return tuple(out)


def check_names(ports: Ports, name: str, value: object) -> None:
    """Reject an option for elements that are not driven."""
    for key in value if isinstance(value, dict) else ():
        if key not in ports.names:
            raise SwelltreeError(
                f"{name}: '{key}' is not driven.{suggest(key, ports.names)} The driven PTOs are "
                f"{listed(ports.names)}."
            )


def read_losses(ports: Ports, specified: float | Mapping[str, float]) -> np.ndarray:
    """R of the copper loss of every element, from a number or a dict by PTO."""
    check_names(ports, "copper_loss", specified)
    out = [
        specified.get(name, 0.0) if isinstance(specified, dict) else specified
        for name in ports.names
    ]
    for name, value in zip(ports.names, out, strict=True):
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
            raise SwelltreeError(f"copper_loss of pto '{name}' is {value!r}. Give W/N^2.")
        if not 0.0 <= float(value) < np.inf:
            raise SwelltreeError(
                f"copper_loss {value} W/N^2 of pto '{name}' is not a loss. Give zero or more."
            )
    return np.array(out, dtype=float)


def with_machine_limits(specified: NamedValues, of_machines: dict[str, NamedValues]) -> NamedValues:
    """Given limits, else those of the PTOs."""
    out = dict(specified)
    for name, by_pto in of_machines.items():
        value = specified.get(name)
        if by_pto and (value is None or isinstance(value, dict)):
            out[name] = by_pto | (value or {})
    return out


def _ends(name: str, value: Any) -> tuple[float, float]:
    if name == "power_min":
        if float(value) > 0.0:
            raise SwelltreeError(
                f"power_min {value} is positive, but an oscillating PTO has zero power twice per "
                "period. Give zero or less."
            )
        return float(value), np.inf
    if np.ndim(value) == 0:
        if not float(value) > 0.0:
            raise SwelltreeError(f"{name} {value} is not positive. Give a positive number.")
        return -float(value), float(value)
    low, high = (float(x) for x in value)
    if not low < high:
        raise SwelltreeError(f"{name} ({low:g}, {high:g}) is empty. Give (low, high).")
    return low, high


def shown(limit: Limit, ports: Ports, value: float | None = None) -> str:
    """Text of a limit, at its own or another value."""
    unit = limit.quantity.units[ports.angle[limit.port]]
    size = limit.low if limit.name == "power_min" else max(abs(limit.low), abs(limit.high))
    return f"{limit.name} {size if value is None else value:.4g} {unit}"


def why_not(program: ControlProgram, ports: Ports, point: Point, rest: AtRest) -> str:
    """Message: which limit cannot be kept, and what would do.

    Args:
        program: whose rows contradict one another.
        ports: driven elements.
        point: the program at some z.
        rest: the driven elements in still water.
    """
    limits = {limit.name: limit for limit in program.goal.limits}
    text = _static_need(program.goal.limits, ports, rest)
    if text:
        return text
    kinds = np.concatenate(
        [
            np.full(len(t), limit.name, dtype=object)
            for limit, t in zip(program.goal.limits, program.times, strict=True)
        ]
    )
    need = {}
    for name, limit in limits.items():
        excess, _ = smallest_excess(
            point.jacobian, program.low - point.rows, program.high - point.rows, kinds == name
        )
        if not limit.quantity.is_product and np.isfinite(excess):
            size = max(abs(limit.low), abs(limit.high))
            need[name] = size + excess * limit.scale
    blamed = "stroke_max" if "stroke_max" in need else next(iter(need), next(iter(limits)))
    limit = limits[blamed]
    pto = ports.names[limit.port]
    others = [shown(limits[name], ports) for name in limits if name != blamed]
    with_others = f" with {' and '.join(others)}" if others else ""
    if blamed not in need:
        return (
            f"pto '{pto}': {shown(limit, ports)} cannot be kept{with_others}. "
            f"Ask for less in {listed(list(limits))}."
        )
    ways = [shown(limits[name], ports, 1.001 * size) for name, size in need.items() if size > 0]
    return (
        f"pto '{pto}': {shown(limit, ports)} cannot be kept{with_others} in this sea. "
        f"Raise one of them to {' or '.join(ways)}."
    )


def _static_need(limits: tuple[Limit, ...], ports: Ports, rest: AtRest) -> str:
    """Message if the limits are inconsistent in still water."""
    rows, low, high, needs = [], [], [], []
    for limit in limits:
        found = limit.quantity.at_rest(rest, limit.port)
        if found is None:
            continue
        row, at = found
        rows.append(row / limit.scale)
        low.append((limit.low - at) / limit.scale)
        high.append((limit.high - at) / limit.scale)
        needs.append((limit, at))
    if not rows:
        return ""
    # forces in units of what moves the stroke
    size = np.array([x.scale for x in limits if x.quantity is FORCE] or [1.0]).max()
    G = np.array(rows) * size
    excess, _ = smallest_excess(G, np.array(low), np.array(high), np.ones(len(rows), bool))
    if excess < 1e-6:
        return ""
    # a stroke that rest breaks by itself; else the force, with which strokes would be kept
    forces = [x for x in needs if x[0].quantity is FORCE]
    broken = [x for x in needs if x not in forces and not x[0].low <= x[1] <= x[0].high]
    limit, at = next(iter([*broken, *forces, *needs]))
    name = limit.name.removesuffix("_max")
    unit = limit.quantity.units[ports.angle[limit.port]]
    return (
        f"pto '{ports.names[limit.port]}': {shown(limit, ports)} is less than its static need: at "
        f"rest the {name} is {at:.4g} {unit}. {limit.quantity.needed_at_rest}"
    )
