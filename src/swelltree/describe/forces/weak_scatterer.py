"""Bodies in a tank of water that is computed in time: weak-scatterer hydrodynamics."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.bodies.body import Point
from swelltree.describe.forces.elements import Force
from swelltree.describe.spec import Description, description
from swelltree.describe.values import (
    Converted,
    Count,
    Flag,
    Name,
    Names,
    Number,
    as_numbers,
    one_of,
)

if TYPE_CHECKING:
    from swelltree.describe.system import System

MODES = ("linear", "body_exact", "weak_scatterer")
GEOMETRIES = ("mid", "full", "start")
MIN_ACCURACY, MAX_ACCURACY = 0.002, 0.2


def _as_place(value: object) -> tuple[float, ...] | None:
    if value is None:
        return None
    numbers = as_numbers(value)
    if len(numbers) != 2:
        raise ValueError(f"{list(numbers)} has {len(numbers)} numbers. Give two: x, y.")
    return numbers


Place = Annotated[
    Converted[tuple[float, ...] | None],
    BeforeValidator(_as_place),
    WithJsonSchema(
        {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
    ),
]


@description
class WeakScatterer(Force):
    """Water around some bodies, computed in time by boundary elements instead of from data.

    The incident wave is known, the waves that the bodies make are computed on a round tank around
    them: on the free surface of the incident wave and on the bodies where they are. So bodies may
    move far and waves may be steep, as long as the bodies disturb them little. Runs take fixed
    steps (solver="rk4").

    Args:
        name: unique in the system.
        radius: of the tank, at least 1.5 wavelengths [m].
        spacing: of the free surface over the bodies [m].
        bodies: with hulls, wholly under water or one that floats on the surface; all bodies with a
            hull if not given. Others may have hydro data or none.
        far_spacing: at the rim [m]; a tenth of the radius if not given.
        fine: radius of the part with the spacing over the bodies [m].
        panel_size: side of the triangles of hulls [m]; if not given such that each hull has some
            200 panels under water and none is larger than the spacing (with crossing: the spacing).
        accuracy: asked relative error of added mass, damping and excitation, such as 0.02, in the
            place of panel_size. The result of a run has the error estimated with a finer mesh at
            the main frequency of the sea, `weak_scatterer_estimated_error`, and a larger one than
            asked is warned of.
        depth: of the tank [m]; that of the water if not given, and its radius in deep water.
        levels: steps of its wall from the surface to the bottom.
        center: x and y of its middle [m]; that of the bodies if not given.
        beach: damping at the rim [1/s]; what takes 99.97 % of the waves if not given.
        beach_from: radius from which the beach damps [m]; a tenth of the tank's if not given.
        mode: "weak_scatterer"; "body_exact": mean free surface, bodies where they are; "linear":
            both in their mean places.
        geometry: where the matrices of a step are made: "mid" (its middle), "full" (at every
            stage), "start".
        symmetric: only the half y >= 0 is computed; waves along x, bodies that move in the plane.
        crossing: bodies that may cross the surface: dry above it, cut by it, or under it. The water
            is remeshed when they do, and where a mesh around a waterline is worn. One that hits the
            water has slamming and added mass by depth, and no flow, until it is slow or well under.
        step: time step [s]; a thirtieth of the period of the waves if not given. A shorter step of
            `simulate`, such as stiff cables need, is taken within this one: the matrices stay.
    """

    type: ClassVar[str] = "weak_scatterer"
    name: Name
    radius: Number
    spacing: Number
    bodies: Names = ()
    far_spacing: Number | None = None
    fine: Number = 0.0
    panel_size: Number | None = None
    accuracy: Number | None = None
    depth: Number | None = None
    levels: Count = 5
    center: Place = None
    beach: Number | None = None
    beach_from: Number | None = None
    mode: Annotated[str, *one_of(MODES, "mode")] = "weak_scatterer"
    geometry: Annotated[str, *one_of(GEOMETRIES, "geometry")] = "mid"
    symmetric: Flag = False
    crossing: Names = ()
    step: Number | None = None

    def __post_init__(self) -> None:
        for field in ("radius", "spacing", "far_spacing", "panel_size", "depth", "step"):
            value = getattr(self, field)
            if value is not None and not value > 0:
                unit = "s" if field == "step" else "m"
                raise self.fail(f"{field} {value:g} {unit} is not positive. Give more than zero.")
        for field, unit in (("beach", "1/s"), ("beach_from", "m"), ("fine", "m")):
            value = getattr(self, field)
            if value is not None and value < 0:
                raise self.fail(f"{field} {value:g} {unit} is negative. Give zero or more.")
        if self.beach_from is not None and self.beach_from >= self.radius:
            raise self.fail(
                f"beach_from {self.beach_from:g} m is not inside the tank of radius "
                f"{self.radius:g} m. Give less."
            )
        far = 0.1 * self.radius if self.far_spacing is None else self.far_spacing
        if self.spacing > self.radius or (self.far_spacing is not None and self.spacing > far):
            raise self.fail(
                f"spacing {self.spacing:g} m over the bodies is larger than that at the rim "
                f"({far:g} m) or the radius ({self.radius:g} m). Give less."
            )
        if self.accuracy is not None:
            if not MIN_ACCURACY <= self.accuracy <= MAX_ACCURACY:
                raise self.fail(
                    f"accuracy {self.accuracy:g} is not a relative error between {MIN_ACCURACY:g} "
                    f"and {MAX_ACCURACY:g}. Give 0.02 for 2 %."
                )
            if self.panel_size is not None or self.crossing:
                other = "crossing" if self.panel_size is None else "panel_size"
                raise self.fail(
                    f"accuracy chooses the panels of hulls, and {other} does too. Give one of both."
                )
        if self.levels < 1:
            raise self.fail("levels 0 leaves the tank without a wall. Give one or more.")
        if self.crossing and self.mode == "linear":
            raise self.fail(
                "mode 'linear' keeps bodies at their mean positions, so none crosses the "
                "surface. Leave crossing out, or use mode='weak_scatterer'."
            )
        if len(set(self.bodies)) < len(self.bodies):
            raise self.fail("names a body twice. Name each once.")

    @property
    def points(self) -> dict[str, Point]:
        names = {"bodies": self.bodies, "crossing": self.crossing}
        return {f"{k}[{i}]": Point(name) for k, row in names.items() for i, name in enumerate(row)}


SCATTERER_TYPES: dict[str, type[Description]] = {WeakScatterer.type: WeakScatterer}


# --- Of a system: which bodies it has, and whether something else carries them too


def described_scatterer(system: "System") -> WeakScatterer | None:
    """The described weak scatterer, or None."""
    described = [force for force in system.forces if isinstance(force, WeakScatterer)]
    if len(described) > 1:
        raise described[1].fail(
            f"'{described[0].name}' is a weak scatterer too. Put the bodies of both into one tank."
        )
    return described[0] if described else None


def described_bodies(system: "System") -> tuple[str, ...]:
    """Names of its bodies, which have a hull and no other buoyancy."""
    water = described_scatterer(system)
    if water is None:
        return ()
    names = water.bodies or tuple(body.name for body in system.bodies if body.hull is not None)
    if not names:
        raise water.fail("no body has a hull. Give one to a body.")
    for name in names:
        body = system.body(name)
        if body.hull is None:
            raise water.fail(f"body '{name}' has no hull. Give it one, or leave it out of bodies.")
        if body.added_mass:
            raise water.fail(
                f"body '{name}' has added_mass, which the flow solution computes. Leave it out."
            )
        for force in system.forces:
            if force.carries == name:
                raise water.fail(
                    f"body '{name}' has the immersion '{force.name}' too, which would count its "
                    "buoyancy twice. Leave one of them out."
                )
    return tuple(names)


def refuse_carried_twice(system: "System", others: dict[str, Iterable[str]]) -> None:
    """Reject bodies that get their water from elsewhere as well.

    Args:
        system: described.
        others: {what it is: names of bodies}.
    """
    names = described_bodies(system)
    for what, known in others.items():
        for name in set(known) & set(names):
            water = described_scatterer(system)
            assert water is not None
            raise water.fail(f"body '{name}' has {what} too. Give it to one of them.")
