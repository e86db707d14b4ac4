"""The validation cases of bodies through the surface."""

import pytest

from validation.hydro import splash


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(splash.slamming_at_constant_speed, marks=pytest.mark.slow),
        splash.momentum_of_entry,
        pytest.param(splash.falling_into_the_water, marks=pytest.mark.slow),
        pytest.param(splash.half_submerged, marks=pytest.mark.slow),
    ],
)
def test_case_passes(run):
    assert [check for check in run() if not check.ok] == []
