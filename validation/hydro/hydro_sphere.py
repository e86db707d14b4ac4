"""A floating sphere in heave against the codes of IEA OES Task 10, HydroChrono and SEA-Stack.

R = 5 m, 261 800 kg, deep water. The displaced mass is 261 724 kg, so the sphere rests 1 mm below
the pose that the data were computed for.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import (
    WORLD,
    Body,
    LinearPto,
    MeasuredWave,
    RegularWave,
    Slider,
    System,
    Water,
)
from swelltree.hydro.readers.read import read_hydro
from swelltree.model.model import Model
from swelltree.studies.linear.rao import rao
from swelltree.studies.statics.equilibrium import equilibrium
from validation.run import run
from validation.signals import harmonic, rms_error
from validation.table import Check, case

if TYPE_CHECKING:
    import xarray as xr


NEEDS = "ts_sphere"
MEAN = -2.0  # m: height of the centre of mass that the data belong to
DAMPING = {1: 398736.034, 3: 90080.857, 5: 322292.419}  # N s/m, by number of the wave
BAND = 8.0  # rad/s: the record holds nothing above


def water_of(data: xr.Dataset) -> Water:
    """The water that hydrodynamic data were computed for."""
    return Water(float(data["rho"]), float(data["g"]), float(data["water_depth"]))


def sphere(folder: Path, *, damping: float = 0.0, start: float = 0.0) -> Model:
    """The sphere on a vertical slider.

    Args:
        folder: of this case; the BEM data lie beside it.
        damping: of the PTO to ground [N s/m].
        start: initial height above the pose of the data [m].
    """
    path = folder.parent / "bem_sphere" / "iea_oes_task10" / "sphere.h5"
    data = read_hydro(path, names=["sphere"], check=False)
    body = Body("sphere", mass=261_800.0, inertia=(1e6, 1e6, 1e6), position=(0.0, 0.0, MEAN))
    slider = Slider("heave", WORLD.at(0.0, 0.0, MEAN), body, axis="z", position=start)
    pto = LinearPto("pto", joint="heave", damping=damping)
    system = System("sphere", [body], [slider], ptos=[pto], water=water_of(data))
    return compile_system(system, hydro=data, fit={"error": 0.01})


def heave(result: xr.Dataset) -> np.ndarray:
    """Height of the sphere's centre of mass [m]."""
    return result["position"].sel(body="sphere", dof="Heave").values


@case("hydro", "sphere_decay", source="IEA OES Task 10: six codes; SEA-Stack", needs=NEEDS)
def sphere_decay(folder: Path) -> list[Check]:
    """Free decay from 1 m above rest."""
    table = np.loadtxt(folder / "decay" / "sphere_decay_ref_data.txt", skiprows=1)
    time, *linear = table[:, [0, 2, 5, 6]].T  # without ProteusDS and the nonlinear codes
    stack = np.loadtxt(folder / "decay" / "ss_ref_sphere_decay.txt", skiprows=1)
    stack = stack[stack[:, 0] <= time[-1]]
    level = float(heave(equilibrium(sphere(folder))))
    result = run(sphere(folder, start=level - MEAN + 1.0), times=time, rtol=1e-8)
    ours = heave(result) - level
    low, high = np.min(linear, axis=0), np.max(linear, axis=0)
    outside = np.maximum(np.maximum(low - ours, ours - high), 0.0)
    apart = np.abs(np.interp(stack[:, 0], time, ours) - (stack[:, 1] - level))
    return [
        Check(
            "heave against InWave+HOTINT",
            float(np.abs(ours - linear[-1]).max()),
            0.015,
            "m",
            "half the spread of the codes, 0.03 m",
        ),
        Check(
            "outside all linear codes",
            float(outside.max()),
            0.03,
            "m",
            "spread of the codes; without ProteusDS, an outlier",
        ),
        Check(
            "heave against SEA-Stack",
            float(apart.max()),
            0.015,
            "m",
            "half the spread of the codes, 0.03 m",
        ),
    ]


@case("hydro", "sphere_rao", source="IEA OES Task 10: InWave-HOTINT", needs=NEEDS)
def sphere_rao(folder: Path) -> list[Check]:
    """Heave per metre of wave amplitude, no PTO."""
    period, target = np.loadtxt(
        folder / "rao" / "rao_noPTO_S_0.01.csv", delimiter=",", skiprows=1, usecols=(0, 1)
    ).T
    order = np.argsort(2 * np.pi / period)
    transfer = rao(sphere(folder), omega=(2 * np.pi / period)[order])["rao"]
    ours = np.abs(transfer.sel(body="sphere", dof="Heave").values[:, 0])
    worst = float(np.abs(ours / target[order] - 1.0).max())
    reason = "an independent model: 0.5 %, 1.0 % at 11 s; codes differ by up to 19 %"
    return [Check("heave RAO, worst period", worst, 0.015, "", reason)]


def regular_checks(folder: Path, number: int) -> list[Check]:
    """Steady heave in one regular wave with a PTO: amplitude and phase after 400 s."""
    path = folder / "regular_waves" / f"ref_sphere_reg_waves_{number}.txt.gz"
    heads = np.loadtxt(path, skiprows=1, max_rows=2, delimiter=":", usecols=1)
    amplitude, omega = (float(x) for x in heads)
    printed = np.loadtxt(path, skiprows=4)
    time = 0.015 * np.arange(1, len(printed) + 1)  # the file rounds it to 0.01 s
    late = time > 400.0
    wave = RegularWave(amplitude=amplitude, omega=omega)
    model = sphere(folder, damping=DAMPING[number])
    result = run(model, sea=wave, times=np.arange(0.0, time[-1], 0.1), rtol=1e-6, atol=1e-9)
    tail = result["time"].values > 400.0
    ours = harmonic(result["time"].values[tail], heave(result)[tail], omega) / amplitude
    target = harmonic(time[late], printed[late, 1], omega) / amplitude
    limit, why = (0.02, "four printed decimals are 0.7 %") if number == 1 else (0.01, "two codes")
    return [
        Check(f"RAO, wave {number}", abs(ours) / abs(target) - 1.0, limit, "", why),
        Check(
            f"phase, wave {number}",
            float(np.degrees(np.angle(ours / target))),
            2.0,
            "deg",
            "four times the difference of an independent model",
        ),
    ]


@case("hydro", "sphere_regular", source="HydroChrono, with PTO", needs=NEEDS)
def sphere_regular(folder: Path) -> list[Check]:
    """Three regular waves."""
    return [check for number in DAMPING for check in regular_checks(folder, number)]


def two_columns(path: Path, skiprows: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Time and value of a text file, also written as "time : value"."""
    import gzip

    with gzip.open(path, "rt") as file:
        lines = [line.replace(":", " ") for line in file if not line.startswith("#")]
    time, value = np.loadtxt(lines[skiprows:]).T
    return time, value


@case("hydro", "sphere_irregular", source="SEA-Stack, 600 s of a given elevation", needs=NEEDS)
def sphere_irregular(folder: Path) -> list[Check]:
    """Heave in a given record of the free surface."""
    time, eta = two_columns(folder / "irregular" / "eta.txt.gz")
    at, target = two_columns(folder / "irregular" / "ss_ref_sphere_irreg_waves_eta.txt.gz", 2)
    wave = MeasuredWave(time, eta, omega_max=BAND)
    result = run(sphere(folder), sea=wave, times=np.arange(0.0, 600.0, 0.1), rtol=1e-6, atol=1e-9)
    window = (result["time"].values >= 50.0) & (result["time"].values <= 590.0)
    ours = heave(result)[window]
    error = rms_error(ours, np.interp(result["time"].values[window], at, target))
    reason = "an independent model: 1.2 %; the ends of the record, with unknown waves, excluded"
    return [Check("heave, rms over 50-590 s", error, 0.03, "", reason)]
