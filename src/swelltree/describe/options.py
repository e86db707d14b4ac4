"""Options of the studies: type, unit, default and help of each, once.

Functions take a group as ``**options: Unpack[SimulateOptions]``; editors complete the names and
show the text below a name. Case files, campaign files, the command line and the reference pages are
made from the same groups: see `with_options`, `description_with` and `options_of`.
"""

import ast
import dataclasses
import functools
import inspect
import operator
import sys
import textwrap
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import (
    TYPE_CHECKING,
    Annotated,
    NamedTuple,
    TypedDict,
    TypeVar,
    cast,
    dataclass_transform,
)

from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.environment.hydro import OMEGA_SCHEMA, OmegaRange, as_omega
from swelltree.describe.errors import SwelltreeError, shown, suggest
from swelltree.describe.spec import description
from swelltree.describe.values import (
    Converted,
    Count,
    Flag,
    NamedValues,
    Number,
    ReadAs,
    one_of,
    row_of,
)
from swelltree.describe.values import Names as Channels

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import xarray as xr

    from swelltree.jit import Array
    from swelltree.multibody.formulations import Formulation, State
    from swelltree.waves.sea import AnySea

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
Omega = Annotated[
    Converted[OmegaRange | tuple[float, ...]],
    BeforeValidator(as_omega),
    WithJsonSchema(OMEGA_SCHEMA),
]

FORMULATIONS = ("path_matrix", "partial_velocity", "composite_body", "partition", "lagrange")
SOLVERS = ("tsit5", "dopri5", "rk4", "stiff", "two_step", "interior_point")
EXCITATIONS = ("components", "convolution", "moving")
RADIATION = ("data", "state_space")
DRAG = ("none", "harmonic", "stochastic")
STARTS = ("equilibrium", "described", "cold")
METHODS = ("auto", "linear", "nonlinear")
DEVICES, PRECISIONS = ("auto", "cpu", "gpu", "jax"), ("float64", "float32")


AddedMassName = Annotated[str, *one_of(("frequency", "infinite"), "added mass")]
DeviceName = Annotated[str, *one_of(DEVICES, "device")]
DragName = Annotated[str, *one_of(DRAG, "linearisation of drag")]
ExcitationName = Annotated[str, *one_of(EXCITATIONS, "kind of excitation")]
FormulationName = Annotated[str, *one_of(FORMULATIONS, "formulation")]
MethodName = Annotated[str, *one_of(METHODS, "method")]
PrecisionName = Annotated[str, *one_of(PRECISIONS, "precision")]
RadiationName = Annotated[str, *one_of(RADIATION, "source of radiation")]
SolverName = Annotated[str, *one_of(SOLVERS, "solver")]
StartName = Annotated[str, *one_of(STARTS, "start")]


# --- What is known of an option besides its type and its help


class Option(NamedTuple):
    """An option of a group.

    Args:
        default: used where the option is not given.
        unit: of a number, for messages.
        positive: must it be more than zero?
        file: type as a case file has it; that of Python if not given, None where files have none.
    """

    default: object = None
    unit: str = ""
    positive: bool = False
    file: object = ...


PYTHON_ONLY = None  # of `Option.file`: objects and what belongs to one call


# --- The groups


class Sampling(TypedDict, total=False):
    """When samples are taken."""

    duration: Annotated[Number, Option(0.0, "s", positive=True)]
    """of the run [s]."""
    output_step: Annotated[Number | None, Option(None, "s", positive=True)]
    """time between samples [s], which steps need not hit; if not given, a twentieth of the shortest
    period of waves and bodies, at most 1/200 of the duration; with many cases, that of the
    first."""


class RunOptions(TypedDict, total=False):
    """How a run in time goes, whatever its solver."""

    formulation: Annotated["str | Formulation | None", Option(file=FormulationName | None)]
    """name or object: path_matrix (the default), partial_velocity, composite_body, partition,
    lagrange. The two-step scheme supports lagrange (its default) and path_matrix (its default where
    all bodies and joints together have more than 100 unknowns)."""
    start: Annotated["xr.Dataset | State | object", Option(file=StartName | None)]
    """the result of another run of the same model, to continue from its end (time and waves
    continue, too); an initial phase other than the assembled one; "equilibrium" (in still water,
    the default of systems with lines), "described" (bodies as described, lines in equilibrium) or,
    with dynamic lines, "cold" (lines straight between their ends)."""
    case: Annotated[CaseName, Option(0)]
    """number or name of the run; together with the seed of the sea it determines the random
    phases."""


class SolverOptions(RunOptions, total=False):
    """How one run is stepped."""

    solver: Annotated[SolverName | None, Option()]
    """tsit5 (adaptive, the default), dopri5 (adaptive), rk4 (fixed step) or stiff (implicit).
    Systems with dynamic lines or contacts are stepped by two_step or interior_point."""
    rtol: Annotated[Number, Option(1e-6, positive=True)]
    """relative tolerance of the adaptive solvers."""
    atol: Annotated[Number, Option(1e-9, positive=True)]
    """absolute tolerance of the adaptive solvers; ten times the largest residual of steps of the
    two-step scheme [m, rad]."""
    step: Annotated[Number | None, Option(None, "s", positive=True)]
    """of rk4 [s], the output step if not given; of the two-step scheme, chosen from the waves and
    the bodies' periods if not given."""
    max_step: Annotated[Number | None, Option(None, "s", positive=True)]
    """longest step of any solver [s]. Without it steps grow as far as the tolerances allow; they
    end at the breakpoints of tables and operations, and functions of time are sampled for
    theirs."""
    excitation: Annotated[ExcitationName, Option("components")]
    """"components" (sum over the waves) or "convolution" (impulse response on the elevation at the
    origin, which looks ahead in time)."""


class OutputOptions(TypedDict, total=False):
    """How a run is cut, shown and kept."""

    chunk: Annotated[Count | None, Option(positive=True)]
    """samples per chunk, 200 if not given, 20 with weak scatterers."""
    progress: Annotated[bool | None, Option(file=PYTHON_ONLY)]
    """show a progress bar; by default on a terminal."""
    checkpoint: Annotated["str | Path | None", Option(file=PYTHON_ONLY)]
    """folder in which the run is saved chunk by chunk."""
    resume: Annotated[bool, Option(False, file=PYTHON_ONLY)]
    """continue from that folder."""


class Provenance(TypedDict, total=False):
    """What a result says of itself."""

    provenance: Annotated[NamedValues | None, Option(file=PYTHON_ONLY)]
    """attributes added to the result."""


class TracedOptions(Sampling, SolverOptions, total=False):
    """Options of `simulate_traced`."""

    times: Annotated["Array | Sequence[float] | None", Option(file=PYTHON_ONLY)]
    """the output times themselves, instead of duration and step [s]."""
    extremes: Annotated[Channels, Option(())]
    """channels whose max, min and mean between samples are stored: ``["line_tension"]`` gives
    ``line_tension_max``, ``line_tension_min`` and ``line_tension_mean`` since the sample before."""
    max_steps_per_output: Annotated[int, Option(64, file=PYTHON_ONLY)]
    """max number of steps between outputs inside a derivative."""


class SimulateOptions(TracedOptions, OutputOptions, Provenance, total=False):
    """Options of `simulate`."""


class GradientOptions(Sampling, SolverOptions, Provenance, total=False):
    """Options of `gradient`."""

    times: Annotated["Array | Sequence[float] | None", Option(file=PYTHON_ONLY)]
    """the output times themselves, instead of duration and step [s]."""
    settled: Annotated[float | None, Option(unit="s", file=PYTHON_ONLY)]
    """time from which samples count [s]; the end of the sea's ramp if not given."""
    memory: Annotated[Number, Option(5e8, "bytes", positive=True, file=PYTHON_ONLY)]
    """of the records of steps [bytes]: if a run needs more, parts of it are computed again."""


class OptimiseOptions(GradientOptions, total=False):
    """Options of `optimise`."""

    maximise: Annotated[Flag, Option(False)]
    """maximise the objective instead of minimising it."""
    weights: Annotated["Sequence[float] | None", Option(file=PYTHON_ONLY)]
    """of the seas in the objective, e.g. hours of the year; all the same if not given."""
    method: Annotated[str, Option("SLSQP", file=PYTHON_ONLY)]
    """of scipy: "SLSQP", "L-BFGS-B" (bounds only) or "trust-constr"."""
    tol: Annotated[Number, Option(1e-6, positive=True)]
    """relative change of the objective at which the search ends; of trust-constr the size of the
    scaled gradient."""
    max_iterations: Annotated[Count, Option(50)]
    """of the search."""
    checkpoint: Annotated["str | Path | None", Option(file=PYTHON_ONLY)]
    """file in which every evaluation is stored."""
    resume: Annotated[bool, Option(False, file=PYTHON_ONLY)]
    """continue from the evaluations in that file."""


class ComparedOptions(SimulateOptions, total=False):
    """Options of `linear_and_nonlinear`."""

    settled: Annotated[float | None, Option(unit="s", file=PYTHON_ONLY)]
    """time after which the two are compared [s]; two thirds of the run if not given."""
    radiation: Annotated[RadiationName, Option("state_space", file=PYTHON_ONLY)]
    """"state_space": the linear answer uses the radiation of the run; "data": the coefficients
    themselves."""


class StepperOptions(SolverOptions, total=False):
    """Options of `stepper`."""

    forces: Annotated[dict[str, float] | None, Option(file=PYTHON_ONLY)]
    """held from the start, by name (see `SteppedRun.step`); where a run begins at rest they are
    part of it."""
    duration: Annotated[Number | None, Option(None, "s", positive=True)]
    """longest time that can be stepped [s]; months if not given, or as long as a record or a sea
    on a grid lasts."""
    step: Annotated[Number | None, Option(None, "s", positive=True)]
    """of rk4 [s], which needs one; of the two-step scheme, whose steps by hand are whole multiples
    of it: a tenth of a second, or a half, a fifth, a tenth ... of that, chosen from the waves and
    the bodies' periods if not given."""
    keep: Annotated[int | None, Option(file=PYTHON_ONLY)]
    """how many of the latest samples are kept for the result; all if not given."""


class ExportOptions(SolverOptions, total=False):
    """Options of `export_c` and `export_fmu`."""

    inputs: Annotated[Sequence[str] | None, Option(file=PYTHON_ONLY)]
    """what is given from outside, held over each step: names of PTOs, springs, joint forces,
    winches and applied forces; all of these if not given. As in `stepper` a force adds to what the
    element does by itself, a speed to the set speed of the winch. "elevation": the waves, in place
    of a sea, as the elevation at the bodies some time ahead."""
    outputs: Annotated[Sequence[str] | None, Option(file=PYTHON_ONLY)]
    """channels by their names in results ("float.Heave", "velocity", "absorbed_power.pto",
    "elevation"); displacements and absorbed powers if not given."""
    parameters: Annotated[Sequence[str], Option((), file=PYTHON_ONLY)]
    """numbers of the compiled model that can be set ("pto.damping", "float.mass"): those of PTOs,
    springs and joint forces at any time, others before the first step."""
    duration: Annotated[Number | None, Option(None, "s", positive=True)]
    """longest run, where loads are stored as a table (drift, convolution, a sea on a grid); others
    are summed for as long as wanted."""
    step: Annotated[Number | None, Option(None, "s", positive=True)]
    """of fixed steps by rk4 [s], which is the solver where a step is given."""
    elevation_beta: Annotated[Number, Option(0.0, "rad", file=PYTHON_ONLY)]
    """heading of the waves of the input "elevation", towards which they go [rad]."""
    model_exchange: Annotated[bool, Option(False, file=PYTHON_ONLY)]
    """also the equations of motion and their derivatives: an FMU can then be used for model
    exchange, where the host integrates, too, and has directional derivatives. For systems without
    closed loops and events."""


class ManyRuns(Sampling, total=False):
    """How many cases of a model are run, by `simulate_batch` and campaigns."""

    step: Annotated[Number | None, Option(None, "s", positive=True)]
    """of time stepping [s]; the longest whose error is small enough if not given."""
    tolerance: Annotated[Number, Option(1e-3, positive=True)]
    """that error, of the standard deviation of a channel."""
    channels: Annotated["Sequence[str] | None", Option(file=Channels | None)]
    """names of results that are kept; motion, PTOs and lines if not given."""
    reduce: Annotated[Channels, Option(("statistics",))]
    """what is kept of them: "statistics", "peaks", "fatigue", "series"."""
    formulation: Annotated[FormulationName | None, Option()]
    """as in `simulate`, by name."""
    start: Annotated[StartName | None, Option()]
    """"equilibrium" or "described", as in `simulate`."""
    lanes: Annotated[Count | None, Option(positive=True)]
    """cases that run in parallel and, of a campaign, are stored as one block: as many as fit into
    memory by default, on CPUs as many as keep all cores busy, at least 32; in a campaign at most 32
    for each process."""
    precision: Annotated[PrecisionName, Option("float64")]
    """"float64", or "float32" with device "gpu"; what that costs is measured in a few cases and
    reported in `precision_error`, of the standard deviation of a channel."""


class BatchOptions(ManyRuns, total=False):
    """Options of `simulate_batch`."""

    case: Annotated[CaseName, Option(0)]
    """number or name of the runs; together with the seed of the sea it determines the random
    phases."""
    device: Annotated[DeviceName, Option("cpu")]
    """"cpu"; "gpu" for an NVIDIA GPU where there is one, or a warning; "auto" for one that is
    there, if the cases are enough to fill it; "jax" for the device that JAX prefers, whatever it
    is, by XLA."""


class CampaignOptions(ManyRuns, total=False):
    """Options of `Campaign`."""

    retries: Annotated[Count, Option(1)]
    """how often a block is tried again before its cases are tried individually."""
    device: Annotated[DeviceName, Option("auto")]
    """"cpu"; "gpu", with a warning where there is none; "auto": a GPU that is there, from 512
    cases on; or "jax", as in `simulate_batch`. A store goes on with what it was begun with."""


class FormulationOption(TypedDict, total=False):
    """How the equations of motion are set up, of studies that linearise them."""

    formulation: Annotated["str | Formulation", Option("path_matrix", file=FormulationName)]
    """name or object: path_matrix, partial_velocity, composite_body, partition, lagrange."""


class EquilibriumTracedOptions(FormulationOption, total=False):
    """Options of `equilibrium_traced`."""

    start: Annotated["State | str | None", Option(file=PYTHON_ONLY)]
    """state to begin from; "described", the assembled one, if not given."""


class EquilibriumOptions(EquilibriumTracedOptions, Provenance, total=False):
    """Options of `equilibrium`."""


class ModesTracedOptions(FormulationOption, total=False):
    """Options of `modes_traced`."""

    at_equilibrium: Annotated[Flag, Option(True)]
    """find the equilibrium first; otherwise linearise at the start."""
    start: Annotated["State | str | None", Option(file=PYTHON_ONLY)]
    """state to begin from; "described", the assembled one, if not given."""
    added_mass: Annotated[AddedMassName, Option("frequency")]
    """"frequency" (A and B of the hydro data at the frequency of each mode) or "infinite" (A_inf,
    no radiation). Without hydro data both are the same."""


class ModesOptions(ModesTracedOptions, Provenance, total=False):
    """Options of `modes`."""


class RadiationOption(FormulationOption, total=False):
    """Where the radiation of linear and periodic studies comes from."""

    radiation: Annotated[RadiationName, Option("data")]
    """"data" (added mass and damping of the data) or "state_space" (the fitted memory of runs in
    time)."""


class DragOption(RadiationOption, total=False):
    """How linear studies count quadratic drag."""

    drag: Annotated[DragName, Option("none")]
    """"none" (only the linear part that drag has about a mean current), "harmonic" (equivalent
    drag in a regular wave) or "stochastic" (in a Gaussian sea)."""
    start: Annotated["State | str | None", Option(file=PYTHON_ONLY)]
    """state from which the equilibrium is sought; "described", the assembled one, if not given."""


class RaoOptions(DragOption, Provenance, total=False):
    """Options of `rao`."""

    omega: Annotated["float | Sequence[float] | Array | None", Option(file=Omega)]
    """frequencies [rad/s], in files a list or { from, to, count }; those of the data if not
    given."""
    wave_direction: Annotated["float | Sequence[float] | Array | None", Option(file=PYTHON_ONLY)]
    """headings [rad]; those of the data if not given."""
    amplitude: Annotated[
        "float | Sequence[float] | Array | None", Option(None, "m", True, file=Number | None)
    ]
    """of the waves of "harmonic" drag [m]: one number, or one for each omega."""
    sea: Annotated["AnySea | None", Option(file=PYTHON_ONLY)]
    """of "stochastic" drag."""


class ResponseOptions(DragOption, total=False):
    """Options of `response`."""

    case: Annotated[CaseName, Option(0)]
    """number or name of the run; together with the seed of the sea it determines the random
    phases."""


class PeriodicOptions(RadiationOption, Provenance, total=False):
    """What periodic studies have in common."""

    period: Annotated[Number | None, Option(None, "s", positive=True)]
    """of the motion [s]; that of the sea if not given."""
    nodes: Annotated[Count | None, Option(positive=True)]
    """equidistant nodes per period; at least twice the coefficients if not given."""


class SteadyStateOptions(PeriodicOptions, total=False):
    """Options of `steady_state`."""

    tol: Annotated[Number, Option(1e-11)]
    """estimated error of the motion at which Newton stops [m, rad]."""
    max_iterations: Annotated[Count, Option(30)]
    """of Newton."""
    start: Annotated["np.ndarray | str | None", Option(file=PYTHON_ONLY)]
    """coefficients to begin from; the equilibrium if not given."""
    stability: Annotated[Flag, Option(False)]
    """also give the Floquet multipliers (needs radiation="state_space")."""
    case: Annotated[CaseName, Option(0)]
    """number or name of the run; together with the seed of the sea it determines the random
    phases."""


LimitLike = float | Sequence[float] | Mapping[str, float | Sequence[float]] | None


class OptimalControlOptions(PeriodicOptions, total=False):
    """Options of `optimal_control`."""

    force_max: Annotated[LimitLike, Option(file=Limit)]
    """largest size of F [N, N m]; a number, a pair (low, high), or by name of PTO. Where it is not
    given, force_limit of the PTO holds."""
    stroke_max: Annotated[LimitLike, Option(file=Limit)]
    """largest stroke from its zero [m, rad], likewise. Where it is not given, the stops of a PTO
    are not reached; np.inf allows it."""
    velocity_max: Annotated[LimitLike, Option(file=Limit)]
    """largest rate of the stroke [m/s, rad/s], likewise."""
    force_rate_max: Annotated[LimitLike, Option(file=Limit)]
    """largest rate of F [N/s, N m/s], likewise."""
    power_min: Annotated[LimitLike, Option(file=Limit)]
    """min absorbed power at any time [W]; zero: the PTO never motors, but for 0.05 % of the typical
    power."""
    power_max: Annotated[LimitLike, Option(file=Limit)]
    """largest size of the absorbed power at any time [W], likewise. Where it is not given,
    power_limit of the PTO holds."""
    efficiency: Annotated[Number, Option(1.0)]
    """of the PTO, P_e = eta P when it generates and P / eta when it motors."""
    copper_loss: Annotated[float | Mapping[str, float], Option(0.0, file=Limit)]
    """R of a loss R F^2 [W/N^2]; a number, or by name of PTO."""
    harmonics: Annotated[int | None, Option()]
    """N of the series; fifteen, or three times the highest component of the sea, if not given.
    Limits give the force corners: more harmonics, more power."""
    method: Annotated[MethodName, Option("auto")]
    """"linear" (about the equilibrium), "nonlinear", or "auto", chosen from the contents of the
    model."""
    limit_points: Annotated[Count | None, Option(positive=True)]
    """enforce the limits at this number of equidistant times; at all times if not given."""
    starts: Annotated[Count, Option(1)]
    """number of starting points of a search that may have several optima."""
    compare: Annotated[Flag, Option(True)]
    """also find the best damper within the same limits."""
    replay: Annotated[Flag, Option(True)]
    """simulate the model with the optimal force."""
    tol: Annotated[Number, Option(1e-9)]
    """of the KKT residual, in scaled units."""
    max_iterations: Annotated[Count, Option(100)]
    """of the search."""
    case: Annotated["int | str | Sequence[int | str]", Option(0, file=CaseName)]
    """number or name of the run; a list of them shares one problem."""


# --- The groups as data


class Described(NamedTuple):
    """An option with its types."""

    option: Option
    type: object  # in Python
    file: object  # in a case file; None where files have none


@functools.cache
def options_of(group: type) -> dict[str, Described]:
    """All options of a group by name."""
    result: dict[str, Described] = {}
    for name, hint in group.__annotations__.items():
        kind, *rest = typing.get_args(hint)
        option = next(note for note in rest if isinstance(note, Option))
        checks = tuple(note for note in rest if note is not option)
        own = Annotated[(kind, *checks)] if checks else kind
        file = own if option.file is ... else option.file
        result[name] = Described(option, _plain(kind), file)
    return result


@functools.cache
def help_of(group: type) -> dict[str, str]:
    """The text below every option of a group of this module, or of its bases."""
    return _helps().get(group.__name__, {})


@functools.cache
def _helps() -> dict[str, dict[str, str]]:
    try:
        tree = ast.parse(inspect.getsource(sys.modules[__name__]))
    except OSError:  # installed without sources
        return {}
    result: dict[str, dict[str, str]] = {}
    for group in tree.body:
        if not isinstance(group, ast.ClassDef):
            continue
        texts: dict[str, str] = {}
        for base in reversed(group.bases):
            texts |= result.get(getattr(base, "id", ""), {})
        for field, text in zip(group.body, group.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                help_text = " ".join(ast.literal_eval(text.value).split())
                texts[ast.unparse(field.target)] = help_text
        result[group.name] = texts
    return result


def complete(group: type, **values: object) -> NamedValues:
    """All options of a group: those given, and the defaults of the others."""
    return {name: each.option.default for name, each in options_of(group).items()} | values


def check_positive(
    group: type, values: NamedValues, fail: Callable[[str], SwelltreeError] = SwelltreeError
) -> None:
    """Reject options that must be more than zero and are not.

    Args:
        group: of options.
        values: by name; options that are not there or None are not looked at.
        fail: makes the error.
    """
    for name, each in options_of(group).items():
        value = values.get(name)
        if each.option.positive and value is not None and not value > 0:
            unit = f" {each.option.unit}" if each.option.unit else ""
            raise fail(f"{name} {value}{unit} is not positive. Give more than zero.")


# --- What is made from a group: arguments of functions, fields of descriptions

F = TypeVar("F", bound=Callable[..., object])
C = TypeVar("C", bound=type)


def with_options(group: type) -> Callable[[F], F]:
    """Complete the options that a function with ``**options: Unpack[group]`` is called with.

    `inspect.signature` and `help` show the options with their defaults and help.
    """
    known = options_of(group)

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        names = {p.name for p in own}

        @functools.wraps(function)
        def called(*args: object, **values: object) -> object:
            unknown = next((name for name in values if name not in known.keys() | names), None)
            if unknown is not None:
                raise TypeError(
                    f"{function.__name__}() got an unexpected keyword argument '{unknown}'."
                    f"{suggest(unknown, (*names, *known))}"
                )
            return function(*args, **complete(group, **values))

        called.__doc__ = _with_help(function.__doc__, group, known)
        rows = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=x.option.default,
                annotation=x.type,
            )
            for name, x in known.items()
        ]
        called.__signature__ = signature.replace(parameters=[*own, *rows])  # pyright: ignore
        return cast(F, called)

    return decorate


@dataclass_transform(frozen_default=True)
def description_with(group: type) -> Callable[[C], C]:
    """As `description`, with the options of a group that files have as further fields.

    Fields that the class has itself stay as they are.
    """
    return lambda cls: _with_fields(cls, group, "file", description)


@dataclass_transform(frozen_default=True)
def dataclass_with(group: type) -> Callable[[C], C]:
    """As a frozen `dataclass`, with the options of a group as further fields."""
    return lambda cls: _with_fields(cls, group, "type", dataclasses.dataclass(frozen=True))


def _with_fields(cls: C, group: type, which: str, build: Callable[[C], C]) -> C:
    text = cls.__doc__
    for name, each in options_of(group).items():
        kind = getattr(each, which)
        if kind is not None and name not in cls.__annotations__:
            cls.__annotations__[name] = kind
            setattr(cls, name, each.option.default)
    built = build(cls)
    built.__doc__ = _Help(text, group)  # pyright: ignore[reportAttributeAccessIssue]
    return built


class _Help:
    """Docstring of a class with options, put together when it is asked for."""

    def __init__(self, text: str | None, group: type) -> None:
        self.text, self.group = text, group

    def __get__(self, instance: object, owner: type) -> str:
        fields = owner.__annotations__
        known = [name for name in options_of(self.group) if name in fields]
        return _with_help(self.text, self.group, known)


def _plain(hint: object) -> object:
    """A type without what checks it."""
    if isinstance(hint, typing.ForwardRef):
        return hint.__forward_arg__
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return _plain(parts[0])
    if origin in (typing.Union, types.UnionType):
        return functools.reduce(operator.or_, map(_plain, parts))
    return hint


def _with_help(doc: str | None, group: type, names: Iterable[str]) -> str:
    """A docstring whose arguments end with options of a group, unless it has them itself."""
    text, texts = inspect.cleandoc(doc or ""), help_of(group)
    before, head, after = text.partition("Args:\n")
    own, gap, rest = after.partition("\n\n")
    rows = [
        textwrap.fill(
            f"{name}: {texts[name]}", 96, initial_indent="    ", subsequent_indent=" " * 8
        )
        for name in names
        if name in texts and f"\n    {name}:" not in f"\n{own}"
    ]
    return "\n".join([before + (head or "\n\nArgs:\n") + own.rstrip(), *rows]) + gap + rest
