"""What an effect may do besides exerting loads: one small abstract class each.

An effect is derived from those it has, and a study asks for all that have one by `having`. A
class that leaves out an abstract method cannot be made.

States besides the motion: radiation memory, and states of force elements.

Elements keep what they remember here: the volume of an accumulator, the mean yaw of a body, the
mode of a latch. Every state has a rate; one that only changes at events has the rate zero.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from swelltree.jit import Array, Tree
from swelltree.model.effect import Coordinate, Effect, Instant, InternalState, LinearForm, Loads
from swelltree.multibody.layout import Place

if TYPE_CHECKING:
    from swelltree.hydro.linear.data import RadiationMemory
    from swelltree.hydro.morison.drag import DragPieces
    from swelltree.model.model import Model
    from swelltree.mooring.winches import Winches
    from swelltree.multibody.formulations.base import Acceleration, Formulation, Kinematics
    from swelltree.multibody.kinematics import Motion, Pose
    from swelltree.multibody.layout import Layout
    from swelltree.waves.sea import RealisedSea


AT_REST = InternalState()


def internal_at_rest(model: Model) -> InternalState:
    """Initial internal states."""
    starts = {effect.kind: effect.internal_start() for effect in having(model, HasStates)}
    elements = {kind: x for kind, x in starts.items() if x.size}
    memory = (e.memory.start() for e in having(model, HasRadiation) if e.memory is not None)
    return InternalState(next(memory, ()), elements)


def internal_settled(model: Model, internal: InternalState, pose: Pose) -> InternalState:
    """Internal states with those that follow the poses of bodies at their equilibrium values."""
    rested = {
        group.kind: group.equilibrium_states(internal.elements[group.kind], pose)
        for group in having(model, HasEquilibriumStates)
        if group.kind in internal.elements
    }
    return InternalState(internal.radiation, internal.elements | rested)


def internal_rate(model: Model, now: Instant) -> InternalState:
    internal = now.internal
    rates = {
        effect.kind: effect.internal_rate(model, now)
        for effect in having(model, HasStates)
        if effect.kind in internal.elements
    }
    remember = (e for e in having(model, HasRadiation) if e.memory is not None)
    memory = next((effect.radiation_rate(now) for effect in remember), internal.radiation)
    return InternalState(memory, rates)


# --- The model as it is now: what follows from internal states, such as the rope that is out


def present(model: Model, internal: InternalState) -> Model:
    """The model with masses, added masses and locked DOFs according to internal states."""
    for effect in having(model, ChangesModel):
        model = effect.apply_states(model, internal)
    return model


C = TypeVar("C", bound=Effect)


def having(model: Model, capability: type[C]) -> tuple[C, ...]:
    """Effects of a model with a capability, in order."""
    return tuple(effect for effect in model.effects if isinstance(effect, capability))


def feels(model: Model, what: str) -> bool:
    """Whether any effect of a model depends on "waves", "current" or "wind"."""
    return any(what in effect.feels for effect in having(model, FeelsEnvironment))


# --- States and events


class HasStates(Effect):
    """Has internal states with rates, such as the volume of an accumulator."""

    @abstractmethod
    def internal_start(self) -> Array:
        """States at the start; an array of size zero: this one has none."""

    @abstractmethod
    def internal_rate(self, model: Model, now: Instant) -> Array:
        """Their rates."""


class HasEquilibriumStates(HasStates):
    """States at equilibrium follow from the poses of the bodies, such as a mean yaw."""

    @abstractmethod
    def equilibrium_states(self, states: Array, pose: Pose) -> Array:
        """The states after a long rest with the bodies at a pose.

        Args:
            states: from which the rest began.
            pose: of all bodies.
        """


class ChangesModel(HasStates):
    """Masses or locked DOFs of the model follow from the states, such as rope on a drum."""

    @abstractmethod
    def apply_states(self, model: Model, internal: InternalState) -> Model:
        """The model with these internal states."""


class HasEvents(HasStates):
    """Changes its states at events: values that fall through zero."""

    @property
    @abstractmethod
    def event_count(self) -> int:
        """Number of events it watches for; static, zero: this one has none."""

    @abstractmethod
    def event_values(self, model: Model, now: Instant) -> Array:
        """Values whose fall through zero is an event, (event_count,)."""

    @abstractmethod
    def switched(self, model: Model, now: Instant, hit: Array) -> Array:
        """Its states after the events of which `hit` is true."""

    def switching(self) -> str:
        """Its first element that switches at events, for messages; empty: none."""
        return f"{self.word} '{self.names[0]}'" if self.event_count else ""

    def exact_events(self) -> str:
        """Its first element whose events cannot wait for the end of a fixed step; empty: none."""
        return self.switching()


class HasFirstStates(HasStates):
    """Initial states follow from the initial motion or from a first sample."""

    @abstractmethod
    def first_states(self, model: Model, now: Callable[[], Instant]) -> Array | None:
        """States at the start of a run, where events may happen at once; None: as described.

        Args:
            model: with this effect.
            now: gives the start; the motion is computed only for effects that ask.
        """


class CommandsStrokes(HasEvents, HasFirstStates):
    """Commands the actuators on strokes, possibly sampled."""

    @abstractmethod
    def commands(self, model: Model, now: Instant) -> Iterable[tuple[int, Array]]:
        """Control forces: number of the stroke and u of each."""

    @abstractmethod
    def next_sample(self, internal: InternalState) -> Array | None:
        """Time of the next sample [s]; None: not sampled."""


# --- Waves, current and wind


ENVIRONMENT = ("waves", "current", "wind")


class FeelsEnvironment(Effect):
    """Its loads, or what it commands, depend on waves, current or wind (`model.sea`)."""

    feels: tuple[str, ...]  # those of ENVIRONMENT that it depends on


class ExcitedByWaves(FeelsEnvironment):
    """Waves exert loads on it that hydro data do not hold: linear studies differentiate them."""


class PreparedForSea(FeelsEnvironment):
    """Must be prepared for a realised sea, or warns about it."""

    @abstractmethod
    def in_sea(self, model: Model, waves: RealisedSea, padded: bool = False) -> Effect:
        """The same effect in a sea.

        Args:
            model: with this effect.
            waves: realised.
            padded: with sizes that other seas of the same kind have as well.
        """


class HasCalmForm(Effect):
    """Has a form for zero waves with unchanged array shapes, such as gridded loads."""

    @abstractmethod
    def in_still_water(self) -> Effect:
        """The effect without waves and releases."""


class ChecksStep(Effect):
    """Rejects unsuitable fixed steps."""

    @abstractmethod
    def check_step(self, step: float) -> None:
        """Raise an error for an unsuitable step [s]."""


# --- Linear studies


class HasNonlinearity(Effect):
    """States why it is nonlinear; other effects count as linear."""

    @abstractmethod
    def nonlinearity(self, off_stops: frozenset[str] = frozenset()) -> str:
        """Why it is not linear for sure, in words; empty: it may be.

        Args:
            off_stops: names of the elements whose stroke stays off their end stops.
        """


class HasLinearForm(Effect):
    """Contributes more to a linear model than the derivative of its loads."""

    @abstractmethod
    def linear_form(self, model: Model, now: Instant) -> LinearForm:
        """Additional linear terms at equilibrium, NumPy."""


class HasRadiation(HasLinearForm):
    """Has linear radiation."""

    memory: RadiationMemory | None  # with a propagator of its own; None: it remembers nothing

    @property
    @abstractmethod
    def radiation_data(self) -> tuple[Array, ...]:
        """Arrays that a memory is fitted to."""

    @abstractmethod
    def radiation_rate(self, now: Instant) -> Tree:
        """Rate of the memory states."""

    @abstractmethod
    def with_memory(self, memory: RadiationMemory | None) -> HasRadiation:
        """The effect with another memory."""


class HasDrag(Effect):
    """Has drag that linear studies linearise."""

    @abstractmethod
    def drag(self, model: Model, motion: Motion) -> tuple[DragPieces, ...]:
        """Drag at a pose, NumPy."""

    @abstractmethod
    def without_drag(self) -> Effect:
        """The effect without drag."""


# --- How it is stepped, and where a run begins


class HasUnknowns(Effect):
    """Has unknowns that only the complementarity scheme solves for."""

    @property
    @abstractmethod
    def solved_terms(self) -> tuple[str, ...]:
        """Energy terms computed together with its unknowns."""

    @abstractmethod
    def quasi_static(self) -> tuple[Effect | None, str]:
        """Replacement in all other studies, and a note on what it neglects."""


class FluidSolver(HasEquilibriumStates, ExcitedByWaves, PreparedForSea, ChecksStep):
    """Solves for a flow at every instant, including the added mass of the bodies."""

    @property
    @abstractmethod
    def fixed_step(self) -> float:
        """Required fixed step [s]."""

    @abstractmethod
    def before_run(self, model: Model) -> FluidSolver:
        """The effect with data that are constant during a run."""

    @abstractmethod
    def before_step(
        self,
        model: Model,
        t: Array,
        h: Array,
        motion_at: Callable[[Array], Motion],
        internal: InternalState,
    ) -> FluidSolver:
        """The same with what holds for a step.

        Args:
            model: with this effect.
            t: start of the step [s].
            h: its length [s].
            motion_at: motion of all bodies so long after its start.
            internal: states at its start.
        """

    @abstractmethod
    def at_instant(self, model: Model, now: Instant, moving: Array) -> FluidSolver:
        """The same with what holds at the positions now, for the complementarity scheme.

        Args:
            model: with this effect.
            now: the instant.
            moving: False on the way to equilibrium, where time stands still.
        """

    @abstractmethod
    def solved(self, model: Model, now: Instant) -> FluidSolver:
        """The effect with the flow of an instant; called before `loads`."""

    @abstractmethod
    def solved_mass(self, model: Model) -> Array:
        """Added mass of all bodies (6N, 6N) at the instant solved."""

    @abstractmethod
    def acceleration(
        self, model: Model, formulation: Formulation, kin: Kinematics, wrench: Array
    ) -> Acceleration:
        """Accelerations of the model with that added mass, by a formulation."""

    @abstractmethod
    def added_mass_reaction(self, model: Model, motion: Motion, v_dot: Array) -> Loads:
        """Reaction of that added mass to known accelerations; channels add to those of `loads`."""

    @abstractmethod
    def internal_advanced(self, model: Model, now: Instant, v_half: Array, h: Array) -> Array:
        """States after a step of the complementarity scheme.

        Args:
            model: with this effect as of `at_instant`.
            now: start of the step.
            v_half: velocities of all bodies in its middle (N, 6).
            h: its length [s].
        """

    @abstractmethod
    def after_step(self, model: Model, now: Instant) -> Array:
        """States after a step, on a new mesh if one is due."""

    @abstractmethod
    def out_of_range(self, states: Array) -> Array:
        """Whether the states diverged, so that the run must end."""

    @abstractmethod
    def why_stopped(self, states: Array) -> str:
        """Advice for a run that ended early; empty: none."""


class HasTangent(Effect):
    """Stiffness and damping change in every step and are updated by fixed steps."""

    @abstractmethod
    def tangent(self, model: Model, now: Instant) -> tuple[Array, Array]:
        """Restoring stiffness and damping (6N, 6N)."""


class Impulsive(Effect):
    """Acts for short times that long steps could miss."""


class StartsFromEquilibrium(Effect):
    """Runs start from equilibrium by default."""


class StoresElastically(Effect):
    """Stored energy is zero in the unloaded state."""


# --- Moorings and winches


class Moors(Effect):
    """Its wrench at equilibrium counts as mooring force."""


class HasWinches(Effect):
    @property
    @abstractmethod
    def winches(self) -> Winches | None:
        """Winches, None without any."""

    @abstractmethod
    def with_winches(self, winches: Winches) -> Effect:
        """The effect with other winches of the same number."""


def all_winches(model: Model) -> list[Winches]:
    """Winches of all effects."""
    found = (effect.winches for effect in having(model, HasWinches))
    return [winches for winches in found if winches is not None]


# --- Parameters by name


class HasParameters(Effect):
    """Has parameters that `model.with_values` finds by name.

    A class at the end of a path of `parameters` may name arrays as `direct`: each entry of them is
    a number of the description that feeds nothing else in the model.
    """

    @abstractmethod
    def parameters(self) -> dict[str, list[Place]]:
        """Where they live: {item: [(path of fields, row, other names)]}.

        The fields of the object at the end of a path are the item's quantities; other names
        rename some of them, and hide those with an empty name. Without a row the arrays are the
        item's whole.
        """


class HasDerivedParameters(HasParameters):
    """Has parameters that its arrays follow from, such as the length of a line in segments."""

    @abstractmethod
    def derived_parameters(self, item: str) -> list[str]:
        """Names of the derived parameters of an item."""

    @abstractmethod
    def derived_parameter(self, item: str, name: str) -> Array:
        """One of them."""

    @abstractmethod
    def with_derived_parameter(self, model: Model, item: str, name: str, value: Array) -> Effect:
        """The effect with a changed derived parameter."""


# --- Results


class Reports(Effect):
    """Its channels have own rows, such as one per line."""

    @abstractmethod
    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        """Coordinates of its rows: {name: (dimension, values, long name)}."""


class ReportsLines(Reports):
    """Its channels are rows of lines, concatenated over all such effects."""

    @property
    @abstractmethod
    def row_sizes(self) -> dict[str, int]:
        """Entries of a row along "line_node" and "line_segment"."""


class HasConstants(Effect):
    """Has constants in addition to channels."""

    @abstractmethod
    def constants(self) -> dict[str, Array]:
        """These by the names of their channels."""


class ReportsFields(Effect):
    """Reports fields of many points in every sample, such as a water surface."""

    @property
    @abstractmethod
    def sample_size(self) -> int:
        """Approximate number of values per sample."""


class WrittenByUser(Effect):
    """A user's own class (`swelltree.effect`): all its channels are results."""
