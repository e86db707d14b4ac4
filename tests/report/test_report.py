"""Pages of results: whole in themselves, and nothing in them but text."""

import json
import re

import numpy as np
import pytest
import xarray as xr

import swelltree as sw
from made_hydro import heaving_float
from made_result import HOSTILE, SHOWN, made_run
from swelltree.report.report import filled, in_script, page, write_report


@pytest.fixture(scope="module")
def run():
    return made_run(lines=2)


@pytest.fixture(scope="module")
def text(run):
    return page(run, note="A <b>note</b>.")


def data_of(text):
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    assert found is not None
    return json.loads(found[1])


def test_range_graphs_of_lines_are_in_the_page(text):
    assert text.count('src="data:image/png;base64,') == 2
    assert 'alt="Min, mean and max along line 1"' in text
    assert "Ranges along lines" not in page(made_run(duration=5.0))


def test_the_page_loads_nothing_from_anywhere(text):
    assert re.findall(r'(?:src|href)="(?!#|data:)', text) == []
    assert "default-src 'none'" in text
    assert "{{" not in re.sub(r"<script>.*</script>", "", text, flags=re.S)


def test_the_page_has_every_section(text):
    for heading in ("Statistics", "Energy budget", "Joint reactions", "Power take-offs", "Model"):
        assert f"<h2>{heading}</h2>" in text
    assert "<h2>Provenance</h2>" in text
    assert "<h2>Methods and sources</h2>" in text
    assert "Cummins (1962)" in text
    assert "three is not real." in text
    assert "A &lt;b&gt;note&lt;/b&gt;." in text


def test_statistics_in_the_page_are_those_of_the_result(run, text):
    later = run["elevation"].sel(time=slice(10.0, None)).values
    row = re.search(r"<td>sea surface</td>(.*?)</tr>", text)
    assert row is not None
    cells = re.findall(r"<td class=n>(.*?)</td>", row[1])
    assert float(cells[2]) == pytest.approx(later.std(), rel=1e-3)
    assert float(cells[5].replace("−", "-")) == pytest.approx(later.max(), rel=1e-3)


def test_hostile_names_are_text():
    text = page(made_run(HOSTILE, duration=30.0))
    # elements of the page itself: one script that runs, the others are data
    assert len(re.findall(r"<script>", text)) == 1
    assert "<script>hacked" not in text
    assert "<img" not in text
    assert [b["name"] for b in data_of(text)["runs"][0]["scene"]["bodies"]] == list(HOSTILE)


def test_marks_in_names_are_not_filled():
    assert filled("a {{x}} b", {"x": "{{y}}"}) == "a {{y}} b"
    assert "</" not in in_script({"x": "</script>"})
    assert json.loads(in_script({"x": "</script>\u2028"}))["x"] == "</script>\u2028"


def test_several_runs_are_compared(run):
    other = made_run(seed=1).assign_attrs(study_name="another")
    text = page([run, other])
    assert "<h2>Comparison of runs</h2>" in text
    assert [one["label"] for one in data_of(text)["runs"]] == ["made up", "another"]
    assert '<div data-run="1" hidden>' in text


@pytest.mark.slow
def test_an_hour_at_twenty_hertz_is_written_small(tmp_path):
    import resource

    names, channels = ("a", "b", "c", "d", "e"), [*SHOWN, "rotation"]
    run = made_run(names, duration=3600.0, step=0.05, channels=channels)
    path = sw.save(run, tmp_path / "hour.nc")
    assert path.stat().st_size > 200e6
    del run
    written = write_report(path, tmp_path / "hour.html")
    assert written.stat().st_size < 15e6
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 4e6  # kilobytes
    data = data_of(written.read_text())
    assert data["runs"][0]["scene"]["time"]["step"] <= 0.1


def test_a_report_is_written_whole_or_not_at_all(run, tmp_path):
    with pytest.raises(sw.SwelltreeError, match=r"the folder '.*none' does not exist. Make it"):
        write_report(run, tmp_path / "none" / "report.html")
    with pytest.raises(sw.SwelltreeError, match=r"result file '.*' does not exist"):
        write_report(tmp_path / "gone.nc", tmp_path / "report.html")
    (tmp_path / "bad.nc").write_bytes(b"not netCDF")
    with pytest.raises(sw.SwelltreeError, match=r"cannot be read"):
        write_report(tmp_path / "bad.nc", tmp_path / "report.html")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.nc"]
    with pytest.raises(sw.SwelltreeError, match=r"a report needs at least one result"):
        write_report([], tmp_path / "report.html")


def test_any_result_has_a_page(run):
    rest = run.isel(time=0).drop_vars("elevation").drop_vars("time")
    assert "<h2>Provenance</h2>" in page(rest)
    still = run.assign_attrs(wave_components="").drop_vars("elevation")
    assert data_of(page(still))["runs"][0]["scene"]["waves"] is None
    gaps = run.copy(deep=True)
    gaps["velocity"].values[5:9] = np.nan
    assert "velocity" in page(gaps)


def test_what_is_not_a_result_makes_no_page(tmp_path):
    other = xr.Dataset({"temperature": ("x", [1.0, 2.0])})
    with pytest.raises(sw.SwelltreeError, match=r"the dataset is not a result .* temperature"):
        page(other)
    other.to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(sw.SwelltreeError, match=r"'other.nc' is not a result of swelltree"):
        sw.write_report(tmp_path / "other.nc", tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()
    with pytest.raises(sw.SwelltreeError, match="holds hydrodynamic data"):
        page(heaving_float())
