"""Live progress of a campaign: cases done and failed, speed, time left."""

from __future__ import annotations


class Progress:
    """A bar on a terminal; nothing elsewhere.

    Args:
        name: of the campaign.
        count: of cases.
        done: of them there from before.
        wanted: show it; None: on a terminal.
    """

    def __init__(self, name: str, count: int, done: int, wanted: bool | None = None) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        shown = console.is_terminal if wanted is None else wanted
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("cases{task.fields[failed]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            disable=not shown,
        )
        self._task = self._bar.add_task(name, total=count, completed=done, failed="")
        self._failed = 0

    def tell(self, finished: int, failed: int) -> None:
        """More cases are finished, of which some failed."""
        self._failed += failed
        text = f", {self._failed} failed" if self._failed else ""
        self._bar.update(self._task, advance=finished, failed=text)

    def say(self, text: str) -> None:
        """A line above the bar."""
        if not self._bar.disable:
            self._bar.console.print(text, highlight=False, soft_wrap=True)

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()
