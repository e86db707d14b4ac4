"""Dynamic lines, the junctions they meet at, and points that may touch the seabed: one effect.

Positions of nodes and junctions, tensions of segments and forces of the seabed are unknowns beside
those of the bodies: the two-step scheme solves for them (`swelltree.integrate.complementarity`).
Elsewhere the lines count as static catenaries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np

from swelltree.describe import System
from swelltree.describe.errors import SwelltreeError
from swelltree.describe.mooring.operations import Coupling, couplings
from swelltree.jit import Array, Tree, namespace, pytree
from swelltree.model.capabilities import (
    FeelsEnvironment,
    HasCalmForm,
    HasConstants,
    HasDerivedParameters,
    HasUnknowns,
    HasWinches,
    ReportsFields,
    ReportsLines,
    StartsFromEquilibrium,
    having,
)
from swelltree.model.effect import Coordinate, Effect, Instant, Loads
from swelltree.model.model import Model
from swelltree.mooring.catenary.build import build_lines
from swelltree.mooring.catenary.left_out import NEGLIGIBLE, current_push
from swelltree.mooring.catenary.lines import STATIC_FIELDS, QuasiStaticLines
from swelltree.mooring.dynamic.arrays import (
    LineArrays,
    even_numbers,
    line_number,
    unstacked,
    with_line_number,
)
from swelltree.mooring.network import End, Knot, Network, Piece
from swelltree.mooring.seabed import Bed
from swelltree.mooring.winches import Winches, winch_coordinates
from swelltree.multibody.build_layout import local_point
from swelltree.multibody.layout import Layout, Place

STATIC_LINES = (
    "Dynamic lines count as static catenaries here, without their inertia and drag; contact of "
    "bodies with the seabed is left out."
)


@pytree(
    "tie_body",
    "tie_junction",
    "tie_line",
    "tie_waits",
    "tie_at_A",
    "turned",
    "pieces",
    "lines",
    "end_body",
    "end_junction",
    "junctions",
    "contact_body",
    "contact_junction",
    "touches",
)
class DynamicLines(
    HasUnknowns,
    StartsFromEquilibrium,
    FeelsEnvironment,
    HasCalmForm,
    HasWinches,
    HasDerivedParameters,
    ReportsLines,
    HasConstants,
    ReportsFields,
):
    """Dynamic lines, the junctions they meet at, and points that may touch the seabed.

    A line has two points, its ends A and B; lines that bend have two more, beyond the ends. Where
    a winch is at the described end B, that is end A here: `turned` says so, and results are turned
    back.
    """

    kind: ClassVar[str] = "dynamic_lines"
    word: ClassVar[str] = "dynamic lines or contacts"  # pyright: ignore[reportIncompatibleMethodOverride]
    prefix: ClassVar[str] = ""  # pyright: ignore[reportIncompatibleMethodOverride]
    names: ClassVar[tuple[str, ...]] = ()  # pyright: ignore[reportIncompatibleVariableOverride]

    arrays: LineArrays | None
    bed: Bed | None
    end_point: Array  # (line * points, 3) in body axes, in the world, or zero on junctions
    junction_position: Array  # (junction, 3) at first, m
    junction_mass: Array  # (junction,) kg
    junction_volume: Array  # (junction,) m^3
    junction_drag: Array  # (junction,) m^2
    junction_added: Array  # (junction,) coefficient on the volume
    contact_point: Array  # (contact, 3)
    contact_area: Array  # (contact,) m^2
    pieces: tuple[str, ...]  # their names
    lines: tuple[str, ...]  # described line of each piece
    end_body: tuple[int, ...]  # (line * points,), N: world or junction
    end_junction: tuple[int, ...]  # (line * points,), J: none
    junctions: tuple[str, ...]
    contact_body: tuple[int, ...]  # (contact,), N: a junction
    contact_junction: tuple[int, ...]  # (contact,), J: none
    touches: bool  # may bodies touch the seabed?
    tie_point: Array  # (tie, 3) in body axes, or in the world
    tie_begin: Array  # (tie,) s, when an end that waits is caught
    tie_end: Array  # (tie,) s, when it is let go
    tie_tension: Array  # (tie,) N, at which it is let go
    tie_reach: Array  # (tie,) m, from which it is caught
    tie_body: tuple[int, ...] = ()  # of ends that can be caught or released, N: world
    tie_junction: tuple[int, ...] = ()
    tie_line: tuple[int, ...] = ()
    tie_waits: tuple[float, ...] = ()  # ties.WAITS where it waits to be caught, else 0
    tie_at_A: tuple[bool, ...] = ()  # does it hold end A of its line?
    turned: tuple[bool, ...] = ()  # (line,) whether its end A is the described end B
    winches: Tree = None  # effects.lines.winches.Winches, or None
    breaking_load: Array = None  # (line, segment) N, infinite where none is given; None: nowhere
    shape: Array = None  # (line, node, 3) in equilibrium between the described ends, m
    tension: Array = None  # (line, segment) in equilibrium, N
    static: StaticLines | None = (
        None  # the same lines as static_lines.StaticLines, for smooth studies
    )

    @property
    def nodes(self) -> LineArrays:
        """Arrays of the lines, None if there are only contacts."""
        if self.arrays is None:
            raise TypeError("there are contacts alone, and no dynamic lines")
        return self.arrays

    @property
    def ground(self) -> Bed:
        """The seabed, None if nothing can touch it."""
        if self.bed is None:
            raise TypeError("there is no seabed, and nothing that may touch it")
        return self.bed

    @property
    def n_points(self) -> int:
        """Number of attachment points of a line."""
        return 0 if self.arrays is None else self.arrays.n_ends

    @property
    def n_contacts(self) -> int:
        """Number of contact points besides line nodes."""
        return len(self.contact_body)

    @property
    def feels(self) -> tuple[str, ...]:  # pyright: ignore
        return () if self.arrays is None else ("waves", "current")  # not contacts alone

    @property
    def solved_terms(self) -> tuple[str, ...]:
        """One term per piece, and one for the seabed under bodies."""
        return (*(f"line {name}" for name in self.pieces), *(("seabed contact",) * self.touches))

    @property
    def sample_size(self) -> int:
        return 0 if self.arrays is None else 10 * len(self.pieces) * self.arrays.n

    def loads(self, model: Model, now: Instant) -> Loads:
        """Solved forces on bodies; none while they are unknown."""
        if now.solved is not None:
            return now.solved
        return Loads(namespace(now.motion.v).zeros_like(now.motion.v), power=np.zeros(0))

    def in_still_water(self) -> DynamicLines:
        """The lines without coupling and release events."""
        never = np.full(self.tie_end.shape, np.inf)
        return replace(self, tie_begin=never, tie_end=never, tie_tension=never)

    def quasi_static(self) -> tuple[Effect | None, str]:
        """Static catenaries in place of the lines."""
        return self.static, STATIC_LINES

    def with_winches(self, winches: Winches) -> DynamicLines:
        return replace(self, winches=winches)

    def parameters(self) -> dict[str, list[Place]]:
        return {name: [] for name in self.lines}

    def derived_parameters(self, item: str) -> list[str]:
        return even_numbers(self, item)

    def derived_parameter(self, item: str, name: str) -> Array:
        return line_number(self, item, name)

    def with_derived_parameter(
        self, model: Model, item: str, name: str, value: Array
    ) -> DynamicLines:
        return with_line_number(self, model, item, name, value)

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        result: dict[str, Coordinate] = {
            "junction": ("junction", self.junctions, "free junction of lines")
        }
        if self.n_contacts:
            bodies = (*layout.bodies, "junction")
            points = [f"{bodies[b]} {k}" for k, b in enumerate(self.contact_body)]
            result["contact"] = ("contact", tuple(points), "point that may touch the seabed")
        if self.winches is not None:
            result |= winch_coordinates(self.winches)
        if self.arrays is not None:
            result["line"] = ("line", self.pieces, "line")
        return result

    @property
    def row_sizes(self) -> dict[str, int]:
        n = 0 if self.arrays is None else self.arrays.n
        return {"line_node": n + 1, "line_segment": n}

    def constants(self) -> dict[str, Array]:
        # with winches both change in time and are channels
        if self.arrays is None or self.winches is not None:
            return {}
        return {
            "line_segments": self.arrays.n - np.asarray(self.arrays.first),
            "line_length": np.asarray(self.arrays.rest_length),
        }


def lines_of(model: Model) -> DynamicLines | None:
    """Dynamic lines and contacts of a model, None without any."""
    return model.effect(DynamicLines)


def required_lines(model: Model) -> DynamicLines:
    """Dynamic lines of a model that must have them."""
    lines = lines_of(model)
    if lines is None:
        raise TypeError("the model has no dynamic lines and no contacts")
    return lines


# --- Dynamic lines as static catenaries, which every smooth study can take


@pytree(*STATIC_FIELDS)
class StaticLines(QuasiStaticLines):
    """Quasi-static replacement of dynamic lines among the effects."""

    kind: ClassVar[str] = DynamicLines.kind


def static_lines(system: System, layout: Layout) -> StaticLines | None:
    """The dynamic lines of a system as catenaries, None if there are none.

    Releases are left out, and a seabed grid has its depth at the origin.
    """
    built = build_lines(system, layout, "dynamic")
    if built is None:
        return None
    return StaticLines(**{field.name: getattr(built, field.name) for field in fields(built)})


def with_static_lines(model: Model, study: str | None = None) -> Model:
    """The model with what stands for effects that have unknowns of their own.

    Args:
        model: compiled.
        study: that is refused where a current pushes lines, whose catenaries leave this out; None
            where it does not matter.
    """
    if study is not None:
        _check_no_current(model, study)
    for effect in having(model, HasUnknowns):
        stand_in, note = effect.quasi_static()
        stored = tuple(stand_in if other is effect else other for other in model.effects)
        stored = tuple(other for other in stored if other is not None)
        model = model.replace(effects=stored).noted(note)
    return model


def _check_no_current(model: Model, study: str) -> None:
    """Reject dynamic lines in a current."""
    lines, current = lines_of(model), model.sea.current
    if lines is None or lines.arrays is None or current is None:
        return
    rho, g = float(model.rho), -float(np.asarray(model.gravity)[2])
    for name, line, r in zip(lines.pieces, unstacked(lines.arrays), lines.shape, strict=True):
        L = np.where(np.arange(line.n) >= line.first, line.rest_length, 0.0)
        area = 0.25 * np.pi * line.diameter**2
        of = float(L @ np.abs(line.mass_per_length - rho * area)) * g
        push = current_push(current, np.asarray(r), rho, L, line.diameter, line.Cdn)
        if push > NEGLIGIBLE * of:
            raise SwelltreeError(
                f"{study}: the current pushes line '{name}' by {push:.3g} N, {push / of:.1%} of "
                f"its weight in water, which the catenaries that {study} takes for dynamic lines "
                "leave out. Use equilibrium() and simulate(), or compile the system with "
                "current=None."
            )


# --- Ends of dynamic lines that are let go, and ends B that are caught, while a run goes on

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
        reach: max distance at which it is coupled [m].
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
    """Line end on a junction, coupled to a body point."""
    assert switch.to is not None
    body = layout.bodies.index(switch.to.body)
    end = End("body", body, local_point(system, switch.to))
    stop = min((t for t in stops if t > switch.time), default=np.inf)
    tension = piece.line.release_tension
    tension = np.inf if tension is None else tension
    return Tie(k, piece.B.index, end, switch.time, stop, tension, switch.reach)
