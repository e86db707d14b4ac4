r"""Second-order loads of bodies whose frame follows their mean yaw.

The forces, in the axes of the frame, are computed before the run at several mean yaws,
:math:`F_k(t)` with the waves at :math:`\beta - \psi_k`, and follow between them the curve of
`headings`,

.. math:: F(t, \psi) = \sum_k h_k(\psi)\, F_k(t) .

The yaws are as far apart as the headings of the data, so that this is no coarser than they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swelltree.effects.linear_hydro.data import WaveForce, good_until, on_grid
from swelltree.effects.linear_hydro.headings import TURN, Headings, basis, headings_of, within
from swelltree.engine.arrays import Array, namespace, pytree
from swelltree.system.errors import SwelltreeError

LARGEST = 1.5e8  # numbers in a record: 1.2 GB


@pytree()
class TurningLoads(WaveForce):
    """Forces on a uniform time grid at several mean yaws, with their rates."""

    step: Array  # s
    yaws: Headings  # (p,)
    force: Array  # (T, p, 6N) in the axes of the frame
    rate: Array  # (T, p, 6N)
    begin: Array = 0.0  # time of the first row [s]

    @property
    def good_until(self) -> float:
        """Time up to which steps may go [s]."""
        return good_until(self)

    def acting(self, t: Array, place: Array, psi: Array) -> Array:
        now = on_grid(t - self.begin, self.step, self.force, self.rate)
        now = now.reshape(now.shape[0], -1, 6)
        # a turn counts as none; beyond the data the last yaw of them holds
        shape = basis(self.yaws, within(self.yaws, psi))  # (N, k)
        weight = shape @ namespace(t, psi).asarray(self.yaws.to_curve)  # (N, p)
        return (weight.T[:, :, None] * now).sum(0)

    def scaled(self, fraction: Array) -> TurningLoads:
        return replace(self, force=fraction * self.force, rate=fraction * self.rate)


def yaw_nodes(direction: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Mean yaws at which the data hold all relative headings [rad]."""
    direction = np.asarray(direction, dtype=float)
    if len(direction) == 1:
        return np.zeros(1)
    headings = headings_of(direction)
    first, reach = float(headings.first), float(headings.covered)
    gap = float(np.median(np.diff(headings.nodes)))
    if reach >= TURN:
        return np.linspace(0.0, TURN, round(TURN / gap), endpoint=False)
    relative = (beta - first + 1e-9) % TURN - 1e-9
    low, high = relative.max() - reach, relative.min()
    if high < low - 1e-9:
        raise SwelltreeError(
            f"the headings of the sea reach over {np.degrees(np.ptp(relative)):.3g} degrees, the "
            f"drift data only over {np.degrees(reach):.3g}. Compute data for more headings."
        )
    count = max(2, int(np.ceil((high - low) / gap - 1e-9)) + 1)
    return np.linspace(low, high, count) if high > low + 1e-9 else np.array([low])


def check_size(numbers: int) -> None:
    """Reject records that would not fit into memory."""
    if numbers > LARGEST:
        raise SwelltreeError(
            f"the drift force at all yaws would take {16e-9 * numbers:.2g} GB. Use drift='newman', "
            "a shorter run, or data with fewer headings."
        )
