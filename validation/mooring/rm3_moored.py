"""RM3 on the six chains and three buoys of a MoorDyn file, in a measured sea."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import WORLD, Body, LinearPto, MeasuredWave, Planar, Slider, Water
from swelltree.hydro.readers.read import read_hydro
from swelltree.interop.moordyn.read import read_moordyn
from swelltree.model.model import Model
from swelltree.studies.time.simulate import simulate
from validation.hydro.hydro_devices import FLOAT, PTO, SPAR, TIGHT, heights
from validation.hydro.hydro_sphere import two_columns, water_of
from validation.signals import rms_error
from validation.table import Check, case


def moored_rm3(folder: Path) -> Model:
    """Spar in the vertical plane, float sliding on it, lines from the file."""
    path = folder.parent / "bem_rm3" / "wamit" / "rm3.out"
    data = read_hydro(path, names=["float", "spar"], rho=1000.0, check=False)
    water = water_of(data)
    mass = {
        name: water.rho * float(data["displaced_volume"].sel(body=name))
        for name in data.body.values
    }
    buoy = Body(
        "float",
        mass=mass["float"],
        inertia=(20_907_301.0, 21_306_090.66, 37_085_481.11),
        position=(0.0, 0.0, FLOAT),
    )
    spar = Body(
        "spar",
        mass=mass["spar"],
        inertia=(94_419_614.57, 94_407_091.24, 28_542_224.82),
        position=(0.0, 0.0, SPAR),
    )
    mooring = read_moordyn(folder / "lines_rm3.txt", rho=water.rho, g=water.g)
    system = mooring.system(
        "rm3",
        [buoy, spar],
        [
            Planar("ground", WORLD.at(0, 0, SPAR), spar),
            Slider("guide", spar.at(0, 0, FLOAT - SPAR), buoy, axis="z"),
        ],
        fairleads_on=spar,
        ptos=[LinearPto("pto", joint="guide", damping=PTO)],
        water=Water(water.rho, water.g),  # the data are of deep water, the ground is the file's
    )
    return compile_system(system, hydro=data, coupling=False, fit=TIGHT)


@case("lines", "rm3_moored", source="WEC-Sim with MoorDyn", needs="ts_rm3_moored_input")
def rm3_moored(folder: Path) -> list[Check]:
    """Float heave with dynamic lines; the run begins where everything is at rest."""
    time, eta = two_columns(folder / "wave_elevation.txt.gz")
    at, target = two_columns(folder / "float_heave_0_200s.txt.gz")
    wave = MeasuredWave(time, eta, omega_max=5.0, ramp=40.0)
    result = simulate(
        moored_rm3(folder), wave, duration=200.0, output_step=0.1, step=0.05, progress=False
    )
    times, ours = result.time.values, heights(result)["float"]
    theirs = np.interp(times, at, target) - FLOAT
    late, early = times >= 60.0, (times >= 5.0) & (times <= 40.0)
    surge = result["position"].sel(body="spar", dof="Surge").values
    return [
        Check("float heave, rms over 60-200 s", rms_error(ours[late], theirs[late]), 0.02, ""),
        Check(
            "float heave, rms over 5-40 s",
            float(np.sqrt(np.mean((ours - theirs)[early] ** 2))),
            0.004,
            "m",
            "1.7 mm by an independent model without lines",
        ),
        Check("drift of the spar", float(np.abs(surge).max()), 2.0, "m", "the lines hold it"),
    ]
