"""One cable by four models, compared with MoorDyn; the block form against the plain one.

    python benchmarks/cables.py [--peer PYTHON_WITH_MOORDYN] [--elements 3 10 30 100] [--runs 3 30]

The cable of Wuillaume et al. (2017), Table 1, with CA = 1e3 N s: 10 m of 100 kg/m, drawn out
straight from a fixed point and let go, for 10 s. "Right-hand side" is one evaluation of the
equations of motion in a compiled loop, "compile" the time to trace and compile that loop. A run is
all of `simulate` the second time, when it is compiled. Errors are those of the free end at 10 s
against the lumped masses with tight tolerance from the same nodes: dynamic lines start at rest
between both ends and let go of B, MoorDyn starts from its own catenary between the ends. CPU
seconds per simulated second; keep it to one core (`taskset -c 0`), since threads that wait count
too.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import swelltree as sw
from swelltree.jit import jax, jnp
from swelltree.multibody.formulations import formulation
from swelltree.multibody.formulations.base import Phase, State
from swelltree.multibody.formulations.equations import rates, start_phase
from validation.mooring.cables import EA, table_1

DURATION, DAMPING = 10.0, 1e3
FORMS = {
    "block": ("multibody", "block"),
    "plain": ("multibody", "plain"),
    "lumped": ("lumped", "block"),
}


def right_hand_side(model: Any, how: Any, count: int) -> tuple[float, float]:
    """Seconds to compile, and seconds of one evaluation."""
    y = start_phase(model, how)

    def many(model: Any, y: Any) -> Any:
        def one(y: Any, _: None) -> Any:
            rate = rates(model, how, jnp.zeros(()), y)
            return jax.tree.map(lambda a, b: a + 1e-6 * b, y, rate), None

        return jax.lax.scan(one, y, None, length=count)[0]

    begin = time.process_time()
    program = jax.jit(many).lower(model, y).compile()
    compiled = time.process_time() - begin
    jax.block_until_ready(program(model, y))
    best = np.inf
    for _ in range(3):
        begin = time.process_time()
        jax.block_until_ready(program(model, y))
        best = min(best, time.process_time() - begin)
    return compiled, best / count


def costs(elements: list[int]) -> None:
    """Table of right-hand sides."""
    for n in elements:
        for name in ("path_matrix", "composite_body"):
            row = []
            for form in FORMS.values():
                model = sw.compile(table_1(*form, DAMPING, n))
                row.append(right_hand_side(model, formulation(name), 200 if n <= 30 else 20))
            block, plain = row[0][1], row[1][1]
            text = ", ".join(
                f"{key} {1e6 * cost:.1f} us (compile {compiled:.1f} s)"
                for key, (compiled, cost) in zip(FORMS, row, strict=True)
            )
            saved = 100 * (1 - block / plain)
            print(f"n = {n}, {name}: {text}; block saves {saved:.0f} %", flush=True)


def end_of(result: Any) -> np.ndarray:
    """The free end at the last sample."""
    return result["line_position"].isel(time=-1, line=0, line_node=-1).values


def reference(n: int, nodes: np.ndarray | None = None) -> np.ndarray:
    """End of the cable by lumped masses with tight tolerance, from these nodes."""
    model = sw.compile(table_1("lumped", "block", DAMPING, n))
    y = start_phase(model, formulation("path_matrix"))
    if nodes is not None:
        order = [int(name.rsplit("_", 1)[1]) for name in model.layout.bodies]
        y = Phase(State(np.asarray(nodes)[order].reshape(-1), y.state.s, ()), y.work, y.internal)
    tight = {"rtol": 1e-11, "atol": 1e-12, "start": y}
    return end_of(sw.simulate(model, duration=DURATION, output_step=0.1, progress=False, **tight))


def timed(model: Any, **options: Any) -> tuple[np.ndarray, float]:
    """End of the cable, and CPU seconds per simulated second of a run that is compiled."""
    for _ in range(2):
        begin = time.process_time()
        result = sw.simulate(model, duration=DURATION, output_step=0.1, progress=False, **options)
        used = time.process_time() - begin
    return end_of(result), used / DURATION


def as_dynamic(system: sw.System) -> sw.System:
    """The same cable as a dynamic line."""
    line = system.lines[0].replace(
        model="dynamic", slack="pulls_only", dry=False, B=(-2, 0, 10), release_time=0.0
    )
    post = sw.Body("post", mass=1.0, inertia=(1.0, 1.0, 1.0))
    held = sw.Weld("held", sw.WORLD, post)
    return system.replace(
        lines=(line,),
        junctions=(),
        bodies=(post,),
        joints=(held,),
        water=sw.Water(rho=1e-6, depth=100.0),
    )


MOORDYN = """MoorDyn input
---------------------- LINE TYPES -----------------------------------
Name  Diam  MassDen  EA  BA/-zeta  EI  Cd  Ca  CdAx  CaAx
(-)   (m)   (kg/m)   (N) (N-s/-)  (N-m^2) (-) (-) (-) (-)
rope  0.0332  100.0  {EA}  {BA}  0  0  0  0  0
---------------------- POINTS ---------------------------------
ID  Type  X  Y  Z  M  V  CdA  CA
(#) (-)  (m) (m) (m) (kg) (m^3) (m^2) (-)
1  Fixed  0  0  20  0  0  0  0
2  Free  -2  0  10  0  0  0  0
---------------------- LINES ----------------------------------
ID  LineType  AttachA  AttachB  UnstrLen  NumSegs  Outputs
(#)  (-)  (#)  (#)  (m)  (-)  (-)
1  rope  1  2  10.0  {n}  -
---------------------- OPTIONS ---------------------------------
2  writeLog
{scheme}  tScheme
{step}  dtM
1e-9  WtrDnsty
9.81  gravity
100  WtrDpth
0  TmaxIC
0.01  dtIC
---------------------- need this line ------------------
"""


def moordyn(peer: str, n: int, steps: list[float]) -> list[tuple[float, np.ndarray, float]]:
    """MoorDyn's runs: step, nodes at start and end, CPU seconds per simulated second."""
    here = Path(__file__).parent
    with tempfile.TemporaryDirectory() as name:
        folder, cases = Path(name), []
        for k, step in enumerate(steps):
            path = folder / f"cable{k}.txt"
            text = MOORDYN.format(EA=EA, BA=DAMPING, n=n, step=step, scheme="RK4")
            path.write_text(text)
            cases.append({"file": str(path), "coupling": max(step, 0.01), "duration": DURATION})
        (folder / "runs.json").write_text(json.dumps(cases))
        out = folder / "out.npz"
        command = [peer, str(here / "cables_peer.py"), str(folder / "runs.json"), str(out)]
        subprocess.run(command, check=True, capture_output=True, cwd=folder)
        found = np.load(out)
        return [
            (step, found[f"nodes{k}"], float(found[f"used{k}"]) / DURATION)
            for k, step in enumerate(steps)
        ]


def runs(n: int, peer: str | None) -> None:
    """Table of whole runs."""
    straight = reference(n)

    def notify(words: str, end: np.ndarray, cost: float, goal: np.ndarray = straight) -> None:
        off = float(np.linalg.norm(end - goal))
        print(f"n = {n}, {words}: {cost:.2e} CPU s per s, error {off:.1e} m", flush=True)

    rk4 = {"solver": "rk4", "step": 1e-3}
    for key, form in FORMS.items():
        model = sw.compile(table_1(*form, DAMPING, n))
        notify(f"{key}, tsit5 1e-6", *timed(model, rtol=1e-6, atol=1e-8))
        notify(f"{key}, rk4 {rk4['step']:g} s", *timed(model, **rk4))
    model = sw.compile(as_dynamic(table_1("multibody", "block", DAMPING, n)))
    brief = sw.simulate(model, duration=0.01, output_step=0.01, step=0.01, progress=False)
    goal = reference(n, brief["line_position"].values[0, 0])
    for step in (0.02, 0.005, 0.001):
        notify(f"dynamic line, step {step:g} s", *timed(model, step=step), goal)
    if peer:
        found = moordyn(peer, n, [1e-3, 2e-4])
        goal = reference(n, found[0][1][0])
        for step, nodes, cost in found:
            notify(f"MoorDyn RK4, step {step:g} s", nodes[1][-1], cost, goal)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", help="python with moordyn")
    parser.add_argument("--elements", type=int, nargs="*", default=[3, 10, 30, 100])
    parser.add_argument("--runs", type=int, nargs="*", default=[3, 30])
    requested = parser.parse_args()
    costs(requested.elements)
    for n in requested.runs:
        runs(n, requested.peer)


if __name__ == "__main__":
    main()
