"""Quadratic damping of each degree of freedom of a body, in body axes."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from swelltree.effects.drag.drag import TINY, DragPieces
from swelltree.engine.arrays import Array, namespace, pytree
from swelltree.model.effect import Coordinate, Effect, Loads, Now
from swelltree.model.kinematics import Motion
from swelltree.model.layout import Layout
from swelltree.model.model import Model
from swelltree.model.sea import current_at, water_at
from swelltree.spatial.vectors import dot, matvec, transpose


@pytree("names", "body", "felt")
class QuadraticDrags(Effect):
    """All quadratic drags (e of them): wrench = damping (w |w|) in body axes."""

    kind: ClassVar[str] = "quadratic_drag"
    uses_sea: ClassVar[bool] = True
    adds_excitation: ClassVar[bool] = True

    damping: Array  # (e, 6, 6)
    body: tuple[int, ...]
    felt: tuple[str, ...]  # ground, current or water
    names: tuple[str, ...]

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        return {"quadratic_drag": ("quadratic_drag", self.names, "quadratic drag")}

    @property
    def feels_current(self) -> bool:  # pyright: ignore
        """Is a body damped against the water, not against the ground alone?"""
        return any(felt != "ground" for felt in self.felt)

    def loads(self, model: Model, now: Now) -> Loads:
        """Wrenches and their power."""
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
        """Velocity of the fluid that counts, at the reference points (e, 3)."""
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
        """One piece for each degree of freedom."""
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
        """The same elements, taking no force."""
        return replace(self, damping=0.0 * self.damping)


def _turned(R: Array, w: Array) -> Array:
    """Both halves of six-vectors turned."""
    return namespace(R, w).concatenate([matvec(R, w[:, :3]), matvec(R, w[:, 3:])], axis=-1)
