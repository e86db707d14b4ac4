"""Results as MHKiT's functions take them; skipped where MHKiT and its extras are not installed."""

import numpy as np
import pytest

import swelltree as sw
from made_campaign import SEA, small_campaign
from swelltree.results.extremes import crests

WITHIN = 10800.0


@pytest.fixture(scope="module")
def campaign():
    """Four seeds of twenty minutes with their series; seas that do not repeat."""
    pytest.importorskip("mhkit")
    return small_campaign(
        vary=[sw.Values("Hs", [1.0, 2.0]), sw.Seeds(4)],
        sea=SEA.replace(components=300),
        duration=1205.0,
        channels=["pto_force", "absorbed_power"],
        reduce=["statistics", "peaks", "fatigue", "series"],
    )


@pytest.fixture(scope="module")
def runs(campaign, tmp_path_factory):
    return campaign.run(tmp_path_factory.mktemp("runs") / "store", workers=0, progress=False)


def test_spectra_of_the_elevation_have_the_height_and_period_of_the_sea(campaign, runs):
    """Of twenty minutes, whose own height is within 2e-2 of the sea's for this seed."""
    resource = pytest.importorskip("mhkit.wave.resource")
    one = runs.sel(Hs=2.0, seed=2)
    replay = campaign.replay(str(one["case_id"].values))
    elevation = replay["elevation"].sel(time=slice(5.0, None))
    spectrum = resource.elevation_spectrum(elevation, 4.0, 1024, to_pandas=False)
    height = resource.significant_wave_height(spectrum, to_pandas=False)
    period = resource.energy_period(spectrum, to_pandas=False)
    flux = resource.energy_flux(spectrum, 200.0, deep=True, rho=1000.0, to_pandas=False)
    assert float(height) == pytest.approx(float(one["Hm0"]), rel=0.02)
    assert float(period) == pytest.approx(float(one["Te"]), rel=0.02)
    assert float(flux) == pytest.approx(float(one["J"]), rel=0.04)


def test_spectra_of_all_seeds_are_made_at_once(runs):
    resource = pytest.importorskip("mhkit.wave.resource")
    several = runs["pto_force_series"].sel(Hs=2.0).isel(pto=0).to_dataset("seed")
    spectra = resource.elevation_spectrum(several, 4.0, 1024, time_dimension="time")
    full = 16.0 * several.sel(time=slice(5.0, None)).var()
    for seed in (1, 2, 3, 4):
        height = resource.significant_wave_height(spectra[seed])
        assert float(height) ** 2 == pytest.approx(float(full[seed]), rel=0.15)


def test_damage_equivalent_loads_are_those_of_the_campaign(runs):
    """MHKiT sorts the load into 256 levels and ranges into bins, and closes what is left over.

    A level is 1/256 of the largest range, and what is left over counts as half cycles here: 6e-3
    was seen at exponent 10, 2e-3 at 5.
    """
    general = pytest.importorskip("mhkit.loads.general")
    load = runs["pto_force_series"].sel(Hs=1.0, seed=3).isel(pto=0).sel(time=slice(5.0, None))
    length = float(load["time"][-1] - load["time"][0])
    for exponent in (3, 5, 10):
        theirs = general.damage_equivalent_load(load.values, exponent, 1000, length)
        ours = runs["pto_force_del"].sel(Hs=1.0, seed=3, exponent=exponent).isel(pto=0)
        assert theirs == pytest.approx(float(ours), rel=1e-2)


def test_global_peaks_are_the_crests_of_the_campaign(runs):
    extreme = pytest.importorskip("mhkit.loads.extreme")
    one = runs.sel(Hs=1.0, seed=1).isel(pto=0)
    load = one["pto_force_series"].sel(time=slice(5.0, None))
    mean = float(load.mean())
    _, peaks = extreme.global_peaks(load["time"].values, load.values - mean)
    largest = np.sort(peaks + mean)[::-1][:20]
    assert largest == pytest.approx(one["pto_force_peaks"].values, rel=1e-12)


def test_short_term_extremes_agree_within_what_the_fits_differ(runs):
    """Our level is exceeded by one of N peaks: (1 - 1/N)^N = 1/e of MHKiT's distribution.

    The fits differ (three parameters by least squares, weighted moments; there two parameters,
    likelihood): on 777 peaks by 5e-2 (Weibull) and 3e-2 (Pareto), less than seeds differ.
    """
    extreme = pytest.importorskip("mhkit.loads.extreme")
    load = runs["pto_force_series"].sel(Hs=1.0).isel(pto=0).sel(time=slice(5.0, None))
    z = [x - x.mean() for x in load.values]
    peaks = np.concatenate([crests(x) for x in z])
    length = 1200.0 * len(z)
    often = extreme.number_of_short_term_peaks(len(peaks), length, WITHIN)
    weibull = extreme.peaks_distribution_weibull_tail_fit(peaks)
    ours = sw.weibull_tail(peaks, length, WITHIN)
    assert ours == pytest.approx(float(weibull.ppf(1.0 - 1.0 / often)), rel=0.1)
    threshold = float(np.mean(peaks) + 1.4 * np.std(peaks))
    pareto = extreme.peaks_distribution_peaks_over_threshold(peaks, threshold)
    ours = sw.peaks_over_threshold(peaks, length, WITHIN, threshold)
    levels = np.linspace(threshold, 3.0 * ours, 20_000)
    theirs = levels[np.searchsorted(pareto.cdf(levels), 1.0 - 1.0 / often)]
    assert ours == pytest.approx(theirs, rel=0.1)


def test_gumbel_of_the_largest_values_is_within_our_confidence(runs):
    """Its mode by likelihood there, by moments here."""
    extreme = pytest.importorskip("mhkit.loads.extreme")
    largest = np.concatenate([runs["pto_force"].sel(Hs=h, statistic="max") / h for h in (1.0, 2.0)])
    theirs = extreme.ste_block_maxima_gumbel(largest.ravel()).params["loc"]
    ours = sw.most_probable_maximum(largest, 1200.0, within=1200.0)
    assert ours.low < theirs < ours.high


def test_long_term_extremes_take_the_occurrence_of_the_states(runs):
    extreme = pytest.importorskip("mhkit.loads.extreme")
    largest = runs["pto_force"].sel(statistic="max").isel(pto=0)
    each = [extreme.ste_block_maxima_gumbel(x.values) for x in largest]
    always = extreme.full_seastate_long_term_extreme(each, np.array([1.0, 0.0]))
    level = float(largest.sel(Hs=1.0).max())
    assert float(always.cdf(level)) == pytest.approx(float(each[0].cdf(level)), rel=1e-12)
