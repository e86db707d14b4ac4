"""A sea acting on a model: every effect that feels waves takes them in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.hydro.drift.loads import drift_loads
from swelltree.hydro.linear.data import Table, WaveForce, Window
from swelltree.hydro.linear.excitation import excitation_at, in_band, interpolated
from swelltree.hydro.linear.frame import follows_yaw
from swelltree.hydro.linear.headings import Headings, basis, headings_of, within
from swelltree.hydro.linear.hydro import linear_hydro, wave_loads
from swelltree.hydro.linear.wave_sums import wave_sums
from swelltree.jit import Array, namespace, pytree
from swelltree.model.capabilities import PreparedForSea, feels
from swelltree.model.checks import refuse_lines_alone
from swelltree.model.model import Model
from swelltree.waves.airy import Components
from swelltree.waves.gridded import GridWaves
from swelltree.waves.ramp import ramp

if TYPE_CHECKING:
    from swelltree.waves.sea import RealisedSea
    from swelltree.waves.stream_function import StreamWave


# --- Excitation at the actual place and heading of a body


@pytree("follows_place")
class MovingWaves(WaveForce):
    """A sea of c components and its excitation as curves over the heading."""

    waves: Components
    headings: Headings
    curve: Array  # (k, c, 6N) complex coefficients, crest at the body
    mean_place: Array  # (N, 2) m
    follows_place: bool  # phase by the actual place, not the mean one

    def acting(self, t: Array, place: Array, psi: Array | None) -> Array:
        xp = namespace(t, place)
        waves, (k, c, _) = self.waves, self.curve.shape
        x = place if self.follows_place else self.mean_place
        n = self.mean_place.shape[0]
        along = x[:, :1] * xp.cos(waves.beta) + x[:, 1:] * xp.sin(waves.beta)
        phase = waves.wavenumber * along - waves.omega * t + waves.phase
        wave = waves.amplitude * xp.exp(1j * phase)  # (N, c)
        curve = xp.asarray(self.curve).reshape(k, c, n, 6)
        turn = xp.zeros((n, 1)) if psi is None else psi[:, None]
        shape = basis(self.headings, within(self.headings, waves.beta - turn))  # (N, c, k)
        at = (xp.moveaxis(shape, -1, 0)[..., None] * xp.moveaxis(curve, 2, 1)).sum(0)
        total = xp.real(at * wave[..., None]).sum(1)
        return ramp(t, waves.ramp) * total

    def scaled(self, fraction: Array) -> MovingWaves:
        return replace(self, curve=fraction * self.curve)


def moving_waves(table: Table, waves: Components, follows_place: bool) -> MovingWaves:
    """Excitation of every component at all headings of the data."""
    inside = in_band(table, waves)
    parts = {name: np.asarray(getattr(waves, name)) for name in PER_COMPONENT}
    size, omega = parts["amplitude"][inside], parts["omega"][inside]
    heading, k = parts["beta"][inside], parts["wavenumber"][inside]
    excitation_at(table, omega, heading, k, size)  # covered?
    # the few outside the data stay as waves without height: another seed has another few
    stored = Components(**parts | {"amplitude": parts["amplitude"] * inside}, ramp=waves.ramp)
    known = np.asarray(table.omega)
    at = np.clip(parts["omega"], known[0], known[-1])
    force = interpolated(known, np.asarray(table.excitation), at)
    headings = headings_of(np.asarray(table.direction))
    place = np.asarray(table.place).reshape(-1, 6, 2)[:, 0]
    curve = np.tensordot(headings.to_curve, force, (1, 1))
    return MovingWaves(stored, headings, curve, place, follows_place)


PER_COMPONENT = ("amplitude", "omega", "wavenumber", "beta", "phase")

METHODS = ("components", "convolution", "moving")


def apply_sea(
    model: Model,
    waves: RealisedSea,
    duration: float,
    method: str = "components",
    step: float | None = None,
    window: Window | None = None,
    sums_step: float | None = None,
) -> Model:
    """The model with the excitation of a realised sea.

    Args:
        model: in still water.
        waves: realised.
        duration: for which it is made ready [s].
        method: one of METHODS.
        step: of the grid of loads [s].
        window: part of an endless run for which loads on a grid are made, instead of all of it.
        sums_step: step of loads that are summed later (`wave_sums.WaveSums`) [s]; None: now.
    """
    if method not in METHODS:
        raise SwelltreeError(
            f"excitation '{method}' is not known.{suggest(method, METHODS)} "
            f"Choose one of {listed(METHODS)}."
        )
    linear = isinstance(waves, Components)
    traced = linear and not waves.is_known
    if linear and not traced and (len(waves.amplitude) == 0 or not np.any(waves.amplitude)):
        return model
    if isinstance(waves, GridWaves) and duration > waves.end * (1 + 1e-9):
        raise SwelltreeError(
            f"wave 'gridded': the field ends at {waves.end:g} s, but the run lasts "
            f"{duration:g} s. Give a longer field or a shorter duration."
        )
    effects = tuple(
        e.in_sea(model, waves, padded=window is not None) if isinstance(e, PreparedForSea) else e
        for e in model.effects
    )
    felt = feels(model, "waves")
    if felt:
        model = model.replace(sea=replace(model.sea, waves=waves), effects=effects)
    hydro = linear_hydro(model)
    if hydro is not None and hydro.table is not None:
        table = hydro.table
        if not linear:
            waves = _linear_part(table, waves)
        if table.remaining is not None:
            # nonlinear hulls feel the undisturbed wave by themselves
            table = replace(table, excitation=table.remaining)
        turning = follows_yaw(model)
        if traced:
            _refuse_traced(table, method, turning)
        if sums_step is not None and linear and not turning:
            loads: WaveForce = wave_sums(table, waves, sums_step)
        elif method == "moving" or turning:
            loads = moving_waves(table, waves, method == "moving")
        else:
            loads = wave_loads(table, model.water, waves, duration, method, step, window)
        drift = drift_loads(table, waves, duration, turning, window)
        return model.with_effect(replace(hydro, waves=loads, drift=drift))
    if not felt:
        refuse_lines_alone(model, "a wave is given to quasi-static lines")
        raise SwelltreeError(
            "a wave is given, but the model has no hydro data to turn it into forces. "
            "Compile with compile(system, hydro=run_bem(system, ...)) or read_hydro(...)."
        )
    return model


def _refuse_traced(table: Table, method: str, turning: bool) -> None:
    """What a sea with traced numbers cannot do, as messages."""
    from swelltree.hydro.linear.traced_loads import refuse_traced_table

    refuse_traced_table(table)
    requested = {
        f"excitation='{method}'": method != "components",
        "frame='yaw'": turning,
        "drift": table.drift is not None,
    }
    for what, there in requested.items():
        if there:
            raise SwelltreeError(
                f"{what} does not support traced seas (jit, grad, vmap). Use "
                "excitation='components' with frame='fixed' and drift='none', or differences of "
                "whole runs."
            )


def _linear_part(table: Table, waves: StreamWave | GridWaves) -> Components:
    """First harmonic of a steep wave; its diffraction stays linear."""
    from swelltree.waves.stream_function import StreamWave, bound_components

    if table.remaining is None:
        raise SwelltreeError(
            "this wave is not linear and has no linear excitation. Use RegularWave(...), or "
            "compile(..., nonlinear=True)."
        )
    if not isinstance(waves, StreamWave):
        raise SwelltreeError(
            "a field on a grid does not state how it is diffracted. Compile without hydro data, "
            "with compile(system, nonlinear=True)."
        )
    bound = bound_components(waves)
    rows = ("amplitude", "omega", "wavenumber", "beta", "phase")
    return replace(bound, **{row: getattr(bound, row)[:1] for row in rows})


def ready_until(model: Model) -> float:
    """Time up to which the loads of the sea are available [s]."""
    hydro = linear_hydro(model)
    loads = () if hydro is None else (hydro.waves, hydro.drift)
    return min((part.good_until for part in loads if part is not None), default=float("inf"))
