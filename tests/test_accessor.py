"""Notebook pictures of descriptions, models, results and data."""

import pytest

import swelltree as sw
import swelltree.accessor
from made_hydro import heaving_float
from made_result import HOSTILE, made_run, made_system


def test_descriptions_and_models_show_themselves_as_text():
    system = made_system(HOSTILE)
    for html in (system._repr_html_(), sw.compile(system)._repr_html_()):
        assert "<script" not in html
        assert "<img" not in html
        assert "&lt;script&gt;" in html
        assert "hinge 0" in html
    assert "5 bodies, 5 joints, 10 DOFs" in sw.compile(system)._repr_html_()
    assert ": 5 bodies, 5 joints, 10 DOFs; Gravity, " in repr(sw.compile(system))


def test_results_have_an_accessor(tmp_path):
    run = made_run(HOSTILE, duration=20.0)
    found = run.swelltree.statistics()
    assert float(found["elevation"].sel(statistic="std")) > 0.1
    assert run.swelltree.report(tmp_path / "run.html").stat().st_size > 500_000
    assert len(run.swelltree.plot.phase("hinge 0__Pitch").axes) == 1
    assert "timeseries" in dir(run.swelltree.plot)
    html = run.swelltree._repr_html_()
    assert "<script" not in html
    assert "elevation" in html
    with pytest.raises(AttributeError, match="there is no plot 'nothing'"):
        run.swelltree.plot.nothing  # noqa: B018


def test_hydro_data_tell_what_they_hold():
    html = heaving_float().swelltree._repr_html_()
    assert html.startswith("<pre>source")
    assert "frequencies" in html
