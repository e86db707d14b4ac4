"""After a run: did the motion stay where linear hydrodynamics hold?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from swelltree.model.hydrodynamics import WaveLoads
from swelltree.model.model import Model
from swelltree.studies.doctor_sea import YAW, beyond_linear
from swelltree.system.findings import Finding
from swelltree.waves.airy import Components

FAR = 0.125  # wave lengths: farther away, the excitation has another phase


def left_linear_range(model: Model, result: Any, waves: Any) -> list[Finding]:
    """Findings about a run that went beyond what its linear data can say.

    Args:
        model: that was run.
        result: its dataset.
        waves: realised sea, or None.
    """
    if model.hydro is None:
        return []
    found: list[Finding] = []
    stiffness = np.asarray(model.hydro.stiffness)
    for i, name in enumerate(result.body.values):
        k = model.layout.bodies.index(str(name))
        if not np.any(stiffness[6 * k : 6 * k + 6]):
            continue  # dry
        away = result.position.values[:, i] - result.position.values[0, i]
        amplitude = np.nanmax(np.abs(away), axis=0)
        reach = float(np.broadcast_to(np.asarray(model.hydro.reach), model.layout.n_bodies)[k])
        found += beyond_linear(model, str(name), amplitude, reach, "did")
        found += _wandered(model, str(name), amplitude, waves)
    return found


def _wandered(model: Model, name: str, amplitude: np.ndarray, waves: Any) -> Iterator[Finding]:
    """Has the body gone to another phase of the waves, or turned to another heading?"""
    if not isinstance(model.hydro.waves, WaveLoads) or not isinstance(waves, Components):
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
