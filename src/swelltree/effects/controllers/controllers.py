"""Controllers: u(t, measured channels) drives the actuators of forces on strokes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from swelltree.effects.controllers.law_checks import plain_values
from swelltree.effects.strokes.stroke_forces import stroke_forces
from swelltree.effects.strokes.strokes import stroke
from swelltree.engine.arrays import Array, Numbers, namespace, pytree
from swelltree.model.effect import Effect, Loads, Now
from swelltree.model.model import Model
from swelltree.system.errors import SwelltreeError


@pytree("law", "measures", "drives")
class CompiledController:
    """A control law with what it measures and what it drives.

    measures: (quantity, index, is_rate); the quantities are coordinate (of a joint), body (index
    6 i + k), and length, stroke and force of the elements on strokes, by their number.
    drives: numbers of elements on strokes.
    """

    law: Callable[[Array, Array], Array]
    measures: tuple[tuple[str, int, bool], ...]
    drives: tuple[int, ...]
    gains: tuple[Array, ...] = ()  # that the law takes beside what is measured


@dataclass(frozen=True)
class LawOfGains:
    """A law that takes gains by name; they come behind what is measured."""

    function: Callable[..., Array]
    names: tuple[str, ...]

    def __call__(self, t: Array, y: Array) -> Array:
        count = len(self.names)
        gains = {name: y[len(y) - count + k] for k, name in enumerate(self.names)}
        return self.function(t, y[: len(y) - count], **gains)


@dataclass(frozen=True)
class PlainLaw:
    """A control law in plain Python, called back from the compiled program.

    Its derivative is taken by differences, so that linear studies and gradients see it.
    """

    function: Callable[[float, np.ndarray], Numbers]
    count: int
    name: str
    faults: list[str] = field(default_factory=list, compare=False)  # of calls from a program

    def values(self, t: Array, y: Array) -> np.ndarray:
        """The law itself, its answer checked."""
        return plain_values(self.name, self.function, self.count, t, y)

    def called(self, t: Array, y: Array) -> np.ndarray:
        """The same from inside a program, which errors cannot leave: they are told afterwards."""
        try:
            return self.values(t, y)
        except SwelltreeError as error:
            self.faults.append(str(error))
            return np.full(self.count, np.nan)

    def __call__(self, t: Array, y: Array) -> Array:
        if namespace(t, y) is np:
            return self.values(t, y)
        from swelltree.engine.callbacks import called_back

        return called_back(self.called, self.count, t, y)


@pytree("names")
class Controllers(Effect):
    """All controllers of a system: they command and exert no force themselves."""

    controllers: tuple[CompiledController, ...]

    kind: ClassVar[str] = "controller"
    names: tuple[str, ...] = ()

    def loads(self, model: Model, now: Now) -> Loads:
        xp = namespace(now.motion.pose.p)
        return Loads(xp.zeros((model.layout.n_bodies, 6)), xp.zeros(0), xp.zeros(0), {})

    def commands(self, model: Model, now: Now) -> Iterable[tuple[int, Array]]:
        for controller in self.controllers:
            u = commanded(model, now, controller)
            yield from ((i, u[k]) for k, i in enumerate(controller.drives))

    def bends(self, off_stops: frozenset[str] = frozenset()) -> str:
        return "a controller acts" if self.controllers else ""


def controllers_of(model: Model) -> tuple[CompiledController, ...]:
    """The controllers of a model."""
    effect = model.effect(Controllers)
    return () if effect is None else effect.controllers


def with_controller(model: Model, controller: CompiledController) -> Model:
    """The model with one more controller."""
    return model.with_effect(Controllers((*controllers_of(model), controller)))


def raise_faults(model: Model) -> None:
    """Raise what went wrong in a plain law during a program."""
    for controller in controllers_of(model):
        if isinstance(controller.law, PlainLaw) and controller.law.faults:
            first = controller.law.faults[0]
            controller.law.faults.clear()
            raise SwelltreeError(first)


def measured(model: Model, now: Now, controller: CompiledController) -> Array:
    """Values of the measured channels, in order, and the gains of the law."""
    motion = now.motion
    xp = namespace(motion.pose.p, *controller.gains)
    forces = stroke_forces(model)
    strokes: tuple[Array, Array] | None = None
    values = []
    for quantity, index, is_rate in controller.measures:
        if quantity == "coordinate":
            values.append((motion.rate if is_rate else motion.coordinate)[index])
        elif quantity == "body":
            row = motion.v if is_rate else motion.pose.p
            values.append(row[index // 6, index % 6])
        elif quantity == "force":
            values.append(_forces(model, now, controller)[index])
        else:
            strokes = stroke(forces.strokes, motion) if strokes is None else strokes
            zero = forces.strokes.rest[index] if quantity == "length" and not is_rate else 0.0
            values.append(strokes[1 if is_rate else 0][index] + zero)
    values += list(controller.gains)
    return xp.stack(values) if values else xp.zeros(0)


def _forces(model: Model, now: Now, controller: CompiledController) -> Array:
    """Forces that act to increase the strokes, without what the controller itself gives."""
    others = tuple(c for c in controllers_of(model) if c is not controller)
    bare = model.with_effect(Controllers(others))
    return stroke_forces(bare).force(bare, now)


def commanded(model: Model, now: Now, controller: CompiledController) -> Array:
    """What a controller gives to each element it drives."""
    xp = namespace(now.motion.pose.p)
    u = xp.asarray(controller.law(now.t, measured(model, now, controller)), dtype=float)
    return u.reshape(len(controller.drives))
