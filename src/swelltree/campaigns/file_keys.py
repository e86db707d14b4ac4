"""The keys of the section [campaign]."""

from typing import Annotated, ClassVar

from swelltree.describe.casefile.studies import STARTS, Formulation
from swelltree.describe.environment.seas import SeaLike, Text
from swelltree.describe.spec import Description, description
from swelltree.describe.values import Count, Name, Names, Number, one_of

READY = ("barges", "hinge_barge", "oswec", "rm3", "spar", "sphere", "tank")
_ready = one_of(READY, "ready system")
_start = one_of(STARTS, "start")
DEVICES, PRECISIONS = ("auto", "cpu", "gpu", "jax"), ("float64", "float32")
_device, _precision = one_of(DEVICES, "device"), one_of(PRECISIONS, "precision")


@description
class CampaignTable(Description):
    """What a campaign runs.

    Args:
        name: of the campaign.
        base: case file, from the folder of this file; or give `gallery`.
        gallery: name of a ready system.
        study: of the base: its sea, duration and steps are those of the campaign.
        sea: of the base, in place of the study's.
        duration: of each run [s]; so the others, in place of the study's.
        output_step: [s].
        step: [s].
        tolerance: of the error of the step.
        channels: names of results that are kept.
        reduce: what is kept of them.
        formulation: one of FORMULATIONS.
        start: one of STARTS.
        lanes: cases per block.
        retries: of a block.
        device: one of DEVICES.
        precision: one of PRECISIONS.
    """

    kind: ClassVar[str] = "campaign"
    name: Name
    base: Text | None = None
    gallery: Annotated[str, _ready[0], _ready[1]] | None = None
    study: Name | None = None
    sea: SeaLike | None = None
    duration: Number | None = None
    output_step: Number | None = None
    step: Number | None = None
    tolerance: Number = 1e-3
    channels: Names = ()
    reduce: Names = ("statistics",)
    formulation: Formulation | None = None
    start: Annotated[str, _start[0], _start[1]] | None = None
    lanes: Count | None = None
    retries: Count = 1
    device: Annotated[str, _device[0], _device[1]] = "auto"
    precision: Annotated[str, _precision[0], _precision[1]] = "float64"

    def __post_init__(self) -> None:
        if (self.base is None) == (self.gallery is None):
            raise self.fail("give either base, a case file, or gallery, a ready system.")
        if self.gallery is not None and self.study is not None:
            raise self.fail(
                f"study '{self.study}' belongs to a base, and gallery '{self.gallery}' has none. "
                "Leave it out and give duration."
            )
        for word in ("duration", "output_step", "step", "tolerance", "lanes"):
            value = getattr(self, word)
            if value is not None and not value > 0:
                raise self.fail(f"{word} {value} is not positive. Give more than zero.")
