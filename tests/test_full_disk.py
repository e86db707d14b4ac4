"""Commands on a full disk: exit code 2, one sentence, no signal, and nothing half written."""

import os
import resource
import shutil
import subprocess
import sys

import pytest

import swelltree as sw
from support import PENDULUM

STUDY = '\n[[studies]]\nname = "NAME"\ntype = "simulate"\nduration = 5.0\noutput_step = STEP\n'
COMMAND = [sys.executable, "-c", "from swelltree.cli import app; app()"]
SMALL, LARGE = 1.0, 0.002  # s between outputs: files of some 50 kB and of more than a megabyte
ROOM = 400_000  # bytes of the disk


@pytest.fixture
def case(tmp_path):
    """Two studies, of which only the first has room."""
    path = tmp_path / "case.toml"
    studies = [
        STUDY.replace("NAME", name).replace("STEP", str(step))
        for name, step in (("small", SMALL), ("large", LARGE))
    ]
    path.write_text(PENDULUM.replace("FORCES", "") + "".join(studies))
    return path


def limited(*words, folder):
    """The command in a process that may write files of `ROOM` bytes."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))

    return subprocess.run(
        [*COMMAND, *map(str, words)],
        env=os.environ | {"SWELLTREE_CACHE_DIR": "off", "JAX_PLATFORMS": "cpu"},
        cwd=folder,
        preexec_fn=limit,
        capture_output=True,
        text=True,
        timeout=300,
    )


def on_a_small_disk(*words, folder, room=ROOM):
    """The command with `out` on a disk of so many bytes, whose files are copied to `kept`."""
    disk = f"mount -t tmpfs -o size={room} none out"
    script = f'{disk} && "$@"; code=$?; cp -a out kept; exit $code'
    (folder / "out").mkdir()
    return subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, "sh", *COMMAND, *map(str, words)],
        env=os.environ | {"SWELLTREE_CACHE_DIR": "off", "JAX_PLATFORMS": "cpu"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )


def may_mount(folder):
    if shutil.which("unshare") is None:
        return False
    script = f"mount -t tmpfs -o size=64k none {folder}"
    return (
        subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True).returncode == 0
    )


def check(done, folder, sentence, whole):
    """One sentence with exit code 2, and only whole files, which can be read."""
    assert done.returncode == 2, (done.returncode, done.stderr)
    said = [line for line in done.stderr.splitlines() if line.strip()]
    assert len(said) == 1, done.stderr
    assert said[0].startswith("swelltree: ")
    assert sentence in said[0]
    files = sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())
    assert files == whole
    for name in whole:
        if name.endswith(".nc"):
            assert sw.load_result(folder / name).attrs["result"] == "success"


def test_a_result_too_large_for_the_disk_is_a_sentence(case, tmp_path):
    done = limited("run", case, "--out", "out", folder=tmp_path)
    check(done, tmp_path / "out", "cannot write 'out/large.nc': File too large", ["small.nc"])


@pytest.mark.slow
def test_a_page_too_large_for_the_disk_is_a_sentence(case, tmp_path):
    done = limited("run", case, "--out", "out", "--study", "small", "--report", folder=tmp_path)
    check(done, tmp_path / "out", "cannot write 'out/small.html': File too large", ["small.nc"])


@pytest.mark.slow
def test_a_truly_full_disk_is_a_sentence(case, tmp_path):
    if not may_mount(tmp_path):
        pytest.skip("no disk can be mounted here")
    done = on_a_small_disk("run", case, "--out", "out", folder=tmp_path)
    sentence = "cannot write 'out/large.nc': No space left on device. Free some space"
    check(done, tmp_path / "kept", sentence, ["small.nc"])


@pytest.mark.slow
def test_chunks_on_a_full_disk_are_whole_and_go_on_when_there_is_room(case, tmp_path):
    if not may_mount(tmp_path):
        pytest.skip("no disk can be mounted here")
    words = ("run", case, "--out", "out", "--checkpoint")
    done = on_a_small_disk(*words, folder=tmp_path, room=ROOM // 2)
    stored = tmp_path / "kept"
    chunks = sorted(str(p.relative_to(stored)) for p in stored.rglob("chunk_*.npz"))
    assert 2 < len(chunks) < 14
    check(done, stored, "No space left on device", sorted(["small.nc", *chunks]))
    again = limited("run", case, "--out", "kept", "--resume", "--study", "large", folder=tmp_path)
    assert again.returncode == 2  # chunks fit, the result does not
    assert "large.nc" in again.stderr
    ended = sorted(str(p.relative_to(stored)) for p in stored.rglob("chunk_*.npz"))
    assert len(ended) == 14


MANY = """
[campaign]
name = "many"
base = "case.toml"
duration = 5.0
output_step = 0.5
step = 0.1
[[vary]]
type = "sample"
ranges = { "bodies.bob.mass" = [9.0, 12.0] }
count = 20_000
"""


@pytest.mark.slow
@pytest.mark.parametrize("room", [4096, 20_000, 60_000, 200_000])
def test_a_disk_too_small_for_a_campaign_has_no_half_made_one(case, tmp_path, room):
    if not may_mount(tmp_path):
        pytest.skip("no disk can be mounted here")
    (tmp_path / "many.toml").write_text(MANY)
    words = ("sweep", "many.toml", "--out", "out/store", "--workers", "0", "--quiet", "--no-report")
    done = on_a_small_disk(*words, folder=tmp_path, room=room)
    check(done, tmp_path / "kept", "", [])
    assert not (tmp_path / "kept" / "store").exists()


def test_a_store_that_cannot_be_made_leaves_nothing(tmp_path, monkeypatch):
    """The disk fills up while the arrays are described, and at the last file."""
    from made_campaign import small_campaign
    from swelltree.campaigns import store

    def full(*_):
        raise OSError(28, "No space left on device")

    for name in ("_make_arrays", "_parts"):
        with monkeypatch.context() as patch:
            patch.setattr(store.Store, name, full)
            with pytest.raises(sw.SwelltreeError, match="is full"):
                small_campaign().run(tmp_path / "store", workers=0, progress=False)
        assert not (tmp_path / "store").exists()
