"""Progress of a campaign: cases done and failed, speed, time left.

A bar on a terminal; lines elsewhere, as in the log of a batch job: the first when a hundredth is
done, then one a minute at most, and one at the end.
"""

from __future__ import annotations

import time

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
