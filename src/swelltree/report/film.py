"""A run as a short film: GIF, or MP4 where ffmpeg is installed.

Faces are projected and painted from far to near. That is enough for a slide; the report has the
real thing.
"""

from __future__ import annotations

import io
import itertools
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.drawing import unpack_shape
from swelltree.describe.errors import SwelltreeError
from swelltree.describe.files.atomic import replacing, write_atomic
from swelltree.report.scene import COLORS, drawing_of, reach
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
