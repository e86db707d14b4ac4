"""Unrolled products of shared matrices with per-case vectors, blocked for registers.

Vectors that one matrix multiplies are taken together, so that a coefficient is loaded once; known
zeros are left out. Either the sums stay in registers or the weights, whichever are fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from swelltree.jit.graph import Buffer
from swelltree.jit.operations import FLAGS
from swelltree.jit.statements import Combination

LONGEST = 6000  # products that are written out


class Lines(NamedTuple):
    """How a writer puts such a product into words.

    Args:
        float: type of numbers of cases.
        line: a line, which gives the name of its result.
        weight: name of an expression.
        row: name of the number of a buffer at a place.
        store: puts a number into a buffer at a place.
        registers: that hold sums or weights, at most.
    """

    float: str
    line: Callable[[str], str]
    weight: Callable[[int], str]
    row: Callable[[Buffer, int], str]
    store: Callable[[str, Buffer, int], None]
    registers: int


def fits(items: list[Combination]) -> bool:
    """Is a product short enough to be written out?"""
    return int(pattern(items[0]).sum()) * len(items) <= LONGEST


def pattern(item: Combination) -> np.ndarray:
    """Which numbers of the rows are not known to be zero, (row, place)."""
    shape = len(item.rows), item.count
    return np.ones(shape, bool) if item.full is None else item.full


def write_products(items: list[Combination], how: Lines) -> None:
    """Sums of the same rows with other weights.

    Args:
        items: all with the rows of the first.
        how: of the writer.
    """
    many = len(items)
    for rows, places in identical(pattern(items[0])):
        if not rows:
            zero = how.line(f"fadd {how.float} {_nothing(how)}, {_nothing(how)}")
            for item in items:
                for at in places:
                    how.store(zero, item.out, at)
        elif len(places) <= len(rows) or len(rows) * many > how.registers:
            room = max(how.registers // many, 1)
            for first in range(0, len(places), room):
                _sums_held(items, rows, places[first : first + room], how)
        else:
            _weights_held(items, rows, places, how)


def identical(full: np.ndarray) -> Iterator[tuple[list[int], list[int]]]:
    """Places whose numbers that are not zero stand in the same rows."""
    groups: dict[bytes, list[int]] = {}
    for at in range(full.shape[1]):
        groups.setdefault(full[:, at].tobytes(), []).append(at)
    for places in groups.values():
        yield np.flatnonzero(full[:, places[0]]).tolist(), places


def _nothing(how: Lines) -> str:
    return "zeroinitializer" if how.float.startswith("<") else "0.0"


def _sums_held(items: list[Combination], rows: list[int], places: list[int], how: Lines) -> None:
    sums: dict[tuple[int, int], str] = {}
    for k in rows:
        weights = [how.weight(item.weights[k]) for item in items]
        for at in places:
            number = how.row(items[0].rows[k][0], items[0].rows[k][1] + at)
            for j, weight in enumerate(weights):
                sums[j, at] = _added(how, sums.get((j, at)), weight, number)
    for (j, at), total in sums.items():
        how.store(total, items[j].out, at)


def _weights_held(items: list[Combination], rows: list[int], places: list[int], how: Lines) -> None:
    weights = [[how.weight(item.weights[k]) for k in rows] for item in items]
    for at in places:
        sums: list[str | None] = [None] * len(items)
        for i, k in enumerate(rows):
            number = how.row(items[0].rows[k][0], items[0].rows[k][1] + at)
            for j in range(len(items)):
                sums[j] = _added(how, sums[j], weights[j][i], number)
        for item, total in zip(items, sums, strict=True):
            assert total is not None
            how.store(total, item.out, at)


def _added(how: Lines, total: str | None, weight: str, number: str) -> str:
    product = how.line(f"fmul {FLAGS} {how.float} {weight}, {number}")
    if total is None:
        return product
    return how.line(f"fadd {FLAGS} {how.float} {total}, {product}")
