"""Linear moorings and linear damping: 6 x 6 matrices on a body (MBS4WEC, eq. 11)."""

from typing import ClassVar

from swelltree.system.bodies.body import Point, PointLike
from swelltree.system.describe import Description, description
from swelltree.system.forces.elements import Force
from swelltree.system.named_values import NamedValues
from swelltree.system.six import Matrix, Six, by_dof, dense, six
from swelltree.system.values import Name


class LinearLoad(Force):
    """What linear moorings and dampings share."""

    row: ClassVar[str] = "moorings"
    body: PointLike
    damping: Matrix

    def table(self) -> NamedValues:
        """This item as a TOML table; diagonals as {dof: value}."""
        table = super().table()
        for name in ("stiffness", "damping", "pretension"):
            by_dof(table, getattr(self, name, ()), name)
        return table

    @property
    def points(self) -> dict[str, Point]:
        """The points by field name."""
        return {"body": self.body}

    def _check_body(self) -> None:
        if any(self.body.position) or self.body.rotation is not None:
            raise self.fail("acts at the body's reference point. Give the body, not a point on it.")
        if self.body.body == "world":
            raise self.fail("is on the world, where it does nothing. Name a body.")


@description
class LinearMooring(LinearLoad):
    """Stiffness, damping and pretension at a body's reference point, world axes.

    wrench = pretension - stiffness (displacement from the described pose) - damping (velocity)

    Args:
        name: unique in the system.
        body: the body.
        stiffness: {dof: value} or 6 x 6 [N/m, N, N m].
        damping: {dof: value} or 6 x 6 [N s/m, N s, N m s].
        pretension: {dof: value} or six numbers [N, N m].
    """

    kind: ClassVar[str] = "mooring"
    type: ClassVar[str] = "linear"
    name: Name
    body: PointLike
    stiffness: Matrix = ()
    damping: Matrix = ()
    pretension: Six = ()

    def __post_init__(self) -> None:
        self._check_body()

    @property
    def pushes_at_rest(self) -> bool:
        """With stiffness or pretension in heave."""
        return bool(dense(self.stiffness)[2].any() or six(self.pretension)[2])


@description
class LinearDamping(LinearLoad):
    """Linear damping at a body's reference point, for example viscous losses.

    Args:
        name: unique in the system.
        body: the body.
        damping: {dof: value} or 6 x 6 [N s/m, N s, N m s].
    """

    kind: ClassVar[str] = "mooring"
    type: ClassVar[str] = "damping"
    name: Name
    body: PointLike
    damping: Matrix = ()

    def __post_init__(self) -> None:
        self._check_body()

    @property
    def pushes_at_rest(self) -> bool:
        """Damping does not."""
        return False


MOORING_TYPES: dict[str, type[Description]] = {
    cls.type: cls for cls in (LinearMooring, LinearDamping)
}
