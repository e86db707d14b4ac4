"""Linear moorings and damping on bodies (MBS4WEC, eq. 11): matrices on xi and v."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from swelltree.hydro.linear.data import displacement
from swelltree.jit import Array, pytree
from swelltree.model.capabilities import HasNonlinearity, HasParameters, Moors, Reports
from swelltree.model.effect import Coordinate, Instant, Loads
from swelltree.model.model import Model
from swelltree.multibody.kinematics import Pose
from swelltree.multibody.layout import Place
from swelltree.spatial.rotations import dot, matvec

if TYPE_CHECKING:
    from swelltree.multibody.layout import Layout


@pytree("names", "body")
class LinearMoorings(Moors, HasNonlinearity, HasParameters, Reports):
    """All linear moorings and dampings of a system (e of them), counted as work."""

    stiffness: Array  # (e, 6, 6)
    damping: Array  # (e, 6, 6)
    pretension: Array  # (e, 6)
    mean: Pose  # of the moored bodies
    body: tuple[int, ...]
    names: tuple[str, ...]

    kind: ClassVar[str] = "mooring"

    def loads(self, model: Model, now: Instant) -> Loads:
        pose, body = now.motion.pose, np.array(self.body, dtype=int)
        xi = displacement(self.mean, Pose(pose.p[body], pose.R[body]))
        v = now.motion.v[body]
        each = self.pretension - matvec(self.stiffness, xi) - matvec(self.damping, v)
        hits = (np.arange(model.layout.n_bodies)[:, None] == body[None, :]).astype(float)
        wrench = (hits[:, :, None] * each[None]).sum(1)
        power = dot(each, v)
        return Loads(wrench, 0.0 * power, power, {"wrench": each})

    def nonlinearity(self, off_stops: frozenset[str] = frozenset()) -> str:
        return ""

    def parameters(self) -> dict[str, list[Place]]:
        return {name: [((), i, {})] for i, name in enumerate(self.names)}

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        return {"mooring": ("mooring", self.names, "linear mooring")}
