"""Plots of shapes: lines from anchor to fairlead, mode shapes, the tree of a system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.drawing import unpack_shape
from swelltree.describe.errors import SwelltreeError, suggest
from swelltree.report.plots.time import (
    INK,
    SOFT,
    below,
    color,
    figure,
    heading,
    legend,
    plain,
    short,
)
from swelltree.report.scene import drawing_of, segment_tension
from swelltree.results.units import prefixed

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from swelltree.describe.system import System


def line_profile(dataset: xr.Dataset, line: str | None = None, time: float | None = None) -> Figure:
    """Shape of a line in its own plane at a time, and the tension along it.

    Args:
        dataset: a result with lines.
        line: its name; the first if not given.
        time: [s]; the last sample if not given. The grey band is the range over the run.
    """
    if "line_position" not in dataset:
        raise SwelltreeError("the result has no lines. Give a run of a system with lines.")
    names = [str(name) for name in dataset["line"].values]
    chosen = names[0] if line is None else line
    if chosen not in names:
        raise SwelltreeError(f"line '{chosen}' is not in the result.{suggest(chosen, names)}")
    some = dataset.sel(line=chosen)
    when = dataset["time"].values[-1] if time is None else time
    places = some["line_position"].transpose("time", "line_node", "axis").values
    now = int(np.abs(dataset["time"].values - when).argmin())
    shape = places[now][np.isfinite(places[now]).all(-1)]
    away = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(shape[:, :2], axis=0), axis=1)))
    fig, axes = figure(2, 1, 8.6, 6.2, sharex=False)
    top, low = axes[:, 0]
    top.plot(away, shape[:, 2], color=color(0), linewidth=1.8)
    if "line_grounded" in dataset:
        flags = some["line_grounded"].isel(time=now).values[: len(shape)] > 0.5
        ends = flags if len(flags) == len(shape) else np.append(flags, False)
        top.plot(away[ends], shape[ends, 2], "o", color="#8a6f4d", markersize=3, label="on the bed")
    top.axhline(0.0, color=color(5), linewidth=1.0)
    heading(top, f"{chosen} at {dataset['time'].values[now]:g} s", "height [m]")
    below(top, "horizontal distance from end A [m]")
    along_line = segment_tension(some)
    if along_line is not None:
        tension = along_line.values
        unit, factor = prefixed("N", float(np.nanmax(tension)))
        count = tension.shape[1]  # of segments, or of nodes
        along = np.arange(count) + (0.5 if count < some.sizes["line_node"] else 0.0)
        low.fill_between(
            along,
            factor * np.nanmin(tension, axis=0),
            factor * np.nanmax(tension, axis=0),
            color="#d8e0e6",
            linewidth=0,
            label="range over the run",
        )
        low.plot(along, factor * tension[now], color=color(3), linewidth=1.8, label="now")
        heading(low, "Tension from end A to end B", unit)
        legend(low, 2, columns=3)
    below(low, "segment")
    return fig


def mode(dataset: xr.Dataset, number: int = 1, view: str = "xz") -> Figure:
    """A mode shape: bodies at equilibrium and at both extremes, seen from the side.

    Args:
        dataset: from `swelltree.modes`.
        number: of the mode, from 1.
        view: "xz" (from the side), "yz" (from the front) or "xy" (from above).
    """
    numbers = [int(n) for n in dataset["mode"].values]
    if number not in numbers:
        raise SwelltreeError(f"mode {number} is not in the result. It has 1 to {numbers[-1]}.")
    if view not in ("xz", "yz", "xy"):
        raise SwelltreeError(f"view '{view}' is not known. Give 'xz', 'yz' or 'xy'.")
    row = numbers.index(number)
    shape = dataset["shape_real"].values[row]
    drawing = drawing_of(dataset)
    a, b = ("xyz".index(letter) for letter in view)
    outlines, turns, size = [], [], 0.0
    for i, body in enumerate(drawing["bodies"]):
        vertices = unpack_shape(drawing["shapes"][body["shape"]]).vertices
        R = np.array(body.get("turn", np.eye(3).reshape(-1))).reshape(3, 3)
        placed = vertices @ R.T
        # shapes are in the axes of the heading
        c, s = np.array([R[0, 0], R[1, 0]]) / max(np.hypot(R[0, 0], R[1, 0]), 1e-300)
        turns.append(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]))
        start = np.array(body.get("start", (2.5 * drawing["size"] * i, 0.0, 0.0)))
        outlines.append((body["name"], placed, start))
        size = max(size, float(np.abs(placed + start).max()))
    largest = max(np.abs(shape[:, :3]).max(), 0.3 * size * np.abs(shape[:, 3:]).max(), 1e-12)
    scale = 0.08 * size / largest
    fig, axes = figure(1, 1, 9.0, 4.2)
    ax = axes[0, 0]
    for i, (name, placed, start) in enumerate(outlines):
        for sign, look in ((0.0, "#c6d0d8"), (-1.0, "#94a4b0"), (1.0, color(i))):
            slide, turn = sign * scale * shape[i].reshape(2, 3) @ turns[i].T
            moved = placed + np.cross(turn, placed) + start + slide
            ring = _hull(moved[:, [a, b]])
            label = name if sign == 1.0 else None
            line = {"color": look, "linewidth": 1.8 if sign == 1.0 else 1.0, "label": label}
            ax.plot(*ring.T, linestyle="-" if sign >= 0 else "--", **line)
    if view != "xy":
        ax.axhline(0.0, color=color(5), linewidth=1.0)
    ax.set_aspect("equal", adjustable="datalim")
    period = float(dataset["natural_period"].values[row])
    damping = float(dataset["damping_ratio"].values[row])
    heading(ax, f"Mode {number}: {period:.4g} s, damping {100 * damping:.2g} %", f"{view[1]} [m]")
    below(ax, f"{view[0]} [m]")
    plain(ax.legend(fontsize=8, frameon=False, ncols=6, loc="upper left", borderaxespad=0.2))
    return fig


def _hull(points: np.ndarray) -> np.ndarray:
    """Convex hull of points of a plane."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        ring = points[ConvexHull(points).vertices]
    except QhullError:  # all on a line
        ring = points[[points[:, 0].argmin(), points[:, 0].argmax()]]
    return np.vstack([ring, ring[:1]])


def topology(system: System) -> Figure:
    """The kinematic tree: bodies under the joints that hold them, cut joints dashed.

    Args:
        system: a described system.
    """
    tree = system.topology
    depth, rows = _depths(tree.parent), _rows(tree.parent)
    wide, tall = max(depth, default=0) + 1, max(rows, default=0.0) + 1.0
    fig, axes = figure(1, 1, 2.6 + 2.4 * wide, 1.2 + 0.75 * tall)
    ax = axes[0, 0]
    ax.set_axis_off()
    ax.set_xlim(-0.6, wide + 0.6)
    ax.set_ylim(tall - 0.3, -0.9)
    roots = [row for row, above in zip(rows, tree.parent, strict=True) if above < 0]
    places = {-1: (0.0, float(np.mean(roots)))}
    places |= {i: (depth[i] + 1.0, float(rows[i])) for i in range(len(rows))}

    def link(first: int, second: int, name: str, look: str) -> None:
        (x0, y0), (x1, y1) = places[first], places[second]
        ax.plot([x0, x1], [y0, y1], look, color="#94a4b0", linewidth=1.5, zorder=1)
        at = (0.5 * (x0 + x1), 0.5 * (y0 + y1) - 0.1)
        ax.text(*at, short(name, 22), fontsize=8, color=SOFT, ha="center", parse_math=False)

    for i, (joint, parent) in enumerate(zip(tree.tree_joint, tree.parent, strict=True)):
        link(parent, i, joint, "-")
    for name in tree.cut_joints:
        joint = system.joint(name)
        link(tree.index(joint.base.body), tree.index(joint.follower.body), name, "--")
    names = ["world", *tree.body_names]
    for i, name in enumerate(names, start=-1):
        look = {"boxstyle": "round,pad=0.35", "linewidth": 0}
        look["facecolor"] = "#dfe7ed" if i < 0 else color(i)
        ax.text(
            *places[i],
            short(name, 22),
            fontsize=9,
            color=INK if i < 0 else "white",
            ha="center",
            va="center",
            bbox=look,
            parse_math=False,
            zorder=2,
        )
    heading(ax, short(system.name, 60), "dashed: closed by equations" if tree.cut_joints else "")
    return fig


def _depths(parent: tuple[int, ...]) -> list[int]:
    depth: list[int] = []
    for above in parent:
        depth.append(0 if above < 0 else depth[above] + 1)
    return depth


def _rows(parent: tuple[int, ...]) -> list[float]:
    """Height of every body: leaves one under another, others amid their children."""
    count = len(parent)
    children = {i: [k for k in range(count) if parent[k] == i] for i in range(-1, count)}
    rows = [0.0] * count
    free = 0
    for i in reversed(range(count)):
        if children[i]:
            rows[i] = float(np.mean([rows[k] for k in children[i]]))
        else:
            rows[i] = free
            free += 1
    # bodies come depth first, so the last leaf was placed first: the first shall be on top
    return [max(free - 1, 0) - row for row in rows]


# --- Plots of computed water: the free surface from above, and the pressure on hulls from the
# side


def free_surface(dataset: xr.Dataset, time: float | None = None) -> Figure:
    """The free surface around weak scatterers, and the pressure on their hulls, at one time.

    Args:
        dataset: result of a run with weak scatterers.
        time: the sample nearest to it is shown [s]; that of the highest perturbation if not given.
    """
    if "weak_scatterer_surface" not in dataset:
        raise SwelltreeError(
            "plot.free_surface: this result has no computed free surface. Describe a WeakScatterer "
            "and simulate."
        )
    added = np.abs(dataset["weak_scatterer_elevation"].values).max(1)
    at = int(np.argmax(added))
    if time is not None:
        at = int(np.argmin(np.abs(dataset["time"].values - time)))
    now = dataset.isel(time=at)
    fig, axes = figure(1, 2, 11.0, 4.4, sharex=False)
    x, y, z = now["weak_scatterer_surface"].values.T
    top = _triangles(now, "surface")
    left, right = axes[0]
    shades = left.tripcolor(x, y, top, z, cmap="RdBu_r", shading="gouraud")
    fig.colorbar(shades, ax=left, shrink=0.85)
    heading(left, f"free surface at {float(now['time']):.4g} s", "m")
    left.set_aspect("equal")
    below(left, "x [m]")
    x, _, z = now["weak_scatterer_hull"].values.T
    pressure = now["weak_scatterer_pressure"].values
    unit, factor = prefixed("Pa", float(np.abs(pressure).max()))
    hull = _triangles(now, "hull")
    shades = right.tripcolor(x, z, hull, factor * pressure, shading="gouraud")
    fig.colorbar(shades, ax=right, shrink=0.85)
    heading(right, "pressure on hulls, from the side", unit)
    right.set_aspect("equal")
    below(right, "x [m]")
    return fig


def _triangles(now: xr.Dataset, name: str) -> np.ndarray:
    """Triangles at one time; padding of a changing mesh removed."""
    faces = now[f"weak_scatterer_{name}_triangles"].values.astype(int)
    return faces[faces[:, 0] != faces[:, 1]]
