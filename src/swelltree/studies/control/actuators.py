"""Elements whose law gives way to a chosen force: spring and end stops stay, the rest is u."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.describe.values import NamedValues
from swelltree.jit import Array, Tree, jax
from swelltree.model.model import Model
from swelltree.multibody.kinematics import Motion
from swelltree.pto.actuators.actuators import stroke
from swelltree.pto.actuators.forces import LIMITLESS, StrokeForces, stroke_forces, with_control
from swelltree.pto.controllers.controllers import controllers_of
from swelltree.pto.laws.base import Damper, Law
from swelltree.studies.control.goal import Goal, Limit, electrical, fine_values
from swelltree.studies.control.limited import STROKE, Response, sampled
from swelltree.studies.linear.linear_model import LinearModel

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
                complete = last - first == part.stop - part.start
                law_now = law if complete else jax.tree.map(lambda x, s=inside: x[s], law)
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
    """The freed model with other damper coefficients at these elements."""
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
    """The model with smoothed stops, by a fraction of their distance; None without stops."""
    forces = stroke_forces(model)
    if not forces.stopped:
        return None
    tip = share * _reach(forces.stops.lower, forces.stops.upper)
    return model.with_effect(replace(forces, stops=replace(forces.stops, tip=tip)))


def _reach(lower: object, upper: object) -> np.ndarray:
    """Half the distance between the stops, or the distance of the only one from zero."""
    ends = np.abs(np.stack([np.asarray(lower, float), np.asarray(upper, float)]))
    there = np.isfinite(ends)
    count = np.maximum(there.sum(axis=0), 1)
    reach = np.where(there, ends, 0.0).sum(axis=0) / count
    return np.where(reach > 0.0, reach, 1.0)


def _runs(part: slice, driven: set[int]) -> list[tuple[int, int, bool]]:
    """PTOs of one law, split into driven and other ones."""
    out: list[tuple[int, int, bool]] = []
    for i in range(part.start, part.stop):
        if out and out[-1][2] == (i in driven):
            out[-1] = (out[-1][0], i + 1, out[-1][2])
        else:
            out.append((i, i + 1, i in driven))
    return out


# --- The power take-offs that a control study drives: where they act and what they are made of


@dataclass(frozen=True)
class Ports:
    """Driven elements (p of them): F = u - c v - k x with x the stroke from its zero."""

    names: tuple[str, ...]
    place: tuple[int, ...]  # numbers among the elements on strokes
    damping: np.ndarray  # (p,) c
    stiffness: np.ndarray  # (p,) k
    zero: np.ndarray  # (p,) stroke at which the spring is slack, from which x counts
    angle: tuple[bool, ...]  # the stroke is an angle

    def __len__(self) -> int:
        return len(self.names)


def find_ports(model: Model, names: str | Sequence[str] | None) -> Ports:
    """Driven elements by name; all PTOs that can be driven if no names are given."""
    forces = stroke_forces(model)
    if names is None:
        plain = [forces.names[i] for i in forces.ptos if forces.is_plain(i)]
        names = plain or [forces.names[i] for i in forces.ptos]
        if not names:
            raise SwelltreeError(
                "optimal_control: the model has no PTO. Add LinearPto(...) to the system."
            )
    names = (names,) if isinstance(names, str) else tuple(names)
    for name in names:
        _check_port(model, forces, name)
        if names.count(name) > 1:
            raise SwelltreeError(f"pto '{name}' is named twice. Name each once.")
    place = tuple(forces.names.index(name) for name in names)
    return Ports(
        names,
        place,
        np.array([_damping(forces, i) for i in place]),
        np.array([float(forces.stiffness[i]) for i in place]),
        np.array([float(forces.neutral[i]) for i in place]),
        tuple(forces.turns[i] for i in place),
    )


def _check_port(model: Model, forces: StrokeForces, name: str) -> None:
    """Reject elements that cannot be driven freely."""
    if name not in forces.names:
        raise SwelltreeError(
            f"pto '{name}': there is no PTO, spring or joint force of this name."
            f"{suggest(name, forces.names)} Choose from {listed(forces.names)}."
        )
    i = forces.names.index(name)
    if any(i in controller.drives for controller in controllers_of(model)):
        raise SwelltreeError(
            f"pto '{name}': a controller already drives it. Remove the controller."
        )
    if forces.tension_only[i]:
        raise SwelltreeError(
            f"pto '{name}' carries tension only, so its force cannot be prescribed. Name an "
            "element that also works in compression."
        )
    dof = forces.strokes.dof_of(i)
    if dof is not None and model.layout.dofs[dof].free_turn:
        raise SwelltreeError(
            f"pto '{name}' turns about {model.layout.dofs[dof].label} of a joint that turns "
            "freely, where no angle gives its stroke. Use a hinge or universal joint."
        )


def _damping(forces: StrokeForces, i: int) -> float:
    """Damper of an element that acts in parallel to u; u replaces the law of a PTO."""
    law, k = forces.law_of(i)
    return float(law.damping[k]) if forces.is_plain(i) else 0.0


def port_motion(ports: Ports, model: Model, motion: Motion) -> tuple[Array, Array]:
    """Strokes and their rates, (p,) each."""
    x, v = stroke(stroke_forces(model).strokes, motion)
    place = np.array(ports.place, dtype=int)
    return x[place] - ports.zero, v[place]


def port_rows(ports: Ports, linear: LinearModel) -> np.ndarray:
    """Strokes per unit of the free directions of a linear model, (p, f)."""
    return linear.to_strokes[list(ports.place)]


def with_signals(model: Model, ports: Ports, signals: Tree) -> Model:
    """The model with the actuators u of the ports given by compiled signals."""
    return with_control(model, dict(zip(ports.place, signals, strict=True)))


# --- The best plain damper under the same limits: what control is compared with

SPAN = np.logspace(-3, 3, 49)  # of the size of the impedance
ZOOM = 4  # rounds of refinement


class Passive(NamedTuple):
    """Best dampers; NaN without any."""

    power: float  # absorbed, mean [W]
    electrical: float  # what losses leave of it [W]
    damping: np.ndarray  # (p,)


def no_damper(count: int) -> Passive:
    """Result without dampers."""
    return Passive(np.nan, np.nan, np.full(count, np.nan))


def powers_of(goal: Goal, response: Response) -> tuple[float, float]:
    """Mean absorbed and electrical power of a response."""
    count = 16 * ((len(response.force) - 1) // 2)
    F, v = sampled(response.force, count), sampled(response.rate, count)
    absorbed = -F * v
    return (
        float(absorbed.sum(axis=1).mean()),
        float(electrical(goal, absorbed, F).sum(axis=1).mean()),
    )


def within(goal: Goal, omega: float, response: Response) -> bool:
    """Whether all limits are satisfied."""
    for limit in goal.limits:
        value = fine_values(omega, response, limit)
        over = max(value.max() - limit.high, limit.low - value.min())
        if over > 1e-9 * limit.scale:
            return False
    return True


def best_damper(
    respond: Callable[[np.ndarray], Response | None],
    goal: Goal,
    omega: float,
    size: np.ndarray,
    span: np.ndarray = SPAN,
) -> Passive:
    """The dampers of most electrical power within the limits; NaN when none is.

    Args:
        respond: dampings (p,) -> Response.
        goal: losses and limits.
        omega: of the period [rad/s].
        size: (p,) typical impedance of each element.
        span: factors tried first, the same for all elements.
    """

    def powers(c: np.ndarray) -> tuple[float, float]:
        response = respond(c)
        if response is None or not within(goal, omega, response):
            return -np.inf, -np.inf
        return powers_of(goal, response)

    tried = [(powers(factor * size), factor * size) for factor in span]
    best, c = max(tried, key=lambda pair: pair[0][1])
    if not np.isfinite(best[1]):
        return no_damper(len(size))
    ratio = span[1] / span[0]
    for _ in range(ZOOM):
        for i in range(len(size)):
            for factor in ratio ** np.linspace(-1.0, 1.0, 9):
                new = c.copy()
                new[i] *= factor
                value = powers(new)
                if value[1] > best[1]:
                    best, c = value, new
        ratio = ratio**0.25
    return Passive(*best, c)
