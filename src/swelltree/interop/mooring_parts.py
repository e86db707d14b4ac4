"""From the tables of a mooring file to descriptions of a system.

Coupled points go onto the body that carries them, fixed ones are points of the world, free ones
become junctions, rods of a length become `Rod`. Held rods without a length give the direction of a
clamped line, free ones join two lines into one of several sections. Coordinates of coupled things
are those of the world with everything as described, those on a body of the file are in its frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from swelltree.describe import (
    WORLD,
    AppliedForce,
    Ball,
    Body,
    Free,
    Junction,
    Line,
    LinearDamping,
    OnJunction,
    Point,
    QuadraticDrag,
    Rod,
    Section,
    SubsetJoint,
    SwelltreeError,
)
from swelltree.describe.bodies.frames import euler_deg_matrix
from swelltree.describe.errors import warn_user
from swelltree.describe.values import NamedValues
from swelltree.interop.moordyn.tables import (
    BodyRow,
    LineRow,
    LoadRow,
    PointRow,
    PoseStencil,
    RodRow,
    rod_end,
    three,
)
from swelltree.interop.sections import Place
from swelltree.jit import Array

if TYPE_CHECKING:
    from swelltree.describe.mooring.line import LineEnd
    from swelltree.describe.mooring.seabed import Seabed
    from swelltree.interop.mooring_file import MooringFile


# --- Free rods without length, which join lines as MoorDyn has them


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


SLIDES = ("Surge", "Sway", "Heave")
MOVING = ("free", "pinned", "coupledpinned")  # bodies that the file itself describes


@dataclass(frozen=True)
class Frame:
    """Where something is in the world as described, and what it is called."""

    body: str
    position: np.ndarray
    rotation: np.ndarray

    def at(self, world: np.ndarray) -> Point:
        """A point of the world as a point of this body."""
        if self.body == WORLD.name:
            return Point(WORLD.name, _plain(world))
        return Point(self.body, _plain(self.rotation.T @ (world - self.position)))

    def direction(self, world: np.ndarray) -> PoseStencil:
        """A direction of the world in the axes of this body."""
        turned = world if self.body == WORLD.name else self.rotation.T @ world
        return _plain(turned / np.linalg.norm(turned))


GROUND = Frame(WORLD.name, np.zeros(3), np.eye(3))


def _plain(x: np.ndarray) -> PoseStencil:
    """Coordinates without the dust of turning to and fro."""
    return three(np.round(x, 12) + 0.0)


class Parts:
    """Descriptions of one mooring file.

    Args:
        file: its tables.
        carriers: bodies that carry coupled things, by "coupled" or "body1" in lower case.
        model: of the lines.
    """

    def __init__(self, file: MooringFile, carriers: dict[str, object], model: str) -> None:
        self.file = file
        self.carriers = carriers
        self.model = model
        self._points = {row.id: row for row in file.points}
        self._rods = {row.id: row for row in file.rods}
        self._bodies = {row.id: row for row in file.bodies}

    def fields(self) -> NamedValues:
        """Fields of `System` that are not empty."""
        bodies = [row for row in self.file.bodies if row.attachment in MOVING]
        built: dict[str, list[Any]] = {
            "bodies": [],
            "joints": [],
            "forces": [],
            "moorings": [],
        }
        for row in bodies:
            self._body(row, built)
        for load in self.file.loads:
            self._load(load, built)
        lines = [self._line(rows) for rows in runs_of_lines(self.file)]
        used = {
            end.junction
            for line in lines
            for end in (line.A, line.B)
            if isinstance(end, OnJunction)
        }
        junctions = [j for j in map(self._junction, self.file.points) if j]
        junctions += [Junction(f"Rod{rod.id}", rod.a) for rod in self.file.rods if is_knot(rod)]
        junctions = [junction for junction in junctions if junction.name in used]
        rods = [self._rod(row) for row in self.file.rods if row.segments > 0]
        all_fields = {
            **built,
            "lines": lines,
            "line_types": list(self.file.line_types),
            "junctions": junctions,
            "rods": rods,
        }
        return {k: tuple(v) for k, v in all_fields.items() if v} | {"seabed": self._seabed}

    @cached_property
    def _seabed(self) -> Seabed:
        bed, depth = self.file.seabed, self.file.water.depth
        return bed if bed.grid is not None or np.isinf(depth) else bed.replace(depth=depth)

    # where things are

    def _fail(self, section: str, line: int, text: str) -> SwelltreeError:
        return Place(self.file.path, section).fail(line, text)

    def _carrier(self, key: str, section: str, line: int) -> Frame:
        """The user's body that carries a coupled thing."""
        body = self.carriers.get(key)
        if body is None:
            raise self._fail(
                section,
                line,
                "this is coupled to a body that the file does not describe. Give "
                "fairleads_on=body, or fairleads_on=WORLD to hold it where it is.",
            )
        if body is WORLD:
            return GROUND
        if not isinstance(body, Body):
            raise SwelltreeError(
                f"fairleads_on is {body!r}, which is not a body. Give a Body or WORLD."
            )
        return Frame(body.name, np.array(body.position), body.rotation_matrix)

    def _body_frame(self, key: str, section: str, line: int) -> tuple[Frame, Frame]:
        """Frame of a body of the file, and that of what carries things attached to it."""
        row = self._bodies.get(key)
        if row is None:
            raise self._fail(section, line, f"body {key} is not in the file. Add it to BODIES.")
        frame = Frame(f"Body{row.id}", np.array(row.position), euler_deg_matrix(row.rotation_deg))
        if row.attachment == "fixed":
            return frame, GROUND
        if row.attachment == "coupled":
            return frame, self._carrier(f"body{row.id}", "bodies", row.line)
        if row.attachment in MOVING:
            return frame, frame
        raise self._fail(
            "bodies", row.line, f"attachment '{row.attachment}' of a body cannot be read."
        )

    def _carried(self, kind: str, section: str, line: int) -> tuple[Frame, Frame]:
        """Frame in which coordinates are given, and that of what carries the thing."""
        kind = kind.removesuffix("pinned") or "fixed"
        if kind == "coupled":
            return GROUND, self._carrier("coupled", section, line)
        if kind.startswith("body"):
            return self._body_frame(kind.removeprefix("body"), section, line)
        return GROUND, GROUND

    def _end(self, row: LineRow, text: str, far: bool) -> tuple[LineEnd, Array | None]:
        """A line end, and the direction of a clamp there."""
        nonlinearity = any(t.name == row.type and t.EI > 0 for t in self.file.line_types)
        rod = rod_end(text)
        if rod is not None:
            end, clamp = self._at_rod(row, *rod, far)
            return end, clamp if nonlinearity else None
        point = self._points.get(text.removeprefix("P"))
        if point is None:
            raise self._fail(
                "lines", row.line, f"point '{text}' is not in the file. Add it to POINTS."
            )
        if point.attachment == "free":
            return OnJunction(f"Point{point.id}"), None
        specified, carrier = self._carried(point.attachment, "points", point.line)
        if carrier is not GROUND and (point.mass or point.volume or point.drag_area):
            self._warn(f"point {point.id} is on a body; its mass, volume and drag are left out.")
        world = specified.position + specified.rotation @ np.array(point.position)
        return carrier.at(world), None

    def _at_rod(
        self, row: LineRow, number: str, letter: str, far: bool
    ) -> tuple[LineEnd, Array | None]:
        rod = self._rods.get(number)
        if rod is None:
            raise self._fail("lines", row.line, f"rod {number} is not in the file. Add it to RODS.")
        # out of the rod at the line's end A, into it at the line's end B
        sign = (1.0 if letter == "B" else -1.0) * (-1.0 if far else 1.0)
        if rod.segments > 0:
            name, length = f"Rod{rod.id}", float(np.linalg.norm(np.subtract(rod.b, rod.a)))
            at = (0.0, 0.0, length if letter == "B" else 0.0)
            return Point(name, at), (0.0, 0.0, sign)
        if is_knot(rod):
            return OnJunction(f"Rod{rod.id}"), None
        if rod.attachment not in ("fixed", "coupled") and not rod.attachment.startswith("body"):
            raise self._fail(
                "rods",
                rod.line,
                f"a rod without length that is '{rod.attachment}' cannot be read. Give it "
                "segments and a length, or fix it.",
            )
        specified, carrier = self._carried(rod.attachment, "rods", rod.line)
        world = specified.position + specified.rotation @ np.array(rod.a)
        return carrier.at(world), carrier.direction(sign * (specified.rotation @ np.array(rod.b)))

    # what things become

    def _line(self, rows: tuple[LineRow, ...]) -> Line:
        """A line of the file, or several that free rods without length join, as its sections."""
        known = [item.name for item in self.file.line_types]
        for row in rows:
            if row.type not in known:
                raise self._fail(
                    "lines", row.line, f"line type '{row.type}' is not in the file. Add it."
                )
        first, last = rows[0], rows[-1]
        (a, clamp_a), (b, clamp_b) = self._end(first, first.A, False), self._end(last, last.B, True)
        built: NamedValues = {"type": first.type, "segments": first.segments}
        if len(rows) > 1:
            built = {"sections": [Section(row.type, row.length, row.segments) for row in rows]}
        try:
            return Line(
                "_".join(f"Line{row.id}" for row in rows),
                a,
                b,
                sum(row.length for row in rows),
                model=self.model,
                clamp_A=clamp_a,
                clamp_B=clamp_b,
                **built,
                **self._release(first, last),
            )
        except SwelltreeError as error:
            raise self._fail("lines", first.line, str(error)) from None

    def _release(self, first: LineRow, last: LineRow) -> NamedValues:
        """When the line lets go of one of its ends."""
        ends = {("A", first.id): first.A, ("B", last.id): last.B}
        for failure in self.file.failures:
            if first.id not in failure.lines and last.id not in failure.lines:
                continue
            if len(failure.lines) > 1:
                raise self._fail(
                    "failure",
                    failure.line,
                    "several lines let go together and stay joined, which is not modelled. Give "
                    "one line.",
                )
            point = failure.point.removeprefix("P")
            found = [
                end
                for (end, line), at in ends.items()
                if line in failure.lines and at.removeprefix("P") == point
            ]
            if not found:
                raise self._fail(
                    "failure",
                    failure.line,
                    f"point {failure.point} is at no end of line {', '.join(failure.lines)}. Give "
                    "the point at its end A or B.",
                )
            limits = {"release_time": failure.time, "release_tension": failure.tension}
            limits = {key: value for key, value in limits.items() if value > 0}
            return limits | {"release_end": found[-1]}
        return {}

    def _junction(self, row: PointRow) -> Junction | None:
        if row.attachment != "free":
            return None
        if any(row.force):
            raise self._fail(
                "points", row.line, "a force on a point cannot be read. Put it on a body."
            )
        return Junction(
            f"Point{row.id}", row.position, row.mass, row.volume, row.drag_area, row.added_mass
        )

    def _rod(self, row: RodRow) -> Rod:
        kind = next((t for t in self.file.rod_types if t.id == row.type), None)
        if kind is None:
            raise self._fail("rods", row.line, f"rod type '{row.type}' is not in the file. Add it.")
        specified, carrier = self._carried(row.attachment, "rods", row.line)
        ends = [specified.position + specified.rotation @ np.array(x) for x in (row.a, row.b)]
        attachment = "pinned" if row.attachment.endswith("pinned") else "fixed"
        if row.attachment == "free":
            attachment = "free"
        try:
            return Rod(
                f"Rod{row.id}",
                carrier.at(ends[0]),
                carrier.at(ends[1]),
                kind.diameter,
                kind.mass_per_length,
                Cdn=kind.Cd,
                Can=kind.Ca,
                Cd_end=kind.Cd_end,
                Ca_end=kind.Ca_end,
                segments=row.segments,
                attachment=attachment,
            )
        except SwelltreeError as error:
            raise self._fail("rods", row.line, str(error)) from None

    def _body(self, row: BodyRow, built: dict[str, list[Any]]) -> None:
        """A body of the file with its joint and drag; without inertia it only slides."""
        name, rho = f"Body{row.id}", self.file.water.rho
        added = {
            dof: rho * row.volume * Ca
            for dof, Ca in zip(SLIDES, row.added_mass, strict=True)
            if row.volume * Ca
        }
        body = Body(
            name,
            mass=row.mass,
            inertia=row.inertia,
            com=row.com,
            position=row.position,
            rotation_deg=row.rotation_deg if any(row.rotation_deg) else None,
            reference_point=(0.0, 0.0, 0.0),
            displaced_volume=row.volume or None,
            center_of_buoyancy=(0.0, 0.0, 0.0) if row.volume else None,
            added_mass=added,
        )
        built["bodies"].append(body)
        turns = any(row.inertia) or any(self._turned_by(row))
        if row.attachment.endswith("pinned"):
            built["joints"].append(Ball(f"{name}_pin", self._pin(row), body))
        elif turns:
            built["joints"].append(Free(f"{name}_free", WORLD, body))
        else:
            built["joints"].append(SubsetJoint(f"{name}_free", WORLD, body, dofs=SLIDES))
        dofs = (*SLIDES, "Roll", "Pitch", "Yaw")
        drag = {d: 0.5 * rho * c for d, c in zip(dofs, row.drag_area, strict=True) if c}
        if drag:
            built["forces"].append(QuadraticDrag(f"{name}_drag", body, drag, relative_to="water"))

    def _pin(self, row: BodyRow) -> Point:
        """Where a pinned body hangs: in the world, or on what carries coupled things."""
        coupled = row.attachment == "coupledpinned"
        carrier = self._carrier(f"body{row.id}", "bodies", row.line) if coupled else GROUND
        return carrier.at(np.array(row.position))

    def _turned_by(self, row: BodyRow) -> list[bool]:
        """Do lines or rods pull at it away from its origin?"""
        prefix = f"body{row.id}"
        points = [any(p.position) for p in self.file.points if p.attachment == prefix]
        return [*points, *(rod.attachment.startswith(prefix) for rod in self.file.rods)]

    def _load(self, row: LoadRow, built: dict[str, list[Any]]) -> None:
        body = next((b for b in built["bodies"] if b.name.lower() == row.object), None)
        if body is None:
            raise self._fail(
                "external loads",
                row.line,
                f"loads of '{row.object}' cannot be read, only those of bodies that move by "
                "themselves. Take the row out and use AppliedForce.",
            )
        if len(row.linear) != 3 or len(row.quadratic) != 3:
            raise self._fail(
                "external loads",
                row.line,
                f"Blin has {len(row.linear)} and Bquad {len(row.quadratic)} values between bars. "
                "Give three of each for a body.",
            )
        slides = any(j.name == f"{body.name}_free" and j.type == "subset" for j in built["joints"])
        even = len(set(row.quadratic)) == 1
        if any(row.quadratic) and row.axes == "G" and not slides and not even:
            raise self._fail(
                "external loads",
                row.line,
                "quadratic damping that differs along fixed axes is not modelled for a body that "
                "turns. Give CSys L.",
            )
        if any(row.linear) and row.axes == "L" and not slides and len(set(row.linear)) > 1:
            raise self._fail(
                "external loads",
                row.line,
                "linear damping that differs along the axes of the body is not modelled. Give "
                "CSys G.",
            )
        name = f"{body.name}_load{row.id}"
        if any(row.force):
            axes = "body" if row.axes == "L" else "world"
            built["forces"].append(AppliedForce(name, body.at(), row.force, axes=axes))
        if any(row.quadratic):
            drag = dict(zip(SLIDES, row.quadratic, strict=True))
            built["forces"].append(QuadraticDrag(f"{name}_drag", body, drag, relative_to="ground"))
        if any(row.linear):
            damping = dict(zip(SLIDES, row.linear, strict=True))
            built["moorings"].append(LinearDamping(f"{name}_damping", body, damping))

    def _warn(self, text: str) -> None:
        warn_user(f"{self.file.path.name}: {text}")
