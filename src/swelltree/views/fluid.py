"""The free surface and the pressure on hulls that weak scatterers computed, for the viewer."""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING

import numpy as np

from swelltree.system.named_values import NamedValues

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.views.pack import Blocks


def computed_water(dataset: xr.Dataset, blocks: Blocks) -> NamedValues:
    """Places of both surfaces, and the pressure.

    Args:
        dataset: samples of a result in time with weak scatterers.
        blocks: where packed numbers go.
    """
    top, _, faces = _drawn(dataset, "surface", dataset["weak_scatterer_elevation"].values)
    hull, pressure, panels = _drawn(dataset, "hull", dataset["weak_scatterer_pressure"].values)
    first = top[0]
    # of a half tank the other half is drawn as its image
    mirrored = bool(first[:, 1].min() >= 0.0)
    low, high = first[:, :2].min(0), first[:, :2].max(0)
    middle = 0.5 * (low + high) * [1.0, 0.0 if mirrored else 1.0]
    return {
        "mirrored": mirrored,
        "center": np.round(middle, 4).tolist(),
        "radius": round(float(0.5 * (high[0] - low[0])), 4),
        "surface": {
            "faces": _faces(faces),
            "position": blocks.add(top.reshape(len(top), -1)),
        },
        "hull": {
            "faces": _faces(panels),
            "position": blocks.add(hull.reshape(len(top), -1)),
            "pressure": blocks.add(pressure),
            "lowest": float(np.nanmin(pressure)),
            "highest": float(np.nanmax(pressure)),
        },
    }


def _drawn(
    dataset: xr.Dataset, name: str, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places, values and triangles; of a mesh that changes, every triangle has its own corners."""
    places = dataset[f"weak_scatterer_{name}"].values
    faces = dataset[f"weak_scatterer_{name}_triangles"].values.astype(int)
    if faces.ndim == 2:
        return places, values, faces
    times = np.arange(len(faces))[:, None]
    corners = faces.reshape(len(faces), -1)
    separate_triangles = np.arange(corners.shape[1]).reshape(-1, 3)
    return places[times, corners], values[times, corners], separate_triangles


def _faces(triangles: np.ndarray) -> str:
    return base64.b64encode(zlib.compress(triangles.astype("<u2").tobytes(), 9)).decode()
