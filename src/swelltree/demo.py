"""The demo: three hinged barges in a short-crested sea, with a damper on each hinge.

The barges come from the gallery with their hydrodynamic data, so the demo needs no BEM code.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import swelltree.describe as sw

if TYPE_CHECKING:
    import xarray as xr

NOTE = (
    "Linear hydrodynamics of the three barges together: hydrostatics, added mass, radiation memory "
    "and excitation, with the exact motion of the hinged bodies. The surface shown is the sea as "
    "it comes in; what the barges reflect and radiate acts on them but is not drawn."
)


def run_demo(out: str | Path, duration: float = 120.0) -> tuple[xr.Dataset, list[Path]]:
    """Simulate the demo and write case, data, result, plots and report.

    Args:
        out: folder, made if need be.
        duration: of the run [s].

    Returns:
        the result and the files, the report last.
    """
    import numpy as np

    from swelltree.compiler.compile import compile
    from swelltree.describe.files.atomic import write_atomic
    from swelltree.gallery.barges import barges
    from swelltree.hydro.readers.read import read_hydro
    from swelltree.report import plots as plot
    from swelltree.report.plots import write_figure
    from swelltree.report.report import write_report
    from swelltree.results.files import make_folder, save
    from swelltree.studies.linear.modes import modes
    from swelltree.studies.linear.rao import rao
    from swelltree.studies.time.simulate import simulate

    folder = make_folder(out)
    ready = barges()
    system, sea = ready.system, ready.sea
    # the case file and its data lie beside the result: `swelltree run demo.toml` repeats it
    data = write_atomic(folder / "barges.nc", ready.file.read_bytes())
    study = sw.SimulateStudy("demo", duration=duration, output_step=0.2, sea=sea)
    case = sw.Case(system, (study,), hydro=sw.HydroSpec(file=data.name))
    text = case.to_toml(folder / "demo.toml")
    # a looser fit than the default: quick, and its error is reported in the result
    model = compile(system, read_hydro(data), fit={"error": 0.05})
    result = simulate(
        model,
        **study.arguments(),
        provenance={"case": text, "case_file": "demo.toml", "study_name": study.name},
    )
    provenance = {"case": text, "case_file": "demo.toml"}
    linear = rao(model, omega=np.linspace(0.2, 2.0, 181), wave_direction=0.0, provenance=provenance)
    natural = modes(model, provenance=provenance)
    pictures = {
        "sea.png": plot.sea(result),
        "motion.png": plot.motion(result),
        "rao.png": plot.rao(linear),
        "energy.png": plot.energy(result),
    }
    files = [folder / "demo.toml", data, save(result, folder / "demo.nc")]
    files += [save(linear, folder / "rao.nc"), save(natural, folder / "modes.nc")]
    files += [write_figure(fig, folder / name) for name, fig in pictures.items()]
    page = write_report([result, linear, natural], folder / "report.html", note=NOTE)
    return result, [*files, page]
