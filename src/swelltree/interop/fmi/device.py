"""A model in its sea as an object file: one native program that steps it, one for its waves.

The step program is that of `studies.time.stepped.native_steps` with the loads of the sea as a
further argument: a window of them, which the C layer moves along by a second program that sums the
components of the sea. So a device runs without an end, and state, inputs, parameters and
loads are one row of numbers.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Unpack

import numpy as np

from swelltree.compiler.functions_of_time import functions_of_time
from swelltree.describe.errors import SwelltreeError, listed, shown, suggest
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
from swelltree.hydro.linear.data import WaveForce, WaveLoads, Window
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
    jnp,
    mapped,
    object_file,
    shapes_of,
)
from swelltree.model.capabilities import HasUnknowns, all_winches, having
from swelltree.model.model import Model
from swelltree.model.signals import ZeroOrderHold
from swelltree.model.solved import coupled_effect
from swelltree.multibody.formulations.equations import observe
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
from swelltree.waves.gridded import GridWaves
from swelltree.waves.sea import AnySea, elevation

BLOCK, BLOCKS = 8, 8  # rows of wave loads that are summed together, and blocks in a window
TURNS = ("Roll", "Pitch", "Yaw")
APPLIED = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
ELEVATION = "elevation"
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
    """

    carry: int
    times: int
    now: int
    loads: int
    outputs: int
    code: int
    rate_known: int
    crossing: int


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
    inputs, outputs, parameters, duration = (
        chosen.pop(name) for name in ("inputs", "outputs", "parameters", "duration")
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
    stepper = smooth_stepper(task)
    with doing("finding the start of the run"):
        carry = stepper.start()
    commanded = _inputs(model, inputs)
    numbers = _parameters(model, parameters)
    with doing("compiling the device"):
        try:
            return _compiled(stepper, carry, sums, end, commanded, numbers, outputs)
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
) -> Device:
    """Compile both programs."""
    task = stepper.task
    how, solver, waves = task.formulation, task.solver, task.waves
    equations = problem_of(task.model, how)
    t0 = float(carry.t)
    place = how.kinematics(task.model, np.asarray(t0), carry.y.state).motion.pose
    datum, _ = task.datum_at(t0, mapped(np.asarray, place))
    model = stepper.stepped.replace(datum=datum)  # as steps see it
    loads, in_sea = None, model
    hydro = linear_hydro(model)
    if sums is not None and hydro is not None:
        loads, model = hydro.waves, model.with_effect(replace(hydro, waves=None))

    def observed(model: Model, t: Array, y: Tree) -> tuple[dict[str, Array], dict[str, Array]]:
        with compact():
            raw = observe(model, how, t, y)
        named = finished_now(model, raw)
        if waves is not None:
            named = named | {ELEVATION: elevation(waves, t)}
        return raw, named

    raw, named = shapes_of(observed, in_sea, np.asarray(t0), carry.y)
    chosen = _outputs(task.model, raw, named, outputs)

    def step(
        model: Model,
        options: Tree,
        carry: Carry,
        times: Array,
        held: tuple[Array, Array, Array],
        values: Array,
        loads: WaveForce | None,
    ) -> dict[str, Array]:
        if loads is not None:
            model = with_excitation(model, loads)
        names = (variable.name for variable in parameters)
        model = model.with_values({name: values[i] for i, name in enumerate(names)})
        model = _held(model, inputs, *held)
        carry, _ = integrate(equations, model, carry, times, options, method=solver)
        _, named = observed(model, times[-1], carry.y)
        result = {f"carry.{k:04d}": x for k, x in enumerate(flatten(carry)[0])}
        flat = [jnp.ravel(named[name]).astype(float) for name in chosen.results]
        picked = [flat[row][at] for row, at in chosen.places]
        return result | {"outputs": jnp.stack(picked) if picked else jnp.zeros(0)}

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
    window = None
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
    )


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
    )
