"""Series in time: matrices and Fourier transforms do the same."""

import numpy as np
import pytest

from swelltree.integrate import fourier


@pytest.mark.parametrize("nodes", [None, 61, 64])
def test_transforms_equal_matrices(nodes, monkeypatch):
    b = fourier.basis(3.0, 30, nodes)
    Y = np.random.default_rng(0).normal(size=(61, 4))
    by_transform = fourier.at_nodes(b, Y)
    back = fourier.to_coefficients(b, by_transform[0])
    monkeypatch.setattr(fourier, "BY_MATRIX", 30)
    for found, expected in zip(by_transform, fourier.at_nodes(b, Y), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())
    np.testing.assert_allclose(back, Y, atol=1e-12)
    np.testing.assert_allclose(fourier.to_coefficients(b, by_transform[0]), Y, atol=1e-12)


def test_rates_are_those_of_the_series():
    b = fourier.basis(2.0, 2)
    Y = np.array([[0.5], [1.0], [0.0], [0.0], [2.0]])
    w, t = np.pi, b.time
    x, rate, second = (v[:, 0] for v in fourier.at_nodes(b, Y))
    np.testing.assert_allclose(x, 0.5 + np.cos(w * t) + 2 * np.sin(2 * w * t), atol=1e-14)
    np.testing.assert_allclose(rate, -w * np.sin(w * t) + 4 * w * np.cos(2 * w * t), atol=1e-13)
    expected = -(w**2) * np.cos(w * t) - 8 * w**2 * np.sin(2 * w * t)
    np.testing.assert_allclose(second, expected, atol=1e-12)
