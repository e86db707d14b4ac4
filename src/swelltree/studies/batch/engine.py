"""Engines that run batches, and the question which of them can run one.

An engine takes models that are ready to step, all of one layout, and gives their channels. The
first in `ENGINES` that does not refuse a batch runs it; the reasons of those before it are told in
the result.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from swelltree.formulations import Formulation
from swelltree.model.model import Model
from swelltree.studies.batch.cases import BatchCase


@dataclass(frozen=True)
class Plan:
    """How all cases of a batch are run.

    Args:
        model: from `compile`, in still water.
        times: of the samples [s].
        step: of time stepping [s]; None where the scheme chooses its own.
        channels: names of results that are wanted.
        formulation: of the equations.
        solver: "rk4", or one of those of dynamic lines.
        start: as in `simulate`.
        lanes: cases that run side by side.
    """

    model: Model
    times: np.ndarray
    step: float | None
    channels: tuple[str, ...]
    formulation: Formulation
    solver: str = "rk4"
    start: str | None = None
    lanes: int = 32


class Outcome(NamedTuple):
    """What became of one case."""

    channels: dict[str, np.ndarray] | None  # time first; None where there is no result
    message: str  # empty where all went well


class Engine(ABC):
    """A way to run the cases of a batch."""

    name: str

    @abstractmethod
    def refusal(self, plan: Plan) -> str:
        """Why it cannot run such a batch; empty if it can."""

    @abstractmethod
    def shapes(self, plan: Plan) -> dict[str, tuple[int, ...]]:
        """Shape at one time of the channels of a plan by name; of all where it names none."""

    @abstractmethod
    def run(self, plan: Plan, cases: list[BatchCase], first: int = 0) -> list[Outcome]:
        """What becomes of each case.

        Args:
            plan: how they are run.
            cases: at most as many as there are lanes.
            first: lane of the first of them.
        """
