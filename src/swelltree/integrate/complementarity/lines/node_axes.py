"""Arrays over nodes and segments, which native code computes in loops."""

from __future__ import annotations

from swelltree.model.model import Model
from swelltree.mooring.dynamic.lines import required_lines

FEW_SEGMENTS = 3  # of a line, whose nodes are written individually
SHORT = 16  # numbers of an array without lines that are written individually


def node_axes(model: Model, shape: tuple[int, ...]) -> dict[tuple[int, ...], int]:
    """First axes of arrays over nodes and segments that are computed in loops.

    Args:
        model: with lines.
        shape: count of lines and of their segments.
    """
    count, n = shape
    if n < FEW_SEGMENTS:
        return {}
    # of lines that bend the points beyond the ends count too
    lines = required_lines(model)
    most = n + 3 if lines.nodes.bending else n + 1
    winches = lines.winches
    axes: dict[tuple[int, ...], int] = {}
    for lines in {count, count if winches is None else winches.count}:
        for k in range(n - 1, most + 1):
            axes |= {(lines, k): most, (lines, 2, k): most}
            axes |= {(m,): m for m in (lines * k, 3 * lines * k) if m > SHORT}
    return axes
