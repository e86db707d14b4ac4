"""Dynamic lines, the junctions they meet at, and points that may touch the seabed: one effect.

Positions of nodes and junctions, tensions of segments and forces of the seabed are unknowns beside
those of the bodies: the two-step scheme solves for them (`swelltree.two_step`). Elsewhere the
lines count as static catenaries.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from swelltree.effects.lines.channels import LINE_DIMS
from swelltree.effects.lines.dynamic.arrays import LineArrays
from swelltree.effects.lines.dynamic.numbers import even_numbers, line_number, with_line_number
from swelltree.effects.lines.seabed import Bed
from swelltree.engine.arrays import Array, Tree, namespace, pytree
from swelltree.model.effect import Coordinate, Effect, Loads, Now, Place
from swelltree.model.layout import Layout
from swelltree.model.model import Model

if TYPE_CHECKING:
    from swelltree.effects.lines.dynamic.static_lines import StaticLines
    from swelltree.effects.lines.winches import Winches


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
    "pieces",
    "lines",
    "end_body",
    "end_junction",
    "junctions",
    "contact_body",
    "contact_junction",
    "touches",
)
class DynamicLines(Effect):
    """Dynamic lines, the junctions they meet at, and points that may touch the seabed.

    A line has two points, its ends A and B; lines that bend have two more, beyond the ends.
    """

    kind: ClassVar[str] = "dynamic_lines"
    word: ClassVar[str] = "dynamic lines or contacts"  # pyright: ignore[reportIncompatibleMethodOverride]
    prefix: ClassVar[str] = ""  # pyright: ignore[reportIncompatibleMethodOverride]
    has_unknowns: ClassVar[bool] = True
    begins_at_rest: ClassVar[bool] = True
    dims: ClassVar[dict[str, tuple[str, ...]]] = LINE_DIMS
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
    winches: Tree = None  # effects.lines.winches.Winches, or None
    breaking_load: Array = None  # (line, segment) N, infinite where none is given; None: nowhere
    shape: Array = None  # (line, node, 3) in equilibrium between the described ends, m
    tension: Array = None  # (line, segment) in equilibrium, N
    static: StaticLines | None = (
        None  # the same lines as static_lines.StaticLines, for smooth studies
    )

    @property
    def nodes(self) -> LineArrays:
        """Arrays of the lines, where there are lines and not contacts alone."""
        if self.arrays is None:
            raise TypeError("there are contacts alone, and no dynamic lines")
        return self.arrays

    @property
    def ground(self) -> Bed:
        """The seabed, where something may touch it."""
        if self.bed is None:
            raise TypeError("there is no seabed, and nothing that may touch it")
        return self.bed

    @property
    def n_points(self) -> int:
        """Points of a line that hang on something."""
        return 0 if self.arrays is None else self.arrays.n_ends

    @property
    def n_contacts(self) -> int:
        """Points that may touch the seabed, nodes of lines apart."""
        return len(self.contact_body)

    @property
    def feels_current(self) -> bool:  # pyright: ignore
        """Does a current act on it?"""
        return self.arrays is not None

    @property
    def uses_sea(self) -> bool:  # pyright: ignore
        """Does it ask for the motion of the water? Contacts alone do not."""
        return self.arrays is not None

    @property
    def solved_terms(self) -> tuple[str, ...]:
        """One term for each piece, and one for the seabed under bodies."""
        return (*(f"line {name}" for name in self.pieces), *(("seabed contact",) * self.touches))

    @property
    def size_of_sample(self) -> int:
        return 0 if self.arrays is None else 10 * len(self.pieces) * self.arrays.n

    def loads(self, model: Model, now: Now) -> Loads:
        """Forces on bodies as they were solved for; none where they are unknowns still."""
        if now.solved is not None:
            return now.solved
        return Loads(namespace(now.motion.v).zeros_like(now.motion.v), power=np.zeros(0))

    def in_still_water(self) -> DynamicLines:
        """The same lines, never caught and never released."""
        never = np.full(self.tie_end.shape, np.inf)
        return replace(self, tie_begin=never, tie_end=never, tie_tension=never)

    def smooth(self) -> tuple[Effect | None, str]:
        """The lines as static catenaries."""
        return self.static, STATIC_LINES

    def with_winches(self, winches: Winches) -> DynamicLines:
        return replace(self, winches=winches)

    def numbers(self) -> dict[str, list[Place]]:
        return {name: [] for name in self.lines}

    def spread_numbers(self, item: str) -> list[str]:
        return even_numbers(self, item)

    def spread_number(self, item: str, name: str) -> Array:
        return line_number(self, item, name)

    def with_spread_number(self, model: Model, item: str, name: str, value: Array) -> DynamicLines:
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
            result["winch"] = ("winch", self.winches.names, "winch")
            result["winch_line"] = ("winch", self.winches.lines, "line of the winch")
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
