"""Power take-offs (PTOs): devices that turn motion into useful power.

Here are the simple ones; machines are in `devices`, latches and clutches in `switching`.
"""

from dataclasses import field
from typing import ClassVar

from swelltree.describe.forces.own_effects import Parameters
from swelltree.describe.forces.signals import Function, Signal
from swelltree.describe.pto.base import Pto
from swelltree.describe.spec import description
from swelltree.describe.values import Flag, NamedValues, Number


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


@description
class OwnLaw(Pto):
    """A power take-off with a law of your own: a class made with `swelltree.pto_law`.

    Args:
        law: the class, or "module:name".
        parameters: its fields: numbers.
        force: u [N, N m], a signal that the law sees; a controller may drive it instead.
    """

    type: ClassVar[str] = "own_law"
    law: Function = field(kw_only=True)
    parameters: Parameters = field(default=(), kw_only=True)
    force: Signal | None = field(default=None, kw_only=True)

    def table(self) -> NamedValues:
        """This item as a TOML table."""
        table = super().table()
        if self.parameters:
            table["parameters"] = dict(self.parameters)
        return table


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
        holds = self.static_friction or self.friction
        if self.stick and self.force_limit is not None and self.force_limit < holds:
            raise self.fail(
                f"force_limit {self.force_limit:g} is less than the {holds:g} that it holds where "
                "it sticks. Give a friction, and a static_friction, within the limit."
            )
        self.check_positive("friction_velocity")
        self.check_share()


@description
class EndStops(Pto):
    """End stops alone, between two points or on a joint coordinate."""

    type: ClassVar[str] = "end_stops"

    def check(self) -> None:
        if self.lower is None and self.upper is None:
            raise self.fail("has no stop. Give lower, upper or both.")
