"""What quasi-static lines leave out, with its size: the drag of a current, and dry weight."""

from __future__ import annotations

import numpy as np

from swelltree.describe import System
from swelltree.describe.errors import warn_user
from swelltree.describe.mooring.line import LineEnd
from swelltree.model.currents import compile_current
from swelltree.mooring.catenary.build import build_lines
from swelltree.mooring.catenary.equilibrium_shapes import static_network
from swelltree.mooring.catenary.lines import QuasiStaticLines
from swelltree.mooring.network import End, Piece, line_network
from swelltree.multibody.layout import Layout

MIN_WEIGHT_FRACTION = 0.01  # of the weight of a line: what is less is not worth a warning
ABOVE = 1e-3  # of its length: what rises by less does not count as above the water


def lines_with_warnings(system: System, layout: Layout) -> QuasiStaticLines | None:
    """The quasi-static lines of a system; warnings state how large their error is."""
    lines = build_lines(system, layout)
    if lines is not None:
        for text in left_out(system, layout):
            warn_user(text)
    return lines


def left_out(system: System, layout: Layout) -> list[str]:
    """Warnings for quasi-static lines as they are described.

    Args:
        system: the description.
        layout: of its compiled bodies.
    """
    network = line_network(system, layout, "quasi_static")
    water, current = system.water, compile_current(system.current, system.water)

    def place(end: End, value: LineEnd) -> np.ndarray:
        return np.asarray(end.point) if end.kind == "junction" else system.end_point(value)

    a = np.array([place(p.A, p.line.A) for p in network.pieces])
    b = np.array([place(p.B, p.line.B) for p in network.pieces])
    floats = any(
        part.type.weight_per_length(water.rho, water.g) < 0.0
        for piece in network.pieces
        for part in piece.parts
    )
    if current is None and not floats and max(a[:, 2].max(), b[:, 2].max()) <= 0.0:
        return []
    with np.errstate(all="ignore"):
        shapes = static_network(system, network, a, b).shapes
    texts = []
    for piece, shape in zip(network.pieces, shapes, strict=True):
        r = np.asarray(shape.position, float)
        if not np.isfinite(r).all():
            continue
        length, diameter, Cdn = _segments(piece)
        weight = sum(
            abs(p.type.weight_per_length(water.rho, water.g)) * p.length for p in piece.parts
        )
        z = 0.5 * (r[1:, 2] + r[:-1, 2])
        dry = z > ABOVE * piece.length
        lost = float((water.rho * water.g * 0.25 * np.pi * diameter**2 * length)[dry].sum())
        if lost > MIN_WEIGHT_FRACTION * weight:
            texts.append(
                f"line '{piece.name}': {length[dry].sum():.4g} m of it are up to "
                f"{r[:, 2].max():.3g} m above the water, where {lost:.3g} N of buoyancy are "
                "missing. A quasi-static line keeps its weight in water: give model='dynamic'."
            )
        if current is None:
            continue
        middle = 0.5 * (r[1:] + r[:-1])
        flow = np.asarray(current.flow(np.zeros(()), middle)[0])
        d = np.diff(r, axis=0)
        t = d / np.maximum(np.linalg.norm(d, axis=1, keepdims=True), 1e-12)
        across = flow - (flow * t).sum(1, keepdims=True) * t
        speed = np.linalg.norm(across, axis=1)
        size = 0.5 * water.rho * Cdn * diameter * length * speed * (z < 0.0)
        push = float(np.linalg.norm((size[:, None] * across).sum(0)))
        if push > MIN_WEIGHT_FRACTION * weight:
            texts.append(
                f"line '{piece.name}': the current pushes it by {push:.3g} N, {push / weight:.1%} "
                "of its weight in water, which a quasi-static line leaves out. Give "
                "model='dynamic', or Cdn=0 where this is meant."
            )
    return texts


def _segments(piece: Piece) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Length, diameter and drag coefficient of the segments of a piece."""
    rows = [
        (part.length / part.segments, part.type.diameter, part.type.Cdn)
        for part in piece.parts
        for _ in range(part.segments)
    ]
    return tuple(np.array(rows, float).T)
