"""What a linear system lets one move and see: ranks, Hankel singular values, names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed
from swelltree.hydro.radiation.reduction import balance
from swelltree.integrate.linear_reduction import (
    comparable,
    reached,
    scaled_channels,
    split_unrestrained,
)

if TYPE_CHECKING:
    from control import StateSpace


PART = 1e-4  # of a scaled state: what counts as a part in a direction


@dataclass(frozen=True)
class ControlReport:
    """Controllability and observability of a linear system.

    Args:
        order: number of states.
        controllable: how many independent combinations of states the inputs can move.
        observable: how many the outputs show.
        minimal: how many are both.
        unmoved: names of states that no input moves, or only together with others.
        aliased: names of states that no output shows.
        unrestrained: eigenvalues of the modes that do not decay [rad/s].
        hankel: Hankel singular values of the decaying part, inputs and outputs scaled to a
            largest response of one.
    """

    order: int
    controllable: int
    observable: int
    minimal: int
    unmoved: tuple[str, ...]
    aliased: tuple[str, ...]
    unrestrained: np.ndarray
    hankel: np.ndarray

    @property
    def sentences(self) -> tuple[str, ...]:
        """Messages of the report."""
        sentences = [
            f"{self.order} states: {self.controllable} can be moved by the inputs, "
            f"{self.observable} can be seen in the outputs, {self.minimal} both."
        ]
        if self.unmoved:
            sentences.append(f"No input moves {_short(self.unmoved)} by itself.")
        if self.aliased:
            sentences.append(f"No output shows {_short(self.aliased)}.")
        if self.unrestrained.size:
            sentences.append(unrestrained_sentence(self.unrestrained))
        if self.hankel.size:
            small = int((self.hankel < 1e-3 * self.hankel[0]).sum())
            sentences.append(
                f"Hankel singular values from {self.hankel[0]:.3g} to {self.hankel[-1]:.3g}; "
                f"{small} are below a thousandth of the maximum."
            )
        return tuple(sentences)

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def unrestrained_sentence(poles: np.ndarray) -> str:
    """Remark on modes that do not decay."""
    grows = int((np.real(poles) > 1e-3 * max(np.abs(poles).max(), 1e-6)).sum())
    kind = f", {grows} of which grow" if grows else ""
    verb = "does" if poles.size == 1 else "do"
    return (
        f"{poles.size} {'mode' if poles.size == 1 else 'modes'} {verb} not decay (drift){kind}: "
        "set apart before any reduction and kept exactly."
    )


def _short(names: tuple[str, ...]) -> str:
    """Names as text; radiation states are only counted."""
    water = [name for name in names if name.startswith("radiation__")]
    parts = [listed([name for name in names if name not in water])]
    if water:
        parts.append(f"{len(water)} {'states' if len(water) > 1 else 'state'} of radiation")
    return " and ".join(part for part in parts if part)


def _outside(basis: np.ndarray, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of states with a component outside a subspace."""
    missing = 1.0 - (basis**2).sum(axis=1)
    return tuple(name for name, part in zip(names, missing, strict=True) if part > PART)


def control_report(system: StateSpace) -> ControlReport:
    """Controllability and observability of a continuous `control.StateSpace`.

    Args:
        system: from `state_space`, or any other with named states.
    """
    if system.dt:
        raise SwelltreeError(
            "control_report: the system is sampled. Give the continuous one, state_space(...) "
            "without step; sampling does not change controllability and observability."
        )
    A, B, C = (np.asarray(x, dtype=float) for x in (system.A, system.B, system.C))
    return examined(A, B, C, tuple(system.state_labels))


def examined(A: np.ndarray, B: np.ndarray, C: np.ndarray, names: tuple[str, ...]) -> ControlReport:
    """Report of a system from its matrices."""
    _, (a, b, c) = comparable(A, B, C)
    moved, observed = reached(a, b), reached(a.T, c.T)
    internal = moved.T @ a @ moved
    both = reached(internal.T, (c @ moved).T, np.linalg.norm(c, axis=1)).shape[1]
    parts = split_unrestrained(A, B, C)
    fa, fb, fc = parts.decaying
    hankel = np.zeros(0)
    if fa.shape[0]:
        out, into = scaled_channels(fa, fb, fc)
        if fb.any() and fc.any():
            hankel = balance(fa, fb * into, fc * out[:, None])[0]
    return ControlReport(
        A.shape[0],
        moved.shape[1],
        observed.shape[1],
        both,
        _outside(moved, names),
        _outside(observed, names),
        parts.poles,
        hankel,
    )
