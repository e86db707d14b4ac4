"""Cases of WEC-Sim, imported from their own files, beside the series that WEC-Sim computed.

Nothing of these devices is described here: script and Simulink model say everything but the
hydrodynamic data, which are written as h5 from the files of WAMIT and Capytaine.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.compiler.compile import compile_case
from swelltree.describe import load
from swelltree.hydro.data.write import write_hydro
from swelltree.hydro.readers.read import read_hydro
from swelltree.interop.wecsim.reader import read_wecsim
from swelltree.studies.time.simulate import simulate
from validation.hydro.hydro_devices import FLOAT, OMEGA, SPAR
from validation.signals import harmonic, peaks, rms_error
from validation.table import Check, case

if TYPE_CHECKING:
    import xarray as xr


DECAY = """
simu.endTime = 120;
waves = waveClass('noWaveCIC');
body(1).setInitDisp([0 0 5], [0 1 0 10*pi/180], [0 0 0]); % about the hinge
pto(1).damping = 0;
"""


def imported(source: Path, hydro: xr.Dataset, more: str = "") -> xr.Dataset:
    """The run of a case that is imported, written, read again and simulated.

    Args:
        source: folder of the case.
        hydro: its data.
        more: lines that are added to the script.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = (source / "wecSimInputFile.m").read_text()
        (folder / "wecSimInputFile.m").write_text(script + more)
        for model in source.glob("*.slx"):
            shutil.copyfile(model, folder / model.name)
        data = write_hydro(hydro, folder / "data.h5")
        (path,) = read_wecsim(folder, hydro=data).write()
        result = load(path)
        (study,) = result.studies
        return simulate(compile_case(result), **study.arguments(), progress=False)


@case("hydro", "rm3_imported", source="WEC-Sim, its own input files", needs="ts_rm3_heave")
def rm3_imported(folder: Path) -> list[Check]:
    """Constant coefficients and memory: two cases of WEC-Sim's regression tests."""
    cases = folder.parent / "wecsim_inputs" / "wecsim" / "tests" / "RegressionTests"
    path = folder.parent / "bem_rm3" / "wamit" / "rm3.out"
    data = read_hydro(path, names=["float", "spar"], rho=1000.0, check=False)
    reason = "twice the difference of an independent model; their step is 0.1 s"
    checks = []
    for name in ("regular", "regularCIC"):
        run = imported(cases / "RegularWaves" / name, data)
        table = np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1)
        time = table[:, 0]
        late = (time >= 104.0) & (time < 104.0 + 12 * 8.0)
        rows = (("float", 1, FLOAT, 0.01), ("spar", 2, SPAR, 0.02))
        for body, column, level, limit in rows:
            ours = run["position"].sel(body=body, dof="Heave").values - level
            theirs = table[:, column] - level
            sizes = [abs(harmonic(time[late], x[late], OMEGA)) for x in (ours, theirs)]
            ratio = sizes[0] / sizes[1] - 1.0
            checks.append(Check(f"{name}: {body} amplitude", ratio, limit, "", reason))
            error = rms_error(ours, theirs)
            checks.append(Check(f"{name}: {body} heave, rms", error, 0.02, "", reason))
    return checks


@case("hydro", "oswec_imported", source="WEC-Sim, its own input files", needs="ts_oswec_decay")
def oswec_imported(folder: Path) -> list[Check]:
    """The flap of WEC-Sim's example, released at 10 degrees as in the decay that was published."""
    path = folder.parent / "bem_oswec" / "capytaine" / "oswec_hydrodynamics.nc"
    names = {"oswec_flap": "flap", "oswec_base_shift": "base"}
    data = read_hydro(path, names=names, check=False, gaps="drop")  # NaN at the lowest three
    data = data.sel(omega=data["omega"] <= 8.0)  # irregular frequencies above
    source = folder.parent / "wecsim_inputs" / "wecsim" / "examples" / "OSWEC"
    run = imported(source, data, DECAY)
    table = np.loadtxt(folder / "wecsim_oswec_decay.txt", skiprows=1)
    table = table[table[:, 0] <= 120.0]
    pitch = run["joint_coordinate"].sel(coordinate="PTO1_hinge__Pitch").values
    when, high = peaks(run["time"].values, pitch)
    their_when, their_high = peaks(table[:, 0], table[:, 1])
    another = "the reference used another BEM code"
    period, theirs = (np.diff(t[:6]).mean() for t in (when, their_when))
    checks = [Check("mean period", period / theirs - 1.0, 0.01, "", another)]
    for k in range(6):
        limit = 0.03 if k < 3 else 0.05
        checks.append(Check(f"peak {k + 1}", high[k] / their_high[k] - 1.0, limit, "", another))
    return checks
