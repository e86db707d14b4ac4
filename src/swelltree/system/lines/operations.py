"""Marine operations: stages in time that drive winches, catch and let go of loads.

`schedules` turns all operations into what each winch and each line does when.
"""

from typing import Annotated, ClassVar

from pydantic import WithJsonSchema

from swelltree.system.describe import Description, description, parts_of
from swelltree.system.lines.winches import LineName
from swelltree.system.ptos.base import MaybePoint
from swelltree.system.read_as import Converted
from swelltree.system.values import Name, Number, one_of

ACTIONS = ("hold", "brake", "pay_out", "haul_in", "couple", "release")
SWITCHES = ("couple", "release")
_action = one_of(ACTIONS, "stage action")


@description
class Stage(Description):
    """One stage of an operation.

    Args:
        action: "pay_out" or "haul_in" (a winch runs), "hold" (its set speed is zero, control goes
            on), "brake" (its drum is held, control is off), "couple" (a body catches the free end B
            of a line), "release" (a line lets go of its `release_end`). A hold or brake without
            duration lasts until the next stage of its winch.
        target: the winch, or for couple and release the line.
        start: [s]; when the stage before ends if not given, zero for the first.
        duration: with both ramps [s].
        length: unstretched length to pay out or haul in [m].
        speed: of the rope between the ramps [m/s], positive.
        ramp: time to come up to speed, and to come to rest again [s].
        to: body point that catches the end.
        reach: largest distance from which it is caught [m].
    """

    kind: ClassVar[str] = "stage"
    action: Annotated[str, _action[0], _action[1]]
    target: LineName
    start: Number | None = None
    duration: Number | None = None
    length: Number | None = None
    speed: Number | None = None
    ramp: Number = 0.0
    to: MaybePoint = None
    reach: Number = 1.0

    def __post_init__(self) -> None:
        for field in ("duration", "length", "speed", "reach"):
            value = getattr(self, field)
            if value is not None and not value > 0:
                raise self.fail(f"{field} {value} is not positive. Give more than zero.")
        for field in ("start", "ramp"):
            if (getattr(self, field) or 0.0) < 0:
                raise self.fail(f"{field} {getattr(self, field)} s is negative. Give 0 or more.")
        if (self.to is not None) != (self.action == "couple"):
            raise self.fail(
                "needs the body point that catches the end. Give to=body.at(...)."
                if self.to is None
                else f"'to' belongs to the action 'couple', not '{self.action}'. Leave it out."
            )
        given = [f for f in ("duration", "length", "speed") if getattr(self, f) is not None]
        if self.action in ("pay_out", "haul_in"):
            if len(given) != 2:
                raise self.fail(
                    f"'{self.action}' needs two of duration, length and speed, "
                    f"not {len(given)}. Give two."
                )
            if self.seconds < 2.0 * self.ramp:
                raise self.fail(
                    f"two ramps of {self.ramp} s do not fit into its {self.seconds:.6g} s. "
                    "Give a shorter ramp."
                )
            if not self.seconds > self.ramp:
                raise self.fail(f"duration {self.seconds:.6g} s is not longer than the ramp.")
        elif [field for field in given if field != "duration"]:
            raise self.fail(f"'{self.action}' has no length and no speed. Leave them out.")
        elif self.action in SWITCHES and given:
            raise self.fail(f"'{self.action}' happens at once. Leave the duration out.")

    @property
    def seconds(self) -> float:
        """How long it takes."""
        if self.duration is not None:
            return self.duration
        if self.length is None or self.speed is None:
            return 0.0
        return self.length / self.speed + self.ramp

    @property
    def rope(self) -> float:
        """Unstretched length that is paid out, negative when hauled in [m]."""
        if self.action not in ("pay_out", "haul_in"):
            return 0.0
        length = self.length
        if length is None:
            assert self.speed is not None
            length = self.speed * (self.seconds - self.ramp)
        return length if self.action == "pay_out" else -length

    @property
    def rate(self) -> float:
        """Speed between the ramps, positive when paying out [m/s]."""
        if self.action not in ("pay_out", "haul_in"):
            return 0.0
        return self.rope / (self.seconds - self.ramp)


@description
class Operation(Description):
    """Stages one after the other; several operations run in parallel.

    Args:
        name: unique in the system.
        stages: in their order in time.
    """

    kind: ClassVar[str] = "operation"
    name: Name
    stages: Annotated[
        Converted[tuple[Stage, ...]],
        parts_of(Stage, "Stage(action, target)"),
        WithJsonSchema({"type": "array"}),
    ]

    def __post_init__(self) -> None:
        if not self.stages:
            raise self.fail("has no stages. Give at least one Stage.")
        _ = self.times

    @property
    def times(self) -> tuple[tuple[float, float], ...]:
        """Begin and end of every stage [s]."""
        result: list[tuple[float, float]] = []
        ends: dict[str, float] = {}
        now = 0.0
        for number, stage in enumerate(self.stages, 1):
            begin = now if stage.start is None else stage.start
            if begin < ends.get(stage.target, 0.0) - 1e-9:
                raise self.fail(
                    f"stage {number} starts at {begin:.6g} s, while '{stage.target}' is in its "
                    f"stage before until {ends[stage.target]:.6g} s. Start it later."
                )
            now = ends[stage.target] = begin + stage.seconds
            result.append((begin, now))
        return tuple(result)
