"""Tensions at the ends of lines: the same in every theory, half segments included."""

import numpy as np
import pytest
from scipy.optimize import root

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


@pytest.mark.parametrize(
    "model",
    ["dynamic", "quasi_static", pytest.param("multibody", marks=pytest.mark.slow), "lumped"],
)
@pytest.mark.parametrize("B", [(30.0, -8.0, -20.0), (22.0, -15.0, -7.0)], ids=["level", "uneven"])
def test_hanging_line_weighs_what_its_ends_carry(model, B):
    """Between fixed points the vertical forces of the ends are the weight, whatever the segments.

    The tension at an end is not that of the middle of the segment beside it, whose weight is here
    a sixth of the line's.
    """
    A = (-30.0, 4.0, -20.0)
    line = sw.Line("l", A, B, 90.0, KIND, model=model, segments=6)
    rest = at_rest(line)
    # end A is pulled down: no uplift, and the whole of its vertical force is in the tension
    assert float(rest.anchor_uplift.values[0]) == 0.0
    found = float(rest.anchor_tension.values[0]), float(rest.fairlead_tension.values[0])
    # the catenary is no polygon of six
    accuracy = 0.03 if model == "quasi_static" else 3e-3
    assert found == pytest.approx(_of_polygon(np.subtract(B, A), 90.0, 6), rel=accuracy)


def _of_polygon(chord, length, count):
    """Tensions at both ends of links with half of their weight at each of their nodes."""
    wide, link = np.hypot(*chord[:2]), length / count

    def links(x):
        return np.hypot(x[0], x[1] + WEIGHT * link * np.arange(count))

    def gap(x):
        T = links(x)
        stretched = link * (1.0 + T / KIND.EA)
        rise = x[1] + WEIGHT * link * np.arange(count)
        return (stretched * x[0] / T).sum() - wide, (stretched * rise / T).sum() - chord[2]

    H, V = root(gap, (0.2 * WEIGHT * length, -0.4 * WEIGHT * length)).x
    half = 0.5 * WEIGHT * link
    return np.hypot(H, V - half), np.hypot(H, V + (count - 1) * 2.0 * half + half)


@pytest.mark.parametrize("model", ["dynamic", "quasi_static"])
def test_a_line_described_from_either_end_reports_the_same_of_both(model):
    """Touchdown, forces, angles and uplift do not depend on which end is A."""
    kind = KIND.replace(breaking_load=2e6)
    low, high, length, n = (-140.0, 60.0, -80.0), (40.0, -20.0, 0.0), 230.0, 46
    lifted = (-140.0, 60.0, -80.0), (70.0, -30.0, 10.0), 235.0
    for A, B, total in ((low, high, length), lifted):
        down = at_rest(sw.Line("l", A, B, total, kind, model=model, segments=n))
        up = at_rest(sw.Line("l", B, A, total, kind, model=model, segments=n))
        lies = float(down.touchdown[0])
        if length == total:
            assert lies > 20.0
            assert float(up.touchdown[0]) == pytest.approx(total - lies, rel=1e-6)
        else:
            assert lies == 0.0
            assert float(up.touchdown[0]) == 0.0
            assert float(down.anchor_uplift[0]) > 1e4
        for name in ("tension", "force", "angle", "uplift"):
            for mine, other in (("anchor", "fairlead"), ("fairlead", "anchor")):
                a, b = down[f"{mine}_{name}"].values[0], up[f"{other}_{name}"].values[0]
                assert a == pytest.approx(b, rel=1e-5, abs=1e-3 * WEIGHT)
        force = down.fairlead_force.values[0]
        assert np.linalg.norm(force) == pytest.approx(float(down.fairlead_tension[0]))
        assert float(down.fairlead_angle[0]) == pytest.approx(
            np.arctan2(force[2], np.hypot(*force[:2]))
        )
        assert float(down.fairlead_angle[0]) < -0.1
        largest = down.fairlead_tension.values[0] / 2e6
        assert float(down.utilisation[0]) == pytest.approx(largest, rel=0.02)
        assert float(up.utilisation[0]) == pytest.approx(float(down.utilisation[0]), rel=1e-5)
