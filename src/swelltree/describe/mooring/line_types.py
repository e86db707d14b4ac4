"""What a line is made of, and a small library by nominal diameter.

Figures of the library: mass, stiffness and strength per diameter squared as the documentation of
OrcaFlex gives them for studless and studlink chain, six-strand wire ropes and eight-strand fibre
ropes; breaking loads of chain by grade from IACS UR W22; drag and added mass on the
volume-equivalent diameter, axial drag on the circumference. Mooring ropes of polyester by the
default line properties of MoorPy (NREL); their dynamic stiffness grows with the mean load as in
Pham et al. (2019), by per cent of the breaking load. A maker's certificate comes first.
"""

from typing import Annotated, ClassVar

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from swelltree.describe.errors import SwelltreeError, listed, shown, suggest
from swelltree.describe.spec import Description, description
from swelltree.describe.values import Converted, Name, Number, as_numbers, row_of

THICKEST = 0.5  # m: nominal diameter of chains and ropes
# breaking load of chain: factor d^2 (44 - 0.08 d) kN with the diameter d in mm
GRADES = {"R3": 0.0223, "R3S": 0.0249, "R4": 0.0274, "R4S": 0.0304, "R5": 0.0320}
WORKING_LOAD, CREEP_TIME = 0.2, 1800.0  # of the breaking load; s
POLYESTER = 1380.0  # kg/m^3
NO_TENSION = 1e-3  # of the max tension so far: at the permanent strain
DAMPING = 0.5  # of the critical damping of a segment: quiets what a chain of segments rings with


def as_stretch(value: object) -> object:
    """Rows (strain, tension) of a rope, strictly increasing from (0, 0)."""
    if value is None:
        return None
    rows = row_of(value)
    if rows is None:
        raise ValueError(f"{shown(value)} is not a table. Give rows (strain, tension).")
    table = tuple(as_numbers(row) for row in rows)
    if len(table) < 2 or any(len(row) != 2 for row in table):
        raise ValueError("needs two or more rows of two numbers: (strain, tension in N).")
    if table[0] != (0.0, 0.0):
        raise ValueError(f"begins with {list(table[0])}. Begin with strain 0 and tension 0.")
    if (np.diff(np.array(table), axis=0) <= 0).any():
        raise ValueError("does not increase. Give strains and tensions that grow row by row.")
    return table


Stretch = Annotated[
    Converted[tuple[tuple[float, float], ...]],
    BeforeValidator(as_stretch),
    WithJsonSchema({"type": "array", "items": {"type": "array"}}),
]


@description
class LineType(Description):
    r"""Properties of a line.

    Forces per length: drag :math:`\tfrac12 \rho C_{dn} d |w_n| w_n` across and
    :math:`\tfrac12 \rho C_{dt} \pi d |w_t| w_t` along the line, lift
    :math:`\tfrac12 \rho C_L d |w_n| (t \times w_n)`, added mass
    :math:`\rho \tfrac{\pi}{4} d^2 C_a`.

    Args:
        name: of the type.
        diameter: volume-equivalent, for buoyancy, drag and added mass [m].
        mass_per_length: in air [kg/m].
        EA: axial stiffness [N], with an original_curve that of the working curves; not needed for
            inextensible lines.
        stretch: instead of EA, rows (strain, tension [N]), increasing from (0, 0).
        original_curve: rows (strain, mean tension [N]) of the first loading of a fibre rope,
            increasing from (0, 0); needs dynamic_EA. Below the max mean tension so far the rope
            follows a straight working curve of the slope EA, down to its permanent strain.
        max_mean_tension: of the past, at the start of a run [N]; none if not given.
        dynamic_EA: stiffness against fast changes, at no mean tension [N]; EA is then that of slow
            ones. Springs of fibre ropes in series: a fast one, and a slow one beside a damper.
            For dynamic lines; equilibrium and linear studies take EA.
        dynamic_EA_slope: growth of dynamic_EA per mean tension; none if not given.
        slow_BA: damping of the slow spring [N s].
        BA: axial damping [N s]; of the fast spring where there are two.
        damping_ratio: instead of BA, part of the critical damping of one segment.
        Cdn: drag coefficient across the line.
        Cdt: drag coefficient along the line, on its circumference.
        Can: added mass coefficient across the line.
        Cat: added mass coefficient along the line.
        lift: lift coefficient.
        EI: bending stiffness [N m^2].
        breaking_load: minimum breaking load [N], for utilisation in results.
    """

    kind: ClassVar[str] = "line type"
    name: Name
    diameter: Number
    mass_per_length: Number
    EA: Number | None = None
    stretch: Stretch = None
    original_curve: Stretch = None
    max_mean_tension: Number | None = None
    dynamic_EA: Number | None = None
    dynamic_EA_slope: Number | None = None
    slow_BA: Number | None = None
    BA: Number | None = None
    damping_ratio: Number | None = None
    Cdn: Number = 1.2
    Cdt: Number = 0.0
    Can: Number = 1.0
    Cat: Number = 0.0
    lift: Number = 0.0
    EI: Number = 0.0
    breaking_load: Number | None = None

    def __post_init__(self) -> None:
        for field in ("diameter", "mass_per_length"):
            if not getattr(self, field) > 0:
                raise self.fail(f"{field} {getattr(self, field)} is not positive.")
        for field in ("EA", "dynamic_EA", "slow_BA", "breaking_load", "max_mean_tension"):
            value = getattr(self, field)
            if value is not None and not value > 0:
                unit = "N s" if field == "slow_BA" else "N"
                raise self.fail(
                    f"{field} {value} {unit} is not positive. Give more or leave it out."
                )
        for field in ("BA", "dynamic_EA_slope", "damping_ratio", "Cdn", "Cdt", "Can", "Cat", "EI"):
            value = getattr(self, field)
            if value is not None and value < 0:
                raise self.fail(f"{field} {value} is negative. Give zero or more.")
        for field in ("EA", "original_curve"):
            if self.stretch is not None and getattr(self, field) is not None:
                raise self.fail(f"{field} and stretch are both given. Give one of them.")
        self._check_original_curve()
        if (self.dynamic_EA is None) != (self.slow_BA is None):
            raise self.fail("dynamic_EA and slow_BA belong together. Give both or none.")
        if self.dynamic_EA is not None and self.EA is None:
            raise self.fail("dynamic_EA needs the stiffness of slow changes. Give EA too.")
        if self.dynamic_EA_slope and self.dynamic_EA is None:
            raise self.fail("dynamic_EA_slope needs dynamic_EA. Give it or leave the slope out.")
        if self.BA is not None and self.damping_ratio is not None:
            raise self.fail("BA and damping_ratio are both given. Give one of them.")
        if self.damping_ratio is not None and not self.elastic:
            raise self.fail("damping_ratio needs a stiffness. Give EA too.")

    def _check_original_curve(self) -> None:
        if self.original_curve is None:
            if self.max_mean_tension is not None:
                raise self.fail(
                    "max_mean_tension needs an original_curve. Give it or leave it out."
                )
            return
        if self.dynamic_EA is None or self.EA is None:
            raise self.fail("original_curve needs EA, dynamic_EA and slow_BA. Give all.")
        most = self.original_curve[-1][1]
        if self.max_mean_tension is not None and self.max_mean_tension > most:
            raise self.fail(
                f"max_mean_tension {self.max_mean_tension:g} N is beyond the original_curve, which "
                f"ends at {most:g} N. Give more rows."
            )
        strain, tension = np.array(self.original_curve).T
        slope = np.diff(tension) / np.diff(strain)
        # else unloading would give back more than loading took
        if (slope > self.EA * (1.0 + 1e-9)).any():
            k = int(slope.argmax())
            raise self.fail(
                f"original_curve rises by {slope[k]:.4g} N before strain {strain[k + 1]:g}, more "
                f"than EA {self.EA:.4g} N of the curves on which the rope is unloaded. Give a "
                "larger EA, or leave these rows out."
            )

    @property
    def static_curve(self) -> tuple[tuple[float, float], ...] | None:
        """Rows (strain, tension [N]) of slow changes, None for a constant EA."""
        curve, most = self.original_curve, self.max_mean_tension
        if curve is None or most is None or self.EA is None:
            return self.stretch if curve is None else curve
        strain, tension = np.array(curve).T
        there = float(np.interp(most, tension, strain))
        permanent = there - most / self.EA
        above = tension > most * (1.0 + 1e-9)
        beyond = zip(strain[above].tolist(), tension[above].tolist(), strict=True)
        # nearly no tension up to the permanent strain
        low = (permanent + NO_TENSION * most / self.EA, NO_TENSION * most)
        bent = permanent > NO_TENSION * there
        return ((0.0, 0.0), *([low] if bent else []), (there, most), *beyond)

    @property
    def elastic(self) -> bool:
        """Is a stiffness known?"""
        return self.EA is not None or self.static_curve is not None

    @property
    def initial_EA(self) -> float | None:
        """Stiffness at small strain [N], None if unknown."""
        curve = self.static_curve
        return self.EA if curve is None else curve[1][1] / curve[1][0]

    def weight_per_length(self, rho: float, g: float) -> float:
        """Weight in water [N/m]."""
        return (self.mass_per_length - rho * np.pi / 4.0 * self.diameter**2) * g


def chain(
    diameter: float, studlink: bool = False, name: str | None = None, *, grade: str = "R3"
) -> LineType:
    """Mooring chain of a nominal (bar) diameter.

    Args:
        diameter: of the bar [m].
        studlink: with studs.
        name: of the type; made from the diameter if not given.
        grade: of the steel, "R3", "R3S", "R4", "R4S" or "R5": it gives the breaking load.
    """
    if grade not in GRADES:
        raise SwelltreeError(
            f"chain: grade {shown(grade)} is not known.{suggest(str(grade), GRADES)} "
            f"The grades are {listed(GRADES)}."
        )
    word = "studlink" if studlink else "studless"
    _check_metres("chain", diameter)
    return LineType(
        name or f"{word}_chain_{1e3 * diameter:.0f}mm".replace(".", "_"),
        diameter=(1.89 if studlink else 1.80) * diameter,
        mass_per_length=(21.9e3 if studlink else 19.9e3) * diameter**2,
        EA=(1.01e11 if studlink else 0.854e11) * diameter**2,
        damping_ratio=DAMPING,
        Cdn=1.33,
        Cdt=0.20,
        Can=1.0,
        Cat=0.5,
        breaking_load=GRADES[grade] * 1e9 * diameter**2 * (44.0 - 80.0 * diameter),
    )


def _check_metres(word: str, diameter: float) -> None:
    """Reject diameters of chains and ropes above 0.5 m, which are probably millimetres."""
    if not 0 < diameter <= THICKEST:
        hint = f" Is it in millimetres? Give {1e-3 * diameter:g}." if diameter > THICKEST else ""
        raise SwelltreeError(
            f"{word}: diameter {diameter:g} m is not between 0 and {THICKEST:g} m.{hint}"
        )


def _rope(
    word: str, diameter: float, name: str | None, volume: float, mass: float, EA: float, load: float
) -> LineType:
    """Rope with properties proportional to the square of its nominal diameter."""
    _check_metres(word, diameter)
    return LineType(
        name or f"{word}_{1e3 * diameter:.0f}mm",
        diameter=volume * diameter,
        mass_per_length=mass * diameter**2,
        EA=EA * diameter**2,
        damping_ratio=DAMPING,
        Cdn=1.2,
        Cdt=0.008,
        breaking_load=load * diameter**2,
    )


def wire_rope(diameter: float, name: str | None = None, *, fibre_core: bool = False) -> LineType:
    """Six-strand (6 x 19) wire rope.

    Args:
        diameter: nominal [m].
        name: of the type; made from the diameter if not given.
        fibre_core: a core of fibre instead of wire.
    """
    numbers = (3610.9, 3.67e10, 584.175e6) if fibre_core else (3989.7, 4.04e10, 633.358e6)
    return _rope("wire_rope", diameter, name, 0.80, *numbers)


def polyester(diameter: float, name: str | None = None) -> LineType:
    """Eight-strand polyester rope.

    Args:
        diameter: nominal [m].
        name: of the type; made from the diameter if not given.
    """
    return _rope("polyester", diameter, name, 0.86, 797.8, 1.09e9, 170.466e6)


def mooring_polyester(diameter: float, name: str | None = None) -> LineType:
    """Polyester rope of parallel strands for moorings, with static and dynamic stiffness.

    Of the breaking load the static stiffness is 14 and the dynamic one 11.615 + 0.396 times the
    mean tension in per cent of it. The slow spring follows within half an hour.

    Args:
        diameter: nominal [m].
        name: of the type; made from the diameter if not given.
    """
    _check_metres("mooring_polyester", diameter)
    load, mass = 308.2e6 * diameter**2, 678.75 * diameter**2
    static, dynamic, slope = 14.0 * load, 11.615 * load, 39.6
    working = dynamic + slope * WORKING_LOAD * load
    return LineType(
        name or f"mooring_polyester_{1e3 * diameter:.0f}mm",
        diameter=np.sqrt(mass / (0.25 * np.pi * POLYESTER)),
        mass_per_length=mass,
        EA=static,
        dynamic_EA=dynamic,
        dynamic_EA_slope=slope,
        slow_BA=CREEP_TIME * static * working / (working - static),
        Cdn=1.2,
        Cdt=0.008,
        breaking_load=load,
    )


def nylon(diameter: float, name: str | None = None) -> LineType:
    """Eight-strand nylon rope.

    Args:
        diameter: nominal [m].
        name: of the type; made from the diameter if not given.
    """
    return _rope("nylon", diameter, name, 0.85, 647.6, 1.18e8, 139.357e6)


def polypropylene(diameter: float, name: str | None = None) -> LineType:
    """Eight-strand polypropylene rope, which floats.

    Args:
        diameter: nominal [m].
        name: of the type; made from the diameter if not given.
    """
    return _rope("polypropylene", diameter, name, 0.80, 452.6, 1.06e9, 105.990e6)
