"""Validation of the derivatives of runs."""

import pytest

from validation import all_cases


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gradient_oscillator", "gradient_rm3"])
def test_every_derivative_is_within_its_tolerance(name):
    checks = all_cases()[name].run()
    assert checks
    assert all(check.ok for check in checks), checks
