"""Static shapes of lines and networks, to begin dynamic runs with and to draw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swelltree.describe import System
from swelltree.mooring.catenary.build import Laid, lay
from swelltree.mooring.catenary.catenary_ends import Ends, ends, rows_of
from swelltree.mooring.catenary.catenary_stiffness import inside
from swelltree.mooring.catenary.junctions import joined, rest_of_junctions
from swelltree.mooring.catenary.lines import points_along
from swelltree.mooring.network import Network, Piece


@dataclass(frozen=True, eq=False)
class StaticShape:
    """A piece of line in equilibrium.

    Args:
        position: nodes from A to B (n + 1, 3) [m].
        tension: of the segments between them (n,) [N].
        force_A: of the line on what holds A (3,) [N].
        force_B: of the line on what holds B (3,) [N].
    """

    position: np.ndarray
    tension: np.ndarray
    force_A: np.ndarray
    force_B: np.ndarray


@dataclass(frozen=True, eq=False)
class StaticNetwork:
    """Network in equilibrium: junctions (j, 3) [m] and one shape per piece."""

    junctions: np.ndarray
    shapes: tuple[StaticShape, ...]


def node_distances(piece: Piece) -> np.ndarray:
    """Unstretched distance of the nodes of a piece from A (n + 1,) [m]."""
    parts = [np.full(part.segments, part.length / part.segments) for part in piece.parts]
    return np.concatenate([[0.0], np.cumsum(np.concatenate(parts))])


def static_network(system: System, network: Network, a: np.ndarray, b: np.ndarray) -> StaticNetwork:
    """Lines in equilibrium between given points, as catenaries sampled at their nodes.

    Slack lines lie in a heap that is spread evenly. Currents, waves and bending stiffness are left
    out.

    Args:
        system: the description.
        network: from `line_network`, of any model.
        a: ends A of the pieces in the world (e, 3) [m]; rows of ends on junctions are not used.
        b: ends B (e, 3) [m].
    """
    laid = lay(system, network)
    result, low, high, y = _solved(laid, a, b)
    shapes = [
        _shape(laid, result, low, high, k, node_distances(piece))
        for k, piece in enumerate(network.pieces)
    ]
    return StaticNetwork(y, tuple(shapes))


def static_shape(system: System, piece: Piece, a: np.ndarray, b: np.ndarray) -> StaticShape:
    """One piece in equilibrium between two points in the world (3,) [m]; see `static_network`."""
    alone = Network((piece,), ())
    ends_at = (np.asarray(x, dtype=float).reshape(1, 3) for x in (a, b))
    return static_network(system, alone, *ends_at).shapes[0]


def _solved(
    laid: Laid, a: np.ndarray, b: np.ndarray
) -> tuple[Ends, np.ndarray, np.ndarray, np.ndarray]:
    """Ends of the pieces, their lower and upper points, and the junctions."""
    turned = np.array(laid.turned)[:, None]
    low, high = np.where(turned, b, a), np.where(turned, a, b)
    y = rest_of_junctions(laid.junctions, laid.pieces, low, high)
    low, high = joined(laid.junctions, y, low, high)
    return ends(laid.pieces, low, high), low, high, y


def _shape(
    laid: Laid, result: Ends, low: np.ndarray, high: np.ndarray, k: int, distances: np.ndarray
) -> StaticShape:
    turned, pieces = laid.turned[k], laid.pieces
    lying = inside(pieces, result, low, high).lying

    def points_at(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        row = np.full(len(s), k)
        there, sections = rows_of(result, row), rows_of(pieces.sections, row)
        anchored = np.array(pieces.anchored)[row]
        upwards = distances[-1] - s if turned else s
        return points_along(
            sections, pieces.bed, there, lying[row], anchored, low[row], high[row], upwards
        )

    position = points_at(distances)[0]
    tension = points_at(0.5 * (distances[1:] + distances[:-1]))[1]
    pull = (result.force_A[k], result.force_B[k])
    return StaticShape(position, tension, *(pull[::-1] if turned else pull))
