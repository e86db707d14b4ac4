"""What is being done while nothing else is to be seen: a spinner on terminals only."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_shown: list[str] = []  # what is on the terminal now


@contextmanager
def doing(words: str, requested: bool | None = None) -> Iterator[None]:
    """Say what is done meanwhile, unless something is shown already.

    Args:
        words: for the user: "compiling the run".
        requested: True shows it, False does not, None shows it on a terminal.
    """
    if requested is None:
        requested = sys.stderr.isatty()
    adjacent = threading.current_thread() is not threading.main_thread()
    if not requested or adjacent or _shown:
        yield
        return
    from rich.console import Console

    with Console(stderr=True, force_terminal=True).status(f"{words} …"), shown(words):
        yield


@contextmanager
def shown(words: str) -> Iterator[None]:
    """Suppress other status messages while the terminal is in use."""
    _shown.append(words)
    try:
        yield
    finally:
        _shown.remove(words)
