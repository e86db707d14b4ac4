r"""Cables of which every node is a body: axial law, and what the water does to the elements.

An element pulls its two ends together. With its length L and its rest length Lu

.. math::
    T = \frac{EA}{L_u} (L - L_u) + \frac{CA}{L_u} \dot L \quad (L \ge L_u), \qquad
    T = \frac{CA}{L_u} \dot L \quad (L < L_u)

is the law as printed (Wuillaume et al. 2017, eq. 7, there with q = -L): the dash-pot is at work in
a slack element too and may push. A physical rope does not: T = 0 when slack, and never below zero.

Weight is that of the bodies at the nodes. Of the water, one half of every element belongs to each
of its ends: buoyancy, drag across and along the element (Morison), lift, and the inertia of the
water that moves. The part of a half that is wet goes smoothly from none to all while the node
passes the surface, over the height of the half; in still water buoyancy gives back what it took.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from swelltree.model.forces.drag import DragPieces, size
from swelltree.model.forces.loads import ForceGroup, Loads, Now, PointMotion, point_motion, spread
from swelltree.model.kinematics import Motion
from swelltree.model.sea import surface_at, water_at
from swelltree.spatial.arrays import Array, namespace, pytree
from swelltree.spatial.products import masked_sum
from swelltree.spatial.vectors import cross, dot, skew


@pytree()
class Elements:
    """Numbers of all elements of all cables (e of them); of no length where they are idle."""

    rest_length: Array  # (e,) m
    EA: Array  # (e,) N
    CA: Array  # (e,) N s
    pushes: Array  # (e,) one where the dash-pot of a slack element is at work
    wet: Array  # (e,) one where water acts
    diameter: Array  # (e,) m
    Cdn: Array  # (e,)
    Cdt: Array  # (e,)
    Can: Array  # (e,)
    Cat: Array  # (e,)
    lift: Array  # (e,)


@pytree()
class Stretch:
    """State of all elements."""

    length: Array  # (e,) m
    rate: Array  # (e,) m/s
    along: Array  # (e, 3) unit vector from end B of the element to end A
    tension: Array  # (e,) N
    elastic: Array  # (e,) part of it that stores energy, N
    energy: Array  # (e,) J


def stretch(elements: Elements, a: PointMotion, b: PointMotion, pay_out: Any = 0.0) -> Stretch:
    """Lengths and tensions of all elements.

    Args:
        elements: their numbers.
        a: motion of the ends A.
        b: motion of the ends B.
        pay_out: rate of the rest lengths (e,) [m/s]; damping is by L' - v (eq. 12).
    """
    xp = namespace(a.position, b.position)
    d = a.position - b.position
    square = dot(d, d)
    there = square > 0.0
    length = xp.sqrt(xp.where(there, square, 1.0))
    along = d / length[:, None]
    length = xp.where(there, length, 0.0)
    rate = dot(along, a.velocity - b.velocity)
    rest = elements.rest_length
    active = rest > 0.0
    over = xp.where(active, 1.0 / xp.where(active, rest, 1.0), 0.0)
    longer = xp.maximum(length - rest, 0.0)
    elastic = elements.EA * over * longer
    whole = elastic + elements.CA * over * (rate - pay_out)
    rope = xp.where(length >= rest, xp.maximum(whole, 0.0), 0.0)
    tension = xp.where(active, xp.where(elements.pushes > 0.5, whole, rope), 0.0)
    energy = 0.5 * elastic * longer
    return Stretch(length, rate, along, tension, elastic, energy)


def wet_part(
    surface: Float[Array, " k"], z: Float[Array, " k"], height: Float[Array, " k"]
) -> tuple[Array, Array]:
    """Part of a half element under the surface, and the integral of it over depth [m].

    Args:
        surface: height of the free surface [m].
        z: of the node [m].
        height: over which it goes from dry to wet [m].
    """
    xp = namespace(surface, z)
    depth = surface - z
    u = xp.clip(0.5 + depth / height, 0.0, 1.0)
    head = height * u**3 * (1.0 - 0.5 * u)
    return u**2 * (3.0 - 2.0 * u), head + xp.maximum(depth - 0.5 * height, 0.0)


@pytree("names", "body_A", "body_B", "line", "in_water")
class Cables(ForceGroup):
    """All multibody and lumped cables of a system, in e elements, each line's from A to B."""

    kind: ClassVar[str] = "cables"

    elements: Elements
    point_A: Array  # (e, 3) in body axes, or in the world
    point_B: Array  # (e, 3)
    body_A: tuple[int, ...]  # N: the world
    body_B: tuple[int, ...]
    line: tuple[int, ...]  # number of the line of each element
    names: tuple[str, ...]  # of the lines
    in_water: bool  # does the water act on any of them?

    @property
    def uses_sea(self) -> bool:  # pyright: ignore
        """Does it ask for the motion of the water?"""
        return self.in_water

    @property
    def adds_excitation(self) -> bool:  # pyright: ignore
        """Do waves act on it?"""
        return self.in_water

    def ends(self, motion: Motion) -> tuple[PointMotion, PointMotion]:
        """Motion of the ends A and B of all elements."""
        at_A = point_motion(motion, np.array(self.body_A, dtype=int), self.point_A)
        return at_A, point_motion(motion, np.array(self.body_B, dtype=int), self.point_B)

    def loads(self, model: Any, now: Now) -> Loads:
        """Wrenches, stored energy and power of every line."""
        a, b = self.ends(now.motion)
        found = stretch(self.elements, a, b)
        return self.pulled(model, now, self.elements, a, b, found)

    def pulled(
        self,
        model: Any,
        now: Now,
        elements: Elements,
        a: PointMotion,
        b: PointMotion,
        found: Stretch,
    ) -> Loads:
        """Loads of elements in a known state of stretch."""
        xp = namespace(a.position, b.position)
        pull = found.tension[:, None] * found.along
        force_A, force_B = -pull, pull
        stored = found.energy
        power = -(found.tension - found.elastic) * found.rate
        if self.in_water:
            water = self._water(model, now, elements, a, b, found.along)
            force_A, force_B = force_A + water[0][0], force_B + water[0][1]
            stored, power = stored + water[1], power + water[2]
        none = 0.0 * pull
        layout, motion = model.layout, now.motion
        body_A, body_B = np.array(self.body_A, dtype=int), np.array(self.body_B, dtype=int)
        wrench = spread(layout, motion, body_A, a.position, force_A, none)
        wrench = wrench + spread(layout, motion, body_B, b.position, force_B, none)
        both = masked_sum(self._of_line(), xp.stack([stored, power], -1))
        channels = self._channels(elements, a.position, b.position, found)
        return Loads(wrench, both[:, 0], both[:, 1], channels)

    def _of_line(self) -> np.ndarray:
        """(line, e) one where the element belongs to the line."""
        rows = np.arange(len(self.names))[:, None]
        return (rows == np.array(self.line)[None, :]).astype(float)

    def _water(
        self,
        model: Any,
        now: Now,
        elements: Elements,
        a: PointMotion,
        b: PointMotion,
        along: Array,
    ) -> tuple[Array, Array, Array]:
        """Forces of the water on both ends (2, e, 3), stored energy and power (e,)."""
        xp = namespace(a.position, b.position)
        e = along.shape[0]
        at = xp.concatenate([a.position, b.position])
        v = xp.concatenate([a.velocity, b.velocity])
        t = xp.concatenate([along, along])
        half = 0.5 * xp.concatenate([elements.rest_length, elements.rest_length])

        def both(x: Array) -> Array:
            return xp.concatenate([xp.asarray(x), xp.asarray(x)])

        d, takes = both(elements.diameter), both(elements.wet)
        wet, head = wet_part(surface_at(model, now.t, at), at[:, 2], xp.maximum(half, 1e-6))
        water = water_at(model, now.t, at)
        w_t, w_n = _split(water.velocity - v, t)
        a_t, a_n = _split(water.acceleration, t)
        volume = 0.25 * np.pi * d**2 * half
        speed = size(w_n)
        flow = ((0.5 * both(elements.Cdn) * d * half)[:, None] * speed) * w_n
        flow = flow + ((0.5 * both(elements.lift) * d * half)[:, None] * speed) * cross(t, w_n)
        axial = 0.5 * np.pi * both(elements.Cdt) * d * half * abs(w_t) * w_t
        axial = axial + volume * (1.0 + both(elements.Cat)) * a_t
        flow = flow + (volume * (1.0 + both(elements.Can)))[:, None] * a_n + axial[:, None] * t
        flow = (model.rho * takes * wet)[:, None] * flow
        weight = (model.rho * takes * volume)[:, None] * model.gravity
        lifted = -wet[:, None] * weight
        power = dot(flow, v)
        stored = -weight[:, 2] * head
        if model.sea.waves is not None:
            power, stored = power + dot(lifted, v), 0.0 * stored
        force = (flow + lifted).reshape(2, e, 3)
        return force, stored.reshape(2, e).sum(0), power.reshape(2, e).sum(0)

    def rows(self) -> np.ndarray:
        """(line, n) elements of every line; rows of short lines begin with their first element."""
        own = [[k for k, i in enumerate(self.line) if i == n] for n in range(len(self.names))]
        most = max(map(len, own))
        return np.array([[k[0]] * (most - len(k)) + k for k in own], dtype=int)

    def _channels(self, elements: Elements, a: Array, b: Array, found: Stretch) -> dict[str, Array]:
        xp = namespace(a, b)
        rows = self.rows()
        own = np.array([self.line.count(n) for n in range(len(self.names))])
        idle = np.arange(rows.shape[1])[None, :] < rows.shape[1] - own[:, None]
        # points of idle elements are at A; its tension is that of the first one in use
        first = xp.where(idle[:, :, None], a[rows], b[rows])
        position = xp.concatenate([a[rows[:, :1]], first], axis=1)
        active = (elements.rest_length[rows] > 0.0) & ~idle
        top = xp.argmax(active, axis=1)
        tension = found.tension[rows]
        at_A = xp.take_along_axis(tension, top[:, None], axis=1)[:, 0]
        up = (-found.tension * found.along[:, 2])[rows]
        uplift = xp.take_along_axis(up, top[:, None], axis=1)[:, 0]
        return {
            "position": position,
            "tension": xp.where(active, tension, at_A[:, None]),
            "length": xp.where(active, found.length[rows], 0.0),
            "slack": xp.where(active & (tension <= 0.0), 1.0, 0.0),
            "fairlead_tension": tension[:, -1],
            "anchor_tension": at_A,
            "anchor_uplift": xp.maximum(uplift, 0.0),
        }

    def drag(self, model: Any, motion: Motion) -> tuple[DragPieces, ...]:
        """Pieces across (two directions) and along both halves of the elements."""
        if not self.in_water:
            return ()
        a, b = self.ends(motion)
        at = np.concatenate([np.asarray(a.position), np.asarray(b.position)])
        gap = np.asarray(a.position) - np.asarray(b.position)
        far = np.linalg.norm(gap, axis=1, keepdims=True)
        t = np.tile(gap / np.where(far > 0.0, far, 1.0), (2, 1))
        body = np.array((*self.body_A, *self.body_B), dtype=int)
        own = {name: np.tile(np.asarray(getattr(self.elements, name)), 2) for name in _WATER}
        half = 0.5 * own["rest_length"]
        wet = np.asarray(wet_part(np.zeros(len(at)), at[:, 2], np.maximum(half, 1e-6))[0])
        factor = 0.5 * float(model.rho) * wet * own["wet"] * own["diameter"] * half
        still = model.replace(sea=replace(model.sea, waves=None))
        flow = np.asarray(water_at(still, np.zeros(()), at).velocity)
        held = body < model.layout.n_bodies
        other = np.where(np.abs(t[:, :1]) < 0.6, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
        x = np.cross(t, other)
        x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-300)
        across = np.stack([x, np.cross(t, x)], axis=1)
        pieces = []
        for axes, c in (
            (across, own["Cdn"] * factor),
            (t[:, None], np.pi * own["Cdt"] * factor),
        ):
            live = held & (c > 0)
            if live.any():
                arm = at[live] - np.asarray(motion.pose.p)[body[live]]
                D = axes[live]
                L = np.concatenate([D, -D @ np.asarray(skew(arm))], axis=-1)
                mean = (D @ flow[live][:, :, None])[:, :, 0]
                law = _quadratic(c[live])
                piece = DragPieces(body[live], at[live], L, D, mean, L.transpose(0, 2, 1), law)
                pieces.append(piece)
        return tuple(pieces)

    def without_drag(self) -> Cables:
        """The same cables without drag."""
        own = self.elements
        return replace(self, elements=replace(own, Cdn=0.0 * own.Cdn, Cdt=0.0 * own.Cdt))


_WATER = ("rest_length", "wet", "diameter", "Cdn", "Cdt")


def _quadratic(c: np.ndarray) -> Any:
    return lambda w: c[:, None] * np.linalg.norm(w, axis=-1, keepdims=True) * w


def _split(x: Float[Array, "k 3"], s: Float[Array, "k 3"]) -> tuple[Array, Array]:
    """Part along s as a number, and the rest."""
    along = dot(x, s)
    return along, x - along[:, None] * s
