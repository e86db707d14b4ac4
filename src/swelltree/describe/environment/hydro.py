"""Where the hydrodynamic data of a case come from, a BEM run or a file, and how they are used."""

import math
from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.casefile.toml import SchemaOf, class_schema
from swelltree.describe.errors import listed, shown, suggest
from swelltree.describe.spec import Description, description, within
from swelltree.describe.values import (
    DOFS,
    Converted,
    Count,
    Extended,
    Flag,
    NamedValues,
    Number,
    Numbers,
    ReadAs,
    as_names,
    as_number,
    as_numbers,
    as_text,
    as_vector,
    one_of,
)

# --- How a case uses its hydrodynamic data: the radiation fit and its choices by name

RADIATION = ("state_space", "convolution", "constant", "none")
FRAMES = ("fixed", "yaw")
FIT_METHODS = ("vector_fitting", "balanced", "era", "kristiansen", "per_entry")


@description
class RadiationFit(Description):
    """Options of the state-space fit of the radiation memory; see `fit_radiation`.

    Args:
        error: max error of the motions in waves, as a fraction of the max motion.
        max_order: max number of states; by default six for each DOF that radiates, at least 40.
        method: one of FIT_METHODS.
        omega_max: leave out data above this frequency [rad/s].
        causal: correct added mass that contradicts the damping.
        entry_order: states for each entry in "kristiansen" and "per_entry".
        cache: cache the fits.
    """

    kind: ClassVar[str] = "fit"
    error: Number = 0.02
    max_order: Count | None = None
    method: Annotated[str, *one_of(FIT_METHODS, "method")] = "vector_fitting"
    omega_max: Number | None = None
    causal: Flag = True
    entry_order: Count = 6
    cache: Flag = True

    def __post_init__(self) -> None:
        if not 0 < self.error < 1:
            raise self.fail(f"error {self.error} is not between 0 and 1. Give for example 0.03.")
        for name in ("max_order", "omega_max", "entry_order"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise self.fail(f"{name} {value} is not positive. Give more than zero.")

    @property
    def options(self) -> NamedValues:
        """Keyword arguments of `fit_radiation`: what differs from its own choice."""
        return self.table()


def _as_fit(value: object) -> object:
    if isinstance(value, RadiationFit):
        return value
    if not isinstance(value, dict):
        raise ValueError(f"{shown(value)} is not a table. Write {{ error = 0.03 }}.")
    return within(RadiationFit, value)


FitLike = Annotated[
    Converted[RadiationFit], BeforeValidator(_as_fit), SchemaOf(lambda: class_schema(RadiationFit))
]

DRIFT = ("none", "mean", "newman", "qtf")
BEM_DRIFT = ("none", "free", "fixed")
GAPS = ("error", "interpolate", "drop")
FORMATS = ("wamit", "nemoh", "bemio", "aqwa", "capytaine", "hams")
GREEN = ("auto", "delhommeau", "delhommeau_legacy", "liang_wu_noblesse")
REFINE = (False, True, "extrapolate")
_radiation, _frame = one_of(RADIATION, "kind of radiation"), one_of(FRAMES, "frame")


@description
class OmegaRange(Description):
    """Evenly spaced frequencies, in a case file `{ from = 0.5, to = 12.0, count = 60 }` [rad/s]."""

    kind: ClassVar[str] = "omega"
    start: Number
    stop: Number
    count: int

    def __post_init__(self) -> None:
        if not 0 < self.start < self.stop or self.count < 2:
            raise self.fail(
                f"from {self.start} to {self.stop} with count {self.count} is not a range. Give "
                "0 < from < to in rad/s and at least two."
            )

    def table(self) -> NamedValues:
        return {"from": self.start, "to": self.stop, "count": self.count}

    @property
    def values(self) -> tuple[float, ...]:
        return tuple(np.linspace(self.start, self.stop, self.count).tolist())


def as_omega(value: object) -> object:
    """Frequencies as a range or a sorted row [rad/s]."""
    if value is None or isinstance(value, OmegaRange):
        return value
    if isinstance(value, dict):
        unknown = [key for key in value if key not in ("from", "to", "count")]
        if unknown or len(value) != 3 or not isinstance(value["count"], int):
            raise ValueError(
                f"{shown(value)} is not a range. Write {{ from = 0.5, to = 12.0, count = 60 }}."
            )
        return within(
            OmegaRange, {"start": value["from"], "stop": value["to"], "count": value["count"]}
        )
    numbers = as_numbers(value)
    if not numbers or min(numbers) <= 0:
        raise ValueError(
            f"{shown(list(numbers))} holds no positive frequencies. Give rad/s above zero; "
            "zero and infinity are added by themselves."
        )
    return tuple(sorted(set(numbers)))


def _as_green(value: object) -> object:
    if not isinstance(value, str) or value not in GREEN:
        raise ValueError(
            f"{shown(value)} is not a Green function.{suggest(value, GREEN)} "
            f"The choices are {listed(GREEN)}."
        )
    return value


def _as_refine(value: object) -> object:
    if isinstance(value, bool) or (isinstance(value, str) and value == "extrapolate"):
        return value
    raise ValueError(f"{shown(value)} is not a choice. Give true, false or 'extrapolate'.")


def _as_path(value: object) -> object:
    import os

    if value is None:
        return None
    return as_text(os.fspath(value) if isinstance(value, os.PathLike) else value)


def _as_count(value: object) -> object:
    if value is None:
        return None
    number = as_number(value)
    if number < 1 or number != int(number):
        raise ValueError(f"{shown(value)} is not a number of threads. Give 1 or more.")
    return int(number)


def _as_dofs(value: object) -> object:
    if value is None:
        return None
    names = as_names(value)
    wrong = [name for name in names if name not in DOFS]
    if wrong or not names:
        which = f"{shown(wrong[0])} is not one.{suggest(wrong[0], DOFS)} " if wrong else ""
        raise ValueError(f"{which}Give degrees of freedom: {listed(DOFS)}.")
    return tuple(name for name in DOFS if name in names)


def _or_none(known: tuple[str, ...], what: str) -> tuple[BeforeValidator, WithJsonSchema]:
    """Validator: one of some names, or None."""

    def read(value: object) -> object:
        if value is None or (isinstance(value, str) and value in known):
            return value
        raise ValueError(
            f"{shown(value)} is not a {what}.{suggest(value, known)} "
            f"The choices are {listed(known)}."
        )

    return BeforeValidator(read), WithJsonSchema({"enum": list(known)})


def _as_body_names(value: object) -> object:
    """Names in the order of the file, or (old, new) pairs from a table."""
    if value is None:
        return None
    if isinstance(value, dict):
        return tuple((as_text(old), as_text(new)) for old, new in value.items())
    if isinstance(value, tuple) and value and all(isinstance(pair, tuple) for pair in value):
        return value
    return as_names(value)


def _as_points(value: object) -> object:
    """Pairs of a body and three numbers, from a table."""
    if value is None or isinstance(value, tuple):
        return value
    if not isinstance(value, dict) or not value:
        raise ValueError(f"{shown(value)} is not a table. Write {{ float = [0, 0, -0.7] }}.")
    return tuple((as_text(body), as_vector(numbers)) for body, numbers in value.items())


def _as_source(value: object) -> object:
    if value is not None and not (isinstance(value, str) and value == "capytaine"):
        raise ValueError(f"{shown(value)} is not a source. Give 'capytaine', or a file instead.")
    return value


def _as_nonlinear(value: object) -> object:
    return value if isinstance(value, bool) else as_names(value)


_flag = {"type": "boolean"}
_names = {"type": "array", "items": {"type": "string"}, "minItems": 1}
_stretching = one_of(("wheeler", "constant", "extrapolate"), "stretching")
OMEGA_SCHEMA = {
    "anyOf": [
        {"type": "array", "items": {"type": "number", "exclusiveMinimum": 0}, "minItems": 1},
        {
            "type": "object",
            "properties": {
                "from": {"type": "number"},
                "to": {"type": "number"},
                "count": {"type": "integer"},
            },
            "required": ["from", "to", "count"],
            "additionalProperties": False,
        },
    ]
}


BodyPoints = Annotated[
    Converted[tuple[tuple[str, tuple[float, ...]], ...] | None],
    BeforeValidator(_as_points),
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {
                "type": "array",
                "items": {"type": "number"},
                "minItems": 3,
                "maxItems": 3,
            },
        }
    ),
]
PAIRED = ("names", "rotation_center", "center_of_mass", "rotation_deg")  # tables in case files
# parameters of `run_bem` with another name, or with a default of the case
BEM_FIELDS = {"drift": "drift_of_bem"}


@description
class HydroSpec(Description):
    """The hydrodynamic data of a case: computed (`source`) or read (`file`).

    Args:
        source: "capytaine" for a BEM run on the hulls of the system.
        file: a file of BEM results instead; in a case file, relative to it.
        omega: frequencies of the BEM run [rad/s].
        names: new names of the bodies of the file, in its order or as a table { old = "new" }.
        rho: density used for the file [kg/m^3], if it is not stated there; by default that of the
            water. Likewise g [m/s^2] and depth [m].
        g: gravity of the file.
        depth: depth of the file.
        length: WAMIT's length scale ULEN [m], where there is no .out file.
        rotation_center: reference points { body = [x, y, z] }, where the file does not state them.
        center_of_mass: centres of mass { body = [x, y, z] }, likewise.
        rotation_deg: orientation of the body axes when the data were computed { body = [roll,
            pitch, yaw] } [degrees].
        format: of the file, instead of guessing: "wamit", "nemoh", "bemio", "aqwa", "capytaine" or
            "hams".
        check: check the file (`hydro_report`).
        gaps: treatment of frequencies at which values are missing: "error", "interpolate" between
            their neighbours, or "drop" them.
        wave_direction_deg: directions the waves travel towards [degrees].
        mirror: add the headings of the other side of hulls that are the same on port and starboard.
        dofs: degrees of freedom of every body that the BEM run solves; all six if not given.
        lid: close the hulls inside at the waterline against irregular frequencies.
        green: Green function, see `run_bem`.
        refine: true to compare with larger panels and estimate the error, "extrapolate" to
            correct the result by it.
        method: of the BEM run: "direct" or "indirect", see `run_bem`.
        bem_drift: mean drift force by the BEM run: "free", "fixed" or "none"; by default "free"
            where `drift` needs it.
        threads: number of processor threads.
        cache: cache the results of BEM runs.
        radiation: "state_space", "convolution", "constant" (of one frequency) or "none".
        radiation_omega: the frequency of "constant" [rad/s].
        coupling: keep the hydrodynamic coupling between bodies.
        convolution_step: time step of "convolution" [s]; simulate it with solver "rk4".
        fit: options of "state_space".
        frame: "fixed", or "yaw" for data whose axes follow the mean yaw of each body.
        yaw_time: time over which that mean is taken [s].
        drift: second-order wave loads: "none", "mean", "newman" or "qtf".
        nonlinear: true, or names of bodies, for buoyancy and Froude-Krylov forces on the actual
            wetted hull; then data are not needed.
        stretching: of linear waves above the still water: "wheeler", "constant", "extrapolate".
    """

    kind: ClassVar[str] = "hydro"
    source: Annotated[Literal["capytaine"] | None, BeforeValidator(_as_source)] = None
    file: Annotated[str | None, BeforeValidator(_as_path)] = None
    omega: Annotated[
        Converted[OmegaRange | tuple[float, ...] | None],
        BeforeValidator(as_omega),
        WithJsonSchema(OMEGA_SCHEMA),
    ] = None
    names: Annotated[
        Converted[tuple[str, ...] | tuple[tuple[str, str], ...] | None],
        BeforeValidator(_as_body_names),
        WithJsonSchema({"anyOf": [_names, {"type": "object"}]}),
    ] = None
    rho: Number | None = None
    g: Number | None = None
    depth: Extended | None = None
    length: Number | None = None
    rotation_center: BodyPoints = None
    center_of_mass: BodyPoints = None
    rotation_deg: BodyPoints = None
    format: Annotated[str | None, *_or_none(FORMATS, "format")] = None
    check: Flag = True
    gaps: Annotated[str, *one_of(GAPS, "way to treat gaps")] = "error"
    wave_direction_deg: Numbers = (0.0,)
    mirror: Flag = False
    dofs: Annotated[
        Converted[tuple[str, ...] | None],
        BeforeValidator(_as_dofs),
        WithJsonSchema({"type": "array", "items": {"enum": list(DOFS)}, "minItems": 1}),
    ] = None
    lid: Flag = True
    green: Annotated[str, BeforeValidator(_as_green), WithJsonSchema({"enum": list(GREEN)})] = (
        "auto"
    )
    refine: Annotated[
        ReadAs[bool | str], BeforeValidator(_as_refine), WithJsonSchema({"enum": list(REFINE)})
    ] = False
    method: Annotated[str, *one_of(("direct", "indirect"), "method")] = "direct"
    bem_drift: Annotated[str | None, *_or_none(BEM_DRIFT, "drift of a BEM run")] = None
    threads: Annotated[int | None, BeforeValidator(_as_count)] = None
    cache: Flag = True
    radiation: Annotated[str, _radiation[0], _radiation[1]] = "state_space"
    radiation_omega: Number | None = None
    coupling: Flag = True
    convolution_step: Number = 0.05
    fit: FitLike = RadiationFit()
    frame: Annotated[str, _frame[0], _frame[1]] = "fixed"
    yaw_time: Number = 60.0
    drift: Annotated[str, *one_of(DRIFT, "kind of drift")] = "none"
    nonlinear: Annotated[
        Converted[bool | tuple[str, ...]],
        BeforeValidator(_as_nonlinear),
        WithJsonSchema({"anyOf": [_flag, _names]}),
    ] = False
    stretching: Annotated[str, *_stretching] = "wheeler"

    def __post_init__(self) -> None:
        alone = self.source is None and self.file is None and self.nonlinear is not False
        if (self.source is None) == (self.file is None) and not alone:
            raise self.fail(
                'give either source = "capytaine" for a BEM run, or file = "..." with its results.'
            )
        if self.source is not None and self.omega is None:
            raise self.fail(
                "omega is missing. Give frequencies such as { from = 0.5, to = 12.0, count = 60 }."
            )
        if not self.wave_direction_deg:
            raise self.fail("wave_direction_deg is empty. Give at least one direction.")
        if (self.radiation == "constant") != (self.radiation_omega is not None):
            raise self.fail(
                'radiation = "constant" and radiation_omega belong together. Give both or none.'
            )
        for name in ("radiation_omega", "convolution_step", "yaw_time"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise self.fail(f"{name} {value} is not positive. Give more than zero.")

    def table(self) -> NamedValues:
        """As a TOML table; what holds for bodies as a table of them."""
        table = super().table()
        for name in PAIRED:
            if name in table and isinstance(table[name][0], list):
                table[name] = dict(table[name])
        return table

    @property
    def drift_of_bem(self) -> str:
        """Mean drift that the BEM run computes."""
        if self.bem_drift is not None:
            return self.bem_drift
        return "free" if self.drift in ("mean", "newman") else "none"

    def options_of(self, parameters: Iterable[str]) -> NamedValues:
        """Keyword arguments of `run_bem` or `read_hydro` by the names of their parameters.

        A parameter that this section does not know is an error of ours: every one has a field.
        """
        values = {name: getattr(self, BEM_FIELDS.get(name, name)) for name in parameters}
        for name in PAIRED:
            if values.get(name) and isinstance(values[name][0], tuple):
                values[name] = dict(values[name])
        return values

    @property
    def compile_options(self) -> NamedValues:
        """Keyword arguments of `compile` that say how the data are used."""
        return {
            "radiation": self.radiation,
            "omega": self.radiation_omega,
            "coupling": self.coupling,
            "step": self.convolution_step,
            "fit": self.fit.options,
            "frame": self.frame,
            "yaw_time": self.yaw_time,
            "drift": self.drift,
            "nonlinear": self.nonlinear,
            "stretching": self.stretching,
        }

    @property
    def frequencies(self) -> tuple[float, ...]:
        """Frequencies of the BEM run [rad/s]."""
        return self.omega.values if isinstance(self.omega, OmegaRange) else self.omega or ()

    @property
    def wave_direction(self) -> tuple[float, ...]:
        """Wave directions [rad]."""
        return tuple(math.radians(beta) for beta in self.wave_direction_deg)
