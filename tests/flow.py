"""Loads of effects on bodies in a given motion, without solving anything."""

from dataclasses import replace

import numpy as np

import swelltree as sw
from swelltree.model.capabilities import internal_at_rest
from swelltree.model.effect import Instant
from swelltree.multibody.kinematics import Motion, Pose, forward, joint_frames


def motion_of(model, p=None, R=None, v=None):
    """Bodies as described, or at other places, attitudes and velocities."""
    start = forward(model, np.asarray(model.start.q)[: model.layout.n_positions])
    p = start.p if p is None else np.asarray(p, float).reshape(-1, 3)
    R = start.R if R is None else np.asarray(R, float).reshape(-1, 3, 3)
    v = np.zeros((len(p), 6)) if v is None else np.asarray(v, float).reshape(-1, 6)
    pose = Pose(p, R)
    return Motion(pose, v, joint_frames(model, pose), np.zeros(0), np.zeros(0))


def group_loads(model, kind, t=0.0, wave=None, **motion):
    """Loads of one kind of force."""
    if wave is not None:
        waves = sw.realise(wave, model.water)
        model = model.replace(sea=replace(model.sea, waves=waves))
    group = next(group for group in model.effects if group.kind == kind)
    return group.loads(
        model, Instant(np.asarray(t), motion_of(model, **motion), internal_at_rest(model))
    )


def yaw(angle):
    """Rotation about z."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
