"""A process that finds its programs on disk imports no JAX, and gives the same numbers."""

import subprocess
import sys

import pytest

RUNS = """
import sys
import warnings

warnings.simplefilter("ignore")
how, out, *names = sys.argv[1:]
if how == "with":
    import jax
import swelltree as sw
from swelltree.results.summary import summary

sea = sw.IrregularSea(sw.Jonswap(Hs=1.5, Tp=8.0), omega_max=2.2, seed=4)
for name in names:
    run = sw.simulate(getattr(sw.gallery, name)().model(), sea, duration=20.0)
    assert run.attrs["engine"] == "LLVM", run.attrs["engine"]
    summary(run, name)
    sw.statistics(run)
    sw.save(run, f"{out}/{name}.nc")
    print(name, *(f"{x}:{run[x].values.tobytes().hex()[-64:]}" for x in sorted(run)))
print("JAX" if "jax" in sys.modules else "no JAX")
"""


def reported(script, *words):
    how = {"capture_output": True, "text": True, "timeout": 500}
    done = subprocess.run([sys.executable, "-c", script, *map(str, words)], **how)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    "names",
    [["sphere"], pytest.param(["rm3", "oswec", "barges", "spar"], marks=pytest.mark.slow)],
)
def test_second_process_imports_no_jax_and_gives_the_same_numbers(tmp_path, monkeypatch, names):
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", str(tmp_path / "cache"))
    first, second, third = (
        reported(RUNS, how, tmp_path, *names) for how in ("alone", "alone", "with")
    )
    assert (first[-1], second[-1], third[-1]) == ("JAX", "no JAX", "JAX")
    assert first[:-1] == second[:-1] == third[:-1]


CASE = """
import sys
from swelltree.cli import app

app(["run", sys.argv[1], "--out", sys.argv[2]], standalone_mode=False)
print("JAX" if "jax" in sys.modules else "no JAX")
"""
PENDULUM = """
[system]
name = "pendulum"
bodies = [{ name = "bob", mass = 1.3, inertia = [0.1, 0.2, 0.1], position = [0.3, 0, -0.9] }]
[[system.joints]]
name = "pin"
type = "hinge"
axis = "y"
base = { body = "world" }
follower = { body = "bob", position = [-0.3, 0, 0.9] }
[[studies]]
name = "swing"
type = "simulate"
duration = 2.0
"""


def test_second_run_of_a_case_file_imports_no_jax(tmp_path, monkeypatch):
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", str(tmp_path / "cache"))
    case = tmp_path / "case.toml"
    case.write_text(PENDULUM)
    first, second = (reported(CASE, case, tmp_path / "out") for _ in range(2))
    assert (first[-1], second[-1]) == ("JAX", "no JAX")
    assert first[:-1] == second[:-1]
    assert "swing" in first[0]


STUDIES = """
import sys

import numpy as np

import swelltree as sw
from validation.pto.pto_systems import oscillator
from validation.mooring.winches import hoist

sea = sw.IrregularSea(sw.Jonswap(Hs=1.5, Tp=8.0), omega_max=2.2, seed=4)
wave = sw.RegularWave(amplitude=0.5, omega=0.9)
how, *wanted = sys.argv[1:]


def sphere():
    ready = sw.gallery.sphere()
    return ready.model()


def float_with_drag():
    sphere = sw.gallery.sphere()
    drag = sw.QuadraticDrag("drag", sphere.bare.bodies[0], damping={"Heave": 2e4})
    machine = sw.LinearPto("pto", joint=sphere.bare.joints[0].name, damping=1e5)
    system = sphere.bare.replace(forces=[drag], ptos=[machine])
    return sw.compile(system, sphere.hydro)


def moored(**more):
    regular = sw.RegularWave(height=4.0, period=10.0)
    return sw.simulate(sw.gallery.spar("dynamic").model(), regular, duration=4.0, **more)


def latched(**more):
    machine = sw.LatchingPto("latch", joint="rail", release_after=0.35)
    return sw.simulate(sw.compile(oscillator(machine)), duration=2.0, **more)


def by_hand(model, sea=None, **more):
    # a force that begins and changes, taken back once
    run = sw.stepper(model, sea, **more)
    element = next(iter(run.forces))
    run.step(0.1)
    saved = run.save()
    for force in (10.0, 20.0):
        run.restore(saved)
        run.step(0.1, {element: force})
    return run.result()


def adrift():
    hull = sw.Box(10.0, 6.0, 4.0, draft=2.0, panel_size=2.0)
    box = sw.Body("box", com=(0.3, 0.1, -0.8), hull=hull, rotation_deg=(0, 0, 40))
    system = sw.System("box", [box], [sw.Free("free", sw.WORLD, box)])
    return sw.equilibrium(sw.compile(system, nonlinear=True))


def checked(model, sea=None):
    # findings but for times, which differ
    import xarray as xr

    told = [one.sentence for one in sw.check_physics(model, sea) if one.code != "time"]
    return xr.Dataset({"finding": ("number", np.array(told, dtype="U600"))})


STUDIES = {
    "latch": latched,
    "partition": lambda: latched(formulation="partition"),
    "lagrange": lambda: latched(formulation="lagrange"),
    "stiff": lambda: sw.simulate(sphere(), sea, duration=5.0, solver="stiff"),
    "extremes": lambda: sw.simulate(sphere(), sea, duration=5.0, extremes=["velocity"]),
    "hoist": lambda: sw.simulate(hoist(), duration=1.0, extremes=["line_tension"]),
    "moored": moored,
    "described": lambda: moored(start="described"),
    "rest on lines": lambda: sw.equilibrium(sw.gallery.spar("dynamic").model()),
    "rest": lambda: sw.equilibrium(sw.gallery.rm3().model()),
    "rest that nothing turns": adrift,
    "by hand": lambda: by_hand(sw.gallery.rm3().model(), sea),
    "by hand, fixed": lambda: by_hand(float_with_drag(), sea, solver="rk4", step=0.05),
    "by hand, stiff": lambda: by_hand(float_with_drag(), solver="stiff"),
    "stiffness": lambda: sw.mooring_stiffness(sw.gallery.spar().model()),
    "offset": lambda: sw.offset_curve(sw.gallery.spar().model(), "spar", "Surge", [0.0, 2.0]),
    "slack": lambda: sw.equilibrium(hoist()),
    "check": lambda: checked(sw.gallery.rm3().model(), sea),
    "check on lines": lambda: checked(sw.gallery.spar("dynamic").model(), wave),
    "modes": lambda: sw.modes(sw.gallery.rm3().model()),
    "rao": lambda: sw.rao(sw.gallery.rm3().model()),
    "periodic": lambda: sw.steady_state(sw.gallery.rm3().model(), wave),
    "response": lambda: sw.response(sw.gallery.rm3().model(), sea),
    "control": lambda: sw.optimal_control(sw.gallery.rm3().model(), wave, harmonics=6),
    "control with drag": lambda: sw.optimal_control(float_with_drag(), wave, harmonics=6),
}
if how == "with":
    import jax
for name in wanted or STUDIES:
    made = STUDIES[name]()
    assert made.attrs.get("engine", "LLVM") == "LLVM", (name, made.attrs["engine"])
    print(name, *(f"{x}:{made[x].values.tobytes().hex()[-64:]}" for x in sorted(made)))
print("JAX" if "jax" in sys.modules else "no JAX")
"""


@pytest.mark.parametrize(
    "requested",
    [["latch", "extremes", "hoist", "by hand, fixed"], pytest.param([], marks=pytest.mark.slow)],
)
def test_studies_are_found_without_jax(tmp_path, monkeypatch, requested):
    """Implicit steps, steps by hand, two-step scheme, rest, linear, periodic, control, checks."""
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", str(tmp_path))
    first, second, third = (
        reported(STUDIES, how, *requested) for how in ("alone", "alone", "with")
    )
    assert (first[-1], second[-1], third[-1]) == ("JAX", "no JAX", "JAX")
    assert first[:-1] == second[:-1] == third[:-1]
