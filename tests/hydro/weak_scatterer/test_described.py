"""Weak scatterers as users describe them: in a system, in case files, in runs."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.hydro.weak_scatterer.effect import WeakScatterers
from swelltree.hydro.weak_scatterer.incident.of_sea import linear_waves, main_frequency
from swelltree.jit import jax, jnp
from swelltree.model.capabilities import InternalState
from swelltree.multibody.formulations import formulation
from swelltree.multibody.formulations.base import Phase, State
from swelltree.multibody.formulations.equations import rates, start_phase
from swelltree.studies.statics.relax import relaxed
from swelltree.waves.sea import realise
from validation.hydro.weak_scatterers.stepper import Rail, run, simulation

WATER = sw.Water(depth=6.0)
TANK = {"radius": 16.0, "spacing": 1.6, "far_spacing": 4.0, "levels": 2, "panel_size": 0.8}
WAVE = sw.RegularWave(amplitude=0.05, omega=2.2, ramp=1.0)
STIFFNESS, DAMPING = 4e4, 2e3


def ball_on_a_rail(**options):
    ball = sw.Body("ball", position=(0, 0, -2.5), hull=sw.Sphere(1.0, offset=(0, 0, -2.5)))
    rail = sw.Slider("rail", sw.WORLD.at(0, 0, -2.5), ball, axis="z")
    pto = sw.LinearPto("pto", joint="rail", stiffness=STIFFNESS, damping=DAMPING)
    water = sw.WeakScatterer("sea", **(TANK | {"symmetric": True, "step": 0.15} | options))
    return sw.System("ball", [ball], [rail], [water], ptos=[pto], water=WATER)


@pytest.mark.slow
def test_run_equals_that_of_the_solver_with_the_body_inside_and_goes_on_bit_by_bit(tmp_path):
    """Fig. 8 of Wuillaume et al. (2017): alone and through the multibody solver."""
    model = sw.compile(ball_on_a_rail())
    how = {"times": np.array([0.0, 0.3, 0.6, 0.9]), "chunk": 2, "progress": False}
    result = sw.simulate(model, WAVE, checkpoint=tmp_path / "run", **how)
    assert result.attrs["result"] == "success"
    z = result.position.sel(body="ball", dof="Heave").values + 2.5

    effect = model.effect(WeakScatterers)
    waves = realise(WAVE, WATER)
    mass = float(model.bodies.mass[0])
    rail = Rail(
        jnp.array([0.0, 0.0, -2.5]),
        jnp.array([0.0, 0.0, 1.0]),
        mass,
        -mass * WATER.g,
        STIFFNESS,
        DAMPING,
    )
    scene = effect.in_sea(model, waves).scene
    alone = simulation(scene, linear_waves(waves, WATER), rail)
    rows = np.asarray(run(alone, alone.start([0.0], [0.0]), 0.9, 0.15)[2])
    assert np.abs(rows[:, 0]).max() > 1e-5
    np.testing.assert_allclose(z, rows[::2, 0], atol=1e-12)

    # force on the body: all that moves it but weight and machine
    a = result.acceleration.sel(body="ball", dof="Heave").values
    v = result.velocity.sel(body="ball", dof="Heave").values
    force = result.weak_scatterer_force.sel(body="ball", dof="Heave").values
    want = mass * (a + WATER.g) + STIFFNESS * z + DAMPING * v
    np.testing.assert_allclose(force, want, rtol=1e-9)
    assert np.abs(result.energy_residual).max() < 1e-3 * np.abs(result.work).max() + 1e-9

    # surface and pressure as files
    sw.export(result, tmp_path / "water.pvd")
    assert len(list((tmp_path / "water").glob("*.vtp"))) == 2 * len(z)
    hull = (tmp_path / "water" / "hull_00003.vtp").read_text()
    pressure = result.weak_scatterer_pressure.values[-1]
    assert f"{float(pressure[0])!r} {float(pressure[1])!r}" in hull
    figure = sw.plot.free_surface(result, time=0.6)
    assert "0.6 s" in figure.axes[0].get_title(loc="left")
    # the pressure at the vertices adds up to the force, within the mesh
    deep = -result.weak_scatterer_hull.values[-1, :, 2]
    assert pressure == pytest.approx(WATER.rho * WATER.g * deep, rel=0.1)

    # the second half again, from its file
    (tmp_path / "run").joinpath(sorted(p.name for p in (tmp_path / "run").iterdir())[-1]).unlink()
    again = sw.simulate(model, WAVE, checkpoint=tmp_path / "run", resume=True, **how)
    for name in ("position", "weak_scatterer_elevation", "weak_scatterer_force"):
        np.testing.assert_array_equal(again[name].values, result[name].values)


def two_eggs(**options):
    """A dry frame on a slanted rail, and on it two bodies in the water, the second by a loop."""
    frame = sw.Body("frame", mass=300.0, inertia=(50.0, 60.0, 70.0), position=(0.2, 0.3, 1.0))
    a, b = (
        sw.Body(name, mass, (300, 200, 250), position=p, hull=sw.Sphere(r, offset=(0, 0, p[2])))
        for name, mass, p, r in (
            ("a", 900.0, (-1.5, 0.2, -2.6), 0.8),
            ("b", 800.0, (1.4, -0.3, -2.4), 0.7),
        )
    )
    joints = [
        sw.Slider("rail", sw.WORLD, frame, axis=(0.3, 0.1, 0.9)),
        sw.Hinge("arm", frame.at(-1.0, 0.0, -0.5), a.at(0.3, 0.0, 2.9), axis="y"),
        sw.Ball("ball", frame.at(1.2, 0.0, -0.4), b.at(0.1, 0.1, 2.7)),
        sw.Distance("rod", a.at(0.2, 0.1, 0.4), b.at(-0.2, 0.0, 0.3)),
    ]
    water = sw.WeakScatterer("sea", bodies=("b", "a"), **(TANK | {"panel_size": 0.9} | options))
    return sw.System("eggs", [frame, a, b], joints, [water], water=WATER)


def general_rates(model, how, seed=3):
    """Rates of a phase in general position."""
    rng = np.random.default_rng(seed)
    y = start_phase(model, how)
    surface = rng.normal(size=y.internal.elements["weak_scatterer"].shape) * [[0.3], [0.1]]
    s = rng.normal(size=y.state.s.shape) * 0.3
    internal = InternalState((), {"weak_scatterer": surface})
    phase = Phase(State(y.state.q, s, y.state.chart), y.work, internal)
    return jax.jit(lambda m, y: rates(m, how, 0.7, y))(model, phase)


@pytest.mark.slow
def test_formulations_agree_for_bodies_in_a_tree_and_a_loop():
    accelerations = []
    for way in ("path_matrix", "composite_body"):
        model = sw.compile(two_eggs())
        model = model.with_effect(
            model.effect(WeakScatterers).in_sea(
                model, realise(sw.RegularWave(amplitude=0.1, omega=2.0, beta=0.4), WATER)
            )
        )
        accelerations.append(np.asarray(general_rates(model, formulation(way)).state.s))
    one, two = accelerations
    assert np.abs(one).max() > 0.1
    np.testing.assert_allclose(one, two, atol=1e-10 * np.abs(one).max())


def test_case_file_tells_the_same_and_rest_needs_no_flow():
    system = ball_on_a_rail(mode="body_exact", geometry="full")
    text = system.to_toml()
    assert 'type = "weak_scatterer"' in text
    again = sw.loads(text).system
    assert again == system
    model = sw.compile(again)
    effect = model.effect(WeakScatterers)
    assert effect.geometry == "full"
    assert effect.scene.moving
    assert not effect.scene.wavy
    # displaced water is that of the sphere, not of its triangles
    rest = sw.equilibrium(model)
    np.testing.assert_allclose(rest.position.sel(dof="Heave").values, -2.5, atol=1e-9)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"radius": -1.0}, "radius -1 m is not positive"),
        ({"mode": "linera"}, "'linera' is not a mode. Did you mean 'linear'"),
        ({"geometry": "middle"}, "'middle' is not a geometry"),
        ({"spacing": 20.0}, "spacing 20 m over the bodies is larger than that at the rim"),
        ({"beach": -1.0}, "beach -1 1/s is negative"),
        ({"accuracy": 2.0}, "accuracy 2 is not a relative error between 0.002 and 0.2"),
        ({"accuracy": 0.02, "panel_size": 0.3}, "chooses the panels of hulls, and panel_size does"),
        (
            {"accuracy": 0.02, "panel_size": None, "crossing": ("ball",)},
            "of hulls, and crossing does too",
        ),
        ({"levels": 0}, "levels 0 leaves the tank without a wall"),
        ({"bodies": ("ball", "ball")}, "names a body twice"),
        ({"bodies": ("bal",)}, "body 'bal' is not in the system. Did you mean 'ball'"),
        ({"center": (1.0, 2.0, 3.0)}, "Give two: x, y"),
    ],
)
def test_wrong_words_and_sizes_are_refused_when_described(changes, sentence):
    with pytest.raises(sw.SwelltreeError, match=sentence):
        ball_on_a_rail(**changes)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"step": 2.0}, "step 2 s is too large for a free surface with a spacing of"),
        ({"beach_from": 99.0}, "beach_from 99 m is not inside the tank"),
        ({"center": (30.0, 0.0)}, "body 'ball' lies outside the tank"),
        ({"depth": 7.0}, "depth 7 m is not that of the water, 6 m"),
        ({"center": (0.0, 1.0)}, "off the plane of symmetry"),
    ],
)
def test_what_does_not_fit_is_refused_when_compiled(changes, sentence):
    with pytest.raises(sw.SwelltreeError, match=sentence):
        sw.compile(ball_on_a_rail(**changes))


def test_currents_are_refused():
    system = ball_on_a_rail()
    flowing = system.replace(current=sw.PowerLawCurrent(1.0, depth=20.0))
    with pytest.raises(sw.SwelltreeError, match="does not include the current"):
        sw.compile(flowing)


def test_hulls_that_are_open_or_carried_twice_are_refused():
    system = ball_on_a_rail(symmetric=False)
    open_box = sw.Mesh(
        vertices=[(0, 0, -3), (1, 0, -3), (1, 1, -3), (0, 0, -2), (1, 0, -2), (1, 1, -2)],
        faces=[(0, 2, 1), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)],
    )
    body = sw.Body("ball", mass=500.0, inertia=(1, 1, 1), position=(0, 0, -2.5), hull=open_box)
    with pytest.raises(
        sw.SwelltreeError, match="body 'ball': its hull is not watertight: the edge"
    ):
        sw.compile(system.replace(bodies=(body,)))
    wet = sw.Immersion("wet", system.bodies[0], Ca=0.5)
    with pytest.raises(sw.SwelltreeError, match="has the immersion 'wet' too"):
        sw.compile(system.replace(forces=(*system.forces, wet)))
    with pytest.raises(sw.SwelltreeError, match="'sea' is a weak scatterer too"):
        sw.compile(system.replace(forces=(*system.forces, system.forces[0].replace(name="b"))))
    with pytest.raises(sw.SwelltreeError, match="body 'ball' has nonlinear hull forces too"):
        sw.compile(system, nonlinear=True)


@pytest.mark.parametrize(
    ("wave", "options", "sentence"),
    [
        (sw.RegularWave(amplitude=0.05, omega=1.2), {}, "shorter than the wavelength"),
        (sw.RegularWave(amplitude=1.0, omega=2.5), {}, "the wave is too steep"),
        (sw.RegularWave(amplitude=0.1, omega=2.0, beta=0.4), {}, "heading 0.4 rad"),
        (WAVE, {"solver": "tsit5"}, "solver 'tsit5' cannot go with weak scatterers"),
        (WAVE, {"step": 1.5}, "step 1.5 s is too large for a free surface"),
    ],
)
def test_seas_and_steps_that_do_not_fit_are_refused_before_a_run(wave, options, sentence):
    model = sw.compile(ball_on_a_rail())
    with pytest.raises(sw.SwelltreeError, match=sentence):
        sw.simulate(model, wave, duration=3.0, output_step=0.5, **options)


def test_linear_mode_refuses_a_steep_wave_and_linear_studies_refuse_the_effect():
    model = sw.compile(ball_on_a_rail(mode="linear"))
    with pytest.raises(sw.SwelltreeError, match="rises above the mean surface"):
        sw.simulate(model, sw.StreamFunctionWave(height=0.2, omega=2.0), duration=1.0)
    with pytest.raises(sw.SwelltreeError, match="have no linear model"):
        sw.modes(model)


def test_slack_cable_below_a_body_finds_its_equilibrium_without_flow(monkeypatch):
    """The damped motion that pulls it tight assembled matrices at every stage, for minutes."""

    def flow(self, model, now):
        raise AssertionError("statics solves for no flow")

    monkeypatch.setattr(WeakScatterers, "solved", flow)
    system = ball_on_a_rail()
    load = sw.Junction("load", (0.0, 0.0, -5.0), mass=5.0)
    kind = sw.LineType("rope", diameter=0.03, mass_per_length=4.0, EA=2e4, BA=200.0)
    rope = sw.Line("rope", system.bodies[0].at(0, 0, -1.0), load, 1.55, kind, model="multibody",
                   segments=2, dry=True)  # fmt: skip
    model = sw.compile(system.replace(lines=(rope,), junctions=(load,)))
    how = formulation("composite_body")
    reached = relaxed(model, how, how.start(model))
    kin = how.kinematics(model, 0.0, reached)
    # both elements of 0.775 m are tight below the ball at -2.5 m
    assert -5.2 < np.asarray(kin.motion.pose.p)[:, 2].min() < -5.05


@pytest.mark.parametrize("mode", ["linear", "weak_scatterer"])
def test_periodic_studies_refuse_water_that_is_computed_in_time(mode):
    """They found no motion at all, with an estimated error of 1e-16."""
    model = sw.compile(ball_on_a_rail(mode=mode))
    with pytest.raises(sw.SwelltreeError, match="weak scatterers solve for their water"):
        sw.steady_state(model, WAVE)
    with pytest.raises(sw.SwelltreeError, match="weak scatterers"):
        sw.optimal_control(model, WAVE)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["linear", "weak_scatterer"])
def test_body_at_rest_stays_there_and_a_swing_keeps_the_books(mode):
    """In still water all energy is that of the body, its spring, the water or the beach."""
    options = {"mode": mode, "panel_size": 0.5, "spacing": 0.9, "far_spacing": 2.5, "levels": 3}
    system = ball_on_a_rail(**options)
    rest = sw.simulate(sw.compile(system), duration=1.5, output_step=0.3)
    assert np.abs(rest.position.sel(body="ball", dof="Heave") + 2.5).max() < 1e-10
    assert np.abs(rest.weak_scatterer_elevation).max() < 1e-10

    rail = sw.Slider("rail", sw.WORLD.at(0, 0, -2.5), system.bodies[0], axis="z", position=0.5)
    swing = system.replace(joints=(rail,), ptos=(system.ptos[0].replace(damping=0.0),))
    run = sw.simulate(sw.compile(swing), duration=9.0, output_step=0.3)
    assert run.attrs["result"] == "success"
    moved = 0.5 * STIFFNESS * 0.5**2
    beach = run.work.sel(element="sea beach").values[-1]
    assert beach < -0.02 * moved
    assert np.abs(run.energy_residual).max() < 0.02 * moved


def test_run_that_a_floating_hull_ends_by_sinking_names_crossing():
    ball = sw.Body("ball", mass=6e3, inertia=(2e3,) * 3, hull=sw.Sphere(1.0))
    heave = sw.SubsetJoint("afloat", sw.WORLD, ball, dofs=("Heave",))
    tank = sw.WeakScatterer("sea", 10.0, 2.0, far_spacing=4.0, levels=1, panel_size=1.0,
                            symmetric=True)  # fmt: skip
    effect = sw.compile(sw.System("sinks", [ball], [heave], [tank])).effect(WeakScatterers)
    why = effect.why_stopped(effect.internal_start())
    assert "may have left the water or gone under it. Name its body in crossing" in why


@pytest.mark.slow
def test_body_pushed_out_of_the_water_ends_the_run_with_a_sentence():
    system = ball_on_a_rail(mode="body_exact")
    push = sw.AppliedForce("push", system.bodies[0], force=(0.0, 0.0, 2e4))
    model = sw.compile(system.replace(forces=(*system.forces, push), ptos=()))
    with pytest.warns(sw.SwelltreeWarning, match="may have come to the surface"):
        run = sw.simulate(model, duration=3.0, output_step=0.3)
    assert run.attrs["result"] == "not_finite"
    assert run.position.sel(body="ball", dof="Heave").values[-1] > -2.0


def test_waves_that_the_free_surface_cannot_carry_are_refused_or_warned_of():
    """Every component counts; a spacing of 0.8 wavelengths ran and radiated nothing."""
    model = sw.compile(ball_on_a_rail())
    effect = model.effect(WeakScatterers)
    omega = np.sqrt(2 * np.pi * WATER.g / 2.0)  # waves of 2 m on a spacing of 1.6 m
    with pytest.raises(sw.SwelltreeError, match=r"waves of 2 m are 1\.2 times the spacing 1\.6 m"):
        effect.in_sea(model, realise(sw.RegularWave(0.01, omega=omega), WATER))
    with pytest.raises(sw.SwelltreeError, match=r"Give a spacing of at most 0\.25 m"):
        effect.in_sea(model, realise(sw.RegularWave(0.01, omega=omega), WATER))
    steep = sw.StreamFunctionWave(height=0.05, omega=omega)
    with pytest.raises(sw.SwelltreeError, match="the mesh does not carry them"):
        effect.in_sea(model, realise(steep, WATER))
    # the peak of a sea is long enough, its tail is not; components of equal energy
    sea = sw.IrregularSea(sw.Jonswap(Hs=0.1, Tp=2.8), components=40, seed=3)
    with pytest.warns(sw.SwelltreeWarning, match="shorter than 6 spacings"):
        inside = effect.in_sea(model, realise(sea, WATER))
    assert inside.specified_step == pytest.approx(0.15)
    assert main_frequency(realise(sea, WATER)) == pytest.approx(2 * np.pi / 2.8, rel=0.08)


def test_hulls_have_enough_panels_whatever_the_spacing():
    """Hulls were as coarse as the water around them: 15 vertices on half a hemisphere."""
    wide = sw.compile(ball_on_a_rail(panel_size=None)).effect(WeakScatterers).scene.boundary
    assert 70 < wide.bodies[0] < 130  # on half of the sphere
    fine = ball_on_a_rail(panel_size=None, spacing=0.3, far_spacing=3.0, radius=13.0)
    assert sw.compile(fine).effect(WeakScatterers).scene.boundary.bodies[0] >= wide.bodies[0]


def test_panels_are_chosen_from_an_asked_accuracy():
    """Errors fall with the size to the power 1.5: half of them takes 2.5 times the panels."""
    count = {}
    for requested in (0.02, 0.01):
        system = ball_on_a_rail(panel_size=None, accuracy=requested)
        count[requested] = sw.compile(system).effect(WeakScatterers).scene.boundary.bodies[0]
    assert count[0.01] / count[0.02] == pytest.approx(2.5, rel=0.15)


@pytest.mark.slow
def test_result_of_a_run_has_the_estimated_error_where_an_accuracy_is_asked():
    """The spacing of 1.6 m over a ball 1.5 m below the surface is too coarse for 0.4 %."""
    options = {"panel_size": None, "mode": "linear"}
    model = sw.compile(ball_on_a_rail(accuracy=0.004, **options))
    with pytest.warns(sw.SwelltreeWarning, match=r"0\.4 % were asked\. Give a smaller spacing"):
        run = sw.simulate(model, WAVE, duration=0.3, output_step=0.15)
    error = run.attrs["weak_scatterer_estimated_error"]
    omega = main_frequency(realise(WAVE, WATER))
    again = sw.weak_scatterer_coefficients(model, omega)
    assert error == pytest.approx(again.attrs["estimated_error"])
    assert error > 0.004
    plain = sw.simulate(sw.compile(ball_on_a_rail(**options)), WAVE, duration=0.3)
    assert "weak_scatterer_estimated_error" not in plain.attrs


def of_hull(hull, position=(0.0, 0.0, 0.0), depth=6.0, **options):
    body = sw.Body("thing", position=position, mass=100.0, inertia=(9, 9, 9), hull=hull)
    tank = sw.WeakScatterer("sea", **({"radius": 9.0, "spacing": 0.8, "levels": 1} | options))
    slide = sw.Slider("rail", sw.WORLD.at(*position), body, axis="z")
    return sw.System("one", [body], [slide], [tank], water=sw.Water(depth=depth))


def test_bodies_that_cannot_be_meshed_are_told_what_to_do():
    dry = of_hull(sw.Sphere(0.5, offset=(0, 0, 0.8)))
    with pytest.raises(sw.SwelltreeError, match=r"is dry: its lowest .* Name it in crossing"):
        sw.compile(dry)


def test_round_hull_near_the_seabed_gets_panels_that_do_not_reach_through_it():
    """A ball of 1 m was refused in 1.05 m of water: flat panels of its volume stick out."""
    ball = sw.Sphere(1.0)
    scene = sw.compile(of_hull(ball, depth=1.05)).effect(WeakScatterers).scene
    assert float(scene.shells[0].points[..., 2].min()) > -1.05
    with pytest.raises(sw.SwelltreeError, match=r"Give a panel_size of at most 0\.\d+ m"):
        sw.compile(of_hull(ball, depth=1.05, panel_size=0.8))
    with pytest.raises(sw.SwelltreeError, match=r"the bottom lies at z = -0\.9 m"):
        sw.compile(of_hull(ball, depth=0.9))
