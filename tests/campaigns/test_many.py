"""Ten thousand short cases: memory does not grow, bookkeeping stays small."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "campaign.py"
BOOKKEEPING = 5.0  # ms of a case
# MiB from the first tenth of the cases to the last: less than a kilobyte a case, which would be ten
# gigabytes for ten million; 0.07 was measured
GROWTH = 10.0


@pytest.mark.slow
def test_ten_thousand_cases_take_no_more_memory_than_a_thousand():
    command = [sys.executable, str(BENCHMARK), "--short", "10000", "--json"]
    reported = subprocess.run(command, capture_output=True, text=True, check=False)
    assert reported.returncode == 0, reported.stderr
    numbers = json.loads(reported.stdout.splitlines()[-1])
    assert numbers["cases"] == 10_000
    assert numbers["bookkeeping_ms"] < BOOKKEEPING
    memory = numbers["memory_mib"]
    assert len(memory) >= 10
    assert memory[-1] - memory[0] < GROWTH, memory
