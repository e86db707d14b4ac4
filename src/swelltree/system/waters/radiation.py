"""How a case uses its hydrodynamic data: the radiation fit and its choices by name."""

from typing import Annotated, ClassVar

from pydantic import BeforeValidator

from swelltree.system.casefile.schema import SchemaOf, class_schema
from swelltree.system.describe import Description, description, within
from swelltree.system.errors import shown
from swelltree.system.named_values import NamedValues
from swelltree.system.read_as import Converted
from swelltree.system.values import Count, Flag, Number, one_of

RADIATION = ("state_space", "convolution", "constant", "none")
FRAMES = ("fixed", "yaw")
FIT_METHODS = ("vector_fitting", "balanced", "era", "kristiansen", "per_entry")

_method = one_of(FIT_METHODS, "method")


@description
class RadiationFit(Description):
    """Options of the state-space fit of the radiation memory; see `fit_radiation`.

    Args:
        error: largest error of the motions in waves, as part of the largest motion.
        max_order: most states; by default six for each DOF that radiates, at least 40.
        method: one of FIT_METHODS.
        omega_max: leave out data above this frequency [rad/s].
        causal: correct added mass that contradicts the damping.
        entry_order: states for each entry in "kristiansen" and "per_entry".
        cache: keep the fit and look for it before computing.
    """

    kind: ClassVar[str] = "fit"
    error: Number = 0.02
    max_order: Count | None = None
    method: Annotated[str, _method[0], _method[1]] = "vector_fitting"
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
