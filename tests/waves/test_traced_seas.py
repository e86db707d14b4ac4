"""Seas with numbers that JAX is tracing: the same waves, and derivatives by height and period."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import swelltree as sw
from swelltree.waves.dispersion import dispersion

WATER = sw.Water(depth=23.7, g=9.79)
ROWS = ("amplitude", "omega", "wavenumber", "beta", "phase")


def regular(x):
    return sw.RegularWave(height=x[0], period=x[1], beta=x[2], phase=x[3])


def jonswap(x):
    spectrum = sw.Jonswap(Hs=x[0], Tp=x[1], gamma=1.0 + x[3])
    return sw.IrregularSea(spectrum, seed=7, components=9, beta=x[2], spreading=sw.Cos2s(s=6.0))


def even(x):
    spectrum = sw.Bimodal(sw.Bretschneider(Hs=x[0], Tp=x[1]), sw.PiersonMoskowitz(Tp=0.6 * x[1]))
    return sw.IrregularSea(spectrum, seed=3, components=8, spacing="equal", amplitudes="rayleigh")


def swell(x):
    spectrum = sw.OchiHubble(x[0], 1.6 * x[1], 2.3, 0.7 * x[0], x[1], 1.4)
    return sw.SeaOf([sw.IrregularSea(spectrum, seed=2, components=6), regular(x)])


def focused(x):
    spectrum = sw.Jonswap(Hs=1.0, Tp=x[1])
    return sw.FocusedWave(spectrum, amplitude=x[0], x=x[3], t=4.0, beta=x[2], components=7)


SEAS = (regular, jonswap, even, swell, focused)


def waves(sea, x):
    found = sw.realise(sea(x), WATER)
    return jnp.concatenate([jnp.asarray(getattr(found, row)) for row in ROWS])


@pytest.mark.parametrize("sea", SEAS)
def test_a_traced_sea_is_the_described_one_with_its_derivatives(sea):
    x = np.array([1.37, 7.3, 0.41, 1.9]) + 0.1 * np.random.default_rng(4).random(4)
    traced, slopes = jax.jit(lambda x: (waves(sea, x), jax.jacfwd(lambda y: waves(sea, y))(x)))(x)
    np.testing.assert_allclose(traced, waves(sea, [*map(float, x)]), rtol=1e-9, atol=1e-11)
    for i in range(4):
        h = 1e-4 * np.eye(4)[i]
        high, low = (waves(sea, [*map(float, x + sign * h)]) for sign in (1, -1))
        # the energy below a frequency is tabulated: differences see its corners
        np.testing.assert_allclose(slopes[:, i], (high - low) / 2e-4, rtol=2e-3, atol=2e-4)


def test_many_seeds_at_once_are_the_single_seas():
    def phases(seed):
        sea = sw.IrregularSea(
            sw.Jonswap(Hs=2.0, Tp=8.0), seed=seed, components=5, spreading=sw.Cos2s(s=4.0)
        )
        found = sw.realise(sea, WATER, case="b")
        return jnp.stack([jnp.asarray(getattr(found, row)) for row in ROWS])

    together = jax.vmap(phases)(jnp.array([3, 11, 2**40]))
    for row, seed in zip(together, (3, 11, 2**40), strict=True):
        np.testing.assert_allclose(row, phases(seed), rtol=1e-9, atol=1e-11)


def test_wavenumber_has_derivatives_by_frequency_depth_and_gravity():
    x = np.array([0.83, 17.1, 9.7])
    slopes = jax.grad(lambda x: dispersion(x[0], x[1], x[2]))(x)
    for i in range(3):
        h = 1e-6 * x[i] * np.eye(3)[i]
        rise = dispersion(*(x + h)) - dispersion(*(x - h))
        assert slopes[i] == pytest.approx(rise / (2e-6 * x[i]), rel=1e-8)


def test_traced_vectors_are_refused():
    with pytest.raises(sw.SwelltreeError, match=r"has shape \(2,\). Give one number"):
        jax.jit(lambda x: sw.RegularWave(amplitude=x, period=8.0).amplitude)(np.ones(2))
    with pytest.raises(sw.SwelltreeError, match=r"Give one whole number"):
        jax.jit(lambda x: sw.IrregularSea(sw.Jonswap(Hs=1.0, Tp=8.0), seed=x).beta)(1.5)
