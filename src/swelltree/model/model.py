"""The compiled model: a pytree of arrays with a static layout.

Lengths are metres, masses kilograms. Points and rotations are in the axes of
their body, points measured from the body's reference point.

The description a model was compiled from, kept for those who look at results.

It is not part of the mechanics: two models that differ in nothing else share their compiled
programs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast

import numpy as np

from swelltree.describe import System
from swelltree.describe.errors import SwelltreeError
from swelltree.describe.notebook import counted
from swelltree.describe.paths import with_numbers
from swelltree.describe.values import NamedValues
from swelltree.jit import Array, Tree, pytree
from swelltree.model.capabilities import HasRadiation, having
from swelltree.model.checks import Afloat
from swelltree.model.values.parameters import get_value, set_values
from swelltree.multibody.layout import Layout, Row
from swelltree.waves.dispersion import WaterNumbers

if TYPE_CHECKING:
    from swelltree.hydro.linear.hydro import Hydro
    from swelltree.model.effect import Effect
    from swelltree.model.sea import Sea
    from swelltree.model.signals import Sensors, Signal


class Described:
    """The described system behind a model; drawing and case are made when first asked for.

    Args:
        system: as described.
        drawing: where the system is not at hand.
        case: likewise.
        data: source and hash of the hydrodynamic data.
        afloat: bodies that float together (`swelltree.model.checks`).
        notes: what compile noticed, for the user.
        specified: the system as it was given to compile.
        again: compiles a changed one with the same data and options.
        traced: numbers of the description that JAX is tracing, by path.
        direct: paths of the numbers that feed one entry of one array and nothing else, by item
            and quantity.
    """

    without_content = True  # for fingerprints (`engine.contents`)

    def __init__(
        self,
        system: System | None = None,
        drawing: str = "",
        case: str = "",
        data: dict[str, str] | None = None,
        afloat: tuple[Afloat, ...] = (),
        notes: tuple[str, ...] = (),
        specified: System | None = None,
        again: Callable[[System], Model] | None = None,
        traced: dict[str, Array] | None = None,
        direct: dict[str, str] | None = None,
    ) -> None:
        self._system = system
        self._drawing = drawing
        self._case = case
        self.data = data or {}
        self.afloat = afloat
        self.notes = notes
        self._specified = specified
        self.again = again
        self.traced = traced or {}
        self.direct = direct or {}
        self._changed: NamedValues = {}  # direct numbers set since compilation, by path

    def noted(self, *notes: str) -> Described:
        return self._with(notes=(*self.notes, *notes))

    def with_traced(self, values: dict[str, Array]) -> Described:
        return self._with(traced=values)

    def knowing(
        self, specified: System | None, again: Callable[[System], Model] | None
    ) -> Described:
        return self._with(_specified=specified, again=again, _changed={})

    def recording(self, direct: dict[str, str]) -> Described:
        return self._with(direct=direct)

    def with_direct(self, values: NamedValues, change: Callable[[Model], Model]) -> Described:
        """The same with other direct numbers.

        Args:
            values: by path.
            change: sets them in a model.
        """
        known = vars(self).keys() & {"compiled", "bare"}
        models: NamedValues = {key: change(vars(self)[key]) for key in known}
        if self._system is not None:
            models |= {"_drawing": "", "_case": ""}
        return self._with(_changed=self._changed | values, **models)

    def _with(self, **changes: object) -> Described:
        other = object.__new__(Described)
        kept = {key: x for key, x in vars(self).items() if key not in ("system", "specified")}
        vars(other).update(kept | changes)
        return other

    @functools.cached_property
    def system(self) -> System | None:
        """The described system with all numbers that follow from others."""
        return None if self._system is None else with_numbers(self._system, self._changed)

    @functools.cached_property
    def specified(self) -> System | None:
        """The system as it was given to compile."""
        return None if self._specified is None else with_numbers(self._specified, self._changed)

    @functools.cached_property
    def compiled(self) -> Model:
        """The model of the given system, as it was compiled."""
        assert self.again is not None
        assert self.specified is not None
        return self.again(self.specified)

    @functools.cached_property
    def bare(self) -> Model:
        """The model of the given system without radiation memory."""
        assert isinstance(self.again, functools.partial)
        return self.again(self.specified, radiation="none")

    def keep(self, **models: Model) -> None:
        """Set models of the given system, so that they need not be compiled again."""
        vars(self).update(models)

    @property
    def drawing(self) -> str:
        """Shapes, joints and springs as JSON (`swelltree.describe.drawing`)."""
        if not self._drawing and self.system is not None:
            from swelltree.describe.drawing import drawing_text

            self._drawing = drawing_text(self.system)
        return self._drawing

    @property
    def case(self) -> str:
        """Description as the text of a case file; the reason if it contains functions."""
        if not self._case and self.system is not None:
            try:
                self._case = self.system.to_toml()
            except SwelltreeError as error:
                self._case = f"# this system has no text: {error}\n"
        return self._case

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Described)

    def __hash__(self) -> int:
        return 0

    def __reduce__(self) -> tuple[type[Described], tuple[object, ...]]:
        # functions in a description cannot travel to another process; its drawing can
        known = self.drawing, self.case, self.data, self.afloat, self.notes
        return Described, (None, *known, None, None, None, self.direct)


E = TypeVar("E")


@pytree()
class Bodies:
    """Rigid bodies, depth-first order (N of them)."""

    mass: Array  # (N,) kg
    com: Array  # (N, 3) centre of mass from the reference point, body axes
    inertia: Array  # (N, 3, 3) about the centre of mass, body axes
    volume: Array  # (N,) displaced volume of submerged bodies, m^3
    buoyancy: Array  # (N, 3) centre of buoyancy from the reference point
    added_mass: Array | None = None  # (N, 6, 6) in body axes at the reference point, or None

    direct: ClassVar[tuple[str, ...]] = ("mass",)  # see `HasParameters`


@pytree()
class Joints:
    """Frames of every joint (J of them), tree joints first."""

    base_point: Array  # (J, 3)
    base_rotation: Array  # (J, 3, 3) joint frame to base axes
    follower_point: Array  # (J, 3)
    follower_rotation: Array  # (J, 3, 3)
    lead: Array  # (J,) metres per radian of a screw
    length: Array  # (J,) of distance and revolute-spherical links
    offset: Array  # (J,) axial offset of revolute-spherical links


@pytree()
class Pose:
    """Position and rotation of every body."""

    p: Array  # (N, 3)
    R: Array  # (N, 3, 3)


@pytree()
class Couplings:
    """Relations between joint coordinates; their rows are `model.rows.Coupled`."""

    coefficient: Array  # of all coordinates of all linear couplings, one after the other
    constant: Array  # (couplings,), zero for those with a law
    laws: tuple[Tree, ...] = ()  # `own_couplings.CouplingLaw` of the others


@pytree()
class Start:
    """Assembled initial state in joint coordinates."""

    q: Array  # (n_positions,)
    s: Array  # (n_tree,)
    angles: Array  # angle of every single-axis rotation, with its turns


@pytree(
    "layout",
    "cut_rows",
    "all_rows",
    "surplus",
    "redundant",
    "described",
    "users_code",
)
class Model:
    """A compiled system: leaves may be changed, differentiated and batched."""

    bodies: Bodies
    joints: Joints
    water: WaterNumbers  # density, gravity and depth
    added_mass: Array | None  # (6N, 6N) in world axes at the reference points, or None
    effects: tuple[Effect, ...]  # everything that acts
    sea: Sea
    drives: tuple[Signal, ...]  # signals of the prescribed dofs
    sensors: Sensors
    start: Start
    reference: Array  # (N, 3) reference point in the described body frame
    datum: Pose  # from which displacements count: as described, or the equilibrium a run began at
    layout: Layout
    cut_rows: tuple[Row, ...]  # rows of loops and drives, for joint-coordinate formulations
    all_rows: tuple[Row, ...]  # these and the rows of tree joints, for absolute coordinates
    surplus: int  # how many of them follow from the others
    redundant: bool  # the full set of rows has dependent ones
    described: Described = Described()  # what it was compiled from
    users_code: str = ""  # fingerprint of the laws of the user's own when it was compiled
    couplings: Couplings | None = None
    locked: Array | None = None  # (n_tree,) one for DOFs that do not move now, or None

    @property
    def dofs(self) -> int:
        """Number of velocities that loops and prescribed motions leave free."""
        return self.layout.n_tree - len(self.cut_rows) + self.surplus

    @property
    def gravity(self) -> Array:
        """Acceleration of gravity in world axes (3,) [m/s^2]."""
        return self.water.gravity

    @property
    def rho(self) -> Array:
        """Density of the water [kg/m^3]."""
        return self.water.rho

    def replace(self, **changes: object) -> Model:
        """Copy with other fields."""
        return replace(self, **changes)

    @property
    def report(self) -> tuple[str, ...]:
        """Notes of `compile`: cut loops, assembly, redundant constraints."""
        return self.described.notes

    def noted(self, *notes: str) -> Model:
        """The model with more notes in its report, after those that are there."""
        return self.replace(described=self.described.noted(*notes))

    @property
    def hydro(self) -> Hydro | None:
        """Linear hydrodynamics (`hydro.linear.hydro.Hydro`), None for dry systems."""
        return cast("Hydro | None", next(iter(having(self, HasRadiation)), None))

    def effect(self, kind: type[E]) -> E | None:
        """Its effect of a class, None without one."""
        return next((effect for effect in self.effects if isinstance(effect, kind)), None)

    def with_effect(self, effect: Effect) -> Model:
        """The model with an effect in the place of that of its kind, or one more."""
        kinds = [each.kind for each in self.effects]
        if effect.kind not in kinds:
            return self.replace(effects=(*self.effects, effect))
        k = kinds.index(effect.kind)
        return self.replace(effects=(*self.effects[:k], effect, *self.effects[k + 1 :]))

    def value(self, name: str) -> Array:
        """A number of the model by name ("barge1.mass", "hinge.base_point", "ram.damping").

        Paths of the case file ("bodies.barge1.mass", "water.depth") name the same numbers.
        """
        return get_value(self, name)

    def with_values(self, values: dict[str, Array]) -> Model:
        """Copy with other numbers, by name; works inside `jit`, `grad` and `vmap`.

        Args:
            values: for example {"barge1.mass": 3e5, "ram.damping": 850.0, "water.depth": 40.0}, by
                item and quantity or by the path in the case file ("bodies.barge1.mass"), which are
                one number. The result is as if the changed description were compiled; a fit of the
                radiation is repeated only where the data it is of change. What the description
                does not state ("hinge.base_point") is set in the compiled model.
        """
        return set_values(self, values)

    def _counts(self) -> str:
        layout = self.layout
        counts = ((layout.n_bodies, "body"), (layout.n_joints, "joint"), (self.dofs, "DOF"))
        words = [counted(int(number), word) for number, word in counts]
        mass = self.bodies.mass
        if isinstance(mass, np.ndarray):  # known numbers, not traced
            words.append(f"{mass.sum():.6g} kg")
        return ", ".join(words)

    def __repr__(self) -> str:
        """Name, size and effects only."""
        system = self.described.system
        name = "" if system is None else f" '{system.name}'"
        effects = ", ".join(type(effect).__name__ for effect in self.effects)
        return f"<Model{name}: {self._counts()}; {effects}>"

    def _repr_html_(self) -> str:
        from html import escape

        from swelltree.describe.notebook import system_html

        counts = self._counts()
        notes = "".join(f"<li>{escape(sentence)}</li>" for sentence in self.report)
        system = self.described.system
        full = "" if system is None else system_html(system)
        return f"<div><p>Model: {counts}</p>{full}<ul>{notes}</ul></div>"
