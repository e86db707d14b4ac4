"""A run as a short film: GIF, or MP4 where ffmpeg is installed.

Faces are projected and painted from far to near. That is enough for a slide; the report has the
real thing.

A run as an animated glTF file (.glb), for Blender and other 3-D programs.

Every body is a node with its hull, moved by keyframes of position and rotation. glTF has y up, so
everything hangs on a root node that is turned.
"""

from __future__ import annotations

import io
import itertools
import json
import shutil
import struct
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.drawing import unpack_shape
from swelltree.describe.errors import SwelltreeError
from swelltree.describe.files.atomic import replacing, write_atomic
from swelltree.describe.values import NamedValues
from swelltree.report.scene import COLORS, continuous, drawing_of, reach, stride
from swelltree.results.sea import sea_of

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.waves.airy import Components


EYE = np.array([-0.55, -0.75, 0.38])  # direction from the scene to the eye
SUN = np.array([0.35, -0.45, 0.82])
WATER, CREST, SKY = (
    np.array(c) for c in ([0.13, 0.38, 0.53], [0.38, 0.67, 0.78], [0.90, 0.94, 0.97])
)


def write_film(
    dataset: xr.Dataset,
    path: str | Path,
    *,
    start: float | None = None,
    duration: float = 10.0,
    rate: int = 10,
    width: int = 640,
) -> Path:
    """Write a film of a run at its own speed.

    Args:
        dataset: a result in time.
        path: ending in .gif or .mp4; .mp4 needs ffmpeg.
        start: first time [s]; the end less the duration if not given.
        duration: of the film [s].
        rate: pictures per second.
        width: of a picture [points].
    """
    path = Path(path)
    if "time" not in dataset.dims or "quaternion" not in dataset:
        raise SwelltreeError("an animation needs a time-domain run. Give the result of simulate.")
    if path.suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise SwelltreeError(f"film '{path}': .mp4 needs ffmpeg. Install it, or write a .gif.")
    if path.suffix not in (".gif", ".mp4"):
        raise SwelltreeError(f"film '{path}': a film ends in .gif or .mp4. Choose one of these.")
    last = float(dataset["time"].values[-1])
    first = max(last - duration, float(dataset["time"].values[0])) if start is None else start
    times = np.arange(first, min(first + duration, last) + 1e-9, 1.0 / rate)
    frames = pictures(dataset, times, width)
    return _gif(frames, path, rate) if path.suffix == ".gif" else _mp4(frames, path, rate)


def pictures(dataset: xr.Dataset, times: np.ndarray, width: int) -> Iterator[np.ndarray]:
    """Pictures (height, width, 3) of the run at given times."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure

    drawing, sea = drawing_of(dataset), sea_of(dataset)
    place = dataset["position"].values[:, :, :3]
    turn = dataset["quaternion"].values
    box = reach(drawing, place, turn)
    low, high = np.array(box["low"]), np.array(box["high"])
    centre, size = 0.5 * (low + high), float((high - low).max())
    right, up, eye = _axes()
    fig = Figure(figsize=(width / 100, 0.5625 * width / 100), dpi=100, facecolor=tuple(SKY))
    canvas = FigureCanvasAgg(fig)
    ax = fig.add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    wide = 0.62 * size
    ax.set_xlim(-wide, wide)
    ax.set_ylim(-0.5625 * wide, 0.5625 * wide)
    faces = PolyCollection([], linewidths=0.3, edgecolors="face")
    ax.add_collection(faces)
    note = ax.text(0.012, 0.03, "", transform=ax.transAxes, fontsize=9, color="#22303c")
    shapes = [unpack_shape(drawing["shapes"][b["shape"]]) for b in drawing["bodies"]]
    for t in times:
        i = int(np.abs(dataset["time"].values - t).argmin())
        quads, colours = _water(sea, float(t), centre, size)
        for k, panels in enumerate(shapes):
            corners = place[i, k] + panels.vertices @ _matrix(turn[i, k]).T
            hull = corners[panels.faces]
            quads = np.concatenate([quads, hull])
            colours = np.concatenate([colours, _shaded(hull, COLORS[k % len(COLORS)], eye)])
        relative = quads - centre
        order = np.argsort(relative.mean(1) @ eye)
        flat = np.stack([relative @ right, relative @ up], axis=-1)[order]
        faces.set_verts(list(flat))
        faces.set_facecolor(list(map(tuple, colours[order])))
        note.set_text(f"{t:.1f} s")
        canvas.draw()
        yield np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _axes() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    eye = EYE / np.linalg.norm(EYE)
    right = np.cross([0.0, 0.0, 1.0], eye)
    right /= np.linalg.norm(right)
    return right, np.cross(eye, right), eye


def _matrix(q: np.ndarray) -> np.ndarray:
    w, x, y, z = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _shaded(quads: np.ndarray, code: str, eye: np.ndarray) -> np.ndarray:
    """Face colours of a body; back faces are painted over."""
    normal = np.cross(quads[:, 1] - quads[:, 0], quads[:, 2] - quads[:, 0])
    normal = normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    light = 0.55 + 0.45 * np.clip(normal @ (SUN / np.linalg.norm(SUN)), 0.0, 1.0)
    rgb = np.array([int(code[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0
    alpha = np.where(normal @ eye > 0, 1.0, 0.0)
    return np.column_stack([light[:, None] * rgb, alpha])


def _water(
    sea: Components | None, t: float, centre: np.ndarray, size: float, cells: int = 56
) -> tuple[np.ndarray, np.ndarray]:
    """Cells of the free surface around the bodies and their colours."""
    from swelltree.waves.airy import elevation

    line = np.linspace(-1.6 * size, 1.6 * size, cells + 1)
    x, y = np.meshgrid(line + centre[0], line + centre[1], indexing="ij")
    z = np.zeros_like(x) if sea is None or not len(sea) else np.asarray(elevation(sea, t, x, y))
    points = np.stack([x, y, z], axis=-1)
    quads = np.stack(
        [points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]], axis=2
    ).reshape(-1, 4, 3)
    top = float(np.sqrt((np.asarray(sea.amplitude) ** 2).sum())) * 1.5 if sea is not None else 1.0
    part = np.clip(0.5 + 0.5 * quads[..., 2].mean(1) / max(top, 1e-9), 0.0, 1.0)[:, None]
    alpha = np.full((len(quads), 1), 0.86)
    return quads, np.hstack([WATER + part * (CREST - WATER), alpha])


def _gif(frames: Iterator[np.ndarray], path: Path, rate: int) -> Path:
    from PIL import Image

    images = [Image.fromarray(frame).quantize(64) for frame in frames]
    stream = io.BytesIO()
    more = {"append_images": images[1:], "duration": round(1000 / rate), "loop": 0}
    images[0].save(stream, "GIF", save_all=True, **more)
    return write_atomic(path, stream.getvalue())


def _mp4(frames: Iterator[np.ndarray], path: Path, rate: int) -> Path:
    first = next(frames)
    height, width = (side - side % 2 for side in first.shape[:2])
    command = ["ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-s", f"{width}x{height}", "-r", str(rate), "-i", "-", "-an"]
    command += ["-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4"]
    try:
        with replacing(path) as temporary:
            _film(
                [*command, str(temporary)], itertools.chain([first], frames), (height, width), path
            )
    except OSError as error:
        raise SwelltreeError(
            f"ffmpeg could not write '{path}': {error.strerror or error}. Write a .gif instead."
        ) from None
    return path


def _film(
    command: list[str], frames: Iterable[np.ndarray], size: tuple[int, int], path: Path
) -> None:
    height, width = size
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        for frame in frames:
            process.stdin.write(np.ascontiguousarray(frame[:height, :width]).tobytes())
        _, said = process.communicate()
    if process.returncode:
        words = said.decode(errors="replace").strip().splitlines()
        raise SwelltreeError(
            f"ffmpeg could not write '{path}': {words[-1] if words else 'no reason given'}. "
            "Write a .gif instead."
        )


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
