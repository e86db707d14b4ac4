"""Sliders of a live view: which numbers they move, and how far.

A name is one that `SteppedRun.change` takes ("ptos.pto.damping", "sea.spectrum.Hs", "sea.seed"),
with a place where that is a row of numbers ("bodies.float.com[2]"), or ``forces.`` and what a step
can hold ("forces.winch").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields, is_dataclass

import numpy as np

from swelltree.describe import System
from swelltree.describe.errors import SwelltreeError, shown
from swelltree.describe.forces.elements import JointForce
from swelltree.describe.paths import MESHED, number_at, number_paths, stated_unit
from swelltree.describe.pto import Pto
from swelltree.describe.values import DOFS, NamedValues
from swelltree.model.capabilities import all_winches
from swelltree.studies.time.stepped.commands import read_values
from swelltree.studies.time.stepped.run import SteppedRun

FORCES, SEA = "forces.", "sea."
SEEDS = 99.0
OF_SEAS = ("spectrum.Hs", "spectrum.Tp", "height", "amplitude", "period", "seed")
OF_TABLES = {"ptos": ("damping", "stiffness"), "lines": ("rest_length",)}
MAX_SLIDERS = 14  # sliders that are made where none is asked for
PLACE = re.compile(r"([^\[\]]+)((?:\[\d{1,9}\])+)")


@dataclass(frozen=True)
class Slider:
    """A number that can be moved.

    Args:
        name: of the number.
        low: smallest value.
        high: largest value.
        value: at first.
        full: it is a whole number.
        unit: of the value, empty if it has none.
    """

    name: str
    low: float
    high: float
    value: float
    full: bool = False
    unit: str = ""

    def as_text(self) -> NamedValues:
        return asdict(self)

    def checked(self, value: object) -> float:
        """A value that came from a page, within the ends."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < np.inf:
            raise SwelltreeError(f"slider '{self.name}': {shown(value)} is not a number.")
        value = float(min(max(value, self.low), self.high))  # of any size before it is a float
        return float(round(value)) if self.full else value


def chosen_sliders(run: SteppedRun, requested: Iterable[object] | None) -> dict[str, Slider]:
    """The sliders of a view, by name.

    Args:
        run: that is shown.
        requested: texts "name" or "name=low:high"; None: those that most will want.
    """
    texts = list(usual(run))[:MAX_SLIDERS] if requested is None else list(requested)
    sliders = (read_slider(run, str(text)) for text in texts)
    return {slider.name: slider for slider in sliders}


def usual(run: SteppedRun) -> Iterator[str]:
    """Height, period and seed of the sea; PTOs, gains, line lengths, winch speeds."""
    names = list(all_names(run))
    yield from (f"{SEA}{key}" for key in OF_SEAS if f"{SEA}{key}" in names)
    for table, quantities in OF_TABLES.items():
        for name in names:
            first, *_, last = name.split(".")
            if first == table and last in quantities and name.count(".") == 2:
                yield name
    winches = {x for part in all_winches(run.model) for x in part.names}
    yield from (name for name in names if name.removeprefix(FORCES) in winches)
    yield from (name for name in names if {"gain", "gains"} & set(name.split(".")))


def all_names(run: SteppedRun) -> Iterator[str]:
    """Names of all adjustable parameters: of the sea, of the description, held values."""
    yield from (f"{SEA}{path}" for path in _numbers_below(run.sea))
    system: System | None = run.model.described.specified
    if system is not None:
        for path in number_paths(system):
            if not MESHED.keys() & set(path.split(".")):
                places = _places(np.shape(number_at(system, path)))
                yield from (f"{path}{place}" for place in places)
    yield from (f"{FORCES}{name}" for name in run.forces)


def _places(shape: tuple[int, ...]) -> list[str]:
    return ["".join(f"[{i}]" for i in place) for place in np.ndindex(shape)]


def _numbers_below(item: object, path: str = "") -> Iterator[str]:
    """Paths of the parameters of a sea."""
    if is_dataclass(item):
        for field in fields(item):
            below = f"{path}.{field.name}" if path else field.name
            yield from _numbers_below(getattr(item, field.name), below)
    elif isinstance(item, int | float) and not isinstance(item, bool):
        yield path


def read_slider(run: SteppedRun, text: str) -> Slider:
    """Parse a slider from "name" or "name=low:high"."""
    name, _, ends = text.partition("=")
    value = value_of(run, name)
    low, high = _ends(text, ends) if ends else _usual_ends(run, name, value)
    if not low < high:
        raise SwelltreeError(f"slider '{text}': {low:g} is not below {high:g}. Give name=low:high.")
    return Slider(name, low, high, value, name.endswith(".seed"), unit_of(run, name))


def unit_of(run: SteppedRun, name: str) -> str:
    """Unit of a parameter, from the documentation of its field; empty if it has none."""
    system: System | None = run.model.described.specified
    table, *keys = _split(name)[0].split(".")
    if name.startswith(FORCES):
        if any(keys[0] in part.names for part in all_winches(run.model)):
            return "m/s"
        turns = system is not None and _acts_on_rotation(system, keys[0])
        return "N m" if turns else "N"
    of_sea = table == SEA[:-1]
    text = stated_unit(run.sea if of_sea else system, keys if of_sea else [table, *keys])
    units = text.split(", ") if text else []
    if units and keys[-1] in DOFS:  # of translations first, of rotations last
        return units[0 if DOFS.index(keys[-1]) < 3 else -1]
    if len(units) != 2:
        return units[0] if len(units) == 1 else ""
    return units[int(system is not None and _acts_on_rotation(system, keys[0]))]


def _acts_on_rotation(system: System, name: str) -> bool:
    """Whether a PTO or joint force of this name acts on an angle."""
    for item in (*system.ptos, *system.forces):
        if item.name == name and isinstance(item, Pto | JointForce) and item.joint:
            return DOFS.index(system.dof_of(item)) >= 3
    return False


def value_of(run: SteppedRun, name: str) -> float:
    """Present value of a parameter."""
    if name.startswith(FORCES):
        return _prescribed_force(run, name.removeprefix(FORCES))
    path, place = _split(name)
    value = np.asarray(_value_at(run, path), float)
    if np.ndim(value) != len(place) or any(i >= n for i, n in zip(place, value.shape, strict=True)):
        known = _places(value.shape)
        raise SwelltreeError(
            f"slider '{name}' is not one number. Give one of {known[0]} to {known[-1]} after "
            f"'{path}'."
            if known[0]
            else f"slider '{name}': '{path}' is one number. Leave out what comes after it."
        )
    return float(value[place])


def _prescribed_force(run: SteppedRun, name: str) -> float:
    read_values(run.model, {name: 0.0}, None, tuple(run.forces))  # which says what there is
    return run.forces[name]


def _value_at(run: SteppedRun, path: str) -> object:
    if not path.startswith(SEA):
        return run.model.value(path)
    value: object = run.sea
    for key in path.split(".")[1:]:
        value = getattr(value, key, None)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SwelltreeError(f"slider '{path}': the sea has no such parameter.")
    return value


def _split(name: str) -> tuple[str, tuple[int, ...]]:
    found = PLACE.fullmatch(name)
    if found is None:
        return name, ()
    return found[1], tuple(int(i) for i in re.findall(r"\d+", found[2]))


def changes_of(run: SteppedRun, moved: dict[str, float]) -> NamedValues:
    """Slider values as arguments of `SteppedRun.change`."""
    changes: NamedValues = {}
    for name, value in moved.items():
        path, place = _split(name)
        if place:
            row = np.array(changes.get(path, _value_at(run, path)), float)
            row[place] = value
            changes[path] = row
        else:
            changes[path] = value
    return changes


def _ends(text: str, ends: str) -> tuple[float, float]:
    try:
        low, high = (float(part) for part in ends.split(":"))
    except ValueError:
        low = high = np.nan
    if not np.isfinite([low, high]).all():
        raise SwelltreeError(f"slider '{text}' has no two ends. Give name=low:high.")
    return low, high


def _usual_ends(run: SteppedRun, name: str, value: float) -> tuple[float, float]:
    if name.endswith(".seed"):
        return 0.0, max(SEEDS, value)
    if name.startswith(FORCES):
        most = _most(run, name.removeprefix(FORCES))
        return -most, most
    if name.endswith((".Tp", ".period")):
        return 0.5 * value, 2.0 * value
    if name.endswith(".rest_length"):
        return 0.9 * value, 1.1 * value
    if name.startswith(SEA) and name.endswith((".Hs", ".height", ".amplitude")):
        high = 3.0 * (value or 1.0)
        return 0.01 * high, high  # a sea without waves is another model
    size = abs(value) or 1.0
    if name.endswith(("damping", "stiffness")):
        size = abs(value) or 1e5
    return min(0.0, 3.0 * value), max(0.0, 3.0 * size)


def _most(run: SteppedRun, name: str) -> float:
    """Maximum winch speed [m/s] or PTO force [N, N m] of a slider."""
    for part in all_winches(run.model):
        if name in part.names:
            limit = float(part.max_speed[part.names.index(name)])
            return limit if np.isfinite(limit) else 1.0
    return 1e5
