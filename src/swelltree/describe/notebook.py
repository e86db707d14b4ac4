"""Descriptions as they show in a notebook: a heading and small tables."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swelltree.describe.system import System


def counted(number: int, word: str) -> str:
    plural = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{number} {word if number == 1 else plural}"


def in_notebook() -> bool:
    """Whether this runs in a Jupyter kernel."""
    python = sys.modules.get("IPython")
    return python is not None and hasattr(python.get_ipython(), "kernel")


def html_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """HTML table with escaped text."""
    head = "".join(f'<th style="text-align:left">{escape(text)}</th>' for text in heads)
    body = "".join(
        "<tr>"
        + "".join(f'<td style="text-align:left">{escape(str(text))}</td>' for text in row)
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def system_html(system: System) -> str:
    """A described system: its bodies, joints, forces and water."""
    bodies = [
        (
            body.name,
            "-" if body.hull is None else body.hull.shape,
            f"{body.mass:.5g}" if isinstance(body.mass, float | int) else body.mass,
            "({:g}, {:g}, {:g})".format(*body.position),
        )
        for body in system.bodies
    ]
    joints = [
        (j.name, j.type, f"{j.base.body} – {j.follower.body}", ", ".join(j.layout().dofs) or "-")
        for j in system.joints
    ]
    items = (*system.forces, *system.ptos, *system.moorings)
    forces = [(item.name, item.kind, item.type) for item in items]
    parts = [
        f"<b>{escape(system.name)}</b>",
        html_table(("body", "hull", "mass [kg]", "position [m]"), bodies),
        html_table(("joint", "type", "between", "DOFs"), joints),
    ]
    if forces:
        parts.append(html_table(("element", "kind", "type"), forces))
    water = system.water
    parts.append(f"<p>rho {water.rho:g} kg/m³, g {water.g:g} m/s², depth {water.depth:g} m</p>")
    return "<div>" + "".join(parts) + "</div>"
