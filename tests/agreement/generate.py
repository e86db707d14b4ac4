"""Random systems for the agreement tests: trees and loops of every kind of joint.

Bodies get random poses first; the frames of every joint, also of those that close loops, are then
computed from these poses and chosen joint coordinates, so every loop closes by construction.

Structure (who hangs on whom, which joint, reversed or not) is drawn from a `random.Random`, which
hypothesis can hand out (`st.randoms`) and shrink; the numbers come from one numpy generator.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

import swelltree.describe as sw
from swelltree.compiler.compile import compile as compiled
from swelltree.describe.joints.kinds import JOINT_TYPES

DOFS = ("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw")
KINDS = (
    *("weld", "hinge", "slider", "cylindrical", "screw", "universal", "ball"),
    *("planar", "free", "subset", "distance", "revolute_spherical"),
)
# joints that add nothing to a given one: on its axis, at its point, anywhere
TWINS = {
    "weld": ("weld", "hinge", "ball", "slider"),
    "hinge": ("hinge", "ball", "cylindrical"),
    "slider": ("slider", "cylindrical"),
    "cylindrical": ("cylindrical",),
    "ball": ("ball",),
    "planar": ("planar",),
}
LEAD = 0.4  # metres per turn of the screws


@dataclass(frozen=True)
class RandomSystem:
    """A described system, its added mass, and what it contains."""

    system: sw.System
    added_mass: np.ndarray | None
    traits: frozenset[str]
    speed: float = 1.0  # of joints in loops, put in where they fit together

    def __repr__(self) -> str:
        joints = ", ".join(f"{j.type} {j.base.body}>{j.follower.body}" for j in self.system.joints)
        return f"RandomSystem({joints}; {', '.join(sorted(self.traits))})"


@dataclass
class _Sketch:
    """What is known while a system is being drawn."""

    choose: Random
    rng: np.random.Generator
    names: list[str]
    poses: dict[str, tuple[np.ndarray, np.ndarray]]
    displaced: bool  # described poses differ from the true ones
    joints: list[Any] = field(default_factory=list)
    frames: list[tuple[Any, np.ndarray]] = field(default_factory=list)
    traits: set[str] = field(default_factory=set)
    mobility: int = 0


def random_system(
    choose: Random, max_bodies: int = 8, kinds: tuple[str, ...] = (), calm: bool = False
) -> RandomSystem:
    """Draw a system.

    Args:
        choose: source of the structure.
        max_bodies: largest number of bodies.
        kinds: kinds of joints that must be there, first in the tree.
        calm: gentle motion, for trajectories.
    """
    n = choose.randint(max(1, min(len(kinds), max_bodies)), max_bodies)
    rng = np.random.default_rng(choose.randrange(2**32))
    names = [f"b{i}" for i in range(n)]
    poses = {
        name: (rng.uniform(-1.0, 1.0, 3) * (1.0 + 0.2 * n), random_rotation(rng)) for name in names
    }
    poses["world"] = (np.zeros(3), np.eye(3))
    requested = list(kinds)
    rods = {"distance", "revolute_spherical"}
    displaced = choose.random() < 0.25 and not rods & set(requested)
    sketch = _Sketch(choose, rng, names, poses, displaced)
    _tree(sketch, requested)
    _loops(sketch, requested)
    speed = 0.3 if calm else 1.0
    joints = _started(sketch, speed)
    bodies = tuple(_body(sketch, name) for name in names)
    forces = _forces(sketch, joints)
    added_mass = _added_mass(sketch) if choose.random() < 0.6 else None
    if added_mass is not None:
        sketch.traits.add("added mass")
        if choose.random() < 0.2:
            sketch.traits.add("massless body")
            at = choose.randrange(n)
            bodies = tuple(
                b.replace(mass=0.0, inertia=(0.0, 0.0, 0.0)) if i == at else b
                for i, b in enumerate(bodies)
            )
    system = sw.System("random", bodies, joints, forces)
    system = system.replace(joints=_still_in_loops(system))
    system = _without_drives_at_odds(system)
    sketch.traits.update(j.type for j in joints)
    if system.topology.reversed_joints:
        sketch.traits.add("reversed")
    if sum(p < 0 for p in system.topology.parent) > 1:
        sketch.traits.add("several trees")
    if displaced:
        sketch.traits.add("displaced description")
    return RandomSystem(system, added_mass, frozenset(sketch.traits), speed)


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    """Uniformly random rotation."""
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.sign(np.linalg.det(Q))


def turn(axis: int, angle: float) -> np.ndarray:
    """Rotation about a principal axis."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = np.cos(angle)
    R[j, i], R[i, j] = np.sin(angle), -np.sin(angle)
    return R


# --- joints ---------------------------------------------------------------------------------------


def _tree(sketch: _Sketch, requested: list[str]) -> None:
    """One joint for every body, to the world or to an earlier body."""
    choose = sketch.choose
    for i, name in enumerate(sketch.names):
        parent = "world"
        if i > 0 and choose.random() < 0.85:
            parent = sketch.names[choose.randrange(max(0, i - 3), i)]
        kind = requested.pop(0) if requested else choose.choice(KINDS)
        _join(sketch, f"j{i}", kind, parent, name)


def _loops(sketch: _Sketch, requested: list[str]) -> None:
    """Further joints that close loops, as far as freedoms remain; sometimes a redundant twin."""
    choose = sketch.choose
    places = ["world", *sketch.names]
    for i in range(choose.choice((0, 0, 1, 1, 2, 3))):
        one, other = choose.sample(places, 2)
        kind = requested.pop(0) if requested else choose.choice(KINDS[1:])
        rows = 6 - _freedoms(sketch, kind)
        if sketch.mobility - rows >= 1:
            _join(sketch, f"c{i}", kind, one, other)
            sketch.traits.add("loop")
    doubled = [k for k, (j, _) in enumerate(sketch.frames) if j.type in TWINS]
    if doubled and choose.random() < 0.3:
        _twin(sketch, choose.choice(doubled))


def _freedoms(sketch: _Sketch, kind: str) -> int:
    dofs = {"weld": 0, "hinge": 1, "slider": 1, "cylindrical": 2, "screw": 1, "universal": 2}
    dofs |= {"ball": 3, "planar": 3, "free": 6, "distance": 5, "revolute_spherical": 4}
    return dofs.get(kind, 2)


def _join(sketch: _Sketch, name: str, kind: str, one: str, other: str) -> None:
    """Add a joint between two placed bodies: its frames follow from their poses."""
    choose, rng = sketch.choose, sketch.rng
    base, follower = (one, other) if choose.random() < 0.6 else (other, one)
    (p_b, R_b), (p_f, R_f) = sketch.poses[base], sketch.poses[follower]
    letter = choose.choice("xyz")
    options: dict[str, Any] = {}
    frame = choose.choice(("axis", "orientation", "orientation_deg", "point", "plain"))
    if kind in ("hinge", "slider", "cylindrical", "screw", "planar", "revolute_spherical"):
        options["axis"] = letter
    elif frame == "axis":
        frame = "orientation"
    if frame == "axis":
        options["axis"] = tuple(rng.normal(size=3))
    elif frame == "orientation":
        options["orientation"] = random_rotation(rng)
    elif frame == "orientation_deg":
        options["orientation_deg"] = tuple(rng.uniform(-180.0, 180.0, 3))
    if kind == "screw":
        options["lead"] = choose.choice((-LEAD, LEAD))
    if kind == "universal":
        options["axes"] = tuple(choose.sample("xyz", 2))
    if kind == "subset":
        options["dofs"] = tuple(sorted(choose.sample(DOFS, choose.randint(1, 5)), key=DOFS.index))
    rotation = random_rotation(rng) if frame == "point" else None
    point = sw.Point(base, tuple(rng.uniform(-0.5, 0.5, 3)), rotation)
    cls = JOINT_TYPES[kind]
    if kind in ("distance", "revolute_spherical"):
        end = sw.Point(follower, tuple(rng.uniform(-0.5, 0.5, 3)))
        if kind == "distance" and (sketch.displaced or choose.random() < 0.5):
            arm = p_f + R_f @ np.array(end.position) - p_b - R_b @ np.array(point.position)
            options["length"] = float(np.linalg.norm(arm))
        joint = cls(name, point, end, **options)
        if kind == "revolute_spherical" and sketch.displaced:
            return _join(sketch, name, "ball", one, other)
        sketch.mobility += 6 * _hangs_free(sketch, one, other) - joint.layout().n_rows
        sketch.joints.append(joint)
        sketch.frames.append((joint, np.zeros(0)))
        return None
    draft = cls(name, point, sw.Point(follower), **options)
    layout = draft.layout()
    # zero of the angles: as described, or given by axes on the follower
    explicit = sketch.displaced or choose.random() < 0.6
    q = rng.uniform(-1.0, 1.0, len(layout.dofs))
    d, R_J = np.zeros(3), np.eye(3)
    for k, dof in enumerate(layout.dofs):
        axis = DOFS.index(dof) % 3
        if dof in DOFS[:3]:
            d[axis] = q[k] = 0.5 * q[k]
        elif not explicit:
            q[k] = 0.0
        elif not layout.quaternion:
            R_J = R_J @ turn(axis, q[k])
        if layout.screw:
            d[axis] = LEAD * np.sign(options["lead"]) * q[k] / (2 * np.pi)
    if layout.quaternion and explicit:
        roll, pitch, yaw = q[-3:]
        R_J = turn(2, yaw) @ turn(1, pitch) @ turn(0, roll)
    at, R_base = draft.base_frame()
    R_follower = R_f.T @ R_b @ R_base @ R_J
    reached = R_f.T @ (p_b + R_b @ (at + R_base @ d) - p_f)
    end = sw.Point(follower, tuple(reached), R_follower if explicit else None)
    position = {}
    if sketch.displaced or (explicit and choose.random() < 0.5):
        position = dict(zip(layout.dofs, q, strict=True))
    joint = draft.replace(follower=end, position=position)
    hangs = _hangs_free(sketch, one, other)
    sketch.mobility += layout.n_dof if hangs else layout.n_dof - 6
    sketch.joints.append(joint)
    sketch.frames.append((joint, q))
    return None


def _hangs_free(sketch: _Sketch, one: str, other: str) -> bool:
    """Is this the first joint of one of the two bodies?"""
    held = {"world"} | {b for j in sketch.joints for b in (j.base.body, j.follower.body)}
    return one not in held or other not in held


def _twin(sketch: _Sketch, k: int) -> None:
    """A second joint beside the first: all its equations but none of its effect."""
    joint, q = sketch.frames[k]
    kind = sketch.choose.choice(TWINS[joint.type])
    at, R_base = joint.base_frame()
    axis = joint.axis_number
    R = sketch.poses[joint.follower.body][1].T @ sketch.poses[joint.base.body][1]
    shift = 0.3 * R_base[:, axis]
    if joint.type in ("weld", "slider"):
        shift = sketch.rng.uniform(-0.5, 0.5, 3)
    if joint.type == "ball":
        shift = np.zeros(3)
    base = sw.Point(joint.base.body, tuple(at + shift), R_base)
    end = sw.Point(
        joint.follower.body,
        tuple(np.array(joint.follower.position) + R @ shift),
        joint.follower.rotation,
    )
    # the same coordinates where it has the same ones
    same = kind == joint.type and joint.follower.rotation is not None
    options: dict[str, Any] = {"position": dict(joint.position)} if same else {}
    if kind not in ("weld", "ball"):
        options["axis"] = "xyz"[axis]
    twin = JOINT_TYPES[kind](f"{joint.name}_twin", base, end, **options)
    sketch.joints.append(twin)
    sketch.frames.append((twin, q))
    sketch.traits.add("twin")


def _started(sketch: _Sketch, speed: float) -> tuple[Any, ...]:
    """Joints with initial velocities and, while freedoms remain, prescribed motions."""
    choose, rng = sketch.choose, sketch.rng
    joints = []
    for joint, q in sketch.frames:
        layout = joint.layout()
        velocity, motion = {}, {}
        for k, dof in enumerate(layout.dofs):
            turns = dof in DOFS[3:]
            driven = choose.random() < 0.08 and sketch.mobility > 1
            if driven and not (layout.quaternion and turns) and "twin" not in joint.name:
                sketch.mobility -= 1
                sketch.traits.add("driven")
                motion[dof] = _motion(sketch, float(q[k]))
            elif choose.random() < 0.8:
                velocity[dof] = speed * rng.normal()
        position = {dof: x for dof, x in joint.position if dof not in motion}
        joints.append(joint.replace(position=position, velocity=velocity, motion=motion))
    choose.shuffle(joints)
    return tuple(joints)


def _still_in_loops(system: sw.System) -> tuple[Any, ...]:
    """Joints with their velocities, but for those of loops, which would have to fit together."""
    inside = {name for cut, through in system.topology.loops for name in (cut, *through)}
    return tuple(j.replace(velocity=()) if j.name in inside else j for j in system.joints)


def _without_drives_at_odds(system: sw.System) -> sw.System:
    """The system, without prescribed motions in loops where these cannot be followed together."""
    inside = {name for cut, through in system.topology.loops for name in (cut, *through)}
    if not any(j.motion for j in system.joints if j.name in inside):
        return system
    try:
        compiled(system)
    except sw.SwelltreeError as error:
        if "are incompatible" not in str(error):
            return system  # bodies whose only mass is the water's
        joints = [j.replace(motion=()) if j.name in inside else j for j in system.joints]
        return system.replace(joints=joints)
    return system


def _motion(sketch: _Sketch, start: float) -> Any:
    """A smooth signal that begins at the coordinate's value."""
    choose, rng = sketch.choose, sketch.rng
    kind = choose.choice(("harmonic", "polynomial", "table"))
    if kind == "polynomial":
        return sw.Polynomial((start, *(0.3 * rng.normal(size=3))))
    if kind == "table":
        return sw.Table(
            tuple(np.linspace(0.0, 3.0, 7)), (start, *(start + 0.3 * rng.normal(size=6)))
        )
    amplitude, omega, phase = rng.uniform(0.05, 0.3), rng.uniform(0.5, 3.0), rng.uniform(-3, 3)
    return sw.Harmonic(amplitude, omega, phase, start - amplitude * np.cos(phase))


# --- bodies and forces ----------------------------------------------------------------------------


def _body(sketch: _Sketch, name: str) -> sw.Body:
    """A body made of a few point masses; sometimes with a reference point of its own."""
    choose, rng = sketch.choose, sketch.rng
    p, R = sketch.poses[name]
    mass = rng.uniform(0.5, 5.0)
    points = rng.normal(scale=0.4, size=(6, 3))
    inertia = sum(mass / 6 * (x @ x * np.eye(3) - np.outer(x, x)) for x in points)
    reference = tuple(rng.uniform(-0.4, 0.4, 3)) if choose.random() < 0.5 else None
    if sketch.displaced:
        p, R = rng.uniform(-1, 1, 3), random_rotation(rng)
    return sw.Body(
        name,
        mass,
        inertia,
        com=tuple(rng.uniform(-0.3, 0.3, 3)),
        position=tuple(p),
        rotation=R,
        reference_point=reference,
    )


def _forces(sketch: _Sketch, joints: tuple[Any, ...]) -> tuple[Any, ...]:
    choose, rng = sketch.choose, sketch.rng
    places = ["world", *sketch.names]
    forces: list[Any] = []
    for i in range(choose.randint(0, 2)):
        a, b = (sw.Point(x, tuple(rng.uniform(-0.5, 0.5, 3))) for x in choose.sample(places, 2))
        forces.append(
            sw.SpringDamper(
                f"spring{i}",
                a,
                b,
                stiffness=rng.uniform(1.0, 30.0),
                damping=rng.uniform(0.0, 3.0),
                rest_length=rng.uniform(0.5, 2.0),
                force=sw.Harmonic(1.0, 2.0) if choose.random() < 0.5 else None,
            )
        )
    movable = [j for j in joints if j.layout().dofs]
    for i in range(choose.randint(0, 2) if movable else 0):
        joint = choose.choice(movable)
        dof = choose.choice(joint.layout().dofs)
        free_turn = joint.layout().quaternion and dof in DOFS[3:]
        forces.append(
            sw.JointForce(
                f"brake{i}",
                joint,
                dof,
                stiffness=0.0 if free_turn else rng.uniform(0.0, 20.0),
                rest_position=rng.uniform(-0.5, 0.5),
                damping=rng.uniform(0.0, 2.0),
                friction=rng.uniform(0.0, 1.0),
                friction_velocity=0.5,
                force=sw.Harmonic(0.5, 3.0, 1.0) if choose.random() < 0.5 else None,
            )
        )
    if choose.random() < 0.5:
        point = sw.Point(choose.choice(sketch.names), tuple(rng.uniform(-0.5, 0.5, 3)))
        three = tuple(sw.Harmonic(*rng.uniform(0.5, 2.0, 2)) for _ in range(3))
        axes = choose.choice(("world", "body"))
        forces.append(sw.AppliedForce("push", point, three, tuple(rng.normal(size=3)), axes))
    return tuple(forces)


def _added_mass(sketch: _Sketch) -> np.ndarray:
    """Dense, symmetric and positive definite: every body drags the water of all others."""
    n = 6 * len(sketch.names)
    B = sketch.rng.normal(size=(n, n))
    return 2.0 * B @ B.T / n + 0.3 * np.eye(n)
