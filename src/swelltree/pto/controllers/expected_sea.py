"""Laws that were made for one sea: they say so where they run in another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swelltree.describe.errors import warn_user
from swelltree.waves.airy import Components
from swelltree.waves.sea import RealisedSea

SAME = 1e-6  # of the largest value: by so much may waves of one sea differ, read from a file too


@dataclass(frozen=True)
class ExpectedSea:
    """Plane waves that a law or a force knows by heart.

    Args:
        who: what was made for them, in words.
        rows: frequency, real and imaginary part of the amplitude, and direction of every wave.
    """

    who: str
    rows: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, who: str, waves: Components) -> ExpectedSea:
        """The waves of a realised sea; their ramp may differ."""
        return cls(who, tuple(tuple(map(float, row)) for row in _rows(waves)))

    def check(self, waves: RealisedSea) -> None:
        """Warn where a run has another sea."""
        if not self.is_same(waves):
            warn_user(
                f"{self.who} was made for another sea than that of this run, and its forces do "
                "not fit these waves. Make a new one for this sea, or use with_mpc, which takes "
                "the sea of the run."
            )

    def is_same(self, waves: RealisedSea) -> bool:
        """Are these the waves that it was made for?"""
        if not isinstance(waves, Components) or not waves.is_known:
            return False
        own, its = np.array(self.rows), _rows(waves)
        if own.shape != its.shape:
            return False
        scale = np.abs(own).max(axis=1, keepdims=True, initial=1e-12)
        return bool((np.abs(own - its) <= SAME * scale).all())


def _rows(waves: Components) -> np.ndarray:
    a = np.asarray(waves.complex_amplitude, complex)
    return np.stack([np.asarray(waves.omega), np.real(a), np.imag(a), np.asarray(waves.beta)])
