"""Chunked runs: padding, stop, checkpoint and resume."""

import gc
import os
import tempfile
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

from swelltree.describe.errors import SwelltreeError
from swelltree.integrate import stepper
from swelltree.integrate.problem import Code
from swelltree.integrate.runge_kutta.smooth import Options, Problem, compiled, start
from swelltree.integrate.stepper import gathered, run_chunks, run_key
from swelltree.jit import jax, jnp

TIMES = np.linspace(0.0, 10.0, 41)


def swing(length, t, y):
    return y[1], -9.81 / length * jnp.sin(y[0]) + 0.3 * jnp.sin(t)


def blow_up(args, t, y):
    return y[0] ** 2, 0.0 * y[1]


SWING = Problem(swing)
FIRST = start(0.0, (1.0, 0.0))


def advancing(method="tsit5", problem=SWING):
    advance = compiled(problem, method, lambda args, t, y: {"time": t, "angle": y[0]})
    return lambda carry, times: advance(1.7, Options(step=0.013), carry, times)


def equal(a, b):
    return all(
        np.array_equal(x, y, equal_nan=True)
        for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    )


@pytest.mark.parametrize("method", ["tsit5", "rk4"])
def test_chunks_and_padding_do_not_change_the_run(method):
    complete = run_chunks(advancing(method), FIRST, TIMES, chunk=41)
    cut = run_chunks(advancing(method), FIRST, TIMES, chunk=16)
    assert complete.code is Code.SUCCESS
    assert len(cut.parts) == 3
    assert equal(complete.outputs, cut.outputs)
    assert np.array_equal(cut.outputs["time"], TIMES)
    assert equal(complete.carry._replace(n_outputs=0), cut.carry._replace(n_outputs=0))


@pytest.mark.parametrize("method", ["tsit5", "rk4"])
@pytest.mark.parametrize("done", [1, 2, 3])
def test_a_resumed_run_equals_the_uninterrupted_one_bit_for_bit(tmp_path, method, done):
    advance = advancing(method)
    straight = run_chunks(advance, FIRST, TIMES, chunk=16, key="a")
    calls = []

    def interrupted(carry, times):
        if len(calls) == done:
            raise KeyboardInterrupt
        calls.append(1)
        return advance(carry, times)

    folder = tmp_path / "run"
    first = run_chunks(interrupted, FIRST, TIMES, chunk=16, checkpoint=folder, key="a")
    if done < 3:
        assert first.code is Code.STOPPED_BY_USER
        assert "stopped by the user" in first.message
        assert len(first.times) == 16 * done
        assert equal(first.outputs["angle"], straight.outputs["angle"][: 16 * done])
    second = run_chunks(advance, FIRST, TIMES, chunk=16, checkpoint=folder, resume=True, key="a")
    assert second.code is Code.SUCCESS
    assert equal(second.outputs, straight.outputs)
    assert equal(second.carry, straight.carry)
    assert not list(folder.glob("*.tmp"))


def test_outputs_may_stay_on_disk(tmp_path):
    stored = run_chunks(advancing(), FIRST, TIMES, chunk=16)
    run = run_chunks(advancing(), FIRST, TIMES, chunk=16, checkpoint=tmp_path, keep=False)
    assert all(isinstance(part, Path) for part in run.parts)
    assert equal(run.outputs, stored.outputs)


def test_a_long_run_writes_its_outputs_as_it_goes(monkeypatch, tmp_path):
    stored = run_chunks(advancing(), FIRST, TIMES, chunk=16)
    assert not any(isinstance(part, Path) for part in stored.parts)
    monkeypatch.setattr(stepper, "LARGE", 100)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    long = run_chunks(advancing(), FIRST, TIMES, chunk=16)
    assert all(isinstance(part, Path) for part in long.parts)
    assert equal(long.outputs, stored.outputs)
    (folder,) = tmp_path.iterdir()
    assert len(list(folder.iterdir())) == 3
    del long
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_a_full_disk_for_temporary_files_does_not_end_a_run(monkeypatch, tmp_path):
    stored = run_chunks(advancing(), FIRST, TIMES, chunk=16)
    monkeypatch.setattr(stepper, "LARGE", 100)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    write = stepper.files.write

    def full(file, key, number, *rest):
        if number:
            raise SwelltreeError("no space left")
        write(file, key, number, *rest)

    monkeypatch.setattr(stepper.files, "write", full)
    run = run_chunks(advancing(), FIRST, TIMES, chunk=16)
    assert [isinstance(part, Path) for part in run.parts] == [True, False, False]
    assert equal(run.outputs, stored.outputs)
    with pytest.raises(SwelltreeError, match="no space left"):
        run_chunks(advancing(), FIRST, TIMES, chunk=16, checkpoint=tmp_path / "own")


def test_rows_of_chunks_are_gathered_in_order():
    rng = np.random.default_rng(0)
    complete = {"a": rng.random((10, 2, 3)), "b": np.arange(10)}
    parts = [{name: x[i:j] for name, x in complete.items()} for i, j in ((0, 4), (4, 8), (8, 10))]
    found = gathered(iter(parts), 10)
    assert all(np.array_equal(found[name], x) for name, x in complete.items())
    assert {x.dtype for x in found.values()} == {x.dtype for x in complete.values()}


def saved_run(folder):
    return run_chunks(advancing(), FIRST, TIMES, chunk=16, checkpoint=folder, key="a")


def resume(folder, key="a", times=TIMES, first=FIRST, advance=None):
    advance = advance or advancing()
    return run_chunks(advance, first, times, chunk=16, checkpoint=folder, resume=True, key=key)


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.97])
def test_a_truncated_checkpoint_is_refused_and_says_what_to_do(tmp_path, keep):
    saved_run(tmp_path)
    file = tmp_path / "chunk_000001.npz"
    data = file.read_bytes()
    file.write_bytes(data[: int(keep * len(data)) if isinstance(keep, float) else keep])
    with pytest.raises(SwelltreeError, match=r"the file is damaged or truncated"):
        resume(tmp_path)
    file.unlink()
    assert resume(tmp_path).code is Code.SUCCESS


def test_a_flipped_byte_is_found(tmp_path):
    saved_run(tmp_path)
    file = tmp_path / "chunk_000000.npz"
    data = bytearray(file.read_bytes())
    at = data.index(b"outputs_0.npy") + 200
    data[at] ^= 1
    file.write_bytes(bytes(data))
    with pytest.raises(SwelltreeError, match="the file is damaged or truncated"):
        resume(tmp_path)


def test_a_checkpoint_of_another_case_is_refused(tmp_path):
    saved_run(tmp_path)
    with pytest.raises(SwelltreeError, match="belongs to another case, other settings"):
        resume(tmp_path, key="b")


def test_a_checkpoint_of_other_times_is_refused(tmp_path):
    saved_run(tmp_path)
    with pytest.raises(SwelltreeError, match="has other output times"):
        resume(tmp_path, times=TIMES + 0.001)


def test_a_checkpoint_of_another_model_is_refused(tmp_path):
    saved_run(tmp_path)
    (tmp_path / "chunk_000000.npz").write_bytes((tmp_path / "chunk_000001.npz").read_bytes())
    with pytest.raises(SwelltreeError, match="has other output times"):
        resume(tmp_path)
    larger = start(0.0, (np.ones(2), np.zeros(2)))
    saved = tmp_path / "larger"
    run_chunks(advancing(), larger, TIMES, chunk=16, checkpoint=saved, key="a")
    with pytest.raises(SwelltreeError, match="carry does not fit this model"):
        resume(saved)


def rewritten(file, **members):
    """An archive with other members, by name and bytes; those of one byte are packed zeros."""
    with zipfile.ZipFile(file) as old:
        stored = {info.filename: old.read(info) for info in old.infolist()}
    with zipfile.ZipFile(file, "w") as new:
        for name, content in (stored | members).items():
            new.writestr(name, content)


def head(shape, kind="<f8"):
    """The head of an array file that declares a shape, and nothing behind it."""
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


FOREIGN = {
    "a word of 8 TB": {"key.npy": head("()", "<U2000000000000")},
    "a number of 8 TB": {"number.npy": head("(1000000000000,)")},
    "times of 8 TB": {"times.npy": head("(1000000000000,)")},
    "outputs of 8 TB": {"outputs_0.npy": head("(1000000000000,)")},
    "outputs without numbers": {"outputs_0.npy": head("(16,)")},
    "a shape that is code": {"outputs_0.npy": head("(__import__('os').abort(),)")},
    "nested heads": {"outputs_0.npy": head("(" * 5000)},
    "a pickle": {"outputs_0.npy": head("(16,)", "|O") + b"cos\nabort\n(tR."},
    "no array": {"times.npy": b"PK"},
}


@pytest.mark.parametrize("members", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_foreign_checkpoint_takes_no_memory(tmp_path, members):
    saved_run(tmp_path)
    rewritten(tmp_path / "chunk_000000.npz", **members)
    tracemalloc.start()
    with pytest.raises(SwelltreeError, match=r"chunk_000000.npz': "):
        resume(tmp_path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 50e6


def test_a_packed_member_is_not_unpacked(tmp_path):
    saved_run(tmp_path)
    file = tmp_path / "chunk_000000.npz"
    with zipfile.ZipFile(file) as old:
        stored = {info.filename: old.read(info) for info in old.infolist()}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in stored.items():
            new.writestr(name, content)
    with pytest.raises(SwelltreeError, match="the file is damaged or truncated"):
        resume(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes of this kind")
def test_a_pipe_in_the_place_of_a_checkpoint_is_not_waited_for(tmp_path):
    saved_run(tmp_path)
    (tmp_path / "chunk_000000.npz").unlink()
    os.mkfifo(tmp_path / "chunk_000000.npz")
    with pytest.raises(SwelltreeError, match="the file is damaged or truncated"):
        resume(tmp_path)


@pytest.mark.slow
def test_a_thousand_mutated_checkpoints_are_told_or_equal(tmp_path):
    """Whatever a byte becomes: a message, or the run that it was."""
    saved_run(tmp_path)
    right = resume(tmp_path).outputs
    file = tmp_path / "chunk_000000.npz"
    complete, rng = file.read_bytes(), np.random.default_rng(36)
    reported = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing of numpy's leaks
        for _ in range(1000):
            content = bytearray(complete)
            for _ in range(int(rng.integers(1, 4))):
                content[int(rng.integers(len(content)))] = int(rng.integers(256))
            if rng.random() < 0.2:
                content = content[: int(rng.integers(len(content)))]
            file.write_bytes(content)
            try:
                found = resume(tmp_path).outputs
            except SwelltreeError as error:
                reported += str(file) in str(error)
            else:
                assert equal(found, right)
            file.write_bytes(complete)
    assert reported > 500


def test_an_earlier_run_is_not_overwritten_by_mistake(tmp_path):
    saved_run(tmp_path)
    with pytest.raises(SwelltreeError, match="the folder holds an earlier run"):
        saved_run(tmp_path)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SwelltreeError, match="the folder cannot be made"):
        saved_run(tmp_path / "file" / "run")


def test_a_failed_run_returns_the_part_before_the_failure(tmp_path):
    advance = advancing(problem=Problem(blow_up))
    times = np.linspace(0.0, 2.0, 41)
    run = run_chunks(advance, FIRST, times, chunk=8, checkpoint=tmp_path, key="x")
    assert run.code in (Code.STEP_TOO_SMALL, Code.NOT_FINITE)
    assert len(run.parts) == 3  # the chunk that failed is the last
    assert 19 <= len(run.times) <= 21
    assert np.all(np.isfinite(run.outputs["angle"]))
    assert len(run.outputs["angle"]) == len(run.times)
    assert "stopped at t = 1" in run.message
    again = run_chunks(advance, FIRST, times, chunk=8, checkpoint=tmp_path, key="x", resume=True)
    assert again.code is run.code
    assert equal(again.outputs, run.outputs)


@pytest.mark.slow
def test_a_long_run_leaves_nothing_on_the_device():
    advance = advancing()
    counts = []

    def watched(carry, times):
        gc.collect()
        counts.append(sum(array.nbytes for array in jax.live_arrays()))
        return advance(carry, times)

    run = run_chunks(watched, FIRST, np.linspace(0.0, 200.0, 2001), chunk=100, checkpoint=None)
    assert run.code is Code.SUCCESS
    assert counts[-1] <= counts[2] + 2 * 8 * 100 * 2


def test_the_progress_bar_tells_simulated_time(capsys):
    run_chunks(advancing(), FIRST, TIMES, chunk=16, progress=True, title="swing")
    assert "of 10.0 s" in capsys.readouterr().err
    run_chunks(advancing(), FIRST, TIMES, chunk=16)
    assert capsys.readouterr().err == ""


def test_the_key_depends_on_every_part():
    a = run_key("case", np.arange(3.0), 1e-6)
    assert a == run_key("case", np.arange(3.0), 1e-6)
    assert a != run_key("case", np.arange(3.0), 1e-7)
    assert a != run_key("case", np.arange(4.0), 1e-6)
