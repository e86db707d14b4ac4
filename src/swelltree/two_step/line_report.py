"""What a run reports of its lines, at one instant."""

from __future__ import annotations

import numpy as np

from swelltree.model.bed import bed_plane
from swelltree.model.model import Model
from swelltree.spatial.arrays import Array
from swelltree.spatial.engine import jnp
from swelltree.spatial.vectors import dot
from swelltree.two_step.step import Sample

SLACK = 1e-6  # of the largest weight of a segment: less tension than this is none


def line_channels(model: Model, sample: Sample) -> dict[str, Array]:
    """Positions, tensions, flags and residuals of the lines."""
    lines, now = model.lines, sample.lines
    if lines is None or lines.arrays is None or now is None:
        return {}
    arrays = lines.arrays
    used = jnp.arange(arrays.n) >= arrays.first[:, None]
    length = jnp.where(used, arrays.rest_length, 0.0)
    weight = (arrays.mass_per_length * length).max() * 9.81
    slack = used & (now.tension < SLACK * weight)
    grounded = now.nu > SLACK * weight
    d = now.q[:, 1:] - now.q[:, :-1]
    stretch = (dot(d, d) - arrays.rest_length**2) / (2.0 * arrays.rest_length)
    rigid = used & ~jnp.isfinite(arrays.EA)
    violation = jnp.where(rigid, jnp.maximum(stretch, 0.0), 0.0).max(initial=0.0)
    comp = jnp.where(rigid, jnp.abs(now.mu * stretch), 0.0).max(initial=0.0)
    out = {
        "line_position": now.q,
        "line_tension": jnp.where(used, now.tension, 0.0),
        "line_slack": slack,
        "line_grounded": grounded,
        "fairlead_tension": _size(now.end_force[:, 1]),
        "anchor_tension": _size(now.end_force[:, 0]),
        "anchor_uplift": now.end_force[:, 0, 2],
        "touchdown": _touchdown(grounded, length),
        "length_violation": violation,
        "complementarity": comp,
    }
    if lines.bed is not None:
        normal, offset = bed_plane(lines.bed, now.q)
        out["penetration"] = jnp.maximum(offset - dot(normal, now.q), 0.0)[:, 1:-1].max(initial=0.0)
    if lines.junctions:
        out["junction_position"] = now.y
    return out


def _size(force: Array) -> Array:
    return jnp.sqrt(dot(force, force))


def _touchdown(grounded: Array, length: Array) -> Array:
    """Distance along the line from A to the last node on the bed, zero where none is [m]."""
    along = jnp.concatenate([jnp.zeros((length.shape[0], 1)), jnp.cumsum(length, axis=1)], axis=1)
    return jnp.where(grounded, along, 0.0).max(axis=1)


def line_names(model: Model) -> tuple[str, ...]:
    """Names of the pieces of lines."""
    return () if model.lines is None else model.lines.names


def n_segments(model: Model) -> np.ndarray:
    """Segments of every piece."""
    arrays = model.lines.arrays
    return arrays.n - np.asarray(arrays.first)
