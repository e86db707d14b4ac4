"""`write_moordyn`: a system's lines, junctions and rods as a MoorDyn input file, version 2.

Lines of several sections, and lines on which other lines end, become several lines joined by free
points. Clamped ends become fixed rods without length.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from swelltree.describe import (
    AppliedForce,
    Body,
    Junction,
    Line,
    LineType,
    OnJunction,
    OnLine,
    Point,
    Rod,
    System,
)
from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.describe.files.atomic import write_atomic
from swelltree.describe.forces.viscous import QuadraticDrag
from swelltree.describe.matrix6 import dense
from swelltree.describe.topology import WORLD_NAME
from swelltree.interop.moordyn.beside import write_curve, write_grid
from swelltree.interop.mooring_file import MooringFile
from swelltree.interop.mooring_rows import (
    ZERO,
    BodyRow,
    FailureRow,
    LineRow,
    LoadRow,
    PointRow,
    RodRow,
    RodType,
    three,
)
from swelltree.jit import Array

TITLES = {
    "LINE TYPES": (
        "TypeName Diam Mass/m EA BA/-zeta EI Cd Ca CdAx CaAx",
        "(name) (m) (kg/m) (N) (N-s/-) (N-m^2) (-) (-) (-) (-)",
    ),
    "ROD TYPES": (
        "TypeName Diam Mass/m Cd Ca CdEnd CaEnd",
        "(name) (m) (kg/m) (-) (-) (-) (-)",
    ),
    "BODIES": (
        "ID Attachment X0 Y0 Z0 r0 p0 y0 Mass CG* I* Volume CdA* Ca*",
        "(#) (word) (m) (m) (m) (deg) (deg) (deg) (kg) (m) (kg-m^2) (m^3) (m^2) (-)",
    ),
    "RODS": (
        "ID RodType Attachment Xa Ya Za Xb Yb Zb NumSegs RodOutputs",
        "(#) (name) (word/ID) (m) (m) (m) (m) (m) (m) (-) (-)",
    ),
    "POINTS": (
        "ID Attachment X Y Z Mass Volume CdA Ca",
        "(#) (word/ID) (m) (m) (m) (kg) (m^3) (m^2) (-)",
    ),
    "LINES": (
        "ID LineType AttachA AttachB UnstrLen NumSegs LineOutputs",
        "(#) (name) (ID) (ID) (m) (-) (-)",
    ),
    "FAILURE": ("FailureID Point Line(s) FailTime FailTen", "() () (,) (s) (N)"),
    "EXTERNAL LOADS": (
        "ID Object Fext Blin Bquad CSys",
        "(#) (name) (N) (Ns/m) (Ns^2/m^2) (-)",
    ),
}


def write_moordyn(
    system: System | MooringFile,
    path: str | Path,
    *,
    free: Sequence[str] = (),
    dtM: float | None = None,
    notes: str = "",
) -> list[Path]:
    """Write a MoorDyn input file; curves and bathymetry become files beside it.

    Bodies that carry lines or rods are written as coupled bodies, whose motion is given to MoorDyn.

    Args:
        system: its lines, junctions, rods and seabed are written; or what `read_moordyn` gave.
        path: of the file.
        free: names of bodies that MoorDyn moves itself, with their mass, volume and drag.
        dtM: time step of MoorDyn [s]; chosen by MoorDyn if not given.
        notes: a line of text for the head of the file.

    Returns:
        the files that were written.
    """
    path = Path(path)
    file = system if isinstance(system, MooringFile) else mooring_of(system, free)
    adjacent: list[Path] = []
    parts = ["--------------------- MoorDyn Input File ---------------------", notes or "swelltree"]
    for heading, rows in _rows(file, path, adjacent).items():
        if rows:
            parts += [_rule(heading), *_aligned([*(t.split() for t in TITLES[heading]), *rows])]
    parts += [_rule("OPTIONS"), *_aligned(_options(file, path, adjacent, dtM))]
    parts.append("--------------------- need this line ---------------------")
    write_atomic(path, "\n".join(parts) + "\n")
    return [path, *adjacent]


def _rule(heading: str) -> str:
    return f"---------------------- {heading} ----------------------"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    width = [max(len(row[k]) for row in rows if k < len(row)) for k in range(max(map(len, rows)))]
    return ["  ".join(f"{w:<{width[k]}}" for k, w in enumerate(row)).rstrip() for row in rows]


def _n(value: float) -> str:
    return f"{float(value)!r}"


def _bars(values: Sequence[float]) -> str:
    return "|".join(_n(v) for v in values)


def _rows(file: MooringFile, path: Path, adjacent: list[Path]) -> dict[str, list[list[str]]]:
    return {
        "LINE TYPES": [_line_type(t, path, adjacent) for t in file.line_types],
        "ROD TYPES": [
            [t.id, *map(_n, (t.diameter, t.mass_per_length, t.Cd, t.Ca, t.Cd_end, t.Ca_end))]
            for t in file.rod_types
        ],
        "BODIES": [
            [
                *(b.id, _word(b.attachment), *map(_n, (*b.position, *b.rotation_deg, b.mass))),
                *(_bars(b.com), _bars(b.inertia), _n(b.volume)),
                *(_bars(b.drag_area), _bars(b.added_mass)),
            ]
            for b in file.bodies
        ],
        "RODS": [
            [r.id, r.type, _word(r.attachment), *map(_n, (*r.a, *r.b)), str(r.segments), "-"]
            for r in file.rods
        ],
        "POINTS": [
            [
                *(p.id, _word(p.attachment), *map(_n, p.position)),
                *map(_n, (p.mass, p.volume, p.drag_area, p.added_mass)),
            ]
            for p in file.points
        ],
        "LINES": [
            [x.id, x.type, x.A, x.B, _n(x.length), str(x.segments or 20), "-"] for x in file.lines
        ],
        "FAILURE": [
            [f.id, f.point, ",".join(f.lines), _n(f.time), _n(f.tension)] for f in file.failures
        ],
        "EXTERNAL LOADS": [
            [x.id, _word(x.object), _bars(x.force), _bars(x.linear), _bars(x.quadratic), x.axes]
            for x in file.loads
        ],
    }


def _word(attachment: str) -> str:
    return attachment.capitalize().replace("pinned", "Pinned")


def _line_type(kind: LineType, path: Path, adjacent: list[Path]) -> list[str]:
    if kind.lift:
        raise kind.fail(f"lift {kind.lift} cannot be written to a MoorDyn file. Give 0.")
    if len(kind.name.split()) != 1:
        raise kind.fail("a name with spaces cannot be written to a MoorDyn file. Use '_'.")
    if kind.original_curve is not None:
        raise kind.fail(
            "an original_curve cannot be written to a MoorDyn file. Give EA, or stretch with the "
            "working curve."
        )
    if kind.stretch is not None:
        curve = path.parent / f"{path.stem}_{kind.name}.dat"
        write_curve(curve, kind.name, kind.stretch)
        adjacent.append(curve)
        EA = curve.name
    elif kind.dynamic_EA is not None and kind.EA is not None:
        EA = _bars((kind.EA, kind.dynamic_EA, kind.dynamic_EA_slope or 0.0))
    elif kind.EA is not None:
        EA = _n(kind.EA)
    else:
        raise kind.fail("has no EA, which MoorDyn needs. Give EA or a stretch table.")
    BA = _n(kind.BA or 0.0 if kind.damping_ratio is None else -kind.damping_ratio)
    if kind.slow_BA is not None:
        if kind.damping_ratio is not None:
            raise kind.fail("MoorDyn takes no damping_ratio beside a slow spring. Give BA.")
        BA = _bars((kind.slow_BA, kind.BA or 0.0))
    values = (kind.EI, kind.Cdn, kind.Can, kind.Cdt, kind.Cat)
    return [kind.name, _n(kind.diameter), _n(kind.mass_per_length), EA, BA, *map(_n, values)]


def _options(
    file: MooringFile, path: Path, adjacent: list[Path], dtM: float | None
) -> list[list[str]]:
    bed, water = file.seabed, file.water
    rows: list[list[str]] = [] if dtM is None else [[_n(dtM), "dtM", "time step (s)"]]
    rows += [
        [_n(water.g), "g", "gravity (m/s^2)"],
        [_n(water.rho), "WtrDnsty", "water density (kg/m^3)"],
    ]
    depth = water.depth if bed.depth is None else bed.depth
    if np.isfinite(depth):
        rows.append([_n(depth), "WtrDpth", "water depth (m)"])
    if any(bed.slope):
        raise SwelltreeError(
            "seabed: a slope cannot be written to a MoorDyn file. Describe it by "
            "grid=DepthGrid(...)."
        )
    if bed.grid is not None:
        grid = path.parent / f"{path.stem}_seafloor.txt"
        write_grid(grid, bed.grid)
        adjacent.append(grid)
        rows.append([grid.name, "SeafloorFile", "bathymetry"])
    # MoorDyn has no rigid ground: its own defaults stand in for one
    stiffness = 3.0e6 if bed.stiffness is None else bed.stiffness
    damping = 3.0e5 if bed.stiffness is None else bed.damping
    rows += [
        [_n(stiffness), "kBot", "bottom stiffness (Pa/m)"],
        [_n(damping), "cBot", "bottom damping (Pa-s/m)"],
    ]
    if bed.friction:
        rows.append([_n(bed.friction), "FrictionCoefficient", "bottom friction (-)"])
    return rows


# --- From a described system to the tables of a file

CLAMP = RodType("clamp", 0.1, 1.0)


def mooring_of(system: System, free: Sequence[str] = ()) -> MooringFile:
    """The lines, junctions, rods and carriers of a system as tables.

    Args:
        system: the description.
        free: names of bodies that the other program moves itself.
    """
    if not system.lines and not system.rods:
        raise system.fail("has no lines and no rods to write.")
    _warn_omitted(system)
    return _Tables(system.resolved, tuple(free)).file()


def _warn_omitted(system: System) -> None:
    """Warn of items that a MoorDyn file cannot represent; the rest is written."""
    left = [
        f"{winch.label} is left out and line '{winch.line}' keeps the length it has as described"
        for winch in system.winches
    ]
    left += [f"{operation.label} is left out" for operation in system.operations]
    left += [
        f"{line.label} is inextensible, but written with the EA of its type"
        for line in system.lines
        if line.axial == "inextensible"
    ]
    left += [
        f"{line.label} is dry, but written to be in water" for line in system.lines if line.dry
    ]
    if system.current is not None:
        left.append("the current is left out; give it to MoorDyn in its own file")
    for text in left:
        warn_user(f"write_moordyn: {text}.")


class _Tables:
    def __init__(self, system: System, free: tuple[str, ...]) -> None:
        self.system = system
        self.free = free
        self.rod_numbers = {rod.name: k + 1 for k, rod in enumerate(system.rods)}
        self.bodies: dict[str, BodyRow] = {}
        self.points: list[PointRow] = []
        self.point_of: dict[Hashable, str] = {}
        self.rods: list[RodRow] = []
        self.rod_types: dict[RodType, RodType] = {}
        self.lines: list[LineRow] = []
        self.failures: list[FailureRow] = []
        self.loads: list[LoadRow] = []

    def file(self) -> MooringFile:
        for name in self.free:
            self._body(name)
            self._load(name)
        for rod in self.system.rods:
            self._rod(rod)
        for junction in self.system.junctions:
            self._junction(junction)
        for line in self.system.lines:
            self._line(line)
        types = {
            kind.name: kind
            for line in self.system.lines
            for kind in (self.system.line_type(part.type) for part in line.parts)
        }
        return MooringFile(
            line_types=tuple(types.values()),
            points=tuple(self.points),
            lines=tuple(self.lines),
            bodies=tuple(self.bodies.values()),
            rod_types=tuple(self.rod_types),
            rods=tuple(self.rods),
            failures=tuple(self.failures),
            loads=tuple(self.loads),
            water=self.system.water,
            seabed=self.system.seabed,
        )

    def _body(self, name: str) -> str:
        """ID of a body, added on first use."""
        if name not in self.bodies:
            body = self.system.body(name)
            R = body.rotation_matrix
            row = BodyRow(
                str(len(self.bodies) + 1),
                "free" if name in self.free else "coupled",
                body.position,
                _angles(R),
            )
            self.bodies[name] = self._with_mass(row, body) if name in self.free else row
        return self.bodies[name].id

    def _with_mass(self, row: BodyRow, body: Body) -> BodyRow:
        inertia, rho = body.inertia_matrix, self.system.water.rho
        volume, A = body.displaced_volume or 0.0, dense(body.added_mass)
        drag = [f for f in self._drags(body) if f.relative_to != "ground"]
        D = sum((dense(force.damping) for force in drag), np.zeros((6, 6)))
        for word, matrix in (("inertia", inertia), ("added_mass", A), ("drag", D)):
            if np.abs(matrix - np.diag(np.diag(matrix))).max() > 1e-9 * np.abs(matrix).max():
                raise body.fail(f"{word} has values off its diagonal, which MoorDyn does not have.")
        if A[3:, 3:].any() or (A.any() and not volume):
            raise body.fail(
                "added_mass of rotations or without a volume cannot be written to a MoorDyn file."
            )
        com = np.array(body.center_of_mass)
        return replace(
            row,
            mass=float(body.mass),
            com=three(com),
            inertia=three(np.diag(inertia)),
            volume=volume,
            drag_area=tuple((np.diag(D) / (0.5 * rho)).tolist()),
            added_mass=three(np.diag(A)[:3] / (rho * volume)) if volume else ZERO,
        )

    def _drags(self, body: Body) -> list[QuadraticDrag]:
        forces = [f for f in self.system.forces if isinstance(f, QuadraticDrag)]
        return [force for force in forces if force.body.body == body.name]

    def _load(self, name: str) -> None:
        """Constant force and damping of a coupled body."""
        body = self.system.body(name)
        drag = [f for f in self._drags(body) if f.relative_to == "ground"]
        quadratic = sum((dense(f.damping) for f in drag), np.zeros((6, 6)))
        linear = sum(
            (dense(m.damping) for m in self.system.moorings if m.body.body == name),
            np.zeros((6, 6)),
        )
        force = np.zeros(3)
        for one in self.system.forces:
            if isinstance(one, AppliedForce) and one.point.body == name:
                plain = one.force is not None and all(isinstance(x, float) for x in one.force)
                moved = one.torque is not None or any(one.point.position)
                if not plain or moved or one.axes == "body":
                    raise one.fail(
                        "only a constant force in world axes at the origin of a body has a place "
                        "in a MoorDyn file."
                    )
                force = force + np.array(one.force)
        for word, matrix in (("quadratic drag", quadratic), ("linear damping", linear)):
            if np.abs(matrix - np.diag([*np.diag(matrix)[:3], 0, 0, 0])).max() > 0:
                raise body.fail(f"{word} of rotations cannot be written to a MoorDyn file.")
        if force.any() or quadratic.any() or linear.any():
            rows = (three(force), three(np.diag(linear)[:3]), three(np.diag(quadratic)[:3]))
            number = str(len(self.loads) + 1)
            self.loads.append(LoadRow(number, f"body{self.bodies[name].id}", *rows, "G"))

    def _rod(self, rod: Rod) -> None:
        for field in ("Cdt", "Cat"):
            if getattr(rod, field):
                raise rod.fail(
                    f"{field} {getattr(rod, field)} cannot be written to a MoorDyn file. Give 0."
                )
        kind = RodType(
            f"rod{len(self.rod_types) + 1}",
            *(rod.diameter, rod.mass_per_length, rod.Cdn, rod.Can, rod.Cd_end, rod.Ca_end),
        )
        same = next((t for t in self.rod_types if replace(t, id=kind.id) == kind), kind)
        self.rod_types[same] = same
        attachment = rod.attachment
        if rod.A.body != WORLD_NAME:
            if rod.A.body in self.rod_numbers:
                raise rod.fail("is held by another rod, which MoorDyn does not have.")
            attachment = f"body{self._body(rod.A.body)}" + (
                "pinned" if attachment == "pinned" else ""
            )
        ends = rod.A.position, rod.B.position
        self.rods.append(RodRow(str(len(self.rods) + 1), same.id, attachment, *ends, rod.segments))

    def _junction(self, junction: Junction) -> str:
        key = OnJunction(junction.name)
        if key not in self.point_of:
            self._point(key, "free", junction.position)
            self.points[-1] = replace(
                self.points[-1],
                mass=junction.mass,
                volume=junction.volume,
                drag_area=junction.drag_area,
                added_mass=junction.added_mass,
            )
        return self.point_of[key]

    def _point(self, key: Hashable, kind: str, position: Array) -> str:
        number = str(len(self.points) + 1)
        self.points.append(PointRow(number, kind, three(position)))
        self.point_of[key] = number
        return number

    def _end(self, line: Line, field: str) -> str:
        end = getattr(line, field)
        clamp = getattr(line, f"clamp_{field}")
        if isinstance(end, OnLine):
            return self._on_line(end)
        if isinstance(end, Point) and end.body in self.rod_numbers:
            return self._rod_end(line, end)
        if clamp is not None and isinstance(end, Point):
            return self._clamped(end, clamp, field)
        if end not in self.point_of:
            if end.body == WORLD_NAME:
                self._point(end, "fixed", end.position)
            else:
                self._point(end, f"body{self._body(end.body)}", end.position)
        return self.point_of[end]

    def _on_line(self, end: OnLine) -> str:
        key = (end.line, round(end.at, 9))
        if key not in self.point_of:
            self._point(key, "free", self.system.end_point(end))
        return self.point_of[key]

    def _rod_end(self, line: Line, end: Point) -> str:
        rod = self.system.rod(end.body)
        z = end.position[2]
        off = max(abs(end.position[0]), abs(end.position[1])) > 1e-9
        letter = "A" if abs(z) < 1e-9 else "B" if abs(z - rod.length) < 1e-9 * rod.length else ""
        if off or not letter:
            raise line.fail(
                f"ends at {z:g} m of rod '{rod.name}'; in MoorDyn lines end at the ends of rods. "
                "Move it there."
            )
        return f"R{self.rod_numbers[rod.name]}{letter}"

    def _clamped(self, end: Point, clamp: Array, field: str) -> str:
        """A fixed zero-length rod that clamps the direction of a line."""
        self.rod_types[CLAMP] = CLAMP
        kind = "fixed" if end.body == WORLD_NAME else f"body{self._body(end.body)}"
        number = str(len(self.rods) + 1)
        self.rods.append(RodRow(number, CLAMP.id, kind, end.position, three(clamp), 0))
        # a line leaves a rod at its end B and comes to one at its end A
        return f"R{number}{'B' if field == 'A' else 'A'}"

    def _line(self, line: Line) -> None:
        """One row, or several where its type changes or other lines end on it."""
        ends = np.cumsum([part.length for part in line.parts])
        marks = sorted(
            {
                *(round(float(x), 9) for x in ends[:-1]),
                *(round(x.at, 9) for x in self._ending_on(line)),
            }
        )
        stops = [0.0, *marks, float(line.rest_length)]
        nodes = [self._end(line, "A")]
        nodes += [self._on_line(OnLine(line.name, at)) for at in marks]
        nodes.append(self._end(line, "B"))
        a, b = stops[:-1], stops[1:]
        for k, (left, right) in enumerate(zip(a, b, strict=True)):
            number = int(np.searchsorted(ends, 0.5 * (left + right)))
            part, count = line.parts[number], line.segment_counts[number]
            kind = self.system.line_type(part.type)
            segments = max(1, round(count * (right - left) / part.length))
            row = str(len(self.lines) + 1)
            self.lines.append(
                LineRow(row, kind.name, nodes[k], nodes[k + 1], right - left, segments)
            )
        if line.release_time is not None or line.release_tension is not None:
            limits = line.release_time or 0.0, line.release_tension or 0.0
            at_A = line.release_end == "A"
            row = self.lines[-len(a)] if at_A else self.lines[-1]
            number, point = str(len(self.failures) + 1), row.A if at_A else row.B
            self.failures.append(FailureRow(number, point, (row.id,), *limits))

    def _ending_on(self, line: Line) -> list[OnLine]:
        return [
            end
            for other in self.system.lines
            for end in (other.A, other.B)
            if isinstance(end, OnLine) and end.line == line.name
        ]


def _angles(R: np.ndarray) -> tuple[float, float, float]:
    """Roll, pitch and yaw of R = Rz Ry Rx [degrees]."""
    if abs(R[2, 0]) > 1.0 - 1e-12:
        raise SwelltreeError(
            "a body has a pitch of 90 degrees, where MoorDyn's angles are singular. Rotate it."
        )
    roll, yaw = np.arctan2(R[2, 1], R[2, 2]), np.arctan2(R[1, 0], R[0, 0])
    return three(np.rad2deg([roll, -np.arcsin(R[2, 0]), yaw]) + 0.0)
