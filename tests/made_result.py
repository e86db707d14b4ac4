"""Results made up without a simulation: smooth motions of a known system, with or without lines."""

import base64
import itertools
import json
import zlib

import numpy as np
import xarray as xr

import swelltree as sw
from swelltree.model.channels import CHANNELS, attributes
from swelltree.report.html import GAP
from swelltree.results.dataset import coordinates, provenance
from swelltree.results.sea import sea_quantities, sea_text
from swelltree.waves.sea import elevation, realise

HOSTILE = (
    "</script><script>hacked=1</script>",
    '<img src=x onerror="hacked=1"> \'quoted\' "twice" `and` &amp; ${more}',
    "浮体 плавучий σῶμα",
    "very " * 60 + "long",
    "{{blocks}} $x_1^2$",
)
SHOWN = [
    "velocity",
    "acceleration",
    "wrench",
    "coordinate",
    "rate",
    "reaction",
    "kinetic_energy",
    "potential_energy",
    "work",
    "energy_residual",
    "closure",
    "hydro_excitation",
    "hydro_radiation",
    "hydro_hydrostatics",
    "absorbed_power",
    "delivered_power",
    "pto_losses",
    "pto_stored_energy",
    "pto_force",
    "pto_stroke",
    "pto_rate",
]


def made_system(names=("one", "two", "three"), depth=50.0):
    bodies = [
        sw.Body(name, hull=sw.Box(30.0, 12.0, 6.0, 3.0), position=(34.0 * i, 0.0, 0.0))
        for i, name in enumerate(names)
    ]
    hinges = [
        sw.Hinge(f"hinge {i}", a.at(17.0, 0.0, 0.0), b.at(-17.0, 0.0, 0.0))
        for i, (a, b) in enumerate(itertools.pairwise(bodies))
    ]
    return sw.System(
        names[0],
        bodies=bodies,
        joints=[sw.Free("float", sw.WORLD, bodies[0]), *hinges],
        ptos=[sw.LinearPto(f"pto {i}", joint=h.name, damping=1e7) for i, h in enumerate(hinges)],
        water=sw.Water(depth=depth),
    )


def made_sea(system):
    sea = sw.IrregularSea(sw.Jonswap(Hs=2.0, Tp=8.0), seed=3, components=40, ramp=10.0)
    return realise(sea, system.water)


def made_run(
    names=("one", "two", "three"), *, duration=60.0, step=0.1, lines=0, channels=SHOWN, seed=0
):
    """A result with every usual channel; numbers are smooth but mean nothing."""
    system = made_system(names)
    model = sw.compile(system)
    rng = np.random.default_rng(seed)
    n = round(duration / step) + 1
    time = step * np.arange(n)
    omega = rng.uniform(0.4, 1.4, 16)
    cos, sin = (f(np.outer(time, omega)) for f in (np.cos, np.sin))

    def smooth(*shape, size=1.0):
        width = int(np.prod(shape))
        parts = rng.normal(size=(2, len(omega), width))
        return (0.25 * size * (cos @ parts[0] + sin @ parts[1])).reshape(n, *shape)

    about = coordinates(model)
    sizes = {dim: len(values) for (dim, *_), values, _ in about.values()}
    position = smooth(len(names), 6)
    position[:, :, 3:] *= 0.05
    position[:, :, 0] += 34.0 * np.arange(len(names))
    half = np.concatenate([np.ones((n, len(names), 1)), 0.5 * position[:, :, 3:]], axis=-1)
    data = {
        "position": position,
        "quaternion": half / np.linalg.norm(half, axis=-1, keepdims=True),
    }
    for name in channels:
        label = CHANNELS[name]
        size = 1e5 if "N" in label.units or "W" in label.units else 1.0
        data[label.name] = smooth(*(sizes[dim] for dim in label.dims), size=size)
    if "closure" in data:
        data["closure"] = 1e-9 * np.abs(data["closure"])
        data["energy_residual"] = 1e-9 * data["energy_residual"]
    by_name = {label.name: label for label in CHANNELS.values()}
    variables = {
        name: (("time", *by_name[name].dims), values, attributes(by_name[name]))
        for name, values in data.items()
    }
    sea = made_sea(system)
    surface = np.asarray(elevation(sea, time, 0.0, 0.0))
    variables["elevation"] = ("time", surface, {"units": "m"})
    used = {dim for dims, *_ in variables.values() for dim in dims}
    coords = {
        name: (dims, values, more)
        for name, (dims, values, more) in about.items()
        if set(dims) <= used | {"axis"}
    }
    axis = ("time", time, {"units": "s", "ramp": float(sea.ramp)})
    found = xr.Dataset(variables, {"time": axis, **coords})
    found.attrs = provenance(model) | {
        "wave_components": sea_text(sea),
        "sea_quantities": json.dumps(sea_quantities(sea, sea)),
        "study_name": "made up",
        "result": "success",
        "formulation": "path_matrix",
        "solver": "tsit5",
        "case": f"# {names[0]}\n",
        "findings": f"warning [made_up]: {names[-1]} is not real.",
    }
    return made_lines(found, lines) if lines else found


def made_lines(dataset, count, nodes=12):
    """The result with lines from the first body to the seabed, partly slack and grounded."""
    time = dataset["time"].values
    end = dataset["position"].values[:, 0, :3]
    part = np.linspace(0.0, 1.0, nodes)
    around = 2 * np.pi * np.arange(count) / count
    anchor = np.stack([120 * np.cos(around), 120 * np.sin(around), np.full(count, -50.0)], axis=-1)
    shape = anchor[None, :, None] + part[:, None] * (end[:, None, None] - anchor[None, :, None])
    shape[..., 2] = np.maximum(-50.0, shape[..., 2] - 30.0 * np.sin(np.pi * part))
    swing = 1.0 + 0.5 * np.sin(0.8 * time[:, None] + around)
    tension = 1e5 * swing[:, :, None] * (0.4 + part[1:])
    slack = (tension < 6e4).astype(float)
    grounded = (shape[..., 2] <= -49.99).astype(float)
    return dataset.assign(
        line_position=(("time", "line", "line_node", "axis"), shape, {"units": "m"}),
        line_tension=(("time", "line", "line_segment"), tension, {"units": "N"}),
        line_slack=(("time", "line", "line_segment"), slack),
        line_grounded=(("time", "line", "line_node"), grounded),
    ).assign_coords(line=[f"line {i}" for i in range(count)])


def made_water(dataset, half=True):
    """The result with a computed free surface around the first body, and pressures on its hull."""
    from swelltree.hydro.weak_scatterer.mesh.hulls import sphere
    from swelltree.hydro.weak_scatterer.mesh.tank import Tank, free_surface

    tank = Tank(70.0, 50.0, 6.0, 12.0, symmetric=half, center=(5.0, 0.0))
    top, ball = free_surface(tank), sphere(4, 9.0).moved((0.0, 0.0, -20.0))
    ball = ball.half() if half else ball
    time = dataset["time"].values
    rise = np.cos(0.1 * top.vertices[:, 0] - 0.8 * time[:, None])
    places = np.broadcast_to(top.vertices, (len(time), *top.vertices.shape)).copy()
    places[..., 2] += rise
    hull = ball.vertices + 0.5 * np.sin(0.8 * time)[:, None, None] * [1.0, 0.0, 1.0]
    pressure = -1e4 * hull[..., 2]
    axes, corner = ("time", "surface_vertex", "axis"), "corner"
    return dataset.assign(
        weak_scatterer_surface=(axes, places, {"units": "m"}),
        weak_scatterer_elevation=(axes[:2], 0.1 * rise, {"units": "m"}),
        weak_scatterer_hull=(("time", "hull_vertex", "axis"), hull, {"units": "m"}),
        weak_scatterer_pressure=(("time", "hull_vertex"), pressure, {"units": "Pa"}),
        weak_scatterer_surface_triangles=(("surface_triangle", corner), top.triangles),
        weak_scatterer_hull_triangles=(("hull_triangle", corner), ball.triangles),
    )


def read_block(about, text):
    """The samples (time, channel) of a block of `report.html`, as the page reads them."""
    raw = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8).reshape(2, -1)
    rows = np.ascontiguousarray(raw.T).view("<i2").reshape(about["columns"], about["rows"])
    for _ in range(about["order"]):
        rows = np.cumsum(rows, axis=1, dtype=np.int16)
    values = rows.T * np.array(about["scale"]) + np.array(about["offset"])
    return np.where(rows.T == GAP, np.nan, values)
