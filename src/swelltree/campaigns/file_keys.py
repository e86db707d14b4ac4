"""The keys of the section [campaign]."""

from typing import TYPE_CHECKING, Annotated, ClassVar, Unpack

from swelltree.describe.environment.seas import SeaLike, Text
from swelltree.describe.options import CampaignOptions, check_positive, description_with
from swelltree.describe.spec import Description
from swelltree.describe.values import Name, Number, one_of

READY = ("barges", "hinge_barge", "oswec", "rm3", "spar", "sphere", "tank")
_ready = one_of(READY, "ready system")


@description_with(CampaignOptions)
class CampaignTable(Description):
    """What a campaign runs.

    Args:
        name: of the campaign.
        base: case file, from the folder of this file; or give `gallery`.
        gallery: name of a ready system.
        study: of the base: its sea, duration and steps are those of the campaign.
        sea: of the base, in place of the study's.
        duration: of each run [s]; so the others, in place of the study's.
    """

    kind: ClassVar[str] = "campaign"
    options = CampaignOptions
    name: Name
    base: Text | None = None
    gallery: Annotated[str, _ready[0], _ready[1]] | None = None
    study: Name | None = None
    sea: SeaLike | None = None
    duration: Number | None = None

    if TYPE_CHECKING:

        def __init__(self, name: str, **options: Unpack[CampaignOptions]) -> None: ...

    def __post_init__(self) -> None:
        if (self.base is None) == (self.gallery is None):
            raise self.fail("give either base, a case file, or gallery, a ready system.")
        if self.gallery is not None and self.study is not None:
            raise self.fail(
                f"study '{self.study}' belongs to a base, and gallery '{self.gallery}' has none. "
                "Leave it out and give duration."
            )
        check_positive(self.options, vars(self), self.fail)
