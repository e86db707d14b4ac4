"""Options are described once: Python, case files, campaign files and the command line agree."""

import dataclasses
import inspect
import re

import pytest
from typer.testing import CliRunner

import swelltree as sw
from swelltree.campaigns.file import CampaignTable, campaign_schema
from swelltree.cli import app
from swelltree.describe import options
from swelltree.describe.casefile.case import STUDY_TYPES
from swelltree.describe.options import check_positive, complete, help_of, options_of

GROUPS = [
    group
    for group in vars(options).values()
    if isinstance(group, type) and hasattr(group, "__total__")
]
FUNCTIONS = {
    name: (getattr(sw, name), cls.options, cls)
    for name, cls in STUDY_TYPES.items()
    if hasattr(cls, "options")
} | {"campaign": (sw.Campaign, options.CampaignOptions, CampaignTable)}
NOT_OPTIONS = {"name", "base", "gallery", "study"}  # of files: what the options go with
RENAMED = {"wave_direction_deg": "wave_direction"}  # files give degrees


def test_every_option_has_help():
    assert len(GROUPS) > 15
    missing = [f"{g.__name__}.{x}" for g in GROUPS for x in options_of(g) if not help_of(g).get(x)]
    assert not missing


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_python_files_and_command_line_have_the_same_options(name):
    function, group, cls = FUNCTIONS[name]
    of_files = {x for x, each in options_of(group).items() if each.file is not None}
    signature = inspect.signature(function).parameters
    assert set(options_of(group)) <= set(signature)
    fields = {field.name: field for field in dataclasses.fields(cls)}
    assert of_files <= set(fields)
    assert {RENAMED.get(x, x) for x in set(fields) - of_files - NOT_OPTIONS} <= set(signature)
    # the schema of files and the command line name exactly the keys
    keys = campaign_schema()["properties"]["campaign"] if name == "campaign" else schema_of(cls)
    assert set(keys["properties"]) - {"type"} == set(fields)
    printed = CliRunner().invoke(app, ["options", name])
    assert printed.exit_code == 0
    rows = set(re.findall(r"(?m)^  (\w+)", printed.output))
    assert rows == set(fields) - {"name"}
    # defaults and help are one text
    for option in of_files & set(fields):
        own = fields[option].default
        if own is not dataclasses.MISSING and option != "duration":
            assert own == options_of(group)[option].option.default == signature[option].default
        said = keys["properties"][option]["description"]
        if option not in ("duration", "sea"):
            assert said == help_of(group)[option]
            assert said in " ".join(str(inspect.getdoc(function)).split())


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_what_files_hold_by_default_is_taken_again(name):
    cls = FUNCTIONS[name][2]
    needed = {"name": "one", "sea": {"type": "regular", "height": 1, "period": 8}}
    needed |= {"duration": 10.0, "gallery": "rm3"}
    fields = {field.name for field in dataclasses.fields(cls)}
    one = cls(**{word: value for word, value in needed.items() if word in fields})
    assert one.replace() == one


def schema_of(cls):
    rows = sw.case_schema()["properties"]["studies"]["items"]["oneOf"]
    return next(row for row in rows if row["title"] == cls.__name__)


def test_related_functions_share_their_groups():
    def of(function):
        return set(inspect.signature(function).parameters)

    assert of(sw.simulate) - of(sw.simulate_traced) == {
        *options_of(options.OutputOptions),
        "provenance",
    }
    assert of(sw.linear_and_nonlinear) - of(sw.simulate) == {"settled", "radiation"}
    assert of(sw.modes) - of(sw.modes_traced) == {"provenance"}
    assert of(sw.equilibrium) - of(sw.equilibrium_traced) == {"provenance"}
    assert of(sw.simulate_batch) - of(sw.Campaign) == {"seas", "parameters", "case"}


def test_a_wrong_name_is_reported_with_the_nearest_one():
    body = sw.Body("a", mass=1.0, inertia=(1.0,) * 3)
    model = sw.compile(sw.System("one", [body], [sw.Slider("rail", sw.WORLD, body)]))
    with pytest.raises(TypeError, match=r"simulate\(\) got .* 'durtion'\. Did you mean 'duration'"):
        sw.simulate(model, durtion=1.0)
    with pytest.raises(TypeError, match=r"modes\(\) got an unexpected keyword argument 'sea'"):
        sw.modes(model, sea=None)


def test_what_must_be_positive_is_checked_with_its_unit():
    check_positive(options.SimulateOptions, complete(options.StepperOptions))
    with pytest.raises(sw.SwelltreeError, match=r"^max_step 0 s is not positive\. Give more"):
        check_positive(options.SimulateOptions, {"max_step": 0})
    with pytest.raises(sw.SwelltreeError, match=r"study 'r': amplitude -1\.0 m is not positive"):
        sw.RaoStudy("r", amplitude=-1.0)
    with pytest.raises(sw.SwelltreeError, match="study 'c': limit_points 0 is not positive"):
        sw.OptimalControlStudy("c", sea=sw.RegularWave(height=1, period=8), limit_points=0)
    with pytest.raises(sw.SwelltreeError, match=r"output_step 3\.0 s is longer than the duration"):
        sw.SimulateStudy("s", duration=2.0, output_step=3.0)
