"""Winches of multibody cables beside dynamic lines: one scheme carries both."""

from functools import cache

import numpy as np
import pytest

import swelltree as sw
from swelltree.describe.errors import SwelltreeError
from swelltree.integrate.complementarity.start import force_derivatives, start_motion
from swelltree.model.capabilities import internal_at_rest
from swelltree.model.effect import Instant
from swelltree.mooring.cable.cables import Cables

WIRE = sw.LineType("wire", 0.04, 8.0, EA=2e5, BA=4e3)
CHAIN = sw.LineType("chain", 0.08, 80.0, EA=2e7, BA=4e5, Cdn=1.2, Cdt=0.1, Can=1.0)
# pays out until an element is split, then hauls in until one is merged
OUT_AND_IN = sw.Table([0.0, 0.5, 1.9, 2.3, 4.0], [0.0, 1.2, 1.2, -1.5, -1.5], "linear")


def pendulum(*, adjacent):
    """A load that hangs aslant on a wire from a fixed crane, and moorings far from it."""
    load = sw.Body("load", 300.0, (30.0, 40.0, 50.0), position=(1.0, 0.5, -6.0))
    lines = [sw.Line("wire", (0, 0, 0), load.at(0.1, 0, 0.3), 5.6, WIRE, "multibody", segments=2)]
    if adjacent:
        lines.append(sw.Line("mooring", (70, 4, -30), (120, -5, -2), 60.0, CHAIN, segments=4))
    return sw.System(
        "crane",
        [load],
        lines=lines,
        forces=[sw.AppliedForce("push", load, (100.0, 300.0, 0.0))],
        winches=[sw.Winch("crane", "wire", speed=OUT_AND_IN, drum=9.0)],
        water=sw.Water(depth=30.0),
    )


@cache
def run(adjacent, **how):
    model = sw.compile(pendulum(adjacent=adjacent))
    return sw.simulate(model, duration=4.0, output_step=0.1, start="described", **how)


@pytest.mark.slow
def test_moorings_far_away_change_nothing_for_a_load_on_a_winch():
    alone = run(False, rtol=1e-8, atol=1e-10)
    assert {2.0, 3.0} <= set(alone.winch_segments.values[:, 0])
    far = []
    for step in (0.01, 0.005):
        adjacent = run(True, step=step)
        assert adjacent.attrs["result"] == "success"
        assert adjacent.attrs["events"] == alone.attrs["events"] == 2
        assert "winch 'crane' has one segment more" in adjacent.attrs["event_log"]
        assert "winch 'crane' has one segment less" in adjacent.attrs["event_log"]
        # means of the set speed over steps pay out the whole rope, whatever its corners, but for
        # a / 16 h^2 of the ramp that begins within the first
        gap = adjacent.winch_length.values - alone.winch_length.values
        assert np.abs(gap[-1]).max() < 1.01 * 2.4 / 16.0 * step**2
        gap = adjacent.position.sel(body="load").values - alone.position.sel(body="load").values
        far.append(np.abs(gap[:, :3]).max())
        moved = np.abs(alone.winch_work.values).max()
        assert np.abs(adjacent.winch_work.values - alone.winch_work.values).max() < 3e-3 * moved
        lost = adjacent.winch_lost_energy.values[-1], alone.winch_lost_energy.values[-1]
        assert lost[0] == pytest.approx(lost[1], abs=2e-4 * moved)
    # the load rings on its wire at 26 rad/s, by (h w)^2 / 24 of a centimetre per radian
    assert far[0] < 4e-3
    assert far[0] / far[1] > 1.7  # an element is split at the end of a step


@pytest.mark.slow
def test_the_books_of_energy_close_with_a_cable_on_a_winch_beside_dynamic_lines():
    off = []
    for step in (0.01, 0.005):
        result = run(True, step=step)
        moved = float(np.abs(result.work.values).max())
        off.append(np.abs(result.energy_residual.values).max() / moved)
    assert off[0] < 1e-3
    assert off[0] / off[1] > 2.5


@pytest.mark.slow
def test_winches_of_both_theories_are_rows_of_one_coordinate():
    """A floating ship on two dynamic lines, one of them wound, with a wire over the side."""
    ship = sw.Body("ship", 4e4, (2e6, 3e6, 4e6), displaced_volume=38.5, position=(0, 0, -1))
    load = sw.Body("load", 3e2, (1e2,) * 3, position=(3, 1, -4))
    rope = sw.LineType("rope", 0.08, 8.0, EA=2e6, BA=4e4)
    plane = {"Heave": 4e5, "Roll": 5e6, "Pitch": 9e6}
    system = sw.System(
        "crane ship",
        [ship, load],
        [sw.Free("float", sw.WORLD, ship)],
        moorings=[sw.LinearMooring("water plane", ship, plane, dict.fromkeys(plane, 1e6))],
        lines=[
            sw.Line("bow", (40, 4, -20), ship.at(8, 0, 0), 38.0, rope, segments=3),
            sw.Line("stern", (-40, -9, -20), ship.at(-8, 0, 0), 38.0, rope, segments=3),
            sw.Line("hoist", ship.at(3, 1, 4), load, 7.0, WIRE, "multibody", segments=2),
        ],
        winches=[
            sw.Winch("windlass", "bow", speed=-0.2),
            sw.Winch("crane", "hoist", speed=0.5, drum=10.0),
        ],
        water=sw.Water(depth=20.0),
    )
    model = sw.compile(system)
    result = sw.simulate(model, duration=4.0, output_step=0.1, step=0.01)
    assert result.attrs["result"] == "success"
    assert list(result.winch.values) == ["windlass", "crane"]
    length = result.winch_length
    assert float(length.sel(winch="windlass")[-1]) == pytest.approx(38.0 - 0.8, abs=1e-9)
    assert float(length.sel(winch="crane")[-1]) == pytest.approx(9.0, abs=1e-9)
    assert "winch 'crane' has one segment more, 8.75" in result.attrs["event_log"]
    moved = float(np.abs(result.work.values).max())
    assert np.abs(result.energy_residual.values).max() < 2e-3 * moved


@pytest.mark.parametrize("theory", ["multibody", "lumped"])
def test_stiffness_and_damping_of_elements_are_derivatives_of_their_forces(theory):
    """But for the part that turns with the arms of the ends, which is not asked for."""
    load = sw.Body("load", 300.0, (30.0, 40.0, 50.0), position=(1.0, 0.5, -6.0))
    hook = load.at(0.4, -0.2, 0.3)
    wire = sw.Line("wire", (0, 0, 0), hook, 5.6, WIRE, theory, segments=2, dry=True)
    wound = [sw.Winch("crane", wire, speed=OUT_AND_IN, drum=9.0)] if theory == "multibody" else []
    model = sw.compile(sw.System("crane", [load], lines=[wire], winches=wound))
    cables = model.effect(Cables)
    motion, internal = start_motion(model), internal_at_rest(model)
    stiffness, damping = cables.tangent(model, Instant(np.zeros(()), motion, internal))
    expected = force_derivatives(model.replace(effects=(cables,)), motion, internal)
    linear = (np.arange(6 * model.layout.n_bodies) % 6) < 3
    both = np.ix_(linear, linear)
    assert stiffness[both] == pytest.approx(expected[0][both], abs=1e-6 * np.abs(stiffness).max())
    assert damping == pytest.approx(expected[1], abs=1e-6 * np.abs(damping).max())
    # the hook of a lumped cable has an arm; a ball joint stands between bars and load
    turned = np.abs(damping[~linear]).max()
    assert turned > 0.0 if theory == "lumped" else turned == 0.0
    assert np.linalg.eigvalsh(stiffness).min() > -1e-9 * np.abs(stiffness).max()


def test_elements_on_a_drum_are_locked_in_tree_coordinates_alone():
    model = sw.compile(pendulum(adjacent=True))
    with pytest.raises(SwelltreeError, match="Use formulation='path_matrix', or leave it out"):
        sw.simulate(model, duration=1.0, output_step=0.1, formulation="lagrange")


def test_a_step_too_long_for_a_cable_on_a_winch_is_refused():
    model = sw.compile(pendulum(adjacent=True))
    with pytest.raises(SwelltreeError, match=r"'crane': at 1.5 m/s it moves 1.5 m in a step"):
        sw.simulate(model, duration=4.0, output_step=1.0, step=1.0)
