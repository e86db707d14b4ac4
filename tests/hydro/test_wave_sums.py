"""Loads of waves summed where they are needed, against those on a grid of the whole run."""

from dataclasses import replace

import numpy as np

import swelltree as sw
from made_campaign import SEA, float_model
from swelltree.hydro.linear.hydro import wave_loads
from swelltree.hydro.linear.wave_sums import wave_sums
from swelltree.studies.options import realised


def test_sums_are_the_loads_of_the_grid_within_the_ramp_and_behind_it():
    model = float_model()
    waves = realised(model, SEA, 0)
    table, ramp = model.hydro.table, float(SEA.ramp)
    grid = wave_loads(table, model.water, waves, 80.0, step=0.05)
    sums = wave_sums(table, waves, 0.05)
    size = np.abs(grid.force).max()
    for first in (0, int(0.7 * ramp / 0.05) if ramp else 40, 1200):
        found = sums.loads(np.array(0.05 * first), 7)
        rows = slice(first, first + 7)
        np.testing.assert_allclose(found.force[:7], grid.force[rows], atol=1e-9 * size)
        np.testing.assert_allclose(found.rate[:7], grid.rate[rows], atol=1e-8 * size)
    now = sums.acting(np.array(61.3), None, None)
    there = grid.acting(np.array(61.3), None, None)
    np.testing.assert_allclose(now, there, atol=1e-6 * size)  # a cubic between points


def test_a_run_by_sums_is_that_of_the_grid():
    model = float_model()
    waves = realised(model, SEA, 0)
    on_grid = sw.simulate(model, SEA, duration=20.0, output_step=0.5, rtol=1e-9)
    hydro = replace(model.hydro, waves=wave_sums(model.hydro.table, waves, 0.05))
    summed = sw.simulate(model.with_effect(hydro), duration=20.0, output_step=0.5, rtol=1e-9)
    x, y = on_grid["position"].values, summed["position"].values
    np.testing.assert_allclose(y, x, atol=1e-5 * np.abs(x).max())
