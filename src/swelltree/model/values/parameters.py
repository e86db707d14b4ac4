"""Numbers of a compiled model by name, for sensitivities and batches.

A number has one meaning, whether it is named by item and quantity ("float.mass") or by its path in
the case file ("bodies.float.mass"):

- Direct numbers feed one entry of one array and nothing else, which `compile` records; the entry is
  set.
- Other numbers of the description feed more; the changed description is compiled (`by_path`).
- Numbers that the description does not state are those of the compiled model:

    bodies        <body>.volume, .buoyancy, .inertia (3 x 3)
    joints        <joint>.base_point, .follower_point, .lead, .length
    couplings     <coupling>.constant, and the fields of a law
    springs, PTOs <element>.point_a, .point_b, and what was left out (.rest_length, .lower, ...)
    laws          the fields of a user's own law
    lines         <line>.length, .weight, .compliance of its sections, .point_A, .point_B
    dynamic lines <line>.length, and .EA, .mass_per_length, .diameter, .Cdn, ... of an even line

Lines are those on which no other line ends; A is the lower end of a quasi-static one. Points are
measured from the body's reference point.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe import System
from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.describe.paths import is_path, number_at, parts_of, path_of
from swelltree.jit import Array, Tree, flatten, known, namespace
from swelltree.model.capabilities import HasDerivedParameters, HasParameters, having
from swelltree.model.values.by_path import described_value, with_described

if TYPE_CHECKING:
    from swelltree.model.model import Model


Path = tuple[str | int, ...]


def _places(model: Model) -> dict[str, list[tuple[Path, int | None, dict[str, str]]]]:
    """Location of the parameters of every item: path of fields, row, and aliases."""
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
    """Location of a named parameter: path of fields, array name, row."""
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
    """Effect, item and quantity of a derived parameter."""
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
    """Names of the arrays with one row per item."""
    return [f.name for f in fields(holder) if hasattr(getattr(holder, f.name), "shape")]


def _follow(model: Model, path: Path) -> Tree:
    """Value at the end of a path of fields and entries."""
    holder: Tree = model
    for part in path:
        holder = holder[part] if isinstance(part, int) else getattr(holder, part)
    return holder


def _changed(holder: Tree, part: str | int, value: Tree) -> Tree:
    if isinstance(part, int):
        return (*holder[:part], value, *holder[part + 1 :])
    return replace(holder, **{part: value})


def direct_numbers(model: Model, system: System, excluded: set[str]) -> dict[str, str]:
    """Numbers that feed one entry of one array and nothing else: {item and quantity: path}.

    Args:
        model: compiled.
        system: described, from which the model was built.
        excluded: names of numbers that feed something else as well.
    """
    found: dict[str, str] = {}
    for item, places in _places(model).items():
        seen: set[str] = set()
        for path, row, other in places:
            holder = _follow(model, path)
            for field in _numbers(holder):
                quantity = other.get(field, field)
                name = f"{item}.{quantity}"
                if quantity in seen or field not in getattr(type(holder), "direct", ()):
                    continue
                value = getattr(holder, field)
                entry = value if row is None else value[row]
                stated = None if name in excluded else path_of(system, name)
                if stated and np.array_equal(entry, np.asarray(number_at(system, stated))):
                    found[name] = stated
            seen |= {other.get(field, field) for field in _numbers(holder)}
    return found


def is_direct(model: Model, name: str) -> bool:
    """Does a number feed one entry of one array and nothing else?"""
    return canonical(model, name) in model.described.direct


def entry_of(model: Model, name: str) -> tuple[int, int]:
    """Leaf of a model that holds a direct number, and its place there."""
    name = canonical(model, name)
    row = _find(model, name)[2]
    assert row is not None
    changed = flatten(_with_value(model, name, get_value(model, name)))[0]
    pairs = zip(flatten(model)[0], changed, strict=True)
    (leaf,) = (k for k, (a, b) in enumerate(pairs) if a is not b)
    return leaf, row


def canonical(model: Model, name: str) -> str:
    """The one name of a number: item and quantity where that is an entry of an array, else path."""
    direct, system = model.described.direct, model.described.specified
    if name in direct:
        return name
    if is_described(model, name):
        item = name.partition(".")[2]
        return item if direct.get(item) == name else name
    path = None if system is None else path_of(system, name)
    if path is None:
        return name
    try:
        compiled = _compiled_value(model, name)
    except SwelltreeError:
        return path
    described = described_value(model, path)
    return path if np.shape(compiled) == np.shape(described) else name  # the full inertia


def get_value(model: Model, name: str) -> Array:
    name = canonical(model, name)
    if is_described(model, name):
        return described_value(model, name)
    return _compiled_value(model, name)


def _compiled_value(model: Model, name: str) -> Array:
    derived = _derived(model, name)
    if derived is not None:
        effect, item, quantity = derived
        return effect.derived_parameter(item, quantity)
    path, quantity, row = _find(model, name)
    result = getattr(_follow(model, path), quantity)
    return result if row is None else result[row]


def set_values(model: Model, values: dict[str, Array]) -> Model:
    by_name: dict[str, Array] = {}
    for name, value in values.items():
        one = canonical(model, name)
        if one in by_name:
            raise SwelltreeError(f"'{name}' is also given by its other name. Give it once.")
        is_array = hasattr(value, "__array_namespace__")
        by_name[one] = value if is_array else np.asarray(value, dtype=float)
    paths = {name: value for name, value in by_name.items() if is_described(model, name)}
    by_name = {name: value for name, value in by_name.items() if name not in paths}
    model = with_described(model, paths) if paths else model
    _check_items(model, by_name)
    direct: dict[str, Array] = {}
    for name, value in by_name.items():
        before = get_value(model, name)
        if value.shape != before.shape:
            raise SwelltreeError(
                f"'{name}': the value has shape {value.shape}. Give {before.shape or 'one number'}."
            )
        _check_value(name, value, before)
        model = _with_value(model, name, value)
        if name in model.described.direct and known(value):
            direct[name] = value
    if not direct:
        return model
    stated = {model.described.direct[name]: float(value) for name, value in direct.items()}

    def change(other: Model) -> Model:
        return reduce(lambda x, pair: _with_value(x, *pair), direct.items(), other)

    return model.replace(described=model.described.with_direct(stated, change))


def _with_value(model: Model, name: str, value: Array) -> Model:
    """The model with one entry of its arrays replaced."""
    derived = _derived(model, name)
    if derived is not None:
        effect, item, quantity = derived
        return model.with_effect(effect.with_derived_parameter(model, item, quantity, value))
    path, quantity, row = _find(model, name)
    holder = _follow(model, path)
    new = value if row is None else _with_row(getattr(holder, quantity), row, value)
    changed = replace(holder, **{quantity: new})
    for depth in reversed(range(len(path))):
        changed = _changed(_follow(model, path[:depth]), path[depth], changed)
    return changed


def _check_value(name: str, value: Array, before: Array) -> None:
    """Reject NaN, new infinities and negative masses, volumes and dampings."""
    if not known(value):
        return
    if np.isnan(value).any():
        raise SwelltreeError(f"'{name}': the value is not a number. Give one.")
    # absent stops are infinite already
    if (np.isinf(value) & (np.isfinite(before) if known(before) else True)).any():
        raise SwelltreeError(f"'{name}': the value is not finite. Give a finite number.")
    if value.ndim:
        return
    if name.rpartition(".")[2] in ("mass", "volume", "damping") and value < 0.0:
        raise SwelltreeError(f"'{name}': {float(value):g} is negative. Give zero or more.")


def _check_items(model: Model, values: dict[str, Array]) -> None:
    """Reject values that the description of their item rejects, all values of an item together."""
    system = model.described.specified
    if system is None:
        return
    single = {
        name: float(x)
        for name, x in values.items()
        if known(x) and np.ndim(x) == 0 and np.isfinite(x)
    }
    stated = (path.split(".") for n in single if (path := model.described.direct.get(n)))
    tables = {(item, table) for table, item, _ in stated} | {
        (name.rpartition(".")[0], table) for name in single for table in ("forces", "ptos")
    }
    for item, table in tables:
        for part in getattr(system, table):
            values_of = parts_of(part) if part.name == item else {}
            changes = {
                key: single[f"{item}.{key}"]
                for key, value in values_of.items()
                if f"{item}.{key}" in single and isinstance(value, float | int | None)
            }
            if changes:
                part.replace(**changes)


def is_described(model: Model, name: str) -> bool:
    """Whether a name is a path of the case file; an item with the name of a table has priority."""
    return is_path(name) and name.partition(".")[0] not in _places(model)


def _with_row(old: Array, row: int, value: Array) -> Array:
    xp = namespace(old, value)
    rows = [xp.asarray(value if i == row else old[i], dtype=float) for i in range(len(old))]
    return xp.stack(rows)
