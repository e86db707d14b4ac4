"""Shapes of hulls.

A hull has its own frame: its axes are those of the body, and its origin lies on the still water
straight above or below the origin of the body as described. So a shape with a `draft` floats at
that draft wherever the body's own origin is. `offset` moves a shape from that place, which also
makes it possible to put it under water. `panel_size` is the size of the panels of a BEM run; if
not given, one is chosen.
"""

import itertools
from collections.abc import Iterable
from dataclasses import field
from typing import Annotated, ClassVar, Literal, Protocol, runtime_checkable

from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.errors import listed, shown, suggest
from swelltree.describe.spec import Description, description, within
from swelltree.describe.values import (
    Converted,
    NamedValues,
    Number,
    Vector,
    as_numbers,
    as_text,
    row_of,
)

ORIGIN = (0.0, 0.0, 0.0)


def _one_of(*known: str) -> BeforeValidator:
    def read(value: object) -> object:
        if not isinstance(value, str) or value not in known:
            raise ValueError(f"{shown(value)} does not exist. Give one of {listed(known)}.")
        return value

    return BeforeValidator(read)


def _as_profile(value: object) -> tuple[tuple[float, ...], ...]:
    rows = row_of(value)
    if rows is None or len(rows) < 2:
        raise ValueError(f"{shown(value)} is not a profile. Give rows of (radius, z).")
    profile = tuple(as_numbers(row) for row in rows)
    if any(len(row) != 2 for row in profile):
        raise ValueError("has a row that is not (radius, z). Give two numbers in each row.")
    return profile


Side = Annotated[Literal["x", "y"], _one_of("x", "y")]
Profile = Annotated[tuple[tuple[float, float], ...], BeforeValidator(_as_profile)]


class Hull(Description):
    """Base of the hull shapes.

    Args:
        offset: shift of the hull from its place at the still water level [m].
        panel_size: edge of the panels for `run_bem` and wetted hulls [m]; about 400 panels if not
            given.
    """

    kind: ClassVar[str] = "hull"
    shape: ClassVar[str] = ""
    offset: Vector
    panel_size: Converted[float]

    @property
    def label(self) -> str:
        """Name in messages: hull 'box'."""
        return f"hull '{self.shape}'"

    def table(self) -> NamedValues:
        """This hull as a TOML table, its shape first."""
        return {"shape": self.shape, **super().table()}

    def check(self, height: float, draft: float, **sizes: float) -> None:
        """Sizes are positive and the draft is within the height."""
        self.check_sizes(**sizes, height=height, draft=draft)
        if draft > height:
            raise self.fail(
                f"draft {draft} m is more than the height {height} m. Give a draft within the "
                "hull; a hull under water is put there by its offset."
            )

    def check_sizes(self, **sizes: float) -> None:
        if self.panel_size is not None:
            sizes["panel_size"] = self.panel_size
        for name, size in sizes.items():
            if not size > 0:
                raise self.fail(f"{name} {size} m is not positive. Give a size in metres.")

    @property
    def parts(self) -> tuple["Hull", ...]:
        """Basic shapes of a union; otherwise the hull itself."""
        return (self,)


@description
class Box(Hull):
    """A box.

    Args:
        length: along x [m].
        width: along y [m].
        height: along z [m].
        draft: from the still water level down to the bottom [m].
    """

    shape: ClassVar[str] = "box"
    length: Number
    width: Number
    height: Number
    draft: Number
    offset: Vector = field(default=ORIGIN, kw_only=True)
    panel_size: Number | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self.check(self.height, self.draft, length=self.length, width=self.width)


@description
class Cylinder(Hull):
    """An upright circular cylinder.

    Args:
        radius: [m].
        draft: from the still water level down to the bottom [m].
        height: from bottom to top [m].
    """

    shape: ClassVar[str] = "cylinder"
    radius: Number
    draft: Number
    height: Number
    offset: Vector = field(default=ORIGIN, kw_only=True)
    panel_size: Number | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self.check(self.height, self.draft, radius=self.radius)


@description
class HorizontalCylinder(Hull):
    """A circular cylinder with a horizontal axis.

    Args:
        radius: [m].
        length: along its axis [m].
        draft: from the still water level down to the lowest point [m]; the radius if not given.
        axis: "x" or "y".
    """

    shape: ClassVar[str] = "horizontal_cylinder"
    radius: Number
    length: Number
    draft: Number | None = None
    axis: Side = "y"
    offset: Vector = field(default=ORIGIN, kw_only=True)
    panel_size: Number | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        draft = self.radius if self.draft is None else self.draft
        self.check(2 * self.radius, draft, radius=self.radius, length=self.length)


@description
class Sphere(Hull):
    """A sphere.

    Args:
        radius: [m].
        draft: from the still water level down to the lowest point [m]; the radius if not given.
    """

    shape: ClassVar[str] = "sphere"
    radius: Number
    draft: Number | None = None
    offset: Vector = field(default=ORIGIN, kw_only=True)
    panel_size: Number | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        draft = self.radius if self.draft is None else self.draft
        self.check(2 * self.radius, draft, radius=self.radius)


@description
class Hemisphere(Hull):
    """A half sphere with its flat side up.

    Args:
        radius: [m].
        draft: from the still water level down to the lowest point [m]; the radius if not given,
            with the flat side at the water level.
    """

    shape: ClassVar[str] = "hemisphere"
    radius: Number
    draft: Number | None = None
    offset: Vector = field(default=ORIGIN, kw_only=True)
    panel_size: Number | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        draft = self.radius if self.draft is None else self.draft
        self.check(self.radius, draft, radius=self.radius)


@description
class Cone(Hull):
    """A cone with its tip down, or a frustum.

    Args:
        radius: at the top [m].
        height: from bottom to top [m].
        draft: from the still water level down to the bottom [m].
        bottom_radius: at the bottom [m]; zero is a tip.
    """

    shape: ClassVar[str] = "cone"
    radius: Number
    height: Number
    draft: Number
    bottom_radius: Number = 0.0
    offset: Vector = field(default=ORIGIN, kw_only=True)
    panel_size: Number | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self.check(self.height, self.draft)
        if min(self.radius, self.bottom_radius) < 0 or max(self.radius, self.bottom_radius) == 0:
            raise self.fail(
                f"radius {self.radius} m and bottom_radius {self.bottom_radius} m do not make a "
                "cone. Give one of them more than zero and none below."
            )


@description
class Axisymmetric(Hull):
    """A body of revolution about z.

    Args:
        profile: rows (radius, z) from the lowest point to the highest, joined by straight lines
            [m]; z = 0 is the waterline. Ends that are not on the axis are closed by flat discs.
        bore: radius of a hole along the axis [m]. Where another body fills it, such as the spar
            that a float slides on, no water is between them.
    """

    shape: ClassVar[str] = "axisymmetric"
    profile: Profile
    bore: Number = field(default=0.0, kw_only=True)
    offset: Vector = field(default=ORIGIN, kw_only=True)
    panel_size: Number | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self.check_sizes()
        radii, heights = zip(*self.profile, strict=True)
        if min(radii) < 0 or max(radii) == 0:
            raise self.fail(
                f"profile has the radius {min(radii)} m. Give radii of zero or more, not all zero."
            )
        if any(b < a for a, b in itertools.pairwise(heights)):
            raise self.fail("profile decreases in z. Give its rows from the lowest z upwards.")
        if not heights[-1] > heights[0]:
            raise self.fail("profile has no height. Give rows of different z.")
        if self.bore < 0 or (self.bore > 0 and self.bore >= min(radii)):
            raise self.fail(
                f"bore {self.bore} m is not between zero and the smallest radius {min(radii)} m of "
                "the profile. Give a smaller one."
            )


@description
class Plate(Hull):
    """A thin horizontal plate under water.

    Args:
        length: along x [m].
        width: along y [m].
        thickness: along z [m].
        depth: of its upper side below the still water level [m].
    """

    shape: ClassVar[str] = "plate"
    length: Number
    width: Number
    thickness: Number
    depth: Number
    offset: Vector = field(default=ORIGIN, kw_only=True)
    panel_size: Number | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self.check_sizes(
            length=self.length, width=self.width, thickness=self.thickness, depth=self.depth
        )


def _no_size(value: object) -> None:
    if value is not None:
        raise ValueError(
            f"{shown(value)} cannot be had: a mesh keeps its own panels. Leave panel_size out and "
            "give a mesh of that size, for example from Gmsh; run_bem(refine=True) shows what the "
            "size costs."
        )


NoSize = Annotated[None, BeforeValidator(_no_size)]


class PanelHull(Hull):
    """Base of the hulls that come as panels."""


@description
class MeshFile(PanelHull):
    """A hull from a mesh file: STL, WAMIT .gdf, NEMOH .dat, HAMS .pnl, Gmsh .msh and others.

    Args:
        path: of the file; in a case file, relative to it.
        scale: metres per unit of the file.
        file_format: such as "nemoh"; taken from the file extension if not given.
        panel_size: the panels are those of the file: give none.
    """

    shape: ClassVar[str] = "mesh"
    path: Annotated[str, BeforeValidator(lambda path: as_text(_path_text(path)))]
    scale: Number = 1.0
    file_format: str | None = None
    offset: Vector = field(default=ORIGIN, kw_only=True)
    panel_size: NoSize = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self.check_sizes(scale=self.scale)


def _as_points(value: object) -> tuple[tuple[float, ...], ...]:
    rows = row_of(value)
    points = tuple(as_numbers(row) for row in rows or ())
    if len(points) < 3 or any(len(point) != 3 for point in points):
        raise ValueError("is not a list of points. Give x, y, z for each of three or more.")
    return points


def _as_faces(value: object) -> tuple[tuple[int, ...], ...]:
    faces = tuple(as_numbers(row) for row in row_of(value) or ())
    if not faces or any(len(face) not in (3, 4) for face in faces):
        raise ValueError("is not a list of panels. Give three or four numbers of points for each.")
    if any(number != int(number) or number < 0 for face in faces for number in face):
        raise ValueError("holds a number that is not 0, 1, 2 ... Count points from zero.")
    return tuple(tuple(int(number) for number in face) for face in faces)


@description
class Mesh(PanelHull):
    """A hull from panels in memory.

    A mesh or a floating body of Capytaine and a mesh of meshio can be given as the hull of a body
    as they are; this is what they become.

    Args:
        vertices: points of the panels, (n, 3) [m].
        faces: three or four numbers of points for each panel, from zero, counter-clockwise seen
            from the water.
        panel_size: the panels are those given: give none.
    """

    shape: ClassVar[str] = "panels"
    vertices: Annotated[Converted[tuple[tuple[float, ...], ...]], BeforeValidator(_as_points)]
    faces: Annotated[Converted[tuple[tuple[int, ...], ...]], BeforeValidator(_as_faces)]
    offset: Vector = field(default=ORIGIN, kw_only=True)
    panel_size: NoSize = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        most = max(number for face in self.faces for number in face)
        if most >= len(self.vertices):
            raise self.fail(
                f"a panel has point {most} of {len(self.vertices)}. Count points from zero."
            )


@runtime_checkable
class Merged(Protocol):
    """Meshes that can be merged, such as Capytaine's collections."""

    def merged(self) -> object: ...


@runtime_checkable
class OfCapytaine(Protocol):
    """Interface of Capytaine's meshes."""

    vertices: object
    faces: object


class Cells(Protocol):
    """Cells of one type in a meshio mesh."""

    type: str
    data: Iterable[object]


@runtime_checkable
class OfMeshio(Protocol):
    """Interface of meshio's meshes."""

    points: object
    cells: Iterable[Cells]


def _panels_of(value: object) -> tuple[object, object] | None:
    """Points and panels of a Capytaine or meshio mesh, else None."""
    mesh: object = getattr(value, "mesh", value)  # a floating body has one
    mesh = mesh.merged() if isinstance(mesh, Merged) else mesh
    if isinstance(mesh, OfCapytaine):
        return mesh.vertices, mesh.faces
    if isinstance(mesh, OfMeshio):
        blocks = [block for block in mesh.cells if block.type in ("triangle", "quad")]
        return mesh.points, [face for block in blocks for face in block.data]
    return None


def _path_text(path: object) -> object:
    import os

    return os.fspath(path) if isinstance(path, os.PathLike) else path


def _as_parts(value: object) -> tuple[Hull, ...]:
    rows = row_of(value)
    if not rows:
        raise ValueError(f"{shown(value)} is not a list of hulls. Give one or more.")
    return tuple(hull for row in rows if (hull := as_hull(row, required=True)) is not None)


@description
class Union(Hull):
    """Several shapes that are one rigid hull, each at its own offset.

    The shapes must not overlap: volumes add up, and all their surfaces are in the water.

    Args:
        hulls: the shapes.
        panel_size: for shapes without one of their own [m].
    """

    shape: ClassVar[str] = "union"
    hulls: Annotated[Converted[tuple[Hull, ...]], BeforeValidator(_as_parts)]
    offset: Vector = field(default=ORIGIN, kw_only=True)
    panel_size: Number | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self.check_sizes()

    @property
    def parts(self) -> tuple[Hull, ...]:
        """The shapes, moved by the offset of the union; its panel_size is for those without."""
        result = []
        for hull in self.hulls:
            for part in hull.parts:
                offset = tuple(a + b for a, b in zip(part.offset, self.offset, strict=True))
                changes: NamedValues = {"offset": offset}
                if part.panel_size is None and not isinstance(part, PanelHull):
                    changes["panel_size"] = self.panel_size
                result.append(part.replace(**changes))
        return tuple(result)


HULL_SHAPES: NamedValues = {
    cls.shape: cls
    for cls in (
        Box,
        Cylinder,
        HorizontalCylinder,
        Sphere,
        Hemisphere,
        Cone,
        Axisymmetric,
        Plate,
        MeshFile,
        Mesh,
        Union,
    )
}


def as_hull(value: object, required: bool = False) -> Hull | None:
    """Hull, or the hull of a TOML table with a `shape`."""
    if (value is None and not required) or isinstance(value, Hull):
        return value
    if not isinstance(value, dict):
        panels = _panels_of(value)
        if panels is not None:
            return within(Mesh, {"vertices": panels[0], "faces": panels[1]})
        raise ValueError(
            f"{shown(value)} is not a hull. Give Box(...), Cylinder(...), Sphere(...) or another "
            "shape."
        )
    shape = value.get("shape")
    if not isinstance(shape, str) or shape not in HULL_SHAPES:
        raise ValueError(
            f"has shape {shown(shape)}, which does not exist.{suggest(shape, HULL_SHAPES)} "
            f"The shapes are {listed(HULL_SHAPES)}."
        )
    return within(
        HULL_SHAPES[shape], {key: entry for key, entry in value.items() if key != "shape"}
    )


def _hull_schema() -> NamedValues:
    import dataclasses

    positive = {"type": "number", "exclusiveMinimum": 0}
    row = {"type": "array", "items": {"type": "number"}}
    others: NamedValues = {
        "offset": {**row, "minItems": 3, "maxItems": 3},
        "axis": {"enum": ["x", "y"]},
        "profile": {"type": "array", "items": {**row, "minItems": 2, "maxItems": 2}},
        "vertices": {"type": "array", "items": {**row, "minItems": 3, "maxItems": 3}},
        "faces": {"type": "array", "items": {**row, "minItems": 3, "maxItems": 4}},
        "path": {"type": "string"},
        "file_format": {"type": "string"},
        "hulls": {"type": "array", "items": {"type": "object"}, "minItems": 1},
        "bottom_radius": {"type": "number", "minimum": 0},
    }
    return {
        "anyOf": [
            {
                "type": "object",
                "properties": {
                    "shape": {"const": shape},
                    **{
                        f.name: others.get(f.name, positive)
                        for f in dataclasses.fields(cls)
                        if f.name != "panel_size" or shape not in (MeshFile.shape, Mesh.shape)
                    },
                },
                "required": [
                    "shape",
                    *(f.name for f in dataclasses.fields(cls) if f.default is dataclasses.MISSING),
                ],
                "additionalProperties": False,
            }
            for shape, cls in HULL_SHAPES.items()
        ]
    }


HullLike = Annotated[Converted[Hull], BeforeValidator(as_hull), WithJsonSchema(_hull_schema())]
