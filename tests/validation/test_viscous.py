"""The validation cases of drag, members and added mass in body axes."""

import pytest

from support import refdata
from validation.hydro import viscous
from validation.hydro.viscous_hydrodyn import hydrodyn_member_drag

slow = pytest.mark.slow


@pytest.mark.parametrize(
    "run",
    [
        viscous.morison_pile,
        pytest.param(viscous.kirchhoff_integrals, marks=slow),
        pytest.param(viscous.balance, marks=slow),
        pytest.param(viscous.drag_linearisation, marks=slow),
    ],
)
def test_case_passes(run):
    assert [check for check in run() if not check.ok] == []


def test_member_drag_of_hydrodyn():
    checks = hydrodyn_member_drag(refdata("hydrodyn_oc3_spar"))
    assert [check for check in checks if not check.ok] == []
