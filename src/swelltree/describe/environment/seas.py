"""Seas: what the free surface does far from the bodies, as descriptions.

A heading `beta` is the direction the wave travels towards, counter-clockwise from +x [rad];
`beta_deg` gives it in degrees. A phase shifts the crest: eta = Re[a exp(i(k.x - omega t + phase))].
Every sea has a `ramp`, the time over which it grows from still water to its full height [s].
"""

import dataclasses
import itertools
import math
import os
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.casefile.toml import SchemaOf, choice_schema
from swelltree.describe.environment.spectra import (
    DirectionalTable,
    SpectrumLike,
    SpreadingLike,
    read_type,
)
from swelltree.describe.spec import Description, description
from swelltree.describe.values import (
    Converted,
    Count,
    Flag,
    NamedValues,
    Number,
    Numbers,
    SeaNumber,
    Seed,
    as_text,
    is_traced,
    one_of,
    row_of,
)

Spacing = Annotated[str, *one_of(("equal_energy", "equal"), "spacing")]
Outside = Annotated[str, *one_of(("refuse", "repeat"), "outside")]
Amplitudes = Annotated[str, *one_of(("deterministic", "rayleigh"), "choice of amplitudes")]
Text = Annotated[str, BeforeValidator(as_text)]
Interpolation = Annotated[str, *one_of(("linear", "cubic"), "interpolation")]


def as_field(value: object) -> object:
    """Dataset, or the path of its file."""
    if hasattr(value, "data_vars"):
        return value
    if not isinstance(value, str | os.PathLike):
        raise ValueError("is not a field. Give an xarray.Dataset or the path of a netCDF file.")
    return as_text(os.fspath(value))


FieldData = Annotated[Any, BeforeValidator(as_field), WithJsonSchema({"type": "string"})]

MOST_COMPONENTS = 100_000

# two words for one quantity: the first is the one used inside
PAIRS = {"height": "amplitude", "period": "omega"}
PARTNER = {**PAIRS, **{inside: outside for outside, inside in PAIRS.items()}}


class Sea(Description):
    kind: ClassVar[str] = "wave"
    ramp: Number

    @property
    def label(self) -> str:
        """Name in messages: wave 'regular'."""
        return f"wave '{self.type}'"

    def replace(self, **changes: object) -> Self:
        """A copy with changed fields, validated again; a new period replaces omega."""
        partners: NamedValues = {
            PARTNER[field]: None
            for field in changes
            if PARTNER.get(field) in getattr(self, "__dataclass_fields__", {})
        }
        if changes.get("beta_deg") is not None and "beta" not in changes:
            partners["beta"] = 0.0
        return super().replace(**{**partners, **changes})

    def table(self) -> NamedValues:
        """This sea as a TOML table; of two equivalent keys the shorter value is written."""
        table = super().table()
        for outside, inside in PAIRS.items():
            if outside in table and inside in table:
                specified, stored = table[outside], table[inside]
                exact = _converted(outside, specified) == stored
                table.pop(inside if exact and len(repr(specified)) < len(repr(stored)) else outside)
        return table

    def check_ramp(self) -> None:
        if self.ramp < 0:
            raise self.fail(f"ramp {self.ramp} s is negative. Give seconds, or zero for none.")

    def check_positive(self, **values: tuple[object, str]) -> None:
        for field, (value, unit) in values.items():
            if isinstance(value, int | float) and not value > 0:
                raise self.fail(f"{field} {value}{unit} is not positive. Give more than zero.")

    def settle_pair(self, outside: str, unit: str, inside_unit: str) -> None:
        """Resolve a pair of equivalent keys of which one is given."""
        inside = PAIRS[outside]
        specified, stored = getattr(self, outside), getattr(self, inside)
        if specified is None and stored is None:
            raise self.fail(f"neither {inside} nor {outside} is given. Give one of them.")
        self.check_positive(**{outside: (specified, unit), inside: (stored, inside_unit)})
        if specified is not None and stored is not None:
            if is_traced(specified) or is_traced(stored):
                stored = _converted(outside, specified) if is_traced(specified) else stored
            elif abs(_converted(outside, specified) - stored) > 1e-12 * stored:
                raise self.fail(
                    f"{inside} {stored}{inside_unit} and {outside} {specified}{unit} do not agree. "
                    "Give one of them."
                )
        elif specified is not None:
            stored = _converted(outside, specified)
        assert stored is not None
        object.__setattr__(self, inside, stored)
        object.__setattr__(
            self, outside, 2 * stored if outside == "height" else 2 * math.pi / stored
        )

    def settle_heading(self) -> None:
        """Convert a heading in degrees to radians; only the latter is stored."""
        degrees = getattr(self, "beta_deg", None)
        if degrees is None:
            return
        beta, found = getattr(self, "beta", 0.0), degrees * (math.pi / 180.0)
        known = not (is_traced(beta) or is_traced(degrees))
        if known and beta != 0.0 and abs(beta - found) > 1e-12 * abs(beta):
            raise self.fail(
                f"beta {beta} rad and beta_deg {degrees} do not agree. Give one of them."
            )
        object.__setattr__(self, "beta", found)
        object.__setattr__(self, "beta_deg", None)

    def check_components(self, count: int) -> None:
        """Limit the number of components by memory and computing time."""
        if count > MOST_COMPONENTS:
            raise self.fail(
                f"{count} components are more than the {MOST_COMPONENTS} that fit into memory. "
                "Give about 200, or 2000 for three hours."
            )

    def check_band(self) -> None:
        """Check a frequency band, which may be open at either end."""
        low, high = getattr(self, "omega_min", None), getattr(self, "omega_max", None)
        self.check_positive(omega_min=(low, " rad/s"), omega_max=(high, " rad/s"))
        if low is not None and high is not None and not high > low:
            raise self.fail(
                f"omega_max {high} rad/s is not above omega_min {low} rad/s. Give a band."
            )


def _converted(outside: str, value: Any) -> Any:
    return value / 2 if outside == "height" else 2 * math.pi / value


@description
class StillWater(Sea):
    """No waves.

    Args:
        ramp: accepted as for other seas; without effect [s].
    """

    type: ClassVar[str] = "still"
    ramp: Number = 0.0

    def __post_init__(self) -> None:
        self.check_ramp()


@description
class RegularWave(Sea):
    """One sine wave (Airy).

    Args:
        amplitude: half the height [m]; or give `height`.
        omega: frequency [rad/s]; or give `period` [s].
        beta: heading [rad].
        phase: [rad]; with zero a crest is at the origin at t = 0.
        height: from trough to crest [m].
        period: [s].
        ramp: [s].
        beta_deg: heading in degrees, in place of beta.
    """

    type: ClassVar[str] = "regular"
    amplitude: SeaNumber | None = None
    omega: SeaNumber | None = None
    beta: SeaNumber = 0.0
    phase: SeaNumber = 0.0
    height: SeaNumber | None = None
    period: SeaNumber | None = None
    ramp: Number = 0.0
    beta_deg: SeaNumber | None = dataclasses.field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        self.settle_heading()
        self.settle_pair("height", " m", " m")
        self.settle_pair("period", " s", " rad/s")
        self.check_ramp()


@description
class StreamFunctionWave(Sea):
    """One steep periodic wave of permanent form (stream function, any depth).

    Args:
        height: from trough to crest [m].
        omega: frequency [rad/s]; or give `period` [s].
        beta: heading [rad].
        phase: [rad]; with zero a crest is at the origin at t = 0.
        period: [s].
        order: number of harmonics; as many as are needed by default.
        ramp: [s].
        beta_deg: heading in degrees, in place of beta.
    """

    type: ClassVar[str] = "stream_function"
    height: Number
    omega: Number | None = None
    beta: Number = 0.0
    phase: Number = 0.0
    period: Number | None = None
    order: Count | None = None
    ramp: Number = 0.0
    beta_deg: Number | None = dataclasses.field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        self.settle_heading()
        self.check_positive(height=(self.height, " m"))
        self.settle_pair("period", " s", " rad/s")
        if self.order is not None and not 1 <= self.order <= 100:
            raise self.fail(
                f"order {self.order} is not between 1 and 100. Leave it out, or try 20."
            )
        self.check_ramp()


@description
class IrregularSea(Sea):
    """A random sea: many components whose energies follow a spectrum.

    Args:
        spectrum: Jonswap(...), Bretschneider(...), SpectrumTable(...) ...
        seed: chooses the sea; the same seed gives the same sea on every machine.
        components: how many.
        omega_min: lower end of the band [rad/s]; by default 0.05 % of the energy lies below.
        omega_max: upper end [rad/s]; by default 0.2 % of the energy lies above.
        beta: mean heading [rad]; added to the headings of a directional table.
        spreading: Cos2s(...), or none for a long-crested sea.
        amplitudes: "deterministic": sqrt(2 S d_omega); "rayleigh": random about it, as in nature.
        spacing: of the frequencies: "equal_energy" or "equal".
        jitter: move each frequency within its bin at random, so that the sea does not repeat.
        ramp: [s].
        beta_deg: heading in degrees, in place of beta.
    """

    type: ClassVar[str] = "irregular"
    spectrum: SpectrumLike
    seed: Seed = 0
    components: Count = 200
    omega_min: Number | None = None
    omega_max: Number | None = None
    beta: SeaNumber = 0.0
    spreading: SpreadingLike | None = None
    amplitudes: Amplitudes = "deterministic"
    spacing: Spacing = "equal_energy"
    jitter: Flag = True
    ramp: Number = 0.0
    beta_deg: SeaNumber | None = dataclasses.field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        self.settle_heading()
        if self.components < 1:
            raise self.fail("components 0 makes no sea. Give about 200, or StillWater().")
        self.check_components(self.components)
        if not is_traced(self.seed) and self.seed >= 2**64:
            raise self.fail(f"seed {self.seed} has more than 64 bits. Give a smaller one.")
        if self.spreading is not None and isinstance(self.spectrum, DirectionalTable):
            raise self.fail("a directional table is spread already. Leave out 'spreading'.")
        self.check_band()
        self.check_ramp()


@description
class FocusedWave(Sea):
    """NewWave: the most probable shape about a high crest.

    Args:
        spectrum: gives the shape; its height does not matter.
        amplitude: elevation of the crest [m].
        x: where the crest occurs [m].
        t: when it occurs [s].
        y: [m].
        beta: heading [rad].
        components: how many.
        omega_min: lower end of the band [rad/s].
        omega_max: upper end [rad/s].
        ramp: [s].
        beta_deg: heading in degrees, in place of beta.
    """

    type: ClassVar[str] = "focused"
    spectrum: SpectrumLike
    amplitude: SeaNumber
    x: SeaNumber = 0.0
    t: SeaNumber = 0.0
    y: SeaNumber = 0.0
    beta: SeaNumber = 0.0
    components: Count = 200
    omega_min: Number | None = None
    omega_max: Number | None = None
    ramp: Number = 0.0
    beta_deg: SeaNumber | None = dataclasses.field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        self.settle_heading()
        self.check_positive(amplitude=(self.amplitude, " m"), components=(self.components, ""))
        self.check_components(self.components)
        if isinstance(self.spectrum, DirectionalTable):
            raise self.fail("a directional table cannot be focused. Give a spectrum of frequency.")
        self.check_band()
        self.check_ramp()


@description
class MeasuredWave(Sea):
    """A recorded elevation, represented by components that reproduce it.

    Args:
        time: increasing times [s].
        elevation: at these times [m].
        file: a text file with two columns, time and elevation, in place of the two rows.
        x: where it was recorded [m].
        y: [m].
        beta: heading [rad]; one record does not contain it.
        omega_min: lower end of the band [rad/s]; by default nothing is left out.
        omega_max: upper end [rad/s]; by default the highest frequency that the samples resolve.
        ramp: [s].
        beta_deg: heading in degrees, in place of beta.
        outside: "refuse" runs outside the times of the record, or "repeat": its components go on
            there, with a period of its length, a tenth longer with a band.
    """

    type: ClassVar[str] = "measured"
    time: Numbers | None = None
    elevation: Numbers | None = None
    file: Text | None = None
    x: Number = 0.0
    y: Number = 0.0
    beta: Number = 0.0
    omega_min: Number | None = None
    omega_max: Number | None = None
    ramp: Number = 0.0
    beta_deg: Number | None = dataclasses.field(default=None, kw_only=True, repr=False)
    outside: Outside = "refuse"

    def __post_init__(self) -> None:
        self.settle_heading()
        rows = (self.time is not None, self.elevation is not None)
        if (self.file is None) != all(rows) or any(rows) != all(rows):
            raise self.fail("give either time and elevation, or a file.")
        if self.time is not None and self.elevation is not None:
            if len(self.time) != len(self.elevation):
                raise self.fail(
                    f"{len(self.time)} times but {len(self.elevation)} elevations. "
                    "Give as many of each."
                )
            if len(self.time) < 4:
                raise self.fail(f"{len(self.time)} samples are too few. Give at least four.")
            for before, after in itertools.pairwise(self.time):
                if not after > before:
                    raise self.fail(f"time {after} s follows {before} s. Give increasing times.")
        self.check_band()
        self.check_ramp()


@description
class GriddedSea(Sea):
    """A field of your own on a grid, for example from CFD or another wave model.

    Args:
        data: an xarray.Dataset or the path of a netCDF file with dimensions time, x, y, z (y may
            be missing) and variables `elevation` (time, x, y) [m], `pressure` (dynamic, without
            -rho g z) [Pa] and, for drag, `u`, `v`, `w` [m/s].
        interpolation: "linear" or "cubic"; beside the grid the values of its edge are held.
        ramp: [s].
    """

    type: ClassVar[str] = "gridded"
    data: FieldData
    interpolation: Interpolation = "linear"
    ramp: Number = 0.0

    def __post_init__(self) -> None:
        self.check_ramp()

    def table(self) -> NamedValues:
        """This sea as a TOML table, which can only name a file."""
        if not isinstance(self.data, str):
            raise self.fail("data in memory cannot be written as TOML. Save them as netCDF first.")
        return super().table()


SEA_TYPES: dict[str, type[Description]] = {
    cls.type: cls
    for cls in (
        StillWater,
        RegularWave,
        StreamFunctionWave,
        IrregularSea,
        FocusedWave,
        MeasuredWave,
        GriddedSea,
    )
}
as_sea = read_type(SEA_TYPES, Sea, "wave", "RegularWave(amplitude=1.0, period=8.0)")


def as_trains(value: object) -> object:
    trains = row_of(value)
    if not trains:
        raise ValueError("holds no wave trains. Give at least one, e.g. RegularWave(...).")
    return tuple(as_sea(train) for train in trains)


_TRAINS = dict(SEA_TYPES)
Trains = Annotated[
    Converted[tuple[Sea, ...]],
    BeforeValidator(as_trains),
    SchemaOf(lambda: {"type": "array", "items": choice_schema(_TRAINS), "minItems": 1}),
]


@description
class SeaOf(Sea):
    """Several wave trains at once, for example swell and wind sea from different directions.

    Args:
        trains: the seas; each random one draws numbers of its own even with equal seeds.
        ramp: of all of them [s].
    """

    type: ClassVar[str] = "trains"
    trains: Trains
    ramp: Number = 0.0

    def __post_init__(self) -> None:
        for train in self.trains:
            if train.ramp:
                raise self.fail(
                    f"{train.label} has a ramp of {train.ramp} s of its own. "
                    "Give the ramp to SeaOf."
                )
            if isinstance(train, SeaOf):
                raise self.fail("a train is itself a SeaOf. Put its trains in one list.")
        self.check_components(sum(getattr(train, "components", 1) for train in self.trains))
        self.check_ramp()


SEA_TYPES[SeaOf.type] = SeaOf
SeaLike = Annotated[
    Converted[Sea], BeforeValidator(as_sea), SchemaOf(lambda: choice_schema(SEA_TYPES))
]
