"""`read_urdf`: the bodies and joints of a robot in URDF.

The frame of a link is that of the joint that carries it. Collision shapes, colours, transmissions
and plugins have no counterpart and are listed in the notes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from swelltree.describe import WORLD, Body, Free, Planar
from swelltree.describe.errors import SwelltreeError, shown, suggest
from swelltree.describe.joints.couplings import Coupling
from swelltree.describe.joints.joint import Joint
from swelltree.describe.values import NamedValues, euler_matrix
from swelltree.interop.mechanism_file import (
    JointRow,
    MechanismFile,
    MeshPlace,
    Reader,
    frame_with_z,
    inertia_row,
    one_axis,
    rows,
    start_of,
    stops,
    vector,
    welded,
)

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
READ = ("link", "joint")


def read_urdf(
    path: str | Path,
    *,
    base: str = "fixed",
    positions: Mapping[str, float] | None = None,
    stop_stiffness: float | None = None,
) -> MechanismFile:
    """Read a robot from a URDF file (after xacro).

    Args:
        path: of the file.
        base: "fixed": the root link is fixed in the world, with its frame at the origin; "free": it
            moves freely. A root link named "world" is the world.
        positions: coordinates at the start by the names of joints [m, rad]; zero if not title.
        stop_stiffness: of the stops at the limits of joints [N/m, N m/rad], which URDF does not
            have; without it limits are left out.
    """
    reader = Reader(path, "URDF")
    if reader.root.tag != "robot":
        raise reader.fail(reader.root, f"the root is <{reader.root.tag}>, not <robot>")
    if base not in ("fixed", "free"):
        raise SwelltreeError(f"read_urdf: base {shown(base)} is not 'fixed' or 'free'.")
    links = {_name(reader, item): item for item in reader.root.findall("link")}
    carriers = _carriers(reader, links)
    roots = [name for name in links if name not in carriers]
    if len(roots) != 1:
        raise reader.fail(reader.root, f"{len(roots)} links have no parent joint, one must not")
    reader.leave_out(item for item in reader.root if item.tag not in READ)
    return _Robot(reader, links, carriers, roots[0], dict(positions or {}), stop_stiffness).built(
        base
    )


def _name(reader: Reader, item: Element) -> str:
    name = item.get("name", "")
    if not name:
        raise reader.fail(item, f"<{item.tag}> has no name")
    return name


def _carriers(reader: Reader, links: Mapping[str, Element]) -> dict[str, tuple[str, Element]]:
    """Parent link and joint of each link."""
    result: dict[str, tuple[str, Element]] = {}
    for item in reader.root.findall("joint"):
        name, ends = _name(reader, item), []
        if item.get("type") not in KINDS:
            raise reader.fail(item, f"joint '{name}' has the type {shown(item.get('type'))}")
        for word in ("parent", "child"):
            found = item.find(word)
            link = "" if found is None else found.get("link", "")
            if link not in links:
                raise reader.fail(
                    item,
                    f"joint '{name}' has the {word} '{link}', which is not a link."
                    f"{suggest(link, links)}",
                )
            ends.append(link)
        if ends[1] in result:
            raise reader.fail(item, f"link '{ends[1]}' has two parent joints")
        result[ends[1]] = ends[0], item
    return result


class _Robot:
    """Bodies and joints in the making."""

    def __init__(
        self,
        reader: Reader,
        links: Mapping[str, Element],
        carriers: Mapping[str, tuple[str, Element]],
        root: str,
        positions: dict[str, float],
        stop_stiffness: float | None,
    ) -> None:
        self.reader, self.links, self.carriers, self.root = reader, links, carriers, root
        self.positions, self.stop_stiffness = positions, stop_stiffness
        self.bodies: dict[str, Body] = {}
        self.places: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self.meshes: dict[str, tuple[MeshPlace, ...]] = {}
        self.names: dict[str, str] = {}  # of joints, by those of the file
        self.mimics: list[tuple[str, Element]] = []

    def built(self, base: str) -> MechanismFile:
        reader, joints, forces = self.reader, [], []
        kinds = {item.get("name", ""): item.get("type") for _, item in self.carriers.values()}
        start_of(
            reader,
            self.positions,
            [
                name
                for name, kind in kinds.items()
                if kind in ("revolute", "continuous", "prismatic")
            ],
        )
        origin = np.zeros(3), np.eye(3)
        self.places[self.root] = origin
        if self.root != WORLD.name:
            body = self._body(self.root)
            name = reader.unique("base", "joint")
            joints.append(
                Free(name, WORLD, body) if base == "free" else welded(name, WORLD, body, origin)
            )
        waiting, done = list(self.carriers), {self.root}
        while waiting:
            ready = [link for link in waiting if self.carriers[link][0] in done]
            if not ready:
                raise reader.fail(reader.root, f"links {', '.join(waiting[:5])} carry one another")
            for link in ready:
                joint, more = self._joint(link)
                joints.append(joint)
                forces += more
                done.add(link)
            waiting = [link for link in waiting if link not in done]
        couplings = [self._coupling(name, item) for name, item in self.mimics]
        return MechanismFile(
            reader.root.get("name") or reader.path.stem,
            tuple(self.bodies.values()),
            tuple(joints),
            tuple(forces),
            tuple(couplings),
            meshes=self.meshes,
            notes=tuple(reader.notes),
        )

    def _origin(self, item: Element | None) -> tuple[np.ndarray, np.ndarray]:
        found = None if item is None else item.find("origin")
        if found is None:
            return np.zeros(3), np.eye(3)
        angles = self.reader.numbers(found, "rpy", "0 0 0")
        return self.reader.numbers(found, "xyz", "0 0 0"), euler_matrix(*vector(angles))

    def _body(self, link: str) -> Body:
        reader, item = self.reader, self.links[link]
        inertial, mass, J = item.find("inertial"), 0.0, np.zeros((3, 3))
        com, R = self._origin(inertial)
        if inertial is not None:
            found = inertial.find("mass"), inertial.find("inertia")
            if found[0] is None or found[1] is None:
                raise reader.fail(inertial, f"<inertial> of link '{link}' has no mass or inertia")
            mass = reader.number(found[0], "value", None)
            xx, xy, xz, yy, yz, zz = (
                reader.number(found[1], key, None)
                for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
            )
            J = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        name = reader.unique(link, "link")
        p, turn = self.places[link]
        meshes = []
        for kind in ("visual", "collision"):
            for part in item.findall(kind):
                mesh = part.find("geometry/mesh")
                if mesh is not None:
                    at, axes = self._origin(part)
                    scale = vector(reader.numbers(mesh, "scale", "1 1 1"))
                    meshes.append(
                        MeshPlace(mesh.get("filename", ""), scale, vector(at), rows(axes))
                    )
                elif kind == "collision":
                    reader.leave_out([part], "contacts between links are not modelled")
        if meshes:
            self.meshes[name] = tuple(dict.fromkeys(meshes))
        values: NamedValues = {"position": vector(p), "rotation": rows(turn)}
        if mass or J.any():
            values |= {"inertia": inertia_row(J), "com": vector(com)}
        body = Body(name, mass=mass, **values)
        self.bodies[link] = body
        return body

    def _joint(self, link: str) -> tuple[Joint, list]:
        reader = self.reader
        parent, item = self.carriers[link]
        kind, title = item.get("type", ""), item.get("name", "")
        place = self._origin(item)
        p, R = self.places[parent]
        self.places[link] = p + R @ place[0], R @ place[1]
        body, base = self._body(link), self.bodies.get(parent, WORLD)
        name = reader.unique(title, "joint")
        self.names[title] = name
        reader.leave_out(x for x in item if x.tag in ("calibration", "safety_controller"))
        if kind == "fixed":
            return welded(name, base, body, place), []
        there = place[1] @ np.eye(3)
        if kind == "floating":
            return Free(name, base.at(*vector(place[0]), rotation=rows(there)), body), []
        found = item.find("axis")
        axis = np.array([1.0, 0.0, 0.0]) if found is None else reader.numbers(found, "xyz", "1 0 0")
        if not np.linalg.norm(axis) > 0.0:
            raise reader.fail(item, f"the axis of joint '{title}' is zero")
        axis = axis / np.linalg.norm(axis)
        if kind == "planar":
            Q = frame_with_z(axis)
            point = base.at(*vector(place[0]), rotation=rows(there @ Q))
            return Planar(name, point, body.at(rotation=rows(Q)), axis="z"), []
        values = self._values(item, title, kind)
        if item.find("mimic") is not None:
            self.mimics.append((title, item))
        row = JointRow(
            "slider" if kind == "prismatic" else "hinge", name, place, np.zeros(3), axis, values
        )
        joint, force = one_axis(row, base, body, self.positions.get(title, 0.0))
        return joint, [force]

    def _values(self, item: Element, name: str, kind: str) -> dict[str, float]:
        """Damping, friction and stops of a joint."""
        reader, values = self.reader, {}
        dynamics, limit = item.find("dynamics"), item.find("limit")
        if dynamics is not None:
            for key in ("damping", "friction"):
                values[key] = reader.number(dynamics, key)
        if limit is not None:
            if kind != "continuous":
                ends = reader.number(limit, "lower"), reader.number(limit, "upper")
                values |= stops(reader, name, ends, self.stop_stiffness)
            known = [f"{key} {limit.get(key)}" for key in ("effort", "velocity") if limit.get(key)]
            if known:
                reader.notes.append(
                    f"limit of {' and '.join(known)} of joint '{name}' left out: put it into the "
                    "law that drives the joint"
                )
        return values

    def _coupling(self, name: str, item: Element) -> Coupling:
        reader, mimic = self.reader, item.find("mimic")
        assert mimic is not None
        leader = mimic.get("joint", "")
        if leader not in self.names:
            raise reader.fail(item, f"joint '{name}' follows '{leader}', which is not a joint")
        ratio = reader.number(mimic, "multiplier", "1")
        coefficients = {self.names[name]: 1.0, self.names[leader]: -ratio}
        offset = reader.number(mimic, "offset")
        start, lead = (self.positions.get(x, 0.0) for x in (name, leader))
        if abs(start - ratio * lead - offset) > 1e-9:
            raise reader.fail(
                item,
                f"joint '{name}' follows '{leader}' and begins at {ratio * lead + offset:g}",
                f"Give positions={{'{name}': {ratio * lead + offset:g}}}.",
            )
        return Coupling(reader.unique(f"{name}_mimic", "coupling"), coefficients, offset)
