"""Winches at either end of lines of every model."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.results.energy import energy_scale

WIRE = sw.LineType("wire", 0.03, 4.0, EA=4e7, damping_ratio=0.3)
CHAIN = sw.LineType("chain", 0.08, 30.0, EA=6e7, damping_ratio=0.3)


def moored(model, end, back, **winch):
    """A float on a line of wire and chain, hauled in and paid out by a winch on deck.

    Args:
        model: of the line.
        end: at which the winch is.
        back: describe the line from the fairlead to the anchor.
        winch: more of it.
    """
    hull = sw.Body("hull", mass=4e4, inertia=(1e5, 1e5, 1e5), position=(0.4, 0.2, -1.0))
    deck, anchor = hull.at(-1.5, 0.3, 0.5), sw.WORLD.at(-60.0, 8.0, -20.0)
    parts = [sw.Section(CHAIN, 30.0, 5), sw.Section(WIRE, 36.0, 6)]
    A, B = (deck, anchor) if back else (anchor, deck)
    line = sw.Line("line", A, B, sections=parts[::-1] if back else parts, model=model)
    stages = [sw.Stage("haul_in", "winch", length=3.0, speed=1.0, ramp=1.0, start=0.5)]
    stages += [sw.Stage("pay_out", "winch", length=1.0, speed=0.5, ramp=0.5)]
    return sw.System(
        "moored",
        [hull],
        [sw.Free("free", sw.WORLD, hull)],
        moorings=[
            sw.LinearMooring(
                "water",
                hull,
                {"Surge": 3e4, "Sway": 2e4, "Heave": 2e5, "Roll": 5e5, "Pitch": 5e5, "Yaw": 1e5},
                pretension={"Heave": 4e4 * 9.81},
            )
        ],
        lines=[line],
        winches=[sw.Winch("winch", line, end=end, **winch)],
        operations=[sw.Operation("work", stages)],
        water=sw.Water(depth=20.0),
        seabed=sw.Seabed(),
    )


def run(model, end, back, **winch):
    step = None if model == "quasi_static" else 0.025
    compiled = sw.compile(moored(model, end, back, **winch))
    result = sw.simulate(compiled, duration=7.5, output_step=0.25, step=step, progress=False)
    assert result.attrs["result"] == "success"
    return result


@pytest.mark.parametrize("model", ["quasi_static", pytest.param("dynamic", marks=pytest.mark.slow)])
def test_a_line_may_be_described_from_either_end_of_its_winch(model):
    one, other = run(model, "A", True), run(model, "B", False)
    for name in ("position", "winch_length", "winch_tension", "winch_work", "winch_rope_energy"):
        size = float(np.abs(one[name]).max())
        np.testing.assert_allclose(one[name], other[name], rtol=0, atol=1e-7 * size, err_msg=name)
    length = 66.0 - 3.0 + 1.0
    assert one.winch_length.values[-1, 0] == pytest.approx(length, abs=1e-6)
    pairs = {"anchor": "fairlead", "fairlead": "anchor"}
    for this, that in pairs.items():
        a, b = one[f"{this}_force"].values, other[f"{that}_force"].values
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-6 * np.abs(a).max())
    a, b = one.line_position.values, other.line_position.values[:, :, ::-1]
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)
    # both lie at the anchor: distances from the two ends add up to the length
    both = one.touchdown.values + other.touchdown.values
    assert both.max() > 0.9 * length
    np.testing.assert_allclose(both[:, 0], one.winch_length.values[:, 0], rtol=0, atol=1e-5)


def test_hauling_in_a_catenary_balances_its_energy_and_ends_at_the_shorter_line():
    result = run("quasi_static", "B", False)
    scale = energy_scale(result)
    assert np.abs(result.energy_residual.values).max() < 1e-6 * scale
    assert result.work.sel(element="winch winch").values[-1] > 0.0
    # work and energy of the rope are the integral of their power
    power = result.winch_power.values[:, 0]
    assert np.ptp(power) > 1e3
    # the same line, described as long as it is at the end: its tension where the hull is then
    system = moored("quasi_static", "B", False)
    (line,) = system.lines
    parts = [line.sections[0], line.sections[1].replace(length=34.0)]
    short = line.replace(sections=parts, rest_length=None)
    p = result.position.values[-1, 0]
    R = result.rotation.values[-1, 0]
    hull = system.bodies[0].replace(position=tuple(p[:3]), rotation=tuple(map(tuple, R)))
    still = system.replace(bodies=[hull], lines=[short], winches=(), operations=())
    held = sw.simulate(
        sw.compile(still), duration=0.1, output_step=0.1, start="described", progress=False
    )
    for name in ("fairlead_force", "anchor_force"):
        right = held[name].values[0]
        found = result[name].values[-1]
        np.testing.assert_allclose(found, right, rtol=0, atol=1e-6 * np.abs(right).max())


def test_constant_tension_on_a_catenary_comes_to_its_set_value():
    control = sw.ConstantTension(4e4, gain=2e-5)
    system = moored("quasi_static", "B", False, control=control, drum=80.0).replace(operations=())
    result = sw.simulate(
        sw.compile(system), duration=60.0, output_step=1.0, progress=False
    )  # fmt: skip
    assert result.winch_tension.values[0, 0] != pytest.approx(4e4, rel=0.1)
    assert result.winch_tension.values[-1, 0] == pytest.approx(4e4, rel=1e-3)
    assert np.abs(result.energy_residual.values).max() < 1e-5 * energy_scale(result)


@pytest.mark.slow
def test_a_cable_may_be_described_from_either_end_of_its_winch():
    load = sw.Body("load", 2e3, (2e3, 2e3, 2e3), position=(0.5, 0.3, -10.0), displaced_volume=0.4)

    def lowered(end):
        ends = [sw.WORLD.at(0, 0, 5), load.at(0, 0, 1)]
        A, B = ends if end == "A" else ends[::-1]
        line = sw.Line("hoist", A, B, 13.8, WIRE, segments=4, model="multibody")
        stage = sw.Stage("pay_out", "winch", length=5.0, speed=1.0, ramp=1.0, start=0.5)
        system = sw.System(
            "crane",
            [load],
            [sw.Free("free", sw.WORLD, load)],
            lines=[line],
            winches=[sw.Winch("winch", line, end=end)],
            operations=[sw.Operation("lower", [stage])],
        )
        model = sw.compile(system)
        return sw.simulate(model, duration=4.0, output_step=0.25, progress=False)

    one, other = lowered("A"), lowered("B")
    for name in ("position", "winch_length", "winch_tension", "winch_work"):
        size = float(np.abs(one[name]).max())
        np.testing.assert_allclose(one[name], other[name], rtol=0, atol=1e-9 * size, err_msg=name)
    np.testing.assert_allclose(one.fairlead_force, other.anchor_force, rtol=0, atol=1e-3)
    np.testing.assert_allclose(
        one.line_position, other.line_position.values[:, :, ::-1], rtol=0, atol=1e-9
    )


def test_heave_compensation_of_a_catenary_measures_a_body():
    knot = sw.Junction("knot", (-2.0, 0.0, -2.0))
    system = moored("quasi_static", "B", False)
    (line,) = system.lines
    hull = system.bodies[0]
    bridle = sw.Line("bridle", knot, hull.at(-1.5, 0.3, 0.5), 2.0, WIRE, model="quasi_static")
    control = sw.HeaveCompensation()
    changed = system.replace(
        junctions=[knot],
        lines=[line.replace(B=knot), bridle],
        winches=[sw.Winch("winch", line, end="B", control=control, drum=80.0)],
        operations=(),
    )
    with pytest.raises(sw.SwelltreeError, match=r"junction 'knot'.*Give HeaveCompensation\(at="):
        sw.compile(changed)


@pytest.mark.parametrize("end", ["A", "B"])
def test_a_winch_is_not_at_an_end_that_is_released(end):
    line = sw.Line("line", (0, 0, 0), (5, 0, -9), 12.0, WIRE, release_end=end, release_time=3.0)
    with pytest.raises(sw.SwelltreeError, match=f"at end {end} of line 'line', which that"):
        sw.System("s", lines=[line], winches=[sw.Winch("winch", line, end=end)])


@pytest.mark.parametrize("end", ["A", "B"])
@pytest.mark.parametrize("model", ["quasi_static", pytest.param("dynamic", marks=pytest.mark.slow)])
def test_a_length_by_name_is_that_of_the_line_on_the_winch(model, end):
    """As if the line had been described so, before and after the winch has moved."""
    wire = sw.LineType("wire", 0.05, 20.0, EA=4e7, BA=1e5)

    def described(length):
        system = moored(model, end, end == "A")
        (line,) = system.lines
        line = line.replace(sections=(), type=wire, rest_length=length, segments=8)
        return sw.compile(system.replace(lines=[line], winches=[sw.Winch("winch", line, end=end)]))

    name = "line.length" if model == "dynamic" else "lines.line.rest_length"
    changed = described(66.0).with_values({name: 67.0})
    step = None if model == "quasi_static" else 0.025
    one, other = (
        sw.simulate(m, duration=2.0, output_step=0.5, step=step, progress=False)
        for m in (changed, described(67.0))
    )
    assert other.winch_length.values[0, 0] == pytest.approx(67.0)
    for key in ("winch_length", "position", "winch_tension"):
        size = float(np.abs(other[key]).max())
        np.testing.assert_allclose(one[key], other[key], rtol=0, atol=1e-6 * size, err_msg=key)
