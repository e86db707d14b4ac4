"""The process in which an FMU runs: a program of its own, which reads and answers lines of JSON.

It imports FMPy and nothing of swelltree, so that it starts fast, and a crash of the FMU ends this
process only. Each line is a request with what the answer depends on; the first describes the FMU.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from typing import Any

FLOATS = ("Real", "Float64", "Float32")
INTEGERS = ("Integer", "Enumeration", "Int8", "Int16", "Int32", "Int64")
INTEGERS += ("UInt8", "UInt16", "UInt32", "UInt64")


class Unit:
    """One FMU, and the instance of it that is stepped.

    Args:
        request: of kind "open".
    """

    def __init__(self, request: dict) -> None:
        import fmpy
        from fmpy.fmi1 import FMICallException

        self.failed = FMICallException
        self.folder = str(fmpy.extract(request["file"], request["folder"]))
        self.description = fmpy.read_model_description(self.folder)
        self.two = self.description.fmiVersion == "2.0"
        self.variables = {v.name: v for v in self.description.modelVariables}
        self.request = request
        self.messages: list[str] = []
        self.instance: Any = None

    def known(self) -> dict:
        """Version, abilities and variables: type, causality, whether it is an array."""
        slave = self.description.coSimulation
        if self.description.fmiVersion not in ("2.0", "3.0") or slave is None:
            return {"version": self.description.fmiVersion, "steps": slave is not None}
        saves = slave.canGetAndSetFMUstate and slave.canSerializeFMUstate
        return {
            "version": self.description.fmiVersion,
            "steps": True,
            "saves": bool(saves),
            "variables": {
                v.name: [v.type, v.causality, bool(v.dimensions)] for v in self.variables.values()
            },
        }

    def size(self) -> dict:
        """Bytes of a saved state."""
        self.begin(0.0, self.request["zeros"])
        return {"size": len(self.saved())}

    def log(self, *parts: object) -> None:
        text = parts[4] if self.two else parts[3]
        self.messages.append(
            text.decode(errors="replace") if isinstance(text, bytes) else str(text)
        )

    def begin(self, time: float, inputs: list[float]) -> None:
        """A new instance, initialised at a time with inputs."""
        from fmpy import instantiate_fmu

        if self.instance is not None:
            self.instance.freeInstance()
            self.instance = None
        self.instance = instantiate_fmu(
            self.folder, self.description, fmi_type="CoSimulation", logger=self.log
        )
        for name, value in self.request["parameters"].items():
            self.put(name, value)
        if self.two:
            self.instance.setupExperiment(startTime=time)
            self.instance.enterInitializationMode()
        else:
            self.instance.enterInitializationMode(startTime=time)
        self.put_all(inputs)
        self.instance.exitInitializationMode()

    def put_all(self, inputs: list[float]) -> None:
        for name, value in zip(self.request["inputs"], inputs, strict=True):
            self.put(name, value)

    def put(self, name: str, value: Any) -> None:
        variable = self.variables[name]
        set_values = getattr(self.instance, f"set{self._kind(variable)}")
        if variable.type in INTEGERS:
            value = round(value)
        elif variable.type in FLOATS:
            value = float(value)
        elif variable.type == "Boolean" and not isinstance(value, bool):
            value = value >= 0.5
        set_values([variable.valueReference], [value])

    def get(self, name: str) -> float:
        variable = self.variables[name]
        return float(
            getattr(self.instance, f"get{self._kind(variable)}")([variable.valueReference])[0]
        )

    def _kind(self, variable: Any) -> str:
        kind = variable.type
        if kind == "Enumeration":
            return "Integer" if self.two else "Int64"
        return kind

    def saved(self) -> bytes:
        fmu = self.instance
        state = fmu.getFMUState()
        try:
            return bytes(fmu.serializeFMUState(state))
        finally:
            fmu.freeFMUState(state)

    def restore(self, content: bytes) -> None:
        fmu = self.instance
        state = fmu.deserializeFMUState(content)
        fmu.setFMUState(state)
        fmu.freeFMUState(state)

    def sample(self, request: dict) -> dict:
        """One sample: a step to its time from the state before, then inputs, then outputs."""
        inputs, begin, end = request["values"], request["begin"], request["end"]
        if begin is None:
            self.begin(end, inputs)
        else:
            if request["state"] is not None:
                if self.instance is None:
                    self.begin(0.0, self.request["zeros"])
                self.restore(base64.b64decode(request["state"]))
            if end > begin:
                self.step(begin, end - begin)
            self.put_all(inputs)
        answer: dict[str, object] = {
            "outputs": [self.get(name) for name in self.request["outputs"]]
        }
        if request["save"]:
            answer["state"] = base64.b64encode(self.saved()).decode()
        return answer

    def step(self, begin: float, length: float) -> None:
        ended = self.instance.doStep(begin, length)
        if not self.two and ended[1]:
            raise RuntimeError("the FMU asks to end the simulation")

    def error(self, error: Any) -> str:
        words = str(error) or type(error).__name__
        if isinstance(error, self.failed):
            words = f"{error.function} gives status '{_status(error.status)}'"
        logged = " ".join(" ".join(self.messages[-3:]).split())
        return f"{words}: {logged}" if logged else words


def _status(number: int) -> str:
    words = ("ok", "warning", "discard", "error", "fatal", "pending")
    return words[number] if 0 <= number < len(words) else str(number)


def main() -> None:
    # what an FMU prints goes to the error output: answers have a pipe of their own
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    unit = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["kind"] == "open":
                unit = Unit(request)
                answer = unit.known()
            else:
                assert unit is not None
                unit.messages.clear()
                answer = unit.size() if request["kind"] == "size" else unit.sample(request)
        except Exception as error:
            words = unit.error(error) if unit else str(error) or type(error).__name__
            answer = {"error": words}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
