"""Free surface and pressure on hulls of weak scatterers as VTK files, for ParaView."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.system.errors import SwelltreeError
from swelltree.system.files.whole_files import write_whole

if TYPE_CHECKING:
    import xarray as xr

# what is drawn: places, triangles, values at vertices
PIECES = {
    "surface": ("weak_scatterer_surface", "weak_scatterer_surface_triangles", "elevation"),
    "hull": ("weak_scatterer_hull", "weak_scatterer_hull_triangles", "pressure"),
}


def write_vtk(dataset: xr.Dataset, path: Path) -> Path:
    """Write every sample of both surfaces, and a collection that knows their times.

    Args:
        dataset: result of a run with weak scatterers.
        path: of the collection (.pvd); the files of samples go into a folder of its name.
    """
    if "time" not in dataset.dims or "weak_scatterer_surface" not in dataset:
        raise SwelltreeError(
            f"export '{path}': this result has no computed free surface. Describe a WeakScatterer "
            "and simulate."
        )
    folder = path.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for number, t in enumerate(dataset.time.values):
        for part, (word, names) in enumerate(PIECES.items()):
            name = f"{word}_{number:05d}.vtp"
            text = _piece(dataset.isel(time=number), *names)
            write_whole(folder / name, text)
            rows.append(
                f'<DataSet timestep="{float(t)!r}" part="{part}" file="{folder.name}/{name}"/>'
            )
    write_whole(path, _file("Collection", "\n".join(rows)))
    return path


def _piece(sample: xr.Dataset, places: str, triangles: str, value: str) -> str:
    """One surface at one time."""
    points, faces = sample[places].values, sample[triangles].values.astype(int)
    faces = faces[faces[:, 0] != faces[:, 1]]  # a mesh that changes has room to spare
    values = sample[f"weak_scatterer_{value}"].values
    ends = 3 * np.arange(1, len(faces) + 1)
    inside = (
        f'<Piece NumberOfPoints="{len(points)}" NumberOfPolys="{len(faces)}">'
        f'<PointData Scalars="{value}">{_array(value, values)}</PointData>'
        f"<Points>{_array('points', points)}</Points>"
        f"<Polys>{_array('connectivity', faces)}{_array('offsets', ends)}</Polys></Piece>"
    )
    return _file("PolyData", inside)


def _array(name: str, values: np.ndarray) -> str:
    kind = "Int64" if values.dtype.kind in "iu" else "Float64"
    width = values.shape[1] if values.ndim > 1 and name == "points" else 1
    numbers = " ".join(map(repr, values.reshape(-1).tolist()))
    return (
        f'<DataArray type="{kind}" Name="{name}" NumberOfComponents="{width}" format="ascii">'
        f"{numbers}</DataArray>"
    )


def _file(kind: str, inside: str) -> str:
    return f'<VTKFile type="{kind}" version="0.1">\n<{kind}>\n{inside}\n</{kind}>\n</VTKFile>\n'
