"""Motions of yawed and heeled bodies: response against runs, and displacements in closed form."""

from __future__ import annotations

import functools
import warnings

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import (
    WORLD,
    Body,
    Box,
    Free,
    LinearDamping,
    LinearMooring,
    RegularWave,
    System,
    Water,
)
from swelltree.describe.errors import SwelltreeWarning
from swelltree.hydro.bem.run import run_bem
from swelltree.model.model import Model
from swelltree.studies.linear.response import response
from swelltree.studies.time.simulate import simulate
from validation.table import Check, case

DOFS = ("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw")
OMEGA, AMPLITUDE = 1.1, 0.05  # rad/s, m
PER_PERIOD, PERIODS, LATE = 32, 45, 10


def barge(yaw_deg: float) -> Model:
    """A barge of 20 m whose ballast heels it, moored softly, with data of its own panels."""
    hull = Box(20.0, 8.0, 3.0, draft=1.5, panel_size=2.0)
    attitude = (0.0, 0.0, yaw_deg)
    body = Body("barge", com=(0.0, 0.15, 0.2), hull=hull, rotation_deg=attitude)
    mooring = LinearMooring("mooring", body, {"Surge": 4e4, "Sway": 4e4, "Yaw": 4e6})
    # what radiation takes little of; in world axes, so alike in both of them
    eased = {"Surge": 6e4, "Sway": 6e4, "Roll": 3e6, "Pitch": 3e6, "Yaw": 3e6}
    system = System(
        "barge",
        [body],
        [Free("free", WORLD, body)],
        moorings=[mooring, LinearDamping("eased", body, eased)],
        water=Water(1000.0),
    )
    heading = np.radians(yaw_deg + 15.0)
    omega = np.arange(0.2, 3.01, 0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwelltreeWarning)  # few frequencies, coarse panels
        data = run_bem(system, omega, wave_direction=[heading], progress=False)
        return compile_system(system, data, fit={"error": 0.03})


@functools.cache
def _model(yaw_deg: float) -> Model:
    return barge(yaw_deg)


def _wave(yaw_deg: float) -> RegularWave:
    return RegularWave(AMPLITUDE, OMEGA, beta_deg=yaw_deg + 15.0, ramp=20.0)


def _deviations(yaw_deg: float, radiation: str) -> np.ndarray:
    """Standard deviations (6,) of `response`."""
    found = response(_model(yaw_deg), _wave(yaw_deg), radiation=radiation)
    return found["standard_deviation"].values[0]


def _of_run(yaw_deg: float) -> np.ndarray:
    """The same of the displacement of a run, late."""
    times = np.arange(PERIODS * PER_PERIOD + 1) * 2.0 * np.pi / OMEGA / PER_PERIOD
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwelltreeWarning)
        run = simulate(
            _model(yaw_deg),
            _wave(yaw_deg),
            times=times,
            start="equilibrium",
            progress=False,
            rtol=1e-8,
        )
    return run["displacement"].values[-LATE * PER_PERIOD :, 0].std(axis=0)


@case("hydro", "yawed_response", source="two of our studies; the same barge not turned")
def yawed_response() -> list[Check]:
    """A barge heeled by 3 degrees at a yaw of 50, waves 15 degrees off the bow: all six motions."""
    runs, fitted = _of_run(50.0), _deviations(50.0, "state_space")
    turned, straight = (_deviations(yaw, "data") for yaw in (50.0, 0.0))
    small = "motions of some centimetres; what is not linear is of second order"
    panels = "panels and waves turn with the barge"
    scale = np.repeat([np.abs(straight[:3]).max(), np.abs(straight[3:]).max()], 3)
    rows = [
        Check(f"{dof}, response to run", (a - b) / size, 1e-3, "", small)
        for dof, a, b, size in zip(DOFS, fitted, runs, scale, strict=True)
    ]
    rows += [
        Check(f"{dof}, yawed to straight", (a - b) / size, 1e-3, "", panels)
        for dof, a, b, size in zip(DOFS, turned, straight, scale, strict=True)
    ]
    return rows


@case("hydro", "displacement", source="closed form of a thrown body")
def displacement() -> list[Check]:
    """A body described at a yaw of 50 and a heel of 20 degrees, thrown ahead and rolling."""
    yaw, speed, rate = np.radians(50.0), 1.7, 0.8
    c, s = np.cos(yaw), np.sin(yaw)
    ball = Body("ball", 3.0, (2.0, 2.0, 2.0), position=(4.0, -3.0, 9.0), rotation_deg=(20, 0, 50))
    thrown = {"Surge": speed * c, "Sway": speed * s, "Roll": rate * c, "Pitch": rate * s}
    free = Free("free", WORLD.at(*ball.position), ball, velocity=thrown)
    model = compile_system(System("thrown", [ball], [free]))
    run = simulate(model, duration=2.0, output_step=0.1, rtol=1e-10, atol=1e-12, progress=False)
    t, zero = run["time"].values, 0.0 * run["time"].values
    g = float(model.water.g)
    exact = np.stack([speed * t, zero, -0.5 * g * t**2, rate * t, zero, zero], axis=1)
    away = np.abs(run["displacement"].values[:, 0] - exact).max(axis=0)
    solver = "tolerance of the time stepping"
    return [
        Check("surge, sway and heave", float(away[:3].max()), 1e-7, "m", solver),
        Check("roll, pitch and yaw", float(away[3:].max()), 1e-7, "rad", solver),
    ]
