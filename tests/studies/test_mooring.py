"""Statics and linearisation of bodies on quasi-static lines."""

import numpy as np
import pytest

import made_hydro
import swelltree as sw
from swelltree.multibody.formulations import formulation
from swelltree.studies.linear.linearise import linear_model

ROPE = sw.LineType("rope", diameter=0.1, mass_per_length=1025 * np.pi / 4 * 0.1**2, EA=4e6)
PULL, LENGTH, MASS = 5e4, 40.0, 2e4


def tethered(joint: str = "Slider") -> sw.Model:
    """A float under water on one upright rope of no net weight, free to move along x."""
    volume = MASS / 1025.0 + PULL / (1025.0 * 9.81)
    stretched = LENGTH * (1.0 + PULL / ROPE.EA)
    body = sw.Body(
        "float", mass=MASS, inertia=(1e5,) * 3, displaced_volume=volume, position=(0, 0, -10.0)
    )
    line = sw.Line("tether", (0, 0, -10.0 - stretched), body.at(), LENGTH, ROPE, "quasi_static")
    joints = [getattr(sw, joint)("rail", sw.WORLD.at(0, 0, -10.0), body, axis="x")]
    water = sw.Water(depth=10.0 + stretched)
    return sw.compile(sw.System("tethered", [body], joints, lines=[line], water=water))


@pytest.mark.parametrize("how", ["path_matrix", pytest.param("lagrange", marks=pytest.mark.slow)])
def test_pretension_of_a_tether_is_the_stiffness_across(how):
    found = sw.modes(tethered(), formulation=how)
    across = PULL / (LENGTH * (1.0 + PULL / ROPE.EA))
    # the rope counts as upright within a millionth of its length
    assert float(found.natural_frequency[0]) == pytest.approx(np.sqrt(across / MASS), rel=1e-8)
    linear = linear_model(tethered(), formulation(how))
    assert linear.stiffness == pytest.approx(np.array([[across]]), rel=1e-8)


def test_stiffness_of_a_tether():
    K = sw.mooring_stiffness(tethered(), "float", at_equilibrium=False).mooring_stiffness
    across, along = PULL / (LENGTH * (1.0 + PULL / ROPE.EA)), ROPE.EA / LENGTH
    labels = [f"float__{dof}" for dof in ("Surge", "Sway", "Heave")]
    found = K.sel(force_dof=labels, motion_dof=labels).values
    assert found == pytest.approx(np.diag([across, across, along]), rel=1e-7, abs=1e-6)


@pytest.mark.parametrize("model", ["quasi_static", "dynamic"])
def test_rope_with_a_stretch_table_has_its_slope_at_the_working_tension(model):
    table = [(0.0, 0.0), (0.005, 1e4), (0.015, 7e4), (0.03, 1e5)]
    slope, strain = 6e6, 0.005 + (PULL - 1e4) / 6e6
    rope = sw.LineType("rope", 0.1, ROPE.mass_per_length, stretch=table)
    stretched = LENGTH * (1.0 + strain)
    volume = MASS / 1025.0 + PULL / (1025.0 * 9.81)
    body = sw.Body(
        "float", mass=MASS, inertia=(1e5,) * 3, displaced_volume=volume, position=(0, 0, -10.0)
    )
    line = sw.Line("tether", (0, 0, -10.0 - stretched), body.at(), LENGTH, rope, model)
    rail = sw.Slider("rail", sw.WORLD.at(0, 0, -10.0), body, axis="z")
    system = sw.System(
        "tethered", [body], [rail], lines=[line], water=sw.Water(depth=10.0 + stretched)
    )
    compiled = sw.compile(system)
    K = sw.mooring_stiffness(compiled, "float").mooring_stiffness.values
    assert K[2, 2] == pytest.approx(slope / LENGTH, rel=1e-6)
    assert K[0, 0] == pytest.approx(PULL / stretched, rel=1e-6)
    found = sw.modes(compiled)
    assert float(found.natural_frequency[0]) == pytest.approx(
        np.sqrt(slope / LENGTH / MASS), rel=2e-2 if model == "dynamic" else 1e-6
    )
    curve = sw.offset_curve(compiled, "float", "Heave", [0.0, 0.2, 0.5])
    law = np.array(table)
    at = strain + np.array([0.0, 0.2, 0.5]) / LENGTH
    tension = np.interp(at, law[:, 0], law[:, 1])
    assert curve.fairlead_tension.values[:, 0] == pytest.approx(tension, rel=1e-5)


def test_offset_curve_of_a_tether_is_that_of_a_pendulum_upside_down():
    offsets = np.array([-5.0, 0.0, 8.0])
    curve = sw.offset_curve(tethered(), "float", "Surge", offsets, at_equilibrium=False)
    stretched = LENGTH * (1.0 + PULL / ROPE.EA)
    length = np.hypot(offsets, stretched)
    tension = ROPE.EA * (length / LENGTH - 1.0)
    assert curve.fairlead_tension.values[:, 0] == pytest.approx(tension, rel=1e-7)
    assert curve.restoring_force.values == pytest.approx(tension * offsets / length, abs=1e-3)
    assert curve.offset.attrs["units"] == "m"
    assert curve.fairlead_tension.attrs["units"] == "N"


@pytest.mark.slow
def test_run_on_lines_begins_at_rest():
    model = tethered()
    run = sw.simulate(model, duration=2.0, progress=False)
    assert np.abs(run.velocity.values).max() < 1e-9


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (
            lambda: sw.offset_curve(tethered(), "flaot", "Surge", [1.0]),
            "offset_curve: body 'flaot' is not in the system. Did you mean 'float'?",
        ),
        (
            lambda: sw.offset_curve(tethered(), "float", "surge", [1.0]),
            "offset_curve: direction 'surge' is not known. Did you mean 'Surge'?",
        ),
        (
            lambda: sw.offset_curve(tethered(), "float", (0.0, 0.0), [1.0]),
            "offset_curve: direction (0.0, 0.0) is not a vector.",
        ),
        (
            lambda: sw.simulate(tethered(), duration=1.0, start="cold"),
            "start 'cold' is not known. A run starts from 'equilibrium' or 'described'.",
        ),
    ],
)
def test_wrong_questions_are_answered_with_a_sentence(ask, sentence):
    with pytest.raises(sw.SwelltreeError) as raised:
        ask()
    assert sentence in str(raised.value)


def test_length_of_a_line_can_be_changed_by_name():
    model = tethered()
    longer = model.with_values({"tether.length": [LENGTH + 0.1]})
    a, b = (
        sw.offset_curve(m, "float", "Heave", [0.0, 0.1], at_equilibrium=False)
        for m in (model, longer)
    )
    # a tenth of a metre more line, a tenth higher: the same stretch of a longer rope
    before, after = float(a.fairlead_tension[0, 0]), float(b.fairlead_tension[1, 0])
    assert after == pytest.approx(before * LENGTH / (LENGTH + 0.1), rel=1e-7)
    assert after != pytest.approx(float(a.fairlead_tension[1, 0]), rel=1e-2)


def test_system_without_lines_has_no_mooring_stiffness():
    body = sw.Body("float", mass=1.0, inertia=(1.0, 1.0, 1.0))
    model = sw.compile(sw.System("free", [body], [sw.Slider("rail", sw.WORLD, body)]))
    with pytest.raises(sw.SwelltreeError, match="mooring_stiffness: nothing moors this system"):
        sw.mooring_stiffness(model)


def test_linear_studies_say_that_dynamic_lines_count_as_static_ones():
    """The numbers are those of quasi-static lines; the sentence tells them apart."""
    found = {}
    for kind in ("dynamic", "quasi_static"):
        body = sw.Body("float", mass=made_hydro.MASS, inertia=(1e6,) * 3)
        rail = sw.Slider("rail", sw.WORLD, body)
        line = sw.Line("chain", (20.0, 5.0, -30.0), body.at(1, 0, -1), 45.0, ROPE, kind)
        water = sw.Water(rho=1000.0, depth=30.0)
        system = sw.System("moored", [body], [rail], lines=[line], water=water)
        data = made_hydro.heaving_float().assign(water_depth=30.0)
        model = sw.compile(system, data, radiation="none")
        rao = sw.rao(model, omega=[1.1])
        space = sw.state_space(model, "float.Heave", "float.Heave")
        swing = sw.modes(model).attrs["report"]
        found[kind] = rao.rao.values, " ".join((rao.attrs["report"], *space.notes, swing))
    np.testing.assert_allclose(found["dynamic"][0], found["quasi_static"][0], rtol=1e-6)
    assert found["dynamic"][1].count("Dynamic lines count as static catenaries") == 3
    assert "Dynamic lines" not in found["quasi_static"][1]
