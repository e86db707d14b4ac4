"""Tensions at the ends of lines: the same in every theory, half segments included."""

import numpy as np
import pytest

import swelltree as sw

KIND = sw.LineType("rope", diameter=0.12, mass_per_length=60.0, EA=5e7, damping_ratio=0.8)
WATER = sw.Water(depth=80.0)
WEIGHT = KIND.weight_per_length(WATER.rho, WATER.g)


def at_rest(line):
    return sw.equilibrium(sw.compile(sw.System("s", lines=[line], water=WATER)))


@pytest.mark.parametrize("model", ["dynamic", "quasi_static"])
def test_slack_line_on_the_seabed_pulls_with_nothing(model):
    """Neither end lifts the half segment that lies beside it."""
    away = 100.0 * np.array([np.cos(2.3), np.sin(2.3), 0.0]) - [0.0, 0.0, 80.0]
    line = sw.Line("l", (0, 0, -80), tuple(away), 101.0, KIND, model=model, segments=5)
    rest = at_rest(line)
    assert float(rest.anchor_tension.sel(line="l")) < 1e-3 * WEIGHT
    assert float(rest.fairlead_tension.sel(line="l")) < 1e-3 * WEIGHT


@pytest.mark.parametrize("model", ["dynamic", "quasi_static", "multibody", "lumped"])
def test_hanging_line_weighs_what_its_ends_carry(model):
    """Between fixed points the vertical forces of the ends are the weight, whatever the segments.

    Symmetric ends carry half of it each; the horizontal force is that of the whole line, so the
    tension at an end is not that of the middle of a segment.
    """
    ends = (-30.0, 4.0, -20.0), (30.0, -8.0, -20.0)
    line = sw.Line("l", *ends, 90.0, KIND, model=model, segments=6)
    rest = at_rest(line)
    uplift, tension = float(rest.anchor_uplift.values[0]), float(rest.anchor_tension.values[0])
    # end A is pulled down: no uplift, and the whole of its vertical force is in the tension
    assert uplift == 0.0
    span = np.hypot(60.0, 12.0)
    # six straight segments, their weight at the nodes: the polygon that closes over the span
    angles = _polygon(span, 90.0 / 6)
    V, H = 3 * WEIGHT * 15.0, WEIGHT * 15.0 / angles
    assert tension == pytest.approx(np.hypot(V, H), rel=0.03 if model == "quasi_static" else 3e-3)
    assert float(rest.fairlead_tension.values[0]) == pytest.approx(tension, rel=1e-4)


def _polygon(span, length):
    """Weight of a segment over the horizontal force of six equal links with weights at nodes."""
    low, high, ratio = 1e-3, 50.0, 1.0
    for _ in range(100):
        ratio = 0.5 * (low + high)
        slopes = ratio * np.array([0.5, 1.5, 2.5])  # links beside the middle node, outwards
        wide = 2.0 * length * (1.0 / np.sqrt(1.0 + slopes**2)).sum()
        low, high = (ratio, high) if wide > span else (low, ratio)
    return ratio
