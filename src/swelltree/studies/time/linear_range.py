"""After a run: did the motion stay where the model holds?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from swelltree.effects.lines.multibody.cables import Cables
from swelltree.model.model import Model
from swelltree.studies.doctor.sea import YAW, beyond_linear
from swelltree.system.findings import Finding
from swelltree.waves.airy import Components
from swelltree.waves.sea import RealisedSea

if TYPE_CHECKING:
    import xarray as xr

HALF_TURN = 0.9 * np.pi  # rad: a bushing that is turned more may pass half a turn unseen
FAR = 0.125  # wave lengths: farther away, the excitation has another phase


def left_linear_range(model: Model, result: xr.Dataset, waves: RealisedSea | None) -> list[Finding]:
    """Findings about a run that went beyond what its linear data can say.

    Args:
        model: that was run.
        result: its dataset.
        waves: realised sea, or None.
    """
    findings = [*_through_the_ground(model, result), *_half_a_turn(result)]
    if model.hydro is None:
        return findings
    stiffness = np.asarray(model.hydro.stiffness)
    for i, name in enumerate(result.body.values):
        k = model.layout.bodies.index(str(name))
        if not np.any(stiffness[6 * k : 6 * k + 6]):
            continue  # dry
        away = result.position.values[:, i] - result.position.values[0, i]
        amplitude = np.nanmax(np.abs(away), axis=0)
        reach = float(np.broadcast_to(np.asarray(model.hydro.reach), model.layout.n_bodies)[k])
        findings += beyond_linear(model, str(name), amplitude, reach, "did")
        findings += _wandered(model, str(name), amplitude, waves)
    return findings


def _through_the_ground(model: Model, result: xr.Dataset) -> Iterator[Finding]:
    """Cables that are chains of bodies do not feel the seabed: has one gone through it?"""
    cables = model.effect(Cables)
    depth = float(model.water.depth)
    if cables is None or not np.isfinite(depth) or "line_position" not in result:
        return
    lowest = result.line_position.sel(axis="z").min("line_node")
    for name in cables.lines:
        of_line = lowest.sel(line=name)
        below = -depth - float(of_line.min())
        if below > 0.0:
            when = float(of_line.time[int(np.argmin(of_line.values))])
            yield Finding(
                "warning",
                "seabed",
                f"line '{name}' was {below:.3g} m below the seabed at t = {when:.4g} s: chains of "
                "bodies do not touch it. Use model='dynamic'.",
                {"below": below},
            )


def _half_a_turn(result: xr.Dataset) -> Iterator[Finding]:
    """Bushings whose rotation vector came to half a turn, where it changes its side."""
    if "bushing_deformation" not in result:
        return
    turns = np.linalg.norm(result.bushing_deformation.values[..., 3:], axis=-1)
    for name, turn in zip(result.bushing.values, turns.T, strict=True):
        if np.nanmax(turn) > HALF_TURN:
            when = float(result.time[int(np.argmax(turn > HALF_TURN))])
            yield Finding(
                "warning",
                "bushing",
                f"bushing '{name}' is turned by {np.degrees(np.nanmax(turn)):.0f} degrees, from "
                f"t = {when:.4g} s on near half a turn: beyond it its moment jumps to the other "
                "side. Use a joint with a JointForce, which counts turns, or stiffen it.",
                {"turn": float(np.nanmax(turn))},
            )


def _wandered(
    model: Model, name: str, amplitude: np.ndarray, waves: RealisedSea | None
) -> Iterator[Finding]:
    """Has the body gone to another phase of the waves, or turned to another heading?"""
    assert model.hydro is not None
    loads = model.hydro.waves
    if loads is None or loads.follows_bodies or not isinstance(waves, Components):
        return
    k = float(waves.wavenumber[int(np.argmax(waves.amplitude))])
    length = 2 * np.pi / k
    gone = float(np.hypot(*amplitude[:2]))
    if gone > FAR * length:
        yield Finding(
            "warning",
            "linear range",
            f"body '{name}' went {gone:.3g} m from its mean place, {gone / length:.2g} of the "
            "wave's length, but its excitation was that of the mean place. Use "
            "simulate(..., excitation='moving').",
            {"distance": gone},
        )
    if amplitude[5] > YAW:
        yield Finding(
            "warning",
            "linear range",
            f"body '{name}' turned by {np.degrees(amplitude[5]):.3g} degrees, but its data stayed "
            "in fixed axes. Use compile(..., frame='yaw').",
            {"yaw": float(amplitude[5])},
        )
