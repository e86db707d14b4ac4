"""Fatigue damage of lines by T-N curves: closed forms of regular tensions."""

import numpy as np
import pytest

import swelltree as sw
from made_result import made_run
from swelltree.results.line_fatigue import YEAR

LOAD = 4e6


@pytest.fixture(scope="module")
def run():
    """Two lines under regular tensions of whole cycles, from crest to crest."""
    found = made_run(lines=2, duration=60.0, step=0.1)
    time, period = found.time.values, 5.0  # 10 cycles after the ramp of 10 s
    wave = np.cos(2 * np.pi * time / period)[:, None, None]
    size = np.array([1e5, 2e5])[:, None] * np.linspace(1.0, 2.0, found.sizes["line_segment"])
    return found.assign(line_tension=(found.line_tension.dims, 1e6 + size * wave)), size


@pytest.mark.parametrize("curve", sw.TN_CURVES)
def test_damage_of_a_regular_tension_is_cycles_over_cycles_to_failure(run, curve):
    dataset, size = run
    law = sw.TN_CURVES[curve]
    found = sw.line_damage(dataset, curve, LOAD).line_tension_damage_rate
    # means of samples: a crest more than whole cycles
    mean = (1e6 + size / 501) / LOAD
    failure = law.K * 10.0 ** (-law.mean_load * mean) * (2 * size / LOAD) ** -law.m
    assert found.values == pytest.approx(10 / 50.0 * YEAR / failure, rel=1e-9)
    assert found.attrs["units"] == "1/year"


def test_damage_grows_with_the_power_of_tension_over_breaking_load(run):
    dataset, _ = run
    one = sw.line_damage(dataset, sw.TNCurve(3.0, 316.0), LOAD).line_tension_damage_rate
    each = {"line 0": LOAD, "line 1": 2 * LOAD}
    two = sw.line_damage(dataset, "studless_chain", each).line_tension_damage_rate
    assert (one / two).values == pytest.approx(np.array([[1.0], [8.0]]) * np.ones(one.shape))
    # the equivalent range of a campaign does the same damage
    tension = dataset.line_tension.sel(time=slice(10.0, None)).transpose(..., "time").values
    equivalent = sw.damage_equivalent(tension, 3.0, 50.0)
    assert one.values == pytest.approx(
        sw.TN_CURVES["studless_chain"].damage(equivalent / LOAD, YEAR)
    )


def test_gaps_have_no_damage_and_mistakes_are_named(run):
    dataset, _ = run
    gap = dataset.copy(deep=True)
    gap["line_tension"][300, 0, 0] = np.nan
    found = sw.line_damage(gap, "studlink_chain", LOAD).line_tension_damage_rate
    assert np.isnan(found.values).sum() == 1
    with pytest.raises(sw.SwelltreeError, match=r"curve 'studless' is not known. Did you mean"):
        sw.line_damage(dataset, "studless", LOAD)
    with pytest.raises(sw.SwelltreeError, match=r"line 'line 1' has no positive breaking load"):
        sw.line_damage(dataset, "studless_chain", {"line 0": LOAD})
    with pytest.raises(sw.SwelltreeError, match=r"there are no lines"):
        sw.line_damage(made_run(duration=5.0), "studless_chain", LOAD)
    with pytest.raises(sw.SwelltreeError, match=r"leaves no samples"):
        sw.line_damage(dataset, "studless_chain", LOAD, start=1e3)
    with pytest.raises(sw.SwelltreeError, match=r"m -3.0 and K 1.0 must be positive"):
        sw.TNCurve(-3.0, 1.0)
