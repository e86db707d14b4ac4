"""A sea acting on a model: every effect that feels waves takes them in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.effects.linear_hydro.data import Table, WaveForce, Window
from swelltree.effects.linear_hydro.drift.loads import drift_loads
from swelltree.effects.linear_hydro.hydro import wave_loads
from swelltree.effects.linear_hydro.moving_waves import moving_waves
from swelltree.effects.linear_hydro.wave_sums import wave_sums
from swelltree.model.checks.lines_alone import refuse_lines_alone
from swelltree.model.model import Model
from swelltree.system.errors import SwelltreeError, listed, suggest
from swelltree.waves.airy import Components
from swelltree.waves.gridded import GridWaves

if TYPE_CHECKING:
    from swelltree.waves.sea import RealisedSea
    from swelltree.waves.stream_function import StreamWave


METHODS = ("components", "convolution", "moving")


def in_waves(
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
    for group in model.effects:
        group.check_sea(waves)
    felt = any(group.uses_sea for group in model.effects)
    if felt:
        groups = tuple(group.in_sea(model, waves) for group in model.effects)
        if window is not None:
            groups = tuple(group.with_room(model) for group in groups)
        model = model.replace(sea=replace(model.sea, waves=waves), effects=groups)
    if model.hydro is not None and model.hydro.table is not None:
        table = model.hydro.table
        if not linear:
            waves = _linear_part(table, waves)
        if table.remaining is not None:
            # nonlinear hulls feel the undisturbed wave by themselves
            table = replace(table, excitation=table.remaining)
        turning = any(effect.turns_axes for effect in model.effects)
        if traced:
            _refuse_traced(table, method, turning)
        if sums_step is not None and linear and not turning:
            loads: WaveForce = wave_sums(table, waves, sums_step)
        elif method == "moving" or turning:
            loads = moving_waves(table, waves, method == "moving")
        else:
            loads = wave_loads(table, model.water, waves, duration, method, step, window)
        drift = drift_loads(table, waves, duration, turning, window)
        return model.with_effect(replace(model.hydro, waves=loads, drift=drift))
    if not felt:
        refuse_lines_alone(model, "a wave is given to quasi-static lines")
        raise SwelltreeError(
            "a wave is given, but the model has no hydro data to turn it into forces. "
            "Compile with compile(system, hydro=run_bem(system, ...)) or read_hydro(...)."
        )
    return model


def _refuse_traced(table: Table, method: str, turning: bool) -> None:
    """What a sea with traced numbers cannot do, as messages."""
    from swelltree.effects.linear_hydro.traced_loads import refuse_traced_table

    refuse_traced_table(table)
    asked = {
        f"excitation='{method}'": method != "components",
        "frame='yaw'": turning,
        "drift": table.drift is not None,
    }
    for what, there in asked.items():
        if there:
            raise SwelltreeError(
                f"{what} does not know seas whose numbers are traced (jit, grad, vmap). Use "
                "excitation='components' with frame='fixed' and drift='none', or differences of "
                "whole runs."
            )


def _linear_part(table: Table, waves: StreamWave | GridWaves) -> Components:
    """The first harmonic of a steep wave, whose diffraction stays linear."""
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
    """Time up to which steps may go with the loads of its sea [s]."""
    hydro = model.hydro
    loads = () if hydro is None else (hydro.waves, hydro.drift)
    return min((part.good_until for part in loads if part is not None), default=float("inf"))
