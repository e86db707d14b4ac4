"""What catenaries leave out, with its size: the drag of a current, and dry weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe import System
from swelltree.describe.errors import warn_user
from swelltree.describe.mooring.line import LineEnd
from swelltree.model.model import Model
from swelltree.model.sea import Field, Grid, PowerLaw, Profile, Turning, compile_current
from swelltree.mooring.catenary.build import build_lines
from swelltree.mooring.catenary.equilibrium_shapes import static_network
from swelltree.mooring.catenary.lines import QuasiStaticLines
from swelltree.mooring.network import End, Piece, line_network
from swelltree.multibody.layout import Layout

if TYPE_CHECKING:
    import xarray as xr

NEGLIGIBLE = 0.01  # of the weight of a line in water: what may be left out
LOOKS = 32  # times of a result at which a current is looked at
ABOVE = 1e-3  # of its length: what rises by less does not count as above the water


def checked_lines(system: System, layout: Layout) -> QuasiStaticLines | None:
    """The quasi-static lines of a system, but for those that a current pushes.

    Warns of lines that hang above the water as they are described.
    """
    lines = build_lines(system, layout)
    if lines is None:
        return None
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
        return lines
    with np.errstate(all="ignore"):
        shapes = static_network(system, network, a, b).shapes
    for piece, shape in zip(network.pieces, shapes, strict=True):
        r = np.asarray(shape.position, float)
        if not np.isfinite(r).all():
            continue
        length, diameter, Cdn = _segments(piece)
        weight = sum(
            abs(p.type.weight_per_length(water.rho, water.g)) * p.length for p in piece.parts
        )
        lost = missing_lift(r, length, water.rho * water.g * 0.25 * np.pi * diameter**2)
        if lost > NEGLIGIBLE * weight:
            warn_user(above_water(piece.name, r, lost))
        push = (
            0.0 if current is None else current_push(current, r, water.rho, length, diameter, Cdn)
        )
        if push > NEGLIGIBLE * weight:
            raise piece.line.fail(
                f"the current pushes it by {push:.3g} N, {push / weight:.1%} of its weight in "
                "water, which a quasi-static line leaves out. Give model='dynamic', or Cdn=0 if "
                "this is intended."
            )
    return lines


def above_water(name: str, r: np.ndarray, lost: float) -> str:
    """Message on a line with nodes r (n + 1, 3) and this loss of buoyancy above the water [N]."""
    return (
        f"line '{name}': it is up to {r[:, 2].max():.3g} m above the water, where {lost:.3g} N of "
        "buoyancy should be missing. A quasi-static line keeps its weight in water: give "
        "model='dynamic'."
    )


def warnings_of_lines(model: Model, result: xr.Dataset) -> list[str]:
    """Messages on quasi-static lines with parts above the water, or in a current by a function.

    Other currents are known when a system is compiled.
    """
    lines = model.effect(QuasiStaticLines)
    if lines is None or lines.lift is None or "line_position" not in result:
        return []
    texts = []
    if isinstance(model.sea.current, Field) and "time" in result.dims:
        texts = _pushed(lines, model.sea.current, float(model.rho), result)
    for name, lift in zip(lines.lines, np.asarray(lines.lift), strict=True):
        r = result.line_position.sel(line=name).transpose(..., "line_node", "axis").values
        r = r.reshape(-1, *r.shape[-2:])
        r = r[int(np.nanargmax(np.nanmax(r[..., 2], axis=1)))]
        length = np.linalg.norm(np.diff(r, axis=0), axis=1)
        lost = missing_lift(r, length, lift)
        if lost > NEGLIGIBLE * lift * length.sum():
            texts.append(above_water(name, r, lost))
    return texts


def _pushed(lines: QuasiStaticLines, current: Field, rho: float, result: xr.Dataset) -> list[str]:
    """Messages on lines that a current pushes at the times of a result."""
    texts, sections = [], lines.pieces.sections
    weights = np.abs(np.asarray(sections.length * sections.weight)).sum(-1)
    for k, name in enumerate(lines.lines):
        r = result.line_position.sel(line=name).transpose("time", "line_node", "axis").values
        times = np.unique(np.linspace(0, len(r) - 1, LOOKS).astype(int))
        length = np.linalg.norm(np.diff(r, axis=1), axis=2)
        drag = np.full(length.shape[1], float(np.asarray(lines.across)[k]))
        push = max(
            current_push(current, r[i], rho, length[i], drag, 1.0, result.time.values[i])
            for i in times
        )
        weight = weights[np.array(lines.line) == k].sum()
        if push > NEGLIGIBLE * weight:
            texts.append(
                f"line '{name}': the current pushes it by {push:.3g} N, {push / weight:.1%} of its "
                "weight in water, which a quasi-static line leaves out. Give model='dynamic'."
            )
    return texts


def missing_lift(r: np.ndarray, length: np.ndarray, lift: np.ndarray | float) -> float:
    """Buoyancy counted of the parts of a line that are above the still water [N].

    Args:
        r: nodes (n + 1, 3) [m].
        length: of the segments (n,) [m].
        lift: buoyancy of a metre of each [N/m].
    """
    dry = 0.5 * (r[1:, 2] + r[:-1, 2]) > ABOVE * length.sum()
    return float((lift * length)[dry].sum())


def current_push(
    current: Profile | Turning | PowerLaw | Grid | Field,
    r: np.ndarray,
    rho: float,
    length: np.ndarray,
    diameter: np.ndarray,
    Cdn: np.ndarray | float,
    now: float = 0.0,
) -> float:
    """Drag of a current across a line that lies still, the largest over the times of a grid [N].

    Args:
        current: compiled.
        r: nodes (n + 1, 3) [m].
        rho: density of the water [kg/m^3].
        length: of the segments, zero for those not in use (n,) [m].
        diameter: of the segments [m].
        Cdn: of the segments.
        now: time, of a current that is no grid [s].
    """
    middle = 0.5 * (r[1:] + r[:-1])
    d = np.diff(r, axis=0)
    t = d / np.maximum(np.linalg.norm(d, axis=1, keepdims=True), 1e-12)
    size = 0.5 * rho * Cdn * diameter * length * (middle[:, 2] < 0.0)

    def push(time: np.ndarray) -> float:
        flow = np.asarray(current.flow(time, middle)[0])
        across = flow - (flow * t).sum(1, keepdims=True) * t
        pressed = size * np.linalg.norm(across, axis=1)
        return float(np.linalg.norm((pressed[:, None] * across).sum(0)))

    times = current.time if isinstance(current, Grid) else np.array([now])
    return max(push(np.asarray(time)) for time in times)


def _segments(piece: Piece) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Length, diameter and drag coefficient of the segments of a piece."""
    rows = [
        (part.length / part.segments, part.type.diameter, part.type.Cdn)
        for part in piece.parts
        for _ in range(part.segments)
    ]
    return tuple(np.array(rows, float).T)
