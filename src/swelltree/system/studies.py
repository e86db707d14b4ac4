"""Studies as a case file describes them; `swelltree.studies` carries them out."""

from typing import Annotated, Any, ClassVar

from swelltree.system.describe import Description, description
from swelltree.system.seas import SeaLike, StillWater
from swelltree.system.values import Flag, Name, Number, one_of

FORMULATIONS = ("path_matrix", "partial_velocity", "composite_body", "partition", "lagrange")
SOLVERS = ("tsit5", "dopri5", "rk4", "stiff")
EXCITATIONS = ("components", "convolution")

_formulation = one_of(FORMULATIONS, "formulation")
_solver = one_of(SOLVERS, "solver")
_excitation = one_of(EXCITATIONS, "kind of excitation")
Formulation = Annotated[str, _formulation[0], _formulation[1]]
Solver = Annotated[str, _solver[0], _solver[1]]


class Study(Description):
    """Base of the studies."""

    kind: ClassVar[str] = "study"
    name: Any

    def check_positive(self, **values: tuple[float | None, str]) -> None:
        """Values that must be more than zero, with their unit."""
        for field, (value, unit) in values.items():
            if value is not None and not value > 0:
                raise self.fail(f"{field} {value}{unit} is not positive. Give more than zero.")


@description
class SimulateStudy(Study):
    """A run in time.

    Args:
        name: unique among the studies.
        duration: [s].
        wave: the sea, still water by default.
        output_step: time between samples of the result [s].
        formulation: one of FORMULATIONS.
        solver: one of SOLVERS.
        rtol: relative tolerance of adaptive solvers.
        atol: absolute tolerance of adaptive solvers.
        step: time step of fixed-step solvers [s].
        excitation: "components" (sum over the waves) or "convolution" (impulse response on the
            elevation at the origin).
    """

    type: ClassVar[str] = "simulate"
    name: Name
    duration: Number
    output_step: Number | None = None
    formulation: Formulation = "path_matrix"
    solver: Solver = "tsit5"
    rtol: Number = 1e-6
    atol: Number = 1e-9
    step: Number | None = None
    wave: SeaLike = StillWater()
    excitation: Annotated[str, _excitation[0], _excitation[1]] = "components"

    def __post_init__(self) -> None:
        self.check_positive(
            duration=(self.duration, " s"),
            output_step=(self.output_step, " s"),
            rtol=(self.rtol, ""),
            atol=(self.atol, ""),
            step=(self.step, " s"),
        )
        if self.output_step is not None and self.output_step > self.duration:
            raise self.fail(
                f"output_step {self.output_step} s is longer than the duration {self.duration} s."
            )


@description
class EquilibriumStudy(Study):
    """The state of rest.

    Args:
        name: unique among the studies.
        formulation: one of FORMULATIONS.
    """

    type: ClassVar[str] = "equilibrium"
    name: Name
    formulation: Formulation = "path_matrix"


@description
class ModesStudy(Study):
    """Natural periods, damping and mode shapes.

    Args:
        name: unique among the studies.
        formulation: one of FORMULATIONS.
        at_equilibrium: find the state of rest first; otherwise linearise at the described state.
    """

    type: ClassVar[str] = "modes"
    name: Name
    formulation: Formulation = "path_matrix"
    at_equilibrium: Flag = True


STUDY_TYPES: dict[str, Any] = {
    cls.type: cls for cls in (SimulateStudy, EquilibriumStudy, ModesStudy)
}
