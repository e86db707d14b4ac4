"""Power take-offs that switch: latching holds the motion, declutching lets it go free."""

from dataclasses import field
from typing import ClassVar

from swelltree.describe.pto.base import Pto
from swelltree.describe.spec import description
from swelltree.describe.values import Number


@description
class LatchingPto(Pto):
    """Damper with a latch that holds the stroke from each standstill until it is released.

    When the rate falls to zero the coordinate is locked, as by a joint. It is released after a
    time, when the force in the latch passes a limit, or when a controller that drives this PTO
    gives more than 0.5, whichever comes first.

    Args:
        damping: of the PTO while it moves [N s/m, N m s/rad].
        release_after: time in the latch [s].
        release_force: force that opens the latch; it cannot hold more [N, N m].
        rearm: shortest time of free motion before the next lock [s].
        efficiency: delivered over absorbed power.
    """

    type: ClassVar[str] = "latching"
    damping: Number = field(default=0.0, kw_only=True)
    release_after: Number | None = field(default=None, kw_only=True)
    release_force: Number | None = field(default=None, kw_only=True)
    rearm: Number = field(default=0.05, kw_only=True)
    efficiency: Number = field(default=1.0, kw_only=True)

    def check(self) -> None:
        self.check_not_negative("damping")
        self.check_positive("release_after", "release_force", "rearm")
        self.check_share()


@description
class DeclutchingPto(Pto):
    """Damper that is off from each standstill for a time, so that the motion gains speed.

    A controller that drives this PTO switches it on by giving more than 0.5.

    Args:
        damping: of the PTO while it is on [N s/m, N m s/rad].
        friction: constant force against the motion while it is on [N, N m].
        friction_velocity: velocity over which its change of sign is smoothed [m/s, rad/s].
        off_for: time without force after each standstill [s].
        rearm: shortest time with force before it is switched off again [s].
        efficiency: delivered over absorbed power.
    """

    type: ClassVar[str] = "declutching"
    damping: Number = field(default=0.0, kw_only=True)
    friction: Number = field(default=0.0, kw_only=True)
    friction_velocity: Number = field(default=0.01, kw_only=True)
    off_for: Number | None = field(default=None, kw_only=True)
    rearm: Number = field(default=0.05, kw_only=True)
    efficiency: Number = field(default=1.0, kw_only=True)

    def check(self) -> None:
        self.check_not_negative("damping", "friction")
        self.check_positive("friction_velocity", "off_for", "rearm")
        self.check_share()
