"""Unrolled products of shared matrices with per-case vectors, blocked for registers.

Vectors that one matrix multiplies are taken together, so that a coefficient is loaded once; known
zeros are left out. Either the sums stay in registers or the weights, whichever are fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from swelltree.jit.graph import FLOAT, Buffer
from swelltree.jit.operations import FLAGS
from swelltree.jit.statements import Combination

if TYPE_CHECKING:
    from swelltree.jit.text import Writer

LONGEST = 6000  # products that are written out


def fits(items: list[Combination]) -> bool:
    """Is a product short enough to be unrolled?"""
    return int(pattern(items[0]).sum()) * len(items) <= LONGEST


def pattern(item: Combination) -> np.ndarray:
    """Scalars of the rows that are not known to be zero, (row, place)."""
    shape = len(item.rows), item.count
    return np.ones(shape, bool) if item.full is None else item.full


def identical(full: np.ndarray) -> Iterator[tuple[list[int], list[int]]]:
    """Groups of places with the same rows that are not zero."""
    groups: dict[bytes, list[int]] = {}
    for at in range(full.shape[1]):
        groups.setdefault(full[:, at].tobytes(), []).append(at)
    for places in groups.values():
        yield np.flatnonzero(full[:, places[0]]).tolist(), places


class UnrolledProducts:
    """Several weighted sums of the same rows; `store` takes the place of `Writer.put`."""

    def __init__(
        self,
        writer: Writer,
        items: list[Combination],
        names: dict[int, str],
        registers: int,
        store: Callable[[Buffer, int, str], None] | None = None,
    ) -> None:
        self.writer, self.items, self.names, self.registers = writer, items, names, registers
        self.store = self._put if store is None else store
        self.types = writer.operations_for(items[0].out).types

    def write(self) -> None:
        many = len(self.items)
        for rows, places in identical(pattern(self.items[0])):
            if not rows:
                zero = self.types.constant(0.0)
                for item in self.items:
                    for at in places:
                        self.store(item.out, at, zero)
            elif len(places) <= len(rows) or len(rows) * many > self.registers:
                room = max(self.registers // many, 1)
                for first in range(0, len(places), room):
                    self._hold_sums(rows, places[first : first + room])
            else:
                self._hold_weights(rows, places)

    def _hold_sums(self, rows: list[int], places: list[int]) -> None:
        sums: dict[tuple[int, int], str] = {}
        for k in rows:
            weights = self._weights(k)
            for at in places:
                number = self._row(k, at)
                for j, weight in enumerate(weights):
                    sums[j, at] = self._added(sums.get((j, at)), weight, number)
        for (j, at), total in sums.items():
            self.store(self.items[j].out, at, total)

    def _hold_weights(self, rows: list[int], places: list[int]) -> None:
        weights = {k: self._weights(k) for k in rows}
        for at in places:
            sums: list[str | None] = [None] * len(self.items)
            for k in rows:
                number = self._row(k, at)
                pairs = zip(sums, weights[k], strict=True)
                sums = [self._added(total, weight, number) for total, weight in pairs]
            for item, total in zip(self.items, sums, strict=True):
                self.store(item.out, at, str(total))

    def _weights(self, k: int) -> list[str]:
        return [self.writer.value_for(x.out, x.weights[k], self.names) for x in self.items]

    def _row(self, k: int, at: int) -> str:
        (buffer, start), like = self.items[0].rows[k], self.items[0].out
        return self.writer.fetch(FLOAT, buffer, start + at, None, like)

    def _put(self, buffer: Buffer, at: int, name: str) -> None:
        self.writer.put(buffer, FLOAT, name, at)

    def _added(self, total: str | None, weight: str, number: str) -> str:
        T = self.types.of(FLOAT)
        product = self.writer.line(f"fmul {FLAGS} {T} {weight}, {number}")
        if total is None:
            return product
        return self.writer.line(f"fadd {FLAGS} {T} {total}, {product}")
