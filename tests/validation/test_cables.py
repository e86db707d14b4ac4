"""Cases of the group `cables`."""

import numpy as np
import pytest

from validation import all_cases
from validation.mooring import cables

SLOW = (
    "cable_table_1",
    "floater_cable_payload",
    "cable_block_and_plain",
    "cable_lowering",
    "cable_lifting",
)


def assert_ok(checks):
    assert checks
    failed = [f"{c.quantity}: {c.shown_value}, allowed {c.allowed}" for c in checks if not c.ok]
    assert not failed, "; ".join(failed)


def test_cases_are_registered():
    names = {name for name, case in all_cases().items() if case.group == "cables"}
    assert names >= {"cable_table_2", *SLOW}


def test_lengths_at_rest_are_those_of_table_2():
    assert_ok(cables.cable_table_2())


@pytest.mark.slow
def test_three_models_of_the_cable_of_table_1_move_alike():
    runs = [
        cables.run(cables.table_1(*how, 1e5), 2.0, 0.2, rtol=1e-9, atol=1e-10)
        for how in (("multibody", "block"), ("lumped", "block"))
    ]
    one, other = (run["line_stretched_length"].values for run in runs)
    assert np.abs(one - other).max() < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_cables(name):
    assert_ok(all_cases()[name].run())
