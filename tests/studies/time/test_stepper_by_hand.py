"""A run stepped by hand is that of `simulate`; it is steered, changed, saved and restored."""

import contextlib
import itertools

import jax
import numpy as np
import pytest

import swelltree as sw
from made_buoy import buoy_model
from made_hydro import heaving_float
from swelltree.studies.time.stepped.run import check_same_layout
from validation.mooring.winches import hoist

WAVE = sw.IrregularSea(sw.Jonswap(1.5, 6.0), seed=3, components=20, ramp=7.0)
STEPS = (0.1, 0.25, 0.05, 0.4, 0.1, 0.1, 0.35, 0.15)  # s, uneven
FORCES = (0.0, 3e4, 3e4, -5e4, 1e4, 1e4, 0.0, 2e4)  # N


def floating(force=None):
    """A float with radiation memory on a PTO."""
    body = sw.Body("float", mass=2.6e5, inertia=(1, 1, 1))
    rail = sw.Slider("heave", sw.WORLD, body)
    pto = sw.LinearPto("pto", joint="heave", damping=5e4, stiffness=2e4, force=force)
    system = sw.System("buoy", [body], [rail], ptos=[pto], water=sw.Water(rho=1000.0))
    return sw.compile(system, heaving_float())


def hung(force=None):
    """A ball on an elastic line and a rail, with a PTO: stepped by the two-step scheme."""
    ball = sw.Body("float", mass=5e4, inertia=(4e3,) * 3, position=(0.3, 0.2, -2.0))
    rope = sw.LineType("rope", diameter=0.2, mass_per_length=50.0, EA=2e8)
    line = sw.Line("line", sw.WORLD.at(0, 0, 0), ball, 2.2, rope, segments=3)
    rail = sw.Slider("heave", sw.WORLD, ball, axis=(0.1, 0.0, 1.0))
    pto = sw.LinearPto("pto", joint="heave", damping=4e4, force=force)
    return sw.compile(sw.System("hung", [ball], [rail], ptos=[pto], lines=[line]))


@contextlib.contextmanager
def nothing_compiled():
    """Refuse compilations by XLA meanwhile."""
    compiled = []

    def note(event, duration, **_):
        if "backend_compile" in event:
            compiled.append(event)

    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        yield
    finally:
        jax.monitoring.unregister_event_duration_listener(note)
    assert not compiled, f"{len(compiled)} compilations"


def ends(steps=STEPS):
    return np.concatenate([[0.0], np.cumsum(steps)])


def piecewise(t):
    """FORCES as a function of time, to the right of each step."""
    k = jax.numpy.searchsorted(jax.numpy.asarray(ends()), t + 1e-9, side="right") - 1
    return jax.numpy.asarray((*FORCES, FORCES[-1]))[jax.numpy.maximum(k, 0)]


CASES = {
    "smooth": (floating, WAVE, {"rtol": 1e-10, "atol": 1e-12}),
    "fixed": (floating, WAVE, {"solver": "rk4", "step": 0.05}),
    "two_step": (hung, None, {"step": 0.05, "start": "described"}),
}


SMOOTH, TWO_STEP = (pytest.param(name, marks=pytest.mark.slow) for name in ("smooth", "two_step"))


@pytest.fixture
def case(request):
    return CASES[getattr(request, "param", "fixed")]


def stepped(model, sea, options, pushes, **more):
    run = sw.stepper(model, sea, duration=ends()[-1], **options, **more)
    for duration, force in zip(STEPS, pushes, strict=True):
        run.step(duration, {"pto": force})
    return run


def same(mine, other, tolerance):
    """All channels of two results agree, to parts of their size."""
    assert set(mine.variables) == set(other.variables)
    assert np.allclose(mine.time, other.time, rtol=1e-12)
    for name in other.data_vars:
        if name in ("iterations", "residual", "energy_residual"):
            continue
        a, b = mine[name].values, other[name].values
        size = max(np.abs(b).max(initial=0.0), 1.0)
        assert np.allclose(a, b, atol=tolerance * size, rtol=0, equal_nan=True), name


@pytest.mark.parametrize("case", ["fixed", SMOOTH, TWO_STEP], indirect=True)
def test_steps_with_a_constant_force_are_the_run_of_simulate(case):
    system, sea, options = case
    run = stepped(system(), sea, options, [2e4] * len(STEPS), forces={"pto": 2e4})
    full = sw.simulate(system(force=2e4), sea, times=ends(), **options)
    same(run.result(), full, 1e-9)


@pytest.mark.parametrize("case", ["fixed", SMOOTH, TWO_STEP], indirect=True)
def test_a_force_held_over_each_step_is_that_law_in_time(case):
    system, sea, options = case
    run = stepped(system(), sea, options, FORCES)
    full = sw.simulate(system(force=piecewise), sea, times=ends(), **options)
    mine = run.result()
    assert np.allclose(mine.pto_control.values[1:, 0], FORCES, rtol=1e-12)
    # a sample shows the force that was held before it, the law the one that comes: velocities of
    # the two-step scheme, means of the half steps around a sample, differ there. Laws with jumps
    # divide the steps of rk4.
    solver = mine.attrs["solver"]
    close = {"tsit5": 1e-7, "rk4": 1e-4, "two_step": 1e-9}[solver]
    more = () if solver == "two_step" else ("velocity", "work", "kinetic_energy")
    for name in ("position", *more):
        size = max(np.abs(full[name]).max(), 1.0)
        assert np.allclose(mine[name], full[name], atol=close * size, rtol=0), name


def test_books_of_energy_close_under_jumping_forces(case):
    system, sea, options = case
    run = stepped(system(), sea, options, FORCES)
    result = run.result()
    moved = float(np.abs(result.work).max())
    limit = {"tsit5": 1e-8, "rk4": 1e-4, "two_step": 2e-2}[result.attrs["solver"]]
    assert moved > 1e3
    assert np.abs(result.energy_residual).max() < limit * moved
    assert run["energy_residual"] == pytest.approx(float(result.energy_residual[-1]), abs=1e-6)


@pytest.mark.parametrize("case", ["fixed", SMOOTH, TWO_STEP], indirect=True)
def test_restored_runs_go_on_bit_for_bit(case):
    system, sea, options = case
    run = sw.stepper(system(), sea, **options)
    for duration, force in zip(STEPS[:3], FORCES[:3], strict=True):
        run.step(duration, {"pto": force})
    saved, results = run.save(), []
    for _ in range(2):
        run.restore(saved)
        run.change({"ptos.pto.damping": 7e4})
        for duration, force in zip(STEPS[3:], FORCES[3:], strict=True):
            run.step(duration, {"pto": force})
        results.append(run.result())
        run.change({"ptos.pto.damping": 1e4})
        run.step(0.2, {"pto": -9e4})  # another branch, which must leave no trace
    first, second = results
    for name in first.data_vars:
        assert np.array_equal(first[name], second[name], equal_nan=True), name
    run.restore(saved)
    assert run.time == pytest.approx(sum(STEPS[:3]))
    assert run.result().sizes["time"] == 4
    assert run.forces == {"pto": FORCES[2]}


def test_channels_by_name_are_those_of_the_result(case):
    system, sea, options = case
    run = stepped(system(), sea, options, FORCES)
    result = run.result().isel(time=-1)
    assert set(result.data_vars) <= set(run.channels)
    for name in result.data_vars:
        close = 1e-6 if name == "energy_residual" else 1e-12  # a difference of large sums
        assert np.allclose(run[name], result[name], atol=close, equal_nan=True), name
    heave = float(result.position.sel(body="float", dof="Heave"))
    assert run["float.Heave"] == run["position.float.Heave"] == pytest.approx(heave, abs=1e-14)
    assert isinstance(run["pto_force.pto"], float)
    assert "pto_force" in run
    assert "pto_farce" not in run


def test_other_numbers_take_effect_at_once_and_compile_nothing(case):
    system, sea, options = case
    run, plain = (sw.stepper(system(), sea, **options) for _ in range(2))
    for one in (run, plain):
        one.step(0.5)
        one.step(0.1, {"pto": 1e4})
    run.change({"ptos.pto.damping": 3e4})  # whatever is compiled once is compiled now
    run.step(0.1)
    run["work"]
    with nothing_compiled():
        run.change({"ptos.pto.damping": 9e5, "ptos.pto.stiffness": 4e4})
        run.step(0.1)
        run["work"]
        if sea is not None:
            run.change({"sea.spectrum.Hs": 3.0, "sea.seed": 8})
        run.step(0.2, {"pto": -2e4})
        run["work"]
    changed = system().with_values({"ptos.pto.damping": 9e5, "ptos.pto.stiffness": 4e4})
    rate, force = run["pto_rate.pto"], run["pto_force.pto"]
    spring = float(changed.value("pto.stiffness")) * run["pto_stroke.pto"]
    assert force == pytest.approx(-9e5 * rate - spring - 2e4, rel=1e-9)


def test_energy_that_changed_numbers_bring_is_booked():
    run = sw.stepper(floating(), WAVE, rtol=1e-10, atol=1e-12)
    run.step(9.0)
    before = run["pto_stored_energy.pto"]
    run.change({"ptos.pto.stiffness": 6e4})  # three times the spring
    run.step(0.7)
    assert before > 1.0
    assert run["work_of_changes"] == pytest.approx(2.0 * before, rel=1e-9)
    result = run.result()
    assert np.abs(result.energy_residual).max() < 1e-7 * float(np.abs(result.work).max())
    assert float(result.work_of_changes[-1]) == run["work_of_changes"]
    assert float(result.work_of_changes[-2]) == 0.0


def test_reset_begins_again_in_the_same_sea_or_another():
    run = sw.stepper(floating(), WAVE, forces={"pto": 5e3})
    heights = []
    for seed in (None, None, 4):
        run.reset(seed=seed)
        assert (run.time, run.forces) == (0.0, {"pto": 5e3})
        run.step(3.0, {"pto": 1e4})
        run.step(5.0)
        heights.append(run["float.Heave"])
    assert heights[0] == heights[1] != heights[2]
    other = sw.simulate(
        floating(force=sw.Table((0.0, 1.0), (1e4, 1e4))),
        WAVE.replace(seed=4),
        times=[0.0, 3.0, 8.0],
    )
    assert run["elevation"] == pytest.approx(float(other.elevation[-1]), rel=1e-9)


def test_simulate_goes_on_from_what_was_stepped(case):
    system, sea, options = case
    run = stepped(system(), sea, options, [0.0] * len(STEPS))
    more = {name: options[name] for name in options if name != "start"}
    full = sw.simulate(system(), sea, times=[*ends(), 1.8, 2.1], **options)
    rest = sw.simulate(system(), sea, times=[ends()[-1], 1.8, 2.1], start=run.result(), **more)
    size = float(np.abs(full.velocity).max())
    assert np.allclose(rest.velocity[1:], full.velocity[-2:], atol=1e-9 * size, rtol=0)
    again = sw.stepper(system(), sea, start=rest, **more)
    assert again.time == 2.1
    again.step(0.2)


@pytest.mark.slow
def test_a_winch_runs_as_it_is_told():
    run = sw.stepper(hoist([]), step=0.05)
    length = run["winch_length.winch"]
    speeds = (0.2, 0.2, -0.1, 0.0, 0.3)
    for speed in speeds:
        run.step(0.25, {"winch": speed})
    # a jump counts half to the step before it, at the last no jump has come yet
    assert run["winch_length.winch"] == pytest.approx(length + 0.25 * sum(speeds), abs=0.02)
    assert run["winch_speed.winch"] == pytest.approx(0.3, rel=1e-6)
    saved, lengths = run.save(), []
    for _ in range(2):
        run.restore(saved)
        run.step(0.5, {"winch": -0.2})
        lengths.append((run["winch_length.winch"], run["fairlead_tension"].tobytes()))
    assert lengths[0] == lengths[1]
    with pytest.raises(sw.SwelltreeError, match="segments carry"):
        run.step(0.1, {"winch": 500.0})


@pytest.mark.parametrize("excitation", ["components", "convolution"])
def test_loads_of_the_sea_are_made_ready_as_the_run_goes(excitation, monkeypatch):
    monkeypatch.setattr("swelltree.studies.time.stepped.stepper.POINTS", 256)
    options = {"solver": "rk4", "step": 0.05, "excitation": excitation}
    run = sw.stepper(floating(), WAVE, **options)
    span = run.save().task.model.hydro.waves.good_until
    assert span < 10.0
    times = np.concatenate([np.arange(0.0, 1.6 * span, 0.5), [5.0 * span // 0.5 * 0.5]])
    for begin, end in itertools.pairwise(times):
        run.step(end - begin)  # the last step is longer than what is ready at once
    full = sw.simulate(floating(), WAVE, times=times, **options)
    # the sums of waves begin elsewhere: rounding
    same(run.result(), full, 1e-9)


def test_a_sea_may_get_shorter_waves_on_the_way():
    run = sw.stepper(floating(), WAVE, solver="rk4", step=0.05)
    run.step(0.1)
    run["work"]
    run.change({"sea.spectrum.Tp": 5.9})
    run.step(0.1)
    with nothing_compiled():
        for period in (4.0, 14.0):  # of which loads on a grid need other steps
            run.change({"sea.spectrum.Tp": period})
            run.step(0.1)
            run["work"]
    other = sw.stepper(
        floating(), WAVE.replace(spectrum=sw.Jonswap(1.5, 14.0)), solver="rk4", step=0.05
    )
    other.step(0.4)
    assert run["elevation"] == pytest.approx(other["elevation"], rel=1e-6)


def test_latest_samples_alone_are_kept_where_asked():
    full, short = (sw.stepper(buoy_model(), keep=keep) for keep in (None, 5))
    for _ in range(17):
        for run in (full, short):
            run.step(0.1, {"pto": 1e4})
    assert short.result().sizes["time"] == 5
    assert np.array_equal(short.result().position, full.result().position[-5:])
    assert short["energy_residual"] == full["energy_residual"]


def test_a_step_that_fails_leaves_the_run_where_it_was():
    run = sw.stepper(floating(), max_step=0.1)
    run.step(0.2)
    heave = run["float.Heave"]
    with pytest.raises(sw.SwelltreeError, match="time stepping"):
        run.step(1.0, {"pto": 1e300})
    assert (run.time, run["float.Heave"], run.forces) == (0.2, heave, {"pto": 0.0})
    run.step(0.1)


BAD = {
    "unknown": (lambda run: run.step(0.1, {"ptoo": 1.0}), "Did you mean 'pto'"),
    "text": (lambda run: run.step(0.1, {"pto": "much"}), "'pto': 'much' is not one finite"),
    "nan": (lambda run: run.step(0.1, {"pto": np.nan}), "is not one finite number"),
    "two": (lambda run: run.step(0.1, {"pto": [1.0, 2.0]}), "is not one finite number"),
    "no table": (lambda run: run.step(0.1, 3.0), "is not a table of names"),
    "no time": (lambda run: run.step(0.0), "is not a positive number of seconds"),
    "back": (lambda run: run.step(-1.0), "is not a positive number of seconds"),
    "nan time": (lambda run: run.step(np.nan), "is not a positive number of seconds"),
    "too far": (lambda run: run.step(1e8), "beyond 1e\\+07 s"),
    "channel": (lambda run: run["pto_farce"], "Did you mean 'pto_force'"),
    "label": (lambda run: run["pto_force.pta"], "there is no pto 'pta'. Did you mean 'pto'"),
    "dof": (lambda run: run["float.heave"], "there is no dof 'heave'. Did you mean 'Heave'"),
    "too many": (lambda run: run["elevation.x"], "no more to choose from"),
    "no name": (lambda run: run[3], "is not a name"),
    "number": (lambda run: run.change({"ptos.pto.damping": np.inf}), "is not finite"),
    "path": (lambda run: run.change({"ptos.pto.dampin": 1.0}), "there is no 'dampin'"),
    "sea": (lambda run: run.change({"sea.spectrum.H": 1.0}), "there is no 'H'"),
    "sizes": (
        lambda run: check_same_layout(run.save().model, buoy_model(), ["sea.components"]),
        "'sea.components' changes array sizes",
    ),
    "seed": (lambda run: run.change({"sea.seed": 1.5}), "is not a whole number"),
    "changes": (lambda run: run.change(3), "is not a table of names"),
    "saved": (lambda run: run.restore(3), "is not from save"),
    "other": (lambda run: run.restore(sw.stepper(floating()).save()), "another stepper"),
}


@pytest.fixture(scope="module")
def ready():
    return sw.stepper(floating(), WAVE)


@pytest.mark.parametrize("name", BAD)
def test_bad_names_and_values_get_a_sentence(name, ready):
    wrong, sentence = BAD[name]
    with pytest.raises(sw.SwelltreeError, match=sentence):
        wrong(ready)


def test_bad_steppers_get_a_sentence():
    for options, sentence in (
        ({"solver": "rk4"}, "needs a step"),
        ({"duration": -1.0}, "is not a positive number"),
        ({"keep": 0}, "is not a number of samples"),
        ({"forces": {"motor": 1.0}}, "is not a PTO"),
    ):
        with pytest.raises(sw.SwelltreeError, match=sentence):
            sw.stepper(floating(), **options)
    with pytest.raises(sw.SwelltreeError, match="is not compiled"):
        sw.stepper(floating().described.system)
    with pytest.raises(sw.SwelltreeError, match="this sea has no seed"):
        sw.stepper(floating()).reset(seed=3)
    with pytest.raises(sw.SwelltreeError, match=r"not a multiple of 0\.05 s"):
        sw.stepper(hung(), step=0.05).step(0.08)


def test_changes_that_would_make_bodies_jump_are_rejected():
    """A longer rod moved its body within no time, and the energy of that was nowhere."""
    bob = sw.Body("bob", 2.0, (0.1, 0.2, 0.3), position=(0.6, 0.3, -0.8))
    rod = sw.Distance("rod", sw.WORLD, bob.at(0.0, 0.0, 0.1), length=None)
    model = sw.compile(sw.System("pendulum", [bob], [rod]))
    run = sw.stepper(model)
    run.step(0.1)
    length = float(model.value("rod.length"))
    with pytest.raises(sw.SwelltreeError, match=r"change: 'rod.length' would open a joint or coup"):
        run.change({"rod.length": length + 0.2})
    run.change({"bob.mass": 3.0})
    run.step(0.1)
    assert abs(run["energy_residual"]) < 1e-5
    arm = sw.Hinge("arm", sw.WORLD, bob.at(-0.6, -0.3, 0.8), axis="y")
    run = sw.stepper(sw.compile(sw.System("pendulum", [bob], [arm])))
    run.step(0.1)
    with pytest.raises(sw.SwelltreeError, match=r"change: 'arm.follower_point' would move a body"):
        run.change({"arm.follower_point": [-0.9, -0.3, 0.8]})
    with pytest.raises(sw.SwelltreeError, match=r"change: 'bob.com' would move a body"):
        run.change({"bob.com": [0.1, 0.0, 0.0]})  # and the reference point with it
    bob = bob.replace(reference_point=(0.0, 0.0, 0.0))
    run = sw.stepper(sw.compile(sw.System("pendulum", [bob], [arm])))
    run.step(0.1)
    run.change({"bob.com": [0.1, 0.0, 0.0], "bob.mass": 2.5})
