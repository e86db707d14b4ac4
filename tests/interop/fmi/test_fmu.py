"""Devices as FMUs, validated and simulated by FMPy: the steps of `simulate`, and no crash."""

import ctypes
import io
import shutil
import zipfile

import numpy as np
import pytest

import swelltree as sw
from made_device import needs_compiler
from swelltree.describe.files.atomic import write_atomic
from swelltree.interop.fmi.device import device_of
from swelltree.interop.fmi.fmu import PLATFORMS, archive, c_compiler, targets_of

fmpy = pytest.importorskip("fmpy", reason="skipped: FMPy is not installed")
from fmpy.fmi1 import FMICallException  # noqa: E402

pytestmark = needs_compiler

STEP, BETWEEN = 0.05, 0.1
TIMES = BETWEEN * np.arange(201)
OK, DISCARD, ERROR = 0, 2, 3


@pytest.fixture(scope="module")
def ready():
    ready = sw.gallery.rm3()
    return ready.model(), ready.sea


@pytest.fixture(scope="module")
def device(ready):
    options = {
        "step": STEP,
        "outputs": ["float.Heave", "velocity.float.Pitch", "absorbed_power", "elevation"],
        "parameters": ["pto.damping", "float.mass"],
    }
    return device_of(*ready, **options)


@pytest.fixture(scope="module", params=["2.0", "3.0"])
def fmu(request, device, tmp_path_factory):
    path = tmp_path_factory.mktemp("fmu") / "rm3.fmu"
    return write_atomic(path, archive(device, request.param, targets_of(None, request.param)))


class Host:
    """One instance of an FMU in this process, with what it logged."""

    def __init__(self, fmu, folder, initialise=True):
        self.description = fmpy.read_model_description(str(fmu))
        self.names = {v.name: v.valueReference for v in self.description.modelVariables}
        self.logged = []
        self.two = self.description.fmiVersion == "2.0"
        shutil.unpack_archive(fmu, folder, "zip")
        arguments = {
            "guid": self.description.guid,
            "unzipDirectory": str(folder),
            "modelIdentifier": self.description.coSimulation.modelIdentifier,
            "instanceName": "one",
        }
        # FMPy raises at an error status; a host in C would see the status
        if self.two:
            from fmpy.fmi2 import FMU2Slave as Slave
            from fmpy.fmi2 import fmi2CallbackFunctions, fmi2CallbackLoggerTYPE

            self.log = fmi2CallbackLoggerTYPE(lambda *x: self.logged.append(x[4].decode()))
            self.slave = Slave(**arguments)
            self.callbacks = fmi2CallbackFunctions()
            self.callbacks.logger = self.log
            self.slave.instantiate(callbacks=self.callbacks)
        else:
            from fmpy.fmi3 import FMU3Slave as Slave
            from fmpy.fmi3 import fmi3LogMessageCallback

            self.log = fmi3LogMessageCallback(lambda *x: self.logged.append(x[3].decode()))
            self.slave = Slave(**arguments)
            self.slave.instantiate(logMessage=self.log)
        self.at = self.slave.component
        if initialise:
            assert self.initialise() == OK

    def call(self, name, *arguments):
        """Status of a function of the library itself."""
        function = getattr(self.slave.dll, f"fmi{2 if self.two else 3}{name}")
        function.restype = ctypes.c_int
        function.argtypes = None
        return function(ctypes.c_void_p(self.at), *arguments)

    def initialise(self):
        real, no = ctypes.c_double, ctypes.c_int(0)
        if self.two:
            self.call("SetupExperiment", no, real(0.0), real(0.0), no, real(0.0))
            self.call("EnterInitializationMode")
        else:
            wrong = ctypes.c_bool(False)
            rest = wrong, real(0.0), real(0.0), wrong, real(0.0)
            self.call("EnterInitializationMode", *rest)
        return self.call("ExitInitializationMode")

    def step(self, begin, duration):
        real = ctypes.c_double
        if self.two:
            return self.call("DoStep", real(begin), real(duration), ctypes.c_int(1))
        seen = [ctypes.c_bool() for _ in range(3)]
        last = real()
        wrong = ctypes.c_bool(True)
        pointers = *map(ctypes.byref, seen), ctypes.byref(last)
        return self.call("DoStep", real(begin), real(duration), wrong, *pointers)

    def _rows(self, references, values):
        rows = (ctypes.c_uint * max(len(references), 1))(*references)
        numbers = (ctypes.c_double * max(len(values), 1))(*values)
        counts = [ctypes.c_size_t(len(references))]
        if self.two:
            return rows, numbers, [rows, *counts, numbers]
        return rows, numbers, [rows, *counts, numbers, ctypes.c_size_t(len(values))]

    def set(self, references, values):
        return self.call(
            "SetReal" if self.two else "SetFloat64", *self._rows(references, values)[2]
        )

    def get(self, references, count=None):
        count = len(references) if count is None else count
        _, numbers, arguments = self._rows(references, [0.0] * count)
        return self.call("GetReal" if self.two else "GetFloat64", *arguments), list(numbers)

    def channel(self, name):
        status, (value, *_) = self.get([self.names[name]])
        assert status == OK, self.logged
        return value

    def run(self, first, last, push=lambda k: 0.0):
        rows = []
        for k in range(first, last):
            assert self.set([self.names["pto"]], [push(k)]) == OK
            assert self.step(TIMES[k], TIMES[k + 1] - TIMES[k]) == OK, self.logged
            rows.append([self.channel("float.Heave"), self.channel("absorbed_power.pto")])
        return np.array(rows)


@pytest.fixture
def host(fmu, tmp_path):
    host = Host(fmu, tmp_path)
    yield host
    host.slave.freeInstance()


def test_the_description_is_valid(fmu):
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(fmu)) == []
    found = {v.name: v for v in fmpy.read_model_description(str(fmu)).modelVariables}
    assert (found["pto"].causality, found["pto"].unit) == ("input", "N")
    assert found["velocity.float.Pitch"].unit == "rad/s"
    assert found["pto.damping"].variability == "tunable"
    assert found["float.mass"].variability == "fixed"


def test_fmpy_simulates_what_simulate_does(ready, fmu):
    model, sea = ready
    values = {"pto.damping": 9e5}
    inputs = {"pto": 4e5}
    found = fmpy.simulate_fmu(
        str(fmu),
        stop_time=20.0,
        step_size=BETWEEN,
        output_interval=BETWEEN,
        start_values=values | inputs,
    )
    np.testing.assert_allclose(found["time"], TIMES, atol=1e-9)
    described = model.described.specified
    held = sw.Controller("c", ["pto.rate"], ["pto"], law=lambda t, y: [4e5])
    system = described.replace(controllers=(held,))
    model = sw.compile(system, hydro=sw.gallery.rm3().hydro).with_values(values)
    result = sw.simulate(model, sea, times=TIMES, solver="rk4", step=STEP)
    heave = result.displacement.sel(body="float", dof="Heave").values
    np.testing.assert_allclose(found["float.Heave"], heave, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found["elevation"], result.elevation, rtol=0, atol=1e-10)
    power = result.absorbed_power.sel(pto="pto").values
    np.testing.assert_allclose(found["absorbed_power.pto"], power, rtol=0, atol=1e-10 * 1e6)


def test_the_binary_needs_no_python(fmu):
    with zipfile.ZipFile(fmu) as parts:
        (binary,) = (name for name in parts.namelist() if name.startswith("binaries/"))
        content = parts.read(binary)
    assert b"libpython" not in content
    assert b"PyObject" not in content


def test_a_state_is_restored_bit_by_bit_also_from_bytes(host, fmu, tmp_path):
    def push(k):
        return 1e5 * np.sin(k)

    host.run(0, 30, push)
    state = host.slave.getFMUState() if not host.two else host.slave.getFMUstate()
    first = host.run(30, 90, push)
    content = (
        host.slave.serializeFMUstate(state) if host.two else host.slave.serializeFMUState(state)
    )
    set_state = host.slave.setFMUstate if host.two else host.slave.setFMUState
    set_state(state)
    np.testing.assert_array_equal(host.run(30, 90, push), first)
    other = Host(fmu, tmp_path / "other")
    read = other.slave.deSerializeFMUstate if host.two else other.slave.deserializeFMUState
    again = read(content)
    (other.slave.setFMUstate if host.two else other.slave.setFMUState)(again)
    np.testing.assert_array_equal(other.run(30, 90, push), first)
    other.slave.freeInstance()
    # what was changed on the way, or is of another size, is no state
    wrong = bytearray(content)
    wrong[-1] ^= 1
    for bad in (bytes(wrong), content[:-1], content + b"x", b""):
        host.logged.clear()
        with pytest.raises(FMICallException):
            (host.slave.deSerializeFMUstate if host.two else host.slave.deserializeFMUState)(bad)
        assert host.logged
    # FMPy frees nothing by itself
    (host.slave.freeFMUstate if host.two else host.slave.freeFMUState)(state)


def test_reset_begins_again(host):
    first = host.run(0, 20)
    assert host.call("Reset") == OK
    assert host.initialise() == OK
    np.testing.assert_array_equal(host.run(0, 20), first)


def test_a_start_time_moves_the_clock_of_the_host(fmu, tmp_path):
    shifted = fmpy.simulate_fmu(
        str(fmu), start_time=50.0, stop_time=55.0, step_size=BETWEEN, output_interval=BETWEEN
    )
    usual = fmpy.simulate_fmu(str(fmu), stop_time=5.0, step_size=BETWEEN, output_interval=BETWEEN)
    np.testing.assert_allclose(shifted["float.Heave"], usual["float.Heave"], rtol=0, atol=1e-10)


# --- Hostile hosts: a status and a message, whatever is asked


def test_wrong_values_are_discarded_and_wrong_references_are_errors(host):
    push, out = host.names["pto"], host.names["float.Heave"]
    host.run(0, 3)
    for references, values, status, words in (
        ([push], [np.nan], DISCARD, "not finite"),
        ([push], [np.inf], DISCARD, "not finite"),
        ([host.names["float.mass"]], [1e6], DISCARD, "fixed"),
        ([out], [1.0], ERROR, "not an input"),
        ([0], [1.0], ERROR, "not an input"),
        ([10_000], [1.0], ERROR, "not an input"),
        ([2**32 - 1], [1.0], ERROR, "not an input"),
    ):
        host.logged.clear()
        assert host.set(references, values) == status
        assert words in host.logged[-1]
    for reference in (10_000, 2**32 - 1):
        assert host.get([reference])[0] == ERROR
        assert "no variable" in host.logged[-1]
    assert host.get([])[0] == OK
    name = "GetReal" if host.two else "GetFloat64"
    more = [ctypes.c_size_t(2)] if not host.two else []
    assert host.call(name, None, ctypes.c_size_t(2), None, *more) == ERROR
    host.run(3, 5)


def test_steps_that_cannot_be_are_errors(host):
    host.run(0, 3)
    now = TIMES[3]
    for begin, duration in (
        (0.0, 0.1),
        (np.nan, 0.1),
        (now, np.nan),
        (now, -0.1),
        (now, np.inf),
        (now, 1e9),
        (now + 1.0, 0.1),
    ):
        host.logged.clear()
        assert host.step(begin, duration) == ERROR
        assert host.logged
    host.run(3, 5)


def test_a_step_that_fails_is_discarded(host):
    host.run(0, 3)
    assert host.set([host.names["pto"]], [1e18]) == OK
    assert host.step(TIMES[3], 0.1) == DISCARD
    assert "t = 0.3" in host.logged[-1]
    host.run(3, 5)


def test_calls_out_of_order_are_errors(fmu, tmp_path):
    host = Host(fmu, tmp_path, initialise=False)
    assert host.step(0.0, 0.1) == ERROR
    assert "before initialisation" in host.logged[-1]
    assert host.get([1])[0] == ERROR
    for name in ("ExitInitializationMode", "Terminate"):
        assert host.call(name) == ERROR
    assert host.initialise() == OK
    host.run(0, 2)
    assert host.call("Terminate") == OK
    assert host.step(TIMES[2], 0.1) == ERROR
    assert "after its end" in host.logged[-1]
    host.slave.freeInstance()


def test_another_identity_is_refused(fmu, tmp_path):
    host = Host(fmu, tmp_path, initialise=False)
    slave = host.slave
    slave.guid = "{8c4e810f-3df3-4a00-8276-176fa3c9f9e0}"
    callbacks = {"callbacks": host.callbacks} if host.two else {"logMessage": host.log}
    with pytest.raises(Exception, match=r"[Ii]nstantiate"):
        slave.instantiate(**callbacks)
    assert "identity" in host.logged[-1]
    slave.component = host.at
    slave.freeInstance()


# --- Export


def test_bad_files_versions_and_compilers_are_refused(ready, tmp_path, monkeypatch):
    with pytest.raises(sw.SwelltreeError, match=r"ends in \.fmu"):
        sw.export_fmu(*ready, tmp_path / "rm3.zip")
    with pytest.raises(sw.SwelltreeError, match=r"FMI '1\.0' is not known"):
        sw.export_fmu(*ready, tmp_path / "rm3.fmu", version="1.0")
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(sw.SwelltreeError, match="'no-such-compiler' cannot be run"):
        sw.export_fmu(*ready, tmp_path / "rm3.fmu", step=STEP, outputs=["elevation"])
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(sw.SwelltreeError, match=r"pip install 'swelltree\[fmi\]'"):
        c_compiler()
    assert not list(tmp_path.iterdir())
    with pytest.raises(sw.SwelltreeError, match=r"pip install 'swelltree\[fmi\]'"):
        sw.export_fmu(*ready, tmp_path / "rm3.fmu", platforms=["win64"])
    with pytest.raises(sw.SwelltreeError, match=r"'win46' is not known.*Did you mean 'win64'"):
        sw.export_fmu(*ready, tmp_path / "rm3.fmu", platforms=["win46"])
    with pytest.raises(sw.SwelltreeError, match=r"'aarch64-linux' is not known for FMI 2\.0"):
        sw.export_fmu(*ready, tmp_path / "rm3.fmu", platforms=["aarch64-linux"])


@pytest.mark.slow
def test_binaries_for_other_systems_are_of_their_kind(device, ready):
    pytest.importorskip("ziglang", reason="skipped: ziglang is not installed")
    # how files of a system begin: ELF and its machine, PE, Mach-O and its processor
    kinds = {
        "x86_64-linux/rm3.so": (b"\x7fELF", b"\x3e\0"),
        "aarch64-linux/rm3.so": (b"\x7fELF", b"\xb7\0"),
        "x86_64-windows/rm3.dll": (b"MZ", b"PE\0\0\x64\x86"),
        "x86_64-darwin/rm3.dylib": (b"\xcf\xfa\xed\xfe\x07\0\0\x01", b""),
        "aarch64-darwin/rm3.dylib": (b"\xcf\xfa\xed\xfe\x0c\0\0\x01", b""),
    }
    content = archive(device, "3.0", targets_of(list(PLATFORMS), "3.0"))
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        names = {name.removeprefix("binaries/") for name in parts.namelist()}
        assert names == {*kinds, "modelDescription.xml"}
        for name, (begin, word) in kinds.items():
            binary = parts.read(f"binaries/{name}")
            assert binary.startswith(begin)
            assert word in binary[:1024]
            assert b"fmi3DoStep" in binary
