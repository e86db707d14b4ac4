"""The system: bodies, joints, forces, controllers, sensors and water, checked as a whole."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from pydantic import BeforeValidator

from swelltree.describe.bodies.body import Body, Point
from swelltree.describe.environment.water import (
    CurrentLike,
    PowerLawCurrent,
    Water,
    WindLike,
    as_water,
)
from swelltree.describe.errors import SwelltreeError, listed, shown, suggest
from swelltree.describe.forces.controllers import AnyController, Sensor, check_order, parse_measure
from swelltree.describe.forces.elements import Force, JointForce, OnJoint, SpringDamper
from swelltree.describe.forces.viscous import WindDrag
from swelltree.describe.joints.couplings import AnyCoupling
from swelltree.describe.joints.joint import Joint
from swelltree.describe.joints.kinds import Distance
from swelltree.describe.mooring.line import (
    CABLES,
    Junction,
    Line,
    LinearLoad,
    LineEnd,
    OnJunction,
    OnLine,
)
from swelltree.describe.mooring.line_types import LineType
from swelltree.describe.mooring.operations import Operation, Winch
from swelltree.describe.mooring.rods import Rod, RodParts
from swelltree.describe.mooring.seabed import Seabed, SeabedContact, as_seabed, check_ground
from swelltree.describe.mooring.winch_checks import check_operations, check_winches
from swelltree.describe.notebook import counted
from swelltree.describe.pto import Pto
from swelltree.describe.spec import Description, description
from swelltree.describe.topology import WORLD_NAME, Topology, find_topology
from swelltree.describe.values import DOFS, NamedValues, ReadAs, Row, as_text, row_of


@runtime_checkable
class Named(Protocol):
    @property
    def name(self) -> str: ...


@runtime_checkable
class WithPoints(Protocol):
    @property
    def points(self) -> Mapping[str, Point]: ...

    def fail(self, text: str) -> SwelltreeError: ...


Item = TypeVar("Item", bound=Named)


def _rows(cls: type[Description], row: str = "") -> BeforeValidator:
    """Reader of a row of items of one kind.

    Args:
        cls: what they are.
        row: name of the row, where descriptions of that kind stand in several.
    """
    word = cls.kind

    def read(value: object) -> object:
        items = row_of(value)
        if items is None:
            raise ValueError(f"{shown(value)} is not a list. Give the items in brackets.")
        for item in items:
            if not isinstance(item, cls):
                raise ValueError(
                    f"holds {shown(item)}, which is not a {word}. "
                    "Put only descriptions of that kind there."
                )
            if row and isinstance(item, Force) and item.row != row:
                raise ValueError(
                    f"holds {item.label}, which would do nothing there. Put it into {item.row}."
                )
        return items

    return BeforeValidator(read)


@description
class System(Description):
    """A multibody system, checked when made.

    Args:
        name: of the system.
        bodies: the bodies.
        joints: the joints; every body must be joined to the world, if only by `Free`.
        forces: force elements (gravity is always there, see `Water`).
        controllers: control laws, and FMUs that control.
        sensors: points and distances to report.
        ptos: power take-offs.
        moorings: linear moorings and damping.
        water: density, gravity and depth.
        current: flow of the water, none by default.
        wind: none by default.
        lines: mooring lines, cables, slings.
        junctions: free points where lines meet.
        line_types: what lines refer to by name.
        seabed: the ground; flat and rigid at the water's depth by default.
        contacts: points of bodies that may touch the seabed.
        rods: rigid slender bodies; each also stands in bodies, joints and forces as what it is
            made of.
        winches: at ends of lines.
        operations: stages in time that drive winches, catch and let go of loads.
        couplings: fixed relations between joint coordinates.
    """

    kind: ClassVar[str] = "system"
    name: Annotated[str, BeforeValidator(as_text)]
    bodies: Annotated[Row[Body], _rows(Body)] = ()
    joints: Annotated[Row[Joint], _rows(Joint)] = ()
    forces: Annotated[Row[Force], _rows(Force, "forces")] = ()
    controllers: Annotated[Row[AnyController], _rows(AnyController)] = ()
    sensors: Annotated[Row[Sensor], _rows(Sensor)] = ()
    water: Annotated[ReadAs[Water], BeforeValidator(as_water)] = Water()
    ptos: Annotated[Row[Pto], _rows(Force, "ptos")] = ()
    moorings: Annotated[Row[LinearLoad], _rows(Force, "moorings")] = ()
    current: CurrentLike = None
    wind: WindLike = None
    lines: Annotated[Row[Line], _rows(Line)] = ()
    junctions: Annotated[Row[Junction], _rows(Junction)] = ()
    line_types: Annotated[Row[LineType], _rows(LineType)] = ()
    seabed: Annotated[ReadAs[Seabed], BeforeValidator(as_seabed)] = Seabed()
    contacts: Annotated[Row[SeabedContact], _rows(SeabedContact)] = ()
    rods: Annotated[Row[Rod], _rows(Rod)] = ()
    winches: Annotated[Row[Winch], _rows(Winch)] = ()
    operations: Annotated[Row[Operation], _rows(Operation)] = ()
    couplings: Annotated[Row[AnyCoupling], _rows(AnyCoupling)] = ()

    def __post_init__(self) -> None:
        self._add_rods()
        if not self.bodies and not self.lines:
            raise self.fail("has no bodies and no lines. Describe at least one.")
        self._check_names()
        items = (*self.joints, *self.forces, *self.ptos, *self.moorings, *self.sensors)
        for item in (*items, *self.lines, *self.contacts, *self.winches):
            self._check_points(item)
        self._check_lengths()
        self._check_lines()
        check_ground(self)
        check_winches(self)
        check_operations(self)
        for force in (*self.forces, *self.ptos):
            if isinstance(force, OnJoint) and force.joint is not None:
                force.warn_of_degrees(self.dof_of(force))
        self._check_couplings()
        self._check_controllers()
        self._check_free_names()
        self._check_flow()

    def _add_rods(self) -> None:
        """Add the bodies, joints and forces of rods, once."""
        built = self.rod_parts
        for field, name in (("bodies", "body"), ("joints", "joint"), ("forces", "member")):
            new = tuple(getattr(parts, name) for parts in built)
            stored = tuple(item for item in getattr(self, field) if item not in new)
            object.__setattr__(self, field, (*stored, *new))

    @functools.cached_property
    def rod_parts(self) -> tuple[RodParts, ...]:
        """What every rod is made of."""
        frames: dict[str, tuple[Sequence[float] | np.ndarray, np.ndarray]] = {
            WORLD_NAME: (np.zeros(3), np.eye(3))
        }
        frames |= {body.name: (body.position, body.rotation_matrix) for body in self.bodies}
        built: list[RodParts] = []
        for rod in self.rods:
            if rod.A.body not in frames:
                raise rod.fail(_unknown("body", rod.A.body, list(frames)))
            built.append(rod.parts(*frames[rod.A.body]))
            frames[rod.name] = (built[-1].body.position, built[-1].body.rotation_matrix)
        return tuple(built)

    def replace(self, **changes: object) -> Self:
        """A copy with some fields changed; a rod whose parts are changed becomes these parts."""
        if self.rods and "rods" not in changes:
            fields = {"bodies": "body", "joints": "joint", "forces": "member"}
            changed = {f: part for f, part in fields.items() if f in changes}
            changes["rods"] = tuple(
                rod
                for rod, parts in zip(self.rods, self.rod_parts, strict=True)
                if all(
                    getattr(parts, part) in (row_of(changes[f]) or ())
                    for f, part in changed.items()
                )
            )
        elif self.rods:
            # the rods themselves are changed: drop the parts of the old ones
            specified = {
                f: changes.get(f, getattr(self, f)) for f in ("bodies", "joints", "forces")
            }
            changes |= {f: self._without_rods(row_of(x) or ()) for f, x in specified.items()}
        return super().replace(**changes)

    def _without_rods(self, items: Iterable[object]) -> tuple[Description, ...]:
        """Items that are not part of a rod."""
        parts = [part for built in self.rod_parts for part in built]
        return tuple(x for x in items if isinstance(x, Description) and x not in parts)

    def table(self) -> NamedValues:
        """This item as a TOML table; rods as such, not as their parts."""
        table = super().table()
        for field in ("bodies", "joints", "forces") if self.rods else ():
            items = self._without_rods(getattr(self, field))
            table[field] = [item.table() for item in items]
        return {key: value for key, value in table.items() if value != []}

    @functools.cached_property
    def topology(self) -> Topology:
        """The tree of the system and its cut joints."""
        return find_topology([body.name for body in self.bodies], self.joints, self._ties())

    def _ties(self) -> list[tuple[str, str]]:
        """Connections by cables; junctions and lines are connections already."""

        def place(end: LineEnd) -> str:
            if isinstance(end, OnLine):
                return f"line {end.line}"
            return f"junction {end.junction}" if isinstance(end, OnJunction) else end.body

        cables = [line for line in self.lines if line.model in CABLES]
        ends = [(place(line.A), place(line.B)) for line in cables]
        return ends + [(f"line {line.name}", place(line.A)) for line in cables]

    @functools.cached_property
    def resolved(self) -> "System":
        """The system with every mass, inertia and centre of mass as numbers."""
        bodies = tuple(body.resolved(self.water) for body in self.bodies)
        return self if bodies == self.bodies else self.replace(bodies=bodies)

    def body(self, name: str) -> Body:
        """The body of a name."""
        return self._find(name, self.bodies, "body")

    def joint(self, name: str) -> Joint:
        """The joint of a name."""
        return self._find(name, self.joints, "joint")

    def force(self, name: str) -> Force:
        """The force element of a name."""
        return self._find(name, self.forces, "force")

    def controller(self, name: str) -> AnyController:
        """The controller of a name."""
        return self._find(name, self.controllers, "controller")

    def rod(self, name: str) -> Rod:
        """The rod of a name."""
        return self._find(name, self.rods, "rod")

    def sensor(self, name: str) -> Sensor:
        """The sensor of a name."""
        return self._find(name, self.sensors, "sensor")

    def world_point(self, point: Point) -> np.ndarray:
        """Where a body point is in the world when the bodies are as described [m], (3,)."""
        if point.body == WORLD_NAME:
            return np.array(point.position)
        body = self.body(point.body)
        return np.array(body.position) + body.rotation_matrix @ np.array(point.position)

    def dof_of(self, force: OnJoint) -> str:
        """The DoF a joint force or PTO acts on, also when the user left it out."""
        if force.joint not in [joint.name for joint in self.joints]:
            raise force.fail(_unknown("joint", force.joint, [joint.name for joint in self.joints]))
        dofs: tuple[str, ...] = self.joint(force.joint).layout().dofs
        if not dofs:
            raise force.fail(
                f"joint '{force.joint}' has no coordinates to act on. "
                "Use SpringDamper or another joint."
            )
        if force.dof is None and len(dofs) > 1:
            raise force.fail(
                f"joint '{force.joint}' has {len(dofs)} coordinates. "
                f"Give dof: one of {listed(dofs)}."
            )
        if force.dof is not None and force.dof not in dofs:
            raise force.fail(f"joint '{force.joint}' has no '{force.dof}'. It has {listed(dofs)}.")
        return force.dof or next(iter(dofs))

    def to_toml(self, path: str | Path | None = None) -> str:
        """The system as case file text; with a path the file is written, whole or not at all."""
        from swelltree.describe.casefile.toml import to_text
        from swelltree.describe.files.atomic import write_atomic

        text = to_text({"system": self.table()})
        if path is not None:
            write_atomic(Path(path), text)
        return text

    def __repr__(self) -> str:
        """Name, size and mass only."""
        masses = [body.mass for body in self.bodies]
        known = [mass for mass in masses if isinstance(mass, float | int)]
        facts = [
            counted(len(items), word)
            for items, word in (
                (self.bodies, "body"),
                (self.joints, "joint"),
                (self.ptos, "PTO"),
                (self.lines, "line"),
            )
            if items or word in ("body", "joint")
        ]
        if known and len(known) == len(masses):
            facts.append(f"{sum(known):.6g} kg")
        return f"<System '{self.name}': {', '.join(facts)}>"

    def _repr_html_(self) -> str:
        from swelltree.describe.notebook import system_html

        return system_html(self)

    def _find(self, name: str, items: Sequence[Item], kind: str) -> Item:
        for item in items:
            if item.name == name:
                return item
        raise self.fail(_unknown(kind, name, [item.name for item in items]))

    def _check_names(self) -> None:
        by_name: dict[str, Description] = {}
        items = (*self.bodies, *self.joints, *self.forces, *self.ptos, *self.moorings)
        others = (*self.controllers, *self.sensors, *self.lines, *self.junctions, *self.contacts)
        for item in (*items, *others, *self.winches, *self.operations, *self.couplings):
            if item.name == WORLD_NAME:
                raise item.fail("the name 'world' is reserved for the fixed world. Choose another.")
            if item.name in by_name:
                raise item.fail(
                    f"the name is used already by {by_name[item.name].label}. "
                    "Give every item its own name."
                )
            by_name[item.name] = item

    def _check_couplings(self) -> None:
        for coupling in self.couplings:
            known: set[tuple[str, str]] = set()
            for term in coupling.terms:
                dof = self.dof_of(term)
                if self.joint(term.joint).layout().quaternion and dof in DOFS[3:]:
                    raise coupling.fail(
                        f"joint '{term.joint}' turns freely, so {dof} is not a coordinate to "
                        "couple. Use a hinge or universal joint."
                    )
                if (term.joint, dof) in known:
                    raise coupling.fail(
                        f"{dof} of joint '{term.joint}' is given twice. Give it once."
                    )
                known.add((term.joint, dof))

    def _check_points(self, item: WithPoints) -> None:
        known = [WORLD_NAME, *(body.name for body in self.bodies)]
        for field, point in item.points.items():
            if point.body not in known:
                raise item.fail(
                    f"{field} body '{point.body}' is not in the system."
                    + (suggest(point.body, known) or f" The bodies are {listed(known)}.")
                )

    def _check_lengths(self) -> None:
        """Reject zero lengths where a length is taken from the description."""
        for joint in self.joints:
            if (
                isinstance(joint, Distance)
                and joint.length is None
                and self._gap(joint.base, joint.follower) < 1e-9
            ):
                raise joint.fail(
                    "the ends coincide as described. Move one, give length, or use a ball joint."
                )
        for force in self.forces:
            if (
                isinstance(force, SpringDamper)
                and force.rest_length is None
                and self._gap(force.a, force.b) < 1e-9
            ):
                raise force.fail(
                    "the ends coincide as described and rest_length is not given. Give rest_length."
                )
        for pto in self.ptos:
            if pto.a is not None and pto.b is not None and self._gap(pto.a, pto.b) < 1e-9:
                raise pto.fail(
                    "the ends coincide as described, so it has no direction. Move one of them."
                )

    def _gap(self, a: Point, b: Point) -> float:
        return float(np.linalg.norm(self.world_point(a) - self.world_point(b)))

    def line_type(self, value: LineType | str) -> LineType:
        """A line type, also by name."""
        return (
            value
            if isinstance(value, LineType)
            else self._find(value, self.line_types, "line type")
        )

    def end_point(self, end: LineEnd) -> np.ndarray:
        """Where a line end is as described [m], (3,); along a line, on its straight."""
        if isinstance(end, OnJunction):
            return np.array(self._find(end.junction, self.junctions, "junction").position)
        if isinstance(end, OnLine):
            line = self._find(end.line, self.lines, "line")
            a, b = self.end_point(line.A), self.end_point(line.B)
            return a + (b - a) * end.at / line.rest_length
        return self.world_point(end)

    def _check_lines(self) -> None:
        used = set()
        for line in self.lines:
            for part in line.parts:
                if isinstance(part.type, str):
                    known = [item.name for item in self.line_types]
                    if part.type not in known:
                        raise line.fail(_unknown("line type", part.type, known))
                type_ = self.line_type(part.type)
                if line.axial == "elastic" and not type_.elastic:
                    raise line.fail(
                        f"line type '{type_.name}' has no EA. Give EA, or axial='inextensible'."
                    )
            for field, end in (("A", line.A), ("B", line.B)):
                self._check_end(line, field, end)
                used.add(end.junction if isinstance(end, OnJunction) else None)
            if isinstance(line.A, Point) and isinstance(line.B, Point):
                self._check_reach(line, line.A, line.B)
        for junction in self.junctions:
            if junction.name not in used:
                raise junction.fail("no line ends there. Attach a line or leave it out.")

    def _check_end(self, line: Line, field: str, end: LineEnd) -> None:
        if isinstance(end, OnJunction):
            known = [junction.name for junction in self.junctions]
            if end.junction not in known:
                raise line.fail(f"end {field}: {_unknown('junction', end.junction, known)}")
        if isinstance(end, OnLine):
            known = [item.name for item in self.lines if item.name != line.name]
            if end.line not in known:
                raise line.fail(f"end {field}: {_unknown('line', end.line, known)}")
            other = self._find(end.line, self.lines, "line")
            if not 0.0 < end.at < other.rest_length:
                raise line.fail(
                    f"end {field} is at {end.at} m of line '{end.line}', which is "
                    f"{other.rest_length} m long. Give a distance between its ends."
                )
            if other.model != line.model:
                raise line.fail(
                    f"end {field} is on line '{end.line}', whose model is '{other.model}'. "
                    f"Give both the same model."
                )

    def _check_reach(self, line: Line, a: Point, b: Point) -> None:
        """Reject an inextensible line shorter than the distance between its fixed ends."""
        if not a.body == b.body == WORLD_NAME:
            return
        gap = self._gap(a, b)
        if line.axial == "inextensible" and gap >= line.rest_length:
            raise line.fail(
                f"rest_length {line.rest_length} m is not more than the {gap:.6g} m between its "
                "fixed ends. Give a longer line or axial='elastic'."
            )

    def _check_flow(self) -> None:
        for force in self.forces:
            if isinstance(force, WindDrag) and self.wind is None:
                raise force.fail("there is no wind. Give System(..., wind=Wind(speed=...)).")
        current = self.current
        if not isinstance(current, PowerLawCurrent) or current.depth is not None:
            return
        if np.isinf(self.water.depth):
            raise current.fail("the water is infinitely deep. Give the depth where it ends.")

    def _check_controllers(self) -> None:
        driver: dict[str, str] = {}
        for controller in self.controllers:
            for text in controller.measures:
                self._check_measure(controller, text)
            for name in controller.drives:
                self._check_driven(controller, name)
                if name in driver:
                    raise controller.fail(
                        f"force '{name}' is driven by '{driver[name]}' already. Use one controller."
                    )
                driver[name] = controller.name
        check_order(self.controllers)
        for pto in self.ptos:
            self._check_release(pto, pto.name in driver)

    def _check_release(self, pto: Force, driven: bool) -> None:
        """Reject a latch that is never released."""
        ways = {"latching": ("release_after", "release_force"), "declutching": ("off_for",)}
        fields = ways.get(pto.type, ())
        if fields and not driven and all(getattr(pto, field) is None for field in fields):
            raise pto.fail(
                f"nothing switches it back. Give {' or '.join(fields)}, or drive it by a "
                "controller."
            )

    def _check_driven(self, controller: AnyController, name: str) -> None:
        simple = [f.name for f in self.forces if isinstance(f, SpringDamper | JointForce)]
        able = simple + [pto.name for pto in self.ptos if pto.type != "end_stops"]
        if name not in able:
            other = name in [force.name for force in self.forces]
            raise controller.fail(
                f"'{name}' is an applied force and has no actuator. "
                "Drive a SpringDamper or JointForce."
                if other
                else f"drives '{name}', which is not in the system."
                + (
                    suggest(name, able)
                    or f" It can drive {listed(able) or 'nothing yet: add a SpringDamper'}."
                )
            )
        driven = self._find(name, (*self.forces, *self.ptos), "force")
        if getattr(driven, "force", None) is not None:
            raise controller.fail(
                f"drives '{name}', which has its own force. Put that signal into the law."
            )

    def _check_measure(self, controller: AnyController, text: str) -> None:
        item, quantity, rate = parse_measure(text)
        joints = {joint.name: joint.layout().dofs for joint in self.joints}
        springs = {
            force.name: ("length",)
            for force in (*self.forces, *self.ptos)
            if getattr(force, "a", None) is not None
        }
        bodies = {body.name: DOFS for body in self.bodies}
        strokes = {pto.name: ("stroke", "rate", "force") for pto in self.ptos}
        known = joints | strokes | bodies
        known |= {
            name: (*springs_of, *strokes.get(name, ())) for name, springs_of in springs.items()
        }
        if item not in known:
            raise controller.fail(
                f"measures '{text}', but '{item}' is not a body, joint, SpringDamper or PTO."
                + (suggest(item, known) or " Use the name of one.")
            )
        if quantity not in known[item]:
            raise controller.fail(
                f"measures '{text}', but '{item}' has no "
                f"'{quantity}'.{suggest(quantity, known[item])}"
                f" It has {listed(known[item]) or 'no coordinates'}."
            )
        if quantity in ("rate", "force") and rate:
            raise controller.fail(
                f"measures '{text}', which has no rate. Measure '{item}.stroke', '{item}.rate' or "
                f"'{item}.force'."
            )

    def _check_free_names(self) -> None:
        names = {
            item.name: item
            for item in (*self.bodies, *self.joints, *self.forces, *self.ptos, *self.moorings)
        } | {item.name: item for item in self.sensors}
        for body in self.topology.implicit_free:
            if f"{body}_free" in names:
                item = names[f"{body}_free"]
                raise item.fail(
                    f"the name is needed for the free joint that carries body '{body}'. "
                    "Choose another."
                )


def _unknown(kind: str, name: str, known: list[str]) -> str:
    rest = suggest(name, known) or (
        f" There are {listed(known)}." if known else f" There is no {kind} at all."
    )
    return f"{kind} '{name}' is not in the system.{rest}"
