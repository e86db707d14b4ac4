"""Samples of the cases of one register, summed up where they are."""

from __future__ import annotations

import functools

import numpy as np

from swelltree.engine.machine.many_cases.summaries import (
    EXTREMES,
    STATISTICS,
    Kept,
    Wanted,
    damage_text,
    extremes_text,
    peaks_of_cells,
    peaks_text,
    statistics_text,
)
from swelltree.engine.machine.many_cases.written import Place
from swelltree.engine.machine.native import Native, object_code


@functools.lru_cache(maxsize=16)
def _native(text: str, rows: int) -> Native:
    return Native(object_code(text), pointers=rows + 1)


class LaneSeries:
    """Samples of all channels of some cases, chunk after chunk.

    Args:
        places: of the channels in the results of a chunk.
        chunks: how many.
        width: lanes.
        wanted: what is kept.
    """

    def __init__(self, places: list[Place], chunks: int, width: int, wanted: Wanted) -> None:
        self.places, self.width, self.wanted = places, width, wanted
        self.samples = len(wanted.shares)
        self.sizes = [int(np.prod(shape[1:], dtype=int)) for _, shape, _ in places]
        self.memory = [
            np.empty((chunks * shape[0] * size, width))
            for (_, shape, _), size in zip(places, self.sizes, strict=True)
        ]

    def of_channel(self, k: int) -> Kept:
        """What is kept of a channel, lanes first; its samples are lost."""
        wanted, width, size = self.wanted, self.width, self.sizes[k]
        sizes = [size, len(self.memory[k]), wanted.first, self.samples]
        shares = np.ascontiguousarray(wanted.shares)
        statistics = self._found(
            statistics_text(False, True, width), k, len(STATISTICS), sizes, size, shares
        )
        peaks = damage = None
        if wanted.peaks:
            text = peaks_text(wanted.peaks, False, True, width)
            found = self._found(text, k, 2 * wanted.peaks, sizes, size * width)
            peaks = peaks_of_cells(found.reshape(width, size, 2, wanted.peaks))
        if wanted.exponents:
            text = damage_text(wanted.exponents, False, True, width)
            damage = self._found(text, k, 1 + len(wanted.exponents), sizes, size * width)
        return Kept(statistics, peaks, damage)

    def _found(
        self, text: str, k: int, count: int, sizes: list[int], threads: int, *more: np.ndarray
    ) -> np.ndarray:
        """Numbers of each entry of a channel, (lane, entry, number)."""
        out = np.empty((self.sizes[k], count, self.width))
        rows = (self.memory[k], *more, out)
        _native(text, len(rows))(*rows, np.array([*sizes, threads], np.int64))
        return out.transpose(2, 0, 1)

    def budget(self, rows: list[int]) -> np.ndarray:
        """Extremes of the energy budget, (lane, number).

        Args:
            rows: its samples by their number among all, in the order of `summaries.BUDGET`.
        """
        out = np.empty((len(EXTREMES), self.width))
        memory = [self.memory[k] for k in rows]
        text = extremes_text(False, True, self.width)
        sizes = np.array([len(memory[0]), self.samples, 1], np.int64)
        _native(text, len(rows) + 1)(*memory, out, sizes)
        return out.T
