"""Moving data keeps power; moving it there and back changes nothing."""

import numpy as np
import pytest

from hydro.samples import made_up
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.data.dataset import wavenumber
from swelltree.hydro.data.frames import (
    cross_matrix,
    from_z_down,
    move_reference,
    shift,
    transform_matrix,
    turn,
)

NAMES = ("added_mass", "radiation_damping", "excitation_force", "hydrostatic_stiffness")


def same(a, b, names=NAMES):
    for name in names:
        top = np.abs(b[name].values).max()
        np.testing.assert_allclose(a[name].values, b[name].values, atol=1e-12 * top)


def test_power_and_energy_are_the_same_at_another_reference_point():
    data = made_up()
    new = {"float": (1.0, 2.0, 3.0), "spar": (-4.0, 0.5, -7.0)}
    moved = move_reference(data, new)
    rng = np.random.default_rng(1)
    v_new = rng.normal(size=12)
    v_old = v_new.copy()
    for k, body in enumerate(new):
        arm = data.rotation_center.values[k] - np.array(new[body])
        v_old[6 * k : 6 * k + 3] += np.cross(v_new[6 * k + 3 : 6 * k + 6], arm)
    for name in ("added_mass", "radiation_damping"):
        old, now = data[name].values[2], moved[name].values[2]
        assert v_new @ now @ v_new == pytest.approx(v_old @ old @ v_old, rel=1e-12)
    force, moved_force = data.excitation_force.values[2, 0], moved.excitation_force.values[2, 0]
    assert moved_force @ v_new == pytest.approx(force @ v_old, rel=1e-12)
    assert moved.rotation_center.values.tolist() == [list(p) for p in new.values()]


def test_moving_there_and_back_changes_nothing():
    data = made_up()
    there = move_reference(data, {"spar": (5.0, 6.0, 7.0)})
    same(move_reference(there, {"spar": data.rotation_center.values[1]}), data)


def test_buoyancy_only_stiffness_follows_the_arm_of_buoyancy():
    # rho g (S + V (zb - z0)): about a lower point the buoyancy rights more
    data = made_up(bodies=("spar",))
    force = 1025 * 9.81 * 500.0
    x, y, z = data.rotation_center.values[0]
    moved = move_reference(data, {"spar": (x, y, z - 4.0)}, net_force={"spar": force})
    gain = moved.hydrostatic_stiffness.values - data.hydrostatic_stiffness.values
    assert gain[3, 3] == pytest.approx(4.0 * force)
    assert gain[4, 4] == pytest.approx(4.0 * force)
    assert gain[2, 2] == 0


def test_turning_by_a_whole_circle_and_by_parts_agree():
    data = made_up()
    same(turn(data, 2 * np.pi), data)
    twice = turn(turn(data, 0.4), 0.3)
    same(twice, turn(data, 0.7))
    np.testing.assert_allclose(twice.rotation_center, turn(data, 0.7).rotation_center)
    np.testing.assert_allclose(twice.wave_direction, data.wave_direction + 0.7)


def test_a_quarter_turn_makes_surge_sway():
    data = made_up()
    turned = turn(data, np.pi / 2)
    np.testing.assert_allclose(turned.added_mass.values[1, 1, 1], data.added_mass.values[1, 0, 0])
    np.testing.assert_allclose(
        turned.excitation_force.values[1, :, 1], data.excitation_force.values[1, :, 0]
    )


def test_shift_changes_phases_by_k_x_and_nothing_else():
    data = made_up()
    moved = shift(data, 10.0, 0.0)
    k = wavenumber(data.omega.values[1], 30.0, 9.81)
    ratio = moved.excitation_force.values[1, 0] / data.excitation_force.values[1, 0]
    np.testing.assert_allclose(ratio, np.exp(10j * k))
    same(moved, data, ("added_mass", "radiation_damping", "hydrostatic_stiffness"))
    same(shift(moved, -10.0, 0.0), data)


def test_z_down_and_back_changes_nothing_and_heave_changes_sign():
    data = made_up()
    down = from_z_down(data)
    same(from_z_down(down), data)
    np.testing.assert_allclose(
        down.excitation_force.values[1, ::-1, 2], -data.excitation_force.values[1, :, 2]
    )
    np.testing.assert_allclose(down.added_mass.values[1, 2, 2], data.added_mass.values[1, 2, 2])


def test_transform_matrix_is_that_of_the_paper():
    r = np.array([1.0, 2.0, 3.0])
    J = transform_matrix(np.eye(3), r)
    np.testing.assert_allclose(J[:3, 3:], cross_matrix(r).T)
    np.testing.assert_allclose(J[3:, :3], 0)


def test_unknown_reference_point_is_told():
    data = made_up()
    data["rotation_center"].values[1] = np.nan
    with pytest.raises(SwelltreeError, match="'spar' do not state their reference point"):
        move_reference(data, {"spar": (0, 0, 0)})


def test_wavenumber_solves_the_dispersion_relation():
    omega = np.array([0.0, 1e-3, 0.1, 1.0, 3.0, 20.0])
    k = wavenumber(omega, 12.0, 9.81)
    np.testing.assert_allclose(9.81 * k * np.tanh(k * 12.0), omega**2, rtol=1e-12, atol=1e-15)
