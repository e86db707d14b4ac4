"""Runs by machine code of our own against the same runs by XLA."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import swelltree as sw
from multibody.formulations.examples import four_bar
from swelltree.hydro.linear.in_sea import apply_sea
from swelltree.jit import XLA_REQUESTED, Points, jax, noted
from swelltree.multibody.formulations import State, equations, formulation
from swelltree.multibody.formulations.base import Phase
from swelltree.studies.engines import engine_of
from swelltree.studies.time.smooth import observer
from swelltree.waves.sea import realise
from validation.mooring.cables import table_1
from validation.pto.pto_systems import oscillator


def chain():
    """Three bodies with hinges in space, springs, a damper and stops that are reached."""
    bodies = [
        sw.Body(f"b{k}", mass=2.0 + k, inertia=(0.2, 0.3, 0.4), position=(0.6 + 1.1 * k, 0.1, 0.2))
        for k in range(3)
    ]
    joints, base = [], sw.WORLD
    for k, body in enumerate(bodies):
        axis = (0.2 * k, 1.0, 0.1)
        at = base if k == 0 else base.at(0.5, 0, 0)
        joints.append(sw.Hinge(f"h{k}", at, body.at(-0.6, 0, 0), axis=axis, position=0.3))
        base = body
    stops = {"lower": -0.6, "upper": 0.4, "stop_stiffness": 900.0, "stop_damping": 3.0}
    forces = [sw.JointForce("brake", "h1", damping=0.4, **stops)]
    return sw.System("chain", bodies, joints, forces)


def latched():
    """Held for 0.35 s at each standstill."""
    return oscillator(sw.LatchingPto("latch", joint="rail", release_after=0.35))


def barges():
    return sw.gallery.barges().model(fit={"error": 0.2})


def hulls():
    """Two floats on their actual wetted hulls, of different panels, with a hinge between them."""
    bodies = [
        sw.Body("box", hull=sw.Box(8.0, 5.0, 4.0, 2.0, panel_size=1.2), com=(0.0, 0.0, -0.4)),
        sw.Body("can", hull=sw.Cylinder(2.5, 2.0, 4.0, panel_size=0.9), position=(8.0, 0.0, 0.0)),
    ]
    joints = [
        sw.Free("free", sw.WORLD, bodies[0]),
        sw.Hinge("hinge", bodies[0].at(4.6, 0, 0), bodies[1].at(-3.4, 0, 0), axis="y"),
    ]
    moorings = [sw.LinearMooring("m", bodies[0], stiffness={"Surge": 2e4, "Sway": 2e4, "Yaw": 1e5})]
    system = sw.System("hulls", bodies, joints, moorings=moorings, water=sw.Water(depth=25.0))
    return sw.compile(system, nonlinear=True)


slow = pytest.mark.slow
WAVES = {
    "still water": None,
    "a regular wave": sw.RegularWave(0.6, period=6.0, beta=0.3, ramp=5.0),
    "a sea": sw.IrregularSea(sw.Jonswap(Hs=1.5, Tp=7.0), beta=0.3, components=60, seed=3),
    "a spread sea": sw.IrregularSea(
        sw.Jonswap(Hs=1.5, Tp=7.0), beta=0.3, spreading=sw.Cos2s(25.0), components=60, seed=3
    ),
    "a steep wave": sw.StreamFunctionWave(2.0, period=6.0),
}
FEW = "a regular wave"  # the others where time is no matter
SOME = [FEW, *(pytest.param(name, marks=slow) for name in WAVES if name != FEW)]
SEA = sw.IrregularSea(sw.Jonswap(Hs=2.5, Tp=8.5), omega_max=2.2, seed=3)
CASES = {
    "chain, tsit5": (lambda: sw.compile(chain()), None, {"solver": "tsit5"}),
    "chain, dopri5": (lambda: sw.compile(chain()), None, {"solver": "dopri5"}),
    "chain, rk4": (lambda: sw.compile(chain()), None, {"solver": "rk4", "step": 0.01}),
    "chain, stiff": (lambda: sw.compile(chain()), None, {"solver": "stiff"}),
    "latch": (lambda: sw.compile(latched()), None, {"duration": 6.0}),
    "barges in a sea": (barges, SEA, {}),
    "barges in a sea, rk4": (barges, SEA, {"solver": "rk4", "step": 0.05}),
}


def both(monkeypatch, make, wave, how):
    model = make()
    how = {"duration": 2.0, "output_step": 0.1, **how}
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    by_llvm = sw.simulate(model, wave, **how)
    monkeypatch.setenv("SWELLTREE_ENGINE", "xla")
    return by_llvm, sw.simulate(model, wave, **how)


def same(found, right, near):
    """All channels within a share of their size; the energy residual, of that of the energies."""
    assert set(found.data_vars) == set(right.data_vars)
    energy = [float(np.abs(right[name]).max()) for name in ("kinetic_energy", "potential_energy")]
    for name, x in right.data_vars.items():
        if x.dtype.kind == "f":
            size = max(float(np.abs(x).max()), 1.0)
            size = max(energy) if name == "energy_residual" else size
            np.testing.assert_allclose(
                found[name], x, rtol=near, atol=near * size, err_msg=str(name)
            )


@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
@pytest.mark.parametrize("name", CASES)
def test_run_by_llvm_is_that_by_xla(monkeypatch, name):
    found, right = both(monkeypatch, *CASES[name])
    assert found.attrs["engine"] == "LLVM"
    assert right.attrs["engine"] == f"XLA: {XLA_REQUESTED}"
    # the search for an event ends within 1e-10 s: rounding may take it one step more or less
    counts = ("events",) if "events" in right.attrs else ("steps_accepted", "rate_evaluations")
    for count in counts:
        assert found.attrs[count] == right.attrs[count]
    # what a latch found 1e-10 s late still has to stop, within 0.1 s: 1e-9 of the acceleration
    same(found, right, 1e-8 if "events" in right.attrs else 1e-9)


def cable():
    """Ten bars on hinges, drawn out straight and let go."""
    return sw.compile(table_1("multibody", "block", 1e3, 10))


IMPLICIT = {
    "loop, partition": (lambda: sw.compile(four_bar()), None, {"formulation": "partition"}),
    "RM3, partition": (lambda: sw.gallery.rm3().model(), SEA, {"formulation": "partition"}),
    "RM3, lagrange": (lambda: sw.gallery.rm3().model(), SEA, {"formulation": "lagrange"}),
}
LARGE = {
    "barges": (lambda: sw.gallery.barges().model(), SEA),
    "cable": (cable, None),
}


@slow
@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
@pytest.mark.parametrize("name", IMPLICIT)
def test_implicit_run_by_llvm_is_that_by_xla(monkeypatch, name):
    """Loops in all formulations: their Jacobians are no reason to use XLA."""
    make, wave, how = IMPLICIT[name]
    found, right = both(monkeypatch, make, wave, how | {"solver": "stiff"})
    assert found.attrs["engine"] == "LLVM"
    assert found.attrs["rate_evaluations"] == right.attrs["rate_evaluations"]
    same(found, right, 1e-9)


@slow
@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
@pytest.mark.parametrize("name", LARGE)
def test_implicit_run_of_a_large_system_is_machine_code(monkeypatch, name):
    """XLA takes minutes for these; the explicit method gives the same motion."""
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    make, wave = LARGE[name]
    model, how = make(), {"duration": 0.5, "rtol": 1e-9, "atol": 1e-11}
    found, right = (sw.simulate(model, wave, solver=x, **how) for x in ("stiff", "tsit5"))
    assert found.attrs["engine"] == "LLVM"
    # errors of some hundred steps within tolerance
    size = float(np.abs(right.position).max())
    np.testing.assert_allclose(found.position, right.position, rtol=0, atol=1e-6 * size)


FORMULATIONS = ["path_matrix", "partial_velocity", "composite_body", "partition", "lagrange"]
LOOPS = [
    pytest.param(x, marks=() if x in ("partition", "lagrange") else slow) for x in FORMULATIONS
]


@pytest.mark.parametrize("formulation", LOOPS)
def test_loops_with_redundant_rows_leave_nothing_to_xla(monkeypatch, formulation):
    """Steps and observation, the forces of a planar mechanism in space included."""
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    with noted() as ran:
        run = sw.simulate(sw.compile(four_bar()), duration=0.3, formulation=formulation)
    assert run.attrs["engine"] == ran.engine == "LLVM"


def test_engine_of_the_observation_is_told_where_it_is_another(monkeypatch):
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    model = sw.compile(latched())
    monkeypatch.setattr(observer(formulation("path_matrix"), True), "refused", "a reason")
    run = sw.simulate(model, duration=0.3, output_step=0.1, chunk=2)
    assert run.attrs["engine"] == "LLVM, observation by XLA: a reason"


GALLERY = ["sphere", "oswec", "rm3", "spar", "tank", "barges", "hinge_barge"]


@pytest.mark.parametrize("name", [GALLERY[0], *(pytest.param(x, marks=slow) for x in GALLERY[1:])])
def test_runs_of_the_gallery_are_machine_code(monkeypatch, name):
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    device = getattr(sw.gallery, name)()
    run = sw.SimulateStudy("run", duration=20.0, output_step=0.1, sea=device.sea)
    assert engine_of(device.model(), run) == "LLVM"


@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
@pytest.mark.parametrize("name", SOME)
def test_hulls_run_by_llvm_as_by_xla(monkeypatch, name):
    found, right = both(monkeypatch, hulls, WAVES[name], {})
    assert found.attrs["engine"] == "LLVM"
    assert right.attrs["engine"] == f"XLA: {XLA_REQUESTED}"
    same(found, right, 1e-9)
    assert found.attrs["rate_evaluations"] == right.attrs["rate_evaluations"]


@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
@pytest.mark.parametrize("name", SOME)
def test_rates_and_jacobians_of_hulls_are_those_of_xla(name):
    """At a pose and speed in general position."""
    model, how = hulls(), formulation("path_matrix")
    if WAVES[name] is not None:
        model = apply_sea(model, realise(WAVES[name], model.water), 20.0)
    begin = equations.start_phase(model, how)
    start = np.concatenate([begin.state.q, begin.state.s])
    w = start + 0.05 * np.random.default_rng(4).standard_normal((2, len(start)))
    t, n = np.array([3.3, 4.1]), len(begin.state.q)

    def rates(model, t, w):
        y = Phase(State(w[:n], w[n:], begin.state.chart), begin.work, begin.internal)
        found = equations.rates(model, how, t, y)
        return found.state.q, found.state.s, found.work

    points = Points(rates, many=True)
    ours = points.jacobians(model, t, w)
    assert points.engine == "LLVM"
    values = jax.vmap(rates, (None, 0, 0))
    theirs = values(model, t, w), jax.vmap(jax.jacfwd(rates, 2), (None, 0, 0))(model, t, w)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        size = max(1.0, float(np.abs(b).max(initial=0.0)))
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * size)


EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
def test_examples_with_hulls_are_machine_code(monkeypatch):
    """A barge that is rolled over, a sphere that is dropped: none is left to XLA."""
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    barge = runpy.run_path(str(EXAMPLES / "capsizing_barge.py"))["barge"](0.0)
    case = sw.load(EXAMPLES / "dropped_sphere.toml")
    beam = sw.RegularWave(height=3.0, period=7.0, beta=np.pi / 2, ramp=7.0)
    runs = [
        (sw.compile(barge, nonlinear=True), sw.SimulateStudy("still", duration=60.0)),
        (sw.compile(barge, nonlinear=True), sw.SimulateStudy("beam", duration=60.0, sea=beam)),
        *((sw.compile(case.system, nonlinear=True), run) for run in case.studies),
    ]
    engines = [engine_of(model, run) for model, run in runs]
    assert engines == ["LLVM"] * 4


def test_what_cannot_be_flattened_runs_by_xla_and_says_why(monkeypatch):
    """A law in plain Python."""
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    law = {"law": lambda t, y: -3.0 * y, "plain": True}
    control = sw.Controller("brake", ["rail.Surge.rate"], ["pto"], **law)
    pto = sw.LinearPto("pto", joint="rail", stiffness=16.0)
    model = sw.compile(oscillator(pto, controllers=[control]))
    result = sw.simulate(model, duration=0.2, output_step=0.1)
    assert result.attrs["engine"].startswith("XLA: the operation 'pure_callback'")
