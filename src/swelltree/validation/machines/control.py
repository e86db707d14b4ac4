"""Optimal control: the limits of absorbed power of the WaveBot buoy in heave."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.hydro.readers.read import read_hydro
from swelltree.model.model import Model
from swelltree.studies.control.optimal_control import optimal_control
from swelltree.system import WORLD, Body, LinearPto, RegularWave, Slider, System
from swelltree.validation.table import Check, case
from swelltree.validation.waters.hydro_sphere import water_of

MASS = 858.414  # kg, the displaced one
AMPLITUDE = 0.1  # m
FREQUENCIES = (1.5, 2.1, 3.3, 4.5, 6.0)  # rad/s


def wavebot(folder: Path) -> Model:
    """The buoy on a vertical slider with a PTO to ground."""
    data = read_hydro(folder / "waveBotBuoy.out", names=["buoy"], rho=1000.0, check=False)
    x, y, z = (float(x) for x in np.ravel(data["rotation_center"])[:3])
    place = (x, y, z)
    body = Body("buoy", mass=MASS, inertia=(80.0,) * 3, position=place)
    slider = Slider("heave", WORLD.at(*place), body, axis="z")
    pto = LinearPto("pto", joint="heave")
    system = System("wavebot", [body], [slider], ptos=[pto], water=water_of(data))
    return compile_system(system, hydro=data, radiation="none")


@case("control", "conjugate_limit", source="WAMIT and closed forms", needs="opt_conjugate_limit")
def conjugate_limit(folder: Path) -> list[Check]:
    """Unconstrained optimum and best damper in regular waves."""
    table = np.genfromtxt(folder / "conjugate_limit.csv", delimiter=",", names=True)
    model = wavebot(folder)
    best, passive, damper, bound = [], [], [], []
    for w in FREQUENCIES:
        ours = optimal_control(
            model, RegularWave(amplitude=AMPLITUDE, omega=w), harmonics=1, replay=False
        )
        numbers = ours.attrs

        def listed(name: str, w: float = w) -> float:
            return float(np.interp(w, table["omega_rad_s"], table[name]))

        best.append(numbers["mean_power"] / AMPLITUDE**2 / listed("P_conj_W_per_m2") - 1.0)
        passive.append(numbers["passive_power"] / AMPLITUDE**2 / listed("P_passive_W_per_m2") - 1.0)
        damper.append(float(ours.passive_damping[0]) / listed("c_passive_Ns_m") - 1.0)
        bound.append(numbers["mean_power"] / numbers["bound"] - 1.0)

    def worst(errors: list[float]) -> float:
        return float(np.abs(errors).max())

    why = "interpolation between frequencies and printed digits"
    return [
        Check("power of the optimum, 1.5 to 6 rad/s", worst(best), 0.01, "", why),
        Check("power of the best damper", worst(passive), 0.01, "", why),
        Check("damping of the best damper", worst(damper), 0.05, "", "flat optimum, coarse search"),
        Check("optimum beside |F|^2 / (8 Re Z)", worst(bound), 1e-8, "", "the same closed form"),
    ]
