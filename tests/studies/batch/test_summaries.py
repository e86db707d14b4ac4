"""What is kept of samples by kernels, against the same in numpy."""

import numpy as np
import pytest

from device_here import as_ptx
from swelltree.jit import Native, Samples, object_code
from swelltree.jit.ensemble.rows import in_first_half
from swelltree.results.extremes import largest_peaks
from swelltree.results.fatigue import EXPONENTS, damage_equivalent, equivalent_of_damage
from swelltree.results.statistics import of_samples
from swelltree.studies.batch.summaries import (
    Requested,
    damage_text,
    extremes_text,
    of_lanes,
    peaks_of_cells,
    peaks_text,
    statistics_text,
)

SAMPLES, FIRST, ENTRIES, MOST = 700, 43, 5, 20
WHOLE = tuple(int(m) for m in EXPONENTS)


def samples(width):
    """Random walks, steps of whole numbers, a constant, one slow wave, growing waves."""
    rng = np.random.default_rng(5)
    x = np.cumsum(rng.normal(size=(width, ENTRIES, SAMPLES)), -1)
    x[:, 1] = np.round(x[:, 1])
    x[:, 2] = 3.3
    t = np.arange(SAMPLES)
    x[:, 3] = 1e6 + np.sin(0.004 * t + np.arange(width)[:, None])
    # each wave larger than the last: no range is closed before the end
    x[:, 4] = (1.0 + 0.01 * t) * np.cos(0.7 * t + np.arange(width)[:, None])
    return x


def kept_of(x, chunk=100):
    """By the kernels of lanes."""
    width = len(x)
    shares = np.where(np.arange(SAMPLES) < FIRST, 0.0, 1.0 / (SAMPLES - FIRST))
    memory = np.ascontiguousarray(x.transpose(2, 1, 0)).reshape(-1, width)
    samples = Samples(memory, ENTRIES, (chunk, ENTRIES))
    return of_lanes(samples, Requested(shares, MOST, WHOLE))


@pytest.mark.parametrize("width", [8, 4])
def test_statistics_peaks_and_damage_in_lanes_are_those_of_the_samples(width):
    x = samples(width)
    found, full = kept_of(x), x[..., FIRST:]
    right = of_samples(full, np.ones(SAMPLES - FIRST))[..., [0, 1, 3, 4, 5]]
    np.testing.assert_allclose(found.statistics[..., :5], right, rtol=1e-12, atol=1e-12)
    assert found.peaks is not None
    assert found.damage is not None
    for which, sign in enumerate((1.0, -1.0)):
        np.testing.assert_array_equal(
            found.peaks[:, :, which], sign * largest_peaks(sign * full, MOST)
        )
    length = 0.5 * (SAMPLES - FIRST - 1)
    reported = equivalent_of_damage(found.damage, EXPONENTS, length)
    np.testing.assert_allclose(reported, damage_equivalent(full, EXPONENTS, length), rtol=1e-12)


def test_gaps_in_samples_mean_what_they_do_in_single_runs():
    """Left out of statistics, no peaks, no damage; both were those of the other samples."""
    x = samples(4)
    x[1, 0, 100:120], x[0, 4, FIRST], x[0, 4, 400:430], x[3, 2] = np.nan, np.nan, np.nan, np.nan
    found, full = kept_of(x), x[..., FIRST:]
    right = of_samples(full, np.ones(SAMPLES - FIRST))[..., [0, 1, 3, 4, 5]]
    np.testing.assert_allclose(found.statistics[..., :5], right, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(found.statistics[..., 6], np.isnan(full).sum(-1))
    x[2, 1, 300], x[2, 3, 200] = np.inf, -np.inf
    found, full = kept_of(x), x[..., FIRST:]
    assert found.peaks is not None
    assert found.damage is not None
    np.testing.assert_array_equal(found.peaks[:, :, 0], largest_peaks(full, MOST))
    np.testing.assert_array_equal(found.peaks[:, :, 1], -largest_peaks(-full, MOST))
    reported = equivalent_of_damage(found.damage, EXPONENTS, 100.0)
    np.testing.assert_allclose(reported, damage_equivalent(full, EXPONENTS, 100.0), rtol=1e-12)
    for place in ((1, 0), (0, 4), (2, 1), (2, 3)):
        assert np.isnan(reported[place]).all()
        assert np.isnan(found.peaks[place]).all()


def test_peaks_and_damage_of_short_floats_are_those_of_the_rounded_samples():
    side = 4
    x = samples(side).astype(np.float32).astype(float)
    memory = in_first_half(np.ascontiguousarray(x.transpose(2, 1, 0))).reshape(-1)
    sizes = np.array([ENTRIES, SAMPLES * ENTRIES, FIRST, SAMPLES, ENTRIES * side], np.int64)

    def by(text, count):
        out = np.empty((ENTRIES, count, side))
        Native(object_code(text), pointers=3)(memory, out, sizes)
        return out.transpose(2, 0, 1)

    peaks = by(peaks_text(MOST, True, True, side), 2 * MOST).reshape(side, ENTRIES, 2, MOST)
    largest = largest_peaks(x[..., FIRST:], MOST)
    np.testing.assert_array_equal(peaks_of_cells(peaks)[:, :, 0], largest)
    damage = by(damage_text(WHOLE, True, True, side), 1 + len(WHOLE))
    reported = equivalent_of_damage(damage, EXPONENTS, 100.0)
    right = damage_equivalent(x[..., FIRST:], EXPONENTS, 100.0)
    np.testing.assert_allclose(reported, right, rtol=1e-12)


@pytest.mark.parametrize("short", [False, True])
def test_kernels_that_sum_up_are_text_for_graphics_processors(short):
    texts = (statistics_text(short), extremes_text(short), peaks_text(MOST, short))
    for text in (*texts, damage_text(WHOLE, short)):
        assert ".visible .entry run(" in as_ptx(text)
