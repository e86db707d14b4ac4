"""A model in its sea as an object file: one native program that steps it, one for its waves.

The step program is that of `studies.time.stepped.native_steps` with the loads of the sea as a
further argument: a window of them, which the C layer moves along by a second program that sums the
components of the sea. So a device runs without an end, and state, inputs, parameters and
loads are one row of numbers.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Unpack

import numpy as np

from swelltree.compiler.functions_of_time import functions_of_time
from swelltree.describe.errors import SwelltreeError, listed, shown, suggest, warn_user
from swelltree.describe.options import (
    ExportOptions,
    TracedOptions,
    check_positive,
    complete,
    with_options,
)
from swelltree.describe.paths import is_path
from swelltree.describe.values import NamedValues
from swelltree.forces.applied import AppliedForces
from swelltree.hydro.linear.data import Table, WaveForce, WaveLoads, Window
from swelltree.hydro.linear.excitation import excitation_at
from swelltree.hydro.linear.frame import follows_yaw
from swelltree.hydro.linear.hydro import excitation_of, linear_hydro, with_excitation
from swelltree.hydro.linear.in_sea import apply_sea
from swelltree.hydro.linear.wave_sums import WaveSums
from swelltree.integrate.problem import Carry
from swelltree.integrate.runge_kutta.smooth import integrate
from swelltree.jit import (
    Array,
    Portable,
    Program,
    Tree,
    UnsupportedOperationError,
    flatten,
    jax,
    jnp,
    mapped,
    object_file,
    shapes_of,
)
from swelltree.model.capabilities import (
    HasEvents,
    HasUnknowns,
    InternalState,
    all_winches,
    feels,
    having,
)
from swelltree.model.model import Model
from swelltree.model.signals import ZeroOrderHold
from swelltree.model.solved import coupled_effect
from swelltree.multibody.formulations.equations import Phase, State, observe, rates, settle
from swelltree.pto.actuators.forces import stroke_forces
from swelltree.pto.controllers.controllers import PlainLaw, controllers_of
from swelltree.results.dataset import coordinates
from swelltree.results.sea import finished_now, labels_of
from swelltree.spatial.rotations import compact
from swelltree.status import doing
from swelltree.studies.options import check_model
from swelltree.studies.time.smooth import SmoothStepper, problem_of, smooth_stepper
from swelltree.studies.time.stepped.commands import (
    Commands,
    Vocabulary,
    no_commands,
    vocabulary,
    with_commands,
)
from swelltree.studies.time.stepped.native_steps import OF_RUNS
from swelltree.studies.time.task import Task, read_task, required_step
from swelltree.waves.airy import Components
from swelltree.waves.dispersion import dispersion
from swelltree.waves.gridded import GridWaves
from swelltree.waves.sea import AnySea, elevation

BLOCK, BLOCKS = 8, 8  # rows of wave loads that are summed together, and blocks in a window
TURNS = ("Roll", "Pitch", "Yaw")
APPLIED = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
ELEVATION = "elevation"
RESOLVED = 0.4  # rad: highest frequency of the data times the step of the elevation
FITTED = 5e-3  # error of the excitation by a short kernel, of its maximum
LONGEST_REACH = 30.0  # s, of that kernel to both sides
LOOSE = 0.1  # weight of that kernel above the band
RIDGE = 1e-3  # of the kernel, against large values that cancel
LONGEST_STEP = 1.0  # s, of a device with elevation
UNLIMITED = 1e20  # m/s: the speed of winches that have no limit is more


class Variable(NamedTuple):
    """One number that goes into a device or comes out of it.

    Args:
        name: as in `stepper` and results.
        unit: empty where it has none.
        about: what it is.
        start: value before the first step.
        limit: largest size that is accepted.
        tunable: may a parameter change between steps?
    """

    name: str
    unit: str
    about: str
    start: float
    limit: float = np.inf
    tunable: bool = True


class Elevation(NamedTuple):
    """Waves from outside: the elevation at the bodies, some time ahead.

    Args:
        variables: inputs, one for each place of bodies.
        records: of each force, the number of its input.
        kernel: (lag, force) impulse response of the excitation times the step.
        ahead: steps by which it begins before the elevation.
        step: between its lags [s].
        lead: time by which inputs are ahead of the device [s].
    """

    variables: tuple[Variable, ...]
    records: tuple[int, ...]
    kernel: np.ndarray
    ahead: int
    step: float
    lead: float


class Equations(NamedTuple):
    """The equations of motion of a device, and their derivatives.

    Args:
        states: what the host integrates.
        state_at: place of each in the row of the step program.
        sizes: numbers of inputs, results and working memory of the programs of the rates and of
            their derivatives.
        places: of rates and outputs in the results of each.
    """

    states: tuple[Variable, ...]
    state_at: tuple[int, ...]
    sizes: tuple[tuple[int, int, int], tuple[int, int, int]]
    places: tuple[tuple[int, int], tuple[int, int]]

    @property
    def rates(self) -> tuple[Variable, ...]:
        """Derivatives of the states."""
        return tuple(Variable(f"der({x.name})", "", f"rate of {x.name}", 0.0) for x in self.states)


class Rows(NamedTuple):
    """Where the rows of the step program hold what: first numbers, and counts.

    Args:
        carry: numbers of the state, which begins both rows.
        times: begin and end of a step in the inputs.
        now: inputs held now; those before, the time since and the parameters follow.
        loads: step, forces, rates and begin of the window of loads.
        outputs: in the results.
        code: of success, in the results.
        rate_known: whether the state holds a rate.
        crossing: time behind the next event.
        time: of the state.
        sampled: time of the last output.
    """

    carry: int
    times: int
    now: int
    loads: int
    outputs: int
    code: int
    rate_known: int
    crossing: int
    time: int
    sampled: int


@dataclass(frozen=True)
class Device:
    """What is exported.

    Args:
        name: of the system.
        prefix: of names in C.
        inputs: held over a step.
        parameters: numbers of the model.
        outputs: channels.
        programs: LLVM IR, by name.
        tables: constants of the programs, by name.
        rows: layout of the step program.
        sizes: numbers of its inputs, results and working memory.
        begin: time at which it starts [s].
        end: time up to which its loads are known [s].
        step: of fixed steps [s]; None: adaptive.
        waves: of the window of loads: time between rows [s], forces in a row, working memory of
            the program that sums them; None: the step program has all loads in it.
        equations: for model exchange; None: not exported.
        elevation: where waves are inputs.
    """

    name: str
    prefix: str
    inputs: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    programs: dict[str, str]
    tables: dict[str, np.ndarray]
    rows: Rows
    sizes: tuple[int, int, int]
    begin: float
    end: float
    step: float | None
    waves: tuple[float, int, int] | None
    equations: Equations | None = None
    elevation: Elevation | None = None

    @property
    def all_inputs(self) -> tuple[Variable, ...]:
        """Inputs that are held, then those of the elevation."""
        return self.inputs + (() if self.elevation is None else self.elevation.variables)

    @property
    def states(self) -> tuple[Variable, ...]:
        return () if self.equations is None else self.equations.states

    @property
    def rates(self) -> tuple[Variable, ...]:
        return () if self.equations is None else self.equations.rates

    def code(self, triple: str = "") -> tuple[bytes, str]:
        """Object file with the programs, and the processor it is for; see `object_file`."""
        return object_file(self.programs, self.tables, triple)


@with_options(ExportOptions)
def device_of(model: Model, sea: AnySea | None, **options: Unpack[ExportOptions]) -> Device:
    """Compile a model in a sea.

    Args:
        model: from `compile`.
        sea: described or realised; None: still water.
    """
    check_model(model, "export")
    chosen: NamedValues = {**options}
    check_positive(ExportOptions, chosen, lambda text: SwelltreeError(f"export: {text}"))
    inputs, outputs, parameters, duration, exchange, beta = (
        chosen.pop(name)
        for name in (
            *("inputs", "outputs", "parameters", "duration", "model_exchange"),
            "elevation_beta",
        )
    )
    if chosen["solver"] is None and chosen["step"] is not None:
        chosen["solver"] = "rk4"
    if chosen["solver"] == "rk4" and chosen["step"] is None:
        raise SwelltreeError("export: solver 'rk4' needs a step. Give step=0.01.")
    _refuse_not_native(model)
    task, sums, end = _in_sea(model, sea, duration, chosen)
    if task.solver != "rk4" and functions_of_time(model):
        raise SwelltreeError(
            "export: a force or controller of this model is a function of the user's, whose jumps "
            "only show in a run. Give fixed steps (step=0.01), or a Table instead of the function."
        )
    waves_in = None
    if inputs is not None and ELEVATION in inputs:
        inputs = [name for name in inputs if name != ELEVATION]
        waves_in = _elevation(model, sea, beta, exchange)
        task = replace(task, model=_with_window(task.model, waves_in.step))
    if exchange:
        _refuse_not_smooth(model, task)
    stepper = smooth_stepper(task)
    with doing("finding the start of the run"):
        carry = stepper.start()
    commanded = _inputs(model, inputs)
    numbers = _parameters(model, parameters)
    with doing("compiling the device"):
        try:
            device = _compiled(
                *(stepper, carry, sums, end, commanded, numbers, outputs, exchange, waves_in)
            )
            return device if waves_in is None else replace(device, elevation=waves_in)
        except UnsupportedOperationError as error:
            raise SwelltreeError(
                f"export: a part of this model has no native program: {error}. Leave that part "
                "out, or step it in Python by stepper()."
            ) from None


def _in_sea(
    model: Model, sea: AnySea | None, duration: float | None, options: NamedValues
) -> tuple[Task, WaveSums | None, float]:
    """Task with a window of loads, the components that fill it, and the end of the loads."""
    start = options["start"]
    requested = complete(TracedOptions, **options) | {"times": [0.0]}
    if start is not None and hasattr(start, "attrs"):
        requested["times"] = [float(start["time"][-1])]
    until = float(requested["times"][0]) + (duration or 0.0)
    first = Window(float(requested["times"][0]), BLOCK * BLOCKS)
    task = replace(read_task(model, sea, requested, until, first), by_hand=True)
    hydro = linear_hydro(task.model)
    loads, waves = excitation_of(task.model), task.waves
    if hydro is None or not (isinstance(loads, WaveLoads) or hydro.drift is not None):
        return task, None, float(waves.end) if isinstance(waves, GridWaves) else np.inf
    if (
        isinstance(loads, WaveLoads)
        and isinstance(waves, Components)
        and hydro.drift is None
        and options["excitation"] == "components"
    ):
        step = float(loads.step)
        sums = excitation_of(apply_sea(model, waves, 0.0, sums_step=step))
        assert isinstance(sums, WaveSums)
        return task, sums, np.inf
    if duration is None:
        raise SwelltreeError(
            "export: loads of second order and by convolution are not summed step by step; a table "
            "of them goes into the device. Give duration=..., the longest run [s]."
        )
    task = replace(read_task(model, sea, requested, until), by_hand=True)
    return task, None, until


# --- Waves from outside


def _elevation(model: Model, sea: AnySea | None, beta: float, exchange: bool) -> Elevation:
    """Kernel of the excitation and the inputs that it acts on.

    A hull feels a wave before its crest arrives: the kernel begins before the elevation, and the
    inputs must be ahead by that time and by the longest step.
    """
    hydro = linear_hydro(model)
    table = None if hydro is None else hydro.table
    why = (
        "a sea is given, too. Give None as the sea"
        if sea is not None
        else "the model has no hydro data to turn it into forces. Compile with hydro=..."
        if table is None
        else "hulls that take the waves by themselves need their components. Give a sea"
        if table.remaining is not None or feels(model, "waves")
        else "the hydro data turn with the bodies. Compile with frame='fixed'"
        if follows_yaw(model)
        else "a host that steps the states goes back in time. Leave out model_exchange=True"
        if exchange
        else ""
    )
    if why or table is None:
        raise SwelltreeError(f"export: input 'elevation': {why}.")
    step = max(RESOLVED / float(table.omega[-1]), LONGEST_STEP / 50.0)
    lag, k = _short_kernel(table, model, float(beta), step)
    ahead = -round(float(lag[0]) / step)
    size = np.abs(k).reshape(len(k), -1, 2, 3)  # forces and moments of bodies
    wet = np.flatnonzero(size.max(axis=(0, 2, 3)) > 0.0)
    places, found = np.unique(np.asarray(table.place)[6 * wet], axis=0, return_inverse=True)
    record = np.zeros(size.shape[1], int)
    record[wet] = found.ravel()
    lead = step * (ahead + 6) + LONGEST_STEP
    about = f"elevation at the place of the body, {lead:.4g} s ahead"
    bodies = [model.layout.bodies[wet[np.argmax(found.ravel() == i)]] for i in range(len(places))]
    names = [ELEVATION] if len(places) == 1 else [f"{ELEVATION}.{body}" for body in bodies]
    return Elevation(
        tuple(Variable(name, "m", about, 0.0) for name in names),
        tuple(int(i) for i in np.repeat(record, 6)),
        step * k,
        ahead,
        step,
        lead,
    )


def _short_kernel(
    table: Table, model: Model, beta: float, step: float
) -> tuple[np.ndarray, np.ndarray]:
    r"""The shortest impulse response whose transform is the excitation within the band of the data.

    .. math:: h \sum_j k_j e^{i \omega \tau_j} \approx \hat F(\omega), \quad -A \le \tau_j \le A

    By least squares. Above the band the response is only kept small: that of `excitation_kernel`,
    which is tapered there, lasts several times longer.

    Returns:
        lags [s], and the kernel (lag, 6N).
    """
    low, high = float(table.omega[0]), float(table.omega[-1])
    spacing = float(np.median(np.diff(table.omega))) / 8
    omega = np.arange(low, high + 0.5 * spacing, spacing)
    wavenumber = np.asarray(dispersion(omega, float(model.water.depth), float(model.water.g)))
    at_bodies = replace(table, place=np.zeros_like(table.place))
    F = excitation_at(at_bodies, omega, np.full(len(omega), beta), wavenumber)
    kinds = np.abs(F).reshape(len(F), -1, 2, 3).max(axis=(0, 1, 3), keepdims=True)
    # above the band the response falls to zero, less exactly than it follows the data
    above = np.arange(high + spacing, np.pi / step, 4 * spacing)
    part = np.clip((above - high) / (0.25 * high), 0.0, 1.0)
    weight = np.where(part < 1.0, 0.3, 1.0)[:, None] * LOOSE
    G = F[-1] * np.cos(0.5 * np.pi * part)[:, None] ** 2 * weight
    right = np.concatenate([np.real(F), np.imag(F), np.real(G), np.imag(G)])
    reach, error, lag, k = 1.0, np.inf, np.zeros(0), np.zeros((0, right.shape[1]))
    while error >= FITTED and reach < LONGEST_REACH:
        reach += 1.0
        count = round(reach / step)
        lag = step * np.arange(-count, count + 1)
        waves = step * np.exp(1j * omega[:, None] * lag)
        short = step * np.exp(1j * above[:, None] * lag) * weight
        left = np.concatenate([np.real(waves), np.imag(waves), np.real(short), np.imag(short)])
        damping = RIDGE * np.sqrt(2 * len(F)) * step * np.eye(len(lag))
        rows, none = np.concatenate([left, damping]), np.zeros((len(lag), right.shape[1]))
        k = np.linalg.lstsq(rows, np.concatenate([right, none]), rcond=None)[0]
        off = np.abs(waves @ k - F).reshape(len(F), -1, 2, 3)
        error = float((off / np.where(kinds > 0.0, kinds, 1.0)).max())
    if error >= FITTED:
        warn_user(
            f"export: input 'elevation': within {LONGEST_REACH:g} s the excitation of the data is "
            f"fitted to {100 * error:.2g} %. Give data at closer frequencies."
        )
    return lag, k


def _with_window(model: Model, step: float) -> Model:
    """The model with a window of loads, which the C layer fills."""
    hydro = linear_hydro(model)
    assert hydro is not None
    none = np.zeros((BLOCK * BLOCKS, 6 * model.layout.n_bodies))
    return model.with_effect(
        replace(hydro, waves=WaveLoads(np.array(step), none, none.copy(), np.zeros(())))
    )


# --- What cannot be exported


def _refuse_not_native(model: Model) -> None:
    """Reject effects without native programs."""
    for effect in having(model, HasUnknowns):
        raise SwelltreeError(
            f"export: {effect.word}{_named(effect)} are stepped by an implicit scheme that has no "
            "native program. Use lines of model 'quasi_static', or stepper() in Python."
        )
    flow = coupled_effect(model)
    if flow is not None:
        raise SwelltreeError(
            f"export: {flow.word} solve for a flow in every step, which has no native program. Use "
            "linear hydro data, or stepper() in Python."
        )
    if required_step(model) is not None:
        raise SwelltreeError(
            "export: radiation='convolution' keeps past velocities step by step. Compile with "
            "radiation='state_space'."
        )
    for controller in controllers_of(model):
        if isinstance(controller.law, PlainLaw) or controller.preview is not None:
            raise SwelltreeError(
                f"export: controller '{controller.name}' is a Python function (or predictive "
                "control), which needs Python where it runs. Leave it out and drive its PTO by an "
                "input, or write the law with jax.numpy."
            )


def _refuse_not_smooth(model: Model, task: Task) -> None:
    """Reject what the host of a model exchange cannot integrate."""
    for effect in having(model, HasEvents):
        if effect.event_count:
            raise SwelltreeError(
                f"export: {effect.switching() or effect.kind} switches at events, which a host "
                "cannot integrate over. Leave out model_exchange=True: in co-simulation the device "
                "finds its events by itself."
            )
    if task.formulation.settling_matters(model):
        raise SwelltreeError(
            "export: this system has closed loops, whose joints are corrected after each step; a "
            "host cannot do that. Leave out model_exchange=True, or open the loops."
        )


def _named(effect: Tree) -> str:
    names = getattr(effect, "lines", ()) or getattr(effect, "names", ())
    return f" ({listed(dict.fromkeys(names))})" if names else ""


# --- Variables


class Inputs(NamedTuple):
    """Inputs in the order in which they are held.

    Args:
        variables: all of them.
        strokes: names of those on strokes and winches.
        applied: element and number of the signal of those of applied forces.
    """

    variables: tuple[Variable, ...]
    strokes: tuple[str, ...]
    applied: tuple[tuple[int, int], ...]


def _inputs(model: Model, names: Sequence[str] | None) -> Inputs:
    strokes = no_commands(model).now
    speeds = {
        name: float(x) if x < UNLIMITED else np.inf
        for part in all_winches(model)
        for name, x in zip(part.names, part.max_speed, strict=True)
    }
    turns = _angles(model)
    of_strokes = {
        name: Variable(name, "m/s", "speed of the winch, beside its set speed", 0.0, speeds[name])
        if name in speeds
        else Variable(name, "N m" if name in turns else "N", "force beside that of its law", 0.0)
        for name in strokes
    }
    effect = model.effect(AppliedForces)
    elements = () if effect is None else effect.names
    of_forces = {
        f"{name}.{part}": (
            Variable(f"{name}.{part}", "N" if k < 3 else "N m", "beside its signals", 0.0),
            (e, k),
        )
        for e, name in enumerate(elements)
        for k, part in enumerate(APPLIED)
    }
    known = (*of_strokes, *of_forces)
    chosen: dict[str, None] = dict.fromkeys(known if names is None else ())
    for name in _row("inputs", names or ()):
        parts = [f"{name}.{part}" for part in APPLIED] if name in elements else [name]
        if parts[0] not in known:
            switches = name in stroke_forces(model).names
            why = (
                "switches by its own law and takes no force from outside"
                if switches
                else "is not a PTO, spring, joint force, winch or applied force"
            )
            raise SwelltreeError(
                f"export: input '{name}' {why}.{suggest(name, (*known, *elements))} "
                + (f"There is {listed((*of_strokes, *elements))}." if known else "There is none.")
            )
        chosen |= dict.fromkeys(parts)
    on_strokes = tuple(name for name in chosen if name in of_strokes)
    on_forces = tuple(name for name in chosen if name in of_forces)
    variables = [of_strokes[name] for name in on_strokes]
    variables += [of_forces[name][0] for name in on_forces]
    return Inputs(tuple(variables), on_strokes, tuple(of_forces[name][1] for name in on_forces))


def _angles(model: Model) -> set[str]:
    """Names of elements with angular stroke, and of angular joint coordinates."""
    forces, found = stroke_forces(model), coordinates(model)
    pairs = [*zip(forces.names, forces.turns, strict=True)]
    if "coordinate_turns" in found:
        labels, turns = found["coordinate"][1], found["coordinate_turns"][1]
        pairs += [(str(a), bool(b)) for a, b in zip(labels, turns, strict=True)]
    return {name for name, turns in pairs if turns}


def _row(word: str, names: object) -> list[str]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise SwelltreeError(f"export: {word} {shown(names)} is not a list of names.")
    row = list(names)
    for name in row:
        if not isinstance(name, str):
            raise SwelltreeError(f"export: {word} has {shown(name)}, which is not a name.")
    return row


def _parameters(model: Model, names: Sequence[str]) -> tuple[Variable, ...]:
    """Parameters of the compiled model that native code can change."""
    result = {}
    strokes = stroke_forces(model).names
    for name in _row("parameters", names):
        if is_path(name):
            raise SwelltreeError(
                f"export: parameter '{name}' is a number of the description, from which a model is "
                "compiled anew. Choose numbers of the compiled model, such as 'pto.damping'."
            )
        value = np.asarray(model.value(name))
        if value.ndim:
            raise SwelltreeError(
                f"export: parameter '{name}' is a row of {value.size} numbers. Choose numbers that "
                "stand alone."
            )
        tunable = name.rpartition(".")[0] in strokes
        result[name] = Variable(name, "", "number of the model", float(value), np.inf, tunable)
    return tuple(result.values())


class Outputs(NamedTuple):
    """Channels in order: variables, and for each its result and index."""

    variables: tuple[Variable, ...]
    results: tuple[str, ...]
    places: tuple[tuple[int, int], ...]


def _outputs(
    model: Model, raw: Mapping[str, Tree], results: Mapping[str, Tree], names: Sequence[str] | None
) -> Outputs:
    """Chosen channels.

    Args:
        model: that is exported.
        raw: shapes of all channels of `observe`.
        results: shapes of all channels as in results.
        names: as given.
    """
    more: dict[str, tuple[str, ...]] = {ELEVATION: ()} if ELEVATION in results else {}
    words = vocabulary(model, dict(raw), more)
    labels = {label.name: label for label in labels_of(model, dict(raw)).values()}
    angles = {*TURNS, *_angles(model)}
    if names is None:
        names = [name for name in ("displacement", "absorbed_power") if name in results]
    chosen: dict[str, tuple[str, int]] = {}
    for name in _row("outputs", names):
        if name.split(".")[0] in OF_RUNS:
            raise SwelltreeError(
                f"export: output '{name}' follows from a whole run, not from an instant. Leave it "
                "out."
            )
        chosen |= _single(words, results, name)
    used = tuple(dict.fromkeys(variable for variable, _ in chosen.values()))
    variables = []
    for name, (variable, _) in chosen.items():
        label, last = labels.get(variable), name.rpartition(".")[2]
        unit, about = ("m", "free surface at the origin") if label is None else label[2:4]
        if ", " in unit:
            length, angle = unit.split(", ")
            unit = angle if last in angles else length
        variables.append(Variable(name, "" if unit == "1" else unit, about, 0.0))
    places = tuple((used.index(variable), at) for variable, at in chosen.values())
    return Outputs(tuple(variables), used, places)


def _single(
    words: Vocabulary, results: Mapping[str, Tree], name: str
) -> dict[str, tuple[str, int]]:
    """The numbers that a name stands for: full names, and where each of them is.

    Args:
        words: names of all channels.
        results: shapes of the channels.
        name: of one number or of several.
    """
    numbered, start, owners = {}, 0, []
    for variable, x in results.items():
        size = int(np.prod(x.shape, dtype=int))
        numbered[variable] = np.arange(start, start + size, dtype=float).reshape(x.shape)
        owners.append((start, variable))
        start += size
    missing = words.dims.keys() - numbered.keys()
    found = replace(words, dims={k: v for k, v in words.dims.items() if k not in missing}).value(
        numbered, name
    )
    result = {}
    for number in np.asarray(found, int).reshape(-1).tolist():
        first, variable = max(pair for pair in owners if pair[0] <= number)
        full = name if np.ndim(found) == 0 else _full(words, numbered[variable], variable, number)
        result[full] = variable, number - first
    return result


def _full(words: Vocabulary, numbered: np.ndarray, variable: str, number: int) -> str:
    index = np.argwhere(numbered == number)[0]
    dims = words.dims[variable]
    known = (words.labels.get(dim) for dim in dims)
    parts = (str(i) if row is None else row[i] for i, row in zip(index, known, strict=True))
    return ".".join((variable, *parts))


# --- Programs


def _held(model: Model, inputs: Inputs, now: Array, before: Array, since: Array) -> Model:
    zero, count = no_commands(model), len(inputs.strokes)
    held, old = (
        zero.now | dict(zip(inputs.strokes, row[:count], strict=True)) for row in (now, before)
    )
    model = with_commands(model, Commands(held, old, since))
    effect = model.effect(AppliedForces)
    if effect is None:
        return model
    elements = list(effect.elements)
    for n, (e, k) in enumerate(inputs.applied, count):
        signals = list(elements[e].signals)
        signals[k] = ZeroOrderHold(signals[k], before[n], now[n], since, np.array(0.0))
        elements[e] = replace(elements[e], signals=tuple(signals))
    return model.with_effect(replace(effect, elements=tuple(elements)))


def _compiled(
    stepper: SmoothStepper,
    carry: Carry,
    sums: WaveSums | None,
    end: float,
    inputs: Inputs,
    parameters: tuple[Variable, ...],
    outputs: Sequence[str] | None,
    exchange: bool = False,
    waves_in: Elevation | None = None,
) -> Device:
    """Compile all programs."""
    task = stepper.task
    how, solver, waves = task.formulation, task.solver, task.waves
    equations = problem_of(task.model, how)
    t0 = float(carry.t)
    place = how.kinematics(task.model, np.asarray(t0), carry.y.state).motion.pose
    datum, _ = task.datum_at(t0, mapped(np.asarray, place))
    model = stepper.stepped.replace(datum=datum)  # as steps see it
    loads, in_sea = None, model
    hydro = linear_hydro(model)
    if hydro is not None and (sums is not None or waves_in is not None):
        loads, model = hydro.waves, without_excitation(model)

    def observed(model: Model, t: Array, y: Tree) -> tuple[dict[str, Array], dict[str, Array]]:
        with compact():
            raw = observe(model, how, t, y)
        named = finished_now(model, raw)
        if waves is not None:
            named = named | {ELEVATION: elevation(waves, t)}
        return raw, named

    raw, named = shapes_of(observed, in_sea, np.asarray(t0), carry.y)
    chosen = _outputs(task.model, raw, named, outputs)

    def driven(
        model: Model, held: tuple[Array, Array, Array], values: Array, loads: WaveForce | None
    ) -> Model:
        if loads is not None:
            model = with_excitation(model, loads)
        names = (variable.name for variable in parameters)
        model = model.with_values({name: values[i] for i, name in enumerate(names)})
        return _held(model, inputs, *held)

    def picked(named: dict[str, Array]) -> Array:
        flat = [jnp.ravel(named[name]).astype(float) for name in chosen.results]
        found = [flat[row][at] for row, at in chosen.places]
        return jnp.stack(found) if found else jnp.zeros(0)

    def step(
        model: Model,
        options: Tree,
        carry: Carry,
        times: Array,
        held: tuple[Array, Array, Array],
        values: Array,
        loads: WaveForce | None,
    ) -> dict[str, Array]:
        model = driven(model, held, values, loads)
        carry, _ = integrate(equations, model, carry, times, options, method=solver)
        _, named = observed(model, times[-1], carry.y)
        result = {f"carry.{k:04d}": x for k, x in enumerate(flatten(carry)[0])}
        return result | {"outputs": picked(named)}

    n = len(inputs.variables)
    times, none = np.full(2, t0), np.zeros(n)
    values = np.array([variable.start for variable in parameters], float)
    held = none, none.copy(), np.asarray(t0)
    args = model, stepper.options, carry, times, held, values, loads
    program = Program(step, fixed=2).portable(*args)
    system = task.model.described.specified
    name = "device" if system is None else system.name
    prefix = prefix_of(name)
    programs = {f"{prefix}_run": program.text}
    tables = {f"{prefix}_model": program.fixed, f"{prefix}_start": program.inputs}
    equations_of = None
    if exchange:
        _refuse_work(model, raw, chosen)

        def motion(
            model: Model, y: Tree, t: Array, now: Array, values: Array, loads: Tree
        ) -> tuple[Phase, Array]:
            model = driven(model, (now, now, t), values, loads)
            y = settle(model, how, t, y)  # quaternions of the host have any norm
            return rates(model, how, t, y), picked(observed(model, t, y)[1])

        smooth = task.model.replace(datum=datum)
        if loads is not None:
            smooth = without_excitation(smooth)
        equations_of, more, constants = _equations(
            motion, smooth, carry, how.velocity_names(task.model), (none, values, loads)
        )
        programs |= {f"{prefix}_{word}": text for word, text in more.items()}
        tables |= {f"{prefix}_{word}_model": x for word, x in constants.items()}
    window = None
    if waves_in is not None:
        tables[f"{prefix}_kernel"] = np.ravel(waves_in.kernel)
        window = waves_in.step, waves_in.kernel.shape[1], 0
    if sums is not None:
        filling = Program(_fill).portable(sums, np.zeros(1))
        programs[f"{prefix}_waves"] = filling.text
        tables[f"{prefix}_sums"] = filling.fixed
        window = float(sums.step), int(sums.real.shape[1]), filling.sizes[1]
    return Device(
        name=name,
        prefix=prefix,
        inputs=inputs.variables,
        parameters=parameters,
        outputs=chosen.variables,
        programs=programs,
        tables=tables,
        rows=_rows(carry, program, n, len(parameters)),
        sizes=(len(program.inputs), *program.sizes),
        begin=t0,
        end=end,
        step=stepper.step if solver == "rk4" else None,
        waves=window,
        equations=equations_of,
    )


def _refuse_work(model: Model, raw: Mapping[str, Tree], chosen: Outputs) -> None:
    """Reject outputs that follow from the work since the start, which is no state of the host."""
    zeros = {name: np.zeros(x.shape) for name, x in raw.items()}
    if "work" not in zeros:
        return
    with np.errstate(all="ignore"):
        found = [finished_now(model, zeros | {"work": zeros["work"] + x}) for x in (0.0, np.nan)]
    for name in chosen.results:
        rows = [np.isnan(np.asarray(x[name], float)).any() for x in found if name in x]
        if rows == [False, True]:
            raise SwelltreeError(
                f"export: output '{name}' follows from the work since the start, which is not "
                "among the states of a model exchange. Leave it out and integrate powers in the "
                "host."
            )


def _equations(
    motion: Callable[..., tuple[Phase, Array]],
    model: Model,
    carry: Carry,
    velocities: Sequence[str],
    rest: tuple[Array, Array, WaveForce | None],
) -> tuple[Equations, dict[str, str], dict[str, np.ndarray]]:
    """Programs of rates and outputs, and of their change in a direction.

    Args:
        motion: rates and outputs of a model and phase, time, inputs, parameters and loads.
        model: without the loads.
        carry: at the start.
        velocities: names of the velocities s.
        rest: inputs, parameters and loads at the start.
    """
    y = carry.y
    leaves, tree = flatten(carry)
    first = [0, *itertools.accumulate(int(np.size(x)) for x in leaves)]
    numbered = tree.unflatten(
        [
            np.arange(a, a + np.size(x)).reshape(np.shape(x))
            for a, x in zip(first[:-1], leaves, strict=True)
        ]
    ).y
    parts: dict[str, tuple[Callable[[Phase], Array], Sequence[str] | None]] = {
        "q": (lambda y: y.state.q, None),
        "s": (lambda y: y.state.s, velocities),
        "radiation": (lambda y: y.internal.radiation, None),
    }
    for kind in y.internal.elements:
        parts[kind] = (lambda y, kind=kind: y.internal.elements[kind], None)
    parts = {word: x for word, x in parts.items() if np.size(x[0](y))}
    names: list[str] = []
    for word, (part, known) in parts.items():
        count = int(np.size(part(y)))
        names += [f"{word}.{k}" for k in (known or range(count))]

    def flat(y: Phase) -> Array:
        return jnp.concatenate([jnp.ravel(jnp.asarray(part(y))) for part, _ in parts.values()])

    def placed(y: Phase, x: Array) -> Phase:
        found, begin = {}, 0
        for word, (part, _) in parts.items():
            like = part(y)
            found[word] = x[begin : begin + np.size(like)].reshape(np.shape(like))
            begin += int(np.size(like))
        elements = {kind: found.pop(kind, z) for kind, z in y.internal.elements.items()}
        state = State(found.get("q", y.state.q), found.get("s", y.state.s), y.state.chart)
        radiation = found.get("radiation", y.internal.radiation)
        return Phase(state, y.work, InternalState(radiation, elements))

    def rate(
        model: Model,
        y: Phase,
        x: Array,
        t: Array,
        now: Array,
        values: Array,
        loads: WaveForce | None,
    ) -> dict[str, Array]:
        change, out = motion(model, placed(y, x), t, now, values, loads)
        return {"outputs": out, "rates": flat(change)}

    def tangent(
        model: Model,
        y: Phase,
        point: tuple[Array, Array, Array],
        seed: tuple[Array, Array, Array],
        values: Array,
        loads: WaveForce | None,
    ) -> dict[str, Array]:
        x, t, now = point

        def at(x: Array, now: Array, values: Array) -> dict[str, Array]:
            return rate(model, y, x, t, now, values, loads)

        return jax.jvp(at, (x, now, values), seed)[1]

    now, values, loads = rest
    x, t = np.asarray(flat(y)), np.asarray(float(carry.t))
    seed = np.zeros(len(x)), now.copy(), np.zeros(len(values))
    found = {
        "ode": Program(rate, fixed=2).portable(model, y, x, t, now, values, loads),
        "tangent": Program(tangent, fixed=2).portable(model, y, (x, t, now), seed, values, loads),
    }
    at = np.concatenate([np.ravel(part(numbered)) for part, _ in parts.values()])
    states = (
        Variable(f"x.{name}", "", "state", float(z)) for name, z in zip(names, x, strict=True)
    )
    sizes = [(len(program.inputs), *program.sizes) for program in found.values()]
    places = [
        (program.places["rates"][0], program.places["outputs"][0]) for program in found.values()
    ]
    return (
        Equations(
            tuple(states), tuple(int(k) for k in at), (sizes[0], sizes[1]), (places[0], places[1])
        ),
        {word: program.text for word, program in found.items()},
        {word: program.fixed for word, program in found.items()},
    )


def without_excitation(model: Model) -> Model:
    hydro = linear_hydro(model)
    return model if hydro is None else model.with_effect(replace(hydro, waves=None))


def prefix_of(name: str) -> str:
    """A valid C identifier of a name."""
    word = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower() or "device"
    return word if word[0].isalpha() else f"device_{word}"


def _fill(sums: WaveSums, begin: Array) -> dict[str, Array]:
    loads = sums.loads(begin[0], BLOCK)
    return {"force": loads.force, "rate": loads.rate}


def _rows(carry: Carry, program: Portable, inputs: int, parameters: int) -> Rows:
    leaves, tree = flatten(carry)
    places = [program.places[f"carry.{k:04d}"][0] for k in range(len(leaves))]
    size = sum(np.size(x) for x in leaves)
    assert places == list(itertools.accumulate((np.size(x) for x in leaves[:-1]), initial=0))
    numbered = tree.unflatten(places)
    return Rows(
        carry=size,
        times=size,
        now=size + 2,
        loads=size + 2 + 2 * inputs + 1 + parameters,
        outputs=program.places["outputs"][0],
        code=numbered.code,
        rate_known=numbered.rate_known,
        crossing=numbered.crossing,
        time=numbered.t,
        sampled=numbered.sampled,
    )
