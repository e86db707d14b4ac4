"""Panels from meshes: STL files read here, others by Capytaine's loaders, or from memory."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np

from swelltree.system.bodies.hulls import Hull, Mesh, PanelHull
from swelltree.system.bodies.mesh_edges import mended
from swelltree.system.bodies.panels import Panels, merged
from swelltree.system.errors import SwelltreeError, suggest
from swelltree.system.files.given_paths import given_path
from swelltree.system.files.plain_files import plain_bytes

NEED_BEM = "needs Capytaine, which is not installed. Run `pip install swelltree[bem]`."


def mesh_bytes(path: str) -> bytes:
    """What is in a mesh file."""
    file = given_path(path, "mesh file")
    if not file.is_file():
        near = [other.name for other in file.parent.glob("*")] if file.parent.is_dir() else []
        hint = suggest(file.name, near) or " Check the path."
        raise SwelltreeError(f"mesh file '{path}' does not exist.{hint}")
    try:
        return plain_bytes(file)
    except OSError as error:
        raise SwelltreeError(
            f"mesh file '{path}' cannot be read: {error.strerror}. Check the path."
        ) from None


def read_panels(hull: object) -> Panels:
    """Panels of a `MeshFile` or `Mesh` in its own frame, without its offset, normals outwards."""
    return _mended(hull)[0]


def mesh_notes(hull: Hull) -> list[str]:
    """Messages about what was fixed in the meshes of a hull."""
    return [note for part in hull.parts if isinstance(part, PanelHull) for note in _mended(part)[1]]


def _mended(hull: Any) -> tuple[Panels, tuple[str, ...]]:
    if isinstance(hull, Mesh):
        return _from_memory(hull.vertices, hull.faces)
    content = mesh_bytes(hull.path)
    stamp = hash(content)
    return _read(hull.path, hull.file_format, hull.scale, stamp)


@functools.lru_cache(maxsize=16)
def _from_memory(
    vertices: tuple[tuple[float, ...], ...], faces: tuple[tuple[int, ...], ...]
) -> tuple[Panels, tuple[str, ...]]:
    numbers = np.array([face if len(face) == 4 else (*face, face[2]) for face in faces], int)
    triangles = numbers[:, 0] == numbers[:, 3]  # Capytaine repeats the first point of a triangle
    numbers[triangles, 3] = numbers[triangles, 2]
    return mended(merged(Panels(np.array(vertices, float), numbers)))


@functools.lru_cache(maxsize=16)
def _read(
    path: str, file_format: str | None, scale: float, stamp: int
) -> tuple[Panels, tuple[str, ...]]:
    kind = (file_format or Path(path).suffix.lstrip(".")).lower()
    try:
        vertices, faces = _read_stl(Path(path)) if kind == "stl" else _by_capytaine(path, kind)
    except SwelltreeError:
        raise
    except Exception as error:
        text = " ".join(str(error).split())[:150]
        raise SwelltreeError(
            f"mesh file '{path}' cannot be read as {kind or 'a mesh'}: {text}. "
            "Give file_format, or convert it to STL."
        ) from None
    panels = merged(Panels(scale * vertices, faces))
    if not len(panels.faces):
        raise SwelltreeError(f"mesh file '{path}' holds no panels. Check the file.")
    return mended(panels)


def _by_capytaine(path: str, kind: str) -> tuple[np.ndarray, np.ndarray]:
    try:
        import capytaine as cpt
    except ImportError:
        raise SwelltreeError(f"mesh file '{path}': reading it {NEED_BEM}") from None
    # NEMOH's own meshes end in .dat, which other programs use too
    mesh: Any = cpt.load_mesh(path, file_format="nemoh" if kind == "dat" else kind)
    if hasattr(mesh, "merged"):
        mesh = mesh.merged()
    faces = np.array(mesh.faces, int)
    triangles = faces[:, 0] == faces[:, 3]
    faces[triangles, 3] = faces[triangles, 2]
    return np.asarray(mesh.vertices, float), faces


def _read_stl(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """An STL file, text or binary."""
    content = plain_bytes(path)
    count = int.from_bytes(content[80:84], "little") if len(content) >= 84 else -1
    if len(content) == 84 + 50 * count:
        record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        corners = np.frombuffer(content, record, offset=84)["corners"].astype(float)
    else:
        words = content.decode("ascii", "replace").split()
        places = [i for i, word in enumerate(words) if word == "vertex"]
        corners = np.array([[float(w) for w in words[i + 1 : i + 4]] for i in places])
        corners = corners.reshape(-1, 3, 3)
    numbers = np.arange(3 * len(corners)).reshape(-1, 3)
    return corners.reshape(-1, 3), numbers[:, [0, 1, 2, 2]]
