"""The table of a campaign: products, samples, scatter diagrams, names of cases."""

import numpy as np
import pytest

import swelltree as sw
from made_campaign import SEA, float_model, small_campaign
from swelltree.campaigns.cases import case_table


def by_dims(table):
    """Number of the case at each place of the grid, -1 where there is none."""
    grid = np.full(int(np.prod(table.shape)), -1)
    grid[table.place] = np.arange(len(table))
    return grid.reshape(table.shape)


def test_the_cases_are_the_product_of_all_that_varies():
    table = case_table([sw.Values("Hs", [1.0, 2.0, 3.0]), sw.Seeds(2, first=5)])
    assert len(table) == 6
    assert [table.row(k) for k in (0, 1, 5)] == [
        {"Hs": 1.0, "seed": 5},
        {"Hs": 1.0, "seed": 6},
        {"Hs": 3.0, "seed": 6},
    ]
    assert by_dims(table).tolist() == [[0, 1], [2, 3], [4, 5]]


def test_columns_together_vary_together():
    table = case_table([sw.Together({"Hs": [1.0, 2.0], "Tp": [6.0, 8.0]}, dim="state")])
    assert [tuple(table.row(k).values()) for k in range(2)] == [(1.0, 6.0), (2.0, 8.0)]


def test_sea_states_that_do_not_occur_are_no_cases():
    often = [[1, 0, 3], [0, 4, 2]]
    table = case_table([sw.ScatterDiagram([1, 2], [5, 6, 7], often), sw.Seeds(3)])
    assert len(table) == 4 * 3
    assert by_dims(table)[0, 1].tolist() == [-1, -1, -1]
    states = table.occurrence[::3]
    assert states == pytest.approx([0.1, 0.3, 0.4, 0.2])
    k = int(by_dims(table)[1, 2, 1])
    assert table.row(k) == {"Hs": 2.0, "Tp": 7.0, "seed": 2}


def test_headings_of_a_scatter_diagram_are_in_radians():
    often = np.arange(1, 9).reshape(2, 2, 2).tolist()
    table = case_table([sw.ScatterDiagram([1, 2], [5, 6], often, beta_deg=[0, 90])])
    assert table.columns["beta"][:2] == pytest.approx([0.0, np.pi / 2])
    assert table.case(1, SEA).sea.beta == pytest.approx(np.pi / 2)


@pytest.mark.parametrize("method", ["latin_hypercube", "sobol"])
def test_samples_are_spread_evenly_and_the_same_each_time(method):
    ranges = {"Hs": [1.0, 3.0], "ptos.pto.damping": [1e5, 2e5]}
    table = case_table([sw.Sample(ranges, 16, method=method, seed=7)])
    again = case_table([sw.Sample(ranges, 16, method=method, seed=7)])
    for name, (low, high) in ranges.items():
        x = table.columns[name]
        assert np.array_equal(x, again.columns[name])
        cells = np.floor((x - low) / (high - low) * 16).astype(int)
        assert sorted(cells) == list(range(16))  # one point in each sixteenth


def test_names_of_cases_follow_their_content():
    campaign = small_campaign()
    ids = campaign.table.ids(campaign.key)
    assert len(set(ids)) == len(ids) == 12
    assert ids == campaign.table.ids(small_campaign().key)
    for changes in ({"duration": 21.0}, {"sea": SEA.replace(ramp=6.0)}, {"step": 0.125}):
        assert small_campaign(**changes).key != campaign.key
    # a case keeps its name when others join
    fewer = small_campaign(vary=[*campaign.vary[:2], sw.Seeds(1)])
    assert set(fewer.table.ids(fewer.key)) < set(ids)


@pytest.mark.parametrize(
    ("vary", "sentence"),
    [
        ([], "nothing varies"),
        ([sw.Seeds(2), sw.Values("seed", [1.0])], "'seed' varies twice"),
        ([sw.Values("Hm", [1.0])], "has no 'Hm'"),
        ([sw.Together({"Hs": [1.0, 2.0], "seed": [1.5, 2]})], "seed 1.5 is not a whole number"),
        ([sw.Values("seed", [1, 2**60])], "seed 1152921504606846976 is so large"),
        ([sw.Values("Hs", [1.0, -1.0])], "Hs -1.0 m is not positive"),
        ([sw.Values("ptos.pto.dampng", [1.0])], "Did you mean 'damping'?"),
        ([sw.Values("Hs", np.arange(1, 4001)), sw.Seeds(4000)], "are more than the"),
    ],
)
def test_bad_tables_are_told_in_a_sentence(vary, sentence):
    with pytest.raises(sw.SwelltreeError) as error:
        sw.Campaign(float_model(), vary, SEA, duration=10.0)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: sw.Seeds(0), "count 0 makes no seeds"),
        (lambda: sw.Values("Hs", [1.0, 1.0]), "holds a value twice"),
        (lambda: sw.Values("Hs", []), "holds no values"),
        (lambda: sw.Together({"Hs": [1.0], "Tp": [5.0, 6.0]}), "as many of each"),
        (lambda: sw.Together({}), "is not a table"),
        (lambda: sw.ScatterDiagram([1, 2], [5], [[1, 2]]), "Give 2 x 1"),
        (lambda: sw.ScatterDiagram([1, 2], [5, 6], [[1, 2], [3]]), "different lengths"),
        (lambda: sw.ScatterDiagram([1, 2], [5, 6], 3.0), "is not a matrix"),
        (lambda: sw.ScatterDiagram([1], [5], [["often"]]), "often"),
        (lambda: sw.ScatterDiagram([1], [5], [[-1]]), "must not be negative"),
        (lambda: sw.ScatterDiagram([1], [5], [[0]]), "not zero everywhere"),
        (lambda: sw.Sample({"Hs": [3.0, 1.0]}, 4), "Give [lowest, largest]"),
        (lambda: sw.Sample({"Hs": [1.0, 3.0]}, 6, method="sobol"), "not a power of two"),
        (lambda: sw.Sample({"Hs": [1.0, 3.0]}, 6, method="random"), "random"),
    ],
)
def test_bad_descriptions_of_what_varies_are_told_in_a_sentence(make, sentence):
    with pytest.raises(sw.SwelltreeError) as error:
        make()
    assert sentence in str(error.value)
