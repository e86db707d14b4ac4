"""Operability of the cases of a campaign: the same limits, judged by what the store keeps."""

import json

import numpy as np
import pytest

import swelltree as sw
from made_campaign import SEA, float_model, small_campaign
from swelltree.campaigns.store import signed

LIMITS = [
    {"channel": "position", "body": "float", "dof": "Heave", "limit": 0.5},
    {"channel": "pto_force", "statistic": "std", "limit": 4.0e4},
]
OVER = {"Hs": [1.0, 2.0], "Tp": [6.0, 8.0]}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("operability") / "store"
    vary = [sw.Values(name, values) for name, values in OVER.items()]
    small_campaign(vary=vary).run(folder, workers=0)
    return folder


def test_limits_of_a_campaign_are_those_of_single_runs(store):
    table = sw.operability(sw.open_campaign(store), limits=LIMITS)
    how = {"sea": SEA, "duration": 20.0, "output_step": 0.25, "solver": "rk4", "step": 0.25}
    right = sw.operability(
        float_model(), OVER, limits=LIMITS, simulate=how | {"start": None, "progress": False}
    )
    assert table["state"].values.tolist() == right["state"].values.tolist()
    assert {"operable", "inoperable"} <= set(table["state"].values.ravel())
    np.testing.assert_allclose(table["utilisation"], right["utilisation"], rtol=1e-9)
    assert len(set(table["governing"].values.ravel())) == 2
    assert table["governing"].values.tolist() == right["governing"].values.tolist()
    assert table.attrs["campaign"] == "small"
    assert table.attrs["study"] == "operability"


def test_cases_that_failed_or_are_missing_are_neither(store, tmp_path):
    import shutil

    folder = tmp_path / "store"
    shutil.copytree(store, folder)
    index = folder / "index" / "000000.json"
    entry = json.loads(index.read_text().replace('"state": "done"', '"state": "failed"', 1))
    index.write_text(json.dumps(signed(entry)))
    with pytest.warns(sw.SwelltreeWarning, match=r"1 of 4 cases have no result .* Hs = 1, Tp = 6"):
        table = sw.operability(sw.open_campaign(folder), limits=LIMITS)
    assert table["state"].values[0, 0] == "failed"
    index.unlink()
    with pytest.warns(sw.SwelltreeWarning, match="4 of 4 cases have no result.*has not run yet"):
        sw.operability(sw.open_campaign(folder), limits=LIMITS)


def test_what_is_no_campaign_is_told(store):
    campaign = sw.open_campaign(store)
    with pytest.raises(sw.SwelltreeError, match="not a campaign with statistics"):
        sw.operability(campaign.drop_vars("state"), limits=LIMITS)
    with pytest.raises(sw.SwelltreeError, match="a campaign has its own conditions"):
        sw.operability(campaign, OVER, limits=LIMITS)
    with pytest.raises(sw.SwelltreeError, match=r"limit 'positon' is not among the .* mean 'posit"):
        sw.operability(campaign, limits=[{"channel": "positon", "limit": 1.0}])
