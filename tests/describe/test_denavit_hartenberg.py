"""Chains by modified Denavit-Hartenberg parameters."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.multibody.kinematics import forward

TABLE = [
    sw.DhRow(0.3, 0.2, 0.5, 0.7),
    sw.DhRow(-1.2, 0.4, 0.1, 0.6, "slider"),
    sw.DhRow(1.5, 0.1, -0.6, 0.2),
    sw.DhRow(0.2, 0.3, 0.9, -0.1),
]
BODIES = [sw.Body(f"l{i}", mass=1 + i, inertia=(0.1, 0.2, 0.25)) for i in range(4)]


def turn(axis: str, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    x = [[1, 0, 0], [0, c, -s], [0, s, c]]
    z = [[c, -s, 0], [s, c, 0], [0, 0, 1]]
    return np.array(x if axis == "x" else z, dtype=float)


def test_poses_follow_the_product_of_dh_transforms():
    bodies, joints = sw.dh_chain(BODIES, TABLE)
    model = sw.compile(sw.System("arm", bodies, joints))
    pose = forward(model, model.start.q)
    p, R = np.zeros(3), np.eye(3)
    for i, row in enumerate(TABLE):
        p = p + R @ turn("x", row.alpha) @ [row.d, 0, row.r]
        R = R @ turn("x", row.alpha) @ turn("z", row.theta)
        # rounding of a product of eight rotations
        assert np.abs(pose.p[i] - p).max() < 1e-14
        assert np.abs(pose.R[i] - R).max() < 1e-14
        assert np.abs(np.array(bodies[i].position) - p).max() < 1e-14


def test_coordinates_start_at_theta_and_r():
    bodies, joints = sw.dh_chain(BODIES, TABLE)
    model = sw.compile(sw.System("arm", bodies, joints))
    assert model.start.q == pytest.approx([0.5, 0.6, -0.6, 0.9])


def test_rows_and_bodies_must_match():
    with pytest.raises(sw.SwelltreeError, match="4 bodies but 3 rows"):
        sw.dh_chain(BODIES, TABLE[:3])


def test_unknown_kind_is_refused():
    with pytest.raises(sw.SwelltreeError, match="row 1 has kind 'screw'"):
        sw.dh_chain(BODIES[:1], [sw.DhRow(kind="screw")])


def test_point_on_a_body_as_base_is_refused():
    with pytest.raises(sw.SwelltreeError, match="base is a point on 'crane'"):
        sw.dh_chain(BODIES, TABLE, base=sw.Body("crane", mass=1.0, inertia=(1, 1, 1)).at(1, 0, 0))
