"""A case file with comments: the tables as TOML, and above each item what was chosen for it."""

from __future__ import annotations

import textwrap

from swelltree.interchange.wecsim.findings import Findings
from swelltree.system.casefile.toml import to_text
from swelltree.system.named_values import NamedValues

WIDTH = 96


def case_text(tables: NamedValues, head: list[str], findings: Findings) -> str:
    """The text of a case file.

    Args:
        tables: [system], [hydro] and [[studies]].
        head: lines at the beginning.
        findings: comments of items, and what was left out.
    """
    left = [f"- {item}" for item in findings.left]
    lead = [*head, *(["", "Not translated:", *left] if left else [])]
    blocks = to_text(tables).rstrip("\n").split("\n\n")
    commented: set[tuple[str, str]] = set()
    made = [_commented(lead)]
    for block in blocks:
        made.append("\n".join([*_comments_of(block, findings, commented), block]))
    return "\n\n".join(made) + "\n"


def _comments_of(block: str, findings: Findings, commented: set[tuple[str, str]]) -> list[str]:
    """Comments that belong above a block of TOML: of its section the first time, of its item."""
    first, _, rest = block.partition("\n")
    section = first.strip("[]").removeprefix("system.")
    name = rest.partition('name = "')[2].partition('"')[0]
    rows: list[str] = []
    for key in ((section, ""), (section, name)):
        if key not in commented:
            commented.add(key)
            rows += findings.comments.get(key, [])
    return [_commented(rows)] if rows else []


def _commented(rows: list[str]) -> str:
    """Rows as comments of TOML, wrapped."""
    lines = []
    for row in rows:
        safe = "".join(c if c.isprintable() else " " for c in row)
        wrapped = textwrap.wrap(safe, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        lines += [f"# {line}" for line in wrapped] or ["#"]
    return "\n".join(lines)
