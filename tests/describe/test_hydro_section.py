"""The [hydro] section of a case offers what Python does."""

import dataclasses
from inspect import signature

import numpy as np
import pytest

import swelltree as sw
from swelltree.describe.environment import hydro as section
from swelltree.describe.environment.hydro import HydroSpec, RadiationFit
from swelltree.hydro.bem.run import bem_of_case, run_bem
from swelltree.hydro.data.case import hydro_of_case
from swelltree.hydro.radiation.fit import fit_radiation
from swelltree.hydro.readers.read import FORMATS, read_hydro

CASE = f"""
[system]
name = "one"
water = {{ rho = 1000.0 }}
[[system.bodies]]
name = "ball"
mass = 261800.0
inertia = [1.69e6, 1.69e6, 2.61e6]
position = [0, 0, -2]
[[system.joints]]
name = "heave"
type = "slider"
base = {{ body = "world", position = [0, 0, -2] }}
follower = "ball"
axis = "z"
[hydro]
file = "{sw.gallery.sphere().file}"
names = {{ sphere = "ball" }}
check = false
"""


def parameters(function, *others):
    return [name for name in signature(function).parameters if name not in others]


def test_every_option_of_python_is_one_of_the_section():
    spec = HydroSpec(file="any.out")
    bem = parameters(run_bem, "system", "omega", "wave_direction", "progress")
    assert set(spec.options_of(bem)) == set(bem)
    read = parameters(read_hydro, "path", "water")
    assert set(spec.options_of(read)) == set(read)
    assert set(spec.compile_options) == set(parameters(sw.compile, "system", "hydro", "added_mass"))
    data = ("omega", "A", "B", "A_inf", "scale", "importance", "as_specified")
    assert set(parameters(fit_radiation, *data)) == set(parameters(RadiationFit))
    assert section.FORMATS == FORMATS


def test_defaults_of_the_section_are_those_of_python():
    spec = HydroSpec(file="any.out")
    for function, others in (
        (run_bem, ("system", "omega", "wave_direction", "progress")),
        (read_hydro, ("path", "water")),
    ):
        names = parameters(function, *others)
        usual = {name: signature(function).parameters[name].default for name in names}
        assert spec.options_of(names) == usual


def test_names_and_points_of_the_section_reach_the_data():
    case = sw.loads(CASE)
    data = hydro_of_case(case)
    assert data["body"].values.tolist() == ["ball"]
    assert sw.loads(case.to_toml()).hydro == case.hydro
    both = case.hydro.replace(
        rotation_center={"ball": (0, 0, -2.0)}, rotation_deg={"ball": (0, 0, 30)}
    )
    again = HydroSpec(**both.table())
    assert again.options_of(["rotation_center"])["rotation_center"] == {"ball": (0.0, 0.0, -2.0)}
    turned = hydro_of_case(dataclasses.replace(case, hydro=both))
    assert np.asarray(turned["body_axes"].sel(body="ball"))[0, 0] == pytest.approx(
        np.cos(np.pi / 6)
    )


def test_drift_of_the_bem_run_is_that_of_the_section(monkeypatch):
    seen = {}
    # the signature must stay that of run_bem
    monkeypatch.setattr(
        "swelltree.hydro.bem.run._job", lambda *args: seen.setdefault("job", args) and 1 / 0
    )
    case = sw.loads(CASE.split("[hydro]")[0] + '[hydro]\nsource = "capytaine"\nomega = [1.0]\n')
    for specified, requested in (
        ({}, "none"),
        ({"drift": "mean"}, "free"),
        ({"bem_drift": "fixed"}, "fixed"),
    ):
        assert case.hydro.replace(**specified).drift_of_bem == requested
    with pytest.raises(ZeroDivisionError):
        bem_of_case(
            dataclasses.replace(case, hydro=case.hydro.replace(method="indirect", lid=False))
        )
    assert "indirect" in seen["job"]
    assert False in seen["job"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("rotation_center = [0, 0, 1]", "is not a table"),
        ('format = "wammit"', "Did you mean 'wamit'"),
        ('bem_drift = "mean"', "drift of a BEM run"),
    ],
)
def test_wrong_values_of_the_section_are_told(line, said):
    with pytest.raises(sw.SwelltreeError, match=said):
        sw.loads(CASE + line + "\n")
