"""Ten thousand short cases: memory does not grow, bookkeeping stays small."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "campaign.py"
BOOKKEEPING = 5.0  # ms of a case
GROWTH = 10.0  # MiB from the first tenth of the cases to the last; 0.07 was measured


@pytest.mark.slow
def test_ten_thousand_cases_take_no_more_memory_than_a_thousand():
    command = [sys.executable, str(BENCHMARK), "--short", "10000", "--json"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    numbers = json.loads(told.splitlines()[-1])
    assert numbers["cases"] == 10_000
    assert numbers["bookkeeping_ms"] < BOOKKEEPING
    assert numbers["memory_mib"][-1] - numbers["memory_mib"][0] < GROWTH
