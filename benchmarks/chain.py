"""The chain that every engine computes: boxes hinged about y, the first one floating free.

No gravity and no forces, so the kinetic energy of the start must be kept. The plain numbers live
here so that no engine can have a different problem.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Chain:
    """N equal boxes of `length` m; hinges at the faces, all of them turning at the start."""

    n_bodies: int
    length: float = 2.0
    width: float = 1.0
    height: float = 0.5
    mass: float = 1000.0
    hinge_rate: float = 0.3  # initial rate of every hinge, alternating sign [rad/s]

    @property
    def inertia(self) -> tuple[float, float, float]:
        """Principal inertia of a homogeneous box about its centre [kg m^2]."""
        a, b, c, m = self.length, self.width, self.height, self.mass
        return (m * (b * b + c * c) / 12, m * (a * a + c * c) / 12, m * (a * a + b * b) / 12)

    @property
    def hinge_rates(self) -> list[float]:
        """Initial rate of hinge 1, 2, ... [rad/s]."""
        return [self.hinge_rate * (-1) ** i for i in range(self.n_bodies - 1)]

    @property
    def kinetic_energy(self) -> float:
        """Energy at the start, by hand: every engine must report this number [J].

        The chain is straight, the root at rest, so body i turns with the sum of the rates before it
        and its centre moves vertically only.
        """
        half, w, vz, energy = self.length / 2, 0.0, 0.0, 0.0
        for rate in [0.0, *self.hinge_rates]:
            # from the centre of the last body to the hinge, then on to the next centre
            vz -= half * w
            w += rate
            vz -= half * w
            energy += 0.5 * self.mass * vz * vz + 0.5 * self.inertia[1] * w * w
        return energy


def best_of(call: Callable[[], object], repeats: int = 5) -> float:
    """Shortest wall time of a call [s]: the machine's noise only ever adds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def report(**values: Any) -> None:
    """Print one result as a line of JSON; `run.py` collects the lines."""
    print(json.dumps({"python": platform.python_version(), **values}))
