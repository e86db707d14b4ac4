"""A user's own effect is one like all others: in every study, formulation and form of stepping."""

import inspect

import jax
import numpy as np
import pytest

import swelltree as sw
from made_hydro import heaving_float
from model.own_effects import Broken, Choosing, ChoosingRate, Crooked, Float, Propeller, Tether

RNG = np.random.default_rng(4)
K, C = 3.0e4, 2.0e3
POINT, PLACE = (0.3, -0.2, 0.5), (0.4, 0.1, -0.6)


def floating(*forces, ptos=(), **more):
    """A body with all freedoms, off the origin and turned."""
    body = sw.Body(
        "b",
        mass=900.0,
        inertia=(300.0, 500.0, 700.0),
        position=(0.2, 0.4, -0.3),
        rotation_deg=(17.0, -11.0, 29.0),
    )
    free = sw.Free("j", sw.WORLD, body, velocity={"Surge": 0.4, "Yaw": 0.3})
    return sw.System("s", [body], [free], forces=forces, ptos=ptos, **more)


def tether(**more):
    specified = {"body": "b", "stiffness": K, "damping": C, "point": POINT, "place": PLACE} | more
    return sw.OwnEffect("t", Tether, specified)


@pytest.mark.parametrize("formulation", ["path_matrix", "lagrange", "composite_body"])
def test_motion_and_books_are_those_of_the_law(formulation):
    model = sw.compile(floating(tether()))
    run = sw.simulate(
        model, duration=3.0, rtol=1e-9, atol=1e-11, formulation=formulation, progress=False
    )
    assert float(np.abs(run.energy_residual).max()) < 1e-5 * float(run.kinetic_energy.max())
    # Newton's law for the centre of mass, from what the run reports
    force = run.t_pull.values + np.array([0.0, 0.0, -900.0 * 9.81])
    assert run.t_pull.attrs["units"] == "N"
    a = run.acceleration.sel(body="b").values[:, :3]
    assert np.abs(900.0 * a - force).max() < 1e-6 * np.abs(force).max()
    assert "t" in run.element.values


def test_equilibrium_hangs_below_the_place():
    rest = sw.equilibrium(sw.compile(floating(tether())))
    below = 900.0 * 9.81 / K
    R = rest["rotation"].values[0]
    at = rest.position.values[0, :3] + R @ np.array(POINT)
    np.testing.assert_allclose(at, np.array(PLACE) - [0, 0, below], atol=1e-6)


def heaving(*forces, ptos=()):
    body = sw.Body("float", mass=1e5, inertia=(1.0, 1.0, 1.0))
    rail = sw.Slider("rail", sw.WORLD, body, axis="z")
    return sw.System("s", [body], [rail], forces=forces, ptos=ptos, water=sw.Water(rho=1000.0))


def test_frequency_domain_and_periodic_motion_are_those_of_a_pto():
    own = sw.OwnEffect("t", Tether, {"body": "float", "stiffness": K, "damping": C})
    pto = sw.LinearPto("t", joint="rail", stiffness=K, damping=C)
    wave = sw.RegularWave(amplitude=0.3, omega=1.3)
    found = []
    for system in (heaving(own), heaving(ptos=[pto])):
        model = sw.compile(system, heaving_float())
        rao = sw.rao(model, omega=[0.7, 1.3]).rao.values[..., 2]
        orbit = sw.steady_state(model, wave, harmonics=3)
        found.append((rao, orbit.position.values[:, 0, 2], sw.modes(model).natural_period.values))
    for one, two in zip(*found, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-7, atol=1e-9)


def test_two_step_scheme_takes_it_beside_dynamic_lines():
    """A line so light that it only makes the scheme step: the float moves as without it."""
    water = sw.Water(depth=30.0)
    kind = sw.LineType("thread", diameter=1e-4, mass_per_length=1e-5, EA=10.0)
    line = sw.Line("l", sw.Point("b", (0, 0, 0)), (25.0, 0, -20.0), 40.0, kind, segments=4)
    run = sw.simulate(
        sw.compile(floating(tether(), lines=[line], water=water)),
        duration=1.0,
        step=0.002,
        output_step=0.1,
        start="described",
        progress=False,
    )
    free = sw.simulate(
        sw.compile(floating(tether(), water=water)), times=run.time.values, progress=False
    )
    gone = np.abs(run.position - free.position).max()
    assert float(gone) < 2e-4 * float(np.abs(free.position - free.position[0]).max())
    assert np.abs(run.t_pull - free.t_pull).max() < 2e-3 * np.abs(free.t_pull).max()


def test_internal_states_follow_their_rates():
    model = sw.compile(
        floating(sw.OwnEffect("p", Propeller, {"body": "b", "requested": 50.0, "lag": 0.7}))
    )
    run = sw.simulate(model, duration=2.0, rtol=1e-9, atol=1e-9, progress=False)
    expected = 50.0 * (1.0 - np.exp(-run.time.values / 0.7))
    np.testing.assert_allclose(run.p_thrust.values[:, 0], expected, atol=1e-6)


@pytest.mark.slow
def test_numbers_have_names_and_derivatives():
    model = sw.compile(floating(tether()))
    assert float(model.value("t.stiffness")) == K

    def end(k):
        changed = model.with_values({"t.stiffness": k})
        run = sw.simulate(changed, times=(0.5, 1.0), solver="rk4", step=0.01)
        return run["position"][-1, 0, 2]

    slope = float(jax.jit(jax.grad(end))(K))
    value = jax.jit(end)
    assert slope == pytest.approx(float(value(K + 30.0) - value(K - 30.0)) / 60.0, rel=1e-4)


def test_two_of_one_class_keep_apart():
    two = (
        tether(),
        sw.OwnEffect("u", Tether, {"body": "b", "stiffness": 2 * K, "place": (1.0, 0.0, 0.0)}),
    )
    model = sw.compile(floating(*two)).with_values({"u.stiffness": 5.0})
    assert float(model.value("t.stiffness")) == K
    run = sw.simulate(model, duration=0.2, progress=False)
    assert {"t_pull", "u_pull"} <= set(run.data_vars)


def test_it_stands_in_a_case_file_and_in_a_report(tmp_path):
    by_name = sw.OwnEffect("t", "model.own_effects:Tether", {"body": "b", "stiffness": K})
    system = floating(by_name)
    again = sw.loads(system.to_toml()).system
    assert again == system
    run = sw.simulate(sw.compile(again), duration=0.5, progress=False)
    page = sw.write_report(run, tmp_path / "report.html").read_text()
    assert "t_pull" in page or "pull of t" in page


MISTAKES = {
    "field": (
        lambda: sw.compile(floating(tether(stifness=1.0))),
        r"force 't': effect 'Tether' has no field 'stifness'\. Did you mean 'stiffness'",
    ),
    "missing": (
        lambda: sw.compile(floating(sw.OwnEffect("t", Tether, {"body": "b"}))),
        r"force 't': effect 'Tether' needs 'stiffness'",
    ),
    "body": (lambda: sw.compile(floating(tether(body="c"))), "body 'c' is not in the system"),
    "no class": (
        lambda: sw.compile(floating(sw.OwnEffect("t", np.sin))),
        "is not a class made with @swelltree.effect",
    ),
    "shape": (
        lambda: sw.compile(floating(sw.OwnEffect("t", Crooked))),
        r"law 'Crooked.loads' \(own_effects.py, line \d+\) gives a wrench of shape \(6,\)",
    ),
    "fails": (
        lambda: sw.compile(floating(sw.OwnEffect("t", Broken))),
        r"own_effects.py, line \d+\) fails with AttributeError",
    ),
    "if on a state": (
        lambda: sw.compile(floating(sw.OwnEffect("t", Choosing, {"body": "b"}))),
        r"effect 't': law 'Choosing.loads' \(own_effects.py, line \d+\) asks for the number of a "
        r"state .* jnp.where",
    ),
    "if in a rate": (
        lambda: sw.compile(
            floating(sw.OwnEffect("t", ChoosingRate, {"body": "b", "requested": 1.0, "lag": 2.0}))
        ),
        r"law 'ChoosingRate.internal_rate' \(own_effects.py, line \d+\) .* jnp.where",
    ),
    "no system": (
        lambda: inspect.unwrap(sw.compile)(sw.Body("b", 1.0, (1.0,) * 3)),
        r"compile: body 'b' is not a System\. Give swelltree.System",
    ),
    "parameter": (
        lambda: sw.OwnEffect("t", Tether, {"body": None}),
        r"force 't': parameters has None for 'body'",
    ),
}


@pytest.mark.parametrize("case", MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_told(case):
    make, sentence = case
    with pytest.raises(sw.SwelltreeError, match=sentence):
        make()


def test_waves_excite_an_effect_that_feels_them_in_time_and_frequency():
    mass, stiffness, damping, omega, depth = 4.0e3, 9.0e3, 700.0, 1.1, 2.5
    body = sw.Body("b", mass, (1.0, 1.0, 1.0))
    rail = sw.Slider("rail", sw.WORLD, body, axis="z", position=-depth)
    spring = sw.JointForce("k", "rail", stiffness=stiffness, damping=50.0, rest_position=-depth)
    own = sw.OwnEffect("f", Float, {"body": "b", "damping": damping})
    weight = sw.AppliedForce("up", body, force=(0.0, 0.0, mass * 9.81))
    model = sw.compile(sw.System("s", [body], [rail], forces=[spring, own, weight]))
    # per metre of wave in deep water, at the fixed place
    force = damping * omega * np.exp(-(omega**2) / 9.81 * depth)
    expected = force / abs(stiffness - mass * omega**2 - 50j * omega)
    heave = abs(sw.rao(model, omega=[omega]).rao.sel(dof="Heave").squeeze().values)
    assert heave == pytest.approx(expected, rel=1e-6)
    run = sw.simulate(model, sw.RegularWave(amplitude=1e-3, omega=omega), duration=3.0)
    push = run.f_push.values[:, 2]
    assert np.ptp(push) > 0.9e-3 * force
    assert run.f_push.attrs["long_name"] == "push of f"


def test_a_class_without_loads_or_name_is_refused():
    with pytest.raises(sw.SwelltreeError, match="has no method 'loads'"):
        sw.effect(type("Empty", (sw.Effect,), {"__annotations__": {"name": str}}))
    with pytest.raises(
        sw.SwelltreeError, match=r"no method 'internal_rate'.* as swelltree\.HasStates"
    ):
        sw.effect(
            type(
                "Frozen",
                (sw.HasStates,),
                {
                    "loads": Tether.loads,
                    "internal_start": Propeller.internal_start,
                    "__annotations__": {"name": str},
                },
            )
        )
    forgotten = {
        "loads": Tether.loads,
        "internal_rate": Propeller.internal_rate,
        "__annotations__": {"name": str},
    }
    with pytest.raises(sw.SwelltreeError, match="has 'internal_rate', but is not derived from sw"):
        sw.effect(type("Forgetful", (sw.Effect,), forgotten))
    numb = {"loads": Tether.loads, "__annotations__": {"name": str}}
    for feels in ({}, {"feels": ("rain",)}):
        with pytest.raises(sw.SwelltreeError, match="'Numb' does not declare its environment"):
            sw.effect(type("Numb", (sw.FeelsEnvironment,), numb | feels))
    with pytest.raises(sw.SwelltreeError, match="has no field 'name: str'"):
        sw.effect(type("Nameless", (sw.Effect,), {"loads": Tether.loads, "__annotations__": {}}))
    with pytest.raises(sw.SwelltreeError, match="is not derived from"):
        sw.effect(type("Stranger", (), {}))
