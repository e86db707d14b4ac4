"""Spreading keeps its width however few headings stand for it; waves that break are told."""

import math
import warnings

import numpy as np
import pytest

import swelltree as sw
from made_hydro import heaving_float
from swelltree.describe.errors import SwelltreeWarning
from swelltree.waves.components import components


@pytest.mark.parametrize("s", [0.3, 1.0, 2.0, 4.0, 10.0, 33.0, 75.0, 100.0, 1000.0])
@pytest.mark.parametrize("directions", [2, 5, 16])
def test_resultant_of_the_headings_is_that_of_the_spreading(s, directions):
    """R1 of cos^2s is s / (s + 1); before, 1 - R1 was 1 to 7 % low, 36 % with two headings."""
    sea = sw.IrregularSea(
        sw.Jonswap(Hs=2, Tp=9),
        components=20 * directions,
        spreading=sw.Cos2s(s, directions=directions),
        beta=0.7,
    )
    waves = components(sea, sw.Water())
    energy = np.asarray(waves.amplitude) ** 2
    found = (energy * np.exp(1j * np.asarray(waves.beta))).sum() / energy.sum()
    assert 1.0 - abs(found) == pytest.approx(1.0 / (s + 1.0), rel=1e-4)
    assert np.angle(found) == pytest.approx(0.7, abs=1e-6)
    assert len(np.unique(np.round(waves.beta, 9))) == directions


def test_resultant_of_a_directional_table_is_kept():
    beta = np.radians(np.arange(0.0, 360.0, 10.0))
    D = np.abs(np.cos(0.5 * (beta - 1.2))) ** 20
    omega = np.linspace(0.4, 1.6, 7)
    density = np.exp(-((omega - 0.8) ** 2) / 0.05)[:, None] * D
    table = sw.DirectionalTable(omega=omega, beta=beta, density=density)
    waves = components(sw.IrregularSea(table, components=160), sw.Water())
    found = np.exp(1j * np.asarray(waves.beta)).mean()
    exact = (D * np.exp(1j * beta)).sum() / D.sum()
    # the table is linear between its headings: 1 - R1 grows by 3 % of 10 degrees squared
    assert 1.0 - abs(found) == pytest.approx(1.0 - abs(exact), rel=0.04)
    assert np.angle(found) == pytest.approx(np.angle(exact), abs=0.01)


@pytest.mark.parametrize(
    ("sea", "depth"),
    [
        (sw.RegularWave(amplitude=1000.0, period=7.0), math.inf),
        (sw.RegularWave(height=9.0, period=15.0), 10.0),
        (sw.IrregularSea(sw.Jonswap(Hs=9.0, Tp=6.0)), math.inf),
        (sw.FocusedWave(sw.Jonswap(Hs=2.0, Tp=8.0), amplitude=30.0), math.inf),
    ],
)
def test_waves_beyond_breaking_are_told(sea, depth):
    with pytest.warns(SwelltreeWarning, match="waves break at about"):
        components(sea, sw.Water(depth=depth))


def test_usual_and_steep_seas_say_nothing():
    seas = [
        sw.RegularWave(height=0.13 * 156.0, period=10.0),
        sw.IrregularSea(sw.Jonswap(Hs=9.0, Tp=11.0)),
        sw.IrregularSea(sw.Jonswap(Hs=1.0, Tp=4.5)),
        sw.StillWater(),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for sea in seas:
            components(sea, sw.Water())


@pytest.mark.parametrize("verb", ["simulate", "response", "steady_state", "check_physics"])
def test_every_verb_tells_of_waves_beyond_breaking(verb):
    """The warning comes before anything is computed: as an error it stops the verb at once."""
    body = sw.Body("float", 2.6e5, (1e6,) * 3)
    system = sw.System(
        "s", [body], [sw.Slider("rail", sw.WORLD, body, axis="z")], water=sw.Water(rho=1000.0)
    )
    model = sw.compile(system, heaving_float(), radiation="none")
    options = {"duration": 1.0} if verb == "simulate" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error", SwelltreeWarning)
        with pytest.raises(SwelltreeWarning, match="waves break at about"):
            getattr(sw, verb)(model, sw.RegularWave(amplitude=1000.0, period=7.0), **options)
