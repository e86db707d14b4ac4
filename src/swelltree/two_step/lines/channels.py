"""What a run reports of its lines, at one instant."""

from __future__ import annotations

from swelltree.effects.lines.seabed import Bed, bed_plane
from swelltree.engine.arrays import Array
from swelltree.engine.backend import jnp
from swelltree.model.model import Model
from swelltree.spatial.vectors import dot
from swelltree.system.lines.seabed import ON_BED
from swelltree.two_step.lines.winch_rest import with_first
from swelltree.two_step.lines.winch_step import winch_channels
from swelltree.two_step.samples import Sample


def line_channels(model: Model, sample: Sample) -> dict[str, Array]:
    """Positions, tensions, flags, energies and residuals of the lines."""
    lines, now = model.lines, sample.lines
    if lines is None or lines.arrays is None or now is None:
        return {}
    arrays, seen = lines.arrays, now.report
    if now.winch is not None:
        arrays = with_first(arrays, now.winch.first, now.winch.rest)
    used = jnp.arange(arrays.n) >= arrays.first[:, None]
    length = jnp.where(used, arrays.rest_length, 0.0)
    at_A, at_B = (
        _above_the_bed(lines.bed, now.q[:, k], seen.end_force[:, e]) for k, e in ((0, 0), (-1, 1))
    )
    at_B = _size(at_B)
    for k, own in enumerate(lines.tie_line):  # ends that can be released
        if lines.tie_waits[k] == 0.0:
            at_B = at_B.at[own].set(_size(sample.tie)[k])
    out = {
        "line_position": now.q,
        "line_tension": seen.tension,
        "line_impulse": now.impulse,
        "line_mean_tension": now.impulse / now.span,
        "line_slack": seen.slack,
        "line_grounded": seen.grounded,
        "fairlead_tension": at_B,
        "anchor_tension": _size(at_A),
        "anchor_uplift": jnp.maximum(at_A[:, 2], 0.0),
        "touchdown": _touchdown(seen.grounded, length),
        "line_kinetic_energy": seen.kinetic,
        "line_stored_energy": seen.stored,
        "line_potential_energy": seen.potential,
        "length_violation": seen.length_violation.max(),
        "penetration": seen.penetration.max(),
        "complementarity": seen.complementarity.max(),
    }
    if now.winch is not None:
        out |= winch_channels(lines.winches, arrays, now.winch)
        # segments come and go with the rope that is out
        out |= {"line_length": length, "line_segments": used.sum(1).astype(float)}
    return out | ({"junction_position": now.y} if lines.junctions else {})


def _above_the_bed(bed: Bed | None, place: Array, force: Array) -> Array:
    """Force of lines on what holds their ends: half a segment that lies there does not pull down.

    Args:
        bed: the seabed.
        place: of the ends (line, 3) [m].
        force: with the weight of the half segments (line, 3) [N].
    """
    if bed is None:
        return force
    normal, offset = bed_plane(bed, place)
    lies = dot(normal, place) - offset < ON_BED * jnp.abs(place[:, 2])
    up = jnp.where(lies, jnp.maximum(force[:, 2], 0.0), force[:, 2])
    return jnp.concatenate([force[:, :2], up[:, None]], -1)


def _size(force: Array) -> Array:
    return jnp.sqrt(dot(force, force))


def _touchdown(grounded: Array, length: Array) -> Array:
    """Distance along the line from A to the last node on the bed, zero where none is [m]."""
    along = jnp.concatenate([jnp.zeros((length.shape[0], 1)), jnp.cumsum(length, axis=1)], axis=1)
    return jnp.where(grounded, along, 0.0).max(axis=1)
