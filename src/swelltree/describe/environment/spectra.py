"""Wave spectra and directional spreading, as descriptions.

A spectrum says how the variance of the free surface is spread over frequency; `swelltree.waves`
evaluates it. `Hs` is four times the standard deviation of the elevation, `Tp` the period of the
peak.
"""

import itertools
from collections.abc import Callable
from typing import Annotated, ClassVar

from pydantic import BeforeValidator

from swelltree.describe.casefile.toml import SchemaOf, choice_schema
from swelltree.describe.errors import listed, shown, suggest
from swelltree.describe.spec import Description, description, within
from swelltree.describe.values import (
    Converted,
    Count,
    Number,
    Numbers,
    SeaNumber,
    as_numbers,
    is_traced,
    row_of,
)


class Spectrum(Description):
    kind: ClassVar[str] = "spectrum"

    @property
    def label(self) -> str:
        """Name in messages: spectrum 'jonswap'."""
        return f"spectrum '{self.type}'"

    def check_positive(self, **values: tuple[object, str]) -> None:
        for field, (value, unit) in values.items():
            if isinstance(value, int | float) and not value > 0:
                raise self.fail(f"{field} {value}{unit} is not positive. Give more than zero.")

    def check_rising(self, field: str, values: tuple[float, ...], unit: str) -> None:
        for before, after in itertools.pairwise(values):
            if not after > before:
                raise self.fail(f"{field} {after} {unit} follows {before}. Give increasing values.")


@description
class Jonswap(Spectrum):
    """Growing wind sea.

    Args:
        Hs: significant wave height [m].
        Tp: peak period [s].
        gamma: peak enhancement, 1 to 20; 1 is Bretschneider's spectrum.
    """

    type: ClassVar[str] = "jonswap"
    Hs: SeaNumber
    Tp: SeaNumber
    gamma: SeaNumber = 3.3

    def __post_init__(self) -> None:
        self.check_positive(Hs=(self.Hs, " m"), Tp=(self.Tp, " s"))
        if not is_traced(self.gamma) and not 1 <= self.gamma <= 20:
            raise self.fail(f"gamma {self.gamma} is not between 1 and 20. Try 3.3.")


@description
class Bretschneider(Spectrum):
    """Wind sea of any height and period (ISSC, two parameters).

    Args:
        Hs: significant wave height [m].
        Tp: peak period [s].
    """

    type: ClassVar[str] = "bretschneider"
    Hs: SeaNumber
    Tp: SeaNumber

    def __post_init__(self) -> None:
        self.check_positive(Hs=(self.Hs, " m"), Tp=(self.Tp, " s"))


@description
class PiersonMoskowitz(Spectrum):
    """Fully developed wind sea: height and period follow from one another.

    Give one of the two; with both the form is that of Bretschneider.

    Args:
        Hs: significant wave height [m].
        Tp: peak period [s].
    """

    type: ClassVar[str] = "pierson_moskowitz"
    Hs: SeaNumber | None = None
    Tp: SeaNumber | None = None

    def __post_init__(self) -> None:
        if self.Hs is None and self.Tp is None:
            raise self.fail("neither Hs nor Tp is given. Give one of them.")
        self.check_positive(Hs=(self.Hs, " m"), Tp=(self.Tp, " s"))


@description
class OchiHubble(Spectrum):
    """Swell and wind sea with six parameters (Ochi and Hubble 1976).

    Args:
        Hs1: significant height of the swell [m].
        Tp1: its peak period [s].
        lambda1: its shape; 1 is Bretschneider's form, more is narrower.
        Hs2: significant height of the wind sea [m].
        Tp2: its peak period [s].
        lambda2: its shape.
    """

    type: ClassVar[str] = "ochi_hubble"
    Hs1: SeaNumber
    Tp1: SeaNumber
    lambda1: Number
    Hs2: SeaNumber
    Tp2: SeaNumber
    lambda2: Number

    def __post_init__(self) -> None:
        self.check_positive(
            Hs1=(self.Hs1, " m"),
            Tp1=(self.Tp1, " s"),
            lambda1=(self.lambda1, ""),
            Hs2=(self.Hs2, " m"),
            Tp2=(self.Tp2, " s"),
            lambda2=(self.lambda2, ""),
        )


@description
class WhiteNoise(Spectrum):
    """The same density everywhere in a band.

    Args:
        Hs: significant wave height [m].
        omega_min: lower end of the band [rad/s].
        omega_max: upper end [rad/s].
    """

    type: ClassVar[str] = "white_noise"
    Hs: SeaNumber
    omega_min: Number
    omega_max: Number

    def __post_init__(self) -> None:
        self.check_positive(Hs=(self.Hs, " m"), omega_min=(self.omega_min, " rad/s"))
        if not self.omega_max > self.omega_min:
            raise self.fail(
                f"omega_max {self.omega_max} rad/s is not above omega_min {self.omega_min} rad/s. "
                "Give a band."
            )


@description
class SpectrumTable(Spectrum):
    """Densities at given frequencies, joined by straight lines and zero outside.

    Args:
        omega: increasing frequencies [rad/s].
        density: S(omega) [m^2 s/rad].
    """

    type: ClassVar[str] = "table"
    omega: Numbers
    density: Numbers

    def __post_init__(self) -> None:
        if len(self.omega) != len(self.density):
            raise self.fail(
                f"{len(self.omega)} frequencies but {len(self.density)} densities. "
                "Give as many of each."
            )
        if len(self.omega) < 2:
            raise self.fail(f"{len(self.omega)} row is too few. Give at least two.")
        self.check_positive(omega=(self.omega[0], " rad/s"))
        self.check_rising("omega", self.omega, "rad/s")
        if min(self.density) < 0 or max(self.density) == 0:
            raise self.fail(
                f"densities go from {min(self.density)} to {max(self.density)} m^2 s/rad. "
                "Give values that are not negative and not all zero."
            )


def as_rows(value: object) -> object:
    rows = row_of(value)
    if rows is None:
        raise ValueError(f"{shown(value)} is not a table. Give rows of numbers.")
    return tuple(as_numbers(row) for row in rows)


_row = {"type": "array", "items": {"type": "number"}}
Rows = Annotated[
    Converted[tuple[tuple[float, ...], ...]],
    BeforeValidator(as_rows),
    SchemaOf(lambda: {"type": "array", "items": _row}),
]


@description
class DirectionalTable(Spectrum):
    """Densities at given frequencies and headings, joined by straight lines.

    Args:
        omega: increasing frequencies [rad/s].
        beta: increasing headings within one turn, towards, counter-clockwise from +x [rad].
        density: S(omega, beta) [m^2 s/rad^2], one row for each frequency.
    """

    type: ClassVar[str] = "directional_table"
    omega: Numbers
    beta: Numbers
    density: Rows

    def __post_init__(self) -> None:
        shape = (len(self.density), {len(row) for row in self.density})
        if shape != (len(self.omega), {len(self.beta)}) or min(shape[0], len(self.beta)) < 2:
            raise self.fail(
                f"density has {shape[0]} rows of {sorted(shape[1])} values for {len(self.omega)} "
                f"frequencies and {len(self.beta)} headings. Give one row for each frequency, at "
                "least two of each."
            )
        self.check_positive(omega=(self.omega[0], " rad/s"))
        self.check_rising("omega", self.omega, "rad/s")
        self.check_rising("beta", self.beta, "rad")
        if self.beta[-1] - self.beta[0] >= 6.283185307179586:
            raise self.fail(
                f"beta covers {self.beta[-1] - self.beta[0]:.6g} rad, a full turn or more. Remove "
                "the repeated heading."
            )
        low, high = (f(map(f, self.density)) for f in (min, max))
        if low < 0 or high == 0:
            raise self.fail(
                f"densities go from {low} to {high} m^2 s/rad^2. "
                "Give values that are not negative and not all zero."
            )


def read_type(
    classes: dict[str, type], base: type, word: str, example: str
) -> Callable[[object], object]:
    """Reader of an item that is a TOML table with a `type`."""

    def read(value: object) -> object:
        if isinstance(value, base):
            return value
        if not isinstance(value, dict):
            raise ValueError(f"{shown(value)} is not a {word}. Give for example {example}.")
        kind = value.get("type")
        if not isinstance(kind, str) or kind not in classes:
            raise ValueError(
                f"has {word} type {shown(kind)}, which does not exist.{suggest(kind, classes)} "
                f"The types are {listed(classes)}."
            )
        return within(classes[kind], {key: part for key, part in value.items() if key != "type"})

    return read


SPECTRUM_TYPES: dict[str, type[Description]] = {
    cls.type: cls
    for cls in (
        Jonswap,
        Bretschneider,
        PiersonMoskowitz,
        OchiHubble,
        WhiteNoise,
        SpectrumTable,
        DirectionalTable,
    )
}
_spectrum = BeforeValidator(
    read_type(SPECTRUM_TYPES, Spectrum, "spectrum", "Jonswap(Hs=2.0, Tp=8.0)")
)
_parts = {kind: cls for kind, cls in SPECTRUM_TYPES.items() if cls is not DirectionalTable}
PartLike = Annotated[Converted[Spectrum], _spectrum, SchemaOf(lambda: choice_schema(_parts))]


@description
class Bimodal(Spectrum):
    """The sum of two spectra, for example swell and wind sea.

    Args:
        first: a spectrum.
        second: another.
    """

    type: ClassVar[str] = "bimodal"
    first: PartLike
    second: PartLike

    def __post_init__(self) -> None:
        for part in (self.first, self.second):
            if isinstance(part, DirectionalTable):
                raise self.fail(
                    "a directional table cannot be a part of it. Use SeaOf with two trains."
                )


SPECTRUM_TYPES[Bimodal.type] = Bimodal
SpectrumLike = Annotated[
    Converted[Spectrum], _spectrum, SchemaOf(lambda: choice_schema(SPECTRUM_TYPES))
]


@description
class Cos2s(Description):
    """Spreading about the mean heading: D(beta) = G cos^{2s}((beta - beta_0) / 2).

    Args:
        s: sharpness; about 10 for wind sea, 50 and more for swell.
        directions: how many different headings stand for the spreading.
    """

    kind: ClassVar[str] = "spreading"
    type: ClassVar[str] = "cos2s"
    s: Number
    directions: Count = 16

    def __post_init__(self) -> None:
        if not self.s > 0:
            raise self.fail(f"s {self.s} is not positive. Give about 10 for wind sea.")
        if self.directions < 2:
            raise self.fail(
                f"{self.directions} direction gives no spreading. Give at least two, or no "
                "spreading."
            )


SPREADING_TYPES: dict[str, type[Description]] = {Cos2s.type: Cos2s}
SpreadingLike = Annotated[
    Converted[Cos2s | None],
    BeforeValidator(read_type(SPREADING_TYPES, Cos2s, "spreading", "Cos2s(s=10)")),
    SchemaOf(lambda: choice_schema(SPREADING_TYPES)),
]
