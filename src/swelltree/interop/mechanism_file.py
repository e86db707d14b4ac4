"""What files of robots say: bodies, joints, limits, gravity, meshes, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from swelltree.describe import WORLD, Body, Hinge, Slider, System, Water, Weld
from swelltree.describe.errors import SwelltreeError, error_in_file, listed, shown, suggest
from swelltree.describe.files.atomic import user_path
from swelltree.describe.forces.elements import JointForce
from swelltree.describe.joints.couplings import Coupling
from swelltree.describe.joints.joint import Joint
from swelltree.describe.values import NamedValues, nearest_rotation
from swelltree.interop.safe_xml import LINE, xml_tree

MAX_BYTES = 32 * 2**20


@dataclass(frozen=True)
class MeshPlace:
    """A mesh of a body.

    Args:
        path: as the file gives it.
        scale: metres per unit of the mesh along its axes.
        position: of its origin in the body frame [m].
        rotation: of its axes, 3 x 3.
    """

    path: str
    scale: tuple[float, ...]
    position: tuple[float, ...]
    rotation: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class MechanismFile:
    """A mechanism read from a file.

    Args:
        name: of the model in the file.
        bodies: in the order of the file; massless ones between several joints of one body.
        joints: of the bodies.
        forces: a `JointForce` for each coordinate of a hinge or slider, named "<joint>_force":
            spring, damping, friction and stops of the file, and what controllers drive.
        couplings: of coordinates that follow others.
        g: acceleration of gravity, downwards [m/s^2].
        meshes: by the name of the body.
        notes: what was left out or renamed.
    """

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    forces: tuple[JointForce, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    g: float = 9.81
    meshes: Mapping[str, tuple[MeshPlace, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def parts(self) -> NamedValues:
        """Descriptions to be put into a system: `System("name", **mechanism.parts())`."""
        parts = {"bodies": self.bodies, "joints": self.joints, "forces": self.forces}
        return {**parts, "couplings": self.couplings}

    def system(self, name: str | None = None, **more: object) -> System:
        """A system of the mechanism alone.

        Args:
            name: of the system; that of the file if not given.
            **more: further fields of `System`; lists are added to those of the mechanism.
        """
        parts = self.parts()
        for key in parts.keys() & more.keys():
            parts[key] = (*parts[key], *more.pop(key))  # pyright: ignore[reportGeneralTypeIssues]
        parts = {"water": Water(g=self.g), **parts, **more}
        return System(name or self.name, **parts)


class Reader:
    """A file that is read: its elements with messages, unique names, notes.

    Args:
        path: of the file.
        kind: of it, for messages: "URDF".
    """

    def __init__(self, path: str | Path, kind: str) -> None:
        self.path, self.kind = user_path(path, f"{kind} file"), kind
        self.notes: list[str] = []
        self.names: set[str] = {WORLD.name}
        try:
            with self.path.open("rb") as file:
                content = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise SwelltreeError(
                f"{kind} file '{self.path}' cannot be read: {error.strerror}. Check the path."
            ) from None
        if len(content) > MAX_BYTES:
            raise self.fail(None, f"it has more than {MAX_BYTES >> 20} MiB")
        try:
            self.root = xml_tree(content)
        except ValueError as error:
            raise self.fail(None, f"it is not sound XML ({error})") from None

    def fail(
        self, item: Element | None, text: str, advice: str = "Correct the file."
    ) -> SwelltreeError:
        line = "" if item is None else f", line {item.get(LINE)}"
        return error_in_file(f"{self.kind} file '{self.path}'{line}: {text}. {advice}")

    def numbers(self, item: Element, key: str, default: str | None, count: int = 3) -> np.ndarray:
        """Numbers of an attribute.

        Args:
            item: that has it.
            key: its name.
            default: text where it is not given; None: it must be.
            count: of the numbers; 0: any.
        """
        text = item.get(key, default)
        if text is None:
            raise self.fail(item, f"<{item.tag}> has no {key}")
        try:
            values = np.array([float(x) for x in text.split()])
        except ValueError:
            raise self.fail(
                item, f"{key}={shown(text)} of <{item.tag}> is not a row of numbers"
            ) from None
        if (count and len(values) != count) or not np.isfinite(values).all():
            raise self.fail(
                item,
                f"{key}={shown(text)} of <{item.tag}> is not {count or 'a row of'} finite numbers",
            )
        return values

    def number(self, item: Element, key: str, default: str | None = "0") -> float:
        return float(self.numbers(item, key, default, 1)[0])

    def unique(self, name: str, kind: str) -> str:
        """A name that no other item has, without characters that have a meaning in labels."""
        plain = name.replace(":", "_").replace(".", "_").replace("/", "_") or kind
        while "__" in plain:
            plain = plain.replace("__", "_")
        found, k = plain, 1
        while found in self.names:
            found, k = f"{plain}_{kind}" if k == 1 else f"{plain}_{kind}{k}", k + 1
        self.names.add(found)
        if name and found != name:
            self.notes.append(f"{kind} '{name}' is called '{found}'")
        return found

    def leave_out(self, items: Iterable[Element], why: str = "no counterpart") -> None:
        """Note elements that are not read."""
        counts: dict[str, list[str]] = {}
        for item in items:
            counts.setdefault(item.tag, []).append(item.get("name") or f"line {item.get(LINE)}")
        for tag, names in counts.items():
            more = f" and {len(names) - 5} more" if len(names) > 5 else ""
            self.notes.append(f"<{tag}> {listed(names[:5])}{more} left out: {why}")


def rows(R: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(x) for x in row) for row in nearest_rotation(R))


def vector(x: np.ndarray) -> tuple[float, ...]:
    return tuple(float(a) for a in x)


def frame_with_z(axis: np.ndarray) -> np.ndarray:
    """A rotation whose z axis is a unit vector."""
    other = np.eye(3)[np.argmin(np.abs(axis))]
    x = np.cross(other, axis)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x), axis], axis=1)


def inertia_row(J: np.ndarray) -> tuple[float, ...]:
    """Entries of a matrix as `Body` takes them."""
    return vector(np.array([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]))


@dataclass
class JointRow:
    """One joint between two bodies whose frames coincide but for its coordinate.

    Args:
        kind: "hinge" or "slider".
        name: of the joint.
        place: of the follower's frame in that of the base, position and rotation.
        point: of the axis in the follower's frame.
        axis: its direction there.
        values: fields of its `JointForce`.
    """

    kind: str
    name: str
    place: tuple[np.ndarray, np.ndarray]
    point: np.ndarray
    axis: np.ndarray
    values: NamedValues


def one_axis(row: JointRow, base: object, follower: Body, start: float) -> tuple[Joint, JointForce]:
    """A hinge or slider with its force."""
    p, R = row.place
    Q = frame_with_z(row.axis)
    there = _point(base, p + R @ row.point, R @ Q)
    here = follower.at(*vector(row.point), rotation=rows(Q))
    cls = Hinge if row.kind == "hinge" else Slider
    joint = cls(row.name, there, here, axis="z", position=start)
    return joint, JointForce(f"{row.name}_force", row.name, **row.values)


def welded(name: str, base: object, follower: Body, place: tuple[np.ndarray, np.ndarray]) -> Weld:
    return Weld(name, _point(base, *place), follower)


def _point(base: object, p: np.ndarray, R: np.ndarray) -> object:
    return (base if isinstance(base, Body) else WORLD).at(*vector(p), rotation=rows(R))


def stops(
    reader: Reader, name: str, limits: tuple[float, float] | None, stiffness: float | None
) -> NamedValues:
    """Fields of end stops; a note where they are left out."""
    if limits is None or not limits[0] < limits[1]:
        return {}
    if stiffness is None:
        reader.notes.append(
            f"limits {limits[0]:g} to {limits[1]:g} of joint '{name}' left out: give stop_stiffness"
        )
        return {}
    return {"lower": limits[0], "upper": limits[1], "stop_stiffness": stiffness}


def start_of(reader: Reader, positions: Mapping[str, float], joints: Iterable[str]) -> None:
    """Reject positions of joints that the file does not have."""
    joints = list(joints)
    for name in positions:
        if name not in joints:
            raise SwelltreeError(
                f"{reader.kind} file '{reader.path}': positions names '{name}', which is not a "
                f"hinge or slider of the file.{suggest(name, joints)} There is {listed(joints)}."
            )
