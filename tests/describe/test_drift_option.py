"""The drift option in case files."""

import pytest

import swelltree as sw
from made_drift import MASS, RHO, drift_data
from swelltree.describe.casefile.case import loads
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.data.case import hydro_of_case, hydro_options

CASE = f"""
[system]
name = "moored"
water = {{ rho = {RHO} }}

[[system.bodies]]
name = "box"
mass = {MASS}
inertia = [1e8, 1e8, 1e8]

[[system.joints]]
name = "free"
type = "free"
base = {{ body = "world" }}
follower = {{ body = "box" }}

[hydro]
file = "box.nc"
drift = "newman"
"""


def test_case_file_chooses_the_drift_and_keeps_it(tmp_path):
    sw.write_hydro(drift_data(), tmp_path / "box.nc")
    case = loads(CASE, folder=tmp_path)
    assert case.hydro.drift == "newman"
    assert loads(case.to_toml()).hydro.drift == "newman"
    options = hydro_options(case) | {"radiation": "none"}
    model = sw.compile(case.system, hydro_of_case(case), **options)
    assert model.hydro.table.drift.method == "newman"


def test_unknown_drift_is_named():
    with pytest.raises(SwelltreeError, match="Did you mean 'newman'"):
        loads(CASE.replace('"newman"', '"newmann"'))
