"""From raw channels to a labelled `xarray.Dataset`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.values import NamedValues
from swelltree.jit import installed_version
from swelltree.model.capabilities import HasConstants, Reports, having
from swelltree.model.channels import AXES, CHANNELS, DOFS, attributes
from swelltree.model.model import Model
from swelltree.model.solved import element_names, joined_channels, solved_terms
from swelltree.results.displacement import DESCRIBED, datum_coordinates, following
from swelltree.results.sea import body_order, finished, labels_of

if TYPE_CHECKING:
    import xarray as xr

LEAST_NORM = (
    "not unique, because joints are redundant (the result's 'report' names them): "
    "least-norm reactions, the smallest sum of squares of all multipliers, N and N m alike"
)

Labelled = tuple[tuple[str, ...], np.ndarray, NamedValues]  # dims, values, attributes


def to_dataset(
    model: Model,
    times: np.ndarray,
    channels: dict[str, np.ndarray],
    attrs: NamedValues,
    near: np.ndarray | None = None,
    more: dict[str, Labelled] | None = None,
    adjacent: dict[str, Labelled] | None = None,
    datum: str = DESCRIBED,
    done: dict[str, np.ndarray] | None = None,
) -> xr.Dataset:
    """Labelled result of a run; bodies in the order of the description.

    Args:
        model: the model that was run.
        times: sample times [s].
        channels: raw channels of `observe`, time first, bodies depth first.
        attrs: attributes of the run: formulation, solver, ...
        near: joint coordinates of the sample before the first, where a run goes on.
        more: coordinates added.
        adjacent: variables added.
        datum: what the model's datum is, in words.
        done: all channels as `finished` makes them, where that was done; `channels` may then be
            those of some samples.
    """
    import xarray as xr  # half a second: paid when a result is made

    raw = {name: np.asarray(x) for name, x in channels.items()}
    labels = {label.name: label for label in labels_of(model, raw).values()}
    values = finished(model, raw) if done is None else done
    if "joint_coordinate" in values and len(times):
        known = specified_coordinates(model) if near is None else near
        values["joint_coordinate"] = following(model.layout, values["joint_coordinate"], known)
    variables: dict[str, Labelled] = {}
    for name, label in labels.items():
        if name in values:
            variables[name] = (("time", *label.dims), values[name], attributes(label))
    if model.redundant:
        for name in {"reaction", "reaction_joint_axes"} & variables.keys():
            variables[name][2]["uniqueness"] = LEAST_NORM
    zero: dict[str, Labelled] = {}
    if "displacement" in variables:
        variables["displacement"][2]["measured_from"] = datum
        zero = datum_coordinates(model, body_order(model), datum)
    used = {dim for dims, _, _ in variables.values() for dim in dims}
    dataset = xr.Dataset(
        variables | (adjacent or {}),
        coords={
            "time": ("time", np.asarray(times, float), {"units": "s", "long_name": "time"}),
            **coordinates_along(model, used),
            **zero,
            **(more or {}),
        },
    )
    dataset.attrs = provenance(model) | {key: plain(value) for key, value in attrs.items()}
    return dataset


def specified_coordinates(model: Model) -> dict[str, float]:
    """Joint coordinates given in the description, by label."""
    system = model.described.system
    joints = () if system is None else system.joints
    return {f"{j.name}__{dof}": x for j in joints for dof, x in j.initial_position().items()}


def coordinates(model: Model) -> dict[str, Labelled]:
    """Coordinates of all possible dimensions of a result: dims, values, attributes."""
    layout, sensors = model.layout, model.sensors
    bodies = (*layout.bodies, "world")  # -1 and N both stand for the world
    reference = np.asarray(model.reference)[body_order(model)]
    drives = [f"{layout.dof_labels[k]} drive" for k in layout.drives]

    def text(dim: str, values: Iterable[object], about: str, **more: str) -> Labelled:
        entries = list(values)
        kind = bool if entries and isinstance(entries[0], bool) else object
        return (dim,), np.array(entries, dtype=kind), {"long_name": about} | more

    turns = [dof.turns for dof in layout.dofs]
    units = ["rad" if angle else "m" for angle in turns]
    places = "; ".join(
        f"{name} ({x:g}, {y:g}, {z:g})"
        for name, (x, y, z) in zip(layout.described, reference, strict=True)
    )
    return {
        "body": text(
            "body", layout.described, "body", reference_point=f"in the body's frame [m]: {places}"
        ),
        "reference_point": (
            ("body", "axis"),
            reference,
            {
                "units": "m",
                "long_name": "reference point of positions, velocities and wrenches",
                "frame": "body frame as described",
                "on_body": "each body",
            },
        ),
        "dof": text("dof", DOFS, "direction: three translations, three rotations"),
        "axis": text("axis", AXES, "axis"),
        "body_axis": text("body_axis", AXES, "axis of the body"),
        "component": text("component", "wxyz", "component of the quaternion"),
        "coordinate": text("coordinate", layout.dof_labels, "joint and its degree of freedom"),
        "coordinate_unit": text("coordinate", units, "unit of the joint coordinate"),
        "coordinate_turns": text("coordinate", turns, "the coordinate is an angle"),
        "joint": text("joint", layout.joints, "joint"),
        **_of_couplings(model, text),
        "base": text("joint", [bodies[i] for i in layout.base], "base body of the joint"),
        "follower": text("joint", [bodies[i] for i in layout.follower], "follower of the joint"),
        "element": text(
            "element",
            [*element_names(model), *solved_terms(model), *drives],
            "term of the energy budget",
        ),
        **_of_effects(model, text),
        "point": text("point", sensors.points, "named point"),
        "point_body": text("point", [bodies[i] for i in sensors.body], "body of the point"),
        "pair": text("pair", sensors.pairs, "named pair of points"),
    }


def _of_couplings(model: Model, text: Callable[..., Labelled]) -> dict[str, Labelled]:
    layout = model.layout
    terms = [
        (layout.couplings[row.coupling], part.i)
        for row in layout.rows
        if row.coupling is not None
        for part in row.parts()
    ]
    labels = [f"{name}: {layout.dof_labels[k]}" for name, k in terms]
    turns = [layout.dofs[k].turns for _, k in terms]
    units = ["N m" if angle else "N" for angle in turns]
    return {
        "coupling_term": text("coupling_term", labels, "coupling and joint coordinate"),
        "coupling_term_unit": text("coupling_term", units, "unit of the force"),
        "coupling_term_turns": text("coupling_term", turns, "the coordinate is an angle"),
    }


def _of_effects(model: Model, text: Callable[..., Labelled]) -> dict[str, Labelled]:
    """Coordinates of the channels of all effects; effects can share a dimension."""
    rows: dict[str, tuple[str, list[object], str]] = {}
    for effect in having(model, Reports):
        for name, (dim, values, about) in effect.coordinates(model.layout).items():
            rows.setdefault(name, (dim, [], about))[1].extend(values)
    return {name: text(*row) for name, row in rows.items()}


def coordinates_along(model: Model, used: set[str]) -> dict[str, Labelled]:
    """Coordinates of some dimensions, and constants of effects along these or along none of others.

    Args:
        model: that was run.
        used: dimensions of the variables of a result.
    """
    known = coordinates(model)
    result = {name: entry for name, entry in known.items() if set(entry[0]) <= used}
    others = {dim for dims, _, _ in known.values() for dim in dims} - used
    parts = [(e, e.constants() if isinstance(e, HasConstants) else {}) for e in model.effects]
    for name, values in joined_channels(parts, model.layout).items():
        channel = CHANNELS[name]
        if not others & set(channel.dims):
            result[name] = channel.dims, values, attributes(channel)
    return result


@functools.cache
def version(package: str) -> str:
    """Version of an installed package, cached: reading it takes as long as a short run."""
    import importlib.metadata

    try:
        return installed_version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def provenance(model: Model) -> NamedValues:
    """Attributes of every result: versions, time, water, notes of compilation."""
    import platform
    from datetime import UTC, datetime

    return {
        "title": "swelltree result",
        "swelltree_version": version("swelltree"),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "rho": float(model.rho),
        "g": float(-np.asarray(model.gravity)[2]),
        "water_depth": float(model.water.depth),
        "report": " ".join(model.report),
        "conventions": (
            "SI units and radians; right-handed, z up, z = 0 on the still water; "
            "translations before rotations; Euler angles intrinsic z-y-x, in results only"
        ),
        "python_version": platform.python_version(),
        "jax_version": version("jax"),
        "numpy_version": version("numpy"),
        "system": model.described.system.name if model.described.system else "",
        "drawing": model.described.drawing,
        "case": model.described.case,
        **{f"hydro_{key}": text for key, text in model.described.data.items()},
    }


def plain(value: object) -> str | float | np.ndarray | np.generic:
    """Value as an attribute that netCDF can store: text, number or row of numbers."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str | int | float | np.ndarray | np.generic):
        return value
    return str(value)
