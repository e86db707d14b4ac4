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

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float

from swelltree.hydro.morison.drag import DragPieces, size
from swelltree.jit import Array, Tree, namespace, pytree
from swelltree.model.capabilities import (
    ChangesModel,
    ExcitedByWaves,
    HasCalmForm,
    HasDrag,
    HasEvents,
    HasTangent,
    HasWinches,
    ReportsLines,
)
from swelltree.model.effect import Coordinate, Instant, Loads
from swelltree.model.model import Model
from swelltree.model.sea import surface_at, water_at
from swelltree.mooring.cable.cable_winch import (
    BROUGHT,
    IDLE,
    LENGTH,
    LOST,
    MOMENTUM,
    SLIP,
    WORK,
    at_first,
    drum_start,
    event_values,
    first_rest,
    locked_dofs,
    masses_now,
    rest_now,
    speeds,
)
from swelltree.mooring.channels import end_channels
from swelltree.mooring.winches import Winches, winch_coordinates
from swelltree.multibody.kinematics import Motion, PointMotion, point_motion, spread
from swelltree.multibody.layout import Layout
from swelltree.spatial.rotations import cross, dot, masked_sum, skew

if TYPE_CHECKING:
    from swelltree.model.capabilities import InternalState


@pytree()
class Elements:
    """Parameters of all elements of all cables (e of them); zero length where idle."""

    rest_length: Array  # (e,) m
    mass_per_length: Array  # (e,) kg/m
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


def stretch(elements: Elements, a: PointMotion, b: PointMotion, pay_out: Array = 0.0) -> Stretch:
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
    full = elastic + elements.CA * over * (rate - pay_out)
    rope = xp.where(length >= rest, xp.maximum(full, 0.0), 0.0)
    tension = xp.where(active, xp.where(elements.pushes > 0.5, full, rope), 0.0)
    energy = 0.5 * elastic * longer
    return Stretch(length, rate, along, tension, elastic, energy)


class EnergyTerms(NamedTuple):
    """Rates at winches: power [W], energy of incoming rope [W], its momentum [N]."""

    power: Array
    brought: Array
    momentum: Array


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


@pytree("names", "lines", "body_A", "body_B", "line", "in_water", "turned")
class Cables(
    ChangesModel,
    HasEvents,
    ExcitedByWaves,
    HasCalmForm,
    HasDrag,
    HasTangent,
    HasWinches,
    ReportsLines,
):
    """All multibody and lumped cables of a system, in e elements, each line's from A to B."""

    kind: ClassVar[str] = "cables"
    prefix: ClassVar[str] = ""  # pyright: ignore[reportIncompatibleMethodOverride]

    elements: Elements
    point_A: Array  # (e, 3) in body axes, or in the world
    point_B: Array  # (e, 3)
    body_A: tuple[int, ...]  # N: the world
    body_B: tuple[int, ...]
    line: tuple[int, ...]  # number of the line of each element
    lines: tuple[str, ...]  # names of the lines
    names: tuple[str, ...]  # the same, then winches
    in_water: bool  # does the water act on any of them?
    drums: Tree = None  # Drums, where there are winches
    turned: tuple[bool, ...] = ()  # (line,) whether its end A is the described end B

    @property
    def feels(self) -> tuple[str, ...]:  # pyright: ignore
        return ("waves", "current") if self.in_water else ()

    @property
    def winches(self) -> Winches | None:
        return None if self.drums is None else self.drums.winches

    def in_still_water(self) -> Cables:
        return self.with_winches_held()

    def with_winches_held(self) -> Cables:
        """The cables with winches stopped."""
        if self.drums is None:
            return self
        winches = self.drums.winches
        return self.with_winches(replace(winches, max_speed=0.0 * winches.max_speed))

    def with_winches(self, winches: Winches) -> Cables:
        return replace(self, drums=replace(self.drums, winches=winches))

    def ends(self, motion: Motion) -> tuple[PointMotion, PointMotion]:
        at_A = point_motion(motion, np.array(self.body_A, dtype=int), self.point_A)
        return at_A, point_motion(motion, np.array(self.body_B, dtype=int), self.point_B)

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        result: dict[str, Coordinate] = {"line": ("line", self.lines, "cable, from end A to end B")}
        if self.drums is not None:
            result |= winch_coordinates(self.drums.winches)
        return result

    @property
    def row_sizes(self) -> dict[str, int]:
        n = self.rows().shape[1]
        return {"line_node": n + 1, "line_segment": n}

    def loads(self, model: Model, now: Instant) -> Loads:
        """Wrenches, stored energy and power of every line, and power of every winch."""
        a, b = self.ends(now.motion)
        elements, pay_out, speed = self.elements, 0.0, np.zeros(0)
        if self.drums is not None:
            x = self._states(now.internal)
            elements = replace(elements, rest_length=rest_now(self.drums, elements.rest_length, x))
            speed = self.speeds(model, now)
            first = self._first(x)
            pay_out = (speed[:, None] * first).sum(0)
        result = stretch(elements, a, b, pay_out)
        xp = namespace(a.position, b.position)
        pull = result.tension[:, None] * result.along
        force_A, force_B = -pull, pull
        stored = result.energy
        power = -(result.tension - result.elastic) * (result.rate - pay_out)
        water = None
        if self.in_water:
            water = self._water(model, now, elements, a, b, result.along)
            force_A, force_B = force_A + water[0][0], force_B + water[0][1]
            stored, power = stored + water[1], power + water[2]
        none = 0.0 * pull
        layout, motion = model.layout, now.motion
        body_A, body_B = np.array(self.body_A, dtype=int), np.array(self.body_B, dtype=int)
        wrench = spread(layout, motion, body_A, a.position, force_A, none)
        wrench = wrench + spread(layout, motion, body_B, b.position, force_B, none)
        both = masked_sum(self._of_line(), xp.stack([stored, power], -1))
        # half of an element at each of its ends
        weight = (0.5 * elements.mass_per_length * elements.rest_length)[:, None] * model.gravity
        holding_forces = force_A + weight, force_B + weight
        channels = self._channels(elements, a.position, b.position, result, holding_forces)
        if self.drums is None:
            return Loads(wrench, both[:, 0], both[:, 1], channels)
        heads = 0.0 * power if water is None else water[3]
        with_energy_terms = self._with_energy_terms(model, now, result, speed, (a, b), heads)
        channels = channels | self._winch_channels(elements, now, result, speed, with_energy_terms)
        specified = with_energy_terms.power + with_energy_terms.brought
        stored = xp.concatenate([both[:, 0], 0.0 * specified])
        return Loads(wrench, stored, xp.concatenate([both[:, 1], specified]), channels)

    def tangent(self, model: Model, now: Instant) -> tuple[Array, Array]:
        """Stiffness of the elements: along them by their law, across them by their tension."""
        elements = self.elements
        if self.drums is not None:
            x = self._states(now.internal)
            elements = replace(elements, rest_length=rest_now(self.drums, elements.rest_length, x))
        a, b = self.ends(now.motion)
        result = stretch(elements, a, b)
        xp = namespace(a.position, b.position)
        rest, length = elements.rest_length, result.length
        taut = (rest > 0.0) & (length >= rest)
        over = xp.where(rest > 0.0, 1.0 / xp.where(rest > 0.0, rest, 1.0), 0.0)
        damps = xp.where(elements.pushes > 0.5, 1.0, xp.where(taut, 1.0, 0.0))
        across = result.elastic / xp.where(length > 0.0, length, 1.0)
        along = xp.where(taut, elements.EA * over, 0.0) - across
        # (e, 3, 6N): how fast the ends go apart by velocities of the bodies
        apart = self._per_velocity(now.motion, self.body_A, a.position)
        apart = apart - self._per_velocity(now.motion, self.body_B, b.position)
        stretches = (result.along[:, :, None] * apart).sum(1)
        n = stretches.shape[1]
        rows = apart.reshape(-1, n)
        stiffness = rows.T @ (xp.repeat(across, 3)[:, None] * rows)
        stiffness = stiffness + stretches.T @ (along[:, None] * stretches)
        return stiffness, stretches.T @ ((elements.CA * over * damps)[:, None] * stretches)

    def _per_velocity(self, motion: Motion, body: tuple[int, ...], at: Array) -> Array:
        """Velocity of points on bodies by velocities of all bodies (e, 3, 6N)."""
        xp = namespace(at, motion.pose.p)
        n = motion.pose.p.shape[0]
        on = (np.array(body)[:, None] == np.arange(n)).astype(float)
        arm = at[:, None, :] - motion.pose.p[None]
        unit = xp.broadcast_to(xp.eye(3), (*arm.shape[:2], 3, 3))
        each = xp.concatenate([unit, -skew(arm)], -1) * on[:, :, None, None]
        return xp.moveaxis(each, 1, 2).reshape(len(body), 3, 6 * n)

    @property
    def start_rest(self) -> Array:
        """Initial rest lengths, zero for idle elements (e,) [m]."""
        return self.elements.rest_length if self.drums is None else self.drums.start_rest

    # --- winches -------------------------------------------------------------------
    def _states(self, internal: InternalState) -> Array:
        """States of the winches, initial ones if absent."""
        return internal.elements.get(self.kind, drum_start(self.drums))

    def _first(self, x: Array) -> Array:
        """(winch, e) one at the first active element of every winch."""
        xp = namespace(x)
        rows = range(len(self.drums.reels))
        return xp.stack([at_first(self.drums, len(self.line), x, w) for w in rows])

    def _measured(self, now: Instant) -> tuple[Array, Array]:
        """Upward velocity of the measured points, and elastic tension at the winches (winch,)."""
        x, winches = self._states(now.internal), self.drums.winches
        tip = point_motion(now.motion, np.array(winches.tip_body, dtype=int), winches.tip_point)
        rest = rest_now(self.drums, self.elements.rest_length, x)
        a, b = self.ends(now.motion)
        result = stretch(replace(self.elements, rest_length=rest), a, b)
        return tip.velocity[:, 2], (self._first(x) * result.elastic[None]).sum(1)

    def speeds(self, model: Model, now: Instant) -> Array:
        """Rope speed of every winch (winch,) [m/s], positive when it pays out."""
        return speeds(self.drums, now.t, self._states(now.internal), *self._measured(now))[0]

    def _with_energy_terms(
        self,
        model: Model,
        now: Instant,
        result: Stretch,
        speed: Array,
        ends: tuple[PointMotion, PointMotion],
        heads: Array,
    ) -> EnergyTerms:
        """Power of the winches, and rates of energy and momentum of incoming rope."""
        x, drums = self._states(now.internal), self.drums
        xp = namespace(x, speed)
        first = self._first(x)
        a, b = ends
        strain = 0.5 * result.elastic**2 / self.elements.EA
        power = -(first * (result.tension + strain)[None]).sum(1) * speed
        half = 0.5 * drums.per_length * speed
        g = -model.gravity[2]

        def energy(end: PointMotion) -> Array:
            return 0.5 * dot(end.velocity, end.velocity) + g * end.position[:, 2]

        # without a body at A nothing there is counted
        world = np.array([reel.tip == model.layout.n_bodies for reel in drums.reels])
        counted = xp.where(world & (x[:, IDLE] < 0.5), 0.0, 1.0)
        brought = half * (counted * (first * energy(a)).sum(1) + (first * energy(b)).sum(1))
        brought = brought + speed * (first * heads).sum(1)
        moves = (first[:, :, None] * (a.velocity + b.velocity)[None]).sum(1)
        down = -(first[:, :, None] * result.along[None]).sum(1)
        momentum = half[:, None] * (moves + speed[:, None] * down)
        return EnergyTerms(power, brought, momentum)

    def rope_at_drums(self, motion: Motion, internal: InternalState, speed: Array) -> Array:
        """Momentum of the halves at A due to the speed of the rope (3,) [N s]."""
        x, drums = self._states(internal), self.drums
        a, b = self.ends(motion)
        along = stretch(self.elements, a, b).along
        total = 0.0 * along[0]
        for w in range(len(drums.reels)):
            half = 0.5 * drums.per_length[w] * first_rest(drums, self.elements.rest_length, x, w)
            down = -(self._first(x)[w][:, None] * along).sum(0)
            total = total + half * speed[w] * down
        return total

    def internal_start(self) -> Array:
        return np.zeros(0) if self.drums is None else drum_start(self.drums)

    def internal_rate(self, model: Model, now: Instant) -> Array:
        x, drums = self._states(now.internal), self.drums
        speed, rate = speeds(drums, now.t, x, *self._measured(now))
        xp = namespace(speed)
        a, b = self.ends(now.motion)
        rest = rest_now(drums, self.elements.rest_length, x)
        pay_out = (speed[:, None] * self._first(x)).sum(0)
        result = stretch(replace(self.elements, rest_length=rest), a, b, pay_out)
        heads = 0.0 * rest
        if self.in_water:
            elements = replace(self.elements, rest_length=rest)
            heads = self._water(model, now, elements, a, b, result.along)[3]
        with_energy_terms = self._with_energy_terms(model, now, result, speed, (a, b), heads)
        none = 0.0 * speed[:, None]
        known = [rate.length, rate.speed, rate.heave, rate.stroke, rate.compensated]
        columns = [
            *known,
            0.0 * speed,
            with_energy_terms.power,
            with_energy_terms.brought,
            0.0 * speed,
        ]
        columns = xp.stack(columns, -1)
        return xp.concatenate([columns, with_energy_terms.momentum, none, none, none], -1)

    def apply_states(self, model: Model, internal: InternalState) -> Model:
        """The model with the masses of paid-out rope, idle elements locked."""
        if self.drums is None:
            return model
        x = self._states(internal)
        mass = masses_now(self.drums, model.bodies.mass, self.elements.rest_length, x)
        locked = locked_dofs(self.drums, model.layout.n_tree, x)
        return model.replace(bodies=replace(model.bodies, mass=mass), locked=locked)

    @property
    def event_count(self) -> int:
        return 0 if self.drums is None else 2 * len(self.drums.reels)

    def exact_events(self) -> str:
        """None: an element is split in the first step after it exceeds its maximum length."""
        return ""

    def event_values(self, model: Model, now: Instant) -> Array:
        """Distance of the first elements from being split and merged [m]."""
        return event_values(self.drums, self.elements.rest_length, self._states(now.internal))

    def switched(self, model: Model, now: Instant, hit: Array) -> Array:
        """States with one idle element less after a split, one more after a merge."""
        x = self._states(now.internal)
        xp = namespace(x)
        change = xp.where(hit[1::2], 1.0, 0.0) - xp.where(hit[::2], 1.0, 0.0)
        columns = [x[:, k] for k in range(x.shape[1])]
        columns[IDLE] = columns[IDLE] + change
        return xp.stack(columns, -1)

    def _winch_channels(
        self,
        elements: Elements,
        now: Instant,
        result: Stretch,
        speed: Array,
        with_energy_terms: EnergyTerms,
    ) -> dict[str, Array]:
        x, drums = self._states(now.internal), self.drums
        xp = namespace(x)
        first = self._first(x)
        mass = [
            drums.per_length[w] * elements.rest_length[np.array(reel.elements, dtype=int)].sum()
            for w, reel in enumerate(drums.reels)
        ]
        count = np.array([len(reel.elements) for reel in drums.reels])
        return {
            "winch_length": x[:, LENGTH],
            "winch_speed": speed,
            "winch_tension": (first * result.tension[None]).sum(1),
            "winch_power": with_energy_terms.power,
            "winch_work": x[:, WORK],
            "winch_rope_mass": xp.stack(mass),
            "winch_rope_energy": x[:, BROUGHT],
            "winch_rope_momentum": x[:, MOMENTUM],
            "winch_lost_energy": x[:, LOST],
            "winch_lost_momentum": x[:, SLIP],
            "winch_segments": count - x[:, IDLE],
        }

    def _of_line(self) -> np.ndarray:
        """(line, e) one where the element belongs to the line."""
        rows = np.arange(len(self.lines))[:, None]
        return (rows == np.array(self.line)[None, :]).astype(float)

    def _water(
        self,
        model: Model,
        now: Instant,
        elements: Elements,
        a: PointMotion,
        b: PointMotion,
        along: Array,
    ) -> tuple[Array, Array, Array, Array]:
        """Forces of the water on both ends (2, e, 3), stored energy and power (e,).

        Last the energy that buoyancy would store in one more metre of element [J/m].
        """
        xp = namespace(a.position, b.position)
        e = along.shape[0]
        at = xp.concatenate([a.position, b.position])
        v = xp.concatenate([a.velocity, b.velocity])
        t = xp.concatenate([along, along])
        half = 0.5 * xp.concatenate([elements.rest_length, elements.rest_length])

        def both(x: Array) -> Array:
            return xp.concatenate([xp.asarray(x), xp.asarray(x)])

        d, takes = both(elements.diameter), both(elements.wet)
        # the height of a whole element, however much of it is out
        full = 0.5 * both(self.elements.rest_length)
        wet, head = wet_part(surface_at(model, now.t, at), at[:, 2], full)
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
        still = 0.0 if model.sea.waves is not None else 1.0
        more = -still * model.rho * takes * 0.125 * np.pi * d**2 * model.gravity[2] * head
        sums = [x.reshape(2, e).sum(0) for x in (stored, power, more)]
        return force, *sums

    def rows(self) -> np.ndarray:
        """(line, n) elements of every line; shorter rows are padded with their first element."""
        elements_of_line = [
            [k for k, i in enumerate(self.line) if i == n] for n in range(len(self.lines))
        ]
        most = max(map(len, elements_of_line))
        return np.array([[k[0]] * (most - len(k)) + k for k in elements_of_line], dtype=int)

    def _channels(
        self,
        elements: Elements,
        a: Array,
        b: Array,
        result: Stretch,
        holding_forces: tuple[Array, Array],
    ) -> dict[str, Array]:
        """Shapes and tensions; `held` are the forces of all elements at their ends."""
        xp = namespace(a, b)
        rows = self.rows()
        counts = np.array([self.line.count(n) for n in range(len(self.lines))])
        idle = np.arange(rows.shape[1])[None, :] < rows.shape[1] - counts[:, None]
        # points of idle elements are at A; their tension is that of the first one in use
        first = xp.where(idle[:, :, None], a[rows], b[rows])
        position = xp.concatenate([a[rows[:, :1]], first], axis=1)
        active = (elements.rest_length[rows] > 0.0) & ~idle
        top = xp.argmax(active, axis=1)
        tension = result.tension[rows]
        of_first = xp.take_along_axis(tension, top[:, None], axis=1)
        at_A = xp.take_along_axis(holding_forces[0][rows], top[:, None, None], axis=1)[:, 0]
        at_B = holding_forces[1][rows[:, -1]]
        ends = self._as_described(xp.stack([at_A, at_B], 1))
        along = {
            "line_position": position,
            "line_tension": xp.where(active, tension, of_first),
            "line_stretched_length": xp.where(active, result.length[rows], 0.0),
            "line_slack": xp.where(active & (tension <= 0.0), 1.0, 0.0),
        }
        return {
            **{name: self._as_described(x) for name, x in along.items()},
            **end_channels(ends[:, 0], ends[:, 1]),
        }

    def _as_described(self, x: Array) -> Array:
        """Values along lines (line, ...) in the order from the described end A to B."""
        if not any(self.turned):
            return x
        turned = np.array(self.turned).reshape(-1, *(1,) * (x.ndim - 1))
        return namespace(x).where(turned, x[:, ::-1], x)

    def drag(self, model: Model, motion: Motion) -> tuple[DragPieces, ...]:
        """Pieces across (two directions) and along both halves of the elements."""
        if not self.in_water:
            return ()
        a, b = self.ends(motion)
        at = np.concatenate([np.asarray(a.position), np.asarray(b.position)])
        gap = np.asarray(a.position) - np.asarray(b.position)
        far = np.linalg.norm(gap, axis=1, keepdims=True)
        t = np.tile(gap / np.where(far > 0.0, far, 1.0), (2, 1))
        body = np.array((*self.body_A, *self.body_B), dtype=int)
        water_numbers = {
            name: np.tile(np.asarray(getattr(self.elements, name)), 2) for name in _WATER
        }
        half = 0.5 * water_numbers["rest_length"]
        wet = np.asarray(wet_part(np.zeros(len(at)), at[:, 2], half)[0])
        factor = (
            0.5 * float(model.rho) * wet * water_numbers["wet"] * water_numbers["diameter"] * half
        )
        still = model.replace(sea=replace(model.sea, waves=None))
        flow = np.asarray(water_at(still, np.zeros(()), at).velocity)
        on_bodies = body < model.layout.n_bodies
        other = np.where(np.abs(t[:, :1]) < 0.6, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
        x = np.cross(t, other)
        x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-300)
        across = np.stack([x, np.cross(t, x)], axis=1)
        pieces = []
        for axes, c in (
            (across, water_numbers["Cdn"] * factor),
            (t[:, None], np.pi * water_numbers["Cdt"] * factor),
        ):
            live = on_bodies & (c > 0)
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
        elements = self.elements
        return replace(
            self, elements=replace(elements, Cdn=0.0 * elements.Cdn, Cdt=0.0 * elements.Cdt)
        )


_WATER = ("rest_length", "wet", "diameter", "Cdn", "Cdt")


def _quadratic(c: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    return lambda w: c[:, None] * np.linalg.norm(w, axis=-1, keepdims=True) * w


def _split(x: Float[Array, "k 3"], s: Float[Array, "k 3"]) -> tuple[Array, Array]:
    """Component along s, and the remainder."""
    along = dot(x, s)
    return along, x - along[:, None] * s


def cables_of(model: Model) -> Cables | None:
    """The cables of a model, None without any."""
    return model.effect(Cables)


def with_drums_stopped(model: Model) -> Model:
    """The model with the winches of its cables stopped."""
    cables = cables_of(model)
    return model if cables is None else model.with_effect(cables.with_winches_held())
