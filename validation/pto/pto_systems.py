"""Small systems with power take-offs, shared by validation and tests."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from swelltree.describe import (
    WORLD,
    AppliedForce,
    Body,
    ConstantPressurePto,
    CoulombPto,
    DeclutchingPto,
    DirectDrivePto,
    Harmonic,
    Hinge,
    HydraulicPto,
    JointForce,
    LatchingPto,
    LinearPto,
    MechanicalRectifierPto,
    Pto,
    Slider,
    System,
    Water,
)
from swelltree.describe.values import NamedValues

if TYPE_CHECKING:
    import xarray as xr

MASS, STIFFNESS, DAMPING, WAVE = 3.8e5, 8.0e5, 1.0e5, 5.5e5
OMEGA = 2 * math.pi / 8.0  # the natural period is 4.3 s
DRY = Water(g=0.0)
EFFICIENCY = ((0.2, 0.5, 0.6), (0.5, 0.8, 0.85), (0.5, 0.85, 0.9))


def machines() -> dict[str, NamedValues]:
    """One of each kind, as keywords; the class is under "kind"."""
    oil = {"kind": HydraulicPto, "piston_area": 0.02, "precharge": 6e6, "gas_volume": 0.3}
    stops = {"lower": -0.4, "upper": 0.4, "stop_stiffness": 4e6, "stop_damping": 1e6}
    return {
        "stopped": {"kind": LinearPto, "damping": 2e5, "stiffness": 1e4, **stops},
        "limited": {"kind": LinearPto, "damping": 2e5, "force_limit": 8e4, "power_limit": 4e4},
        "coulomb": {"kind": CoulombPto, "friction": 1.5e5, "efficiency": 0.8},
        "constant": {"kind": ConstantPressurePto, "piston_area": 0.02, "pressure": 8e6},
        "hydraulic": oil | {"motor_gain": 1e-9, "low_gas_volume": 1.0, "valve_resistance": 1e7},
        "relieved": oil | {"motor_flow": 6e-3, "force_limit": 1.8e5},
        "generator": {
            "kind": DirectDrivePto,
            "damping": 2e5,
            "map_force": (0.0, 1e5, 3e5),
            "map_speed": (0.0, 0.5, 1.5),
            "map_efficiency": EFFICIENCY,
            "resistance": 0.01,
            "force_constant": 1e3,
        },
        "rectifier": {
            "kind": MechanicalRectifierPto,
            "ratio": 20.0,
            "inertia": 300.0,
            "generator_damping": 60.0,
        },
        "latch": {"kind": LatchingPto, "damping": 2e5, "release_after": 1.8},
        "clutch": {"kind": DeclutchingPto, "damping": 4e5, "off_for": 1.0},
    }


def bank(chosen: dict[str, NamedValues]) -> System:
    """One oscillator in a regular wave for each PTO, all in one system."""
    bodies, rails, forces, ptos = [], [], [], []
    for name, keys in chosen.items():
        body = Body(f"buoy_{name}", mass=MASS, inertia=(1e5,) * 3)
        bodies.append(body)
        rails.append(Slider(f"rail_{name}", WORLD, body, axis="x"))
        water: NamedValues = {"stiffness": STIFFNESS, "damping": DAMPING}
        forces.append(JointForce(f"water_{name}", f"rail_{name}", **water))
        push = Harmonic(WAVE, OMEGA, -math.pi / 2)
        forces.append(AppliedForce(f"wave_{name}", body, force=(push, 0.0, 0.0)))
        rest = {key: value for key, value in keys.items() if key != "kind"}
        ptos.append(keys["kind"](name, joint=f"rail_{name}", **rest))
    return System("bank of buoys", bodies, rails, forces, ptos=ptos, water=DRY)


def budget_residuals(result: xr.Dataset) -> dict[str, float]:
    """Largest energy residual of each buoy of a bank, in parts of the energy it passed on."""
    out = {}
    for name in result["pto"].values:
        terms = [f"water_{name}", f"wave_{name}", name]
        stored = result["potential_energy"].sel(element=terms).sum("element").values
        work = result["work"].sel(element=terms).values
        balance = result["kinetic_energy"].sel(body=f"buoy_{name}").values + stored - work.sum(1)
        out[str(name)] = float(np.abs(balance - balance[0]).max() / np.abs(work).max())
    return out


def mean_power(
    result: xr.Dataset, pto: str, start: float, channel: str = "absorbed_power"
) -> float:
    """Mean of a channel from a time on [W]."""
    late = result[channel].sel(pto=pto, time=slice(start, None))
    time = late["time"].values
    return float(np.trapezoid(late.values, time) / (time[-1] - time[0]))


def oscillator(pto: Pto, **more: Any) -> System:
    """Two kilograms on a spring of 8 N/m, let go at one metre: x = cos(2 t)."""
    body = Body("mass", mass=2.0, inertia=(1.0, 1.0, 1.0))
    rail = Slider("rail", WORLD, body, axis="x", position=1.0)
    spring = JointForce("spring", "rail", stiffness=8.0)
    return System("oscillator", [body], [rail], [spring], ptos=[pto], water=DRY, **more)


def latched_oscillation(time: np.ndarray, hold: float) -> np.ndarray:
    """Closed form of the oscillator that is held at each end of its stroke."""
    half = math.pi / 2
    k = np.floor(time / (half + hold))
    within = time - k * (half + hold)
    return (-1.0) ** k * np.where(within < half, np.cos(2.0 * within), -1.0)


def jackknife(**keys: Any) -> System:
    """A double pendulum with a latch between points across its second hinge."""
    one = Body("one", mass=2.0, inertia=(0.1, 0.3, 0.2), position=(0.0, 0.0, -0.5))
    two = Body("two", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.0, 0.0, -1.5))
    hinges = [
        Hinge("top", WORLD, one.at(0, 0, 0.5), axis="y", position=0.5),
        Hinge("knee", one.at(0, 0, -0.5), two.at(0, 0, 0.5), axis="y", position=0.4),
    ]
    latch = LatchingPto("latch", one.at(0.8, 0, 0.2), two.at(0.8, 0, -0.3), damping=0.5, **keys)
    return System("jackknife", [one, two], hinges, ptos=[latch])
