"""Progress bar of a run, with simulated time and time left."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from swelltree.engine.doing import shown


@contextmanager
def progress_bar(
    title: str, times: np.ndarray, wanted: bool | None
) -> Iterator[Callable[[float], None]]:
    """Give a function ``show(t)`` that moves the bar to a simulated time.

    Args:
        title: what is running.
        times: output times [s].
        wanted: True shows the bar, False does not, None shows it on a terminal.
    """
    if wanted is None:
        wanted = sys.stderr.isatty()
    if not wanted or len(times) == 0:
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
