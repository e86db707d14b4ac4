"""What users hold over their steps: forces on strokes and speeds of winches, by name.

A force adds to what the element does by itself, as that of a controller does; a speed to the set
speed of the winch. All that can be held has a signal for it from the start, so that other values
are other numbers of the same model.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed, shown, suggest
from swelltree.integrate.complementarity.lines.winch_statics import CARRY
from swelltree.jit import Array, Tree, is_tracer
from swelltree.model.capabilities import HasWinches, all_winches, having
from swelltree.model.model import Model
from swelltree.model.signals import ZeroOrderHold
from swelltree.pto.actuators.forces import stroke_forces, with_control
from swelltree.results.dataset import coordinates
from swelltree.results.sea import labels_of


@dataclass(frozen=True)
class Commands:
    """Held values since a time, and the previous ones."""

    now: dict[str, Array]  # floats, or traced
    before: dict[str, Array]
    since: Array = 0.0

    def then(self, values: dict[str, float], t: float) -> Commands:
        """Commands with other values from a time on."""
        new = self.now | values
        return self if new == self.now else Commands(new, self.now, t)


def elements(model: Model) -> tuple[str, ...]:
    """Names of stroke elements that accept commands."""
    forces = stroke_forces(model)
    numbers = range(len(forces.names))
    switching = [forces.law_of(i)[0].events > 0 for i in numbers]
    return tuple(
        name for name, switches in zip(forces.names, switching, strict=True) if not switches
    )


def winches(model: Model) -> tuple[str, ...]:
    """Names of winches that accept commands."""
    return tuple(name for part in all_winches(model) for name in part.names)


def no_commands(model: Model) -> Commands:
    """All commands at zero."""
    zero = dict.fromkeys((*elements(model), *winches(model)), 0.0)
    return Commands(zero, zero)


def with_commands(model: Model, values: Commands) -> Model:
    """The model with held commands."""

    def hold(name: str, signal: Tree) -> ZeroOrderHold:
        signal_before = signal.signal if isinstance(signal, ZeroOrderHold) else signal
        numbers = values.before[name], values.now[name], values.since, 0.0
        return ZeroOrderHold(
            signal_before, *(x if is_tracer(x) else np.array(x, float) for x in numbers)
        )

    forces, chosen = stroke_forces(model), elements(model)
    numbered = enumerate(zip(forces.names, forces.signals, strict=True))
    signals = {i: hold(*pair) for i, pair in numbered if pair[0] in chosen}
    model = with_control(model, signals) if signals else model
    for effect in having(model, HasWinches):
        drums = effect.winches
        if drums is not None:
            pairs = zip(drums.names, drums.speed, strict=True)
            speed = tuple(replace(one, signal=hold(name, one.signal)) for name, one in pairs)
            model = model.with_effect(effect.with_winches(replace(drums, speed=speed)))
    return model


def read_values(
    model: Model, specified: object, step: float | None, known: tuple[str, ...]
) -> dict[str, float]:
    """Numbers by name, as given by the user.

    Args:
        model: that is stepped.
        specified: {name: force [N, N m] or speed [m/s]}, or None.
        step: of the two-step scheme [s]; None: no other step.
        known: names of all that can be held.
    """
    if specified is None:
        return {}
    if not isinstance(specified, Mapping):
        raise SwelltreeError(
            f"forces {shown(specified)} is not a table of names. Give e.g. {{'pto': 1e5}}."
        )
    result = {}
    for name, value in specified.items():
        if name not in known:
            raise _unknown(model, name, known)
        number = _number(name, value)
        _check_speed(model, name, number, step)
        result[name] = number
    return result


def _unknown(model: Model, name: object, known: tuple[str, ...]) -> SwelltreeError:
    if name in stroke_forces(model).names:
        return SwelltreeError(
            f"pto '{name}' switches by its own law and accepts no force in a step. Describe a "
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
    """Reject speeds beyond the winch's limit, or beyond one segment per step."""
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


# --- Channels of one instant by name: the variables of a result, then labels of their dimensions


@dataclass(frozen=True)
class Vocabulary:
    """Dimensions of every variable, and labels along them."""

    dims: dict[str, tuple[str, ...]]
    labels: dict[str, tuple[str, ...]]

    def value(self, named: dict[str, np.ndarray], name: object) -> float | np.ndarray:
        """What a name says of the channels of an instant; a number where it chooses one.

        Args:
            named: values by variable.
            name: as in the module's docstring.
        """
        variable, chosen = self._variable(name)
        values, dims = np.asarray(named[variable]), self.dims[variable]
        for label, dim in zip(chosen, dims, strict=False):
            values = values[self._place(str(name), label, dim, values.shape[0])]
        if len(chosen) > len(dims):
            raise SwelltreeError(
                f"'{name}': '{variable}' has no more to choose from after "
                f"{listed(dims) if dims else 'its name'}. Leave out '{chosen[len(dims)]}'."
            )
        return float(values) if values.ndim == 0 else values.copy()

    def single(self) -> Iterator[str]:
        """Names of all scalar channels with labelled dimensions."""
        for name, dims in self.dims.items():
            if all(dim in self.labels for dim in dims):
                for chosen in itertools.product(*(self.labels[dim] for dim in dims)):
                    yield ".".join((name, *chosen))

    def _variable(self, name: object) -> tuple[str, list[str]]:
        if not isinstance(name, str):
            raise SwelltreeError(f"channel {shown(name)} is not a name. Give e.g. 'float.Heave'.")
        first, *rest = name.split(".")
        if first in self.dims:
            return first, rest
        if first in self.labels.get("body", ()):
            return "displacement", [first, *rest]
        known = (*self.dims, *self.labels.get("body", ()))
        raise SwelltreeError(
            f"'{first}' is neither a channel nor a body.{suggest(first, known)} "
            f"There is {listed(sorted(self.dims))}."
        )

    def _place(self, name: str, label: str, dim: str, size: int) -> int:
        known = self.labels.get(dim)
        if known is not None and label in known:
            return known.index(label)
        if known is None and label.isdecimal() and int(label) < size:
            return int(label)
        if known is None:
            raise SwelltreeError(f"'{name}': along {dim} give a number from 0 to {size - 1}.")
        raise SwelltreeError(
            f"'{name}': there is no {dim} '{label}'.{suggest(label, known)} It is {listed(known)}."
        )


def vocabulary(
    model: Model, channels: dict[str, Array], more: dict[str, tuple[str, ...]]
) -> Vocabulary:
    """The vocabulary of a model.

    Args:
        model: that is stepped.
        channels: raw, of any instant.
        more: dimensions of variables beside them.
    """
    dims = {label.name: label.dims for label in labels_of(model, channels).values()} | more
    labels = {
        name: tuple(str(x) for x in values)
        for name, (of, values, _) in coordinates(model).items()
        if of == (name,)
    }
    return Vocabulary(dims, labels)
