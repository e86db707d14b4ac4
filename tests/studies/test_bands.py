"""Seas that are wider than the hydro data: what is left out is said, too much is refused."""

import re

import numpy as np
import pytest
from typer.testing import CliRunner

import swelltree as sw
from made_hydro import MASS, heaving_float
from swelltree.cli import app

WATER = sw.Water(rho=1000.0)
CASE = """
[system]
name = "wide"
water = { rho = 1000.0 }
[[system.bodies]]
name = "ball"
mass = 261800.0
inertia = [1.69e6, 1.69e6, 2.61e6]
position = [0, 0, -2]
hull = { shape = "sphere", radius = 5.0 }
[[system.joints]]
name = "heave"
type = "slider"
base = { body = "world", position = [0, 0, -2] }
follower = "ball"
axis = "z"
[hydro]
source = "capytaine"
omega = { from = 0.2, to = END, count = 200 }
[[studies]]
name = "run"
type = "simulate"
duration = 10.0
sea = { type = "irregular", spectrum = { type = "jonswap", Hs = 2.0, Tp = 8.0 } }
"""


def model(end):
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    rail = sw.Slider("rail", sw.WORLD, body)
    data = heaving_float(omega=np.linspace(0.05, end, 100))
    system = sw.System("s", (body,), (rail,), water=WATER)
    return sw.compile(system, data, radiation="none")


def test_a_default_sea_takes_the_band_of_the_data_and_says_what_is_left_out():
    sea = sw.IrregularSea(sw.Jonswap(2.0, 8.0), seed=2, components=400)
    waves = sw.realise(sea, WATER)
    outside = (waves.amplitude[waves.omega > 2.0] ** 2).sum() / (waves.amplitude**2).sum()
    assert 1e-3 < outside < 0.05
    with pytest.warns(sw.SwelltreeWarning, match="is left out. Give omega_max=2 ") as heard:
        sw.simulate(model(2.0), sea, duration=5.0)
    reported = re.search(r"rad/s: ([\d.]+) % of the energy", str(heard[0].message))
    assert float(reported[1]) == pytest.approx(100 * outside, rel=0.1)
    with pytest.raises(sw.SwelltreeError, match=r"most at .* give omega_max=1 for the sea"):
        sw.simulate(model(1.0), sea, duration=5.0)


@pytest.mark.parametrize(
    ("end", "code", "said"), [("0.9", 2, "omega_max=0.9"), ("2.0", 0, "omega_max = 2")]
)
def test_check_finds_a_sea_beyond_the_bem_run_before_it_is_made(tmp_path, end, code, said):
    path = tmp_path / "case.toml"
    path.write_text(CASE.replace("END", end))
    result = CliRunner().invoke(app, ["check", str(path)])
    assert result.exit_code == code
    assert said in " ".join(result.output.split())
    if code:
        with pytest.raises(sw.SwelltreeError, match="study 'run': the hydro data reach"):
            sw.compile_case(sw.load(path))
