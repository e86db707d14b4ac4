"""Ends of dynamic lines that are let go, and ends B that are caught, while a run goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from swelltree.effects.lines.network import End, Knot, Network, Piece
from swelltree.model.build_layout import local_point
from swelltree.model.layout import Layout
from swelltree.system import System
from swelltree.system.lines.schedules import Coupling, couplings

WAITS = 2.0  # an end that waits to be caught


@dataclass(frozen=True, eq=False)
class Tie:
    """What holds the end of a line for a while.

    Args:
        piece: of the line that ends there.
        junction: at the end.
        end: body point or fixed point it is tied to.
        begin: when it is caught, None where it is held from the start [s].
        stop: when it is let go [s].
        tension: at which it is let go [N].
        reach: largest distance from which it is caught [m].
        at_A: is it end A of the line?
    """

    piece: int
    junction: int
    end: End
    begin: float | None = None
    stop: float = np.inf
    tension: float = np.inf
    reach: float = np.inf
    at_A: bool = False


def with_ties(
    system: System, layout: Layout, network: Network
) -> tuple[Network, tuple[Tie, ...], int]:
    """Ends that can be let go become junctions of their own, tied to where they were.

    Returns the network, all ties, and how many junctions came in for them.
    """
    pieces, knots = list(network.pieces), list(network.junctions)
    switches = couplings(system.operations)
    ties: list[Tie] = []
    for k, piece in enumerate(network.pieces):
        line, at_A = piece.line, piece.line.release_end == "A"
        if not (piece.is_first if at_A else piece.is_last):
            continue
        of_line = [switch for switch in switches if switch.line == line.name]
        caught = [switch for switch in of_line if switch.to is not None]
        stops = [switch.time for switch in of_line if switch.to is None]
        if line.release_time is not None:
            stops.append(line.release_time)
        if caught:
            ties += [_caught(system, layout, k, piece, switch, stops) for switch in caught]
            continue
        if not stops and line.release_tension is None:
            continue
        end, clamp = (piece.A, line.clamp_A) if at_A else (piece.B, line.clamp_B)
        if end.kind == "junction" or clamp is not None:
            raise line.fail(
                "it can be released from a body or fixed point to which it is pinned. "
                f"Change end {line.release_end} or leave the release out."
            )
        tension = np.inf if line.release_tension is None else line.release_tension
        stop = min(stops, default=np.inf)
        ties.append(Tie(k, len(knots), end, None, stop, tension, at_A=at_A))
        pieces[k] = replace(piece, **{line.release_end: End("junction", len(knots), np.zeros(3))})
        knots.append(Knot(f"{line.name} end {line.release_end}", np.zeros(3)))
    more = len(knots) - len(network.junctions)
    return Network(tuple(pieces), tuple(knots)), tuple(ties), more


def _caught(
    system: System,
    layout: Layout,
    k: int,
    piece: Piece,
    switch: Coupling,
    stops: Sequence[float],
) -> Tie:
    """The end of a line on a junction, caught by a body point."""
    assert switch.to is not None
    body = layout.bodies.index(switch.to.body)
    end = End("body", body, local_point(system, switch.to))
    stop = min((t for t in stops if t > switch.time), default=np.inf)
    tension = piece.line.release_tension
    tension = np.inf if tension is None else tension
    return Tie(k, piece.B.index, end, switch.time, stop, tension, switch.reach)
