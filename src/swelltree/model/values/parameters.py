"""Numbers of a compiled model by name, for sensitivities and batches.

Paths of the case file ("bodies.float.mass") are numbers of the description (`described_values`);
the others are numbers of the compiled model as they stand:

    bodies        <body>.mass, .com, .inertia, .volume, .buoyancy
    joints        <joint>.base_point, .follower_point, .lead, .length
    couplings     <coupling>.constant, and the fields of a law
    springs       <spring>.stiffness, .damping, .rest_length, .point_a, .point_b
    joint forces  <element>.stiffness, .rest_position, .damping, .friction, .lower, .upper, ...
    PTOs          <pto>.stiffness, .force_limit, .lower, ..., and the parameters of its law
    lines         <line>.length, .weight, .compliance of its sections, .point_A, .point_B
    dynamic lines <line>.length, and .EA, .mass_per_length, .diameter, .Cdn, ... of an even line

Lines are those on which no other line ends; A is the lower end of a quasi-static one. Points are
measured from the body's reference point.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.describe.paths import is_path
from swelltree.jit import Array, Tree, known, namespace
from swelltree.model.capabilities import HasDerivedParameters, HasParameters, having
from swelltree.model.values.by_path import described_value, with_described

if TYPE_CHECKING:
    from swelltree.model.model import Model


Path = tuple[str | int, ...]


def _places(model: Model) -> dict[str, list[tuple[Path, int | None, dict[str, str]]]]:
    """Where the numbers of every item live: path of fields, row, and names that differ."""
    result: dict[str, list[tuple[Path, int | None, dict[str, str]]]] = {}
    for g, effect in enumerate(model.effects):
        named = effect.parameters() if isinstance(effect, HasParameters) else {}
        for item, places in named.items():
            result[item] = [(("effects", g, *path), row, other) for path, row, other in places]
    layout = model.layout
    for kind, names in (("joints", layout.joints), ("bodies", layout.bodies)):
        result |= {name: [((kind,), row, {})] for row, name in enumerate(names)}
    for row in layout.rows:
        result |= row.numbers(layout)
    return result


def _find(model: Model, name: str) -> tuple[Path, str, int | None]:
    """Where a named number lives: path of fields, the array's name, the row."""
    item, _, quantity = name.rpartition(".")
    places = _places(model)
    known: list[str] = []
    for path, row, other in places.get(item, []):
        fields = {other.get(field, field): field for field in _numbers(_follow(model, path))}
        if quantity and quantity in fields:
            return path, fields[quantity], row
        known += [field for field in fields if field and field not in known]
    if known:
        raise SwelltreeError(
            f"'{item}' has no number '{quantity}'.{suggest(quantity, known)} "
            f"It has {listed(known)}."
        )
    raise SwelltreeError(
        f"'{name}': there is no item '{item}'.{suggest(item, list(places))} Write 'item.quantity'."
    )


def _derived(model: Model, name: str) -> tuple[HasDerivedParameters, str, str] | None:
    """Effect, item and quantity where the name is that of a derived parameter."""
    item, _, quantity = name.rpartition(".")
    for effect in having(model, HasDerivedParameters):
        known = effect.derived_parameters(item)
        if known and quantity not in known:
            raise SwelltreeError(
                f"'{item}' has no number '{quantity}'.{suggest(quantity, known)} "
                f"It has {listed(known)}."
            )
        if known:
            return effect, item, quantity
    return None


def _numbers(holder: Tree) -> list[str]:
    """Names of the arrays with one row for each item."""
    return [f.name for f in fields(holder) if hasattr(getattr(holder, f.name), "shape")]


def _follow(model: Model, path: Path) -> Tree:
    """What stands at the end of a path of fields and entries."""
    holder: Tree = model
    for part in path:
        holder = holder[part] if isinstance(part, int) else getattr(holder, part)
    return holder


def _changed(holder: Tree, part: str | int, value: Tree) -> Tree:
    """The holder with one field or entry replaced."""
    if isinstance(part, int):
        return (*holder[:part], value, *holder[part + 1 :])
    return replace(holder, **{part: value})


def get_value(model: Model, name: str) -> Array:
    """The number or vector of that name, or of that path of the description."""
    if is_described(model, name):
        return described_value(model, name)
    derived = _derived(model, name)
    if derived is not None:
        effect, item, quantity = derived
        return effect.derived_parameter(item, quantity)
    path, quantity, row = _find(model, name)
    result = getattr(_follow(model, path), quantity)
    return result if row is None else result[row]


def set_values(model: Model, values: dict[str, Array]) -> Model:
    """Model with the named numbers replaced."""
    paths = {name: value for name, value in values.items() if is_described(model, name)}
    values = {name: value for name, value in values.items() if name not in paths}
    model = with_described(model, paths) if paths else model
    for name, value in values.items():
        if not hasattr(value, "__array_namespace__"):
            value = np.asarray(value, dtype=float)
        before = get_value(model, name)
        if value.shape != before.shape:
            raise SwelltreeError(
                f"'{name}': the value has shape {value.shape}. Give {before.shape or 'one number'}."
            )
        _check_value(model, name, value, before)
        derived = _derived(model, name)
        if derived is not None:
            effect, item, quantity = derived
            model = model.with_effect(effect.with_derived_parameter(model, item, quantity, value))
            continue
        path, quantity, row = _find(model, name)
        holder = _follow(model, path)
        old = getattr(holder, quantity)
        new = value if row is None else _with_row(old, row, value)
        changed = replace(holder, **{quantity: new})
        for depth in reversed(range(len(path))):
            above = _follow(model, path[:depth])
            changed = _changed(above, path[depth], changed)
        model = changed
    return model


def _check_value(model: Model, name: str, value: Array, before: Array) -> None:
    """Reject a value that is not a number, and one that its item rejects in a description."""
    if not known(value):
        return
    if np.isnan(value).any():
        raise SwelltreeError(f"'{name}': the value is not a number. Give one.")
    # stops that are not there are infinite already
    if (np.isinf(value) & (np.isfinite(before) if known(before) else True)).any():
        raise SwelltreeError(f"'{name}': the value is not finite. Give a finite number.")
    item, _, quantity = name.rpartition(".")
    system = model.described.specified
    if system is None or value.ndim:
        return
    for described in (*system.forces, *system.ptos):
        if described.name == item and isinstance(getattr(described, quantity, ""), float | None):
            described.replace(**{quantity: float(value)})
    if quantity in ("mass", "volume", "damping") and value < 0.0:
        raise SwelltreeError(f"'{name}': {float(value):g} is negative. Give zero or more.")


def is_described(model: Model, name: str) -> bool:
    """Is it a path of the case file? An item that has the name of a table goes before."""
    return is_path(name) and name.partition(".")[0] not in _places(model)


def _with_row(old: Array, row: int, value: Array) -> Array:
    """Array with one row replaced, in the library of its arguments."""
    xp = namespace(old, value)
    rows = [xp.asarray(value if i == row else old[i], dtype=float) for i in range(len(old))]
    return xp.stack(rows)
