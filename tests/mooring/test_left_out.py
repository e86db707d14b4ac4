"""What quasi-static lines and catenaries leave out is reported with its size, or rejected."""

import warnings

import numpy as np
import pytest

import swelltree as sw
from swelltree.jit import jnp

ROPE = sw.LineType("rope", 0.12, 14.0, EA=2e7)


def hung(A, B, length, model="quasi_static", kind=ROPE, **more):
    line = sw.Line("l", A, B, length, kind, model=model)
    return sw.System("s", lines=[line], water=sw.Water(depth=60.0), **more)


def test_quasi_static_lines_in_a_current_are_refused_with_its_drag():
    current = sw.UniformCurrent(0.9, beta=np.pi / 2)
    system = hung((0, 0, -60.0), (0.1, 0, -1.0), 58.5, current=current)
    push = 0.5 * 1025.0 * 1.2 * 0.12 * 0.9**2 * 58.5
    with pytest.raises(sw.SwelltreeError, match="line 'l': the current pushes it by") as raised:
        sw.compile(system)
    text = str(raised.value)
    assert float(text.split("by ")[1].split(" N")[0]) == pytest.approx(push, rel=0.01)
    assert "Give model='dynamic'" in text


def test_a_current_that_begins_later_is_not_dropped():
    ends = (0, 0, -60.0), (0.1, 0, -1.0), 58.5
    grows = sw.CurrentGrid(u=(0.0, 0.9), time=(0.0, 60.0))
    with pytest.raises(sw.SwelltreeError, match=r"the current pushes it by .* N"):
        sw.compile(hung(*ends, current=grows))


def test_a_current_by_a_function_is_looked_at_along_the_run():
    """Still at the start, strong later: the warning names the drag there."""

    def flow(t, x, y, z):
        return 0.0 * x, 0.9 * jnp.sin(0.1 * t) ** 2 + 0.0 * x, 0.0 * x

    model = sw.compile(hung((0, 0, -60.0), (0.1, 0, -1.0), 58.5, current=sw.FlowField(flow)))
    push = 0.5 * 1025.0 * 1.2 * 0.12 * 0.9**2 * 58.5
    with pytest.warns(sw.SwelltreeWarning, match="the current pushes it by") as found:
        sw.simulate(model, duration=5.0 * np.pi, output_step=0.5 * np.pi, progress=False)
    (text,) = [str(w.message) for w in found if "pushes" in str(w.message)]
    assert float(text.split("by ")[1].split(" N")[0]) == pytest.approx(push, rel=0.02)


def test_a_line_that_rises_above_the_water_is_told_with_its_missing_weight():
    system = hung((0, 0, -20.0), (60.0, 5.0, 15.0), 80.0)
    with pytest.warns(sw.SwelltreeWarning, match="m above the water, where .* N of buoyancy"):
        sw.compile(system)
    floating = hung((0, 0, -20.0), (30.0, 5.0, 0.0), 90.0, kind=ROPE.replace(mass_per_length=8.0))
    with pytest.warns(sw.SwelltreeWarning, match="m above the water"):
        sw.compile(floating)


def test_a_line_that_leaves_the_water_in_a_study_is_reported_there():
    """As described it is under water; a body lifts it out."""
    body = sw.Body("float", mass=100.0, inertia=(10.0,) * 3, position=(0.3, 0.2, -1.0))
    lift = sw.LinearMooring("lift", body, {"Heave": 50.0}, pretension={"Heave": 100 * 9.81 + 300})
    line = sw.Line("l", (-3, 0, -9.0), body.at(), 14.0, ROPE.replace(mass_per_length=12.0))
    system = sw.System(
        "s",
        [body],
        [sw.Slider("rail", sw.WORLD.at(0.3, 0.2, -1.0), body, axis="z")],
        moorings=[lift],
        lines=[line.replace(model="quasi_static")],
        water=sw.Water(depth=60.0),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = sw.compile(system)
    said = "line 'l': it is up to .* m above the water, where .* N of buoyancy"
    with pytest.warns(sw.SwelltreeWarning, match=said):
        rest = sw.equilibrium(model)
    assert float(rest.line_position.sel(axis="z").max()) > 1.0
    with pytest.warns(sw.SwelltreeWarning, match=said):
        sw.simulate(model, duration=0.5, progress=False)
    with pytest.warns(sw.SwelltreeWarning, match=said):
        sw.offset_curve(model, "float", "Surge", [0.0])


def test_a_line_in_still_water_is_not_warned_of():
    still = hung((0, 0, -60.0), (50.0, 0, 0.0), 90.0)
    without = hung(
        (0, 0, -60.0),
        (50.0, 0, 0.0),
        90.0,
        kind=ROPE.replace(Cdn=0.0),
        current=sw.UniformCurrent(1),
    )
    for system in (still, without):
        with warnings.catch_warnings(record=True) as reported:
            warnings.simplefilter("always")
            sw.compile(system)
        assert not [w for w in reported if "line 'l'" in str(w.message)]


def on_a_line(model="dynamic", **more):
    body = sw.Body("buoy", mass=2e4, inertia=(1e4,) * 3, position=(0, 0, -2.0))
    held = sw.LinearMooring(
        "w", body, {"Heave": 2e5, "Roll": 5e5, "Pitch": 5e5, "Surge": 1e3, "Sway": 1e3, "Yaw": 1e4},
        pretension={"Heave": 2e4 * 9.81},
    )  # fmt: skip
    line = sw.Line("l", (-50, 10, -50), body.at(0, 0, -1), 75.0, ROPE, model, segments=5)
    return sw.compile(
        sw.System(
            "s",
            [body],
            [sw.Free("f", sw.WORLD, body)],
            moorings=[held],
            lines=[line],
            water=sw.Water(depth=50.0),
            **more,
        )
    )


def test_linear_studies_of_dynamic_lines_in_a_current_are_refused():
    model = on_a_line(current=sw.UniformCurrent(0.5, beta=0.7))
    studies = {
        "mooring_stiffness": lambda: sw.mooring_stiffness(model),
        "offset_curve": lambda: sw.offset_curve(model, "buoy", "Surge", [0.0, 1.0]),
        "modes": lambda: sw.modes(model),
        "rao": lambda: sw.rao(model, omega=[1.0]),
        "response": lambda: sw.response(model, sw.RegularWave(1.0, 8.0)),
        "state_space": lambda: sw.state_space(model, "buoy.Heave", "buoy.Heave"),
    }
    for name, ask in studies.items():
        with pytest.raises(sw.SwelltreeError, match=f"{name}: the current pushes line 'l' by"):
            ask()
    # a breath of current pushes it by less than a hundredth of its weight
    slow = on_a_line(current=sw.UniformCurrent(0.05, beta=0.7))
    still = on_a_line()
    assert sw.modes(slow).natural_period.values == pytest.approx(sw.modes(still).natural_period)


def test_studies_begin_from_the_described_state_by_its_name():
    model = on_a_line()
    tethered = on_a_line(model="quasi_static")
    K = sw.mooring_stiffness(model, start="described").mooring_stiffness.values
    assert sw.mooring_stiffness(model).mooring_stiffness.values == pytest.approx(K)
    curve = sw.offset_curve(model, "buoy", "Surge", [0.0, 1.0], start="described")
    assert np.isfinite(curve.restoring_force.values).all()
    assert len(sw.modes(model, start="described").natural_frequency)
    with pytest.raises(sw.SwelltreeError, match="start 'described' is not known"):
        sw.steady_state(tethered, period=8.0, start="described")
    for study in (sw.equilibrium, sw.modes, sw.mooring_stiffness):
        with pytest.raises(sw.SwelltreeError, match="start 'warm' is not known"):
            study(model, start="warm")


def test_table_of_a_current_turns_from_direction_to_direction():
    table = sw.CurrentTable(depth=(0.0, 20.0, 50.0), speed=(1.0, 0.6, 0.2), beta=(3.0, -3.0, -2.0))
    from swelltree.model.sea import compile_current

    z = np.array([5.0, 0.0, -5.0, -10.0, -35.0, -80.0])
    points = np.stack([0 * z, 0 * z, z], -1)
    flow = compile_current(table, sw.Water(depth=100.0)).flow(0.0, points)[0]
    turn = 2 * np.pi - 6.0
    beta = [3.0, 3.0, 3.0 + 0.25 * turn, 3.0 + 0.5 * turn, -2.5, -2.0]
    speed = np.array([1.0, 1.0, 0.9, 0.8, 0.4, 0.2])
    assert flow[:, 0] == pytest.approx(speed * np.cos(beta))
    assert flow[:, 1] == pytest.approx(speed * np.sin(beta))
