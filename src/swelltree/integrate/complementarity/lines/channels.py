"""What a solved step says of dynamic lines and contacts: forces on bodies, and channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.mooring.seabed import ON_BED
from swelltree.integrate.complementarity.lines.stretch import working
from swelltree.integrate.complementarity.lines.winch_step import WinchSample
from swelltree.integrate.complementarity.samples import Sample
from swelltree.jit import Array, namespace
from swelltree.model.effect import Loads
from swelltree.model.model import Model
from swelltree.mooring.channels import end_channels
from swelltree.mooring.dynamic.arrays import LineArrays, with_first
from swelltree.mooring.dynamic.lines import DynamicLines, lines_of
from swelltree.mooring.seabed import Bed, bed_plane
from swelltree.multibody.kinematics import with_world
from swelltree.spatial.rotations import cross, dot, matvec

if TYPE_CHECKING:
    from swelltree.mooring.winches import Winches


def solved_loads(model: Model, sample: Sample) -> Loads | None:
    """Solved loads of effects with unknowns; None without any."""
    lines = lines_of(model)
    if lines is None:
        return None
    # their energy balance is kept from step to step
    none = np.zeros(0)
    return Loads(attached_wrench(lines, sample), none, none, line_channels(lines, sample))


def attached_wrench(lines: DynamicLines, sample: Sample) -> Array:
    """Wrench of lines and contacts on every body (N, 6), about the reference points."""
    xp = namespace(sample.v)
    wrench = xp.zeros_like(sample.v)
    N = sample.v.shape[0]
    for bodies, points, force in _attached(lines, sample):
        body = np.array(bodies, dtype=int)
        R = with_world(sample.pose.R, np.eye(3))[body]
        moment = cross(matvec(R, points), force)
        hits = (np.arange(N)[:, None] == body[None, :]).astype(float)
        wrench = wrench + hits @ xp.concatenate([force, moment], -1)
    return wrench


def _attached(lines: DynamicLines, sample: Sample) -> list[tuple[tuple[int, ...], Array, Array]]:
    """Bodies, points and forces of line ends, ties and contacts."""
    result = []
    if sample.lines is not None and lines.arrays is not None:
        force = sample.lines.report.end_force.reshape(-1, 3)
        result.append((lines.end_body, lines.end_point, force))
    if lines.tie_body:
        result.append((lines.tie_body, sample.tie_point, -sample.tie))
    if lines.n_contacts:
        result.append((lines.contact_body, lines.contact_point, sample.contact_force))
    return result


def line_channels(lines: DynamicLines, sample: Sample) -> dict[str, Array]:
    """Positions, tensions, flags, energies and residuals; forces of the seabed on bodies."""
    touching = {"contact_force": sample.contact_force} if sample.contact_force.size else {}
    now = sample.lines
    if lines.arrays is None or now is None:
        return touching
    xp = namespace(now.q)
    arrays, report = lines.arrays, now.report
    if now.winch is not None:
        arrays = with_first(arrays, now.winch.first, now.winch.rest)
    used = np.arange(arrays.n) >= xp.asarray(arrays.first)[:, None]
    length = xp.where(used, arrays.rest_length, 0.0)
    along = lambda x: as_described(lines, x)  # noqa: E731
    touchdown = _touchdown(report.grounded, length, used)
    if any(lines.turned):
        from_B = xp.where(report.grounded.any(1), length.sum(1) - touchdown, 0.0)
        touchdown = xp.where(np.array(lines.turned), from_B, touchdown)
    out = touching | {
        "line_position": along(now.q),
        "line_tension": along(report.tension),
        "line_impulse": along(now.impulse),
        "line_mean_tension": along(now.impulse / now.span),
        "line_slack": along(report.slack),
        "line_grounded": along(report.grounded),
        "touchdown": touchdown,
        "line_kinetic_energy": report.kinetic,
        "line_stored_energy": report.stored,
        "line_potential_energy": report.potential,
        "length_violation": report.length_violation.max(),
        "penetration": report.penetration.max(),
        "complementarity": report.complementarity.max(),
    }
    ends = along(end_forces(lines, sample))
    out |= end_channels(ends[:, 0], ends[:, 1])
    if lines.breaking_load is not None:
        out["utilisation"] = (report.tension / lines.breaking_load).max(-1)
    if now.most is not None:
        out["line_permanent_strain"] = along(working(arrays, now.most)[1])
    if arrays.bending:
        out |= {
            "line_curvature": along(report.curvature),
            "line_bending_moment": along(report.moment),
            "line_bend_radius": 1.0 / xp.maximum(report.curvature.max(-1), 1e-9),
        }
    if now.winch is not None:
        out |= winch_channels(lines.winches, arrays, now.winch)
        # segments come and go with the rope that is out
        out |= {"line_length": along(length), "line_segments": used.sum(1).astype(float)}
    return out | ({"junction_position": now.y} if lines.junctions else {})


def as_described(lines: DynamicLines, x: Array) -> Array:
    """Values along lines (line, ...) in the order from the described end A to B."""
    if not any(lines.turned):
        return x
    xp = namespace(x)
    turned = np.array(lines.turned).reshape(-1, *(1,) * (x.ndim - 1))
    return xp.where(turned, x[:, ::-1], x)


def end_forces(lines: DynamicLines, sample: Sample) -> Array:
    """Forces of lines on what holds their ends A and B (line, 2, 3) [N]."""
    now = sample.lines
    xp = namespace(now.q)
    at_A, at_B = (
        _above_the_bed(lines.bed, now.q[:, k], now.report.end_force[:, e])
        for k, e in ((0, 0), (-1, 1))
    )
    return xp.stack(
        [
            _at_released_ends(lines, sample, at_A, at_A=True),
            _at_released_ends(lines, sample, at_B, at_A=False),
        ],
        1,
    )


def _at_released_ends(lines: DynamicLines, sample: Sample, force: Array, *, at_A: bool) -> Array:
    """Forces at one of the ends; at releasable ends those of the tie (line, 3) [N]."""
    both = enumerate(zip(lines.tie_waits, lines.tie_at_A, strict=True))
    ties = [k for k, (waits, there) in both if waits == 0.0 and there == at_A]
    if not ties:
        return force
    xp = namespace(force)
    hits = np.arange(force.shape[0])[:, None] == np.array(lines.tie_line)[ties]
    tied = xp.where(hits[:, :, None], -sample.tie[np.array(ties)], 0.0).sum(1)
    return xp.where(hits.any(1)[:, None], tied, force)


def _above_the_bed(bed: Bed | None, place: Array, force: Array) -> Array:
    """Force of lines on what holds their ends: half a segment that lies there does not pull down.

    Args:
        bed: the seabed.
        place: of the ends (line, 3) [m].
        force: with the weight of the half segments (line, 3) [N].
    """
    if bed is None:
        return force
    xp = namespace(place, force)
    normal, offset = bed_plane(bed, place)
    lies = dot(normal, place) - offset < ON_BED * xp.abs(place[:, 2])
    up = xp.where(lies, xp.maximum(force[:, 2], 0.0), force[:, 2])
    return xp.concatenate([force[:, :2], up[:, None]], -1)


def _touchdown(grounded: Array, length: Array, used: Array) -> Array:
    """Distance along the line from A to where it leaves the bed, zero where none lies [m].

    Of a line that lies at end B and hangs at A that is its first node on the bed, else the last.
    """
    xp = namespace(length)
    zero = xp.zeros((length.shape[0], 1))
    along = xp.concatenate([zero, xp.cumsum(length, axis=1)], axis=1)
    total = along[:, -1]
    # nodes next to the ends
    lies_B = grounded[:, -2]
    first = xp.concatenate([zero > 0.0, used[:, :-1] < used[:, 1:], zero > 0.0], axis=1)
    first = first | ((np.arange(grounded.shape[1]) == 1) & used[:, :1])
    lies_A = (grounded & first).any(1)
    last = xp.where(grounded, along, 0.0).max(axis=1)
    nearest = xp.where(grounded, along, total[:, None]).min(axis=1)
    return xp.where(lies_B & ~lies_A, nearest, last)


def winch_channels(winches: Winches, arrays: LineArrays, now: WinchSample) -> dict[str, Array]:
    """What a run reports of its winches.

    Args:
        winches: compiled.
        arrays: the lines as long as they are now.
        now: the sample.
    """
    xp = namespace(now.length)
    rows = np.array(winches.line, dtype=int)
    used = np.arange(arrays.n) >= xp.asarray(arrays.first)[:, None]
    mass = xp.where(used, arrays.mass_per_length * arrays.rest_length, 0.0).sum(-1)
    return {
        "winch_length": now.length,
        "winch_speed": now.speed,
        "winch_tension": now.tension,
        "winch_power": now.power,
        "winch_work": now.work,
        "winch_rope_mass": mass[rows],
        "winch_rope_energy": now.brought,
        "winch_rope_momentum": now.momentum,
        "winch_lost_energy": now.lost,
        "winch_lost_momentum": now.slip,
        "winch_segments": (arrays.n - arrays.first[rows]).astype(float),
    }
