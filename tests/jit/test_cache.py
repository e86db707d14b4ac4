"""Object code on disk: found again, private, whole."""

import os
import subprocess
import sys

import numpy as np
import pytest

from swelltree.jit import cache, native
from swelltree.jit.backend import jnp
from swelltree.jit.program import Program

POSIX = pytest.mark.skipif(not hasattr(os, "getuid"), reason="no permissions of this kind")


def wave(x):
    return jnp.sin(x) * 3.25 + jnp.exp(x)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", str(tmp_path))
    return tmp_path / "machine"


@pytest.fixture
def compiled(monkeypatch):
    """How often LLVM was asked to compile."""
    requested = []
    machine = native._machine

    def counted(optimise):
        if optimise:
            requested.append(optimise)
        return machine(optimise)

    monkeypatch.setattr(native, "_machine", counted)
    return requested


def value():
    return float(Program(wave, fixed=0)(np.array(0.3)))


def entries(folder):
    return [file for file in folder.iterdir() if not file.name.startswith(".")]


RIGHT = 3.25 * np.sin(0.3) + np.exp(0.3)


def test_program_is_compiled_once_and_found_again(folder, compiled):
    assert value() == pytest.approx(RIGHT, rel=1e-14)
    assert value() == pytest.approx(RIGHT, rel=1e-14)
    assert len(compiled) == 1
    assert len(entries(folder)) == 1


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "foreign"])
def test_broken_entry_is_made_again(folder, compiled, damage):
    value()
    (entry,) = entries(folder)
    content = bytearray(entry.read_bytes())
    if damage == "changed":
        content[-20] ^= 1
    new = {"cut": content[: len(content) // 2], "empty": b"", "foreign": b"MZ" + bytes(500)}
    entry.write_bytes(new.get(damage, content))
    assert value() == pytest.approx(RIGHT, rel=1e-14)
    assert len(compiled) == 2
    assert value() == pytest.approx(RIGHT, rel=1e-14)
    assert len(compiled) == 2


@POSIX
def test_what_others_could_have_written_is_not_read(folder, compiled):
    value()
    (entry,) = entries(folder)
    entry.chmod(0o666)
    value()
    assert len(compiled) == 2
    folder.chmod(0o777)
    value()
    assert len(compiled) == 3
    assert cache.private_folder(folder.parent) is None


@POSIX
def test_link_and_pipe_in_the_place_of_an_entry_are_not_followed(folder, compiled):
    value()
    (entry,) = entries(folder)
    entry.rename(folder.parent / "elsewhere")
    entry.symlink_to(folder.parent / "elsewhere")
    value()
    assert len(compiled) == 2
    entry.unlink()
    os.mkfifo(entry)
    value()
    assert len(compiled) == 3
    assert folder.stat().st_mode & 0o077 == 0


def test_code_under_the_name_of_another_program_is_not_read(tmp_path):
    cache.write(tmp_path, "a" * 64, b"code of a")
    assert cache.read(tmp_path, "a" * 64) == b"code of a"
    (tmp_path / ("a" * 64)).rename(tmp_path / ("b" * 64))
    assert cache.read(tmp_path, "b" * 64) is None


def test_entries_differ_with_everything_they_depend_on():
    names = {cache.hashed(*parts) for parts in (("a", "b"), ("ab", ""), ("a", "c"), ("b", "a"))}
    assert len(names) == 4


def test_cache_that_is_off_or_cannot_be_written_does_no_harm(tmp_path, monkeypatch, compiled):
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", "off")
    assert value() == pytest.approx(RIGHT, rel=1e-14)
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", str(file))
    assert value() == pytest.approx(RIGHT, rel=1e-14)
    assert len(compiled) == 2


@pytest.mark.slow
def test_processes_share_the_cache(folder):
    text = (
        "import numpy as np; from swelltree.jit.program import Program; "
        "from swelltree.jit.backend import jnp; "
        "print(float(Program(lambda x: jnp.sin(x) * 3.25 + jnp.exp(x), fixed=0)(np.array(0.3))))"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    values = {process.communicate()[0].strip() for process in both}
    assert len(values) == 1
    assert float(values.pop()) == pytest.approx(RIGHT, rel=1e-14)
    assert len(entries(folder)) == 1
