"""Joint frames, coordinates and initial values."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import swelltree.describe as sw
from swelltree.describe.values import (
    euler_matrix,
    nearest_axis,
    quaternion_matrix,
    turned_onto,
)

A, B = sw.Body("a", 1.0), sw.Body("b", 1.0)
LAYOUTS = [
    (sw.Weld("j", A, B), (), 6),
    (sw.Hinge("j", A, B), ("Pitch",), 5),
    (sw.Hinge("j", A, B, "x"), ("Roll",), 5),
    (sw.Slider("j", A, B), ("Heave",), 5),
    (sw.Cylindrical("j", A, B, axis="x"), ("Surge", "Roll"), 4),
    (sw.Screw("j", A, B, lead=0.1), ("Yaw",), 5),
    (sw.Universal("j", A, B, axes=("z", "y")), ("Yaw", "Pitch"), 4),
    (sw.Ball("j", A, B), ("Roll", "Pitch", "Yaw"), 3),
    (sw.Planar("j", A, B), ("Surge", "Heave", "Pitch"), 3),
    (sw.Free("j", A, B), sw.DOFS, 0),
    (sw.SubsetJoint("j", A, B, ("Yaw", "Heave", "Roll")), ("Heave", "Roll", "Yaw"), 3),
    (sw.Distance("j", A, B), (), 1),
    (sw.RevoluteSpherical("j", A, B), (), 2),
]


@pytest.mark.parametrize(("joint", "dofs", "rows"), LAYOUTS, ids=lambda x: getattr(x, "type", None))
def test_joint_leaves_the_freedoms_of_its_kind(joint, dofs, rows):
    layout = joint.layout()
    assert layout.dofs == tuple(dofs)
    assert layout.n_rows == rows
    assert layout.n_dof == 6 - rows
    assert layout.rows_only == (joint.type in ("distance", "revolute_spherical"))
    assert layout.quaternion == {"Roll", "Pitch", "Yaw"}.issubset(dofs)
    assert layout.screw == (joint.type == "screw")
    assert len(layout.rotations) <= 2


vectors = st.tuples(*[st.floats(-1, 1)] * 3)


@given(vectors)
@example((2.758e-157, 2.758e-157, -1.0))
def test_skew_axis_turns_the_nearest_principal_axis_onto_itself(axis):
    assume(np.linalg.norm(axis) > 1e-3)
    R, k = turned_onto(axis), nearest_axis(axis)
    assert np.allclose(R.T @ R, np.eye(3), atol=1e-14)
    assert np.linalg.det(R) == pytest.approx(1.0)
    assert np.allclose(R[:, k], np.array(axis) / np.linalg.norm(axis), atol=1e-14)
    assert abs(axis[k]) >= max(np.abs(axis)) - 1e-8


@pytest.mark.parametrize("k", range(3))
def test_negative_axis_is_half_a_turn_of_the_frame(k):
    R = turned_onto(tuple(-np.eye(3)[k]))
    assert np.array_equal(R[:, k], -np.eye(3)[k])
    assert np.linalg.det(R) == 1.0
    assert np.trace(R) == -1.0


def test_joint_frame_comes_from_orientation_or_point_or_axis():
    R = euler_matrix(0.1, 0.2, 0.3)
    point = (1.0, 2.0, 3.0)
    joints = [
        sw.Hinge("j", A.at(*point), B, orientation=R),
        sw.Hinge("j", A.at(*point), B, orientation_deg=np.rad2deg([0.1, 0.2, 0.3])),
        sw.Hinge("j", A.at(*point, rotation=R), B),
    ]
    for joint in joints:
        position, axes = joint.base_frame()
        assert np.array_equal(position, point)
        assert np.allclose(axes, R, atol=1e-15)
    assert np.array_equal(sw.Hinge("j", A, B).base_frame()[1], np.eye(3))
    skew = sw.Hinge("j", A, B, axis=(0.1, 0.2, -3.0))
    assert skew.layout().dofs == ("Yaw",)
    assert skew.base_frame()[1][:, 2] @ (0.1, 0.2, -3.0) == pytest.approx(
        np.linalg.norm([0.1, 0.2, 3])
    )


def test_vector_along_an_axis_means_its_letter():
    letter, vector = sw.Hinge("j", A, B, axis="x"), sw.Hinge("j", A, B, axis=(2, 0, 0))
    assert letter.layout() == vector.layout()
    assert np.array_equal(letter.base_frame()[1], vector.base_frame()[1])


def test_euler_angles_and_quaternion_agree():
    half = 0.3
    assert np.allclose(
        quaternion_matrix((np.cos(half), 0, np.sin(half), 0)), euler_matrix(0, 2 * half, 0)
    )
    # positive pitch puts the +x end down
    assert euler_matrix(0, 0.1, 0)[2, 0] < 0
    R = euler_matrix(0.1, 0.2, 0.3)
    single = euler_matrix(0, 0, 0.3) @ euler_matrix(0, 0.2, 0) @ euler_matrix(0.1, 0, 0)
    assert np.allclose(R, single, atol=1e-15)


def test_initial_values_are_known_by_dof():
    hinge = sw.Hinge("j", A, B, position=0.1, velocity={"Pitch": 0.2})
    assert hinge.initial_position() == {"Pitch": 0.1}
    assert hinge.initial_velocity() == {"Pitch": 0.2}
    assert hinge.motions() == {}
    assert hinge == sw.Hinge("j", "a", "b", position={"Pitch": 0.1}, velocity=np.float64(0.2))
    motion = sw.Harmonic(1, 2)
    assert sw.Slider("j", A, B, motion=motion).motions() == {"Heave": motion}


def test_joint_is_changed_by_replace_and_never_in_place():
    hinge = sw.Hinge("j", A, B)
    assert hinge.replace(axis="x").layout().dofs == ("Roll",)
    assert hinge.axis == "y"
    with pytest.raises(AttributeError):
        hinge.axis = "x"
