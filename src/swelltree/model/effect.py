"""The one interface of all physical effects: what an effect sees, and what it hands over.

Gravity, springs, PTOs, moorings, drag, hulls, lines and a user's own effect are pytrees of
the class `Effect`. Nobody asks which effect it is: what it can do is asked by method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from jaxtyping import Float

from swelltree.jit import Array, Tree, namespace, pytree
from swelltree.model.internal_state import InternalState
from swelltree.multibody.kinematics import Motion, Pose
from swelltree.multibody.layout import Layout, Place

if TYPE_CHECKING:
    from swelltree.hydro.linear.excitation import DataExcitation
    from swelltree.hydro.linear.radiation import RadiationSources
    from swelltree.hydro.morison.drag import DragPieces
    from swelltree.model.model import Model
    from swelltree.mooring.winches import Winches
    from swelltree.multibody.formulations.base import Acceleration, Formulation, Kinematics
    from swelltree.waves.sea import RealisedSea

Coordinate = tuple[str, Sequence[str] | np.ndarray, str]  # dimension, values, long name


@pytree()
class Loads:
    """Action of one kind of force element on the whole system."""

    wrench: Array  # (b, 6), checked where a user makes it; about the reference points, world axes
    potential: Array = None  # (e,) stored energy of each element, J; none if not given
    power: Array = None  # (e,) power of its non-conservative part, W; of all if not given
    channels: dict[str, Array] = field(default_factory=dict)  # its results, e.g. tension

    def with_energy_terms(self, v: Float[Array, "b 6"], terms: int) -> Loads:
        """The same with all energy terms: what is not stored is power of the wrench, in the first.

        Args:
            v: velocities of the bodies (N, 6).
            terms: number of energy terms of the effect.
        """
        xp = namespace(v)
        potential = xp.zeros(terms) if self.potential is None else xp.asarray(self.potential)
        power = self.power
        if power is None:
            power = (self.wrench * v).sum() * (np.arange(terms) == 0)
        return Loads(
            self.wrench,
            xp.reshape(potential, (terms,)),
            xp.reshape(xp.asarray(power), (terms,)),
            self.channels,
        )


@pytree()
class Instant:
    """What a force may depend on."""

    t: Array  # s
    motion: Motion
    internal: InternalState  # states of radiation memory and of elements
    hold: Array | None = None  # forces that hold locked strokes, where an effect watches them
    solved: Loads | None = (
        None  # Loads of the effect with unknowns, where a scheme has solved for them
    )

    def states(self, effect: Effect) -> Array | None:
        """Internal states of an effect; those of its start where a study knows none."""
        known = self.internal.elements.get(effect.kind)
        return effect.internal_start() if known is None else known


@dataclass(frozen=True)
class LinearElements:
    """Springs, dampers and PTOs for small motions."""

    names: tuple[str, ...] = ()
    wrench: Float[np.ndarray, "e b6"] = field(default_factory=lambda: np.zeros((0, 0)))  # of unit F
    full: tuple[bool, ...] = ()  # the slope of its force is all of its law; not of stops and slack


@dataclass(frozen=True)
class LinearForm:
    """What an effect adds to a linear model beside the derivative of its loads at equilibrium."""

    radiation: RadiationSources | None = None
    excitation: DataExcitation | None = None
    elements: LinearElements | None = None
    # unit wrenches by item
    inputs: dict[str, Float[np.ndarray, "6 b6"]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what small motions leave out, as messages


class Effect:
    """All force elements of one kind, in one vectorised call.

    A kind of effect is a file with a pytree class of this base, whose static field `names` holds
    one name for each term of the energy budget. Only `loads` must be written.
    """

    kind: ClassVar[str]  # key of its internal states, prefix of its channels
    uses_sea: ClassVar[bool] = False  # asks `model.sea` for the motion of the water
    feels_current: ClassVar[bool] = False  # its loads depend on the current
    feels_wind: ClassVar[bool] = False  # its loads depend on the wind
    adds_excitation: ClassVar[bool] = False  # wave forces that hydro data do not hold
    is_mooring: ClassVar[bool] = False  # its wrench at equilibrium belongs to the moorings
    starts_from_equilibrium: ClassVar[bool] = (
        False  # runs start from equilibrium unless asked otherwise
    )
    is_linear_hydro: ClassVar[bool] = False  # carries the hydro data of the model
    has_unknowns: ClassVar[bool] = False  # solved for beside the bodies, by the two-step scheme
    rotates_hydro_frame: ClassVar[bool] = False  # the axes of the hydro data follow its states
    has_added_mass: ClassVar[bool] = False  # solves for an added mass at every instant
    has_equilibrium_states: ClassVar[bool] = (
        False  # its internal states at equilibrium depend on where bodies are
    )
    is_impulsive: ClassVar[bool] = False  # acts on short stretches that long steps could pass over
    tangent_each_step: ClassVar[bool] = False  # fixed steps ask again for its `derivatives`
    switches_between_steps: ClassVar[bool] = False  # its events may wait for the end of a step
    stores_from_zero: ClassVar[bool] = False  # its stored energy is zero where it is unloaded
    units: ClassVar[dict[str, str]] = {}  # of channels that results show beside the known ones
    dims: ClassVar[dict[str, tuple[str, ...]]] = {}  # of these, where the shape is ambiguous
    shows_all: ClassVar[bool] = False  # results show all its channels, with or without a unit
    names: tuple[str, ...]  # one for each term of the energy budget

    def loads(self, model: Model, now: Instant) -> Loads:
        """Wrenches, stored energies and powers."""
        raise NotImplementedError

    @property
    def word(self) -> str:
        """What its elements are, for messages."""
        return self.kind.replace("_", " ")

    @property
    def prefix(self) -> str:
        """What stands before the names of its channels."""
        return f"{self.kind}_"

    def commands(self, model: Model, now: Instant) -> Iterable[tuple[int, Array]]:
        """Forces u it asks of the actuators on strokes: their number and u of each."""
        return ()

    def check_sea(self, waves: RealisedSea) -> None:
        """Warn of, or reject, a sea that it was not made for."""

    def in_sea(self, model: Model, waves: RealisedSea) -> Effect:
        """The same effect, prepared for a realised sea."""
        return self

    def with_padding(self, model: Model) -> Effect:
        """The same effect in its sea, with sizes that other seas of the same kind have as well."""
        return self

    def in_still_water(self) -> Effect:
        """The same effect in a sea of height zero, and with nothing released; all shapes stay."""
        return self

    def smooth(self) -> tuple[Effect | None, str]:
        """What stands for it where unknowns of its own are not solved for, and a note on that."""
        return self, ""

    @property
    def solved_terms(self) -> tuple[str, ...]:
        """Terms of the energy budget computed where its unknowns are solved for."""
        return ()

    @property
    def winches(self) -> Winches | None:
        """Its winches; None: it has none."""
        return None

    def with_winches(self, winches: Winches) -> Effect:
        """The same effect with other winches of the same number; where it has some."""
        raise NotImplementedError

    def with_winches_held(self) -> Effect:
        """The same effect with winches that stand still."""
        return self

    @property
    def size_of_sample(self) -> int:
        """About how many numbers it adds to every sample of a result, beside those of bodies."""
        return 0

    def solved(self, model: Model, now: Instant) -> Effect:
        """The same effect with what it solves for at an instant, before its loads are asked for."""
        return self

    def solved_mass(self, model: Model) -> Array:
        """Added mass of all bodies (6N, 6N) where it `has_added_mass`, of the instant solved."""
        raise NotImplementedError

    def added_mass_reaction(self, model: Model, motion: Motion, v_dot: Array) -> Loads:
        """What its added mass does at known accelerations; channels add to those of `loads`."""
        raise NotImplementedError

    def acceleration(
        self, model: Model, formulation: Formulation, kin: Kinematics, wrench: Array
    ) -> Acceleration:
        """Accelerations of a model with its added mass, by a formulation."""
        raise NotImplementedError

    @property
    def fixed_step(self) -> float | None:
        """Step of the fixed-step method it must be stepped with [s]; None: any method does."""
        return None

    def check_step(self, step: float) -> None:
        """Reject a fixed step that it does not stand."""

    def before_run(self, model: Model) -> Effect:
        """The same effect with what holds for a whole run."""
        return self

    def before_step(
        self,
        model: Model,
        t: Array,
        h: Array,
        motion_at: Callable[[Array], Motion],
        internal: InternalState,
    ) -> Effect:
        """The same effect with what holds for a step of length h; motion_at(dt) is ahead of it."""
        return self

    def at_instant(self, model: Model, now: Instant, moving: Array) -> Effect:
        """The same effect with what holds at the positions now, for the two-step scheme.

        Args:
            model: with this effect.
            now: the instant.
            moving: False on the way to rest, where time stands still.
        """
        return self

    def internal_advanced(self, model: Model, now: Instant, v_half: Array, h: Array) -> Array:
        """Its internal states after a step of the two-step scheme, where it `has_added_mass`.

        Args:
            model: with this effect, as `at_instant`.
            now: the start of the step.
            v_half: velocities of all bodies in its middle (N, 6).
            h: its length [s].
        """
        raise NotImplementedError

    def after_step(self, model: Model, now: Instant) -> Array | None:
        """Its internal states after a step, where they are brought into order there."""
        return now.states(self)

    def out_of_range(self, states: Array) -> Array | bool:
        """Whether its internal states left all measure, so that a run must end."""
        return False

    def why_stopped(self, states: Array) -> str:
        """What to look at where a run ended early; empty: nothing."""
        return ""

    def present(self, model: Model, internal: InternalState) -> Model:
        """The model with the masses and locked DOFs that follow from internal states."""
        return model

    @property
    def locks(self) -> bool:
        """Can its internal states lock DOFs of the tree (`present`)? Static."""
        return False

    def derivatives(self, model: Model, now: Instant) -> tuple[Array, Array]:
        """Stiffness that pulls back and damping (6N, 6N) at an instant, where it `turns_far`."""
        raise NotImplementedError

    def still(self) -> Effect:
        """The same effect without waves and radiation: what linear studies differentiate."""
        return self

    def linear(self, model: Model, now: Instant) -> LinearForm:
        """Its terms of a linear model beside the derivative of its loads, at equilibrium; numpy."""
        return LinearForm()

    def drag(self, model: Model, motion: Motion) -> tuple[DragPieces, ...]:
        """Its drag, for equivalent linearisation; at a pose, in numpy."""
        return ()

    def without_drag(self) -> Effect:
        """The same effect without what `drag` gives."""
        return self

    def internal_start(self) -> Array | None:
        """States of its own at the start, such as the volume of an accumulator."""
        return None

    def internal_settled(self, states: Array, pose: Pose) -> Array:
        """Equilibrium values of these states with the bodies at a pose; used if it `settles`."""
        return states

    def internal_rate(self, model: Model, now: Instant) -> Array:
        """Their rates."""
        raise NotImplementedError

    def radiation_start(self) -> Tree:
        """Radiation memory before any motion, which has a propagator of its own; None: none."""
        return None

    def radiation_rate(self, now: Instant) -> Tree:
        """Its rate."""
        raise NotImplementedError

    @property
    def event_count(self) -> int:
        """Number of events it watches for; static."""
        return 0

    def event_values(self, model: Model, now: Instant) -> Array:
        """Values whose fall through zero is an event, (event_count,)."""
        raise NotImplementedError

    def switched(self, model: Model, now: Instant, hit: Array) -> Array:
        """States of its own after the events of which `hit` is true."""
        raise NotImplementedError

    def due(self, internal: InternalState) -> Array | None:
        """The next time at which one of its events happens, where that is known ahead [s]."""
        return None

    @property
    def takes_samples(self) -> bool:
        """Do its events only change what it commands, so that fixed steps may take them between?"""
        return False

    def begun(self, model: Model, now: Instant) -> Array | None:
        """Its internal states at the start of a run, where events may happen at once."""
        return now.states(self)

    def switching(self) -> str:
        """Its first element that switches at events, in words; empty: none."""
        return f"{self.word} '{self.names[0]}'" if self.event_count or self.holds else ""

    @property
    def sticks(self) -> bool:
        """Can strokes stick by friction, so that `resolved` decides which do? Static."""
        return False

    def resolved(self, model: Model, now: Instant) -> Array:
        """States of its own after one round of deciding which strokes stick."""
        raise NotImplementedError

    @property
    def holds(self) -> bool:
        """Can it lock strokes as constraints (`latched`, `strokes`)? Static."""
        return False

    def nonlinearity(self, off_stops: frozenset[str] = frozenset()) -> str:
        """Why it is not linear for sure, in words; empty: it may be.

        Args:
            off_stops: names of the elements whose stroke stays off their end stops.
        """
        return f"it has {self.word}"

    def numbers(self) -> dict[str, list[Place]]:
        """Where its named numbers live: {item: [(path of fields, row, other names)]}.

        The fields of the object at the end of a path are the item's quantities; other names
        rename some of them, and hide those with an empty name. Without a row the arrays are the
        item's whole.
        """
        return {}

    def spread_numbers(self, item: str) -> list[str]:
        """Names of an item's numbers that are not rows of its arrays; see `spread_number`."""
        return []

    def derived_parameter(self, item: str, name: str) -> Array:
        """One of them."""
        raise NotImplementedError

    def with_spread_number(self, model: Model, item: str, name: str, value: Array) -> Effect:
        """The same effect with another value of one of them."""
        raise NotImplementedError

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        """Coordinates of its channels: {name: (dimension, values, long name)}."""
        return {}

    def result_tables(self) -> dict[str, tuple[tuple[str, ...], np.ndarray, str]]:
        """Arrays that every result with it has: {name: (dimensions, values, long name)}."""
        return {}

    @property
    def row_sizes(self) -> dict[str, int]:
        """Entries of its rows along dimensions of `dims` that have no coordinate."""
        return {}

    def constants(self) -> dict[str, Array]:
        """Numbers beside its channels that do not change in time, by their names in `dims`."""
        return {}
