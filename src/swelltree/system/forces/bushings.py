"""Bushings: 6 x 6 stiffness and damping between frames on two bodies."""

from typing import ClassVar

import numpy as np

from swelltree.system.bodies.body import Point, PointLike
from swelltree.system.describe import Description, description
from swelltree.system.forces.elements import Force
from swelltree.system.named_values import NamedValues
from swelltree.system.six import Matrix, by_dof, dense
from swelltree.system.values import Name


@description
class Bushing(Force):
    """Elastic joint between two bodies: wrench on b = -stiffness x - damping x'.

    x holds the displacement of point b and the rotation vector of b, both relative to a, in the
    axes of a (those of its body, or of the frame given with the point), from the described pose.
    The rotation vector counts the angle about one axis; for small rotations its components are
    roll, pitch and yaw. The spring has the energy x' K x / 2 at rotations of any size below half a
    turn. x' is the relative velocity and angular velocity. The wrench acts on b at its point, the
    opposite one on a at the same place.

    Args:
        name: unique in the system.
        a: frame whose axes are meant.
        b: point on the other body.
        stiffness: {dof: value} or symmetric 6 x 6 [N/m, N, N m].
        damping: {dof: value} or 6 x 6, not negative [N s/m, N s, N m s].
    """

    type: ClassVar[str] = "bushing"
    name: Name
    a: PointLike
    b: PointLike
    stiffness: Matrix = ()
    damping: Matrix = ()

    def __post_init__(self) -> None:
        if self.a.body == self.b.body:
            raise self.fail(
                f"both ends are on '{self.a.body}', where it does nothing. "
                "Name two different bodies."
            )
        K, C = dense(self.stiffness), dense(self.damping)
        if not K.any() and not C.any():
            raise self.fail("has neither stiffness nor damping. Give one of them.")
        if np.abs(K - K.T).max() > 1e-9 * np.abs(K).max():
            raise self.fail(
                "stiffness is not symmetric, so it has no energy. Give a matrix equal to its "
                "transpose, e.g. (K + K.T)/2."
            )
        lowest = float(np.linalg.eigvalsh(0.5 * (C + C.T)).min())
        if lowest < -1e-9 * np.abs(C).max():
            raise self.fail(
                f"damping has the negative eigenvalue {lowest:.3g}, which feeds energy in. Give a "
                "matrix without negative eigenvalues."
            )

    @property
    def points(self) -> dict[str, Point]:
        """The points by field name."""
        return {"a": self.a, "b": self.b}

    def table(self) -> NamedValues:
        """This item as a TOML table; diagonals as {dof: value}."""
        table = super().table()
        for name in ("stiffness", "damping"):
            by_dof(table, getattr(self, name), name)
        return table


BUSHING_TYPES: dict[str, type[Description]] = {Bushing.type: Bushing}
