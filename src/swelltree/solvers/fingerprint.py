"""Fingerprint of a run: the content of everything it depends on (`engine.contents`)."""

from __future__ import annotations

from swelltree.engine.contents import Contents, hashed, versions


def run_key(*parts: object) -> str:
    """Hash of the parts, of the package and of the versions used."""
    contents = Contents()
    return hashed(*versions(), *(contents.of(part) for part in parts))
