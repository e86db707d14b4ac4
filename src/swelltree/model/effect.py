"""The one interface of all physical effects: what an effect sees, and what it hands over.

Gravity, springs, PTOs, moorings, drag, hulls, lines and a user's own effect are pytrees of
the class `Effect`. Nobody asks which effect it is: what it can do is asked by method.

Functions that users write: where they stand, and errors where they cannot be traced.
"""

from __future__ import annotations

import inspect
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float

from swelltree.jit import Array, Tree, namespace, pytree

if TYPE_CHECKING:
    from swelltree.hydro.linear.excitation import DataExcitation
    from swelltree.hydro.linear.radiation import RadiationSources
    from swelltree.model.capabilities import HasStates
    from swelltree.model.model import Model
    from swelltree.multibody.kinematics import Motion


Coordinate = tuple[str, Sequence[str | bool] | np.ndarray, str]  # dimension, values, long name


class Channel(NamedTuple):
    """How one channel appears in a result; empty texts are left out.

    Args:
        name: of the variable.
        dims: dimensions after time. A user's own effect may leave them to the shape: 3 entries are
            axes, 6 degrees of freedom, and as many as there are bodies are bodies.
        units: such as "N m".
        long_name: for labels of plots.
        frame: axes of its components, such as "world axes".
        on_body: body that it belongs to, where there is only one.
        angles: its rotations are angles, which continue past half a turn.
    """

    name: str
    dims: tuple[str, ...] = ()
    units: str = ""
    long_name: str = ""
    frame: str = ""
    on_body: str = ""
    angles: bool = False


@pytree()
class Loads:
    """Action of one kind of force element on the whole system.

    Args:
        wrench: (bodies, 6) force [N] and moment [N m] at the reference points, world axes.
        potential: (terms,) stored energy of each energy term [J]; none if not given.
        power: (terms,) power of the part that stores nothing [W]; that of the wrench if not given.
        channels: results by name, such as a tension.
    """

    wrench: Array  # checked where a user makes it
    potential: Array = None
    power: Array = None
    channels: dict[str, Array] = field(default_factory=dict)

    def with_energy_terms(self, v: Float[Array, "b 6"], terms: int) -> Loads:
        """The same with all energy terms: what is not stored is power of the wrench, in the first.

        Args:
            v: velocities of the bodies (N, 6).
            terms: number of energy terms of the effect.
        """
        xp = namespace(v)
        potential = xp.zeros(terms) if self.potential is None else xp.asarray(self.potential)
        power = self.power
        if power is None:
            power = (self.wrench * v).sum() * (np.arange(terms) == 0)
        return Loads(
            self.wrench,
            xp.reshape(potential, (terms,)),
            xp.reshape(xp.asarray(power), (terms,)),
            self.channels,
        )


@pytree()
class InternalState:
    """Internal states of a system."""

    radiation: Tree = ()  # radiation memory: chi, a record of velocities, or nothing
    elements: dict[str, Array] = field(
        default_factory=dict
    )  # {kind: states} of the effects that have any


@pytree()
class Instant:
    """Arguments of forces at an instant."""

    t: Array  # s
    motion: Motion
    internal: InternalState  # states of radiation memory and of elements
    hold: Array | None = None  # forces that hold locked strokes, where an effect watches them
    solved: Loads | None = (
        None  # Loads of the effect with unknowns, where a scheme has solved for them
    )

    def states(self, effect: HasStates) -> Array:
        """Internal states of an effect; the initial ones if the study has none."""
        known = self.internal.elements.get(effect.kind)
        return effect.internal_start() if known is None else known


@dataclass(frozen=True)
class LinearElements:
    """Springs, dampers and PTOs for small motions."""

    names: tuple[str, ...] = ()
    wrench: Float[np.ndarray, "e b6"] = field(default_factory=lambda: np.zeros((0, 0)))  # of unit F
    full: tuple[bool, ...] = ()  # the slope of its force is all of its law; not of stops and slack


@dataclass(frozen=True)
class LinearForm:
    """Contribution of an effect to a linear model besides the derivative of its loads."""

    radiation: RadiationSources | None = None
    excitation: DataExcitation | None = None
    elements: LinearElements | None = None
    # unit wrenches by item
    inputs: dict[str, Float[np.ndarray, "6 b6"]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what small motions leave out, as messages


class Effect(ABC):
    """All force elements of one kind, in one vectorised call.

    A kind of effect is a file with a pytree class of this base, whose static field `names` holds
    one name for each term of the energy budget. Only `loads` must be written.
    """

    kind: ClassVar[str]  # key of its internal states, prefix of its channels
    channels: ClassVar[tuple[Channel, ...]] = ()  # of a user's own effect
    names: tuple[str, ...]  # one for each term of the energy budget

    @abstractmethod
    def loads(self, model: Model, now: Instant) -> Loads:
        """Wrenches, stored energies and powers."""

    @property
    def word(self) -> str:
        """Word for its elements in messages."""
        return self.kind.replace("_", " ")

    @property
    def prefix(self) -> str:
        """Prefix of the names of its channels."""
        return f"{self.kind}_"


TRACED = "Use jax.numpy and where in place of numpy and if: jnp.where(condition, a, b)"


def innermost(law: Callable[..., object]) -> Tree:
    while True:
        wrapped: Tree = getattr(law, "function", None) or inspect.unwrap(law)
        if wrapped is law:
            return law
        law = wrapped


def where_of(law: Callable[..., Array], error: BaseException | None = None) -> str:
    """Name, file and line of a law; the line of an error where it is inside of the law."""
    function = innermost(law)
    name = getattr(function, "__qualname__", type(function).__name__)
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    if code is None:
        return f"law '{name}'"
    line = code.co_firstlineno
    for frame in traceback.extract_tb(None if error is None else error.__traceback__):
        if frame.filename == code.co_filename:
            line = frame.lineno or line
    return f"law '{name}' ({Path(code.co_filename).name}, line {line})"


def untraceable() -> tuple[type[Exception], ...]:
    """Errors of code that asks for numbers while it is traced."""
    from swelltree.jit import jax

    return (
        jax.errors.TracerArrayConversionError,
        jax.errors.TracerBoolConversionError,
        jax.errors.ConcretizationTypeError,
        jax.errors.TracerIntegerConversionError,
    )
