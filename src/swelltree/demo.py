"""The demo: three hinged barges in a short-crested sea, with a damper on each hinge.

The barges are those of MBS4WEC (large size). Their hydrodynamic data come with the package
(`swelltree.data.make_barges` computes them again), so the demo needs no BEM code.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import swelltree.system as sw

LENGTH, WIDTH, HEIGHT, DRAFT = 75.0, 25.0, 12.5, 7.5  # of a barge [m]
SPACING = 80.0  # between the middles [m]
DAMPING = 1.0e9  # of the power take-off on each hinge [N m s/rad]
NOTE = (
    "Linear hydrodynamics of the three barges together: hydrostatics, added mass, radiation memory "
    "and excitation, with the exact motion of the hinged bodies. The surface shown is the sea as "
    "it comes in; what the barges reflect and radiate acts on them but is not drawn."
)


def demo_system(damping: float = DAMPING) -> sw.System:
    """Three barges, two hinges with power take-offs, a mooring on the first barge.

    Args:
        damping: of each power take-off [N m s/rad].
    """
    hull = sw.Box(LENGTH, WIDTH, HEIGHT, DRAFT, panel_size=2.0)
    above = 0.5 * HEIGHT - DRAFT  # height of the middle of a barge
    a, b, c = (
        sw.Body(f"barge{i + 1}", position=(SPACING * i, 0.0, above), hull=hull) for i in range(3)
    )
    front, back = (0.5 * SPACING, 0.0, -above), (-0.5 * SPACING, 0.0, -above)
    return sw.System(
        "three hinged barges",
        bodies=(a, b, c),
        joints=(
            sw.Free("float", sw.WORLD.at(*a.position), a),
            sw.Hinge("hinge1", a.at(*front), b.at(*back)),
            sw.Hinge("hinge2", b.at(*front), c.at(*back)),
        ),
        ptos=(
            sw.LinearPto("pto1", joint="hinge1", damping=damping),
            sw.LinearPto("pto2", joint="hinge2", damping=damping),
        ),
        moorings=(
            sw.LinearMooring(
                "mooring",
                a,
                stiffness={"Surge": 6.25e5, "Sway": 6.25e5, "Yaw": 3.906e8},
                damping={"Surge": 9.88e5, "Sway": 9.88e5, "Yaw": 6.176e8},
            ),
        ),
    )


def demo_sea() -> sw.IrregularSea:
    """A short-crested wind sea of 4 m that meets the first barge a little off its bow."""
    return sw.IrregularSea(
        sw.Jonswap(Hs=4.0, Tp=9.5),
        seed=7,
        components=144,
        omega_max=2.2,
        beta=0.1,
        spreading=sw.Cos2s(s=25, directions=9),
        ramp=15.0,
    )


def run_demo(out: str | Path, duration: float = 120.0) -> tuple[Any, list[Path]]:
    """Simulate the demo and write case, data, result, plots and report.

    Args:
        out: folder, made if need be.
        duration: of the run [s].

    Returns:
        the result and the files, the report last.
    """
    import numpy as np

    from swelltree.compiler.compile import compile
    from swelltree.data.make_barges import barges_file
    from swelltree.hydro.readers.read import read_hydro
    from swelltree.results.files import make_folder, save
    from swelltree.studies.linear.modes import modes
    from swelltree.studies.linear.rao import rao
    from swelltree.studies.time.simulate import simulate
    from swelltree.system.files.whole_files import write_whole
    from swelltree.views import plot
    from swelltree.views.plot import write_figure
    from swelltree.views.report import write_report

    folder = make_folder(out)
    system, sea = demo_system(), demo_sea()
    # the case file and its data lie beside the result: `swelltree run demo.toml` repeats it
    data = write_whole(folder / "barges.nc", barges_file().read_bytes())
    study = sw.SimulateStudy("demo", duration=duration, output_step=0.2, wave=sea)
    case = sw.Case(system, (study,), hydro=sw.HydroSpec(file=data.name))
    text = case.to_toml(folder / "demo.toml")
    # a looser fit than the default: quick, and its error is told in the result
    model = compile(system, read_hydro(data), fit={"error": 0.05})
    result = simulate(
        model,
        sea,
        duration=study.duration,
        output_step=study.output_step,
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
