r"""Do the samples of a run lie close enough together to show its motion?

Between two samples a body goes as far as its velocity says, if the samples show the motion:

.. math:: x_{i+1} - x_i \approx \tfrac12 (t_{i+1} - t_i)(v_i + v_{i+1})

For an oscillation with n samples per period the two differ by :math:`(2\pi/n)^2/12` of the way gone
at the largest speed: 0.8 % with twenty samples, 9 % with six, more than half of it with two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

FAR = 0.09  # fewer than six samples per period
NOTHING = 1e-6  # m, rad between samples: no motion to speak of


def aliased(dataset: xr.Dataset) -> str:
    """A message where samples are too far apart to show the motion; otherwise empty."""
    names = ("position", "quaternion", "velocity")
    if not all(name in dataset for name in names) or dataset.sizes.get("time", 0) < 3:
        return ""
    order = ("time", "body", ...)
    place, turn, v = (dataset[name].transpose(*order).values for name in names)
    gap = np.diff(dataset["time"].values)[:, None, None]
    gone = np.concatenate([np.diff(place[..., :3], axis=0), turned(turn)], axis=-1)
    way = 0.5 * gap * (v[1:] + v[:-1])
    square = gap**2 * 0.5 * (v[1:] ** 2 + v[:-1] ** 2)
    whole = np.isfinite(gone - way).all(axis=(1, 2))
    if not whole.any():
        return ""
    missed = np.sqrt(((gone - way)[whole] ** 2).mean(axis=0))
    size = np.sqrt(square[whole].mean(axis=0))
    share = np.where(size > NOTHING, missed / np.maximum(size, NOTHING), 0.0)
    if share.max(initial=0.0) <= FAR:
        return ""
    body, dof = np.unravel_index(int(share.argmax()), share.shape)
    where = f"{dataset['body'].values[body]} {dataset['dof'].values[dof]}"
    return (
        f"samples every {np.median(gap):.3g} s are too far apart to show {where}: plots alias, and "
        "extremes, means and powers of this result are wrong. Simulate with a smaller output_step."
    )


def turned(quaternion: np.ndarray) -> np.ndarray:
    """Rotation vectors from each sample to the next, world axes; quaternions (time, ..., 4)."""
    w0, v0 = quaternion[:-1, ..., :1], quaternion[:-1, ..., 1:]
    w1, v1 = quaternion[1:, ..., :1], quaternion[1:, ..., 1:]
    # q1 times the inverse of q0
    w = w1 * w0 + (v1 * v0).sum(-1, keepdims=True)
    v = -w1 * v0 + w0 * v1 - np.cross(v1, v0)
    w, v = np.where(w < 0, -w, w), np.where(w < 0, -v, v)
    size = np.linalg.norm(v, axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(size, w)
    return v * np.where(size > 1e-12, angle / np.maximum(size, 1e-12), 2.0)
