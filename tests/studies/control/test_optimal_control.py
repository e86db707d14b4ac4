"""Optimal control: against closed forms, brute force, another solver, and runs in time."""

import numpy as np
import pytest

import swelltree as sw
from made_hydro import A_INF, MASS, STIFFNESS, excitation, heaving_float, memory, vessel
from swelltree.describe.errors import SwelltreeError
from swelltree.jit import namespace
from swelltree.studies.control import control_study as linear_control
from swelltree.studies.control import nonlinear
from swelltree.studies.control.nonlinear import best_of_starts

WATER = sw.Water(rho=1000.0)
OMEGA, AMPLITUDE = 1.1, 0.3
WAVE = sw.RegularWave(amplitude=AMPLITUDE, omega=OMEGA)
PERIOD = 2 * np.pi / OMEGA


def search(*args, **options):
    """`optimal_control` without the run in time, which other tests look at."""
    return sw.optimal_control(*args, **({"replay": False} | options))


def float_system(*forces, **pto):
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    rail = sw.Slider("rail", sw.WORLD, body)
    ptos = [sw.LinearPto("pto", joint="rail", **pto)]
    return sw.System("heaving", [body], [rail], water=WATER, ptos=ptos, forces=forces)


@pytest.fixture(scope="module")
def model():
    return sw.compile(float_system(damping=4e4), heaving_float(), fit={"error": 1e-3})


@pytest.fixture(scope="module")
def rough():
    """Friction that no linear model has."""
    force = sw.JointForce("rough", "rail", friction=3e4, friction_velocity=0.1)
    return sw.compile(float_system(force), heaving_float(), fit={"error": 1e-2})


def impedance(omega):
    """Z = F / v of the bare float, exp(-iwt), and the force of the wave."""
    D = -(omega**2) * (MASS + A_INF) - 1j * omega * np.conj(memory(omega)) + STIFFNESS
    return D / (-1j * omega), AMPLITUDE * excitation(omega)


def test_without_limits_the_optimum_is_the_conjugate_one(model):
    found = search(model, WAVE, "pto")
    assert found.attrs["method"] == "linear"
    Z, F = impedance(OMEGA)
    assert found.attrs["mean_power"] == pytest.approx(found.attrs["bound"], rel=1e-8)
    # splines through the data are good to 1e-5
    assert found.attrs["bound"] == pytest.approx(abs(F) ** 2 / (8 * Z.real), rel=1e-4)
    assert found.attrs["passive_power"] == pytest.approx(
        abs(F) ** 2 / (4 * (Z.real + abs(Z))), rel=1e-3
    )
    assert float(found.passive_damping[0]) == pytest.approx(abs(Z), rel=0.05)


@pytest.mark.parametrize("limits", [{"force_max": 6e4}, {"force_max": 1e5, "stroke_max": 0.25}])
def test_limits_hold_and_no_damper_or_spring_does_better(model, limits):
    found = search(model, WAVE, "pto", **limits)
    assert found.attrs["kkt_residual"] < 1e-8
    assert found.attrs["leak"] < 1e-3
    assert float(np.abs(found.force).max()) < 1.001 * limits["force_max"]
    Z, F = impedance(OMEGA)
    best = 0.0
    for c in np.linspace(0.0, 4e5, 81):
        for k in np.linspace(-6e5, 4e5, 81):
            law = c + k / (-1j * OMEGA)
            v = F / (Z + law)
            stroke, force = abs(v) / OMEGA, abs(law * v)
            if force <= limits["force_max"] and stroke <= limits.get("stroke_max", np.inf):
                best = max(best, 0.5 * c * abs(v) ** 2)
    assert best > 0.0
    assert found.attrs["mean_power"] > best
    assert found.attrs["mean_power"] < found.attrs["bound"]
    assert not found.attrs["mean_power"] < found.attrs["passive_power"]


def test_limits_at_more_harmonics_never_cost_power(model):
    powers = [
        search(model, WAVE, force_max=5e4, harmonics=n).attrs["mean_power"] for n in (1, 3, 9)
    ]
    assert powers[0] < powers[1] < powers[2] * (1 + 1e-4)


def test_rate_and_copper_losses(model):
    free = search(model, WAVE, "pto")
    slow = search(model, WAVE, "pto", force_rate_max=6e4)
    rate = np.gradient(slow.force.values[:, 0], slow.time.values)
    assert np.abs(rate).max() < 1.001 * 6e4
    assert slow.attrs["mean_power"] < free.attrs["mean_power"]
    Z, F = impedance(OMEGA)
    lossy = search(model, WAVE, "pto", copper_loss=1e-6)
    # maximum of |F||v0|/2 - |F|^2 (Re Y + R) / 2 over forces in phase with the motion
    Y = 1 / Z
    expected = abs(Y * F) ** 2 / (8 * (Y.real + 1e-6))
    assert lossy.attrs["electrical_power"] == pytest.approx(expected, rel=1e-4)


def test_velocity_and_peak_power_are_limited(model):
    free = search(model, WAVE, "pto")
    limits = {"velocity_max": 0.4, "power_max": 1.6e4}
    both = search(model, WAVE, "pto", **limits)
    assert np.abs(free.rate.values).max() > 0.42
    assert np.abs(free.absorbed_power.values).max() > 2e4
    assert np.abs(both.rate.values).max() < 1.001 * 0.4
    assert np.abs(both.absorbed_power.values).max() < 1.001 * 1.6e4
    assert both.attrs["passive_power"] < both.attrs["mean_power"] < free.attrs["mean_power"]
    slow = search(model, WAVE, "pto", velocity_max=0.4)
    assert both.attrs["mean_power"] < slow.attrs["mean_power"]


def test_limits_that_no_damper_keeps_are_reported(model):
    """Half the stroke of the free float takes half the wave's force, a damper 0.87 of it."""
    Z, F = impedance(OMEGA)
    limits = {"stroke_max": 0.5 * abs(F) / abs(OMEGA * Z), "force_max": 0.7 * abs(F)}
    found = search(model, WAVE, "pto", **limits)
    assert np.isnan(found.attrs["passive_power"])
    assert "No linear damper satisfies the limits" in found.attrs["report"]


def test_an_optimum_whose_run_fails_has_no_mean_power():
    """A spring that softens: beyond half a metre the float is driven off, and nothing holds it."""
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    rail = sw.Slider("rail", sw.WORLD, body)
    law = sw.Controller("soft", ["rail.Heave"], ["s"], law=lambda t, y: 4.0 * STIFFNESS * y**3)
    system = sw.System(
        "softening",
        [body],
        [rail],
        [sw.JointForce("s", "rail")],
        water=WATER,
        ptos=[sw.LinearPto("pto", joint="rail")],
        controllers=[law],
    )
    own = sw.compile(system, heaving_float(), fit={"error": 1e-2})
    wave = sw.RegularWave(amplitude=0.6, omega=OMEGA)
    how = {"method": "linear", "radiation": "state_space", "compare": False}
    found = sw.optimal_control(own, wave, "pto", **how)
    assert float(np.abs(found.stroke).max()) > 0.7
    assert np.isnan(found.attrs["mean_power"])
    assert np.isnan(found.attrs["electrical_power"])
    assert found.attrs["search_power"] == pytest.approx(found.attrs["linear_bound"], rel=1e-6)
    assert "failed: the run ended with 'diverged'" in found.attrs["report"]


@pytest.mark.slow
def test_a_search_that_no_limit_holds_ends_early():
    """It took 61 steps to end without a result: hinges that turn far give ever more power."""
    gallery = sw.gallery.barges()
    own = sw.compile(gallery.system, gallery.hydro)
    wave = sw.RegularWave(amplitude=0.1, omega=0.66)
    with pytest.raises(SwelltreeError, match=r"ever larger forces.*Limit force_max"):
        search(own, wave)


def test_a_machine_with_losses_motors_less(model):
    free = search(model, WAVE, "pto")
    found = search(model, WAVE, "pto", efficiency=0.8)
    assert found.attrs["kkt_residual"] < 1e-8
    by_hand = np.where(free.absorbed_power > 0, 0.8, 1 / 0.8) * free.absorbed_power.values
    assert found.attrs["electrical_power"] > by_hand.sum(axis=1).mean()
    assert float(found.absorbed_power.min()) > float(free.absorbed_power.min())


def test_losses_and_limits_together_are_found_quickly(model):
    limits = {"force_max": 1e5, "stroke_max": 0.3}
    found = search(model, WAVE, "pto", efficiency=0.6, **limits)
    assert found.attrs["kkt_residual"] < 1e-8
    assert found.attrs["leak"] < 1e-3
    assert found.attrs["search_cpu"] < 5.0
    free = search(model, WAVE, "pto", **limits)
    by_hand = np.where(free.absorbed_power > 0, 0.6, 1 / 0.6) * free.absorbed_power.values
    assert found.attrs["electrical_power"] > by_hand.sum(axis=1).mean()
    assert found.attrs["electrical_power"] > found.attrs["passive_electrical_power"]
    # a damper loses what the machine loses: it absorbs the more
    damper = found.attrs["passive_power"]
    assert found.attrs["passive_electrical_power"] == pytest.approx(0.6 * damper, rel=1e-9)


@pytest.mark.parametrize("limits", [{}, {"force_max": 1e5, "stroke_max": 0.3}])
def test_a_machine_that_never_motors(model, limits):
    """Better than any damper, worse than with power flowing back."""
    found = search(model, WAVE, "pto", power_min=0.0, **limits)
    assert found.attrs["kkt_residual"] < 1e-8
    assert found.attrs["leak"] < 1e-3
    assert float(found.absorbed_power.min()) > -1e-3 * float(found.absorbed_power.max())
    more = search(model, WAVE, "pto", power_min=-2000.0, **limits)
    free = search(model, WAVE, "pto", **limits)
    powers = [x.attrs["mean_power"] for x in (found, more, free)]
    assert found.attrs["passive_power"] < powers[0] <= powers[1] <= powers[2] * (1 + 1e-4)


def test_several_ptos_share_the_power_of_the_wave():
    body = sw.Body("float", mass=0.8 * MASS, inertia=(1e6,) * 3)
    inner = sw.Body("inner", mass=0.2 * MASS, inertia=(1e6,) * 3)
    joints = [sw.Slider("rail", sw.WORLD, body), sw.Slider("guide", body, inner)]
    spring = sw.JointForce("spring", "guide", stiffness=2e5)
    ptos = [sw.LinearPto("outer", joint="rail"), sw.LinearPto("reaction", joint="guide")]
    system = sw.System("two", [body, inner], joints, water=WATER, ptos=ptos, forces=[spring])
    # the spring carries the inner mass: both strokes begin below their zero
    pair = sw.compile(system, heaving_float(), radiation="none")
    both = search(pair, WAVE, ["outer", "reaction"], method="linear")
    one = search(pair, WAVE, "reaction", method="linear")
    assert both.attrs["mean_power"] == pytest.approx(both.attrs["bound"], rel=1e-8)
    # one radiating body: two machines cannot take more than the wave gives to it
    _, F = impedance(OMEGA)
    limit = abs(F) ** 2 / (8 * np.conj(memory(OMEGA)).real)
    assert both.attrs["mean_power"] == pytest.approx(limit, rel=1e-3)
    assert one.attrs["mean_power"] <= limit * (1 + 1e-4)


def test_realisations_share_one_problem(model):
    sea = sw.IrregularSea(
        sw.Jonswap(0.5, 6.0),
        components=20,
        spacing="equal",
        jitter=False,
        omega_min=0.5,
        omega_max=2.0,
    )
    found = search(model, sea, "pto", force_max=6e4, case=[0, 1])
    assert found.sizes["case"] == 2
    single = search(model, sea, "pto", force_max=6e4, case=1)
    power = float(found.mean_power_of_case.sel(case="1"))
    assert power == pytest.approx(single.attrs["mean_power"], rel=1e-12)
    assert power != pytest.approx(float(found.mean_power_of_case.sel(case="0")), rel=1e-6)


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        (
            {"force_max": 1e3, "stroke_max": 0.2},
            "stroke_max 0.2 m cannot be kept with force_max 1000 N in this sea. Raise one of them",
        ),
        ({"force_max": -1.0}, "force_max -1.0 is not positive"),
        ({"force_max": {"ptoo": 1.0}}, "'ptoo' is not driven. Did you mean 'pto'"),
        ({"copper_loss": {"ptoo": 1e-6}}, "copper_loss: 'ptoo' is not driven. Did you mean 'pto'"),
        ({"copper_loss": -1e-6}, "copper_loss -1e-06 W/N.2 of pto 'pto' is not a loss"),
        ({"copper_loss": {"pto": np.nan}}, "copper_loss nan W/N.2 of pto 'pto' is not a loss"),
        ({"harmonics": 0}, "harmonics 0 is too few"),
        ({"method": "lineer"}, "method 'lineer' is not known"),
        ({"efficiency": 1.2}, "efficiency 1.2 is not in"),
        ({"power_min": 5.0}, "power_min 5.0 is positive, but an oscillating PTO"),
    ],
)
def test_what_cannot_be_done_is_said(model, limits, sentence):
    with pytest.raises(SwelltreeError, match=sentence):
        search(model, WAVE, "pto", **limits)


def test_a_stroke_below_the_static_need_is_named():
    heavy = sw.System(
        "heavy",
        [sw.Body("float", mass=1.2 * MASS, inertia=(1e6,) * 3)],
        [sw.Slider("rail", sw.WORLD, "float")],
        water=WATER,
        ptos=[sw.LinearPto("pto", joint="rail")],
    )
    model = sw.compile(heavy, heaving_float(), radiation="none")
    with pytest.raises(SwelltreeError, match="less than its static need: at rest the stroke is -0"):
        search(model, WAVE, "pto", stroke_max=0.1, force_max=1e4, method="linear")


MACHINES = {
    "coulomb": lambda: sw.CoulombPto("pto", joint="rail", friction=1e4),
    "hydraulic": lambda: sw.HydraulicPto(
        "pto", joint="rail", piston_area=0.01, precharge=1e6, gas_volume=0.1, motor_gain=1e-9
    ),
    "generator": lambda: sw.DirectDrivePto("pto", joint="rail", damping=1e4),
    "rectifier": lambda: sw.MechanicalRectifierPto(
        "pto", joint="rail", ratio=1.0, inertia=10.0, generator_damping=1e3
    ),
    "latch": lambda: sw.LatchingPto("pto", joint="rail", damping=1e4, release_after=1.0),
}


@pytest.mark.parametrize("kind", MACHINES)
def test_the_optimal_force_replaces_the_law_of_a_machine(model, kind):
    system = float_system().replace(ptos=(MACHINES[kind](),))
    machine = sw.compile(system, heaving_float(), radiation="none")
    found = search(machine, WAVE, "pto", force_max=6e4, harmonics=5)
    plain = search(model, WAVE, "pto", force_max=6e4, harmonics=5)
    assert found.attrs["mean_power"] == pytest.approx(plain.attrs["mean_power"], rel=1e-9)
    assert found.attrs["passive_power"] == pytest.approx(plain.attrs["passive_power"], rel=1e-6)


def test_only_the_named_one_of_two_machines_is_driven():
    """The other keeps its law, and its place in the group."""
    pair = (
        sw.CoulombPto("brake", joint="rail", friction=3e4, friction_velocity=0.1, efficiency=0.0),
        sw.CoulombPto("pto", joint="rail", friction=1e4),
    )
    own = sw.compile(float_system().replace(ptos=pair), heaving_float(), fit={"error": 1e-2})
    found = search(own, WAVE, "pto", force_max=6e4, harmonics=3)
    rough = sw.JointForce("rough", "rail", friction=3e4, friction_velocity=0.1)
    same = sw.compile(float_system(rough), heaving_float(), fit={"error": 1e-2})
    expected = search(same, WAVE, "pto", force_max=6e4, harmonics=3)
    assert found.attrs["mean_power"] == pytest.approx(expected.attrs["mean_power"], rel=1e-8)


def test_limits_of_a_machine_hold_where_none_are_given():
    own = sw.LinearPto(
        "pto", joint="rail", force_limit=6e4, lower=-0.25, upper=0.25, stop_stiffness=1e6
    )
    machine = sw.compile(float_system().replace(ptos=(own,)), heaving_float(), fit={"error": 1e-3})
    best = search(machine, WAVE, "pto", radiation="state_space", harmonics=9)
    assert float(np.abs(best.force).max()) < 1.001 * 6e4
    assert float(np.abs(best.stroke).max()) < 1.001 * 0.25
    wave = WAVE.replace(ramp=5 * PERIOD)
    power, _ = late_power(sw.replayed(machine, best, ramp=5 * PERIOD), wave)
    assert power == pytest.approx(best.attrs["mean_power"], rel=1e-3)
    powers = [
        search(machine, WAVE, "pto", force_max=f, harmonics=9).attrs["mean_power"]
        for f in (6e4, 9e4)
    ]
    assert powers[0] < powers[1]


# --- nonlinear models --------------------------------------------------------------------


def test_both_methods_agree_on_a_linear_model(model):
    limits = {"force_max": 1e5, "stroke_max": 0.3, "limit_points": 60, "harmonics": 5}
    one = search(model, WAVE, "pto", method="linear", **limits)
    other = search(model, WAVE, "pto", method="nonlinear", **limits)
    assert other.attrs["mean_power"] == pytest.approx(one.attrs["mean_power"], rel=1e-8)
    a, b = (x.force_harmonics.values[:6] for x in (one, other))
    assert np.abs(a - b).max() < 1e-4 * np.abs(a).max()


def captured(monkeypatch):
    """The program of the next study and its optimum."""
    seen = {}

    def keep(program, z, requested, *more):
        seen["program"], seen["start"] = program, z
        seen["optimum"] = best_of_starts(program, z, requested, *more)
        return seen["optimum"]

    for module in (linear_control, nonlinear):
        monkeypatch.setattr(module, "best_of_starts", keep)
    return seen


def test_derivatives_of_the_nonlinear_program_are_exact(rough, monkeypatch):
    seen = captured(monkeypatch)
    search(rough, WAVE, "pto", force_max=6e4, stroke_max=0.3, harmonics=3)
    program = seen["program"]
    rng = np.random.default_rng(1)
    z = seen["start"] + 0.05 * rng.standard_normal(len(seen["start"]))
    d = rng.standard_normal(len(z))
    mu = rng.standard_normal(len(program.low))
    low, here, high = (program.at(z + h * d) for h in (-1e-4, 0.0, 1e-4))

    def slope(name):
        return (getattr(high, name) - getattr(low, name)) / 2e-4

    assert here.gradient @ d == pytest.approx(slope("cost"), rel=1e-5)
    assert np.abs(here.jacobian @ d - slope("rows")).max() < 1e-5
    bent = (high.gradient + high.jacobian.T @ mu) - (low.gradient + low.jacobian.T @ mu)
    H = here.hessian(mu)
    assert np.abs(H @ d - bent / 2e-4).max() < 1e-5 * np.abs(H @ d).max()


@pytest.mark.parametrize("case", ["quadratic", "losses", "friction"])
def test_the_search_ends_where_trust_constr_ends(model, rough, monkeypatch, case):
    from scipy.optimize import NonlinearConstraint, minimize

    seen = captured(monkeypatch)
    limits = {"force_max": 6e4, "stroke_max": 0.35, "harmonics": 3, "limit_points": 24}
    if case == "losses":
        limits["efficiency"] = 0.8
    search(rough if case == "friction" else model, WAVE, "pto", **limits)
    program, best = seen["program"], seen["optimum"]
    assert best.kkt < 1e-8
    rows = NonlinearConstraint(
        lambda z: program.at(z).rows,
        program.low,
        program.high,
        jac=lambda z: program.at(z).jacobian,
        hess=lambda z, v: program.at(z).hessian(v) - program.at(z).hessian(0.0 * v),
    )
    none = np.zeros(len(program.low))
    other = minimize(
        lambda z: program.at(z).cost,
        0.9 * best.z,
        jac=lambda z: program.at(z).gradient,
        hess=lambda z: program.at(z).hessian(none),
        method="trust-constr",
        constraints=[rows],
        options={"gtol": 0.0, "xtol": 1e-11, "maxiter": 500, "barrier_tol": 1e-9},
    )
    assert best.point.cost == pytest.approx(other.fun, rel=1e-6)


def test_a_search_from_several_starts_is_never_worse(rough):
    limits = {"force_max": 6e4, "harmonics": 3}
    one = search(rough, WAVE, "pto", **limits)
    four = search(rough, WAVE, "pto", starts=3, **limits)
    assert one.attrs["method"] == "nonlinear"
    assert four.attrs["mean_power"] >= one.attrs["mean_power"] * (1 - 1e-7)
    assert one.attrs["mean_power"] > one.attrs["passive_power"]


def dead_band(t, y):
    xp = namespace(y)
    return -1e6 * (xp.maximum(y - 0.5, 0.0) + xp.minimum(y + 0.5, 0.0))


BENDS = {
    "end stops": sw.JointForce("stops", "rail", lower=-0.5, upper=0.5, stop_stiffness=1e7),
    "changes with time": sw.JointForce("push", "rail", force=sw.Harmonic(1e4, 2.2)),
    "a controller acts": sw.JointForce("band", "rail"),
}


@pytest.mark.parametrize("why", BENDS)
def test_what_bends_far_from_rest_is_found_in_the_model(why):
    """All are straight within 0.3 m and 0.3 m/s of rest, or at the times that one looks at."""
    system = float_system(BENDS[why])
    if why == "a controller acts":
        law = sw.Controller("law", ["rail.Heave"], ["band"], law=dead_band)
        system = system.replace(controllers=(law,))
    own = sw.compile(system, heaving_float(), radiation="none")
    found = search(own, WAVE, "pto", force_max=6e4, harmonics=3, compare=False)
    assert found.attrs["method"] == "nonlinear"
    assert why in found.attrs["report"]
    assert "bound" not in found.attrs
    assert found.attrs["linear_bound"] > 0.0


@pytest.mark.parametrize("limit", [{"force_limit": 1e4}, {"power_limit": 2e3}])
@pytest.mark.parametrize("options", [{}, {"force_max": 6e4}])
def test_no_optimum_of_a_saturating_pto_lies_above_what_is_called_a_bound(limit, options):
    """The bound is that of the float without the machine: 12.4 kW."""
    own = sw.compile(float_system(damping=4e4, **limit), heaving_float(), radiation="none")
    found = search(own, WAVE, "pto", harmonics=3, compare=False, **options).attrs
    bound = found.get("bound", np.inf)
    assert found["mean_power"] <= bound * (1 + 1e-9)
    Z, F = impedance(OMEGA)
    assert bound in (np.inf, pytest.approx(abs(F) ** 2 / (8 * Z.real), rel=1e-3))


def test_stops_in_the_model_are_met_and_the_replay_says_the_same():
    """A wave that throws the float against hard stops."""
    stops = sw.JointForce(
        "stops", "rail", lower=-0.5, upper=0.5, stop_stiffness=1e7, stop_damping=1e5
    )
    own = sw.compile(float_system(stops), heaving_float(), fit={"error": 1e-3})
    wave = WAVE.replace(amplitude=0.6)
    found = search(own, wave, "pto", force_max=2e5, compare=False, replay=True)
    numbers = found.attrs
    assert numbers["method"] == "nonlinear"
    assert numbers["kkt_residual"] < 1e-8
    assert float(np.abs(found.stroke).max()) < 0.53
    # the tips of the search are softer than the stops: 1.2 % of the power
    assert numbers["replayed_power"] == pytest.approx(numbers["mean_power"], rel=0.02)
    through = search(own, wave, "pto", force_max=2e5, method="linear", compare=False, replay=True)
    assert float(np.abs(through.stroke).max()) > 0.7
    assert through.attrs["replayed_power"] < numbers["replayed_power"]
    assert "not the" in through.attrs["report"]
    # within a stroke limit nothing is met, and the linear model is right
    stored = search(own, wave, "pto", force_max=2e5, stroke_max=0.5, method="linear", replay=True)
    assert stored.attrs["replayed_power"] == pytest.approx(stored.attrs["mean_power"], rel=2e-3)
    assert stored.attrs["mean_power"] < 1.01 * numbers["mean_power"]


def test_a_joint_force_can_be_driven_and_replayed():
    """Not every driven element is a PTO; with the same memory both powers agree."""
    own = sw.compile(
        float_system(sw.JointForce("ram", "rail", rest_position=0.1, stiffness=1e4, damping=5e3)),
        heaving_float(),
        fit={"error": 1e-3},
    )
    options = {"radiation": "state_space", "compare": False, "replay": True, "harmonics": 5}
    found = search(own, WAVE, "ram", force_max=6e4, **options)
    assert found.attrs["method"] == "linear"
    assert found.attrs["replayed_power"] == pytest.approx(found.attrs["mean_power"], rel=1e-3)
    assert "in time" not in found.attrs["report"]
    bare = sw.compile(float_system(), heaving_float(), radiation="none")
    again = search(bare, WAVE, "pto", replay=True, compare=False)
    assert np.isnan(again.attrs["replayed_power"])
    assert "Not replayed in time: the model was compiled without" in again.attrs["report"]


@pytest.mark.slow
def test_a_device_that_nothing_holds_in_surge():
    """Free vessel with a mass on a spring inside: in a small wave both methods agree."""
    hull = sw.Body("vessel", mass=MASS, inertia=(4e6, 2e7, 2e7))
    inner = sw.Body("inner", mass=0.2 * MASS, inertia=(1e6,) * 3)
    joints = [sw.Free("six", sw.WORLD, hull), sw.Slider("guide", hull, inner)]
    spring = sw.JointForce("spring", "guide", stiffness=2e5)
    system = sw.System(
        "free",
        [hull, inner],
        joints,
        [spring],
        water=WATER,
        ptos=[sw.LinearPto("pto", joint="guide", damping=1e4)],
    )
    own = sw.compile(system, vessel(), radiation="none")
    wave = sw.RegularWave(amplitude=1e-4, omega=OMEGA)
    one, two = (
        search(own, wave, "pto", harmonics=2, method=method, compare=False, force_max=4.0)
        for method in ("linear", "nonlinear")
    )
    assert two.attrs["mean_power"] == pytest.approx(one.attrs["mean_power"], rel=1e-3)


# --- in time -----------------------------------------------------------------------------


def late_power(model, wave, periods=25, **options):
    times = np.arange(periods * 40 + 1) * PERIOD / 40
    run = sw.simulate(model, wave, times=times, **options)
    late = slice(-5 * 40 - 1, -1)
    power = run.absorbed_power.sel(pto="pto").values[late].mean()
    return power, run


def test_the_optimal_force_replayed_in_time_takes_the_same_power(model):
    limits = {"force_max": 1e5, "stroke_max": 0.3}
    best = search(model, WAVE, "pto", radiation="state_space", **limits)
    wave = WAVE.replace(ramp=5 * PERIOD)
    power, run = late_power(sw.replayed(model, best, ramp=5 * PERIOD), wave)
    assert power == pytest.approx(best.attrs["mean_power"], rel=1e-3)
    heave = run.position.sel(body="float", dof="Heave").values[-200:]
    assert np.abs(heave).max() < 0.3 * 1.002


@pytest.mark.slow
def test_controllers_in_time_come_near_the_optimum_and_mpc_keeps_its_limits():
    bare = sw.compile(float_system(), heaving_float(), fit={"error": 1e-3})
    best = search(bare, WAVE, "pto", radiation="state_space", force_max=1e5, stroke_max=0.3)
    wave = WAVE.replace(ramp=5 * PERIOD)
    damped, _ = late_power(
        sw.controlled(bare, "pto", sw.damping_law(float(best.passive_damping[0]))), wave
    )
    assert damped == pytest.approx(best.attrs["passive_power"], rel=1e-3)
    law = sw.tracking_law(bare, wave, "pto", force_max=1e5, stroke_max=0.3)
    tracked, _ = late_power(sw.controlled(bare, "pto", law), wave)
    assert 1.3 * damped < tracked < 1.01 * best.attrs["mean_power"]
    under, mpc = sw.with_mpc(bare, wave, "pto", force_max=1e5, stroke_max=0.3)
    power, run = late_power(under, wave, solver="rk4", step=PERIOD / 120)
    assert float(np.abs(run.pto_control).max()) <= 1e5 * (1 + 1e-9)
    assert np.abs(run.position.sel(body="float", dof="Heave").values).max() < 0.303
    assert 0.95 * best.attrs["mean_power"] < power < 1.005 * best.attrs["mean_power"]
    assert mpc.solves > 25 * 29


def test_mpc_refuses_a_pto_with_a_damper_of_its_own(model):
    with pytest.raises(SwelltreeError, match="pto 'pto': damping 40000 and stiffness 0 would add"):
        sw.with_mpc(model, WAVE, "pto")
