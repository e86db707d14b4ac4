"""FMUs for model exchange: integrated by CVode of FMPy, and directional derivatives."""

import ctypes

import numpy as np
import pytest

import swelltree as sw
from made_device import CDevice, needs_compiler
from swelltree.describe.files.atomic import write_atomic
from swelltree.interop.fmi.device import device_of
from swelltree.interop.fmi.fmu import archive, targets_of

fmpy = pytest.importorskip("fmpy", reason="skipped: FMPy is not installed")

pytestmark = needs_compiler
OK, DISCARD, ERROR = 0, 2, 3
OPTIONS = {
    "step": 0.05,
    "outputs": ["float.Heave", "velocity.float.Heave", "absorbed_power", "acceleration.spar"],
    "parameters": ["pto.damping"],
    "model_exchange": True,
}


@pytest.fixture(scope="module")
def ready():
    ready = sw.gallery.rm3()
    return ready.model(), ready.sea


@pytest.fixture(scope="module")
def exported(ready):
    return device_of(*ready, **OPTIONS)


@pytest.fixture(scope="module")
def device(exported, tmp_path_factory):
    return CDevice(exported, tmp_path_factory.mktemp("rm3"))


@pytest.fixture(params=["2.0", "3.0"])
def fmu(request, exported, tmp_path):
    targets = targets_of(None, request.param)
    return write_atomic(tmp_path / "rm3.fmu", archive(exported, request.param, targets))


def test_cvode_integrates_what_simulate_does(ready, fmu):
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(fmu)) == []
    found = fmpy.simulate_fmu(
        str(fmu),
        fmi_type="ModelExchange",
        stop_time=20.0,
        output_interval=0.5,
        relative_tolerance=1e-9,
        start_values={"pto.damping": 9e5},
    )
    model, sea = ready
    model = model.with_values({"pto.damping": 9e5})
    run = sw.simulate(model, sea, duration=20.0, output_step=0.5, rtol=1e-10, atol=1e-10)
    heave = run.displacement.sel(body="float", dof="Heave").values
    assert np.ptp(heave) > 0.3
    np.testing.assert_allclose(found["float.Heave"], heave, rtol=0, atol=1e-6)
    power = run.absorbed_power.values[:, 0]
    np.testing.assert_allclose(found["absorbed_power.pto"], power, rtol=0, atol=1.0)


def test_rates_and_derivatives_agree_with_differences(device):
    """At a point in general position, in a random direction of states, inputs and parameters."""
    draw = np.random.default_rng(3)
    count, states = len(device.names), device("states")()
    first = count - 2 * states
    assert states > 10
    device.step_to(7.3)
    x = np.zeros(states)
    device("get_states")(device.at, x.ctypes.data)
    seed = np.zeros(count)
    seed[first : first + states] = draw.normal(size=states) * np.maximum(abs(x), 0.1)
    seed[1], seed[2] = 1e5, 3e4  # PTO force and damping
    change = np.zeros(count)

    def values(step):
        assert (
            device("set_states")(
                device.at,
                ctypes.c_double(7.3),
                (x + step * seed[first : first + states]).ctypes.data,
            )
            == 0
        )
        device.set("pto", step * seed[1])
        device.set("pto.damping", 1.2e6 + step * seed[2])
        return np.array([device.get(name) for name in device.names])

    h = 1e-4
    differences = (values(h) - values(-h)) / (2.0 * h)
    values(0.0)
    assert device("derivative")(device.at, seed.ctypes.data, change.ctypes.data) == 0
    follows = np.r_[3:first, first + states : count]
    size = np.abs(differences[follows]).max()
    np.testing.assert_allclose(change[follows], differences[follows], atol=1e-7 * size)
    for k in follows:
        assert change[k] == pytest.approx(differences[k], rel=1e-5, abs=1e-6 * size)


def test_steps_go_on_from_states_that_are_set(device, ready):
    device.restart()
    device.step_to(5.0)
    x = np.zeros(device("states")())
    device("get_states")(device.at, x.ctypes.data)
    device.step_to(60.0)
    assert device("set_states")(device.at, 5.0, x.ctypes.data) == 0
    device.step_to(10.0)
    again = device.get("float.Heave")
    device.restart()
    device.step_to(10.0)
    assert again == pytest.approx(device.get("float.Heave"), abs=1e-9)


# --- Hostile hosts


class Calls:
    """One instance for model exchange, called by ctypes, with what it logged."""

    def __init__(self, fmu, folder):
        self.description = fmpy.read_model_description(str(fmu))
        self.two, self.logged = self.description.fmiVersion == "2.0", []
        arguments = {
            "guid": self.description.guid,
            "unzipDirectory": fmpy.extract(str(fmu), folder),
            "modelIdentifier": self.description.modelExchange.modelIdentifier,
            "instanceName": "one",
        }
        if self.two:
            from fmpy.fmi2 import FMU2Model, fmi2CallbackFunctions, fmi2CallbackLoggerTYPE

            self.callbacks = fmi2CallbackFunctions()
            self.log = fmi2CallbackLoggerTYPE(lambda *x: self.logged.append(x[4].decode()))
            self.callbacks.logger = self.log
            self.model = FMU2Model(**arguments)
            self.model.instantiate(callbacks=self.callbacks)
        else:
            from fmpy.fmi3 import FMU3Model, fmi3LogMessageCallback

            self.log = fmi3LogMessageCallback(lambda *x: self.logged.append(x[3].decode()))
            self.model = FMU3Model(**arguments)
            self.model.instantiate(logMessage=self.log)

    def __call__(self, name, *arguments):
        function = getattr(self.model.dll, f"fmi{2 if self.two else 3}{name}")
        function.restype, function.argtypes = ctypes.c_int, None
        return function(ctypes.c_void_p(self.model.component), *arguments)


def test_hostile_calls_give_a_status_and_a_message(fmu, tmp_path):
    host = Calls(fmu, tmp_path / "unit")
    real, size, none = ctypes.c_double, ctypes.c_size_t, ctypes.c_void_p()
    rates = "GetDerivatives" if host.two else "GetContinuousStateDerivatives"
    count = sum(v.derivative is not None for v in host.description.modelVariables)
    values = (real * count)()
    for name, *arguments in (  # before initialisation
        ("SetTime", real(1.0)),
        (rates, values, size(count)),
        ("EnterContinuousTimeMode",),
        ("SetContinuousStates", values, size(count)),
    ):
        assert host(name, *arguments) == ERROR
        assert "before initialisation" in host.logged[-1]
    if host.two:
        host.model.setupExperiment()
    host.model.enterInitializationMode()
    host.model.exitInitializationMode()
    assert host("DoStep", real(0.0), real(0.1), ctypes.c_int(0), *[none] * 4) == ERROR
    assert "in event mode" in host.logged[-1]
    assert host("EnterContinuousTimeMode") == OK
    assert host("GetContinuousStates", values, size(count)) == OK
    for name, *arguments, words in (
        ("SetTime", real(float("nan")), "not a time"),
        ("SetTime", real(-5.0), "not a time"),
        ("SetTime", real(1e300), "not a time"),
        ("SetContinuousStates", values, size(count - 1), "states, not"),
        ("SetContinuousStates", none, size(count), "states, not"),
        (rates, values, size(count + 1), "states, not"),
        ("GetEventIndicators", values, size(1), "no event indicators"),
    ):
        host.logged.clear()
        assert host(name, *arguments) in (DISCARD, ERROR), name
        assert words in host.logged[-1]
    values[1] = float("nan")
    assert host("SetContinuousStates", values, size(count)) == DISCARD
    references, seed = (ctypes.c_uint * 1)(), (real * 1)(1.0)
    more = () if host.two else (size(1),)
    for unknown, known, words in (
        (0, 1, "output or a rate"),
        (10**6, 1, "output"),
        (3, 3, "input"),
    ):
        references[0] = unknown
        inputs = (ctypes.c_uint * 1)(known)
        row = (references, size(1), inputs, size(1), seed, *more, values, *more)
        assert host("GetDirectionalDerivative", *row) == ERROR
        assert words in host.logged[-1]
    # it goes on
    assert host("SetTime", real(0.5)) == OK
    assert host(rates, values, size(count)) == OK
    assert np.isfinite(values).all()
    assert host("SetTime", real(900.0)) == OK  # far away, and back
    assert host("SetTime", real(0.5)) == OK
    # a state of the instance, restored
    before, other = (real * count)(), (real * count)()
    assert host("GetContinuousStates", before, size(count)) == OK
    state = host.model.getFMUState()
    for k in range(count):
        other[k] = before[k] + 0.01 * (k + 1)
    assert host("SetContinuousStates", other, size(count)) == OK
    host.model.setFMUState(state)
    assert host("GetContinuousStates", other, size(count)) == OK
    assert list(other) == list(before)
    host.model.freeFMUState(state)
    host.model.freeInstance()


def test_an_fmu_for_co_simulation_gives_its_derivatives_too(device):
    """At a communication point, in the direction of the PTO force: acceleration by difference."""
    device.restart()
    device.step_to(6.0)
    first = len(device.names) - 2 * device("states")()
    seed, change = np.zeros((2, len(device.names)))
    seed[device.names.index("pto")] = 1.0
    assert device("derivative")(device.at, seed.ctypes.data, change.ctypes.data) == 0
    name = next(x for x in device.names[:first] if x == "acceleration.spar.Heave")
    low = device.get(name)
    device.set("pto", 1e5)
    difference = (device.get(name) - low) / 1e5
    assert abs(difference) > 1e-8
    assert change[device.names.index(name)] == pytest.approx(difference, rel=1e-6)


def test_what_is_not_smooth_is_refused(ready):
    model, sea = ready
    with pytest.raises(sw.SwelltreeError, match="follows from the work since the start"):
        device_of(model, sea, **(OPTIONS | {"outputs": ["work"]}))
    latch = sw.gallery.rm3().system
    law = sw.Controller("c", ["pto.rate"], ["pto"], law=lambda t, y: [-1e5 * y[0]], sample_time=0.1)
    sampled = sw.compile(latch.replace(controllers=(law,)), hydro=sw.gallery.rm3().hydro)
    with pytest.raises(sw.SwelltreeError, match="controller 'c' switches at events"):
        device_of(sampled, sea, **OPTIONS)
