"""Operability: numbers of every cell against their limits, and the figure of it."""

import numpy as np
import pytest
import xarray as xr

import swelltree as sw
from swelltree.system.errors import SwelltreeError

OVER = {"Hs": [1.0, 2.0, 3.0], "Tp": [6.0, 9.0]}
LIMITS = {"load": 1.5, "gap": (2.0, 10.0)}


def operation(Hs, Tp):
    if Hs == 3.0 and Tp == 9.0:
        raise SwelltreeError("line 'rope' broke.")
    return Hs, Tp


def judged(run):
    Hs, Tp = run
    return {"load": 1.0 + 0.2 * Hs, "gap": 12.0 - Tp - Hs, "speed": Hs / Tp}


@pytest.fixture(scope="module")
def table():
    with pytest.warns(sw.SwelltreeWarning, match="1 of 6 cases have no result"):
        return sw.operability(operation, OVER, judged, LIMITS)


def test_cells_hold_the_numbers_and_what_governs(table):
    assert table["operable"].dims == ("Hs", "Tp")
    assert table["load"].values[:, 0] == pytest.approx([1.2, 1.4, 1.6])
    assert float(table["speed"].sel(Hs=2.0, Tp=9.0)) == pytest.approx(2 / 9)
    assert table["utilisation"].sel(Tp=6.0).values == pytest.approx(
        [1.2 / 1.5, 1.4 / 1.5, 1.6 / 1.5]
    )
    assert table["governing"].sel(Hs=1.0, Tp=9.0).item() == "gap"
    assert table["operable"].values.tolist() == [[True, True], [True, False], [False, False]]


def test_a_case_without_a_result_has_a_state_of_its_own(table):
    failed = table.sel(Hs=3.0, Tp=9.0)
    assert failed["state"].item() == "failed"
    assert failed["governing"].item() == ""
    assert np.isnan(failed["utilisation"])
    assert not failed["operable"]
    assert set(table["state"].values.ravel()) == {"operable", "inoperable", "failed"}
    assert table.attrs["failures"] == "Hs = 3, Tp = 9: line 'rope' broke."


def test_the_figure_shows_every_cell(table):
    fig = sw.plot.operability(table)
    texts = [text.get_text() for text in fig.axes[0].texts]
    assert texts.count("failed") == 1
    assert "0.80" in texts
    assert fig.axes[0].get_xlabel() == "Tp [s]"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"over": {"Hs": []}}, "there are no conditions"),
        ({"limits": {}}, "there are no limits"),
        ({"limits": {"lod": 1.0}}, "limit 'lod' is not among the numbers. Did you mean 'load'"),
        ({"limits": {"load": 0.0}}, "limit 0 is not positive"),
        ({"limits": {"gap": (3.0, 1.0)}}, "leave nothing"),
        ({"limits": {"gap": [3.0, 1.0, 2.0]}}, r"limit \[3.0, 1.0, 2.0\] of 'gap' is neither"),
        ({"limits": {"gap": "small"}}, "limit 'small' of 'gap' is neither a number nor two"),
        ({"limits": {"gap": (0.0, np.nan)}}, "of 'gap' is neither a number nor two"),
        ({"limits": {"gap": None}}, "limit None of 'gap' is neither a number nor two"),
    ],
)
def test_bad_input_is_told_in_a_sentence(changes, words):
    good = {"run": operation, "over": {"Hs": [1.0], "Tp": [6.0]}, "judge": judged, "limits": LIMITS}
    with pytest.raises(SwelltreeError, match=words):
        sw.operability(**(good | changes))


def test_two_limits_may_be_a_list(table):
    pairs = {name: list(x) if isinstance(x, tuple) else x for name, x in LIMITS.items()}
    assert pairs != LIMITS
    over = {"Hs": [1.0, 2.0], "Tp": [6.0]}
    same = sw.operability(operation, over, judged, pairs)
    assert same.identical(sw.operability(operation, over, judged, LIMITS))


def test_bad_limits_are_told_before_anything_runs():
    ran = []
    with pytest.raises(SwelltreeError, match="is neither a number nor two"):
        sw.operability(lambda Hs: ran.append(Hs), {"Hs": [1.0]}, judged, {"gap": "small"})
    assert not ran


def test_the_figure_wants_two_conditions(table):
    with pytest.raises(SwelltreeError, match="Choose two with"):
        sw.plot.operability(table.sel(Hs=1.0))
    with pytest.raises(SwelltreeError, match="not a result of operability"):
        sw.plot.operability(table.drop_vars("utilisation"))


def ended(how, message="speeds beyond 1e6 at t = 5 s."):
    """A result of simulate as far as its end goes."""
    return xr.Dataset({"pull": ("time", [1.0, 2.0])}, attrs={"result": how, "message": message})


@pytest.mark.parametrize("how", ["not_finite", "too_many_steps", "diverged"])
def test_a_run_that_ended_early_is_not_judged(how):
    judges = []

    def judge(run):
        judges.append(run)
        return {"load": float(run.pull.max())}

    with pytest.warns(sw.SwelltreeWarning, match=f"{how}: speeds beyond"):
        found = sw.operability(
            lambda Hs: ended(how if Hs > 1 else "success"), {"Hs": [1.0, 2.0]}, judge, {"load": 5.0}
        )
    assert found["state"].values.tolist() == ["operable", "failed"]
    assert len(judges) == 1


def test_a_number_that_is_none_is_no_verdict():
    with pytest.warns(sw.SwelltreeWarning, match="'load' is not a number"):
        found = sw.operability(
            lambda Hs: Hs,
            {"Hs": [1.0, 2.0]},
            lambda Hs: {"load": Hs if Hs > 1 else np.nan},
            {"load": 5.0},
        )
    assert found["state"].values.tolist() == ["failed", "operable"]


@pytest.mark.parametrize("stop", ["stopped_by_user", "interrupt"])
def test_ctrl_c_ends_the_whole_table(stop):
    cases = []

    def run(Hs):
        cases.append(Hs)
        if stop == "interrupt":
            raise KeyboardInterrupt
        return ended(stop)

    with pytest.raises(KeyboardInterrupt):
        sw.operability(run, {"Hs": [1.0, 2.0]}, lambda run: {"load": 1.0}, {"load": 5.0})
    assert cases == [1.0]
