"""The validation cases of bodies on dynamic lines."""

import pytest

from support import refdata
from validation.mooring import jumper, moored

slow = pytest.mark.slow


@pytest.mark.parametrize(
    "run",
    [
        moored.pendulum,
        moored.snap,
        pytest.param(moored.shock, marks=slow),
        pytest.param(moored.cold_start, marks=slow),
        pytest.param(moored.two_solvers, marks=slow),
        pytest.param(moored.two_forms, marks=slow),
        pytest.param(moored.rest_of_lines, marks=slow),
        pytest.param(moored.tension_rao, marks=slow),
        pytest.param(moored.taut_modes, marks=slow),
    ],
)
def test_case_passes(run):
    assert [check for check in run() if not check.ok] == []


@pytest.mark.slow
@pytest.mark.parametrize("run", [jumper.surge, jumper.sway, jumper.heave])
def test_jumper_of_lowe_and_langley(run):
    assert [check for check in run(refdata("moor_lowe_langley")) if not check.ok] == []
