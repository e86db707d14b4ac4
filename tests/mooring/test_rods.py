"""Rods: lumped strips, ends, buoyancy that stores energy."""

from pathlib import Path

import numpy as np
import pytest

import swelltree as sw
from flow import group_loads, yaw
from support import refdata
from swelltree.multibody.kinematics import forward
from validation.hydro import rods
from validation.mooring.rm3_moored import rm3_moored

RHO, G = 1025.0, 9.81
Y_TURN = yaw(0.7)


def rotation(rng):
    """A rotation at random."""
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return Q * np.linalg.det(Q)


def rod(**changes):
    specified = {"name": "rod", "A": (0, 0, -30), "B": (0, 0, -20), "diameter": 1.5}
    return sw.Rod(**(specified | {"mass_per_length": 900.0, "segments": 4} | changes))


def model_of(one, **more):
    return sw.compile(sw.System("rod", rods=[one], water=sw.Water(RHO, G), **more))


def test_added_mass_is_lumped_at_the_nodes():
    one = rod(Can=0.8, Cat=0.1, Ca_end=0.5, segments=3)
    A = model_of(one).bodies.added_mass[0]
    per_length = RHO * np.pi / 4 * 1.5**2
    ends = RHO * 0.5 * np.pi / 12 * 1.5**3
    # nodes at 0, 1/3, 2/3 and 1 of the length, with weights 1/6, 1/3, 1/3, 1/6
    arms = 10.0 * (np.array([0.0, 1.0, 2.0, 3.0]) / 3 - 0.5)
    weights = 10.0 * np.array([1.0, 2.0, 2.0, 1.0]) / 6
    turning = 0.8 * per_length * (weights * arms**2).sum()
    along = 0.1 * per_length * 10.0 + 2 * ends
    across = 0.8 * per_length * 10.0
    expected = np.diag([across, across, along, turning, turning, 0.0])
    np.testing.assert_allclose(A, expected, rtol=1e-12, atol=1e-8)


def test_drag_of_a_turning_rod_is_lumped_at_the_nodes():
    one = rod(Cdn=0.7, Cd_end=0.0, segments=2)
    wrench = group_loads(model_of(one), "morison", v=[0, 0, 0, 0, 0.3, 0]).wrench[0]
    # the node in the middle stands still, the others move with 1.5 m/s and carry a quarter each
    speed, quarter = 0.3 * 5.0, 2.5
    force = 0.5 * RHO * 0.7 * 1.5 * quarter * speed**2
    np.testing.assert_allclose(wrench[4], -2 * force * 5.0, rtol=1e-9)
    np.testing.assert_allclose(wrench[:3], [0, 0, RHO * G * np.pi / 4 * 1.5**2 * 10], atol=1e-6)


@pytest.mark.parametrize("z", [-15.0, -3.0, 0.0, 4.0])
def test_buoyancy_is_the_gradient_of_the_stored_energy(z):
    one = rod(A=(0, 0, -30), B=(0, 0, -20), segments=3)
    model = model_of(one)
    rng = np.random.default_rng(4)
    R = rotation(rng)
    p = np.array([0.3, -0.2, z])
    h = 1e-4

    def stored(dp, turn):
        angle = np.linalg.norm(turn)
        K = np.cross(np.eye(3), turn / (angle or 1.0))
        turned = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
        return group_loads(model, "morison", p=p + dp, R=turned @ R).potential[0]

    slope = []
    for axis in np.eye(3):
        slope.append(stored(h * axis, np.zeros(3)) - stored(-h * axis, np.zeros(3)))
    for axis in np.eye(3):
        slope.append(stored(np.zeros(3), h * axis) - stored(np.zeros(3), -h * axis))
    wrench = group_loads(model, "morison", p=p, R=R).wrench[0]
    size = RHO * G * np.pi / 4 * 1.5**2 * 10.0
    np.testing.assert_allclose(wrench, -np.array(slope) / (2 * h), atol=1e-6 * size)


def test_neutral_rod_stays_at_rest():
    one = rod(A=(0, 0, -30), B=(6, 2, -24), mass_per_length=RHO * np.pi / 4 * 1.5**2)
    result = sw.simulate(model_of(one), duration=50.0, progress=False)
    assert np.abs(result.position.values - result.position.values[0]).max() < 1e-9


def test_turning_the_rod_about_the_vertical_turns_its_force():
    one = rod(A=(0, 0, -4), B=(6, 2, 3), Cdt=0.1, Cat=0.2)
    model = model_of(one)
    start = forward(model, np.asarray(model.start.q)[: model.layout.n_positions])
    p, R = np.asarray(start.p)[0], np.asarray(start.R)[0]
    v = np.array([0.4, -0.3, 0.2, 0.1, 0.05, -0.2])
    Y = yaw(0.9)
    one_wrench = group_loads(model, "morison", p=p, R=R, v=v).wrench[0]
    turned = np.concatenate([Y @ v[:3], Y @ v[3:]])
    two = group_loads(model, "morison", p=Y @ p, R=Y @ R, v=turned).wrench[0]
    expected = np.concatenate([Y @ one_wrench[:3], Y @ one_wrench[3:]])
    np.testing.assert_allclose(two, expected, atol=1e-6)


@pytest.mark.parametrize("draught", [3.1, 5.66, 7.77])
def test_upright_rod_displaces_what_is_under_water(draught):
    model = model_of(rod(A=(0, 0, -8), B=(0, 0, 2), segments=10))
    lift = group_loads(model, "morison", p=[0, 0, 5.0 - draught]).wrench[0, 2]
    # strips of a metre, smoothed over half of it
    assert lift == pytest.approx(RHO * G * np.pi / 4 * 1.5**2 * draught, rel=1e-3)


@pytest.mark.parametrize("tilt_deg", [0.5, 7.0, 25.0, 40.0])
@pytest.mark.parametrize("segments", [7, 20])
def test_tilted_rod_has_the_moment_of_its_waterplane(tilt_deg, segments):
    """Closed form of a circular cylinder that the surface cuts at its sides only."""
    D, length, depth, tilt = 3.0, 16.0, 8.3, np.deg2rad(tilt_deg)
    one = rod(A=(0, 0, -8), B=(0, 0, 8), diameter=D, segments=segments)
    axis = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    side = np.array([np.cos(tilt), 0.0, -np.sin(tilt)])  # the side that dips
    wet, spread = depth / np.cos(tilt), D**2 / 16.0
    along = (wet**2 + spread * np.tan(tilt) ** 2) / (2.0 * wet)
    centre = along * axis + spread * np.tan(tilt) / wet * side
    force = np.array([0.0, 0.0, RHO * G * np.pi / 4 * D**2 * wet])
    R = np.stack([side, [0.0, 1.0, 0.0], axis], axis=1)
    # the rod's reference point is its middle
    middle = 0.5 * length * axis + np.array([0.0, 0.0, -depth])
    wrench = group_loads(model_of(one), "morison", p=middle, R=Y_TURN @ R).wrench[0]
    moment = np.cross(centre - 0.5 * length * axis, force)
    np.testing.assert_allclose(wrench[:3], force, atol=1e-3 * force[2])
    # of the waterplane's part: strips that are as long as the rod is thick are smoothed more
    part = RHO * G * np.pi / 64 * D**4 * np.tan(tilt)
    atol = (0.02 if segments == 7 else 0.004) * part
    np.testing.assert_allclose(Y_TURN.T @ wrench[3:], moment, atol=atol)


@pytest.mark.parametrize(
    "run", [rods.free_rod, pytest.param(rods.floating_rod, marks=pytest.mark.slow)]
)
def test_case_passes(run):
    assert [check for check in run() if not check.ok] == []


@pytest.mark.parametrize(
    ("run", "folder"),
    [
        (rods.moordyn_rods, "moor_moordyn_f"),
        pytest.param(rods.pinned_floating_rods, "moor_analytic", marks=pytest.mark.slow),
        pytest.param(rm3_moored, "ts_rm3_moored_input", marks=pytest.mark.slow),
        pytest.param(rods.hanging_rod, "moor_analytic", marks=pytest.mark.slow),
        pytest.param(rods.cantilever_on_a_rod, "moor_analytic", marks=pytest.mark.slow),
        pytest.param(rods.moordyn_mass_on_a_line, "moor_moordyn_f", marks=pytest.mark.slow),
    ],
)
def test_reference_case_passes(run, folder):
    checks = run(Path(refdata(folder)))
    assert [check for check in checks if not check.ok] == []
