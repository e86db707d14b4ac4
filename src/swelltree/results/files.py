"""Result files: netCDF, written whole or not at all."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, suggest
from swelltree.describe.files.atomic import clean_up, user_path, write_atomic
from swelltree.describe.files.hdf5 import open_hdf5
from swelltree.waves.measured import open_netcdf

if TYPE_CHECKING:
    import xarray as xr

LAYOUT = "layout"  # the attribute that states what a file should hold
MARKS = "attribute_marks"  # the attribute that reveals changed attributes


def save(dataset: xr.Dataset, path: str | Path) -> Path:
    """Write a result as netCDF; a crash leaves either the whole file or none.

    The file is made in memory: HDF5 ends the process when a disk fills up under an open file.

    Args:
        dataset: a result.
        path: of the file, usually ending in .nc; an older file is replaced.
    """
    content = io.BytesIO()
    stored = _parts(dataset)
    about = {LAYOUT: json.dumps(_layout(stored)), MARKS: json.dumps(_marks(stored))}
    stored.assign_attrs(about).to_netcdf(content, engine="h5netcdf")
    return write_atomic(Path(path), content.getbuffer())


def _parts(dataset: xr.Dataset) -> xr.Dataset:
    """Complex variables as two real ones, which every netCDF reader supports."""
    for name in [n for n, x in dataset.data_vars.items() if x.dtype.kind == "c"]:
        value = dataset[name]
        about = value.attrs | {"complex": str(name)}
        parts = {"real": value.real.assign_attrs(about), "imag": value.imag.assign_attrs(about)}
        dataset = dataset.drop_vars([name])
        dataset = dataset.assign({f"{name}_{part}": x for part, x in parts.items()})
    return dataset


def _joined(dataset: xr.Dataset) -> xr.Dataset:
    """Complex variables restored from two real ones."""
    for name in {x.attrs["complex"] for x in dataset.data_vars.values() if "complex" in x.attrs}:
        real, imag = dataset[f"{name}_real"], dataset[f"{name}_imag"]
        about = {key: text for key, text in real.attrs.items() if key != "complex"}
        full = real + 1j * imag
        full.attrs = about
        dataset = dataset.drop_vars([f"{name}_real", f"{name}_imag"]).assign({name: full})
    return dataset


def _layout(dataset: xr.Dataset) -> dict[str, list[str]]:
    """Dimensions and kind (number or text) of every variable."""

    def kind(x: xr.Variable) -> str:
        return "nothing" if not x.size else "text" if x.dtype.kind in "OSU" else "numbers"

    return {str(name): [*map(str, x.dims), kind(x)] for name, x in dataset.variables.items()}


def _marks(dataset: xr.Dataset) -> dict[str, int]:
    """Checksums of all attributes."""
    owners = {"": dataset.attrs} | {str(n): x.attrs for n, x in dataset.variables.items()}
    return {
        f"{owner}.{name}" if owner else str(name): zlib.crc32(
            _plain(value).encode("utf-8", "replace")
        )
        for owner, attrs in owners.items()
        for name, value in attrs.items()
        if name not in (LAYOUT, MARKS)
    }


def _plain(value: object) -> str:
    """Text that is identical before writing an attribute and after reading it."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, bool | int | float | np.number | np.bool_):
        return repr(float(value))
    if isinstance(value, list | tuple | np.ndarray):
        return ",".join(_plain(x) for x in np.asarray(value).ravel())
    return "" if value is None else str(value)


def _check_marks(dataset: xr.Dataset, path: Path) -> None:
    """Reject a file with changed attributes; new ones are accepted."""
    text = dataset.attrs.pop(MARKS, None)
    if text is None:
        return
    try:
        saved = dict(json.loads(text))
    except (ValueError, TypeError, RecursionError):
        raise SwelltreeError(f"result file '{path}': its '{MARKS}' is broken. Rerun it.") from None
    marks = _marks(dataset)
    for name, mark in saved.items():
        if marks.get(name) != mark:
            raise SwelltreeError(
                f"result file '{path}': its attribute '{str(name)[:60]}' is not what was saved. "
                "Rerun it, or save what xarray reads with swelltree.save."
            )


def _check_layout(dataset: xr.Dataset, path: Path) -> xr.Dataset:
    """Refuse a file that no longer holds what was saved in it; files of others say nothing."""
    text = dataset.attrs.get(LAYOUT)
    if text is None:
        return dataset
    try:
        saved = dict(json.loads(text))
    except (ValueError, TypeError, RecursionError):
        raise SwelltreeError(f"result file '{path}': its '{LAYOUT}' is broken. Rerun it.") from None
    layout = _layout(dataset)
    for name in [*saved, *layout]:
        if saved.get(name) != layout.get(name):
            raise SwelltreeError(
                f"result file '{path}': '{name}' was saved as {_of(saved, name)} and is now "
                f"{_of(layout, name)}. Is the file whole?"
            )
    dataset = dataset.copy()
    del dataset.attrs[LAYOUT]
    _check_marks(dataset, path)
    return dataset


def _of(layout: dict[str, list[str]], name: str) -> str:
    if name not in layout:
        return "absent"
    *dims, kind = layout[name] or ["unknown"]
    return f"{kind} over ({', '.join(map(str, dims))})"


def make_folder(folder: str | Path) -> Path:
    """Create a folder for results and check that it is writable before the work starts."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "a file has that name" if folder.exists() else error.strerror
        raise SwelltreeError(
            f"cannot make the folder '{folder}': {reason}. Choose another folder."
        ) from None
    clean_up(folder)
    write_atomic(folder / ".swelltree", "").unlink(missing_ok=True)
    return folder


def place_of(case: Path, folder: Path) -> str:
    """Location of a case relative to the folder of its results: both may be moved."""
    place = case.resolve().parent
    try:
        way = os.path.relpath(place, folder.resolve())
    except ValueError:  # on another drive
        way = str(place)
    return hashlib.sha256(Path(way).as_posix().encode()).hexdigest()[:16]


def refuse_results_of_others(path: Path, case: Path) -> None:
    """Reject overwriting the results of another case."""
    if not path.is_file():
        return
    here = place_of(case, path.parent)
    try:
        with open_hdf5(path, "result file") as file:
            owner = _text(file.attrs.get("case_file", case.name))
            place = _text(file.attrs.get("case_place", here))
    except SwelltreeError:  # not whole, or not ours: there is no result to lose
        return
    if owner != case.name:
        raise SwelltreeError(
            f"'{path}' holds a result of the case '{owner}', not of '{case.name}'. "
            "Choose another folder with --out."
        )
    if place != here:
        raise SwelltreeError(
            f"'{path}' holds a result of a case '{owner}' of another folder. Choose another folder "
            "for this one with --out, or remove that file."
        )


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def load_result(path: str | Path) -> xr.Dataset:
    """Read a result file into memory.

    Args:
        path: of a .nc file; `dataset.encoding["source"]` holds it.
    """
    path = user_path(path, "result file")
    if not path.is_file():
        near = [file.name for file in path.parent.glob("*.nc")] if path.parent.is_dir() else []
        hint = suggest(path.name, near) or " Check the path."
        raise SwelltreeError(f"result file '{path}' does not exist.{hint}")
    dataset = _check_layout(open_netcdf(path, "result file"), path)
    _check_time(dataset, path)
    result = _joined(dataset)
    result.encoding["source"] = str(path)
    return result


def _check_time(dataset: xr.Dataset, path: Path) -> None:
    """Reject NaN times."""
    if "time" not in dataset.coords or dataset["time"].dtype.kind != "f":
        return
    time = np.atleast_1d(dataset["time"].values)
    if not np.isfinite(time).all():
        k = int(np.argmin(np.isfinite(time)))
        raise SwelltreeError(
            f"result file '{path}': sample {k} has the time {time[k]}. Is the file whole?"
        )
