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
        """State-space form of the memory, if it has one."""
        return None

    @property
    def required_step(self) -> float | None:
        """Step that the kernel was sampled for [s]; None: any."""
        return None

    def start(self) -> Tree:
        """Initial state."""
        raise NotImplementedError

    def force_at(self, t: Array, v: Array, chi: Tree) -> Array:
        """Memory force (6N,), which acts against the motion."""
        raise NotImplementedError

    def rate(self, chi: Tree, v: Array) -> Tree:
        """Rate of the states."""
        raise NotImplementedError

    def after_step(self, t: Array, v: Array, chi: Tree) -> Tree:
        """State after a step."""
        return chi

    @property
    def records(self) -> bool:
        """Whether the state changes after every step (`after_step`)."""
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
        """Loads of a sea of zero height with the same array shapes."""
        return self

    def scaled(self, fraction: Array) -> WaveForce:
        """The loads scaled by a fraction."""
        raise NotImplementedError

    def filled_up(self, count: int) -> WaveForce:
        """The loads padded to a number of points in time."""
        return self

    @property
    def good_until(self) -> float:
        """Time up to which loads are available [s]."""
        return np.inf

    @property
    def follows_bodies(self) -> bool:
        """Whether the loads depend on the position or heading of the bodies."""
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
        """Time up to which loads are available [s]."""
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
    """Window of an endless run: a time in it [s], and the number of grid points."""

    time: float
    points: int


LONG = 2**16  # points of a grid: longer ones take less memory than to the next power of two


def grid_points(duration: float, step: float) -> int:
    """Points of a grid for a run, of few different numbers: runs share compiled programs."""
    power = 2 ** int(np.ceil(np.log2(duration / step + 4)))
    return power if power <= LONG else LONG // 2 * int(np.ceil((duration / step + 4) / (LONG // 2)))


MARGIN = 8  # one of so many points of a window lies before its time, another at its end


def grid_begin(window: Window, step: float) -> float:
    """Time of the first point in a window, of the grid that begins at zero [s]."""
    return step * max(np.floor(window.time / step) - window.points // MARGIN, 0.0)


def good_until(loads: WaveLoads | TurningLoads) -> float:
    """Time up to which gridded loads are available [s]."""
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
