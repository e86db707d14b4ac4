"""Liveness of table columns: which columns of per-case arrays a program reads."""

from __future__ import annotations

import math

from swelltree.jit.entries import Read
from swelltree.jit.graph import Graph
from swelltree.jit.statements import nested, statements

OWN = "lanes"  # memory of what is a case's own
ANYWHERE = 1  # step of places that are not known


def read_places(graph: Graph, live: set[int]) -> Read:
    """Places of per-case tables that are read."""
    found = set()
    for a in live:
        op = graph.ops[a]
        if op[0] == "load" and op[1].where == OWN:
            found.add((op[1].start, op[2], 0))
        elif op[0] == "load_at" and op[1].where == OWN:
            found.add((op[1].start, op[2], multiple(graph, op[3])))
    for region in nested(graph.root):
        for item in statements(region):
            for buffer in item.reads():
                if buffer.where == OWN:
                    found.add((buffer.start, 0, ANYWHERE))
    return frozenset(found)


def columns_read(read: Read, start: int, width: int) -> tuple[int, ...]:
    """Columns of a per-case table that are read."""
    found = set()
    for table, at, step in read:
        if table == start:
            if step % width:
                return tuple(range(width))
            found.add(at % width)
    return tuple(sorted(found))


def multiple(graph: Graph, a: int) -> int:
    """An integer that divides every value of an expression; zero if it is always zero."""
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
