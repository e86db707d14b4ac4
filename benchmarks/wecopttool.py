"""Optimal control of the WaveBot in heave, compared with WecOptTool.

    python benchmarks/wecopttool.py [--peer PYTHON_WITH_WECOPTTOOL]

Both codes get the same heave coefficients (WAMIT, reference data opt_conjugate_limit), the same
waves and the same force limit at the same times. CPU seconds; "as shipped" includes what
WecOptTool traces and compiles at every solve, "again" repeats its optimiser on compiled functions.
WecOptTool is GPL and is only run, never imported here; without it its columns stay empty.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import xarray as xr

import swelltree as sw
from swelltree.waves.airy import Components
from swelltree.waves.dispersion import dispersion

MASS, STIFFNESS, LIMIT = 858.414, 23949.8, 750.0
REFERENCE = Path(os.environ.get("SWELLTREE_REFDATA", "../shared/refdata")) / "opt_conjugate_limit"
SUBSTEPS = 4  # WecOptTool holds its limit at so many times per node


def coefficients(omega: np.ndarray) -> dict[str, np.ndarray]:
    """A, B, X (exp(+iwt)) on a grid; held or faded below the data."""
    table = np.genfromtxt(REFERENCE / "conjugate_limit.csv", delimiter=",", names=True)
    w = table["omega_rad_s"]
    at = np.maximum(omega, w[0])

    def column(name: str) -> np.ndarray:
        return np.interp(at, w, table[name])

    X = column("X3_abs_N_per_m") * np.exp(1j * np.radians(column("X3_phase_deg")))
    B = column("B33_Ns_m") * np.minimum(omega / w[0], 1.0) ** 2
    return {"omega": omega, "A": column("A33_kg"), "B": B, "X": X}


def pierson_moskowitz(omega: np.ndarray, step: float, Hs: float, Tp: float) -> np.ndarray:
    wp = 2 * np.pi / Tp
    S = 5 / 16 * Hs**2 * wp**4 / omega**5 * np.exp(-1.25 * (wp / omega) ** 4)
    return np.sqrt(2 * S * step)


def cases() -> dict[str, dict]:
    out = {}
    for name, f1, nfreq in (
        ("regular 10", 0.05, 10),
        ("irregular 50", 0.02, 50),
        ("irregular 100", 0.01, 100),
    ):
        omega = 2 * np.pi * f1 * np.arange(1, nfreq + 1)
        rng = np.random.default_rng(3)
        phase = 2 * np.pi * rng.random(nfreq)
        if name.startswith("regular"):
            amplitude = np.where(np.arange(1, nfreq + 1) == 6, 0.0625, 0.0)
        else:
            amplitude = pierson_moskowitz(omega, 2 * np.pi * f1, 0.25, 3.3)
        amplitude[-1] = 0.0  # the Nyquist term of WecOptTool carries no sine
        for drag in (0.0, 500.0):
            out[name + (" + drag" if drag else "")] = coefficients(omega) | {
                "f1": f1,
                "M": MASS,
                "K": STIFFNESS,
                "amplitude": amplitude,
                "phase": phase,
                "force_max": LIMIT,
                "drag": drag,
                "substeps": SUBSTEPS,
            }
    return out


def dataset(case: dict) -> xr.Dataset:
    """The same coefficients in our form."""
    dof = ["buoy__Heave"]
    rows = ("omega", "influenced_dof", "radiating_dof")
    w = np.append(case["omega"], np.inf)

    def with_end(x: np.ndarray, end: complex) -> np.ndarray:
        return np.append(x, end)[:, None, None]

    data = {
        "added_mass": (rows, with_end(case["A"], case["A"][-1])),
        "radiation_damping": (rows, with_end(case["B"], 0.0)),
        "excitation_force": (
            ("omega", "wave_direction", "influenced_dof"),
            with_end(np.conj(case["X"]), 0.0),
        ),
        "hydrostatic_stiffness": (rows[1:], [[STIFFNESS]]),
        "displaced_volume": ("body", [MASS / 1000.0]),
        "center_of_buoyancy": (("body", "xyz"), [[0.0, 0.0, 0.0]]),
        "center_of_mass": (("body", "xyz"), [[0.0, 0.0, 0.0]]),
        "rotation_center": (("body", "xyz"), [[0.0, 0.0, 0.0]]),
        "rho": 1000.0,
        "g": 9.80665,
        "water_depth": 6.1,
    }
    coords = {
        "omega": w,
        "wave_direction": [0.0],
        "influenced_dof": dof,
        "radiating_dof": dof,
        "body": ["buoy"],
        "xyz": ["x", "y", "z"],
    }
    return xr.Dataset(data, coords, {"time_convention": "exp(-iwt)"})


def drag_law(t, y):
    from swelltree.jit import namespace

    return -500.0 * y * namespace(y).abs(y)


def model_of(case: dict):
    body = sw.Body("buoy", mass=MASS, inertia=(80.0,) * 3)
    rail = sw.Slider("rail", sw.WORLD, body)
    forces, controllers = [], []
    if case["drag"]:
        forces = [sw.JointForce("drag", "rail")]
        controllers = [sw.Controller("drag_law", ["rail.Heave.rate"], ["drag"], drag_law)]
    system = sw.System(
        "wavebot",
        [body],
        [rail],
        water=sw.Water(1000.0, 9.80665, 6.1),
        forces=forces,
        controllers=controllers,
        ptos=[sw.LinearPto("pto", joint="rail")],
    )
    return sw.compile(system, dataset(case), radiation="none")


def sea_of(case: dict) -> Components:
    on = case["amplitude"] > 0
    w = case["omega"][on]
    k = np.asarray(dispersion(w, 6.1, 9.80665))
    return Components(
        case["amplitude"][on], w, k, 0.0 * w, -case["phase"][on], repeat_period=1.0 / case["f1"]
    )


def ours(case: dict) -> dict[str, float]:
    model, sea, n = model_of(case), sea_of(case), len(case["omega"])
    same = {
        "force_max": LIMIT,
        "harmonics": n,
        "limit_points": 2 * n * SUBSTEPS,
        "compare": False,
        "replay": False,
        "period": 1.0 / case["f1"],
    }
    cpu, search = [], []
    for _ in range(9):
        start = time.process_time()
        found = sw.optimal_control(model, sea, "pto", **same)
        cpu.append(time.process_time() - start)
        search.append(found.attrs["search_cpu"])
    tight = sw.optimal_control(model, sea, "pto", **(same | {"limit_points": None}))
    if case["drag"]:
        # WecOptTool takes nonlinear forces at as many nodes as coefficients, aliased: so once more
        found = sw.optimal_control(model, sea, "pto", **(same | {"nodes": 2 * n + 1}))
    return {
        "power": found.attrs["mean_power"],
        "cold": cpu[0],
        "cpu": min(cpu[1:]),
        "search": min(search[1:]),
        "kkt": found.attrs["kkt_residual"],
        "tight": tight.attrs["mean_power"],
        "leak": tight.attrs["leak"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", help="Python of an environment with WecOptTool 3.3")
    peer = parser.parse_args().peer
    if not REFERENCE.exists():
        print(f"wecopttool: skipped, no reference data in {REFERENCE}. Set SWELLTREE_REFDATA.")
        return
    every = cases()
    theirs: dict[str, dict] = {}
    if peer and Path(peer).exists():
        with tempfile.TemporaryDirectory() as folder:
            np.savez(Path(folder) / "cases.npz", **{k: np.array(v) for k, v in every.items()})
            script = Path(__file__).with_name("wecopttool_peer.py")
            # -P: this file has the name of the peer's package
            command = [peer, "-P", script, Path(folder) / "cases.npz", Path(folder) / "out.json"]
            bare = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
            # one thread on both sides: CPU seconds are those of the work, not of waiting
            bare |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
            subprocess.run(command, check=True, env=bare, stdout=subprocess.DEVNULL)
            theirs = json.loads((Path(folder) / "out.json").read_text())
    else:
        print("wecopttool: no environment with WecOptTool 3.3 (--peer); our side only.")
    heads = ("ours W", "peer W", "all times W", "leak", "cold s", "warm s", "search s")
    heads += ("shipped s", "again s", "x shipped", "x again")
    print(f"{'case':24}" + "".join(f"{head:>12}" for head in heads))
    for name, case in every.items():
        a, b = ours(case), theirs.get(name)
        numbers = [a["power"], b["power"] if b else np.nan, a["tight"], a["leak"], a["cold"]]
        numbers += [a["cpu"], a["search"]]
        if b:
            numbers += [b["cpu"], b["cpu_again"], b["cpu"] / a["cpu"], b["cpu_again"] / a["search"]]
        line = f"{name:24}" + "".join(f"{x:12.6g}" for x in numbers)
        print(line, flush=True)


if __name__ == "__main__":
    main()
