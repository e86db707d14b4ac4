"""FMUs as sampled control laws: the process of each, and its state as a row of numbers.

The whole state of an FMU that can save it is part of the state of a run, six bytes in each number.
So runs are continued, taken back and repeated as those of any other controller. Of an FMU that
cannot, the state of a run holds the number of its sample: only one run can go forward.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary, finalize

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.describe.values import NamedValues
from swelltree.jit import Array, jax, namespace
from swelltree.model.capabilities import HasStates, having
from swelltree.pto.controllers.controllers import (
    ROUNDING,
    PlainLaw,
    called_back,
    control_of,
    controllers_of,
    is_opaque,
)
from swelltree.pto.controllers.law_checks import plain_values

if TYPE_CHECKING:
    from swelltree.describe.forces.fmu import Fmu
    from swelltree.model.model import Model

PACKED = 6  # bytes in a number, which has 53 bits
ROOM = 1.25  # for states that grow
NUMERIC = ("Real", "Float64", "Float32", "Boolean", "Integer", "Enumeration")
NUMERIC += ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")


class FmuProcess:
    """A process with one FMU, started when it is first used and after it has crashed.

    Args:
        fmu: its description.
        content: of the file, whose copy is used.
    """

    without_content = True  # for fingerprints

    def __init__(self, fmu: Fmu, content: bytes) -> None:
        self.fmu, self.content = fmu, content
        self.lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self.at: bytes | int | None = None  # state that the instance is in
        self.last: tuple[object, np.ndarray] | None = None  # last question and its answer
        self.known = self._started()

    def __reduce__(self) -> tuple[object, tuple[Fmu, bytes]]:
        """A copy in another process of ours, as in a campaign, has its own."""
        return shared_process, (self.fmu, self.content)

    # --- the process

    def _started(self) -> NamedValues:
        folder = tempfile.TemporaryDirectory(prefix="swelltree_fmu_", ignore_cleanup_errors=True)
        path = Path(folder.name)
        (path / "unit.fmu").write_bytes(self.content)
        self.errors = (path / "errors.txt").open("w+b")
        process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("fmu_process.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            start_new_session=True,  # Ctrl-C ends the run, which ends the process
        )
        self.process, self.at, self.last = process, None, None
        self.end = finalize(self, _end, process, folder)
        outputs = [*(name for name, _ in self.fmu.outputs), *self.fmu.reports]
        return self.ask(
            "as it is opened",
            kind="open",
            file=str(path / "unit.fmu"),
            folder=str(path / "unit"),
            inputs=[name for name, _ in self.fmu.inputs],
            zeros=[0.0] * len(self.fmu.inputs),
            outputs=outputs,
            parameters=dict(self.fmu.parameters),
        )

    def ask(self, when: str, **request: object) -> NamedValues:
        """The answer to a request.

        Args:
            when: for messages.
            **request: as the process takes it.
        """
        assert self.process is not None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
            line = self._line()
        except BrokenPipeError:
            line = b""
        if line is None:
            self.end()
            raise self.fail(
                f"gave no answer within {self.fmu.timeout:g} s {when}. Give a longer timeout, or "
                "look for an endless loop in it."
            )
        if not line:
            raise self.fail(f"crashed {when} ({self._why_ended()}). Look for the fault in the FMU.")
        answer: NamedValues = json.loads(line)
        if "error" in answer:
            raise self.fail(f"failed {when}. {answer['error']}")
        return answer

    def _line(self) -> bytes | None:
        """A line of the process; empty: it ended; None: there was none in time."""
        assert self.process is not None
        assert self.process.stdout is not None
        if os.name == "posix":  # elsewhere pipes cannot be waited for
            ready, _, _ = select.select([self.process.stdout], [], [], self.fmu.timeout)
            if not ready:
                return None
        return self.process.stdout.readline()

    def _why_ended(self) -> str:
        assert self.process is not None
        code = self.process.wait()
        self.errors.seek(0)
        printed = self.errors.read().decode(errors="replace").strip().splitlines()
        self.end()
        how = f"exit status {code}"
        if code < 0:
            how = signal.Signals(-code).name if -code in {*signal.Signals} else f"signal {-code}"
        return ": ".join([how, *printed[-1:]])

    def fail(self, words: str) -> SwelltreeError:
        return SwelltreeError(f"controller '{self.fmu.name}': FMU '{self.fmu.file}' {words}")

    # --- samples

    def capacity(self) -> int:
        """Numbers that a state needs: its length and content, or that of the sample."""
        if not self.known["saves"]:
            return 1
        with self.lock:
            size = self.ask("as it is initialised", kind="size")["size"]
            self.at = None
        return 1 + -(-int(size * ROOM) // PACKED)

    def sample(self, t: float, values: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Outputs, then the next state: the time of the sample, and what the FMU has in it.

        Args:
            t: time of the sample [s].
            values: inputs.
            x: state after the sample before; all zero: this is the first one.
        """
        with self.lock:
            question = t, values.tobytes(), x.tobytes()
            if self.last is not None and self.last[0] == question:
                return self.last[1]
            if not self.end.alive:
                self._started()
            answer = self._sample(t, values, x)
            self.last = question, answer
            return answer

    def _sample(self, t: float, values: np.ndarray, x: np.ndarray) -> np.ndarray:
        if not (np.isfinite(x).all() and np.isfinite(values).all()):
            raise self.fail(f"is given a value that is not finite at t = {t:g} s.")
        saves, first = bool(self.known["saves"]), x[1] == 0.0
        every = self.fmu.sample_time
        number = round(t / every)
        if abs(t / every - number) <= ROUNDING:  # the same interval in each step
            t = number * every
        state: bytes | int | None = None if first else unpacked(x[1:]) if saves else int(x[1])
        if not first and not saves and state != self.at:
            raise self.fail(
                "cannot save its state, so that a run cannot go back, be continued or have others "
                "beside it. Run it from the start, one run at a time, or use an FMU with "
                "canSerializeFMUstate."
            )
        begin = None if first else float(x[0])
        when = f"at t = {t:g} s" if begin is None else f"in its step from {begin:g} to {t:g} s"
        restored = saves and not first and state != self.at
        self.at = None  # until it has answered
        answer = self.ask(
            when,
            kind="sample",
            begin=begin,
            end=t,
            values=values.tolist(),
            save=saves,
            state=base64.b64encode(state).decode()
            if restored and isinstance(state, bytes)
            else None,
        )
        outputs = np.array(answer["outputs"], float)
        if not np.isfinite(outputs).all():
            names = [*(name for name, _ in self.fmu.outputs), *self.fmu.reports]
            wrong = (n for n, x in zip(names, outputs, strict=True) if not np.isfinite(x))
            raise self.fail(f"gave output {listed(wrong)} that is not finite {when}.")
        rest = np.zeros(len(x) - 1)
        if saves:
            content = base64.b64decode(answer["state"])
            self.at = content
            if len(content) > (len(rest) - 1) * PACKED:
                raise self.fail(
                    f"has a state of {len(content)} bytes {when}, which had "
                    f"{round((len(rest) - 1) * PACKED / ROOM)} at the start. It cannot be stored."
                )
            pack(rest, content)
        else:
            self.at = 1 if first else int(x[1]) + 1
            rest[0] = self.at
        return np.concatenate([outputs, [t], rest])


def _end(process: subprocess.Popen[bytes], folder: tempfile.TemporaryDirectory[str]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    folder.cleanup()


def pack(row: np.ndarray, content: bytes) -> None:
    """Bytes in a row of numbers, their count first."""
    row[0] = len(content)
    padded = np.frombuffer(content + bytes(-len(content) % PACKED), np.uint8)
    words = np.zeros((len(padded) // PACKED, 8), np.uint8)
    words[:, :PACKED] = padded.reshape(-1, PACKED)
    row[1 : 1 + len(words)] = words.view("<u8")[:, 0]


def unpacked(row: np.ndarray) -> bytes:
    count = int(row[0])
    words = row[1 : 1 + -(-count // PACKED)].astype("<u8")
    return words.view(np.uint8).reshape(-1, 8)[:, :PACKED].tobytes()[:count]


PROCESSES: WeakValueDictionary[tuple[object, ...], FmuProcess] = WeakValueDictionary()


@dataclass(frozen=True)
class FmuLaw(PlainLaw):
    """The law of an FMU; see `PlainLaw`.

    It is asked with measured channels and its state, and gives outputs, values that are reported,
    and the next state: the time of the sample, and what the FMU has in it.
    """

    opaque = True

    def values(self, t: Array, y: Array) -> np.ndarray:
        return plain_values(self.name, self.function, self.count, t, y)

    def check_memory(self) -> None:
        """Its memory is the state that it is given."""

    def __call__(self, t: Array, y: Array) -> Array:
        if namespace(t, y) is np:
            return self.values(t, y)

        @jax.custom_jvp
        def call(t: Array, y: Array) -> Array:
            return called_back(self.called, self.count, t, y)

        @call.defjvp
        def slope(primals: object, tangents: object) -> tuple[Array, Array]:
            raise SwelltreeError(
                f"controller '{self.name}': the samples of an FMU have no derivatives. Use "
                "differences of whole runs."
            )

        return call(t, y)


@dataclass(frozen=True)
class FmuSample:
    """Function of a `FmuLaw`: equal for equal FMUs.

    Args:
        key: what makes it equal to another.
        process: of the FMU.
        measures: number of inputs.
        reports: number of values that are reported.
    """

    key: tuple[object, ...]
    process: FmuProcess
    measures: int
    reports: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FmuSample) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __call__(self, t: float, row: np.ndarray) -> np.ndarray:
        first = self.measures + self.reports  # reported values are no state of the FMU
        return self.process.sample(t, row[: self.measures], row[first:])


def fmu_law(fmu: Fmu) -> tuple[FmuLaw, int]:
    """The law of an FMU, and the number of its states that are not reported."""
    process = _process_of(fmu)
    hidden = 1 + process.capacity()
    count = len(fmu.outputs) + len(fmu.reports) + hidden
    key = (*_key(fmu, process.content), hidden)
    sample = FmuSample(key, process, len(fmu.inputs), len(fmu.reports))
    return FmuLaw(sample, count, str(fmu.name)), hidden


def _key(fmu: Fmu, content: bytes) -> tuple[object, ...]:
    return hashlib.sha256(content).hexdigest(), fmu


def _process_of(fmu: Fmu) -> FmuProcess:
    """The process of an FMU, shared by equal ones; its variables are checked."""
    if not importlib.util.find_spec("fmpy"):
        raise fmu.fail(
            "FMUs are run by FMPy, which is not installed: pip install 'swelltree[fmi]'."
        )
    try:
        content = Path(fmu.file).read_bytes()
    except OSError as error:
        raise fmu.fail(
            f"file '{fmu.file}' cannot be read: {error.strerror}. Check the path."
        ) from None
    return shared_process(fmu, content)


def shared_process(fmu: Fmu, content: bytes) -> FmuProcess:
    """The process of an FMU with the content of its file."""
    key = _key(fmu, content)
    process = PROCESSES.get(key)
    if process is None:
        process = FmuProcess(fmu, content)
        _check(fmu, process.known)
        PROCESSES[key] = process
    return process


def _check(fmu: Fmu, known: NamedValues) -> None:
    """Reject what is not for co-simulation, and names that the FMU does not have."""
    if "saves" not in known:
        what = "is for model exchange only" if not known["steps"] else "is not supported"
        raise fmu.fail(
            f"FMU '{fmu.file}' of FMI {known['version']} {what}. Export it for co-simulation, FMI "
            "2.0 or 3.0."
        )
    groups = (
        ("inputs", ("input",), [name for name, _ in fmu.inputs]),
        ("outputs", ("output",), [name for name, _ in fmu.outputs]),
        ("reports", ("output", "local", "parameter", "calculatedParameter"), fmu.reports),
        ("parameters", ("parameter", "input"), [name for name, _ in fmu.parameters]),
    )
    for field, causalities, names in groups:
        able = [name for name, x in known["variables"].items() if x[1] in causalities]
        for name in names:
            if name not in able:
                have = f" It has {listed(able)}." if len(able) < 30 else ""
                raise fmu.fail(
                    f"{field}: the FMU has no {' or '.join(causalities[:2])} "
                    f"'{name}'.{suggest(name, able) or have}"
                )
            kind, _, is_array = known["variables"][name]
            if is_array or (kind not in NUMERIC and field != "parameters"):
                raise fmu.fail(
                    f"{field}: '{name}' is {'an array' if is_array else f'of type {kind}'}. Use "
                    "single numbers."
                )
    for name, value in fmu.parameters:
        kind = known["variables"][name][0]
        if isinstance(value, str) != (kind not in NUMERIC):
            raise fmu.fail(f"parameters: '{name}' is of type {kind}. It cannot be {value!r}.")


def fault_of_fmu(model: Model) -> str:
    """What went wrong in a step of an FMU, once; empty: nothing."""
    for law in (controller.law for controller in controllers_of(model)):
        if isinstance(law, FmuLaw) and law.requested.faults:
            first = law.requested.faults[0]
            law.requested.faults.clear()
            return first
    return ""


def steering_states(model: Model) -> tuple[tuple[str, tuple[bool, ...]], ...]:
    """Of each kind of internal states, which of them steer the steps; empty: all do.

    The content of an FMU has no error, and its many numbers would hide that of the motion.
    """
    controllers = controllers_of(model)
    if not any(map(is_opaque, controllers)):
        return ()
    starts = {e.kind: np.size(e.internal_start()) for e in having(model, HasStates)}
    steering = {kind: (True,) * size for kind, size in starts.items() if size}
    masks = ((not is_opaque(controller),) * controller.size for controller in controllers)
    return tuple((steering | {control_of(model).kind: sum(masks, ())}).items())
