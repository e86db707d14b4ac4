"""Strokes: distances between two points, and joint coordinates, on which forces act.

The stroke x is the length or coordinate less its value at rest. A force F acts to increase it:
its wrenches on the bodies are F W with a unit pair W, and v = W . (body velocities), so that F v
is the power of the pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from swelltree.jit import Array, namespace, pytree
from swelltree.model.effect import Instant, LinearElements
from swelltree.model.model import Model
from swelltree.multibody.kinematics import Motion, joint_pair, point_motion, spread
from swelltree.pto.laws.base import LawOutputs
from swelltree.spatial.rotations import dot

if TYPE_CHECKING:
    from swelltree.pto.actuators.forces import StrokeForces


@pytree("body_a", "body_b")
class Ends:
    """Pairs of body-fixed points (p of them); N is the world."""

    point_a: Array  # (p, 3)
    point_b: Array  # (p, 3)
    body_a: tuple[int, ...]
    body_b: tuple[int, ...]


@pytree("dof", "place")
class Strokes:
    """Where e elements act: first those between points, then those on joints, then sorted."""

    ends: Ends  # of those between points
    rest: Array  # (e,) m, rad
    dof: tuple[int, ...]  # of those on joints
    place: tuple[int, ...]  # element -> position in (points, joints)

    direct: ClassVar[tuple[str, ...]] = ("rest",)

    def dof_of(self, i: int) -> int | None:
        """Joint coordinate of an element, None between points."""
        k = self.place[i] - len(self.ends.body_a)
        return None if k < 0 else int(self.dof[k])


def lengths(ends: Ends, motion: Motion) -> tuple[Array, Array, Array, Array, Array]:
    """Length, rate, unit vector a to b, and the two end points."""
    a = point_motion(motion, np.array(ends.body_a, dtype=int), ends.point_a)
    b = point_motion(motion, np.array(ends.body_b, dtype=int), ends.point_b)
    d = b.position - a.position
    xp = namespace(d)
    square = dot(d, d)
    # coincident ends have no direction: no force, and a finite derivative
    apart = square > 0.0
    length = xp.where(apart, xp.sqrt(xp.where(apart, square, 1.0)), 0.0)
    unit = d / xp.where(apart, length, 1.0)[:, None]
    return length, dot(unit, b.velocity - a.velocity), unit, a.position, b.position


def stroke(strokes: Strokes, motion: Motion) -> tuple[Array, Array]:
    """Stroke and rate of every element, (e,) each."""
    dof, place = np.array(strokes.dof, dtype=int), np.array(strokes.place, dtype=int)
    x, v = motion.coordinate[dof], motion.rate[dof]
    if strokes.ends.body_a:
        xp = namespace(x, motion.pose.p)
        length, rate = lengths(strokes.ends, motion)[:2]
        x, v = xp.concatenate([length, x]), xp.concatenate([rate, v])
    return x[place] - strokes.rest, v[place]


def pair_wrench(model: Model, strokes: Strokes, motion: Motion, force: Array) -> Array:
    """Wrenches on the bodies (N, 6) of forces (e,), positive if they extend the strokes."""
    xp = namespace(force, motion.pose.p)
    layout = model.layout
    back = np.argsort(np.array(strokes.place, dtype=int))
    sorted_force = force[back]
    n = len(strokes.ends.body_a)
    wrench = xp.zeros((layout.n_bodies, 6))
    if n:
        _, _, unit, at_a, at_b = lengths(strokes.ends, motion)
        push = sorted_force[:n, None] * unit
        body_a, body_b = (
            np.array(b, dtype=int) for b in (strokes.ends.body_a, strokes.ends.body_b)
        )
        wrench = wrench + spread(layout, motion, body_b, at_b, push, 0.0 * push)
        wrench = wrench - spread(layout, motion, body_a, at_a, push, 0.0 * push)
    if strokes.dof:
        wrench = wrench + joint_wrench(model, strokes.dof, motion, sorted_force[n:])
    return wrench


def joint_wrench(model: Model, dofs: tuple[int, ...], motion: Motion, force: Array) -> Array:
    """Wrench pairs of generalised forces on joint coordinates, (N, 6)."""
    xp = namespace(force, motion.pose.p)
    layout, dof = model.layout, np.array(dofs, dtype=int)
    joint = np.array([layout.dofs[k].joint for k in dofs], dtype=int)
    turns = np.array([layout.dofs[k].turns for k in dofs], dtype=bool)[:, None]
    moment = force[:, None] * motion.frames.turn[dof]
    push = xp.where(turns, 0.0, force[:, None] * motion.frames.slide[dof])
    return joint_pair(layout, motion, joint, push, moment)


# --- Elements on strokes for small motions: unit wrenches, force slopes at equilibrium, notes


def linear_elements(forces: StrokeForces, model: Model, now: Instant) -> LinearElements:
    count = len(forces.names)
    units = [pair_wrench(model, forces.strokes, now.motion, unit) for unit in np.eye(count)]
    stops: Array = np.isfinite([forces.stops.lower, forces.stops.upper]).any(axis=0)
    full = [not (forces.tension_only[i] or stops[i]) for i in range(count)]
    return LinearElements(
        forces.names,
        np.array(units, float).reshape(count, -1),
        tuple(full),
    )


def notes_of(forces: StrokeForces) -> tuple[str, ...]:
    """One note per element without a linear law."""
    notes = []
    for law, part in zip(forces.laws, forces.slices(), strict=True):
        for k, i in enumerate(range(part.start, part.stop)):
            if not law.is_linear(k):
                notes.append(f"{forces.words(i)}: {law.linear}.")
    return tuple(notes)


# --- End stops: they push back in proportion to the overrun and to the closing speed


@pytree()
class Stops:
    """Stops of e coordinates."""

    lower: Array  # (e,) -inf: no stop
    upper: Array
    stop_stiffness: Array
    stop_damping: Array
    stop_ramp: Array
    tip: Array | None = None  # (e,) m, rad: thickness of a soft tip; none

    direct: ClassVar[tuple[str, ...]] = (
        "lower",
        "upper",
        "stop_stiffness",
        "stop_damping",
        "stop_ramp",
    )


def stop_forces(stops: Stops, x: Array, v: Array) -> tuple[Array, Array, Array]:
    """Force on each coordinate, its elastic part, and the elastic energy."""
    xp = namespace(x)
    over, under = xp.maximum(x - stops.upper, 0.0), xp.maximum(stops.lower - x, 0.0)
    depth = over + under  # one of them is zero
    share = xp.minimum(depth / stops.stop_ramp, 1.0)
    share = share * share * (3.0 - 2.0 * share)
    closing = xp.where(over > 0.0, v, -v)
    side = xp.where(over > 0.0, -1.0, 1.0)
    k, w = stops.stop_stiffness, stops.tip
    if w is None:
        elastic, squeezed = k * depth, 0.5 * k * depth * depth
        push = xp.maximum(elastic + stops.stop_damping * share * closing, 0.0)
    else:
        elastic = k * rounded(depth, w)
        squeezed = k * xp.where(
            depth < w, depth**3 / (6.0 * w), 0.5 * depth * (depth - w) + w * w / 6.0
        )
        push = elastic + stops.stop_damping * share * closing
        push = rounded(xp.maximum(push, 0.0), 0.5 * k * w + 1e-12)
    return side * push, side * elastic, squeezed


def rounded(x: Array, width: Array) -> Array:
    """Distance x >= 0 less half a width, with a parabolic transition from zero."""
    return namespace(x).where(x < width, 0.5 * x * x / width, x - 0.5 * width)


# --- Channels of forces on strokes, under the names of what was described

# quantity -> channel of power take-offs
ENERGY_TERMS = {
    "force": "pto_force",
    "stroke": "pto_stroke",
    "rate": "pto_rate",
    "control": "pto_control",
    "delivered": "delivered_power",
    "stored": "pto_stored_energy",
    "lost": "pto_losses",
    "stop_force": "pto_stop_force",
    "limited": "pto_limited",
    "latch_force": "pto_latch_force",
    "pressure": "pto_pressure",
    "oil_volume": "pto_oil_volume",
    "oil_total": "pto_oil_total",
    "flywheel_speed": "pto_flywheel_speed",
    "copper_loss": "pto_copper_loss",
    "mode": "pto_mode",
}


def stroke_channels(
    forces: StrokeForces, channels: dict[str, Array], outputs: list[LawOutputs]
) -> dict[str, Array]:
    """Channels by role.

    Args:
        forces: the effect (`stroke_forces.StrokeForces`).
        channels: quantities of all elements, (e,) each.
        outputs: of the laws, for quantities of their own.
    """
    out = {}
    springs, joints = (np.array(forces.with_role(x), dtype=int) for x in ("spring", "joint_force"))
    if springs.size:
        out["spring_tension"] = -channels["force"][springs]
        out["spring_length"] = (channels["stroke"] + forces.strokes.rest)[springs]
        out["spring_rate"] = channels["rate"][springs]
        out["spring_control"] = channels["control"][springs]
    if joints.size:
        out["joint_force_force"] = channels["force"][joints]
        out["joint_force_control"] = channels["control"][joints]
    if forces.ptos:
        channels = channels | _of_single_laws(outputs)
        out |= {ENERGY_TERMS[key]: of_ptos(forces, values) for key, values in channels.items()}
        out["absorbed_power"] = -out["pto_force"] * out["pto_rate"]
    return out


def of_ptos(forces: StrokeForces, values: Array) -> Array:
    """Values (e,) of the power take-offs in described order."""
    return values[np.array(forces.ptos, dtype=int)]


def _of_single_laws(outputs: list[LawOutputs]) -> dict[str, Array]:
    """Quantities of some laws only, NaN for elements of others."""
    names = dict.fromkeys(name for outputs in outputs for name in outputs.shown)
    out = {}
    for name in names:
        parts = [a.shown.get(name, np.nan + 0.0 * a.force) for a in outputs]
        out[name] = namespace(outputs[0].force).concatenate(parts)
    return out
