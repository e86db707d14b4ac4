"""Bodies, moorings and cables of a script as tables of a case file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from swelltree.describe import Body
from swelltree.describe.errors import SwelltreeError
from swelltree.describe.topology import WORLD_NAME
from swelltree.describe.values import NamedValues
from swelltree.interop.moordyn.read import read_moordyn
from swelltree.interop.wecsim.assignments import (
    Assignments,
    Findings,
    path_of,
    plain,
    plain_name,
    relative,
)
from swelltree.interop.wecsim.diagram import Block, Diagram
from swelltree.interop.wecsim.hydro_data import HydroData
from swelltree.interop.wecsim.joints import REST, Names, Network, Start, end, object_number

UNKNOWN = "unknown until the hydrodynamic data are there: import again"
DOFS = ("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw")


def rows6(matrix: np.ndarray) -> object:
    """A 6 x 6 matrix for TOML: its diagonal by name if it is diagonal."""
    if np.array_equal(matrix, np.diag(np.diag(matrix))):
        return {dof: float(x) for dof, x in zip(DOFS, np.diag(matrix), strict=True) if x}
    return [plain(row) for row in matrix]


def names_of(
    bodies: dict[int, Assignments], hydro: HydroData, blocks: dict[int, str]
) -> dict[int, str]:
    """Names of the bodies: from the data, else the script, else the model's block."""
    result = dict(hydro.names)
    for n, body in bodies.items():
        if n not in result:
            name = plain_name(body.text("name")) or plain_name(blocks.get(n, "")) or f"body{n}"
            result[n] = name if name not in {*result.values(), "world"} else f"{name}_{n}"
    return result


def body_table(n: int, body: Assignments, name: str, hydro: HydroData, rho: float) -> NamedValues:
    """Table of one body with its frame at the world origin, as in WEC-Sim."""
    waits = hydro.file is not None and hydro.data is None and not body.number("nonHydro")
    center = center_of(n, body, hydro)
    table: NamedValues = {"name": name}
    table["mass"] = _mass(n, body, name, hydro, rho, waits)
    table["inertia"] = _inertia(body)
    if center is not None:
        table["com"] = plain(center)
    elif waits:
        table["com"] = UNKNOWN
    else:
        body.lack("has no centerGravity; the origin is taken.")
    volume = body.number("volume")
    buoyancy = body.vector("centerBuoyancy")
    if n not in hydro.names and not waits and volume > 0:
        table |= {"displaced_volume": volume, "center_of_buoyancy": plain(buoyancy)}
    return table


def center_of(n: int, body: Assignments, hydro: HydroData) -> np.ndarray | None:
    """Centre of gravity [m]; that of the data for a wet body."""
    specified = body.numbers("centerGravity", 3)
    data = hydro.of(n, "rotation_center")
    if data is None:
        data = hydro.of(n, "center_of_mass")
    if data is None:
        return np.array(specified) if specified else None
    if specified and np.abs(np.array(specified) - data).max() > 1e-9:
        body.leave("centerGravity", "that of the hydrodynamic data is taken, as WEC-Sim does.")
    return data


def _mass(
    n: int, body: Assignments, name: str, hydro: HydroData, rho: float, waits: bool
) -> float | str:
    value = body.raw("mass")
    if not isinstance(value, str):
        result = body.numbers("mass", 1)
        if not result:
            body.lack("has no mass that can be read.")
            return UNKNOWN if waits else 0.0
        return result[0]
    if value == "equilibrium":
        volume = hydro.of(n, "displaced_volume")
        if volume is None:
            volume = next(iter(body.numbers("volume", 1)), None)
        if volume is not None:
            text = f"mass 'equilibrium': {float(volume):.6g} m^3 of water."
            body.findings.comment("bodies", name, text)
            return rho * float(volume)
        if waits:
            return UNKNOWN
    elif value == "fixed":
        text = "mass 'fixed': any mass serves, the body does not move."
        body.findings.comment("bodies", name, text)
        return 999.0
    body.refuse("mass", f"'{value[:30]}' gives no mass")
    return 0.0


def _inertia(body: Assignments) -> list[float]:
    if body.text("mass") == "fixed":
        return [999.0] * 3
    result = body.numbers("inertia", 3, 9) or [0.0] * 3
    if len(result) == 9:
        return [result[k] for k in (0, 4, 8, 3, 6, 7)]
    return result + body.numbers("inertiaProducts", 3)


def body_forces(
    body: Assignments, name: str, rho: float, center: np.ndarray | None
) -> dict[str, list[NamedValues]]:
    """Drag, Morison elements and linear damping of a body: rows of `forces` and `moorings`."""
    drag = body.matrix("quadDrag.drag")
    cd, area = (body.vector(f"quadDrag.{part}", (0.0,) * 6) for part in ("cd", "area"))
    if drag is None and (cd * area).any():
        drag = np.diag(0.5 * rho * cd * area)
    damping = body.matrix("linearDamping")
    forces, moorings = _morison(body, name, center), []
    if drag is not None:
        row: NamedValues = {"type": "quadratic_drag", "name": f"{name}_drag", "body": name}
        # WEC-Sim takes the velocity of the body alone
        forces.insert(0, row | {"damping": rows6(drag), "relative_to": "ground"})
    if damping is not None:
        row = {"type": "damping", "name": f"{name}_damping", "body": name}
        moorings.append(row | {"damping": rows6(damping)})
    return {"forces": forces, "moorings": moorings}


def _morison(body: Assignments, name: str, center: np.ndarray | None) -> list[NamedValues]:
    """Drag of Morison elements with areas; their inertia has no counterpart."""
    parts = ("cd", "ca", "area", "VME", "rgME", "z")
    rows = {part: body.raw(f"morisonElement.{part}") for part in parts}
    option = body.number("morisonElement.option")
    if option not in (0, 1):
        body.leave("morisonElement.option", "only elements along x, y, z (option 1) are translated")
    if option != 1:
        return []
    count = max((x.shape[0] for x in rows.values() if isinstance(x, np.ndarray)), default=0)
    built = []
    for k in range(min(count, 1000)):
        cd, area, arm = (_row3(rows[part], k) for part in ("cd", "area", "rgME"))
        if cd.any() and area.any():
            point = arm + (np.zeros(3) if center is None else center)
            built.append(
                {
                    "type": "body_drag",
                    "name": f"{name}_morison{k + 1}",
                    "point": {"body": name, "position": plain(point)},
                    "area": plain(area),
                    "Cd": plain(cd),
                }
            )
    if all(isinstance(x, np.ndarray) and x.any() for x in (rows["ca"], rows["VME"])):
        body.leave(
            "morisonElement.ca",
            "the inertia of Morison elements given by volumes has no counterpart; their drag is "
            "translated. Use `morison` members with diameters instead.",
        )
    return built


def _row3(value: object, k: int) -> np.ndarray:
    if not isinstance(value, np.ndarray) or value.shape[1] != 3 or not np.isfinite(value).all():
        return np.zeros(3)
    return value[min(k, len(value) - 1)] + 0.0


def hull_table(
    body: Assignments, folder: Path, out: Path, center: np.ndarray | None
) -> NamedValues | None:
    """Mesh of a body with nonlinear buoyancy and Froude-Krylov forces."""
    path = path_of(folder, body.text("geometryFile"))
    if path is None or not os.path.isfile(path):
        body.findings.leave(
            body.place("geometryFile"),
            f"{body.label}: the mesh '{body.text('geometryFile')}' is not there, so nonlinearHydro "
            "is left out.",
            missing=True,
        )
        return None
    table: NamedValues = {"shape": "mesh", "path": relative(path, out)}
    if center is not None and np.any(center):
        table["offset"] = plain(center)  # WEC-Sim's meshes are about the centre of gravity
    return table


# --- Moorings and cables


@dataclass
class Moorings:
    """Translates the moorings and cables of a model.

    Args:
        diagram: of the model.
        network: what its frames are on.
        centers: of gravity of the bodies, by name.
        starts: initial positions of bodies, to which places in MoorDyn's file refer.
        folder: of the script.
        water: density and gravity.
        names: gives names.
        findings: takes what has no counterpart.
    """

    diagram: Diagram
    network: Network
    centers: dict[str, np.ndarray | None]
    starts: dict[str, Start]
    folder: Path
    water: tuple[float, float]
    names: Names
    findings: Findings

    def translate(self, moorings: dict[int, Assignments]) -> NamedValues:
        built: NamedValues = {"moorings": []}
        moordyn: dict[int, str] = {}
        for block in self.diagram.blocks.values():
            if block.library != "moorings" or block.word == "moordyncaller":
                continue
            place = self.diagram.place(block)
            number, body = object_number(block, "mooring"), self.carrier(block)
            if number is None or number not in moorings or body is None:
                self.findings.leave(place, "the mooring is on no body, or not in the script.")
            elif moorings[number].number("moorDyn") or block.word.startswith("moordyn"):
                moordyn[number] = body
            elif block.word in ("mooringmatrix", "mooring matrix"):
                table = self.matrix(moorings[number], body, number)
                built["moorings"] += [table] if table else []
            else:
                self.findings.leave(
                    place, f"a mooring of the kind '{block.word}' has no counterpart."
                )
        if moordyn:
            parts = self.moordyn(moorings[min(moordyn)], moordyn)
            built["moorings"] += parts.pop("moorings", [])
            built |= parts
        return built

    def carrier(self, block: Block) -> str | None:
        """The body connected to a mooring block."""
        names = [self.network.carrier(frame) for frame in self.diagram.frames_of(block)]
        return next((name for name in names if name not in (None, WORLD_NAME)), None)

    def matrix(self, specified: Assignments, body: str, number: int) -> NamedValues | None:
        """Stiffness, damping and pretension at the mooring's location, for the body's centre.

        The point of the mooring moves by J times the motion of the centre, so K becomes J^T K J.
        WEC-Sim's frames count from where the body begins, a case file from where it is described:
        K times the displacement of the start goes into the pretension.
        """
        name = self.names.new(specified.first_text() or f"mooring{number}")
        center, start = self.centers.get(body), self.starts.get(body, REST)
        center = np.zeros(3) if center is None else center
        x, y, z = arm = specified.vector("location") - center
        J = np.eye(6)
        J[:3, 3:] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
        table: NamedValues = {"type": "linear", "name": name, "body": body}
        comments = []
        stiffness, damping = (specified.matrix(f"matrix.{w}") for w in ("stiffness", "damping"))
        pull = J.T @ specified.vector("matrix.preTension", (0.0,) * 6)
        if pull.any():
            comments.append("preTension is taken as the force on the body.")
        if stiffness is not None:
            table["stiffness"] = rows6(J.T @ stiffness @ J)
            shift = J.T @ stiffness @ J @ start.motion(center)
            if not start.is_rest and shift.any():
                comments.append("it holds the body where the body begins.")
                pull = pull + shift
        if damping is not None:
            table["damping"] = rows6(J.T @ damping @ J)
        if pull.any():
            table["pretension"] = [float(v) for v in pull]
        if len(table) == 3:
            specified.lack("has no stiffness, damping or pretension.")
            return None
        if arm.any():
            comments.append("moved from its location to the centre of mass.")
        for comment in comments:
            self.findings.comment("moorings", name, comment)
        return table

    def moordyn(self, first: Assignments, bodies: dict[int, str]) -> NamedValues:
        """The lines of MoorDyn's input file as lists of a system.

        Args:
            first: the first of the moorings that are MoorDyn's.
            bodies: what each of them is joined to.
        """
        named = first.text("moorDynInputFile") or "Mooring/lines.txt"
        path = path_of(self.folder, named)
        if path is None or not os.path.isfile(path):
            self.findings.leave(
                first.place(),
                f"{first.label}: MoorDyn's file '{named}' is not there.",
                missing=True,
            )
            return {}
        # each body where it begins, so that places of the world become places on it
        carriers: dict[str, Body] = {}
        for n, name in sorted(bodies.items()):
            start = self.starts.get(name, REST)
            x, y, z = plain(start.t)
            carriers[f"Body{n}"] = Body(name, mass=1.0, position=(x, y, z), rotation=start.R)
        carriers["Coupled"] = next(iter(carriers.values()))
        try:
            file = read_moordyn(path, rho=self.water[0], g=self.water[1])
            fields = file.parts(fairleads_on=carriers)
        except SwelltreeError as error:
            self.findings.leave(named, f"{error} The lines are left out.")
            return {}
        for note in file.notes:
            self.findings.comment("lines", "", f"{path.name}: {note}")
        return {
            key: value.table() if key == "seabed" else [item.table() for item in value]
            for key, value in fields.items()
        }

    def cable(
        self, specified: Assignments, name: str, joints: dict[str, tuple[Assignments, str, str]]
    ) -> NamedValues | None:
        """A cable as a spring and damper that only pulls, between the places of two joints.

        Args:
            specified: the cable.
            name: of the element.
            joints: constraints and PTOs by their word in the script, with base and follower.
        """
        ends = []
        for k, field in ((1, "rotloc1"), (2, "rotloc2")):
            word = specified.first_text(k).replace(" ", "")
            if word not in joints:
                specified.lack(f"ends at '{word[:30]}', which is not a joint.")
                return None
            joint, base, follower = joints[word]
            default = tuple(joint.vector("location"))
            body = follower if base == WORLD_NAME else base
            ends.append((body, specified.vector(field, default)))
        for field in ("bodyMass", "bodyInertia", "quadDrag", "linearDamping"):
            if specified.has(field):
                specified.leave(field, "the small bodies at the ends of a cable are left out.")
        if ends[0][0] == ends[1][0]:
            specified.lack(f"has both ends on '{ends[0][0]}'.")
            return None
        gap = float(np.linalg.norm(ends[0][1] - ends[1][1]))
        stiffness, pull = specified.number("stiffness"), specified.number("preTension")
        length = specified.number("L0", specified.number("cableLength"))
        if not length:
            length = gap - pull / stiffness if stiffness and pull else gap
        return {
            "type": "spring_damper",
            "name": name,
            "a": end(*ends[0]),
            "b": end(*ends[1]),
            "stiffness": stiffness,
            "damping": specified.number("damping"),
            "rest_length": max(length, 0.0),
            "tension_only": True,
        }
