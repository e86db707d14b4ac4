"""Devices as C code: the steps of `simulate` without Python, and refusals instead of crashes."""

import shutil
import subprocess

import numpy as np
import pytest

import swelltree as sw
from made_device import COMPILER, CDevice, compile_c, needs_compiler
from swelltree.interop.fmi.c_code import write_c
from swelltree.interop.fmi.device import device_of
from swelltree.interop.fmi.fmu import sources_of

STEP, BETWEEN = 0.05, 0.1
OUTPUTS = ("float.Heave", "velocity", "elevation", "absorbed_power")
NAMES = ("float.Heave", "velocity.float.Heave", "velocity.spar.Heave", "elevation")
TIMES = BETWEEN * np.arange(201)


@pytest.fixture(scope="module")
def ready():
    ready = sw.gallery.rm3()
    return ready.model(), ready.sea


@pytest.fixture(scope="module")
def exported(ready):
    return device_of(*ready, step=STEP, outputs=OUTPUTS, parameters=["pto.damping", "float.mass"])


@pytest.fixture(scope="module")
def built(exported, tmp_path_factory):
    return CDevice(exported, tmp_path_factory.mktemp("rm3"))


@pytest.fixture
def device(built):
    return built.restart()


def channels(result):
    """The channels of NAMES from a result, and the scale of each."""
    rows = [
        result.displacement.sel(body="float", dof="Heave"),
        result.velocity.sel(body="float", dof="Heave"),
        result.velocity.sel(body="spar", dof="Heave"),
        result.elevation,
    ]
    return np.stack([row.values for row in rows], axis=1)


def pendulum(force=(0.0, 0.0, 0.0), **options):
    bob = sw.Body("bob", 10.0, (0.1, 0.1, 0.1), position=(0, 0, -1))
    pivot = sw.Hinge("pivot", sw.WORLD, bob.at(0, 0, 1), position=0.2)
    push = sw.AppliedForce("push", bob.at(0, 0, 0), force=force)
    return sw.compile(sw.System("pendulum", bodies=[bob], joints=[pivot], forces=[push], **options))


@needs_compiler
def test_fixed_steps_are_those_of_simulate(ready, device):
    result = sw.simulate(*ready, times=TIMES, solver="rk4", step=STEP)
    np.testing.assert_allclose(device.run(TIMES, NAMES), channels(result), rtol=0, atol=1e-11)


@needs_compiler
def test_a_force_of_the_pto_acts_as_a_sampled_law_gives_it(device):
    def law(t, y):
        return 2e5 * (t - 10.0)

    ready = sw.gallery.rm3()
    held = sw.Controller("c", measures=["pto.rate"], drives=["pto"], law=law, sample_time=BETWEEN)
    system = ready.system.replace(controllers=(held,))
    model = sw.compile(system, hydro=ready.hydro)
    result = sw.simulate(model, ready.sea, times=TIMES, solver="rk4", step=STEP)
    found = device.run(TIMES, NAMES, [("pto", law(TIMES, None))])
    free = channels(sw.simulate(ready.model(), ready.sea, times=TIMES, solver="rk4", step=STEP))
    assert np.abs(found - free).max() > 0.1
    np.testing.assert_allclose(found, channels(result), rtol=0, atol=1e-10)


@needs_compiler
def test_parameters_are_numbers_of_the_model(ready, device):
    model, sea = ready
    values = {"pto.damping": 4e5, "float.mass": 1.1 * float(model.value("float.mass"))}
    for name, value in values.items():
        assert device.set(name, value) == 0
        assert device.get(name) == value
    result = sw.simulate(model.with_values(values), sea, times=TIMES[:101], solver="rk4", step=STEP)
    found = device.run(TIMES[:101], NAMES)
    np.testing.assert_allclose(found, channels(result), rtol=0, atol=1e-11)
    assert device.set("pto.damping", 5e5) == 0  # at any time
    assert device.set("float.mass", 1e6) != 0
    assert "fixed" in device.message


@needs_compiler
def test_a_restored_state_goes_on_bit_by_bit(device):
    device.run(TIMES[:40], NAMES)
    saved = device.save()
    first = device.run(TIMES[39:], NAMES, [("pto", 1e5 * np.sin(TIMES))])
    assert device.restore(saved) == 0
    np.testing.assert_array_equal(
        device.run(TIMES[39:], NAMES, [("pto", 1e5 * np.sin(TIMES))]), first
    )
    # in other memory too
    device.restart()
    assert device.restore(saved) == 0
    again = device.run(TIMES[39:], NAMES, [("pto", 1e5 * np.sin(TIMES))])
    np.testing.assert_array_equal(again, first)


@needs_compiler
def test_one_long_step_reaches_beyond_the_window_of_loads(device):
    whole = device.run(TIMES, NAMES)
    device.restart()
    assert device.step(20.0) == 0
    np.testing.assert_allclose(device.run(TIMES[-1:], NAMES)[0], whole[-1], rtol=0, atol=1e-11)


@needs_compiler
def test_what_cannot_be_is_refused_and_changes_nothing(device):
    device.run(TIMES[:5], NAMES)
    before = device.save()
    for value in (np.nan, np.inf, -np.inf):
        assert device.set("pto", value) == 1
        assert "not finite" in device.message
        assert device.step(value) == 1
    for number in (-1, 0, len(device.names) - 1, len(device.names), 2**31 - 1, -(2**31)):
        assert device("set")(device.at, number, 1.0) == 1
    for number in (-1, len(device.names), 2**31 - 1):
        assert device("get")(device.at, number, before.ctypes.data) == 1
        assert device("name")(number) == b""
    for duration in (0.0, -0.1, 1e-300, 1e300):
        assert device.step(duration) == 1, duration
    np.testing.assert_array_equal(device.save(), before)
    for place, value in ((0, np.nan), (0, -1.0), (0, 1e300), (1, 0.5), (1, 1e9), (1, np.nan)):
        wrong = before.copy()
        wrong[place] = value
        assert device.restore(wrong) == 1
    np.testing.assert_array_equal(device.save(), before)


@needs_compiler
def test_a_step_that_fails_says_where_and_goes_on_from_there(device):
    device.run(TIMES[:5], NAMES)
    assert device.set("pto", 1e18) == 0
    assert device.step(BETWEEN) == 2
    assert "t = 0.4" in device.message
    assert device.set("pto", 0.0) == 0
    assert device.step(BETWEEN) == 0
    assert np.isfinite(device.get("float.Heave"))


HOSTILE = r"""
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "rm3.h"

int main(void)
{
    double numbers[] = {0.0, -0.0, NAN, INFINITY, -INFINITY, 1e308, -1e308, 5e-324, 1e5, 0.01};
    size_t n = rm3_saved();
    rm3_t *d = rm3_init(malloc(rm3_size()));
    double *saved = malloc(n * sizeof *saved), value;
    double *row = calloc(2 * RM3_COUNT + 8, sizeof *row);
    int i, k, round;
    srand(7);
    for (round = 0; round < 200; round++) {
        for (i = -3; i < RM3_COUNT + 3; i++) {
            rm3_set(d, i, numbers[rand() % 10]);
            rm3_get(d, i, &value);
            if (strlen(rm3_name(i)) > 200 || strlen(rm3_message(d)) > 239) return 1;
        }
        value = numbers[rand() % 10];
        rm3_step(d, value > 10.0 && value < 1e9 ? 10.0 : value);
        rm3_save(d, saved);
        for (k = 0; k < 3; k++) saved[rand() % n] = numbers[rand() % 10];
        rm3_restore(d, saved);
        for (i = 0; i < RM3_COUNT; i++) row[i] = numbers[rand() % 10];
        rm3_set_states(d, numbers[rand() % 10], row);
        rm3_get_states(d, row);
        rm3_rates(d, row);
        rm3_derivative(d, row, row + RM3_COUNT);
        if (round % 20 == 0) rm3_init(d);
    }
    rm3_init(d);
    if (rm3_step(d, 0.1) != RM3_OK) return 2;
    free(saved);
    free(row);
    free(d);
    return 0;
}
"""


HOST = r"""
#if VERSION == 2
#include "fmi2.c"
#define F(name) fmi2##name
#define START fmi2Instantiate("one", EXCHANGED ? 0 : 1, IDENTITY, "", &host, 0, 0)
#define BEGIN(c, x) fmi2SetupExperiment(c, 0, 0, x, 0, 0), fmi2EnterInitializationMode(c)
#define STEP(c, t, h) fmi2DoStep(c, t, h, 1)
#define RATES(c, v, n) fmi2GetDerivatives(c, v, n)
#define CHANGE(c, u, k, s, v) fmi2GetDirectionalDerivative(c, u, 1, k, 1, s, v)
#define EVENT_END(c) fmi2NewDiscreteStates(c, NULL)
#define GET(c, r, n, v) fmi2GetReal(c, r, n, v)
#define SET(c, r, n, v) fmi2SetReal(c, r, n, v)
static void log_it(void *e, fmi2String i, int s, fmi2String k, fmi2String m, ...)
{
    (void)e, (void)i, (void)s, (void)k;
    if (strlen(m) > 1000) abort();
}
static fmi2Callbacks host = {log_it, NULL, NULL, NULL, NULL};
#else
#include "fmi3.c"
#define F(name) fmi3##name
#if EXCHANGED
#define START fmi3InstantiateModelExchange("one", IDENTITY, "", 0, 0, NULL, log_it)
#else
#define START \
    fmi3InstantiateCoSimulation("one", IDENTITY, "", 0, 0, 0, 0, NULL, 0, NULL, log_it, NULL)
#endif
#define RATES(c, v, n) fmi3GetContinuousStateDerivatives(c, v, n)
#define CHANGE(c, u, k, s, v) fmi3GetDirectionalDerivative(c, u, 1, k, 1, s, 1, v, 1)
#define EVENT_END(c) fmi3UpdateDiscreteStates(c, NULL, NULL, NULL, NULL, NULL, NULL)
#define BEGIN(c, x) fmi3EnterInitializationMode(c, 0, 0, x, 0, 0)
#define STEP(c, t, h) fmi3DoStep(c, t, h, 1, NULL, NULL, NULL, NULL)
#define GET(c, r, n, v) fmi3GetFloat64(c, r, n, v, n)
#define SET(c, r, n, v) fmi3SetFloat64(c, r, n, v, n)
#define GetFMUstate GetFMUState
#define SetFMUstate SetFMUState
#define FreeFMUstate FreeFMUState
#define SerializeFMUstate SerializeFMUState
#define DeSerializeFMUstate DeserializeFMUState
static void log_it(void *e, int s, fmi3String k, fmi3String m)
{
    (void)e, (void)s, (void)k;
    if (strlen(m) > 1000) abort();
}
#endif
#define CALL(name) F(name) /* with the names of version 3 */

int main(void)
{
    double numbers[] = {0.0, -0.1, NAN, INFINITY, -INFINITY, 1e308, 0.1, 0.05, 0.3, 2.0}, v[3];
    uint32_t refs[] = {0, 1, 2, 3, 4, 100, 4294967295u};
    size_t n = serialized_bytes(), k;
    unsigned char *raw = calloc(1, n + 8);
    void *bytes = raw;
    void *c = START, *state = NULL;
    double *x = calloc(RM3_STATES + 2, sizeof *x);
    int round;
    if (!c || STEP(NULL, 0.0, 0.1) != ERROR || GET(NULL, refs, 1, v) != ERROR) return 1;
    srand(7);
    for (round = 0; round < 3000; round++) {
        uint32_t r[3] = {refs[rand() % 7], refs[rand() % 7], refs[rand() % 7]};
        for (k = 0; k < 3; k++) v[k] = numbers[rand() % 10];
        switch (rand() % 20) {
        case 12: CALL(EnterEventMode)(c); break;
        case 13: EVENT_END(c); CALL(EnterContinuousTimeMode)(c); break;
        case 14: CALL(SetTime)(c, rand() % 2 ? time_of(c) + 0.01 : v[0]); break;
        case 15: RATES(c, rand() % 9 ? x : NULL, RM3_STATES + (rand() % 9 == 0)); break;
        case 16: CHANGE(c, rand() % 9 ? r : NULL, r + 1, v, rand() % 9 ? v + 1 : NULL); break;
        case 17:
            CALL(GetContinuousStates)(c, x, RM3_STATES);
            if (RM3_STATES) x[rand() % (RM3_STATES + 1)] += v[0];
            CALL(SetContinuousStates)(c, x, RM3_STATES + (rand() % 9 == 0));
            break;
        case 0: BEGIN(c, numbers[rand() % 10]); break;
        case 1: CALL(ExitInitializationMode)(c); break;
        case 2: if (rand() % 20 == 0) CALL(Terminate)(c); break;
        case 3: if (rand() % 4 == 0) CALL(Reset)(c); break;
        case 4: SET(c, rand() % 9 ? r : NULL, rand() % 3 + 1, rand() % 9 ? v : NULL); break;
        case 5: GET(c, rand() % 9 ? r : NULL, rand() % 3 + 1, rand() % 9 ? v : NULL); break;
        case 6: CALL(GetFMUstate)(c, rand() % 9 ? &state : NULL); break;
        case 7: CALL(SetFMUstate)(c, rand() % 9 ? state : NULL); break;
        case 8: CALL(FreeFMUstate)(c, rand() % 9 ? &state : NULL); break;
        case 9: CALL(SerializeFMUstate)(c, state, rand() % 9 ? bytes : NULL, n - rand() % 2); break;
        case 10:
            if (rand() % 2) raw[rand() % n] ^= 1;
            CALL(DeSerializeFMUstate)(c, rand() % 9 ? bytes : NULL, n + rand() % 2, &state);
            break;
        default: STEP(c, rand() % 3 ? time_of(c) : v[0], v[1]);
        }
    }
    CALL(FreeFMUstate)(c, &state);
    CALL(FreeInstance)(c);
    CALL(FreeInstance)(NULL);
    free(raw);
    free(x);
    return 0;
}
"""
SANITIZED = "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory):
    """Compiles and runs with sanitizers, in a folder with the sources."""
    folder = tmp_path_factory.mktemp("probe")
    (folder / "probe.c").write_text("int main(void) { return 0; }\n")
    command = [COMPILER, *SANITIZED, "probe.c", "-o", "probe"]
    built = subprocess.run(command, cwd=folder, capture_output=True)
    if built.returncode or subprocess.run([folder / "probe"]).returncode:
        pytest.skip("skipped: this C compiler has no sanitizers")

    def run(folder, sources, *flags):
        program = compile_c(folder, sources, "hostile", *SANITIZED, *flags)
        done = subprocess.run([program], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr

    return run


@needs_compiler
def test_no_argument_makes_it_read_or_write_elsewhere(exported, tmp_path, sanitized):
    write_c(exported, tmp_path)
    (tmp_path / "hostile.c").write_text(HOSTILE)
    sanitized(tmp_path, ["hostile.c", "rm3.c", "rm3_model.o"])


OTHERS = {
    "equations": {"outputs": OUTPUTS[:2], "model_exchange": True},
    "elevation": {"outputs": OUTPUTS[:2], "inputs": ["elevation"]},
}


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("kind", OTHERS)
def test_no_argument_of_any_kind_of_device_does(ready, kind, tmp_path, sanitized):
    model, sea = ready
    device = device_of(model, None if kind == "elevation" else sea, step=STEP, **OTHERS[kind])
    write_c(device, tmp_path)
    (tmp_path / "hostile.c").write_text(HOSTILE)
    sanitized(tmp_path, ["hostile.c", "rm3.c", "rm3_model.o"])


@pytest.fixture(scope="module")
def smooth(ready):
    return device_of(*ready, step=STEP, **OTHERS["equations"])


@needs_compiler
@pytest.mark.parametrize("exchanged", [0, 1])
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_no_call_of_an_fmu_does_so_either(smooth, version, exchanged, tmp_path, sanitized):
    for name, content in sources_of(smooth, version, "{identity}").items():
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    (tmp_path / "host.c").write_text(HOST)
    flags = f"-DVERSION={version[0]}", f"-DEXCHANGED={exchanged}"
    sanitized(tmp_path, ["host.c", "rm3.c", "rm3_model.o"], *flags)


@needs_compiler
def test_the_example_prints_the_outputs(exported, device, tmp_path):
    write_c(exported, tmp_path)
    program = compile_c(tmp_path, ["example.c", "rm3.c", "rm3_model.o"], "example")
    text = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    rows = np.array([[float(x) for x in line.split()] for line in text.splitlines()])
    assert rows.shape == (600, 1 + len(exported.outputs))
    names = [variable.name for variable in exported.outputs]
    assert device.set("pto", 0.0) == 0
    expected = device.run(TIMES[:101], names)[1:]
    np.testing.assert_allclose(rows[:100, 1:], expected, rtol=1e-9, atol=1e-9)


@needs_compiler
def test_it_builds_with_cmake(exported, tmp_path):
    if shutil.which("cmake") is None:
        pytest.skip("skipped: there is no cmake")
    write_c(exported, tmp_path)
    for command in (["cmake", "-B", "build", "."], ["cmake", "--build", "build"]):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "build" / "rm3_example").is_file()


def test_nothing_allocates_memory(exported, tmp_path):
    write_c(exported, tmp_path)
    for name in ("rm3.c", "rm3_model.o"):
        assert not {b"malloc", b"calloc", b"realloc"} & set(
            (tmp_path / name).read_bytes().replace(b"\0", b" ").replace(b"(", b" ").split()
        )


@needs_compiler
def test_adaptive_steps_are_those_of_a_stepper(tmp_path):
    model = pendulum()
    device = CDevice(device_of(model, None, outputs=["bob", "bob.Surge", "joint_rate"]), tmp_path)
    run = sw.stepper(model)
    for time in TIMES[1:]:
        run.step(time - run.time)
        assert device.step_to(time) == 0
        assert device.get("bob.Surge") == pytest.approx(run["bob.Surge"], abs=1e-12)
        rate = float(np.squeeze(run["joint_rate"]))
        assert device.get("joint_rate.pivot__Pitch") == pytest.approx(rate, abs=1e-12)


@needs_compiler
def test_an_applied_force_is_an_input_beside_its_signals(tmp_path):
    options = {"step": STEP, "inputs": ["push.Fx"], "outputs": ["bob.Surge"]}
    device = CDevice(device_of(pendulum((3.0, 0.0, 0.0)), None, **options), tmp_path)
    found = device.run(TIMES, ["bob.Surge"], [("push.Fx", np.full(len(TIMES), 4.0))])
    whole = pendulum((7.0, 0.0, 0.0))
    result = sw.simulate(whole, times=TIMES, solver="rk4", step=STEP)
    expected = result.displacement.sel(body="bob", dof="Surge").values
    np.testing.assert_allclose(found[:, 0], expected, rtol=0, atol=1e-12)


@needs_compiler
def test_two_devices_go_into_one_program(tmp_path):
    for name in ("first", "the second (2)"):
        model = sw.compile(pendulum().described.specified.replace(name=name))
        write_c(device_of(model, None, step=STEP), tmp_path)
    (tmp_path / "both.c").write_text(
        '#include "first.h"\n#include "the_second_2.h"\n'
        "int main(void) { return first_size() == the_second_2_size() ? 0 : 1; }\n"
    )
    parts = ["both.c", "first.c", "first_model.o", "the_second_2.c", "the_second_2_model.o"]
    assert subprocess.run([compile_c(tmp_path, parts, "both")]).returncode == 0


# --- What is refused at export


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inputs": ["pso"]}, "'pso' is not a PTO.*Did you mean 'pto'"),
        ({"inputs": "pto"}, "inputs 'pto' is not a list of names"),
        ({"outputs": ["flaot.Heave"]}, "'flaot' is neither a channel nor a body"),
        ({"outputs": ["energy_residual"]}, "'energy_residual' follows from a whole run"),
        ({"parameters": ["pto.dampin"]}, "Did you mean 'damping'"),
        ({"parameters": ["float.inertia"]}, "'float.inertia' is a row of 9 numbers"),
        ({"parameters": ["ptos.pto.damping"]}, "'ptos.pto.damping' is a number of the description"),
        ({"solver": "rk4"}, "solver 'rk4' needs a step"),
        ({"duration": -5.0}, "export: duration -5.0 s is not positive"),
        ({"step": 0.0}, "export: step 0.0 s is not positive"),
        ({"duration": float("nan")}, "export: duration nan s is not positive"),
    ],
)
def test_wrong_options_are_rejected(ready, tmp_path, options, message):
    with pytest.raises(sw.SwelltreeError, match=message):
        sw.export_c(*ready, tmp_path, **options)
    assert not list(tmp_path.iterdir())


def test_what_has_no_native_program_is_named(tmp_path):
    law = sw.Controller(
        "brain", measures=["bob.Surge"], drives=["turn"], law=lambda t, y: [0.0], plain=True
    )
    model = pendulum().described.specified
    turn = sw.JointForce("turn", "pivot", stiffness=1.0)
    model = sw.compile(model.replace(forces=(turn,), controllers=(law,)))
    with pytest.raises(sw.SwelltreeError, match="controller 'brain' is a Python function"):
        sw.export_c(model, None, tmp_path, step=STEP)


def test_lines_with_an_implicit_scheme_are_named(tmp_path):
    body = sw.Body("float", 1000.0, (1e3, 1e3, 1e3), position=(0, 0, -1), displaced_volume=1.1)
    line = sw.Line("bow", (40.0, 0.0, -20.0), body.at(), 50.0, sw.chain(0.02), segments=4)
    free = sw.Free("free", sw.WORLD, body)
    model = sw.compile(sw.System("moored", [body], [free], lines=[line]))
    with pytest.raises(sw.SwelltreeError, match=r"dynamic lines or contacts .*bow.*quasi_static"):
        sw.export_c(model, None, tmp_path, step=STEP)


@needs_compiler
def test_loads_that_are_not_summed_are_stored_for_a_time(ready, tmp_path):
    options = {"excitation": "convolution", "step": STEP}
    with pytest.raises(sw.SwelltreeError, match="duration"):
        sw.export_c(*ready, tmp_path, **options)
    device = CDevice(device_of(*ready, duration=20.0, outputs=OUTPUTS, **options), tmp_path)
    result = sw.simulate(*ready, times=TIMES, solver="rk4", **options)
    np.testing.assert_allclose(device.run(TIMES, NAMES), channels(result), rtol=0, atol=1e-11)
    assert device.step(1.0) == 1
    assert "after the end of the wave loads" in device.message


@needs_compiler
def test_events_are_found_as_in_simulate(tmp_path):
    ready = sw.gallery.sphere(lift=0.5)
    pto = sw.LatchingPto("pto", joint="heave", damping=1e5, release_after=0.8)
    model = sw.compile(ready.system.replace(ptos=(pto,)), hydro=ready.hydro)
    result = sw.simulate(model, ready.sea, times=TIMES, solver="rk4", step=STEP)
    assert result.attrs["events"] > 4
    device = CDevice(device_of(model, ready.sea, step=STEP, outputs=["sphere.Heave"]), tmp_path)
    heave = result.displacement.sel(body="sphere", dof="Heave").values
    found = device.run(TIMES, ["sphere.Heave"])[:, 0]
    np.testing.assert_allclose(found, heave, rtol=0, atol=1e-11)


@pytest.mark.slow
@needs_compiler
def test_a_winch_is_driven_within_its_limits(tmp_path):
    load = sw.Body("load", mass=2e3, inertia=(2e3,) * 3, position=(0, 0, -4.0))
    rope = sw.LineType("wire", mass_per_length=5.0, EA=1e6, diameter=0.03, BA=2e4)
    top = sw.WORLD.at(0, 0, 0)
    line = sw.Line("hoist", top, load.at(), 4.0, rope, "multibody", 2, dry=True)
    winch = sw.Winch("winch", line, drum=8.0, max_speed=0.5)
    model = sw.compile(sw.System("hoist", [load], [], lines=[line], winches=[winch]))
    outputs = ["load.Heave", "winch_length"]
    device = CDevice(device_of(model, None, outputs=outputs), tmp_path)
    run = sw.stepper(model)
    for k in range(20):
        speed = 0.2 if k < 10 else -0.1
        run.step(BETWEEN, {"winch": speed})
        assert device.set("winch", speed) == 0
        assert device.step_to(run.time) == 0
    assert device.get("winch_length.winch") == pytest.approx(run["winch_length.winch"], abs=1e-10)
    assert device.get("load.Heave") == pytest.approx(run["load.Heave"], abs=1e-10)
    assert device.set("winch", 0.6) == 1
    assert "'winch': 0.6 is more than this variable allows" in device.message
