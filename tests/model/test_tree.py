"""Poses, velocities and their rates against finite differences, on random systems."""

from random import Random

import numpy as np
import pytest

import swelltree as sw
from agreement.generate import random_system
from swelltree.model.signals import drives_at
from swelltree.multibody.build_layout import Drives, evaluate_rows
from swelltree.multibody.kinematics import (
    Pose,
    dof_coordinates,
    dof_rates,
    forward,
    joint_frames,
    moved_positions,
    tree_blocks,
    velocity_matrix,
)
from swelltree.spatial.rotations import about_axis, unskew

SEEDS = range(20)
# central differences of fourth order: truncation h^4 and rounding 1e-16/h, each about 1e-12
STEP = 1e-3
WEIGHTS = ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))
# forward differences of fourth order, because tables begin at t = 0; second derivatives lose
# 1e-16/h^2 = 1e-10 times coordinates of several metres to rounding
AHEAD = (-25 / 12, 4.0, -3.0, 4 / 3, -1 / 4)
AHEAD_2 = (15 / 4, -77 / 6, 107 / 6, -13.0, 61 / 12, -5 / 6)


def model_of(seed):
    """A compiled random system."""
    drawn = random_system(Random(seed))
    return sw.compile(drawn.system, added_mass=drawn.added_mass)


def rate_of(function):
    """Derivative of function(t) at zero."""
    return sum(w * function(k * STEP) for k, w in WEIGHTS) / STEP


def places(model, q):
    pose = forward(model, q)
    return pose, joint_frames(model, pose)


def matrix(model, q):
    return velocity_matrix(*tree_blocks(model, *places(model, q)))


def moved(model, s, t):
    """Tree coordinates after moving with constant tree velocities; exact to fourth order."""
    q, n = model.start.q, 8
    for _ in range(n):
        q = moved_positions(model.layout, q, s * t / n)
    return q


@pytest.mark.parametrize("seed", SEEDS)
def test_velocities_are_the_rates_of_the_poses(seed):
    model = model_of(seed)
    s = np.random.default_rng(seed).normal(size=model.layout.n_tree)
    pose, frames = places(model, model.start.q)
    v = (matrix(model, model.start.q) @ s).reshape(-1, 6)
    p_rate = rate_of(lambda t: forward(model, moved(model, s, t)).p)
    R_rate = rate_of(lambda t: forward(model, moved(model, s, t)).R)
    spin = unskew(R_rate @ np.swapaxes(pose.R, 1, 2))
    assert np.abs(p_rate - v[:, :3]).max() < 1e-7
    assert np.abs(spin - v[:, 3:]).max() < 1e-7
    # and the joint rates are the tree velocities again
    found = dof_rates(model, pose, frames, v)[: model.layout.n_tree]
    assert np.abs(found - s).max(initial=0.0) < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_joint_equations_have_the_rates_and_accelerations_they_state(seed):
    model = model_of(seed)
    layout, rng = model.layout, np.random.default_rng(seed)
    assert layout.rows
    pose, _ = places(model, model.start.q)
    v = (matrix(model, model.start.q) @ model.start.s).reshape(-1, 6)
    a = rng.normal(size=v.shape)

    def at(t):
        """Bodies moved with velocity v and acceleration a for a short time."""
        now = drives_at(model.drives, np.array(t))
        drives = Drives(*(np.asarray(x) for x in (now.value, now.rate, now.acceleration)))
        turn = v[:, 3:] * t + 0.5 * a[:, 3:] * t**2
        # second term of the Magnus series: w and its rate are not parallel
        turn = turn + np.cross(a[:, 3:], v[:, 3:]) * t**3 / 12
        angle = np.linalg.norm(turn, axis=1)
        axis = turn / np.where(angle > 0.0, angle, 1.0)[:, None]
        p = pose.p + v[:, :3] * t + 0.5 * a[:, :3] * t**2
        there = Pose(p, about_axis(axis, angle) @ pose.R)
        seen = joint_frames(model, there)
        return evaluate_rows(model, layout.rows, there, seen, v, model.start.angles, drives)

    rows = at(0.0)
    rate = rows.jacobian @ v.ravel() - rows.velocity_rhs
    acceleration = rows.jacobian @ a.ravel() - rows.gamma
    assert np.abs(rows.residual).max() < 1e-12
    assert np.abs(rate).max() < 1e-9  # compile made the velocities consistent
    seen = [at(k * STEP).residual for k in range(6)]
    assert np.abs(np.dot(AHEAD, seen[:5])).max() / STEP < 1e-7
    found = np.dot(AHEAD_2, seen) / STEP**2
    assert np.abs(found - acceleration).max() < 1e-7 * max(1.0, np.abs(acceleration).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_coordinates_found_from_the_poses_are_those_of_the_tree(seed):
    model = model_of(seed)
    layout = model.layout
    _, frames = places(model, model.start.q)
    found = dof_coordinates(model, frames, model.start.angles)
    for k, i in enumerate(layout.dof_position):
        if i >= 0:
            assert abs(found[k] - model.start.q[i]) < 1e-12
