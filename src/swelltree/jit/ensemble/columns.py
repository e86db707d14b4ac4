"""Liveness of table columns: which columns of per-case arrays a program reads."""

from __future__ import annotations

import math
from collections.abc import Iterator

from swelltree.jit.entries import Read
from swelltree.jit.graph import Buffer, Graph, Region
from swelltree.jit.statements import Combination, Reduction, Stores, inner_regions

OWN = "lanes"  # memory of what is a case's own
ANYWHERE = 1  # step of places that are not known


def read_places(graph: Graph, live: set[int]) -> Read:
    """Places of a case's own tables that are read.

    Args:
        graph: of a program.
        live: expressions that are needed.
    """
    found = set()
    for a in live:
        op = graph.ops[a]
        if op[0] == "load" and op[1].where == OWN:
            found.add((op[1].start, op[2], 0))
        elif op[0] == "load_at" and op[1].where == OWN:
            found.add((op[1].start, op[2], multiple(graph, op[3])))
    for buffer in _full(graph.root):
        if buffer.where == OWN:
            found.add((buffer.start, 0, ANYWHERE))
    return frozenset(found)


def columns_read(read: Read, start: int, width: int) -> tuple[int, ...]:
    """Columns of a table that are read.

    Args:
        read: what is read.
        start: of the table.
        width: of its rows.
    """
    found = set()
    for table, at, step in read:
        if table == start:
            if step % width:
                return tuple(range(width))
            found.add(at % width)
    return tuple(sorted(found))


def multiple(graph: Graph, a: int) -> int:
    """A whole number that divides an expression whatever its value; zero where that is zero."""
    op = graph.ops[a]
    if op[0] == "is":
        return abs(int(op[1]))
    if op[0] == "mul":
        return multiple(graph, op[1]) * multiple(graph, op[2])
    if op[0] in ("add", "sub", "min", "max"):
        return math.gcd(multiple(graph, op[1]), multiple(graph, op[2]))
    if op[0] == "where":
        return math.gcd(multiple(graph, op[2]), multiple(graph, op[3]))
    return ANYWHERE


def _full(region: Region) -> Iterator[Buffer]:
    for item in region.items:
        if isinstance(item, Combination | Reduction):
            yield from (buffer for buffer, _ in item.rows)
        elif isinstance(item, Stores):
            yield from (x[2] for x in item.rows)
            yield from (row.origin for row in item.moving_rows)
        for inner in inner_regions(item):
            yield from _full(inner)
