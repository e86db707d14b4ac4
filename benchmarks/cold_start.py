"""From the start of a fresh process to its first result, with empty and filled cache.

`python benchmarks/cold_start.py 3` starts processes of `ours.py --first`; a word of `JOBS` starts
the lines that stand under it: `python benchmarks/cold_start.py barges modes`. Time is measured from
before the process exists until it has ended, so the imports are inside; seconds of the processor
are those of the process, which a busy machine changes less; "study" counts from the compiled model
on. `SWELLTREE_CACHE_DIR` points them to a
folder of this run only. Radiation fits are kept in it, too: "empty" has none. Modules are compiled
to bytecode by a process before those that are measured, as they are when packages are installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from chain import report

OURS = Path(__file__).with_name("ours.py")
MADE = "import time\nmade = time.process_time()\n"
BARGES = "import swelltree as sw\nmodel = sw.gallery.barges().model(fit={'error': 0.05})\n" + MADE
SEA = "sw.IrregularSea(sw.Jonswap(Hs=3, Tp=9), omega_max=2.2, seed=1)"
SPAR = "import swelltree as sw\nmodel = sw.gallery.spar('KIND').model()\n" + MADE
MOORED = SPAR + "sw.simulate(model, sw.RegularWave(height=4.0, period=10.0), duration=60)\n"
BATCH = (
    "import swelltree as sw\nmodel = sw.gallery.rm3().model()\n" + MADE
    + "spectra = [sw.Jonswap(Hs=1.5 + 0.01 * k, Tp=8) for k in range(64)]\n"
    + "seas = [sw.IrregularSea(x, omega_max=2.2, seed=k) for k, x in enumerate(spectra)]\n"
    + "sw.simulate_batch(model, seas, duration=120)\n"
)  # fmt: skip
LINES = (
    SPAR.replace("KIND", "dynamic")
    + "sea = sw.IrregularSea(sw.Jonswap(Hs=1.5, Tp=8), omega_max=2.2)\n"
    + "seas = [sea.replace(seed=k) for k in range(8)]\n"
    + "sw.simulate_batch(model, seas, duration=4)\n"
)
JOBS = {
    "barges": BARGES + f"sw.simulate(model, {SEA}, duration=100)\n",
    "equilibrium": BARGES + "sw.equilibrium(model)\n",
    "modes": BARGES + "sw.modes(model)\n",
    "rao": BARGES + "sw.rao(model)\n",
    "steady_state": BARGES + "sw.steady_state(model, sw.RegularWave(height=2.0, period=9.0))\n",
    "moored": MOORED.replace("KIND", "quasi_static"),
    "moored dynamic": MOORED.replace("KIND", "dynamic"),
    "batch": BATCH,
    "batch of lines": LINES,
}
TELL = (
    "import sys\n"
    "print('ready', time.process_time() - made, 'JAX' if 'jax' in sys.modules else 'no JAX')\n"
)


def words_of(job: str) -> list[str]:
    """What starts the process of a job."""
    if job.isdigit():
        return [sys.executable, str(OURS), "--first", job]
    return [sys.executable, "-W", "ignore", "-c", JOBS[job] + TELL]


def first_result(job: str, cache: str, bytecode: str) -> tuple[float, float, str]:
    """Wall time and CPU time [s] of a fresh process, and its last line."""
    env = {**os.environ, "SWELLTREE_CACHE_DIR": cache, "PYTHONPYCACHEPREFIX": bytecode}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    before, began = os.times(), time.perf_counter()
    done = subprocess.run(words_of(job), env=env, stdout=subprocess.PIPE, text=True)
    elapsed, after = time.perf_counter() - began, os.times()
    last = done.stdout.strip().rpartition("\n")[2]
    if done.returncode != 0 or not last.startswith("ready"):
        raise SystemExit(f"{job} gave no result: see its message above")
    spent = after.children_user + after.children_system
    return elapsed, spent - before.children_user - before.children_system, last


def _of_the_study(
    cold: list[tuple[float, float, str]], warm: list[tuple[float, float, str]]
) -> dict[str, float]:
    """CPU seconds from the compiled model on, where they are reported."""
    rows = {"study_cold_cpu_s": cold, "study_cached_cpu_s": warm}
    words = {name: [row[2].split() for row in found] for name, found in rows.items()}
    return {
        name: min(float(word[1]) for word in found)
        for name, found in words.items()
        if len(found[0]) > 1 and found[0][1][0].isdigit()
    }


def measure(job: str, repeats: int = 3) -> None:
    cold, warm = [], []
    with tempfile.TemporaryDirectory() as bytecode:
        with tempfile.TemporaryDirectory() as cache:
            first_result(job, cache, bytecode)
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(first_result(job, cache, bytecode))
                warm += [first_result(job, cache, bytecode) for _ in range(2)]
    report(
        engine="swelltree",
        **({"n_bodies": int(job)} if job.isdigit() else {"job": job}),
        cold_s=min(row[0] for row in cold),
        cached_s=min(row[0] for row in warm),
        cold_cpu_s=min(row[1] for row in cold),
        cached_cpu_s=min(row[1] for row in warm),
        **_of_the_study(cold, warm),
        imports_jax=not warm[-1][2].endswith("no JAX"),
    )


if __name__ == "__main__":
    for argument in sys.argv[1:] or ["2", "3", "10", *JOBS]:
        measure(argument)
