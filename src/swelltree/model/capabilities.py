"""What an effect may do besides exerting loads: one small abstract class each.

An effect is derived from those it has, and a study asks for all that have one by `having`. A
class that leaves out an abstract method cannot be made.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from swelltree.jit.arrays import Array, Tree
from swelltree.model.effect import Effect, Instant

if TYPE_CHECKING:
    from swelltree.model.internal_state import InternalState
    from swelltree.model.model import Model
    from swelltree.multibody.kinematics import Pose

C = TypeVar("C", bound=Effect)


def having(model: Model, capability: type[C]) -> tuple[C, ...]:
    """The effects of a model that have a capability, in their order."""
    return tuple(effect for effect in model.effects if isinstance(effect, capability))


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
    def first_states(self, model: Model, now: Instant) -> Array:
        """States at the start of a run, where events may happen at once."""


class CommandsStrokes(HasEvents, HasFirstStates):
    """Commands the actuators on strokes, perhaps at sample times of its own."""

    @abstractmethod
    def commands(self, model: Model, now: Instant) -> Iterable[tuple[int, Array]]:
        """Control forces: number of the stroke and u of each."""

    @abstractmethod
    def next_sample(self, internal: InternalState) -> Array | None:
        """Time of the next sample [s]; None: it takes none."""


class HasRadiationMemory(Effect):
    """Carries the radiation memory, which has a propagator of its own."""

    @abstractmethod
    def radiation_start(self) -> Tree:
        """The memory before any motion; None: this one has none."""

    @abstractmethod
    def radiation_rate(self, now: Instant) -> Tree:
        """Its rate."""
