"""Numbers packed for a page: 16 bits each, differences in time, compressed, as text.

A block holds samples of several channels. Every channel has its own scale, so the error is at
most 1/130000 of its range. Smooth channels become small second differences, and these compress to
about a byte a sample. `read_block` is what the page does in `web/blocks.js`.
"""

from __future__ import annotations

import base64
import zlib

import numpy as np

from swelltree.system.named_values import NamedValues

TOP = 32767
GAP = -32768  # stands for a missing value


class Blocks:
    """The blocks of a page, in order."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def add(self, values: np.ndarray) -> NamedValues:
        """Pack samples (time, channel); the result says how to read them.

        Args:
            values: real numbers; NaN is kept as a gap.
        """
        about, text = write_block(np.asarray(values, float).reshape(len(values), -1))
        self.texts.append(text)
        return about | {"block": len(self.texts) - 1}


def write_block(values: np.ndarray) -> tuple[NamedValues, str]:
    """A block and its description: rows, columns, order of differences, offsets and scales."""
    gaps = ~np.isfinite(values)
    low = np.where(gaps, np.inf, values).min(0, initial=np.inf)
    high = np.where(gaps, -np.inf, values).max(0, initial=-np.inf)
    low, high = np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 0.0)
    offset, scale = 0.5 * (low + high), (high - low) / (2 * TOP)
    steps = np.round((np.where(gaps, offset, values) - offset) / np.where(scale > 0, scale, 1.0))
    numbers = np.where(gaps, GAP, steps).astype(np.int16)
    order = min(range(3), key=lambda n: len(_compressed(numbers[:2048], n, 1)))
    about = {
        "rows": values.shape[0],
        "columns": values.shape[1],
        "order": order,
        "offset": [_digits(x) for x in offset],
        "scale": [_digits(x) for x in scale],
    }
    return about, base64.b64encode(_compressed(numbers, order, 6)).decode()


def _digits(value: float) -> float:
    return float(f"{value:.10g}")


def _compressed(numbers: np.ndarray, order: int, level: int) -> bytes:
    """Differences in time channel by channel, low bytes before high bytes, deflated."""
    rows = numbers.T.astype(np.int16, order="C")
    for _ in range(order):
        rows = np.diff(rows, axis=1, prepend=np.int16(0))  # wraps around, and back when read
    planes = rows.astype("<i2").view(np.uint8).reshape(-1, 2).T
    return zlib.compress(np.ascontiguousarray(planes).tobytes(), level)


def read_block(about: NamedValues, text: str) -> np.ndarray:
    """The samples (time, channel) of a block."""
    raw = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8).reshape(2, -1)
    rows = np.ascontiguousarray(raw.T).view("<i2").reshape(about["columns"], about["rows"])
    for _ in range(about["order"]):
        rows = np.cumsum(rows, axis=1, dtype=np.int16)
    values = rows.T * np.array(about["scale"]) + np.array(about["offset"])
    return np.where(rows.T == GAP, np.nan, values)
