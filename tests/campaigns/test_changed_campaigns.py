"""A store is continued by the campaign that began it, and by no other."""

import json
import shutil
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

import made_hydro
import swelltree as sw
from made_campaign import SEA, float_model, small_campaign
from swelltree.campaigns import store as stores
from swelltree.campaigns.cases import check_vary
from swelltree.campaigns.opened import open_cases

HEIGHTS = [sw.Values("Hs", [1.0, 2.0]), sw.Seeds(2)]


def short(**changes):
    return small_campaign(**({"vary": HEIGHTS, "lanes": 2, "duration": 5.0} | changes))


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A store without its second block."""
    folder = tmp_path_factory.mktemp("begun") / "store"
    short().run(folder, workers=0)
    (folder / "index" / "000001.json").unlink()
    return folder


def built(**changes):
    """The float with something else about it."""
    data = made_hydro.heaving_float()
    for name, factor in changes.pop("data", {}).items():
        data = data.assign({name: data[name] * factor})
    body = sw.Body("float", made_hydro.MASS, (1e6, 1e6, 1e6))
    joint = sw.Slider("rail", sw.WORLD, body, axis="z")
    pto = sw.LinearPto("pto", joint="rail", damping=changes.pop("damping", 1.5e5))
    options = {"ptos": [pto], "water": sw.Water(rho=1000.0)} | changes.pop("system", {})
    return sw.compile(sw.System("float", [body], [joint], **options), data, **changes)


def own_law(gain):
    """A law of the user, which no case file can hold."""
    return sw.LinearPto("pto", joint="rail", force=lambda t: gain * t)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"vary": [sw.Values("Hs", [1.0, 3.0]), sw.Seeds(2)]}, "the table of cases was changed"),
        ({"vary": [sw.Values("Hs", [1.0, 2.0]), sw.Seeds(2, first=5)]}, "the table of cases"),
        ({"vary": [sw.Values("Tp", [7.0, 8.0]), sw.Seeds(2)]}, "the table of cases"),
        ({"vary": [sw.Seeds(4)]}, "the table of cases"),
        ({"sea": SEA.replace(ramp=6.0)}, "the model, the sea or an option was changed"),
        ({"step": 0.125}, "the model, the sea or an option"),
        ({"model": float_model(1.6e5)}, "the model, the sea or an option"),
    ],
)
def test_a_changed_campaign_does_not_go_on_in_the_old_store(begun, changes, what):
    changes = dict(changes)
    model = changes.pop("model", None)
    campaign = short(**changes)
    if model is not None:
        campaign = replace(campaign, model=model)
    with pytest.raises(sw.SwelltreeError, match=f"holds another campaign .*: {what}"):
        campaign.run(begun, resume=True, workers=0)


def test_the_same_campaign_goes_on_with_the_blocks_it_began_with(begun, tmp_path):
    folder = tmp_path / "store"
    shutil.copytree(begun, folder)
    result = short(lanes=3).run(folder, resume=True, workers=0)
    assert result.attrs["cases_done"] == 4
    assert sorted(file.name for file in (folder / "index").iterdir()) == [
        "000000.json",
        "000001.json",
    ]


def test_the_key_follows_all_that_the_numbers_depend_on():
    base = short(vary=[sw.Seeds(2)])
    models = {
        "the same": built(),
        "damping": built(damping=1.6e5),
        "damping of the compiled model": built().with_values({"pto.damping": 1.6001e5}),
        "added mass": built(data={"added_mass": 1.01}),
        "radiation": built(data={"radiation_damping": 1.01}),
        "constant radiation": built(radiation="constant", omega=1.0),
        "a law": built(system={"ptos": [own_law(1e5)]}),
        "another gain of that law": built(system={"ptos": [own_law(2e5)]}),
    }
    keys = {name: replace(base, model=model).key for name, model in models.items()}
    assert len(set(keys.values())) == len(keys)
    assert keys["the same"] == base.key == replace(base, lanes=7, device="cpu").key


def test_the_key_is_the_same_in_another_process():
    code = "from made_campaign import small_campaign; print(small_campaign().key)"
    tests = str(Path(__file__).parents[1])
    code = f"import sys; sys.path.insert(0, {tests!r}); {code}"
    reported = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert reported.stdout.split() == [small_campaign().key]


def test_blocks_of_another_campaign_do_not_count(begun, tmp_path):
    """Their chunks are whole, but the names of their cases are others."""
    folder = tmp_path / "store"
    shutil.copytree(begun, folder)
    (folder / "campaign.json").unlink()
    campaign = short(vary=[sw.Values("Hs", [1.5, 2.5]), sw.Seeds(2)])
    campaign.run(folder, workers=0)
    assert open_cases(folder)["case_id"].values.tolist() == campaign.table.ids(campaign.key)
    expected = campaign.run(tmp_path / "new", workers=0)
    assert sw.open_campaign(folder)["position"].equals(expected["position"])


def test_another_version_is_told_and_kept_apart(begun, tmp_path, monkeypatch):
    folder = tmp_path / "store"
    shutil.copytree(begun, folder)
    about = json.loads((folder / "campaign.json").read_text())
    (folder / "campaign.json").write_text(json.dumps(stores.signed(about | {"code": "0" * 16})))
    monkeypatch.setattr(stores, "code", lambda: "1" * 16)
    with pytest.warns(sw.SwelltreeWarning, match="begun with another version .swelltree 0"):
        short().run(folder, resume=True, workers=0)
    codes = [json.loads(f.read_text())["code"] for f in sorted((folder / "index").iterdir())]
    assert codes == [about["code"], "1" * 16]


@pytest.mark.parametrize(
    "changes",
    [
        {"channels": ["absorbed_powr"]},
        {"step": -1.0},
        {"step": None, "tolerance": 2.0},
        {"output_step": 0.0},
        {"formulation": "lagrang"},
        {"vary": [sw.Together({"Hs": [1.0, 2.0]}, dim="position")]},
    ],
)
def test_a_campaign_that_cannot_begin_leaves_nothing_behind(tmp_path, changes):
    with pytest.raises(sw.SwelltreeError):
        short(**changes).run(tmp_path / "new" / "store", workers=0)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dim", ["position", "statistic", "case", "state"])
def test_a_dimension_is_not_called_like_a_part_of_the_results(tmp_path, dim):
    campaign = short(vary=[sw.Together({"Hs": [1.0, 2.0]}, dim=dim)])
    with pytest.raises(sw.SwelltreeError, match=f"'{dim}' has the name of a part of the results"):
        campaign.run(tmp_path / "store", workers=0)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"vary": [sw.Values("seed", [1.0, 1.5])]}, "seed 1.5 is not a whole number"),
        ({"start": "equilibrum"}, "start 'equilibrum' is not known. Did you mean 'equilibrium'?"),
        ({"lanes": 0}, "lanes 0 is not a whole number of at least 1"),
    ],
)
def test_what_no_campaign_can_be_is_told_at_once(changes, sentence):
    with pytest.raises(sw.SwelltreeError) as error:
        short(**changes)
    assert sentence in str(error.value)


@pytest.mark.parametrize(("vary", "word"), [(sw.Seeds(2), "Seeds"), (["seeds"], "'seeds'")])
def test_what_varies_is_a_list(vary, word):
    with pytest.raises(sw.SwelltreeError, match=f"campaign 'a': vary is {word}, not a list"):
        check_vary(vary, "a")


def test_what_seas_warn_of_is_told_once(tmp_path):
    """Steep waves are met in the table, in the plan and in the runs."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        campaign = short(vary=[sw.Values("Hs", [1.0, 9.0])], sea=SEA.replace(omega_max=5.9))
        built = len(caught)
        campaign.run(tmp_path / "store", workers=0)
    reported = [str(one.message) for one in caught]
    assert any("steepness" in text for text in reported)
    assert len(set(reported[built:])) == len(reported[built:])
