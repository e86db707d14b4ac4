"""Results kept in the user's cache folder, found again by what they were computed from."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from swelltree.engine.backend import cache_folder
from swelltree.system.files.whole_files import whole
from swelltree.system.named_values import NamedValues

SEAL = "seal"  # name of the entry that tells a file of ours from any other


def kept_folder(kind: str) -> Path | None:
    """Folder of a kind of results beside the compiled programs; None where nothing is kept."""
    folder = cache_folder()
    return None if folder is None else folder / kind


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

    A file that is damaged, of foreign content or with values that are no numbers counts as none.
    """
    folder = kept_folder(kind)
    if folder is None:
        return None
    try:
        with np.load(folder / f"{key}.npz", allow_pickle=False) as file:
            result = {name: file[name] for name in file.files}
    except Exception:  # missing, cut short or foreign: compute anew
        return None
    seal = result.pop(SEAL, None)
    whole_and_ours = seal is not None and str(seal) == _seal(key, result)
    return result if whole_and_ours and not _has_nan(result) else None


def store(kind: str, key: str, arrays: dict[str, np.ndarray]) -> None:
    """Keep a result, whole or not at all; a folder that cannot be written is no mistake."""
    folder = kept_folder(kind)
    if folder is None or _has_nan(arrays):
        return
    arrays = {name: np.asarray(x) for name, x in arrays.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with whole(folder / f"{key}.npz") as temporary, temporary.open("wb") as file:
            sealed: NamedValues = arrays | {SEAL: np.array(_seal(key, arrays))}
            np.savez_compressed(file, **sealed)
    except OSError:
        return


def _seal(key: str, arrays: dict[str, np.ndarray]) -> str:
    """What a file of this key and content is known by."""
    return content_key(key, *(part for name in sorted(arrays) for part in (name, arrays[name])))


def _has_nan(arrays: dict[str, np.ndarray]) -> bool:
    numbers = (np.asarray(x) for x in arrays.values())
    return any(x.dtype.kind in "fc" and bool(np.isnan(x).any()) for x in numbers)
