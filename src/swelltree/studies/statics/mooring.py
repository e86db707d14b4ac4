"""Lines and linear moorings at equilibrium: stiffness matrix and offset curves."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed, suggest, warn_user
from swelltree.describe.values import NamedValues
from swelltree.jit import Array, Points, jnp, mapped
from swelltree.model.capabilities import Moors, having, internal_at_rest
from swelltree.model.effect import Instant
from swelltree.model.model import Model
from swelltree.model.solved import joined_channels
from swelltree.mooring.catenary.left_out import warnings_of_lines
from swelltree.mooring.dynamic.lines import with_static_lines
from swelltree.multibody.formulations import Formulation, State
from swelltree.multibody.formulations import formulation as chosen_formulation
from swelltree.multibody.kinematics import Motion, Pose, joint_frames
from swelltree.multibody.layout import DOFS
from swelltree.spatial.rotations import matmul, quat_to_matrix
from swelltree.studies.options import study_of_model
from swelltree.studies.statics.equilibrium import find_rest, specified_state
from swelltree.studies.statics.relax import placed

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.describe.bodies.body import Body


def _turn(vector: Array) -> Array:
    """Rotation matrices of rotation vectors (N, 3), with derivatives at zero."""
    square = (vector * vector).sum(-1, keepdims=True)
    small = square < 1e-8
    angle = jnp.sqrt(jnp.where(small, 1.0, square))
    scalar = jnp.where(small, 1.0 - square / 8.0, jnp.cos(0.5 * angle))
    factor = jnp.where(small, 0.5 - square / 48.0, jnp.sin(0.5 * angle) / angle)
    return quat_to_matrix(jnp.concatenate([scalar, factor * vector], axis=-1))


def _mooring_loads(model: Model, pose: Pose, xi: Array) -> tuple[Array, dict[str, Array]]:
    """Wrenches (N, 6) and channels of all moorings, bodies displaced by xi (N, 6)."""
    moved = Pose(pose.p + xi[:, :3], matmul(_turn(xi[:, 3:]), pose.R))
    count = len(model.layout.dofs)
    still = Motion(
        moved, jnp.zeros_like(xi), joint_frames(model, moved), jnp.zeros(count), jnp.zeros(count)
    )
    now = Instant(jnp.zeros(()), still, internal_at_rest(model))
    parts = [(effect, effect.loads(model, now)) for effect in having(model, Moors)]
    total = jnp.zeros_like(xi) + sum(part.wrench for _, part in parts)
    channels = [(effect, part.channels) for effect, part in parts]
    return total, joined_channels(channels, model.layout)


def _displaced(model: Model, pose: Pose, xi: Array) -> tuple[Array, dict[str, Array]]:
    """Mooring loads as a function of the displacements of all bodies in one row (6N,)."""
    return _mooring_loads(model, pose, xi.reshape(-1, 6))


@functools.cache
def _stiffness() -> Points:
    """Wrenches (N, 6), and their derivatives in displacements (6N,)."""
    return Points(lambda model, pose, xi: _displaced(model, pose, xi)[0])


@functools.cache
def _curve() -> Points:
    """Wrenches and channels at many displacements."""
    return Points(_displaced, many=True)


def _pose_at_rest(
    model: Model, how: Formulation, at_equilibrium: bool, start: State | str | None, study: str
) -> Pose:
    start = specified_state(start, study)
    state = find_rest(model, how, start)[0] if at_equilibrium else (start or how.start(model))
    return placed(how)(model, state)[0]


def _check_moored(model: Model, study: str) -> None:
    if not having(model, Moors):
        raise SwelltreeError(f"{study}: nothing moors this system. Give lines or LinearMooring.")


def _number(model: Model, body: str | Body, study: str) -> int:
    name = getattr(body, "name", body)
    if name not in model.layout.bodies:
        known = model.layout.described
        raise SwelltreeError(
            f"{study}: body '{name}' is not in the system."
            + (suggest(str(name), known) or f" The bodies are {listed(known)}.")
        )
    return model.layout.bodies.index(name)


@study_of_model
def mooring_stiffness(
    model: Model,
    body: str | Body | None = None,
    *,
    formulation: str | Formulation = "path_matrix",
    at_equilibrium: bool = True,
    start: State | str | None = None,
) -> xr.Dataset:
    """Stiffness of quasi-static lines and linear moorings at the equilibrium.

    Restoring force and moment on each body, in world axes about its reference point, per
    displacement of this point and rotation of the body; exact derivatives, the effect of pretension
    included. The lines' junctions follow. Returns a dataset: `mooring_stiffness` and the
    `mooring_wrench` that lines exert at rest.

    Args:
        model: from `compile`.
        body: only this body, by name, the others held: 6 x 6; all of them if not given, 6N x 6N.
        formulation: of the search for the equilibrium.
        at_equilibrium: find the equilibrium first; otherwise take the start.
        start: state to begin from.
    """
    import xarray as xr

    model = with_static_lines(model, "mooring_stiffness")
    _check_moored(model, "mooring_stiffness")
    how = chosen_formulation(formulation)
    pose = _pose_at_rest(model, how, at_equilibrium, start, "mooring_stiffness")
    n = model.layout.n_bodies
    wrench, change = _stiffness().jacobians(model, pose, np.zeros(6 * n))
    K = -change.reshape(n, 6, n, 6)
    names = model.layout.described if body is None else (getattr(body, "name", body),)
    numbers = [_number(model, name, "mooring_stiffness") for name in names]
    K = K[np.ix_(numbers, range(6), numbers, range(6))].reshape(6 * len(numbers), 6 * len(numbers))
    labels = [f"{name}__{dof}" for name in names for dof in DOFS]
    frame = "world axes, at the reference point of the body"
    return xr.Dataset(
        {
            "mooring_stiffness": (
                ("force_dof", "motion_dof"),
                K,
                {
                    "units": "N/m, N, N m",
                    "long_name": "force lost per displacement and turn",
                    "frame": frame,
                },
            ),
            "mooring_wrench": (
                "force_dof",
                wrench[numbers].reshape(-1),
                {"units": "N, N m", "long_name": "force and moment at equilibrium", "frame": frame},
            ),
        },
        {"force_dof": labels, "motion_dof": labels},
        {"study": "mooring_stiffness", "conventions": "body__Dof; translations before rotations"},
    )


@study_of_model
def offset_curve(
    model: Model,
    body: str | Body,
    direction: str | Sequence[float],
    offsets: Sequence[float] | np.ndarray,
    *,
    formulation: str | Formulation = "path_matrix",
    at_equilibrium: bool = True,
    start: State | str | None = None,
) -> xr.Dataset:
    """Restoring force and tensions of the mooring over the offset of one body.

    The body is moved from the equilibrium and does not turn (a direction such as "Yaw" turns it
    in place); other bodies stay. Returns a dataset over `offset` with `restoring_force` (against
    the offset, along it), `mooring_wrench`, and the channels of lines.

    Args:
        model: from `compile`.
        body: which one, by name.
        direction: "Surge" ... "Yaw", or a vector in world axes.
        offsets: [m], or [rad] for a turn.
        formulation: of the search for the equilibrium.
        at_equilibrium: find the equilibrium first; otherwise take the start.
        start: state to begin from.
    """
    import xarray as xr

    from swelltree.model.channels import CHANNELS, attributes
    from swelltree.results.dataset import coordinates_along

    model = with_static_lines(model, "offset_curve")
    _check_moored(model, "offset_curve")
    number = _number(model, body, "offset_curve")
    along = _direction(direction)
    offsets = np.atleast_1d(np.asarray(offsets, dtype=float))
    xi = np.zeros((len(offsets), model.layout.n_bodies, 6))
    xi[:, number] = offsets[:, None] * along
    how = chosen_formulation(formulation)
    pose = _pose_at_rest(model, how, at_equilibrium, start, "offset_curve")
    count = len(offsets)
    poses = mapped(lambda x: np.broadcast_to(x, (count, *np.shape(x))), pose)
    wrench, channels = _curve().values(model, poses, xi.reshape(count, -1))
    wrench = wrench[:, number]
    turns = bool(along[3:].any())
    data: NamedValues = {
        "restoring_force": (
            "offset",
            -wrench @ along,
            {"units": "N m" if turns else "N", "long_name": "force against the offset"},
        ),
        "mooring_wrench": (
            ("offset", "dof"),
            wrench,
            {
                "units": "N, N m",
                "long_name": "force and moment of the mooring",
                "frame": "world axes, at the reference point of the body",
            },
        ),
    }
    for key, values in channels.items():
        label = CHANNELS[key]
        data[label.name] = (("offset", *label.dims), np.asarray(values), attributes(label))
    used = {
        dim for dims, _, _ in data.values() for dim in ([dims] if isinstance(dims, str) else dims)
    }
    coords = coordinates_along(model, used)
    about = {"units": "rad" if turns else "m", "long_name": "offset from the equilibrium"}
    coords["offset"] = (("offset",), offsets, about)
    name = model.layout.bodies[number]
    attrs = {"study": "offset_curve", "body": name, "direction": str(direction)}
    curve = xr.Dataset(data, coords, attrs)
    for text in warnings_of_lines(model, curve):
        warn_user(text)
    return curve


def _direction(direction: str | Sequence[float]) -> np.ndarray:
    """Unit displacement (6,) of a direction."""
    if isinstance(direction, str):
        if direction not in DOFS:
            raise SwelltreeError(
                f"offset_curve: direction '{direction}' is not known."
                + (suggest(direction, DOFS) or f" Choose from {listed(DOFS)}, or give a vector.")
            )
        return np.eye(6)[DOFS.index(direction)]
    vector = np.asarray(direction, dtype=float)
    if vector.shape != (3,) or not np.linalg.norm(vector) > 0.0:
        raise SwelltreeError(
            f"offset_curve: direction {direction} is not a vector. Give three numbers, or 'Surge'."
        )
    return np.concatenate([vector / np.linalg.norm(vector), np.zeros(3)])
