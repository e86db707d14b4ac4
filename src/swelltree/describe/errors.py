"""Messages for the user: which item, which value, what to do."""

from __future__ import annotations

import difflib
import reprlib
import sys
import traceback
import types
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field

LONGEST_SENTENCE = 500  # letters


class SwelltreeError(Exception):
    """A mistake in the input; the message says how to fix it."""

    def _render_traceback_(self) -> list[str]:
        """Traceback in a notebook, up to the user's line."""
        return users_traceback(self)


def users_traceback(error: SwelltreeError) -> list[str]:
    """Lines of a traceback without the package's own frames at its end."""
    frames = list(traceback.walk_tb(error.__traceback__))
    while frames and _is_wrapper(frames[-1][0]):
        frames.pop()
    stack = traceback.StackSummary.extract(frames)
    lines = ["Traceback (most recent call last):", *"".join(stack.format()).splitlines()]
    return [*lines, f"swelltree.{type(error).__name__}: {error}"]


def show_short_tracebacks() -> None:
    """End tracebacks of scripts at the user's line."""
    usual = sys.excepthook

    def show(
        kind: type[BaseException], error: BaseException, trace: types.TracebackType | None
    ) -> None:
        if isinstance(error, SwelltreeError):
            sys.stderr.write("\n".join(users_traceback(error)) + "\n")
        else:
            usual(kind, error, trace)

    sys.excepthook = show


def error_in_file(sentence: str) -> SwelltreeError:
    """The error about what stands in a file, which may be long: one line, its middle left out.

    Args:
        sentence: names the place, what stands there and what to do.
    """
    text = _on_one_line(" ".join(sentence.split()))
    if len(text) > LONGEST_SENTENCE:
        text = f"{text[: LONGEST_SENTENCE - 150]} ... {text[-150:]}"
    return SwelltreeError(text)


class SwelltreeWarning(UserWarning):
    """Input that is allowed but is probably not what was meant."""


# what may stand between the package and the line of the user
WRAPPERS = ("swelltree", "jaxtyping", "pydantic", "functools", "contextlib", "threadpoolctl", "jax")


def _is_wrapper(frame: types.FrameType) -> bool:
    return frame.f_globals.get("__name__", "").partition(".")[0] in WRAPPERS


def warn_user(message: Warning | str, category: type[Warning] = SwelltreeWarning) -> None:
    """Warn with the line outside of the package that led here.

    Args:
        message: which item, which value, what to do.
        category: of the warning.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None:
        if not _is_wrapper(frame):
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def suggest(name: object, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: " Did you mean 'x'?", or nothing.

    Args:
        name: what the user wrote.
        known: the names that exist.
    """
    if not isinstance(name, str) or len(name) > MAX_NAME:
        return ""  # the time of a comparison grows with the square of its length
    # compare without regard to capitals, answer with the true spelling
    spelling = {word.lower(): word for word in known}
    near = difflib.get_close_matches(name.lower(), list(spelling), n=1, cutoff=0.6)
    return f" Did you mean '{spelling[near[0]]}'?" if near else ""


def shown(value: object) -> str:
    """A wrong value as shown in a message: short and on one line."""
    label = getattr(value, "label", None)
    return label if isinstance(label, str) else " ".join(_short.repr(value).split())


MAX_NAME = 200  # letters of a name that is compared with others


class _Short(reprlib.Repr):
    """Shortened representations of values of any type."""

    def repr_int(self, x: int, level: int) -> str:
        """Python refuses to print integers of thousands of digits."""
        if x.bit_length() > MAX_BITS:
            return f"an integer of about {int(x.bit_length() * 0.30103) + 1} digits"
        return super().repr_int(x, level)


MAX_BITS = 4096
_short = _Short()
_short.maxstring = 60


def listed(names: Iterable[str]) -> str:
    """Names as listed in a message: 'a', 'b', 'c', on one line."""
    return ", ".join(f"'{_on_one_line(name)}'" for name in names)


def _on_one_line(name: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in str(name))


# --- What a check found: how serious, in which words, with which numbers

RANK = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True)
class Finding:
    """One thing to know about data, a model or a run.

    Args:
        severity: note (good to know), warning (look at it), error (results will be wrong).
        code: short name of the check.
        sentence: what was found, what it does to the answer, what to do.
        numbers: the values behind it.
    """

    severity: str
    code: str
    sentence: str
    numbers: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.severity} [{self.code}]: {self.sentence}"


def sorted_findings(findings: list[Finding]) -> list[Finding]:
    """Findings sorted by severity."""
    return sorted(findings, key=lambda finding: RANK[finding.severity])


show_short_tracebacks()
