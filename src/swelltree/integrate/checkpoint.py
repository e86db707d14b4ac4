"""Checkpoint files: one per chunk, written whole or not at all.

A file holds the state of the stepper at the end of its chunk, the outputs and times of the
chunk and the fingerprint of the run. Plain numpy archives without pickles, so that reading a
foreign file can do no harm: each array has to have the shape that the run asks for before memory is
taken for it, and members that are packed are refused.
"""

from __future__ import annotations

import errno
import math
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.files.atomic import NOT_A_FILE, clean_up, is_special, replacing
from swelltree.jit import Tree, flatten, leaves_of

if TYPE_CHECKING:
    from swelltree.integrate.problem import Carry

HEAD = re.compile(
    rb"\{'descr': '(?P<kind>[<>|=][biufcU]\d{1,9})', 'fortran_order': (?P<order>True|False), "
    rb"'shape': \((?P<shape>(?:\d{1,18},? ?){0,32})\), \} *\n"
)
MAX_WORD = 10_000  # bytes of a word
# what broken archives and heads of arrays raise
DAMAGED = (
    *(OSError, ValueError, KeyError, EOFError, RuntimeError, NotImplementedError),
    *(OverflowError, zipfile.BadZipFile, zlib.error),
)


def path(folder: Path, number: int) -> Path:
    return folder / f"chunk_{number:06d}.npz"


def index(file: Path) -> int:
    match = re.fullmatch(r"chunk_(\d{6,})", file.stem)
    if match is None:
        raise SwelltreeError(f"checkpoint '{file}': this is not a checkpoint file.")
    return int(match.group(1))


def prepare(folder: Path, resume: bool) -> None:
    """Create the folder; a folder with checkpoints is rejected unless the run is resumed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SwelltreeError(
            f"checkpoint '{folder}': the folder cannot be made ({error.strerror}). "
            "Choose a folder you may write to."
        ) from error
    clean_up(folder)
    if not resume and any(folder.glob("chunk_*.npz")):
        raise SwelltreeError(
            f"checkpoint '{folder}': the folder holds an earlier run. "
            "Resume it with resume=True or choose an empty folder."
        )


def write(
    file: Path, key: str, number: int, times: np.ndarray, carry: Carry, outputs: Tree
) -> None:
    """Write one chunk atomically."""
    arrays = {f"carry_{i}": x for i, x in enumerate(leaves_of(carry))}
    arrays |= {f"outputs_{i}": x for i, x in enumerate(leaves_of(outputs))}
    try:
        with replacing(file) as temporary, temporary.open("wb") as stream:
            np.savez(stream, key=np.array(key), number=np.array(number), times=times, **arrays)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise SwelltreeError(
            f"checkpoint '{file}': the file cannot be written ({error.strerror}). "
            "Free some disk space or choose another folder."
        ) from error


def read(
    file: Path, key: str, times: np.ndarray, carry_like: Carry, outputs_like: Tree
) -> tuple[Tree, Tree]:
    """Carry and outputs of a chunk, refusing a file that is not whole or not of this run.

    Args:
        file: the file.
        key: fingerprint of the run.
        times: output times of the chunk, padded.
        carry_like: tree with the shapes of the carry.
        outputs_like: tree with the shapes of the outputs.
    """
    likes = {"carry": carry_like, "outputs": outputs_like}
    try:
        with _opened(file) as archive:
            found_key = str(_member(archive, "key"))
            found_number = int(_member(archive, "number"))
            found_times, result = np.zeros(0), {}
            if found_key == key:  # else its arrays are of no interest
                found = _member(archive, "times", times)
                found_times = found_times if found is None else found
                result = {
                    f"{name}_{i}": _member(archive, f"{name}_{i}", leaf)
                    for name, like in likes.items()
                    for i, leaf in enumerate(leaves_of(like))
                }
    except DAMAGED as error:
        raise SwelltreeError(
            f"checkpoint '{file}': the file is damaged or truncated. "
            "Delete it and resume: the run continues from the file before it."
        ) from error
    if found_key != key:
        raise SwelltreeError(
            f"checkpoint '{file}': the file belongs to another case, other settings or other "
            "versions. Choose an empty folder, or go back to the case and versions it came from."
        )
    if found_number != index(file) or not np.array_equal(found_times, times):
        raise SwelltreeError(
            f"checkpoint '{file}': the file has other output times than this run. Choose an empty "
            "folder, or use the output times of the file."
        )
    trees = []
    for name, like in likes.items():
        leaves, structure = flatten(like)
        values = [result[f"{name}_{i}"] for i in range(len(leaves))]
        if any(value is None for value in values):
            raise SwelltreeError(
                f"checkpoint '{file}': its {name} does not fit this model. Choose an empty folder."
            )
        trees.append(structure.unflatten(values))
    return trees[0], trees[1]


@contextmanager
def _opened(file: Path) -> Iterator[zipfile.ZipFile]:
    """The archive in a regular file; reading a pipe could block for ever."""
    handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as stream:
        if is_special(os.fstat(stream.fileno()).st_mode):
            raise OSError(errno.EINVAL, NOT_A_FILE)
        with zipfile.ZipFile(stream) as archive:
            yield archive


def _member(archive: zipfile.ZipFile, name: str, like: Tree = None) -> Tree:
    """An array of an archive; None where there is none of the shape and kind that is asked for.

    Its size is compared with what its head says before it is read.

    Args:
        archive: that is open.
        name: of the array.
        like: array of the same shape and kind; None: one word or number.
    """
    info = archive.NameToInfo.get(f"{name}.npy")
    if info is None:
        if like is None:
            raise ValueError(f"there is no '{name}'")
        return None
    if info.compress_type != zipfile.ZIP_STORED or info.file_size > info.compress_size:
        raise ValueError(f"'{name}' is packed")  # we write none
    with archive.open(info) as stream:
        shape, is_fortran, dtype = _head(stream, name)
        if like is None and (shape != () or dtype.kind not in "Uiu" or dtype.itemsize > MAX_WORD):
            raise ValueError(f"'{name}' is not one word or number")
        if like is not None and (shape != like.shape or dtype != like.dtype):
            return None
        size = math.prod(shape) * dtype.itemsize
        content = stream.read(size + 1)  # and the end, where the checksum is compared
    if len(content) != size:
        raise ValueError(f"'{name}' has {len(content)} bytes")
    order = "F" if is_fortran else "C"
    return np.frombuffer(content, dtype).reshape(shape, order=order).copy()


def _head(stream: Tree, name: str) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, order and dtype of an array file, strictly in NumPy's format."""
    start = stream.read(10)
    found = None
    if start[:8] == b"\x93NUMPY\x01\x00":
        found = HEAD.fullmatch(stream.read(int.from_bytes(start[8:], "little")))
    if found is None:
        raise ValueError(f"'{name}' has an unknown format")
    shape = tuple(int(n) for n in found["shape"].split(b",") if n.strip())
    return shape, found["order"] == b"True", np.dtype(found["kind"].decode())
