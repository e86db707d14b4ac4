"""One Newton iteration of the lines inside a coupled step."""

from __future__ import annotations

from typing import Any

from swelltree.model.line_arrays import LineArrays
from swelltree.spatial.arrays import Array
from swelltree.two_step.block_solve import Condensed, back_substitute, eliminate
from swelltree.two_step.line_forces import Frozen
from swelltree.two_step.line_rows import assemble


def condense(
    lines: LineArrays,
    frozen: Frozen,
    h: Array | float,
    q_minus: Array,
    q_n: Array,
    q_plus: Array,
    mu: Array,
    nu: Array,
    tau: Array | float = 1e-16,
    theta: Array | float = 0.5,
    **more: Any,
) -> Condensed:
    """Rows of all lines at an iterate, reduced to their ends; arguments as in `assemble`."""
    rows = assemble(lines, frozen, h, q_minus, q_n, q_plus, mu, nu, tau, theta, **more)
    return eliminate(rows)


__all__ = ["Condensed", "back_substitute", "condense"]
