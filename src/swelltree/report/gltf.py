"""A run as an animated glTF file (.glb), for Blender and other 3-D programs.

Every body is a node with its hull, moved by keyframes of position and rotation. glTF has y up, so
everything hangs on a root node that is turned.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.drawing import unpack_shape
from swelltree.describe.errors import SwelltreeError
from swelltree.describe.files.atomic import write_atomic
from swelltree.describe.values import NamedValues
from swelltree.report.scene import COLORS, continuous, drawing_of, stride

if TYPE_CHECKING:
    import xarray as xr

KEYS = 200_000  # most keyframes of all bodies together
FLOAT, UINT32 = 5126, 5125
Z_UP = [-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]  # quaternion x, y, z, w


class _Buffer:
    """Arrays in one binary chunk, with their accessors."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.views: list[NamedValues] = []
        self.accessors: list[NamedValues] = []

    def add(self, values: np.ndarray, target: int | None = None) -> int:
        """Append an array; returns the index of its accessor."""
        kind = UINT32 if values.dtype.kind in "iu" else FLOAT
        array = np.ascontiguousarray(values, "<u4" if kind == UINT32 else "<f4")
        view: NamedValues = {
            "buffer": 0,
            "byteOffset": len(self.data),
            "byteLength": array.nbytes,
        }
        if target is not None:
            view["target"] = target
        self.views.append(view)
        self.data += array.tobytes()
        width = 1 if array.ndim == 1 else array.shape[1]
        self.accessors.append(
            {
                "bufferView": len(self.views) - 1,
                "componentType": kind,
                "count": len(array),
                "type": {1: "SCALAR", 3: "VEC3", 4: "VEC4"}[width],
                "min": np.atleast_1d(array.min(0)).tolist(),
                "max": np.atleast_1d(array.max(0)).tolist(),
            }
        )
        return len(self.accessors) - 1


def write_gltf(dataset: xr.Dataset, path: str | Path) -> Path:
    """Write the moving bodies of a run as binary glTF.

    Args:
        dataset: a result in time.
        path: of the file, ending in .glb.
    """
    drawing, times, place, turn = keyframes(dataset, "glTF")
    turn = turn[..., [1, 2, 3, 0]]
    buffer = _Buffer()
    time = buffer.add(times)
    meshes, nodes, samplers, tracks = [], [], [], []
    for i, body in enumerate(drawing["bodies"]):
        panels = unpack_shape(drawing["shapes"][body["shape"]])
        corners, normals = _facets(panels.triangles)
        attributes = {"POSITION": buffer.add(corners, 34962), "NORMAL": buffer.add(normals, 34962)}
        meshes.append(
            {"name": body["name"], "primitives": [{"attributes": attributes, "material": i}]}
        )
        nodes.append(
            {
                "name": body["name"],
                "mesh": i,
                "translation": place[0, i].tolist(),
                "rotation": turn[0, i].tolist(),
            }
        )
        for name, values in (("translation", place[:, i]), ("rotation", turn[:, i])):
            samplers.append({"input": time, "output": buffer.add(values)})
            target = {"node": i, "path": name}
            tracks.append({"sampler": len(samplers) - 1, "target": target})
    count = len(nodes)
    nodes.append(
        {"name": drawing["name"] or "system", "children": [*range(count)], "rotation": Z_UP}
    )
    content = {
        "asset": {"version": "2.0", "generator": "swelltree"},
        "scene": 0,
        "scenes": [{"nodes": [count]}],
        "nodes": nodes,
        "meshes": meshes,
        "materials": [_material(i, body["name"]) for i, body in enumerate(drawing["bodies"])],
        "animations": [{"name": "run", "samplers": samplers, "channels": tracks}],
        "buffers": [{"byteLength": len(buffer.data)}],
        "bufferViews": buffer.views,
        "accessors": buffer.accessors,
    }
    return write_atomic(Path(path), _glb(content, bytes(buffer.data)))


def keyframes(
    dataset: xr.Dataset, word: str
) -> tuple[NamedValues, np.ndarray, np.ndarray, np.ndarray]:
    """Drawing, times, positions (time, body, 3) and quaternions w, x, y, z of a run.

    Args:
        dataset: a result in time.
        word: of the format, for the message.
    """
    if "time" not in dataset.dims or "quaternion" not in dataset:
        raise SwelltreeError(f"{word} needs a time-domain run. Give the result of simulate.")
    every = stride(dataset.sizes["time"], dataset.sizes["body"], KEYS)
    some = dataset[["position", "quaternion"]].isel(time=slice(None, None, every))
    turn = continuous(some["quaternion"].values)
    return drawing_of(dataset), some["time"].values, some["position"].values[:, :, :3], turn


def linear_color(i: int) -> list[float]:
    """Color of a body as linear red, green and blue."""
    code = COLORS[i % len(COLORS)]
    rgb = np.array([int(code[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4).tolist()


def _facets(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners of triangles with the normal of each triangle."""
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normal = normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    return triangles.reshape(-1, 3), np.repeat(normal, 3, axis=0)


def _material(i: int, name: str) -> NamedValues:
    look = {"baseColorFactor": [*linear_color(i), 1.0], "metallicFactor": 0.0}
    return {"name": name, "pbrMetallicRoughness": look | {"roughnessFactor": 0.7}}


def _glb(content: NamedValues, data: bytes) -> bytes:
    text = json.dumps(content, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    total = 12 + 8 + len(text) + 8 + len(data)
    head = struct.pack("<4sII", b"glTF", 2, total)
    return (
        head
        + struct.pack("<I4s", len(text), b"JSON")
        + text
        + struct.pack("<I4s", len(data), b"BIN\0")
        + data
    )


# --- Free surface and pressure on hulls of weak scatterers as VTK files, for ParaView

# what is drawn: places, triangles, values at vertices
PIECES = {
    "surface": ("weak_scatterer_surface", "weak_scatterer_surface_triangles", "elevation"),
    "hull": ("weak_scatterer_hull", "weak_scatterer_hull_triangles", "pressure"),
}


def write_vtk(dataset: xr.Dataset, path: Path) -> Path:
    """Write every sample of both surfaces, and a collection that knows their times.

    Args:
        dataset: result of a run with weak scatterers.
        path: of the collection (.pvd); the files of samples go into a folder of its name.
    """
    if "time" not in dataset.dims or "weak_scatterer_surface" not in dataset:
        raise SwelltreeError(
            f"export '{path}': this result has no computed free surface. Describe a WeakScatterer "
            "and simulate."
        )
    folder = path.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for number, t in enumerate(dataset.time.values):
        for part, (word, names) in enumerate(PIECES.items()):
            name = f"{word}_{number:05d}.vtp"
            text = _piece(dataset.isel(time=number), *names)
            write_atomic(folder / name, text)
            rows.append(
                f'<DataSet timestep="{float(t)!r}" part="{part}" file="{folder.name}/{name}"/>'
            )
    write_atomic(path, _file("Collection", "\n".join(rows)))
    return path


def _piece(sample: xr.Dataset, places: str, triangles: str, value: str) -> str:
    points, faces = sample[places].values, sample[triangles].values.astype(int)
    faces = faces[faces[:, 0] != faces[:, 1]]  # a mesh that changes has room to spare
    values = sample[f"weak_scatterer_{value}"].values
    ends = 3 * np.arange(1, len(faces) + 1)
    inside = (
        f'<Piece NumberOfPoints="{len(points)}" NumberOfPolys="{len(faces)}">'
        f'<PointData Scalars="{value}">{_array(value, values)}</PointData>'
        f"<Points>{_array('points', points)}</Points>"
        f"<Polys>{_array('connectivity', faces)}{_array('offsets', ends)}</Polys></Piece>"
    )
    return _file("PolyData", inside)


def _array(name: str, values: np.ndarray) -> str:
    kind = "Int64" if values.dtype.kind in "iu" else "Float64"
    width = values.shape[1] if values.ndim > 1 and name == "points" else 1
    numbers = " ".join(map(repr, values.reshape(-1).tolist()))
    return (
        f'<DataArray type="{kind}" Name="{name}" NumberOfComponents="{width}" format="ascii">'
        f"{numbers}</DataArray>"
    )


def _file(kind: str, inside: str) -> str:
    return f'<VTKFile type="{kind}" version="0.1">\n<{kind}>\n{inside}\n</{kind}>\n</VTKFile>\n'
