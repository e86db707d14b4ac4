"""What users hold over their steps: forces on strokes and speeds of winches, by name.

A force adds to what the element does by itself, as that of a controller does; a speed to the set
speed of the winch. All that can be held has a signal for it from the start, so that other values
are other numbers of the same model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from swelltree.effects.strokes.stroke_forces import stroke_forces, with_control
from swelltree.engine.arrays import Tree
from swelltree.model.model import Model
from swelltree.model.signals import ZeroOrderHold
from swelltree.studies.time.winch_findings import all_winches
from swelltree.system.errors import SwelltreeError, listed, shown, suggest
from swelltree.two_step.lines.winch_rest import CARRY


@dataclass(frozen=True)
class Commands:
    """What is held since a time, and what was before."""

    now: dict[str, float]
    before: dict[str, float]
    since: float = 0.0

    def then(self, values: dict[str, float], t: float) -> Commands:
        """The same with other values from a time on; itself where none is another."""
        new = self.now | values
        return self if new == self.now else Commands(new, self.now, t)


def elements(model: Model) -> tuple[str, ...]:
    """Names of the elements on strokes whose force can be held."""
    forces = stroke_forces(model)
    numbers = range(len(forces.names))
    switching = [forces.law_of(i)[0].events > 0 for i in numbers]
    return tuple(
        name for name, switches in zip(forces.names, switching, strict=True) if not switches
    )


def winches(model: Model) -> tuple[str, ...]:
    """Names of the winches whose speed can be held."""
    return tuple(name for part in all_winches(model) for name in part.names)


def no_commands(model: Model) -> Commands:
    """All that can be held, at zero."""
    zero = dict.fromkeys((*elements(model), *winches(model)), 0.0)
    return Commands(zero, zero)


def with_commands(model: Model, values: Commands) -> Model:
    """The model with these values held."""

    def hold(name: str, signal: Tree) -> ZeroOrderHold:
        signal_before = signal.signal if isinstance(signal, ZeroOrderHold) else signal
        numbers = values.before[name], values.now[name], values.since, 0.0
        return ZeroOrderHold(signal_before, *(np.array(x, float) for x in numbers))

    forces, chosen = stroke_forces(model), elements(model)
    numbered = enumerate(zip(forces.names, forces.signals, strict=True))
    signals = {i: hold(*pair) for i, pair in numbered if pair[0] in chosen}
    model = with_control(model, signals) if signals else model
    for effect in model.effects:
        drums = effect.winches
        if drums is not None:
            pairs = zip(drums.names, drums.speed, strict=True)
            speed = tuple(replace(one, signal=hold(name, one.signal)) for name, one in pairs)
            model = model.with_effect(effect.with_winches(replace(drums, speed=speed)))
    return model


def read_values(model: Model, given: object, step: float | None) -> dict[str, float]:
    """Numbers by name, as given by the user.

    Args:
        model: that is stepped.
        given: {name: force [N, N m] or speed [m/s]}, or None.
        step: of the two-step scheme [s]; None: no other step.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise SwelltreeError(
            f"forces {shown(given)} is not a table of names. Give e.g. {{'pto': 1e5}}."
        )
    known = (*elements(model), *winches(model))
    result = {}
    for name, value in given.items():
        if name not in known:
            raise _unknown(model, name, known)
        number = _number(name, value)
        _check_speed(model, name, number, step)
        result[name] = number
    return result


def _unknown(model: Model, name: object, known: tuple[str, ...]) -> SwelltreeError:
    if name in stroke_forces(model).names:
        return SwelltreeError(
            f"pto '{name}' switches by its own law and takes no force from a step. Describe a "
            "Controller that drives it, or a LinearPto."
        )
    there = f"There is {listed(known)}." if known else "The model has none of them."
    return SwelltreeError(
        f"'{name}' is not a PTO, spring, joint force or winch that a step can drive."
        f"{suggest(str(name), known)} {there}"
    )


def _number(name: str, value: object) -> float:
    try:
        number = np.asarray(value, float)
    except (TypeError, ValueError):
        number = np.full(0, np.nan)
    if number.size != 1 or not np.isfinite(number).all():
        raise SwelltreeError(f"'{name}': {shown(value)} is not one finite number. Give a number.")
    return float(number.reshape(()))


def _check_speed(model: Model, name: str, speed: float, step: float | None) -> None:
    """Refuse what a winch cannot do, or segments cannot carry in a step."""
    for part in all_winches(model):
        if name in part.names:
            limit = float(part.max_speed[part.names.index(name)])
            if abs(speed) > limit * (1.0 + 1e-9):
                raise SwelltreeError(
                    f"winch '{name}': {speed:.6g} m/s is more than max_speed {limit:.6g} m/s. "
                    "Ask for less, or give a larger max_speed."
                )
    segments = {
        name: x
        for part in all_winches(model)
        for name, x in zip(part.names, part.segment, strict=True)
    }
    if step is None or name not in segments:
        return
    most = CARRY * float(segments[name])
    if abs(speed) * step > most * (1.0 + 1e-9):
        raise SwelltreeError(
            f"winch '{name}': at {speed:.4g} m/s it moves more in a step of {step:.4g} s than the "
            f"{most:.4g} m that its segments carry. Give stepper(..., step={most / abs(speed):.2g})"
            " or less, or fewer segments."
        )
