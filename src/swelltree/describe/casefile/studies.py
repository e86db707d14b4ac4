"""Studies as a case file describes them; `swelltree.studies` carries them out."""

import dataclasses
import math
from typing import Annotated, ClassVar, Self

from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.environment.hydro import OMEGA_SCHEMA, OmegaRange, as_omega
from swelltree.describe.environment.seas import SeaLike, StillWater
from swelltree.describe.errors import shown
from swelltree.describe.read_as import Converted, ReadAs
from swelltree.describe.spec import Description, description
from swelltree.describe.values import (
    Count,
    Flag,
    Name,
    NamedValues,
    Number,
    Numbers,
    one_of,
    row_of,
)
from swelltree.describe.values import Names as Channels

# --- Values that studies take in several forms, read into one that can be compared and kept

MAX_NUMBER = 1e300


def as_case(value: object) -> int | str:
    """Number or name of a run."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{shown(value)} is not the number or name of a run. Give e.g. 3.")
    return value


def as_names(value: object) -> tuple[str, ...] | str | None:
    """One name, several, or none."""
    if value is None or isinstance(value, str):
        return value
    row = row_of(value)
    names = [name for name in row or () if isinstance(name, str)]
    if row is None or len(names) < len(row):
        raise ValueError(f"{shown(value)} is not a name or a list of names. Give e.g. 'ram'.")
    return tuple(names)


def as_limit(value: object) -> object:
    """None, a number, a pair of numbers, or these by name, kept as (name, value) in a row."""
    if value is None:
        return None
    if isinstance(value, dict):
        if not value:
            raise ValueError("{} names nothing. Leave it out.")
        return tuple((_name(key), _bound(x)) for key, x in value.items())
    row = row_of(value)
    pairs = [row_of(entry) for entry in row or () if _is_named(entry)]
    if row and len(pairs) == len(row):
        return tuple((_name(pair[0]), _bound(pair[1])) for pair in pairs if pair is not None)
    return _bound(value)


def limit_argument(value: object) -> object:
    """A limit as studies in Python take it: names in a dict."""
    if isinstance(value, tuple) and value and all(_is_named(entry) for entry in value):
        return dict(value)
    return value


def _is_named(entry: object) -> bool:
    row = row_of(entry)
    return row is not None and len(row) == 2 and isinstance(row[0], str)


def _name(key: object) -> str:
    if not isinstance(key, str) or not key:
        raise ValueError(f"{shown(key)} is not a name. Give e.g. {{ram = 1e5}}.")
    return key


def _bound(value: object) -> float | tuple[float, float]:
    row = row_of(value)
    if row is not None and len(row) == 2:
        low, high = (_number(x) for x in row)
        return low, high
    return _number(value)


def _number(value: object) -> float:
    # nan is not below the largest either
    if (
        not isinstance(value, int | float)
        or isinstance(value, bool)
        or not abs(value) <= MAX_NUMBER
    ):
        raise ValueError(f"{shown(value)} is not a number, a pair or a table by name.")
    return float(value)


Bound = float | tuple[float, float]
CaseName = Annotated[
    ReadAs[int | str], BeforeValidator(as_case), WithJsonSchema({"type": ["integer", "string"]})
]
Names = Annotated[
    Converted[tuple[str, ...] | str | None],
    BeforeValidator(as_names),
    WithJsonSchema({"type": ["string", "array"]}),
]
Limit = Annotated[
    Converted[Bound | tuple[tuple[str, Bound], ...] | None],
    BeforeValidator(as_limit),
    WithJsonSchema({"type": ["number", "array", "object"]}),
]

FORMULATIONS = ("path_matrix", "partial_velocity", "composite_body", "partition", "lagrange")
SOLVERS = ("tsit5", "dopri5", "rk4", "stiff", "two_step", "interior_point")
EXCITATIONS = ("components", "convolution", "moving")
RADIATION = ("data", "state_space")
DRAG = ("none", "harmonic", "stochastic")

STARTS = ("equilibrium", "described", "cold")
METHODS = ("auto", "linear", "nonlinear")

_start = one_of(STARTS, "start")
_added_mass = one_of(("frequency", "infinite"), "added mass")
_method = one_of(METHODS, "method")
_formulation = one_of(FORMULATIONS, "formulation")
_solver = one_of(SOLVERS, "solver")
_excitation = one_of(EXCITATIONS, "kind of excitation")
Formulation = Annotated[str, _formulation[0], _formulation[1]]
_radiation = one_of(RADIATION, "source of radiation")
_drag = one_of(DRAG, "linearisation of drag")
Solver = Annotated[str, _solver[0], _solver[1]]
Radiation = Annotated[str, _radiation[0], _radiation[1]]
Drag = Annotated[str, _drag[0], _drag[1]]
Omega = Annotated[
    Converted[OmegaRange | tuple[float, ...]],
    BeforeValidator(as_omega),
    WithJsonSchema(OMEGA_SCHEMA),
]


class Study(Description):
    """Base of the studies."""

    kind: ClassVar[str] = "study"
    name: str

    @property
    def in_time(self) -> "SimulateStudy | None":
        """The run in time that it is or repeats, None for other studies."""
        return None

    def arguments(self) -> NamedValues:
        """What the study's function is called with."""
        fields = [field.name for field in dataclasses.fields(self)]  # type: ignore[arg-type]
        return {field: getattr(self, field) for field in fields if field != "name"}

    def check_positive(self, **values: tuple[float | None, str]) -> None:
        """Values that must be more than zero, with their unit."""
        for field, (value, unit) in values.items():
            if value is not None and not value > 0:
                raise self.fail(f"{field} {value}{unit} is not positive. Give more than zero.")


@description
class SimulateStudy(Study):
    """A run in time.

    Args:
        name: unique among the studies.
        duration: [s].
        sea: the sea, still water by default.
        output_step: time between samples of the result [s].
        formulation: one of FORMULATIONS.
        solver: one of SOLVERS.
        rtol: relative tolerance of adaptive solvers.
        atol: absolute tolerance of adaptive solvers.
        step: time step of fixed-step solvers [s].
        max_step: longest step of any solver [s].
        extremes: channels whose max, min and mean values between samples are kept.
        excitation: "components" (sum over the waves) or "convolution" (impulse response on the
            elevation at the origin).
        start: "equilibrium", "described" or "cold".
        chunk: samples per chunk, 200 if not given, 20 with weak scatterers.
        case: number or name of the run; with the seed of the sea it gives the random phases.
    """

    type: ClassVar[str] = "simulate"
    name: Name
    duration: Number
    output_step: Number | None = None
    formulation: Formulation | None = None
    solver: Solver | None = None
    rtol: Number = 1e-6
    atol: Number = 1e-9
    step: Number | None = None
    max_step: Number | None = None
    extremes: Channels = ()
    sea: SeaLike = StillWater()
    excitation: Annotated[str, _excitation[0], _excitation[1]] = "components"
    start: Annotated[str, _start[0], _start[1]] | None = None
    chunk: Count | None = None
    case: CaseName = 0

    @property
    def in_time(self) -> Self:
        """Itself."""
        return self

    def __post_init__(self) -> None:
        self.check_positive(
            chunk=(self.chunk, ""),
            duration=(self.duration, " s"),
            output_step=(self.output_step, " s"),
            rtol=(self.rtol, ""),
            atol=(self.atol, ""),
            step=(self.step, " s"),
            max_step=(self.max_step, " s"),
        )
        if self.output_step is not None and self.output_step > self.duration:
            raise self.fail(
                f"output_step {self.output_step} s is longer than the duration {self.duration} s."
            )


@description
class EquilibriumStudy(Study):
    """The equilibrium.

    Args:
        name: unique among the studies.
        formulation: one of FORMULATIONS.
    """

    type: ClassVar[str] = "equilibrium"
    name: Name
    formulation: Formulation = "path_matrix"


@description
class ModesStudy(Study):
    """Natural periods, damping and mode shapes.

    Args:
        name: unique among the studies.
        formulation: one of FORMULATIONS.
        at_equilibrium: find the equilibrium first; otherwise linearise at the described state.
        added_mass: "frequency" (of each mode) or "infinite".
    """

    type: ClassVar[str] = "modes"
    name: Name
    formulation: Formulation = "path_matrix"
    at_equilibrium: Flag = True
    added_mass: Annotated[str, _added_mass[0], _added_mass[1]] = "frequency"


@description
class RaoStudy(Study):
    """Motion per metre of wave in the frequency domain.

    Args:
        name: unique among the studies.
        omega: frequencies, a list or { from, to, count } [rad/s]; those of the data by default.
        wave_direction_deg: headings [degrees]; those of the data by default.
        radiation: "data", or "state_space" for the fitted memory.
        drag: "none", "harmonic" (with amplitude) or "stochastic" (with sea).
        amplitude: of the waves, for harmonic drag [m].
        sea: for stochastic drag.
        formulation: one of FORMULATIONS.
    """

    type: ClassVar[str] = "rao"
    name: Name
    omega: Omega = None
    wave_direction_deg: Numbers = ()
    radiation: Radiation = "data"
    drag: Drag = "none"
    amplitude: Number | None = None
    sea: SeaLike = StillWater()
    formulation: Formulation = "path_matrix"

    def __post_init__(self) -> None:
        self.check_positive(amplitude=(self.amplitude, " m"))

    def arguments(self) -> NamedValues:
        """Headings in radians."""
        specified = super().arguments()
        omega, degrees = specified.pop("omega"), specified.pop("wave_direction_deg")
        specified["omega"] = omega.values if isinstance(omega, OmegaRange) else omega
        specified["wave_direction"] = [math.radians(beta) for beta in degrees] or None
        specified["sea"] = None if isinstance(self.sea, StillWater) else self.sea
        return specified


@description
class ResponseStudy(Study):
    """Standard deviations and mean powers in a sea, by the linearised system.

    Args:
        name: unique among the studies.
        sea: the sea.
        radiation: "data", or "state_space" for the fitted memory.
        drag: "none", "harmonic" or "stochastic".
        formulation: one of FORMULATIONS.
        case: number or name of the run.
    """

    type: ClassVar[str] = "response"
    name: Name
    sea: SeaLike
    radiation: Radiation = "data"
    drag: Drag = "none"
    formulation: Formulation = "path_matrix"
    case: CaseName = 0


@description
class SteadyStateStudy(Study):
    """The periodic motion in a sea that repeats.

    Args:
        name: unique among the studies.
        sea: the sea.
        harmonics: number of harmonics of the period; as many as the sea needs by default.
        radiation: "data", or "state_space" for the fitted memory.
        formulation: one of FORMULATIONS; "lagrange" is the DAE form.
        period: of the motion [s]; that of the sea by default.
        nodes: equidistant nodes per period.
        tol: estimated error of the motion at which the search stops [m, rad].
        max_iterations: of the search.
        stability: also give the Floquet multipliers.
        case: number or name of the run.
    """

    type: ClassVar[str] = "steady_state"
    name: Name
    sea: SeaLike
    harmonics: int | None = None
    radiation: Radiation = "data"
    formulation: Formulation = "path_matrix"
    period: Number | None = None
    nodes: Count | None = None
    tol: Number = 1e-11
    max_iterations: Count = 30
    stability: Flag = False
    case: CaseName = 0

    def __post_init__(self) -> None:
        self.check_positive(harmonics=(self.harmonics, ""))


LIMITS = (
    "force_max",
    "stroke_max",
    "velocity_max",
    "force_rate_max",
    "power_min",
    "power_max",
    "copper_loss",
)


@description
class OptimalControlStudy(Study):
    """Periodic PTO forces of maximum mean power, within limits.

    Args:
        name: unique among the studies.
        sea: a sea that repeats.
        pto: names of the power take-offs that are driven; all by default.
        force_max: largest force [N, N m]: a number, a pair, or a table by name.
        stroke_max: largest stroke [m, rad], likewise.
        velocity_max: largest rate of the stroke [m/s, rad/s], likewise.
        force_rate_max: largest rate of the force [N/s, N m/s], likewise.
        power_min: lowest instantaneous power [W], likewise.
        power_max: largest size of the instantaneous power [W], likewise.
        efficiency: of the conversion.
        copper_loss: [W per N^2], a number or a table by name.
        harmonics: of the period; as many as the sea needs by default.
        period: of the motion [s]; that of the sea by default.
        method: one of METHODS.
        formulation: one of FORMULATIONS.
        radiation: "data", or "state_space" for the fitted memory.
        limit_points: times per period at which limits hold.
        starts: of the search.
        nodes: of the search.
        compare: also find the best plain damper.
        replay: also run the optimum in time and state both powers.
        tol: at which the search stops.
        max_iterations: of the search.
        case: number or name of the run.
    """

    type: ClassVar[str] = "optimal_control"
    name: Name
    sea: SeaLike
    pto: Names = None
    force_max: Limit = None
    stroke_max: Limit = None
    velocity_max: Limit = None
    force_rate_max: Limit = None
    power_min: Limit = None
    power_max: Limit = None
    efficiency: Number = 1.0
    copper_loss: Limit = 0.0
    harmonics: int | None = None
    period: Number | None = None
    method: Annotated[str, _method[0], _method[1]] = "auto"
    formulation: Formulation = "path_matrix"
    radiation: Radiation = "data"
    limit_points: Count | None = None
    starts: Count = 1
    nodes: Count | None = None
    compare: Flag = True
    replay: Flag = True
    tol: Number = 1e-9
    max_iterations: Count = 100
    case: CaseName = 0

    def arguments(self) -> NamedValues:
        """Options for the study, limits by name as a dict."""
        options = super().arguments()
        return options | {key: limit_argument(options[key]) for key in LIMITS if key in options}
