"""Each sea is described by its own quantities; residuals and tensions by what they are."""

import numpy as np
import pytest

import swelltree as sw
from made_result import made_run
from swelltree.report.channels import channels
from swelltree.report.html import Blocks
from swelltree.report.tables import chips, shown
from swelltree.results.sea import sea_quantities
from swelltree.results.tables import budget_table, residuals
from swelltree.waves.sea import realise

WATER = sw.Water(depth=30.0)
SPECTRUM = sw.Jonswap(Hs=2.0, Tp=8.0)


@pytest.mark.parametrize(
    ("sea", "words"),
    [
        (
            sw.StreamFunctionWave(height=3.0, period=8.0),
            {"wave height": "3 m", "wave period": "8 s"},
        ),
        (sw.RegularWave(height=1.4, period=7.0), {"wave height": "1.4 m", "wave period": "7 s"}),
        (
            sw.FocusedWave(SPECTRUM, amplitude=1.9),
            {"crest at the focus": "1.9 m", "significant height of its sea": "2 m"},
        ),
        (sw.StillWater(), {}),
    ],
)
def test_a_sea_is_described_by_its_own_quantities(sea, words):
    assert sea_quantities(sea, realise(sea, WATER)) == words


def test_a_random_sea_has_its_significant_height():
    sea = sw.IrregularSea(SPECTRUM, seed=1)
    found = sea_quantities(sea, realise(sea, WATER))
    assert found["significant height"] == "2 m"
    assert "<b>2 m</b><span>significant height" in chips(made_run())


def test_the_energy_table_gives_every_residual_its_own_share():
    run = made_run()
    last, worst = residuals(run)
    values = run["energy_residual"].values
    assert last[0] == values[-1]
    assert abs(worst[0]) == np.abs(values).max()
    assert last[1] / worst[1] == pytest.approx(abs(last[0] / worst[0]))
    text = shown(budget_table(run))
    assert "residual at the end" in text
    assert "largest residual" in text
    # the two shares differ, and each stands in its row
    for value, share in (last, worst):
        assert f"{share:.1e} of what moved".replace("-", "−") in text
        assert value


def test_the_tension_of_the_last_segment_is_not_called_that_of_the_end():
    run = made_run(lines=2)
    titles = [plot["title"] for plot in channels(run, Blocks())["plots"]]
    assert "Tension of the last segment" in titles
    assert not any("end B" in title for title in titles)
    ends = run["line_tension"].isel(line_segment=-1, drop=True).assign_attrs(units="N")
    own = channels(run.assign(fairlead_tension=ends), Blocks())
    assert "Tension at end B, the fairlead" in [plot["title"] for plot in own["plots"]]
    labels = {row["label"] for row in own["channels"] if row["variable"] == "line_tension"}
    assert labels == {"tension maximum", "tension of the last segment"}
