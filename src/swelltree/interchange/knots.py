"""Free rods without length, which join lines as MoorDyn has them.

Such a rod has no mass and no DOF but to follow: where it joins the end of one line and the
beginning of another, they are one line of several sections, bending and all. Where it joins other
ends it is a junction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swelltree.interchange.tables import LineRow, RodRow, rod_end

if TYPE_CHECKING:
    from swelltree.interchange.mooring_file import MooringFile


def is_knot(rod: RodRow) -> bool:
    """Is it free and without length?"""
    return rod.attachment == "free" and rod.segments == 0


def runs_of_lines(file: MooringFile) -> list[tuple[LineRow, ...]]:
    """Lines in the order of the file, those that free rods join one after the other together."""
    knots = {rod.id for rod in file.rods if is_knot(rod)}

    def knot(end: str) -> str | None:
        rod = rod_end(end)
        return rod[0] if rod is not None and rod[0] in knots else None

    begin: dict[str, list[LineRow]] = {number: [] for number in knots}
    stop: dict[str, list[LineRow]] = {number: [] for number in knots}
    for row in file.lines:
        for end, place in ((row.A, begin), (row.B, stop)):
            number = knot(end)
            if number is not None:
                place[number].append(row)
    joins = {number for number in knots if len(begin[number]) == len(stop[number]) == 1}
    runs = []
    for row in file.lines:
        if knot(row.A) in joins:
            continue  # it goes on from another
        run = [row]
        while (number := knot(run[-1].B)) in joins:
            run.append(begin[number][0])
        runs.append(tuple(run))
    return runs
