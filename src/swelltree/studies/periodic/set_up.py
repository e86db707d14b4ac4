"""From a model and a sea to the problem of one period."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from swelltree.effects.linear_hydro.data import without_table
from swelltree.effects.linear_hydro.in_sea import in_waves
from swelltree.effects.linear_hydro.radiation import check_source, dry
from swelltree.engine.trees import leaves_of, mapped
from swelltree.formulations import Formulation, State
from swelltree.formulations.equations import event_count, settled_at
from swelltree.model.internal_state import InternalState
from swelltree.model.model import Model
from swelltree.model.solved import coupled_effect
from swelltree.solvers.fourier import basis
from swelltree.studies.periodic.problem import Period, sizes
from swelltree.studies.rest.relax import check_no_drums
from swelltree.system.errors import SwelltreeError
from swelltree.waves.gridded import GridWaves
from swelltree.waves.sea import RealisedSea


def whole_number(study: str, name: str, value: object, least: int) -> int:
    """A count as a user gives it."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise SwelltreeError(f"{study}: {name} {value!r} is not a whole number. Give e.g. 15.")
    if value < least:
        raise SwelltreeError(f"{study}: {name} {value} is too few. Give {least} or more.")
    return int(value)


def highest_harmonic(waves: RealisedSea | None, length: float) -> int:
    """Number of the highest component of a sea, in harmonics of the period."""
    if waves is None or isinstance(waves, GridWaves):
        return 0
    omega = np.atleast_1d(np.asarray(waves.omega, float))
    size = np.broadcast_to(np.asarray(getattr(waves, "amplitude", 1.0), float), omega.shape)
    return int(np.round(np.max(omega[size != 0.0], initial=0.0) * length / (2 * np.pi)))


def harmonics_for(
    study: str, waves: RealisedSea | None, length: float, given: object, least: int, factor: int
) -> int:
    """Harmonics of a series: as given, or so many times the highest component of the sea.

    Args:
        study: name in messages.
        waves: the sea, realised.
        length: of the period [s].
        given: by the user; None: to be chosen.
        least: chosen at least.
        factor: harmonics for each component of the sea.
    """
    highest = highest_harmonic(waves, length)
    if given is None:
        return max(least, factor * highest)
    count = whole_number(study, "harmonics", given, 1)
    if count < highest:
        raise SwelltreeError(
            f"{study}: the sea has a component at harmonic {highest} of its period but harmonics "
            f"is {count}. Give harmonics={highest} or more, or none to have them chosen."
        )
    return count


def check_periodic(model: Model, harmonics: int, nodes: int | None, radiation: str) -> None:
    """Refuse what a series cannot answer, with the reason."""
    check_no_drums(model, "steady_state")
    check_source(radiation)
    in_time = coupled_effect(model)
    if in_time is not None:
        raise SwelltreeError(
            "steady_state needs forces that are known at every instant of the period, and "
            f"{in_time.word} solve for their water step by step. Use simulate until the motion "
            "repeats, or hydro data (run_bem) for these bodies."
        )
    if nodes is not None and whole_number("steady_state", "nodes", nodes, 1) < 2 * harmonics + 1:
        raise SwelltreeError(
            f"nodes {nodes} cannot resolve {2 * harmonics + 1} coefficients: at "
            f"{2 * harmonics} equidistant nodes the sine of the highest harmonic is zero "
            f"everywhere. Give at least {2 * harmonics + 1}."
        )
    if model.has_unknowns:
        raise SwelltreeError(
            "steady_state needs smooth forces, and dynamic lines and contacts are not. Give lines "
            "model='quasi_static', or use simulate until it repeats."
        )
    if event_count(model):
        raise SwelltreeError(
            "steady_state needs smooth forces, and this model switches at events (latching, "
            "declutching). Use simulate until it repeats."
        )


def period_of(study: str, waves: RealisedSea | None, period: float | None) -> float:
    """Length of one period, which the sea must fit."""
    if waves is None:
        if period is None:
            raise SwelltreeError(f"{study}: give a wave, or the period of the motion.")
        return float(period)
    if isinstance(waves, GridWaves):
        raise SwelltreeError(
            f"{study}: a sea on a grid is known for its length only and does not repeat. "
            "Use simulate, or a sea of components."
        )
    repeats = float(getattr(waves, "repeat_period", np.inf))
    omega = np.atleast_1d(np.asarray(waves.omega, float))
    if len(omega) == 1:
        repeats = 2 * np.pi / float(omega[0])
    length = repeats if period is None else float(period)
    if not np.isfinite(length):
        raise SwelltreeError(
            f"{study}: this sea does not repeat. Use IrregularSea(..., spacing='equal', "
            "jitter=False), whose frequencies are multiples of one."
        )
    number = omega * length / (2 * np.pi)
    if np.abs(number - np.round(number)).max() > 1e-6:
        raise SwelltreeError(
            f"{study}: the sea does not repeat after {length:.6g} s. Give a period that all "
            "its components fit, or IrregularSea(..., spacing='equal', jitter=False)."
        )
    return length


@dataclass(frozen=True)
class PeriodAsked:
    """A sea, the period and its series."""

    waves: RealisedSea | None
    length: float  # s
    harmonics: int
    nodes: int | None  # equidistant, per period; None: chosen
    radiation: str  # "data" or "state_space"


def set_up(model: Model, how: Formulation, asked: PeriodAsked) -> Period:
    """The problem of one period of a length: series, start, radiation, waves at the nodes."""
    waves, length = asked.waves, asked.length
    series = basis(length, asked.harmonics, asked.nodes)
    count = len(series.time)
    radiation, still = dry(6 * model.layout.n_bodies), model
    if model.hydro is not None:
        radiation = model.hydro.radiation_sources(model).chosen(asked.radiation, "steady_state")
        hydro = replace(model.hydro, memory=None, waves=None, damping=radiation.damping)
        still = model.with_effect(hydro)
    begin = how.start(still)
    rest = mapped(np.asarray, State(begin.q, 0.0 * begin.s, begin.chart))
    internal = InternalState((), settled_at(still, how, rest).elements)
    memory = radiation.transfer(float(series.omega) * np.arange(count // 2 + 1))
    wavy = still
    if waves is not None:
        wavy = in_waves(still, replace(waves, ramp=0.0), length, step=length / count)
    none = np.zeros((0, sum(x.size for x in leaves_of(rest.s))))
    period = Period(without_table(wavy), rest, internal, series, memory, none, none, none)
    u = sum(sizes(how, period))
    return replace(period, pinned=np.zeros((0, u)), unbalanced=np.zeros((0, u)))
