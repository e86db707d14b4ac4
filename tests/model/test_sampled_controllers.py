"""Controllers with memory: samples held exactly, states part of the run, jumps at surfaces."""

import numpy as np
import pytest
from scipy.linalg import expm

import swelltree as sw
from swelltree.describe.errors import SwelltreeError
from swelltree.jit import jax, jnp
from swelltree.pto.controllers.controllers import PlainLaw

SAMPLE, MASS, DAMPING, BEGIN = 0.25, 2.0, 0.4, 0.3
GAINS = {"kp": 6.0, "ki": 1.5, "kd": 2.0}


def pi(t, y, x, kp, ki, kd):
    return [-kp * y[0] - ki * x[0] - kd * y[1]], [x[0] + SAMPLE * y[0]]


def plain_pi(t, y, x):
    return [-6.0 * y[0] - 1.5 * x[0] - 2.0 * float(y[1])], [x[0] + SAMPLE * float(y[0])]


def lag(t, y, x):
    return -6.0 * x, [(y[0] - x[0]) / 2.0]


def relay(t, y, x):
    on = jnp.where(y[0] > 0.1, 1.0, jnp.where(y[0] < -0.1, -1.0, x[0]))
    return -3.0 * x, [on]  # the force follows the state, which changes at surfaces only


def band(t, y, x):
    return jnp.stack([y[0] - 0.1, y[0] + 0.1])


def bang(t, y):
    return [-3.0 * jnp.sign(y[0])]


def cart(law, **how):
    body = sw.Body("cart", mass=MASS, inertia=(1, 1, 1))
    return sw.System(
        "cart",
        [body],
        [sw.Slider("rail", sw.WORLD, body, axis=(4, -3, 0), position=BEGIN)],
        [sw.JointForce("motor", "rail", damping=DAMPING)],
        controllers=[
            sw.Controller("law", ["rail.Surge", "rail.Surge.rate"], ["motor"], law=law, **how)
        ],
    )


def sampled(**more):
    start = {"integral": 0.0}
    return cart(pi, gains=GAINS, states=["integral"], start=start, sample_time=SAMPLE, **more)


def exact(count, kp=6.0, integral=0.0):
    """The cart with a force that is held: matrix exponentials from sample to sample."""
    A = np.array([[0, 1, 0], [0, -DAMPING / MASS, 1 / MASS], [0, 0, 0.0]])
    over, z, out = expm(A * SAMPLE), np.array([BEGIN, 0.0]), []
    for _ in range(count + 1):
        out.append(z[0])
        u = -kp * z[0] - 1.5 * integral - 2.0 * z[1]
        integral += SAMPLE * z[0]
        z = (over @ np.array([*z, u]))[:2]
    return np.array(out)


@pytest.fixture(scope="module")
def model():
    return sw.compile(sampled())


@pytest.mark.parametrize(
    ("solver", "within"), [("tsit5", 1e-9), ("dopri5", 1e-8), ("stiff", 1e-8), ("rk4", 1e-6)]
)
def test_a_sampled_pi_controller_is_held_between_exact_samples(model, solver, within):
    """Trial stages asked a law that remembers too: 0.22 m in place of 0.911 m."""
    run = sw.simulate(model, duration=10.0, output_step=0.1, solver=solver)
    at = run.joint_coordinate.values[::5, 0]
    np.testing.assert_allclose(at, exact(40)[::2], atol=within)
    held = run.joint_force_control.values[:, 0]
    # at 0, 0.1 and 0.2 s the force of the first sample; from 0.3 s on that of the second
    assert held[0] == held[1] == held[2] != held[3]
    assert held[0] == pytest.approx(-6.0 * BEGIN)
    assert run.attrs["events"] == 40


def counting(t, y, x):
    return [-2.0 * y[0]], [x[0] + 1.0]


@pytest.mark.parametrize("sample", [0.1, 0.3, 0.07])
@pytest.mark.parametrize("solver", ["tsit5", "rk4"])
def test_no_sample_is_lost_to_rounding(sample, solver):
    """Three times 0.1 is not 0.3: a sample that came out as over before its step slept for ever."""
    model = sw.compile(cart(counting, states=["n"], sample_time=sample))
    run = sw.simulate(model, duration=20.0, output_step=0.5, solver=solver)
    assert float(run.controller_state[-1, 0]) == np.floor(20.0 / sample * (1 + 1e-12)) + 1
    if sample != 0.1:
        return
    runs = sw.simulate_batch(
        model,
        parameters={"cart.mass": [2.0, 3.0]},
        duration=20.0,
        output_step=0.5,
        step=0.05,
        channels=["controller_state"],
        reduce=["series"],
    )
    np.testing.assert_array_equal(runs.controller_state_series[:, -1, 0], [201.0, 201.0])


def test_every_run_begins_with_the_declared_state(model):
    again = [sw.simulate(model, duration=3.0, output_step=0.5) for _ in range(2)]
    np.testing.assert_array_equal(again[0].joint_coordinate, again[1].joint_coordinate)
    other = model.with_values({"controllers.law.start.integral": 0.8})
    run = sw.simulate(other, duration=3.0, output_step=0.5)
    np.testing.assert_allclose(run.joint_coordinate[:, 0], exact(12, integral=0.8)[::2], atol=1e-9)
    state = run.controller_state.sel(control_state="law.integral")
    assert float(state[0]) == pytest.approx(0.8 + SAMPLE * BEGIN)


def test_a_run_goes_on_between_two_samples(model, tmp_path):
    full = sw.simulate(model, duration=5.0, output_step=0.1)
    first = sw.simulate(model, duration=2.1, output_step=0.1, checkpoint=tmp_path / "kept")
    rest = sw.simulate(model, duration=2.9, output_step=0.1, start=first)
    np.testing.assert_allclose(
        rest.joint_coordinate.values[-1], full.joint_coordinate.values[-1], atol=1e-9
    )


@pytest.mark.parametrize("device", ["cpu", "jax"])
def test_cases_of_a_batch_have_controllers_of_their_own(model, device):
    kp = [4.0, 6.0, 8.0]
    runs = sw.simulate_batch(
        model,
        parameters={"controllers.law.gains.kp": kp},
        duration=5.0,
        output_step=SAMPLE,
        step=0.025,
        channels=["joint_coordinate"],
        reduce=["series"],
        device=device,
    )
    for k, gain in enumerate(kp):
        at = runs.joint_coordinate_series.isel(case=k).values[:, 0]
        np.testing.assert_allclose(at, exact(20, gain), atol=1e-8)


@pytest.mark.slow  # a derivative is compiled
def test_derivatives_go_through_samples(model):
    def end(kp):
        changed = model.with_values({"controllers.law.gains.kp": kp})
        return sw.simulate_traced(changed, duration=2.0, output_step=0.5)["joint_coordinate"][-1, 0]

    h = 1e-4
    slope = (exact(8, 6.0 + h)[-1] - exact(8, 6.0 - h)[-1]) / (2 * h)
    assert float(jax.grad(end)(6.0)) == pytest.approx(slope, rel=1e-6)


def test_a_sampled_law_in_plain_python_has_states_too():
    model = sw.compile(cart(plain_pi, states=["integral"], sample_time=SAMPLE, plain=True))
    run = sw.simulate(model, duration=5.0, output_step=SAMPLE)
    np.testing.assert_allclose(run.joint_coordinate[:, 0], exact(20), atol=1e-9)


def test_states_without_a_sample_time_have_rates():
    model = sw.compile(cart(lag, states=["seen"], start={"seen": 0.1}))
    run = sw.simulate(model, duration=4.0, output_step=0.5, rtol=1e-9)
    A = np.array([[0, 1, 0], [0, -DAMPING / MASS, -6.0 / MASS], [0.5, 0, -0.5]])
    for t, x in zip(run.time.values, run.joint_coordinate.values[:, 0], strict=True):
        assert x == pytest.approx((expm(A * t) @ [BEGIN, 0.0, 0.1])[0], abs=1e-7)


@pytest.mark.parametrize("solver", ["tsit5", "stiff"])
def test_a_relay_switches_at_its_surfaces(solver):
    """Without surfaces: 0.40 m off at rtol 1e-4. Between them the cart has a closed form."""
    system = cart(relay, states=["on"], start={"on": 1.0}, surfaces=band)
    run = sw.simulate(sw.compile(system), duration=10.0, output_step=0.1, rtol=1e-4, solver=solver)
    at = run.joint_coordinate.values[:, 0]
    np.testing.assert_allclose(at, switching(run.time.values, 0.1), atol=1e-6)


def switching(times, width):
    """x'' = (-c x' - 3 on) / m from one switch to the next, which bisection finds."""
    from scipy.optimize import brentq

    k, out = DAMPING / MASS, np.empty(len(times))
    t0, x0, v0, on = 0.0, BEGIN, 0.0, 1.0

    def at(t, width=0.0):
        drift = -3.0 * on / DAMPING
        return x0 + drift * (t - t0) + (v0 - drift) / k * (1.0 - np.exp(-k * (t - t0))) + width

    while t0 < times[-1]:
        fine = np.linspace(t0 + 1e-6, t0 + 8.0, 2000)
        side = on * at(fine, on * width)
        first = int(np.argmax(side < 0.0))
        t1 = brentq(at, fine[first - 1], fine[first], (on * width,), 1e-14)
        inside = (times >= t0) & (times <= t1)
        out[inside] = at(times[inside])
        drift = -3.0 * on / DAMPING
        x0, v0, t0, on = at(t1), drift + (v0 - drift) * np.exp(-k * (t1 - t0)), t1, -on
    return out


def test_a_law_without_memory_may_jump_at_surfaces_too():
    model = sw.compile(cart(bang, surfaces=lambda t, y: y[0]))
    run = sw.simulate(model, duration=4.0, output_step=0.1, rtol=1e-4)
    np.testing.assert_allclose(run.joint_coordinate[:, 0], switching(run.time.values, 0), atol=1e-6)


class HiddenRelay:
    side = 1.0

    def __call__(self, t, y):
        if abs(y[0]) > 0.1:
            self.side = float(np.sign(y[0]))
        return [-3.0 * self.side]


class HiddenSampler:
    """A sampled integrator by the times at which it happens to be asked."""

    last, total, u = -1.0, 0.0, 0.0

    def __call__(self, t, y):
        if t >= self.last + SAMPLE:
            self.last, self.total = t, self.total + SAMPLE * float(y[0])
            self.u = -6.0 * float(y[0]) - self.total
        return [self.u]


class Counter:
    calls = 0

    def __call__(self, t, y):
        self.calls += 1
        return [1e-3 * self.calls]


@pytest.mark.parametrize("law", [HiddenRelay, HiddenSampler, Counter])
def test_a_law_that_answers_otherwise_when_asked_again_has_a_memory(law):
    plain = PlainLaw(law(), 1, "law")
    for t in np.linspace(0.0, 6.0, 200):
        plain.values(t, np.array([0.3 * np.cos(2.0 * t), 0.0]))
    with pytest.raises(SwelltreeError, match=r"(?s)controller 'law': .*asked the same.*states=\["):
        plain.check_memory()


@pytest.mark.parametrize("law", [HiddenRelay, HiddenSampler, Counter])
def test_a_plain_law_with_a_hidden_memory_is_refused_where_it_is_compiled(law):
    """`simulate_traced`, `modes` and `equilibrium` used its answers without a message.

    It stays refused: from its second rehearsal on the sampler waits for a later time.
    """
    hidden = law()
    rejected = r"(?s)controller '{}': .*asked the same.*states="
    for _ in range(2):
        with pytest.raises(SwelltreeError, match=rejected.format("law")):
            sw.compile(cart(hidden, plain=True))
    bare = cart(pi).replace(controllers=(), ptos=[sw.LinearPto("pto", joint="rail")])
    for one in (hidden, law()):
        with pytest.raises(SwelltreeError, match=rejected.format("pto")):
            sw.controlled(sw.compile(bare), "pto", one, plain=True)


class Late(HiddenRelay):
    """Its memory begins where no rehearsal asks."""

    def __call__(self, t, y):
        return super().__call__(t, y) if abs(y[0]) < 0.5 and t == int(t) % 10 + 0.5 else [0.0]


def test_a_memory_that_shows_in_a_run_is_refused_after_it():
    for _ in range(2):
        model = sw.compile(cart(Late(), plain=True))
        with pytest.raises(SwelltreeError, match=r"(?s)controller 'law': .*asked the same"):
            sw.simulate(model, duration=9.0, solver="rk4", step=0.5, output_step=0.5)


def test_studies_name_the_fault_of_a_plain_law():
    def fails(t, y):
        return [{}["gain"]] if abs(y[0] - BEGIN) < 1e-3 else [-6.0 * y[0]]

    model = sw.compile(cart(fails, plain=True))
    for study in (sw.modes, sw.equilibrium):
        with pytest.raises(SwelltreeError, match=r"fails' .* fails at t = 0 s with KeyError"):
            study(model)


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"states": ["a", "a"]}, "controller 'law': states names one twice"),
        ({"states": ["sum"], "start": {"sun": 1.0}}, "start has a value for 'sun'.*'sum'"),
        ({"sample_time": 0.0}, "sample_time 0 s is not positive"),
        ({"sample_time": 1.0, "surfaces": band}, "Leave out sample_time or surfaces"),
    ],
)
def test_a_memory_that_cannot_be_is_refused(how, sentence):
    with pytest.raises(SwelltreeError, match=f"(?s){sentence}"):
        cart(lag, **how)


@pytest.mark.parametrize(
    ("law", "how", "sentence"),
    [
        (lambda t, y, x: y[:1], {"states": ["a"]}, r"Return a pair \(u, next states\)"),
        (lambda t, y, x: (y[:1], y), {"states": ["a"]}, "gives 2 values for 1 states"),
        (lambda t, y: y[:1], {"surfaces": lambda t, y: y[7] * "a"}, "surfaces, law .* fails"),
    ],
)
def test_a_law_that_gives_no_states_is_refused(law, how, sentence):
    with pytest.raises(SwelltreeError, match=sentence):
        sw.compile(cart(law, **how))


def test_the_two_step_scheme_takes_samples_between_its_steps(model):
    """Its steps end at samples; two steps, so the error falls by four from the held force."""
    errors = []
    for step in (0.0125, 0.00625):
        run = sw.simulate(
            model, duration=5.0, output_step=SAMPLE, solver="two_step", step=step, start="described"
        )
        errors.append(np.abs(run.joint_coordinate.values[:, 0] - exact(20)).max())
    assert errors[1] < 0.6 * errors[0] < 3e-3
    with pytest.raises(SwelltreeError, match=r"sample_time 0\.25 s is not a multiple of the step"):
        sw.simulate(model, duration=3.0, output_step=0.3, solver="two_step", step=0.02)
    free = sw.simulate(model, duration=3.0, output_step=0.3, solver="two_step")
    assert 0.25 / free.attrs["step"] == pytest.approx(round(0.25 / free.attrs["step"]))


def test_a_relay_switches_between_the_steps_of_the_two_step_scheme():
    """In the step after a surface is crossed: the error goes with the step."""
    model = sw.compile(cart(relay, states=["on"], start={"on": 1.0}, surfaces=band))
    options = {"duration": 6.0, "output_step": 0.1, "solver": "two_step"}
    for step in (0.02, 0.002):
        run = sw.simulate(model, step=step, **options)
        exact = switching(run.time.values, 0.1)
        # four times 6 N over 1 kg act up to a step late
        assert np.abs(run.joint_coordinate.values[:, 0] - exact).max() < 4 * step


def test_a_force_that_jumps_with_a_rate_is_rejected_by_the_two_step_scheme():
    model = sw.compile(cart(bang, surfaces=lambda t, y: y[0]))
    with pytest.raises(sw.SwelltreeError, match="Keep what jumps in a state"):
        sw.simulate(model, duration=1.0, solver="two_step", step=0.01)


@pytest.mark.parametrize("solver", ["tsit5", "rk4"])
def test_sample_times_that_are_rounded_are_not_missed(solver):
    # 5 * 0.1 rounded to 0.5 lies before the product that a fused operation takes the difference of
    every = 0.1
    model = sw.compile(cart(lambda t, y: [t], sample_time=every))
    times = every * (np.arange(60) + 0.5)
    run = sw.simulate(model, times=times, solver=solver, step=0.05 if solver == "rk4" else None)
    held = run.joint_force_control.values.ravel()
    np.testing.assert_allclose(held, every * np.arange(60), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("solver", "step"), [("tsit5", None), ("two_step", 0.05)])
@pytest.mark.parametrize("sample", [0.1, 0.35])
def test_sampling_goes_on_where_the_time_between_samples_is_changed(sample, solver, step):
    """A shorter time put the next sample into the past, and none was taken any more."""

    def count(t, y, x):
        return -6.0 * y[:1], x + 1.0

    model = sw.compile(cart(count, states=["n"], sample_time=0.2))
    run = sw.stepper(model, solver=solver, step=step, start="described")
    run.step(2.1)
    run.change({"controllers.law.sample_time": sample})
    run.step(3.05)
    # that of 2.2 s is due already, then come multiples of the new time up to 5.15 s
    taken = 11 + 1 + np.floor(5.15 / sample) - np.floor(2.2 / sample + 1e-9)
    assert float(run.result().controller_state[-1, 0]) == taken
