"""The one interface of time stepping, and the driver of all who have it.

Runge-Kutta methods, the implicit method and the two-step scheme are siblings behind `Stepper`: a
state that is data, chunks of samples, channels of samples, an end that another run goes on from,
and a message for a failure. `drive` steps any of them through the output times of a run, with one
progress bar and one form of checkpoint.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Unpack

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.options import OutputOptions, with_options
from swelltree.describe.values import NamedValues
from swelltree.integrate.chunks import LARGE, ChunkedRun, gathered, run_chunks
from swelltree.integrate.solution import Code
from swelltree.jit import Array, Contents, Tree, hashed, leaves_of, mapped, versions
from swelltree.status import doing

if TYPE_CHECKING:
    from swelltree.integrate.problem import Carry

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
