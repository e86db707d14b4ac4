"""`export_c`: a device as an object file with a header, a little C and an example."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Unpack

from swelltree.describe.files.atomic import write_atomic
from swelltree.describe.options import ExportOptions, with_options
from swelltree.integrate.problem import Code, describe
from swelltree.interop.fmi.device import BLOCK, BLOCKS, LONGEST_STEP, Device, Variable, device_of
from swelltree.model.model import Model
from swelltree.results.files import make_folder
from swelltree.waves.sea import AnySea


@with_options(ExportOptions)
def export_c(
    model: Model, sea: AnySea | None, folder: str | Path, **options: Unpack[ExportOptions]
) -> Path:
    """Write a model in its sea as native code for C: init, set, step, get, save, restore.

    The folder gets ``<name>.h``, ``<name>.c``, ``<name>_data.h``, ``<name>_model.o``, an example
    and a CMakeLists.txt. The object file is for this system; it needs no Python and no library
    but that of C, and allocates no memory. Components of the sea are drawn now.

    Args:
        model: from `compile`.
        sea: a described sea; None: still water.
        folder: for the files, made where it is not there.
    """
    device = device_of(model, sea, **options)
    return write_c(device, folder)


def write_c(device: Device, folder: str | Path) -> Path:
    path = make_folder(Path(folder))
    for name, content in files_of(device).items():
        write_atomic(path / name, content)
    return path


def files_of(device: Device, triple: str = "") -> dict[str, str | bytes]:
    """The files of a device, by name.

    Args:
        device: to be written.
        triple: of another system than this one, in LLVM's words.
    """
    prefix = device.prefix
    code, cpu = device.code(triple)
    texts = {name: source(name) for name in ("device.h", "device.c", "example.c")}
    texts["device.h"] = texts["device.h"].replace("@variables@", _numbers(device))
    texts["example.c"] = texts["example.c"].replace("@inputs@", _example_inputs(device))
    texts["device_data.h"] = _data(device, cpu)
    files: dict[str, str | bytes] = {
        renamed(name, prefix): renamed(text, prefix) for name, text in texts.items()
    }
    cmake = re.sub(r"\bdevice(?=\b|_)", prefix, source("CMakeLists.txt"))
    return files | {"CMakeLists.txt": cmake, f"{prefix}_model.o": code}


def source(name: str) -> str:
    return resources.files("swelltree.interop.fmi").joinpath("c", name).read_text()


def renamed(text: str, prefix: str) -> str:
    """C text or file name with the prefix of a device."""
    text = re.sub(r"\bdevice(?=[_.])", prefix, text)
    return re.sub(r"\bDEVICE_", f"{prefix.upper()}_", text)


def _numbers(device: Device) -> str:
    lines, used = (
        ["enum {", "    DEVICE_TIME = 0, /* s */"],
        {"TIME", "OK", "REFUSED", "STOPPED", "STATES", "COUNT", "FIRST_OUTPUT", "FIRST_STATE"},
    )
    number = 1
    counts = len(device.all_inputs) + len(device.parameters) + len(device.outputs)
    for variable in (*device.all_inputs, *device.parameters, *device.outputs, *device.states):
        if number == 1 + counts:
            lines.append(f"    DEVICE_FIRST_STATE = {number},")
        if number == 1 + len(device.all_inputs) + len(device.parameters):
            lines.append(f"    DEVICE_FIRST_OUTPUT = {number},")
        name = word = re.sub(r"\W+", "_", variable.name, flags=re.ASCII).strip("_").upper()
        copies = (f"{word}_{k}" for k in range(2, len(used) + 2))
        while name in used:
            name = next(copies)
        used.add(name)
        lines.append(f"    DEVICE_{name} = {number}, /* {variable.unit or 1} */")
        number += 1
    if not device.outputs:
        lines.append(f"    DEVICE_FIRST_OUTPUT = {number},")
    states = len(device.states)
    if not states:
        lines.append(f"    DEVICE_FIRST_STATE = {number},")
    lines.append(f"    DEVICE_STATES = {states}, /* their rates follow them */")
    return "\n".join([*lines, f"    DEVICE_COUNT = {number + states}", "};"])


def quoted(text: str) -> str:
    """C string literal."""
    plain = "".join(
        chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode()
    )
    return f'"{plain}"'


def _number(x: float) -> str:
    return "INFINITY" if x == float("inf") else repr(float(x))


def _data(device: Device, cpu: str) -> str:
    """Sizes, layout, names and messages for the C file of a device."""
    rows, (size_in, size_out, size_work) = device.rows, device.sizes
    numbers = {
        "INPUTS": len(device.inputs),
        "PARAMETERS": len(device.parameters),
        "OUTPUTS": len(device.outputs),
        "SIZE_IN": size_in,
        "SIZE_OUT": size_out,
        "SIZE_WORK": size_work,
        "CARRY": rows.carry,
        "AT_TIMES": rows.times,
        "AT_NOW": rows.now,
        "AT_LOADS": rows.loads,
        "AT_OUTPUTS": rows.outputs,
        "CODE": rows.code,
        "RATE_KNOWN": rows.rate_known,
        "CROSSING": rows.crossing,
        "STATE_TIME": rows.time,
        "SAMPLED": rows.sampled,
        "BEGIN_TIME": _number(device.begin),
        "LAST_TIME": _number(device.end),
        "FIXED_STEP": _number(device.step or 0.0),
        "STATES": len(device.states),
        "ELEVATIONS": 0,
    }
    waves_in = device.elevation
    if waves_in is not None:
        numbers |= {"ELEVATIONS": len(waves_in.variables), "LAGS": len(waves_in.kernel)}
        numbers |= {"AHEAD": waves_in.ahead, "LEAD": _number(waves_in.lead)}
        numbers["LEAD_ROWS"] = int(waves_in.lead / waves_in.step) + 1
        numbers["LONGEST_STEP"] = _number(LONGEST_STEP)
    equations = device.equations
    if equations is not None:
        for word, sizes in zip(("ODE", "TANGENT"), equations.sizes, strict=True):
            kinds = zip(("IN", "OUT", "WORK"), sizes, strict=True)
            numbers |= {f"SIZE_{word}_{kind}": size for kind, size in kinds}
        numbers["AT_RATES"], numbers["AT_ODE_OUTPUTS"] = equations.places[0]
        numbers["AT_TANGENT_RATES"], numbers["AT_TANGENT_OUTPUTS"] = equations.places[1]
    if device.waves is not None:
        step, forces, work = device.waves
        numbers |= {"WAVE_STEP": _number(step), "FORCES": forces, "SIZE_SUMS": work + 1}
        numbers |= {"BLOCK": BLOCK, "BLOCKS": BLOCKS}
    lines = [f"#define {name} {x}" for name, x in numbers.items()]
    if cpu == "x86-64-v3":
        lines.append("#define NEEDS_AVX2 1")
    time = Variable("time", "s", "time", device.begin)
    known = (time, *device.all_inputs, *device.parameters, *device.outputs)
    known += (*device.states, *device.rates)
    entries = (
        f"    {{{quoted(x.name)}, {quoted(x.unit)}, {_number(x.limit)}, {int(x.tunable)}}}"
        for x in known
    )
    return "\n".join(
        [
            "/* Made with the device: layout of its rows, names, messages. */",
            *lines,
            "",
            "static const struct { const char *name, *unit; double limit; int tunable; }",
            "variables[] = {",
            ",\n".join(entries),
            "};",
            "",
            *_state_places(device),
            *_records(device),
            f"#define CODES {len(Code)}",
            "static const char *const reasons[] = {",
            ",\n".join(f"    {quoted(text)}" for text in _reasons()),
            "};",
            "",
        ]
    )


def _state_places(device: Device) -> Iterable[str]:
    """Where states are in the row of the step program."""
    if device.equations is not None:
        places = ", ".join(map(str, device.equations.state_at))
        yield f"static const int state_at[] = {{{places}}};"
        yield ""


def _records(device: Device) -> Iterable[str]:
    """Which elevation each force follows."""
    if device.elevation is not None:
        records = ", ".join(map(str, device.elevation.records))
        yield f"static const int record_of[] = {{{records}}};"
        yield ""


def _reasons() -> Iterable[str]:
    for code in Code:
        yield "time stepping stopped" if code is Code.SUCCESS else describe(code)


def _example_inputs(device: Device) -> str:
    """Lines of the example that set the first input."""
    if not device.inputs:
        return "        /* device_set(device, number of an input, value) */"
    return "        device_set(device, 1, k < 300 ? 0.0 : 1.0); /* the first input */"
