"""Equilibrium of bodies with dynamic lines, as a dataset."""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.model.kinematics import joint_frames
from swelltree.model.model import Model
from swelltree.model.tree import tree_blocks, velocity_matrix
from swelltree.spatial.engine import jax
from swelltree.studies.moored import to_rest
from swelltree.studies.moored_results import observer
from swelltree.two_step.walk import Form, form_of


def moored_equilibrium(
    model: Model, formulation: str, provenance: dict[str, Any] | None = None
) -> Any:
    """Bodies, lines and junctions at rest, and what was out of balance as described."""
    from swelltree.results.dataset import to_dataset

    form = form_of(model, "lagrange" if formulation != "path_matrix" else formulation)
    # lines at rest between the bodies as described: what they then pull with is out of balance
    held = seen_at(model, form, to_rest(model, form, 1, hold=True).sample)
    rest = to_rest(model, form, 1)
    channels = seen_at(model, form, rest.sample)
    before, names = _unbalanced(model, held)
    k = int(np.abs(before).argmax()) if before.size else 0
    unit = (
        "N m" if before.size and names[k].rsplit("__", 1)[-1] in ("Roll", "Pitch", "Yaw") else "N"
    )
    told = f"Before: {names[k].replace('__', ' ')}: {before[k]:.4g} {unit} out of balance."
    attrs = {
        "study": "equilibrium",
        "formulation": "path_matrix" if form.joint_coordinates else "lagrange",
        "iterations": int(rest.steps),
        "largest_motion": float(rest.moved),
        "message": told,
    }
    found = to_dataset(model, np.zeros(1), channels, attrs | (provenance or {})).isel(time=0)
    found["imbalance_before"] = (
        "direction",
        before,
        {"units": "N, N m", "long_name": "generalised force out of balance as described"},
    )
    return found.assign_coords(direction=list(names))


def seen_at(model: Model, form: Form, sample: Any) -> dict[str, np.ndarray]:
    """Channels of one sample, time first."""
    one = jax.tree.map(lambda x: np.asarray(x)[None], sample)
    return {name: np.asarray(x) for name, x in observer(form)(model, one).items()}


def _unbalanced(model: Model, held: dict[str, np.ndarray]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Generalised forces in the directions of the tree joints."""
    from swelltree.model.kinematics import Pose

    pose = Pose(held["position"][0], held["rotation"][0])
    P = np.asarray(velocity_matrix(*tree_blocks(model, pose, joint_frames(model, pose))))
    tau = P.T @ held["wrench"][0].reshape(-1)
    return tau, model.layout.dof_labels[: model.layout.n_tree]
