"""A frame that follows the mean yaw, and waves felt at the actual place."""

from dataclasses import replace

import numpy as np
import pytest

import swelltree as sw
from made_hydro import MASS, vessel
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.data.frames import turn
from swelltree.hydro.linear.frame import turned_matrix
from swelltree.multibody.formulations import formulation
from swelltree.multibody.formulations.equations import start_phase
from swelltree.results.energy import energy_scale

WATER = sw.Water(rho=1000.0)


def system(*forces) -> sw.System:
    body = sw.Body("vessel", mass=MASS, inertia=(1e6, 8e6, 8e6))
    free = sw.Free("free", sw.WORLD, body)
    return sw.System("vessel", [body], [free], water=WATER, forces=forces)


@pytest.fixture(scope="module")
def data():
    return vessel()


@pytest.fixture(scope="module")
def following(data):
    return sw.compile(system(), data, frame="yaw", yaw_time=50.0, fit={"error": 0.02})


def test_turned_matrix_is_the_product_with_rotations():
    rng = np.random.default_rng(1)
    A, psi = rng.normal(size=(12, 12)), np.array([0.3, -1.1])
    T = np.zeros((12, 12))
    for i, a in enumerate(psi):
        R = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
        for k in (6 * i, 6 * i + 3):
            T[k : k + 3, k : k + 3] = R
    assert turned_matrix(psi, A) == pytest.approx(T @ A @ T.T)


def test_a_turned_vessel_in_a_turned_sea_moves_as_before(following):
    """Everything turned by 45 degrees, which is a heading of the data."""
    psi = np.pi / 4
    wave = {"amplitude": 0.5, "omega": 0.9, "ramp": 5.0}
    options = {"duration": 40.0, "output_step": 1.0, "rtol": 1e-8, "atol": 1e-10}
    plain = sw.simulate(following, sw.RegularWave(beta=np.pi / 6, **wave), **options)
    begin = start_phase(following, formulation("path_matrix"))
    q = np.array(begin.state.q)
    q[3:7] = [np.cos(psi / 2), 0.0, 0.0, np.sin(psi / 2)]
    internal = replace(begin.internal, elements={"frame": np.array([psi])})
    begin = replace(begin, state=replace(begin.state, q=q), internal=internal)
    turned = sw.simulate(
        following, sw.RegularWave(beta=np.pi / 6 + psi, **wave), start=begin, **options
    )
    c, s = np.cos(psi), np.sin(psi)
    a, b = plain.velocity.values[:, 0], turned.velocity.values[:, 0]
    for k in (0, 3):
        assert b[:, k] == pytest.approx(c * a[:, k] - s * a[:, k + 1], abs=1e-6)
        assert b[:, k + 1] == pytest.approx(s * a[:, k] + c * a[:, k + 1], abs=1e-6)
    assert np.abs(a).max() > 0.05
    assert turned.mean_yaw.values[:, 0] - psi == pytest.approx(plain.mean_yaw.values[:, 0])


def test_energy_is_kept_while_the_frame_turns(data):
    """Pushed off its axis and spun by a torque: no energy from the turning added mass."""
    push = sw.AppliedForce("push", "vessel", force=(2e4, 1e4, 0.0), torque=(0.0, 0.0, 4e5))
    model = sw.compile(system(push), data, frame="yaw", yaw_time=5.0, radiation="none")
    run = sw.simulate(model, duration=60.0, rtol=1e-9, atol=1e-11)
    assert abs(run.mean_yaw.values[-1, 0]) > 1.0
    assert np.abs(run.energy_residual).max() < 1e-7 * energy_scale(run)


def test_without_yaw_the_frame_changes_nothing(data, following):
    fixed = sw.compile(system(), data, fit={"error": 0.02})
    wave = sw.RegularWave(amplitude=0.3, omega=1.0, ramp=5.0)
    options = {"duration": 30.0, "output_step": 1.0, "rtol": 1e-9, "atol": 1e-11}
    a, b = (sw.simulate(m, wave, **options).position.values for m in (fixed, following))
    # the grid of the excitation is good to 2e-6
    assert a == pytest.approx(b, abs=2e-5)


def test_excitation_follows_the_place_of_the_body(data):
    """At a distance x the wave comes later: the force is that of a shifted wave."""
    model = sw.compile(system(), data, radiation="none")
    omega, x = 1.2, 7.0
    begin = start_phase(model, formulation("path_matrix"))
    q = np.array(begin.state.q)
    q[0] = x
    begin = replace(begin, state=replace(begin.state, q=q))
    k = omega**2 / WATER.g
    moved = sw.simulate(
        model,
        sw.RegularWave(amplitude=0.2, omega=omega),
        times=[0.0, 0.01],
        start=begin,
        excitation="moving",
    )
    shifted = sw.simulate(
        model,
        sw.RegularWave(amplitude=0.2, omega=omega, phase=k * x),
        times=[0.0, 0.01],
    )
    a, b = moved.excitation_force.values[0], shifted.excitation_force.values[0]
    assert a == pytest.approx(b, abs=1e-5 * np.abs(b).max())


def test_bad_frames_are_refused(data):
    with pytest.raises(SwelltreeError, match="frame 'roll' is not known"):
        sw.compile(system(), data, frame="roll")
    with pytest.raises(SwelltreeError, match="yaw_time"):
        sw.compile(system(), data, frame="yaw", yaw_time=0.0)


@pytest.mark.parametrize("yaw", [np.pi / 2, -2.3])
def test_a_vessel_started_at_any_heading_rests_in_still_water(data, yaw):
    # with a mean yaw of zero the stiffness of the data took the yaw for heel: 42 degrees
    free = sw.Free("free", sw.WORLD, system().bodies[0], position={"Yaw": yaw})
    turned = system().replace(joints=[free])
    model = sw.compile(turned, data, frame="yaw", yaw_time=50.0, radiation="none")
    run = sw.simulate(model, duration=10.0, output_step=1.0)
    assert run.mean_yaw.values == pytest.approx(np.full((11, 1), yaw), abs=1e-9)
    assert np.abs(run.velocity.values).max() < 1e-9


@pytest.mark.slow
def test_a_run_from_equilibrium_starts_with_the_mean_yaw_of_rest(data):
    psi = -1.0
    torque = sw.AppliedForce("torque", "vessel", torque=(0.0, 0.0, 1e6 * psi))
    held = {"Surge": 1e5, "Sway": 1e5, "Yaw": 1e6}
    moored = system(torque).replace(moorings=[sw.LinearMooring("moor", "vessel", held)])
    model = sw.compile(moored, data, frame="yaw", yaw_time=300.0, radiation="none")
    rest = sw.equilibrium(model)
    assert rest.mean_yaw.values == pytest.approx([psi], abs=1e-6)
    assert rest.rotation.values[0, 2] == pytest.approx([0.0, 0.0, 1.0], abs=1e-6)  # upright
    run = sw.simulate(model, start="equilibrium", duration=5.0, output_step=1.0)
    assert run.mean_yaw.values == pytest.approx(np.full((6, 1), psi), abs=1e-6)
    assert np.abs(run.velocity.values).max() < 1e-6
    # the head of the vessel meets the wave that comes from there
    wave = {"amplitude": 0.1, "omega": 1.0}
    ahead = sw.simulate(
        sw.compile(system(), data, frame="yaw", yaw_time=300.0, radiation="none"),
        sw.RegularWave(beta=0.3, **wave),
        times=[0.0, 0.1],
    ).excitation_force.values[0, 0]
    at_rest = sw.simulate(
        model, sw.RegularWave(beta=0.3 + psi, **wave), times=[0.0, 0.1], start="equilibrium"
    ).excitation_force.values[0, 0]
    assert at_rest[2] == pytest.approx(ahead[2], rel=1e-3)
    assert np.hypot(*at_rest[:2]) == pytest.approx(np.hypot(*ahead[:2]), rel=1e-3)


def at_rest_turned(data, **options):
    """The vessel turned by a torque against its mooring, and one described so."""
    psi = 0.7
    held = {"Surge": 1e5, "Sway": 1e5, "Yaw": 1e6}
    moor = [sw.LinearMooring("moor", "vessel", held)]
    torque = sw.AppliedForce("torque", "vessel", torque=(0.0, 0.0, 1e6 * psi))
    pulled = sw.compile(system(torque).replace(moorings=moor), data, frame="yaw", **options)
    angles = (0.0, 0.0, float(np.degrees(psi)))
    body = sw.Body("vessel", mass=MASS, inertia=(1e6, 8e6, 8e6), rotation_deg=angles)
    free = sw.Free("free", sw.WORLD, body)
    as_described = sw.System("vessel", [body], [free], water=WATER, moorings=moor)
    return pulled, sw.compile(as_described, turn(data, psi), **options)


def test_linear_studies_at_a_yawed_rest_are_those_of_a_vessel_described_turned(data):
    pulled, described = at_rest_turned(data, radiation="none")
    at = {"omega": [0.5, 1.1, 1.9], "wave_direction": [0.3, 2.0, -1.1]}
    a, b = (sw.rao(model, **at).rao.values for model in (pulled, described))
    assert np.abs(b).max() > 0.1
    assert a == pytest.approx(b, abs=1e-6 * np.abs(b).max())
    sea = sw.IrregularSea(sw.Jonswap(1.5, 7.0), beta=0.4, components=30)
    a, b = (sw.response(model, sea).standard_deviation.values for model in (pulled, described))
    assert a == pytest.approx(b, rel=1e-6, abs=1e-9)
    a, b = (sw.modes(model).natural_period.values for model in (pulled, described))
    assert a == pytest.approx(b, rel=1e-6)


@pytest.mark.slow
def test_states_of_the_radiation_at_a_yawed_rest_are_turned_too(data):
    pulled, described = at_rest_turned(data, fit={"error": 0.02})
    at = {"omega": [0.5, 1.1, 1.9], "wave_direction": [0.3, 2.0], "radiation": "state_space"}
    a, b = (sw.rao(model, **at).rao.values for model in (pulled, described))
    assert a == pytest.approx(b, abs=1e-2 * np.abs(b).max())
