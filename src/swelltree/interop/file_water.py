"""The water of a mooring file: what it states, what the user gives, and the depth of its anchors.

Files of OpenFAST leave the depth to the driver. Without a ground their lines would hang below
their own anchors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.describe.mooring.seabed import depth_under
from swelltree.interop.moordyn.tables import PointRow, PoseStencil, RodRow
from swelltree.interop.mooring_file import MooringFile

IN_THE_WORLD = ("fixed", "pinned", "coupled", "coupledpinned", "free")
Fail = Callable[[str, PointRow | RodRow, str], SwelltreeError]


def with_water(file: MooringFile, specified: Mapping[str, float | None], fail: Fail) -> MooringFile:
    """The file with all numbers of its water; nothing of it lies under the ground.

    Args:
        file: as read.
        specified: depth, rho and g of the user, None where the file is to give them.
        fail: makes the error about a row of a section.
    """
    changed = {word: value for word, value in specified.items() if value is not None}
    for word, value in changed.items():
        if word in file.stated and value != getattr(file.water, word):
            raise SwelltreeError(
                f"{file.path.name}: {word} is {value} but the file says "
                f"{getattr(file.water, word)}. Leave it out."
            )
    file = replace(file, water=file.water.replace(**changed), stated=(*file.stated, *changed))
    if "depth" not in file.stated and file.seabed.grid is None:
        file = _with_depth_of_anchors(file)
    for section, row, (x, y, z) in _places(file):
        level = file.seabed.level(x, y, file.water.depth)
        if depth_under(z, level):
            raise fail(
                section,
                row,
                f"z = {z:g} m lies below the seabed, which is at {level:g} m there. "
                "Fix the place or the depth.",
            )
    return file


def _with_depth_of_anchors(file: MooringFile) -> MooringFile:
    depth = _depth_of_anchors(file)
    note = (
        f"the file does not give the depth of the water: {depth:g} m are taken, that of its "
        "anchors. Give depth=... where it is another."
    )
    warn_user(f"{file.path.name}: {note}")
    return replace(file, water=file.water.replace(depth=depth), notes=(*file.notes, note))


def _depth_of_anchors(file: MooringFile) -> float:
    fixed = [z for _, row, (_, _, z) in _places(file) if row.attachment in ("fixed", "pinned")]
    wet = [z for z in fixed if z < 0.0]
    if not wet:
        raise SwelltreeError(
            f"{file.path.name}: the file does not give the depth of the water and has no anchor to "
            "take it from. Give depth=..., or depth=inf."
        )
    low, high = min(wet), max(wet)
    if depth_under(low, high):
        raise SwelltreeError(
            f"{file.path.name}: the file does not give the depth of the water, and its fixed "
            f"points lie between z = {low:g} and {high:g} m. Give depth=..."
        )
    return -low


def _places(file: MooringFile) -> Iterator[tuple[str, PointRow | RodRow, PoseStencil]]:
    """Section, row and place of what is given in the world."""
    for point in file.points:
        if point.attachment in IN_THE_WORLD:
            yield "points", point, point.position
    for rod in file.rods:
        if rod.attachment in IN_THE_WORLD:
            yield "rods", rod, rod.a
            if rod.segments > 0:  # otherwise b is a direction
                yield "rods", rod, rod.b
