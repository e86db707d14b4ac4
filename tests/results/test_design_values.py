"""Tables of tensions, hook loads, offsets and accelerations, with the largest to expect."""

import io

import numpy as np
import pytest
import xarray as xr
from rich.console import Console

import swelltree as sw
from made_result import made_run
from swelltree.report.report import page
from swelltree.results.design_values import HEADS, design_tables, expected
from swelltree.results.summary import summary


def narrow_banded(duration, seed):
    """A Gaussian channel of standard deviation one about five, period about 8 s."""
    rng = np.random.default_rng(seed)
    time = np.arange(0.0, duration, 0.4)
    omega = 2 * np.pi / 8.0 * (1.0 + 0.2 * rng.standard_normal(200))
    phase = rng.uniform(0, 2 * np.pi, 200)
    return 5.0 + np.cos(np.outer(time, omega) + phase).sum(1) / 10.0


def test_largest_value_in_three_hours_is_that_of_a_rayleigh_distribution():
    # Longuet-Higgins (1952): mean + std sqrt(2 ln N) with N the crests of three hours
    found = [expected(narrow_banded(3600.0, seed), 3600.0) for seed in range(12)]
    exact = 5.0 + np.sqrt(2.0 * np.log(10800.0 / 8.0))
    # one hour has 450 crests: the mean of a dozen is right to some per cent of the amplitude
    assert np.mean(found) - 5.0 == pytest.approx(exact - 5.0, rel=0.06)


def test_short_and_regular_records_are_told_apart():
    time = np.arange(0.0, 400.0, 0.1)
    assert np.isnan(expected(np.sin(time)[:600], 60.0))
    assert expected(2.0 + np.sin(time), 400.0) == pytest.approx(3.0, abs=1e-2)


def with_points(run, seed=0):
    rng = np.random.default_rng(seed)
    shape = (run.sizes["time"], 2, 3)
    return run.assign(
        point_acceleration=(("time", "point", "axis"), rng.standard_normal(shape)),
        fairlead_tension=(("time", "line"), 1e5 + 1e4 * rng.standard_normal(shape[:2])),
        anchor_tension=(("time", "line"), 5e4 + 1e3 * rng.standard_normal(shape[:2])),
    ).assign_coords(
        point=["deck", "bow"],
        winch=["hoist"],
        winch_line=("winch", [str(run.line.values[1])]),
        winch_end=("winch", ["A"]),
    )


@pytest.fixture(scope="module")
def run():
    return with_points(made_run(("one", "two"), lines=2, duration=200.0))


def test_tables_hold_the_statistics_of_their_channels(run):
    tables = {table.title.split(" [")[0]: table for table in design_tables(run)}
    assert list(tables) == [
        "tension of lines",
        "hook load",
        "horizontal offset",
        "acceleration of points",
    ]
    lines = {name: numbers for name, *numbers in tables["tension of lines"].rows}
    assert (tables["tension of lines"].unit, tables["acceleration of points"].unit) == (
        "kN",
        "m/s^2",
    )
    stats = sw.statistics(run["fairlead_tension"] / 1e3)
    for i, line in enumerate(run.line.values):
        for numbers, statistic in zip(
            lines[f"{line}, fairlead"], ("mean", "std", "max"), strict=False
        ):
            assert numbers == pytest.approx(float(stats.sel(statistic=statistic)[i]), rel=1e-12)
        assert lines[f"{line}, fairlead"][3] > lines[f"{line}, fairlead"][2] * 0.95
    assert tables["hook load"].rows[0][1:] == pytest.approx(
        lines[f"{run.line.values[1]}, fairlead"]
    )
    late = run.sel(time=slice(10.0, None))
    z = np.abs(late.point_acceleration.sel(point="bow", axis="z"))
    points = {name: numbers for name, *numbers in tables["acceleration of points"].rows}
    assert points["bow, vertical"][2] == pytest.approx(float(z.max()))
    place = run.position.sel(body="one").transpose("time", "dof").values[:, :2]
    away = np.hypot(*(place - place[0]).T)[run.time.values >= 10.0]
    offsets = {name: numbers for name, *numbers in tables["horizontal offset"].rows}
    assert offsets["one"][2] == pytest.approx(away.max())


def test_tables_are_on_the_terminal_and_in_the_page(run):
    console = Console(file=io.StringIO(), width=120)
    console.print(summary(run))
    text = console.file.getvalue()
    html = page(run)
    for words in ("tension of lines", "hook load", "deck, vertical", "hoist", *HEADS):
        assert words in text
        assert words in html
    assert "most probable maximum in 3 h" in text
    assert "m/s²" in html


def test_results_without_time_have_none():
    assert design_tables(xr.Dataset()) == []
