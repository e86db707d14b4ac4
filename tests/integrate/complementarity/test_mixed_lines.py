"""Lines of several theories in one system: a crane barge on moorings, its load on a wire."""

from functools import cache

import numpy as np
import pytest

import swelltree as sw
from swelltree.describe.errors import SwelltreeError
from swelltree.model.capabilities import HasUnknowns, having
from swelltree.results.dataset import coordinates

CHAIN = sw.LineType("chain", 0.08, 80.0, EA=2e7, BA=4e5, Cdn=1.2, Cdt=0.1, Can=1.0)
WIRE = sw.LineType("wire", 0.04, 8.0, EA=2e6, BA=1e5)


def barge(moorings, wire, *, winch=True, **more):
    """A barge that a slow force pushes, with a load that a winch lowers at 0.1 m/s."""
    ship = sw.Body("ship", 4e5, (2e7,) * 3, displaced_volume=390.5, position=(0, 0, -1))
    load = sw.Body("load", 3e3, (1e3,) * 3, displaced_volume=1.0, position=(6, 0, -11.98))
    lines = [
        sw.Line("bow", (70, 4, -30), ship.at(8, 0, 0), 72.0, CHAIN, moorings, segments=12),
        sw.Line("stern", (-70, -9, -30), ship.at(-8, 0, 0), 72.0, CHAIN, moorings, segments=12),
        sw.Line("hoist", ship.at(6, 0, 9), load, 20.0, WIRE, wire, segments=4),
    ]
    plane = sw.LinearMooring(
        "water plane",
        ship,
        {"Heave": 4e6, "Roll": 5e7, "Pitch": 9e7},
        {"Surge": 2e4, "Sway": 2e4, "Heave": 1e6, "Roll": 2e7, "Pitch": 2e7, "Yaw": 2e7},
    )
    slow = {"omega": 2.0 * np.pi / 40.0, "phase": -0.5 * np.pi}
    push = sw.AppliedForce("push", ship, (sw.Harmonic(1e4, **slow), sw.Harmonic(2e3, **slow), 0.0))
    joints = [sw.Free("float", sw.WORLD, ship)]
    if wire == "dynamic":
        joints.append(sw.Free("hang", sw.WORLD, load))
    crane = sw.Winch("crane", "hoist", speed=0.1, drum=28.0)
    return sw.System(
        "crane barge",
        [ship, load],
        joints,
        forces=[push],
        moorings=[plane],
        lines=lines,
        winches=[crane] if winch else [],
        water=sw.Water(depth=30.0),
        **more,
    )


@cache
def run(moorings, wire, **more):
    return sw.simulate(
        sw.compile(barge(moorings, wire, **more)), duration=20.0, output_step=0.5, rtol=1e-6
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moorings", "wire"), [("quasi_static", "dynamic"), ("quasi_static", "multibody")]
)
def test_moorings_of_another_theory_than_the_wire_pull_as_if_all_were_dynamic(moorings, wire):
    one, other = run("dynamic", "dynamic"), run(moorings, wire)
    for result in (one, other):
        assert result.attrs["result"] == "success"
        assert list(result.line.values) == ["bow", "stern", "hoist"]
        assert result.fairlead_tension.dims == ("time", "line")
        assert list(result.winch.values) == ["crane"]
        assert float(result.winch_length[-1, 0]) == pytest.approx(22.0, abs=1e-6)
    tension, expected = other.fairlead_tension.values, one.fairlead_tension.values
    # at rest twelve chords pull 0.3 % less than the catenary; a dynamic chain rings by 0.2 %, and
    # its drag and inertia follow a barge that moves some decimetres in twenty seconds
    gap = tension[:, :2] / expected[:, :2] - 1.0
    assert np.abs(gap[0]).max() < 0.005
    assert np.abs(gap).max() < 0.03
    # the wire carries the load in its water, and rings with it as the winch starts: by 2 %, and
    # fixed steps differ in its phase from those of a smooth solver
    rest = (3e3 - 1025.0) * 9.81
    assert tension[0, 2] == pytest.approx(rest, rel=1e-5)
    assert np.abs(tension[6:, 2] - expected[6:, 2]).max() < 0.02 * rest
    moved = other.position.sel(body="ship", dof="Surge").values
    assert np.ptp(moved) > 0.05
    gap = moved - one.position.sel(body="ship", dof="Surge").values
    assert np.abs(gap - gap[0]).max() < 0.05 * np.ptp(moved)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moorings", "wire"), [("quasi_static", "dynamic"), ("quasi_static", "multibody")]
)
def test_the_books_of_energy_close_with_lines_of_two_theories(moorings, wire):
    result = run(moorings, wire)
    moved = float(np.abs(result.work.values).max())
    assert np.abs(result.energy_residual.values).max() < 2e-3 * moved
    stored = result.potential_energy.sel(element=["bow", "stern"]).values
    assert np.ptp(stored, axis=0).min() > 0.0
    if wire == "dynamic":
        assert np.ptp(result.work.sel(element="line hoist").values) > 0.0


@pytest.mark.slow
def test_dynamic_moorings_hold_a_ship_whose_load_hangs_on_a_multibody_wire():
    still = {"winch": False}
    one, other = (run("dynamic", wire, **still) for wire in ("dynamic", "multibody"))
    assert list(other.line.values) == ["bow", "stern", "hoist"]
    gap = np.abs(other.fairlead_tension.values / one.fairlead_tension.values - 1.0)
    assert gap.max() < 0.02
    moved = float(np.abs(other.work.values).max())
    assert np.abs(other.energy_residual.values).max() < 2e-3 * moved


def test_lines_of_all_theories_are_rows_of_one_coordinate():
    model = sw.compile(barge("quasi_static", "dynamic"))
    assert having(model, HasUnknowns)
    found = coordinates(model)
    assert list(found["line"][1]) == ["bow", "stern", "hoist"]
    assert list(found["winch"][1]) == ["crane"]
    smooth = sw.compile(barge("quasi_static", "multibody"))
    assert not having(smooth, HasUnknowns)
    assert list(coordinates(smooth)["line"][1]) == ["bow", "stern", "hoist"]
    assert float(model.value("hoist.EA")) == 2e6
    assert model.value("bow.length").sum() == 72.0


def test_what_stands_for_the_wire_in_linear_studies_leaves_the_moorings_alone():
    from swelltree.mooring.dynamic.lines import with_static_lines

    model = sw.compile(barge("quasi_static", "dynamic"))
    smooth = with_static_lines(model)
    assert not having(smooth, HasUnknowns)
    assert list(coordinates(smooth)["line"][1]) == ["bow", "stern", "hoist"]


def test_only_the_wire_is_told_to_be_below_the_seabed_when_a_chain_lies_on_it():
    import xarray as xr

    from swelltree.studies.time.simulate import _through_the_ground

    model = sw.compile(barge("quasi_static", "multibody"))
    names, axes = ["bow", "stern", "hoist"], ["x", "y", "z"]
    position = np.zeros((2, 3, 2, 3))
    position[:, :2, 0, 2] = -30.0 - 1e-14  # rounding of what lies on it
    position[1, 2, 1, 2] = -31.0
    dims = ("time", "line", "line_node", "axis")
    coords = {"time": [0.0, 1.0], "line": names, "axis": axes}
    result = xr.Dataset({"line_position": (dims, position)}, coords)
    (finding,) = _through_the_ground(model, result)
    assert finding.sentence.startswith("line 'hoist' was 1 m below the seabed at t = 1 s")


def net(first, second, *, mass=200.0, volume=0.05, ground=-30.0, motion=0.0, **more):
    """A weight on three lines of two theories, aslant, one of them from a body on a rail."""
    frame = sw.Body("frame", 1e3, (1e3,) * 3, position=(5, 2, 0))
    knot = sw.Junction("knot", (1.0, 0.4, -5.0), mass=mass, volume=volume, **more)
    rope = sw.LineType("rope", 0.04, 3.0, EA=2e5, BA=4e3)
    lines = [
        sw.Line("a", (0, 0, 0), knot, 5.2, rope, first, segments=3),
        sw.Line("b", frame.at(0, 0, 1), knot, 7.4, rope, second, segments=4),
        sw.Line("c", (-4, -3, 0), knot, 7.9, rope, second, segments=4),
    ]
    return sw.System(
        "net",
        [frame],
        [sw.Slider("rail", sw.WORLD.at(5, 2, 0), frame, axis=(0.6, 0.0, 0.8), motion=motion)],
        lines=lines,
        junctions=[knot],
        water=sw.Water(depth=-ground),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second"),
    [("quasi_static", "dynamic"), ("multibody", "quasi_static")],
)
def test_a_junction_of_two_theories_rests_where_that_of_one_does(first, second):
    mixed = sw.equilibrium(sw.compile(net(first, second)))
    one = sw.equilibrium(sw.compile(net("quasi_static", "quasi_static")))
    at = mixed.position.sel(body="knot").values.reshape(-1)[:3]
    # few chords hang a little less deep than the catenaries of light ropes
    assert at == pytest.approx(one.junction_position.values.reshape(-1)[:3], abs=0.02)
    weight = (200.0 - 0.05 * 1025.0) * 9.81
    assert mixed.fairlead_tension.values.sum() > weight


@pytest.mark.slow
def test_a_junction_of_two_theories_swings_and_keeps_its_energy():
    """Pulled to and fro, it swings as a weight on dynamic lines alone does."""
    motion = sw.Harmonic(0.4, omega=2.5)
    runs = [
        sw.simulate(
            sw.compile(net(first, "dynamic", motion=motion)),
            duration=3.0,
            output_step=0.1,
            step=0.005,
        )
        for first in ("quasi_static", "dynamic")
    ]
    at = runs[0].position.sel(body="knot").values[:, :3]
    expected = runs[1].junction_position.values[:, 0]
    swing = np.ptp(expected, axis=0).max()
    assert swing > 0.2
    # a line without inertia and drag stands for one of 16 kg, beside 200 kg
    assert np.abs(at - expected).max() < 0.1 * swing
    moved = float(np.abs(runs[0].work.values).max())
    assert np.abs(runs[0].energy_residual.values).max() < 5e-3 * moved


@pytest.mark.slow
def test_a_junction_of_two_theories_lies_on_the_ground():
    model = sw.compile(net("quasi_static", "dynamic", ground=-5.05))
    rest = sw.equilibrium(model)
    at = rest.position.sel(body="knot").values.reshape(-1)[:3]
    assert at[2] == pytest.approx(-5.05, abs=1e-6)


def test_a_junction_of_two_theories_needs_a_mass_and_no_area():
    with pytest.raises(SwelltreeError, match=r"junction 'knot': lines .* no mass. Give it one"):
        sw.compile(net("quasi_static", "dynamic", mass=0.0))
    with pytest.raises(SwelltreeError, match="Describe a Body with BodyDrag instead"):
        sw.compile(net("quasi_static", "dynamic", drag_area=0.1))


@pytest.mark.slow
@pytest.mark.parametrize("end", ["A", "B"])
def test_a_line_lets_go_of_either_end(end):
    ball = sw.Body("ball", 500.0, (5e2,) * 3, position=(0, 0, -10))
    ends = ((0, 0, 0), ball) if end == "A" else (ball, (0, 0, 0))
    rope = sw.Line("rope", *ends, 10.0, WIRE, segments=3, release_time=1.0, release_end=end)
    system = sw.System(
        "drop",
        [ball],
        [sw.Free("free", sw.WORLD, ball)],
        lines=[rope],
        water=sw.Water(rho=1e-9),
    )
    result = sw.simulate(sw.compile(system), duration=2.0, output_step=0.1, step=0.01)
    held = (result.anchor_tension if end == "A" else result.fairlead_tension)[:, 0].values
    # ball and rope hang there until a second has passed, then both fall freely
    assert held[:10] == pytest.approx((500.0 + 80.0) * 9.80665, rel=0.02)
    assert held[11:] == pytest.approx(0.0, abs=1e-6)
    fall = result.position.sel(body="ball", dof="Heave").values
    assert fall[-1] - fall[0] == pytest.approx(-0.5 * 9.80665, rel=0.03)
    assert "line 'rope' is released" in result.attrs["event_log"]


def test_a_released_end_has_no_winch():
    ball = sw.Body("ball", 500.0, (5e2,) * 3, position=(0, 0, -10))
    rope = sw.Line("rope", (0, 0, 0), ball, 10.0, WIRE, release_time=1.0, release_end="A")
    with pytest.raises(SwelltreeError, match="release_end='B', or the winch end='B'"):
        sw.System("s", [ball], lines=[rope], winches=[sw.Winch("w", rope, speed=-0.1)])
