"""What varies in a campaign, as descriptions; the cases are the product of all of them.

Each part has one or several dimensions, and columns over them: names of numbers of the sea (`Hs`,
`Tp`, `beta`, `seed` ...) or paths of the description ("ptos.pto.damping").
"""

from collections.abc import Container
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.errors import shown
from swelltree.describe.spec import Description, description
from swelltree.describe.values import (
    Converted,
    Count,
    Name,
    NamedValues,
    Numbers,
    as_numbers,
    as_text,
    one_of,
    row_of,
)

MOST_CASES = 10_000_000
MAX_SEED = 2**53  # whole numbers below it are exact as floats
METHODS = ("latin_hypercube", "sobol")


class Part(NamedTuple):
    """Dimensions with their values, and the columns that vary along them."""

    dims: dict[str, np.ndarray]
    columns: dict[str, np.ndarray]
    present: np.ndarray  # which of the places are cases
    occurrence: np.ndarray | None = None


def as_columns(value: object) -> tuple[tuple[str, tuple[float, ...]], ...]:
    rows = dict(value) if isinstance(value, tuple) else value
    if not isinstance(rows, dict) or not rows:
        raise ValueError(
            f"{shown(value)} is not a table. Give e.g. {{ Hs = [1, 2], Tp = [7, 9] }}."
        )
    return tuple((str(name), as_numbers(values)) for name, values in rows.items())


def as_occurrence(value: object) -> object:
    """Rows of numbers, or rows of rows of equal length."""
    rows = row_of(value)
    if rows is None:
        raise ValueError(f"{shown(value)} is not a matrix. Give a row for each Hs.")
    if any(row_of(row) is None for row in rows):
        return as_numbers(value)
    built = tuple(as_occurrence(row) for row in rows)
    if len({_shape(row) for row in built}) > 1:
        raise ValueError("has rows of different lengths. Give as many numbers in each.")
    return built


def _shape(value: object) -> tuple[int, ...]:
    shape: tuple[int, ...] = ()
    while isinstance(value, tuple):
        shape += (len(value),)
        value = value[0] if value else None
    return shape


_ROWS = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "number"}}}
Columns = Annotated[
    Converted[tuple[tuple[str, tuple[float, ...]], ...]],
    BeforeValidator(as_columns),
    WithJsonSchema(_ROWS),
]
Occurrence = Annotated[
    Converted[tuple[float, ...]], BeforeValidator(as_occurrence), WithJsonSchema({"type": "array"})
]


Text = Annotated[str, BeforeValidator(as_text)]


class Vary(Description):
    kind: ClassVar[str] = "vary"

    @property
    def label(self) -> str:
        """Name in messages: vary 'scatter'."""
        return f"vary '{self.type}'"

    def part(self) -> Part:
        raise NotImplementedError

    def check_rising(self, word: str, values: tuple[float, ...]) -> None:
        if not values:
            raise self.fail(f"{word} holds no values. Give at least one.")
        if len(set(values)) < len(values):
            raise self.fail(f"{word} holds a value twice. Give each once.")

    def check_count(self, count: int) -> None:
        """Reject more cases than a campaign may have, before they are created."""
        if count > MOST_CASES:
            raise self.fail(
                f"count {shown(count)} is more than the {MOST_CASES} cases of one campaign. Give "
                "fewer, or divide it."
            )

    def check_dim(self, dim: str, names: Container[str]) -> None:
        if dim in names:
            raise self.fail(f"dim '{dim}' is the name of a number that varies. Give another.")


@description
class Values(Vary):
    """One number that takes several values: a dimension of its own.

    Args:
        name: of a number of the sea, or the path of one of the description.
        values: that it takes.
    """

    type: ClassVar[str] = "values"
    name: Text
    values: Numbers

    @property
    def label(self) -> str:
        """With the number's name."""
        return f"vary '{self.name}'"

    def __post_init__(self) -> None:
        self.check_rising("values", self.values)

    def part(self) -> Part:
        """One dimension with the number's name."""
        x = np.array(self.values)
        return Part({self.name: x}, {self.name: x}, np.ones(len(x), bool))


@description
class Together(Vary):
    """Several numbers that change together: one dimension, by number.

    Args:
        columns: for each number its values, as many of each.
        dim: name of the dimension.
    """

    type: ClassVar[str] = "together"
    columns: Columns
    dim: Name = "row"

    def __post_init__(self) -> None:
        sizes = {name: len(values) for name, values in self.columns}
        if len(set(sizes.values())) > 1 or 0 in sizes.values():
            counts = ", ".join(f"{n} of '{name}'" for name, n in sizes.items())
            raise self.fail(f"there are {counts}. Give as many of each, at least one.")
        self.check_dim(self.dim, sizes)

    def part(self) -> Part:
        """One dimension."""
        columns = {name: np.array(values) for name, values in self.columns}
        count = len(self.columns[0][1])
        return Part({self.dim: np.arange(count)}, columns, np.ones(count, bool))


@description
class ScatterDiagram(Vary):
    """Sea states of a site with their occurrence; states that do not occur are left out.

    Args:
        Hs: significant wave heights [m].
        Tp: peak periods [s].
        occurrence: how often each state occurs (Hs, Tp), or with headings (Hs, Tp, heading): hours,
            counts or parts, in any unit.
        beta_deg: headings [degrees]; that of the base sea if not given.
    """

    type: ClassVar[str] = "scatter"
    Hs: Numbers
    Tp: Numbers
    occurrence: Occurrence
    beta_deg: Numbers = ()

    def __post_init__(self) -> None:
        for word in ("Hs", "Tp"):
            self.check_rising(word, getattr(self, word))
        if self.beta_deg:
            self.check_rising("beta_deg", self.beta_deg)
        shape = (len(self.Hs), len(self.Tp), *((len(self.beta_deg),) if self.beta_deg else ()))
        specified = _shape(self.occurrence)
        if specified != shape:
            raise self.fail(
                f"occurrence has {' x '.join(map(str, specified))} entries. Give "
                f"{' x '.join(map(str, shape))}: a row for each Hs, in it a number for each Tp"
                + (", and for each heading." if self.beta_deg else ".")
            )
        often = np.array(self.occurrence)
        if (often < 0).any() or not often.any():
            raise self.fail("occurrence must not be negative, and not zero everywhere.")

    def part(self) -> Part:
        """Dimensions Hs, Tp and, with headings, beta."""
        dims = {"Hs": np.array(self.Hs), "Tp": np.array(self.Tp)}
        if self.beta_deg:
            dims["beta"] = np.radians(self.beta_deg)
        grids = np.meshgrid(*dims.values(), indexing="ij")
        often = np.array(self.occurrence)
        columns = dict(zip(dims, grids, strict=True))
        return Part(dims, columns, often > 0, often / often.sum())


@description
class Seeds(Vary):
    """The same sea drawn several times.

    Args:
        count: how many.
        first: the first seed; the others follow.
    """

    type: ClassVar[str] = "seeds"
    count: Count
    first: Count = 1

    def __post_init__(self) -> None:
        if self.count < 1:
            raise self.fail("count 0 makes no seeds. Give at least one.")
        self.check_count(self.count)
        if self.first + self.count > MAX_SEED:
            raise self.fail(
                f"first {shown(self.first)} is so large that its neighbours are the same number. "
                f"Give one below {MAX_SEED}."
            )

    def part(self) -> Part:
        """The dimension seed."""
        x = np.arange(self.first, self.first + self.count)
        return Part({"seed": x}, {"seed": x}, np.ones(len(x), bool))


@description
class Sample(Vary):
    """Points spread evenly over ranges of several numbers.

    Args:
        ranges: for each number the lowest and the largest value.
        count: how many points; a power of two for "sobol".
        method: "latin_hypercube" or "sobol".
        seed: of the points.
        dim: name of the dimension.
    """

    type: ClassVar[str] = "sample"
    ranges: Columns
    count: Count
    method: Annotated[str, *one_of(METHODS, "way of sampling")] = "latin_hypercube"
    seed: Count = 0
    dim: Name = "sample"

    def __post_init__(self) -> None:
        if self.count < 1:
            raise self.fail("count 0 makes no points. Give at least one.")
        self.check_count(self.count)
        for name, pair in self.ranges:
            if len(pair) != 2 or not pair[1] > pair[0]:
                raise self.fail(f"ranges of '{name}' are {list(pair)}. Give [lowest, largest].")
        self.check_dim(self.dim, dict(self.ranges))
        if self.method == "sobol" and self.count & (self.count - 1):
            raise self.fail(
                f"count {self.count} is not a power of two, which balances a Sobol sequence. Give "
                f"{1 << self.count.bit_length()}."
            )

    def part(self) -> Part:
        """One dimension."""
        from scipy.stats import qmc

        kinds = {"latin_hypercube": qmc.LatinHypercube, "sobol": qmc.Sobol}
        points = kinds[self.method](len(self.ranges), rng=self.seed).random(self.count)
        low, high = np.array([pair for _, pair in self.ranges]).T
        points = low + points * (high - low)
        columns = {name: points[:, k] for k, (name, _) in enumerate(self.ranges)}
        return Part({self.dim: np.arange(self.count)}, columns, np.ones(self.count, bool))


VARY_TYPES: NamedValues = {
    cls.type: cls for cls in (Values, Together, ScatterDiagram, Seeds, Sample)
}
