"""`export_fmu`: a device as a Functional Mock-up Unit, for co-simulation and model exchange."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Unpack
from xml.sax.saxutils import quoteattr

from swelltree.describe.errors import SwelltreeError, listed, shown, suggest
from swelltree.describe.files.atomic import write_atomic
from swelltree.describe.options import ExportOptions, with_options
from swelltree.interop.fmi.c_code import files_of, renamed, source
from swelltree.interop.fmi.device import Device, Variable, device_of
from swelltree.jit import installed_version
from swelltree.model.model import Model
from swelltree.waves.sea import AnySea

VERSIONS = ("2.0", "3.0")


class Platform(NamedTuple):
    """A kind of system that FMUs are made for.

    Args:
        ending: of a shared library.
        folder: of its binaries in FMI 3.0.
        old: the same in FMI 2.0; empty where that has none.
        triple: in LLVM's words.
        target: in those of zig.
    """

    ending: str
    folder: str
    old: str
    triple: str
    target: str


PLATFORMS = {
    "linux64": Platform(
        ".so", "x86_64-linux", "linux64", "x86_64-linux-gnu", "x86_64-linux-gnu.2.17"
    ),
    "win64": Platform(
        ".dll", "x86_64-windows", "win64", "x86_64-w64-windows-gnu", "x86_64-windows-gnu"
    ),
    "darwin64": Platform(
        ".dylib", "x86_64-darwin", "darwin64", "x86_64-apple-macosx11.0", "x86_64-macos.11.0"
    ),
    "aarch64-linux": Platform(
        ".so", "aarch64-linux", "", "aarch64-linux-gnu", "aarch64-linux-gnu.2.17"
    ),
    "aarch64-darwin": Platform(
        ".dylib", "aarch64-darwin", "", "arm64-apple-macosx11.0", "aarch64-macos.11.0"
    ),
}
# units as products of powers of SI units
UNITS = {
    "m": {"m": 1},
    "m/s": {"m": 1, "s": -1},
    "m/s^2": {"m": 1, "s": -2},
    "rad": {"rad": 1},
    "rad/s": {"rad": 1, "s": -1},
    "rad/s^2": {"rad": 1, "s": -2},
    "s": {"s": 1},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N m": {"kg": 1, "m": 2, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
    "W": {"kg": 1, "m": 2, "s": -3},
    "Pa": {"kg": 1, "m": -1, "s": -2},
    "kg": {"kg": 1},
}


@with_options(ExportOptions)
def export_fmu(
    model: Model,
    sea: AnySea | None,
    path: str | Path,
    *,
    version: str = "2.0",
    platforms: Sequence[str] | None = None,
    **options: Unpack[ExportOptions],
) -> Path:
    """Write a model in its sea as an FMU, with native code for this system.

    It is for co-simulation: the device steps itself. With model_exchange=True it can also be
    integrated by the host, and has directional derivatives.

    Where it runs it needs no Python. Needed here is a C compiler: that of the system (`cc`, or
    what the environment variable CC names), else that of the extra `fmi`. Components of the sea
    are drawn now.

    Args:
        model: from `compile`.
        sea: a described sea; None: still water.
        path: of the file, ending in .fmu.
        version: of the standard, "2.0" or "3.0".
        platforms: kinds of systems to compile for, by the compiler of the extra `fmi`: linux64,
            win64, darwin64, and for version 3.0 aarch64-linux and aarch64-darwin; this one if not
            given.
    """
    if version not in VERSIONS:
        raise SwelltreeError(f"export: FMI {shown(version)} is not known. Give {listed(VERSIONS)}.")
    path = Path(path)
    if path.suffix.lower() != ".fmu":
        raise SwelltreeError(f"export '{path}': the name of an FMU ends in .fmu.")
    targets = targets_of(platforms, version)
    device = device_of(model, sea, **options)
    return write_atomic(path, archive(device, version, targets))


class Target(NamedTuple):
    """Platform, compiler command and target triple (empty: this machine) of one binary."""

    platform: Platform
    compiler: list[str]
    triple: str


def targets_of(platforms: Sequence[str] | None, version: str) -> list[Target]:
    if platforms is None:
        return [Target(_here(), c_compiler(), "")]
    known = {name for name, x in PLATFORMS.items() if version != "2.0" or x.old}
    if isinstance(platforms, str) or not platforms:
        raise SwelltreeError(f"export: platforms {shown(platforms)} is not a list of names.")
    for name in platforms:
        if name not in known:
            raise SwelltreeError(
                f"export: platform {shown(name)} is not known for FMI {version}."
                f"{suggest(str(name), known)} Choose from {listed(sorted(known))}."
            )
    if not importlib.util.find_spec("ziglang"):
        raise SwelltreeError(
            "export: to compile for other platforms, pip install 'swelltree[fmi]'."
        )
    zig = [sys.executable, "-m", "ziglang", "cc"]
    chosen = (PLATFORMS[name] for name in dict.fromkeys(platforms))
    return [Target(x, [*zig, "-target", x.target], x.triple) for x in chosen]


def _here() -> Platform:
    machine, system = platform.machine().lower(), platform.system().lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    for found in PLATFORMS.values():
        if found.folder == f"{machine}-{system}":
            return found
    raise SwelltreeError(f"export: FMUs for {machine} and {system} are not known.")


def c_compiler() -> list[str]:
    """Command of the system's C compiler, else of the package ziglang."""
    if os.environ.get("CC"):
        return shlex.split(os.environ["CC"])
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return [name]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc"]
    raise SwelltreeError(
        "export: there is no C compiler (cc, gcc or clang). Install one, or pip install "
        "'swelltree[fmi]', which brings one."
    )


def archive(device: Device, version: str, targets: Sequence[Target]) -> bytes:
    identity = _identity(device, version)
    describe = _description2 if version == "2.0" else _description3
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("modelDescription.xml", "\n".join(describe(device, identity)) + "\n")
        for target in targets:
            found = target.platform
            folder = found.old if version == "2.0" else found.folder
            if not folder:
                raise SwelltreeError(f"export: FMI 2.0 has no place for {found.folder}. Give 3.0.")
            info = zipfile.ZipInfo(f"binaries/{folder}/{device.prefix}{found.ending}")
            info.external_attr, info.compress_type = 0o755 << 16, zipfile.ZIP_DEFLATED
            parts.writestr(info, _binary(device, version, identity, target))
    return memory.getvalue()


def _identity(device: Device, version: str) -> str:
    """Unique identifier of a device, used as GUID."""
    variables = device.all_inputs, device.parameters, device.outputs, device.states
    words = repr((variables, version, device.programs, device.begin, device.end))
    numbers = b"".join(x.tobytes() for x in device.tables.values())
    h = hashlib.sha256(words.encode() + numbers).hexdigest()
    return f"{{{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:32]}}}"


def sources_of(
    device: Device, version: str, identity: str, triple: str = ""
) -> dict[str, str | bytes]:
    """Source files of the binary of an FMU, by name."""
    layer = f"fmi{version[0]}.c"
    return files_of(device, triple) | {
        layer: renamed(source(layer), device.prefix),
        "fmu.h": renamed(source("fmu.h"), device.prefix),
        "fmu_identity.h": f'#define IDENTITY "{identity}"\n',
    }


def _binary(device: Device, version: str, identity: str, target: Target) -> bytes:
    layer = f"fmi{version[0]}.c"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name, content in sources_of(device, version, identity, target.triple).items():
            data = content.encode() if isinstance(content, str) else content
            (place / name).write_bytes(data)
        compiler, ending = target.compiler, target.platform.ending
        library = f"{device.prefix}{ending}"
        flags = ["-O2", "-shared", "-fPIC", "-fvisibility=hidden"]
        parts = [layer, f"{device.prefix}.c", f"{device.prefix}_model.o", "-lm"]
        command = [*compiler, *flags, "-o", library, *parts]
        try:
            done = subprocess.run(command, cwd=place, capture_output=True, text=True)
        except OSError as error:
            raise SwelltreeError(
                f"export: the C compiler '{shlex.join(compiler)}' cannot be run ({error}). Set CC "
                "to one that can."
            ) from None
        if done.returncode:
            raise SwelltreeError(
                f"export: the C compiler '{shlex.join(compiler)}' failed: {done.stderr.strip()}"
            )
        return (place / library).read_bytes()


# --- Descriptions in XML


def _attributes(**values: object) -> str:
    """XML attributes; None values are omitted."""
    words = {True: "true", False: "false"}
    return "".join(
        f" {name}={quoteattr(words[x] if isinstance(x, bool) else str(x))}"
        for name, x in values.items()
        if x is not None
    )


def _variables(device: Device) -> Iterator[tuple[int, Variable, str, str]]:
    """Value reference, variable, causality and variability of all of them, time first."""
    groups = (
        ("input", device.all_inputs, "continuous"),
        ("parameter", device.parameters, ""),
        ("output", device.outputs, "continuous"),
        ("local", device.states, "continuous"),
        ("local", device.rates, "continuous"),
    )
    yield 0, Variable("time", "s", "time", device.begin), "independent", "continuous"
    number = 1
    for causality, variables, variability in groups:
        for variable in variables:
            kind = variability or ("tunable" if variable.tunable else "fixed")
            yield number, variable, causality, kind
            number += 1


def _units(device: Device) -> Iterator[str]:
    used = {variable.unit for _, variable, _, _ in _variables(device)} - {""}
    yield "  <UnitDefinitions>"
    for unit in sorted(used):
        powers = UNITS.get(unit)
        base = "" if powers is None else f"<BaseUnit{_attributes(**powers)}/>"
        yield f"    <Unit{_attributes(name=unit)}>{base}</Unit>"
    yield "  </UnitDefinitions>"


def _head(device: Device) -> dict[str, object]:
    sea = "in the sea drawn at export" if device.waves else "without waves of its own"
    sea = "in waves that are inputs" if device.elevation else sea
    return {
        "description": f"{device.name}, {sea}",
        "generationTool": f"swelltree {installed_version('swelltree')}",
        "variableNamingConvention": "flat",
    }


def _number(x: float) -> str | None:
    return repr(float(x)) if abs(x) != float("inf") else None


def _real(variable: Variable, causality: str) -> dict[str, object]:
    limit = _number(variable.limit)
    return {
        "unit": variable.unit or None,
        "min": limit and f"-{limit}",
        "max": limit,
        "start": _number(variable.start) if causality in ("input", "parameter") else None,
    }


def _description2(device: Device, identity: str) -> Iterator[str]:
    """modelDescription.xml of FMI 2.0."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    head = {"fmiVersion": "2.0", "modelName": device.name, "guid": identity}
    indicators = {"numberOfEventIndicators": 0} if device.states else {}
    yield f"<fmiModelDescription{_attributes(**head, **_head(device), **indicators)}>"
    abilities = {
        "modelIdentifier": device.prefix,
        "canGetAndSetFMUstate": True,
        "canSerializeFMUstate": True,
        "canNotUseMemoryManagementFunctions": True,
    }
    if device.states:
        abilities["providesDirectionalDerivative"] = True
        yield f"  <ModelExchange{_attributes(**abilities)}/>"
    abilities["canHandleVariableCommunicationStepSize"] = True
    yield f"  <CoSimulation{_attributes(**abilities)}/>"
    yield from _units(device)
    yield "  <LogCategories>"
    yield '    <Category name="logStatusDiscard"/>'
    yield '    <Category name="logStatusError"/>'
    yield "  </LogCategories>"
    yield f"  <DefaultExperiment{_experiment(device)}/>"
    yield "  <ModelVariables>"
    for number, variable, causality, variability in _variables(device):
        words = _attributes(
            name=variable.name,
            valueReference=number,
            description=variable.about,
            causality=causality,
            variability=variability,
            initial="calculated" if causality == "local" else None,
        )
        state = _state_of(device, number)
        real = _attributes(**_real(variable, causality), derivative=state and state + 1)
        yield f"    <ScalarVariable{words}><Real{real}/></ScalarVariable>"
    yield "  </ModelVariables>"
    yield "  <ModelStructure>"
    outputs, states, rates = _structure(device)
    parts = {
        "Outputs": outputs,
        "Derivatives": rates,
        "InitialUnknowns": [*outputs, *states, *rates],
    }
    for kind, numbers in parts.items():
        if numbers:
            rows = (f'      <Unknown index="{number + 1}"/>' for number in numbers)
            yield "\n".join([f"    <{kind}>", *rows, f"    </{kind}>"])
    yield "  </ModelStructure>"
    yield "</fmiModelDescription>"


def _structure(device: Device) -> tuple[list[int], list[int], list[int]]:
    """Value references of outputs, states and their derivatives."""
    first = 1 + len(device.all_inputs) + len(device.parameters)
    rows = []
    for variables in (device.outputs, device.states, device.rates):
        rows.append([*range(first, first + len(variables))])
        first += len(variables)
    return rows[0], rows[1], rows[2]


def _state_of(device: Device, number: int) -> int | None:
    """Value reference of the state whose derivative a variable is; None: it is none."""
    _, states, rates = _structure(device)
    return states[number - rates[0]] if rates and number >= rates[0] else None


def _experiment(device: Device) -> str:
    step = device.step or 0.1
    stop = None if device.end == float("inf") else device.end
    return _attributes(startTime=device.begin, stopTime=stop, stepSize=step)


def _description3(device: Device, identity: str) -> Iterator[str]:
    """modelDescription.xml of FMI 3.0."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    head = {"fmiVersion": "3.0", "modelName": device.name, "instantiationToken": identity}
    yield f"<fmiModelDescription{_attributes(**head, **_head(device))}>"
    abilities = {
        "modelIdentifier": device.prefix,
        "canGetAndSetFMUState": True,
        "canSerializeFMUState": True,
    }
    if device.states:
        abilities["providesDirectionalDerivatives"] = True
        yield f"  <ModelExchange{_attributes(**abilities)}/>"
    abilities["canHandleVariableCommunicationStepSize"] = True
    yield f"  <CoSimulation{_attributes(**abilities)}/>"
    yield from _units(device)
    yield f"  <DefaultExperiment{_experiment(device)}/>"
    yield "  <ModelVariables>"
    for number, variable, causality, variability in _variables(device):
        words = _attributes(
            name=variable.name,
            valueReference=number,
            description=variable.about,
            causality=causality,
            variability=variability,
            initial="calculated" if causality == "local" else None,
            **_real(variable, causality),
            derivative=_state_of(device, number),
        )
        yield f"    <Float64{words}/>"
    yield "  </ModelVariables>"
    yield "  <ModelStructure>"
    outputs, states, rates = _structure(device)
    parts = {
        "Output": outputs,
        "ContinuousStateDerivative": rates,
        "InitialUnknown": [*outputs, *states, *rates],
    }
    for kind, numbers in parts.items():
        yield from (f'    <{kind} valueReference="{number}"/>' for number in numbers)
    yield "  </ModelStructure>"
    yield "</fmiModelDescription>"
