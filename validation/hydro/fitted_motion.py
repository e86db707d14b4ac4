"""Radiation fits judged by motion: fitted memory against the data in the frequency domain."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from swelltree.compiler.compile import compile
from swelltree.describe import Axisymmetric, Body, Slider, System
from swelltree.describe.bodies.body import WORLD
from swelltree.describe.errors import SwelltreeWarning
from swelltree.gallery import oswec, rm3
from swelltree.hydro.bem.run import run_bem
from swelltree.studies.linear.rao import rao
from validation.table import Check, case

if TYPE_CHECKING:
    from swelltree.model.model import Model

ASKED = "the error that compile is asked for"


def _motion_error(model: Model) -> tuple[float, float]:
    """Largest difference of the motions over the largest motion, and of the peaks [%]."""
    assert model.hydro is not None
    assert model.hydro.table is not None
    omega = np.asarray(model.hydro.table.omega)
    fine = np.linspace(omega[0], omega[-1], 3000)
    data, fit = (
        np.asarray(rao(model, omega=fine, radiation=source)["coordinate_rao"].values)
        for source in ("data", "state_space")
    )
    largest = np.abs(data).max(axis=(0, 1))
    moves = largest > 1e-6 * largest.max()
    off = np.abs(fit - data).max(axis=(0, 1)) / np.where(moves, largest, 1.0)
    peaks = np.abs(np.abs(fit).max(axis=(0, 1)) / np.where(moves, largest, 1.0) - 1.0)
    return 100 * float(off[moves].max()), 100 * float(peaks[moves].max())


@case("hydro", "fits_by_motion", source="the data themselves, in the frequency domain")
def devices() -> list[Check]:
    """RM3, the flap with its PTO and without any damping but radiation."""
    checks = []
    for name, device in (
        ("RM3", rm3()),
        ("flap", oswec()),
        ("flap without PTO, lightly damped", oswec(0.0)),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SwelltreeWarning)
            off, peak = _motion_error(device.model())
        checks.append(Check(f"{name}: motions", off, 2.0, "%", ASKED))
        checks.append(Check(f"{name}: peaks", peak, 2.0, "%", ASKED))
    return checks


@case("hydro", "moonpool_by_motion", source="the data themselves, in the frequency domain")
def moonpool() -> list[Check]:
    """A heaving ring whose water column swings at 1.36 rad/s, a narrow peak of its damping."""
    hull = Axisymmetric(profile=((6.0, -3.0), (6.0, 3.0)), bore=3.5, panel_size=1.3)
    ring = Body("ring", mass="displacement", inertia=(4.6e6,) * 3, com=(0, 0, -2.0), hull=hull)
    system = System("moonpool", (ring,), (Slider("heave", WORLD, ring, axis="z"),))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwelltreeWarning)
        data = run_bem(system, np.arange(0.2, 2.201, 0.025), lid=False, progress=False)
        off, peak = _motion_error(compile(system, data))
    why = f"{ASKED}; with the resonance taken for an irregular frequency it was 108 %"
    return [Check("motions", off, 2.0, "%", why), Check("peak of heave", peak, 2.0, "%", why)]
