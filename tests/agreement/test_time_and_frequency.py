"""Time and frequency domain are one model: three hinged barges, moored, with dampers on the hinges.

Also: the answer does not depend on where the device lies and how it is turned, and no energy comes
from nowhere.
"""

import numpy as np
import pytest

import swelltree as sw
from support import refdata
from swelltree.hydro.data.frames import shift, turn
from swelltree.results.energy import energy_scale
from validation.signals import harmonic

OMEGA, AMPLITUDE = 0.55, 1e-2  # rad/s, m: so small that the device is linear
HELD = {"Surge": 2e7, "Sway": 2e7, "Yaw": 4e10}  # stiff enough to settle within minutes
SLOWED = {"Surge": 4e7, "Sway": 4e7, "Yaw": 8e10}


def barges(origin=(0.0, 0.0), yaw=0.0):
    """The demo's barges on a stiffer mooring, moved and turned as a whole."""
    plain = sw.gallery.barges().system
    c, s = np.cos(yaw), np.sin(yaw)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    bodies = []
    for body in plain.bodies:
        place = R @ np.array(body.position) + np.array([*origin, 0.0])
        bodies.append(body.replace(position=tuple(place), rotation=R.tolist()))
    free = sw.Free("float", sw.WORLD.at(*bodies[0].position, rotation=R.tolist()), bodies[0])
    mooring = sw.LinearMooring("mooring", "barge1", stiffness=HELD, damping=SLOWED)
    return plain.replace(
        bodies=tuple(bodies), joints=(free, *plain.joints[1:]), moorings=(mooring,)
    )


@pytest.fixture(scope="module")
def data():
    return sw.gallery.barges().hydro


@pytest.fixture(scope="module")
def model(data):
    return sw.compile(barges(), data, fit={"error": 0.1, "max_order": 56})


@pytest.fixture(scope="module")
def run(model):
    wave = sw.RegularWave(amplitude=AMPLITUDE, omega=OMEGA, ramp=100.0)
    period = 2 * np.pi / OMEGA
    times = np.arange(0.0, 32 * 40 + 1) * period / 32
    return sw.simulate(model, wave, times=times, rtol=1e-8, atol=1e-11, progress=False)


def late(run, values):
    """Amplitude per metre over the last ten periods."""
    rows = slice(-10 * 32, None)
    return harmonic(run.time.values[rows], values[rows], OMEGA) / AMPLITUDE


def test_steady_state_is_the_rao_of_the_same_memory(model, run):
    linear = sw.rao(model, omega=[OMEGA], wave_direction=[0.0], radiation="state_space")
    motions = linear.rao.values[0, 0]
    for kind in (slice(0, 3), slice(3, 6)):
        size = np.abs(motions[:, kind]).max()
        for b in range(3):
            for k in range(kind.start, kind.stop):
                found = late(run, run.position.values[:, b, k])
                assert abs(found - motions[b, k]) < 1e-4 * size
    joints = linear.coordinate_rao.sel(coordinate=["hinge1__Pitch", "hinge2__Pitch"])
    for name, expected in zip(joints.coordinate.values, joints.values[0, 0], strict=True):
        found = late(run, run.joint_coordinate.sel(coordinate=name).values)
        assert abs(found - expected) < 1e-4 * np.abs(joints.values).max()


def test_mean_power_is_that_of_the_frequency_domain(model, run):
    linear = sw.rao(model, omega=[OMEGA], wave_direction=[0.0], radiation="state_space")
    expected = linear.absorbed_power.values[0, 0] * AMPLITUDE**2
    rows = slice(-10 * 32, None)
    found = run.absorbed_power.values[rows].mean(axis=0)
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    # what the dampers absorb is what they took out of the motion, and positive
    assert (found > 0).all()
    work = run.work.sel(element=["pto1", "pto2"]).values
    took = -(work[-1] - work[-10 * 32 - 1]) / (run.time.values[-1] - run.time.values[-10 * 32 - 1])
    np.testing.assert_allclose(took, found, rtol=1e-3)


def test_rao_of_the_fit_stays_within_its_error_of_the_data(model):
    omega = np.linspace(0.2, 1.2, 21)
    ours, true = (
        sw.rao(model, omega=omega, wave_direction=[0.0], radiation=how).rao.values[:, 0]
        for how in ("state_space", "data")
    )
    stated = float(model.report[-1].split("error of ")[1].split()[0]) / 100
    for kind in (slice(0, 3), slice(3, 6)):
        gap, size = ours[..., kind] - true[..., kind], true[..., kind]
        assert np.sqrt((np.abs(gap) ** 2).sum() / (np.abs(size) ** 2).sum()) < stated


def test_place_and_heading_do_not_matter(data):
    """Everything moved by (300, -120) m and turned by 40 degrees, the wave with it."""
    origin, yaw, beta = (300.0, -120.0), np.radians(40.0), np.radians(15.0)
    there = shift(turn(data, yaw), *origin)
    here, away = (
        sw.compile(system, hydro, radiation="constant", omega=OMEGA)
        for system, hydro in ((barges(), data), (barges(origin, yaw), there))
    )
    k = OMEGA**2 / 9.81
    way = k * (origin[0] * np.cos(beta + yaw) + origin[1] * np.sin(beta + yaw))
    runs = [
        sw.simulate(model, wave, duration=60.0, output_step=0.5, rtol=1e-9, atol=1e-11)
        for model, wave in (
            (here, sw.RegularWave(amplitude=1.0, omega=OMEGA, beta=beta, ramp=20.0)),
            (
                away,
                sw.RegularWave(amplitude=1.0, omega=OMEGA, beta=beta + yaw, phase=-way, ramp=20.0),
            ),
        )
    ]
    for name in ("joint_coordinate", "absorbed_power", "reaction_joint_axes"):
        first, second = (run[name].values for run in runs)
        size = np.abs(first).reshape(len(first), -1).max(axis=0).reshape(first.shape[1:])
        limit = 1e-5 * np.maximum(size, 1e-2 * size.max())
        assert (np.abs(second - first) < limit).all(), name
    raos = [
        np.abs(sw.rao(model, omega=[0.4, OMEGA], wave_direction=[b]).coordinate_rao.values)
        for model, b in ((here, beta), (away, beta + yaw))
    ]
    np.testing.assert_allclose(raos[1], raos[0], rtol=1e-5, atol=1e-8)


def passed_energy(run):
    """Energy that went through the device [J]."""
    return max(energy_scale(run), float(np.abs(run.work.sel(element="excitation")).max()))


def test_no_energy_from_nowhere(model):
    run = sw.simulate(model, sw.gallery.barges().sea, duration=200.0, output_step=1.0)
    assert np.abs(run.energy_residual.values).max() < 1e-4 * passed_energy(run)


@pytest.mark.slow
def test_no_energy_from_nowhere_in_hours():
    from validation.hydro.hydro_devices import rm3

    model = rm3(refdata("ts_rm3_decay"))
    sea = sw.IrregularSea(sw.Jonswap(Hs=2.5, Tp=8.0), seed=3, omega_max=3.0, ramp=50.0)
    run = sw.simulate(model, sea, duration=10_000.0, output_step=1.0)
    assert run.attrs["result"] == "success"
    assert np.abs(run.energy_residual.values).max() < 1e-4 * passed_energy(run)
    heave = run.position.sel(body="float", dof="Heave").values
    early, end = heave[1000:4000].std(), heave[-3000:].std()
    assert end < 1.2 * early
