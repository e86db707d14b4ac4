r"""The energy budget: what was gained, what was stored, what did the work.

.. math:: r(t) = K(t) + V(t) - K(0) - V(0) - \sum_e W_e(t)

The residual r is zero but for the error of the time stepping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from swelltree.jit import Array, namespace
from swelltree.results.statistics import statistic

if TYPE_CHECKING:
    import xarray as xr


def energy_residual(
    kinetic: Float[Array, "time body"],
    potential: Float[Array, "time element"],
    work: Float[Array, "time term"],
) -> Float[Array, " time"]:
    """Residual of the energy balance since the first sample [J].

    Args:
        kinetic: kinetic energy of each body [J].
        potential: stored energy of each element [J].
        work: work of the rest of each element and of each prescribed motion [J].
    """
    balance = kinetic.sum(1) + potential.sum(1) - work.sum(1)
    return balance - balance[:1]


def energy_moved(
    kinetic: Float[Array, "time body"],
    potential: Float[Array, "time element"],
    work: Float[Array, "time term"],
) -> Array:
    """Size of the energy that moved [J], to judge the residual by; arguments as above.

    The largest of kinetic energy, change of all stored energy, and work of one element. Stored
    energies are summed first: weight and buoyancy of a floating body nearly cancel.
    """
    xp = namespace(kinetic, potential, work)
    stored = potential.sum(1)
    terms = kinetic.sum(1), stored - stored[:1], work
    return xp.max(xp.stack([xp.abs(term).max(initial=0.0) for term in terms]))


def energy_scale(dataset: xr.Dataset) -> float:
    """Energy scale of a result [J]."""
    names = ("kinetic_energy", "potential_energy", "work")
    return float(energy_moved(*(dataset[name].values for name in names)))


# --- Energy balance of the power take-offs: absorbed = change of stored + delivered + lost


def mean_energy_terms(dataset: xr.Dataset) -> list[tuple[str, float, float, float]]:
    """Name, mean absorbed and delivered power [W] and mean losses [W] of every PTO.

    Over the window of `statistics`, as everywhere.
    """
    channels = ("absorbed_power", "delivered_power", "pto_losses")
    means = [statistic(dataset[name], "mean") for name in channels]
    return [
        (str(name), *(float(mean[i]) for mean in means))  # type: ignore[misc]
        for i, name in enumerate(dataset["pto"].values)
    ]


# --- Do the samples of a run lie close enough together to show its motion?

FAR = 0.09  # fewer than six samples per period
NOTHING = 1e-6  # m, rad between samples: no motion to speak of


def aliased(dataset: xr.Dataset) -> str:
    """Message if the sampling is too coarse for the motion; otherwise empty."""
    names = ("position", "quaternion", "velocity")
    if not all(name in dataset for name in names) or dataset.sizes.get("time", 0) < 3:
        return ""
    order = ("time", "body", ...)
    place, turn, v = (dataset[name].transpose(*order).values for name in names)
    gap = np.diff(dataset["time"].values)[:, None, None]
    gone = np.concatenate([np.diff(place[..., :3], axis=0), turned(turn)], axis=-1)
    way = 0.5 * gap * (v[1:] + v[:-1])
    square = gap**2 * 0.5 * (v[1:] ** 2 + v[:-1] ** 2)
    full = np.isfinite(gone - way).all(axis=(1, 2))
    if not full.any():
        return ""
    missed = np.sqrt(((gone - way)[full] ** 2).mean(axis=0))
    size = np.sqrt(square[full].mean(axis=0))
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
