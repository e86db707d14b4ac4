"""Power matrices and energy of a year, from a campaign and by hand."""

import numpy as np
import pytest
import xarray as xr

import made_hydro
import swelltree as sw
from made_campaign import SEA, small_campaign
from swelltree.report.campaign_page import write_campaign_report


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    folder = tmp_path_factory.mktemp("power") / "store"
    reduce = ("statistics", "peaks", "fatigue")
    return small_campaign(reduce=reduce).run(folder, workers=0)


def test_the_matrix_is_the_mean_over_seeds(result):
    matrix = sw.power_matrix(result)
    power = result["absorbed_power"].sel(statistic="mean", pto="pto").values
    assert matrix["power"].dims == ("Hs", "Tp", "ptos.pto.damping")
    assert np.allclose(matrix["power"].values, power.mean(-1), equal_nan=True)
    assert np.allclose(matrix["power_std"].values, power.std(-1, ddof=1), equal_nan=True)
    assert matrix["seeds"].values[0, 0].tolist() == [2, 2]
    assert matrix["seeds"].values[1, 0].tolist() == [0, 0]


def test_wave_power_and_capture_width_are_those_of_the_sea(result):
    matrix = sw.power_matrix(result)
    # deep water: J = rho g^2 Hm0^2 Te / (64 pi)
    state = matrix.sel(Hs=2.0, Tp=8.0)
    expected = 1000.0 * 9.81**2 / (64 * np.pi) * float(state["Hm0"]) ** 2 * float(state["Te"])
    assert float(state["J"]) == pytest.approx(expected, rel=1e-9)
    assert float(state["Hm0"]) == pytest.approx(2.0, rel=2e-3)  # of a band
    assert 0.85 * 8.0 < float(state["Te"]) < 0.95 * 8.0  # 0.9 Tp for JONSWAP
    assert np.allclose(state["capture_width"], state["power"] / state["J"])


def test_energy_of_a_year_is_the_sum_over_the_states(result):
    year = sw.annual_energy(result)
    power = sw.power_matrix(result)["power"].values
    often = np.array([[1, 2], [0, 3]]) / 6
    expected = 8766.0 * np.nansum(often[:, :, None] * power, axis=(0, 1))
    assert year["MAEP"].values == pytest.approx(expected)
    assert year["mean_power"].values == pytest.approx(expected / 8766.0)
    assert year["covered"].values == pytest.approx([1.0, 1.0])
    seeds = result["absorbed_power"].sel(statistic="mean", pto="pto").values
    years = 8766.0 * np.nansum(often[:, :, None, None] * seeds, axis=(0, 1))
    error = years.std(-1, ddof=1) / np.sqrt(2)
    assert year["MAEP_error"].values == pytest.approx(error)  # seeds are shared by all states
    less = sw.annual_energy(result, availability=0.5)
    assert less["MAEP"].values == pytest.approx(0.5 * expected)


def test_another_site_can_be_given(result):
    dims = {"Hs": [1.0, 2.0], "Tp": [6.0, 8.0]}
    site = xr.DataArray([[0.0, 0.0], [0.0, 8.0]], dims)
    year = sw.annual_energy(result, site)
    power = sw.power_matrix(result)["power"].sel(Hs=2.0, Tp=8.0)
    assert year["mean_power"].values == pytest.approx(power.values)


@pytest.mark.parametrize(
    ("values", "dims", "coords", "sentence"),
    [
        ([[1.0, 1.0], [1.0, 1.0]], ("h", "t"), {}, "occurrence is over 'h', 't'. Give it over"),
        ([1.0, 1.0], ("Hs",), {"Hs": [1.0, 2.0]}, "Give it over 'Hs', 'Tp', the states"),
        ([[[1.0]]], ("Hs", "Tp", "beta"), {}, "is over 'Hs', 'Tp', 'beta'"),
        ([[1.0, 1.0, 1.0]], ("Hs", "Tp"), {}, "occurrence has 1 Hs without values, the power 2"),
        ([[-1.0, 2.0], [1.0, 1.0]], ("Hs", "Tp"), {}, "must not be negative"),
        ([[0.0, 0.0], [0.0, 0.0]], ("Hs", "Tp"), {}, "not zero everywhere"),
    ],
)
def test_an_occurrence_of_no_such_states_is_told(result, values, dims, coords, sentence):
    with pytest.raises(sw.SwelltreeError) as error:
        sw.annual_energy(result, xr.DataArray(values, coords, dims))
    assert sentence in str(error.value)


def test_hours_counts_and_parts_of_a_site_are_the_same_year(result):
    parts = xr.DataArray([[0.1, 0.2], [0.0, 0.3]], {"Hs": [1.0, 2.0], "Tp": [6.0, 8.0]})
    years = [float(sw.annual_energy(result, k * parts)["MAEP"][0]) for k in (1.0, 8766.0, 1 / 0.6)]
    assert years == pytest.approx([years[0]] * 3, rel=1e-12)


def test_one_design_of_three_without_results_is_named():
    """It was "states of 100 % of the time have no result", of all three."""
    power = xr.DataArray(
        [[1e3, 2e3], [np.nan, np.nan], [3e3, 4e3]],
        {"mass": [1.0, 2.0, 3.0], "Hs": [1.0, 2.0]},
        ("mass", "Hs"),
    )
    often = xr.DataArray([0.25, 0.75], {"Hs": [1.0, 2.0]}, ("Hs",))
    matrix = xr.Dataset({"power": power}, attrs={"channel": "delivered_power"})
    with pytest.warns(sw.SwelltreeWarning, match=r"1 of 3 designs lack results; at mass = 2.0"):
        year = sw.annual_energy(matrix, often)
    assert np.isnan(year["MAEP"].values).tolist() == [False, True, False]


def test_states_without_a_result_are_told(result):
    matrix = sw.power_matrix(result)
    matrix["power"] = matrix["power"].where(matrix["Tp"] < 7.0)
    with pytest.warns(sw.SwelltreeWarning, match=r"states of 83.3% of the time have no result"):
        year = sw.annual_energy(matrix)
    assert year["covered"].values == pytest.approx([1 / 6, 1 / 6])
    state = matrix["capture_width"].sel(Hs=1.0, Tp=6.0).values
    assert year["capture_width"].values == pytest.approx(state)


def test_peaks_and_fatigue_are_kept(result):
    largest = result["pto_force_peaks"].isel(rank=0).values
    top = result["pto_force"].sel(statistic="max").values
    here = np.isfinite(largest)
    assert (largest[here] <= top[here] * (1 + 1e-12)).all()
    ranges = result["pto_force_del"].sel(exponent=5.0).values
    assert (ranges[np.isfinite(ranges)] > 0).all()


def test_what_is_missing_is_told(result):
    with pytest.raises(sw.SwelltreeError, match="no statistics of 'winch_power'"):
        sw.power_matrix(result, "winch_power")
    bare = result.drop_vars("delivered_power")
    with pytest.warns(sw.SwelltreeWarning, match="no delivered_power, so the absorbed power"):
        assert sw.power_matrix(bare).attrs["channel"] == "absorbed_power"
    with pytest.raises(sw.SwelltreeError, match="availability 0"):
        sw.annual_energy(result, availability=0.0)
    with pytest.raises(sw.SwelltreeError, match="occurrence is not labelled"):
        sw.annual_energy(result, np.ones((2, 2)))
    with pytest.raises(sw.SwelltreeError, match="no occurrence of the sea states"):
        sw.annual_energy(sw.power_matrix(result).drop_vars("occurrence"))


def test_the_page_shows_matrices_and_says_how_to_replay(result, tmp_path):
    page = sw.write_campaign_report(result, tmp_path / "page.html").read_text()
    assert page.count("data:image/png") >= 4
    for text in ("mean power", "capture width", "Slowest cases", "--replay", "small"):
        assert text in page
    assert "<script" not in page


def test_the_page_ranks_designs_and_shows_peaks_and_fatigue(result, tmp_path):
    page = sw.write_campaign_report(result, tmp_path / "page.html").read_text()
    year = sw.annual_energy(sw.power_matrix(result))
    best = float(year["MAEP"].idxmax("ptos.pto.damping"))
    assert f"<b>ptos.pto.damping = {best:g}</b>best design" in page
    rows = page[page.index("Designs, best first") : page.index("Sea states")]
    ranked = sorted((float(value) for value in year["MAEP"] / 1e6), reverse=True)
    places = [rows.index(f"{value:.4g}") for value in ranked]
    assert places == sorted(places)
    if "pto_force_peaks" in result:
        highest = float(result["pto_force_peaks"].max())
        assert f"{highest:.4g}" in page[page.index("Peaks and fatigue") :]
    assert "N, N m" not in page


def test_a_long_title_of_a_matrix_is_wrapped(result):
    values = sw.power_matrix(result)["power"].isel({"ptos.pto.damping": 0})
    figure = sw.plot.matrix(values, title="a very long title of a matrix " * 3)
    assert figure.axes[0].get_title("left").count("\n") >= 1


def test_a_state_alone_is_the_whole_year(result):
    one = result.isel(Hs=0, Tp=1, **{"ptos.pto.damping": 0})
    year = sw.annual_energy(one)
    power = float(sw.power_matrix(one)["power"])
    assert float(year["MAEP"]) == pytest.approx(8766.0 * power, rel=1e-12)


def test_the_page_shows_all_digits_of_a_seed(result, tmp_path):
    seeds = result.isel(Hs=0, Tp=1, **{"ptos.pto.damping": 0}).assign_coords(seed=[12345678, 9])
    page = sw.write_campaign_report(seeds, tmp_path / "page.html").read_text()
    assert ">12345678<" in page


def test_the_page_names_failed_cases_with_their_sentence(result, tmp_path):
    first = np.zeros(result["state"].shape, bool)
    first[0, 0, 0, 0] = True
    failed = result.assign(
        state=result["state"].where(~first, "failed"),
        message=result["message"].where(~first, "the wave is too steep."),
    )
    page = sw.write_campaign_report(failed, tmp_path / "page.html").read_text()
    assert page.count("the wave is too steep.") == 1
    assert str(result["case_id"].values[0, 0, 0, 0]) in page


def test_a_case_is_replayed_by_its_name(result):
    name = str(result["case_id"].sel(Hs=2.0, Tp=8.0, seed=1).values[0])
    run = small_campaign(reduce=("statistics", "peaks", "fatigue")).replay(name)
    expected = result["position"].sel(Hs=2.0, Tp=8.0, seed=1, statistic="std", dof="Heave")
    own = sw.statistics(run)["position"].sel(statistic="std", dof="Heave")
    assert own.values == pytest.approx(expected.values[0], rel=5e-3)  # steps of 0.25 s
    with pytest.raises(sw.SwelltreeError, match="has no case 'abc'"):
        small_campaign().replay("abc")
    assert SEA.seed == 3


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A campaign over a scatter diagram and seeds, nothing else."""
    folder = tmp_path_factory.mktemp("site") / "store"
    vary = [sw.ScatterDiagram([1.0, 2.0], [6.0, 8.0], [[1, 2], [0, 3]]), sw.Seeds(2)]
    return small_campaign(vary=vary).run(folder, workers=0)


def test_matrices_are_those_of_the_standard_as_they_are(site):
    """Capture width, wave power and occurrence have one shape; the occurrence sums to one.

    MAEP = T sum(CW J f) with T = 8766 h, as in IEC TS 62600-100.
    """
    matrix = sw.power_matrix(site)
    width, flux, often = matrix["capture_width"], matrix["J"], matrix["occurrence"]
    assert width.dims == flux.dims == often.dims == ("Hs", "Tp")
    assert float(often.sum()) == pytest.approx(1.0, abs=1e-12)
    energy = 8766.0 * np.nansum(width.values * flux.values * often.values)
    assert float(sw.annual_energy(site)["MAEP"]) == pytest.approx(energy, rel=1e-12)


def test_mhkit_takes_the_datasets_as_they_are(site):
    performance = pytest.importorskip("mhkit.wave.performance")
    matrix, year = sw.power_matrix(site), sw.annual_energy(site)
    width = performance.capture_width(matrix["power"], matrix["J"], to_pandas=False)
    assert np.allclose(width, matrix["capture_width"], rtol=1e-12, equal_nan=True)
    power = performance.power_matrix(matrix["capture_width"], matrix["J"])
    assert np.allclose(power, matrix["power"], rtol=1e-12, equal_nan=True)
    energy = performance.mean_annual_energy_production_matrix(
        matrix["capture_width"], matrix["J"], matrix["occurrence"]
    )
    assert float(energy) == pytest.approx(float(year["MAEP"]), rel=1e-12)
    # every seed of every state is a record, binned as records of a buoy are
    records = site.stack(record=("Hs", "Tp", "seed")).reset_index("record")
    records = records.isel(record=np.flatnonzero(records["state"].values == "done"))
    own = performance.capture_width(
        records["absorbed_power"].sel(statistic="mean", pto="pto").values,
        records["J"].values,
        to_pandas=False,
    )
    binned = performance.capture_width_matrix(
        records["Hm0"].values,
        records["Te"].values,
        own,
        "mean",
        np.array([1.0, 2.0]),
        np.unique(np.round(records["Te"].values, 9)),
        to_pandas=False,
    )
    expected = matrix["capture_width"].values
    assert np.allclose(binned.values, expected, rtol=1e-12, equal_nan=True)


def test_heat_is_no_energy_of_a_year(tmp_path):
    """Friction absorbs, and delivers nothing: 75.5 MWh a year were counted of such a PTO."""
    body = sw.Body("float", made_hydro.MASS, (1e6, 1e6, 1e6))
    lossy = sw.CoulombPto("idle", joint="rail", friction=3e4, efficiency=0.0)
    rail = sw.Slider("rail", sw.WORLD, body, axis="z")
    water = sw.Water(rho=1000.0)
    model = sw.compile(
        sw.System("float", [body], [rail], ptos=[lossy], water=water), made_hydro.heaving_float()
    )
    diagram = sw.ScatterDiagram([1.0, 2.0], [6.0, 8.0], [[1, 2], [1, 3]])
    campaign = sw.Campaign(model, vary=[diagram], sea=SEA, duration=20.0, step=0.05, name="idle")
    found = campaign.run(tmp_path / "store", workers=0)
    matrix = sw.power_matrix(found)
    year = sw.annual_energy(matrix)
    assert matrix.attrs["channel"] == "delivered_power"
    assert float(matrix["absorbed_power"].min()) > 100.0
    assert np.abs(matrix["power"].values).max() < 1e-9 * float(matrix["absorbed_power"].max())
    assert float(year["absorbed_energy"]) > 1e6
    assert abs(float(year["MAEP"])) < 1e-9 * float(year["absorbed_energy"])
    page = write_campaign_report(found, tmp_path / "page.html").read_text()
    assert "MAEP, delivered" in page
    assert "absorbed in a year" in page
