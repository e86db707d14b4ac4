"""Tables in MATLAB's binary files (.mat, versions 5 to 7), read with care.

Only what wave records and tables of conditions need is read: matrices of real numbers, texts, cells
and structures. Sizes are checked before memory is taken, and cells in cells have an end, which
those of `scipy.io.loadmat` have not: it overflows the stack. Files of version 7.3 are HDF5 and are
rejected with an error message.
"""

from __future__ import annotations

import math
import struct
import zlib
from pathlib import Path
from typing import NoReturn

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.files.atomic import plain_bytes, plain_text
from swelltree.describe.values import NamedValues

MAX_BYTES = 256 * 2**20  # of the file, and unpacked of all variables together
MAX_NUMBERS = 2**24  # of one matrix
MAX_DEPTH = 8  # cells in structures in cells
MAX_ITEMS = 100_000
TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
TEXT = {16: "utf-8", 17: "utf-16", 18: "utf-32"}
MATRIX, COMPRESSED = 14, 15
CELL, STRUCTURE, CHARACTERS = 1, 2, 4


def read_mat(path: Path) -> NamedValues:
    """Variables of a .mat file: matrices, texts, lists (cells) and dicts (structures).

    Args:
        path: of the file.
    """
    try:
        content = plain_bytes(path, MAX_BYTES)
    except OSError as error:
        raise SwelltreeError(f"MATLAB file '{path}' cannot be read: {error.strerror}.") from None
    if content.startswith((b"\x89HDF", b"MATLAB 7.3")):
        _refuse(path, "it is of version 7.3")
    if len(content) < 136 or content[126:128] not in (b"IM", b"MI"):
        _refuse(path, "it is not a MATLAB file of version 5 to 7")
    order = "<" if content[126:128] == b"IM" else ">"
    try:
        return _Reader(order).variables(content[128:])
    except (struct.error, zlib.error, ValueError, OverflowError) as error:
        _refuse(path, " ".join(str(error).split())[:80] or "it is damaged")


def _refuse(path: Path, why: str) -> NoReturn:
    raise SwelltreeError(
        f"MATLAB file '{path}': {why}. Save it in MATLAB with save(..., '-v7'), or as text."
    )


class _Reader:
    def __init__(self, order: str) -> None:
        self.order = order
        self.left = MAX_BYTES
        self.items = MAX_ITEMS

    def variables(self, content: bytes) -> NamedValues:
        result: NamedValues = {}
        at = 0
        while at + 8 <= len(content):
            kind, data, at = self.element(content, at)
            if kind == COMPRESSED:
                unpacked = zlib.decompressobj().decompress(data, self.left + 1)
                self.left -= len(unpacked)
                if self.left < 0:
                    raise ValueError("it unpacks to more than 256 MiB")
                kind, data, _ = self.element(unpacked, 0)
            if kind == MATRIX:
                name, value = self.matrix(data, 0)
                result[name] = value
        return result

    def element(self, content: bytes, at: int) -> tuple[int, bytes, int]:
        """Kind and bytes of the element that begins here, and where the next one does."""
        if at + 8 > len(content):
            raise ValueError("it ends too early")
        kind, size = struct.unpack_from(f"{self.order}II", content, at)
        if kind >> 16:  # short: size and kind in one word, four bytes of data
            kind, size, start, following = kind & 0xFFFF, kind >> 16, at + 4, at + 8
        else:
            start = at + 8
            following = start + size + (0 if kind == COMPRESSED else -size % 8)
        if size > len(content) - start:
            raise ValueError("it ends too early")
        return kind, content[start : start + size], following

    def numbers(self, content: bytes, at: int) -> tuple[np.ndarray, int]:
        kind, data, at = self.element(content, at)
        if kind not in TYPES:
            raise ValueError(f"it holds numbers of the unknown kind {kind}")
        form = np.dtype(f"{self.order}{TYPES[kind]}")
        return np.frombuffer(data, form, len(data) // form.itemsize), at

    def matrix(self, content: bytes, depth: int) -> tuple[str, object]:
        self.items -= 1
        if depth > MAX_DEPTH or self.items < 0:
            raise ValueError("its cells are too deep or too many")
        if not content:
            return "", np.zeros((0, 0))
        flags, at = self.numbers(content, 0)
        sizes, at = self.numbers(content, at)
        _, raw, at = self.element(content, at)
        name = raw.decode("latin-1")[:200]
        shape = [int(n) for n in sizes]
        if not flags.size or min(shape, default=-1) < 0 or len(shape) > 4:
            raise ValueError("a variable has no size")
        count = math.prod(shape)
        kind = int(flags[0]) & 0xFF
        if kind in (CELL, STRUCTURE):
            return name, self.compound(content, at, kind, count, depth)
        if kind == CHARACTERS:
            return name, self.text(content, at)
        if not 6 <= kind <= 15 or int(flags[0]) & 0x0800:
            raise ValueError(f"'{name[:30]}' is not made of real numbers")
        values, _ = self.numbers(content, at)
        if values.size != count or count > MAX_NUMBERS:
            raise ValueError(f"'{name[:30]}' has {values.size} numbers of {count}")
        return name, values.astype(float).reshape(shape[0], -1 if count else 0, order="F")

    def text(self, content: bytes, at: int) -> str:
        kind, data, _ = self.element(content, at)
        if kind in TEXT:
            mark = "" if kind == 16 else "-le" if self.order == "<" else "-be"
            return data.decode(TEXT[kind] + mark)
        values, _ = self.numbers(content, at)
        return "".join(chr(int(c)) for c in values[:100_000] if 0 <= c < 0xD800)

    def compound(self, content: bytes, at: int, kind: int, count: int, depth: int) -> object:
        """A cell as a list, a structure as a dict."""
        names = [""]
        if kind == STRUCTURE:
            width, at = self.numbers(content, at)
            _, raw, at = self.element(content, at)
            size = int(width[0]) if width.size else 0
            if size < 1:
                raise ValueError("a structure has no names")
            parts = [raw[k : k + size] for k in range(0, len(raw), size)]
            names = [part.split(b"\0")[0].decode("latin-1") for part in parts]
        values = []
        for _ in range(min(count * len(names), self.items + 1)):
            part, data, at = self.element(content, at)
            if part != MATRIX:
                raise ValueError("a cell holds no variable")
            values.append(self.matrix(data, depth + 1)[1])
        return values if kind == CELL else dict(zip(names, values, strict=False))


def columns_of(path: Path) -> np.ndarray:
    """The one matrix of a .mat or text file that has two columns or more, a row for each time.

    Args:
        path: of the file.
    """
    if path.suffix.lower() == ".mat":
        found = [x for x in read_mat(path).values() if isinstance(x, np.ndarray)]
    else:
        try:
            lines = plain_text(path, MAX_BYTES).replace(",", " ").splitlines()
            found = [np.array([[float(x) for x in line.split()] for line in lines if line.strip()])]
        except (OSError, ValueError):
            found = []
    found = [x for x in found if x.ndim == 2 and min(x.shape) >= 2]
    if len(found) != 1 or not np.isfinite(found[0]).all():
        raise SwelltreeError(
            f"'{path}' has {len(found)} tables of two columns. Keep one, of finite numbers."
        )
    return found[0]
