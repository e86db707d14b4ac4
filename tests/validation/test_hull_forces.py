"""Cases about buoyancy and Froude-Krylov forces on the actual wetted hull."""

import pytest

from support import refdata
from validation import all_cases
from validation.hydro import hulls
from validation.table import Check


def assert_ok(checks: list[Check]) -> None:
    assert checks
    failed = [f"{c.quantity}: {c.shown_value}, allowed {c.allowed}" for c in checks if not c.ok]
    assert not failed, "; ".join(failed)


def test_cases_are_registered():
    assert {"hull_righting_moment", "hull_sphere_cap", "hull_capsize"} <= set(all_cases())


@pytest.mark.parametrize("name", ["righting_moment", "sphere_cap", "froude_krylov"])
def test_closed_forms(name):
    assert_ok(getattr(hulls, name)())


@pytest.mark.slow
def test_barge_turns_right_round():
    assert_ok(hulls.capsize())


@pytest.mark.slow
def test_sphere_decays_as_in_other_codes():
    assert_ok(hulls.sphere_decay(refdata("ts_sphere")))
