"""The driver: hands blocks to a pool, writes what comes back, tries again what failed.

A job that fails - its process died, it raised - is tried again, then its cases individually, each
in its own lane; a case that still fails is recorded with its message, and the others go on.

Progress of a campaign: cases done and failed, speed, time left.

A bar on a terminal; lines elsewhere, as in the log of a batch job: the first when a hundredth is
done, then one a minute at most, and one at the end.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable

import numpy as np

from swelltree.campaigns.pool import Done, Job, Pool
from swelltree.campaigns.store import Store
from swelltree.campaigns.work import Block, UnfitProcess
from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.describe.values import NamedValues

MOST_RETRIED = 3  # times that a case which failed is run again
Notify = Callable[[int, int], None]  # cases finished now, of them failed


class Lanes:
    """Results of the cases of one block."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.values: dict[int, dict[str, np.ndarray]] = {}
        self.log: dict[int, NamedValues] = {}
        self.retried: dict[int, int] = {}  # how often a case that had failed was run again

    @classmethod
    def of_store(cls, store: Store, entry: NamedValues) -> Lanes:
        """Results of a stored block, without failed cases that are run again."""
        left_out = worth_retrying(entry)
        cases, first = entry["cases"], int(entry["first"])
        lanes = cls(len(cases))
        there = {name: x[first : first + len(cases)] for name, x in store.variables.items()}
        for lane, case in enumerate(cases):
            if lane in left_out:
                lanes.retried[lane] = int(case.get("retried", 0)) + 1
            else:
                lanes.values[lane] = {name: x[lane] for name, x in there.items()}
                lanes.log[lane] = {key: x for key, x in case.items() if key != "id"}
        return lanes

    def add(self, done: Done) -> None:
        """Add the results of a completed job."""
        block, job = done.block, done.job
        assert block is not None
        for k, message in enumerate(block.messages):
            self.values[job.first + k] = {name: x[k] for name, x in block.values.items()}
            self.log[job.first + k] = _entry(message, block, job, len(block.messages))

    def fail(self, job: Job, message: str) -> None:
        """Record a case without a result."""
        self.log[job.first] = {"state": "failed", "message": message, "attempts": job.attempt}

    @property
    def is_complete(self) -> bool:
        return len(self.log) == self.count

    def stacked(self, blank: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Arrays by variable, cases first."""
        rows = [self.values.get(lane, blank) for lane in range(self.count)]
        return {name: np.stack([row[name] for row in rows]) for name in blank}


def _entry(message: str, block: Block, job: Job, count: int) -> NamedValues:
    return {
        "state": "failed" if message else "done",
        "message": message,
        "seconds": round(block.seconds / count, 6),
        "where": block.where,
        "attempts": job.attempt,
    } | ({"warnings": list(block.warnings)} if block.warnings else {})


class Driver:
    """Runs blocks until all are in the store.

    Args:
        store: where they go.
        lanes: cases per block.
        blank: what a case without a result has, by variable.
        ids: of all cases.
        retries: how often a job is tried again before its cases are tried individually.
        notify: called after each block.
    """

    def __init__(
        self,
        store: Store,
        lanes: int,
        blank: dict[str, np.ndarray],
        ids: Callable[[int], str],
        retries: int,
        notify: Notify,
    ) -> None:
        self.store, self.lanes = store, lanes
        self.blank, self.ids, self.retries, self.notify = blank, ids, retries, notify
        self.open: dict[int, Lanes] = {}
        self.again: deque[Job] = deque()
        self.warned: set[str] = set()

    def run(self, pool: Pool, jobs: Iterable[Job]) -> None:
        waiting = iter(jobs)
        under_way = 0
        while True:
            while under_way < pool.room:
                job = self.again.popleft() if self.again else next(waiting, None)
                if job is None:
                    break
                if job.block not in self.open:
                    self.open[job.block] = Lanes(len(job.cases))
                pool.submit(job)
                under_way += 1
            if under_way == 0:
                return
            self.take(pool.next())
            under_way -= 1

    def take(self, done: Done) -> None:
        """Store the results of a job, or run it again."""
        job, lanes = done.job, self.open[done.job.block]
        if isinstance(done.error, UnfitProcess):
            raise done.error
        if done.error is None:
            lanes.add(done)
            self.warn(() if done.block is None else done.block.warnings)
        elif len(job.cases) > 1:
            # a mistake in the input stays one; whatever else may have been bad luck
            if job.attempt > self.retries or isinstance(done.error, SwelltreeError):
                self.again.extend(
                    Job(job.block, job.first + k, (case,)) for k, case in enumerate(job.cases)
                )
            else:
                self.again.append(job._replace(attempt=job.attempt + 1))
        elif job.attempt > self.retries or isinstance(done.error, SwelltreeError):
            assert done.error is not None
            lanes.fail(job, sentence(done.error))
        else:
            self.again.append(job._replace(attempt=job.attempt + 1))
        if lanes.is_complete:
            self.write(job.block, self.open.pop(job.block))

    def warn(self, texts: Iterable[str]) -> None:
        """Emit the warnings of blocks, each once; the index lists them with every case."""
        for text in texts:
            if text not in self.warned:
                self.warned.add(text)
                warn_user(text)

    def write(self, block: int, lanes: Lanes) -> None:
        first = block * self.lanes
        cases = [{"id": self.ids(first + lane)} | lanes.log[lane] for lane in range(lanes.count)]
        for lane, often in lanes.retried.items():
            cases[lane]["retried"] = often
        self.store.write(block, first, lanes.stacked(self.blank), cases)
        self.notify(lanes.count, sum(case["state"] == "failed" for case in cases))


def worth_retrying(entry: NamedValues) -> list[int]:
    """Positions in a block of failed cases that may be run again."""
    return [
        lane
        for lane, case in enumerate(entry["cases"])
        if case["state"] == "failed" and int(case.get("retried", 0)) < MOST_RETRIED
    ]


def sentence(error: BaseException) -> str:
    """Error message of a failed case."""
    if isinstance(error, SwelltreeError):
        return str(error)
    if type(error).__name__ == "KilledWorker":
        return (
            "the process that ran this case died each time (out of memory, or killed). Run it "
            "alone with simulate, or with fewer lanes."
        )
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}"


EVERY = 60.0  # s between lines, at least


class Progress:
    """A bar on a terminal, lines elsewhere; on stderr.

    Args:
        name: of the campaign.
        count: of cases.
        done: of them there from before.
        failed: of these.
        requested: show it.
    """

    def __init__(
        self, name: str, count: int, done: int, failed: int = 0, requested: bool = True
    ) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bar

        self._console = Console(
            stderr=True, quiet=not requested, soft_wrap=True, highlight=False, markup=False
        )
        self._bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("cases{task.fields[failed]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
            disable=not requested or not self._console.is_terminal,
        )
        self._task = self._bar.add_task(name, total=count, completed=done, failed="")
        self._lines = Lines(name, count, done, failed)

    def notify(self, finished: int, failed: int) -> None:
        """Count finished and failed cases."""
        line = self._lines.after(finished, failed, time.monotonic())
        text = f", {self._lines.failed} failed" if self._lines.failed else ""
        self._bar.update(self._task, advance=finished, failed=text)
        if line and self._bar.disable:
            self.say(line)

    def say(self, text: str) -> None:
        """Print a line above the progress bar."""
        self._console.print(text)

    def __enter__(self) -> Progress:
        self._bar.start()
        self._lines.begin = time.monotonic()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()


class Lines:
    """Progress in words.

    Args:
        name: of the campaign.
        count: of cases.
        done: of them there from before.
        failed: of these.
    """

    def __init__(self, name: str, count: int, done: int, failed: int = 0) -> None:
        self.name, self.count, self.done, self.before = name, count, done, done
        self.failed = failed
        self.begin = time.monotonic()
        self._told: float | None = None

    def after(self, finished: int, failed: int, now: float) -> str:
        """Progress message when more cases are finished; empty shortly after the last one.

        Args:
            finished: cases, now.
            failed: of them.
            now: wall-clock time [s].
        """
        self.done += finished
        self.failed += failed
        ends = self.done >= self.count
        begins = self._told is None and self.done - self.before >= 0.01 * (self.count - self.before)
        due = self._told is not None and now - self._told >= EVERY
        if not (ends or begins or due):
            return ""
        self._told = now
        spent = max(now - self.begin, 1e-9)
        rate = (self.done - self.before) / spent
        reported = (
            f"{self.name}: {self.done}/{self.count} cases, {self.failed} failed, {rate:.3g}/s, "
        )
        if ends:
            return reported + f"done in {duration(spent)}"
        return reported + f"{duration((self.count - self.done) / rate)} left"


def duration(seconds: float) -> str:
    """Duration as text: 4 s, 3:05 min, 2:10 h, 3.4 days."""
    full = round(seconds)
    if full < 60:
        return f"{full} s"
    if full < 3600:
        return f"{full // 60}:{full % 60:02d} min"
    if full < 48 * 3600:
        return f"{full // 3600}:{full % 3600 // 60:02d} h"
    return f"{seconds / 86400:.1f} days"
