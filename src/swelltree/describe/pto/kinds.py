"""Power take-offs (PTOs): devices that turn motion into useful power.

Here are the simple ones; machines are in `devices`, latches and clutches in `switching`.
"""

from dataclasses import field
from typing import ClassVar

from swelltree.describe.forces.signals import Signal
from swelltree.describe.pto.base import Pto
from swelltree.describe.pto.devices import (
    ConstantPressurePto,
    DirectDrivePto,
    HydraulicPto,
    MechanicalRectifierPto,
)
from swelltree.describe.pto.own import OwnLaw
from swelltree.describe.pto.switching import DeclutchingPto, LatchingPto
from swelltree.describe.spec import Description, description
from swelltree.describe.values import Flag, Number


@description
class LinearPto(Pto):
    """Damper and spring: F = -c v - k x + u.

    Args:
        damping: c [N s/m, N m s/rad].
        force: u [N, N m], a signal; a controller may drive it instead.
        efficiency: delivered over absorbed power of the damper.
    """

    type: ClassVar[str] = "linear"
    damping: Number = field(default=0.0, kw_only=True)
    force: Signal | None = field(default=None, kw_only=True)
    efficiency: Number = field(default=1.0, kw_only=True)

    def check(self) -> None:
        self.check_not_negative("damping")
        self.check_share()


@description
class CoulombPto(Pto):
    """Constant force against the motion: F = -friction tanh(v / friction_velocity) - c v + u.

    Args:
        friction: size of the force [N, N m].
        friction_velocity: velocity over which its change of sign is smoothed [m/s, rad/s].
        damping: c [N s/m, N m s/rad].
        force: u [N, N m], a signal; a controller may drive it instead.
        efficiency: delivered over absorbed power; zero for plain friction.
        stick: true Coulomb friction, a brake: no motion while less than `static_friction` would
            hold the stroke, a force of exactly `friction` against the motion else; no smoothing.
        static_friction: with `stick`, force at which it breaks away [N, N m]; `friction` if not
            given.
    """

    type: ClassVar[str] = "coulomb"
    friction: Number = field(kw_only=True)
    friction_velocity: Number = field(default=0.01, kw_only=True)
    damping: Number = field(default=0.0, kw_only=True)
    force: Signal | None = field(default=None, kw_only=True)
    efficiency: Number = field(default=1.0, kw_only=True)
    stick: Flag = field(default=False, kw_only=True)
    static_friction: Number | None = field(default=None, kw_only=True)

    def check(self) -> None:
        self.check_not_negative("friction", "damping")
        self.check_stick(self.stick, self.friction, self.static_friction)
        self.check_positive("friction_velocity")
        self.check_share()


@description
class EndStops(Pto):
    """End stops alone, between two points or on a joint coordinate."""

    type: ClassVar[str] = "end_stops"

    def check(self) -> None:
        if self.lower is None and self.upper is None:
            raise self.fail("has no stop. Give lower, upper or both.")


PTO_TYPES: dict[str, type[Description]] = {
    cls.type: cls
    for cls in (
        LinearPto,
        CoulombPto,
        EndStops,
        HydraulicPto,
        ConstantPressurePto,
        DirectDrivePto,
        MechanicalRectifierPto,
        LatchingPto,
        DeclutchingPto,
        OwnLaw,
    )
}
