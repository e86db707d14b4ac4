"""Named body points and distances that a run reports."""

from __future__ import annotations

from swelltree.engine.arrays import Array, pytree


@pytree("points", "pairs", "body", "body_a", "body_b")
class Sensors:
    """Points (k of them) and pairs of points (d of them)."""

    point: Array  # (k, 3)
    point_a: Array  # (d, 3)
    point_b: Array  # (d, 3)
    points: tuple[str, ...]  # names
    pairs: tuple[str, ...]
    body: tuple[int, ...]
    body_a: tuple[int, ...]
    body_b: tuple[int, ...]
