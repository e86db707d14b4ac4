"""Order of convergence of a line in moving water, added mass and drag included."""

from itertools import pairwise

import numpy as np
import pytest

import swelltree as sw
from made_lines import HAND, led_lines
from swelltree.jit import namespace


def swung(amplitude, rate):
    def signal(t):
        xp = namespace(t)
        return amplitude * t**3 / (1.0 + t**3) * xp.sin(rate * t)

    return signal


@pytest.mark.slow
def test_elastic_line_in_waves_converges_with_order_two():
    rope = sw.LineType(
        "rope", 0.15, 60.0, EA=2e5, BA=1e4, Cdn=1.2, Cdt=0.1, Can=1.0, Cat=0.3, lift=0.2
    )
    line = sw.Line("line", (-28.0, 0, -30), HAND.at(0, 0, -5), 36.0, rope, segments=6)
    motion = {"Surge": swung(1.0, 1.0), "Sway": swung(1.0, 1.5), "Heave": swung(0.5, 2.0)}
    model = led_lines([line], motion, sw.Water())
    wave = sw.RegularWave(amplitude=1.5, period=6.0)
    places, pulls = [], []
    for halvings in range(4):
        run = sw.simulate(
            model,
            wave,
            duration=2.0,
            output_step=1.0,
            step=0.05 / 2**halvings,
            start="described",
        )
        places.append(run.line_position.values[-1])
        pulls.append(run.line_tension.values[-1])
    for series in (places, pulls):
        gaps = [np.abs(b - a).max() for a, b in pairwise(series)]
        assert np.log2(gaps[1] / gaps[2]) == pytest.approx(2.0, abs=0.1)
