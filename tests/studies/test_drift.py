"""Slow drift in the time domain: mean force, mean offset, resonance of a moored body."""

import numpy as np
import pytest

import swelltree as sw
from made_drift import ADDED, MASS, OMEGA, RHO, drift_data, mean_drift, newman_pairs
from swelltree.hydro.drift.loads import drift_loads
from swelltree.hydro.drift.spectrum import slow_force_spectrum
from swelltree.hydro.linear.in_sea import apply_sea
from swelltree.waves.spectra import density

WATER = sw.Water(rho=RHO)
SLOW = 2 * np.pi / 60.0  # rad/s, natural frequency on the mooring
STIFFNESS = (MASS + ADDED) * SLOW**2
DAMPING = 2 * 0.1 * (MASS + ADDED) * SLOW
SPECTRUM = sw.Jonswap(Hs=3.0, Tp=9.0)


def model(drift, second=("mean",), data=None):
    """A box that surges on a linear mooring."""
    body = sw.Body("box", MASS, (1e8, 1e8, 1e8))
    rail = sw.Slider("rail", sw.WORLD, body, axis="x")
    mooring = sw.LinearPto("mooring", joint="rail", stiffness=STIFFNESS, damping=DAMPING)
    system = sw.System("moored", [body], [rail], water=WATER, ptos=[mooring])
    return sw.compile(
        system, drift_data(second=second) if data is None else data, radiation="none", drift=drift
    )


def surge(run, name):
    return run[name].sel(body="box", dof="Surge").values


@pytest.mark.parametrize(("drift", "second"), [("mean", ("mean",)), ("newman", ("mean",))])
def test_regular_wave_pushes_the_moored_box_to_force_over_stiffness(drift, second):
    amplitude, omega = 1.5, float(OMEGA[14])
    wave = sw.RegularWave(amplitude=amplitude, omega=omega, ramp=60.0)
    run = sw.simulate(model(drift, second), wave, duration=600.0, output_step=0.5)
    exact = amplitude**2 * mean_drift(omega)[0]
    late = run.time.values >= 600.0 - 20 * 2 * np.pi / omega
    assert surge(run, "drift_force")[late].mean() == pytest.approx(exact, rel=1e-6)
    # what is left of the transient: exp(-0.1 * 0.105 * 500)
    assert surge(run, "position")[late].mean() == pytest.approx(exact / STIFFNESS, rel=0.02)
    assert float(run.work.sel(element="drift")[-1]) > 0.0
    assert float(abs(run.energy_residual).max()) < 1e-4 * float(abs(run.work).max())


@pytest.mark.parametrize("drift", ["mean", "newman", "qtf"])
def test_mean_force_in_an_irregular_sea_is_that_of_the_data(drift):
    sea = sw.realise(
        sw.IrregularSea(
            SPECTRUM,
            seed=5,
            components=60,
            spacing="equal",
            jitter=False,
            omega_min=0.4,
            omega_max=1.7,
        ),
        WATER,
    )
    duration = float(sea.repeat_period)
    loaded = apply_sea(model(drift, ("mean", "newman")), sea, duration).hydro.drift
    t = np.linspace(0.0, duration, 20001)[:-1]
    found = np.mean([loaded.acting(x, np.zeros((1, 2)), None)[0, 0] for x in t])
    exact = (sea.amplitude**2 * mean_drift(sea.omega)[:, 0]).sum()
    assert found == pytest.approx(exact, rel=0.02)


def test_spectrum_of_the_slow_force_is_the_closed_form():
    mu = np.array([0.05, 0.1, 0.3])
    mean, found = slow_force_spectrum(model("newman"), SPECTRUM, mu)
    omega = np.linspace(OMEGA[0], OMEGA[-1], 4001)
    step = omega[1] - omega[0]
    S = density(SPECTRUM, omega)
    assert mean[0, 0] == pytest.approx(2 * step * (S * mean_drift(omega)[:, 0]).sum(), rel=1e-2)
    for m, row in zip(mu, found, strict=True):
        other = omega + m
        Q = newman_pairs(mean_drift(omega), mean_drift(other))[:, 0] * (other <= OMEGA[-1])
        exact = 8 * step * (S * density(SPECTRUM, other) * Q**2).sum()
        assert row[0, 0] == pytest.approx(exact, rel=1e-2)


@pytest.mark.parametrize("drift", ["newman", "qtf"])
def test_variance_of_the_slow_force_over_many_seas_is_the_spectral_one(drift):
    here = model(drift, ("mean", "qtf"))
    found, period = [], 0.0
    for seed in range(60):
        wave = sw.IrregularSea(
            SPECTRUM,
            seed=seed,
            components=80,
            spacing="equal",
            jitter=False,
            omega_min=OMEGA[0] + 0.01,
            omega_max=OMEGA[-1] - 0.02,
        )
        sea = sw.realise(wave, WATER)
        period = float(sea.repeat_period)
        loads = drift_loads(here.hydro.table, sea, period)
        inside = loads.step * np.arange(len(loads.force)) < period
        found.append(loads.force[inside, 0].var())
    # the slow lines of these seas lie at multiples of their spacing
    mu = 2 * np.pi / period * np.arange(1, 80)
    _, S_F = slow_force_spectrum(here, SPECTRUM, mu, count=300)
    scatter = np.std(found) / np.sqrt(len(found))
    expected = mu[0] * S_F[:, 0, 0].sum()
    assert scatter < 0.04 * expected
    assert np.mean(found) == pytest.approx(expected, abs=3 * scatter)


@pytest.mark.slow
@pytest.mark.parametrize("drift", ["newman", "qtf"])
def test_resonance_of_a_moored_box_against_the_spectral_estimate(drift):
    here = model(drift, ("mean", "qtf"))
    mu = np.linspace(0.0, 0.6, 601)[1:]
    mean, S_F = slow_force_spectrum(here, SPECTRUM, mu, count=300)
    H = 1.0 / (STIFFNESS - (MASS + ADDED) * mu**2 - 1j * mu * DAMPING)
    expected = 0.001 * (np.abs(H) ** 2 * S_F[:, 0, 0]).sum()
    variances, means = [], []
    for seed in range(4):
        wave = sw.IrregularSea(
            SPECTRUM,
            seed=seed,
            components=1000,
            spacing="equal",
            jitter=False,
            omega_min=0.31,
            omega_max=1.78,
        )
        sea = sw.realise(wave, WATER)
        period = float(sea.repeat_period)
        run = sw.simulate(here, sea, duration=period + 600.0, output_step=1.0)
        late = run.time.values >= 600.0
        x = surge(run, "position")[late]
        variances.append(x.var())
        means.append(x.mean())
        # this very sea through the linear filter: wave-frequency motion is below 1 cm
        F = surge(run, "drift_force")[late][: int(period)]
        lines = np.fft.rfft(F)
        at = 2 * np.pi * np.fft.rfftfreq(len(F), 1.0)
        filtered = np.fft.irfft(
            lines / (STIFFNESS - (MASS + ADDED) * at**2 + 1j * at * DAMPING), len(F)
        )
        away = x[: len(F)] - filtered
        assert away[300:-300].std() < 0.02 * filtered.std()
    assert np.mean(means) == pytest.approx(mean[0, 0] / STIFFNESS, rel=0.03)
    # 4 runs of 70 natural periods with a tenth of critical damping scatter by 30 % each
    assert np.mean(variances) == pytest.approx(expected, rel=0.2)
