"""What is out of balance in a moored system as described."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.integrate.complementarity.state import SchemeOptions
from swelltree.jit import mapped
from swelltree.model.model import Model
from swelltree.multibody.kinematics import Pose, joint_frames
from swelltree.multibody.tree import tree_blocks, velocity_matrix
from swelltree.studies.time.complementarity.channels import observer

if TYPE_CHECKING:
    from swelltree.integrate.complementarity.samples import Sample


def in_words(before: np.ndarray, names: tuple[str, ...]) -> str:
    """What was out of balance as described, in words; nothing where nothing can move."""
    if not before.size:
        return ""
    k = int(np.abs(before).argmax())
    unit = "N m" if names[k].rsplit("__", 1)[-1] in ("Roll", "Pitch", "Yaw") else "N"
    return f"Before: {names[k].replace('__', ' ')}: {before[k]:.4g} {unit} out of balance."


def channels_of(model: Model, form: SchemeOptions, sample: Sample) -> dict[str, np.ndarray]:
    """Channels of one sample, time first."""
    one = mapped(lambda x: np.asarray(x)[None], sample)
    return {name: np.asarray(x) for name, x in observer(form)(model, one).items()}


def unbalanced(model: Model, sample: dict[str, np.ndarray]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Generalised forces in the directions of the tree joints."""
    pose = Pose(sample["position"][0], sample["rotation"][0])
    P = np.asarray(velocity_matrix(*tree_blocks(model, pose, joint_frames(model, pose))))
    tau = P.T @ sample["wrench"][0].reshape(-1)
    return tau, model.layout.dof_labels[: model.layout.n_tree]
