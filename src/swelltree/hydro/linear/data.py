r"""Linear hydrodynamics of a compiled model, as arrays in body order.

All bodies are coupled: matrices are 6N x 6N in mean (world) axes at the
reference points, zero for dry bodies. The displacement of a body from its mean
pose is

.. math:: \xi = (p - p_0,\; \text{rotation vector of } R R_0^\top)

and the wrench of linear hydrodynamics (CONVENTIONS, Body quantities)

.. math:: w = w_0 - G \xi - D v - C_r \chi + F(t) - A_\infty \dot v

with w_0 the buoyancy in the mean pose. Weight is not in G: it acts exactly, as
on dry bodies, so nothing is counted twice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swelltree.jit import Array, Tree, namespace, pytree
from swelltree.multibody.kinematics import Pose
from swelltree.spatial.rotations import matmul, rotation_vector, transpose

if TYPE_CHECKING:
    from swelltree.hydro.drift.data import DriftTable
    from swelltree.hydro.drift.loads import TurningLoads
    from swelltree.hydro.linear.radiation import Memory

NEGLIGIBLE = 1e-3  # of the sea's energy: what may lie outside the data silently
LEFT_OUT = 0.05  # of the sea's energy: more outside the data is rejected


class RadiationMemory:
    """What the water remembers of the motion, as it goes on in time.

    Velocities are those of all bodies in the axes of the data, (6N,).
    """

    @property
    def fitted(self) -> Memory | None:
        """Its form with states, where it has one."""
        return None

    @property
    def required_step(self) -> float | None:
        """Step that it was made for and must be stepped by [s]; None: any."""
        return None

    def start(self) -> Tree:
        """Before any motion."""
        raise NotImplementedError

    def force_at(self, t: Array, v: Array, chi: Tree) -> Array:
        """Memory force (6N,), which acts against the motion."""
        raise NotImplementedError

    def rate(self, chi: Tree, v: Array) -> Tree:
        """Rate of what is remembered."""
        raise NotImplementedError

    def after_step(self, t: Array, v: Array, chi: Tree) -> Tree:
        """What is remembered after a step, beside what the rate has changed."""
        return chi

    @property
    def records(self) -> bool:
        """Does it change after every step (`after_step`)?"""
        return False


class WaveForce:
    """Loads of a realised sea in time, first or second order."""

    def acting(self, t: Array, place: Array, psi: Array | None) -> Array:
        """Loads on all bodies (N, 6), in the axes of the data.

        Args:
            t: time [s].
            place: x and y of the bodies now (N, 2) [m].
            psi: their mean yaw (N,) [rad], None where the axes are fixed.
        """
        raise NotImplementedError

    def flat(self) -> WaveForce:
        """Those of a sea of height zero, where all shapes can stay."""
        return self

    def scaled(self, fraction: Array) -> WaveForce:
        """A fraction of them."""
        raise NotImplementedError

    def filled_up(self, count: int) -> WaveForce:
        """The same with room for so many points in time, where they are on such points."""
        return self

    @property
    def good_until(self) -> float:
        """Time up to which steps may go [s]."""
        return np.inf

    @property
    def follows_bodies(self) -> bool:
        """Do they know where the bodies are, or how they are turned?"""
        return True


@pytree()
class WaveLoads(WaveForce):
    """Loads of a sea on a uniform time grid, with their rate (cubic Hermite between)."""

    step: Array  # s
    force: Array  # (T, 6N)
    rate: Array  # (T, 6N)
    begin: Array = 0.0  # time of the first row [s]

    @property
    def good_until(self) -> float:
        """Time up to which steps may go [s]."""
        return good_until(self)

    def acting(self, t: Array, place: Array, psi: Array | None) -> Array:
        return on_grid(t - self.begin, self.step, self.force, self.rate).reshape(-1, 6)

    def flat(self) -> WaveLoads:
        return self.scaled(0.0)

    def scaled(self, fraction: Array) -> WaveLoads:
        return replace(self, force=fraction * self.force, rate=fraction * self.rate)

    def filled_up(self, count: int) -> WaveLoads:
        missing = count - len(self.force)
        if missing <= 0:
            return self
        rows = ((0, missing), (0, 0))
        return replace(self, force=np.pad(self.force, rows), rate=np.pad(self.rate, rows))

    @property
    def follows_bodies(self) -> bool:
        return False


class Window(NamedTuple):
    """A part of an endless run: a time in it [s], and how many points a grid has."""

    time: float
    points: int


MARGIN = 8  # one of so many points of a window lies before its time, another at its end


def grid_begin(window: Window, step: float) -> float:
    """Time of the first point in a window, of the grid that begins at zero [s]."""
    return step * max(np.floor(window.time / step) - window.points // MARGIN, 0.0)


def good_until(loads: WaveLoads | TurningLoads) -> float:
    """Time up to which steps may go with loads on a grid [s]; schemes look ahead."""
    rows = len(loads.force)
    return float(loads.begin) + float(loads.step) * (rows - rows // MARGIN)


@pytree()
class Table:
    """Frequency-domain data in body order, for studies in the frequency domain."""

    omega: Array  # (f,) rad/s, increasing and finite
    direction: Array  # (d,) rad
    added_mass: Array  # (f, 6N, 6N)
    radiation_damping: Array  # (f, 6N, 6N)
    excitation: Array  # (f, d, 6N) complex, per metre of a crest at the body, exp(-i w t)
    added_mass_inf: Array  # (6N, 6N)
    place: Array  # (6N, 2) x and y of the body of each DOF
    drift: DriftTable | None = None  # drift.data.DriftTable, or None
    remaining: Array | None = None  # excitation less what nonlinear hulls feel by themselves


def displacement(mean: Pose, pose: Pose) -> Array:
    """Displacement of every body from its mean pose, (N, 6)."""
    xp = namespace(pose.p)
    turn = rotation_vector(matmul(pose.R, transpose(mean.R)))
    return xp.concatenate([pose.p - mean.p, turn], axis=-1)


def on_grid(t: Array, step: Array, value: Array, rate: Array) -> Array:
    """Values at time t by cubic Hermite interpolation between the rows of a uniform grid."""
    xp = namespace(t)
    value, rate = xp.asarray(value), xp.asarray(rate)
    x = t / step
    i = xp.clip(xp.floor(x).astype(int), 0, value.shape[0] - 2)
    x = x - i
    h00, h10 = (1.0 + 2.0 * x) * (1.0 - x) ** 2, x * (1.0 - x) ** 2
    h01, h11 = x * x * (3.0 - 2.0 * x), x * x * (x - 1.0)
    left = h00 * value[i] + h10 * step * rate[i]
    return left + h01 * value[i + 1] + h11 * step * rate[i + 1]
