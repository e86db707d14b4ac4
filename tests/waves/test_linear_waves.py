"""Dispersion, elevation and motion of linear waves."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swelltree as sw
from swelltree.waves import airy
from swelltree.waves.dispersion import depth_decay, dispersion, group_speed, wavelength
from swelltree.waves.ramp import ramp

DEPTHS = [0.8, 12.0, 400.0, math.inf]
G = 9.81


def sea(depth: float) -> tuple[airy.Components, sw.Water]:
    """Three waves of different heading."""
    water = sw.Water(depth=depth)
    trains = [sw.RegularWave(0.5 + k, 0.7 + 0.4 * k, beta=0.9 * k, phase=k) for k in range(3)]
    return sw.components(sw.SeaOf(trains), water), water


@settings(max_examples=200, deadline=None)
@given(
    omega=st.floats(1e-6, 1e3),
    depth=st.floats(1e-3, 1e5),
)
def test_dispersion_relation_holds_to_rounding(omega, depth):
    k = float(dispersion(omega, depth, G))
    assert G * k * math.tanh(k * depth) == pytest.approx(omega**2, rel=1e-14, abs=0)


def test_dispersion_has_its_limits():
    omega = np.array([0.0, 1e-4, 1.0, 50.0])
    k = dispersion(omega, 20.0, G)
    assert k[0] == 0
    assert k[1] == pytest.approx(1e-4 / math.sqrt(G * 20), rel=1e-7)  # long: c = sqrt(g h)
    assert k[3] == pytest.approx(50.0**2 / G, rel=1e-15)
    assert dispersion(omega, math.inf, G) == pytest.approx(omega**2 / G)
    assert wavelength(2 * math.pi / 8, math.inf, G) == pytest.approx(G * 64 / (2 * math.pi))


def test_energy_travels_with_the_derivative_of_frequency_by_wavenumber():
    for depth in DEPTHS:
        omega = np.array([0.5, 1.0, 2.0])
        dk = np.gradient(dispersion(omega[:, None] + [-1e-5, 0, 1e-5], depth, G), 1e-5, axis=1)
        cg = group_speed(omega, dispersion(omega, depth, G), depth)
        assert cg == pytest.approx(1 / dk[:, 1], rel=1e-6)


def test_decay_with_depth_never_overflows():
    C, S = depth_decay(np.array([1e3, 1.0]), -np.array([[0.0], [5.0], [1e4]]), 1e4)
    assert np.isfinite([C, S]).all()
    assert S[2] == pytest.approx(0.0)
    x = depth_decay(0.3, -2.0, 5.0)
    assert x[0] == pytest.approx(math.cosh(0.9) / math.cosh(1.5))
    assert x[1] == pytest.approx(math.sinh(0.9) / math.cosh(1.5))


def partial(f, at, axis, step=1e-4):
    up, down = ([*at[:axis], at[axis] + s, *at[axis + 1 :]] for s in (step, -step))
    return (np.asarray(f(*up)) - np.asarray(f(*down))) / (2 * step)


@pytest.mark.parametrize("depth", DEPTHS)
def test_water_is_neither_made_nor_turned(depth):
    waves, water = sea(depth)
    at = [3.0, 1.0, -2.0, -0.3]

    def velocity(t, x, y, z):
        return sw.kinematics(waves, t, x, y, z, water).velocity

    gradient = np.array([partial(velocity, at, axis) for axis in (1, 2, 3)])
    scale = np.abs(gradient).max()
    assert np.trace(gradient) == pytest.approx(0, abs=1e-7 * scale)
    assert gradient == pytest.approx(gradient.T, abs=1e-7 * scale)


@pytest.mark.parametrize("depth", DEPTHS)
def test_acceleration_is_the_rate_of_velocity_and_the_slope_of_pressure(depth):
    waves, water = sea(depth)
    at = [3.0, 1.0, -2.0, -0.3]
    motion = sw.kinematics(waves, *at, water)
    rate = partial(lambda *a: sw.kinematics(waves, *a, water).velocity, at, 0)
    slope = [partial(lambda *a: sw.kinematics(waves, *a, water).pressure, at, k) for k in (1, 2, 3)]
    assert motion.acceleration == pytest.approx(rate, rel=1e-6)
    assert motion.acceleration == pytest.approx(-np.array(slope) / water.rho, rel=1e-6)


@pytest.mark.parametrize("depth", DEPTHS)
def test_surface_conditions_hold_at_the_still_water(depth):
    waves, water = sea(depth)
    t, x, y = np.linspace(0, 9, 7), 2.0, 0.5
    motion = sw.kinematics(waves, t, x, y, 0.0, water)
    assert motion.pressure == pytest.approx(water.rho * water.g * sw.elevation(waves, t, x, y))
    rising = partial(lambda t: sw.elevation(waves, t, x, y), [t], 0)
    assert motion.velocity[:, 2] == pytest.approx(rising, rel=1e-6)


def test_no_water_passes_the_bottom():
    waves, water = sea(12.0)
    assert sw.kinematics(waves, 1.0, 2.0, 3.0, -12.0, water).velocity[2] == pytest.approx(0)


def test_very_deep_water_is_deep_water():
    deep, water = sea(math.inf)
    finite, other = sea(3000.0)
    args = (np.linspace(0, 20, 5), 10.0, 5.0, -4.0)
    for a, b in zip(
        sw.kinematics(deep, *args, water), sw.kinematics(finite, *args, other), strict=True
    ):
        assert a == pytest.approx(b, rel=1e-9)


def test_crest_travels_towards_its_heading_at_the_phase_speed():
    water = sw.Water(depth=20.0)
    waves = sw.components(sw.RegularWave(1.5, 0.8, beta=math.radians(60)), water)
    c = 0.8 / waves.wavenumber[0]
    t = np.linspace(0, 30, 7)
    x, y = c * t * math.cos(math.radians(60)), c * t * math.sin(math.radians(60))
    assert sw.elevation(waves, t, x, y) == pytest.approx(1.5)
    # under a crest the water moves with the wave
    u = sw.kinematics(waves, t, x, y, -1.0, water).velocity
    assert np.arctan2(u[:, 1], u[:, 0]) == pytest.approx(math.radians(60))


def test_phase_is_that_of_the_time_factor_exp_minus_i_omega_t():
    waves = sw.components(sw.RegularWave(2.0, 1.1, phase=0.7), sw.Water())
    t = np.linspace(0, 5, 6)
    A = waves.complex_amplitude[0]
    assert sw.elevation(waves, t) == pytest.approx((A * np.exp(-1.1j * t)).real)


def test_above_the_still_water_three_continuations():
    water = sw.Water()
    waves = sw.components(sw.RegularWave(1.0, 2.0), water)
    k = waves.wavenumber[0]

    def u(z, how):
        return sw.kinematics(waves, 0.0, 0.0, 0.0, z, water, how).velocity[0]

    assert u(0.8, "constant") == pytest.approx(2.0)
    assert u(0.8, "extrapolate") == pytest.approx(2.0 * math.exp(0.8 * k))
    assert u(1.0, "wheeler") == pytest.approx(2.0)  # the crest is at 1 m
    assert u(0.0, "wheeler") == pytest.approx(2.0 * math.exp(-k))
    shallow = sw.Water(depth=5.0)
    waves = sw.components(sw.RegularWave(1.0, 2.0), shallow)
    w = sw.kinematics(waves, 0.4, 0.0, 0.0, -5.0, shallow, "wheeler").velocity[2]
    assert w == pytest.approx(0.0, abs=1e-14)
    with pytest.raises(sw.SwelltreeError, match="stretching 'wheel' is not known"):
        u(0.0, "wheel")


def test_ramp_grows_from_zero_to_one_without_a_corner():
    t = np.array([-1.0, 0.0, 2.5, 5.0, 10.0, 11.0])
    assert ramp(t, 10.0) == pytest.approx(
        0.5 * (1 + np.cos(np.pi + np.pi * np.clip(t, 0, 10) / 10))
    )
    assert ramp(t, 0.0) == pytest.approx(1.0)
    waves = sw.components(sw.RegularWave(2.0, 1.0, ramp=10.0), sw.Water())
    assert sw.elevation(waves, 0.0) == 0
    assert sw.elevation(waves, 4 * np.pi) == pytest.approx(2.0)
    motion = sw.kinematics(waves, 2.5, 0.0, 0.0, -1.0, sw.Water())
    full = sw.kinematics(dataclasses.replace(waves, ramp=0.0), 2.5, 0.0, 0.0, -1.0, sw.Water())
    assert motion.velocity == pytest.approx(full.velocity * ramp(2.5, 10.0))


@pytest.mark.parametrize("depth", [15.0, math.inf])
def test_numpy_and_jax_agree_under_jit_vmap_and_grad(depth):
    waves, water = sea(depth)
    waves = dataclasses.replace(waves, ramp=20.0)
    t = np.linspace(0, 30, 5)
    got = jax.jit(jax.vmap(lambda w, t: sw.kinematics(w, t, 1.0, 2.0, -3.0, water), (None, 0)))(
        waves, t
    )
    for a, b in zip(got, sw.kinematics(waves, t, 1.0, 2.0, -3.0, water), strict=True):
        assert np.asarray(a) == pytest.approx(b, rel=1e-12)
    slope = jax.grad(lambda t: sw.elevation(waves, t, 1.0, 2.0))(jnp.array(7.0))
    assert float(slope) == pytest.approx(
        float(partial(lambda t: sw.elevation(waves, t, 1.0, 2.0), [7.0], 0)), rel=1e-6
    )
    k = jax.grad(lambda w: dispersion(w, depth, G))(jnp.array(1.0))
    assert float(k) == pytest.approx(
        1 / float(group_speed(1.0, dispersion(1.0, depth, G), depth)), rel=1e-9
    )


def test_still_water_is_still():
    waves = sw.components(sw.StillWater(), sw.Water())
    assert len(waves) == 0
    assert sw.elevation(waves, np.linspace(0, 1, 3)) == pytest.approx(np.zeros(3))
    assert sw.kinematics(waves, 0.0, 0.0, 0.0, -1.0, sw.Water()).velocity == pytest.approx(0)
