"""A run as an animated USD scene in text (.usda), for Blender, Omniverse and other 3-D programs.

Every body is a transform with keyframes of position and rotation, and its hull a mesh below it.
Lengths are in metres, z is up, as here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.drawing import unpack_shape
from swelltree.describe.files.atomic import write_atomic
from swelltree.report.film import keyframes, linear_color

if TYPE_CHECKING:
    import xarray as xr

CODES = 24  # time codes per second, as of film


def write_usd(dataset: xr.Dataset, path: str | Path) -> Path:
    """Write the moving bodies of a run as USD.

    Args:
        dataset: a result in time.
        path: of the file, ending in .usda.
    """
    drawing, times, place, turn = keyframes(dataset, "USD")
    codes = CODES * times
    used: set[str] = set()
    root = _identifier(drawing["name"] or "system", set())
    lines = [
        "#usda 1.0",
        "(",
        f'    defaultPrim = "{root}"',
        "    metersPerUnit = 1",
        '    upAxis = "Z"',
        f"    startTimeCode = {codes[0]:.17g}",
        f"    endTimeCode = {codes[-1]:.17g}",
        f"    timeCodesPerSecond = {CODES}",
        ")",
        "",
        f'def Xform "{root}"',
        "{",
    ]
    for i, body in enumerate(drawing["bodies"]):
        triangles = unpack_shape(drawing["shapes"][body["shape"]]).triangles
        name = _identifier(body["name"], used)
        lines += _body(name, body["name"], codes, place[:, i], turn[:, i])
        lines += _mesh(triangles, linear_color(i))
        lines.append("    }")
    return write_atomic(Path(path), "\n".join([*lines, "}", ""]))


def _identifier(name: str, used: set[str]) -> str:
    """A name of USD: letters, digits and underscores, unique among `used`."""
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    word = word if re.match(r"[A-Za-z_]", word) else f"_{word}"
    found, k = word, 1
    while found in used:
        found, k = f"{word}_{k + 1}", k + 1
    used.add(found)
    return found


def _body(
    name: str, title: str, codes: np.ndarray, place: np.ndarray, turn: np.ndarray
) -> Iterator[str]:
    yield f'    def Xform "{name}" ('
    shown = "".join(c if c.isprintable() else "?" for c in title)
    yield f"        displayName = {json.dumps(shown, ensure_ascii=False)}"
    yield "    )"
    yield "    {"
    for kind, values in (("double3 xformOp:translate", place), ("quatd xformOp:orient", turn)):
        yield f"        {kind}.timeSamples = {{"
        for code, row in zip(codes, values, strict=True):
            yield f"            {code:.17g}: {_tuple(row)},"
        yield "        }"
    yield '        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]'


def _mesh(triangles: np.ndarray, color: Iterable[float]) -> Iterator[str]:
    """A hull; corners that triangles have in common are written once."""
    corners, numbers = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    yield '        def Mesh "hull"'
    yield "        {"
    yield '            uniform token subdivisionScheme = "none"'
    yield "            bool doubleSided = 1"
    yield f"            int[] faceVertexCounts = [{', '.join(['3'] * len(triangles))}]"
    yield f"            int[] faceVertexIndices = [{', '.join(map(str, np.ravel(numbers)))}]"
    yield f"            point3f[] points = [{', '.join(map(_tuple, corners))}]"
    low_high = () if not len(corners) else (corners.min(0), corners.max(0))
    yield f"            float3[] extent = [{', '.join(map(_tuple, low_high))}]"
    yield f"            color3f[] primvars:displayColor = [{_tuple(color)}]"
    yield "        }"


def _tuple(row: Iterable[float]) -> str:
    return f"({', '.join(f'{float(x):.9g}' for x in row)})"
