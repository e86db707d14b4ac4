"""A hull that floats on the incident surface: its waterline, its wet vertices, the surface around.

Vertices of the free surface have the waterline as their inner ring. Around it the plan of the mesh
follows the waterline with a share that falls to zero further out, so that nothing is meshed again
and nothing is compiled again while the body moves.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from swelltree.hydro.weak_scatterer.incident.interface import Incident, surface
from swelltree.hydro.weak_scatterer.mesh.meridians import Meridians
from swelltree.jit import Array, jax, jnp, namespace, pytree

MARGIN = 0.3  # of the step below the still waterline
REACH = 6.0  # radii of the waterline over which the mesh around follows it


@pytree("rings", "body", "first", "open_below")
class Shell:
    """A hull that pierces the surface.

    Args:
        points: meridians in body axes [m].
        arc: length along them from the keel [m].
        margin: min length between the waterline and the ring below it [m].
        follow: fraction of the displacement of the waterline at vertices of the free surface.
        ring: still waterline in the plan of the mesh [m].
        rings: steps of the mesh from the keel to the waterline; the first points are its rings.
        body: number of the floater.
        first: vertex of the free surface with which its waterline begins.
        cut: of a body that may cross the surface: 1.0 while the surface cuts it, else 0.0; None: it
            stays on the surface.
        open_below: its lines begin at an edge of other triangles of the body, not at one keel.
    """

    points: Float[Array, "line place xyz"]
    arc: Float[Array, "line place"]
    margin: Float[Array, " line"]
    follow: Float[Array, "surface line"]
    ring: Float[Array, "line xy"]
    rings: int
    body: int
    first: int = 0
    cut: Array | None = None
    open_below: bool = False


def shell_triangles(lines: int, rings: int, half: bool) -> tuple[int, np.ndarray]:
    """Own vertices of a shell, and triangles with normals out of the water.

    The keel is vertex 0, rings follow from below; vertices of the waterline come after all.
    """
    inside = 1 + (rings - 1) * lines
    ring = 1 + np.arange(rings * lines)
    here = ring[: lines - 1] if half else ring[:lines]
    ahead = ring[1:lines] if half else np.roll(here, -1)
    fan = np.stack([np.zeros_like(here), here, ahead], -1)
    return inside, np.concatenate([fan, ring_triangles(ring, lines, half)])


def ring_triangles(rings: np.ndarray, lines: int, half: bool) -> np.ndarray:
    """Triangles between rings of vertices from below, normals out of the water."""
    ring = rings.reshape(-1, lines)
    here, ahead = (ring[:, :-1], ring[:, 1:]) if half else (ring, np.roll(ring, -1, axis=1))
    one = np.stack([here[:-1], ahead[1:], ahead[:-1]], -1).reshape(-1, 3)
    two = np.stack([here[:-1], here[1:], ahead[1:]], -1).reshape(-1, 3)
    return np.concatenate([one, two])


def following(places: np.ndarray, ring: np.ndarray, reach: float, half: bool) -> np.ndarray:
    """Fraction of the displacement of each vertex of a waterline at vertices around it (n, line).

    Args:
        places: plan of the free surface (n, 2) [m].
        ring: still waterline, counter-clockwise (line, 2) [m].
        reach: distance at which nothing follows [m].
        half: only y >= 0.
    """
    middle = 0.5 * (ring.min(0) + ring.max(0))
    middle = middle * [1.0, 0.0] if half else middle
    at, radius = _polar(ring - middle)
    turn, away = _polar(places - middle)
    if not half:
        # once around, from a vertex to itself
        at = at[0] + (at - at[0]) % (2.0 * np.pi)
        at, radius = np.append(at, at[0] + 2.0 * np.pi), np.append(radius, radius[0])
        turn = at[0] + (turn - at[0]) % (2.0 * np.pi)
    low = np.clip(np.searchsorted(at, turn + 1e-9) - 1, 0, len(at) - 2)
    share = np.clip((turn - at[low]) / (at[low + 1] - at[low]), 0.0, 1.0)
    edge = (1.0 - share) * radius[low] + share * radius[low + 1]
    part = np.clip((away - edge) / reach, 0.0, 1.0)
    fall = (1.0 - part) ** 2 * (1.0 + 2.0 * part)
    result, rows = np.zeros((len(places), len(ring))), np.arange(len(places))
    np.add.at(result, (rows, low), (1.0 - share) * fall)
    np.add.at(result, (rows, (low + 1) % len(ring)), share * fall)
    return result


def _polar(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Angles from zero to a turn, and distances."""
    turn = np.arctan2(places[:, 1], places[:, 0])
    return np.where(turn < -1e-9, turn + 2.0 * np.pi, np.maximum(turn, 0.0)), np.hypot(*places.T)


def build_shell(
    lines: Meridians,
    wet: np.ndarray,
    follow: np.ndarray,
    ring: np.ndarray,
    rings: int,
    body: int,
    first: int = 0,
    *,
    open_below: bool = False,
) -> Shell:
    """A shell of divided meridians.

    Args:
        lines: of the hull, their first points the rings of the mesh.
        wet: length of each in still water (line,) [m].
        follow: from `following`.
        ring: still waterline in the plan of the mesh (line, 2) [m].
        rings: steps of the mesh from the keel to the waterline.
        body: number of the floater.
        first: vertex of the free surface with which its waterline begins.
        open_below: the lines begin at an edge of other triangles.
    """
    return Shell(
        points=lines.points,
        arc=lines.arc,
        margin=MARGIN * (wet - lines.arc[:, rings - 1]),
        follow=follow,
        ring=ring,
        rings=rings,
        body=body,
        first=first,
        open_below=open_below,
    )


def shell_vertices(
    shell: Shell,
    wave: Incident | None,
    t: Array,
    position: Float[Array, " xyz"],
    rotation: Float[Array, "xyz also"],
) -> tuple[Float[Array, "own xyz"], Float[Array, "line xyz"]]:
    """Wet vertices of a hull in the world: its own from the keel upwards, and its waterline.

    A meridian that is wholly dry or wholly wet has no waterline: its vertices are not numbers. Of a
    body that may cross the surface it then ends at its top, or near the keel.

    Args:
        shell: the hull.
        wave: whose surface cuts it; None: still water.
        t: [s].
        position: of the reference point [m].
        rotation: of the body.
    """
    world, wet = wet_lines(shell, wave, t, position, rotation)
    xp = namespace(wet)
    # (line, ring, xyz)
    if xp is np:
        each = zip(_places(shell, wet), shell.arc, world, strict=True)
        result = np.array([_along(*line) for line in each])
    else:
        result = jax.vmap(_along)(_places(shell, wet), jnp.asarray(shell.arc), world)
    rings = xp.swapaxes(result, 0, 1)
    keel = rings[0, : 0 if shell.open_below else 1]
    inside = xp.concatenate([keel, rings[1:-1].reshape(-1, 3)])
    return inside, rings[-1]


def wet_lines(
    shell: Shell, wave: Incident | None, t: Array, position: Array, rotation: Array
) -> tuple[Float[Array, "line place xyz"], Float[Array, " line"]]:
    """Meridians in the world, and the length of each from the keel to the water [m]."""
    xp = namespace(position, rotation)
    world = position + xp.einsum("ij,lkj->lki", rotation, shell.points)
    level = 0.0
    if wave is not None:
        level = surface(wave, t, world[..., :2].reshape(-1, 2)).level.reshape(world.shape[:2])
    clear = world[..., 2] - level
    wet = _wet_length(shell.arc, clear)
    if shell.cut is not None:
        end = xp.where(clear[:, -1] <= 0.0, shell.arc[:, -1], 0.5 * shell.arc[:, 1])
        wet = xp.where(xp.isnan(wet), end, wet)
    return world, wet


def _places(shell: Shell, wet: Float[Array, " line"]) -> Float[Array, "line ring"]:
    """Lengths along the lines where the vertices lie, from the keel to the waterline.

    Rings stay where they are on the hull, unless the waterline comes down and pushes them.
    """
    xp = namespace(wet)
    number = xp.arange(shell.rings)
    pushed = wet[:, None] - shell.margin[:, None] * (shell.rings - number)
    evenly = wet[:, None] * number / shell.rings
    below = xp.minimum(shell.arc[:, : shell.rings], xp.maximum(pushed, evenly))
    return xp.concatenate([below, wet[:, None]], axis=1)


def _wet_length(arc: Array, clear: Array) -> Array:
    """Length from the keel to where a line leaves the water (line,)."""
    xp = namespace(clear)
    arc = xp.asarray(arc)
    crossing = (clear[:, :-1] <= 0.0) & (clear[:, 1:] > 0.0)
    at = xp.argmax(crossing, axis=1)
    rows = xp.arange(len(arc))
    low, high = clear[rows, at], clear[rows, at + 1]
    part = low / xp.where(crossing.any(1), low - high, 1.0)
    length = arc[rows, at] + part * (arc[rows, at + 1] - arc[rows, at])
    return xp.where(crossing.any(1), length, xp.nan)


def _along(lengths: Array, arc: Array, line: Array) -> Array:
    """Points of a line at lengths from its start."""
    xp = namespace(lengths)
    return xp.stack([xp.interp(lengths, arc, line[:, c]) for c in range(3)], -1)


def still_lengths(lines: Meridians, position: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Wet length of each meridian in still water (line,) [m]; not a number: there is none."""
    world = position + np.einsum("ij,lkj->lki", rotation, lines.points)
    return _wet_length(lines.arc, world[..., 2])


def around(shell: Shell, ring: Float[Array, "line xy"]) -> Float[Array, "surface xy"]:
    """Displacement in plan of the free surface around a waterline [m].

    Args:
        shell: the hull.
        ring: its waterline [m].
    """
    return shell.follow @ (ring - shell.ring)
