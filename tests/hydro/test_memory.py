"""Kernel, added mass at infinite frequency and the relations between A, B and K."""

import numpy as np
import pytest
from scipy.special import spherical_jn

from support import refdata
from swelltree.describe.errors import SwelltreeError, SwelltreeWarning
from swelltree.hydro.radiation import memory
from swelltree.hydro.radiation.damping_band import damping_scale, extend_damping
from swelltree.hydro.radiation.memory import (
    added_mass_change,
    cosine_transform,
    infinite_added_mass,
    radiation_kernel,
    sine_transform,
    transform_kernel,
)

# K(t) = s b'(s^2 + d s + w^2)^-1 b in time: an oscillator, zero at both ends of the axis
W, D, B0 = 1.3, 0.7, 2.0


def oscillator(omega):
    """Transfer function of one oscillator for two freedoms that share it."""
    s = 1j * omega
    shape = np.array([[1.0, 0.5], [0.5, 0.25]])
    return (B0 * s / (s**2 + D * s + W**2))[:, None, None] * shape


def impulse(t):
    """Its impulse response."""
    r = np.sqrt(W**2 - D**2 / 4)
    k = B0 * np.exp(-D * t / 2) * (np.cos(r * t) - D / (2 * r) * np.sin(r * t))
    return k[:, None, None] * np.array([[1.0, 0.5], [0.5, 0.25]])


OMEGA = np.linspace(0.05, 12.0, 200)


def test_cosine_and_sine_integrals_of_a_triangle_are_exact():
    x, y = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.0])[:, None, None]
    t = np.array([1e-9, 1e-4, 0.3, 4.0, 50.0])
    wave = 2 * (1 - np.cos(t)) / t**2
    wave[:2] = 1.0
    np.testing.assert_allclose(cosine_transform(x, y, t)[:, 0, 0], np.cos(t) * wave, atol=1e-7)
    np.testing.assert_allclose(sine_transform(x, y, t)[:, 0, 0], np.sin(t) * wave, atol=1e-7)


def test_spherical_bessel_functions_of_the_transform_are_exact():
    x = np.concatenate([np.linspace(-3.0, 3.0, 601), np.logspace(-9.0, 3.0, 200)])[None]
    for order, ours in enumerate(memory._spherical_bessel(x)):
        np.testing.assert_allclose(ours, spherical_jn(order, x), rtol=0.0, atol=1e-15)


def test_kernel_of_an_oscillator_is_its_impulse_response():
    # B falls like omega^-2, the slowest decay there is: the tail above 12 rad/s is part of K(0)
    kernel = radiation_kernel(OMEGA, oscillator(OMEGA).real, duration=20.0, step=0.1)
    assert kernel.damping.tail_exponent == pytest.approx(2.0, abs=0.06)
    assert kernel.damping.low_exponent == pytest.approx(2.0, abs=0.05)
    # straight at zero lag the part above thirty times the band is missing
    np.testing.assert_allclose(kernel.values[1:], impulse(kernel.time[1:]), atol=2e-3 * B0)
    np.testing.assert_allclose(kernel.values[0], impulse(kernel.time[:1])[0], atol=5e-3 * B0)
    assert "K(0)" in kernel.notes[0]


def test_kernel_ends_by_itself_when_it_has_decayed():
    kernel = radiation_kernel(OMEGA, oscillator(OMEGA).real)
    assert 15 < kernel.time[-1] < np.pi / (OMEGA[1] - OMEGA[0])
    assert kernel.remainder < 0.02
    assert "last lag" in kernel.notes[1]


def test_kernel_and_back_gives_added_mass_and_damping():
    time = np.linspace(0, 60, 6001)
    change, damping = transform_kernel(time, impulse(time), OMEGA)
    K = oscillator(OMEGA)
    np.testing.assert_allclose(damping, K.real, atol=1e-4 * B0)
    np.testing.assert_allclose(change, K.imag / OMEGA[:, None, None], atol=2e-3)


def test_added_mass_follows_from_damping():
    data = extend_damping(OMEGA, oscillator(OMEGA).real)
    change = added_mass_change(data.omega, data.damping, OMEGA)
    np.testing.assert_allclose(change, oscillator(OMEGA).imag / OMEGA[:, None, None], atol=5e-3)


def test_infinite_added_mass_is_recovered_with_small_scatter():
    A_inf = np.array([[5.0, 1.0], [1.0, 3.0]])
    K = oscillator(OMEGA)
    found = infinite_added_mass(OMEGA, A_inf + K.imag / OMEGA[:, None, None], K.real)
    np.testing.assert_allclose(found.value, A_inf, atol=5e-3)
    assert found.worst < 2e-3


def test_rows_at_zero_and_infinity_are_skipped():
    omega = np.concatenate([[0.0], OMEGA, [np.inf]])
    K = oscillator(OMEGA)
    B = np.concatenate([np.zeros((1, 2, 2)), K.real, np.zeros((1, 2, 2))])
    np.testing.assert_allclose(
        radiation_kernel(omega, B, duration=5.0).values,
        radiation_kernel(OMEGA, K.real, duration=5.0).values,
    )


def test_scale_of_a_freedom_that_does_not_radiate_has_a_floor():
    B = np.zeros((5, 6, 6))
    B[:] = np.diag([4.0, 4.0, 1.0, 100.0, 100.0, 1e-9])
    np.testing.assert_allclose(damping_scale(B), [2, 2, 1, 10, 10, 0.1])


def test_undecayed_damping_is_told():
    short = OMEGA[OMEGA < 2.0]
    with pytest.warns(SwelltreeWarning, match=r"has not decayed at .* the data, 1\.\d+ rad"):
        radiation_kernel(short, oscillator(short).real)


def test_tail_that_does_not_decay_is_refused():
    with pytest.raises(SwelltreeError, match=r"tail_exponent 0\.5 does not decay fast enough"):
        extend_damping(OMEGA, oscillator(OMEGA).real, tail_exponent=0.5)


def test_too_few_frequencies_are_refused():
    with pytest.raises(SwelltreeError, match=r"have 2 frequencies .* Give at least 4"):
        radiation_kernel(OMEGA[:2], oscillator(OMEGA[:2]).real)


def test_oswec_flap_added_mass_about_its_hinge():
    """Ogilvie, averaged: 1.81e7 kg m2 with 0.13 % scatter (SOURCE.md of the data)."""
    import xarray as xr

    with xr.open_dataset(refdata("bem_oswec", "capytaine", "oswec_hydrodynamics.nc")) as file:
        axes = ("omega", "influenced_dof", "radiating_dof")
        pick = [0, 4]
        omega = file["omega"].to_numpy()
        A = file["added_mass"].transpose(*axes).to_numpy()[:, pick][:, :, pick]
        B = file["radiation_damping"].transpose(*axes).to_numpy()[:, pick][:, :, pick]
    lever = np.array([5.0, 1.0])
    keep = (omega > 0.13) & (omega <= 8.0)
    about = [np.einsum("i,fij,j->f", lever, v[keep], lever)[:, None, None] for v in (A, B)]
    found = infinite_added_mass(omega[keep], *about)
    assert found.value[0, 0] == pytest.approx(1.81e7, rel=0.01)
    assert found.worst < 0.01
