"""Bodies welded together radiate as one."""

from functools import partial

import numpy as np
import pytest

import swelltree as sw
from made_hydro import memory
from swelltree.hydro.linear.build import fit_memory, moving_dofs
from swelltree.hydro.linear.data import Table
from swelltree.hydro.linear.fits import SmallMotions
from swelltree.hydro.linear.frame import shared_out, welded_motion, welded_sets
from swelltree.multibody.kinematics import Pose

OMEGA = np.linspace(0.05, 6.0, 80)


def three(weld=True):
    """Two halves and a float hinged to the second."""
    places = ((0.0, 0.0, 0.0), (6.0, 1.0, 0.5), (11.0, 1.0, 0.0))
    a, b, c = (sw.Body(n, 1e4, (1e4,) * 3, position=p) for n, p in zip("abc", places, strict=True))
    joint = sw.Weld if weld else sw.Hinge
    joints = [sw.Free("f", sw.WORLD, a), joint("w", a, b), sw.Hinge("h", b.at(2, 0, 0), c)]
    model = sw.compile(sw.System("s", [a, b, c], joints))
    p = np.array([places[list("abc").index(name)] for name in model.layout.bodies])
    return model, Pose(p, np.tile(np.eye(3), (3, 1, 1)))


def table():
    """Every body radiates strongly alone, the welded two hardly together."""
    rng = np.random.default_rng(3)
    near = np.array([[1.0, -0.9, 0.1], [-0.9, 1.0, 0.0], [0.1, 0.0, 0.6]])
    six = np.diag([0.5, 0.6, 1.0, 2.0, 3.0, 1.0])
    shape = np.kron(near, six) + 0.02 * np.eye(18) * rng.uniform(0.5, 1.0, 18)
    K = memory(OMEGA)[:, None, None] * shape
    A_inf = 1e5 * np.eye(18)
    A = A_inf + K.imag / OMEGA[:, None, None]
    F = np.zeros((80, 1, 18), complex)
    return Table(OMEGA, np.zeros(1), A, K.real, F, A_inf, np.zeros((18, 2))), K


def test_welds_are_found_and_hinges_are_not():
    assert welded_sets(three()[0].layout) == [0, 0, 2]
    assert welded_sets(three(weld=False)[0].layout) == [0, 1, 2]


def test_a_rigid_motion_of_the_set_is_that_of_its_bodies():
    model, mean = three()
    T, u = welded_motion(model.layout, mean), np.random.default_rng(0).normal(size=6)
    v = (T @ np.concatenate([u, np.zeros(12)])).reshape(3, 6)
    arm = mean.p[1] - mean.p[0]
    assert v[1] == pytest.approx(np.concatenate([u[:3] + np.cross(u[3:], arm), u[3:]]))


def test_the_memory_of_a_welded_pair_is_fitted_to_what_it_does_together():
    model, mean = three()
    data, K = table()
    T = welded_motion(model.layout, mean)
    options = {"error": 0.03, "cache": False}
    motions = partial(SmallMotions, model, free=np.eye(model.layout.n_tree))
    found, _, _ = fit_memory(data, moving_dofs(model), T, options, motions)
    eye = np.eye(found.A.shape[0])
    fit = np.array([found.C @ np.linalg.solve(1j * w * eye - found.A, found.B) for w in OMEGA])
    exact = (T.T @ K @ T)[:, :6, :6]
    own = (T.T @ fit @ T)[:, :6, :6]
    # freedoms scaled by their damping, as the fit measures
    size = np.sqrt(np.abs(np.diagonal(exact.real, axis1=1, axis2=2)).max(axis=0))
    gap = np.linalg.norm((own - exact) / np.outer(size, size))
    assert gap < 0.06 * np.linalg.norm(exact / np.outer(size, size))


def test_forces_are_shared_out_without_loss():
    model, mean = three()
    data, _ = table()
    T, live = welded_motion(model.layout, mean), np.array([0, 1, 2, 3, 4, 5, 14])
    W = shared_out(data.radiation_damping, T, live)
    assert pytest.approx(np.eye(7), abs=1e-8) == T[:, live].T @ W
    assert np.abs(W[6:12]).max() > 0.1  # the second body takes its share
