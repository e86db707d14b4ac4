"""The validation cases of power take-offs pass."""

import pytest

from validation import all_cases

NAMES = [case.name for case in all_cases().values() if case.group == "pto"]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_case_passes(name):
    checks = all_cases()[name].run()
    assert checks
    for check in checks:
        assert check.ok, check
