"""Equations as MathML, which browsers draw without a network and without scripts."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util.math import get_node_equation_number, wrap_displaymath


def inline(self: Any, node: Any) -> None:
    """An equation in a line of text."""
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def displayed(self: Any, node: Any) -> None:
    """An equation of its own line, with its number."""
    number = get_node_equation_number(self, node) if node["number"] else ""
    self.body.append(self.starttag(node, "div", CLASS="math notranslate equation"))
    self.body.append(convert(_full(node.astext()), display="block"))
    if number:
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "link to this equation")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def _full(text: str) -> str:
    """Rows of an equation stand in an environment."""
    if "\\begin{" not in text and ("\\\\" in text or "&" in text):
        return wrap_displaymath(text, None, False)
    return text


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
