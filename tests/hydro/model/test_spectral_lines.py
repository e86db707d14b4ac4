"""Sums of spectral lines by the fast transform."""

import numpy as np
import pytest

from swelltree.waves.spectral_lines import summed


@pytest.mark.parametrize("count", [8, 64, 1024])
def test_fast_sum_is_the_direct_sum(count):
    rng = np.random.default_rng(1)
    mu = rng.uniform(-9.0, 9.0, 50)  # the step is 0.4 s: beyond its Nyquist frequency too
    c = rng.normal(size=(50, 3)) + 1j * rng.normal(size=(50, 3))
    t = 0.4 * np.arange(count)
    exact = np.exp(-1j * np.outer(t, mu)) @ c
    assert np.abs(summed(mu, c, 0.4, count) - exact).max() < 1e-9 * np.abs(exact).max()
