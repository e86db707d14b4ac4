"""What an import chose and what it left out, each with its place in the files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Left(NamedTuple):
    """Something that was not translated.

    Args:
        place: file and line, or file and block.
        sentence: what it is, and what to do.
        missing: a file that is not there, rather than something that has no counterpart.
    """

    place: str
    sentence: str
    missing: bool = False

    def __str__(self) -> str:
        return f"{self.place}: {self.sentence}"


@dataclass
class Findings:
    """Collects both while a case is translated."""

    left: list[Left] = field(default_factory=list)
    comments: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def leave(self, place: str, sentence: str, *, missing: bool = False) -> None:
        """Something is not translated; reported once."""
        result = Left(place, " ".join(sentence.split()), missing)
        if result not in self.left:
            self.left.append(result)

    def comment(self, section: str, name: str, sentence: str) -> None:
        """A choice, written as a comment above an item of the case file.

        Args:
            section: such as "bodies"; "" for the head of the file.
            name: of the item; "" for the section itself.
            sentence: what was chosen and why.
        """
        rows = self.comments.setdefault((section, name), [])
        if sentence not in rows:
            rows.append(" ".join(sentence.split()))
