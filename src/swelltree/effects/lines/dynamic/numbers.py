"""Numbers of dynamic lines by name: `<line>.length`, `.EA`, `.mass_per_length`, `.diameter`, ...

A number is one for the whole line, so lines of several sections have their length only. The
catenaries that stand for the lines in linear studies change with them. The axial damping BA stays
when EA changes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.engine.arrays import Array, Tree, namespace
from swelltree.model.model import Model

if TYPE_CHECKING:
    from swelltree.effects.lines.dynamic.arrays import LineArrays
    from swelltree.effects.lines.dynamic.lines import DynamicLines
    from swelltree.effects.lines.dynamic.static_lines import StaticLines


EVEN = ("EA", "mass_per_length", "diameter", "Cdn", "Cdt", "Can", "Cat")


def even_numbers(lines: DynamicLines, name: str) -> list[str]:
    """Names of the numbers of a line; none if there is no such line, or it is cut.

    Args:
        lines: `DynamicLines`.
        name: of the line.
    """
    if lines.arrays is None or lines.lines.count(name) != 1:
        return []
    row = lines.lines.index(name)
    used = _used(lines.arrays, row)
    even = [key for key in EVEN if _is_even(getattr(lines.arrays, key)[row], used)]
    return ["length", *even]


def _used(arrays: LineArrays, row: int) -> np.ndarray:
    return np.arange(arrays.n) >= np.asarray(arrays.first)[row]


def _is_even(values: Array, used: np.ndarray) -> bool:
    """Is it one finite number along the line? A traced one is, as it was set by name."""
    if not isinstance(values, np.ndarray):
        return True
    in_use = values[used]
    return bool(np.isfinite(in_use).all() and (in_use == in_use[0]).all())


def line_number(lines: DynamicLines, name: str, quantity: str) -> Array:
    """The number of that name."""
    assert lines.arrays is not None
    row = lines.lines.index(name)
    if quantity == "length":
        return lines.arrays.rest_length[row][_used(lines.arrays, row)].sum()
    return getattr(lines.arrays, quantity)[row][-1]


def with_line_number(
    lines: DynamicLines, model: Model, name: str, quantity: str, value: Array
) -> DynamicLines:
    """The lines with one number of a line replaced, in both of their theories."""
    row, old = lines.lines.index(name), line_number(lines, name, quantity)
    arrays = lines.arrays
    assert arrays is not None
    if quantity == "length":
        arrays = _rows(arrays, row, rest_length=arrays.rest_length[row] * (value / old))
    else:
        arrays = _rows(arrays, row, **{quantity: 0.0 * arrays.rest_length[row] + value})
    if quantity == "EA":
        arrays = _rows(arrays, row, kappa=arrays.kappa[row] * (old / value))
    longer = value / old if quantity == "length" else 1.0
    static = _static(replace(lines, arrays=arrays), model, name, longer)
    return replace(lines, arrays=arrays, static=static)


def _static(lines: DynamicLines, model: Model, name: str, longer: Array) -> StaticLines:
    """The catenaries with the numbers of the line as they are now."""
    static, arrays, row = lines.static, lines.arrays, lines.lines.index(name)
    assert static is not None
    assert arrays is not None
    at = static.line.index(static.lines.index(name))
    sections = static.pieces.sections
    changes: dict[str, Array] = {"length": sections.length[at] * longer}
    even = even_numbers(lines, name)
    if {"mass_per_length", "diameter"} <= set(even):
        area = 0.25 * np.pi * arrays.diameter[row][-1] ** 2
        weight = (arrays.mass_per_length[row][-1] - model.rho * area) * -model.gravity[2]
        changes["weight"] = 0.0 * sections.weight[at] + weight
    if "EA" in even and not arrays.stretch.size:
        changes["compliance"] = 0.0 * sections.compliance[at] + 1.0 / arrays.EA[row][-1]
    pieces = replace(static.pieces, sections=_rows(sections, at, **changes))
    return replace(static, pieces=pieces)


def _rows(holder: Tree, row: int, **rows: Array) -> Tree:
    """Arrays with one row of some replaced, in the library of what comes in."""
    changed = {}
    for name, value in rows.items():
        old = getattr(holder, name)
        xp = namespace(old, value)
        changed[name] = xp.stack(
            [xp.asarray(value if i == row else old[i]) for i in range(len(old))]
        )
    return replace(holder, **changed)
