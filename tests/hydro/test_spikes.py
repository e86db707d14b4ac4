"""Irregular frequencies in radiation data are found, named and left out of the fit."""

import warnings

import numpy as np
import pytest

from support import refdata
from swelltree.hydro.passive_form import Oscillators
from swelltree.hydro.radiation_fit import fit_radiation
from swelltree.hydro.spikes import jumps
from swelltree.system.errors import SwelltreeWarning

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
    assert np.abs(fit.poles.imag).max() <= 1.5 * OMEGA[low][-1]
    assert fit.passive


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
