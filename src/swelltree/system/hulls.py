"""Shapes of hulls, kept as a description for the hydrodynamics that come later.

The waterline is `draft` above the lowest point of the hull.
"""

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from swelltree.system.describe import Description, description, within
from swelltree.system.errors import listed, shown, suggest
from swelltree.system.values import Number


class Hull(Description):
    """Base of the hull shapes."""

    kind: ClassVar[str] = "hull"
    shape: ClassVar[str] = ""

    @property
    def label(self) -> str:
        """How messages call this hull: hull 'box'."""
        return f"hull '{self.shape}'"

    def table(self) -> dict[str, Any]:
        """This hull as a TOML table, its shape first."""
        return {"shape": self.shape, **super().table()}

    def check(self, height: float, draft: float, **sizes: float) -> None:
        """Sizes are positive and the draft is within the height."""
        for name, size in {**sizes, "height": height, "draft": draft}.items():
            if not size > 0:
                raise self.fail(f"{name} {size} m is not positive. Give a size in metres.")
        if draft > height:
            raise self.fail(
                f"draft {draft} m is more than the height {height} m. Give a draft within the hull."
            )


@description
class Box(Hull):
    """A box: length along x, width along y, height along z [m]."""

    shape: ClassVar[str] = "box"
    length: Number
    width: Number
    height: Number
    draft: Number

    def __post_init__(self) -> None:
        self.check(self.height, self.draft, length=self.length, width=self.width)


@description
class Cylinder(Hull):
    """An upright circular cylinder [m]."""

    shape: ClassVar[str] = "cylinder"
    radius: Number
    draft: Number
    height: Number

    def __post_init__(self) -> None:
        self.check(self.height, self.draft, radius=self.radius)


@description
class Sphere(Hull):
    """A sphere [m]; without a draft it is half under water."""

    shape: ClassVar[str] = "sphere"
    radius: Number
    draft: Number | None = None

    def __post_init__(self) -> None:
        draft = self.radius if self.draft is None else self.draft
        self.check(2 * self.radius, draft, radius=self.radius)


HULL_SHAPES: dict[str, Any] = {cls.shape: cls for cls in (Box, Cylinder, Sphere)}


def as_hull(value: Any) -> Any:
    """A hull; a TOML table with a `shape` becomes its hull."""
    if value is None or isinstance(value, Hull):
        return value
    if not isinstance(value, dict):
        raise ValueError(
            f"{shown(value)} is not a hull. Give Box(...), Cylinder(...) or Sphere(...)."
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


def _hull_schema() -> dict[str, Any]:
    number = {"type": "number", "exclusiveMinimum": 0}
    sizes = {shape: list(cls.__dataclass_fields__) for shape, cls in HULL_SHAPES.items()}
    return {
        "anyOf": [
            {
                "type": "object",
                "properties": {"shape": {"const": shape}, **dict.fromkeys(names, number)},
                "required": [
                    "shape",
                    *(name for name in names if (shape, name) != ("sphere", "draft")),
                ],
                "additionalProperties": False,
            }
            for shape, names in sizes.items()
        ]
    }


HullLike = Annotated[Any, BeforeValidator(as_hull), WithJsonSchema(_hull_schema())]
