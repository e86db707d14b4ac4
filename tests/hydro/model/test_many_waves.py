"""Long seas of many components: quick, and small in memory."""

import tracemalloc

import numpy as np
import pytest

import swelltree as sw
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.linear.data import Table
from swelltree.hydro.linear.excitation import Record, convolved_loads, excitation_at
from swelltree.hydro.linear.hydro import wave_loads
from swelltree.waves.components import components
from swelltree.waves.measured import from_record
from swelltree.waves.spectral_lines import real_sum, sum_and_rate


def table():
    omega, beta = np.linspace(0.1, 3.0, 40), np.radians(np.arange(0, 360, 30.0))
    rng = np.random.default_rng(4)
    force = 1e5 * np.exp(-(omega**2))[:, None, None] * np.cos(beta)[None, :, None] * np.ones(6)
    zero = np.zeros((40, 6, 6))
    place = np.tile(rng.uniform(-30, 30, 2), (6, 1))
    return Table(omega, beta, zero, zero, force + 0j, zero[0], place)


def direct(t, omega, F):
    """Re sum F exp(-i omega t), term by term."""
    return np.real(np.exp(-1j * np.outer(t, omega)) @ F)


def test_three_hours_of_two_thousand_components_in_tens_of_megabytes():
    sea = sw.IrregularSea(
        sw.Jonswap(Hs=3.0, Tp=9.0), components=2000, spreading=sw.Cos2s(10), omega_max=2.5, ramp=60
    )
    waves = components(sea, sw.Water())
    tracemalloc.start()
    loads = wave_loads(table(), sw.Water(), waves, 3 * 3600.0)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # force and rate themselves are 33 MB
    assert loads.force.nbytes + loads.rate.nbytes < 40e6
    assert most < 150e6
    # three instants far apart against the sum
    rows = np.array([5_000, 60_000, 130_000])
    omega, beta = np.asarray(waves.omega), np.asarray(waves.beta)
    F = excitation_at(table(), omega, beta, waves.wavenumber)
    F = F * np.asarray(waves.complex_amplitude)[:, None]
    exact = direct(float(loads.step) * rows, omega, F)
    assert loads.force[rows] == pytest.approx(exact, abs=1e-9 * np.abs(F).sum())


@pytest.mark.parametrize("count", [7, 64, 501])
def test_sums_of_any_number_of_times_are_exact(count):
    rng = np.random.default_rng(count)
    omega, F = rng.uniform(-4, 4, 33), rng.normal(size=(33, 3)) + 1j * rng.normal(size=(33, 3))
    F[:, 1] = 0.0
    exact = direct(0.17 * np.arange(count), omega, F)
    assert real_sum(omega, F, 0.17, count) == pytest.approx(exact, abs=1e-10 * np.abs(F).sum())


@pytest.mark.parametrize("highest", [0.15, 0.9, 3.0])
def test_rates_are_exact_and_a_time_does_not_depend_on_later_ones(highest):
    """For lines that are slow beside the steps (few nodes), fast ones, and some in between."""
    rng = np.random.default_rng(8)
    omega = rng.uniform(-highest, highest, 70)
    F = rng.normal(size=(70, 4)) + 1j * rng.normal(size=(70, 4))
    F[:, 2] = 0.0
    force, rate = sum_and_rate(omega, F, 1.0, 9001)
    t = np.arange(9001.0)
    assert force == pytest.approx(direct(t, omega, F), abs=1e-11 * np.abs(F).sum())
    slopes = -1j * omega[:, None] * F
    assert rate == pytest.approx(direct(t, omega, slopes), abs=1e-11 * np.abs(slopes).sum())
    assert np.array_equal(real_sum(omega, F, 1.0, 500), force[:500])


def test_convolution_of_the_record_agrees_with_the_components():
    omega = np.linspace(0.4, 1.2, 5)
    record = Record(omega, np.exp(1j * omega), 0.1, 512)
    force, rate = convolved_loads(table(), sw.Water(), np.zeros(5), record)
    F = excitation_at(table(), omega, np.zeros(5), omega**2 / 9.81) * record.amplitude[:, None]
    exact = direct(0.1 * np.arange(512), omega, F)
    assert force == pytest.approx(exact, abs=0.02 * np.abs(exact).max())
    assert np.gradient(force, 0.1, axis=0)[5:-5] == pytest.approx(
        rate[5:-5], abs=0.01 * np.abs(rate).max()
    )


@pytest.mark.parametrize(
    "sea",
    [
        lambda n: sw.IrregularSea(sw.Jonswap(Hs=1, Tp=8), components=n),
        lambda n: sw.FocusedWave(sw.Jonswap(Hs=1, Tp=8), amplitude=1.0, components=n),
    ],
)
def test_ten_million_components_are_refused_in_a_sentence(sea):
    with pytest.raises(SwelltreeError, match="10000000 components are more than the 100000"):
        sea(10_000_000)


def test_many_trains_and_long_records_are_refused_before_memory_is_taken():
    """A hundred trains are as many waves as one; uneven samples are fitted by a dense matrix."""
    train = sw.IrregularSea(sw.Jonswap(Hs=1, Tp=8), components=90_000)
    with pytest.raises(SwelltreeError, match="180000 components are more than the 100000"):
        sw.SeaOf([train, train])
    rng = np.random.default_rng(2)
    t = np.cumsum(rng.uniform(0.05, 0.15, 30_000))
    tracemalloc.start()
    with pytest.raises(
        SwelltreeError, match=r"30000 unevenly spaced samples ask for 1.* omega_max"
    ):
        from_record(t, np.sin(t), sw.Water())
    with pytest.raises(SwelltreeError, match=r"400000 samples ask for 2.* fit into memory"):
        from_record(0.1 * np.arange(4e5), np.sin(np.arange(4e5)), sw.Water())
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 30e6
    found = from_record(t[:9000], np.sin(t[:9000]), sw.Water(), omega_min=0.9, omega_max=1.1)
    assert found.residual < 0.01
