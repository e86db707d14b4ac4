"""The one interface of time stepping, and the driver of all who have it.

Runge-Kutta methods, the implicit method and the two-step scheme are siblings behind `Stepper`: a
state that is data, chunks of samples, channels of samples, an end that another run goes on from,
and a message for a failure. `drive` steps any of them through the output times of a run, with one
progress bar and one form of checkpoint.

Long runs in chunks: bounded memory, progress, checkpoints, stop and resume.

The output times are cut into chunks of equal length (the last one padded with the last time,
so that one compiled program serves all). Between chunks everything passes through the host as
numpy arrays. A run resumed from files therefore takes exactly the steps of one that was never
stopped, and equals it bit for bit on the same machine and versions. The outputs of a long run are
written as it goes, to its checkpoint or to a temporary folder, and read again chunk by chunk.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Unpack

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.options import OutputOptions, with_options
from swelltree.describe.values import NamedValues
from swelltree.integrate import checkpoint as files
from swelltree.integrate.problem import Code, describe
from swelltree.jit import Array, Contents, Tree, hashed, jax, leaves_of, mapped, versions
from swelltree.status import doing, shown

if TYPE_CHECKING:
    from swelltree.integrate.problem import Carry


@contextmanager
def progress_bar(
    title: str, times: np.ndarray, requested: bool | None
) -> Iterator[Callable[[float], None]]:
    """Give a function ``show(t)`` that moves the bar to a simulated time.

    Args:
        title: what is running.
        times: output times [s].
        requested: True shows the bar, False does not, None shows it on a terminal.
    """
    if requested is None:
        requested = sys.stderr.isatty()
    if not requested or len(times) == 0:
        yield lambda t: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as TimeLeftColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[now]:.1f} of {task.fields[end]:.1f} s"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeLeftColumn(),
    )
    first, end = float(times[0]), float(times[-1])
    with Progress(*columns, console=Console(stderr=True)) as bar, shown(title):
        # the first samples come when the program is compiled
        task = bar.add_task(f"{title}: compiling", total=end - first or 1.0, now=first, end=end)
        yield lambda t: bar.update(task, completed=t - first, now=t, description=title)


LARGE = 200_000_000  # bytes of outputs that are held in memory

Advance = Callable[[Tree, np.ndarray], tuple[Tree, Tree]]


@dataclass(frozen=True)
class ChunkedRun:
    """What a chunked run computed.

    Args:
        times: output times reached [s].
        carry: state of the stepper at the end or at the failure, numpy leaves.
        code: how the run ended.
        message: the same in words.
        parts: outputs of each chunk (first axis time), or the files that hold them.
        read: reads one of the files.
        folder: temporary folder of the files, which goes with the run; None where there is none.
    """

    times: np.ndarray
    carry: Tree
    code: Code
    message: str
    parts: tuple[Tree, ...]
    read: Callable[[Path], Tree]
    folder: Tree = None

    def outputs_by_chunk(self) -> Iterator[Tree]:
        """Outputs by chunk, without padding; at most one chunk of the disk in memory."""
        left = len(self.times)
        for part in self.parts:
            part = self.read(part) if isinstance(part, Path) else part
            rows = len(leaves_of(part)[0])
            here = min(left, rows)
            if here == 0:
                return
            full = here == rows
            yield part if full else mapped(lambda x, n=here: x[:n], part)
            left -= here

    @property
    def outputs(self) -> Tree:
        """Outputs at all times reached as one tree; None without any."""
        parts = list(self.outputs_by_chunk())
        if not parts:
            return None
        return mapped(lambda *xs: np.concatenate(xs), *parts)


def gathered(
    parts: Iterable[dict[str, np.ndarray]], count: int, on_disk: bool = False
) -> dict[str, np.ndarray]:
    """Rows of many chunks in arrays that are made once.

    Args:
        parts: arrays by name, first axis time.
        count: rows of all of them together.
        on_disk: write them to temporary files, and map these into memory at the end.
    """
    full: dict[str, _Rows] = {}
    first = 0
    for part in parts:
        here = 0
        for name, rows in part.items():
            here = len(rows)
            if name not in full:
                full[name] = _Rows((count, *rows.shape[1:]), rows.dtype, on_disk)
            full[name].put(first, rows)
        first += here
    return {name: rows.array() for name, rows in full.items()}


class _Rows:
    """An array that is filled row by row: in memory, or in a file without a name.

    Args:
        shape: of the array.
        dtype: of its numbers.
        on_disk: in a file, as long as the disk has room for all of it.
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, on_disk: bool) -> None:
        self.shape, self.dtype, self.file = shape, dtype, None
        self.row = math.prod(shape[1:]) * dtype.itemsize
        if on_disk and self.row:
            self.file = _reserved(shape[0] * self.row)
        self.values = np.empty(shape, dtype) if self.file is None else np.empty(0)

    def put(self, first: int, rows: np.ndarray) -> None:
        if self.file is None:
            self.values[first : first + len(rows)] = rows
            return
        self.file.seek(first * self.row)
        self.file.write(np.ascontiguousarray(rows, self.dtype).tobytes())

    def array(self) -> np.ndarray:
        """All rows; the file is removed with the array."""
        if self.file is None:
            return self.values
        with self.file:
            self.file.flush()
            return np.asarray(np.memmap(self.file, self.dtype, "r+", shape=self.shape))


def _reserved(size: int) -> IO[bytes] | None:
    """A temporary file of reserved size; None if the disk is full."""
    file = tempfile.TemporaryFile(prefix="swelltree-")  # noqa: SIM115
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
    except OSError:
        file.close()
        return None
    return file


def chunk_times(times: np.ndarray, chunk: int) -> list[np.ndarray]:
    """Divide the times into chunks of equal length, the last padded with the last time."""
    pieces = [times[i : i + chunk] for i in range(0, len(times), chunk)]
    if pieces:
        pieces[-1] = np.pad(pieces[-1], (0, chunk - len(pieces[-1])), mode="edge")
    return pieces


def run_chunks(
    advance: Advance,
    carry: Tree,
    times: np.ndarray,
    *,
    chunk: int = 200,
    progress: bool | None = None,
    checkpoint: Path | str | None = None,
    resume: bool = False,
    key: str = "",
    keep: bool | None = None,
    title: str = "simulate",
    like: Tree = None,
) -> ChunkedRun:
    """Step through all output times chunk by chunk.

    Stops at the first chunk that fails and when the user presses Ctrl-C; what was computed
    until then is returned with the code.

    Args:
        advance: compiled ``advance(carry, times) -> (carry, outputs)``; the carry has
            ``t``, ``code``, ``t_fail`` and ``n_outputs`` (`smooth.Carry`).
        carry: state at the start.
        times: output times [s].
        chunk: number of output times per chunk. Steps pass over the ends of chunks unchanged;
            a resumed run must use the chunk length it began with.
        progress: show a progress bar; None shows it when stderr is a terminal.
        checkpoint: folder for one file per chunk, or None.
        resume: continue from the files in the folder (an empty folder starts at the beginning).
        key: fingerprint of the run, see `fingerprint.run_key`; files of another key are refused.
        keep: hold the outputs in memory; False leaves them in files, those of the checkpoint or
            temporary ones. None does so when they would be more than `LARGE`.
        title: name shown by the progress bar.
        like: outputs of a chunk by shape, where `advance` cannot be traced.
    """
    times = np.asarray(times, float)
    chunk = max(1, min(chunk, len(times)))
    pieces = chunk_times(times, chunk)
    carry = mapped(np.asarray, carry)
    n_before = int(carry.n_outputs)  # the carry may come from an earlier run
    folder = None if checkpoint is None else Path(checkpoint)
    if folder is not None:
        files.prepare(folder, resume)
    store = _Store(key, pieces, carry, keep, folder, resume)
    if folder is not None and resume and files.path(folder, 0).exists():
        store.like = jax.eval_shape(advance, carry, pieces[0])[1] if like is None else like
    parts: list[Tree] = []
    stopped = False
    with progress_bar(title, times, progress) as show:
        for number, piece in enumerate(pieces):
            try:
                known = store.known(number)
                if known is None:
                    # copies, so that the device keeps nothing
                    new, outputs = mapped(np.array, advance(carry, piece))
                    part = store.stored(number, new, outputs)
                else:
                    new, part = known
            except KeyboardInterrupt:
                stopped = True
                break
            parts.append(part)
            carry = new
            show(float(carry.t))
            if int(carry.code) != Code.SUCCESS:
                break

    code = Code.STOPPED_BY_USER if stopped else Code(int(carry.code))
    n = min(len(parts) * chunk, len(times))
    if code not in (Code.SUCCESS, Code.STOPPED_BY_USER):
        n = min(n, int(carry.n_outputs) - n_before)
    when = float(carry.t) if stopped else float(carry.t_fail)
    message = describe(code, None if code is Code.SUCCESS else when)
    store.keep_shapes()
    return ChunkedRun(times[:n], carry, code, message, tuple(parts), store.read, store.spill)


@dataclass
class _Store:
    """Where chunks go: into memory, the files of a checkpoint, or temporary ones.

    Args:
        key: fingerprint of the run.
        pieces: output times of every chunk.
        carry: a state of the stepper, whose shapes all have.
        keep: as in `run_chunks`.
        folder: of the files, None for memory alone.
        resume: are chunks read from there, until one is missing?
        like: outputs of a chunk, or their shapes, as soon as they are known.
        spill: temporary folder, where there is one.
    """

    key: str
    pieces: list[np.ndarray]
    carry: Tree
    keep: bool | None
    folder: Path | None
    resume: bool
    like: Tree = None
    spill: Tree = None

    def read(self, path: Path) -> Tree:
        return self._both(path)[1]

    def _both(self, path: Path) -> tuple[Tree, Tree]:
        piece = self.pieces[files.index(path)]
        return files.read(path, self.key, piece, self.carry, self.like)

    def known(self, number: int) -> tuple[Tree, Tree] | None:
        """State after a chunk of an earlier run, and its outputs or their file."""
        if self.folder is None or not self.resume:
            return None
        path = files.path(self.folder, number)
        if not path.exists():
            self.resume = False  # a gap: everything after it is computed again
            return None
        new, outputs = self._both(path)
        return new, outputs if self._stays(outputs) else path

    def stored(self, number: int, new: Tree, outputs: Tree) -> Tree:
        """Outputs of a computed chunk, or the file that holds them."""
        self.like = outputs
        if self.folder is None and not self._stays(outputs):
            self.spill = tempfile.TemporaryDirectory(prefix="swelltree-")
            self.folder = Path(self.spill.name)
        if self.folder is None:
            return outputs
        path = files.path(self.folder, number)
        try:
            files.write(path, self.key, number, self.pieces[number], new, outputs)
        except SwelltreeError:
            if self.spill is None:
                raise
            return outputs  # no room on the disk: there may be in memory
        return outputs if self._stays(outputs) else path

    def keep_shapes(self) -> None:
        """Release outputs of which only the shapes are needed."""
        if self.like is not None:
            self.like = mapped(lambda x: np.broadcast_to(np.zeros((), x.dtype), x.shape), self.like)

    def _stays(self, outputs: Tree) -> bool:
        """Whether this number of such chunks fits into memory."""
        size = sum(x.nbytes for x in leaves_of(outputs))
        return size * len(self.pieces) <= LARGE if self.keep is None else self.keep


CHUNK = 200  # samples between two moves of the progress bar


# --- Fingerprint of a run: the content of everything it depends on (`engine.contents`)


def run_key(*parts: object) -> str:
    """Hash of the parts, of the package and of library versions."""
    contents = Contents()
    return hashed(*versions(), *(contents.of(part) for part in parts))


class Stepper(ABC):
    """One way of stepping a model through time.

    A state is a tree of arrays, all that a checkpoint needs to hold, with the fields ``t`` [s],
    ``code`` (`solution.Code`), ``t_fail`` [s] and ``n_outputs`` (output times reached). Samples are
    a tree of arrays, time first.
    """

    @property
    @abstractmethod
    def identity(self) -> tuple[object, ...]:
        """Everything that the steps depend on besides the first state and the output times."""

    @property
    @abstractmethod
    def coordinates(self) -> str:
        """Layout of its states in words; continued runs must agree in it."""

    @abstractmethod
    def start(self) -> Tree:
        """State before the first sample."""

    @abstractmethod
    def advance(self, state: Tree, times: np.ndarray) -> tuple[Tree, Tree]:
        """State after the output times of one chunk, and their samples."""

    @abstractmethod
    def engine(self, times: np.ndarray) -> str:
        """Engine of a chunk with these output times, and why: see `Program.engine`."""

    @abstractmethod
    def continue_from(self, task: Tree, state: Tree, times: np.ndarray) -> tuple[Stepper, Tree]:
        """Stepper and state that go on from the last sample to other output times.

        Args:
            task: the same, or with other numbers of its model.
            state: after the last sample.
            times: the time of that sample, and those to come [s].
        """

    @abstractmethod
    def blank(self, count: int) -> Tree:
        """Preallocated samples; they give shapes, and `observe` is compiled with them."""

    @abstractmethod
    def observe(self, times: np.ndarray, samples: Tree) -> dict[str, Array]:
        """All channels of samples, time first; NaN times are ignored."""

    @abstractmethod
    def end(self, state: Tree) -> tuple[Tree, float]:
        """State from which another run continues, and its time [s]."""

    @abstractmethod
    def failure(self, state: Tree, code: Code) -> tuple[Code, str]:
        """Message about where and why a run stopped with a code."""

    @abstractmethod
    def about(self, state: Tree) -> dict[str, Tree]:
        """Statistics of the steps for the attributes of a result."""


@dataclass(frozen=True)
class Driven:
    """A driven run: its chunks, and how it ended."""

    stepper: Stepper
    chunks: ChunkedRun
    width: int  # samples that the compiled programs have room for
    code: Code
    message: str

    @property
    def times(self) -> np.ndarray:
        return self.chunks.times

    @property
    def state(self) -> Carry:
        """State of the stepper at the end, or before its failure."""
        return self.chunks.carry

    def channels(self) -> dict[str, np.ndarray]:
        return gathered(self._observed(), len(self.times))

    def streamed(
        self, finish: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray] | None]:
        """Channels of a long run on disk, finished chunk by chunk; None of one that is not long.

        Args:
            finish: channels as results have them, from those that are observed; what it makes of
                a row may depend on the first one.

        Returns:
            channels of the first chunk as observed, or all of them; and all of them finished.
        """
        parts = self._observed()
        first = next(parts)
        size = sum(x.nbytes // max(len(x), 1) for x in first.values()) * len(self.times)
        if size <= LARGE:
            return gathered(chain([first], parts), len(self.times)), None

        def finished_parts() -> Iterator[dict[str, np.ndarray]]:
            yield finish(first)
            for part in parts:
                rows = {name: np.concatenate([first[name][:1], x]) for name, x in part.items()}
                yield {name: np.asarray(x)[1:] for name, x in finish(rows).items()}

        return first, gathered(finished_parts(), len(self.times), on_disk=True)

    def _observed(self) -> Iterator[dict[str, np.ndarray]]:
        first = 0
        for samples in self.chunks.outputs_by_chunk():
            count = len(leaves_of(samples)[0])
            times = self.times[first : first + count]
            first += count
            # chunks of one length share a compiled program
            if count < self.width:
                times = np.pad(times, (0, self.width - count), constant_values=np.nan)
                samples = mapped(lambda x: padded(x, self.width), samples)
            channels = self.stepper.observe(times, samples)
            yield {name: np.asarray(x)[:count] for name, x in channels.items()}


@with_options(OutputOptions)
def drive(stepper: Stepper, times: np.ndarray, **options: Unpack[OutputOptions]) -> Driven:
    """Step through all output times; what failed is in the code and the message.

    Args:
        stepper: ready to start.
        times: output times [s].
    """
    output: NamedValues = {**options}
    progress, checkpoint = output["progress"], output["checkpoint"]
    width = samples_per_chunk(output["chunk"], times)
    blank = stepper.blank(width)
    # the observation compiles while the stepper finds its start, compiles and runs
    warm = threading.Thread(target=stepper.observe, args=(np.full(width, np.nan), blank))
    warm.start()
    try:
        with doing("finding the start of the run and compiling", progress):
            state = stepper.start()
        parts = *stepper.identity, state, times, width
        chunks = run_chunks(
            stepper.advance,
            state,
            times,
            chunk=width,
            progress=progress,
            checkpoint=checkpoint,
            resume=output["resume"],
            key="" if checkpoint is None else run_key(*parts),
            like=blank,
        )
    finally:
        warm.join()
    code, message = chunks.code, chunks.message
    if code is not Code.SUCCESS:
        code, message = stepper.failure(chunks.carry, code)
    return Driven(stepper, chunks, width, code, message)


def samples_per_chunk(chunk: int | None, times: np.ndarray) -> int:
    """Number of samples per program call: as requested or the default, at most all."""
    if chunk is not None and chunk < 1:
        raise SwelltreeError(f"chunk {chunk} is not a number of samples. Give one or more.")
    return min(CHUNK if chunk is None else chunk, len(times))


def padded(x: np.ndarray, length: int) -> np.ndarray:
    """Rows repeated at the end up to a length."""
    x = np.asarray(x)
    return np.concatenate([x, np.repeat(x[-1:], length - len(x), axis=0)])
