"""`read_mjcf`: the bodies and joints of a MuJoCo model (MJCF, the XML of MuJoCo).

Defaults and classes, all ways of giving orientations, several joints of one body, and inertias from
geoms are read as the XML reference of MuJoCo describes them. Contacts, tendons, actuators, sensors
and equalities have no counterpart and are listed in the notes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from swelltree.describe import WORLD, Ball, Body, Free
from swelltree.describe.errors import shown
from swelltree.describe.joints.joint import Joint
from swelltree.describe.values import quaternion_matrix
from swelltree.interop.mechanism_file import (
    JointRow,
    MechanismFile,
    MeshPlace,
    Reader,
    inertia_row,
    one_axis,
    rows,
    start_of,
    stops,
    vector,
    welded,
)

STRUCTURE = ("include", "frame", "replicate", "attach", "composite", "flexcomp")
DENSITY = 1000.0  # kg/m^3 of a geom without one
CHANGES = ("settotalmass", "balanceinertia", "boundmass", "boundinertia", "inertiagrouprange")
MAX_BODIES = 5000
Attributes = dict[str, str]
Place = tuple[np.ndarray, np.ndarray]


def read_mjcf(
    path: str | Path,
    *,
    positions: Mapping[str, float] | None = None,
    stop_stiffness: float | None = None,
) -> MechanismFile:
    """Read the mechanism of a MuJoCo model.

    Coordinates are zero in the configuration of the file, where MuJoCo has `ref`.

    Args:
        path: of the XML file, in one piece (without include).
        positions: coordinates of hinges and sliders at the start, by the names of joints [m, rad];
            zero if not title.
        stop_stiffness: of the stops at the ranges of joints [N/m, N m/rad]; without it ranges are
            left out. MuJoCo has a soft constraint in their place.
    """
    reader = Reader(path, "MJCF")
    if reader.root.tag != "mujoco":
        raise reader.fail(reader.root, f"the root is <{reader.root.tag}>, not <mujoco>")
    return _Mujoco(reader, dict(positions or {}), stop_stiffness).built()


@dataclass
class _Classes:
    """Attributes by class and element, each class with those of the class around it."""

    values: dict[str, dict[str, Attributes]] = field(default_factory=dict)

    def read(self, item: Element, above: str | None) -> None:
        name = item.get("class", "main" if above is None else "")
        known = {tag: dict(x) for tag, x in self.values.get(above or "", {}).items()}
        for part in item:
            if part.tag != "default":
                known[part.tag] = known.get(part.tag, {}) | part.attrib
        self.values[name] = known
        for part in item.findall("default"):
            self.read(part, name)


class _Mujoco:
    """Bodies and joints in the making."""

    def __init__(
        self, reader: Reader, positions: dict[str, float], stop_stiffness: float | None
    ) -> None:
        self.reader, self.positions, self.stop_stiffness = reader, positions, stop_stiffness
        root = reader.root
        self.compiler: Attributes = {}
        for item in root.findall("compiler"):
            self.compiler |= item.attrib
        self.unit = 1.0 if self.compiler.get("angle", "degree") == "radian" else math.pi / 180.0
        self.classes = _Classes({"main": {}})
        for item in root.findall("default"):
            self.classes.read(item, None)
        self.meshes = {
            x.get("name") or Path(x.get("file", "")).stem: x for x in root.findall("asset/mesh")
        }
        self.places: dict[str, tuple[MeshPlace, ...]] = {}
        self.bodies: list[Body] = []
        self.joints: list[Joint] = []
        self.forces: list = []
        self.axes: list[str] = []  # names of hinges and sliders in the file

    def built(self) -> MechanismFile:
        reader, root = self.reader, self.reader.root
        for item in root.iter():
            if item.tag in STRUCTURE:
                raise reader.fail(
                    item,
                    f"<{item.tag}> is not read",
                    "Save the model in one piece: mujoco.mj_saveLastXML.",
                )
        worlds = root.findall("worldbody")
        if not worlds:
            raise reader.fail(root, "there is no <worldbody>")
        changed = [key for key in CHANGES if key in self.compiler]
        if changed:
            reader.notes.append(f"compiler {', '.join(changed)} left out: masses are as written")
        read = (
            "compiler",
            "option",
            "default",
            "asset",
            "worldbody",
            "size",
            "visual",
            "statistic",
        )
        for item in root:
            if item.tag not in read:
                reader.leave_out([*item])
        for world in worlds:
            reader.leave_out(x for x in world if x.tag not in ("body", "geom"))
            for item in world.findall("body"):
                self._body(item, WORLD, (np.zeros(3), np.eye(3)), "main", (np.zeros(3), np.eye(3)))
        start_of(reader, self.positions, self.axes)
        return MechanismFile(
            root.get("model") or reader.path.stem,
            tuple(self.bodies),
            tuple(self.joints),
            tuple(self.forces),
            g=self._gravity(),
            meshes=self.places,
            notes=tuple(reader.notes),
        )

    def _gravity(self) -> float:
        g = np.array([0.0, 0.0, -9.81])
        for item in self.reader.root.findall("option"):
            g = self.reader.numbers(item, "gravity", "0 0 -9.81") if item.get("gravity") else g
            for key in ("wind", "density", "viscosity"):
                if item.get(key) and self.reader.numbers(item, key, None, 0).any():
                    self.reader.notes.append(f"option {key} left out: describe drag in swelltree")
            flag = item.find("flag")
            if flag is not None and flag.get("gravity") == "disable":
                return 0.0
        if g[0] or g[1] or g[2] > 0.0:
            raise self.reader.fail(
                self.reader.root, f"gravity {g.tolist()} is not along -z", "Turn the model."
            )
        return -float(g[2])

    # --- attributes

    def _with_defaults(self, item: Element, childclass: str) -> Element:
        """An element with the attributes of its class."""
        name = item.get("class", childclass)
        if name not in self.classes.values:
            raise self.reader.fail(item, f"there is no default class {shown(name)}")
        result = Element(item.tag, self.classes.values[name].get(item.tag, {}) | item.attrib)
        result.extend(item)
        return result

    def _turn(self, item: Element) -> np.ndarray:
        """Rotation matrix of an element's orientation."""
        reader = self.reader
        if item.get("quat"):
            q = reader.numbers(item, "quat", None, 4)
            if not q.any():
                raise reader.fail(item, "quat is zero")
            return quaternion_matrix(vector(q))
        if item.get("axisangle"):
            x, y, z, a = reader.numbers(item, "axisangle", None, 4)
            return _about(np.array([x, y, z]), a * self.unit)
        if item.get("euler"):
            R, sequence = np.eye(3), self.compiler.get("eulerseq", "xyz")
            if len(sequence) != 3 or not set(sequence.lower()) <= set("xyz"):
                raise reader.fail(item, f"eulerseq {shown(sequence)} is not three axes")
            angles = reader.numbers(item, "euler", None)
            for letter, angle in zip(sequence, angles, strict=True):
                turn = _about(np.eye(3)["xyz".index(letter.lower())], angle * self.unit)
                R = R @ turn if letter.islower() else turn @ R
            return R
        if item.get("xyaxes"):
            values = reader.numbers(item, "xyaxes", None, 6)
            x = values[:3] / np.linalg.norm(values[:3])
            y = values[3:] - x * (x @ values[3:])
            y /= np.linalg.norm(y)
            return np.stack([x, y, np.cross(x, y)], axis=1)
        if item.get("zaxis"):
            return _onto(reader.numbers(item, "zaxis", None))
        return np.eye(3)

    def _place(self, item: Element) -> Place:
        return self.reader.numbers(item, "pos", "0 0 0"), self._turn(item)

    # --- bodies

    def _body(self, item: Element, base: object, place: Place, above: str, world: Place) -> None:
        reader = self.reader
        if len(self.bodies) >= MAX_BODIES:
            raise reader.fail(item, f"it has more than {MAX_BODIES} bodies")
        childclass = item.get("childclass", above)
        p, R = self._place(item)
        place = place[0] + place[1] @ p, place[1] @ R
        world = world[0] + world[1] @ p, world[1] @ R
        title = item.get("name", "") or f"body{len(self.bodies) + 1}"
        name = reader.unique(title, "body")
        mass, com, J = self._inertia(item, title, name, childclass)
        joints = [self._with_defaults(x, childclass) for x in item.findall("joint")]
        joints += [Element("joint", x.attrib | {"type": "free"}) for x in item.findall("freejoint")]
        known = ("body", "joint", "freejoint", "geom", "inertial")
        reader.leave_out(x for x in item if x.tag not in known)
        pose = {"position": vector(world[0]), "rotation": rows(world[1])}
        for k, joint in enumerate(joints or [None]):
            last = k == max(len(joints) - 1, 0)
            values = {"inertia": inertia_row(J), "com": vector(com)} if last and mass else {}
            label = name if last else reader.unique(f"{title}_{k + 1}", "body")
            follower = Body(label, mass=mass if last else 0.0, **values, **pose)
            self.bodies.append(follower)
            if joint is None:
                self.joints.append(
                    welded(reader.unique(f"{title}_weld", "joint"), base, follower, place)
                )
            else:
                self._joint(joint, title, base, follower, place)
            base, place = follower, (np.zeros(3), np.eye(3))
        for part in item.findall("body"):
            self._body(part, base, place, childclass, world)

    def _joint(self, item: Element, body: str, base: object, follower: Body, place: Place) -> None:
        reader, kind = self.reader, item.get("type", "hinge")
        title = item.get("name", "") or f"{body}_{kind}"
        name = reader.unique(title, "joint")
        point = reader.numbers(item, "pos", "0 0 0")
        if reader.number(item, "armature"):
            reader.notes.append(
                f"armature {item.get('armature')} of joint '{title}' left out: add the inertia of "
                "its rotor to a body"
            )
        p, R = place
        there = vector(p + R @ point)
        carrier = base if isinstance(base, Body) else WORLD
        if kind in ("free", "ball"):
            for key in ("stiffness", "damping", "frictionloss", "range"):
                if item.get(key) and reader.numbers(item, key, None, 0).any():
                    reader.notes.append(
                        f"{key} of joint '{title}' left out: it has three rotations"
                    )
        if kind == "free":
            self.joints.append(Free(name, carrier.at(*vector(p), rotation=rows(R)), follower))
            return
        if kind == "ball":
            end = carrier.at(*there, rotation=rows(R))
            self.joints.append(Ball(name, end, follower.at(*vector(point))))
            return
        if kind not in ("hinge", "slide"):
            raise reader.fail(item, f"joint '{title}' has the type {shown(kind)}")
        axis = reader.numbers(item, "axis", "0 0 1")
        if not np.linalg.norm(axis) > 0.0:
            raise reader.fail(item, f"the axis of joint '{title}' is zero")
        self.axes.append(title)
        row = JointRow(
            "hinge" if kind == "hinge" else "slider",
            name,
            place,
            point,
            axis / np.linalg.norm(axis),
            self._values(item, title, self.unit if kind == "hinge" else 1.0),
        )
        joint, force = one_axis(row, base, follower, self.positions.get(title, 0.0))
        self.joints.append(joint)
        self.forces.append(force)

    def _values(self, item: Element, name: str, unit: float) -> dict[str, float]:
        """Fields of the force of a hinge or slider."""
        reader = self.reader
        ref = reader.number(item, "ref") * unit
        if ref:
            reader.notes.append(
                f"joint '{name}' is at {ref:g} in MuJoCo where it is zero here (ref)"
            )
        keys = {"stiffness": "stiffness", "damping": "damping", "frictionloss": "friction"}
        values = {word: float(reader.numbers(item, key, "0", 0)[0]) for key, word in keys.items()}
        if values["stiffness"]:
            values["rest_position"] = reader.number(item, "springref") * unit - ref
        automatic = self.compiler.get("autolimits", "true") == "true"
        limited = item.get("limited", "auto")
        if limited == "true" or (limited == "auto" and automatic and item.get("range")):
            low, high = reader.numbers(item, "range", "0 0", 2) * unit - ref
            values |= stops(reader, name, (float(low), float(high)), self.stop_stiffness)
        return values

    # --- inertia

    def _inertia(
        self, item: Element, title: str, name: str, childclass: str
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass, centre of mass and inertia about it, in body axes."""
        reader, found = self.reader, item.find("inertial")
        geoms = [self._with_defaults(x, childclass) for x in item.findall("geom")]
        meshes = [x for x in geoms if x.get("mesh")]
        if meshes:
            self.places[name] = tuple(self._mesh(x) for x in meshes)
        how = self.compiler.get("inertiafromgeom", "auto")
        if how == "true" or (found is None and how == "auto"):
            return self._from_geoms(geoms, title)
        if found is None:
            return 0.0, np.zeros(3), np.zeros((3, 3))
        com, R = self._place(found)
        mass = reader.number(found, "mass", None)
        if found.get("fullinertia"):
            xx, yy, zz, xy, xz, yz = reader.numbers(found, "fullinertia", None, 6)
            return mass, com, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return mass, com, R @ np.diag(reader.numbers(found, "diaginertia", None)) @ R.T

    def _mesh(self, geom: Element) -> MeshPlace:
        at, R = self._place(geom)
        name = geom.get("mesh", "")
        asset = self.meshes.get(name)
        if asset is None:
            raise self.reader.fail(geom, f"there is no mesh {shown(name)}")
        scale = vector(self.reader.numbers(asset, "scale", "1 1 1"))
        folder = self.compiler.get("meshdir", self.compiler.get("assetdir", ""))
        return MeshPlace(str(Path(folder) / asset.get("file", "")), scale, vector(at), rows(R))

    def _from_geoms(self, geoms: list[Element], body: str) -> tuple[float, np.ndarray, np.ndarray]:
        parts = [x for x in (self._geom(geom, body) for geom in geoms) if x[0] > 0.0]
        mass = sum(m for m, _, _ in parts)
        if not parts:
            return 0.0, np.zeros(3), np.zeros((3, 3))
        com = np.sum([m * p for m, p, _ in parts], axis=0) / mass
        J = np.zeros((3, 3))
        for m, p, own in parts:
            d = p - com
            J += own + m * ((d @ d) * np.eye(3) - np.outer(d, d))
        return float(mass), com, J

    def _geom(self, item: Element, body: str) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass, centre and inertia of a geom in body axes."""
        reader, kind = self.reader, item.get("type", "mesh" if item.get("mesh") else "sphere")
        at, R = self._place(item)
        size = reader.numbers(item, "size", "0 0 0", 0)
        size = np.concatenate([size, np.zeros(3)])[:3]
        ends = item.get("fromto")
        if ends and kind in ("capsule", "cylinder", "box", "ellipsoid"):
            values = reader.numbers(item, "fromto", None, 6)
            at, along = (values[:3] + values[3:]) / 2.0, values[:3] - values[3:]
            half = float(np.linalg.norm(along)) / 2.0
            R = _onto(along)
            size = (
                np.array([size[0], half, 0.0])
                if kind in ("capsule", "cylinder")
                else np.array([size[0], size[0], half])
            )
        mass_of = reader.number(item, "mass", "-1")
        if mass_of == 0.0 or (mass_of < 0.0 and reader.number(item, "density", "1000") == 0.0):
            return 0.0, at, np.zeros((3, 3))
        if kind not in SHAPES:
            if kind in ("plane", "hfield"):
                return 0.0, at, np.zeros((3, 3))
            raise reader.fail(
                item,
                f"the mass of body '{body}' follows from a geom of type {shown(kind)}",
                "Give the body an <inertial>.",
            )
        volume, unit = SHAPES[kind](*size)
        if not volume > 0.0:
            raise reader.fail(item, f"a {kind} of body '{body}' has no volume")
        density = reader.number(item, "density", str(DENSITY))
        mass = mass_of if mass_of >= 0.0 else density * volume
        return mass, at, R @ np.diag(mass * np.array(unit)) @ R.T


# --- Solids: volume, and inertia of a unit mass about their axes


def _sphere(r: float, *_: float) -> tuple[float, tuple[float, ...]]:
    return 4.0 / 3.0 * math.pi * r**3, (0.4 * r * r,) * 3


def _ellipsoid(a: float, b: float, c: float) -> tuple[float, tuple[float, ...]]:
    squares = a * a, b * b, c * c
    return 4.0 / 3.0 * math.pi * a * b * c, tuple((sum(squares) - x) / 5.0 for x in squares)


def _box(a: float, b: float, c: float) -> tuple[float, tuple[float, ...]]:
    squares = a * a, b * b, c * c
    return 8.0 * a * b * c, tuple((sum(squares) - x) / 3.0 for x in squares)


def _cylinder(r: float, half: float, *_: float) -> tuple[float, tuple[float, ...]]:
    across = r * r / 4.0 + half * half / 3.0
    return 2.0 * math.pi * r * r * half, (across, across, r * r / 2.0)


def _capsule(r: float, half: float, *_: float) -> tuple[float, tuple[float, ...]]:
    """A cylinder and two half spheres, whose centres are 3 r / 8 from their plane sides."""
    tube, ball = 2.0 * math.pi * r * r * half, 4.0 / 3.0 * math.pi * r**3
    away = half + 3.0 * r / 8.0
    ends = 0.4 * r * r - (3.0 * r / 8.0) ** 2 + away**2  # across, about the middle
    across = tube * (r * r / 4.0 + half * half / 3.0) + ball * ends
    along = tube * r * r / 2.0 + ball * 0.4 * r * r
    volume = tube + ball
    return volume, (across / volume, across / volume, along / volume)


SHAPES = {
    "sphere": _sphere,
    "ellipsoid": _ellipsoid,
    "box": _box,
    "cylinder": _cylinder,
    "capsule": _capsule,
}


def _about(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rotation about an axis of any length."""
    size = np.linalg.norm(axis)
    if not size > 0.0:
        return np.eye(3)
    x, y, z = math.sin(angle / 2.0) * axis / size
    return quaternion_matrix((math.cos(angle / 2.0), x, y, z))


def _onto(z: np.ndarray) -> np.ndarray:
    """The smallest rotation of the z axis onto a direction."""
    z = z / np.linalg.norm(z)
    axis = np.cross([0.0, 0.0, 1.0], z)
    if np.linalg.norm(axis) < 1e-10:
        return np.eye(3) if z[2] > 0.0 else np.diag([1.0, -1.0, -1.0])
    return _about(axis, math.atan2(float(np.linalg.norm(axis)), float(z[2])))
