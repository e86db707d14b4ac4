"""Cores and threads of a process."""

import os
import subprocess
import sys

import pytest

from swelltree.jit.native import cores, threads


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_a_job_that_was_given_one_core_uses_one_thread():
    """As in a container or a job of a cluster, whose machine has many more."""
    code = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from swelltree.jit.native import cores, threads\nprint(cores(), threads())"
    )
    free = {name: x for name, x in os.environ.items() if name != "OMP_NUM_THREADS"}
    reported = subprocess.run(
        [sys.executable, "-c", code], env=free, check=True, capture_output=True, text=True
    )
    assert reported.stdout.split() == ["1", "1"]


@pytest.mark.parametrize(
    ("requested", "allowed"), [("3", 3), (" 2 ", 2), ("0", None), ("many", None)]
)
def test_threads_are_those_that_the_environment_allows(monkeypatch, requested, allowed):
    monkeypatch.setenv("OMP_NUM_THREADS", requested)
    assert threads() == (cores() if allowed is None else allowed)
