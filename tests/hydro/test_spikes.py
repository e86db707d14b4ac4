"""Irregular frequencies in radiation data are found, named and left out of the fit."""

import warnings

import numpy as np
import pytest
from scipy.linalg import expm

from support import refdata
from swelltree.describe.errors import SwelltreeWarning
from swelltree.hydro.radiation.damping_band import damping_scale
from swelltree.hydro.radiation.fit import fit_radiation
from swelltree.hydro.radiation.passive_form import Oscillators
from swelltree.hydro.radiation.spikes import jumps

OMEGA = np.linspace(0.1, 6.0, 60)


def known(seed=1):
    """A, B, A_inf of three oscillators that couple two freedoms, and the oscillators."""
    rng = np.random.default_rng(seed)
    L = np.diag([0.7, 0.95, 1.2]) + 0.2 * np.tril(rng.standard_normal((3, 3)), -1)
    model = Oscillators(np.linspace(1.0, 4.0, 3), L, rng.standard_normal((3, 2)), 0.01)
    K = model.transfer(1j * OMEGA)
    A_inf = 3 * np.eye(2)
    return A_inf + K.imag / OMEGA[:, None, None], K.real, A_inf, model


def spoilt(rng, rows, size=0.4):
    """Data of known oscillators with jumps in A and B at some frequencies."""
    A, B, A_inf, model = known()
    unit = np.sqrt(np.diagonal(B, axis1=1, axis2=2).max(axis=0))
    A, B = A.copy(), B.copy()
    for row in rows:
        kick = rng.normal(size=(2, 2))
        kick = size * np.outer(unit, unit) * (kick + kick.T)
        B[row] += kick
        A[row] -= 0.7 * kick / OMEGA[row]
    return A, B, A_inf, model, unit


@pytest.mark.parametrize("seed", range(4))
def test_jumps_at_single_frequencies_are_found_and_nothing_else(seed):
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(np.arange(4, 56, 6), 3, replace=False) + rng.integers(0, 3))
    A, B, _, _, unit = spoilt(rng, rows)
    assert np.flatnonzero(jumps(OMEGA, A, B, unit)).tolist() == rows.tolist()
    A, B, _, _ = known(seed=seed + 1)
    unit = np.sqrt(np.diagonal(B, axis1=1, axis2=2).max(axis=0))
    assert not jumps(OMEGA, A, B, unit).any()


def test_a_wide_spike_without_its_added_mass_is_left_out_and_a_true_resonance_stays():
    """Three frequencies in a row: B alone contradicts A, an oscillator does not."""
    A, B, _, _ = known()
    unit = np.sqrt(np.diagonal(B, axis1=1, axis2=2).max(axis=0))
    rows = [30, 31, 32]
    false = B.copy()
    false[rows, 0, 0] += np.array([0.5, 1.5, 0.5]) * unit[0] ** 2
    A_false = A.copy()
    A_false[rows, 0, 0] += 0.6 * unit[0] ** 2 / OMEGA[rows]
    found = np.flatnonzero(jumps(OMEGA, A_false, false, unit))
    assert 31 in found
    assert len(found) <= 6
    s = 1j * OMEGA
    narrow = 0.3 * unit[0] ** 2 * s / (s**2 + 0.3 * s + 3.1**2)
    B[:, 0, 0] += narrow.real
    A[:, 0, 0] += narrow.imag / OMEGA
    assert not jumps(OMEGA, A, B, unit).any()


def test_the_fit_of_spoilt_data_is_that_of_the_water():
    rng = np.random.default_rng(11)
    A, B, A_inf, model, _ = spoilt(rng, [12, 25, 40])
    named = ", ".join(f"{w:.4g}" for w in OMEGA[[12, 25, 40]])
    with pytest.warns(SwelltreeWarning, match=f"left out 3 of 60 frequencies .*{named}"):
        fit = fit_radiation(OMEGA, A, B, A_inf, error=0.01, cache=False)
    exact = model.transfer(1j * OMEGA)
    gap = np.linalg.norm(fit.transfer(OMEGA) - exact) / np.linalg.norm(exact)
    assert gap < 0.02  # 0.17 and more with the spikes
    assert fit.passive
    assert max(fit.kernel_error, fit.damping_error) < 0.02
    assert fit.mass_error < 0.02


def test_no_pole_lies_far_above_the_band():
    """Data that end where damping is still large tempt a fit to put oscillators above them."""
    A, B, A_inf, _ = known()
    low = OMEGA < 3.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwelltreeWarning)
        fit = fit_radiation(OMEGA[low], A[low], B[low], A_inf, error=0.02, cache=False)
    # over-damped oscillators of the band's end have a faster real pole
    assert np.abs(fit.poles.imag).max() <= 1.21 * OMEGA[low][-1]
    assert np.abs(fit.poles).max() <= 2.0 * OMEGA[low][-1]
    assert fit.passive


def test_an_added_mass_at_infinity_that_is_a_little_off_does_not_ring():
    """A heavy body: omega (A - A_inf) of the error alone is as large as the damping.

    Fitted by faint oscillators above the band it made the impulse response 2.9 times too large
    (RM3, whose A_inf is 4e-4 off); as a constant added mass it goes to A_inf.
    """
    A, B, A_inf, model = known()
    heavy = A_inf + 300.0 * np.eye(2)
    specified = A - A_inf + heavy
    fit = fit_radiation(OMEGA, specified, B, 1.0004 * heavy, error=0.01, causal=False, cache=False)
    step, (a, b, c) = 0.1, model.state_space()
    exact = np.array([c @ expm(a * step * k) @ b for k in range(200)])
    gap = np.linalg.norm(fit.kernel(step * np.arange(200)) - exact) / np.linalg.norm(exact)
    assert gap < 0.02
    assert fit.impulse_error < 0.05
    assert np.abs(fit.poles).max() <= 2.0 * OMEGA[-1]
    assert pytest.approx(heavy, abs=2e-5 * heavy.max()) == fit.A_inf
    assert any("A_inf was moved by 0.04 %" in note for note in fit.notes)


def published(name):
    """Frequencies, A, B of published data, of two boxes and of two barges, symmetric."""
    import swelltree as sw

    if name == "barges":
        data = sw.gallery.barges().hydro
    else:
        data = sw.read_hydro(refdata("bem_rm3", "wamit", "rm3.out"), rho=1000.0, check=False)
    omega = data.omega.values
    rows = np.isfinite(omega) & (omega > 0)
    A, B = (data[n].transpose("omega", ...).values for n in ("added_mass", "radiation_damping"))
    A_inf = A[-1] if np.isinf(omega[-1]) else None
    sym = [0.5 * (x + np.swapaxes(x, 1, 2))[rows] for x in (A, B)]
    return omega[rows], *sym, A_inf


@pytest.mark.slow
@pytest.mark.parametrize(("name", "limit"), [("rm3", 0.03), ("barges", 0.10)])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_spikes_in_published_data_hardly_change_the_kernel(name, limit, seed):
    """Two bodies of another code and a coarse grid; 17 to 33 % and more with the spikes."""
    omega, A, B, A_inf = published(name)
    rng = np.random.default_rng(seed)
    unit = damping_scale(B)
    spoilt_A, spoilt_B = A.copy(), B.copy()
    for row in rng.choice(np.arange(3, omega.size - 3), seed, replace=False):
        drive = rng.normal(size=unit.size) * unit
        spoilt_B[row] += 0.3 * np.outer(drive, drive)
        spoilt_A[row] -= 0.2 * np.outer(drive, drive) / omega[row]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwelltreeWarning)
        clean, found = (
            fit_radiation(omega, a, b, A_inf, error=0.03) for a, b in ((A, B), (spoilt_A, spoilt_B))
        )
    time = np.linspace(0.0, 40.0 * np.pi / omega[-1], 400)
    exact = clean.kernel(time) / np.outer(unit, unit)
    gap = np.linalg.norm(found.kernel(time) / np.outer(unit, unit) - exact)
    assert gap < limit * np.linalg.norm(exact)
    assert np.abs(found.poles).max() <= 2.0 * omega[-1]


@pytest.mark.parametrize("seed", range(6))
def test_spikes_on_a_coarse_grid_are_found_with_few_others(seed):
    """Forty frequencies of two boxes and up to three spikes: no more than two others go."""
    from hydro.test_radiation_fit import two_boxes

    omega, A, B, _ = two_boxes()
    A, B = (0.5 * (x + x.transpose(0, 2, 1)) for x in (A, B))
    unit = damping_scale(B)
    before = set(np.flatnonzero(jumps(omega, A, B, unit)))
    rng = np.random.default_rng(seed)
    rows = rng.choice(np.arange(3, omega.size - 3), 1 + seed % 3, replace=False)
    for row in rows:
        drive = rng.normal(size=unit.size) * unit
        B[row] += 0.3 * np.outer(drive, drive)
        A[row] -= 0.2 * np.outer(drive, drive) / omega[row]
    found = set(np.flatnonzero(jumps(omega, A, B, damping_scale(B))))
    assert set(rows) <= found
    assert len(found - before - set(rows)) <= 2


def test_smooth_data_of_another_code_have_no_jumps():
    from swelltree import read_hydro

    data = read_hydro(refdata("bem_sphere", "iea_oes_task10", "sphere.h5"))
    omega = data.omega.values
    rows = np.isfinite(omega) & (omega > 0)
    A, B = (data[n].values[rows] for n in ("added_mass", "radiation_damping"))
    unit = np.sqrt(np.maximum(np.diagonal(B, axis1=1, axis2=2).max(axis=0), 1e-300))
    live = unit > 1e-3 * unit.max()
    pick = np.ix_(np.arange(rows.sum()), live, live)
    assert (jumps(omega[rows], A[pick], B[pick], unit[live]) > 0).mean() < 0.02


def with_resonance(seed):
    """Smooth data with one oscillator as narrow as the grid, in any direction and place."""
    rng = np.random.default_rng(seed)
    A, B, _, _ = known(seed)
    unit = np.sqrt(np.diagonal(B, axis1=1, axis2=2).max(axis=0))
    natural, rate = rng.uniform(1.0, 5.0), (OMEGA[1] - OMEGA[0]) * rng.uniform(0.35, 1.2)
    s, drive = 1j * OMEGA, rng.normal(size=2)
    drive *= unit / np.linalg.norm(drive)
    peak = 2 * rate * s / (s**2 + 2 * rate * s + natural**2)
    B = B + peak.real[:, None, None] * np.outer(drive, drive)
    A = A + (peak.imag / OMEGA)[:, None, None] * np.outer(drive, drive)
    return A, B, np.sqrt(np.diagonal(B, axis1=1, axis2=2).max(axis=0))


def test_resonances_as_narrow_as_the_grid_stay():
    """Water between two hulls. Nine in ten; beside another narrow peak no parabola holds."""
    stored = [not jumps(OMEGA, *with_resonance(seed)).any() for seed in range(20)]
    assert sum(stored) >= 18


def test_the_water_between_two_barges_is_not_taken_for_a_spike():
    """Half a wave between the walls at 8.9 rad/s.

    It stays where it is with finer panels (0.1, 0.07 and 0.047 m) and with or without lids.
    """
    from swelltree.gallery.tank import tank

    data = tank().hydro
    omega = data.omega.values
    rows = np.isfinite(omega) & (omega > 0)
    A, B = (data[n].values[rows] for n in ("added_mass", "radiation_damping"))
    A, B = (0.5 * (x + x.transpose(0, 2, 1)) for x in (A, B))
    assert not jumps(omega[rows], A, B, damping_scale(B)).any()


def test_added_mass_of_another_green_function_is_no_spike_of_the_damping():
    """A heavy plate: 0.2 % of its added mass is three times its damping; the water between the
    hulls resonates there, at the end of the band. The five frequencies are right, and fitted.
    """
    import swelltree as sw

    data = sw.gallery.hinge_barge().hydro
    omega = data.omega.values
    rows = np.isfinite(omega) & (omega > 0)
    A, B = (data[n].values[rows] for n in ("added_mass", "radiation_damping"))
    A, B = (0.5 * (x + x.transpose(0, 2, 1)) for x in (A, B))
    assert not jumps(omega[rows], A, B, damping_scale(B)).any()
    # a spike of the damping there is found all the same
    unit, w = damping_scale(B), omega[rows]
    drive = np.random.default_rng(3).normal(size=unit.size) * unit
    spoilt = [int(np.abs(w - x).argmin()) for x in (3.5, 6.75)]
    for row in spoilt:
        B[row] += 0.3 * np.outer(drive, drive)
        A[row] -= 0.2 * np.outer(drive, drive) / w[row]
    found = np.flatnonzero(jumps(w, A, B, damping_scale(B)))
    assert set(spoilt) <= set(found)
    assert len(found) <= 4
