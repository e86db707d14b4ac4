"""Small pieces of HTML; every text is escaped here and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], total: int = 0) -> str:
    """A table; the first column is text, the last `total` rows are sums."""
    first = len(rows) - total
    head = "".join(
        f'<th scope="col"{" class=n" if i else ""}>{escape(text)}</th>'
        for i, text in enumerate(heads)
    )
    body = "".join(
        f"<tr{' class=sum' if i == first and total else ''}>{cells(row)}</tr>"
        for i, row in enumerate(rows)
    )
    return (
        '<div class="scroll" tabindex="0" role="group" aria-label="Table">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def cells(row: Sequence[str]) -> str:
    """The cells of a row; all but the first are numbers."""
    return "".join(
        f"<td{' class=n' if i else ''}>{escape(text)}</td>" for i, text in enumerate(row)
    )


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of texts."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows
    )
    return (
        '<div class="scroll" tabindex="0" role="group" aria-label="Table">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def card(title: str, content: str) -> str:
    """A section with a heading; the content is HTML."""
    return f'<section class="card"><h2>{escape(title)}</h2>{content}</section>'


def folded(title: str, content: str) -> str:
    """Something long, shown when asked for; the content is HTML."""
    return f"<details><summary>{escape(title)}</summary>{content}</details>"
