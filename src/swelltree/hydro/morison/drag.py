r"""Drag as pieces that a study in the frequency domain can linearise.

A piece sees the velocity of the fluid relative to the body in m directions and answers with a
force law f:

.. math:: w = D u(x) - L v, \qquad \text{wrench} = O f(w)

Pieces of a group are stacked; k of them share m and the law.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float

from swelltree.jit import Array, namespace, pytree
from swelltree.model.capabilities import ExcitedByWaves, HasDrag, Reports
from swelltree.model.effect import Coordinate, Instant, Loads
from swelltree.model.model import Model
from swelltree.model.sea import current_at, water_at
from swelltree.multibody.kinematics import Motion, point_motion, spread
from swelltree.multibody.layout import Layout
from swelltree.spatial.rotations import dot, matvec, skew, transpose

TINY = 1e-12  # (m/s)^2 under the root, so that drag has a derivative at rest


class DragPieces(NamedTuple):
    """Drag pieces at one pose, NumPy."""

    body: Array  # (k,) depth-first number
    at: Array  # (k, 3) place in the world, m
    from_body: Array  # L, (k, m, 6) from the body's velocity in world axes
    from_water: Array  # D, (k, m, 3) from the velocity of waves; zero where it is not felt
    mean: Array  # (k, m) of the relative velocity: the current, m/s
    to_wrench: Array  # O, (k, 6, m) to the wrench at the reference point, world axes
    law: Callable[[Array], Array]  # (..., k, m) -> (..., k, m)


def size(w: Float[Array, "*k m"]) -> Float[Array, "*k 1"]:
    """Length of vectors, differentiable at zero."""
    xp = namespace(w)
    return xp.sqrt(dot(w, w) + TINY)[..., None]


# --- Drag and lift of bodies given by numbers


@pytree("names", "body")
class BodyDrags(ExcitedByWaves, HasDrag, Reports):
    """All such elements (e of them)."""

    kind: ClassVar[str] = "body_drag"
    feels = ("waves", "current")

    point: Array  # (e, 3) centre of pressure from the reference point, body axes
    drag_area: Array  # (e, 3) Cd A, m^2
    lift_area: Array  # (e, 3) Cl A, m^2
    body: tuple[int, ...]
    names: tuple[str, ...]

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        return {"body_drag": ("body_drag", self.names, "drag and lift of a body")}

    def loads(self, model: Model, now: Instant) -> Loads:
        body = np.array(self.body)
        at_point = point_motion(now.motion, body, self.point)
        u = water_at(model, now.t, at_point.position).velocity
        w = matvec(transpose(at_point.rotation), u - at_point.velocity)
        force = matvec(at_point.rotation, self._law(model.rho, w))
        wrench = spread(model.layout, now.motion, body, at_point.position, force, 0.0 * force)
        power = dot(force, at_point.velocity)
        return Loads(wrench, 0.0 * power, power, {"force": force})

    def _law(self, rho: Array, w: Float[Array, "*n e 3"]) -> Float[Array, "*n e 3"]:
        xp = namespace(w, self.drag_area)
        along = self.drag_area * w * xp.sqrt(w**2 + TINY)
        speed = size(w)
        lift = self.lift_area * w
        across = lift * speed - (lift * w).sum(-1)[..., None] * w / speed
        return 0.5 * rho * (along + across)

    def drag(self, model: Model, motion: Motion) -> tuple[DragPieces, ...]:
        body = np.array(self.body)
        at_point = point_motion(motion, body, self.point)
        back = np.asarray(transpose(at_point.rotation))
        arm = np.asarray(at_point.position) - np.asarray(motion.pose.p)[body]
        L = np.concatenate([back, -back @ np.asarray(skew(arm))], axis=-1)
        still = model.replace(sea=replace(model.sea, waves=None))
        flow = np.asarray(water_at(still, np.zeros(()), at_point.position).velocity)
        mean = (back @ flow[:, :, None])[:, :, 0]
        rho = np.asarray(model.rho)
        return (
            DragPieces(
                body,
                np.asarray(at_point.position),
                L,
                back,
                mean,
                L.transpose(0, 2, 1),
                lambda w: np.asarray(self._law(rho, w)),
            ),
        )

    def without_drag(self) -> BodyDrags:
        return replace(self, drag_area=0.0 * self.drag_area, lift_area=0.0 * self.lift_area)


# --- Quadratic damping of each degree of freedom of a body, in body axes


@pytree("names", "body", "felt")
class QuadraticDrags(ExcitedByWaves, HasDrag, Reports):
    """All quadratic drags (e of them): wrench = damping (w |w|) in body axes."""

    kind: ClassVar[str] = "quadratic_drag"

    damping: Array  # (e, 6, 6)
    body: tuple[int, ...]
    felt: tuple[str, ...]  # ground, current or water
    names: tuple[str, ...]

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        return {"quadratic_drag": ("quadratic_drag", self.names, "quadratic drag")}

    @property
    def feels(self) -> tuple[str, ...]:  # pyright: ignore
        by_ground = all(felt == "ground" for felt in self.felt)
        return ("waves",) if by_ground else ("waves", "current")

    def loads(self, model: Model, now: Instant) -> Loads:
        body = np.array(self.body)
        motion = now.motion
        R = motion.pose.R[body]
        v = motion.v[body]
        xp = namespace(v)
        w = xp.concatenate([self._flow(model, now.t, motion) - v[:, :3], -v[:, 3:]], axis=-1)
        in_body_axes = _turned(transpose(R), w)
        wrench = _turned(R, matvec(self.damping, in_body_axes * xp.sqrt(in_body_axes**2 + TINY)))
        hits = (np.arange(model.layout.n_bodies)[:, None] == body[None, :]).astype(float)
        total = (hits[:, :, None] * wrench[None]).sum(1)
        power = dot(wrench, v)
        return Loads(total, 0.0 * power, power, {"wrench": wrench})

    def _flow(self, model: Model, t: Array, motion: Motion) -> Array:
        """Relevant fluid velocity at the reference points (e, 3)."""
        at = motion.pose.p[np.array(self.body)]
        current = np.array([f == "current" for f in self.felt], dtype=float)[:, None]
        water = np.array([f == "water" for f in self.felt], dtype=float)[:, None]
        flow = 0.0 * at
        if current.any():
            flow = flow + current * current_at(model, t, at)
        if water.any():
            flow = flow + water * water_at(model, t, at).velocity
        return flow

    def drag(self, model: Model, motion: Motion) -> tuple[DragPieces, ...]:
        body = np.repeat(np.array(self.body), 6)
        R = np.asarray(motion.pose.R)[np.array(self.body)]
        T = np.zeros((len(R), 6, 6))  # world to body axes
        T[:, :3, :3] = T[:, 3:, 3:] = R.transpose(0, 2, 1)
        flow = np.asarray(self._flow(model, np.zeros(()), motion))
        waves = np.array([f == "water" for f in self.felt], dtype=float)
        out = T.transpose(0, 2, 1) @ np.asarray(self.damping)
        piece = DragPieces(
            body,
            np.asarray(motion.pose.p)[body],
            T.reshape(-1, 1, 6),
            (waves[:, None, None] * T[:, :, :3]).reshape(-1, 1, 3),
            (T[:, :, :3] @ flow[:, :, None]).reshape(-1, 1),
            out.transpose(0, 2, 1).reshape(-1, 6, 1),
            lambda w: w * abs(w),
        )
        return (piece,)

    def without_drag(self) -> QuadraticDrags:
        return replace(self, damping=0.0 * self.damping)


def _turned(R: Array, w: Array) -> Array:
    """Both halves of six-vectors turned."""
    return namespace(R, w).concatenate([matvec(R, w[:, :3]), matvec(R, w[:, 3:])], axis=-1)
