"""The linear answer beside the motion."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.describe.errors import SwelltreeError


@pytest.fixture(scope="module")
def constant():
    return sw.gallery.barges().model(radiation="constant", omega=0.7)


def test_constant_damping_is_counted_once(constant):
    of_data, of_run = (
        sw.rao(constant, omega=0.7, wave_direction=0.0, radiation=r)["rao"].values
        for r in ("data", "state_space")
    )
    assert of_data == pytest.approx(of_run, rel=1e-9, abs=1e-12)


def test_low_waves_move_the_barges_as_the_linear_answer_says(constant):
    wave = sw.RegularWave(amplitude=0.01, omega=0.7, ramp=20.0)
    both = sw.linear_and_nonlinear(constant, wave, duration=250.0, output_step=0.25, settled=230.0)
    heave = both.sel(dof="Heave")
    assert float((heave["difference"] / heave["amplitude"]).max()) < 2e-3
    angle = both.sel(coordinate=["hinge1__Pitch", "hinge2__Pitch"])
    assert float((angle["joint_difference"] / angle["joint_amplitude"]).max()) < 2e-3
    assert np.isfinite(both["elevation"]).all()


def test_a_comparison_inside_the_ramp_is_refused(constant):
    wave = sw.RegularWave(amplitude=0.01, omega=0.7, ramp=20.0)
    with pytest.raises(SwelltreeError, match="end of the ramp"):
        sw.linear_and_nonlinear(constant, wave, duration=30.0, settled=10.0)
