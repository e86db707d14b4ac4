"""Loads of seas summed in the lanes of registers, against their sums in numpy."""

import numpy as np
import pytest

from swelltree.hydro.linear import hydro
from swelltree.studies.batch import lane_wave_sums as lane_sums
from swelltree.studies.batch.lane_wave_sums import LaneSums, LaneWaves

CASES, COUNT, HIGHEST, LONGEST = 11, 37, 2.4, 40.0


def general_waves(n):
    """Waves of general kind, with grids and ramps of their own."""
    rng = np.random.default_rng(3)
    omega = rng.uniform(0.2, HIGHEST, (CASES, COUNT))
    force = rng.normal(size=(CASES, COUNT, n)) + 1j * rng.normal(size=(CASES, COUNT, n))
    step = 2.0 * np.pi / HIGHEST / lane_sums.POINTS_PER_PERIOD * rng.uniform(0.4, 1.0, CASES)
    ramp = np.where(np.arange(CASES) % 3 == 0, 0.0, 310.0)
    return LaneWaves(omega, force, step, ramp)


def right_loads(waves, case, t):
    """Loads and rates of a case at some times."""
    turned = waves.force[case] * np.exp(-1j * waves.omega[case][:, None] * t[:, None, None])
    value = turned.sum(1).real
    rate = (-1j * waves.omega[case][:, None] * turned).sum(1).real
    ramp = waves.ramp[case]
    if ramp == 0.0:
        return value, rate
    x = np.pi * np.minimum(t, ramp)[:, None] / ramp
    r = 0.5 - 0.5 * np.cos(x)
    change = np.where(t[:, None] < ramp, 0.5 * np.pi / ramp * np.sin(x), 0.0)
    return r * value, r * rate + change * value


@pytest.mark.parametrize("n", [6, 12, 8])
@pytest.mark.parametrize("width", [8, 4])
def test_loads_and_rates_in_lanes_are_the_sums_of_the_waves(n, width):
    waves = general_waves(n)
    cases = [2, 0, 5, 9, 10, 7, 1, 1][:width]
    points = LaneSums.points(LONGEST, waves.step.min())
    force, rate = 3, 3 + points * n
    rows = np.full((2 * points * n + 9, width), np.nan)
    sums = LaneSums(waves, cases, LONGEST)
    for begin in (0.0, 297.3):
        sums.fill(begin, rows, [force, rate])
        for lane, case in enumerate(cases):
            step = waves.step[case]
            count = int(np.ceil(LONGEST / step)) + 2
            t = np.floor(begin / step) * step + step * np.arange(count)
            assert t[0] <= begin
            assert t[-1] >= begin + LONGEST
            for start, right in zip((force, rate), right_loads(waves, case, t), strict=True):
                found = rows[start : start + count * n, lane].reshape(count, n)
                np.testing.assert_allclose(found, right, rtol=0, atol=1e-10 * np.abs(right).max())
    # nothing is written beside the loads
    assert np.isnan(rows[:3]).all()
    assert np.isnan(rows[-6:]).all()


@pytest.mark.parametrize("columns", [(4,), (2, 5), (0, 1, 3, 4, 5, 6, 7)])
def test_loads_in_lanes_that_are_not_read_are_not_made(columns):
    waves, n, cases = general_waves(8), 8, [2, 0, 5, 9]
    points = LaneSums.points(LONGEST, waves.step.min())
    found = []
    for some in (None, columns):
        rows = np.full((2 * points * n, 4), np.nan)
        for begin in (0.0, 297.3):
            LaneSums(waves, cases, LONGEST, some).fill(begin, rows, [0, points * n])
            found.append(rows.reshape(2, points, n, 4).copy())
    rest = [d for d in range(n) if d not in columns]
    for complete, some in zip(found[:2], found[2:], strict=True):
        size = np.nanmax(np.abs(complete))
        np.testing.assert_allclose(
            some[:, :, columns], complete[:, :, columns], rtol=0, atol=1e-11 * size
        )
        assert np.isnan(some[:, :, rest]).all()


def test_loads_of_a_lane_do_not_depend_on_those_beside_it():
    waves, n, width = general_waves(6), 6, 4
    points = LaneSums.points(LONGEST, waves.step.min())

    def loads(cases):
        rows = np.zeros((2 * points * n, width))
        LaneSums(waves, cases, LONGEST).fill(297.3, rows, [0, points * n])
        count = int(LONGEST / waves.step[4])
        return rows[: count * n, cases.index(4)]

    assert np.array_equal(loads([4, 4, 4, 4]), loads([0, 9, 4, 1]))


def test_grids_in_lanes_are_those_of_single_runs():
    assert lane_sums.POINTS_PER_PERIOD == hydro.POINTS_PER_PERIOD
