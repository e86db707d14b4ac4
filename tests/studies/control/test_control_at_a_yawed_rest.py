"""Control of a vessel that rests turned is that of one described turned: data turn with it."""

import numpy as np
import pytest

import swelltree as sw
from made_hydro import MASS, vessel
from swelltree.hydro.data.frames import turn
from swelltree.jit import jax
from swelltree.studies.control.laws import tracking_law
from swelltree.studies.control.predictive import Mpc, find_ports

PSI = 2.0  # rad
HELD = {"Surge": 1e5, "Sway": 1e5, "Yaw": 1e6}
SEA = sw.IrregularSea(
    sw.Jonswap(1.5, 7.0), beta=0.4, components=8, spacing="equal", jitter=False, seed=2
)


def system(angle, *forces):
    """A vessel with a slanting PTO at its origin, which stays where it is in a turn."""
    body = sw.Body(
        "vessel", mass=MASS, inertia=(1e6, 8e6, 8e6), rotation_deg=(0.0, 0.0, np.degrees(angle))
    )
    pto = sw.LinearPto("pto", sw.WORLD.at(25.0, 9.0, -30.0), body)
    return sw.System(
        "vessel",
        [body],
        [sw.Free("free", sw.WORLD, body)],
        ptos=[pto],
        forces=forces,
        moorings=[sw.LinearMooring("moor", "vessel", HELD)],
        water=sw.Water(rho=1000.0),
    )


@pytest.fixture(scope="module")
def pair():
    """Turned by a torque against its mooring with data that follow, and described so."""
    torque = sw.AppliedForce("torque", "vessel", torque=(0.0, 0.0, 1e6 * PSI))
    data = vessel()
    pulled = sw.compile(system(0.0, torque), data, frame="yaw", radiation="none")
    return pulled, sw.compile(system(PSI), turn(data, PSI), radiation="none")


def same(pair, found, rel):
    a, b = (np.asarray(found(model)) for model in pair)
    assert np.abs(b).max() > 0
    assert a == pytest.approx(b, rel=rel, abs=rel * np.abs(b).max())


@pytest.mark.slow
def test_optimal_force_and_power(pair):
    def best(model):
        found = sw.optimal_control(
            model, SEA, radiation="data", method="linear", replay=False, force_max=2e5
        )
        return np.append(found.force.values.ravel(), found.attrs["mean_power"])

    same(pair, best, 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["linear", "nonlinear"])
def test_harmonics_of_a_yawed_vessel_are_those_of_one_that_is_not(method):
    """In heading axes; data, sea and PTO turn with the vessel."""
    found = []
    for angle in (0.0, PSI):
        data = turn(vessel(), angle) if angle else vessel()
        c, s = np.cos(angle), np.sin(angle)
        there = sw.WORLD.at(25.0 * c - 9.0 * s, 25.0 * s + 9.0 * c, -30.0)
        turned = system(angle).replace(ptos=[sw.LinearPto("pto", there, "vessel")])
        model = sw.compile(turned, data, fit={"error": 0.1})
        sea = sw.RegularWave(amplitude=0.01, omega=0.9, beta=0.4 + angle)
        options = {"method": method, "harmonics": 2, "radiation": "state_space", "replay": False}
        found.append(sw.optimal_control(model, sea, force_max=500.0, **options).position_harmonics)
    assert "heading axes" in found[1].frame
    largest = np.abs(found[0].values).max(axis=0)
    assert found[1].values == pytest.approx(found[0].values, rel=1e-3, abs=1e-4 * largest.max())


def test_tracked_velocity(pair):
    t = np.linspace(0.0, 20.0, 41)

    def forces(model):
        law = tracking_law(model, SEA, "pto", radiation="data")
        return [float(np.asarray(law(np.array(x), np.array([0.1, 0.2])))[0]) for x in t]

    same(pair, forces, 1e-6)


def test_plant_and_preview_of_predictive_control(pair):
    def built(model):
        law = Mpc(
            model,
            find_ports(model, None),
            sample=0.3,
            horizon=8,
            force_max=1e6,
            stroke_max=10.0,
            noise=1e-3,
        )
        known = law.preview(sw.realise(SEA, model.water))
        seen = law.plant.C @ np.linalg.matrix_power(law.plant.A, 3) @ law.plant.B0
        pushed = law.plant.C @ law.plant.E1 @ law.excitation(np.array([1.0, 4.0, 11.0]), known).T
        return np.concatenate([seen.ravel(), pushed.ravel() * np.abs(seen).max()])

    same(pair, built, 1e-6)


def test_observer_of_the_excitation(pair):
    def built(model):
        observer = sw.excitation_observer(
            model,
            ["vessel.Heave.rate", "pto.stroke"],
            noise=0.01,
            step=0.2,
            sea=SEA,
            excitations=["vessel.Heave", "vessel.Surge"],
        )
        return [observer.system.C, observer.expected_error, observer.share]

    for k in range(3):
        same(pair, lambda model, k=k: built(model)[k], 1e-5)


@pytest.mark.slow
def test_modes_inside_jit(pair):
    def values(model):
        def found(mass):
            return sw.modes(model.with_values({"vessel.mass": mass}))["eigenvalue"]

        values = np.asarray(jax.jit(found)(MASS))
        return np.sort(np.abs(values[np.isfinite(values)]))

    same(pair, values, 1e-6)
