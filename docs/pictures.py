"""Draws the pictures of the pages again: `.venv/bin/python docs/pictures.py [name ...]`.

Pictures of the replay need Chromium on the machine; the others need nothing but swelltree. All are
part of the repository.
"""

import contextlib
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

import swelltree as sw

HERE = Path(__file__).parent
STATIC = HERE / "_static"
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
sys.path.insert(0, str(HERE.parent / "examples"))


def replay(
    run: Any, at: float, stage: str, page: str = "", select: str = "", view: str = ""
) -> None:
    """Pictures of a report: the replay alone, and the whole page with a body chosen."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        report = Path(folder) / "report.html"
        sw.write_report(run, report)
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        tab = browser.new_page(viewport={"width": 1280, "height": 860}, device_scale_factor=1.25)
        tab.goto(f"file://{report}#paused")
        while not tab.evaluate("!!window.swelltree && swelltree.frames() > 0"):
            time.sleep(0.1)
        tab.evaluate(f"swelltree.set({{ time: {at} }})")
        if view:
            tab.evaluate(view)
        tab.evaluate("swelltree.stage.finest()")
        tab.evaluate("swelltree.draw()")
        tab.locator("#stage").screenshot(path=STATIC / stage)
        small(stage, thin=bool(view))
        if page:
            tab.evaluate(f'swelltree.set({{ selected: {{ kind: "body", name: "{select}" }} }})')
            tab.evaluate("swelltree.draw()")
            tab.evaluate("window.scrollTo({ top: 0, behavior: 'instant' })")
            time.sleep(0.5)
            tab.screenshot(path=STATIC / page)
            small(page)
        browser.close()


def small(name: str, thin: bool = False) -> None:
    """A picture in 256 colours; `thin` keeps those of thin lines, at the cost of the sky."""
    path = STATIC / name
    how = Image.Quantize.FASTOCTREE if thin else Image.Quantize.MEDIANCUT
    picture = Image.open(path).convert("RGB")
    picture.quantize(256, how, dither=Image.Dither.NONE).save(path, optimize=True)


def keep(figure: Any, name: str) -> None:
    figure.savefig(STATIC / name, dpi=110)
    plt.close(figure)


def demo() -> None:
    """The replay of the demo, and its page."""
    run = sw.load_result(HERE.parent / "out" / "demo" / "demo.nc")
    replay(run, 74, "demo.png", "report.png", "barge2")


def devices() -> None:
    """Replay and responses of every device page, by the lines of the page itself."""
    moments = {
        "point_absorber": 120.0,
        "flap": 122.0,
        "hinged_raft": 121.0,
        "spar": 120.0,
        "ship_and_crane": 45.0,
    }
    for name, at in moments.items():
        text = (HERE / "devices" / f"{name}.md").read_text()
        names: dict[str, Any] = {}
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
                exec(compile(block, name, "exec"), names)
            shutil.copy("rao.png", STATIC / f"{name}_rao.png")
            small(f"{name}_rao.png", thin=True)
            replay(names["run"], at, f"{name}.png")


def network() -> None:
    """Two buoys and nine lines, tensions in colour."""
    from mooring_network import run

    nearer = """() => {
        const stage = swelltree.stage;
        stage.controls.target.set(0, 0, -22);
        stage.camera.position.set(-75, -175, 6);
        stage.controls.update();
        stage.touch();
    }"""
    replay(run(30.0), 24.0, "network.png", view=nearer)


def barges() -> Any:
    return sw.gallery.barges().model(fit={"error": 0.06})


def rao() -> None:
    """Responses of the barges."""
    model = barges()
    keep(sw.plot.rao(sw.rao(model, omega=np.linspace(0.25, 1.6, 109))), "rao.png")


def mode() -> None:
    """A mode of the barges."""
    keep(sw.plot.mode(sw.modes(barges()), 7), "mode.png")


def hydro() -> None:
    """Data and fit of the radiation memory."""
    keep(sw.plot.hydro(sw.gallery.barges().hydro, "barge1__Heave"), "hydro.png")


def topology() -> None:
    """The kinematic tree of the demo."""
    keep(sw.plot.topology(sw.gallery.barges().system), "topology.png")


def energy() -> None:
    """The energy budget of the demo."""
    run = sw.load_result(HERE.parent / "out" / "demo" / "demo.nc")
    keep(sw.plot.energy(run), "energy.png")


def cables() -> None:
    """The cable of Wuillaume et al. (2017), Table 1 and section 6.2."""
    from validation.mooring.cables import READINGS, floater_run, table_1

    figure, axes = plt.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
    for ax, (words, damping) in zip(axes, READINGS.items(), strict=False):
        model = sw.compile(table_1("multibody", "block", damping))
        run = sw.simulate(model, duration=10.0, output_step=0.01)
        for k in range(3):
            length = run.line_stretched_length.isel(line=0, line_segment=k)
            ax.plot(run.time, length, label=f"{k + 1}")
        ax.set(xlabel="time [s]", ylabel="length of element [m]", title=words)
    for words, with_cable in (("with cable", True), ("one piece", False)):
        run = floater_run(with_cable)
        axes[2].plot(run.time, run.position.sel(body="float", dof="Surge"), label=words)
    axes[2].set(xlabel="time [s]", ylabel="surge [m]", title="section 6.2")
    for ax in axes:
        ax.legend(frameon=False)
        ax.grid(alpha=0.3)
    keep(figure, "cables.png")


def offset() -> None:
    """The offset curve of the page on moorings."""
    page = (HERE / "how-to" / "moorings.md").read_text()
    names: dict[str, Any] = {}
    exec(page.split("```python\n")[1].split("```")[0], names)
    curve = sw.offset_curve(names["model"], "buoy", "Surge", np.linspace(-6, 6, 49))
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    left.plot(curve.offset, curve.restoring_force / 1e3, "k", label="restoring force")
    for name in curve.line.values[:2]:
        tension = curve.fairlead_tension.sel(line=name) / 1e3
        left.plot(curve.offset, tension, "--", label=f"tension of {name}")
    left.set(xlabel="offset in surge [m]", ylabel="[kN]")
    left.grid(alpha=0.3)
    left.legend(frameon=False)
    for at, style in ((-6, "C1"), (0, "k"), (6, "C0")):
        shape = curve.line_position.sel(offset=at, line="line1")
        right.plot(shape.sel(axis="x"), shape.sel(axis="z"), style, label=f"{at} m")
    right.set(xlabel="x [m]", ylabel="z [m]", title="line1")
    right.legend(frameon=False)
    keep(figure, "offset_curve.png")


def crane() -> None:
    """The load under water, on its rope."""
    import crane_vessel

    model = crane_vessel.compiled(crane_vessel.vessel())
    nearer = """() => {
        const stage = swelltree.stage;
        stage.controls.target.set(0, 14, -4);
        stage.camera.position.set(-58, 112, 16);
        stage.controls.update();
        stage.touch();
    }"""
    replay(crane_vessel.lowered(model, 2.0, 8.0, duration=60.0), 56.0, "crane.png", view=nearer)


def lowering() -> None:
    """The crane vessel: one operation, and where it can be done."""
    import crane_vessel

    model = crane_vessel.compiled(crane_vessel.vessel())
    figure, axes = plt.subplots(3, 1, figsize=(8.5, 5.4), sharex=True, layout="constrained")
    for Hs, color in ((1.5, "C0"), (3.5, "C3")):
        run = crane_vessel.lowered(model, Hs, 8.0)
        t, label = run.time, f"Hs {Hs:g} m"
        load = run.position.sel(body="load", dof="Heave")
        axes[0].plot(t, run.winch_tension[:, 0] / crane_vessel.WEIGHT, color, lw=0.9, label=label)
        axes[1].plot(t, load, color, lw=0.9, label=label)
        axes[2].plot(t, run.winch_speed[:, 0], color, lw=0.9, label=label)
    rows = ("hook load / weight", "height of the load [m]", "speed of the winch [m/s]")
    for ax, text in zip(axes, rows, strict=True):
        ax.set_ylabel(text, fontsize=8)
        ax.grid(alpha=0.3)
    axes[0].legend(frameon=False)
    axes[-1].set_xlabel("time [s]")
    keep(figure, "lowering.png")
    keep(sw.plot.operability(crane_vessel.operable(model)), "operability.png")


PICTURES: dict[str, Callable[[], None]] = {
    built.__name__: built
    for built in (
        demo,
        devices,
        network,
        rao,
        mode,
        hydro,
        topology,
        energy,
        offset,
        cables,
        crane,
        lowering,
    )
}


if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        print(name)
        PICTURES[name]()
