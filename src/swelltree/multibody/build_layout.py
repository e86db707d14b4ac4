"""From a described system to the static layout and the joint arrays.

Joint and loop equations as rows of reaction wrenches; their kinds are in `multibody.rows`.

Rows are written for body velocities in world axes, so one function serves cut
joints (`path_matrix` and friends) and all joints (`lagrange`, `partition`).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from swelltree.describe import Free, System
from swelltree.describe.bodies.body import WORLD, Body, Point
from swelltree.describe.joints.couplings import Coupling, OwnCoupling
from swelltree.jit import Array, namespace, pytree
from swelltree.model.model import Bodies, Couplings, Joints, Model
from swelltree.multibody.kinematics import (
    Frames,
    Pose,
    body_index,
    with_world,
)
from swelltree.multibody.layout import DOFS, Dof, Layout, Row
from swelltree.multibody.rows import (
    Coupled,
    Distance,
    Drives,
    InPlane,
    OwnCoupled,
    Trial,
    combination,
    coordinate_row,
    driven_row,
    joint_rows,
    make_coupling_law,
)
from swelltree.spatial.rotations import cross, dot


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


@pytree()
class Rows:
    """Evaluated constraints: residual, Jacobian in body velocities, right-hand sides."""

    residual: Array  # (m,) g, m or rad
    jacobian: Array  # (m, 6N): d(g)/dt = jacobian v - drift
    velocity_rhs: Array  # (m,) velocity asked for: jacobian v = drift
    gamma: Array  # (m,) acceleration asked for: jacobian vdot = gamma
    # of the parts of the rows, one joint each; p = m without couplings
    force: Array  # (p, 3) on the follower at the joint point, per unit multiplier
    moment: Array  # (p, 3)
    part_jacobian: Array  # (p, 6N)
    spread: (
        Array | None
    )  # (m, p) coefficient of each part in each row, None: the parts are the rows

    def part_multipliers(self, lam: Array) -> Array:
        """Multipliers of the parts from those of the rows."""
        return lam if self.spread is None else lam @ self.spread


def evaluate_rows(
    model: Model,
    rows: tuple[Row, ...],
    pose: Pose,
    frames: Frames,
    v: Float[Array, "n 6"],
    angles: Float[Array, " a"],
    drives: Drives,
) -> Rows:
    """Residual, Jacobian and acceleration terms of the given rows.

    Args:
        rows: which constraints, in the order wanted.
        v: body velocities, linear first, world axes.
        angles: nearby values of the single-axis angles (choose the turn).
        drives: prescribed motions now.
    """
    layout, full = model.layout, rows
    rows = tuple(part for row in full for part in row.parts())
    xp = namespace(pose.p, v)
    joint = np.array([r.joint for r in rows], dtype=int)
    base, follower = body_index(layout, layout.base), body_index(layout, layout.follower)
    base, follower = base[joint], follower[joint]
    p, vw = with_world(pose.p, np.zeros(3)), with_world(v, np.zeros(6))
    w_b, w_f = vw[base, 3:], vw[follower, 3:]
    o = frames.follower_o[joint]
    arm_b, arm_f = o - p[base], o - p[follower]
    v_o = vw[follower, :3] + cross(w_f, arm_f)
    u, spin = v_o - vw[base, :3] - cross(w_b, arm_b), w_f - w_b

    # residual, wrench and wrench rate, kind by kind, then back into the order of `rows`
    order: list[int] = []
    parts: list[tuple[Array, ...]] = []
    for kind in dict.fromkeys(type(r) for r in rows):
        n = np.array([k for k, r in enumerate(rows) if type(r) is kind])
        at = Trial(model, frames, w_b[n], w_f[n], v_o[n], vw, angles, drives)
        parts.append(kind.evaluate([rows[k] for k in n], at))
        order += n.tolist()
    place = np.argsort(np.array(order, dtype=int))
    g, f, n, f_dot, n_dot, rate, acceleration = (
        xp.concatenate([part[i] for part in parts])[place] for i in range(7)
    )

    to_follower = xp.concatenate([f, cross(arm_f, f) + n], axis=-1)
    to_base = -xp.concatenate([f, cross(arm_b, f) + n], axis=-1)
    N = layout.n_bodies
    hit_f = (follower[:, None] == np.arange(N)).astype(float)[:, :, None]
    hit_b = (base[:, None] == np.arange(N)).astype(float)[:, :, None]
    jacobian = (hit_f * to_follower[:, None, :] + hit_b * to_base[:, None, :]).reshape(-1, 6 * N)
    # terms of the second derivative that need no accelerations
    centripetal = cross(w_f, cross(w_f, arm_f)) - cross(w_b, v_o - vw[base, :3])
    convective = dot(f, centripetal) + dot(f_dot, u) + dot(n_dot, spin)
    gamma = acceleration - convective
    of_parts = combination(model, full, g, jacobian @ v.reshape(-1))
    if of_parts is None:
        return Rows(g, jacobian, rate, gamma, f, n, jacobian, None)
    weight, gamma = of_parts.weight, of_parts.weight @ gamma - of_parts.turning
    return Rows(of_parts.value, weight @ jacobian, weight @ rate, gamma, f, n, jacobian, weight)
