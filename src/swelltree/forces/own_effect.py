"""Effects that users write: a small class with JAX functions, an effect like all others.

@sw.effect
class Thruster(sw.Effect):
    name: str
    body: str
    gain: float

    def loads(self, model, now):
        ...
        return sw.Loads(wrench)
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import TypeVar, dataclass_transform, get_type_hints

import numpy as np

from swelltree.describe import System
from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.describe.forces.controllers import OwnEffect, field_values
from swelltree.describe.forces.signals import resolve
from swelltree.jit import Array, Tree, namespace, pytree
from swelltree.model.capabilities import (
    ENVIRONMENT,
    FeelsEnvironment,
    HasEvents,
    HasParameters,
    HasStates,
    WrittenByUser,
    having,
)
from swelltree.model.effect import TRACED, Effect, Instant, untraceable, where_of
from swelltree.model.model import Model
from swelltree.multibody.kinematics import PointMotion, point_motion, spread

T = TypeVar("T")
STATIC = (str, bool)  # fields of these types are not numbers: changing them recompiles


@dataclass_transform(frozen_default=True)
def effect(cls: type[T]) -> type[T]:
    """Make a class of fields and `loads` an effect (class decorator).

    Fields annotated `str` or `bool` are names and choices; all others are numbers or arrays, which
    can be differentiated, batched and changed by `with_values`. A field `name: str` must be there:
    it names the item in results.

    Args:
        cls: derived from `swelltree.Effect`.
    """
    if not issubclass(cls, Effect):
        raise SwelltreeError(
            f"effect '{cls.__name__}' is not derived from swelltree.Effect. Write class "
            f"{cls.__name__}(swelltree.Effect)."
        )
    hints = {key: kind for key, kind in get_type_hints(cls).items() if key in cls.__annotations__}
    if hints.get("name") is not str:
        raise SwelltreeError(f"effect '{cls.__name__}' has no field 'name: str'. Add it.")
    for capability in (HasStates, HasEvents):
        if not issubclass(cls, capability) and (own := _abstract(capability) & vars(cls).keys()):
            name = capability.__name__
            raise SwelltreeError(
                f"effect '{cls.__name__}' has {listed(sorted(own))}, but is not derived from "
                f"swelltree.{name}. Write class {cls.__name__}(swelltree.{name})."
            )
    for capability in cls.__mro__:
        if missing := sorted(_abstract(capability) & cls.__abstractmethods__):
            raise SwelltreeError(
                f"effect '{cls.__name__}' has no method '{missing[0]}'. Write it as "
                f"swelltree.{capability.__name__} describes it."
            )
    if issubclass(cls, FeelsEnvironment) and not _is_felt(getattr(cls, "feels", None)):
        raise SwelltreeError(
            f"effect '{cls.__name__}' does not declare its environment. Write feels = "
            '("waves",), with '
            f"some of {listed(ENVIRONMENT)}."
        )
    cls.kind = property(lambda self: self.name)  # type: ignore[assignment, misc]
    cls.names = property(lambda self: (self.name,))  # type: ignore[assignment, misc]
    if not issubclass(cls, HasParameters):  # all fields that are not static
        cls.parameters = lambda self: {self.name: [((), None, {})]}  # type: ignore[attr-defined]
        HasParameters.register(cls)
    WrittenByUser.register(cls)
    return pytree(*(key for key, kind in hints.items() if kind in STATIC))(cls)


def _is_felt(feels: object) -> bool:
    """Whether `feels` is a tuple of environment names or a property."""
    return isinstance(feels, property) or (
        isinstance(feels, tuple) and set(feels) <= set(ENVIRONMENT)
    )


def _abstract(cls: type) -> set[str]:
    """Abstract methods of a class."""
    return {name for name, x in vars(cls).items() if getattr(x, "__isabstractmethod__", False)}


def build_own_effects(system: System) -> list[Effect]:
    return [_built(item) for item in system.forces if isinstance(item, OwnEffect)]


def _built(item: OwnEffect) -> Effect:
    cls: Tree = resolve(item.effect)
    if not (inspect.isclass(cls) and issubclass(cls, Effect) and dataclasses.is_dataclass(cls)):
        raise item.fail(
            f"effect {getattr(cls, '__name__', cls)!r} is not a class made with @swelltree.effect. "
            "Write one."
        )
    values = {
        key: value if isinstance(value, STATIC) else np.asarray(value, dtype=float)
        for key, value in field_values(item, item.parameters, "effect", cls).items()
    }
    return cls(**{"name": item.name, **values})


def check_own_effects(model: Model, now: Instant) -> None:
    """Evaluate every user effect once at the start and validate its result."""
    n = model.layout.n_bodies
    for each in having(model, WrittenByUser):
        what = f"effect '{each.names[0]}'"
        try:
            loads = each.loads(model, now)
        except Exception as error:
            raise SwelltreeError(
                f"{what}: {where_of(type(each).loads, error)} fails with {type(error).__name__}: "
                f"{error}. Fix it."
            ) from error
        shape = getattr(getattr(loads, "wrench", None), "shape", None)
        if shape != (n, 6):
            raise SwelltreeError(
                f"{what}: {where_of(type(each).loads)} gives a wrench of shape {shape}. Return "
                f"swelltree.Loads(wrench) with a wrench of {n} x 6, one row for each body."
            )
        if not np.isfinite(np.asarray(loads.wrench)).all():
            raise SwelltreeError(
                f"{what}: {where_of(type(each).loads)} gives a wrench that is not finite at the "
                "start. Return numbers."
            )
        _check_traceable(model, each, now, what)


def _check_traceable(model: Model, each: Effect, now: Instant, what: str) -> None:
    """Trace a user effect once: NumPy code, such as an `if` on a state, may not compile."""
    from swelltree.jit import jax

    requested: dict[Callable[..., object], Callable[[Instant], Array]] = {
        type(each).loads: lambda now: each.loads(model, now).wrench
    }
    if isinstance(each, HasStates):
        requested[type(each).internal_rate] = lambda now: each.internal_rate(model, now)
    for method, ask in requested.items():
        try:
            jax.eval_shape(
                lambda t, motion, internal, ask=ask: ask(Instant(t, motion, internal)),
                now.t,
                now.motion,
                now.internal,
            )
        except untraceable() as error:
            raise SwelltreeError(
                f"{what}: {where_of(method, error)} asks for the number of a state while it is "
                f"compiled. {TRACED}."
            ) from None


def body_point(
    model: Model, now: Instant, body: str, point: Array = (0.0, 0.0, 0.0)
) -> tuple[int, PointMotion]:
    """Number of a body and the motion of a point of it in world axes.

    Args:
        model: compiled.
        now: what the effect sees.
        body: name of the body.
        point: in the body's frame as described [m].
    """
    if body not in model.layout.bodies:
        known = model.layout.bodies
        raise SwelltreeError(f"body '{body}' is not in the system.{suggest(body, known)}")
    i = model.layout.bodies.index(body)
    at = namespace(now.motion.pose.p).asarray(point, dtype=float) - model.reference[i]
    at_point = point_motion(now.motion, np.array([i]), at[None])
    return i, PointMotion(*(x[0] for x in vars(at_point).values()))


def wrench_at(
    model: Model,
    now: Instant,
    body: str,
    force: Array,
    torque: Array = None,
    point: Array = (0.0, 0.0, 0.0),
) -> Array:
    """Wrenches (N, 6) of a force and a torque, world axes, at a point of a body.

    Args:
        model: compiled.
        now: what the effect sees.
        body: name of the body.
        force: [N].
        torque: [N m], none if not given.
        point: in the body's frame as described [m].
    """
    i, at_point = body_point(model, now, body, point)
    xp = namespace(now.motion.pose.p)
    F = xp.asarray(force, dtype=float)
    M = 0.0 * F if torque is None else xp.asarray(torque, dtype=float)
    at = at_point.position[None]
    return spread(model.layout, now.motion, np.array([i]), at, F[None], M[None])
