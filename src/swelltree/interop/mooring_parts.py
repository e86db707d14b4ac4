"""From the tables of a mooring file to descriptions of a system.

Coupled points go onto the body that carries them, fixed ones are points of the world, free ones
become junctions, rods of a length become `Rod`. Held rods without a length give the direction of a
clamped line, free ones join two lines into one of several sections. Coordinates of coupled things
are those of the world with everything as described, those on a body of the file are in its frame.
"""

from __future__ import annotations

from dataclasses import dataclass
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
from swelltree.describe.errors import warn_user
from swelltree.describe.values import NamedValues, euler_deg_matrix
from swelltree.interop.mooring_rows import (
    BodyRow,
    LineRow,
    LoadRow,
    Place,
    PointRow,
    RodRow,
    Row,
    Triple,
    rod_end,
    three,
)
from swelltree.jit import Array

if TYPE_CHECKING:
    from swelltree.describe.mooring.line import LineEnd
    from swelltree.interop.mooring_file import MooringFile

SLIDES = ("Surge", "Sway", "Heave")
MOVING = ("free", "pinned", "coupledpinned")  # bodies that the file itself describes


@dataclass(frozen=True)
class Frame:
    """Described pose of a carrier, and its name."""

    body: str
    position: np.ndarray
    rotation: np.ndarray

    def world(self, place: Triple) -> np.ndarray:
        return self.position + self.rotation @ np.array(place)

    def at(self, world: np.ndarray) -> Point:
        """A point of the world as a point of this body."""
        if self.body == WORLD.name:
            return Point(WORLD.name, _plain(world))
        return Point(self.body, _plain(self.rotation.T @ (world - self.position)))

    def direction(self, world: np.ndarray) -> Triple:
        """A direction of the world in the axes of this body."""
        turned = world if self.body == WORLD.name else self.rotation.T @ world
        return _plain(turned / np.linalg.norm(turned))


GROUND = Frame(WORLD.name, np.zeros(3), np.eye(3))


def _plain(x: np.ndarray) -> Triple:
    """Coordinates without round-off of rotations."""
    return three(np.round(x, 12) + 0.0)


def _is_knot(rod: RodRow) -> bool:
    """Whether a rod is free and of zero length, so that it only joins lines."""
    return rod.attachment == "free" and rod.segments == 0


def _runs_of_lines(file: MooringFile) -> list[tuple[LineRow, ...]]:
    """Lines in the order of the file; lines joined by free zero-length rods form one run."""
    knots = {rod.id for rod in file.rods if _is_knot(rod)}

    def knot(end: str) -> str | None:
        rod = rod_end(end)
        return rod[0] if rod is not None and rod[0] in knots else None

    begin = {number: [row for row in file.lines if knot(row.A) == number] for number in knots}
    stop = {number: [row for row in file.lines if knot(row.B) == number] for number in knots}
    joins = {number for number in knots if len(begin[number]) == len(stop[number]) == 1}
    runs = []
    for row in file.lines:
        if knot(row.A) in joins:
            continue  # it goes on from another
        run = [row]
        while (number := knot(run[-1].B)) in joins:
            run.append(begin[str(number)][0])
        runs.append(tuple(run))
    return runs


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
        self._types = {item.name: item for item in file.line_types}
        self._rod_types = {item.id: item for item in file.rod_types}
        self.built: dict[str, list[Any]] = {
            key: [] for key in ("bodies", "joints", "forces", "moorings")
        }

    def fields(self) -> NamedValues:
        file, built = self.file, self.built
        for row in file.bodies:
            if row.attachment in MOVING:
                self._body(row)
        for load in file.loads:
            self._load(load)
        lines = [self._line(rows) for rows in _runs_of_lines(file)]
        ends = [end for line in lines for end in (line.A, line.B)]
        used = {end.junction for end in ends if isinstance(end, OnJunction)}
        junctions = [self._junction(row) for row in file.points if row.attachment == "free"]
        junctions += [Junction(f"Rod{rod.id}", rod.a) for rod in file.rods if _is_knot(rod)]
        built |= {"lines": lines, "line_types": list(file.line_types)}
        built["junctions"] = [junction for junction in junctions if junction.name in used]
        built["rods"] = [self._rod(row) for row in file.rods if row.segments > 0]
        bed, depth = file.seabed, file.water.depth
        bed = bed if bed.grid is not None or np.isinf(depth) else bed.replace(depth=depth)
        return {k: tuple(v) for k, v in built.items() if v} | {"seabed": bed}

    # where things are

    def _fail(self, section: str, row: Row, text: str) -> SwelltreeError:
        return Place(self.file.path, section).fail(row, text)

    def _carrier(self, key: str, section: str, row: Row) -> Frame:
        """The user's body that carries a coupled item."""
        body = self.carriers.get(key)
        if body is None:
            raise self._fail(
                section,
                row,
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

    def _carried(self, section: str, row: PointRow | RodRow) -> tuple[Frame, Frame]:
        """Frame of the coordinates, and frame of the carrier."""
        kind = row.attachment.removesuffix("pinned") or "fixed"
        if kind == "coupled":
            return GROUND, self._carrier("coupled", section, row)
        if not kind.startswith("body"):
            return GROUND, GROUND
        key = kind.removeprefix("body")
        body = self._bodies.get(key)
        if body is None:
            raise self._fail(section, row, f"body {key} is not in the file. Add it to BODIES.")
        frame = Frame(f"Body{key}", np.array(body.position), euler_deg_matrix(body.rotation_deg))
        if body.attachment == "fixed":
            return frame, GROUND
        if body.attachment == "coupled":
            return frame, self._carrier(f"body{key}", "bodies", body)
        if body.attachment in MOVING:
            return frame, frame
        raise self._fail(
            "bodies", body, f"attachment '{body.attachment}' of a body cannot be read."
        )

    def _end(self, row: LineRow, text: str, far: bool) -> tuple[LineEnd, Array | None]:
        rod = rod_end(text)
        if rod is not None:
            end, clamp = self._at_rod(row, *rod, far)
            return end, clamp if row.type in self._types and self._types[row.type].EI > 0 else None
        point = self._points.get(text.removeprefix("P"))
        if point is None:
            raise self._fail("lines", row, f"point '{text}' is not in the file. Add it to POINTS.")
        if point.attachment == "free":
            return OnJunction(f"Point{point.id}"), None
        specified, carrier = self._carried("points", point)
        if carrier is not GROUND and (point.mass or point.volume or point.drag_area):
            text = f"point {point.id} is on a body; its mass, volume and drag are left out."
            warn_user(f"{self.file.path.name}: {text}")
        return carrier.at(specified.world(point.position)), None

    def _at_rod(
        self, row: LineRow, number: str, letter: str, far: bool
    ) -> tuple[LineEnd, Array | None]:
        rod = self._rods.get(number)
        if rod is None:
            raise self._fail("lines", row, f"rod {number} is not in the file. Add it to RODS.")
        # out of the rod at the line's end A, into it at the line's end B
        sign = (1.0 if letter == "B" else -1.0) * (-1.0 if far else 1.0)
        if rod.segments > 0:
            length = float(np.linalg.norm(np.subtract(rod.b, rod.a)))
            at = (0.0, 0.0, length if letter == "B" else 0.0)
            return Point(f"Rod{rod.id}", at), (0.0, 0.0, sign)
        if _is_knot(rod):
            return OnJunction(f"Rod{rod.id}"), None
        if rod.attachment not in ("fixed", "coupled") and not rod.attachment.startswith("body"):
            raise self._fail(
                "rods",
                rod,
                f"a rod without length that is '{rod.attachment}' cannot be read. Give it "
                "segments and a length, or fix it.",
            )
        specified, carrier = self._carried("rods", rod)
        clamp = carrier.direction(sign * (specified.rotation @ np.array(rod.b)))
        return carrier.at(specified.world(rod.a)), clamp

    # what things become

    def _line(self, rows: tuple[LineRow, ...]) -> Line:
        """One line of the file, or several joined by free zero-length rods as sections."""
        for row in rows:
            if row.type not in self._types:
                raise self._fail(
                    "lines", row, f"line type '{row.type}' is not in the file. Add it."
                )
        first, last = rows[0], rows[-1]
        (a, clamp_a), (b, clamp_b) = self._end(first, first.A, False), self._end(last, last.B, True)
        built: NamedValues = {"type": first.type, "segments": first.segments}
        if len(rows) > 1:
            built = {"sections": [Section(row.type, row.length, row.segments) for row in rows]}
        try:
            return Line(
                "_".join(f"Line{row.id}" for row in rows),
                *(a, b, sum(row.length for row in rows)),
                model=self.model,
                clamp_A=clamp_a,
                clamp_B=clamp_b,
                **built,
                **self._release(first, last),
            )
        except SwelltreeError as error:
            raise self._fail("lines", first, str(error)) from None

    def _release(self, first: LineRow, last: LineRow) -> NamedValues:
        """Release time or tension of the line's ends."""
        ends = {("A", first.id): first.A, ("B", last.id): last.B}
        for failure in self.file.failures:
            if not {first.id, last.id} & {*failure.lines}:
                continue
            if len(failure.lines) > 1:
                raise self._fail(
                    "failure",
                    failure,
                    "several lines let go together and stay joined, which is not modelled. Give "
                    "one line.",
                )
            found = [
                end
                for (end, line), at in ends.items()
                if line in failure.lines and at.removeprefix("P") == failure.point.removeprefix("P")
            ]
            if not found:
                raise self._fail(
                    "failure",
                    failure,
                    f"point {failure.point} is at no end of line {', '.join(failure.lines)}. Give "
                    "the point at its end A or B.",
                )
            limits = {"release_time": failure.time, "release_tension": failure.tension}
            limits = {key: value for key, value in limits.items() if value > 0}
            return limits | {"release_end": found[-1]}
        return {}

    def _junction(self, row: PointRow) -> Junction:
        if any(row.force):
            raise self._fail("points", row, "a force on a point cannot be read. Put it on a body.")
        values = row.mass, row.volume, row.drag_area, row.added_mass
        return Junction(f"Point{row.id}", row.position, *values)

    def _rod(self, row: RodRow) -> Rod:
        kind = self._rod_types.get(row.type)
        if kind is None:
            raise self._fail("rods", row, f"rod type '{row.type}' is not in the file. Add it.")
        specified, carrier = self._carried("rods", row)
        a, b = (carrier.at(specified.world(x)) for x in (row.a, row.b))
        pinned = "pinned" if row.attachment.endswith("pinned") else "fixed"
        try:
            return Rod(
                f"Rod{row.id}",
                *(a, b, kind.diameter, kind.mass_per_length),
                Cdn=kind.Cd,
                Can=kind.Ca,
                Cd_end=kind.Cd_end,
                Ca_end=kind.Ca_end,
                segments=row.segments,
                attachment="free" if row.attachment == "free" else pinned,
            )
        except SwelltreeError as error:
            raise self._fail("rods", row, str(error)) from None

    def _body(self, row: BodyRow) -> None:
        """A body of the file with its joint and drag; without inertia it only translates."""
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
        self.built["bodies"].append(body)
        # lines or rods that pull at it away from its origin turn it
        prefix = f"body{row.id}"
        pulled = [any(p.position) for p in self.file.points if p.attachment == prefix]
        pulled += [rod.attachment.startswith(prefix) for rod in self.file.rods]
        if row.attachment.endswith("pinned"):
            coupled = row.attachment == "coupledpinned"
            carrier = self._carrier(prefix, "bodies", row) if coupled else GROUND
            joint = Ball(f"{name}_pin", carrier.at(np.array(row.position)), body)
        elif any(row.inertia) or any(pulled):
            joint = Free(f"{name}_free", WORLD, body)
        else:
            joint = SubsetJoint(f"{name}_free", WORLD, body, dofs=SLIDES)
        self.built["joints"].append(joint)
        dofs = (*SLIDES, "Roll", "Pitch", "Yaw")
        drag = {d: 0.5 * rho * c for d, c in zip(dofs, row.drag_area, strict=True) if c}
        if drag:
            force = QuadraticDrag(f"{name}_drag", body, drag, relative_to="water")
            self.built["forces"].append(force)

    def _load(self, row: LoadRow) -> None:
        body = next((b for b in self.built["bodies"] if b.name.lower() == row.object), None)
        slides = any(
            isinstance(j, SubsetJoint) and j.follower.body == getattr(body, "name", "")
            for j in self.built["joints"]
        )
        several = [len(set(values)) > 1 and not slides for values in (row.linear, row.quadratic)]
        why = ""
        if body is None:
            why = (
                f"loads of '{row.object}' cannot be read, only those of bodies that move by "
                "themselves. Take the row out and use AppliedForce."
            )
        elif len(row.linear) != 3 or len(row.quadratic) != 3:
            why = (
                f"Blin has {len(row.linear)} and Bquad {len(row.quadratic)} values between bars. "
                "Give three of each for a body."
            )
        elif several[1] and row.axes == "G":
            why = (
                "quadratic damping that differs along fixed axes is not modelled for a body that "
                "turns. Give CSys L."
            )
        elif several[0] and row.axes == "L":
            why = (
                "linear damping that differs along the axes of the body is not modelled. Give "
                "CSys G."
            )
        if body is None or why:
            raise self._fail("external loads", row, why)
        name = f"{body.name}_load{row.id}"
        if any(row.force):
            axes = "body" if row.axes == "L" else "world"
            force = AppliedForce(name, body.at(), row.force, axes=axes)
            self.built["forces"].append(force)
        if any(row.quadratic):
            drag = dict(zip(SLIDES, row.quadratic, strict=True))
            force = QuadraticDrag(f"{name}_drag", body, drag, relative_to="ground")
            self.built["forces"].append(force)
        if any(row.linear):
            damping = dict(zip(SLIDES, row.linear, strict=True))
            self.built["moorings"].append(LinearDamping(f"{name}_damping", body, damping))
