"""Bends of a sampled signal: the few samples whose linear interpolation reproduces it closely."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

LEFT_OUT = 0.02  # of the range of a signal: what straight lines between bends may leave out


def bends(time: Float[np.ndarray, " n"], value: Float[np.ndarray, " n"]) -> np.ndarray:
    """Numbers of the samples that a polyline needs to stay within a fraction of the range.

    A stretch whose worst sample is too far from the chord is divided there (Douglas and Peucker
    1973). A slow swell keeps some ten samples a period, a pulse its feet and its tops, however
    many samples there are.
    """
    close = LEFT_OUT * float(np.ptp(value))
    kept = {0, len(time) - 1}
    stretches = [(0, len(time) - 1)]
    while stretches:
        first, last = stretches.pop()
        if last - first < 2:
            continue
        part = (time[first : last + 1] - time[first]) / (time[last] - time[first])
        chord = value[first] + part * (value[last] - value[first])
        off = np.abs(value[first : last + 1] - chord)
        worst = first + int(off.argmax())
        if off.max() > close:
            kept.add(worst)
            stretches += [(first, worst), (worst, last)]
    return np.array(sorted(kept))
