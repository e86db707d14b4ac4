"""`line_modes`: natural frequencies and shapes of one dynamic line with its ends held."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, suggest
from swelltree.jit import Tree
from swelltree.model.model import Model
from swelltree.mooring.dynamic.lines import lines_of
from swelltree.studies.linear.line_matrices import LineMatrices, lines_at_rest
from swelltree.studies.options import study_of_model

if TYPE_CHECKING:
    import xarray as xr

STIFFLESS = 1e-9  # of the stiffest mode: slower ones are motions of what is slack


@study_of_model
def line_modes(model: Model, line: str, *, modes: int = 10) -> xr.Dataset:
    """Natural frequencies and shapes of a line about its equilibrium, without damping.

    Its ends are fixed, also in direction if they are clamped; added mass of the water is included.
    Nodes on the seabed are fixed vertically, and with friction also horizontally.

    Returns a dataset with dimension `mode`, slowest first: `natural_frequency` [rad/s],
    `natural_period` [s], `shape` (mode, line_node, axis), of which the node that moves most
    moves by one, and `tension` (mode, line_segment), the change of tension per metre of that
    [N/m]. The coordinate `line_position` has the nodes at the equilibrium [m].

    Args:
        model: from `compile`.
        line: name of a dynamic line.
        modes: how many; all if there are fewer.
    """
    lines = lines_of(model)
    names = () if lines is None or lines.arrays is None else lines.pieces
    if line not in names:
        raise SwelltreeError(
            f"line_modes: '{line}' is not a dynamic line.{suggest(line, names)} Give a line of "
            "model='dynamic'."
        )
    assert lines is not None
    row = names.index(line)
    way = -1 if lines.turned[row] else 1
    return _to_dataset(lines_at_rest(model).lines[row], line, modes, way)


def _to_dataset(line: LineMatrices, name: str, count: int, way: int) -> xr.Dataset:
    import xarray as xr

    squared, shapes = natural(line)
    if not len(squared):
        raise SwelltreeError(
            f"line_modes: line '{name}' has no node that moves with a stiffness. Give it more "
            "segments, or less slack."
        )
    omega, shape = np.sqrt(squared[:count]), shapes[:count]
    stretch = (np.diff(shape, axis=1) * line.direction).sum(-1)
    axis = ("line_node", "axis")
    data = {
        "natural_frequency": ("mode", omega, {"units": "rad/s"}),
        "natural_period": ("mode", 2.0 * np.pi / omega, {"units": "s"}),
        "shape": (
            ("mode", *axis),
            shape[:, ::way],
            {
                "units": "1",
                "long_name": "displacement of the nodes, A first",
                "frame": "world axes",
            },
        ),
        "tension": (
            ("mode", "line_segment"),
            (stretch * line.axial)[:, ::way],
            {
                "units": "N/m",
                "long_name": "change of tension per metre of the largest displacement",
            },
        ),
    }
    coords = {
        "mode": np.arange(1, len(omega) + 1),
        "axis": ["x", "y", "z"],
        "line_position": (
            axis,
            line.position[::way],
            {"units": "m", "long_name": "at the equilibrium"},
        ),
        "line_tension": ("line_segment", line.tension[::way], {"units": "N"}),
    }
    return xr.Dataset(data, coords, {"study": "line_modes", "line": name})


def natural(line: LineMatrices) -> tuple[np.ndarray, np.ndarray]:
    """Squares of the natural frequencies, rising, and shapes (mode, node, 3) of a held line.

    Args:
        line: about its equilibrium.
    """
    from scipy.linalg import eigh

    rows = line.inner
    if not len(rows):
        return np.zeros(0), np.zeros((0, line.nodes, 3))
    # directions that the bed leaves free
    size, directions = np.linalg.eigh(line.projector)
    Z = directions[:, size > 0.5]
    K, M = (Z.T @ A[np.ix_(rows, rows)] @ Z for A in (line.stiffness, line.mass))
    found: Tree = eigh(K, M)
    squared, vectors = found
    real = squared > STIFFLESS * squared.max(initial=0.0)
    inner = (Z @ vectors[:, real]).T.reshape(-1, line.nodes - 2, 3)
    shapes = np.pad(inner, ((0, 0), (1, 1), (0, 0)))
    top = np.linalg.norm(shapes, axis=-1).max(1, initial=0.0)
    return squared[real], shapes / top[:, None, None]
