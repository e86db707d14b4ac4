"""A field given on a grid of time and space, interpolated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.jit import Array, namespace, pytree
from swelltree.waves.airy import Kinematics
from swelltree.waves.dispersion import AnyWater
from swelltree.waves.measured import open_netcdf
from swelltree.waves.ramp import ramp

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.describe.environment.seas import GriddedSea

AXES = ("time", "x", "y", "z")
UNEVEN = 1e-6  # of the spacing: how far points may be off it


@pytree("cubic")
class GridWaves:
    """A field on an even grid.

    Args:
        origin: first time, x, y, z (4,).
        spacing: of the four (4,).
        elevation: (time, x, y) [m].
        head: dynamic pressure over rho g (time, x, y, z) [m].
        velocity: (time, x, y, z, 3) [m/s], or None.
        acceleration: its rate at the fixed point, or None.
        ramp: [s].
        cubic: interpolation; linear if not.
    """

    origin: Array
    spacing: Array
    elevation: Array
    head: Array
    velocity: Array | None
    acceleration: Array | None
    ramp: Array
    cubic: bool

    @property
    def end(self) -> float:
        """Last time [s]."""
        return float(self.origin[0] + self.spacing[0] * (self.elevation.shape[0] - 1))


def grid_waves(sea: GriddedSea, water: AnyWater) -> GridWaves:
    """Read and check a field on a grid.

    Args:
        sea: GriddedSea(...).
        water: rho and g.
    """
    data = sea.data
    if isinstance(data, str):
        data = open_netcdf(Path(data), "gridded sea")
    for name in ("elevation", "pressure"):
        if name not in data:
            raise sea.fail(f"the data have no '{name}'. Give elevation and dynamic pressure.")
    for axis in ("time", "x", "z"):
        if axis not in data.coords:
            raise sea.fail(f"the data have no coordinate '{axis}'. Give time, x and z, or y too.")
    if "y" not in data.dims:
        data = data.expand_dims(y=[0.0])
    origin, spacing = np.zeros(4), np.ones(4)
    for i, axis in enumerate(AXES):
        values = np.asarray(data[axis].values, dtype=float)
        if not np.isfinite(values).all():
            raise sea.fail(f"{axis} of the grid holds values that are not finite. Give numbers.")
        step = np.diff(values)
        if len(values) > 1:
            if not (step > 0).all() or np.ptp(step) > UNEVEN * step.mean():
                raise sea.fail(
                    f"{axis} of the grid is not evenly spaced. Interpolate the data to equal steps."
                )
            spacing[i] = step.mean()
        elif axis == "time":
            raise sea.fail("the grid has one time only. Give at least two.")
        origin[i] = values[0]
    head = _array(sea, data, "pressure", AXES) / (water.rho * water.g)
    velocity = acceleration = None
    if all(name in data for name in ("u", "v", "w")):
        velocity = np.stack([_array(sea, data, name, AXES) for name in ("u", "v", "w")], axis=-1)
        acceleration = np.gradient(velocity, spacing[0], axis=0)
    return GridWaves(
        origin,
        spacing,
        _array(sea, data, "elevation", AXES[:3]),
        head,
        velocity,
        acceleration,
        np.array(float(sea.ramp)),
        sea.interpolation == "cubic",
    )


def _array(sea: GriddedSea, data: xr.Dataset, name: str, axes: tuple[str, ...]) -> np.ndarray:
    missing = [axis for axis in axes if axis not in data[name].dims]
    if missing and missing != ["y"]:
        raise sea.fail(f"'{name}' has no axis '{missing[0]}'. Give it on {', '.join(axes)}.")
    values = data[name].expand_dims(y=data["y"]) if missing else data[name]
    out = np.asarray(values.transpose(*axes).values, dtype=float)
    if not np.isfinite(out).all():
        raise sea.fail(
            f"'{name}' holds values that are not finite. Continue the field above the surface."
        )
    return out


def _weights(part: Array, count: int, cubic: bool) -> tuple[Array, Array]:
    """Indices and weights of adjacent points along one axis, as last axis."""
    xp = namespace(part)
    part = xp.clip(part, 0.0, count - 1.0)
    i = xp.clip(xp.floor(part), 0, max(count - 2, 0))
    f = (part - i)[..., None]
    if not cubic or count < 4:
        offset = np.arange(min(count, 2))
        weight = f * offset + (1.0 - f) * (1 - offset)
    else:
        # Catmull and Rom; at the ends the neighbour outside is continued straight
        offset = np.arange(-1, 3)
        f2, f3 = f * f, f * f * f
        w = [
            -0.5 * f3 + f2 - 0.5 * f,
            1.5 * f3 - 2.5 * f2 + 1.0,
            -1.5 * f3 + 2.0 * f2 + 0.5 * f,
            0.5 * f3 - 0.5 * f2,
        ]
        first, last = (i == 0)[..., None], (i == count - 2)[..., None]
        weight = [
            xp.where(first, 0.0, w[0]),
            w[1] + xp.where(first, 2.0 * w[0], 0.0) - xp.where(last, w[3], 0.0),
            w[2] - xp.where(first, w[0], 0.0) + xp.where(last, 2.0 * w[3], 0.0),
            xp.where(last, 0.0, w[3]),
        ]
        weight = xp.concatenate(weight, axis=-1)
    number = xp.clip(i[..., None] + offset, 0, count - 1).astype(int)
    return number, weight


def interpolated(waves: GridWaves, field: Array, at: tuple[Array, ...]) -> Array:
    """The field at points; its first axes are time, x, y (and z), others come last."""
    xp = namespace(field, *at)
    n = len(at)
    at = xp.broadcast_arrays(*(xp.asarray(value) for value in at))
    numbers, weights = [], []
    for axis, value in enumerate(at):
        part = (value - waves.origin[axis]) / waves.spacing[axis]
        number, weight = _weights(part, field.shape[axis], waves.cubic)
        shape = [1] * n
        shape[axis] = number.shape[-1]
        numbers.append(number.reshape(*number.shape[:-1], *shape))
        weights.append(weight.reshape(*weight.shape[:-1], *shape))
    values = xp.asarray(field)[tuple(numbers)]
    weight = weights[0]
    for w in weights[1:]:
        weight = weight * w
    extra = values.ndim - weight.ndim
    weight = weight.reshape(*weight.shape, *(1,) * extra)
    first = at[0].ndim
    return (values * weight).sum(tuple(range(first, first + n)))


def elevation(waves: GridWaves, t: Array, x: Array = 0.0, y: Array = 0.0) -> Array:
    """Free surface [m]; arguments broadcast."""
    return ramp(t, waves.ramp) * interpolated(waves, waves.elevation, (t, x, y))


def head(waves: GridWaves, t: Array, x: Array, y: Array, z: Array) -> Array:
    """Dynamic pressure over rho g [m]; arguments broadcast."""
    return ramp(t, waves.ramp) * interpolated(waves, waves.head, (t, x, y, z))


def kinematics(
    waves: GridWaves, t: Array, x: Array, y: Array, z: Array, water: AnyWater
) -> Kinematics:
    """Velocity, acceleration at the fixed point and dynamic pressure."""
    if waves.velocity is None:
        raise SwelltreeError(
            "wave 'gridded': the data have no velocities u, v, w, which drag needs. Add them."
        )
    xp = namespace(waves.velocity, t, x, y, z)
    r = xp.asarray(ramp(t, waves.ramp))[..., None]
    at = (t, x, y, z)
    return Kinematics(
        r * interpolated(waves, waves.velocity, at),
        r * interpolated(waves, waves.acceleration, at),
        water.rho * water.g * head(waves, *at),
    )
