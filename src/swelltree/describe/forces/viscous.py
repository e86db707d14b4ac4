"""Forces of flow past bodies: quadratic drag, slender members, wind.

The force on a body follows from the velocity of the fluid relative to it,
w = u - v, so that in still water it only takes energy.
"""

from typing import Annotated, ClassVar

import numpy as np

from swelltree.describe.bodies.body import Point, PointLike
from swelltree.describe.forces.elements import Force
from swelltree.describe.matrix6 import Matrix, by_dof, dense
from swelltree.describe.spec import Description, description
from swelltree.describe.values import (
    Count,
    Flag,
    Name,
    NamedValues,
    Number,
    Numbers,
    Vector,
    one_of,
)

RELATIVE_TO = ("ground", "current", "water")


@description
class QuadraticDrag(Force):
    r"""Quadratic damping at a body's reference point, in body axes.

    .. math:: \text{wrench}_i = -\sum_j \text{damping}_{ij}\, v_j |v_j|

    Args:
        name: unique in the system.
        body: the body.
        damping: {dof: value} or 6 x 6, half of rho Cd A for translations [N s^2/m^2, N m s^2].
        relative_to: which velocity counts: "ground" (of the body itself), "current" (relative to
            the current at the reference point) or "water" (current and waves).
    """

    type: ClassVar[str] = "quadratic_drag"
    name: Name
    body: PointLike
    damping: Matrix
    relative_to: Annotated[str, *one_of(RELATIVE_TO, "reference")] = "current"

    def __post_init__(self) -> None:
        if any(self.body.position) or self.body.rotation is not None:
            raise self.fail("acts at the body's reference point. Give the body, not a point on it.")
        _on_a_body(self, self.body)
        D = dense(self.damping)
        if (np.diag(D) < 0).any():
            raise self.fail("damping has a negative value on its diagonal. Give zero or more.")
        if not D.any():
            raise self.fail("damping is zero. Give {dof: value} or 6 x 6 numbers.")

    def table(self) -> NamedValues:
        """This item as a TOML table; a diagonal as {dof: value}."""
        table = super().table()
        by_dof(table, self.damping, "damping")
        return table

    @property
    def pushes_at_rest(self) -> bool:
        """Drag does not."""
        return False

    @property
    def points(self) -> dict[str, Point]:
        return {"body": self.body}


@description
class BodyDrag(Force):
    r"""Drag and lift of a body given by numbers, along its own axes, at one point.

    With w the velocity of the water relative to the point, in body axes, each axis gives

    .. math::
        \tfrac12 \rho C_{d,i} A_i |w_i| w_i \quad \text{and} \quad
        \tfrac12 \rho C_{l,i} A_i |w|^2 \sin\alpha_i \cos\alpha_i

    the first along itself, the second normal to w in the plane of w and the axis, where
    sin(alpha) is the part of w along the axis. Lift does no work on the flow.

    Args:
        name: unique in the system.
        point: centre of pressure on the body.
        area: reference areas seen along x, y and z of the body [m^2].
        Cd: drag coefficients along x, y and z.
        Cl: lift coefficients of the areas normal to x, y and z.
    """

    type: ClassVar[str] = "body_drag"
    name: Name
    point: PointLike
    area: Vector
    Cd: Vector = (0.0, 0.0, 0.0)
    Cl: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        _on_a_body(self, self.point)
        for field in ("area", "Cd"):
            if min(getattr(self, field)) < 0:
                raise self.fail(f"{field} {list(getattr(self, field))} has a negative value.")
        if not any(self.Cd) and not any(self.Cl):
            raise self.fail("Cd and Cl are zero. Give at least one.")

    @property
    def pushes_at_rest(self) -> bool:
        """Drag does not."""
        return False

    @property
    def points(self) -> dict[str, Point]:
        return {"point": self.point}


@description
class MorisonMember(Force):
    r"""A slender member on a body: drag and inertia by Morison's formula, strip by strip.

    Per length, with w = u - v normal to the member,

    .. math:: \tfrac12 \rho C_d D |w| w + \rho A (1 + C_a) \dot u - \rho A C_a \dot v

    Strips are loaded as far as they are under the surface. The last term is in the mass matrix,
    with what is wet in still water as described.

    Args:
        name: unique in the system.
        a: one end.
        b: the other end, on the same body.
        diameter: at a, and at b if end_diameter is not given [m].
        end_diameter: at b [m].
        Cd: drag coefficient normal to the member.
        Ca: added mass coefficient normal to the member.
        axial_Cd: skin friction along the member, on its circumference.
        axial_Ca: added mass coefficient along the member.
        end_Cd: drag of the end plates, on their area, along the member.
        end_Ca: added mass of the end plates, on half a sphere of the diameter, along the member.
        drag_width: width that drag sees [m]; the diameter if not given.
        section_area: area of the cross section [m^2]; that of the diameter if not given.
        strips: number of strips.
        lumping: where strips act: in their "middle", or at the "nodes" between them, where each
            node takes half of the strips on its sides.
        surface: "actual" loads strips up to the instantaneous surface, "still" up to the still
            water, as linear theory does.
        inertia: with the force of the water's acceleration and the added mass. False leaves drag
            alone, for members that the hydro data of the body hold already.
        buoyancy: with buoyancy and the axial pressure of the waves, for bodies without hydro data.
    """

    type: ClassVar[str] = "morison"
    name: Name
    a: PointLike
    b: PointLike
    diameter: Number
    end_diameter: Number | None = None
    Cd: Number = 1.0
    Ca: Number = 1.0
    axial_Cd: Number = 0.0
    axial_Ca: Number = 0.0
    end_Cd: Number = 0.0
    end_Ca: Number = 0.0
    drag_width: Number | None = None
    section_area: Number | None = None
    strips: Count = 10
    lumping: Annotated[str, *one_of(("middle", "nodes"), "lumping")] = "middle"
    surface: Annotated[str, *one_of(("actual", "still"), "surface")] = "actual"
    inertia: Flag = True
    buoyancy: Flag = False

    def __post_init__(self) -> None:
        _on_a_body(self, self.a)
        if self.a.body != self.b.body:
            raise self.fail(
                f"end a is on '{self.a.body}' but end b on '{self.b.body}'. Put both on one body."
            )
        if np.linalg.norm(np.subtract(self.a.position, self.b.position)) < 1e-9:
            raise self.fail("the ends coincide. Give two different points.")
        if self.strips < 1:
            raise self.fail("strips 0 is too few. Give one or more.")
        if not self.diameter > 0 or (self.end_diameter is not None and self.end_diameter <= 0):
            raise self.fail("a diameter is not positive. Give metres.")
        fields = ("Cd", "Ca", "axial_Cd", "axial_Ca", "end_Cd", "end_Ca")
        fields = (*fields, "drag_width", "section_area")
        for field in fields:
            value = getattr(self, field)
            if value is not None and value < 0:
                raise self.fail(f"{field} {value} is negative. Give zero or more.")

    @property
    def pushes_at_rest(self) -> bool:
        """Where it floats."""
        return bool(self.buoyancy)

    @property
    def adds_inertia_to(self) -> str:
        """The body of its first end."""
        return self.a.body if self.inertia else ""

    @property
    def feels_pressure_on(self) -> str:
        """The body of its first end."""
        return self.a.body if self.inertia or self.buoyancy else ""

    @property
    def points(self) -> dict[str, Point]:
        return {"a": self.a, "b": self.b}


@description
class WindDrag(Force):
    """Wind force from a table of coefficients over the direction of the wind.

    X = half rho CX A_front W^2, Y = half rho CY A_side W^2, N = half rho CN A_side length W^2,
    in the heading of the body (its x axis seen from above), at the point. W is the wind at the
    point's height relative to the point. A table from 0 to 180 degrees is mirrored.

    Args:
        name: unique in the system.
        point: where the force acts; its height gives roll and pitch moments.
        angle_deg: direction towards which the wind blows, from the body's x axis,
            counter-clockwise: 0 is from astern, 180 from ahead [degrees].
        CX: coefficient along the body.
        CY: coefficient across the body.
        CN: coefficient of the yaw moment.
        front_area: [m^2].
        side_area: [m^2].
        length: of the yaw moment [m].
    """

    type: ClassVar[str] = "wind_drag"
    name: Name
    point: PointLike
    angle_deg: Numbers
    CX: Numbers = ()
    CY: Numbers = ()
    CN: Numbers = ()
    front_area: Number = 0.0
    side_area: Number = 0.0
    length: Number = 0.0

    def __post_init__(self) -> None:
        _on_a_body(self, self.point)
        count = len(self.angle_deg)
        if count < 2 or any(len(c) not in (0, count) for c in (self.CX, self.CY, self.CN)):
            raise self.fail("angle_deg, CX, CY and CN differ in length. Give one of each per row.")
        if any(not b > a for a, b in zip(self.angle_deg, self.angle_deg[1:], strict=False)):
            raise self.fail("angle_deg does not increase. Sort the rows by angle.")
        first, last = self.angle_deg[0], self.angle_deg[-1]
        half, full = first == 0.0 and last == 180.0, abs(last - first - 360.0) < 1e-9
        if not half and not full:
            raise self.fail(
                f"angle_deg goes from {first:g} to {last:g}. Give 0 to 180, which is mirrored, or "
                "a whole turn with both ends."
            )
        for field in ("front_area", "side_area", "length"):
            if getattr(self, field) < 0:
                raise self.fail(f"{field} {getattr(self, field)} is negative. Give zero or more.")

    @property
    def pushes_at_rest(self) -> bool:
        """Drag does not."""
        return False

    @property
    def points(self) -> dict[str, Point]:
        return {"point": self.point}


def _on_a_body(force: Force, point: Point) -> None:
    if point.body == "world":
        raise force.fail("is on the world, which does not move. Weld a body there instead.")


VISCOUS_TYPES: dict[str, type[Description]] = {
    cls.type: cls for cls in (QuadraticDrag, BodyDrag, MorisonMember, WindDrag)
}


# --- Rotors in the wind: the thrust of a turbine on what carries it


@description
class Rotor(Force):
    """Thrust of a wind turbine from its thrust curve: T = half rho Ct(U) A U |U| along the axis.

    U is the wind at the hub relative to the hub, along the axis; beyond the ends of the table its
    last values hold. Motion of the hub changes U, which is the aerodynamic damping of the turbine.

    Args:
        name: unique in the system.
        hub: point of the body that carries the rotor.
        diameter: of the rotor [m].
        wind_speed: rows of the table [m/s].
        Ct: thrust coefficient at each wind speed.
        Cp: power coefficient at each wind speed; no power is reported without it.
        axis: of the rotor in the body's frame, downwind.
    """

    type: ClassVar[str] = "rotor"
    name: Name
    hub: PointLike
    diameter: Number
    wind_speed: Numbers
    Ct: Numbers
    Cp: Numbers = ()
    axis: Vector = (1.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if self.hub.body == "world":
            raise self.fail("is on the world, which does not move. Name a body.")
        if not self.diameter > 0:
            raise self.fail(f"diameter {self.diameter} m is not positive. Give the rotor's.")
        count = len(self.wind_speed)
        if count < 2 or len(self.Ct) != count or len(self.Cp) not in (0, count):
            raise self.fail("wind_speed, Ct and Cp differ in length. Give one of each per row.")
        if any(not b > a for a, b in zip(self.wind_speed, self.wind_speed[1:], strict=False)):
            raise self.fail("wind_speed does not increase. Sort the rows by wind speed.")
        if not any(self.axis):
            raise self.fail("axis has no length. Give a direction such as (1, 0, 0).")

    @property
    def points(self) -> dict[str, Point]:
        return {"hub": self.hub}


ROTOR_TYPES: dict[str, type[Description]] = {Rotor.type: Rotor}
