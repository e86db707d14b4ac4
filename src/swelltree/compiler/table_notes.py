"""Notes on the tables in a system: their interpolation, and where a spline overshoots."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from swelltree.model.signals import compile_signal
from swelltree.system import System
from swelltree.system.describe import Description
from swelltree.system.errors import warn_user
from swelltree.system.forces.signals import Table

PER_PIECE = 20  # points that a piece is looked at
BEYOND = 0.1  # of the range of the values: overshoot that gives a warning


def table_notes(system: System) -> list[str]:
    """One message for each table; a spline that overshoots its values by far gives a warning."""
    result = []
    for item in (*system.joints, *system.forces, *system.ptos, *system.winches):
        for field, table in _tables(item):
            result.append(_sentence(item.label, field, table))
    return result


def _tables(item: Description) -> Iterator[tuple[str, Table]]:
    """Tables in the fields of an item."""
    for field in dataclasses.fields(item):  # pyright: ignore[reportArgumentType]
        values = [getattr(item, field.name)]
        while values:
            value = values.pop()
            if isinstance(value, tuple):
                values += reversed(value)
            elif isinstance(value, Table):
                yield field.name, value


def _sentence(label: str, field: str, table: Table) -> str:
    join = {"spline": "a cubic spline", "monotone": "monotone cubics", "linear": "straight lines"}
    said = f"{label}: the table of its {field} is joined by {join[table.interpolation]}"
    time, value = np.array(table.time), np.array(table.value)
    part = np.arange(PER_PIECE) / PER_PIECE
    at = (time[:-1, None] + part * np.diff(time)[:, None]).ravel()
    signal = compile_signal(table)
    drawn = np.array([float(signal(t)) for t in at])
    low, high = value.min(), value.max()
    if max(low - drawn.min(), drawn.max() - high) <= BEYOND * (high - low):
        return f"{said}."
    others = "'monotone'" if field == "motion" else "'monotone' or 'linear'"
    said = (
        f"{said}, which ranges from {drawn.min():.4g} to {drawn.max():.4g}, beyond its values "
        f"{low:.4g} to {high:.4g}. Give interpolation={others}, or more rows."
    )
    warn_user(said)
    return said
