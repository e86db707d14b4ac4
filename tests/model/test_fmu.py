"""FMUs as controllers: the runs of the same law in Python, whatever goes wrong in the FMU."""

import pickle

import cloudpickle
import numpy as np
import pytest

import swelltree as sw
from made_device import needs_compiler
from made_fmu import pi_fmu
from swelltree.describe.errors import SwelltreeError
from swelltree.interop.fmi.device import device_of
from swelltree.interop.fmi.fmu import archive, targets_of
from swelltree.pto.controllers.fmu import PROCESSES, fmu_law, pack, unpacked

pytest.importorskip("fmpy", reason="skipped: FMPy is not installed")
pytestmark = needs_compiler

SAMPLE, BEGIN = 0.25, 0.3
INPUTS = {"x": "rail.Surge", "v": "rail.Surge.rate"}


def pi(t, y, x):
    return [-6.0 * y[0] - 1.5 * x[0] - 2.0 * y[1]], [x[0] + SAMPLE * y[0]]


def cart(*controllers, **more):
    body = sw.Body("cart", mass=2.0, inertia=(1, 1, 1))
    rail = sw.Slider("rail", sw.WORLD, body, axis=(4, -3, 0), position=BEGIN)
    motors = [sw.JointForce("motor", "rail", damping=0.4)]
    return sw.System("cart", [body], [rail], motors, controllers=controllers, **more)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return pi_fmu(tmp_path_factory.mktemp("fmu") / "pi.fmu")


@pytest.fixture(scope="module")
def mute(tmp_path_factory):
    """One that cannot save its state."""
    return pi_fmu(tmp_path_factory.mktemp("mute") / "pi.fmu", saves=False)


def unit(file, **more):
    more = {"inputs": INPUTS, "outputs": {"F": "motor"}, "sample_time": SAMPLE} | more
    return sw.Fmu(file, **more)


@pytest.fixture(scope="module")
def model(file):
    return sw.compile(cart(unit(file, reports=["power"])))


@pytest.fixture(scope="module")
def law():
    """The same law in Python."""
    how = {"states": ["z"], "sample_time": SAMPLE}
    return sw.compile(cart(sw.Controller("law", [*INPUTS.values()], ["motor"], law=pi, **how)))


@pytest.mark.parametrize(
    "solver", ["tsit5", *(pytest.param(name, marks=pytest.mark.slow) for name in ("stiff", "rk4"))]
)
def test_a_run_is_that_of_the_same_law_in_python(model, law, solver):
    runs = [sw.simulate(x, duration=8.0, output_step=0.1, solver=solver) for x in (model, law)]
    for name in ("joint_coordinate", "velocity", "joint_force_control", "energy_residual"):
        np.testing.assert_allclose(runs[0][name], runs[1][name], rtol=0, atol=1e-12)
    assert list(runs[0].control_state.values) == ["pi.power"]
    # what the FMU delivered in its samples and what its actuator did
    held = runs[0].joint_force_control.values[:, 0]
    assert held[0] == pytest.approx(-6.0 * BEGIN)
    assert abs(runs[0].energy_residual).max() < 1e-5


def test_parameters_reports_and_names(file):
    fmu = unit(file, parameters={"kp": 8.0, "ki": 0.0}, reports=["power", "kd"], name="c")
    run = sw.simulate(sw.compile(cart(fmu)), duration=2.0, output_step=SAMPLE)
    held = run.joint_force_control.values[:, 0]
    at = run.joint_coordinate.values[:, 0]
    speed = run.velocity.values[:, 0, :2] @ [0.8, -0.6]
    np.testing.assert_allclose(held, -8.0 * at - 2.0 * speed, atol=1e-9)
    reports = run.controller_state
    assert list(reports.control_state.values) == ["c.power", "c.kd"]
    np.testing.assert_allclose(reports.values, np.stack([held * speed, 0 * at + 2], 1), atol=1e-9)


@pytest.mark.slow  # several programs are compiled
def test_a_run_goes_on_from_a_file_and_steps_go_back(model, tmp_path):
    full = sw.simulate(model, duration=5.0, output_step=0.1)
    sw.save(sw.simulate(model, duration=2.1, output_step=0.1), tmp_path / "part.nc")
    rest = sw.simulate(
        model, duration=2.9, output_step=0.1, start=sw.load_result(tmp_path / "part.nc")
    )
    np.testing.assert_allclose(
        rest.joint_coordinate.values[-1], full.joint_coordinate.values[-1], atol=1e-9
    )
    steps = sw.stepper(model)
    steps.step(1.1)
    saved = steps.save()
    rows = []
    for _ in range(2):
        steps.restore(saved)
        steps.step(1.0)
        rows.append(float(steps["cart.Surge"]))
    assert rows[0] == rows[1]


@pytest.mark.slow  # several programs are compiled
def test_without_saved_states_a_run_goes_forward_only(mute, model):
    other = sw.compile(cart(unit(mute, reports=["power"])))
    for _ in range(2):  # each run begins anew
        runs = [sw.simulate(x, duration=3.0, output_step=0.5) for x in (other, model)]
        np.testing.assert_array_equal(runs[0].joint_coordinate, runs[1].joint_coordinate)
    first = sw.simulate(other, duration=1.1, output_step=0.1)
    sw.simulate(other, duration=2.0, output_step=0.1)
    with pytest.warns(sw.SwelltreeWarning, match="cannot save its state"):
        rest = sw.simulate(other, duration=1.0, output_step=0.1, start=first)
    assert rest.attrs["result"] != "success"


def test_one_that_cannot_save_its_state_refuses_to_go_back(mute):
    law, hidden = fmu_law(unit(mute))
    rows = [np.zeros(hidden)]
    for k in range(4):
        rows.append(law.values(k * SAMPLE, np.array([0.3, 0.1, *rows[-1]]))[1:])
    again = law.values(3 * SAMPLE, np.array([0.3, 0.1, *rows[3]]))  # the same question
    np.testing.assert_array_equal(again[1:], rows[4])
    with pytest.raises(SwelltreeError, match=r"cannot save its state.*canSerializeFMUstate"):
        law.values(2 * SAMPLE, np.array([0.3, 0.1, *rows[2]]))


def test_exported_devices_of_both_versions_are_read(tmp_path):
    """A mass on a spring, pushed by the input: of both versions the same, and back and forth."""
    mass = sw.Body("mass", mass=0.05, inertia=(1, 1, 1))
    spring = sw.JointForce("spring", "rail", stiffness=1.0, damping=0.5)
    system = sw.System(
        "lag",
        [mass],
        [sw.Slider("rail", sw.WORLD, mass, axis=(1, 0, 0))],
        [spring, sw.AppliedForce("push", mass.at(0, 0, 0), force=(0.0, 0.0, 0.0))],
        water=sw.Water(g=0.0),
    )
    device = device_of(sw.compile(system), None, inputs=["push.Fx"], outputs=["mass.Surge"])
    found = []
    for version in ("2.0", "3.0"):
        path = tmp_path / f"lag{version[0]}.fmu"
        path.write_bytes(archive(device, version, targets_of(None, version)))
        more = {"inputs": {"push.Fx": "rail.Surge.rate"}, "outputs": {"mass.Surge": "motor"}}
        law, hidden = fmu_law(unit(path, **more))
        x, rows = np.zeros(hidden), []
        for k in range(6):
            row = law.values(0.1 * k, np.array([1.0, *x]))
            x = row[1:]
            rows.append(row[0])
            if k == 3:
                early = x
        # the exact answer to a unit step
        p = np.sqrt(complex(0.5**2 - 4 * 0.05)) / 0.1
        a, b = -5.0 + p, -5.0 - p
        t = 0.1 * np.arange(6)
        exact = 1.0 + ((b * np.exp(a * t) - a * np.exp(b * t)) / (a - b)).real
        np.testing.assert_allclose(rows, exact, atol=1e-5)
        again = law.values(0.4, np.array([1.0, *early]))
        assert again[0] == rows[4]
        found.append(rows)
    np.testing.assert_array_equal(found[0], found[1])


def test_a_copy_in_another_process_runs_its_own_fmu(file):
    law, hidden = fmu_law(unit(file))
    content = cloudpickle.dumps(law)
    PROCESSES.clear()
    copy = pickle.loads(content)
    assert copy.function.process is not law.function.process
    question = 0.0, np.array([0.3, 0.1, *np.zeros(hidden)])
    np.testing.assert_array_equal(copy.values(*question), law.values(*question))


def test_the_state_of_an_fmu_is_packed_without_loss():
    draw = np.random.default_rng(1)
    for size in (0, 1, 5, 6, 7, 100):
        content, row = draw.bytes(size), np.zeros(30)
        pack(row, content)
        assert unpacked(row) == content


def test_a_crash_ends_the_run_and_keeps_its_results(file):
    values = {"fault": 1, "fault_time": 1.2}
    model = sw.compile(cart(unit(file, parameters=values)))
    words = r"crashed in its step from 1 to 1\.25 s \(SIGABRT"
    with pytest.warns(sw.SwelltreeWarning, match=words):
        run = sw.simulate(model, duration=3.0, output_step=0.1, solver="rk4")
    good = np.isfinite(run.joint_coordinate.values[:, 0])
    assert good.sum() == 13  # up to 1.2 s
    assert np.isfinite(run.energy_residual.values[good]).all()
    assert "pi.fmu" in run.attrs["message"]
    with pytest.raises(SwelltreeError, match=words):  # and again: it is started anew
        sw.stepper(model).step(2.0)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (1, r"crashed in its step from 1 to 1\.25 s \(SIGABRT"),
        (2, r"gave no answer within 0\.5 s in its step from 1 to 1\.25 s"),
        (3, r"failed in its step from 1 to 1\.25 s\. fmi2DoStep gives status 'error'"),
        (4, r"gave output 'F', 'power' that is not finite"),
    ],
)
def test_each_fault_has_its_message(file, fault, words):
    values = {"fault": fault, "fault_time": 1.2}
    law, hidden = fmu_law(unit(file, parameters=values, timeout=0.5, reports=["power"]))
    x = np.zeros(1 + hidden)
    for k in range(5):
        x = law.values(k * SAMPLE, np.array([0.3, 0.1, *x]))[1:]
    for _ in range(2):  # a process that ended is started anew
        with pytest.raises(SwelltreeError, match=words):
            law.values(5 * SAMPLE, np.array([0.3, 0.1, *x]))
        first = law.values(0.0, np.array([0.3, 0.1, *(0.0 * x)]))
        assert first[0] == -6.0 * 0.3 - 2.0 * 0.1
    with pytest.raises(SwelltreeError, match="is given a value that is not finite"):
        law.values(0.0, np.array([np.nan, 0.1, *x]))


@pytest.mark.slow  # several programs are compiled
def test_cases_of_a_batch_run_one_after_another(model, law):
    def batch(model):
        return sw.simulate_batch(
            model,
            parameters={"cart.mass": [2.0, 3.0]},
            duration=2.0,
            output_step=0.5,
            step=0.05,
            channels=["joint_coordinate"],
            reduce=["series"],
        )

    found, expected = batch(model), batch(law)
    np.testing.assert_allclose(
        found.joint_coordinate_series, expected.joint_coordinate_series, atol=1e-9
    )
    assert "an FMU has one state in a process of its own" in found.attrs["engine"]


def test_linear_studies_and_derivatives_are_refused(model, file):
    with pytest.raises(SwelltreeError, match=r"'pi' is an FMU.*linear study"):
        sw.modes(model)
    blind = sw.compile(cart(unit(file, inputs={})))  # it acts whatever moves
    sw.modes(blind)
    from swelltree.jit import jax

    def end(mass):
        changed = model.with_values({"cart.mass": mass})
        return sw.simulate_traced(changed, duration=0.5, output_step=0.5)["joint_coordinate"][-1, 0]

    with pytest.raises(SwelltreeError, match="samples of an FMU have no derivatives"):
        jax.grad(end)(2.0)


def test_a_case_file_holds_an_fmu(file, model, tmp_path):
    fmu = unit(file, reports=["power"], parameters={"kp": 6.0})
    text = sw.Case(cart(fmu)).to_toml()
    assert sw.loads(text).system.controllers == (fmu,)
    path = tmp_path / "case.toml"
    path.write_text(text.replace(str(file), "pi.fmu"))
    (tmp_path / "pi.fmu").write_bytes(file.read_bytes())
    found = sw.simulate(sw.compile(sw.load(path).system), duration=1.0, output_step=0.5)
    expected = sw.simulate(model, duration=1.0, output_step=0.5)
    np.testing.assert_array_equal(found.joint_coordinate, expected.joint_coordinate)


def test_what_does_not_fit_is_refused(file, tmp_path):
    for changes, words in (
        ({"sample_time": 0.0}, "sample_time 0 s is not positive"),
        ({"timeout": -1.0}, "timeout -1 s is not positive"),
        ({"outputs": {}}, "outputs is empty"),
        ({"outputs": {"F": "motor", "power": "motor"}}, "name an element twice"),
        ({"parameters": {"x": 1.0}}, "'x' is in inputs and in parameters"),
        ({"inputs": {"x": "rail"}}, "'rail' has not the form"),
        ({"parameters": {"kp": None}}, "Give a number, a truth value or a text"),
        ({"inputs": 3}, "is not a table"),
        ({"inputs": {"x": 3.0}}, "has 3.0, which is not a name"),
        ({"reports": "power"}, "is not a list"),
    ):
        with pytest.raises(SwelltreeError, match=words):
            unit(file, **changes)
    with pytest.raises(SwelltreeError, match="is not a path"):
        unit(3)
    for changes, words in (
        ({"inputs": {"X": "rail.Surge"}}, r"inputs: the FMU has no input 'X'.*Did you mean 'x'"),
        ({"outputs": {"G": "motor"}}, r"outputs: the FMU has no output 'G'.*It has 'F', 'power'"),
        ({"parameters": {"kx": 1.0}}, "parameters: the FMU has no parameter or input 'kx'"),
        ({"reports": ["x"]}, "reports: the FMU has no output or local 'x'"),
        ({"parameters": {"kp": "high"}}, r"'kp' is of type Real\. It cannot be 'high'"),
    ):
        with pytest.raises(SwelltreeError, match=words):
            sw.compile(cart(unit(file, **changes)))
    with pytest.raises(SwelltreeError, match=r"'gone\.fmu' cannot be read"):
        sw.compile(cart(unit("gone.fmu")))
    (tmp_path / "bad.fmu").write_bytes(b"PK no zip")
    with pytest.raises(SwelltreeError, match=r"bad\.fmu' failed as it is opened.*zip"):
        sw.compile(cart(unit(tmp_path / "bad.fmu")))
    with pytest.raises(SwelltreeError, match="is for model exchange only"):
        sw.compile(cart(unit(pi_fmu(tmp_path / "me.fmu", kind="ModelExchange"))))


def test_without_fmpy_the_extra_is_named(file, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SwelltreeError, match=r"pip install 'swelltree\[fmi\]'"):
        sw.compile(cart(unit(file)))
