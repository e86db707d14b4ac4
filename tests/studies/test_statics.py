"""Equilibrium and modes against closed forms, in every formulation."""

import numpy as np
import pytest

import swelltree as sw
from made_hydro import MASS, vessel
from swelltree.jit import jax

FORMULATIONS = ["path_matrix", "partial_velocity", "composite_body", "partition", "lagrange"]


def hung_mass() -> sw.Model:
    mass = sw.Body("mass", mass=3.0, inertia=(1, 1, 1), position=(0, 0, -1.0))
    return sw.compile(
        sw.System(
            "hung",
            [mass],
            [sw.Slider("rail", sw.WORLD, mass, axis="z")],
            forces=[
                sw.SpringDamper(
                    "spring", sw.WORLD, mass, stiffness=120.0, damping=6.0, rest_length=1.0
                )
            ],
        )
    )


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_hung_mass_rests_where_the_spring_carries_it(formulation):
    rest = sw.equilibrium(hung_mass(), formulation=formulation)
    assert float(rest.position.sel(body="mass", dof="Heave")) == pytest.approx(
        -1.0 - 3.0 * 9.81 / 120.0, abs=1e-9
    )
    assert float(rest.spring_tension[0]) == pytest.approx(3.0 * 9.81, rel=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_mode_of_a_hung_mass_has_period_and_damping_of_the_oscillator(formulation):
    found = sw.modes(hung_mass(), formulation=formulation)
    omega, zeta = np.sqrt(120.0 / 3.0), 6.0 / (2 * np.sqrt(120.0 * 3.0))
    assert float(found.natural_frequency[0]) == pytest.approx(omega, rel=1e-9)
    assert float(found.damping_ratio[0]) == pytest.approx(zeta, rel=1e-9)
    assert float(found.natural_period[0]) == pytest.approx(2 * np.pi / omega, rel=1e-9)
    assert float(found.damped_period[0]) == pytest.approx(
        2 * np.pi / (omega * np.sqrt(1 - zeta**2)), rel=1e-9
    )
    assert float(found.shape_real.sel(mode=1, body="mass", dof="Heave")) == pytest.approx(1.0)


def test_double_pendulum_has_the_textbook_frequencies():
    """Two equal point masses on two equal rods: omega^2 = (2 -+ sqrt 2) g/l."""
    tiny = (1e-9,) * 3
    a = sw.Body("a", mass=1.0, inertia=tiny, position=(0, 0, -1))
    b = sw.Body("b", mass=1.0, inertia=tiny, position=(0, 0, -2))
    joints = [sw.Hinge("one", sw.WORLD, a.at(0, 0, 1)), sw.Hinge("two", a.at(), b.at(0, 0, 1))]
    found = sw.modes(sw.compile(sw.System("double", [a, b], joints)))
    expected = np.sqrt((2 + np.array([-1, 1]) * np.sqrt(2)) * 9.81)
    # the inertia 1e-9 of the point masses enters at that size
    assert found.natural_frequency.values == pytest.approx(expected, rel=1e-8)


def test_equilibrium_of_a_loop_balances_and_closes():
    a = sw.Body("a", mass=1, inertia=(0.1,) * 3, position=(0, 0, 0.5))
    b = sw.Body("b", mass=2, inertia=(0.1, 0.3, 0.3), position=(0.9, 0, 1))
    c = sw.Body("c", mass=1, inertia=(0.1,) * 3, position=(1.8, 0, 0.5))
    joints = [
        sw.Hinge("ha", sw.WORLD, a.at(0, 0, -0.5)),
        sw.Hinge("hb", a.at(0, 0, 0.5), b.at(-0.9, 0, 0)),
        sw.Hinge("hc", b.at(0.9, 0, 0), c.at(0, 0, 0.5)),
        sw.Hinge("hd", c.at(0, 0, -0.5), sw.WORLD.at(2.0, 0, 0)),
    ]
    spring = sw.SpringDamper("spring", sw.WORLD.at(-1, 0, 1), b, stiffness=100, damping=3)
    model = sw.compile(sw.System("four-bar", [a, b, c], joints, [spring]))
    rests = [sw.equilibrium(model, formulation=name) for name in ("path_matrix", "lagrange")]
    assert float(rests[0].closure) < 1e-10
    assert rests[0].joint_coordinate.values == pytest.approx(
        rests[1].joint_coordinate.values, abs=1e-9
    )
    periods = [
        sw.modes(model, formulation=name).natural_period for name in ("path_matrix", "partition")
    ]
    assert periods[0].values == pytest.approx(periods[1].values, rel=1e-9)


def test_body_that_nothing_holds_is_named():
    body = sw.Body("loose", mass=1.0, inertia=(1, 1, 1))
    model = sw.compile(sw.System("fall", [body], [sw.Free("free", sw.WORLD, body)]))
    with pytest.raises(sw.SwelltreeError, match=r"free Heave: -9.81 N out of balance remains"):
        sw.equilibrium(model)


def test_start_imbalance_is_told():
    rest = sw.equilibrium(hung_mass())
    assert "rail Heave: -29.43 N out of balance" in rest.attrs["message"]
    assert rest.imbalance_before.sel(direction="rail__Heave") == pytest.approx(-29.43)


def test_inverted_pendulum_has_one_unstable_mode():
    bob = sw.Body("bob", mass=1.0, inertia=(0.1,) * 3, position=(0, 0, 1))
    model = sw.compile(sw.System("up", [bob], [sw.Hinge("hinge", sw.WORLD, bob.at(0, 0, -1))]))
    found = sw.modes(model)
    assert found.attrs["unstable_modes"] == 1
    assert found.eigenvalue_real.max() == pytest.approx(np.sqrt(9.81 / 1.1), rel=1e-9)


@pytest.mark.slow
def test_gradient_of_rest_and_of_a_frequency_agree_with_closed_forms():
    model = hung_mass()

    def heave(mass):
        return sw.equilibrium(model.with_values({"mass.mass": mass}))["position"][0, 2]

    def frequency(mass):
        values = sw.modes(model.with_values({"mass.mass": mass}))["eigenvalue"]
        return (abs(values) ** 2).sum() / 2

    assert jax.grad(heave)(3.0) == pytest.approx(-9.81 / 120.0, rel=1e-9)
    # omega^2 = k/m: its derivative is -k/m^2
    assert jax.grad(frequency)(3.0) == pytest.approx(-120.0 / 9.0, rel=1e-8)
    assert jax.jvp(heave, (3.0,), (1.0,))[1] == pytest.approx(-9.81 / 120.0, rel=1e-9)


def test_equilibrium_under_vmap_solves_each_case():
    model = hung_mass()
    masses = np.array([1.0, 2.0, 3.0])
    rests = jax.vmap(
        lambda m: sw.equilibrium(model.with_values({"mass.mass": m}))["position"][0, 2]
    )(masses)
    assert np.asarray(rests) == pytest.approx(-1.0 - masses * 9.81 / 120.0, abs=1e-9)


def lopsided_box(yaw=0.0, com=(0.3, 0.1, -0.8), **more):
    """A box whose weight heels and trims it; nothing holds it in the plane."""
    c, s = np.cos(yaw), np.sin(yaw)
    hull = sw.Box(10.0, 6.0, 4.0, draft=2.0, panel_size=2.0)
    turned = ((c, -s, 0), (s, c, 0), (0, 0, 1))
    box = sw.Body("box", com=com, hull=hull, inertia="homogeneous", rotation=turned)
    return sw.System("box", [box], [sw.Free("free", sw.WORLD, box)], **more)


@pytest.mark.parametrize("how", ["path_matrix", "lagrange"])
def test_a_box_that_nothing_turns_keeps_its_heading_and_place(how):
    """It turned by 10 to 40 degrees: moments out of balance turn with the box."""
    yaw = np.radians(40.0)
    model = sw.compile(lopsided_box(yaw), nonlinear=True)
    rest = sw.equilibrium(model, formulation=how)
    surge, sway, _, roll, pitch, found = rest.position.values[0]
    described = [0.3 * np.cos(yaw) - 0.1 * np.sin(yaw), 0.3 * np.sin(yaw) + 0.1 * np.cos(yaw)]
    assert [surge, sway] == pytest.approx(described, abs=1e-8)
    assert found == pytest.approx(yaw, abs=1e-8)
    assert abs(roll) > 0.05
    assert abs(pitch) > 0.05
    assert rest.attrs["largest_imbalance"] < 1e-9 * 120.0 * 1025.0 * 9.81
    assert set(rest.attrs["neutral"].split(", ")) == {"free__Surge", "free__Sway", "free__Yaw"}
    assert "Nothing holds" in rest.attrs["message"]
    held = sw.equilibrium(model.with_values({"box.mass": 1.02e5}), formulation=how)
    assert held.position.values[0, 5] == pytest.approx(yaw, abs=1e-8)


def test_bodies_on_a_ball_joint_find_trim_and_heel_without_turning():
    """Ballast off the middle lengthwise in one body, both ways in the other: nothing holds yaw."""
    hull = sw.Box(10.0, 6.0, 3.0, 1.5, panel_size=1.0)
    one = sw.Body("one", com=(0.3, 0.0, -0.8), hull=hull)
    other = sw.Body("other", com=(-0.2, 0.2, -0.8), hull=hull, position=(14.0, 0.0, 0.0))
    joints = [
        sw.Free("free", sw.WORLD, one),
        sw.Ball("ball", one.at(7.0, 0.0, 0.0), other.at(-7.0, 0.0, 0.0)),
    ]
    rest = sw.equilibrium(sw.compile(sw.System("s", [one, other], joints), nonlinear=True))
    moved = rest["displacement"].transpose("body", "dof").values
    # heel of a wall-sided box: GM (1 + BM tan^2 / (2 GM)) tan = 0.2 m, GM = 2.05 m, BM = 2 m
    tangent = np.tan(-moved[1, 3])
    assert (2.05 + tangent**2) * tangent == pytest.approx(0.2, rel=0.03)
    assert moved[:, 5] == pytest.approx(0.0, abs=1e-6)
    assert set(rest.attrs["neutral"].split(", ")) == {
        "free__Surge",
        "free__Sway",
        "free__Yaw",
        "ball__Yaw",
    }


def test_linear_studies_of_a_lopsided_vessel_are_at_its_heading():
    """Linear data in fixed axes: rao was linearised where the equilibrium had turned to."""

    def rao(held):
        com = (0.3, 0.1, -0.4)
        hull = sw.Body("vessel", MASS, (1e6, 8e6, 8e6), com=com, reference_point=(0, 0, 0))
        mooring = sw.LinearMooring("m", hull, stiffness={"Yaw": held, "Surge": 1e2, "Sway": 1e2})
        system = sw.System(
            "vessel",
            [hull],
            [sw.Free("free", sw.WORLD, hull)],
            moorings=[mooring] if held else [],
            water=sw.Water(rho=1000.0),
        )
        data = vessel().assign(center_of_mass=(("body", "xyz"), [[0.3, 0.1, -0.4]]))
        model = sw.compile(system, data, fit={"error": 0.05})
        rest = sw.equilibrium(model)
        assert abs(rest.position.values[0, 3]) > 0.05
        assert np.degrees(rest.position.values[0, 5]) == pytest.approx(0.0, abs=0.05)
        return abs(sw.rao(model, omega=[0.9], wave_direction=[0.0]).rao.values[0, 0, 0])

    # a mooring that is soft in yaw keeps the heading without doing more in waves
    assert rao(0.0)[[2, 4]] == pytest.approx(rao(1e5)[[2, 4]], rel=2e-3)


@pytest.mark.parametrize("slack", [0.0, 0.4])
def test_a_load_hangs_from_a_barge_that_heels_under_it(slack):
    """The rope is slack as described: Newton's method alone finds no stiffness in it."""
    barge = sw.Body("barge", hull=sw.Box(60, 20, 6, 3, panel_size=5.0), com=(0, 0, 1.0))
    load = sw.Body("load", mass=20e3, inertia=(4e4,) * 3, position=(3.0, 20, 4.0))
    hold = {"Surge": 2e5, "Sway": 3e5, "Yaw": 2e8}
    found = []
    for theory, segments in (("quasi_static", None), ("dynamic", 3)):
        rope = sw.Line(
            "rope",
            barge.at(3.0, 20.0, 20.0),
            load.at(0, 0, 2),
            14.0 + slack,
            sw.wire_rope(0.05),
            theory,
            segments=segments,
        )
        system = sw.System(
            "crane",
            [barge, load],
            [sw.Free("float", sw.WORLD, barge), sw.Free("hang", sw.WORLD, load)],
            moorings=[sw.LinearMooring("hold", barge, stiffness=hold)],
            lines=[rope],
            water=sw.Water(depth=40.0),
        )
        model = sw.compile(system, nonlinear=True)
        found.append(sw.equilibrium(model))
    for rest in found:
        np.testing.assert_allclose(rest["fairlead_tension"].values, 9.81 * 20e3, rtol=1e-4)
    poses = [rest["position"].values for rest in found]
    assert 0.005 < abs(poses[0][0, 3]) < 0.05  # the barge heels
    # the rope is 2 mm longer as a catenary than as three straight segments
    np.testing.assert_allclose(poses[0][..., :3], poses[1][..., :3], atol=3e-3)
