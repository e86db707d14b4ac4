"""A result in the format that the ending of a file name asks for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from swelltree.describe.errors import SwelltreeError

if TYPE_CHECKING:
    import xarray as xr

ENDINGS = (".glb", ".gif", ".mp4", ".png", ".svg", ".pdf", ".pvd", ".csv", ".mat")


def export(dataset: xr.Dataset, path: str | Path) -> Path:
    """Write a result as animated glTF (.glb), film (.gif, .mp4) or plot (.png, .svg, .pdf).

    All numbers are written as a table (.csv, a row for each time, frequency, case or mode) or for
    MATLAB and Octave (.mat). Of weak scatterers the computed free surface and the pressure on hulls
    are written for VTK (.pvd, with one file for each sample beside it).

    Args:
        dataset: a result.
        path: the file; its ending chooses the format.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending == ".glb":
        from swelltree.report.gltf import write_gltf

        return write_gltf(dataset, path)
    if ending in (".gif", ".mp4"):
        from swelltree.report.film import write_film

        return write_film(dataset, path)
    if ending in (".png", ".svg", ".pdf"):
        from swelltree.report import plots as plot

        return plot.write_figure(usual_plot(dataset), path)
    if ending == ".pvd":
        from swelltree.report.gltf import write_vtk

        return write_vtk(dataset, path)
    if ending == ".csv":
        from swelltree.report.arrays_out import write_csv

        return write_csv(dataset, path)
    if ending == ".mat":
        from swelltree.report.arrays_out import write_mat

        return write_mat(dataset, path)
    raise SwelltreeError(
        f"export '{path}': the ending '{ending}' is not known. Give one of {', '.join(ENDINGS)}."
    )


def usual_plot(dataset: xr.Dataset):
    """The plot that fits a result: motions of a run, responses, the first mode."""
    from swelltree.report import plots as plot

    if "time" in dataset.dims and "position" in dataset:
        return plot.motion(dataset)
    if "rao" in dataset:
        return plot.rao(dataset)
    if "shape_real" in dataset:
        return plot.mode(dataset)
    raise SwelltreeError("this result has no default plot. Use swelltree.plot in Python.")
