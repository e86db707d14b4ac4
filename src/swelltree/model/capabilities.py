"""What an effect may do besides exerting loads: one small abstract class each.

An effect is derived from those it has, and a study asks for all that have one by `having`. A
class that leaves out an abstract method cannot be made.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from swelltree.jit import Array, Tree
from swelltree.model.effect import Coordinate, Effect, Instant, LinearForm, Loads
from swelltree.multibody.layout import Place

if TYPE_CHECKING:
    from swelltree.hydro.linear.data import RadiationMemory
    from swelltree.hydro.morison.drag import DragPieces
    from swelltree.model.internal_state import InternalState
    from swelltree.model.model import Model
    from swelltree.mooring.winches import Winches
    from swelltree.multibody.formulations.base import Acceleration, Formulation, Kinematics
    from swelltree.multibody.kinematics import Motion, Pose
    from swelltree.multibody.layout import Layout
    from swelltree.waves.sea import RealisedSea

C = TypeVar("C", bound=Effect)


def having(model: Model, capability: type[C]) -> tuple[C, ...]:
    """The effects of a model that have a capability, in their order."""
    return tuple(effect for effect in model.effects if isinstance(effect, capability))


def feels(model: Model, what: str) -> bool:
    """Does an effect of a model depend on "waves", "current" or "wind"?"""
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
    """Its states at equilibrium follow from the poses of bodies, such as a mean yaw."""

    @abstractmethod
    def equilibrium_states(self, states: Array, pose: Pose) -> Array:
        """The states after a long rest with the bodies at a pose.

        Args:
            states: from which the rest began.
            pose: of all bodies.
        """


class ChangesModel(HasStates):
    """Masses or locked DOFs of the model follow from its states, as from rope on a drum."""

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
    """Its states at the start of a run follow from the motion there, or from a first sample."""

    @abstractmethod
    def first_states(self, model: Model, now: Callable[[], Instant]) -> Array | None:
        """States at the start of a run, where events may happen at once; None: as described.

        Args:
            model: with this effect.
            now: gives the start; the motion is computed only for effects that ask.
        """


class CommandsStrokes(HasEvents, HasFirstStates):
    """Commands the actuators on strokes, perhaps at sample times of its own."""

    @abstractmethod
    def commands(self, model: Model, now: Instant) -> Iterable[tuple[int, Array]]:
        """Control forces: number of the stroke and u of each."""

    @abstractmethod
    def next_sample(self, internal: InternalState) -> Array | None:
        """Time of the next sample [s]; None: it takes none."""


# --- Waves, current and wind


ENVIRONMENT = ("waves", "current", "wind")


class FeelsEnvironment(Effect):
    """Its loads, or what it commands, depend on waves, current or wind (`model.sea`)."""

    feels: tuple[str, ...]  # those of ENVIRONMENT that it depends on


class ExcitedByWaves(FeelsEnvironment):
    """Waves exert loads on it that hydro data do not hold: linear studies differentiate them."""


class PreparedForSea(FeelsEnvironment):
    """Is prepared for a realised sea, or warns of it."""

    @abstractmethod
    def in_sea(self, model: Model, waves: RealisedSea, padded: bool = False) -> Effect:
        """The same effect in a sea.

        Args:
            model: with this effect.
            waves: realised.
            padded: with sizes that other seas of the same kind have as well.
        """


class HasCalmForm(Effect):
    """Can be set into a sea of height zero without another shape, such as loads on a grid."""

    @abstractmethod
    def in_still_water(self) -> Effect:
        """The same effect without waves, and with nothing released."""


class ChecksStep(Effect):
    """Rejects some lengths of fixed steps."""

    @abstractmethod
    def check_step(self, step: float) -> None:
        """Raise an error for a step that it cannot take [s]."""


# --- Linear studies


class HasNonlinearity(Effect):
    """Knows why it is not linear; of all others studies assume that they are not."""

    @abstractmethod
    def nonlinearity(self, off_stops: frozenset[str] = frozenset()) -> str:
        """Why it is not linear for sure, in words; empty: it may be.

        Args:
            off_stops: names of the elements whose stroke stays off their end stops.
        """


class HasLinearForm(Effect):
    """Adds more to a linear model than the derivative of its loads."""

    @abstractmethod
    def linear_form(self, model: Model, now: Instant) -> LinearForm:
        """These terms at equilibrium; numpy."""


class HasRadiation(HasLinearForm):
    """Carries linear radiation."""

    memory: RadiationMemory | None  # with a propagator of its own; None: it remembers nothing

    @abstractmethod
    def radiation_rate(self, now: Instant) -> Tree:
        """Rate of the states of the memory."""

    @abstractmethod
    def with_memory(self, memory: RadiationMemory | None) -> HasRadiation:
        """The same with another memory."""


class HasDrag(Effect):
    """Has drag that linear studies replace by an equivalent linear one."""

    @abstractmethod
    def drag(self, model: Model, motion: Motion) -> tuple[DragPieces, ...]:
        """The drag at a pose; numpy."""

    @abstractmethod
    def without_drag(self) -> Effect:
        """The same effect without it; itself where it has none."""


# --- How it is stepped, and where a run begins


class HasUnknowns(Effect):
    """Has unknowns of its own, which only the complementarity scheme solves for."""

    @property
    @abstractmethod
    def solved_terms(self) -> tuple[str, ...]:
        """Terms of the energy budget computed where its unknowns are solved for."""

    @abstractmethod
    def quasi_static(self) -> tuple[Effect | None, str]:
        """What stands for it in all other studies, and a note on what that leaves out."""


class FluidSolver(HasEquilibriumStates, ExcitedByWaves, PreparedForSea, ChecksStep):
    """Solves for a flow at every instant, and for the added mass that the bodies have in it."""

    @property
    @abstractmethod
    def fixed_step(self) -> float:
        """Step of the fixed-step method that it must be stepped with [s]."""

    @abstractmethod
    def before_run(self, model: Model) -> FluidSolver:
        """The same with what holds for a whole run."""

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
        """The same with the flow of an instant; asked before `loads`."""

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
        """What that added mass does at known accelerations; channels add to those of `loads`."""

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
        """States after a step, on another mesh where that is due."""

    @abstractmethod
    def out_of_range(self, states: Array) -> Array:
        """Did the states leave all measure, so that a run must end?"""

    @abstractmethod
    def why_stopped(self, states: Array) -> str:
        """What to look at where a run ended early; empty: nothing."""


class HasTangent(Effect):
    """Is another spring in every step: fixed steps ask anew for its stiffness and damping."""

    @abstractmethod
    def tangent(self, model: Model, now: Instant) -> tuple[Array, Array]:
        """Stiffness that pulls back, and damping (6N, 6N)."""


class Impulsive(Effect):
    """Acts on short stretches of a motion that long steps could pass over."""


class StartsFromEquilibrium(Effect):
    """Runs with it start from equilibrium unless asked otherwise."""


class StoresElastically(Effect):
    """Its stored energy is zero where it is unloaded."""


# --- Moorings and winches


class Moors(Effect):
    """Its wrench at equilibrium belongs to the moorings."""


class HasWinches(Effect):
    """May have winches."""

    @property
    @abstractmethod
    def winches(self) -> Winches | None:
        """Its winches; None: this one has none."""

    @abstractmethod
    def with_winches(self, winches: Winches) -> Effect:
        """The same effect with other winches of the same number."""


def all_winches(model: Model) -> list[Winches]:
    """Winches of all effects that have some."""
    found = (effect.winches for effect in having(model, HasWinches))
    return [winches for winches in found if winches is not None]


# --- Parameters by name


class HasParameters(Effect):
    """Has parameters that `model.with_values` finds by name."""

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
        """Names of those of an item."""

    @abstractmethod
    def derived_parameter(self, item: str, name: str) -> Array:
        """One of them."""

    @abstractmethod
    def with_derived_parameter(self, model: Model, item: str, name: str, value: Array) -> Effect:
        """The same effect with another value of one of them."""


# --- Results


class Reports(Effect):
    """Its channels have rows of its own, such as one for each line."""

    @abstractmethod
    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        """Coordinates of these rows: {name: (dimension, values, long name)}."""


class ReportsLines(Reports):
    """Its channels are rows of lines, which go on from effect to effect."""

    @property
    @abstractmethod
    def row_sizes(self) -> dict[str, int]:
        """Entries of a row along "line_node" and "line_segment"."""


class HasConstants(Effect):
    """Has numbers beside its channels that do not change in time."""

    @abstractmethod
    def constants(self) -> dict[str, Array]:
        """These by the names of their channels."""


class ReportsFields(Effect):
    """Reports fields of many points in every sample, such as a water surface."""

    @property
    @abstractmethod
    def sample_size(self) -> int:
        """About how many numbers it adds to a sample."""


class WrittenByUser(Effect):
    """Its class is a user's own (`swelltree.effect`): all its channels are results."""
