"""The power take-offs that a control study drives: where they act and what they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swelltree.effects.controllers.controllers import controllers_of
from swelltree.effects.strokes.stroke_forces import StrokeForces, stroke_forces, with_control
from swelltree.effects.strokes.strokes import stroke
from swelltree.engine.arrays import Array, Tree
from swelltree.model.kinematics import Motion
from swelltree.model.model import Model
from swelltree.studies.linear.linear_model import LinearModel
from swelltree.system.errors import SwelltreeError, listed, suggest


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
    """Refuse what cannot be driven freely."""
    if name not in forces.names:
        raise SwelltreeError(
            f"pto '{name}': there is no PTO, spring or joint force of this name."
            f"{suggest(name, forces.names)} Choose from {listed(forces.names)}."
        )
    i = forces.names.index(name)
    if any(i in controller.drives for controller in controllers_of(model)):
        raise SwelltreeError(
            f"pto '{name}': a controller already drives it. Take the controller away."
        )
    if forces.tension_only[i]:
        raise SwelltreeError(
            f"pto '{name}' carries tension only, so its force cannot be chosen freely. "
            "Name an element that can push."
        )
    dof = forces.strokes.dof_of(i)
    if dof is not None and model.layout.dofs[dof].free_turn:
        raise SwelltreeError(
            f"pto '{name}' turns about {model.layout.dofs[dof].label} of a joint that turns "
            "freely, where no angle gives its stroke. Use a hinge or universal joint."
        )


def _damping(forces: StrokeForces, i: int) -> float:
    """Of an element that keeps its damper next to u; u replaces the law of a PTO."""
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
