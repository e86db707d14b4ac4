"""Fits of the radiation memory are found again, with what they warn of."""

import numpy as np

from made_hydro import A_INF, memory
from swelltree.hydro.linear.fits import recent_fit

OMEGA = np.linspace(0.05, 6.0, 80)


def parts(size=1.0):
    K = size * memory(OMEGA)
    A, B = A_INF + K.imag / OMEGA, K.real.copy()
    B[20] *= 1.6  # an irregular frequency
    return OMEGA, A[:, None, None], B[:, None, None], np.array([[A_INF]])


def test_the_same_data_have_the_same_fit_and_others_their_own():
    options = {"error": 0.02}
    first, said = recent_fit(*parts(), **options)
    again, said_again = recent_fit(*parts(), **options)
    assert again is first
    assert said == said_again
    assert any("left out" in str(message) for message, _ in said)
    other, _ = recent_fit(*parts(2.0), **options)
    assert other is not first
    looser, _ = recent_fit(*parts(), **(options | {"error": 0.5}))
    assert looser is not first
