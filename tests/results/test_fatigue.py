"""Rainflow counting and damage-equivalent ranges."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.describe.errors import SwelltreeError
from swelltree.results.fatigue import damage_equivalent


def test_the_example_of_the_standard_is_counted_as_printed():
    # ASTM E1049-85, fig. 6: -2 1 -3 5 -1 3 -4 4 -2
    ranges, means, counts = sw.rainflow([-2, 1, -3, 5, -1, 3, -4, 4, -2])
    printed = {3: 0.5, 4: 1.5, 6: 0.5, 8: 1.0, 9: 0.5}
    for size, often in printed.items():
        assert counts[ranges == size].sum() == often
    assert counts.sum() == sum(printed.values())
    assert means[(ranges == 4) & (counts == 1.0)] == pytest.approx([1.0])


def test_points_on_the_way_and_shifts_change_nothing():
    rng = np.random.default_rng(3)
    x = rng.normal(size=300)
    fine = np.interp(np.arange(0, 299.01, 0.25), np.arange(300), x)
    for other in (fine, -x, np.repeat(x, 2)):
        ranges, _, counts = sw.rainflow(other)
        base, _, often = sw.rainflow(x)
        assert sorted(zip(ranges.round(9), counts, strict=True)) == sorted(
            zip(base.round(9), often, strict=True)
        )


def test_a_sine_has_its_own_range_whatever_the_exponent():
    t = np.linspace(0.0, 100.0, 20001)
    x = 7.0 + 3.0 * np.sin(2 * np.pi * 0.5 * t)
    load = sw.damage_equivalent(np.stack([x, 2 * x]), [3.0, 10.0], 100.0, frequency=0.5)
    # first and last quarter make two more halves of half the range
    assert load == pytest.approx(np.array([[6.0, 6.0], [12.0, 12.0]]), rel=3e-3)


def test_huge_loads_do_not_overflow_and_gaps_stay_gaps():
    x = 1e40 * np.sin(np.linspace(0, 60, 500))
    assert np.isfinite(sw.damage_equivalent(x, 10.0, 60.0))
    assert np.isnan(sw.damage_equivalent(np.full(9, np.nan), 3.0, 1.0))
    assert sw.damage_equivalent(np.ones(9), 3.0, 1.0) == 0.0


def test_a_negative_exponent_is_told():
    with pytest.raises(sw.SwelltreeError, match=r"exponent -3.*must be positive"):
        sw.damage_equivalent([0.0, 1.0], -3.0, 10.0)


def test_damage_of_a_short_load_is_that_of_a_calculation_by_hand():
    """0 2 0 4 0 2 0: two half cycles and a whole one of range 2, two half cycles of range 4.

    (0.5 + 0.5 + 1) 2^3 + (0.5 + 0.5) 4^3 = 80, over six cycles of a second each.
    """
    load = sw.damage_equivalent(np.array([0, 2, 0, 4, 0, 2, 0.0]), 3.0, 6.0)
    assert load == pytest.approx((80.0 / 6.0) ** (1.0 / 3.0), rel=1e-12)


def test_cycles_across_a_gap_are_not_counted():
    record = [0.0, 2.0, np.nan, -3.0, 1.0]
    with pytest.raises(SwelltreeError, match=r"1 of 5 samples are not finite.*sample 2"):
        sw.rainflow(record)
    both = damage_equivalent(np.array([record, [0.0, 2.0, 1.0, -3.0, 1.0]]), 5.0, 10.0)
    assert np.isnan(both[0])
    assert both[1] > 0.0
