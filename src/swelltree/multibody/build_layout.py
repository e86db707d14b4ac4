"""From a described system to the static layout and the joint arrays."""

from __future__ import annotations

import numpy as np

from swelltree.describe import Free, System
from swelltree.describe.bodies.body import WORLD, Body, Point
from swelltree.describe.joints.couplings import Coupling, OwnCoupling
from swelltree.model.model import Bodies, Couplings, Joints
from swelltree.multibody.layout import DOFS, Dof, Layout, Row
from swelltree.multibody.own_couplings import make_coupling_law
from swelltree.multibody.rows import (
    Coupled,
    Distance,
    InPlane,
    OwnCoupled,
    coordinate_row,
    driven_row,
    joint_rows,
)


def all_joints(system: System) -> list:
    """Joints in compiled order: those leading to each body, then the cut ones."""
    topology = system.topology
    result = []
    for body, name in zip(topology.body_names, topology.tree_joint, strict=True):
        implicit = body in topology.implicit_free and name == f"{body}_free"
        result.append(Free(name, WORLD, body) if implicit else system.joint(name))
    return result + [system.joint(name) for name in topology.cut_joints]


def build_layout(system: System, joints: list, described: tuple[str, ...] | None = None) -> Layout:
    """Index maps of the system; generated bodies are excluded from results."""
    topology = system.topology
    dofs: list[Dof] = []
    rows: list[Row] = []
    drives: list[int] = []
    n_tree = 0
    for j, joint in enumerate(joints):
        shape = joint.layout()
        if j == len(topology.body_names):
            n_tree = len(dofs)
        if shape.rows_only:
            if joint.type == "revolute_spherical":
                rows.append(InPlane(j, joint.axis_number))
            rows.append(Distance(j))
            continue
        first = len(dofs)
        dofs += [Dof(j, DOFS[a], False, a, False, False) for a in shape.translations]
        turns = shape.rotations or ((0, 1, 2) if shape.quaternion else ())
        for place, a in enumerate(turns):
            second = place == 1 and not shape.quaternion
            dofs.append(Dof(j, DOFS[3 + a], True, a, second, shape.quaternion))
        rows += joint_rows(j, shape.translations, shape.rotations, shape.quaternion, shape.screw)
        for label in joint.motions():
            k = next(i for i in range(first, len(dofs)) if dofs[i].label == label)
            rows.append(driven_row(dofs[k].turns, j, k, len(drives)))
            drives.append(k)
    if len(joints) == len(topology.body_names):
        n_tree = len(dofs)
    rows += _coupled_rows(system, joints, dofs)
    return Layout(
        bodies=topology.body_names,
        parent=topology.parent,
        joints=tuple(joint.name for joint in joints),
        base=tuple(topology.index(joint.base.body) for joint in joints),
        follower=tuple(topology.index(joint.follower.body) for joint in joints),
        dofs=tuple(dofs),
        n_tree=n_tree,
        rows=tuple(rows),
        drives=tuple(drives),
        described=tuple(body.name for body in system.bodies) if described is None else described,
        couplings=tuple(coupling.name for coupling in system.couplings),
    )


def _coupled_rows(system: System, joints: list, dofs: list[Dof]) -> list[Row]:
    number = {joint.name: j for j, joint in enumerate(joints)}
    known = {(d.joint, d.label): k for k, d in enumerate(dofs)}
    rows: list[Row] = []
    first, n_laws = 0, 0
    for i, coupling in enumerate(system.couplings):
        places = [(number[term.joint], system.dof_of(term)) for term in coupling.terms]
        coordinates = tuple(
            coordinate_row(dofs[known[place]].turns, place[0], known[place]) for place in places
        )
        if isinstance(coupling, OwnCoupling):
            rows.append(OwnCoupled(places[0][0], i, n_laws, coordinates))
            n_laws += 1
        else:
            rows.append(Coupled(places[0][0], i, first, coordinates))
            first += len(places)
    return rows


def build_couplings(system: System) -> Couplings | None:
    """Constants of couplings; those not given are set at the start."""
    if not system.couplings:
        return None
    linear = [x for x in system.couplings if isinstance(x, Coupling)]
    constant = [x.constant if isinstance(x, Coupling) else 0.0 for x in system.couplings]
    return Couplings(
        coefficient=np.array([c for x in linear for _, c in x.coordinates]),
        constant=np.array([np.nan if x is None else x for x in constant]),
        laws=tuple(make_coupling_law(x) for x in system.couplings if isinstance(x, OwnCoupling)),
    )


def build_bodies(bodies: list[Body]) -> tuple[Bodies, np.ndarray]:
    """Mass properties measured from the reference points, and these points."""
    reference = np.array([body.reference for body in bodies])
    volume = np.array([body.displaced_volume or 0.0 for body in bodies])
    buoyancy = np.array([body.center_of_buoyancy or body.com for body in bodies])
    arrays = Bodies(
        mass=np.array([body.mass for body in bodies]),
        com=np.array([body.com for body in bodies]) - reference,
        inertia=np.array([body.inertia_matrix for body in bodies]),
        volume=volume,
        buoyancy=buoyancy - reference,
    )
    return arrays, reference


def pose_of(system: System, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Described pose of a body frame."""
    if name == WORLD.name:
        return np.zeros(3), np.eye(3)
    body = system.body(name)
    return np.array(body.position), body.rotation_matrix


def local_point(system: System, point: Point) -> np.ndarray:
    """A point measured from its body's reference point, body axes."""
    if point.body == WORLD.name:
        return np.array(point.position)
    return np.array(point.position) - np.array(system.body(point.body).reference)


def build_joints(system: System, joints: list) -> Joints:
    """Frames of all joints; without a follower orientation, zero is the described pose."""
    columns: dict[str, list] = {name: [] for name in Joints.__dataclass_fields__}
    for joint in joints:
        point, R_base = joint.base_frame()
        p_b, R_b = pose_of(system, joint.base.body)
        p_f, R_f = pose_of(system, joint.follower.body)
        if joint.follower.rotation is None:
            R_follower = R_f.T @ R_b @ R_base
        else:
            R_follower = joint.follower.rotation_matrix
        gap = p_f + R_f @ np.array(joint.follower.position) - p_b - R_b @ point
        along = (R_b @ R_base).T @ gap
        length = getattr(joint, "length", None)
        columns["base_point"].append(local_point(system, joint.base))
        columns["base_rotation"].append(R_base)
        columns["follower_point"].append(local_point(system, joint.follower))
        columns["follower_rotation"].append(R_follower)
        columns["lead"].append(getattr(joint, "lead", 0.0) / (2.0 * np.pi))
        columns["length"].append(np.linalg.norm(gap) if length is None else length)
        offset = along[joint.axis_number] if joint.type == "revolute_spherical" else 0.0
        columns["offset"].append(offset)
    return Joints(**{name: np.array(rows, dtype=float) for name, rows in columns.items()})
