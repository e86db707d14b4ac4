"""Tensions of lines in the frequency domain, and the variables of results that hold them.

Catenaries and cables of bodies pull as their law says at small displacements and velocities of the
bodies; the nodes of dynamic lines move on their own (`line_response`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swelltree.describe.values import NamedValues
from swelltree.integrate.complementarity.lines.channels import as_described
from swelltree.model.capabilities import ReportsLines, having
from swelltree.model.effect import Instant
from swelltree.model.model import Pose
from swelltree.mooring.dynamic.lines import STATIC_LINES, StaticLines, required_lines
from swelltree.multibody.kinematics import Motion as BodyMotion
from swelltree.spatial.rotations import about_axis, matmul
from swelltree.studies.linear.line_response import LineSystem, Motion
from swelltree.studies.linear.linear_model import LinearModel
from swelltree.studies.linear.linearise import resting_motion

if TYPE_CHECKING:
    import xarray as xr

MOVING_LINES = (
    "Nodes of dynamic lines move about their equilibrium with linearised drag; those on the seabed "
    "stay there, and contact of bodies with the seabed is left out."
)
STEP = 1e-5  # m, rad, m/s: for differences
ENDS = ("fairlead_tension", "anchor_tension")
DIMS = {"line_tension": "line_segment", "line_node_tension": "line_node"}
WORDS = {
    "fairlead_tension": "tension at end B",
    "anchor_tension": "tension at end A",
    "line_tension": "tension of the segments",
    "line_node_tension": "tension along the line",
}


class Tensions(NamedTuple):
    """Tensions of all lines: complex amplitudes (c, line, ...) and values at the equilibrium."""

    lines: tuple[str, ...]
    amplitude: dict[str, np.ndarray]
    mean: dict[str, np.ndarray]


def tensions(
    linear: LinearModel,
    omega: np.ndarray,
    y: np.ndarray,
    system: LineSystem | None = None,
    moved: Motion | None = None,
) -> Tensions | None:
    """Tensions of all lines in waves; None where there are no lines.

    Args:
        linear: the linear model.
        omega: of each wave (c,) [rad/s].
        y: amplitudes of the free directions (c, f).
        system: dynamic lines whose nodes move on their own; catenaries stand for them if not given.
        moved: their motion.
    """
    at = linear.at
    motion, internal = resting_motion(at.formulation)(at.model, at.state)
    now = Instant(np.zeros(()), motion, internal)
    parts = []
    for effect in having(at.model, ReportsLines):
        if isinstance(effect, StaticLines) and system is not None and moved is not None:
            parts.append(_dynamic(system, moved))
        else:
            parts.append(_by_law(linear, effect, now, omega, y))
    parts = [part for part in parts if part is not None]
    if not parts:
        return None
    lines = tuple(name for part in parts for name in part.lines)
    return Tensions(
        lines,
        _below([part.amplitude for part in parts], [len(part.lines) for part in parts], 1),
        _below([part.mean for part in parts], [len(part.lines) for part in parts], 0),
    )


def _below(parts: list[dict[str, np.ndarray]], counts: list[int], axis: int) -> dict:
    """Concatenate rows of several kinds of lines; missing quantities are NaN."""
    out = {}
    for name in {name: None for part in parts for name in part}:
        some = next(part[name] for part in parts if name in part)
        rows = []
        for part, count in zip(parts, counts, strict=True):
            shape = (*some.shape[:axis], count, *some.shape[axis + 1 :])
            rows.append(part.get(name, np.full(shape, np.nan, dtype=some.dtype)))
        out[name] = np.concatenate(rows, axis)
    return out


def _dynamic(system: LineSystem, moved: Motion) -> Tensions:
    """Dynamic lines: tensions along them, and end forces in their mean direction."""
    tension = np.full((len(system.lines), system.n), np.nan)
    for k, line in enumerate(system.lines):
        tension[k, line.first :] = line.tension
    size = np.linalg.norm(system.end_force, axis=-1)
    direction = system.end_force / np.maximum(size, 1e-9)[..., None]
    pull = (moved.end_force * direction).sum(-1)
    lines = required_lines(system.model)
    # waves last: lines and what is along them come first in `as_described`
    moving, tension, pull, size = (
        np.asarray(as_described(lines, x))
        for x in (moved.tension.transpose(1, 2, 0), tension, pull.transpose(1, 2, 0), size)
    )
    amplitude, mean = {"line_tension": moving.transpose(2, 0, 1)}, {"line_tension": tension}
    for end, name in ((0, "anchor_tension"), (1, "fairlead_tension")):
        amplitude[name] = pull[:, end].T
        mean[name] = size[:, end]
    return Tensions(tuple(system.names), amplitude, mean)


def _by_law(
    linear: LinearModel, effect: ReportsLines, now: Instant, omega: np.ndarray, y: np.ndarray
) -> Tensions | None:
    """Lines whose tension follows from positions and velocities of bodies."""
    model, layout = linear.at.model, linear.at.model.layout
    names = tuple(map(str, effect.coordinates(layout)["line"][1]))

    def at(pose: Pose, v: np.ndarray) -> dict[str, np.ndarray]:
        moved = replace(now, motion=replace(now.motion, pose=pose, v=v))
        found = effect.loads(model, moved).channels
        return {name: np.asarray(found[name]) for name in WORDS if name in found}

    motion: BodyMotion = now.motion
    p, R, v = (np.asarray(x, float) for x in (motion.pose.p, motion.pose.R, motion.v))
    mean = at(Pose(p, R), v)
    if not all(name in mean for name in ENDS):
        return None
    way = np.asarray(linear.to_bodies).T.reshape(-1, layout.n_bodies, 6)
    amplitude = {name: np.zeros((len(omega), *x.shape), dtype=complex) for name, x in mean.items()}
    for k, step in enumerate(way):
        sides = []
        for sign in (STEP, -STEP):
            turn = step[:, 3:] * sign
            angle = np.linalg.norm(turn, axis=1)
            axis = turn / np.maximum(angle, 1e-300)[:, None]
            pose = Pose(p + sign * step[:, :3], matmul(about_axis(axis, angle), R))
            sides.append((at(pose, v), at(Pose(p, R), v + sign * step)))
        for name, x in amplitude.items():
            place, rate = ((sides[0][i][name] - sides[1][i][name]) / (2.0 * STEP) for i in (0, 1))
            some = y[:, k].reshape(-1, *(1,) * place.ndim)
            x += some * (place - 1j * omega.reshape(some.shape) * rate)
    return Tensions(names, amplitude, mean)


def with_line_notes(result: xr.Dataset, system: LineSystem | None) -> xr.Dataset:
    """The result with notes on dynamic lines."""
    if system is not None:
        report = str(result.attrs["report"]).replace(STATIC_LINES, MOVING_LINES)
        result.attrs["report"] = report
    return result


def rao_variables(found: Tensions, shape: tuple[int, int]) -> NamedValues:
    """Variables of `rao`: tensions per metre of wave amplitude, and at the equilibrium."""
    out: NamedValues = _means(found)
    for name, x in found.amplitude.items():
        dims = ("omega", "wave_direction", "line", *([DIMS[name]] if name in DIMS else []))
        about = {"units": "N/m", "long_name": f"{WORDS[name]} per metre of wave amplitude"}
        out[f"{name}_rao"] = (dims, x.reshape(*shape, *x.shape[1:]), about)
    return out


def response_variables(found: Tensions, amplitude: np.ndarray, width: np.ndarray | None) -> dict:
    """Variables of `response`: standard deviations and spectra of tensions.

    Args:
        found: per metre.
        amplitude: of the waves (c,) [m].
        width: of the spectrum that each stands for (c,) [rad/s], or None.
    """
    out: NamedValues = _means(found)
    for name, x in found.amplitude.items():
        a = amplitude.reshape(-1, *(1,) * (x.ndim - 1))
        variance = 0.5 * np.abs(a * x) ** 2
        dims = ("line", *([DIMS[name]] if name in DIMS else []))
        about = {"units": "N", "long_name": f"standard deviation of the {WORDS[name]}"}
        out[f"{name}_deviation"] = (dims, np.sqrt(variance.sum(0)), about)
        if name in ENDS and width is not None and np.any(width):
            band = np.where(width > 0, width, np.nan)[:, None]
            about = {"units": "N^2 s/rad", "long_name": f"spectrum of the {WORDS[name]}"}
            out[f"{name}_spectrum"] = (("component", "line"), variance / band, about)
    return out


def _means(found: Tensions) -> NamedValues:
    return {
        name: (
            ("line", *([DIMS[name]] if name in DIMS else [])),
            x,
            {"units": "N", "long_name": f"{WORDS[name]} at the equilibrium"},
        )
        for name, x in found.mean.items()
    }
