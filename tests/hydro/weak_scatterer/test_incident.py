"""Incident waves: harmonic, right on their surface, the same motion as the waves of the package."""

import numpy as np
import pytest

from swelltree.describe.environment.seas import IrregularSea, RegularWave, StreamFunctionWave
from swelltree.describe.environment.spectra import Jonswap
from swelltree.describe.environment.water import Water
from swelltree.describe.errors import SwelltreeError, SwelltreeWarning
from swelltree.hydro.weak_scatterer.incident.interface import (
    Still,
    flow,
    residuals,
    surface,
)
from swelltree.hydro.weak_scatterer.incident.of_sea import (
    LinearWaves,
    SteepWave,
    linear_waves,
    steep_wave,
)
from swelltree.jit import jax, pytree
from swelltree.waves.sea import kinematics, realise

rng = np.random.default_rng(8)
G = 9.81


@pytree("depth", "g")
class Doubted(SteepWave):
    """A wave that does not say of itself that it is exact."""

    exact = False


@jax.jit
def on_surface(wave, t, xy):
    top = surface(wave, t, xy)
    at = jax.numpy.concatenate([xy, top.level[:, None]], 1)
    return top, residuals(wave, t, at, G)


@pytest.mark.parametrize("depth", [20.0, np.inf])
def test_steep_wave_satisfies_both_conditions_on_its_own_surface(depth):
    water = Water(depth=depth)
    sea = StreamFunctionWave(height=4.0, omega=1.0, beta=0.7, phase=0.3, order=24)
    wave = steep_wave(realise(sea, water), water)
    places = rng.normal(size=(20, 2)) * 40
    doubted = Doubted(wave.wave, wave.depth, wave.g)
    top, (dynamic, kinematic) = on_surface(doubted, 3.7, places)
    assert np.abs(dynamic).max() < 1e-8 * G * 4.0
    assert np.abs(kinematic).max() < 1e-8
    on = np.column_stack([places, top.level])
    for left in residuals(wave, 3.7, on, G):
        np.testing.assert_array_equal(np.asarray(left), np.zeros(20))


@pytest.mark.parametrize("steep", [False, True])
def test_derivatives_are_those_of_the_motion_of_the_water(steep):
    water = Water(depth=15.0)
    kind = StreamFunctionWave if steep else RegularWave
    sea = kind(height=1.0, omega=1.1, beta=-0.4, phase=1.0)
    known = realise(sea, water)
    wave = steep_wave(known, water) if steep else linear_waves(known, water)
    x = rng.uniform([-30, -30, -14], [30, 30, -1], size=(15, 3))
    found = jax.jit(flow)(wave, 2.2, x)
    want = kinematics(known, 2.2, *x.T, water)
    np.testing.assert_allclose(found.velocity, want.velocity, atol=1e-8)
    trace = np.trace(found.hessian, axis1=1, axis2=2)
    np.testing.assert_allclose(trace, 0.0, atol=1e-12)  # Laplace
    pressure = -water.rho * found.rate
    acceleration = found.velocity_rate
    if steep:  # following the water, and with the whole of Bernoulli
        acceleration = acceleration + np.einsum("pij,pj->pi", found.hessian, found.velocity)
        pressure = pressure - 0.5 * water.rho * (found.velocity**2).sum(1)
    np.testing.assert_allclose(acceleration, want.acceleration, atol=1e-8)
    np.testing.assert_allclose(pressure, want.pressure, atol=1e-6 * np.abs(want.pressure).max())


def test_pressure_during_a_ramp_grows_without_a_jump_of_the_constant():
    water = Water(depth=20.0)
    sea = StreamFunctionWave(height=2.0, omega=1.0, ramp=10.0)
    wave = steep_wave(realise(sea, water), water)
    x = np.array([[1.0, 2.0, -3.0]])
    rate = jax.jit(lambda t: flow(wave, t, x).rate[0])
    before, after = (float(rate(10.0 + dt)) for dt in (-1e-7, 1e-7))
    assert before == pytest.approx(after, abs=1e-5)
    assert float(rate(0.0)) == 0.0


def test_airy_wave_leaves_residuals_of_second_order():
    water = Water(depth=20.0)
    xy = rng.normal(size=(30, 2)) * 30
    sizes = []
    for a in (0.2, 0.1):
        sea = RegularWave(amplitude=a, omega=1.0, ramp=1.0)  # in the middle of its ramp
        wave = linear_waves(realise(sea, water), water)
        left = on_surface(wave, 0.4, xy)[1]
        sizes.append([float(np.abs(r).max()) for r in left])
    ratio = np.array(sizes[0]) / np.array(sizes[1])
    np.testing.assert_allclose(ratio, 4.0, rtol=0.05)


def test_irregular_sea_is_cut_off_and_says_so():
    water = Water()
    sea = IrregularSea(Jonswap(Hs=3.0, Tp=9.0), omega_max=3.0, seed=1)
    with pytest.warns(SwelltreeWarning, match="components shorter than .* were cut off"):
        wave = linear_waves(realise(sea, water), water)
    assert isinstance(wave, LinearWaves)
    k = np.asarray(wave.waves.wavenumber)
    assert len(k) > 0
    assert k.max() * float(realise(sea, water).Hs) <= 1.0
    top, _ = on_surface(wave, 1.0, np.zeros((1, 2)))
    assert np.isfinite(top.level).all()


def test_too_steep_a_wave_is_refused():
    water = Water()
    with pytest.warns(SwelltreeWarning):
        waves = realise(RegularWave(amplitude=5.0, omega=2.0), water)
    with pytest.raises(SwelltreeError, match="too steep for weak scatterers: crests of 5 m"):
        linear_waves(waves, water)


def test_still_water_is_still():
    top, left = on_surface(Still(), 1.0, rng.normal(size=(3, 2)))
    flowing = flow(Still(), 1.0, rng.normal(size=(3, 3)))
    assert not any(np.any(part) for part in (*flowing, *top, *left))
