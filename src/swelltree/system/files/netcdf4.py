"""The variables of a netCDF 4 file, read from HDF5 as plain arrays.

Such a file is HDF5 whose datasets refer to others, the scales, as their dimensions. Everything is
checked before it is followed, where the libraries that do the same halt on damaged files.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swelltree.system.errors import SwelltreeError
from swelltree.system.files.hdf5 import failing, open_hdf5
from swelltree.system.files.numbers import check_size
from swelltree.system.named_values import NamedValues

if TYPE_CHECKING:
    import h5py

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
    """Text and numbers; single ones as such."""
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
