"""Warnings point to the line of the caller, however deep in the package they arise."""

import inspect
import re
import warnings
from pathlib import Path

import pytest

import swelltree as sw
from made_hydro import heaving_float


def compiled_with_negative_damping():
    data = heaving_float()
    data["radiation_damping"].values[40] *= 3.0
    body = sw.Body("float", mass=2.6e5, inertia=(1e6,) * 3)
    joint = sw.Slider("rail", sw.WORLD, body)
    system = sw.System("s", (body,), (joint,), water=sw.Water(rho=1000.0))
    sw.compile(system, data)


def steep_wave():
    sw.realise(sw.RegularWave(height=2.0, period=0.7), sw.Water())


def strange_units():
    sw.Hinge("h", sw.WORLD, sw.Body("b", 1.0, (1.0,) * 3), position=90.0)


@pytest.mark.parametrize("act", [compiled_with_negative_damping, steep_wave, strange_units])
def test_a_warning_points_to_the_line_that_called(act):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        act()
    lines, first = inspect.getsourcelines(act)
    own = [one for one in heard if issubclass(one.category, sw.SwelltreeWarning)]
    assert own
    for one in own:
        assert Path(one.filename).name == Path(__file__).name
        assert first <= one.lineno < first + len(lines)


def test_every_warning_of_the_package_goes_through_the_one_helper():
    root = Path(sw.__file__).parent
    direct = [p.name for p in root.rglob("*.py") if re.search(r"warnings\.warn\(", p.read_text())]
    assert direct == ["errors.py"]
