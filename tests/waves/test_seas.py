"""Random, spread, focused, measured seas and their spectra."""

import math
import subprocess
import sys

import numpy as np
import pytest

import swelltree as sw
from support import refdata
from swelltree.describe.environment.seas import as_sea
from swelltree.waves import spectra
from swelltree.waves.component_sums import uniforms, uniforms_of_many
from swelltree.waves.components import bins
from swelltree.waves.measured import from_record
from swelltree.waves.sea import elevation, elevation_record, realise

WATER = sw.Water(depth=40.0)
FROZEN = [0.011546754286331562, 0.24154919656271812, 0.11142585551493822, 0.5644146216071337]
SPECTRA = [
    sw.Jonswap(3.0, 9.0),
    sw.Jonswap(1.0, 2.0, gamma=7.0),
    sw.Bretschneider(2.0, 8.0),
    sw.PiersonMoskowitz(Tp=9.0),
    sw.PiersonMoskowitz(Hs=2.5),
    sw.OchiHubble(2.0, 14.0, 4.0, 1.0, 6.0, 1.2),
    sw.Bimodal(sw.Jonswap(2.0, 14.0, 6.0), sw.Bretschneider(1.0, 5.0)),
    sw.WhiteNoise(2.0, 0.3, 2.5),
    sw.SpectrumTable((0.4, 0.7, 1.0, 2.0), (0.0, 1.5, 0.7, 0.0)),
]


@pytest.mark.parametrize("spectrum", SPECTRA, ids=lambda s: s.type)
@pytest.mark.parametrize("spacing", ["equal_energy", "equal"])
@pytest.mark.parametrize("jitter", [True, False])
def test_components_have_the_energy_and_the_period_of_their_spectrum(spectrum, spacing, jitter):
    low, high = spectra.support(spectrum)
    omega = np.linspace(low, high, 200_001)
    S = spectra.density(spectrum, omega)
    m0, m1 = (np.trapezoid(S * omega**n, omega) for n in (0, 1))
    assert m0 == pytest.approx(spectra.total_energy(spectrum), rel=1e-4)
    waves = sw.components(sw.IrregularSea(spectrum, spacing=spacing, jitter=jitter), WATER)
    assert waves.moment(0) == pytest.approx(spectra.total_energy(spectrum), rel=1e-12)
    assert waves.moment(1) == pytest.approx(m1, rel=2e-2)  # of the tail that is left out
    assert len(waves) == 200
    assert (np.diff(waves.omega) > 0).all()
    assert waves.wavenumber == pytest.approx(sw.dispersion(waves.omega, 40.0, 9.81))


def test_published_ratios_of_periods():
    # DNV-RP-C205: Tz/Tp = 0.6673 + 0.05037 g - 0.006230 g^2 + 0.0003341 g^3
    for gamma in (1.0, 3.3, 7.0):
        omega = np.linspace(0.2, 120, 400_001)
        S = spectra.jonswap(omega, 4.0, 2 * math.pi, gamma)
        m0, m2 = (np.trapezoid(S * omega**n, omega) for n in (0, 2))
        fit = 0.6673 + 0.05037 * gamma - 0.006230 * gamma**2 + 0.0003341 * gamma**3
        assert m0 == pytest.approx(1.0, rel=1e-4)
        assert math.sqrt(m0 / m2) == pytest.approx(fit, rel=5e-3)
        assert spectra.jonswap_scale(gamma) == pytest.approx(1 - 0.287 * math.log(gamma), rel=2e-2)
        assert omega[S.argmax()] == pytest.approx(1.0, rel=2e-3)


def test_fully_developed_sea_ties_height_to_period():
    Hs, Tp = spectra.height_and_period(sw.PiersonMoskowitz(Tp=10.0), 9.81)
    assert Hs == pytest.approx(0.0403 * 9.81 * 10.0**2 / 9.81, rel=1e-2)  # Hs = 0.0403 Tp^2
    assert spectra.height_and_period(sw.PiersonMoskowitz(Hs=Hs), 9.81)[1] == pytest.approx(Tp)
    both = sw.PiersonMoskowitz(Hs=2.0, Tp=8.0)
    omega = np.linspace(0.3, 3, 9)
    assert spectra.density(both, omega) == pytest.approx(
        spectra.density(sw.Bretschneider(2.0, 8.0), omega)
    )


def test_ochi_hubble_of_shape_one_is_bretschneider():
    omega = np.linspace(0.1, 5, 50)
    assert spectra.ochi_hubble(omega, 2.0, 8.0, 1.0) == pytest.approx(
        spectra.bretschneider(omega, 2.0, 8.0), rel=1e-12
    )


def test_record_of_a_random_sea_has_its_variance_and_zero_crossings():
    sea = sw.IrregularSea(sw.Jonswap(2.0, 8.0), seed=3, components=400)
    waves = sw.components(sea, WATER)
    t = np.arange(0, 6000, 0.25)
    eta = sw.elevation(waves, t, 12.0, -3.0)
    assert 4 * eta.std() == pytest.approx(2.0, rel=0.03)  # sampling of about 750 waves
    up = ((eta[:-1] < 0) & (eta[1:] >= 0)).sum()
    assert t[-1] / up == pytest.approx(waves.Tz, rel=0.03)


def test_same_seed_same_sea_and_other_case_other_sea():
    sea = sw.IrregularSea(sw.Jonswap(2.0, 8.0), seed=5)
    first = sw.components(sea, WATER)
    assert np.array_equal(first.phase, sw.components(sea, WATER).phase)
    for other in (
        sw.components(sea, WATER, case=1),
        sw.components(sea, WATER, case="storm"),
        sw.components(sea.replace(seed=6), WATER),
        sw.components(sw.SeaOf([sw.StillWater(), sea]), WATER),
    ):
        assert not np.isclose(first.phase, other.phase).any()
    # two trains of one seed are independent
    pair = sw.components(sw.SeaOf([sea, sea.replace(beta=1.0)]), WATER)
    assert np.array_equal(pair.phase[:200], first.phase)
    assert not np.isclose(pair.phase[200:], first.phase).any()


def test_draws_depend_on_their_key_only_on_every_machine():
    assert np.array_equal(uniforms(1, 2, 50)[:20], uniforms(1, 2, 20))
    assert uniforms(0, 0, 1)[0] == pytest.approx(FROZEN, abs=1e-15)
    seeds, cases = [3, 2**40 + 1, 0], ["a", 1, "b"]
    many = uniforms_of_many(seeds, cases, 7)
    for draws, seed, case in zip(many, seeds, cases, strict=True):
        assert np.array_equal(draws, uniforms(seed, case, 7))
    all_draws = uniforms(7, "x", 20_000)
    assert all_draws.min() >= 0
    assert all_draws.max() < 1
    assert all_draws.mean(0) == pytest.approx(0.5, abs=0.01)
    assert np.corrcoef(all_draws.T) == pytest.approx(np.eye(4), abs=0.03)


def test_seas_are_the_same_in_another_process():
    code = (
        "import swelltree as sw;"
        "c = sw.components(sw.IrregularSea(sw.Jonswap(2, 8), seed=5), sw.Water(), case=4);"
        "print(repr(float(c.phase.sum())), repr(float(c.omega.sum())))"
    )
    got = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    waves = sw.components(sw.IrregularSea(sw.Jonswap(2, 8), seed=5), sw.Water(), case=4)
    assert [float(word) for word in got.stdout.split()] == [waves.phase.sum(), waves.omega.sum()]


def test_equal_spacing_without_jitter_repeats_after_the_stated_period():
    sea = sw.IrregularSea(sw.Jonswap(2.0, 8.0), components=80, spacing="equal", jitter=False)
    waves = sw.components(sea, WATER)
    t = np.linspace(0, 30, 61)
    again = sw.elevation(waves, t + waves.repeat_period)
    assert again == pytest.approx(sw.elevation(waves, t), abs=1e-9)
    assert sw.components(sea.replace(jitter=True), WATER).repeat_period == math.inf


def test_rayleigh_amplitudes_keep_the_energy_on_average():
    sea = sw.IrregularSea(sw.Jonswap(2.0, 8.0), components=5000, amplitudes="rayleigh")
    waves = sw.components(sea, WATER)
    assert waves.moment(0) == pytest.approx(0.25, rel=0.05)
    assert waves.amplitude.std() > 0.3 * waves.amplitude.mean()


def test_band_given_by_the_user_leaves_the_rest_out():
    full = sw.Jonswap(2.0, 8.0)
    with pytest.warns(sw.SwelltreeWarning, match=r"band from 0.7 to 1.2 rad/s holds .* % of the"):
        waves = sw.components(sw.IrregularSea(full, omega_min=0.7, omega_max=1.2), WATER)
    omega = np.linspace(0.7, 1.2, 20_001)
    m0 = np.trapezoid(spectra.density(full, omega), omega)
    assert waves.moment(0) == pytest.approx(m0, rel=1e-4)
    assert waves.omega.min() >= 0.7
    assert waves.omega.max() <= 1.2


@pytest.mark.parametrize("s", [1.0, 10.0, 75.0])
def test_spreading_integrates_to_one_and_goes_ahead(s):
    beta = np.linspace(-np.pi, np.pi, 20_001)
    spreading = sw.Cos2s(s, directions=24)
    D = spectra.spreading_density(spreading, beta)
    assert np.trapezoid(D, beta) == pytest.approx(1.0, rel=1e-9)
    sea = sw.IrregularSea(
        sw.Jonswap(2.0, 8.0), components=2400, beta=math.radians(30), spreading=spreading
    )
    waves = sw.components(sea, WATER)
    flux = (waves.amplitude**2 * np.exp(1j * waves.beta)).sum() / (waves.amplitude**2).sum()
    assert np.angle(flux) == pytest.approx(math.radians(30), abs=1e-6)
    # first circular moment of cos2s: s / (s + 1)
    assert abs(flux) == pytest.approx(s / (s + 1), abs=0.01)
    assert len(np.unique(np.round(waves.beta, 12))) == 24
    assert waves.Hs == pytest.approx(2.0)


def test_focused_crest_is_where_when_and_as_high_as_asked():
    sea = sw.FocusedWave(sw.Jonswap(8.0, 12.0), 7.5, x=30.0, t=100.0, y=-12.0, beta=0.8)
    waves = sw.components(sea, WATER)
    assert sw.elevation(waves, 100.0, 30.0, -12.0) == pytest.approx(7.5)
    t = np.linspace(60, 140, 801)
    eta = sw.elevation(waves, t, 30.0, -12.0)
    assert eta.argmax() == 400
    # NewWave is the autocorrelation of the sea
    energy, omega, *_ = bins(sea, 9.81, None)
    correlation = (energy[:, None] * np.cos(np.outer(omega, t - 100))).sum(0) / energy.sum()
    assert eta == pytest.approx(7.5 * correlation)


def record(step, n, seed=0):
    """A record that the Fourier series of its own length does not hold exactly."""
    sea = sw.IrregularSea(sw.Jonswap(1.0, 8.0), seed=seed, components=50)
    t = 3.0 + step * np.arange(n)
    return t, 0.1 + sw.elevation(sw.components(sea, WATER), t, 5.0, 2.0)


def test_measured_record_reproduces_itself():
    t, eta = record(0.5, 601)
    sea = sw.MeasuredWave(t, eta, x=5.0, y=2.0, beta=0.3)
    waves = sw.components(sea, WATER)
    assert waves.residual < 1e-12
    assert waves.mean == pytest.approx(eta.mean())
    assert sw.elevation(waves, t, 5.0, 2.0) + waves.mean == pytest.approx(eta, abs=1e-12)
    assert waves.repeat_period == pytest.approx(601 * 0.5)


def test_measured_record_in_a_band_states_what_it_misses():
    t, eta = record(0.25, 1200)
    waves = sw.components(sw.MeasuredWave(t, eta, omega_min=0.3, omega_max=5.0), WATER)
    missed = eta - waves.mean - sw.elevation(waves, t)
    stated = np.sqrt(np.mean(missed**2) / np.mean((eta - eta.mean()) ** 2))
    assert waves.residual == pytest.approx(stated, rel=1e-3)
    assert 0 < waves.residual < 0.02
    assert waves.Hs == pytest.approx(4 * eta.std(), rel=0.1)
    with pytest.warns(sw.SwelltreeWarning, match=r"components miss .* % of the record"):
        part = sw.components(sw.MeasuredWave(t, eta, omega_max=0.7), WATER)
    assert part.Hs < waves.Hs  # a band without the record is not filled with waves that cancel


def test_uneven_record_is_fitted_by_least_squares():
    rng = np.random.default_rng(1)
    t, _ = record(0.4, 700)
    t = t + rng.uniform(-0.1, 0.1, len(t))
    truth = sw.components(
        sw.IrregularSea(sw.Jonswap(1.0, 8.0), components=40, spacing="equal", jitter=False), WATER
    )
    eta = 0.2 + sw.elevation(truth, t)
    waves = from_record(t, eta, WATER, omega_max=4.0)
    assert waves.residual < 0.05
    assert waves.mean == pytest.approx(0.2, abs=0.01)
    assert waves.Hs == pytest.approx(4 * eta.std(), rel=0.06)


def test_record_is_read_from_a_file(tmp_path):
    t, eta = record(0.5, 200)
    path = tmp_path / "gauge.csv"
    rows = "\n".join(f"{a!r}, {b!r}" for a, b in zip(t.tolist(), eta.tolist(), strict=True))
    path.write_text(f"time, elevation\n# metres\n{rows}\n")
    waves = sw.components(sw.MeasuredWave(file=str(path)), WATER)
    assert sw.elevation(waves, t) + waves.mean == pytest.approx(eta, abs=2e-2)
    assert len(waves) == 99
    path.write_text("0 1\n1 2\n2 x\n3 4\n")
    with pytest.raises(sw.SwelltreeError, match=r"line 3: '2 x' is not time and elevation"):
        sw.read_record(path)
    path.write_text("0 1\n1 2\n1 3\n3 4\n")
    with pytest.raises(sw.SwelltreeError, match=r"time 1.0 s follows 1.0 s"):
        sw.read_record(path)
    path.write_text("0 1\n1 2\n")
    with pytest.raises(sw.SwelltreeError, match=r"has 2 samples. Give at least four"):
        sw.read_record(path)
    path.write_text("0 1\n1 nan\n2 1\n3 1\n")
    with pytest.raises(sw.SwelltreeError, match=r"line 2: elevation 'nan' is not a finite number"):
        sw.read_record(path)
    with pytest.raises(sw.SwelltreeError, match="cannot be read: No such file"):
        sw.read_record(tmp_path / "none.csv")


def test_record_of_another_code_is_reproduced_in_a_band():
    # 600 s of elevation, sampled for the sphere of IEA OES task 10
    path = refdata("ts_sphere", "irregular", "eta.txt.gz")
    t, eta = sw.read_record(path)
    waves = sw.components(sw.MeasuredWave(file=str(path), omega_max=5.0), sw.Water())
    assert waves.residual < 0.01
    assert sw.elevation(waves, t[::50]) + waves.mean == pytest.approx(
        eta[::50], abs=0.05 * waves.Hs
    )


def test_trains_add_up():
    a, b = sw.RegularWave(1.0, 0.8), sw.RegularWave(0.5, 1.3, beta=1.0, phase=0.4)
    both = sw.components(sw.SeaOf([a, b], ramp=5.0), WATER)
    parts = [sw.components(part.replace(ramp=5.0), WATER) for part in (a, b)]
    t = np.linspace(0, 20, 9)
    assert sw.elevation(both, t, 3.0, 1.0) == pytest.approx(
        sum(sw.elevation(part, t, 3.0, 1.0) for part in parts)
    )


SEAS = [
    sw.StillWater(),
    sw.RegularWave(amplitude=1.0, period=8.0, beta=0.1, ramp=10.0),
    sw.RegularWave(height=3.0, omega=0.7, phase=1.0),
    sw.StreamFunctionWave(3.0, period=7.3, order=12),
    *[sw.IrregularSea(spectrum, seed=2**63 + 5) for spectrum in SPECTRA],
    sw.IrregularSea(sw.Jonswap(1, 5), 1, 50, 0.5, 3, 0.1, sw.Cos2s(5), "rayleigh", "equal", False),
    sw.IrregularSea(sw.DirectionalTable((0.5, 1.0), (0.0, 1.0, 2.0), ((0, 1, 0), (1, 2, 0)))),
    sw.FocusedWave(sw.Jonswap(3, 9), 5.0, x=10.0, t=60.0),
    sw.MeasuredWave((0, 1, 2, 3), (0, 1, 0, -1), x=2.0),
    sw.MeasuredWave(file="gauge.csv", omega_max=3.0),
    sw.SeaOf([sw.RegularWave(1.0, 1.0), sw.IrregularSea(sw.Jonswap(2, 8))], ramp=3.0),
]


@pytest.mark.parametrize("sea", SEAS, ids=lambda sea: sea.type)
def test_every_sea_round_trips_through_a_case_file(sea):
    body = sw.Body("float", 1.0)
    system = sw.System("buoy", [body], [sw.Slider("heave", sw.WORLD, body)])
    case = sw.Case(system, (sw.SimulateStudy("run", 10.0, sea=sea),))
    again = sw.loads(case.to_toml()).study("run").sea
    assert again == sea
    assert hash(again) == hash(sea)


def test_a_study_without_a_wave_is_in_still_water():
    assert sw.SimulateStudy("run", 10.0).sea == sw.StillWater()
    assert "sea" not in sw.SimulateStudy("run", 10.0).table()
    study = sw.SimulateStudy("run", 10.0, sea={"type": "regular", "height": 2, "period": 8})
    assert study.sea == sw.RegularWave(amplitude=1.0, omega=2 * math.pi / 8)


def test_height_and_period_are_other_words_for_amplitude_and_omega():
    wave = sw.RegularWave(height=3.0, period=9.0)
    assert (wave.amplitude, wave.omega) == (1.5, pytest.approx(2 * math.pi / 9))
    assert wave.replace(period=7.0).omega == pytest.approx(2 * math.pi / 7)
    assert wave.replace(amplitude=1.0).height == 2.0
    assert wave.table() == {"type": "regular", "amplitude": 1.5, "period": 9.0}


@pytest.mark.parametrize("ramp", [0.0, 40.0])
@pytest.mark.parametrize("first", [0.0, 1234.5])
def test_records_at_even_times_are_what_every_time_gives(ramp, first):
    sea = sw.IrregularSea(sw.Jonswap(Hs=2.5, Tp=8.3), seed=5, ramp=ramp)
    waves = realise(sea, sw.Water(depth=60.0))
    even = first + 0.13 * np.arange(5000)
    uneven = np.sort(first + 600.0 * np.random.default_rng(3).random(500))
    for times in (even, uneven, even[:5]):
        expected = elevation(waves, times)
        found = elevation_record(waves, times)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * waves.Hs)
    # every other sample a little late: not even, and not taken for it
    late = even + 1e-6 * (np.arange(5000) % 2)
    assert np.array_equal(elevation_record(waves, late), elevation(waves, late))


@pytest.mark.parametrize(
    "sea",
    [
        sw.RegularWave(amplitude=1.0, period=8.0),
        sw.StreamFunctionWave(2.0, period=8.0),
        sw.IrregularSea(sw.Jonswap(2.0, 8.0)),
        sw.FocusedWave(sw.Jonswap(2.0, 8.0), 3.0),
        sw.MeasuredWave([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 0.0, -1.0]),
    ],
    ids=lambda sea: sea.type,
)
def test_a_heading_in_degrees_is_that_in_radians(sea):
    turned = sea.replace(beta_deg=-35.0)
    assert turned == sea.replace(beta=math.radians(-35.0))
    assert turned.replace(ramp=5.0).beta == turned.beta
    assert turned.replace(beta=0.2).beta == 0.2
    with pytest.raises(sw.SwelltreeError, match=r"beta 0.2 rad and beta_deg 30.0 do not agree"):
        sea.replace(beta=0.2).replace(beta=0.2, beta_deg=30.0)
    # as a table of a case file
    table = {k: v for k, v in sea.table().items() if k != "beta"} | {"beta_deg": 15}
    assert as_sea(table).beta == pytest.approx(math.radians(15.0))
