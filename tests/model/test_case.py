"""A case file says how its hydrodynamic data are used, and the model does so."""

import numpy as np
import pytest

import swelltree as sw
from made_hydro import MASS, heaving_float, memory
from swelltree.describe.environment.hydro import FIT_METHODS
from swelltree.hydro.data.write import write_hydro
from swelltree.hydro.radiation.fit import METHODS

CASE = """
[system]
name = "float"
water = { rho = 1000.0 }
bodies = [ { name = "float", mass = MASS, reference_point = [0, 0, 0] } ]
joints = [ { name = "rail", type = "slider", base = "world", follower = "float" } ]

[hydro]
file = "float.nc"
HYDRO

[[studies]]
name = "gauge"
type = "simulate"
duration = 2.0
excitation = "convolution"
sea = { type = "measured", file = "gauge.csv", omega_max = 4.0 }
""".replace("MASS", str(MASS))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("case")
    write_hydro(heaving_float(), where / "float.nc")
    time = np.arange(0.0, 60.0, 0.2)
    np.savetxt(where / "gauge.csv", np.column_stack([time, np.cos(time)]), delimiter=",")
    return where


def load(folder, hydro=""):
    (folder / "case.toml").write_text(CASE.replace("HYDRO", hydro))
    return sw.load(folder / "case.toml")


def test_options_reach_the_model(folder):
    heave = (2, 2)
    plain = sw.compile_case(load(folder))
    assert plain.hydro.memory is not None
    constant = sw.compile_case(load(folder, 'radiation = "constant"\nradiation_omega = 1.5'))
    assert constant.hydro.memory is None
    B = np.asarray(constant.hydro.damping)[heave]
    assert pytest.approx(B, rel=1e-3) == memory(np.array([1.5]))[0].real
    sampled = sw.compile_case(load(folder, 'radiation = "convolution"\nconvolution_step = 0.1'))
    assert float(sampled.hydro.memory.step) == 0.1
    small = sw.compile_case(load(folder, "fit = { max_order = 2, error = 0.3 }"))
    assert small.hydro.memory.A.shape == (2, 2)
    assert sw.compile_case(load(folder, 'radiation = "none"')).hydro.memory is None


def test_options_come_back_from_toml(folder):
    text = (
        'radiation = "convolution"\ncoupling = false\nconvolution_step = 0.1\nframe = "yaw"\n'
        'yaw_time = 90.0\nfit = { error = 0.05, method = "era", causal = false }'
    )
    case = load(folder, text)
    again = sw.loads(case.to_toml())
    assert case.hydro is not None
    assert again.hydro == case.hydro
    assert again.studies == case.studies
    assert case.hydro.fit == sw.RadiationFit(error=0.05, method="era", causal=False)
    assert not case.hydro.coupling
    assert case.hydro.compile_options["fit"] == {"error": 0.05, "method": "era", "causal": False}


def test_record_lies_beside_the_case_file(folder):
    case = load(folder)
    study = case.study("gauge")
    assert study.sea.file == str(folder / "gauge.csv")
    assert study.excitation == "convolution"
    model = sw.compile_case(case)
    run = sw.simulate(model, study.sea, duration=2.0, excitation=study.excitation)
    assert np.abs(run.position.sel(dof="Heave")).max() > 1e-3


def test_schema_knows_the_options():
    keys = sw.case_schema()["properties"]["hydro"]["properties"]
    assert keys["radiation"]["enum"] == ["state_space", "convolution", "constant", "none"]
    assert keys["fit"]["properties"]["method"]["enum"] == list(FIT_METHODS)
    assert keys["fit"]["additionalProperties"] is False


def test_methods_of_the_description_are_those_of_the_fit():
    assert tuple(METHODS) == FIT_METHODS


def test_gaps_are_treated_as_the_case_asks(tmp_path):
    data = heaving_float()
    data["excitation_force"].values[(7, 31), 0, 0] = np.nan
    write_hydro(data, tmp_path / "float.nc")
    with pytest.raises(sw.SwelltreeError, match=r"excitation_force of float__Heave .* is missing"):
        sw.compile_case(load(tmp_path))
    count = data.sizes["omega"]
    for gaps, left in (("interpolate", count), ("drop", count - 2)):
        case = load(tmp_path, f'radiation = "none"\ngaps = "{gaps}"')
        assert sw.loads(case.to_toml()).hydro == case.hydro
        model = sw.compile_case(case)
        assert len(model.hydro.table.omega) == left - 1  # without omega = inf
        assert np.isfinite(np.asarray(model.hydro.table.excitation)).all()
    with pytest.raises(sw.SwelltreeError, match=r"gaps 'keep'|'keep' is not a way to treat gaps"):
        load(tmp_path, 'gaps = "keep"')
