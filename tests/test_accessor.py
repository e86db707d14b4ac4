"""Notebook pictures of descriptions, models, results and data."""

import subprocess
import sys

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
    model = sw.compile(system)
    mass = f"{model.bodies.mass.sum():.6g} kg"
    assert f"5 bodies, 5 joints, 10 DOFs, {mass}" in model._repr_html_()
    assert f": 5 bodies, 5 joints, 10 DOFs, {mass}; Gravity, " in repr(model)
    assert repr(system).endswith(": 5 bodies, 5 joints, 4 PTOs>")  # a mass follows from a hull


def test_items_show_themselves_as_the_call_that_makes_them():
    hull = sw.Cylinder(radius=5.0, draft=4.0, height=7.0)
    body = sw.Body("buoy", hull=hull, com=(0, 0, -0.5))
    text = repr(body)
    assert text.startswith("Body('buoy', mass='displacement', inertia='homogeneous', com=(0.0, ")
    assert text.endswith(", hull=Cylinder(radius=5.0, draft=4.0, height=7.0))")
    assert eval(text, vars(sw) | {"Body": sw.Body, "Cylinder": sw.Cylinder}) == body
    assert repr(sw.WORLD) == "WORLD"
    system = sw.System("s", [body], [sw.Free("free", sw.WORLD, body)])
    assert repr(system) == "<System 's': 1 body, 1 joint>"  # mass follows from the hull
    device = sw.gallery.sphere()
    assert repr(device) == f"<gallery device {device.system!r}, data sphere.nc>"


def test_a_mistake_is_shown_up_to_the_line_of_the_user():
    script = """
import swelltree as sw
def build():
    return sw.System("s", [sw.Body("a", 1.0)], [sw.Hinge("h", "b", "a")])
build()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-2] == '  File "<string>", line 4, in build'
    assert lines[-1].startswith("swelltree.SwelltreeError: joint 'h': base body 'b' is not")
    other = subprocess.run([sys.executable, "-c", "1 / 0"], capture_output=True, text=True)
    assert "ZeroDivisionError" in other.stderr


def test_a_notebook_shows_a_mistake_up_to_the_line_of_the_user():
    try:
        sw.Hinge("h", sw.WORLD, 3.0)
    except sw.SwelltreeError as error:
        lines = error._render_traceback_()
    assert lines[-2].strip() == 'sw.Hinge("h", sw.WORLD, 3.0)'
    assert "spec.py" not in "".join(lines)
    assert lines[-1].startswith("swelltree.SwelltreeError: joint 'h'")


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
