"""Runs for validation: quiet, strict, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import System
from swelltree.describe.errors import SwelltreeError
from swelltree.jit import Array
from swelltree.model.model import Model
from swelltree.multibody.formulations import Formulation
from swelltree.studies.time.simulate import simulate

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.waves.sea import AnySea

ALL = ("path_matrix", "partial_velocity", "composite_body", "partition", "lagrange")


def run(
    system: System | Model,
    duration: float = 0.0,
    output_step: float | None = None,
    *,
    sea: AnySea | None = None,
    times: Array | None = None,
    formulation: str | Formulation = "path_matrix",
    solver: str = "tsit5",
    rtol: float = 1e-12,
    atol: float = 1e-13,
    step: float | None = None,
) -> xr.Dataset:
    """Simulate a system or model; a run that stops early is an error."""
    model = compile_system(system) if isinstance(system, System) else system
    result = simulate(
        model,
        sea,
        duration=duration,
        output_step=output_step,
        times=times,
        formulation=formulation,
        solver=solver,
        rtol=rtol,
        atol=atol,
        step=step,
        progress=False,
    )
    if result.attrs["result"] != "success":
        raise SwelltreeError(result.attrs["message"])
    return result


def places(result: xr.Dataset) -> np.ndarray:
    """Positions of the reference points (time, body, 3)."""
    return result["position"].values[:, :, :3]
