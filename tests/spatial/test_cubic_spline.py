"""Cubic splines beside those of scipy."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline as OfScipy

from swelltree.spatial.cubic_spline import CubicSpline


@pytest.mark.parametrize("count", [2, 3, 4, 5, 60])
@pytest.mark.parametrize("shape", [(), (2, 3)])
def test_values_are_those_of_scipy_inside_and_beyond_the_data(count, shape):
    random = np.random.default_rng(count)
    x = np.cumsum(random.uniform(0.1, 2.0, count))
    y = random.normal(size=(count, *shape))
    at = np.concatenate([x, random.uniform(x[0] - 0.3, x[-1] + 0.3, 40)])
    ours, theirs = CubicSpline(x, y)(at), OfScipy(x, y)(at)
    assert ours.shape == theirs.shape == (count + 40, *shape)
    assert np.abs(ours - theirs).max() < 1e-12 * np.abs(theirs).max()  # rounding


def test_cubics_are_found_again():
    x = np.array([0.0, 0.4, 1.5, 1.7, 3.0])
    at = np.linspace(-0.5, 3.5, 17)

    def cubic(x):
        return 0.3 * x**3 - 1.1 * x**2 + 0.2 * x - 4.0

    assert np.allclose(CubicSpline(x, cubic(x))(at), cubic(at), rtol=1e-12, atol=0.0)
