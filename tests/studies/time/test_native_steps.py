"""Long loops of steps, which one native program takes, are those of the general way."""

import numpy as np
import pytest

import swelltree as sw
from made_hydro import heaving_float
from swelltree.describe.errors import SwelltreeError
from swelltree.studies.time.stepped import run as stepped_run
from swelltree.studies.time.stepped.native_steps import Row

WAVE = sw.IrregularSea(sw.Jonswap(1.5, 6.0), seed=3, components=20, ramp=7.0)
COUNT = stepped_run.LONG_LOOP + 16


def floating():
    """A float with radiation memory on a PTO, in waves."""
    body = sw.Body("float", mass=2.6e5, inertia=(1, 1, 1))
    rail = sw.Slider("heave", sw.WORLD, body)
    pto = sw.LinearPto("pto", joint="heave", damping=5e4, stiffness=2e4)
    system = sw.System("buoy", [body], [rail], ptos=[pto], water=sw.Water(rho=1000.0))
    return sw.compile(system, heaving_float()), WAVE


def latched():
    """A heeled and yawed hull with an arm that a latch holds and lets go, moored, in air."""
    hull = sw.Body(
        "hull",
        mass=4e3,
        inertia=(2e3, 5e3, 6e3),
        position=(1.0, -2.0, 0.5),
        rotation_deg=(12.0, -8.0, 50.0),
    )
    arm = sw.Body("arm", mass=300.0, inertia=(20.0, 90.0, 90.0), position=(3.0, -2.0, 0.5))
    joints = [
        sw.Free("free", sw.WORLD.at(1.0, -2.0, 0.5), hull),
        sw.Hinge("hinge", hull.at(1.0, 0.3, 0.0), arm.at(-1.0, 0.0, 0.1), axis=(0, 1, 0.2)),
    ]
    mooring = sw.LinearMooring(
        "mooring",
        hull,
        dict(zip(("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw"), [2e4] * 6, strict=True)),
        {"Heave": 3e3},
    )
    ptos = [
        sw.LatchingPto("latch", joint="hinge", release_after=0.4, damping=200.0),
        sw.LinearPto("drive", joint="hinge", damping=50.0),
    ]
    system = sw.System("arm", [hull, arm], joints, ptos=ptos, moorings=[mooring])
    return sw.compile(system), None


CASES = {"floating": floating, "latched": latched}


@pytest.fixture(params=list(CASES))
def case(request):
    return CASES[request.param]()


def pushes(count=COUNT):
    """Durations [s] and forces [N]; some of them as before."""
    rng = np.random.default_rng(7)
    forces = np.repeat(rng.uniform(-1, 1, count), rng.integers(1, 4, count))[:count]
    return list(zip(rng.uniform(0.02, 0.3, count), forces, strict=True))


def run_of(case, monkeypatch, native=True):
    model, sea = case
    monkeypatch.setattr(stepped_run, "LONG_LOOP", 32 if native else 10**9)
    return sw.stepper(model, sea, duration=60.0)


def go_on(run, rows):
    name = next(iter(run.forces))
    for duration, force in rows:
        run.step(duration, {name: 1e3 * force})


def is_native(run):
    return isinstance(run.save().state, Row)


def assert_same(mine, other, tolerance=1e-9):
    """All channels of two results agree, to parts of their size."""
    assert set(mine.variables) == set(other.variables)
    for name in other.data_vars:
        a, b = mine[name].values, other[name].values
        # of the largest energy in it, where little is left of a balance
        size = other.kinetic_energy.values.max() if name == "energy_residual" else 0.0
        size = max(np.abs(b).max(initial=0.0), size, 1e-3)
        assert np.allclose(a, b, atol=tolerance * size, rtol=0, equal_nan=True), name


def test_native_steps_are_those_of_the_general_way(case, monkeypatch):
    native = run_of(case, monkeypatch)
    go_on(native, pushes())
    assert is_native(native)
    general = run_of(case, monkeypatch, native=False)
    go_on(general, pushes())
    assert not is_native(general)
    assert native.channels == general.channels
    for name in general.single_channels:
        assert native[name] == pytest.approx(general[name], rel=1e-7, abs=1e-6, nan_ok=True), name
    for name in ("displacement", "position.hull" if case[1] is None else "position.float"):
        assert native[name] == pytest.approx(general[name], rel=1e-7, abs=1e-9)
    assert_same(native.result(), general.result())


def test_restored_native_steps_are_the_same_bit_for_bit(case, monkeypatch):
    run, rows = run_of(case, monkeypatch), pushes()
    go_on(run, rows[:25])
    early = run.save()
    go_on(run, rows[25:40])
    late = run.save()
    go_on(run, rows[40:])
    first = run.result()
    for saved, rest in ((late, rows[40:]), (early, rows[25:])):
        run.restore(saved)
        go_on(run, rest)
        again = run.result()
        for name in first.data_vars:
            assert np.array_equal(first[name].values, again[name].values, equal_nan=True), name


def test_native_steps_go_on_with_other_numbers(monkeypatch):
    results = []
    for native in (True, False):
        run = run_of(floating(), monkeypatch, native)
        go_on(run, pushes())
        run.change({"pto.stiffness": 9e4, "sea.seed": 5})
        go_on(run, pushes(5))
        assert is_native(run) == native
        results.append(run.result())
    assert_same(*results)


def test_a_simulation_goes_on_from_native_steps(monkeypatch):
    run = run_of(floating(), monkeypatch)
    go_on(run, pushes())
    begin = run.time
    run.step(0.1, {"pto": 0.0})
    result, model, sea = run.result(), *floating()
    more = sw.simulate(model, sea, start=result, times=run.time + np.array([0.0, 0.3, 1.0]))
    for duration in (0.3, 0.7):
        run.step(duration)
    assert more["displacement"].values[-1] == pytest.approx(run["displacement"], abs=1e-6)
    assert run.time > begin


def test_a_native_step_that_fails_leaves_the_run_where_it_was(monkeypatch):
    run = run_of(floating(), monkeypatch)
    go_on(run, pushes())
    before, heave = run.time, run["float.Heave"]
    with pytest.raises(SwelltreeError, match="stopped at t ="):
        run.step(5.0, {"pto": 1e15})
    assert (run.time, run["float.Heave"]) == (before, heave)
    run.step(0.1, {"pto": 0.0})
    assert is_native(run)


def test_steps_beyond_the_loads_of_the_sea_make_the_next_ones_ready(monkeypatch):
    monkeypatch.setattr("swelltree.studies.time.stepped.stepper.POINTS", 64)
    results = []
    for native in (True, False):
        run = run_of(floating(), monkeypatch, native)
        go_on(run, pushes(80))
        results.append(run.result())
    assert_same(*results)
