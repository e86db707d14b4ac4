"""HDF5 files of others, looked at before they are read.

Links to other files are not followed: a file that is sent to somebody may not open others there.
Declared sizes are checked before memory is taken, since an empty array of any size costs nothing
to declare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from swelltree.system.errors import SwelltreeError
from swelltree.system.numbers import check_size

DEEPEST = 32  # groups within groups


@contextmanager
def open_hdf5(path: Path, what: str) -> Iterator[Any]:
    """An HDF5 file without links to other files and without arrays that no memory holds.

    Args:
        path: of the file.
        what: it is, for messages: "hydro data", "result file".
    """
    import h5py

    fail = _failing(path, what)
    try:
        file = h5py.File(path, "r")
    except Exception as error:  # the HDF5 library answers with many kinds
        raise broken(path, what, error) from None
    with file:
        try:
            _inspect(file, "", fail, 0)
            yield file
        except SwelltreeError:
            raise
        except (RuntimeError, OSError, KeyError) as error:  # metadata that are met later
            raise broken(path, what, error) from None


def _failing(path: Path, what: str) -> Callable[[str], SwelltreeError]:
    return lambda text: SwelltreeError(f"{what} '{path}': {text}")


def broken(path: Path, what: str, error: Exception) -> SwelltreeError:
    """The sentence about a file that the library cannot read."""
    text = " ".join(str(error).split())[:200] or type(error).__name__
    return SwelltreeError(f"{what} '{path}' cannot be read: {text}. Is the file whole?")


def _inspect(group: Any, name: str, fail: Callable[[str], SwelltreeError], depth: int) -> None:
    """Go through all that is in a group without following links out of the file."""
    import h5py

    if depth > DEEPEST:
        raise fail(f"'{name}' lies more than {DEEPEST} groups deep. Mend the file.")
    for key in group:
        whole = f"{name}/{key}"
        link = group.get(key, getlink=True)
        if isinstance(link, h5py.ExternalLink):
            raise fail(
                f"'{whole}' points to another file, '{link.filename}', which is not followed. "
                "Copy the values into this file."
            )
        if isinstance(link, h5py.SoftLink):
            continue  # to something in this file, which is met on its own way, or to nothing
        item = group[key]
        if isinstance(item, h5py.Group):
            _inspect(item, whole, fail, depth + 1)
        elif isinstance(item, h5py.Dataset):
            if item.is_virtual or item.external:
                raise fail(
                    f"'{whole}' keeps its values in another file, which is not followed. Copy "
                    "them into this file."
                )
            check_size(item.shape or (), f"'{whole}'", fail, max(item.dtype.itemsize, 1))
            _check_scales(item, whole, fail)


def _check_scales(item: Any, name: str, fail: Callable[[str], SwelltreeError]) -> None:
    """The dimensions of netCDF are lists of references; anything else halts the HDF5 library."""
    import h5py

    if "DIMENSION_LIST" not in item.attrs:
        return
    attribute = item.attrs.get_id("DIMENSION_LIST")
    kind = h5py.check_vlen_dtype(attribute.dtype)
    if kind is None or h5py.check_ref_dtype(kind) is None or attribute.shape != (item.ndim,):
        raise fail(f"'{name}' has a broken list of dimensions. Is the file whole?")


def read_value(file: Any, key: str, path: Path, what: str) -> Any:
    """What is stored under a key, None where there is nothing."""
    import h5py

    try:
        item = file.get(key)
        if item is None:
            return None
        if not isinstance(item, h5py.Dataset):
            raise _failing(path, what)(f"'{key}' is a group, not values. Mend the file.")
        return item[()]
    except SwelltreeError:
        raise
    except Exception as error:
        raise broken(path, what, error) from None


def as_numbers(value: Any, key: str, fail: Callable[[str], SwelltreeError]) -> np.ndarray:
    """Stored values as an array of real or complex numbers; NaN is left to whoever asks.

    Args:
        value: as the library gave it.
        key: its name.
        fail: makes the error from a text.
    """
    array = np.asarray(value)
    if array.dtype.kind not in "fiubc":
        raise fail(f"'{key}' holds {array.dtype.name} values where numbers are expected. Mend it.")
    if array.size == 0:
        raise fail(f"'{key}' is empty. Mend the file.")
    return array if array.dtype.kind == "c" else array.astype(float)
