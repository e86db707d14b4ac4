"""The driver: hands blocks to a pool, writes what comes back, tries again what failed.

A job that fails - its process died, it raised - is tried again, then its cases individually, each
in its own lane; a case that still fails is recorded with its message, and the others go on.
"""

from __future__ import annotations

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
