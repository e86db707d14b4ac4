"""A sea expanded about a body is the sum of its components there."""

import numpy as np
import pytest

import swelltree as sw
from near_surface import surface_head
from swelltree.jit import jax
from swelltree.waves import airy, local
from swelltree.waves.airy import Components
from swelltree.waves.quick_trig import sin_cos
from swelltree.waves.sea import realise

J = sw.Jonswap(3.0, 8.0)
SEAS = {
    "regular": sw.RegularWave(1.0, period=7.0, beta=0.5),
    "irregular": sw.IrregularSea(J, beta=-0.8, ramp=20.0),
    "spread": sw.IrregularSea(J, spreading=sw.Cos2s(8.0)),
    "trains": sw.SeaOf([sw.IrregularSea(J), sw.RegularWave(0.5, period=14.0, beta=1.0)]),
    "focused": sw.FocusedWave(J, 5.0, x=30.0, t=12.0),
}
CENTRES = np.array([[100.0, -30.0, -3.0], [0.0, 0.0, 2.0], [5.0, 5.0, -14.0]])


def points(radius: float, depth: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    arm = np.random.default_rng(0).normal(size=(3, 200, 3))
    arm *= radius / np.linalg.norm(arm, axis=-1, keepdims=True)
    x, y, z = np.moveaxis(CENTRES[:, None] + arm, -1, 0)
    return x, y, np.maximum(z, 0.5 - depth)


@pytest.mark.parametrize("name", SEAS)
@pytest.mark.parametrize("depth", [np.inf, 20.0])
@pytest.mark.parametrize("stretching", ["wheeler", "constant", "extrapolate"])
def test_expansion_is_the_direct_sum(name, depth, stretching):
    water = sw.Water(depth=depth)
    waves = realise(SEAS[name], water)
    near = local.local_waves(waves, 10.0, water)
    assert isinstance(near, local.LocalWaves)
    # a regular wave is exact; others have a remainder of 3e-5 rms, largest values above it
    limit = 1e-12 if name == "regular" else 3e-4
    x, y, z = points(10.0, depth)
    if stretching == "extrapolate":
        z = np.minimum(z, 4.0)
    direct = airy.kinematics(waves, 13.0, x, y, z, water, stretching)
    eta, head = surface_head(near, 13.0, CENTRES, x, y, z, water, stretching)
    surface = airy.elevation(waves, 13.0, x, y)
    for found, expected in (
        (eta, surface),
        (water.rho * water.g * head, direct.pressure),
    ):
        assert np.abs(found - expected).max() < limit * np.abs(expected).max()


def test_a_sea_too_wide_for_an_expansion_is_summed_directly():
    waves = realise(SEAS["irregular"], sw.Water())
    assert isinstance(local.local_waves(waves, 200.0, sw.Water()), Components)
    many = realise(sw.SeaOf([SEAS["regular"].replace(beta=0.1 * i) for i in range(30)]), sw.Water())
    stored = local.local_waves(many, 10.0, sw.Water())
    assert isinstance(stored, Components)
    x, y, z = points(10.0, np.inf)
    eta, head = surface_head(stored, 3.0, CENTRES, x, y, z, sw.Water())
    np.testing.assert_allclose(eta, airy.elevation(many, 3.0, x, y))
    assert head.shape == eta.shape


def test_terms_grow_with_the_radius():
    waves, water = realise(SEAS["irregular"], sw.Water()), sw.Water()
    terms = [local.local_waves(waves, r, water).taylor.shape[1] for r in (2.0, 10.0, 25.0)]  # pyright: ignore
    assert terms[0] < terms[1] < terms[2] < 48


def test_gradient_is_the_slope_of_the_surface():
    water = sw.Water(depth=20.0)
    waves = realise(SEAS["irregular"], water)
    near = local.local_waves(waves, 10.0, water)
    centre = np.array([[1.0, 2.0, 0.0]])

    def eta(x):
        at = (np.array([[0.5]]), np.array([[-1.0]]))
        return surface_head(near, 33.0, centre, x[None, None], *at, water)[0][0, 0]

    h = 1e-4
    rough = (airy.elevation(waves, 33.0, 4 + h, 0.5) - airy.elevation(waves, 33.0, 4 - h, 0.5)) / h
    assert float(jax.grad(eta)(4.0)) == pytest.approx(float(rough) / 2, rel=1e-3)


def test_quick_sine_and_cosine_are_right_to_rounding():
    angle = np.concatenate([np.linspace(-3000.0, 3000.0, 20001), np.arange(-8, 9) * np.pi / 4])
    sine, cosine = sin_cos(angle)
    assert np.abs(sine - np.sin(angle)).max() < 4e-16
    assert np.abs(cosine - np.cos(angle)).max() < 4e-16
