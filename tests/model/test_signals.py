"""Compiled signals of time and their rates."""

import numpy as np
import pytest

import swelltree.system as sw
from swelltree.model.signals import compile_signal, drives_at


@pytest.mark.parametrize("end", [0, -1])
def test_a_table_has_the_slope_of_its_spline_also_at_its_ends(end):
    time, value = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 1.0, 0.0, 2.0])
    signal = compile_signal(sw.Table(tuple(time), tuple(value)))
    cubic = np.polyfit(time, value, 3)  # four points: the spline is one cubic
    now = drives_at((signal,), time[end])
    # rounding of a fit with coefficients of about ten
    assert now.rate[0] == pytest.approx(np.polyval(np.polyder(cubic), time[end]), abs=1e-11)
    assert now.acceleration[0] == pytest.approx(
        np.polyval(np.polyder(cubic, 2), time[end]), abs=1e-11
    )


@pytest.mark.parametrize("t", [-0.5, 3.5])
def test_a_table_is_held_beyond_its_ends(t):
    signal = compile_signal(sw.Table((0.0, 1.0, 3.0), (1.0, 4.0, 2.0)))
    now = drives_at((signal,), np.array(t))
    assert now.value[0] == (1.0 if t < 0 else 2.0)
    assert now.rate[0] == now.acceleration[0] == 0.0
