r"""Slender members by Morison's formula, strip by strip.

.. math::
    f = \tfrac12 \rho C_d D |w_n| w_n + \rho A (1 + C_a)\, \dot u_n - \rho A C_a\, \dot v_n
    \quad \text{per length, } w = u - v

The last term is in the mass matrix (`bodies.added_mass`), with what is wet in still water. All
others act on the part of each strip that is under the instantaneous surface (`wet_strips`).

Drag and inertia act at the point of a strip. That is its middle, or, where strips are lumped at the
nodes of the member, the node it belongs to; then the middle of the strip is a `shift` away from it.
Pressure on the ends is in buoyancy and in the axial inertia of the displaced volume (Gauss).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float

from swelltree.hydro.morison.drag import DragPieces, size
from swelltree.jit import Array, namespace, pytree
from swelltree.model.capabilities import ExcitedByWaves, HasDrag, Reports
from swelltree.model.effect import Coordinate, Instant, Loads
from swelltree.model.model import Model
from swelltree.model.sea import surface_and_water_at, water_at
from swelltree.multibody.inertia import kirchhoff, world_added_mass
from swelltree.multibody.kinematics import Motion, Pose, point_motion
from swelltree.multibody.layout import Layout
from swelltree.spatial.loops import in_rows
from swelltree.spatial.rotations import cross, dot, matvec, skew

# --- How far strips of a member are under water, and what buoyancy stores in them

SAME_VARIANCE = 0.75  # of D^2: square of the width of a uniform distribution, D^2 / 16 = W^2 / 12
LEVEL = 0.2  # slope below which a strip counts as level


class Submergence(NamedTuple):
    """Submergence of every strip."""

    wet: Array  # (k,) part under the surface
    head: Array  # (k,) Phi, m
    turn: Array  # (k,) derivative of Phi by s_z, m


def wetness(
    surface: Float[Array, " k"],
    at: Float[Array, "k 3"],
    s: Float[Array, "k 3"],
    strips: MorisonMembers | Strips,
) -> Float[Array, " k"]:
    """Part of each strip under the surface, with a continuous derivative.

    Strips on end add up to the wetted length exactly.

    Args:
        surface: height of the free surface [m].
        at: points of the strips [m].
        s: along the member.
        strips: with `length`, `width` and `shift` of each strip.
    """
    return submergence(surface, at, s, strips).wet


def submergence(
    surface: Float[Array, " k"],
    at: Float[Array, "k 3"],
    s: Float[Array, "k 3"],
    strips: MorisonMembers | Strips,
) -> Submergence:
    """Wet part, stored head and its derivative with the slope of the member."""
    xp = namespace(at, surface)
    s_z = s[:, 2]
    depth = surface - at[:, 2] - strips.shift * s_z
    up = xp.sqrt(s_z**2 + 1e-6)
    tall = strips.length * up
    section, smooth = SAME_VARIANCE * strips.width**2, (0.5 * strips.length) ** 2
    slanted = xp.sqrt(s_z**2 + LEVEL**2)
    wide = xp.sqrt(smooth * slanted + section * (1.0 - s_z**2))

    # powers that begin at the corners of the trapezium; deep strips are cut off at its edge, so
    # that they lose no digits
    b, e = 0.5 * (tall + wide), 0.5 * (tall - wide)
    x = xp.clip(depth, -b, b)
    corner = [xp.maximum(y, 0.0) for y in (x + b, x + e, x - e, x - b)]
    one, two, three, four = (0.5 * y**2 for y in corner)
    cube = (corner[0] ** 3 - corner[1] ** 3 - corner[2] ** 3 + corner[3] ** 3) / 6.0
    area = tall * wide
    wet = (one - two - three + four) / area
    head = cube / area
    by_tall = 0.5 * (one - two + three - four) / area - head / tall
    by_wide = 0.5 * (one + two - three - four) / area - head / wide
    widens = (0.5 * smooth / slanted - section) * s_z / wide
    turn = by_tall * strips.length * s_z / up + by_wide * widens
    return Submergence(wet, head + xp.maximum(depth - b, 0.0), turn)


@pytree("names", "body", "member", "follows")
class MorisonMembers(ExcitedByWaves, HasDrag, Reports):
    """Strips and end plates of all members (k of them).

    In still water buoyancy stores energy; in waves all of it is counted as work.
    """

    kind: ClassVar[str] = "morison"
    feels = ("waves", "current")

    point: Array  # (k, 3) where it acts, from the reference point, body axes
    axis: Array  # (k, 3) along the member, body axes
    drag_normal: Array  # (k,) half Cd D dl, m^2
    drag_axial: Array  # (k,)
    inertia_normal: Array  # (k,) (1 + Ca) A dl, m^3
    inertia_axial: Array  # (k,)
    volume: Array  # (k,) that buoys, m^3
    length: Array  # (k,) m
    width: Array  # (k,) m
    shift: Array  # (k,) from the point to the middle of the strip, along the axis, m
    follows: tuple[bool, ...]  # (k,) where the wet part follows the instantaneous surface
    body: tuple[int, ...]  # of each strip
    member: tuple[int, ...]  # of each strip
    names: tuple[str, ...]

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        return {"member": ("member", self.names, "slender member")}

    def loads(self, model: Model, now: Instant) -> Loads:
        wrench, stored, power = self._by_strip(model, now)
        # by member: energies, and the resultant about the body's reference point
        xp, member = namespace(wrench), np.array(self.member)
        strips = [np.flatnonzero(member == m) for m in range(len(self.names))]
        by_member = xp.stack([wrench[k].sum(0) for k in strips])
        body = np.array([self.body[k[0]] for k in strips])
        hits = (np.arange(model.layout.n_bodies)[:, None] == body[None, :]).astype(float)
        total = (hits[:, :, None] * by_member[None]).sum(1)
        stored, power = (xp.stack([x[k].sum() for k in strips]) for x in (stored, power))
        return Loads(total, stored, power, {"wrench": by_member})

    def _by_strip(self, model: Model, now: Instant) -> tuple[Array, Array, Array]:
        """Wrench about the body's reference point, stored energy and power of every strip.

        One body of a loop for all strips up to the actual surface, and one for those up to the
        still water.
        """
        xp = namespace(now.motion.pose.p)
        follows, body = np.array(self.follows, dtype=bool), np.array(self.body)
        found, order = [], []
        for actual in (True, False):
            rows = np.flatnonzero(follows == actual)
            if not len(rows):
                continue
            some = Strips(*(getattr(self, name)[rows] for name in Strips._fields))
            alone = body[rows[:1]] if (body[rows] == body[rows[0]]).all() else None

            def load(
                strips: Strips, body: Array, alone: np.ndarray | None = alone, actual: bool = actual
            ) -> tuple[Array, ...]:
                on = body if alone is None else alone
                return load_of_strips(model, now, strips, on, actual)

            found.append(in_rows(xp, load, some, body[rows]))
            order.append(rows)
        if len(found) == 1:
            return found[0]
        back = np.argsort(np.concatenate(order))
        parts = zip(*found, strict=True)
        wrench, stored, power = (xp.concatenate(part)[back] for part in parts)
        return wrench, stored, power

    def drag(self, model: Model, motion: Motion) -> tuple[DragPieces, ...]:
        """Drag pieces across (two directions) and along the members."""
        body = np.array(self.body)
        at_point = point_motion(motion, body, self.point)
        at = np.asarray(at_point.position)
        s = np.asarray(matvec(at_point.rotation, self.axis))
        wet = np.asarray(wetness(np.zeros(len(at)), at, s, self))
        still = model.replace(sea=replace(model.sea, waves=None))
        flow = np.asarray(water_at(still, np.zeros(()), at).velocity)
        arm = at - np.asarray(motion.pose.p)[body]
        factor = float(model.rho) * wet
        across = np.stack(_normals(s), axis=1)
        pieces = []
        for axes, c in ((across, self.drag_normal), (s[:, None], self.drag_axial)):
            c = factor * np.asarray(c)
            live = c > 0
            if not live.any():
                continue
            D = axes[live]
            L = np.concatenate([D, -D @ np.asarray(skew(arm[live]))], axis=-1)
            mean = (D @ flow[live][:, :, None])[:, :, 0]
            law = _quadratic(c[live])
            pieces.append(DragPieces(body[live], at[live], L, D, mean, L.transpose(0, 2, 1), law))
        return tuple(pieces)

    def without_drag(self) -> MorisonMembers:
        return replace(self, drag_normal=0.0 * self.drag_normal, drag_axial=0.0 * self.drag_axial)


class Strips(NamedTuple):
    """Numbers of some strips (k of them): see `MorisonMembers`."""

    point: Array
    axis: Array
    drag_normal: Array
    drag_axial: Array
    inertia_normal: Array
    inertia_axial: Array
    volume: Array
    length: Array
    width: Array
    shift: Array


def load_of_strips(
    model: Model, now: Instant, strips: Strips, body: Array, actual: bool
) -> tuple[Array, Array, Array]:
    """Wrench (k, 6) about the body's reference point, stored energy and power (k,).

    Args:
        model: in its sea.
        now: motion and time.
        strips: k of them.
        body: of each, or the one of all.
        actual: whether they are wet up to the actual surface.
    """
    at_point = point_motion(now.motion, body, strips.point)
    at, xp = at_point.position, namespace(at_point.position)
    s = matvec(at_point.rotation, strips.axis)
    surface, *flow = surface_and_water_at(model, now.t, at, np.array([actual]))
    under = submergence(surface if actual else 0.0 * surface, at, s, strips)
    w_s, w_n = _split(flow[0] - at_point.velocity, s)
    a_s, a_n = _split(flow[1], s)
    along = (strips.drag_axial * abs(w_s) * w_s + strips.inertia_axial * a_s)[:, None] * s
    across = (strips.drag_normal[:, None] * size(w_n)) * w_n + strips.inertia_normal[:, None] * a_n
    flow = (model.rho * under.wet)[:, None] * (along + across)
    # buoyancy, with the moment of the centre of what is wet
    weight = (model.rho * strips.volume)[:, None] * model.gravity
    lift = -under.wet[:, None] * weight
    moment = cross(s, strips.shift[:, None] * lift + under.turn[:, None] * weight)
    force, arm = flow + lift, matvec(at_point.rotation, strips.point)
    wrench = xp.concatenate([force, cross(arm, force) + moment], axis=-1)
    power = dot(flow, at_point.velocity)
    if model.sea.waves is None:
        return wrench, -weight[:, 2] * under.head, power
    power = power + dot(lift, at_point.velocity) + dot(moment, at_point.angular_velocity)
    return wrench, 0.0 * power, power


def _quadratic(c: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    return lambda w: c[:, None] * np.linalg.norm(w, axis=-1, keepdims=True) * w


def _split(x: Float[Array, "k 3"], s: Float[Array, "k 3"]) -> tuple[Array, Array]:
    """Component along s, and the remainder."""
    along = dot(x, s)
    return along, x - along[:, None] * s


def _normals(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two directions normal to each s."""
    other = np.where(np.abs(s[:, :1]) < 0.6, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
    first = np.cross(s, other)
    first = first / np.linalg.norm(first, axis=1, keepdims=True)
    return first, np.cross(s, first)


# --- Moving water around bodies given by numbers: Froude-Krylov force and added mass


@pytree("names", "body")
class WaterInertia(ExcitedByWaves, Reports):
    """All bodies with an added mass of their own (e of them)."""

    kind: ClassVar[str] = "water_inertia"
    feels = ("waves", "current")  # Munk's moment

    added_mass: Array  # (e, 6, 6) body axes, at the reference point
    body: tuple[int, ...]
    names: tuple[str, ...]

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        return {"water_inertia": ("water_inertia", self.names, "body with added mass of its own")}

    def loads(self, model: Model, now: Instant) -> Loads:
        body = np.array(self.body)
        motion = now.motion
        v, p, R = motion.v[body], motion.pose.p[body], motion.pose.R[body]
        xp = namespace(p)
        arm = matvec(R, model.bodies.buoyancy[body])
        water = water_at(model, now.t, p)
        none = xp.zeros((len(body), 3))
        acceleration = xp.concatenate([water.acceleration, none], axis=-1)
        A = world_added_mass(self.added_mass, Pose(p, R))
        relative = xp.concatenate([v[:, :3] - water.velocity, v[:, 3:]], axis=-1)
        wrench = matvec(A, acceleration) + kirchhoff(A, v) - kirchhoff(A, relative)
        # pressure of the undisturbed flow, at the centre of buoyancy
        push = (model.rho * model.bodies.volume[body])[:, None]
        push = push * water_at(model, now.t, p + arm).acceleration
        wrench = wrench + xp.concatenate([push, cross(arm, push)], axis=-1)
        hits = (np.arange(model.layout.n_bodies)[:, None] == body[None, :]).astype(float)
        power = dot(wrench, v)
        total = (hits[:, :, None] * wrench[None]).sum(1)
        return Loads(total, 0.0 * power, power, {"wrench": wrench})
