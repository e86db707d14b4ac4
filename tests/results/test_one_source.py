"""One number, one source: terminal, page and dataset say the same of the same run."""

import io
import re

import numpy as np
import pytest
from rich.console import Console

import swelltree as sw
from made_buoy import buoy_run
from made_result import made_run
from swelltree.report.channels import channels
from swelltree.report.html import Blocks
from swelltree.report.report import page
from swelltree.report.tables import chips, greatest_tension
from swelltree.results.statistics import window_text
from swelltree.results.summary import summary, warnings_of
from swelltree.results.tables import extremes
from swelltree.results.units import power_text


def terminal(run):
    console = Console(file=io.StringIO(), width=160)
    console.print(summary(run))
    return console.file.getvalue()


def mean_power(run):
    return float(sw.statistics(run["absorbed_power"]).sel(statistic="mean").sum())


def test_the_mean_power_is_one_number_and_names_its_window():
    run = buoy_run()
    mean = mean_power(run)
    # the ramp makes a difference that the three places would show
    full = float(np.trapezoid(run["absorbed_power"].values[:, 0], run["time"].values) / 40.0)
    assert abs(full / mean - 1.0) > 0.1
    words = terminal(run)
    row = next(line for line in words.splitlines() if re.match(r"\W*pto\s.*%", line))
    unit = 1e3 if "kW]" in words else 1.0
    shown = unit * float(re.findall(r"[\d.]+(?:e[+-]\d+)?", row)[0])
    assert shown == pytest.approx(mean, rel=1e-4)
    assert f"<b>{power_text(mean)}</b><span>mean absorbed power" in chips(run)
    text = page(run)
    assert f"Samples {window_text(run)}" in text
    assert f"{window_text(run).capitalize()}.</p>" in text
    assert "<b>12 to 40 s</b><span>window of the statistics" in text
    assert window_text(run) in " ".join(words.split())
    assert window_text(run) == "from 12 s to 40 s, after the ramp"
    stats = next(
        row for row in channels(run, Blocks())["channels"] if row["variable"] == "absorbed_power"
    )
    assert stats["stats"][0] * (1e3 if stats["unit"] == "kW" else 1.0) == pytest.approx(
        mean, rel=1e-5
    )


def test_extremes_on_the_terminal_are_those_of_the_statistics():
    run = buoy_run()
    (name, ranges), *_ = extremes(run)
    found = sw.statistics(run["position"]).sel(body=name, dof="Heave")
    assert ranges[2] == pytest.approx(
        (float(found.sel(statistic="min")), float(found.sel(statistic="max"))), rel=1e-12
    )


def test_the_greatest_tension_is_that_of_the_fairleads():
    run = made_run(lines=3)
    fairlead = run["line_tension"].isel(line_segment=-1, drop=True) * 1.07
    own = run.assign(fairlead_tension=fairlead.assign_attrs(units="N"))
    where, top = greatest_tension(own)
    assert where == "maximum fairlead tension"
    after = own["fairlead_tension"].sel(time=slice(10.0, None))
    assert top == pytest.approx(float(after.max()), rel=1e-12)
    assert greatest_tension(run)[0] == "maximum tension along lines"


def test_a_run_that_ends_within_its_ramp_is_told():
    short = buoy_run().sel(time=slice(0.0, 11.0))
    assert any("ends within the ramp of 12 s" in sentence for sentence in warnings_of(short))
    assert not any("ramp" in sentence for sentence in warnings_of(buoy_run()))
