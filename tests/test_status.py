"""What is being done is said on a terminal, and nowhere else."""

import os
import pty
import subprocess
import sys
import threading

import pytest

from support import ROOT
from swelltree.status import doing, shown

CASE = """
[system]
name = "pendulum"
bodies = [{ name = "bob", mass = 1.0, inertia = [0.1, 0.1, 0.1], position = [1, 0, 0] }]

[[system.joints]]
name = "hinge"
type = "hinge"
axis = "y"
base = { body = "world" }
follower = { body = "bob", position = [-1, 0, 0] }

[[studies]]
name = "swing"
type = "simulate"
duration = 1.0
"""


def test_it_is_shown_where_wanted_and_once(capsys):
    with doing("compiling the run", True), doing("something in it", True):
        pass
    with doing("again", False), doing("and again"):
        pass  # what is captured is no terminal
    with shown("a bar"), doing("under it", True):
        pass
    adjacent = threading.Thread(target=lambda: doing("beside", True).__enter__())
    adjacent.start()
    adjacent.join()
    said = capsys.readouterr().err
    assert "compiling the run" in said
    assert all(words not in said for words in ("something", "again", "under", "beside"))


def test_it_ends_with_an_error(capsys):
    with pytest.raises(ValueError, match="no"), doing("failing", True):
        raise ValueError("no")
    with doing("the next", True):
        pass
    assert "the next" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="skipped: no terminals of this kind")
def test_a_run_says_that_it_compiles_on_a_terminal_only(tmp_path):
    case = tmp_path / "case.toml"
    case.write_text(CASE)
    command = [sys.executable, "-m", "swelltree.cli", "run", str(case), "--out", str(tmp_path)]
    env = os.environ | {"PYTHONPATH": str(ROOT / "src"), "TERM": "xterm", "COLUMNS": "120"}
    quiet = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert "compiling" not in quiet.stderr + quiet.stdout
    mine, theirs = pty.openpty()
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(mine, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        said += part
    assert process.wait() == 0
    text = said.decode()
    assert "compiling the model" in text
    assert "simulate: compiling" in text
