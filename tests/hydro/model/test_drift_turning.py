"""Second-order loads in a frame that follows the mean yaw."""

import numpy as np
import pytest

import swelltree as sw
from made_drift import MASS, OMEGA, RHO, drift_data, mean_drift
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.drift.loads import check_size, drift_loads, yaw_nodes
from swelltree.hydro.linear.data import on_grid
from swelltree.waves.airy import Components

AROUND = np.radians(np.arange(0.0, 360.0, 30.0))
HALF = np.radians(np.arange(0.0, 181.0, 30.0))


def compiled(drift, headings=AROUND, **options):
    body = sw.Body("box", MASS, (1e8, 1e8, 1e8))
    system = sw.System("s", [body], [sw.Free("free", sw.WORLD, body)], water=sw.Water(rho=RHO))
    data = drift_data(second=("mean", "newman"), headings=headings)
    return sw.compile(system, data, radiation="none", drift=drift, **options)


def sea(beta):
    omega = OMEGA[[4, 9, 15]]
    return Components(np.full(3, 0.7), omega, omega**2 / 9.81, beta + 0 * omega, omega**3)


@pytest.mark.parametrize("drift", ["mean", "newman", "qtf"])
@pytest.mark.parametrize(("psi", "turns"), [(np.pi / 3, 0), (-np.pi / 6, 1), (5.5 * np.pi / 3, 0)])
def test_force_on_a_turned_body_is_that_of_the_sea_turned_back(drift, psi, turns):
    table, beta = compiled(drift).hydro.table, np.pi / 6
    turning = drift_loads(table, sea(beta), 60.0, turning=True)
    fixed = drift_loads(table, sea(beta - psi), 60.0)
    angle = np.array([psi + 2 * np.pi * turns])
    for t in (0.0, 7.3, 41.1):
        exact = on_grid(t, fixed.step, fixed.force, fixed.rate)
        found = turning.acting(np.array(t), np.zeros((1, 2)), angle)[0]
        if np.isclose(psi % (np.pi / 6), 0.0):
            assert found == pytest.approx(exact, abs=1e-9 * np.abs(exact).max())
        else:
            # half way between headings, linear between forces in place of square roots
            assert found == pytest.approx(exact, abs=0.1 * np.abs(exact).max())


def test_yaws_keep_the_waves_within_the_headings_of_the_data():
    psi = yaw_nodes(HALF, np.array([np.pi / 2, np.pi / 2 + 0.1]))
    assert psi[0] == pytest.approx(0.1 - np.pi / 2)
    assert psi[-1] == pytest.approx(np.pi / 2)
    assert np.diff(psi).max() <= np.pi / 6 + 1e-9
    with pytest.raises(SwelltreeError, match="the drift data only over 180"):
        yaw_nodes(HALF, np.array([0.0, 3.5]))
    assert yaw_nodes(np.zeros(1), np.zeros(3)).tolist() == [0.0]


def test_records_beyond_memory_are_refused():
    with pytest.raises(SwelltreeError, match="would take 16 GB"):
        check_size(1_000_000_000)


@pytest.mark.slow
def test_a_turning_vessel_is_drifted_by_the_waves_not_by_its_axes():
    """The data push along the waves at every heading: so does the force on a spinning body."""
    body = sw.Body("box", MASS, (1e8, 1e8, 1e8))
    spin = sw.AppliedForce("spin", "box", torque=(0.0, 0.0, 2e5))
    joint = sw.Free("free", sw.WORLD, body)
    system = sw.System("s", [body], [joint], [spin], water=sw.Water(rho=RHO))
    data = drift_data(second=("mean",), headings=np.radians(np.arange(0.0, 360.0, 10.0)))
    model = sw.compile(system, data, radiation="none", drift="mean", frame="yaw", yaw_time=1.0)
    omega = float(OMEGA[9])
    run = sw.simulate(model, sw.RegularWave(amplitude=1.0, omega=omega), duration=60.0)
    assert abs(run.mean_yaw.values[-1, 0]) > 1.0
    force = run.drift_force.values[:, 0]
    exact = mean_drift(omega)[0]
    # linear between headings 10 degrees apart: 0.4 % short of the circle
    assert force[:, 0] == pytest.approx(exact, rel=5e-3)
    assert np.abs(force[:, 1]).max() < 5e-3 * exact
    assert float(abs(run.energy_residual).max()) < 1e-4 * float(abs(run.work).max())
