"""The validation cases of lines."""

import pytest

from support import refdata
from validation.mooring import elastica, lines

slow = pytest.mark.slow


@pytest.mark.parametrize(
    "run",
    [
        lines.classic_catenaries,
        lines.network_balance,
        pytest.param(lines.stiffness_by_differences, marks=slow),
        pytest.param(lines.line_energy, marks=slow),
        pytest.param(elastica.umbilical, marks=slow),
        pytest.param(elastica.rough_bed, marks=slow),
    ],
)
def test_case_passes(run):
    assert [check for check in run() if not check.ok] == []


@pytest.mark.parametrize(
    ("run", "folder"),
    [(lines.moorpy_catenaries, "moor_catenary"), (lines.static_chain, "moor_static_chain")],
)
def test_case_with_reference_data_passes(run, folder):
    assert [check for check in run(refdata(folder)) if not check.ok] == []
