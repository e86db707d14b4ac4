"""Global heaps of HDF5 files, looked through before the HDF5 library does.

Text and lists of any length lie in heaps, of which the library takes object after object. Free
space of size zero, as in a file with bytes set to zero, does not bring it any further: it never
comes back (H5HG, all versions up to 2.0), and no signal reaches it.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

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
    """Whether an object of no size is met on the way through a heap."""
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
