"""Which engine ran the programs of a study, and why it was not native code where it was not."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

BY_LLVM = "LLVM"


class Engines:
    """Engines of the programs that ran: "LLVM", or "XLA: " and the reason."""

    def __init__(self) -> None:
        self.engines: dict[str, None] = {}  # each once, in order

    @property
    def engine(self) -> str:
        """The first that is not LLVM, else LLVM; empty where nothing ran."""
        others = [engine for engine in self.engines if engine != BY_LLVM]
        return others[0] if others else next(iter(self.engines), "")


_noting: ContextVar[tuple[Engines, ...]] = ContextVar("noting", default=())


def note(engine: str) -> None:
    """Record that a program ran by an engine."""
    if engine:
        for ran in _noting.get():
            ran.engines[engine] = None


@contextlib.contextmanager
def noted(apart: bool = False) -> Iterator[Engines]:
    """Record the engines of programs that run within; `apart`: for nobody around it."""
    ran = Engines()
    token = _noting.set((ran,) if apart else (*_noting.get(), ran))
    try:
        yield ran
    finally:
        _noting.reset(token)
