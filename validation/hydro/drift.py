"""Second-order wave loads against the closed forms of a vertical cylinder."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import (
    WORLD,
    Body,
    IrregularSea,
    Jonswap,
    LinearPto,
    RegularWave,
    Slider,
    System,
    Water,
)
from swelltree.describe.values import NamedValues
from swelltree.hydro.drift.loads import drift_loads
from swelltree.hydro.drift.spectrum import slow_force_spectrum
from swelltree.model.model import Model
from swelltree.waves.airy import Components
from swelltree.waves.sea import realise
from validation.hydro.cylinder_drift import force_in_time, transfer_functions
from validation.run import run
from validation.table import Check, case

if TYPE_CHECKING:
    import xarray as xr

RADIUS, DRAFT, RHO, G = 6.0, 60.0, 1025.0, 9.81
OMEGA = np.linspace(0.3, 2.4, 43)
WATER = Water(rho=RHO, g=G)
SPRING, SHARE = 2.0e5, 0.3  # mooring, and damping as a part of the critical one


def cylinder_data() -> xr.Dataset:
    """Hydrodynamic data that hold nothing but second-order loads and a strip's added mass."""
    import xarray as xr

    radiation = ("omega", "influenced_dof", "radiating_dof")
    Q, P = transfer_functions(OMEGA, RADIUS, RHO, G)
    A = np.full((len(OMEGA) + 1, 1, 1), RHO * np.pi * RADIUS**2 * DRAFT)
    variables: NamedValues = {
        "added_mass": (radiation, A),
        "radiation_damping": (radiation, 0.0 * A),
        "mean_drift": (
            ("omega", "wave_direction", "influenced_dof"),
            np.append(np.real(np.diagonal(Q)), 0.0)[:, None, None],
        ),
        "hydrostatic_stiffness": (("influenced_dof", "radiating_dof"), np.zeros((1, 1))),
        "displaced_volume": ("body", [np.pi * RADIUS**2 * DRAFT]),
        "center_of_buoyancy": (("body", "xyz"), np.zeros((1, 3))),
        "center_of_mass": (("body", "xyz"), np.zeros((1, 3))),
        "rotation_center": (("body", "xyz"), np.zeros((1, 3))),
        "rho": RHO,
        "g": G,
        "water_depth": np.inf,
    }
    dof = ["cylinder__Surge"]
    coords: NamedValues = {
        "omega": np.append(OMEGA, np.inf),
        "wave_direction": [0.0],
        "influenced_dof": dof,
        "radiating_dof": dof,
        "body": ["cylinder"],
        "xyz": ["x", "y", "z"],
    }
    for short, values in (("difference", Q), ("sum", P)):
        axes = (f"{short}_omega_1", f"{short}_omega_2")
        dims = (*axes, f"{short}_headings", "influenced_dof")
        variables[f"qtf_{short}"] = (dims, values[:, :, None, None])
        coords |= dict.fromkeys(axes, OMEGA)
        coords |= {f"{short}_heading_{n}": (f"{short}_headings", [0.0]) for n in (1, 2)}
    return xr.Dataset(variables, coords, {"time_convention": "exp(-iwt)"})


def moored(drift: str) -> Model:
    """The cylinder on a rail with a soft spring and a strong damper."""
    mass = RHO * np.pi * RADIUS**2 * DRAFT
    body = Body("cylinder", mass, (1e9, 1e9, 1e8))
    damping = 2.0 * SHARE * np.sqrt(2.0 * mass * SPRING)
    mooring = LinearPto("mooring", joint="rail", stiffness=SPRING, damping=damping)
    rail = Slider("rail", WORLD, body, axis="x")
    system = System("moored", [body], [rail], water=WATER, ptos=[mooring])
    return compile_system(system, cylinder_data(), radiation="none", drift=drift)


def surge(result: xr.Dataset, name: str) -> np.ndarray:
    """A row of the result."""
    return result[name].sel(body="cylinder", dof="Surge").values


@case("hydro", "drift_cylinder", source="fixed vertical cylinder, Havelock 1940")
def drift_cylinder() -> list[Check]:
    """Mean and slow drift from the time domain, and the force of every pair of waves."""
    unit = RHO * G * RADIUS
    long, short = (
        float(np.real(transfer_functions(np.sqrt([G * x / RADIUS]), RADIUS, RHO, G)[0][0, 0]))
        for x in (0.02, 40.0)
    )
    checks = [
        Check(
            "long waves, 5 pi^2/16 (kR)^3",
            long / unit / (5.0 * np.pi**2 / 16.0 * 0.02**3),
            0.01,
            "",
            "next term of the series",
            reference=1.0,
        ),
        Check("short waves", short / unit, 0.02, "", "kR = 40", reference=2.0 / 3.0),
    ]
    checks += _regular()
    checks += _irregular()
    return checks


def _regular() -> list[Check]:
    """Mean force and offset in a regular wave between two frequencies of the data."""
    omega, amplitude = 1.137, 0.8
    wave = RegularWave(amplitude=amplitude, omega=omega, ramp=30.0)
    result = run(moored("newman"), 900.0, 0.5, sea=wave, rtol=1e-8, atol=1e-9)
    exact = amplitude**2 * float(
        np.real(transfer_functions(np.array([omega]), RADIUS, RHO, G)[0][0, 0])
    )
    late = result["time"].values > 600.0
    force = surge(result, "drift_force")[late].mean() / exact
    offset = surge(result, "position")[late].mean() * SPRING / exact
    limit = "the requirement; data every 0.05 rad/s"
    return [
        Check("mean surge force, regular", float(force), 0.02, "", limit, reference=1.0),
        Check("mean offset, regular", float(offset), 0.02, "", limit, reference=1.0),
    ]


def _irregular() -> list[Check]:
    """Full transfer functions against the squares of the waves in time; slow force spectrum."""
    model = moored("qtf")
    rows = np.arange(3, 40, 4)
    rng = np.random.default_rng(7)
    phase = rng.uniform(0.0, 2.0 * np.pi, rows.size)
    omega = OMEGA[rows]
    waves = Components(np.full(rows.size, 0.3), omega, omega**2 / G, 0.0 * omega, phase)
    result = run(model, 60.0, 0.5, sea=waves, rtol=1e-6, atol=1e-7)
    exact = force_in_time(waves, result["time"].values, RADIUS, RHO, G)
    away = np.abs(surge(result, "drift_force") - exact).max() / np.abs(exact).max()
    return [
        Check("all pairs in time", float(away), 1e-4, "", "of the largest; grid of 24 points"),
        *_spectrum(model),
    ]


def _spectrum(model: Model) -> list[Check]:
    """Mean and variance of the slow force over many seas against the spectral formulas."""
    assert model.hydro is not None
    assert model.hydro.table is not None
    table = model.hydro.table
    assert table.drift is not None
    table = replace(table, drift=replace(table.drift, sum=None))  # slow forces only
    spectrum = Jonswap(Hs=3.0, Tp=7.0)
    means, squares, period = [], [], 0.0
    for seed in range(60):
        sea = IrregularSea(
            spectrum,
            seed=seed,
            components=80,
            spacing="equal",
            jitter=False,
            omega_min=0.4,
            omega_max=2.37,
        )
        waves: Any = realise(sea, WATER)
        period = float(waves.repeat_period)
        loads = drift_loads(table, waves, period)
        assert loads is not None
        force = loads.force[loads.step * np.arange(len(loads.force)) < period, 0]
        means.append(force.mean())
        squares.append(force.var())
    # the slow lines of these seas lie at multiples of their spacing
    mu = 2.0 * np.pi / period * np.arange(1, 80)
    slow = slow_force_spectrum(model, spectrum, mu, count=300)
    return [
        Check(
            "mean, irregular", float(np.mean(means) / slow.mean[0, 0]), 0.02, "", "", reference=1.0
        ),
        Check(
            "variance of the slow force, 60 seas",
            float(np.mean(squares) / (mu[0] * slow.spectrum[:, 0, 0].sum())),
            0.1,
            "",
            "three times the scatter of the mean of 60 seas",
            reference=1.0,
        ),
    ]
