"""Largest values to expect, against distributions whose answer is known."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.results.extremes import crests, largest_peaks

RUN, HOURS_3 = 3600.0, 10800.0
PER_RUN = 450  # peaks of eight seconds


def rayleigh(seed, count):
    return np.random.default_rng(seed).rayleigh(1.0, count)


def test_three_ways_find_the_maximum_of_rayleigh_peaks():
    runs = [rayleigh(seed, PER_RUN) for seed in range(24)]
    exact = np.sqrt(2 * np.log(3 * PER_RUN))  # 3.80: one of the peaks of three hours is larger
    peaks, time = np.concatenate(runs), 24 * RUN
    found = {
        "weibull": sw.weibull_tail(peaks, time),
        "threshold": sw.peaks_over_threshold(peaks, time),
        "maxima": sw.most_probable_maximum([max(run) for run in runs], RUN).value,
    }
    for way, value in found.items():
        assert value == pytest.approx(exact, rel=0.05), way  # 24 runs: 2 % of scatter


@pytest.mark.parametrize("shape", [1.0, 1.5, 2.0])
def test_a_single_hour_is_not_biased(shape):
    random = np.random.default_rng(3)
    exact = np.log(3 * PER_RUN) ** (1.0 / shape)
    found = [sw.weibull_tail(random.weibull(shape, PER_RUN), RUN) for _ in range(60)]
    # one run scatters by 5 to 8 %, sixty by 1 %; least squares lie a little low
    assert np.mean(found) == pytest.approx(exact, rel=0.05)


def test_the_interval_of_confidence_holds_the_exact_value_as_often_as_it_says():
    exact = np.sqrt(2 * np.log(3 * PER_RUN))
    held = 0
    for trial in range(60):
        maxima = [rayleigh(1000 * trial + k, PER_RUN).max() for k in range(12)]
        extreme = sw.most_probable_maximum(maxima, RUN, confidence=0.9)
        assert extreme.low < extreme.value < extreme.high
        held += extreme.low <= exact <= extreme.high
    assert 48 <= held <= 60  # 54 of 60 and three standard deviations


@pytest.mark.parametrize("runs", [5, 10, 40])
@pytest.mark.parametrize("times", [1.0, 6.0])
def test_intervals_hold_the_mode_of_gumbel_samples_as_often_as_they_say(runs, times):
    """The bootstrap over the runs held it in 70 to 86 % of samples of 5 to 40 runs."""
    random = np.random.default_rng(7)
    location, scale, trials = 3.0, 0.4, 1500
    exact = location + scale * np.log(times)
    held = 0
    for _ in range(trials):
        maxima = random.gumbel(location, scale, runs)
        extreme = sw.most_probable_maximum(maxima, RUN, within=times * RUN, confidence=0.9)
        held += extreme.low <= exact <= extreme.high
    # three standard deviations of the binomial distribution
    assert held / trials == pytest.approx(0.9, abs=3 * np.sqrt(0.09 / trials))


def test_longer_times_have_larger_maxima():
    peaks = rayleigh(5, 2000)
    ways = (sw.weibull_tail, sw.peaks_over_threshold)
    for way in ways:
        assert way(peaks, 4 * RUN, within=RUN) < way(peaks, 4 * RUN, within=HOURS_3)


def test_crests_are_one_per_upward_crossing_of_the_mean():
    t = np.arange(0, 40, 0.1)
    x = 2.0 + np.sin(t) * (1 + 0.01 * t)
    found = crests(x)
    assert len(found) == 7  # the first rises from the mean itself, and the last is cut off
    assert largest_peaks(np.stack([x, -x]), 3).shape == (2, 3)
    assert largest_peaks(x, 9)[7:] == pytest.approx([np.nan, np.nan], nan_ok=True)
    assert (np.diff(largest_peaks(x, 7)) <= 0).all()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: sw.weibull_tail([1.0, 2.0], 10.0), "Give at least 10"),
        (lambda: sw.weibull_tail([1.0] * 10 + [2.0] * 10, 9.0), "largest 10 peaks are all 2,"),
        (lambda: sw.weibull_tail(np.arange(20.0), 9.0, part=0.0), "part 0.0 is not between"),
        (lambda: sw.peaks_over_threshold(np.arange(20.0), -1.0), "duration -1.0 s"),
        (lambda: sw.peaks_over_threshold(np.arange(20.0), 9.0, threshold=18.5), "lower one"),
        (lambda: sw.most_probable_maximum([1.0, 2.0], 9.0), "at least 3"),
        (lambda: sw.most_probable_maximum([1, 2, np.nan, 3], 9.0), "1 of 4 values are not finite"),
        (lambda: sw.weibull_tail([*np.arange(20.0), np.nan], 9.0), "1 of 21 values are not finite"),
        (
            lambda: sw.peaks_over_threshold(np.array([np.arange(20.0), np.full(20, np.nan)]), 9.0),
            "20 of 40 values are not finite",
        ),
        (lambda: sw.most_probable_maximum([1, 2, 3], 9.0, confidence=2.0), "confidence 2.0"),
    ],
)
def test_too_few_values_are_told(call, sentence):
    with pytest.raises(sw.SwelltreeError) as error:
        call()
    assert sentence in str(error.value)


def test_gaps_behind_the_peaks_of_a_run_do_not_count():
    """Campaigns keep 20 peaks of each run, and gaps where there are fewer."""
    rows = np.random.default_rng(4).rayleigh(1.0, (3, 20))
    padded = np.concatenate([rows, np.full((3, 4), np.nan)], axis=1)
    assert sw.weibull_tail(padded, 600.0) == sw.weibull_tail(rows, 600.0)
