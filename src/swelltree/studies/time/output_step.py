"""Output times of a run: as asked for, or often enough to see the waves and the motion.

Samples that lie far apart show another motion than the one that was computed (aliasing), and miss
its largest values. A twentieth of a period misses a crest by 1.2 % at most.
"""

from __future__ import annotations

import math

import numpy as np

from swelltree.describe.errors import SwelltreeError, shown, warn_user
from swelltree.describe.values import NamedValues
from swelltree.jit import is_traced, is_tracer
from swelltree.model.capabilities import HasUnknowns, ReportsFields, having
from swelltree.model.model import Model
from swelltree.model.solved import coupled_effect
from swelltree.multibody.formulations import formulation as chosen_formulation
from swelltree.waves.airy import Components
from swelltree.waves.gridded import GridWaves
from swelltree.waves.sea import RealisedSea
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


def natural_frequencies(model: Model) -> np.ndarray:
    """Natural frequencies of the bodies about the start [rad/s], without dynamic lines."""
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
