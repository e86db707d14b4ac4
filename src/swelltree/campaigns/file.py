"""Campaign files: `[campaign]` says what is run, each `[[vary]]` what varies.

The keys of the section [campaign].
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Unpack

from swelltree.campaigns.campaign import Campaign
from swelltree.campaigns.vary import VARY_TYPES, Vary
from swelltree.describe.casefile.case import use_adjacent_code
from swelltree.describe.casefile.studies import SimulateStudy
from swelltree.describe.casefile.toml import class_schema, line_of, parse_toml, read_toml_file
from swelltree.describe.environment.seas import Sea, SeaLike, Text
from swelltree.describe.errors import SwelltreeError, listed, shown, suggest
from swelltree.describe.files.atomic import user_path
from swelltree.describe.options import CampaignOptions, check_positive, description_with, options_of
from swelltree.describe.spec import Description
from swelltree.describe.values import Name, NamedValues, Number, one_of
from swelltree.jit import Tree

READY = ("barges", "hinge_barge", "oswec", "rm3", "spar", "sphere", "tank")


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
    gallery: Annotated[str, *one_of(READY, "ready system")] | None = None
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


SECTIONS = ("campaign", "vary")
FROM_STUDY = ("duration", "output_step", "formulation", "start", "step")


def load_campaign(path: str | Path, **options: Unpack[CampaignOptions]) -> Campaign:
    """Read a campaign file and compile its model.

    Args:
        path: of the file.
        options: of `Campaign`, in place of those of the file.
    """
    path = Path(path)
    spec, vary, text = read_campaign(path)
    spec = spec.replace(**options)
    model, sea, of_study = _base(spec, path)
    if spec.sea is not None:
        sea = spec.sea
    options_here = {name: getattr(spec, name) for name in options_of(CampaignOptions)}
    specified = of_study | {
        name: value for name, value in options_here.items() if value not in (None, ())
    }
    if "duration" not in specified:
        raise spec.fail("there is no duration. Give it, or a study of the base that has one.")
    return Campaign(model, vary, sea, name=spec.name, text=text, **specified)


def read_campaign(path: Path) -> tuple[CampaignTable, list[Vary], str]:
    """Read a campaign file without compiling anything."""
    path = user_path(path, "campaign file")
    try:
        text = read_toml_file(path)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        near = path.parent.glob("*.toml") if path.parent.is_dir() else []
        hint = suggest(path.name, [file.name for file in near]) or " Check the path."
        raise SwelltreeError(f"campaign file '{path}' cannot be read: {why}.{hint}") from None
    document = parse_toml(text, str(path))
    for key in document:
        if key not in SECTIONS:
            hint = suggest(key, SECTIONS) or " Write [campaign] and [[vary]]."
            raise SwelltreeError(f"{path}: there is no section '{key}'.{hint}")
    if not isinstance(document.get("campaign"), dict):
        raise SwelltreeError(f"{path}: there is no [campaign] section. Begin with it and its name.")
    rows = document.get("vary", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise SwelltreeError(f"{path}: 'vary' is not a list of tables. Write [[vary]].")
    vary = []
    for k, row in enumerate(rows):
        try:
            vary.append(_vary(row))
        except SwelltreeError as error:
            line = line_of(text, "vary", k)
            where = str(path) if line is None else f"{path}, line {line}"
            raise SwelltreeError(f"{where}: {error}") from None
    return CampaignTable(**document["campaign"]), vary, text


def _vary(row: NamedValues) -> Vary:
    kind = row.get("type")
    if not isinstance(kind, str) or kind not in VARY_TYPES:
        raise SwelltreeError(
            f"vary: there is no type {shown(kind)}.{suggest(kind, VARY_TYPES)} The types are "
            f"{listed(VARY_TYPES)}."
        )
    return VARY_TYPES[kind](**{key: value for key, value in row.items() if key != "type"})


def _base(spec: CampaignTable, path: Path) -> tuple[Tree, Sea | None, NamedValues]:
    if spec.gallery is not None:
        from swelltree import gallery

        ready = getattr(gallery, spec.gallery)()
        return ready.model(), ready.sea, {}
    from swelltree.compiler.compile import compile_case
    from swelltree.describe import load

    assert spec.base is not None
    file = path.parent / spec.base
    case = load(file)
    studies = {s.name: s for s in case.studies if isinstance(s, SimulateStudy)}
    if spec.study is not None and spec.study not in studies:
        raise spec.fail(
            f"study '{spec.study}' is not a simulate study of '{file}'."
            f"{suggest(spec.study, studies)} It has {listed(studies) or 'none'}."
        )
    use_adjacent_code(case, file)
    model = compile_case(case)
    if spec.study is None:
        return model, None, {}
    study = studies[spec.study]
    return model, study.sea, {name: getattr(study, name) for name in FROM_STUDY}


def campaign_schema() -> NamedValues:
    choices = [class_schema(cls) for cls in VARY_TYPES.values()]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "swelltree campaign file",
        "type": "object",
        "properties": {
            "campaign": class_schema(CampaignTable),
            "vary": {"type": "array", "items": {"oneOf": choices}, "minItems": 1},
        },
        "required": ["campaign", "vary"],
        "additionalProperties": False,
    }
