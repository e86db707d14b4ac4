r"""Motion of bodies from a datum, in the axes of their heading there.

With p_0, R_0 the pose of a body at the datum and H the turn about z by its yaw there,

.. math:: x = H^\top (p - p_0), \qquad
          R_z(\psi) R_y(\theta) R_x(\varphi) = H^\top R\, R_0^\top H

so that surge and sway are along and across the heading, and roll and pitch are about axes that go
with the vessel's own yaw. At a datum without trim these angles are the Euler angles less those at
the datum. To first order they are the rotations of the linear studies, whatever the datum is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.engine.arrays import Array, namespace
from swelltree.model.model import Model, Pose
from swelltree.results.labels import DOFS
from swelltree.spatial.rotations import about_axis, euler_to_matrix, matrix_to_euler
from swelltree.spatial.vectors import matmul, transpose
from swelltree.system.named_values import NamedValues

if TYPE_CHECKING:
    import xarray as xr

DATUM = "datum"  # coordinate of results
DESCRIBED, EQUILIBRIUM = "the described pose", "the equilibrium in still water"


def heading(R: Array) -> Array:
    """Yaw of bodies with rotations (..., 3, 3) [rad]."""
    return matrix_to_euler(R)[..., 2]


def displacement(datum: Pose, p: Array, R: Array) -> Array:
    """Six components (..., N, 6) of the motion from a datum.

    Args:
        datum: pose of all bodies (N).
        p: positions (..., N, 3) [m].
        R: rotations (..., N, 3, 3).
    """
    xp = namespace(p, R, datum.R)
    yaw = heading(datum.R)
    H = about_axis(np.array([0.0, 0.0, 1.0]) * xp.ones_like(yaw)[..., None], yaw)
    product = np.matmul if xp is np else matmul  # samples of a whole run are many
    moved = product(transpose(H), (p - datum.p)[..., None])[..., 0]
    turned = product(product(transpose(H), R), matmul(transpose(datum.R), H))
    return xp.concatenate([moved, matrix_to_euler(turned)], axis=-1)


def datum_coordinates(model: Model, order: list[int], source: str) -> dict[str, tuple]:
    """The datum as a coordinate of a result: position and Euler angles of every body.

    Args:
        model: with its datum.
        order: depth-first numbers of the bodies in the order of the description.
        source: what the datum is, in words.
    """
    p, R = np.asarray(model.datum.p)[order], np.asarray(model.datum.R)[order]
    about: NamedValues = {
        "units": "m, rad",
        "long_name": f"position and roll, pitch, yaw from which displacements count: {source}",
        "frame": "world axes, z up from the still water",
        "source": source,
    }
    return {DATUM: (("body", "dof"), np.concatenate([p, matrix_to_euler(R)], axis=-1), about)}


def datum_of(run: xr.Dataset, model: Model) -> tuple[Pose, str]:
    """The datum of another run of the same model, and what it is in words."""
    if DATUM not in run.coords:
        return model.datum, DESCRIBED
    rows = run[DATUM].sel(body=list(model.layout.described), dof=list(DOFS)).values
    place = [model.layout.bodies.index(name) for name in model.layout.described]
    p, R = np.array(model.datum.p), np.array(model.datum.R)
    p[place], R[place] = rows[:, :3], euler_to_matrix(rows[:, 3:])
    return Pose(p, R), str(run[DATUM].attrs["source"])


def motion_name(dataset: xr.Dataset) -> str:
    """The variable that shows how bodies move: results of earlier versions have positions only."""
    return "displacement" if "displacement" in dataset else "position"
