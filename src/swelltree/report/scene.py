"""The moving scene of a run as plain data, from its result file alone.

The result carries the drawing of its system (`swelltree.describe.drawing`) and the plane waves of
its sea. Motion is packed into blocks of 16-bit numbers, and samples are left out when a run is
long, so that a page stays small.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.drawing import box, pack_shape, unpack_shape
from swelltree.describe.values import NamedValues
from swelltree.report.html import Blocks
from swelltree.results.sea import sea_of
from swelltree.waves.airy import Components

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.waves.sea import RealisedSea


# --- The free surface and the pressure on hulls that weak scatterers computed, for the viewer


def computed_water(dataset: xr.Dataset, blocks: Blocks) -> NamedValues:
    """Places of both surfaces, and the pressure.

    Args:
        dataset: samples of a result in time with weak scatterers.
        blocks: where packed numbers go.
    """
    top, _, faces = _drawn(dataset, "surface", dataset["weak_scatterer_elevation"].values)
    hull, pressure, panels = _drawn(dataset, "hull", dataset["weak_scatterer_pressure"].values)
    first = top[0]
    # of a half tank the other half is drawn as its image
    mirrored = bool(first[:, 1].min() >= 0.0)
    low, high = first[:, :2].min(0), first[:, :2].max(0)
    middle = 0.5 * (low + high) * [1.0, 0.0 if mirrored else 1.0]
    return {
        "mirrored": mirrored,
        "center": np.round(middle, 4).tolist(),
        "radius": round(float(0.5 * (high[0] - low[0])), 4),
        "surface": {
            "faces": _faces(faces),
            "position": blocks.add(top.reshape(len(top), -1)),
        },
        "hull": {
            "faces": _faces(panels),
            "position": blocks.add(hull.reshape(len(top), -1)),
            "pressure": blocks.add(pressure),
            "lowest": float(np.nanmin(pressure)),
            "highest": float(np.nanmax(pressure)),
        },
    }


def _drawn(
    dataset: xr.Dataset, name: str, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, values and triangles; triangles of a changing mesh have own corners."""
    places = dataset[f"weak_scatterer_{name}"].values
    faces = dataset[f"weak_scatterer_{name}_triangles"].values.astype(int)
    if faces.ndim == 2:
        return places, values, faces
    times = np.arange(len(faces))[:, None]
    corners = faces.reshape(len(faces), -1)
    separate_triangles = np.arange(corners.shape[1]).reshape(-1, 3)
    return places[times, corners], values[times, corners], separate_triangles


def _faces(triangles: np.ndarray) -> str:
    return base64.b64encode(zlib.compress(triangles.astype("<u2").tobytes(), 9)).decode()


COLORS = (
    "#2f6fb0",
    "#e08a1e",
    "#2a9d7c",
    "#c8553d",
    "#8a63b8",
    "#4fb3d9",
    "#a3843b",
    "#d16ba5",
)
MOST_WAVES = 192  # drawn by a graphics card without trouble
MOTION_SAMPLES = 3_000_000  # numbers kept of the motion of bodies
LINE_SAMPLES = 3_000_000  # and of lines
WATER_SAMPLES = 3_000_000  # and of a computed free surface


def scene(
    dataset: xr.Dataset, blocks: Blocks | None = None, samples: int = MOTION_SAMPLES
) -> NamedValues:
    """Everything a viewer needs of a run.

    Args:
        dataset: a result in time.
        blocks: where the packed motion goes; left out of the result's own text.
        samples: most numbers kept of the motion.
    """
    blocks = Blocks() if blocks is None else blocks
    drawing = drawing_of(dataset)
    parts: NamedValues = dict.fromkeys(("time", "motion", "lines", "fluid"))
    data: NamedValues = drawing | {"waves": waves(dataset)} | parts
    data["bodies"] = [
        body | {"color": COLORS[i % len(COLORS)]} for i, body in enumerate(drawing["bodies"])
    ]
    if "position" in dataset and "quaternion" in dataset and "time" in dataset.dims:
        every = stride(dataset.sizes["time"], 7 * dataset.sizes["body"], samples)
        some = dataset[["position", "quaternion"]].isel(time=slice(None, None, every))
        place, turn = some["position"].values[:, :, :3], continuous(some["quaternion"].values)
        data["time"] = times(some["time"].values)
        data["motion"] = blocks.add(np.concatenate([place, turn], axis=-1))
        data["reach"] = reach(drawing, place, turn)
    elif all("start" in body for body in drawing["bodies"]):
        data |= at_rest(dataset, data["bodies"])
        resting: list[NamedValues] = data["bodies"]
        place, turn = (
            np.array([[body[key] for body in resting]]) for key in ("start", "quaternion")
        )
        data["reach"] = reach(drawing, place, turn)
    if "line_position" in dataset:
        moving = dataset if "time" in dataset.dims else dataset.expand_dims(time=[0.0])
        data["lines"] = lines(moving, blocks, samples, drawing)
    if "weak_scatterer_surface" in dataset and "time" in dataset.dims:
        numbers = 3 * dataset.sizes["surface_vertex"] + 4 * dataset.sizes["hull_vertex"]
        every = stride(dataset.sizes["time"], numbers, min(samples, WATER_SAMPLES))
        some = dataset.isel(time=slice(None, None, every))
        data["fluid"] = computed_water(some, blocks) | {"time": times(some["time"].values)}
    return data


def at_rest(dataset: xr.Dataset, bodies: list[NamedValues]) -> NamedValues:
    """Bodies at the poses of a result without time, else as described."""
    from swelltree.spatial.rotations import matrix_to_quat

    resting = "rotation" in dataset and dataset["rotation"].ndim == 3
    placed = []
    for i, body in enumerate(bodies):
        turn = np.array(body["turn"]).reshape(3, 3)
        start = body["start"]
        if resting:
            turn = dataset["rotation"].values[i]
            start = dataset["position"].values[i, :3].tolist()
        more = {"start": start, "turn": turn.reshape(-1).tolist()}
        placed.append(body | more | {"quaternion": matrix_to_quat(turn).tolist()})
    return {"bodies": placed}


def drawing_of(dataset: xr.Dataset) -> NamedValues:
    """Drawing stored in a result, else plain boxes."""
    text = dataset.attrs.get("drawing", "")
    if text:
        return json.loads(text)
    names = [str(name) for name in dataset["body"].values] if "body" in dataset.dims else []
    size = 1.0
    if "position" in dataset and len(names) > 1:
        first = dataset["position"].values.reshape(-1, len(names), 6)[0, :, :3]
        size = 0.4 * float(np.ptp(first, axis=0).max()) or 1.0
    return {
        "name": "",
        "depth": None,
        "bed": None,
        "size": size,
        "shapes": [pack_shape(box(size, 0.5 * size, 0.3 * size))],
        "bodies": [{"name": name, "shape": 0, "mass": None, "center": [0, 0, 0]} for name in names],
        "joints": [],
        "springs": [],
        "ptos": [],
        "moorings": [],
    }


def stride(rows: int, columns: int, samples: int) -> int:
    """Sampling interval of drawn fields."""
    return max(1, -(-rows * columns // max(samples, 1)))


def times(values: np.ndarray) -> NamedValues:
    """Sample times: start and step if uniform, else all."""
    values = np.asarray(values, float)
    count = len(values)
    step = float((values[-1] - values[0]) / (count - 1)) if count > 1 else 1.0
    even = values[0] + step * np.arange(count)
    about: NamedValues = {"start": float(values[0]), "step": step, "count": count}
    if np.abs(even - values).max() > 1e-6 * max(step, 1e-12):
        about["values"] = [float(f"{t:.9g}") for t in values]
    return about


def continuous(quaternion: np.ndarray) -> np.ndarray:
    """Quaternions (time, body, 4) with continuous sign."""
    dots = (quaternion[1:] * quaternion[:-1]).sum(-1)
    signs = np.cumprod(np.where(dots < 0, -1.0, 1.0), axis=0)
    return np.concatenate([quaternion[:1], quaternion[1:] * signs[..., None]])


def reach(drawing: NamedValues, place: np.ndarray, turn: np.ndarray) -> NamedValues:
    """The box that holds all bodies at all times, for the camera [m].

    Args:
        drawing: of the system.
        place: positions (time, body, 3).
        turn: quaternions (time, body, 4).
    """
    some = np.unique(np.linspace(0, len(place) - 1, 60).astype(int))
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for i, body in enumerate(drawing["bodies"]):
        vertices = unpack_shape(drawing["shapes"][body["shape"]]).vertices
        corners = box(*np.ptp(vertices, axis=0)).vertices + 0.5 * (
            vertices.max(0) + vertices.min(0)
        )
        w, v = turn[some, i, :1, None], turn[some, i, None, 1:]
        across = np.cross(v, corners)
        turned = corners + 2.0 * (w * across + np.cross(v, across))
        points = (turned + place[some, i, None]).reshape(-1, 3)
        points = points[np.isfinite(points).all(1)]
        if len(points):
            low, high = np.minimum(low, points.min(0)), np.maximum(high, points.max(0))
    if not np.isfinite(low).all():
        low, high = np.full(3, -drawing["size"]), np.full(3, drawing["size"])
    return {"low": np.round(low, 3).tolist(), "high": np.round(high, 3).tolist()}


def waves(dataset: xr.Dataset) -> NamedValues | None:
    """Visible plane waves of the run's sea; None for still water."""
    return drawn_waves(sea_of(dataset))


def drawn_waves(sea: RealisedSea | None) -> NamedValues | None:
    """Visible waves of a realised sea; None for still water and seas that are not plane waves."""
    if not isinstance(sea, Components) or not np.any(sea.amplitude):
        return None
    strong = np.sort(np.argsort(-np.asarray(sea.amplitude))[:MOST_WAVES])
    a, omega, k, beta, phase = (
        np.asarray(row)[strong]
        for row in (sea.amplitude, sea.omega, sea.wavenumber, sea.beta, sea.phase)
    )
    energy = float((a**2).sum() / (np.asarray(sea.amplitude) ** 2).sum())
    return {
        "amplitude": _digits(a, 7),
        "omega": _digits(omega, 9),
        "kx": _digits(k * np.cos(beta), 9),
        "ky": _digits(k * np.sin(beta), 9),
        "phase": _digits(phase % (2.0 * np.pi), 9),
        "ramp": float(sea.ramp),
        "share": round(energy, 4),  # of the energy of the sea that is drawn
        "count": len(sea.amplitude),
        "height": float(4.0 * np.sqrt(0.5 * (np.asarray(sea.amplitude) ** 2).sum())),
    }


def _digits(values: np.ndarray, digits: int) -> list[float]:
    return [float(f"{x:.{digits}g}") for x in values]


def segment_tension(dataset: xr.Dataset) -> xr.DataArray | None:
    """Tension along lines [N]: at nodes of catenaries, between nodes of dynamic lines."""
    names = [name for name in ("line_tension", "line_node_tension") if name in dataset]
    if len(names) < 2:
        return dataset[names[0]] if names else None
    # lines of both kinds in one system
    between, at_nodes = (dataset[name] for name in names)
    means = at_nodes.rolling(line_node=2).mean().isel(line_node=slice(1, None))
    return between.fillna(means.rename(line_node="line_segment"))


def lines(dataset: xr.Dataset, blocks: Blocks, samples: int, drawing: NamedValues) -> NamedValues:
    """Shapes, tensions and states of lines: 1 slack, 2 on the seabed, 0 otherwise."""
    count, nodes = dataset.sizes["line"], dataset.sizes["line_node"]
    every = stride(dataset.sizes["time"], 4 * count * nodes, min(samples, LINE_SAMPLES))
    some = dataset.isel(time=slice(None, None, every))
    position = some["line_position"].transpose("time", "line", "line_node", "axis").values
    frames = len(position)
    names = dataset["line"].values if "line" in dataset.coords else range(count)
    data: NamedValues = {
        "names": [str(name) for name in names],
        "nodes": nodes,
        "time": times(some["time"].values),
        "position": blocks.add(position.reshape(frames, -1)),
        "tension": None,
        "state": None,
    }
    along = segment_tension(some)
    if along is not None:
        tension = along.transpose("time", "line", ...).values
        if tension.shape[-1] == nodes:
            tension = 0.5 * (tension[..., 1:] + tension[..., :-1])
        data["tension"] = blocks.add(tension.reshape(frames, -1))
        data["highest"] = float(np.nanmax(tension, initial=0.0))
        data["segments"] = tension.shape[-1]
    state = np.zeros((frames, count, nodes - 1))
    flagged = np.zeros(count, bool)
    for value, name in ((1, "line_slack"), (2, "line_grounded")):
        if name in dataset:
            flags = some[name].transpose("time", "line", ...).values
            if name == "line_grounded":
                flagged = np.asarray(np.isfinite(flags.astype(float)).all((0, 2)))
            flag = flags > 0.5
            if flag.shape[-1] == nodes:  # a segment lies where both of its ends do
                flag = flag[..., 1:] & flag[..., :-1]
            state[flag] = value
    if not flagged.all() and drawing["depth"] and not drawing.get("bed"):
        # catenaries have no flags, but what lies on a flat bed lies at its depth
        low = (position[..., 2] <= -drawing["depth"] * (1 - 1e-4)) & ~flagged[:, None]
        state[low[..., 1:] & low[..., :-1]] = 2
    if state.any():
        data["state"] = blocks.add(state.reshape(frames, -1))
    finite = np.where(np.isfinite(position), position, np.nan).reshape(-1, 3)
    low, high = np.nanmin(finite, axis=0), np.nanmax(finite, axis=0)
    data["reach"] = {"low": np.round(low, 3).tolist(), "high": np.round(high, 3).tolist()}
    return data
