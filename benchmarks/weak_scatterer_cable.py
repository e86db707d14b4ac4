"""Cylinder with a load on a cable (Wuillaume et al. 2017, section 6.2) as printed: 30 s, figures.

    python benchmarks/weak_scatterer_cable.py OUT [seconds]

Two runs in the wave of 0.05 m: with the cable of three elements, and with the same mass in one
piece. Drawn are
surge of the floater (figure 10), swing of the first element and length of the third (figure 11),
and surge with the cable and in one piece (figure 13); a line of JSON has the amplitudes over the
last five periods.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import swelltree as sw
from validation.mooring.cables import AMPLITUDE, OMEGA, floater

TANK = {"radius": 9.5, "spacing": 0.2, "fine": 0.3, "far_spacing": 1.0, "panel_size": 0.1}
STEP = 0.005  # of the cable [s]


def run(with_cable: bool, duration: float, amplitude: float = AMPLITUDE) -> Any:
    """The case as printed."""
    system = floater(with_cable)
    tank = sw.WeakScatterer("tank", bodies=["float"], levels=3, symmetric=True, **TANK)
    model = sw.compile(system.replace(forces=(*system.forces, tank)))
    wave = sw.RegularWave(amplitude=amplitude, omega=OMEGA, ramp=5.0)
    how = {"step": STEP} if with_cable else {}
    start = {"start": "equilibrium"} if with_cable else {}
    return sw.simulate(model, wave, duration=duration, output_step=0.1, **how, **start)


def amplitude(times: np.ndarray, values: np.ndarray, periods: int = 5) -> float:
    """At the frequency of the wave over the last periods."""
    last = times > times[-1] - periods * 2.0 * np.pi / OMEGA
    t = times[last]
    basis = np.stack([np.ones_like(t), np.cos(OMEGA * t), np.sin(OMEGA * t)], -1)
    return float(np.hypot(*np.linalg.lstsq(basis, values[last], rcond=None)[0][1:]))


def draw(runs: dict[str, Any], out: Path) -> None:
    """Figures 10, 11 and 13."""
    import matplotlib.pyplot as plt

    tied, full = runs["cable"], runs["one piece"]
    _, axes = plt.subplots(4, 1, figsize=(7, 10), sharex=True)
    surge = {name: r.position.sel(body="float", dof="Surge") for name, r in runs.items()}
    axes[0].plot(tied.time, surge["cable"])
    axes[0].set_ylabel("surge [m] (fig. 10)")
    axes[1].plot(tied.time, np.degrees(swing(tied)))
    axes[1].set_ylabel("first element [deg] (fig. 11)")
    axes[2].plot(tied.time, tied.line_stretched_length.values[:, 0, 2])
    axes[2].set_ylabel("third element [m] (fig. 11)")
    axes[3].plot(full.time, surge["one piece"], "r", label="one piece of the same mass")
    axes[3].plot(tied.time, surge["cable"], "b", label="with cable and load")
    axes[3].set_ylabel("surge [m] (fig. 13)")
    axes[3].set_xlabel("time [s]")
    axes[3].margins(y=0.25)  # room below the curves
    axes[3].legend(loc="lower right", ncol=2)
    plt.tight_layout()
    plt.savefig(out / "section_6_2.png")


def swing(tied: Any) -> np.ndarray:
    """Angle of the first element from the vertical; the crane does not turn [rad]."""
    first, second = (tied.line_position.values[:, 0, k] for k in (0, 1))
    down = second - first
    return np.arctan2(down[:, 0], -down[:, 2])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 30.0
    built = {}
    for name, cable in (("one piece", False), ("cable", True)):
        before = time.perf_counter()
        built[name] = run(cable, seconds)
        surge = built[name].position.sel(body="float", dof="Surge").values
        line = {
            "what": name,
            "result": built[name].attrs["result"],
            "surge": round(amplitude(built[name].time.values, surge), 5),
            "largest_surge": round(float(np.abs(surge).max()), 5),
            "seconds": round(time.perf_counter() - before, 1),
        }
        if cable:
            tension = built[name].fairlead_tension.values
            line["tension"] = [round(float(x), 3) for x in (tension.min(), tension.max())]
            line["swing"] = round(amplitude(built[name].time.values, swing(built[name])), 5)
            third = built[name].line_stretched_length.values[:, 0, 2]
            line["third"] = [round(float(x), 6) for x in (third.min(), third.max())]
        print(json.dumps(line), flush=True)
        stored = [k for k in built[name].data_vars if not str(k).startswith("weak_scatterer")]
        built[name][stored].to_netcdf(folder / f"{name.replace(' ', '_')}.nc", engine="h5netcdf")
    draw(built, folder)
