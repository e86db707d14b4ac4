"""Files are written whole or not at all, and what a killed process left is removed."""

import os
import signal
import subprocess
import sys

import pytest

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.files.atomic import clean_up, replacing, write_atomic

KILLED = """
import os, signal, sys
from pathlib import Path
from swelltree.describe.files.atomic import replacing
with replacing(Path(sys.argv[1]) / "run.nc") as temporary:
    temporary.write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_while_writing(folder):
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder)])
    assert done.returncode == -signal.SIGKILL
    (left,) = folder.iterdir()
    return left


def test_what_a_killed_process_left_is_gone_after_the_next_write(tmp_path):
    left = killed_while_writing(tmp_path)
    assert left.suffix == ".tmp"
    write_atomic(tmp_path / "run.nc", b"whole")
    assert [file.name for file in tmp_path.iterdir()] == ["run.nc"]


def test_files_of_living_processes_and_of_others_are_left_alone(tmp_path):
    left = killed_while_writing(tmp_path)
    machine = left.name.split("-")[1]
    alive = tmp_path / f".swelltree-{machine}-{os.getppid()}-00.tmp"
    elsewhere = tmp_path / ".swelltree-othermachine-1-00.tmp"
    long_ago = tmp_path / ".swelltree-othermachine-2-00.tmp"
    foreign = tmp_path / ".notes.tmp"
    for file in (alive, elsewhere, long_ago, foreign):
        file.write_bytes(b"")
    os.utime(long_ago, (0.0, 0.0))
    clean_up(tmp_path)
    assert set(tmp_path.iterdir()) == {alive, elsewhere, foreign}


def test_a_failure_in_the_block_keeps_the_old_file_and_leaves_nothing(tmp_path):
    path = write_atomic(tmp_path / "case.toml", "old")

    def stopped():
        with replacing(path) as temporary:
            temporary.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("a\0b.nc", r"a\\0b.nc': its name holds a NUL character"),
        ("a" * 300, "File name too long"),
        ("nowhere/run.nc", r"nowhere' does not exist. Make it first"),
        ("", "it is a folder. Name a file in it"),
    ],
)
def test_names_that_cannot_be_written_are_told(tmp_path, name, sentence):
    with pytest.raises(SwelltreeError, match=sentence):
        write_atomic(tmp_path / name, "text")
    assert list(tmp_path.iterdir()) == []
