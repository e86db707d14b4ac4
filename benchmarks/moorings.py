"""Mooring lines with moved fairleads, compared with MoorDyn.

    python benchmarks/moorings.py [--peer PYTHON_WITH_MOORDYN] [--segments 20 50] [--EA 1e9 1e10]
                                  [--cases led coupled] [--files MOORDYN_FILE ...]

`--files` takes the lines of MoorDyn inputs instead, divided into `--segments`.

Three chains of 430 m in 100 m of water hang on a body that surges 3 m and heaves 1.5 m with a
period of 10 s, after a ramp of 20 s. Both codes have the same number of segments; what is compared
is the tension in the uppermost segments between 40 and 60 s with MoorDyn's own, run with
millisecond coupling, because MoorDyn holds the velocity of the fairlead over a coupling step and
long ones send shocks into the line. It is given the velocity that leads to the next place, which
halves these. "Own error" is against our own run with a fine step: the two codes lump drag, bed and
directions at nodes differently and do not meet at a finite number of segments. CPU seconds per
simulated second, one thread, without what comes before the steps. Without MoorDyn only our side
runs, against its own fine step.

"Coupled" has the same chains on a float that is free in surge and heave, with a spring in heave,
linear damping and forces of the same period. It starts where it is described, with the lines at
rest. On MoorDyn's side the float is stepped by leapfrog with the coupling step, which is not
counted. Ours is `simulate`, all of whose steps and results are. Compilation
is not counted.

With `--files` the lines of other people's MoorDyn inputs hang on the same float, led and coupled
alike. Both sides are timed three times, and the minimum counts: a machine that others
use too adds to CPU seconds and takes nothing off. The last column shows how many times less ours
costs than MoorDyn at the same error: in logarithms on the straight line between its nearest runs,
and that of its nearest run where our error lies outside of them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import swelltree as sw
from swelltree.jit import namespace

PERIOD, RAMP, SURGE, HEAVE = 10.0, 20.0, 3.0, 1.5
DURATION, WINDOW, EVERY = 60.0, 40.0, 0.1
DEPTH, REACH, LENGTH, RADIUS, FAIRLEAD = 100.0, 400.0, 430.0, 5.0, -2.0
FLOAT = sw.Body("float", mass=1e6, inertia=(1e8, 1e8, 1e8))
# coupling steps of MoorDyn worth a row; its inner step is the largest that stays stable
COUPLING = (0.01, 0.02, 0.05)
STEPS = (0.1, 0.05, 0.02)
FINE = 0.005  # s, of our own reference
MORE = 10_000  # steps that the run for timing is longer
REPEATS = 3  # of each timing, the minimum of which counts
G = 9.81
# the coupled float: N/m in heave, N s/m in surge and heave, and the forces on it in N
STIFFNESS, DAMPING, PUSH, LIFT = 8e5, 2e5, 3e5, 1.2e6


@dataclass(frozen=True)
class Mooring:
    """Lines on a free float, with a name and the inner step of MoorDyn."""

    key: str
    system: sw.System
    dt: float


def from_file(path: Path, segments: int | None = None) -> Mooring:
    """The lines of a MoorDyn input on the float; its depth is that of its anchors.

    Args:
        path: of the input.
        segments: of every line; None: those of the file.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.SwelltreeWarning)
        file = sw.read_moordyn(path)
    free = sw.Free("free", sw.WORLD, FLOAT)
    system = file.system("moored", [FLOAT], [free], fairleads_on=FLOAT)
    if segments is not None:
        system = system.replace(lines=[line.replace(segments=segments) for line in system.lines])
    kinds = {kind.name: kind for kind in system.line_types}
    steps = [
        stable_step(line.rest_length / line.segments, kind, float(system.seabed.damping))
        for line in system.lines
        if (kind := kinds[line.type])
    ]
    return Mooring(f"{path.stem}:{system.lines[0].segments}", system, min(steps))


def moored(segments: int, EA: float) -> Mooring:
    """The three lines on a float."""
    kind = sw.LineType(
        "chain", 0.15, 150.0, EA=EA, damping_ratio=0.8, Cdn=1.6, Cdt=0.05, Can=1.0, Cat=0.0
    )
    lines = []
    for k, angle in enumerate(np.deg2rad([180.0, 60.0, -60.0])):
        away = np.array([np.cos(angle), np.sin(angle)])
        anchor = (*(away * (RADIUS + REACH)).tolist(), -DEPTH)
        x, y = (away * RADIUS).tolist()
        fairlead = FLOAT.at(x, y, FAIRLEAD)
        lines.append(sw.Line(f"line{k + 1}", anchor, fairlead, LENGTH, kind, segments=segments))
    system = sw.System(
        "moored",
        [FLOAT],
        [sw.Free("free", sw.WORLD, FLOAT)],
        lines=lines,
        water=sw.Water(1025.0, G, DEPTH),
        seabed=sw.Seabed(stiffness=3.0e6, damping=3.0e5),
    )
    return Mooring(f"{segments}/{EA:g}", system, stable_step(LENGTH / segments, kind, 3.0e5))


def moved(amplitude: float, cosine: bool) -> Any:
    """Motion of a DOF: a ramp of the fifth order times an oscillation."""

    def signal(t: Any) -> Any:
        xp = namespace(t)
        s = xp.minimum(t / RAMP, 1.0)
        wave = xp.cos if cosine else xp.sin
        return amplitude * s**3 * (10 - 15 * s + 6 * s**2) * wave(2 * np.pi / PERIOD * t)

    return signal


def driven(mooring: Mooring) -> sw.System:
    """The same, with the float led along its path."""
    rail = sw.SubsetJoint(
        "rail",
        sw.WORLD,
        FLOAT,
        dofs=("Surge", "Heave"),
        motion={"Surge": moved(SURGE, False), "Heave": moved(HEAVE, True)},
    )
    return mooring.system.replace(joints=[rail])


def coupled(mooring: Mooring) -> sw.System:
    """The same, with the float free in surge and heave; its weight is carried."""
    rail = sw.SubsetJoint("rail", sw.WORLD, FLOAT, dofs=("Surge", "Heave"))
    spring = sw.LinearMooring(
        "spring",
        FLOAT,
        stiffness={"Heave": STIFFNESS},
        damping={"Surge": DAMPING, "Heave": DAMPING},
        pretension={"Heave": FLOAT.mass * G},
    )
    force = (moved(PUSH, True), 0.0, moved(LIFT, True))
    push = sw.AppliedForce("push", FLOAT, force=force)
    return mooring.system.replace(joints=[rail], moorings=[spring], forces=[push])


def led(mooring: Mooring, step: float) -> tuple[np.ndarray, float]:
    """Tensions in the last segments with the float led along its path, and CPU seconds."""
    result, cpu = timed(sw.compile(driven(mooring)), step)
    return result.line_tension.values[:, :, -1], cpu


def floating(mooring: Mooring, step: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Tensions, heave and CPU seconds of the coupled float by `simulate`."""
    result, cpu = timed(sw.compile(coupled(mooring)), step)
    heave = result.position.values[:, 0, 2]
    return result.line_tension.values[:, :, -1], heave, cpu


def timed(model: Any, step: float) -> tuple[Any, float]:
    """A result of `simulate`, and what its steps cost by the difference to a longer run."""

    def run(duration: float) -> tuple[Any, float]:
        start = time.process_time()
        result = sw.simulate(
            model,
            duration=duration,
            output_step=EVERY,
            step=step,
            start="described",
            progress=False,
        )
        return result, time.process_time() - start

    result, _ = run(DURATION - EVERY)
    short = min(run(DURATION - EVERY)[1] for _ in range(REPEATS))
    more = MORE * step
    long = min(run(more + DURATION - EVERY)[1] for _ in range(REPEATS))
    return result, (long - short) / more * DURATION


def stable_step(length: float, kind: sw.LineType, bed_damping: float) -> float:
    """Largest inner step of MoorDyn's Runge-Kutta, a little below its limits [s].

    One limit is that of axial waves, the other that of nodes on the damped bed.

    Args:
        length: of a segment [m].
        kind: its EA and mass in air.
        bed_damping: of the seabed [Pa s/m].
    """
    fastest = 2.0 / length * np.sqrt(kind.EA / kind.mass_per_length)
    axial = 0.9 * 2.0 / (1.6 * fastest) * 0.8
    damped = bed_damping * kind.diameter / kind.mass_per_length
    return float(min(axial, 0.75 * 2.0 / damped))


def file_for(folder: Path, mooring: Mooring, dt: float, scheme: str = "RK2") -> Path:
    """The MoorDyn file of a case."""
    key = mooring.key.replace("/", "_").replace(":", "_")
    path = folder / f"lines_{key}_{dt:.1e}_{scheme}.txt"
    sw.write_moordyn(mooring.system, path, dtM=dt)
    options = f"{scheme} tScheme\n200 TmaxIC\n1e-5 threshIC\n0 writeLog\n1 disableOutTime\n"
    head, mark, rest = path.read_text().partition("OPTIONS ----------------------\n")
    path.write_text(head + mark + options + rest)
    return path


def peer_runs(folder: Path, cases: list[Mooring], free: bool = False) -> list[dict[str, Any]]:
    """A reference, its check with half the steps, and the rows of every case."""
    common = {
        "duration": DURATION,
        "every": EVERY,
        "period": PERIOD,
        "ramp": RAMP,
        "surge": SURGE,
        "heave": HEAVE,
        "base": [0.0, 0.0, 0.0],
    }
    if free:
        common["float"] = {
            "mass": FLOAT.mass,
            "stiffness": [0.0, STIFFNESS],
            "damping": [DAMPING, DAMPING],
            "force": [PUSH, LIFT],
        }
    runs = []
    for mooring in cases:
        dt = mooring.dt
        requested = [
            ("reference", 1e-3, dt / 2, "RK4", "secant"),
            ("check", 2e-3, dt, "RK4", "secant"),
        ]
        requested += [(f"coupling {c:g}", c, dt, "RK2", "secant") for c in COUPLING]
        for name, coupling, internal, scheme, velocity in requested:
            path = file_for(folder, mooring, internal, scheme)
            own = {"name": f"{mooring.key}/{name}", "file": str(path), "coupling": coupling}
            runs.append(common | own | {"velocity": velocity})
    return runs


def errors(tension: np.ndarray, reference: np.ndarray) -> tuple[float, float]:
    """RMS difference over the amplitude in the window: as it is, and of means over 0.5 s."""
    first = round(WINDOW / EVERY)
    a, b = tension[first:, :2], reference[first:, :2]
    amplitude = 0.5 * np.ptp(b, axis=0)
    box = np.ones(5) / 5.0

    def smooth(x: np.ndarray) -> np.ndarray:
        return np.stack([np.convolve(column, box, "valid") for column in x.T], axis=1)

    raw = np.sqrt(((a - b) ** 2).mean(0)) / amplitude
    filtered = np.sqrt(((smooth(a) - smooth(b)) ** 2).mean(0)) / amplitude
    return float(raw.max()), float(filtered.max())


@dataclass(frozen=True)
class Peer:
    """MoorDyn's runs of a case: errors of the tension as sampled and CPU seconds."""

    error: np.ndarray
    cpu: np.ndarray

    def less(self, error: float, cpu: float) -> str:
        """How many times less a run costs than MoorDyn at its error; "-" without MoorDyn."""
        if not len(self.error):
            return "-"
        order = np.argsort(self.error)
        at = np.interp(np.log(error), np.log(self.error[order]), np.log(self.cpu[order]))
        return f"{np.exp(at) / cpu:.1f}"


def peer_of(seen: dict[str, np.ndarray], key: str, reference: np.ndarray) -> Peer:
    """The rows of MoorDyn that are not its reference."""
    rows = [run for run in runs_of(seen, key) if "/coupling" in run]
    found = [errors(seen[run], reference)[0] for run in rows]
    return Peer(np.array(found), np.array([float(seen[run + "/cpu"]) for run in rows]))


def row(
    case: str, run: str, cpu: float, tension: np.ndarray, reference: np.ndarray, less: str = "-"
) -> str:
    raw, filtered = errors(tension, reference)
    first = round(WINDOW / EVERY)
    mean = tension[first:, 0].mean() / 1e3
    return (
        f"| {case} | {run} | {mean:.2f} | {100 * raw:.2f} | {100 * filtered:.2f} | "
        f"{cpu / DURATION:.2e} | {less} |"
    )


def heave_row(
    case: str,
    run: str,
    cpu: float,
    found: tuple[np.ndarray, ...],
    reference: tuple[Any, ...],
    less: str = "-",
) -> str:
    """A row of the coupled float: that of the tensions, with heave before the cost."""
    first = round(WINDOW / EVERY)
    a, b = found[1][first:], reference[1][first:]
    heave = np.sqrt(((a - b) ** 2).mean()) / (0.5 * np.ptp(b))
    *before, cost, times = row(case, run, cpu, found[0], reference[0], less)[:-2].split(" | ")
    return " | ".join([*before, f"{100 * heave:.2f}", cost, times]) + " |"


def run_peer(python: str, runs: list[dict[str, Any]], folder: Path) -> dict[str, np.ndarray]:
    (folder / "runs.json").write_text(json.dumps(runs))
    script = Path(__file__).with_name("moorings_peer.py")
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    subprocess.run(
        [python, str(script), str(folder / "runs.json"), str(folder / "out.npz")],
        check=True,
        env=environment,
        stdout=subprocess.DEVNULL,
        cwd=folder,
    )
    return dict(np.load(folder / "out.npz"))


def print_led(seen: dict[str, np.ndarray], cases: list[Mooring]) -> None:
    """The table of the led fairleads."""
    print("| case | run | mean kN | RMS % | RMS of 0.5 s means % | CPU s per s | times less |")
    print("|---|---|---|---|---|---|---|")
    for mooring in cases:
        key = mooring.key
        reference = seen.get(f"{key}/reference", np.zeros(0))
        peer = peer_of(seen, key, reference)
        for run in runs_of(seen, key):
            word = "MoorDyn " + run.removeprefix(f"{key}/")
            print(row(key, word, float(seen[run + "/cpu"]), seen[run], reference), flush=True)
        fine, cpu = led(mooring, FINE)
        reference = reference if reference.size else fine
        print(row(key, f"simulate, step {FINE:g}", cpu, fine, reference), flush=True)
        for step in STEPS:
            tension, cpu = led(mooring, step)
            less = peer.less(errors(tension, reference)[0], cpu)
            print(row(key, f"simulate, step {step:g}", cpu, tension, reference, less), flush=True)
            print(row(key, f"simulate, step {step:g}, own error", cpu, tension, fine))


def print_coupled(seen: dict[str, np.ndarray], cases: list[Mooring]) -> None:
    """The table of the coupled float."""
    heads = "mean kN | RMS % | RMS of 0.5 s means % | heave RMS % | CPU s per s | times less"
    print(f"| coupled | run | {heads} |")
    print("|---|---|---|---|---|---|---|---|")
    for mooring in cases:
        key = mooring.key
        found = {run: (seen[run], seen[run + "/heave"]) for run in runs_of(seen, key)}
        reference = found.get(f"{key}/reference")
        peer = peer_of(seen, key, np.zeros(0) if reference is None else reference[0])
        for run, pair in found.items():
            word = "MoorDyn " + run.removeprefix(f"{key}/")
            print(heave_row(key, word, float(seen[run + "/cpu"]), pair, reference), flush=True)
        for step in STEPS if reference else (FINE, *STEPS):
            *pair, cpu = floating(mooring, step)
            reference = reference or tuple(pair)
            less = peer.less(errors(pair[0], reference[0])[0], cpu)
            word = f"simulate, step {step:g}"
            print(heave_row(key, word, cpu, tuple(pair), reference, less), flush=True)


def runs_of(seen: dict[str, np.ndarray], key: str) -> list[str]:
    """Names of MoorDyn's runs of a case."""
    return [k for k in seen if k.startswith(f"{key}/") and k[len(key) + 1 :].count("/") == 0]


def keep_to_one_core() -> None:
    """One core for both sides: waiting threads of a pool would count as CPU seconds."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", default=None, help="python that has moordyn")
    parser.add_argument("--segments", type=int, nargs="+", default=[20, 50])
    parser.add_argument("--EA", type=float, nargs="+", default=[1e9, 1e10])
    parser.add_argument("--cases", nargs="+", default=["led", "coupled"])
    parser.add_argument(
        "--files", type=Path, nargs="+", default=[], help="MoorDyn inputs instead, with --segments"
    )
    chosen = parser.parse_args()
    keep_to_one_core()
    cases = [from_file(path, n) for n in chosen.segments for path in chosen.files]
    cases = cases or [moored(n, EA) for n in chosen.segments for EA in chosen.EA]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for case, show in (("led", print_led), ("coupled", print_coupled)):
            if case not in chosen.cases:
                continue
            seen = {}
            if chosen.peer is not None and Path(chosen.peer).exists():
                runs = peer_runs(folder, cases, free=case == "coupled")
                seen = run_peer(chosen.peer, runs, folder)
            show(seen, cases)


if __name__ == "__main__":
    main()
