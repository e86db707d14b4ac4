"""HDF5 files of others, looked at before they are read.

Links are not followed: a file that is sent to somebody may not open others there. Declared sizes
are checked before memory is taken, since an empty array of any size costs nothing to declare.
"""

from __future__ import annotations

import math
import mmap
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swelltree.describe.errors import SwelltreeError, error_in_file
from swelltree.describe.files.numbers import check_size
from swelltree.describe.values import NamedValues

if TYPE_CHECKING:
    import h5py


# --- Global heaps of HDF5 files, looked through before the HDF5 library does

HEAP = b"GCOL\x01\x00\x00\x00"  # signature and version
HEADER = struct.Struct("<8sQ")  # and the size of the heap with this header
OBJECT = struct.Struct("<HH4xQ")  # number (0: free space), references, size


def endless_heap(path: Path) -> int | None:
    """Where a heap begins that the HDF5 library would never finish, None if there is none.

    Args:
        path: of a file.
    """
    if path.stat().st_size < HEADER.size:
        return None
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        at = content.find(HEAP)
        while at >= 0:
            if _is_endless(content, at):
                return at
            at = content.find(HEAP, at + len(HEAP))
    return None


def _is_endless(content: mmap.mmap, start: int) -> bool:
    """Whether a heap contains an object of size zero."""
    if start + HEADER.size > len(content):
        return False
    end = start + HEADER.unpack_from(content, start)[1]
    at = start + HEADER.size
    while at + OBJECT.size <= min(end, len(content)):
        number, _, size = OBJECT.unpack_from(content, at)
        # free space is counted with its header, the others without, in steps of eight bytes
        step = size if number == 0 else OBJECT.size + (size + 7) // 8 * 8
        if step % 2**64 == 0:
            return True
        at += step
    return False


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
    """Factory of errors about a file."""
    return lambda text: SwelltreeError(f"{what} '{path}': {text}")


def broken(path: Path, what: str, error: Exception) -> SwelltreeError:
    """Error message for a file that the library cannot read."""
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
        """Visit everything in a group without following links."""
        import h5py

        if depth > DEEPEST:
            raise self.fail(f"'{name}' lies more than {DEEPEST} groups deep. Fix the file.")
        for key in group:
            full = f"{name}/{key}"
            self.objects += 1
            if self.objects > MOST_OBJECTS:
                raise self.fail(f"it holds more than {MOST_OBJECTS} objects. Fix the file.")
            link = group.get(key, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                raise self.fail(
                    f"'{full}' points to another file, '{link.filename}', which is not followed. "
                    "Copy the values into this file."
                )
            if isinstance(link, h5py.SoftLink):
                raise self.fail(
                    f"'{full}' is a link to '{link.path}', which is not followed. Copy the values."
                )
            item = group[key]
            if isinstance(item, h5py.Group):
                self.look(item, full, depth + 1)
            elif isinstance(item, h5py.Dataset):
                self._check_dataset(item, full)

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
    """Value stored under a key; None if absent."""
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


# --- The variables of a netCDF 4 file, read from HDF5 as plain arrays

DIMENSIONS = "DIMENSION_LIST"
# what netCDF keeps for itself among the attributes
INTERNAL = {
    *(DIMENSIONS, "REFERENCE_LIST", "CLASS", "NAME"),
    *("_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict", "_NCProperties"),
}
NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"

Fail = Callable[[str], SwelltreeError]


class Variable(NamedTuple):
    """A variable as stored.

    Args:
        dims: names of its dimensions.
        values: of it.
        attrs: of it, less those that netCDF keeps for itself.
    """

    dims: tuple[str, ...]
    values: np.ndarray
    attrs: NamedValues


def read_netcdf4(path: Path, what: str) -> tuple[dict[str, Variable], NamedValues]:
    """Variables and attributes of the root of a netCDF 4 file.

    Args:
        path: of the file.
        what: it is, for messages: "hydro data", "result file".
    """
    import h5py

    fail = failing(path, what)
    with open_hdf5(path, what) as file:
        items = {str(k): item for k in file if isinstance(item := file[k], h5py.Dataset)}
        scales = {key: item for key, item in items.items() if _is_scale(item)}
        result = {}
        for name, item in items.items():
            dims = _dims(file, name, item, scales, fail)
            if name in scales and _text(item.attrs.get("NAME", b"")).startswith(NO_VARIABLE):
                continue
            result[name] = Variable(dims, _values(item, name, fail), _attrs(item, name, fail))
        return result, _attrs(file, "", fail)


def _is_scale(item: h5py.Dataset) -> bool:
    return _text(item.attrs.get("CLASS", b"")) == b"DIMENSION_SCALE"


def _text(value: object) -> bytes:
    return value.encode() if isinstance(value, str) else value if isinstance(value, bytes) else b""


def _dims(
    file: h5py.File, name: str, item: h5py.Dataset, scales: dict, fail: Fail
) -> tuple[str, ...]:
    """Names of the dimensions, whose sizes are those of their scales."""
    import h5py

    count = len(item.shape or ())
    if not count:
        return ()
    if DIMENSIONS not in item.attrs:
        if name in scales and count == 1:
            return (name,)
        raise fail(f"'{name}' does not state its dimensions. Is it netCDF, and whole?")
    attribute = item.attrs.get_id(DIMENSIONS)
    kind = h5py.check_vlen_dtype(attribute.dtype)
    if kind is None or h5py.check_ref_dtype(kind) is None or attribute.shape != (count,):
        raise fail(f"'{name}' has a broken list of dimensions. Is the file whole?")
    dims = []
    for axis, references in enumerate(np.asarray(item.attrs[DIMENSIONS])):
        scale = file[references[0]] if len(references) == 1 and references[0] else None
        key = "" if scale is None or scale.name is None else scale.name.lstrip("/")
        if key not in scales or key in dims:
            raise fail(f"'{name}' has no dimension for axis {axis + 1}. Is the file whole?")
        if scales[key].shape[:1] != item.shape[axis : axis + 1]:
            raise fail(
                f"'{name}' has {item.shape[axis]} values along '{key}', which has "
                f"{scales[key].shape[:1]}. Is the file whole?"
            )
        dims.append(key)
    return tuple(dims)


def _values(item: h5py.Dataset, name: str, fail: Fail) -> np.ndarray:
    import h5py

    if item.shape is None:
        raise fail(f"'{name}' holds nothing. Fix the file.")
    if h5py.check_string_dtype(item.dtype) is not None and item.dtype.kind == "O":
        texts = np.asarray(item.asstr(errors="replace")[()], dtype=object)
        longest = max((len(text) for text in texts.reshape(-1)), default=0)
        check_size((*texts.shape, longest), f"'{name}'", fail, 4)
        return texts.astype(str)
    if item.dtype.kind not in "biufcS":
        raise fail(f"'{name}' holds {item.dtype} values, expected numbers or text. Fix it.")
    return np.asarray(item[()])


def _attrs(item: h5py.Dataset | h5py.File, name: str, fail: Fail) -> NamedValues:
    """Attributes: text and numbers; arrays of length one as scalars."""
    import h5py

    result = {}
    for key in item.attrs:
        if key in INTERNAL:
            continue
        kind = item.attrs.get_id(key).dtype
        if kind.kind not in "biufcSU" and h5py.check_string_dtype(kind) is None:
            raise fail(f"attribute '{key}' of '{name}' holds {kind} values. Fix it.")
        value = item.attrs[key]
        if isinstance(value, h5py.Empty):
            value = ""
        if isinstance(value, np.ndarray) and value.size == 1:
            value = value.reshape(-1)[0]
        result[key] = value.decode(errors="replace") if isinstance(value, bytes) else value
    return result
