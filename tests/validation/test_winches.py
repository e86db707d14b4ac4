"""The validation cases of winches and operations."""

import pytest

from support import refdata
from validation.mooring import winches

slow = pytest.mark.slow


@pytest.mark.parametrize(
    "run",
    [
        winches.constant_speed,
        pytest.param(winches.lowering, marks=slow),
        pytest.param(winches.lowering_rigid, marks=slow),
        pytest.param(winches.heave_compensation, marks=slow),
        pytest.param(winches.constant_tension, marks=slow),
        pytest.param(winches.landing, marks=slow),
        pytest.param(winches.caught, marks=slow),
        pytest.param(winches.crane, marks=slow),
    ],
)
def test_case_passes(run):
    assert [check for check in run() if not check.ok] == []


@pytest.mark.slow
def test_lifting_as_moordyn():
    assert [check for check in winches.lifting(refdata("moor_analytic")) if not check.ok] == []
