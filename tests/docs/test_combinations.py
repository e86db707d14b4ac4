"""The table of features and solvers in the pages is what the code answers."""

import importlib.util

import pytest

from support import ROOT


@pytest.mark.filterwarnings("ignore")
def test_the_table_of_combinations_is_what_the_code_says():
    path = ROOT / "docs" / "combinations.py"
    spec = importlib.util.spec_from_file_location("combinations", path)
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    assert page.table() == page.PAGE.read_text(), "run `make tables`, or docs/combinations.py"
