r"""Slender members by Morison's formula, strip by strip.

.. math::
    f = \tfrac12 \rho C_d D |w_n| w_n + \rho A (1 + C_a)\, \dot u_n - \rho A C_a\, \dot v_n
    \quad \text{per length, } w = u - v

The last term is in the mass matrix (`bodies.added_mass`), with what is wet in still water. All
others act on the part of each strip that is under the instantaneous surface.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from swelltree.model.forces.drag import DragPieces, size
from swelltree.model.forces.loads import ForceGroup, Loads, Now, point_motion, spread
from swelltree.model.kinematics import Motion
from swelltree.model.sea import surface_at, water_at
from swelltree.spatial.arrays import Array, namespace, pytree
from swelltree.spatial.vectors import cross, dot, matvec, skew


@pytree("names", "body", "member")
class MorisonMembers(ForceGroup):
    """Strips and end plates of all members (k of them)."""

    kind: ClassVar[str] = "morison"
    uses_sea: ClassVar[bool] = True
    adds_excitation: ClassVar[bool] = True

    point: Array  # (k, 3) middle of the strip from the reference point, body axes
    axis: Array  # (k, 3) along the member, body axes
    drag_normal: Array  # (k,) half Cd D dl, m^2
    drag_axial: Array  # (k,)
    inertia_normal: Array  # (k,) (1 + Ca) A dl, m^3
    inertia_axial: Array  # (k,)
    volume: Array  # (k,) that buoys, m^3
    length: Array  # (k,) m
    width: Array  # (k,) m
    follows: Array  # (k,) one where the wet part follows the instantaneous surface
    body: tuple[int, ...]  # of each strip
    member: tuple[int, ...]  # of each strip
    names: tuple[str, ...]

    def loads(self, model: Any, now: Now) -> Loads:
        """Wrenches and their power."""
        body = np.array(self.body)
        seen = point_motion(now.motion, body, self.point)
        xp = namespace(seen.position)
        s = matvec(seen.rotation, self.axis)
        surface = self.follows * surface_at(model, now.t, seen.position)
        wet = wetness(surface, seen.position, s, self)
        water = water_at(model, now.t, seen.position)
        w_s, w_n = _split(water.velocity - seen.velocity, s)
        a_s, a_n = _split(water.acceleration, s)
        along = (self.drag_axial * abs(w_s) * w_s + self.inertia_axial * a_s)[:, None] * s
        across = (self.drag_normal[:, None] * size(w_n)) * w_n + self.inertia_normal[:, None] * a_n
        lift = -self.volume[:, None] * model.gravity
        force = (model.rho * wet)[:, None] * (along + across + lift)
        wrench = spread(model.layout, now.motion, body, seen.position, force, 0.0 * force)
        # by member: power, and the resultant about the body's reference point
        hits = self._of_member()
        arm = matvec(seen.rotation, self.point)
        each = xp.concatenate([force, cross(arm, force)], axis=-1)
        power = (hits * dot(force, seen.velocity)[None]).sum(1)
        by_member = (hits[:, :, None] * each[None]).sum(1)
        return Loads(wrench, 0.0 * power, power, {"wrench": by_member})

    def _of_member(self) -> np.ndarray:
        """(e, k) one where the strip belongs to the member."""
        rows = np.arange(len(self.names))[:, None]
        return (rows == np.array(self.member)[None, :]).astype(float)

    def drag(self, model: Any, motion: Motion) -> tuple[DragPieces, ...]:
        """Pieces across (two directions) and along the members."""
        body = np.array(self.body)
        seen = point_motion(motion, body, self.point)
        at = np.asarray(seen.position)
        s = np.asarray(matvec(seen.rotation, self.axis))
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
        """The same members with their inertia only."""
        return replace(self, drag_normal=0.0 * self.drag_normal, drag_axial=0.0 * self.drag_axial)


def _quadratic(c: np.ndarray) -> Any:
    return lambda w: c[:, None] * np.linalg.norm(w, axis=-1, keepdims=True) * w


def _split(x: Float[Array, "k 3"], s: Float[Array, "k 3"]) -> tuple[Array, Array]:
    """Part along s as a number, and the rest."""
    along = dot(x, s)
    return along, x - along[:, None] * s


def _normals(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two directions normal to each s."""
    other = np.where(np.abs(s[:, :1]) < 0.6, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
    first = np.cross(s, other)
    first = first / np.linalg.norm(first, axis=1, keepdims=True)
    return first, np.cross(s, first)


def wetness(
    surface: Float[Array, " k"],
    at: Float[Array, "k 3"],
    s: Float[Array, "k 3"],
    strips: MorisonMembers,
) -> Float[Array, " k"]:
    """Part of each strip under the surface, with a continuous derivative.

    A strip reaches over a height by its length and by its width; the two uniform
    distributions folded give a trapezium, and the part of it below the surface. Strips on end
    add up to the wetted length exactly.
    """
    xp = namespace(at, surface)
    up = xp.sqrt(s[:, 2] ** 2 + 1e-6)
    level = xp.sqrt(1.0 + 1e-6 - s[:, 2] ** 2)
    tall = strips.length * up
    wide = xp.maximum(strips.width * level, 0.5 * strips.length)
    x = surface - at[:, 2]

    def below(y: Array) -> Array:
        return 0.5 * xp.maximum(y, 0.0) ** 2

    # distances in parts of the wider extent, so that deep strips lose no digits
    b, e = 0.5 * (tall + wide), 0.5 * (tall - wide)
    x = xp.clip(x, -b, b)
    rise = below(x + b) - below(x + e) - below(x - e) + below(x - b)
    return rise / (tall * wide)
