"""Operability: numbers of every cell against their limits, and the figure of it."""

import numpy as np
import pytest
import xarray as xr

import swelltree as sw
from swelltree.describe.errors import SwelltreeError
from swelltree.describe.values import DOFS

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
        ({"limits": {"load": 0.0}}, "limit 0 of 'load' is not positive"),
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


def waves(Hs):
    """Two lines and a body: the second line pulls below zero, the ramp is large."""
    time = np.linspace(0.0, 20.0, 401)
    swing = np.where(time < 5.0, 50.0, Hs) * np.sin(time)
    tension = np.stack([1.0 + 0.1 * swing, -2.0 * swing], axis=1)
    position = np.zeros((401, 1, 6))
    position[:, 0, 3] = 0.01 * swing - 0.02
    data = {
        "tension": (("time", "line"), tension),
        "position": (("time", "body", "dof"), position),
    }
    coords = {"line": ["a", "b"], "body": ["barge"], "dof": list(DOFS), "time": time}
    run = xr.Dataset(data, coords)
    run["time"].attrs["ramp"] = 5.0
    return run


def test_limits_of_channels_choose_and_take_the_worst_of_the_rest():
    rows = [
        {"channel": "position", "body": "barge", "dof": "Roll", "limit": 0.05},
        {"channel": "tension", "statistic": "max", "limit": 5.0},
        {"channel": "tension", "line": "a", "statistic": "min", "limit": (0.0, 2.0)},
        sw.ChannelLimit("half", 9.0),
    ]
    table = sw.operability(waves, {"Hs": [1.0, 2.0]}, lambda run: {"half": 0.5}, rows)
    # the greatest size is that of the low side, -0.02 - 0.01 Hs
    assert table["position barge Roll"].values == pytest.approx([0.03, 0.04], abs=1e-4)
    assert table["tension max"].values == pytest.approx([2.0, 4.0], rel=1e-3)
    assert table["tension a min"].values == pytest.approx([0.9, 0.8], abs=1e-3)
    assert table["half"].values == pytest.approx([0.5, 0.5])
    assert table["operable"].all()


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"channel": "tnsion", "limit": 1.0}, "'tnsion' is not among .* Did you mean 'tension'"),
        ({"channel": "position", "limit": 1.0}, "metres and radians have no common limit"),
        ({"channel": "tension", "line": "c", "limit": 1.0}, "no line 'c'. It has 'a', 'b'"),
        ({"channel": "tension", "body": "barge", "limit": 1.0}, "no body 'barge'. It has no body"),
        ({"channel": "tension", "statistic": "mx", "limit": 1.0}, "Did you mean 'max'"),
        ({"channel": "tension", "limit": -1.0}, "limit -1 of 'tension' is not positive"),
        ({"channel": "tension", "limt": 1.0}, "'limit' is missing"),
        ({"channel": "tension", "limit": 1.0, "bdy": "barge"}, "Did you mean 'body'"),
        (3.0, "limits hold 3.0"),
    ],
)
def test_a_limit_that_no_result_has_is_a_mistake_not_a_failed_case(row, words):
    with pytest.raises(SwelltreeError, match=words):
        sw.operability(waves, {"Hs": [1.0]}, limits=[row])


def test_conditions_are_those_of_the_sea_before_anything_runs():
    body = sw.Body("bob", mass=1.0, inertia=(1, 1, 1))
    model = sw.compile(sw.System("one", [body], [sw.Slider("rail", sw.WORLD, body)]))
    specified = {"sea": sw.RegularWave(height=1.0, period=5.0), "duration": 1.0}
    rows = [{"channel": "position", "dof": "Heave", "limit": 1.0}]
    with pytest.raises(SwelltreeError, match=r"wave 'regular' has no 'Hs'\. .*It has "):
        sw.operability(model, {"Hs": [1.0]}, limits=rows, simulate=specified)
    with pytest.raises(SwelltreeError, match="height -1"):
        sw.operability(model, {"height": [1.0, -1.0]}, limits=rows, simulate=specified)
    with pytest.raises(SwelltreeError, match="Give simulate with sea and duration"):
        sw.operability(model, {"height": [1.0]}, limits=rows)
    with pytest.raises(SwelltreeError, match="limit 'tension' is given twice"):
        sw.operability(waves, {"Hs": [1.0]}, limits=[{"channel": "tension", "limit": 1.0}] * 2)
    with pytest.raises(SwelltreeError, match="simulate belongs to a compiled model"):
        sw.operability(waves, {"Hs": [1.0]}, limits=rows, simulate=specified)
