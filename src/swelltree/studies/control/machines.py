"""Elements whose law gives way to a chosen force: spring and end stops stay, the rest is u."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from swelltree.effects.strokes.laws.base import Law
from swelltree.effects.strokes.laws.damper import Damper
from swelltree.effects.strokes.stroke_forces import LIMITLESS, stroke_forces
from swelltree.engine.backend import jax
from swelltree.model.model import Model
from swelltree.studies.control.goal import Limit
from swelltree.studies.control.limited import STROKE
from swelltree.system.named_values import NamedValues

Place = tuple[int, ...]  # numbers of elements on strokes


def freed(model: Model, place: Place) -> Model:
    """The model with PTOs at these indices replaced by actuators F = u next to their springs.

    Limits of the PTO are removed, too: the caller that chooses the force keeps them. Plain dampers
    stay, and so do springs and joint forces, which are not PTOs.
    """
    forces = stroke_forces(model)
    machines = {i for i in place if not forces.is_plain(i)}
    if not machines:
        return model
    laws, counts = [], []
    for law, part in zip(forces.laws, forces.slices(), strict=True):
        for first, last, is_driven in _runs(part, machines):
            if is_driven:
                law_now: Law = Damper(np.zeros(last - first), np.ones(last - first))
            else:
                inside = slice(first - part.start, last - part.start)
                whole = last - first == part.stop - part.start
                law_now = law if whole else jax.tree.map(lambda x, s=inside: x[s], law)
            laws.append(law_now)
            counts.append(last - first)
    driven = np.isin(np.arange(len(forces.names)), sorted(machines))
    force_limit = np.where(driven, LIMITLESS, forces.force_limit)
    power_limit = np.where(driven, LIMITLESS, forces.power_limit)
    changed = replace(
        forces,
        laws=tuple(laws),
        counts=tuple(counts),
        force_limit=force_limit,
        power_limit=power_limit,
        limited=bool((np.minimum(force_limit, power_limit) < LIMITLESS).any()),
        watches_hold=forces.watches_hold and any(law.holds for law in laws),
    )
    return model.with_effect(changed)


def with_damping(model: Model, place: Place, damping: Sequence[float] | np.ndarray) -> Model:
    """The freed model with other coefficients of the dampers at these places."""
    forces = stroke_forces(model)
    chosen = dict(zip(place, damping, strict=True))
    laws: list[Law] = []
    for part, law in zip(forces.slices(), forces.laws, strict=True):
        rows = {i - part.start: chosen[i] for i in range(part.start, part.stop) if i in chosen}
        if rows:
            machine: Any = law
            c = np.array(machine.damping, dtype=float)
            c[list(rows)] = list(rows.values())
            laws.append(replace(machine, damping=c))
        else:
            laws.append(law)
    return model.with_effect(replace(forces, laws=tuple(laws)))


def machine_limits(model: Model, names: tuple[str, ...], place: Place) -> NamedValues:
    """Limits of the PTOs themselves, by argument and name."""
    forces = stroke_forces(model)
    force, stroke, power = {}, {}, {}
    for name, i in zip(names, place, strict=True):
        if float(forces.force_limit[i]) < LIMITLESS:
            force[name] = float(forces.force_limit[i])
        if float(forces.power_limit[i]) < LIMITLESS:
            power[name] = float(forces.power_limit[i])
        zero = float(forces.neutral[i])
        ends = float(forces.stops.lower[i]) - zero, float(forces.stops.upper[i]) - zero
        if np.isfinite(ends).any():
            stroke[name] = ends
    return {"force_max": force, "stroke_max": stroke, "power_max": power}


def off_the_stops(
    of_machines: NamedValues, limits: tuple[Limit, ...], names: Sequence[str]
) -> frozenset[str]:
    """Names of the driven elements whose stroke is limited to within their stops.

    Args:
        of_machines: their limits, from `machine_limits`.
        limits: that the search keeps.
        names: of the driven elements.
    """
    strokes = {names[x.port]: (x.low, x.high) for x in limits if x.quantity is STROKE}
    free = (-np.inf, np.inf)
    return frozenset(
        name
        for name, (low, high) in of_machines["stroke_max"].items()
        if strokes.get(name, free)[0] >= low and strokes.get(name, free)[1] <= high
    )


def with_tips(model: Model, share: float) -> Model | None:
    """The model with soft tips on its stops, a fraction of their distance; None without any."""
    forces = stroke_forces(model)
    if not forces.stopped:
        return None
    tip = share * _reach(forces.stops.lower, forces.stops.upper)
    return model.with_effect(replace(forces, stops=replace(forces.stops, tip=tip)))


def _reach(lower: object, upper: object) -> np.ndarray:
    """Half the distance of the stops, or that of the only one from zero."""
    ends = np.abs(np.stack([np.asarray(lower, float), np.asarray(upper, float)]))
    there = np.isfinite(ends)
    count = np.maximum(there.sum(axis=0), 1)
    reach = np.where(there, ends, 0.0).sum(axis=0) / count
    return np.where(reach > 0.0, reach, 1.0)


def _runs(part: slice, driven: set[int]) -> list[tuple[int, int, bool]]:
    """PTOs of one law in runs that are driven or not."""
    out: list[tuple[int, int, bool]] = []
    for i in range(part.start, part.stop):
        if out and out[-1][2] == (i in driven):
            out[-1] = (out[-1][0], i + 1, out[-1][2])
        else:
            out.append((i, i + 1, i in driven))
    return out
