"""Studies as a case file describes them; `swelltree.studies` carries them out."""

import dataclasses
import math
from typing import TYPE_CHECKING, ClassVar, Self, Unpack

from swelltree.describe.environment.hydro import OmegaRange
from swelltree.describe.environment.seas import SeaLike, StillWater
from swelltree.describe.options import (
    EquilibriumOptions,
    ModesOptions,
    Names,
    OptimalControlOptions,
    RaoOptions,
    ResponseOptions,
    SimulateOptions,
    SteadyStateOptions,
    check_positive,
    description_with,
    limit_argument,
)
from swelltree.describe.spec import Description
from swelltree.describe.values import Name, NamedValues, Number, Numbers


class Study(Description):
    kind: ClassVar[str] = "study"
    options: ClassVar[type]  # of its function
    name: str

    def __post_init__(self) -> None:
        check_positive(self.options, vars(self), self.fail)

    @property
    def in_time(self) -> "SimulateStudy | None":
        """The time-domain run that the study is or repeats; None for other studies."""
        return None

    def option_names(self) -> list[str]:
        """Options besides the name."""
        fields = [field.name for field in dataclasses.fields(self)]  # type: ignore[arg-type]
        return [name for name in fields if name != "name"]

    def arguments(self) -> NamedValues:
        """Arguments of the study's function."""
        return {field: getattr(self, field) for field in self.option_names()}


@description_with(SimulateOptions)
class SimulateStudy(Study):
    """A run in time.

    Args:
        name: unique among the studies.
        sea: the sea, still water by default.
    """

    type: ClassVar[str] = "simulate"
    options = SimulateOptions
    name: Name
    duration: Number
    sea: SeaLike = StillWater()

    if TYPE_CHECKING:

        def __init__(
            self, name: str, *, sea: SeaLike = ..., **options: Unpack[SimulateOptions]
        ) -> None: ...

    @property
    def in_time(self) -> Self:
        """Itself."""
        return self

    def __post_init__(self) -> None:
        super().__post_init__()
        between = self.arguments()["output_step"]
        if between is not None and between > self.duration:
            raise self.fail(
                f"output_step {between} s is longer than the duration {self.duration} s."
            )


@description_with(EquilibriumOptions)
class EquilibriumStudy(Study):
    """The equilibrium.

    Args:
        name: unique among the studies.
    """

    type: ClassVar[str] = "equilibrium"
    options = EquilibriumOptions
    name: Name

    if TYPE_CHECKING:

        def __init__(self, name: str, **options: Unpack[EquilibriumOptions]) -> None: ...


@description_with(ModesOptions)
class ModesStudy(Study):
    """Natural periods, damping and mode shapes.

    Args:
        name: unique among the studies.
    """

    type: ClassVar[str] = "modes"
    options = ModesOptions
    name: Name

    if TYPE_CHECKING:

        def __init__(self, name: str, **options: Unpack[ModesOptions]) -> None: ...


@description_with(RaoOptions)
class RaoStudy(Study):
    """Motion per metre of wave in the frequency domain.

    Args:
        name: unique among the studies.
        wave_direction_deg: headings [degrees]; those of the data by default.
        sea: for stochastic drag.
    """

    type: ClassVar[str] = "rao"
    options = RaoOptions
    name: Name
    wave_direction_deg: Numbers = ()
    sea: SeaLike = StillWater()

    if TYPE_CHECKING:

        def __init__(
            self, name: str, *, wave_direction_deg: Numbers = (), **options: Unpack[RaoOptions]
        ) -> None: ...

    def arguments(self) -> NamedValues:
        """Headings in radians."""
        specified = super().arguments()
        omega, degrees = specified.pop("omega"), specified.pop("wave_direction_deg")
        specified["omega"] = omega.values if isinstance(omega, OmegaRange) else omega
        specified["wave_direction"] = [math.radians(beta) for beta in degrees] or None
        specified["sea"] = None if isinstance(self.sea, StillWater) else self.sea
        return specified


@description_with(ResponseOptions)
class ResponseStudy(Study):
    """Standard deviations and mean powers in a sea, by the linearised system.

    Args:
        name: unique among the studies.
        sea: the sea.
    """

    type: ClassVar[str] = "response"
    options = ResponseOptions
    name: Name
    sea: SeaLike

    if TYPE_CHECKING:

        def __init__(self, name: str, sea: SeaLike, **options: Unpack[ResponseOptions]) -> None: ...


@description_with(SteadyStateOptions)
class SteadyStateStudy(Study):
    """The periodic motion in a sea that repeats.

    Args:
        name: unique among the studies.
        sea: the sea.
        harmonics: number of harmonics of the period; as many as the sea needs by default.
    """

    type: ClassVar[str] = "steady_state"
    options = SteadyStateOptions
    name: Name
    sea: SeaLike
    harmonics: int | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            sea: SeaLike,
            harmonics: int | None = None,
            **options: Unpack[SteadyStateOptions],
        ) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.harmonics is not None and not self.harmonics > 0:
            raise self.fail(f"harmonics {self.harmonics} is not positive. Give more than zero.")


@description_with(OptimalControlOptions)
class OptimalControlStudy(Study):
    """Periodic PTO forces of maximum mean power, within limits.

    Args:
        name: unique among the studies.
        sea: a sea that repeats.
        pto: names of the PTOs that are driven; all by default.
    """

    type: ClassVar[str] = "optimal_control"
    options = OptimalControlOptions
    name: Name
    sea: SeaLike
    pto: Names = None

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            sea: SeaLike,
            pto: Names = None,
            **options: Unpack[OptimalControlOptions],
        ) -> None: ...

    def arguments(self) -> NamedValues:
        """Options for the study, limits by name as a dict."""
        return {key: limit_argument(value) for key, value in super().arguments().items()}
