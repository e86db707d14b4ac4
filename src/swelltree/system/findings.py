"""What a check found: how serious, in which words, with which numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

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
    """The most serious first."""
    return sorted(findings, key=lambda finding: RANK[finding.severity])
