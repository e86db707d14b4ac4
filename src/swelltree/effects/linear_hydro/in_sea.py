r"""A sea acting on a model: excitation on a time grid.

.. math:: F(t) = r(t) \sum_c \mathrm{Re}\left[ \hat F(\omega_c, \beta_c)\, a_c\,
                 e^{-i\omega_c t + i\varphi_c} \right]

with r the ramp. The grid has forty points per shortest period, so that the
cubic Hermite polynomial between them is exact to about 2e-6.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from swelltree.effects.linear_hydro.data import NEGLIGIBLE, Table, WaveLoads
from swelltree.effects.linear_hydro.frame import turned_six
from swelltree.effects.linear_hydro.headings import heading_weights, tell_coarse
from swelltree.effects.linear_hydro.spectral_lines import real_sum
from swelltree.model.lines_alone import refuse_lines_alone
from swelltree.model.model import Model
from swelltree.system.errors import SwelltreeError, listed, suggest
from swelltree.waves.airy import Components
from swelltree.waves.gridded import GridWaves

POINTS_PER_PERIOD = 40
BLOCK = 512  # times that are summed together
METHODS = ("components", "convolution", "moving")
SPLINES: deque[Any] = deque(maxlen=8)  # arrays and their splines


def interpolated(x: np.ndarray, y: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Values along the first axis by a cubic spline through the data (real or complex)."""
    if len(x) < 4:
        i = np.clip(np.searchsorted(x, at) - 1, 0, len(x) - 2)
        part = ((at - x[i]) / (x[i + 1] - x[i])).reshape(-1, *(1,) * (y.ndim - 1))
        return (1 - part) * y[i] + part * y[i + 1]
    splines = _splines(x, y)
    return splines[0](at) + 1j * splines[-1](at) if np.iscomplexobj(y) else splines[0](at)


def _splines(x: np.ndarray, y: np.ndarray) -> tuple[Any, ...]:
    """Splines of the real and imaginary parts; those of the last few arrays are kept."""
    from scipy.interpolate import CubicSpline

    for own_x, own_y, result in SPLINES:
        if own_y is y and own_x is x:
            return result
    parts = (np.real(y), np.imag(y)) if np.iscomplexobj(y) else (y,)
    result = tuple(CubicSpline(x, part) for part in parts)
    SPLINES.append((x, y, result))
    return result


def travelled(
    place: np.ndarray, g: float, depth: float, omega: np.ndarray, beta: np.ndarray
) -> np.ndarray:
    """Phase factor exp(i k.x) of waves at the places (p, 2), relative to the origin (c, p)."""
    from swelltree.waves.dispersion import dispersion

    k = np.asarray(dispersion(omega, depth, g))[:, None]
    return np.exp(1j * k * (np.stack([np.cos(beta), np.sin(beta)], axis=1) @ place.T))


def excitation_at(
    table: Table,
    omega: np.ndarray,
    beta: np.ndarray,
    amplitude: Any = 1.0,
    yaw: np.ndarray | None = None,
) -> np.ndarray:
    """Excitation per metre of a crest at the origin, at pairs of frequency and heading, (c, 6N).

    Args:
        table: the data.
        omega: of each wave [rad/s].
        beta: of each wave [rad].
        amplitude: of each wave where it is known [m]: a warning about headings that are too far
            apart then looks where the waves are.
        yaw: of every body from where the data hold, (N,): its data turn with it.
    """
    way = travelled(table.place, float(table.gravity), float(table.depth), omega, beta)
    force = interpolated(np.asarray(table.omega), np.asarray(table.excitation), omega)
    size = np.abs(amplitude) * np.ones(len(omega))
    # with the crest at each body it changes slowly and can be interpolated
    if yaw is None:
        weights = heading_weights(table.direction, beta)
        tell_coarse(table.direction, size[:, None, None] * force, beta, "hydro data")
        return np.einsum("cd,cdm->cm", weights, force) * way
    for i, psi in enumerate(yaw):
        tell_coarse(table.direction, size[:, None, None] * force, beta - psi, "hydro data")
        weights = heading_weights(table.direction, beta - psi)
        body = slice(6 * i, 6 * i + 6)
        six = np.einsum("cd,cdm->cm", weights, force[:, :, body])
        way[:, body] *= turned_six(np.full(len(omega), psi), six)
    return way


def in_band(table: Table, waves: Any) -> np.ndarray:
    """Which components the data cover; an error when more than a trifle is not covered."""
    omega = np.asarray(waves.omega)
    low, high = float(table.omega[0]), float(table.omega[-1])
    inside = (omega >= low * (1 - 1e-9)) & (omega <= high * (1 + 1e-9))
    energy = np.asarray(waves.amplitude) ** 2
    if energy[~inside].sum() > NEGLIGIBLE * energy.sum():
        worst = omega[~inside][energy[~inside].argmax()]
        raise SwelltreeError(
            f"hydro data reach from omega = {low:.4g} to {high:.4g} rad/s but the wave has "
            f"{worst:.4g} rad/s. Run run_bem(..., omega=...) up to there or change the wave."
        )
    return inside


def wave_loads(
    table: Table,
    waves: Any,
    duration: float,
    method: str = "components",
    step: float | None = None,
) -> WaveLoads:
    """Excitation of realised components on a grid from 0 to the duration.

    The step resolves the highest frequency that the description of the sea allows, whatever was
    drawn, and the number of points is rounded up to a power of two: other seeds and runs of similar
    length share a compiled program.

    Args:
        method: "components" (sum over the waves) or "convolution" (impulse response on the
            elevation record at the origin).
        step: spacing of the grid [s]; a fortieth of the shortest period if not given.
    """
    highest = float(table.omega[-1])
    if waves.is_known:
        highest = min(waves.ends[1], highest)
    step = step or float(2.0 * np.pi / highest / POINTS_PER_PERIOD)
    count = 2 ** int(np.ceil(np.log2(duration / step + 4)))
    if not waves.is_known:
        from swelltree.effects.linear_hydro.traced_loads import traced_loads

        return traced_loads(table, waves, step, count)
    inside = in_band(table, waves)
    omega = np.asarray(waves.omega)[inside]
    amplitude = np.asarray(waves.complex_amplitude)[inside]
    if method == "convolution":
        record = Record(omega, amplitude, step, count)
        force, rate = convolved_loads(table, np.asarray(waves.beta)[inside], record)
    else:
        beta = np.asarray(waves.beta)[inside]
        F = excitation_at(table, omega, beta, amplitude) * amplitude[:, None]
        force, rate = (real_sum(omega, x, step, count) for x in (F, -1j * omega[:, None] * F))
    t_ramp = float(waves.ramp)
    if t_ramp > 0:
        t = step * np.arange(count)
        x = np.pi * np.minimum(t, t_ramp) / t_ramp
        r, r_dot = 0.5 * (1.0 - np.cos(x)), 0.5 * np.pi / t_ramp * np.sin(x)
        r_dot = np.where(t < t_ramp, r_dot, 0.0)
        rate = r[:, None] * rate + r_dot[:, None] * force
        force = r[:, None] * force
    return WaveLoads(np.array(step), force, rate)


def synthesised(t: np.ndarray, omega: np.ndarray, F: np.ndarray) -> np.ndarray:
    """Real part of sum F exp(-i omega t) at many times, in blocks of bounded memory."""
    # blocks of one size: what a time gets does not depend on how many come after it
    padded = np.pad(t, (0, -len(t) % BLOCK))
    out = np.empty((len(padded), F.shape[1]))
    parts = np.concatenate([np.real(F), np.imag(F)])
    for first in range(0, len(padded), BLOCK):
        angle = np.outer(padded[first : first + BLOCK], omega)
        # Re[F exp(-i angle)] in real numbers
        turned = np.concatenate([np.cos(angle), np.sin(angle)], axis=1)
        out[first : first + BLOCK] = turned @ parts
    return out[: len(t)]


class Record(NamedTuple):
    """Components whose elevation at the origin is sampled."""

    omega: np.ndarray
    amplitude: np.ndarray
    step: float
    points: int


def excitation_kernel(table: Table, beta: float, step: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Impulse response of the excitation (Paparella 001, eq. 10).

    .. math:: k(\tau) = \frac1\pi \mathrm{Re} \int_0^\infty \hat F(\omega)
              e^{-i\omega\tau} d\omega

    It acts on the elevation at the origin and is not causal: the wave reaches a body before its
    crest passes the origin, and acts ahead of itself. Beyond the data the excitation is
    continued to zero frequency and tapered off above.

    Returns:
        lags, from minus the look-ahead on [s], and k at each of them (lag, 6N).
    """
    high = float(table.omega[-1])
    spacing = float(np.median(np.diff(table.omega))) / 8
    omega = np.arange(0.5 * spacing, 1.25 * high, spacing)
    inner = np.clip(omega, table.omega[0], high)
    F = excitation_at(table, inner, np.full(len(omega), beta))
    # below the data: magnitude and phase of the lowest frequency, phase going to its mean value
    taper = np.where(omega > high, np.cos(0.5 * np.pi * (omega - high) / (0.25 * high)) ** 2, 1.0)
    F = F * taper[:, None]
    reach = np.pi / (8 * spacing) * 2
    ahead = int(reach / step)
    lag = step * np.arange(-ahead, ahead + 1)
    begin = F * np.exp(1j * omega * step * ahead)[:, None]
    k = real_sum(omega, begin, step, 2 * ahead + 2)[:-1] * spacing / np.pi
    return lag, k


def look_ahead(lag: np.ndarray, k: np.ndarray, part: float = 1e-2) -> float:
    """Time by which the kernel runs ahead of the elevation [s]; before it k is a trifle."""
    size = np.abs(k / np.maximum(np.abs(k).max(axis=0), 1e-300)).max(axis=1)
    early = lag[(size > part) & (lag < 0)]
    return float(-early.min()) if early.size else 0.0


def convolved_loads(
    table: Table, beta: np.ndarray, record: Record
) -> tuple[np.ndarray, np.ndarray]:
    """Excitation and its rate from the elevation record by the impulse response."""
    if np.ptp(beta) > 1e-9:
        raise SwelltreeError(
            "excitation='convolution' works on one elevation record, but the sea has several "
            "headings. Use excitation='components'."
        )
    lag, k = excitation_kernel(table, float(beta[0]), record.step)
    reach = len(lag) // 2
    a = (record.amplitude * np.exp(1j * record.omega * record.step * reach))[:, None]
    both = [
        real_sum(record.omega, x, record.step, record.points + 2 * reach)
        for x in (a, -1j * record.omega[:, None] * a)
    ]
    from scipy.signal import fftconvolve

    out = [record.step * fftconvolve(x, k, mode="valid", axes=0) for x in both]
    return out[0][: record.points], out[1][: record.points]


def in_waves(
    model: Model,
    waves: Any,
    duration: float,
    method: str = "components",
    step: float | None = None,
) -> Model:
    """The model with the excitation of a realised sea."""
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
    felt = any(group.uses_sea for group in model.effects)
    if felt:
        groups = tuple(group.in_sea(model, waves) for group in model.effects)
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
        if method == "moving" or turning:
            from swelltree.effects.linear_hydro.moving_waves import moving_waves

            loads: Any = moving_waves(table, waves, method == "moving")
        else:
            loads = wave_loads(table, waves, duration, method, step)
        from swelltree.effects.linear_hydro.drift import drift_loads

        drift = drift_loads(table, waves, duration, turning)
        return model.with_effect(replace(model.hydro, waves=loads, drift=drift))
    if not felt:
        refuse_lines_alone(model, "a wave is given to quasi-static lines")
        raise SwelltreeError(
            "a wave is given, but the model has no hydro data to turn it into forces. "
            "Compile with compile(system, hydro=run_bem(system, ...)) or read_hydro(...)."
        )
    return model


def _refuse_traced(table: Table, method: str, turning: bool) -> None:
    """What a sea with traced numbers cannot do, in sentences."""
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


def _linear_part(table: Table, waves: Any) -> Components:
    """The first harmonic of a steep wave, whose diffraction stays linear."""
    from swelltree.waves.stream_function import StreamWave, bound_components

    if table.remaining is None:
        raise SwelltreeError(
            "this wave is not linear and has no linear excitation. Use RegularWave(...), or "
            "compile(..., nonlinear=True)."
        )
    if not isinstance(waves, StreamWave):
        raise SwelltreeError(
            "a field on a grid does not tell how it is diffracted. Compile without hydro data, "
            "with compile(system, nonlinear=True)."
        )
    bound = bound_components(waves)
    rows = ("amplitude", "omega", "wavenumber", "beta", "phase")
    return replace(bound, **{row: getattr(bound, row)[:1] for row in rows})
