"""Device and tutorial pages as notebooks, written when the documentation is built."""

from __future__ import annotations

import json
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGES = {
    f"{folder}/{path.stem}": path
    for folder in ("devices", "tutorial")
    for path in sorted((HERE / folder).glob("*.md"))
}
BLOCK = re.compile(r"```python\n(.*?)```\n?", re.DOTALL)


def notebook(page: str) -> dict:
    """A page as a notebook: its Python blocks are code cells, the text between them is Markdown."""
    cells = []
    for i, part in enumerate(BLOCK.split(page)):
        text = part.strip() if i % 2 else plain(part)
        if text:
            cells.append(cell("code" if i % 2 else "markdown", f"{len(cells)}", text))
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def cell(kind: str, name: str, text: str) -> dict:
    outputs = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "id": name, "metadata": {}, "source": text} | outputs


def plain(text: str) -> str:
    """Markdown without figures and with links to other pages as text."""
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)\n*", "", text)
    text = re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", text)
    return re.sub(
        r"\[\]\((?:\.\./)*([^)#]*?)(?:\.md)?(?:#[^)]*)?\)", r"the page `\1`", text
    ).strip()


def write(folder: Path) -> None:
    for name, path in PAGES.items():
        file = folder / f"{name.replace('/', '_')}.ipynb"
        file.write_text(json.dumps(notebook(path.read_text("utf-8")), indent=1), "utf-8")


def with_link(name: str, text: str) -> str:
    """The text of a page with a link to its notebook below the title."""
    if name not in PAGES:
        return text
    title, rest = text.split("\n", 1)
    file = f"../reference/{name.replace('/', '_')}.ipynb"
    return f"{title}\n\n{{download}}`This page as a notebook <{file}>`\n{rest}"
