"""Steep waves of permanent form."""

import math

import jax
import numpy as np
import pytest

import swelltree as sw
from swelltree.waves.stream_function import conditions, highest

CASES = [(5.0, 8.0, math.inf), (8.0, 8.0, math.inf), (3.0, 10.0, 6.0), (6.0, 10.0, 10.0)]


def solved(H, T, depth, **options):
    water = sw.Water(depth=depth)
    return sw.realise(sw.StreamFunctionWave(H, period=T, **options), water), water


def stokes(epsilon, kd):
    """Speed and harmonics of the surface to fifth order (Fenton 1985, table 1)."""
    S, coth = 1 / math.cosh(2 * kd), 1 / math.tanh(kd)
    C0 = math.sqrt(math.tanh(kd))
    C2 = C0 * (2 + 7 * S**2) / (4 * (1 - S) ** 2)
    C4 = C0 * (4 + 32 * S - 116 * S**2 - 400 * S**3 - 71 * S**4 + 146 * S**5) / (32 * (1 - S) ** 5)
    B22 = coth * (1 + 2 * S) / (2 * (1 - S))
    B31 = -3 * (1 + 3 * S + 3 * S**2 + 2 * S**3) / (8 * (1 - S) ** 3)
    low = (3 + 2 * S) * (1 - S) ** 4
    B42 = coth * (6 - 26 * S - 182 * S**2 - 204 * S**3 - 25 * S**4 + 26 * S**5) / (6 * low)
    B44 = coth * (24 + 92 * S + 122 * S**2 + 66 * S**3 + 67 * S**4 + 34 * S**5) / (24 * low)
    e = epsilon
    surface = [e + B31 * e**3, B22 * e**2 + B42 * e**4, -B31 * e**3, B44 * e**4]
    return C0 + C2 * e**2 + C4 * e**4, np.array(surface)


@pytest.mark.parametrize("depth", [10.0, 25.0, 300.0])
def test_moderate_waves_are_those_of_stokes(depth):
    errors = []
    for height in (1.0, 2.0):
        wave, water = solved(height, 7.0, depth)
        k = wave.wavenumber
        speed, surface = stokes(k * height / 2, k * depth)
        errors.append(
            [
                abs(wave.speed * math.sqrt(k / water.g) - speed),
                *np.abs(k * wave.harmonics[:4] - surface),
            ]
        )
    # what fifth order leaves out: fifth power in the surface, sixth in the speed
    assert np.max(errors[0]) < 2e-5
    growth = np.log2(np.array(errors[1]) / np.array(errors[0]))
    assert growth[0] > 5.5
    assert growth[1:].min() > 4.5


def test_small_waves_are_those_of_airy():
    wave, water = solved(1e-3, 8.0, 20.0)
    small = sw.components(sw.RegularWave(height=1e-3, period=8.0), water)
    assert wave.wavenumber == pytest.approx(small.wavenumber[0], rel=1e-7)
    args = (np.linspace(0, 8, 9), 3.0, 0.0, -5.0)
    for a, b in zip(
        sw.kinematics(wave, *args, water), sw.kinematics(small, *args, water), strict=True
    ):
        assert a == pytest.approx(b, abs=1e-3 * np.abs(b).max())


def test_deep_waves_approach_the_known_limit():
    # Longuet-Higgins (1975): c^2 k / g rises to 1.19 near the highest wave, H/L = 0.1412
    wave, water = solved(14.5, 8.0, math.inf)
    steepness = 14.5 * wave.wavenumber / (2 * math.pi)
    assert 0.12 < steepness < 0.1412
    assert 1.15 < wave.speed**2 * wave.wavenumber / water.g < 1.195
    assert highest(100.0, math.inf) == pytest.approx(14.1, rel=2e-3)
    assert highest(1e6, 10.0) == pytest.approx(8.33, rel=1e-2)  # solitary wave, H/d = 0.833


@pytest.mark.parametrize("case", CASES)
def test_surface_has_its_height_its_mean_and_no_pressure(case):
    wave, water = solved(*case)
    L = 2 * math.pi / wave.wavenumber
    x = np.linspace(0, L, 2001)
    eta = sw.elevation(wave, 0.0, x)
    assert eta.max() - eta.min() == pytest.approx(case[0], rel=1e-6)
    assert np.trapezoid(eta, x) / L == pytest.approx(0, abs=1e-9)
    assert eta[0] == eta.max()
    assert eta.max() > -eta.min()  # sharp crests, flat troughs
    motion = sw.kinematics(wave, 0.0, x, 0.0, eta, water)
    total = motion.pressure - water.rho * water.g * eta
    assert np.abs(total).max() < 1e-3 * water.rho * water.g * case[0]
    # the water of the surface stays in it
    slope = np.gradient(eta, x)
    assert (motion.velocity[:, 0] - wave.speed) * slope == pytest.approx(
        motion.velocity[:, 2], abs=2e-2 * np.abs(motion.velocity).max()
    )


@pytest.mark.parametrize("case", CASES)
def test_motion_under_a_steep_wave_obeys_euler_and_laplace(case):
    wave, water = solved(*case, beta=0.6, phase=0.3)
    at, step = [1.3, 2.0, -1.0, -1.5], 1e-4

    def field(*a):
        return sw.kinematics(wave, *a, water)

    def slope(of, axis):
        up, down = ([*at[:axis], at[axis] + s, *at[axis + 1 :]] for s in (step, -step))
        return (of(field(*up)) - of(field(*down))) / (2 * step)

    motion = field(*at)
    gradient = np.array([slope(lambda m: m.velocity, k) for k in (1, 2, 3)])
    scale = np.abs(gradient).max()
    assert np.trace(gradient) == pytest.approx(0, abs=1e-6 * scale)
    assert gradient == pytest.approx(gradient.T, abs=1e-6 * scale)
    following = slope(lambda m: m.velocity, 0) + motion.velocity @ gradient
    assert motion.acceleration == pytest.approx(following, rel=1e-5, abs=1e-7)
    pressure = [slope(lambda m: m.pressure, k) for k in (1, 2, 3)]
    assert motion.acceleration == pytest.approx(-np.array(pressure) / water.rho, rel=1e-5, abs=1e-6)


def test_pressure_far_below_deep_water_waves_is_hydrostatic():
    wave, water = solved(8.0, 8.0, math.inf)
    deep = sw.kinematics(wave, 0.0, 0.0, 0.0, -500.0, water).pressure
    assert deep == pytest.approx(0, abs=1e-6 * water.rho * water.g)


def test_derivative_of_the_conditions_is_that_of_differences():
    sea, water = sw.StreamFunctionWave(3.0, period=9.0), sw.Water(depth=8.0)
    n = 6
    u = np.r_[0.1 * np.cos(np.pi * np.arange(n + 1) / n), 0.1 / np.arange(1, n + 1), 0.1, 0.4, 1.1]
    f, J = conditions(u, 0.2, sea, water, 0.09)
    eye = 1e-6 * np.eye(len(u))
    rows = [
        (conditions(u + e, 0.2, sea, water, 0.09)[0] - conditions(u - e, 0.2, sea, water, 0.09)[0])
        / 2e-6
        for e in eye
    ]
    assert len(f) == len(u)
    assert pytest.approx(np.array(rows).T, abs=1e-8) == J


def test_harmonics_of_the_surface_become_bound_components():
    sea, water = sw.StreamFunctionWave(6.0, period=10.0, beta=0.4, phase=0.5), sw.Water(depth=10.0)
    waves, wave = sw.components(sea, water), sw.realise(sea, water)
    t = np.linspace(0, 10, 21)
    assert sw.elevation(waves, t, 3.0, 2.0) == pytest.approx(sw.elevation(wave, t, 3.0, 2.0))
    assert waves.wavenumber / waves.omega == pytest.approx(1 / wave.speed)


def test_steep_waves_run_under_jax():
    wave, water = solved(6.0, 10.0, 10.0, ramp=5.0)
    t = np.linspace(0, 9, 4)
    got = jax.jit(lambda w, t: sw.kinematics(w, t, 1.0, 2.0, -3.0, water))(wave, t)
    for a, b in zip(got, sw.kinematics(wave, t, 1.0, 2.0, -3.0, water), strict=True):
        assert np.asarray(a) == pytest.approx(b, rel=1e-10)


def test_order_as_given_is_kept():
    wave, _ = solved(2.0, 9.0, 15.0, order=5)
    assert len(wave.harmonics) == 5
    full, _ = solved(2.0, 9.0, 15.0)
    assert wave.crest == pytest.approx(full.crest, rel=1e-3)


@pytest.mark.parametrize(("height", "period", "depth"), [(20.0, 8.0, math.inf), (9.0, 8.0, 10.0)])
def test_breaking_waves_are_refused(height, period, depth):
    with pytest.raises(sw.SwelltreeError, match=rf"height {height} m breaks: the highest wave of"):
        solved(height, period, depth)


def test_very_long_waves_need_more_harmonics_than_there_are():
    with pytest.raises(sw.SwelltreeError, match="has too sharp a crest for 60 harmonics: the high"):
        solved(1.0, 300.0, 4.0)


@pytest.mark.slow
def test_almost_highest_wave_is_still_found():
    wave, water = solved(16.4, 8.0, math.inf)
    limit = highest(2 * math.pi / wave.wavenumber, math.inf)
    assert 0.96 < 16.4 / limit < 1
    u = sw.kinematics(wave, 0.0, 0.0, 0.0, wave.crest, water).velocity[0]
    assert 0.7 * wave.speed < u < wave.speed


def test_steep_waves_cannot_be_added_to_others():
    sea = sw.SeaOf([sw.StreamFunctionWave(1.0, period=8.0), sw.RegularWave(1.0, 1.0)])
    with pytest.raises(sw.SwelltreeError, match="cannot be added to other trains"):
        sw.realise(sea, sw.Water())
