"""Results kept in the user's cache folder, found again by what they were computed from."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np


def cache_folder(kind: str) -> Path | None:
    """Folder of a kind of results in `$SWELLTREE_CACHE_DIR`, else the user's cache folder.

    None where that variable is `off`.
    """
    chosen = os.environ.get("SWELLTREE_CACHE_DIR")
    if chosen is not None:
        return None if chosen.strip().lower() in ("", "off", "0") else Path(chosen) / kind
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "swelltree" / kind


def content_key(*parts: Any) -> str:
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


def load(kind: str, key: str) -> dict[str, Any] | None:
    """Arrays and notes of a result, or None; a damaged file counts as none."""
    folder = cache_folder(kind)
    if folder is None:
        return None
    try:
        with np.load(folder / f"{key}.npz", allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except Exception:  # missing, cut short or foreign: compute anew
        return None


def store(kind: str, key: str, arrays: dict[str, Any]) -> None:
    """Keep a result, whole or not at all; a folder that cannot be written is no mistake."""
    folder = cache_folder(kind)
    if folder is None:
        return
    temporary = ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".tmp", delete=False) as file:
            temporary = file.name
            np.savez_compressed(file, **arrays)
        os.replace(temporary, folder / f"{key}.npz")
    except OSError:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)
