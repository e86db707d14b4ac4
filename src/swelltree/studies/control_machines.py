"""Machines whose law gives way to a chosen force: spring and end stops stay, the rest is u."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from swelltree.model.forces.controllers import pto_group
from swelltree.model.forces.laws.damper import Damper
from swelltree.model.forces.ptos import Ptos
from swelltree.model.model import Model
from swelltree.spatial.engine import jax

NONE = 1e30  # a limit that is not there
Place = tuple[tuple[str, int], ...]


def freed(model: Model, place: Place) -> Model:
    """The model with the laws of the machines at these places replaced by actuators.

    Limits of the machine are taken away, too: whoever chooses the force keeps them.
    """
    driven = {i for kind, i in place if kind == "pto"}
    group: Ptos | None = pto_group(model)
    if group is None or not driven:
        return model
    laws, counts = [], []
    for law, own in zip(group.laws, group.slices(), strict=True):
        for first, last, is_driven in _runs(own, driven):
            part = actuators(np.zeros(last - first)) if is_driven else law
            if not is_driven and last - first < own.stop - own.start:
                inside = slice(first - own.start, last - own.start)
                part = jax.tree.map(lambda x, s=inside: x[s], law)
            laws.append(part)
            counts.append(last - first)
    chosen = np.isin(np.arange(len(group.names)), sorted(driven))
    changed = replace(
        group,
        laws=tuple(laws),
        counts=tuple(counts),
        force_limit=np.where(chosen, NONE, group.force_limit),
        power_limit=np.where(chosen, NONE, group.power_limit),
        watches_hold=group.watches_hold and any(law.holds for law in laws),
    )
    return with_machines(model, changed)


def actuators(damping: np.ndarray) -> Damper:
    """F = u - c v."""
    none = np.zeros(len(damping))
    return Damper(damping, none, none + 1.0, none + 1.0)


def with_machines(model: Model, group: Ptos) -> Model:
    """The model with its group of PTOs exchanged."""
    groups = tuple(group if g.kind == group.kind else g for g in model.forces.groups)
    return model.replace(forces=replace(model.forces, groups=groups))


def with_damping(model: Model, place: Place, damping: Any) -> Model:
    """The freed machines at these places with plain dampers."""
    group: Ptos | None = pto_group(model)
    own = {i: c for (kind, i), c in zip(place, damping, strict=True) if kind == "pto"}
    if group is None or not own:
        return model
    laws = tuple(
        actuators(np.array([own[i] for i in range(s.start, s.stop)])) if s.start in own else law
        for law, s in zip(group.laws, group.slices(), strict=True)
    )
    return with_machines(model, replace(group, laws=laws))


def own_limits(model: Model, names: tuple[str, ...], place: Place) -> dict[str, Any]:
    """Limits that the machines have of their own, by argument and name."""
    group: Ptos | None = pto_group(model)
    force, stroke, power = {}, {}, {}
    joints = model.forces.joint_forces
    for name, (kind, i) in zip(names, place, strict=True):
        if kind == "joint":
            zero = float(joints.rest_position[i])
            ends = float(joints.lower[i]) - zero, float(joints.upper[i]) - zero
            if np.isfinite(ends).any():
                stroke[name] = ends
        if kind != "pto" or group is None:
            continue
        if float(group.force_limit[i]) < NONE:
            force[name] = float(group.force_limit[i])
        if float(group.power_limit[i]) < NONE:
            power[name] = float(group.power_limit[i])
        ends = float(group.stops.lower[i]), float(group.stops.upper[i])
        if np.isfinite(ends).any():
            stroke[name] = ends
    return {"force_max": force, "stroke_max": stroke, "power_limit": power}


def off_the_stops(own: dict[str, Any], limits: tuple[Any, ...], names: Any) -> frozenset[str]:
    """Names of the driven elements whose stroke is limited to within their stops.

    Args:
        own: limits of the machines themselves, from `own_limits`.
        limits: that the search keeps.
        names: of the driven elements.
    """
    strokes = {names[x.port]: (x.low, x.high) for x in limits if x.kind == "stroke"}
    free = (-np.inf, np.inf)
    return frozenset(
        name
        for name, (low, high) in own["stroke_max"].items()
        if strokes.get(name, free)[0] >= low and strokes.get(name, free)[1] <= high
    )


def with_tips(model: Model, share: float) -> Model | None:
    """The model with soft tips on its stops, of a share of their distance; None without stops."""
    joints, group = model.forces.joint_forces, pto_group(model)
    found = False
    if np.isfinite([*np.asarray(joints.lower), *np.asarray(joints.upper)]).any():
        forces = replace(joints, stop_tip=share * _reach(joints.lower, joints.upper))
        model = model.replace(forces=replace(model.forces, joint_forces=forces))
        found = True
    if group is not None:
        stops = group.stops
        if np.isfinite([*np.asarray(stops.lower), *np.asarray(stops.upper)]).any():
            tip = share * _reach(stops.lower, stops.upper)
            model = with_machines(model, replace(group, stops=replace(stops, tip=tip)))
            found = True
    return model if found else None


def _reach(lower: Any, upper: Any) -> np.ndarray:
    """Half the distance of the stops, or that of the only one from zero."""
    ends = np.abs(np.stack([np.asarray(lower, float), np.asarray(upper, float)]))
    there = np.isfinite(ends)
    count = np.maximum(there.sum(axis=0), 1)
    reach = np.where(there, ends, 0.0).sum(axis=0) / count
    return np.where(reach > 0.0, reach, 1.0)


def _runs(own: slice, driven: set[int]) -> list[tuple[int, int, bool]]:
    """Machines of one law in runs that are driven or not."""
    out: list[tuple[int, int, bool]] = []
    for i in range(own.start, own.stop):
        if out and out[-1][2] == (i in driven):
            out[-1] = (out[-1][0], i + 1, out[-1][2])
        else:
            out.append((i, i + 1, i in driven))
    return out
