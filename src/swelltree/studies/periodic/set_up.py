"""From a model and a sea to the problem of one period."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from swelltree.effects.linear_hydro.data import Convolution, without_table
from swelltree.effects.linear_hydro.in_sea import in_waves, interpolated
from swelltree.engine.backend import jax
from swelltree.formulations import Formulation, State
from swelltree.formulations.equations import event_count, settled_at
from swelltree.model.internal_state import InternalState
from swelltree.model.model import Model
from swelltree.solvers.fourier import basis
from swelltree.studies.periodic.problem import Period, sizes
from swelltree.studies.rest.relax import check_no_drums
from swelltree.system.errors import SwelltreeError, listed, suggest

RADIATION = ("data", "state_space")


def whole_number(study: str, name: str, value: Any, least: int) -> int:
    """A count as a user gives it."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise SwelltreeError(f"{study}: {name} {value!r} is not a whole number. Give e.g. 15.")
    if value < least:
        raise SwelltreeError(f"{study}: {name} {value} is too few. Give {least} or more.")
    return int(value)


def highest_harmonic(waves: Any, length: float) -> int:
    """Number of the highest component of a sea, in harmonics of the period."""
    if waves is None:
        return 0
    omega = np.atleast_1d(np.asarray(waves.omega, float))
    size = np.broadcast_to(np.asarray(getattr(waves, "amplitude", 1.0), float), omega.shape)
    return int(np.round(np.max(omega[size != 0.0], initial=0.0) * length / (2 * np.pi)))


def harmonics_for(
    study: str, waves: Any, length: float, given: Any, least: int, factor: int
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
    if radiation not in RADIATION:
        raise SwelltreeError(
            f"radiation '{radiation}' is not known.{suggest(radiation, RADIATION)} "
            f"Choose one of {listed(RADIATION)}."
        )
    if nodes is not None and whole_number("steady_state", "nodes", nodes, 1) < 2 * harmonics + 1:
        raise SwelltreeError(
            f"nodes {nodes} cannot tell {2 * harmonics + 1} coefficients apart: at "
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


def period_of(study: str, waves: Any, period: float | None) -> float:
    """Length of one period, which the sea must fit."""
    if waves is None:
        if period is None:
            raise SwelltreeError(f"{study}: give a wave, or the period of the motion.")
        return float(period)
    own = float(getattr(waves, "repeat_period", np.inf))
    omega = np.atleast_1d(np.asarray(waves.omega, float))
    if len(omega) == 1:
        own = 2 * np.pi / float(omega[0])
    length = own if period is None else float(period)
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


def memory_at(model: Model, omega: np.ndarray, radiation: str) -> np.ndarray:
    """B + i w (A - A_in_the_mass) at the frequencies, exp(+iwt), (f, 6N, 6N)."""
    size = 6 * model.layout.n_bodies
    out = np.zeros((len(omega), size, size), dtype=complex)
    if model.hydro is None:
        return out
    if radiation == "state_space":
        memory = model.hydro.memory
        if isinstance(memory, Convolution):
            raise SwelltreeError(
                "steady_state: radiation='state_space' needs a model compiled with "
                "radiation='state_space'. Use radiation='data'."
            )
        if memory is None:
            return out
        eye = np.eye(memory.A.shape[0])
        for i, w in enumerate(omega):
            solved = np.linalg.solve(1j * w * eye - memory.A, np.asarray(memory.B) + 0j)
            out[i] = memory.C @ solved
        return out
    table = model.hydro.table
    if table is None:
        raise SwelltreeError("steady_state: the model has no hydro data. Compile it with hydro=...")
    low, high = float(table.omega[0]), float(table.omega[-1])
    at = np.clip(omega, low, high)
    A = interpolated(np.asarray(table.omega), np.asarray(table.added_mass), at)
    B = interpolated(np.asarray(table.omega), np.asarray(table.radiation_damping), at)
    # below the data damping falls off with the square of the frequency; above them it is over
    B = B * np.minimum(omega / low, 1.0)[:, None, None] ** 2
    inside = (omega <= high * (1 + 1e-9))[:, None, None]
    return np.where(inside, B + 1j * omega[:, None, None] * (A - np.asarray(model.added_mass)), 0.0)


def still_model(model: Model, radiation: str) -> Model:
    """The model without memory and waves; constant damping belongs to the fitted model."""
    if model.hydro is None:
        return model
    damping = np.asarray(model.hydro.damping)
    damping = damping if radiation == "state_space" else np.zeros_like(damping)
    hydro = replace(model.hydro, memory=None, waves=None, damping=damping)
    return model.with_effect(hydro)


def set_up(
    model: Model,
    how: Formulation,
    waves: Any,
    length: float,
    harmonics: int,
    nodes: int | None,
    radiation: str,
) -> Period:
    """The problem of one period of a length: series, start, radiation, waves at the nodes."""
    series = basis(length, harmonics, nodes)
    count = len(series.time)
    still = still_model(model, radiation)
    begin = how.start(still)
    rest = jax.tree.map(np.asarray, State(begin.q, 0.0 * begin.s, begin.chart))
    internal = InternalState((), settled_at(still, how, rest).elements)
    memory = memory_at(model, float(series.omega) * np.arange(count // 2 + 1), radiation)
    wavy = still
    if waves is not None:
        wavy = in_waves(still, replace(waves, ramp=0.0), length, step=length / count)
    none = np.zeros((0, sum(x.size for x in jax.tree.leaves(rest.s))))
    period = Period(without_table(wavy), rest, internal, series, memory, none, none, none)
    u = sum(sizes(how, period))
    return replace(period, pinned=np.zeros((0, u)), unbalanced=np.zeros((0, u)))
