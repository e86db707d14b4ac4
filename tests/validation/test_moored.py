"""The validation cases of bodies on dynamic lines."""

import pytest

from swelltree.validation import moored

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
    ],
)
def test_case_passes(run):
    assert [check for check in run() if not check.ok] == []
