"""Mistakes in seas are told as a sentence: which item, which value, what to do."""

import math

import pytest

import swelltree as sw

J = sw.Jonswap(2.0, 8.0)
T4, E4 = (0, 1, 2, 3), (0, 1, 0, -1)
BAD = [
    (lambda: sw.RegularWave(amplitude=-1, omega=1), "amplitude -1.0 m is not positive"),
    (lambda: sw.RegularWave(omega=1), "neither amplitude nor height is given. Give one"),
    (lambda: sw.RegularWave(1.0), "neither omega nor period is given"),
    (lambda: sw.RegularWave(1.0, 1.0, period=9), r"omega 1.0 rad/s and period 9.0 s do not agree"),
    (lambda: sw.RegularWave(1.0, 1.0, ramp=-3), "ramp -3.0 s is negative"),
    (lambda: sw.RegularWave(1.0, 1.0, direction=3), "a regular has no 'direction'"),
    (lambda: sw.RegularWave(1.0, "1.0"), "omega '1.0' is text"),
    (lambda: sw.StreamFunctionWave(0.0, 1.0), "height 0.0 m is not positive"),
    (lambda: sw.StreamFunctionWave(1.0, 1.0, order=0), "order 0 is not between 1 and 100"),
    (lambda: sw.Jonswap(2, -8), "spectrum 'jonswap': Tp -8.0 s is not positive"),
    (lambda: sw.Jonswap(2, 8, 0.5), "gamma 0.5 is not between 1 and 20. Try 3.3"),
    (lambda: sw.PiersonMoskowitz(), "neither Hs nor Tp is given"),
    (lambda: sw.OchiHubble(1, 9, 0, 1, 5, 1), "lambda1 0.0 is not positive"),
    (lambda: sw.WhiteNoise(1, 2, 1), "omega_max 1.0 rad/s is not above omega_min 2.0"),
    (lambda: sw.SpectrumTable((1, 2), (1,)), "2 frequencies but 1 densities"),
    (lambda: sw.SpectrumTable((1,), (1,)), "1 row is too few"),
    (lambda: sw.SpectrumTable((2, 1), (1, 1)), "omega 1.0 rad/s follows 2.0"),
    (lambda: sw.SpectrumTable((1, 2), (1, -1)), r"densities go from -1.0 to 1.0 m\^2"),
    (lambda: sw.DirectionalTable((1, 2), (0, 1), ((1, 1),)), "density has 1 rows of"),
    (lambda: sw.DirectionalTable((1, 2), (0, 6.3), ((1, 1), (1, 1))), "a full turn or more"),
    (lambda: sw.DirectionalTable((1, 2), (0, 1), ((0, 0), (0, 0))), "densities go from 0.0"),
    (lambda: sw.Cos2s(0), "s 0.0 is not positive"),
    (lambda: sw.Cos2s(5, 1), "1 direction gives no spreading"),
    (lambda: sw.IrregularSea("jonswap"), "spectrum 'jonswap' is not a spectrum. Give for example"),
    (lambda: sw.IrregularSea({"type": "jonswp"}), "Did you mean 'jonswap'"),
    (lambda: sw.IrregularSea(J, seed=-1), "seed -1 is not a whole number"),
    (lambda: sw.IrregularSea(J, seed=2**64), "has more than 64 bits"),
    (lambda: sw.IrregularSea(J, components=0), "components 0 makes no sea"),
    (lambda: sw.IrregularSea(J, components=1.5), "components 1.5 is not a whole number"),
    (lambda: sw.IrregularSea(J, omega_min=2, omega_max=1), "omega_max 1.0 rad/s is not above"),
    (lambda: sw.IrregularSea(J, spacing="even"), "spacing 'even' is not a spacing"),
    (lambda: sw.FocusedWave(J, -1), "amplitude -1.0 m is not positive"),
    (lambda: sw.MeasuredWave(), "give either time and elevation, or a file"),
    (lambda: sw.MeasuredWave(T4), "give either time and elevation, or a file"),
    (lambda: sw.MeasuredWave(T4, E4[:3]), "4 times but 3 elevations"),
    (lambda: sw.MeasuredWave((0, 1), (1, 2)), "2 samples are too few"),
    (lambda: sw.MeasuredWave((0, 2, 1, 3), E4), "time 1.0 s follows 2.0 s"),
    (lambda: sw.MeasuredWave(T4, (0, 1, math.nan, 0)), "nan is not a number"),
    (lambda: sw.SeaOf([]), "holds no wave trains"),
    (lambda: sw.SeaOf([sw.RegularWave(1, 1, ramp=3)]), "has a ramp of 3.0 s of its own"),
    (lambda: sw.SeaOf([sw.SeaOf([sw.StillWater()])]), "a train is itself a SeaOf"),
    (lambda: sw.SimulateStudy("a", 1.0, sea=3), "study 'a': sea 3 is not a wave"),
    (lambda: sw.SimulateStudy("a", 1.0, sea={"type": "reglar"}), "Did you mean 'regular'"),
    (
        lambda: sw.SimulateStudy("a", 1.0, sea={"type": "regular", "height": -2, "period": 8}),
        "study 'a': sea height -2.0 m is not positive. Give more than zero",
    ),
]


@pytest.mark.parametrize(("make", "sentence"), BAD)
def test_bad_sea_is_refused_with_a_sentence(make, sentence):
    with pytest.raises(sw.SwelltreeError, match=sentence) as error:
        make()
    assert "\n" not in str(error.value)


def test_directional_table_is_neither_spread_nor_focused_nor_summed():
    table = sw.DirectionalTable((1, 2), (0, 1), ((1, 1), (1, 1)))
    with pytest.raises(sw.SwelltreeError, match="is spread already"):
        sw.IrregularSea(table, spreading=sw.Cos2s(5))
    with pytest.raises(sw.SwelltreeError, match="cannot be focused"):
        sw.FocusedWave(table, 1.0)
    with pytest.raises(sw.SwelltreeError, match="Use SeaOf with two trains"):
        sw.Bimodal(table, J)


def test_bad_sea_is_refused_when_it_meets_the_water():
    water = sw.Water()
    with pytest.raises(sw.SwelltreeError, match=r"no energy between 50 and 60 rad/s"):
        sw.components(sw.IrregularSea(J, omega_min=50, omega_max=60), water)
    with pytest.raises(sw.SwelltreeError, match=r"is empty. Give both ends, or none"):
        sw.components(sw.IrregularSea(J, omega_min=50), water)
    with pytest.raises(sw.SwelltreeError, match="has no frequency in the band"):
        sw.components(sw.MeasuredWave(T4, E4, omega_max=0.01), water)
    with pytest.raises(sw.SwelltreeError, match=r"is not a sea. Give for example RegularWave"):
        sw.components(3.0, water)
    with pytest.raises(sw.SwelltreeError, match="carries no waves"):
        sw.components(sw.RegularWave(1.0, 1.0), sw.Water(g=0.0))
