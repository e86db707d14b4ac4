"""From described drag, members, wind and added mass of bodies to arrays."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe import BodyDrag, MorisonMember, QuadraticDrag, System, WindDrag
from swelltree.describe.matrix6 import dense
from swelltree.forces.wind import WindDrags
from swelltree.hydro.morison.drag import BodyDrags, QuadraticDrags
from swelltree.hydro.morison.morison import MorisonMembers, WaterInertia, wetness
from swelltree.jit import Array, Tree
from swelltree.model.effect import Effect
from swelltree.model.model import Bodies
from swelltree.multibody.build_layout import local_point
from swelltree.multibody.layout import Layout
from swelltree.spatial.rotations import skew

if TYPE_CHECKING:
    from swelltree.describe.bodies.body import Point


ANGLES = 361  # of wind tables


def viscous_groups(system: System, layout: Layout) -> tuple[Effect, ...]:
    """All forces of flow past bodies, grouped; empty groups are left out."""

    def all_of(cls: type) -> list[Tree]:
        return [force for force in system.forces if isinstance(force, cls)]

    groups: list[Effect] = []
    if quadratic := all_of(QuadraticDrag):
        groups.append(
            QuadraticDrags(
                np.array([dense(f.damping) for f in quadratic]),
                _bodies(layout, [f.body for f in quadratic]),
                tuple(f.relative_to for f in quadratic),
                tuple(f.name for f in quadratic),
            )
        )
    if drags := all_of(BodyDrag):
        area = np.array([f.area for f in drags])
        groups.append(
            BodyDrags(
                np.array([local_point(system, f.point) for f in drags]),
                area * np.array([f.Cd for f in drags]),
                area * np.array([f.Cl for f in drags]),
                _bodies(layout, [f.point for f in drags]),
                tuple(f.name for f in drags),
            )
        )
    if members := all_of(MorisonMember):
        groups.append(_members(system, layout, members))
    if winds := all_of(WindDrag):
        groups.append(
            WindDrags(
                np.array([local_point(system, f.point) for f in winds]),
                np.array([_wind_table(f) for f in winds]),
                _bodies(layout, [f.point for f in winds]),
                tuple(f.name for f in winds),
            )
        )
    heavy = [name for name in layout.bodies if system.body(name).added_mass]
    if heavy:
        groups.append(
            WaterInertia(
                np.array([dense(system.body(name).added_mass) for name in heavy]),
                tuple(layout.bodies.index(name) for name in heavy),
                tuple(f"{name} water inertia" for name in heavy),
            )
        )
    return tuple(groups)


def with_added_mass(
    bodies: Bodies, system: System, layout: Layout, groups: tuple[Effect, ...]
) -> Bodies:
    """Bodies with the added mass that rotates with them: their own and that of their members."""
    A = np.array([dense(system.body(name).added_mass) for name in layout.bodies])
    for group in groups:
        if isinstance(group, MorisonMembers):
            A = A + _member_mass(system, layout, group)
    return replace(bodies, added_mass=A) if A.any() else bodies


def _bodies(layout: Layout, points: list[Point]) -> tuple[int, ...]:
    return tuple(layout.bodies.index(point.body) for point in points)


def _members(system: System, layout: Layout, members: list[MorisonMember]) -> MorisonMembers:
    """Strips of all members, and end plates with nonzero coefficients."""
    rows: list[dict[str, Array]] = []
    for number, member in enumerate(members):
        rows += _strips(system, layout, member, number)
    names = [field.name for field in fields(MorisonMembers) if field.name != "names"]
    columns = {name: [row[name] for row in rows] for name in names}
    arrays: dict[str, Tree] = {
        name: tuple(column)
        if name in ("body", "member", "follows")
        else np.array(column, dtype=float)
        for name, column in columns.items()
    }
    return MorisonMembers(**arrays, names=tuple(member.name for member in members))


def _strips(
    system: System, layout: Layout, member: MorisonMember, number: int
) -> list[dict[str, Array]]:
    a, b = (local_point(system, point) for point in (member.a, member.b))
    span = float(np.linalg.norm(b - a))
    s = (b - a) / span
    last = member.diameter if member.end_diameter is None else member.end_diameter
    edges, points = _division(member)

    def thick(x: Array) -> Array:
        return member.diameter + (last - member.diameter) * x

    blank = {
        "axis": s,
        "body": layout.bodies.index(member.a.body),
        "member": number,
        "follows": member.surface == "actual",
        **dict.fromkeys(("drag_normal", "inertia_normal", "volume", "shift"), 0.0),
    }
    wet_inertia = 1.0 if member.inertia else 0.0
    rows = []
    for left, right, at in zip(edges[:-1], edges[1:], points, strict=True):
        dl, middle = span * (right - left), 0.5 * (left + right)
        D1, D, D2 = thick(left), thick(middle), thick(right)
        volume = np.pi / 12.0 * (D1**2 + D1 * D2 + D2**2) * dl
        if member.section_area is not None:
            volume = member.section_area * dl
        width = D if member.drag_width is None else member.drag_width
        buoys = volume if member.buoyancy else 0.0
        rows.append(
            blank
            | {
                "point": a + (b - a) * at,
                "length": dl,
                "shift": span * (middle - at),
                "drag_normal": 0.5 * member.Cd * width * dl,
                "drag_axial": 0.5 * member.axial_Cd * np.pi * D * dl,
                "inertia_normal": wet_inertia * (1.0 + member.Ca) * volume,
                "inertia_axial": buoys + wet_inertia * member.axial_Ca * volume,
                "volume": buoys,
                "width": D,
            }
        )
    if member.end_Cd or member.end_Ca:
        for end, d in ((a, member.diameter), (b, last)):
            ball = np.pi / 12.0 * d**3  # half a sphere
            rows.append(
                blank
                | {
                    "point": end,
                    "drag_axial": 0.5 * member.end_Cd * np.pi / 4.0 * d**2,
                    "inertia_axial": wet_inertia * member.end_Ca * ball,
                    "width": d,
                    "length": 0.5 * d,
                }
            )
    return rows


def _division(member: MorisonMember) -> tuple[np.ndarray, np.ndarray]:
    """Edges of the strips and their centres, as fractions of the member's length."""
    nodes = np.linspace(0.0, 1.0, member.strips + 1)
    middles = 0.5 * (nodes[1:] + nodes[:-1])
    if member.lumping == "nodes":
        return np.array([0.0, *middles, 1.0]), nodes
    return nodes, middles


def _member_mass(system: System, layout: Layout, group: MorisonMembers) -> np.ndarray:
    """Added mass of the wet members in still water, body axes (N, 6, 6)."""
    A = np.zeros((layout.n_bodies, 6, 6))
    named = {force.name: force for force in system.forces if isinstance(force, MorisonMember)}
    members = [named[name] for name in group.names]
    for k, (body, number) in enumerate(zip(group.body, group.member, strict=True)):
        member, name = members[number], layout.bodies[body]
        described = system.body(name)
        R = described.rotation_matrix
        at = np.array(described.position) + R @ (group.point[k] + np.array(described.reference))
        one = replace(
            group,
            **{f: getattr(group, f)[k : k + 1] for f in ("length", "width", "shift")},
        )
        wet = float(wetness(np.zeros(1), at[None], (R @ group.axis[k])[None], one)[0])
        across = np.eye(3) - np.outer(group.axis[k], group.axis[k])
        along = np.outer(group.axis[k], group.axis[k])
        # of the fluid's (1 + Ca) the part Ca moves with the body; axially only end plates do
        part = member.Ca / (1.0 + member.Ca) * group.inertia_normal[k] * across
        part = part + (group.inertia_axial[k] - group.volume[k]) * along
        J = np.hstack([np.eye(3), -np.asarray(skew(group.point[k]))])
        A[body] += system.water.rho * wet * J.T @ part @ J
    return A


def _wind_table(force: WindDrag) -> np.ndarray:
    """CX A, CY A and CN A L over a whole turn from -pi to pi, (3, ANGLES)."""
    angle = np.array(force.angle_deg)
    scale = (force.front_area, force.side_area, force.side_area * force.length)
    at = np.linspace(-180.0, 180.0, ANGLES)
    table = []
    for values, factor, sign in zip(
        (force.CX, force.CY, force.CN), scale, (1, -1, -1), strict=True
    ):
        rows = np.array(values or (0.0,) * len(angle))
        if angle[0] == 0.0 and angle[-1] == 180.0:
            # port and starboard are alike
            side = np.where(at < 0, sign, 1)
            table.append(factor * side * np.interp(np.abs(at), angle, rows))
        else:
            table.append(factor * np.interp((at - angle[0]) % 360.0 + angle[0], angle, rows))
    return np.array(table)


def viscous_notes(system: System, wet: list[str]) -> list[str]:
    """Warnings about members on bodies whose data may contain them already."""
    for name in wet:
        if system.body(name).added_mass:
            raise system.body(name).fail(
                "added_mass is given, but the body has hydro data, which hold it already. "
                "Leave one of them out."
            )
    for force in system.forces:
        if force.carries in wet:
            raise force.fail(
                f"body '{force.carries}' has hydro data, which hold its buoyancy and added mass "
                "already. Leave one of them out."
            )
    out = []
    for force in system.forces:
        if force.adds_inertia_to in wet:
            out.append(
                f"member '{force.name}' adds inertia to body '{force.adds_inertia_to}', which has "
                "hydro data; if the data hold the member, set inertia=False."
            )
    return out
