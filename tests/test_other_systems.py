"""Calls that only POSIX has: each has a fallback, tested with the call removed."""

import os
import re
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import swelltree as sw
from swelltree import command
from swelltree.campaigns import pool, store
from swelltree.describe.files import atomic
from swelltree.integrate import stepper
from swelltree.jit import backend, cache, native


@pytest.fixture
def windows(monkeypatch, tmp_path):
    """No users, affinities, locks, signal masks and special flags of files."""
    pytest.importorskip("distributed")  # imports file locks of its own
    for name in ("getuid", "sched_getaffinity", "posix_fallocate", "O_NOFOLLOW", "O_NONBLOCK"):
        monkeypatch.delattr(os, name, raising=False)
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.delattr(pool.signal, "pthread_sigmask", raising=False)
    return monkeypatch


@pytest.mark.usefixtures("windows")
def test_without_affinity_all_cores_of_the_machine_count():
    assert native.cores() == os.cpu_count()


@pytest.mark.usefixtures("windows")
def test_without_user_ids_programs_are_cached_and_checked_by_their_hash(tmp_path):
    folder = cache.private_folder(tmp_path)
    assert folder is not None
    name = cache.hashed("text", "processor")
    cache.write(folder, name, b"object code")
    assert cache.read(folder, name) == b"object code"
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:-1] + b"x")
    assert cache.read(folder, name) is None


def test_each_system_has_its_cache_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("SWELLTREE_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    home = backend.Path.home()
    for system, expected in {
        "win32": tmp_path / "Local" / "swelltree",
        "darwin": home / "Library" / "Caches" / "swelltree",
        "linux": home / ".cache" / "swelltree",
    }.items():
        monkeypatch.setattr(backend, "sys", SimpleNamespace(platform=system))
        assert backend.cache_folder() == expected


@pytest.mark.usefixtures("windows")
def test_without_file_locks_a_store_belongs_to_whoever_renews_it(tmp_path):
    with store.DriverLock(tmp_path):
        with pytest.raises(sw.SwelltreeError, match="is being run by process"):
            store.DriverLock(tmp_path).__enter__()
        old = time.time() - 2 * store.STALE
        os.utime(tmp_path / store.FILE, (old, old))
        with store.DriverLock(tmp_path) as taken_over:
            assert taken_over.owner()["process"] == os.getpid()


def test_the_lock_file_is_closed_before_it_is_removed_where_open_files_cannot_be(windows, tmp_path):
    windows.setattr(store, "os", SimpleNamespace(**{**vars(os), "name": "nt"}))
    lock = store.DriverLock(tmp_path)
    lock.__enter__()
    file, closed = lock._file, []
    unlink = type(lock.path).unlink
    windows.setattr(
        type(lock.path),
        "unlink",
        lambda path, missing_ok=False: (closed.append(file.closed), unlink(path, missing_ok)),
    )
    lock.__exit__(None, None, None)
    assert closed == [True]


@pytest.mark.usefixtures("windows")
def test_without_modes_of_files_a_certificate_is_still_read(tmp_path):
    file = pool.write_certificate(tmp_path / "own.pem")
    file.chmod(0o644)
    assert pool.read_certificate(file).require_encryption


@pytest.mark.usefixtures("windows")
def test_files_are_read_without_the_flags_of_posix(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"text")
    assert atomic.plain_bytes(tmp_path / "a.txt") == b"text"
    with pytest.raises(OSError, match=r"a\.txt|directory|Permission"):
        atomic.plain_bytes(tmp_path)


def test_left_over_files_go_by_age_where_processes_cannot_be_looked_up(monkeypatch, tmp_path):
    """`os.kill(process, 0)` sends Ctrl-C on Windows: it must not be asked there."""
    called = []
    named = {**vars(os), "name": "nt", "kill": lambda *args: called.append(args)}
    monkeypatch.setattr(atomic, "os", SimpleNamespace(**named))
    stem = f".swelltree-{atomic._machine()}-{2**22 + 1}"
    young, old = tmp_path / f"{stem}-{'0' * 12}.tmp", tmp_path / f"{stem}-{'1' * 12}.tmp"
    for file in (young, old):
        file.touch()
    past = time.time() - 2 * atomic.DAY
    os.utime(old, (past, past))
    atomic.clean_up(tmp_path)
    assert (young.exists(), old.exists(), called) == (True, False, [])


@pytest.mark.usefixtures("windows")
def test_room_for_long_results_is_reserved_without_fallocate():
    file = stepper._reserved(1000)
    assert file is not None
    with file:
        assert file.seek(0, os.SEEK_END) == 1000


def test_the_keyboard_is_heard_without_timers(monkeypatch):
    monkeypatch.delattr(command._signal, "setitimer", raising=False)
    seen = []
    monkeypatch.setattr(command.sys, "__unraisablehook__", seen.append)
    error = SimpleNamespace(exc_type=KeyboardInterrupt)
    command.lost(error)
    assert seen == [error]


def test_old_programs_stay_where_the_system_does_not_list_its_maps(monkeypatch, tmp_path):
    cleared = []
    monkeypatch.setattr(backend, "Path", lambda name: tmp_path / "absent")
    monkeypatch.setattr(backend.gc, "collect", lambda: cleared.append(1))
    backend.trim_cache(most=0)
    assert cleared == []


# names of `os` and `signal` that the package uses: with Windows, and with a fallback for it
ON_WINDOWS = {
    "O_CREAT",
    "O_EXCL",
    "O_RDONLY",
    "O_WRONLY",
    "PathLike",
    "_exit",
    "close",
    "cpu_count",
    "dup",
    "dup2",
    "environ",
    "fdopen",
    "fspath",
    "fstat",
    "fsync",
    "getpid",
    "name",
    "open",
    "path",
    "replace",
    "scandir",
    "stat",
    "stat_result",
    "unlink",
    "utime",
    "write",
    "SIGINT",
    "Signals",
    "SIG_IGN",
    "default_int_handler",
    "getsignal",
    "signal",
}
WITH_FALLBACK = {
    "getuid",
    "kill",
    "posix_fallocate",
    "sched_getaffinity",
    "ITIMER_REAL",
    "SIGALRM",
    "SIG_BLOCK",
    "SIG_SETMASK",
    "setitimer",
}


def test_no_call_of_posix_is_without_a_fallback():
    used = set()
    for file in Path(sw.__file__).parent.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        modules = re.findall(r"^import (os|_?signal)(?: as (\w+))?(?:  #.*)?$", text, re.MULTILINE)
        for name, alias in modules:
            used |= set(re.findall(rf"(?<![\w.\"]){alias or name}\.(\w+)", text))
        assert not re.search(r"^(?:from|import) (?:fcntl|grp|pwd|resource|termios)\b", text, re.M)
    assert used == ON_WINDOWS | WITH_FALLBACK
