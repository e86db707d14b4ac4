"""Results kept in the user's cache folder, found again by what they were computed from.

The rule of all caches (`engine.machine.cache`): files of the user alone, named by what they were
made from, with a hash of name and content that is compared before they are used.
"""

from __future__ import annotations

import hashlib
import io
import json
import warnings
from pathlib import Path

import numpy as np

from swelltree.describe.files.atomic import replacing
from swelltree.describe.values import NamedValues
from swelltree.jit import cache_folder, clean_seldom, private_bytes, private_folder

MAX_RESULT_BYTES = 1_000_000_000  # bytes of one result
ENTRIES = r"[0-9a-f]{64}\.npz"  # names of files
SEAL = "seal"  # name of the entry that marks a file as ours


def store_folder(kind: str) -> Path | None:
    """Cache folder of one kind of results; None if none can be used."""
    return private_folder(cache_folder(), kind)


def content_key(*parts: object) -> str:
    """SHA-256 of arrays, bytes and plain values."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            part = np.ascontiguousarray(part)
            digest.update(f"{part.dtype}{part.shape}".encode())
            digest.update(part.tobytes())
        elif isinstance(part, bytes):
            digest.update(part)
        else:
            digest.update(json.dumps(part, sort_keys=True, default=str).encode())
        digest.update(b"|")
    return digest.hexdigest()


def load(kind: str, key: str) -> dict[str, np.ndarray] | None:
    """Arrays and notes of a result, or None.

    A file that is damaged, of foreign content or with values that are not numbers is ignored; so
    does one that belongs to another user, or that others may write to.
    """
    folder = store_folder(kind)
    content = None if folder is None else private_bytes(folder / f"{key}.npz", MAX_RESULT_BYTES)
    if content is None:
        return None
    try:
        with warnings.catch_warnings(), np.load(io.BytesIO(content), allow_pickle=False) as file:
            warnings.simplefilter("ignore")  # of damaged headers
            result = {name: file[name] for name in file.files}
    except Exception:  # missing, cut short or foreign: compute again
        return None
    seal = result.pop(SEAL, None)
    is_complete_and_ours = seal is not None and str(seal) == _seal(key, result)
    return result if is_complete_and_ours and not _has_nan(result) else None


def store(kind: str, key: str, arrays: dict[str, np.ndarray]) -> None:
    """Store a result atomically; a folder that cannot be written is not an error."""
    folder = None if _has_nan(arrays) else store_folder(kind)
    if folder is None:
        return
    arrays = {name: np.asarray(x) for name, x in arrays.items()}
    try:
        with replacing(folder / f"{key}.npz") as temporary, temporary.open("wb") as file:
            temporary.chmod(0o600)
            sealed: NamedValues = arrays | {SEAL: np.array(_seal(key, arrays))}
            np.savez_compressed(file, **sealed)
        clean_seldom(folder, ENTRIES)
    except OSError:
        return


def _seal(key: str, arrays: dict[str, np.ndarray]) -> str:
    """Checksum of a file with this key and content."""
    return content_key(key, *(part for name in sorted(arrays) for part in (name, arrays[name])))


def _has_nan(arrays: dict[str, np.ndarray]) -> bool:
    numbers = (np.asarray(x) for x in arrays.values())
    return any(x.dtype.kind in "fc" and bool(np.isnan(x).any()) for x in numbers)
