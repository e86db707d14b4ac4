"""HDF5 files of others, looked at before they are read.

Links are not followed: a file that is sent to somebody may not open others there. Declared sizes
are checked before memory is taken, since an empty array of any size costs nothing to declare.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.system.errors import SwelltreeError, error_in_file
from swelltree.system.files.hdf5_heaps import endless_heap
from swelltree.system.files.numbers import check_size

if TYPE_CHECKING:
    import h5py

DEEPEST = 32  # groups within groups
MOST_OBJECTS = 20_000  # a group that holds itself has no end
UNSTORED = 64 * 2**20  # bytes that a file may declare without storing them
MOST_PACKED = 1100  # deflate makes nothing smaller than by 1032


@contextmanager
def open_hdf5(path: Path, what: str) -> Iterator[h5py.File]:
    """An HDF5 file without links to other files and without arrays that no memory holds.

    Args:
        path: of the file.
        what: it is, for messages: "hydro data", "result file".
    """
    import h5py

    try:
        heap = endless_heap(path)
        if heap is not None:
            raise failing(path, what)(
                f"the store of texts at byte {heap} is broken. Is the file whole?"
            )
        file = h5py.File(path, "r")
    except SwelltreeError:
        raise
    except Exception as error:  # the HDF5 library answers with many kinds
        raise broken(path, what, error) from None
    with file:
        try:
            Inspection(failing(path, what), path.stat().st_size).look(file, "", 0)
            yield file
        except SwelltreeError:
            raise
        except (RuntimeError, OSError, KeyError, ValueError, TypeError) as error:
            raise broken(path, what, error) from None  # metadata that are met later


def failing(path: Path, what: str) -> Callable[[str], SwelltreeError]:
    """What makes an error about a file from a text."""
    return lambda text: SwelltreeError(f"{what} '{path}': {text}")


def broken(path: Path, what: str, error: Exception) -> SwelltreeError:
    """The message about a file that the library cannot read."""
    text = " ".join(str(error).split())[:200] or type(error).__name__
    return error_in_file(f"{what} '{path}' cannot be read: {text}. Is the file whole?")


class Inspection:
    """One walk through a file before anything is read from it.

    Args:
        fail: makes the error from a text.
        stored: bytes of the file.
    """

    def __init__(self, fail: Callable[[str], SwelltreeError], stored: int) -> None:
        self.fail = fail
        self.most = max(UNSTORED, MOST_PACKED * stored)
        self.declared = 0
        self.objects = 0

    def look(self, group: h5py.Group, name: str, depth: int) -> None:
        """Go through all that is in a group without following links."""
        import h5py

        if depth > DEEPEST:
            raise self.fail(f"'{name}' lies more than {DEEPEST} groups deep. Fix the file.")
        for key in group:
            whole = f"{name}/{key}"
            self.objects += 1
            if self.objects > MOST_OBJECTS:
                raise self.fail(f"it holds more than {MOST_OBJECTS} objects. Fix the file.")
            link = group.get(key, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                raise self.fail(
                    f"'{whole}' points to another file, '{link.filename}', which is not followed. "
                    "Copy the values into this file."
                )
            if isinstance(link, h5py.SoftLink):
                raise self.fail(
                    f"'{whole}' is a link to '{link.path}', which is not followed. Copy the values."
                )
            item = group[key]
            if isinstance(item, h5py.Group):
                self.look(item, whole, depth + 1)
            elif isinstance(item, h5py.Dataset):
                self._check_dataset(item, whole)

    def _check_dataset(self, item: h5py.Dataset, name: str) -> None:
        if item.is_virtual or item.external:
            raise self.fail(
                f"'{name}' keeps its values in another file, which is not followed. Copy "
                "them into this file."
            )
        size = max(item.dtype.itemsize, 1)
        check_size(item.shape or (), f"'{name}'", self.fail, size)
        self.declared += math.prod(item.shape or ()) * size
        if self.declared > self.most:
            raise self.fail(
                f"up to '{name}' it declares {self.declared} bytes, far more than it stores. "
                "Is the file whole?"
            )


def read_value(file: h5py.Group, key: str, path: Path, what: str) -> object:
    """What is stored under a key, None where there is nothing."""
    import h5py

    try:
        item = file.get(key)
        if item is None:
            return None
        if not isinstance(item, h5py.Dataset):
            raise failing(path, what)(f"'{key}' is a group, not values. Fix the file.")
        return item[()]
    except SwelltreeError:
        raise
    except Exception as error:
        raise broken(path, what, error) from None


def as_numbers(value: object, key: str, fail: Callable[[str], SwelltreeError]) -> np.ndarray:
    """Stored values as an array of real or complex numbers; NaN is left to whoever asks.

    Args:
        value: as the library gave it.
        key: its name.
        fail: makes the error from a text.
    """
    array = np.asarray(value)
    if array.dtype.kind not in "fiubc":
        raise fail(f"'{key}' holds {array.dtype.name} values where numbers are expected. Fix it.")
    if array.size == 0:
        raise fail(f"'{key}' is empty. Fix the file.")
    return array if array.dtype.kind == "c" else array.astype(float)
