"""Result files: netCDF, written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from swelltree.system.errors import SwelltreeError, suggest

if TYPE_CHECKING:
    import xarray as xr


def save(dataset: xr.Dataset, path: str | Path) -> Path:
    """Write a result as netCDF; a crash leaves either the whole file or none.

    Args:
        dataset: a result.
        path: of the file, usually ending in .nc; an older file is replaced.
    """
    path = Path(path)
    if path.is_dir():
        raise SwelltreeError(f"cannot write '{path}': it is a folder. Name a file in it.")
    temporary = reserve(path)
    try:
        # h5netcdf keeps the file it was given, so the name stays ours to rename
        _parts(dataset).to_netcdf(temporary, engine="h5netcdf")
        os.replace(temporary, path)
    except OSError as error:
        raise unwritable(path, error) from None
    finally:
        temporary.unlink(missing_ok=True)
    return path


def _parts(dataset: xr.Dataset) -> xr.Dataset:
    """Complex variables as two real ones, which every netCDF reader knows."""
    for name in [n for n, x in dataset.data_vars.items() if x.dtype.kind == "c"]:
        value = dataset[name]
        about = value.attrs | {"complex": str(name)}
        parts = {"real": value.real.assign_attrs(about), "imag": value.imag.assign_attrs(about)}
        dataset = dataset.drop_vars([name])
        dataset = dataset.assign({f"{name}_{part}": x for part, x in parts.items()})
    return dataset


def _joined(dataset: xr.Dataset) -> xr.Dataset:
    """Complex variables put together again."""
    for name in {x.attrs["complex"] for x in dataset.data_vars.values() if "complex" in x.attrs}:
        real, imag = dataset[f"{name}_real"], dataset[f"{name}_imag"]
        about = {key: text for key, text in real.attrs.items() if key != "complex"}
        whole = real + 1j * imag
        whole.attrs = about
        dataset = dataset.drop_vars([f"{name}_real", f"{name}_imag"]).assign({name: whole})
    return dataset


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write a text or picture whole or not at all."""
    temporary = reserve(path)
    try:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(temporary, path)
    except OSError as error:
        raise unwritable(path, error) from None
    finally:
        temporary.unlink(missing_ok=True)
    return path


def make_folder(folder: str | Path) -> Path:
    """A folder for results, made if need be, and seen to be writable before work is done."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "a file has that name" if folder.exists() else error.strerror
        raise SwelltreeError(
            f"cannot make the folder '{folder}': {reason}. Choose another folder."
        ) from None
    reserve(folder / "x").unlink()
    return folder


def reserve(path: Path) -> Path:
    """An empty file with another name beside the one to be written."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    except OSError as error:
        raise unwritable(path, error) from None
    os.close(handle)
    mask = os.umask(0)  # mkstemp gives 0600; results are as readable as other files
    os.umask(mask)
    os.chmod(name, 0o666 & ~mask)
    return Path(name)


def unwritable(path: Path, error: OSError) -> SwelltreeError:
    """Why a file cannot be written, and what to do."""
    if not path.parent.is_dir():
        return SwelltreeError(
            f"cannot write '{path}': the folder '{path.parent}' does not exist. Make it first."
        )
    return SwelltreeError(
        f"cannot write '{path}': {error.strerror or error}. Choose a folder you may write to."
    )


def load_result(path: str | Path) -> xr.Dataset:
    """Read a result file into memory."""
    import xarray as xr

    path = Path(path)
    if not path.is_file():
        near = [file.name for file in path.parent.glob("*.nc")] if path.parent.is_dir() else []
        hint = suggest(path.name, near) or " Check the path."
        raise SwelltreeError(f"result file '{path}' does not exist.{hint}")
    try:
        with xr.open_dataset(path, engine="h5netcdf") as dataset:
            return _joined(dataset.load())
    except Exception as error:  # the HDF5 library answers with many kinds
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SwelltreeError(
            f"result file '{path}' cannot be read: {text}. Is it a netCDF file and whole?"
        ) from None
