r"""Bodies at the surface of the water, by tables over depth.

With h the depth of a point of the body under the wave surface, the wet volume V(h) and the added
mass A(h), the undisturbed pressure pushes with

.. math:: f = \rho V \left(g \hat z + \frac{Du}{Dt}\right)

exactly, as the pressure is zero on the actual surface. The water that moves with the body has the
momentum A (v - u) and takes

.. math:: f = A \left(\frac{Du}{Dt} - \dot v\right) - \dot A_+ (v - u), \qquad
          \dot A = A'(h)\, \dot h

(von Karman 1929). The term in the body's acceleration is in the mass matrix (`immersed_mass`).
Of the work of the last term, half becomes energy of that water and half spray. On exit the
water keeps its momentum (nothing acts, and the energy it has is lost), or gives its energy back
(half of the term acts).
"""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from jaxtyping import Float

from swelltree.hydro.morison.drag import TINY, DragPieces
from swelltree.jit import Array, namespace, pytree
from swelltree.model.capabilities import ExcitedByWaves, HasDrag, Impulsive, Reports
from swelltree.model.effect import Coordinate, Instant, Loads
from swelltree.model.model import Model
from swelltree.model.sea import water_at
from swelltree.multibody.inertia import kirchhoff
from swelltree.multibody.kinematics import Motion, point_motion
from swelltree.multibody.layout import Layout
from swelltree.spatial.rotations import cross, dot, matmul, matvec, skew, transpose

if TYPE_CHECKING:
    from swelltree.waves.airy import Kinematics


# --- Tables over the depth of bodies at the surface

COLUMNS = {"volume": 0, "center": slice(1, 4), "added": slice(4, 7), "drag": slice(7, 10)}
WIDTH = 10


@pytree()
class DepthTables:
    """Tables of e bodies, padded to i intervals."""

    start: Array  # (e, i) depth at which each interval begins, m
    last: Array  # (e,) where the last one ends, m
    cubic: Array  # (e, i, 4, WIDTH) powers of the depth from the start of the interval
    below: Array  # (e, i) integral of the volume over all intervals before, m^4


@pytree()
class Wet:
    """Wet part of each body at its depth."""

    volume: Array  # (e,) m^3
    center: Array  # (e, 3) body axes, from the reference point, m
    added: Array  # (e, 3) along the body axes, kg
    added_slope: Array  # (e, 3) by depth, kg/m
    drag: Array  # (e, 3) Cd times area, m^2
    head: Array  # (e,) integral of the volume over depth, m^4


def depth_tables(tables: list[tuple[np.ndarray, np.ndarray]]) -> DepthTables:
    """From rows of depth (k,) and columns (k, WIDTH) of every body."""
    from scipy.interpolate import PchipInterpolator

    most = max(len(depth) for depth, _ in tables) - 1
    start, cubic, below = [], [], []
    for depth, columns in tables:
        fit = PchipInterpolator(depth, columns)
        powers = np.moveaxis(fit.c[::-1], 0, 1)  # (i, 4, WIDTH), constants first
        gaps = np.diff(depth)
        volume = powers[:, :, 0] * gaps[:, None] ** np.arange(1, 5) / np.arange(1, 5)
        sums = np.concatenate([[0.0], np.cumsum(volume.sum(1))])[:-1]
        spare = most - len(gaps)
        start.append(np.pad(depth[:-1], (0, spare), constant_values=np.inf))
        cubic.append(np.pad(powers, ((0, spare), (0, 0), (0, 0))))
        below.append(np.pad(sums, (0, spare)))
    last = np.array([depth[-1] for depth, _ in tables])
    return DepthTables(np.array(start), last, np.array(cubic), np.array(below))


def wet_at(tables: DepthTables, depth: Float[Array, " e"]) -> Wet:
    """Interpolated table values at the depth of each body."""
    xp = namespace(depth, tables.cubic)
    first = tables.start[:, 0]
    inside = xp.clip(depth, first, tables.last)
    count = (inside[:, None] >= tables.start).sum(1) - 1
    hit = (np.arange(tables.start.shape[1])[None] == count[:, None]) * 1.0
    start = (hit * _finite(tables.start, xp)).sum(1)
    c = (hit[:, :, None, None] * tables.cubic).sum(1)
    s = (inside - start)[:, None]
    value = c[:, 0] + s * (c[:, 1] + s * (c[:, 2] + s * c[:, 3]))
    slope = c[:, 1] + s * (2.0 * c[:, 2] + 3.0 * s * c[:, 3])
    slope = xp.where(((depth > first) & (depth < tables.last))[:, None], slope, 0.0)
    v, x = c[:, :, 0], s[:, 0]
    head = x * (v[:, 0] + x * (v[:, 1] / 2.0 + x * (v[:, 2] / 3.0 + x * v[:, 3] / 4.0)))
    head = head + (hit * tables.below).sum(1)
    volume = value[:, COLUMNS["volume"]]
    return Wet(
        volume=volume,
        center=value[:, COLUMNS["center"]],
        added=value[:, COLUMNS["added"]],
        added_slope=slope[:, COLUMNS["added"]],
        drag=value[:, COLUMNS["drag"]],
        head=head + volume * xp.maximum(depth - tables.last, 0.0),
    )


def _finite(start: Array, xp: ModuleType) -> Array:
    return xp.where(xp.isfinite(start), start, 0.0)


NEAR = 1e-3  # m and s: half width of the differences that give slope and rate of the surface


@pytree()
class Surface:
    """Wave surface above points."""

    height: Array  # (e,) m
    rate: Array  # (e,) at the fixed place, m/s
    slope: Array  # (e, 2)


@pytree("names", "body", "stepped")
class Immersions(ExcitedByWaves, HasDrag, Impulsive, Reports):
    """All bodies with tables over depth (e of them).

    The terms of the energy budget are those of the bodies, then those of their spray. In still
    water buoyancy stores energy; in waves all of it is counted as work.
    """

    kind: ClassVar[str] = "immersion"
    feels = ("waves", "current")

    point: Array  # (e, 3) whose depth counts, from the reference point, body axes
    at: Array  # (e, 3) where the added mass acts
    tables: DepthTables
    entry: Array  # (e,) part of the momentum that is taken where added mass grows
    exit: Array  # (e,) part that is given back where it falls
    buoyant: Array  # (e,) one with buoyancy and the pressure of the waves
    body: tuple[int, ...]
    names: tuple[str, ...]
    stepped: bool = False  # the wrench is taken elsewhere

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        bodies = self.names[: len(self.body)]
        return {"immersion": ("immersion", bodies, "body at the surface")}

    def loads(self, model: Model, now: Instant) -> Loads:
        motion, e = now.motion, len(self.body)
        xp = namespace(motion.pose.p)
        if self.stepped:
            none = xp.zeros(2 * e)
            return Loads(xp.zeros((model.layout.n_bodies, 6)), none, none, {})
        v = motion.v[np.array(self.body)]
        surface, depth, rate = self.depths(model, now.t, motion)
        wet = wet_at(self.tables, depth)
        flow = self.water(model, now.t, motion, wet, surface.height)
        gain = wet.added_slope * rate[:, None]
        taken = self.taken(gain)
        relative = self.relative(v, flow.velocity)
        A, G, D = (self.six(motion, x) for x in (wet.added, taken, gain))
        slam = -matvec(G, relative)
        lift = self.lift(model, wet.volume)
        wrench = slam - kirchhoff(A, relative) + self.pushed(A, flow.acceleration)
        wrench = wrench + self.at_center(motion, wet, self.drawn(model, motion, wet, flow, v))
        wrench = wrench + self.at_center(motion, wet, lift + self.pressed(model, wet, flow))
        # what the energy of the water with the body gains is work on the whole
        power = dot(wrench + kirchhoff(A, v), v) + 0.5 * dot(v, matvec(D, v))
        spray = -dot(relative, matvec(G - 0.5 * D, relative))
        stored = 0.0 * power
        if model.sea.waves is None:
            stored = -model.rho * model.gravity[2] * self.buoyant * wet.head
            power = power + lift[:, 2] * rate
        channels = {
            "depth": depth,
            "volume": wet.volume,
            "wrench": wrench,
            "slamming": slam[:, :3],
        }
        return Loads(
            self.spread(model, wrench),
            xp.concatenate([stored, 0.0 * stored]),
            xp.concatenate([power - spray, spray]),
            channels,
        )

    def depths(self, model: Model, t: Array, motion: Motion) -> tuple[Surface, Array, Array]:
        """Surface above the points, their depth and its rate."""
        at_point = point_motion(motion, np.array(self.body), self.point)
        surface = surface_near(model, t, at_point.position[:, :2])
        v = at_point.velocity
        rate = surface.rate + dot(surface.slope, v[:, :2]) - v[:, 2]
        return surface, surface.height - at_point.position[:, 2], rate

    def water(self, model: Model, t: Array, motion: Motion, wet: Wet, height: Array) -> Kinematics:
        """Water velocity at the centres of the wet parts, never above the surface."""
        body = np.array(self.body)
        p = motion.pose.p[body] + matvec(motion.pose.R[body], wet.center)
        xp = namespace(p)
        below = xp.minimum(p[:, 2], height)
        return water_at(model, t, xp.concatenate([p[:, :2], below[:, None]], axis=-1))

    def relative(self, v: Array, u: Array) -> Array:
        """Velocity of bodies relative to the water (e, 6)."""
        return namespace(v).concatenate([v[:, :3] - u, v[:, 3:]], axis=-1)

    def taken(self, gain: Array) -> Array:
        """Fraction of a change of added mass that takes momentum from the body."""
        xp = namespace(gain)
        grows, falls = xp.maximum(gain, 0.0), xp.minimum(gain, 0.0)
        return self.entry[:, None] * grows + self.exit[:, None] * falls

    def six(self, motion: Motion, along: Float[Array, "e 3"]) -> Float[Array, "e 6 6"]:
        """Mass matrices along the body axes, about the reference points in world axes."""
        body = np.array(self.body)
        R = motion.pose.R[body]
        xp = namespace(R, along)
        A = matmul(R * along[:, None, :], transpose(R))
        S = skew(matvec(R, self.at))
        AS = matmul(A, S)
        top = xp.concatenate([A, -AS], axis=-1)
        return xp.concatenate([top, xp.concatenate([matmul(S, A), -matmul(S, AS)], -1)], axis=-2)

    def pushed(self, A: Array, acceleration: Array) -> Array:
        """Force of accelerated water on the added mass."""
        return matvec(A[:, :, :3], acceleration)

    def lift(self, model: Model, volume: Array) -> Array:
        return -(model.rho * self.buoyant * volume)[:, None] * model.gravity

    def pressed(self, model: Model, wet: Wet, flow: Kinematics) -> Array:
        """Wave pressure on the wet volume (e, 3)."""
        return (model.rho * self.buoyant * wet.volume)[:, None] * flow.acceleration

    def drawn(self, model: Model, motion: Motion, wet: Wet, flow: Kinematics, v: Array) -> Array:
        """Drag at the centre of the wet part (e, 3)."""
        R = motion.pose.R[np.array(self.body)]
        there = v[:, :3] + cross(v[:, 3:], matvec(R, wet.center))
        w = matvec(transpose(R), flow.velocity - there)
        return matvec(R, _drag(model.rho, wet.drag, w))

    def at_center(self, motion: Motion, wet: Wet, force: Array) -> Array:
        """Wrench of a force at the centre of the wet part."""
        arm = matvec(motion.pose.R[np.array(self.body)], wet.center)
        return namespace(force).concatenate([force, cross(arm, force)], axis=-1)

    def spread(self, model: Model, wrench: Array) -> Array:
        rows = np.arange(model.layout.n_bodies)[:, None]
        hits = (rows == np.array(self.body)[None, :]).astype(float)
        return (hits[:, :, None] * wrench[None]).sum(1)

    def drag(self, model: Model, motion: Motion) -> tuple[DragPieces, ...]:
        """One drag piece per body, for the wet part at rest."""
        body = np.array(self.body)
        still = model.replace(sea=replace(model.sea, waves=None))
        _, depth, _ = self.depths(still, np.zeros(()), motion)
        wet = wet_at(self.tables, np.asarray(depth))
        R = np.asarray(motion.pose.R)[body]
        arm = np.asarray(matvec(R, wet.center))
        at = np.asarray(motion.pose.p)[body] + arm
        back = np.asarray(transpose(R))
        L = np.concatenate([back, -back @ np.asarray(skew(arm))], axis=-1)
        flow = np.asarray(water_at(still, np.zeros(()), at).velocity)
        rho = np.asarray(model.rho)
        return (
            DragPieces(
                body,
                at,
                L,
                back,
                (back @ flow[:, :, None])[:, :, 0],
                L.transpose(0, 2, 1),
                lambda w: np.asarray(_drag(rho, wet.drag, w)),
            ),
        )

    def without_drag(self) -> Immersions:
        c = self.tables.cubic
        columns = (np.arange(c.shape[-1]) < 7).astype(float)
        return replace(self, tables=replace(self.tables, cubic=c * columns))


def _drag(rho: Array, area: Array, w: Array) -> Array:
    """Half rho Cd A |w| w, axis by axis."""
    return 0.5 * rho * area * w * namespace(w, area).sqrt(w**2 + TINY)


def surface_near(model: Model, t: Array, place: Float[Array, "e 2"]) -> Surface:
    """Height, rate and slope of the wave surface over places.

    Slope and rate are central differences, which serve every kind of sea.
    """
    from swelltree.waves.sea import elevation

    xp = namespace(place)
    e = place.shape[0]
    if model.sea.waves is None:
        return Surface(xp.zeros(e), xp.zeros(e), xp.zeros((e, 2)))
    off = NEAR * np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1], [0, 0], [0, 0]])
    late = NEAR * np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, -1.0])
    x, y = (place[None, :, k] + off[:, None, k] for k in (0, 1))
    eta = elevation(model.sea.waves, t + late[:, None] + 0.0 * x, x, y)
    slope = xp.stack([eta[1] - eta[2], eta[3] - eta[4]], -1) / (2.0 * NEAR)
    return Surface(eta[0], (eta[5] - eta[6]) / (2.0 * NEAR), slope)


def immersions(model: Model) -> Immersions | None:
    return model.effect(Immersions)


def immersed_mass(model: Model, t: Array, motion: Motion) -> Array | None:
    """Added mass of the wet parts, world axes (N, 6, 6); None without any."""
    group = immersions(model)
    if group is None:
        return None
    _, depth, _ = group.depths(model, t, motion)
    A = group.six(motion, wet_at(group.tables, depth).added)
    return group.spread(model, A.reshape(len(group.body), 36)).reshape(-1, 6, 6)


def with_immersed_mass(model: Model, t: Array, motion: Motion) -> Model:
    """The model with the added mass of its bodies at their present depth."""
    mass = immersed_mass(model, t, motion)
    if mass is None:
        return model
    N = mass.shape[0]
    full = (np.eye(N)[:, None, :, None] * mass[:, :, None, :]).reshape(6 * N, 6 * N)
    return model.replace(added_mass=full if model.added_mass is None else full + model.added_mass)
