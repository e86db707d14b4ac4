"""The physics doctor finds what was put wrong on purpose, and nothing in a healthy model."""

from dataclasses import replace

import numpy as np
import pytest

import swelltree as sw
from made_hydro import MASS, STIFFNESS, heaving_float, vessel
from swelltree.studies.time.simulate import brief_check

WATER = sw.Water(rho=1000.0)


def model(mass=MASS, com=(0.0, 0.0, 0.0), inertia=(1e6, 8e6, 8e6), change=None, moorings=(), **how):
    body = sw.Body("vessel", mass=mass, inertia=inertia, com=com, reference_point=(0, 0, 0))
    free = sw.Free("free", sw.WORLD, body)
    system = sw.System("vessel", [body], [free], water=WATER, moorings=moorings)
    data = vessel()
    if change is not None:
        change(data)
    return sw.compile(system, data, **({"radiation": "none"} | how))


def codes(*args, **more):
    return {f.code: f for f in sw.check_physics(*args, **({"trial": False} | more))}


def held(name="vessel"):
    return [sw.LinearMooring("lines", name, stiffness={"Surge": 1e4, "Sway": 1e4, "Yaw": 1e6})]


def test_a_healthy_float_has_no_findings():
    assert codes(model(moorings=held())) == {}


def test_drift_is_told_as_a_note():
    found = codes(model())
    assert set(found) == {"free"}
    assert found["free"].severity == "note"
    assert "vessel Surge" in found["free"].sentence


def test_too_heavy():
    found = codes(model(mass=1.1 * MASS, com=(0.0, 0.0, 0.0)))
    assert found["balance"].numbers["weight"] == pytest.approx(1.1 * MASS * 9.81, rel=1e-3)
    # where it comes to rest: excess weight over heave stiffness
    assert found["rest"].numbers["rise"] == pytest.approx(-0.1 * MASS * 9.81 / STIFFNESS, rel=0.01)


def test_top_heavy_is_unstable_in_roll():
    # roll stiffness of buoyancy 3 k, less the weight's arm
    found = codes(model(com=(0.0, 0.0, 2.0)))
    assert found["unstable"].severity == "error"
    assert "vessel Roll" in found["unstable"].sentence


def test_impossible_inertia():
    own = model(moorings=held())
    bodies = replace(own.bodies, inertia=np.diag([1e6, 1e6, 8e6])[None])
    assert "exceeds the sum" in codes(own.replace(bodies=bodies))["inertia"].sentence


def test_sea_beyond_the_data():
    sea = sw.IrregularSea(sw.Jonswap(1.0, 1.2), components=50)
    found = codes(model(moorings=held()), sea)
    assert found["band"].severity == "error"


def test_resonance_in_the_waves():
    def quiet(data):
        data["radiation_damping"] *= 0.02

    period = 2 * np.pi / np.sqrt(STIFFNESS / (MASS + 1.2e5))
    sea = sw.IrregularSea(sw.Jonswap(0.2, period), components=60, omega_min=0.3, omega_max=3.5)
    found = sw.check_physics(model(change=quiet, moorings=held()), sea, trial=False)
    assert any(f.code == "resonance" and "vessel Heave" in f.sentence for f in found)
    assert "resonance" not in codes(model(moorings=held()), sea)


def test_a_resonance_that_the_waves_do_not_excite_is_not_reported():
    """Heave of the test above without a wave force in heave."""

    def unmoved(data):
        data["radiation_damping"] *= 0.02
        data["excitation_force"].loc[{"influenced_dof": "vessel__Heave"}] = 0.0

    period = 2 * np.pi / np.sqrt(STIFFNESS / (MASS + 1.2e5))
    sea = sw.IrregularSea(sw.Jonswap(0.2, period), components=60, omega_min=0.3, omega_max=3.5)
    found = sw.check_physics(model(change=unmoved, moorings=held()), sea, trial=False)
    assert not any(f.code == "resonance" and "vessel Heave" in f.sentence for f in found)


def test_damping_of_a_motion_of_second_order_may_end_with_the_data():
    """Surge of a barge whose hinge is at its waterline."""
    device = sw.gallery.tank()
    data = device.hydro
    surge = {"influenced_dof": "barge2__Surge", "radiating_dof": "barge2__Surge"}
    B = data["radiation_damping"].loc[surge]
    B[-2] = 2.0 * float(B.max())  # omega = inf is last
    found = codes(sw.compile(device.system, data, radiation="convolution"))["kernel"]
    assert "barge2 Pitch" in found.sentence
    assert found.severity == "note"


def test_large_motion_is_foretold_and_found():
    wave = sw.RegularWave(amplitude=3.0, omega=0.9)
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3, hull=sw.Cylinder(6.43, 2.0, 3.0))
    rail = sw.Slider("rail", sw.WORLD, body)
    system = sw.System("heaving", [body], [rail], water=WATER)
    own = sw.compile(system, heaving_float(), radiation="none")
    assert "will heave" in codes(own, wave)["linear range"].sentence
    with pytest.warns(sw.SwelltreeWarning, match="heaved by"):
        run = sw.simulate(own, wave, duration=20.0, rtol=1e-4)
    assert "linear range" in run.attrs["findings"]


def test_damping_cut_off_by_the_data():
    own = model(radiation="state_space", fit={"error": 0.2}, moorings=held())
    found = codes(own)["kernel"]
    assert found.numbers["left"] > 0.05
    # a little is told by the doctor only, much before every run
    assert brief_check(own) == []
    table = own.hydro.table
    damping = np.array(table.radiation_damping)
    damping[-1] = damping.max(axis=0)
    cut = replace(own.hydro, table=replace(table, radiation_damping=damping))
    with pytest.warns(sw.SwelltreeWarning, match="still"):
        sw.simulate(own.with_effect(cut), duration=0.1)


def test_damping_whose_decay_is_known_is_no_warning():
    """The data of the barges end with a third of the damping in yaw, and A_inf agrees with it."""
    device = sw.gallery.barges()
    found = codes(device.model(radiation="convolution"))["kernel"]
    assert (found.severity, found.numbers["left"]) == ("note", pytest.approx(0.33, abs=0.01))
    other = device.hydro.copy(deep=True)
    other["added_mass"].values[~np.isfinite(other["omega"].values)] *= 1.2
    model = sw.compile(device.system, other, radiation="convolution")
    assert codes(model)["kernel"].severity == "warning"


def test_trial_run_measures_the_time():
    found = codes(model(moorings=held()), duration=100.0, trial=True)
    assert found["time"].numbers["real_time_factor"] > 1.0


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_inertia_a_thousand_times_off(factor):
    found = codes(model(moorings=held(), inertia=tuple(factor * x for x in (1e6, 8e6, 8e6))))
    assert "radius of gyration" in found["inertia"].sentence


def test_waves_higher_than_the_hull():
    sea = sw.IrregularSea(sw.Jonswap(12.0, 12.0), components=40, omega_min=0.3, omega_max=1.5)
    found = codes(model(moorings=held()), sea)
    assert found["high"].numbers["height"] == pytest.approx(12.0, rel=0.02)
    low = sw.IrregularSea(sw.Jonswap(1.5, 12.0), components=40, omega_min=0.3, omega_max=1.5)
    assert "high" not in codes(model(moorings=held()), low)


def test_a_decay_from_afar_is_no_finding():
    """The start is not where the body is described: it comes back to that by itself."""
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    rail = sw.Slider("rail", sw.WORLD, body, axis=(0, 0, 1), position=1.0)
    system = sw.System("decay", [body], [rail], water=WATER)
    assert codes(sw.compile(system, heaving_float(), radiation="none")) == {}


def test_a_float_dropped_from_the_air_has_its_rest():
    """In the air nothing tells where the water is; it is described afloat."""
    body = sw.Body("float", MASS, (1e6,) * 3, hull=sw.Cylinder(6.43, 2.0, 3.0, panel_size=1.5))
    free = sw.Free("drop", sw.WORLD, body, position={"Heave": 6.0, "Surge": 1.5, "Yaw": 0.4})
    system = sw.System("drop", [body], [free], water=WATER, moorings=held("float"))
    own = sw.compile(system, heaving_float(), radiation="none", nonlinear=True)
    assert float(sw.simulate(own, times=[0.0, 0.01]).position.sel(dof="Heave")[0, 0]) == 6.0
    rest = sw.equilibrium(own)
    volume = MASS / WATER.rho
    assert float(rest.position.sel(dof="Heave")[0]) == pytest.approx(
        2.0 - volume / (np.pi * 6.43**2), abs=0.05
    )
    found = sw.check_physics(own, trial=False)
    assert "no equilibrium" not in {finding.code for finding in found}


def test_only_freedoms_that_the_joints_leave_are_spoken_of():
    """A flap on a pitch hinge whose roll damping is cut off by the data."""

    def cut(data):
        B = data.radiation_damping.values
        B[:, 3, 3] = B[:, 3, 3].max()
        B[:, 4, 4] *= np.exp(-3.0 * np.arange(B.shape[0]) / B.shape[0])

    data = vessel()
    cut(data)
    body = sw.Body("vessel", mass=MASS, inertia=(1e6, 8e6, 8e6))
    hinge = sw.Hinge("hinge", sw.WORLD, body, axis=(0, 1, 0))
    own = sw.compile(sw.System("flap", [body], [hinge], water=WATER), data, fit={"error": 0.5})
    assert not any("Roll" in finding.sentence for finding in sw.check_physics(own, trial=False))
    # the one that moves is told, and once
    data.radiation_damping.values[:, 4, 4] = 2.0 * data.radiation_damping.values[:, 4, 4].max()
    own = sw.compile(sw.System("flap", [body], [hinge], water=WATER), data, fit={"error": 0.5})
    reported = [f.sentence for f in sw.check_physics(own, trial=False) if f.code == "kernel"]
    assert len(reported) == 1
    assert "Pitch" in reported[0]


@pytest.mark.slow
def test_a_barge_on_dynamic_lines_has_its_state_of_rest():
    chain = sw.LineType("chain", diameter=0.05, mass_per_length=50.0, EA=2e8)
    body = sw.Body("vessel", mass=MASS, inertia=(1e6, 8e6, 8e6))
    lines = [
        sw.Line(
            f"line{k}",
            sw.WORLD.at(120.0 * np.cos(a), 120.0 * np.sin(a), -40.0),
            body.at(4.0 * np.cos(a), 4.0 * np.sin(a), 0.0),
            128.0,
            chain,
            segments=6,
        )
        for k, a in enumerate(np.radians([30.0, 150.0, 270.0]))
    ]
    system = sw.System(
        "moored", [body], [sw.Free("f", sw.WORLD, body)], lines=lines, water=sw.Water(rho=1000.0)
    )
    found = codes(sw.compile(system, vessel(), radiation="none"))
    assert "no equilibrium" not in found


@pytest.mark.slow
def test_a_sea_beyond_the_data_is_a_finding_on_dynamic_lines_too():
    found = codes(crane_barge("dynamic"), sw.RegularWave(amplitude=0.01, omega=9.0), trial=True)
    assert found["band"].severity == "error"
    assert "hydro data reach" in found["trial run"].sentence
    assert "no equilibrium" not in found


def crane_barge(theory="quasi_static"):
    """A barge on four lines that carries a crane, slewed by 0.7 rad, with a load on its boom."""
    chain = sw.LineType("chain", diameter=0.03, mass_per_length=15.0, EA=8e7)
    barge = sw.Body("vessel", mass=MASS - 9e3, inertia=(1e6, 8e6, 8e6), com=(-0.3, -0.14, 0.0))
    crane = sw.Body("crane", 6e3, (5e4, 4e4, 3e4), com=(5.0, 0.0, 3.0), position=(3.0, 1.0, 2.0))
    tip = np.array([3.0, 1.0, 2.0]) + [10 * np.cos(0.7), 10 * np.sin(0.7), 7.0]
    load = sw.Body("load", 3e3, (2e3, 2e3, 2e3), position=tuple(tip - [0.0, 0.0, 6.0]))
    joints = [
        sw.Free("float", sw.WORLD, barge),
        sw.Hinge("slew", barge.at(3.0, 1.0, 2.0), crane, axis="z", position=0.7),
        sw.Ball("hook", crane.at(10.0, 0.0, 7.0), load.at(0.0, 0.0, 6.0)),
    ]
    brake = sw.JointForce("brake", "slew", stiffness=2e6, damping=2e5, rest_position=0.7)
    lines = [
        sw.Line(
            f"line{k}",
            sw.WORLD.at(120.0 * np.cos(a), 120.0 * np.sin(a), -40.0),
            barge.at(9.0 * np.cos(a), 4.0 * np.sin(a), 0.0),
            124.0,
            chain,
            model=theory,
        )
        for k, a in enumerate(np.radians([40.0, 140.0, 220.0, 320.0]))
    ]
    water = sw.Water(rho=1000.0, depth=np.inf)
    system = sw.System(
        "crane barge", [barge, crane, load], joints, [brake], lines=lines, water=water
    )
    return sw.compile(system, vessel(), radiation="none")


@pytest.mark.slow
@pytest.mark.parametrize("theory", ["quasi_static", "dynamic"])
def test_a_moored_crane_barge_has_the_rest_that_equilibrium_finds(theory):
    own = crane_barge(theory)
    rest = sw.equilibrium(own)["position"].sel(body="vessel", dof="Heave")
    found = sw.check_physics(own, trial=False)
    assert not {"no equilibrium", "unstable"} & {finding.code for finding in found}
    reported = [f for f in found if f.code == "rest" and "'vessel'" in f.sentence]
    assert [f.numbers["rise"] for f in reported] == pytest.approx([float(rest)], abs=2e-3)
