r"""The kinds of constraints, one class each.

A row is described by the wrench (f, n) that a unit multiplier puts on the follower at the joint
point. Power invariance gives its velocity form, the same for all kinds:

.. math:: \dot g = f \cdot u + n \cdot \omega_{rel} - \dot g_t

with u the velocity of the follower's joint point relative to the base. A class answers for all its
rows at once (`evaluate`), and for one of them in the two-step scheme (`gradient`). A new kind is a
class here and a line where the layout is built.

Relations between joint coordinates that users write: a small class with a JAX function.

@sw.coupling_law
class Cam(sw.CouplingLaw):
    lift: float

    def value(self, x):
        return x[1] - self.lift * jnp.cos(x[0])
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeVar, dataclass_transform

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.forces.controllers import number_values
from swelltree.describe.forces.signals import resolve
from swelltree.jit import Array, Tree, namespace, pytree
from swelltree.model.effect import TRACED, untraceable, where_of
from swelltree.model.model import Model
from swelltree.multibody.kinematics import Frames, body_index, dof_coordinates, wrapped
from swelltree.multibody.layout import Layout, Place, Row
from swelltree.spatial.rotations import cross, dot, matmul, matvec, transpose

if TYPE_CHECKING:
    from swelltree.describe.joints.couplings import OwnCoupling


@pytree()
class Drives:
    """Prescribed coordinates at one time: value, rate, acceleration."""

    value: Array
    rate: Array
    acceleration: Array


class Trial(NamedTuple):
    """Arguments of the rows of one kind; m of them."""

    model: Model
    frames: Frames
    w_b: Array  # (m, 3) angular velocity of the base
    w_f: Array  # (m, 3) of the follower
    v_o: Array  # (m, 3) velocity of the follower's joint point
    vw: Array  # (N + 1, 6) velocities of all bodies, the world last
    angles: Array  # nearby values of the single-axis angles
    drives: Drives


class MeanFrames(NamedTuple):
    """Joint frames averaged over two poses."""

    base_R: Array  # (J, 3, 3)
    follower_R: Array  # (J, 3, 3)
    gap: Array  # (J, 3) from the base's joint point to the follower's
    slide: Array  # (n, 3)
    turn: Array  # (n, 3)


def _ints(rows: Sequence[Row], name: str) -> np.ndarray:
    return np.array([getattr(r, name) for r in rows], dtype=int)


def _still(rows: Sequence[Row], like: Array) -> tuple[Array, Array]:
    zero = namespace(like).zeros(len(rows))
    return zero, zero


class InPlane(Row):
    """The follower's point stays in a plane of the base: e . (o_F - o_B) = offset; i: axis."""

    @classmethod
    def evaluate(cls, rows: Sequence[Row], at: Trial) -> tuple[Array, ...]:
        j, frames = _ints(rows, "joint"), at.frames
        e = frames.base_R[j, :, _ints(rows, "i")]
        g = dot(e, frames.follower_o[j] - frames.base_o[j]) - at.model.joints.offset[j]
        zero = 0.0 * e
        return g, e, zero, cross(at.w_b, e), zero, *_still(rows, e)

    def gradient(self, model: Model, mean: MeanFrames) -> tuple[Array, Array, Array]:
        e = mean.base_R[self.joint, :, self.i]
        return e, 0.0 * e, cross(e, mean.gap[self.joint])


class Align(Row):
    """Axis j of the follower stays perpendicular to axis i of the base."""

    unit: ClassVar[str] = "rad"

    @classmethod
    def evaluate(cls, rows: Sequence[Row], at: Trial) -> tuple[Array, ...]:
        k = _ints(rows, "joint")
        b = at.frames.base_R[k, :, _ints(rows, "i")]
        a = at.frames.follower_R[k, :, _ints(rows, "j")]
        n_dot = cross(cross(at.w_f, a), b) + cross(a, cross(at.w_b, b))
        zero = 0.0 * a
        return dot(a, b), zero, cross(a, b), zero, n_dot, *_still(rows, a)

    def gradient(self, model: Model, mean: MeanFrames) -> tuple[Array, Array, Array]:
        n = cross(mean.follower_R[self.joint, :, self.j], mean.base_R[self.joint, :, self.i])
        return 0.0 * n, n, -n


class Distance(Row):
    """The joint points keep their distance: (|d|^2 - L^2) / 2L = 0."""

    def check(self, model: Model, frames: Frames) -> None:
        j, length = self.joint, float(np.asarray(model.joints.length)[self.joint])
        gap = float(np.linalg.norm(frames.follower_o[j] - frames.base_o[j]))
        if gap <= 1e-6 * length or length == 0.0:
            words = f"a length of {length:g} m" if length > 0.0 else "the rod"
            raise SwelltreeError(
                f"{self.owner(model.layout)}: its points are described at one place, so {words} "
                "has no direction. Describe the bodies apart, or use a ball joint."
            )

    @classmethod
    def evaluate(cls, rows: Sequence[Row], at: Trial) -> tuple[Array, ...]:
        j, model, frames = _ints(rows, "joint"), at.model, at.frames
        base = body_index(model.layout, model.layout.base)[j]
        length = model.joints.length[j][:, None]
        d = frames.follower_o[j] - frames.base_o[j]
        # world rotation of the base body, recovered from the joint frame
        base_R = matmul(frames.base_R[j], transpose(model.joints.base_rotation[j]))
        arm = matvec(base_R, model.joints.base_point[j])
        d_dot = at.v_o - at.vw[base, :3] - cross(at.w_b, arm)
        zero = 0.0 * d
        g = (dot(d, d) - length[:, 0] ** 2) / (2.0 * length[:, 0])
        return g, d / length, zero, d_dot / length, zero, *_still(rows, d)

    def gradient(self, model: Model, mean: MeanFrames) -> tuple[Array, Array, Array]:
        f = mean.gap[self.joint] / model.joints.length[self.joint]
        return f, 0.0 * f, 0.0 * f


class Screw(Row):
    """Advance equals lead times angle, the nearest turn is meant; i: axis."""

    def note(self, model: Model, frames: Frames, angles: Array) -> str:
        layout, j = model.layout, self.joint
        if j < layout.n_bodies:  # joints of the tree advance as they turn
            return ""
        k = next(k for k, dof in enumerate(layout.dofs) if dof.joint == j)
        angle = float(angles[layout.angle_dofs.index(k)])
        gap = frames.follower_o[j] - frames.base_o[j]
        advance = float(frames.base_R[j][:, self.i] @ gap)
        turns = (advance / float(model.joints.lead[j]) - angle) / (2.0 * np.pi)
        if abs(turns) <= 0.5:
            return ""
        return (
            f"{self.owner(layout)}: its points are {advance:.6g} m apart along its axis, "
            f"{turns:.0f} whole turns from where its angle of {angle:.6g} rad would bring "
            "them. The thread is entered there, and its angle counts from there."
        )

    @classmethod
    def evaluate(cls, rows: Sequence[Row], at: Trial) -> tuple[Array, ...]:
        j, model, frames = _ints(rows, "joint"), at.model, at.frames
        e = frames.base_R[j, :, _ints(rows, "i")]
        lead = model.joints.lead[j]
        dofs = [
            next(k for k, d in enumerate(model.layout.dofs) if d.joint == r.joint) for r in rows
        ]
        advance = dot(e, frames.follower_o[j] - frames.base_o[j])
        angle = dof_coordinates(model, frames, at.angles)[np.array(dofs)]
        g = lead * wrapped(advance / lead - angle)
        n = -lead[:, None] * e
        return g, e, n, cross(at.w_b, e), cross(at.w_b, n), *_still(rows, e)

    def gradient(self, model: Model, mean: MeanFrames) -> tuple[Array, Array, Array]:
        e = mean.base_R[self.joint, :, self.i]
        n = model.joints.lead[self.joint] * e
        return e, -n, n + cross(e, mean.gap[self.joint])


class Translation(Row):
    """A translational coordinate as it is; i: dof."""

    @classmethod
    def evaluate(cls, rows: Sequence[Row], at: Trial) -> tuple[Array, ...]:
        j, frames = _ints(rows, "joint"), at.frames
        e = frames.slide[_ints(rows, "i")]
        g = dot(e, frames.follower_o[j] - frames.base_o[j])
        zero = 0.0 * e
        return g, e, zero, cross(at.w_b, e), zero, *_still(rows, e)

    def gradient(self, model: Model, mean: MeanFrames) -> tuple[Array, Array, Array]:
        e = mean.slide[self.i]
        return e, 0.0 * e, cross(e, mean.gap[self.joint])


class Rotation(Row):
    """A single angle as it is, with its turns; i: dof."""

    unit: ClassVar[str] = "rad"

    @classmethod
    def evaluate(cls, rows: Sequence[Row], at: Trial) -> tuple[Array, ...]:
        dof = _ints(rows, "i")
        r = at.frames.turn[dof]
        on_follower = np.array([at.model.layout.dofs[i].on_follower for i in dof], dtype=bool)
        angle = dof_coordinates(at.model, at.frames, at.angles)[dof]
        carried = namespace(r).where(on_follower[:, None], at.w_f, at.w_b)
        zero = 0.0 * r
        return angle, zero, r, zero, cross(carried, r), *_still(rows, r)

    def gradient(self, model: Model, mean: MeanFrames) -> tuple[Array, Array, Array]:
        r = mean.turn[self.i]
        return 0.0 * r, r, -r


class DrivenTranslation(Translation):
    """Prescribed translation; i: dof, j: number of the prescribed motion."""

    prescribed: ClassVar[bool] = True
    of_coordinates: ClassVar[bool] = True

    @classmethod
    def evaluate(cls, rows: Sequence[Row], at: Trial) -> tuple[Array, ...]:
        k, drives = _ints(rows, "j"), at.drives
        g, *wrench, _, _ = super().evaluate(rows, at)
        return g - drives.value[k], *wrench, drives.rate[k], drives.acceleration[k]


class DrivenRotation(Rotation):
    """Prescribed angle, modulo whole turns; i: dof, j: number of the prescribed motion."""

    prescribed: ClassVar[bool] = True
    of_coordinates: ClassVar[bool] = True

    @classmethod
    def evaluate(cls, rows: Sequence[Row], at: Trial) -> tuple[Array, ...]:
        k, drives = _ints(rows, "j"), at.drives
        g, *wrench, _, _ = super().evaluate(rows, at)
        return wrapped(g - drives.value[k]), *wrench, drives.rate[k], drives.acceleration[k]


class Spin(Row):
    """No rotation of the follower about axis i of the base; velocity level only."""

    of_rates: ClassVar[bool] = True

    @classmethod
    def evaluate(cls, rows: Sequence[Row], at: Trial) -> tuple[Array, ...]:
        e = at.frames.base_R[_ints(rows, "joint"), :, _ints(rows, "i")]
        zero = 0.0 * e
        return zero[:, 0], zero, e, zero, cross(at.w_b, e), *_still(rows, e)

    def gradient(self, model: Model, mean: MeanFrames) -> tuple[Array, Array, Array]:
        e = mean.base_R[self.joint, :, self.i]
        return 0.0 * e, e, -e


@dataclass(frozen=True)
class Coupled(Row):
    """Coordinates in a fixed relation: sum of coefficients times coordinates = constant.

    i: number of the coupling, j: place of its first coefficient in `Couplings.coefficient`.

    Args:
        coordinates: rows of the coordinates themselves, in the order of the coefficients.
    """

    coordinates: tuple[Row, ...] = ()

    of_coordinates: ClassVar[bool] = True
    unit: ClassVar[str] = "m or rad"

    @property
    def coupling(self) -> int:
        return self.i

    def parts(self) -> tuple[Row, ...]:
        return self.coordinates

    def numbers(self, layout: Layout) -> dict[str, list[Place]]:
        return {layout.couplings[self.i]: [(("couplings",), self.i, {"coefficient": ""})]}

    def owner(self, layout: Layout) -> str:
        return f"coupling '{layout.couplings[self.i]}'"


@dataclass(frozen=True)
class OwnCoupled(Coupled):
    """Coordinates in a relation that the user wrote: value(x) = 0.

    i: number of the coupling, j: number of its law in `Couplings.laws`.
    """

    def numbers(self, layout: Layout) -> dict[str, list[Place]]:
        return {layout.couplings[self.i]: [(("couplings", "laws", self.j), None, {})]}

    def check(self, model: Model, frames: Frames) -> None:
        """Trace the law once: what NumPy lets pass may not compile."""
        from swelltree.jit import jax

        assert model.couplings is not None
        value = model.couplings.laws[self.j].value
        try:
            jax.eval_shape(value, jax.ShapeDtypeStruct((len(self.coordinates),), float))
        except untraceable() as error:
            raise SwelltreeError(
                f"{self.owner(model.layout)}: {where_of(value, error)} asks for the number of a "
                f"coordinate while it is compiled. {TRACED}."
            ) from None

    def relation(self, model: Model, x: Array, x_dot: Array) -> tuple[Array, Array, Array]:
        """Value, slope by each coordinate, and change of the rate by slopes that change."""
        from swelltree.jit import jax

        assert model.couplings is not None
        value = model.couplings.laws[self.j].value

        def rate(x: Array) -> Array:
            return jax.jvp(value, (x,), (x_dot,))[1]

        at, slope = jax.value_and_grad(value)(x)
        turning = jax.jvp(rate, (x,), (x_dot,))[1]
        if namespace(x, x_dot) is np:
            return np.asarray(at), np.asarray(slope), np.asarray(turning)
        return at, slope, turning


@pytree()
class Combination:
    """Combination of p parts into m rows."""

    weight: Array  # (m, p) of each part in each row
    value: Array  # (m,) residuals
    turning: Array  # (m,) second derivative of the residuals by weights that change


def combination(model: Model, rows: tuple[Row, ...], x: Array, x_dot: Array) -> Combination | None:
    """Rows from their parts; None where each row is its own part.

    Args:
        rows: which.
        x: residuals of the parts (p,); those of couplings are coordinates.
        x_dot: their rates.
    """
    if all(row.parts() == (row,) for row in rows):
        return None
    assert model.couplings is not None
    coefficient, constant = model.couplings.coefficient, model.couplings.constant
    xp = namespace(x, coefficient)
    row_of = np.array([k for k, row in enumerate(rows) for _ in row.parts()])
    laws = {k: row for k, row in enumerate(rows) if isinstance(row, OwnCoupled)}
    own = list(laws)
    found = [row.relation(model, x[row_of == k], x_dot[row_of == k]) for k, row in laws.items()]
    # weights: of linear couplings, of laws, and of rows that are their own parts
    first = len(coefficient) + np.cumsum([0, *(len(rows[k].parts()) for k in own)])
    begins = {k: int(first[i]) for i, k in enumerate(own)}
    begins |= {k: r.j for k, r in enumerate(rows) if isinstance(r, Coupled) and k not in begins}
    place = [
        begins[k] + n if k in begins else -1
        for k, r in enumerate(rows)
        for n in range(len(r.parts()))
    ]
    known = xp.concatenate([coefficient, *(slope for _, slope, _ in found), xp.ones(1)])
    weight = np.eye(len(rows))[:, row_of] * known[np.array(place)]
    due = [-1 if row.coupling is None else row.coupling for row in rows]
    value = weight @ x - xp.concatenate([constant, xp.zeros(1)])[np.array(due)]
    turning = 0.0 * value
    if own:
        hits = np.eye(len(rows))[:, own]
        value = xp.where(hits.any(1), hits @ xp.stack([part[0] for part in found]), value)
        turning = hits @ xp.stack([part[2] for part in found])
    return Combination(weight, value, turning)


def coordinate_row(turns: bool, joint: int, dof: int) -> Row:
    return (Rotation if turns else Translation)(joint, dof)


def driven_row(turns: bool, joint: int, dof: int, drive: int) -> Row:
    """The coordinate of a dof follows a prescribed motion."""
    return (DrivenRotation if turns else DrivenTranslation)(joint, dof, drive)


def joint_rows(
    joint: int,
    translations: tuple[int, ...],
    rotations: tuple[int, ...],
    quaternion: bool,
    screw: bool,
) -> list[Row]:
    """Constraint rows of a joint that leaves the given DOFs in its joint frame."""
    rows: list[Row] = [InPlane(joint, a) for a in range(3) if a not in translations]
    if screw:
        (axis,) = rotations
        rows = [InPlane(joint, a) for a in range(3) if a != axis]
        rows.append(Screw(joint, axis))
    if quaternion:
        # turns about axes of the base that are not free are held as velocities
        constrained = [a for a in range(3) if a not in rotations] if rotations else []
        return rows + [Spin(joint, a) for a in constrained]
    if len(rotations) == 0:
        rows += [Align(joint, (a + 1) % 3, a) for a in range(3)]
    elif len(rotations) == 1:
        a = rotations[0]
        rows += [Align(joint, b, a) for b in range(3) if b != a]
    else:
        rows.append(Align(joint, rotations[0], rotations[1]))
    return rows


T = TypeVar("T")


class CouplingLaw:
    """Base of the relations that users write."""

    def value(self, x: Array) -> Array:
        """What is zero where the coordinates fit, of the order of metres or radians.

        Args:
            x: the coordinates in the order of their names [m, rad]; angles count their turns.
        """
        raise NotImplementedError


@dataclass_transform(frozen_default=True)
def coupling_law(cls: type[T]) -> type[T]:
    """Make a class of numbers with a method `value` a relation of coordinates (class decorator).

    Args:
        cls: derived from `swelltree.CouplingLaw`; annotated fields are numbers, which can be
            differentiated, batched and changed by `with_values`.
    """
    if not issubclass(cls, CouplingLaw) or cls.value is CouplingLaw.value:
        raise SwelltreeError(
            f"law '{cls.__name__}' is not a class of swelltree.CouplingLaw with a method 'value'. "
            f"Write class {cls.__name__}(swelltree.CouplingLaw) with value(self, x)."
        )
    return pytree()(cls)


def make_coupling_law(item: OwnCoupling) -> Tree:
    cls: Tree = resolve(item.law)
    if not (
        inspect.isclass(cls) and issubclass(cls, CouplingLaw) and dataclasses.is_dataclass(cls)
    ):
        raise item.fail(
            f"law {getattr(cls, '__name__', cls)!r} is not a class made with "
            "@swelltree.coupling_law. Write one."
        )
    numbers = number_values(item, item.parameters, "law", cls)
    law = cls(**{key: np.asarray(value) for key, value in numbers.items()})
    answer = np.shape(law.value(np.zeros(len(item.coordinates))))
    if answer != ():
        raise item.fail(
            f"'value' of law '{cls.__name__}' returns the shape {answer}. Return one number."
        )
    return law
