"""Ctrl-C at any moment: one line, exit code 130, and no half-made campaign."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support import PENDULUM

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals of another kind")
COMMAND = str(Path(sys.executable).parent / "swelltree")
LINE = "swelltree: stopped by the keyboard."
BEGINS = 0.15  # s: before, Python itself is not there yet
MANY = """
[campaign]
name = "many"
base = "case.toml"
duration = 2000.0
output_step = 0.5
step = 0.01
[[vary]]
type = "sample"
ranges = { "bodies.bob.mass" = [9.0, 12.0] }
count = 100_000
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "case.toml").write_text(PENDULUM.replace("FORCES", ""))
    (tmp_path / "many.toml").write_text(MANY)
    return tmp_path


def stopped(folder, delay, *words):
    """A command that gets Ctrl-C as from a terminal, with all its processes: code and stderr."""
    process = subprocess.Popen(
        [COMMAND, *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGINT)
    try:
        _, said = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, "did not end"
    return process.returncode, said.strip()


@POSIX
@pytest.mark.parametrize("delay", [0.3, 0.8])
def test_the_keyboard_stops_imports_with_one_line(folder, delay):
    words = ("sweep", "many.toml", "--workers", "2", "--quiet")
    assert stopped(folder, delay, *words) == (130, LINE)


SWALLOWED = """
import gc, os, signal, sys, time
sys.argv[0] = "/swelltree"
from swelltree import command
from swelltree.cli import app, _Commands
import typer

@app.command()
def loop():
    class Dropped:
        def __del__(self):
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000):
                pass
    Dropped()
    time.sleep(60)

app(["loop"])
"""


@POSIX
def test_a_stop_that_meets_a_destructor_comes_again():
    done = subprocess.run(
        [sys.executable, "-c", SWALLOWED], capture_output=True, text=True, timeout=50
    )
    assert (done.returncode, done.stderr.strip()) == (130, LINE)


@POSIX
@pytest.mark.slow
def test_the_keyboard_stops_a_sweep_at_any_moment(folder):
    """Twenty times between the first import and the first blocks, start of workers included."""
    rng = random.Random(36)
    for k in range(20):
        out = folder / f"out{k}"
        words = (
            "sweep",
            "many.toml",
            "--workers",
            "2",
            "--quiet",
            "--no-report",
            "--out",
            str(out),
        )
        delay = rng.uniform(BEGINS, 15.0)
        assert stopped(folder, delay, *words) == (130, LINE), delay
        assert not out.exists() or (out / "campaign.json").exists()
        assert not (out / "lock.json").exists()
