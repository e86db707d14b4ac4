"""`MooringFile`: the tables of a mooring file, how they go into a system, and its water.

Files of OpenFAST leave the depth to the driver. Without a ground their lines would hang below
their own anchors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swelltree.describe import LineType, Seabed, System, Water
from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.describe.mooring.seabed import depth_under
from swelltree.describe.values import NamedValues
from swelltree.interop.mooring_parts import Parts
from swelltree.interop.mooring_rows import (
    BodyRow,
    FailureRow,
    LineRow,
    LoadRow,
    PointRow,
    RodRow,
    RodType,
    Triple,
)

if TYPE_CHECKING:
    from swelltree.describe.bodies.body import Body
    from swelltree.describe.environment.seas import Sea
    from swelltree.describe.environment.water import Current
    from swelltree.describe.joints.joint import Joint

DEFAULT_WATER = Water(rho=1025.0, g=9.80665)


@dataclass(frozen=True)
class MooringFile:
    """What a mooring file says.

    Args:
        line_types: what lines are made of.
        points: where lines end.
        lines: the lines.
        bodies: bodies of the file itself.
        rod_types: what rods are made of.
        rods: the rods.
        failures: lines that let go.
        loads: constant forces and damping of objects.
        water: density, gravity and depth.
        seabed: the ground.
        sea: the waves of the file, for a study; None where it has none.
        current: of the file; None where it has none.
        notes: what was left out because it steers the other program.
        stated: which of rho, g and depth the file gives.
        path: of the file.
        model: of the lines, unless another is asked for.
    """

    line_types: tuple[LineType, ...]
    points: tuple[PointRow, ...] = ()
    lines: tuple[LineRow, ...] = ()
    bodies: tuple[BodyRow, ...] = ()
    rod_types: tuple[RodType, ...] = ()
    rods: tuple[RodRow, ...] = ()
    failures: tuple[FailureRow, ...] = ()
    loads: tuple[LoadRow, ...] = ()
    water: Water = DEFAULT_WATER
    seabed: Seabed = field(default_factory=lambda: Seabed(stiffness=3.0e6, damping=3.0e5))
    sea: Sea | None = None
    current: Current | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)
    stated: tuple[str, ...] = field(default=(), compare=False)
    path: Path = field(default=Path("mooring"), compare=False)
    model: str = field(default="dynamic", compare=False)

    def parts(self, fairleads_on: object = None, *, model: str | None = None) -> NamedValues:
        """Descriptions to be put into a system: `System(..., **mooring.parts(spar))`.

        Args:
            fairleads_on: the `Body` that carries coupled points and rods and the coupled body of
                the file; with several coupled bodies {"Body1": body, ...}, where "Coupled" stands
                for points without a body of the file. WORLD holds them where they are.
            model: of the lines; that which the file is for if not given.

        Returns:
            lines, line_types, junctions, rods and seabed; bodies, joints, forces and moorings
            where the file has bodies that move by themselves; its current where it has one.
        """
        fields = self._built(fairleads_on, model).fields()
        return fields if self.current is None else fields | {"current": self.current}

    def system(
        self,
        name: str,
        bodies: Sequence[Body] = (),
        joints: Sequence[Joint] = (),
        *,
        fairleads_on: object = None,
        model: str | None = None,
        **more: Any,
    ) -> System:
        """A whole system: the mooring, its water, and what else is given.

        Args:
            name: of the system.
            bodies: further bodies, such as the float.
            joints: further joints.
            fairleads_on: as in `parts`; the only body if there is one.
            model: of the lines; that which the file is for if not given.
            more: further fields of `System`.
        """
        if fairleads_on is None and len(bodies) == 1:
            fairleads_on = bodies[0]
        fields = self.parts(fairleads_on, model=model)
        fields["bodies"] = (*bodies, *fields.get("bodies", ()))
        fields["joints"] = (*joints, *fields.get("joints", ()))
        fields["water"] = self.water
        for key, value in more.items():
            several = key in fields and isinstance(value, list | tuple)
            fields[key] = (*value, *fields[key]) if several else value
        return System(name, **fields)

    def _built(self, fairleads_on: object, model: str | None) -> Parts:
        model = model or self.model
        if isinstance(fairleads_on, Mapping):
            return Parts(self, {str(k).lower(): v for k, v in fairleads_on.items()}, model)
        coupled = [row for row in self.bodies if row.attachment.startswith("coupled")]
        if fairleads_on is not None and len(coupled) > 1:
            names = ", ".join(f"'Body{row.id}'" for row in coupled)
            raise SwelltreeError(
                f"{self.path.name} has the coupled bodies {names}. Give fairleads_on as a table "
                "{'Body1': body, ...}."
            )
        table = {} if fairleads_on is None else {"coupled": fairleads_on}
        table |= {f"body{row.id}": fairleads_on for row in coupled if fairleads_on is not None}
        return Parts(self, table, model)


# --- The water

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


def _places(file: MooringFile) -> Iterator[tuple[str, PointRow | RodRow, Triple]]:
    """Section, row and index of coordinates in world axes."""
    for point in file.points:
        if point.attachment in IN_THE_WORLD:
            yield "points", point, point.position
    for rod in file.rods:
        if rod.attachment in IN_THE_WORLD:
            yield "rods", rod, rod.a
            if rod.segments > 0:  # otherwise b is a direction
                yield "rods", rod, rod.b
