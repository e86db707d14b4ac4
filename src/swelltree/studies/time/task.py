"""What a run is to do: options read and checked, the sea realised, output times chosen.

Output times of a run: as asked for, or often enough to see the waves and the motion.

Samples that lie far apart show another motion than the one that was computed (aliasing), and miss
its largest values. A twentieth of a period misses a crest by 1.2 % at most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed, shown, suggest, warn_user
from swelltree.describe.options import SolverOptions, check_positive, complete
from swelltree.describe.values import NamedValues
from swelltree.hydro.linear.data import Window
from swelltree.hydro.linear.hydro import without_table
from swelltree.hydro.linear.in_sea import apply_sea
from swelltree.hydro.linear.radiation import radiation_memory
from swelltree.integrate.complementarity.state import usual_formulation
from swelltree.integrate.runge_kutta.smooth import METHODS
from swelltree.jit import Tree, is_traced, is_tracer
from swelltree.model.capabilities import HasUnknowns, ReportsFields, StartsFromEquilibrium, having
from swelltree.model.model import Model, Pose
from swelltree.model.solved import coupled_effect, prepared
from swelltree.multibody.formulations import Formulation
from swelltree.multibody.formulations import formulation as chosen_formulation
from swelltree.results.displacement import DESCRIBED, EQUILIBRIUM, datum_of
from swelltree.studies.options import Remembered, check_times, continued, end_time, is_run, realised
from swelltree.waves.airy import Components
from swelltree.waves.gridded import GridWaves
from swelltree.waves.sea import AnySea, RealisedSea
from swelltree.waves.stream_function import StreamWave

PER_PERIOD = 20  # samples per period
MIN_SAMPLES = 200  # samples of a run
MAX_SAMPLES = 50_000  # samples of a run that names no output step
NUMBERS = 2e8  # in the result of such a run, so that many bodies have fewer samples
REFUSED = 2e7  # samples that nobody wants
LONGEST = 1e8  # s: three years
QUICK = 5.0  # times the frequency of the waves: such modes only follow the waves
MAX_DOFS = 120  # of more the modes would take longer than is worth while


def output_times(
    model: Model,
    waves: RealisedSea | None,
    requested: NamedValues,
    multiple_of: float | None = None,
) -> np.ndarray:
    """Output times [s].

    Args:
        model: compiled.
        waves: the realised sea, or None.
        requested: options of `Sampling`, and maybe `times`.
        multiple_of: fixed step of the solver that a chosen output step must be a multiple of [s].
    """
    if requested.get("times") is not None:
        return _specified(requested["times"])
    duration, between = _number("duration", requested["duration"]), requested["output_step"]
    if not 0 < duration <= LONGEST:
        why = "not positive" if not duration > 0 else f"longer than three years ({LONGEST:g} s)"
        raise SwelltreeError(f"duration {duration:g} s is {why}. Give the seconds to simulate.")
    if between is None:
        step = default_output_step(model, waves, duration, multiple_of)
    else:
        step = _number("output_step", between)
    if not step > 0 or step > duration:
        raise SwelltreeError(
            f"output_step {step:g} s must lie between zero and the duration {duration:g} s."
        )
    if duration / step > REFUSED:
        raise SwelltreeError(
            f"output_step {step:g} s makes {duration / step:.2g} samples in {duration:g} s, more "
            f"than {REFUSED:.0e}. Give a longer output_step; the solver takes steps of its own."
        )
    count = int(np.floor(duration / step + 1e-9))
    result = step * np.arange(count + 1)
    return result if duration - result[-1] < 1e-9 * duration else np.append(result, duration)


def _specified(times: object) -> np.ndarray:
    """Validate given times: finite, increasing and not negative."""
    try:
        result = np.asarray(times, float)
    except (TypeError, ValueError):
        raise SwelltreeError(
            f"times are not numbers: {shown(times)}. Give increasing seconds."
        ) from None
    if result.ndim != 1 or len(result) == 0:
        raise SwelltreeError(
            f"times have shape {result.shape}. Give a row of at least one time, e.g. linspace."
        )
    bad, late = ~np.isfinite(result), ~(np.diff(result) > 0)
    said = None
    if bad.any():
        said = f"number {int(bad.argmax()) + 1} is {result[bad.argmax()]}"
    elif late.any():
        said = f"{result[late.argmax() + 1]:.12g} s follows {result[late.argmax()]:.12g} s"
    elif result[0] < 0:
        said = f"they begin at {result[0]:g} s"
    if said is not None:
        raise SwelltreeError(
            f"times must be increasing and not negative, but {said}. Give e.g. linspace."
        )
    return result


def _number(name: str, value: object) -> float:
    try:
        result = float(value)  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):
        result = np.nan
    if not np.isfinite(result):
        raise SwelltreeError(f"{name} {value!r} is not a number of seconds. Give e.g. 60.0.")
    return result


def default_output_step(
    model: Model, waves: RealisedSea | None, duration: float, multiple_of: float | None = None
) -> float:
    """A twentieth of the shortest of the periods of the waves and of the bodies [s].

    The result divides the duration, has at least 200 samples, and not so many that the result
    would fill the memory, which is said.
    """
    requested = min([duration / MIN_SAMPLES, *(T / PER_PERIOD for T in periods(model, waves))])
    most = max(MIN_SAMPLES, int(min(MAX_SAMPLES, NUMBERS / numbers_per_sample(model))))
    least = duration / most
    if requested < least:
        warn_user(
            f"samples every {requested:.2g} s would show the motion, but make more than {most} in "
            f"{duration:g} s: the result has one every {least:.2g} s. Give output_step to choose."
        )
        requested = least
    if multiple_of is not None:
        return _multiple(duration, requested, multiple_of)
    return duration / math.ceil(duration / requested * (1 - 1e-12))


def _multiple(duration: float, requested: float, step: float) -> float:
    """The longest multiple of a step that divides the duration and is at most the requested one."""
    steps = round(duration / step)
    fitting = [k for k in range(1, max(int(requested / step), 1) + 1) if steps % k == 0]
    return step * fitting[-1]


def numbers_per_sample(model: Model) -> int:
    """Approximate number of values of a result per time."""
    return 100 * model.layout.n_bodies + sum(
        effect.sample_size for effect in having(model, ReportsFields)
    )


def periods(model: Model, waves: RealisedSea | None) -> list[float]:
    """Periods to be resolved by a result [s]: of the waves, and natural periods of bodies."""
    of_waves = wave_period(waves)
    result = [] if of_waves is None else [of_waves]
    if is_traced(model):
        return result
    fastest = np.inf if of_waves is None else QUICK * 2 * np.pi / of_waves
    swinging = natural_frequencies(model)
    return result + [2 * np.pi / w for w in swinging if 0 < w <= fastest]


def wave_period(waves: RealisedSea | None) -> float | None:
    """Period above which 75 % of the energy of the sea lie [s]; at most the peak period."""
    if isinstance(waves, StreamWave):
        return float(2 * np.pi / np.asarray(waves.omega))
    if isinstance(waves, GridWaves):
        return PER_PERIOD * float(waves.spacing[0])  # whoever made the field chose its step
    if not isinstance(waves, Components) or is_tracer(waves.omega) or not len(waves):
        return None
    order = np.argsort(np.asarray(waves.omega))
    omega = np.asarray(waves.omega)[order]
    energy = np.cumsum(np.asarray(waves.amplitude)[order] ** 2)
    if not energy[-1] > 0 or not omega[-1] > 0:
        return None
    return float(2 * np.pi / max(omega[np.searchsorted(energy, 0.75 * energy[-1])], 1e-6))


_known = Remembered()  # natural frequencies of the last models


def natural_frequencies(model: Model) -> np.ndarray:
    """Natural frequencies of the bodies about the start [rad/s], without dynamic lines."""
    notes = _known.about(model)
    if "frequencies" not in notes:
        notes["frequencies"] = _frequencies_at_start(model)
    return notes["frequencies"]


def _frequencies_at_start(model: Model) -> np.ndarray:
    from swelltree.studies.linear.linearise import matrices_at_start

    how = chosen_formulation("path_matrix")
    bare = model.replace(effects=tuple(e for e in model.effects if not isinstance(e, HasUnknowns)))
    if len(how.start(bare).s) > MAX_DOFS or coupled_effect(model) is not None:
        return np.zeros(0)
    A = matrices_at_start(bare, how).state_matrix()
    if not np.isfinite(A).all():
        return np.zeros(0)
    swing = np.imag(np.linalg.eigvals(A))
    return swing[swing > 1e-6]


TWO_STEP = ("two_step", "interior_point")  # solvers of systems with dynamic lines or contacts
TWO_STEP_FORMULATIONS = ("lagrange", "path_matrix")


@dataclass(frozen=True)
class Stepping:
    """Step control; see `SolverOptions`."""

    rtol: float
    atol: float
    step: float | None
    max_step: float | None

    @classmethod
    def of(cls, **values: float | None) -> Stepping:
        """Given values, and defaults."""
        check_positive(SolverOptions, values)
        options = complete(SolverOptions, **values)
        return cls(**{field.name: options[field.name] for field in fields(cls)})

    @property
    def longest(self) -> float:
        """Longest step allowed [s]."""
        return np.inf if self.max_step is None else self.max_step


@dataclass(frozen=True)
class Task:
    """Input of a stepper."""

    model: Model  # in its sea
    still: Model  # without it
    waves: RealisedSea | None
    times: np.ndarray  # of the samples [s]
    begin: float  # time at which the run begins [s]
    formulation: Formulation
    solver: str
    stepping: Stepping
    start: Tree
    extremes: tuple[str, ...] = ()
    datum: tuple[Pose, str] | None = None  # from which displacements count, where it is known
    by_hand: bool = False  # numbers change on the way, so that no program is shaped by them

    @property
    def traced(self) -> bool:
        """Whether it runs inside jit, grad or vmap."""
        return is_traced((self.model, self.start))

    @property
    def goes_on(self) -> bool:
        """Whether it continues another run."""
        return is_run(self.start)

    def datum_at(self, time: float, place: Pose) -> tuple[Pose, str]:
        """From which displacements count, and what it is in words.

        Args:
            time: of the first sample [s].
            place: where the bodies are there.
        """
        if self.datum is not None:
            return self.datum
        if self.goes_on:
            return datum_of(self.start, self.model)
        if starts_at_equilibrium(self.model, self.start) and time == self.begin:
            return place, EQUILIBRIUM
        return self.model.datum, DESCRIBED


def starts_at_equilibrium(model: Model, start: object) -> bool:
    """Whether a run starts at equilibrium: requested, or because of its lines."""
    if start is None:
        return bool(having(model, StartsFromEquilibrium))
    return isinstance(start, str) and start == "equilibrium"


def read_task(
    model: Model,
    sea: AnySea | None,
    options: NamedValues,
    until: float = 0.0,
    window: Window | None = None,
) -> Task:
    """The task of a run.

    The sea is made ready for the output times and for those up to `until` [s]; its loads only in a
    window, if one is given.

    Args:
        model: compiled.
        sea: described or realised.
        options: all of `TracedOptions`, and maybe others.
        until: end of what the sea is made for [s].
        window: part of it that is made ready at once, of a run by hand, which checks its times.
    """
    stepping = Stepping.of(**{field.name: options[field.name] for field in fields(Stepping)})
    start, specified, extremes = options["start"], options["times"], options["extremes"]
    if isinstance(extremes, str):
        raise SwelltreeError(f"extremes '{extremes}' is one name. Give a list: ['{extremes}'].")
    solver, how = chosen_solver(model, options["solver"], options["formulation"])
    waves = None if sea is None else realised(model, sea, options["case"])
    stored = stepping.step if stepping.step is not None else required_step(model)
    times = output_times(model, waves, options, stored)
    begin = 0.0
    if is_run(start):
        begin = end_time(start)
        times = continued(times, begin, specified is not None)
    in_sea = model
    if waves is not None:
        end = max(float(times[-1]), until)
        if window is None:
            check_times(sea, waves, begin, end)
        in_sea = apply_sea(model, waves, end, options["excitation"], window=window)
    return Task(
        model=prepared(without_table(in_sea)),
        still=model,
        waves=waves,
        times=times,
        begin=begin,
        formulation=how,
        solver=solver,
        stepping=stepping,
        start=start,
        extremes=tuple(extremes),
    )


def chosen_solver(
    model: Model, solver: str | None, formulation: str | Formulation | None
) -> tuple[str, Formulation]:
    """Solver and formulation of a run, requested or default."""
    two_step = having(model, HasUnknowns) or solver in TWO_STEP
    usual = usual_formulation(model) if two_step else "path_matrix"
    how = chosen_formulation(formulation or usual)
    fixed = coupled_effect(model)
    if fixed is not None and not two_step and solver not in (None, "rk4"):
        raise SwelltreeError(
            f"solver '{solver}' cannot go with {fixed.word}, which are stepped by solver='rk4', or "
            "with dynamic lines by 'two_step'. Leave the solver out."
        )
    solver = solver or ("two_step" if two_step else "tsit5" if fixed is None else "rk4")
    if two_step and (solver not in TWO_STEP or how.name not in TWO_STEP_FORMULATIONS):
        raise SwelltreeError(
            f"solver '{solver}' with formulation '{how.name}' does not step dynamic lines. Use "
            "solver='two_step' with 'lagrange' or 'path_matrix', or quasi-static lines."
        )
    if solver not in (*METHODS, *TWO_STEP):
        known = *METHODS, *TWO_STEP
        raise SwelltreeError(
            f"solver: there is no method '{solver}'.{suggest(solver, known)} "
            f"Choose one of {listed(known)}."
        )
    return solver, how


def required_step(model: Model) -> float | None:
    """Step for which the model was compiled [s], if any."""
    memory = radiation_memory(model)
    return None if memory is None else memory.required_step
