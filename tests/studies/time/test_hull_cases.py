"""Nonlinear hulls in case files."""

import pytest

import swelltree as sw

TEXT = """
[system]
name = "s"
bodies = [{ name = "f", hull = { shape = "sphere", radius = 2.0 } }]
joints = [{ name = "j", type = "slider", base = "world", follower = "f" }]
[hydro]
"""


def test_options_of_hulls_are_read_and_written():
    case = sw.loads(TEXT + 'nonlinear = true\nstretching = "constant"\n')
    assert case.hydro is not None
    assert case.hydro.compile_options["nonlinear"] is True
    assert sw.loads(case.to_toml()).hydro == case.hydro
    named = sw.loads(TEXT + 'nonlinear = ["f"]\nfile = "data.nc"\n').hydro
    assert named is not None
    assert named.nonlinear == ("f",)


def test_mistakes_are_told():
    with pytest.raises(sw.SwelltreeError, match="give either source"):
        sw.loads(TEXT + 'stretching = "constant"\n')
    with pytest.raises(sw.SwelltreeError, match="stretching 'wheler' is not a stretching"):
        sw.loads(TEXT + 'nonlinear = true\nstretching = "wheler"\n')
    with pytest.raises(sw.SwelltreeError, match="nonlinear 3 is not a row of names"):
        sw.loads(TEXT + "nonlinear = 3\n")
