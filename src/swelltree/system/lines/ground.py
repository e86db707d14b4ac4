"""What lines hang on is not under the ground: they would hang below their own anchors."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from swelltree.system.describe import Description
from swelltree.system.lines.line import OnLine
from swelltree.system.lines.seabed import depth_under

if TYPE_CHECKING:
    from swelltree.system.system import System


def _places(system: "System") -> Iterator[tuple[Description, str, np.ndarray]]:
    """Items, the words for their points, and where these are as described."""
    for line in system.lines:
        ends = (("end A", line.A), ("end B", line.B))
        yield from (
            (line, word, system.end_point(end)) for word, end in ends if not isinstance(end, OnLine)
        )
    for rod in system.rods:
        ends = (("end A", rod.A), ("end B", rod.B))
        yield from ((rod, word, system.world_point(end)) for word, end in ends)
    for junction in system.junctions:
        yield junction, "position", np.array(junction.position)


def check_ground(system: "System") -> None:
    """Reject ends of lines and rods, and junctions, that are described under the seabed."""
    for item, word, (x, y, z) in _places(system):
        level = system.seabed.level(x, y, system.water.depth)
        if depth_under(z, level):
            raise item.fail(
                f"its {word} at z = {z:g} m lies below the seabed, which is at {level:g} m there. "
                "Move it, or give Seabed(depth=...)."
            )
