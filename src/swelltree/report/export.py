"""A result in the format that the ending of a file name asks for."""

from __future__ import annotations

import csv
import io
import itertools
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed
from swelltree.describe.files.atomic import write_atomic

if TYPE_CHECKING:
    import xarray as xr

ENDINGS = (".glb", ".usda", ".gif", ".mp4", ".png", ".svg", ".pdf", ".pvd", ".csv", ".mat")
AXES = ("time", "omega", "case", "mode")  # of which a table has one row for each value
LONGEST_NAME = 63  # of a variable in MATLAB


def export(dataset: xr.Dataset, path: str | Path) -> Path:
    """Write a result as a 3-D scene, film, plot or table.

    Scenes are animated: glTF (.glb), USD (.usda). Films are .gif or .mp4, plots .png, .svg or .pdf.
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
        from swelltree.report.film import write_gltf

        return write_gltf(dataset, path)
    if ending == ".usda":
        from swelltree.report.usd import write_usd

        return write_usd(dataset, path)
    if ending in (".gif", ".mp4"):
        from swelltree.report.film import write_film

        return write_film(dataset, path)
    if ending in (".png", ".svg", ".pdf"):
        from swelltree.report import plots as plot

        return plot.write_figure(usual_plot(dataset), path)
    if ending == ".pvd":
        from swelltree.report.film import write_vtk

        return write_vtk(dataset, path)
    if ending in (".csv", ".mat"):
        return (write_csv if ending == ".csv" else write_mat)(dataset, path)
    raise SwelltreeError(
        f"export '{path}': the ending '{ending}' is not known. Give one of {', '.join(ENDINGS)}."
    )


def usual_plot(dataset: xr.Dataset):
    """Default plot of a result: motions of a run, responses, the first mode."""
    from swelltree.report import plots as plot

    if "time" in dataset.dims and "position" in dataset:
        return plot.motion(dataset)
    if "rao" in dataset:
        return plot.rao(dataset)
    if "shape_real" in dataset:
        return plot.mode(dataset)
    raise SwelltreeError("this result has no default plot. Use swelltree.plot in Python.")


# --- Plain tables (.csv) and arrays for MATLAB and Octave (.mat)


def write_csv(dataset: xr.Dataset, path: Path) -> Path:
    """A table with a row for each time, frequency, case or mode.

    A column is one entry of a variable along its other axes, "position.float.Heave [m]"; complex
    ones have a column for the real and one for the imaginary part. Variables without the axis of
    the rows are left out.

    Args:
        dataset: a result.
        path: ending in .csv.
    """
    axis = next((name for name in AXES if name in dataset.dims), None)
    if axis is None:
        raise SwelltreeError(
            f"export '{path}': a table needs an axis for its rows, one of {listed(AXES)}. Write "
            "the result as .mat, which holds any shape."
        )
    rows = dataset[axis] if axis in dataset.coords else np.arange(dataset.sizes[axis])
    header, columns = [_headed(axis, dataset[axis])], [np.asarray(rows)]
    for name, values in dataset.variables.items():
        if name == axis or axis not in values.dims:
            continue
        array = dataset[name].transpose(axis, ...)
        labels = [_labels(dataset, str(dim)) for dim in array.dims[1:]]
        flat = array.values.reshape(array.sizes[axis], -1)
        for k, entry in enumerate(itertools.product(*labels)):
            title = ".".join((str(name), *entry))
            parts = {"": flat[:, k]}
            if np.iscomplexobj(flat):
                parts = {".real": np.real(flat[:, k]), ".imag": np.imag(flat[:, k])}
            for ending, column in parts.items():
                header.append(_headed(title + ending, array))
                columns.append(column)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(header)
    table.writerows(zip(*(column.tolist() for column in columns), strict=True))
    return write_atomic(path, text.getvalue().encode())


def write_mat(dataset: xr.Dataset, path: Path) -> Path:
    """All variables and coordinates by name, with structs `dims`, `units` and `attributes`.

    Names of bodies and the like are cell arrays; times and frequencies are columns.

    Args:
        dataset: a result.
        path: ending in .mat.
    """
    from scipy.io import savemat

    names = _mat_names([str(name) for name in dataset.variables], ("dims", "units", "attributes"))
    content: dict[str, object] = {}
    dims, units = {}, {}
    for name, values in dataset.variables.items():
        short = names[str(name)]
        content[short] = _mat_value(np.asarray(dataset[name].values))
        dims[short] = np.array([str(dim) for dim in values.dims], dtype=object)
        units[short] = str(values.attrs.get("units", ""))
    keys = _mat_names([str(key) for key in dataset.attrs])
    attributes = {keys[str(key)]: _plain(value) for key, value in dataset.attrs.items()}
    file = io.BytesIO()
    content |= {"dims": dims, "units": units, "attributes": attributes}
    savemat(file, content, long_field_names=True, oned_as="column", do_compression=True)
    return write_atomic(path, file.getvalue())


def _headed(title: str, array: xr.DataArray) -> str:
    units = str(array.attrs.get("units", ""))
    return f"{title} [{units}]" if units else title


def _labels(dataset: xr.Dataset, dim: str) -> list[str]:
    """Labels along an axis, indices without labels."""
    if dim in dataset.coords:
        return [str(value) for value in dataset[dim].values.tolist()]
    return [str(k) for k in range(dataset.sizes[dim])]


def _mat_value(values: np.ndarray) -> object:
    """Numbers unchanged, texts as cells, times as texts."""
    if values.dtype.kind in "biufc":
        return values
    return np.array(values.astype(str).tolist(), dtype=object)


def _plain(value: object) -> object:
    if isinstance(value, int | float | np.number):
        return value
    if isinstance(value, np.ndarray | list | tuple):
        return _mat_value(np.asarray(value))
    return str(value)


def _mat_names(names: list[str], taken: tuple[str, ...] = ()) -> dict[str, str]:
    """Unique names valid in MATLAB."""
    result: dict[str, str] = {}
    used = set(taken)
    for name in names:
        plain = re.sub(r"\W", "_", name, flags=re.ASCII)
        plain = plain if plain[:1].isalpha() else f"x_{plain}"
        short, k = plain[:LONGEST_NAME], 0
        while short in used:
            k += 1
            short = f"{plain[: LONGEST_NAME - 1 - len(str(k))]}_{k}"
        used.add(short)
        result[name] = short
    return result
