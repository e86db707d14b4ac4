"""Derivatives of runs: against closed forms, and against differences of the same steps."""

from __future__ import annotations

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import (
    WORLD,
    AppliedForce,
    Body,
    Harmonic,
    LinearPto,
    Slider,
    System,
)
from swelltree.describe.options import GradientOptions, complete
from swelltree.gallery.rm3 import rm3
from swelltree.studies.design.chain import Design
from swelltree.studies.design.gradient import gradient, value_of
from swelltree.studies.design.objectives import mean_of
from validation.table import Check, case

MASS, STIFFNESS, DAMPING, FORCE, OMEGA = 3.0, 40.0, 3.0, 5.0, 4.0
POWER = mean_of("absorbed_power")


@case("control", "gradient_oscillator", source="power of a driven oscillator in closed form")
def gradient_oscillator() -> list[Check]:
    """Mean power of a damper by its damping, its stiffness and the mass."""
    body = Body("mass", mass=MASS, inertia=(1.0, 1.0, 1.0))
    pto = LinearPto("pto", joint="rail", damping=DAMPING, stiffness=STIFFNESS)
    push = AppliedForce("push", body, force=(Harmonic(FORCE, OMEGA), 0.0, 0.0))
    rail = Slider("rail", WORLD, body, axis="x")
    period = 2.0 * np.pi / OMEGA
    found = gradient(
        compile_system(System("oscillator", [body], [rail], [push], ptos=[pto])),
        None,
        POWER,
        ["ptos.pto.damping", "ptos.pto.stiffness", "bodies.mass.mass"],
        duration=60 * period,
        output_step=period / 40,
        settled=50 * period,
        solver="rk4",
        step=period / 400,
    )
    # P = F^2 w^2 c / (2 (a^2 + b^2)) with a = k - m w^2, b = c w
    a, b = STIFFNESS - MASS * OMEGA**2, DAMPING * OMEGA
    size = FORCE**2 * OMEGA**2 / (2.0 * (a * a + b * b) ** 2)
    exact = size * np.array([a * a - b * b, -2.0 * a * DAMPING, 2.0 * a * DAMPING * OMEGA**2])
    error = np.abs(found.derivative.values / exact - 1.0)
    words = ("dP/dc", "dP/dk", "dP/dm")
    return [
        Check(
            f"{word}, relative error",
            float(e),
            1e-6,
            reason="what is left of the start after fifty periods, and the error of rk4",
        )
        for word, e in zip(words, error, strict=True)
    ]


@case("control", "gradient_rm3", source="central differences of the same steps")
def gradient_rm3() -> list[Check]:
    """Power of the RM3 in an irregular sea along a direction in its parameters."""
    device = rm3()
    design = Design(device.model(), device.sea)
    names = ["ptos.pto.damping", "bodies.float.mass", "sea.spectrum.Hs"]
    options = {"duration": 60.0, "output_step": 0.2, "solver": "rk4", "step": 0.1}
    found = gradient(design.model, design.sea, POWER, names, **options)
    direction = np.array([0.4, -1.1, 0.7]) * found["value"].values

    def value(s: float) -> float:
        numbers = found["value"].values + s * direction
        changed = design.at({n: np.asarray(x) for n, x in zip(names, numbers, strict=True)})
        return value_of(changed, POWER, complete(GradientOptions, **options))

    h = 1e-4
    slope = (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h)
    error = abs(float(found.derivative.values @ direction) / slope - 1.0)
    return [
        Check(
            "derivative along a direction, relative error",
            error,
            1e-7,
            reason="rounding of the differences",
        )
    ]
