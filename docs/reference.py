"""Pages of the reference, written from the package itself when the documentation is built.

Public names by topic as users write them (`sw.Body`), the command line, the keys of case files
(from their schema), the variables of results (from their labels), and every error message.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import swelltree as sw

SOURCE = Path(sw.__file__).parent
TOPICS = {
    "bodies": (
        "Bodies and hulls",
        "WORLD Body Point DhRow dh_chain Box Cylinder HorizontalCylinder Sphere Hemisphere Cone "
        "Axisymmetric Plate MeshFile Mesh Union",
    ),
    "joints": (
        "Joints",
        "Weld Hinge Slider Cylindrical Screw Universal Ball Planar Free SubsetJoint CableElement "
        "Distance RevoluteSpherical Coupling OwnCoupling "
        "CouplingLaw coupling_law Table Harmonic Polynomial",
    ),
    "forces": (
        "Forces, sensors, control laws",
        "SpringDamper Bushing BodyContact JointForce AppliedForce QuadraticDrag BodyDrag "
        "MorisonMember LinearDamping Immersion WeakScatterer WindDrag Rotor OwnEffect Controller "
        "Fmu PointSensor DistanceSensor",
    ),
    "ptos": (
        "Power take-offs",
        "LinearPto CoulombPto EndStops HydraulicPto ConstantPressurePto DirectDrivePto "
        "MechanicalRectifierPto LatchingPto DeclutchingPto OwnLaw PtoLaw pto_law",
    ),
    "lines": (
        "Lines, moorings, winches, seabed",
        "LinearMooring Line LineType Section Junction OnLine Rod chain wire_rope "
        "polyester mooring_polyester nylon polypropylene "
        "Seabed DepthGrid SeabedContact Winch ConstantTension HeaveCompensation Operation Stage",
    ),
    "environment": (
        "Water, current, wind",
        "Water UniformCurrent PowerLawCurrent CurrentTable CurrentGrid FlowField Wind",
    ),
    "seas": (
        "Seas and spectra",
        "StillWater RegularWave StreamFunctionWave IrregularSea FocusedWave MeasuredWave "
        "GriddedSea SeaOf Jonswap Bretschneider PiersonMoskowitz OchiHubble Bimodal WhiteNoise "
        "SpectrumTable DirectionalTable Cos2s dispersion components realise elevation kinematics "
        "read_record from_wavespectra to_wavespectra",
    ),
    "systems": (
        "Systems, cases, example devices",
        "System Topology Case load loads case_schema SimulateStudy EquilibriumStudy ModesStudy "
        "RaoStudy ResponseStudy SteadyStateStudy OptimalControlStudy OperabilityStudy "
        "ChannelLimit gallery SwelltreeError SwelltreeWarning",
    ),
    "hydro": (
        "Hydrodynamic data",
        "HydroSpec RadiationFit read_hydro hydro_report mirror_headings write_hydro run_bem "
        "slow_force_spectrum weak_scatterer_coefficients",
    ),
    "models": (
        "Compiled models",
        "compile compile_case Model Effect Loads Channel effect body_point wrench_at HasStates "
        "HasEvents FeelsEnvironment ExcitedByWaves",
    ),
    "studies": (
        "Studies",
        "simulate simulate_traced stepper moored_start simulate_batch equilibrium "
        "equilibrium_traced modes modes_traced line_modes rao response steady_state state_space "
        "operability mooring_stiffness offset_curve linear_and_nonlinear check_physics",
    ),
    "design": ("Design", "gradient optimise mean_of rms_of smooth_max_of"),
    "control": (
        "Control",
        "optimal_control control_report with_mpc excitation_observer controlled replayed "
        "damping_law reactive_law tracking_law",
    ),
    "campaigns": (
        "Campaigns",
        "Campaign Values Together ScatterDiagram Seeds Sample load_campaign open_campaign "
        "power_matrix annual_energy write_campaign_report",
    ),
    "results": (
        "Results and views",
        "save load_result statistics most_probable_maximum peaks_over_threshold weibull_tail "
        "rainflow damage_equivalent line_damage TNCurve line_ranges plot view live write_report "
        "export",
    ),
    "interchange": (
        "Files of other codes",
        "read_moordyn write_moordyn read_moorpy read_wecsim read_urdf read_mjcf",
    ),
    "simulators": ("Devices in other simulators", "export_fmu export_c"),
}
RETURNED = {  # what public names give back, and what a dataset is asked
    "studies": [
        "swelltree.studies.time.stepped.run:SteppedRun",
        "swelltree.describe.errors:Finding",
        "swelltree.integrate.problem:Code",
    ],
    "control": [
        "swelltree.studies.control.predictive:Mpc",
        "swelltree.studies.control.report:ControlReport",
        "swelltree.studies.control.excitation_observer:ExcitationObserver",
    ],
    "campaigns": ["swelltree.campaigns.store:Store"],
    "results": [
        "swelltree.results.extremes:Extreme",
        "swelltree.accessor:Accessor",
        "swelltree.report.live.view:Live",
    ],
    "interchange": [
        "swelltree.interop.wecsim.reader:WecsimCase",
        "swelltree.interop.mechanism_file:MechanismFile",
    ],
}
OF_DESCRIPTIONS = (
    "at",
    "replace",
    "topology",
)  # methods that users call; the others serve compiling
MADE_BY_FUNCTIONS = {"Model"}  # public classes that users do not construct


def topic_names() -> dict[str, list[str]]:
    """Names on the page of each topic; a name without a topic is on that of studies."""
    names = {topic: text.split() for topic, (_, text) in TOPICS.items()}
    placed = {name for page in names.values() for name in page}
    names["studies"] += [name for name in sw.__all__ if name not in placed]
    return names


def write(folder: Path) -> None:
    """Write all pages of the reference into a folder."""
    folder.mkdir(exist_ok=True)
    pages = {topic: topic_page(topic, names) for topic, names in topic_names().items()}
    pages |= {
        "command_line": command_line(),
        "case_keys": case_keys(),
        "result_variables": result_variables(),
        "messages": messages_page(),
    }
    for name, text in pages.items():
        file = folder / f"{name}.rst"
        if not file.exists() or file.read_text() != text:  # Sphinx skips pages that did not change
            file.write_text(text)


def _heading(text: str, mark: str = "-") -> str:
    return f"{text}\n{mark * len(text)}\n\n"


def _indented(text: str, by: str = "   ") -> str:
    return "\n".join(by + line if line else "" for line in text.splitlines()) + "\n"


# public names


def topic_page(topic: str, names: list[str]) -> str:
    """Page of a topic: its public names, then the classes that these give back."""
    text = _heading(TOPICS[topic][0], "=") + "".join(
        entry(name, getattr(sw, name)) for name in names
    )
    for place in RETURNED.get(topic, ()):
        module, _, name = place.partition(":")
        text += entry(name, getattr(import_module(module), name), "")
    return text


def entry(name: str, item: Any, before: str = "sw.") -> str:
    """One public name: signature, docstring, and the methods that users call."""
    if inspect.ismodule(item):
        parts = (entry(part, getattr(item, part), f"sw.{name}.") for part in _members(item))
        return f"{inspect.cleandoc(item.__doc__ or '')}\n\n" + "".join(parts)
    if not inspect.isclass(item) and not callable(item):
        return f".. py:data:: {before}{name}\n\n{_indented(_about_value(item))}\n"
    kind = "class" if inspect.isclass(item) else "function"
    built = not before or name in MADE_BY_FUNCTIONS
    head = (
        f".. py:{kind}:: {before}{name}{'' if built and kind == 'class' else _signature(item)}\n\n"
    )
    body = _docstring(item)
    if kind == "class":
        body += "".join(_method(item, method) for method in _methods(item))
    return head + _indented(body) + "\n"


def _members(module: Any) -> list[str]:
    """Public functions and classes of a module; imported ones only if `__all__` lists them."""
    known = getattr(module, "__all__", None)
    if known is not None:
        return list(known)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]


def _about_value(item: Any) -> str:
    own = type(item)
    return _docstring(own) if own.__module__.startswith("swelltree") else f"``{item!r}``\n"


def _signature(item: Any) -> str:
    """Names and defaults; types are in the text."""
    try:
        parameters = list(inspect.signature(item).parameters.values())
    except (TypeError, ValueError):
        return "(...)"
    bare = [each.replace(annotation=inspect.Parameter.empty) for each in parameters]
    bare = [each for each in bare if each.name != "self"]
    return re.sub(r"<[^<>]*>", "...", str(inspect.Signature(bare)))


def _docstring(item: Any) -> str:
    from sphinx.ext.napoleon import Config, GoogleDocstring

    text = inspect.getdoc(item) or ""
    config = Config(napoleon_use_rtype=False, napoleon_use_ivar=True)
    return _plain_bars(str(GoogleDocstring(text, config))) + "\n\n"


def _plain_bars(text: str) -> str:
    """|U| is an absolute value here, not a substitution."""
    return re.sub(r"\|(\w+)\|", r"\\|\1\\|", text)


def _methods(cls: type) -> list[str]:
    """Public methods and properties that the package itself defines."""
    from swelltree.describe.spec import Description

    described = issubclass(cls, Description)
    names: list[str] = []
    for base in cls.__mro__:
        if not base.__module__.startswith("swelltree"):
            continue
        for name, value in vars(base).items():
            method = callable(value) or isinstance(value, property | classmethod | staticmethod)
            requested = name in OF_DESCRIPTIONS if described else not name.startswith("_")
            if method and requested and name not in names:
                names.append(name)
    return names


def _method(cls: type, name: str) -> str:
    item = inspect.getattr_static(cls, name)
    if isinstance(item, property):
        return f".. py:property:: {name}\n\n{_indented(_docstring(item.fget))}\n"
    return (
        f".. py:method:: {name}{_signature(getattr(cls, name))}\n\n{_indented(_docstring(item))}\n"
    )


# command line


def command_line() -> str:
    """Every command of `swelltree` with its arguments and options."""
    import typer

    from swelltree.cli import app

    group: Any = typer.main.get_command(app)
    text = _heading("Command line", "=") + f"{inspect.cleandoc(group.help or '')}\n\n"
    return text + "".join(_command(name, command) for name, command in sorted(_commands(group)))


def _commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{before}{name} ")
        elif not command.hidden:
            yield before + name, command


def _command(name: str, command: Any) -> str:
    about = inspect.cleandoc(command.help or "").replace("\b\n", "")
    text = _heading(f"swelltree {name}") + about + "\n\n"
    for each in command.params:
        if getattr(each, "hidden", False):
            continue
        argument = each.param_type_name == "argument"
        names = each.name.upper() if argument else ", ".join([*each.opts, *each.secondary_opts])
        default = (
            ""
            if each.default in (None, False, ()) or callable(each.default)
            else f" [{each.default}]"
        )
        text += f"``{names}``{default}\n{_indented(getattr(each, 'help', None) or 'given.')}\n"
    return text


# case files


def case_keys() -> str:
    """Every key of a case file, from the schema that `swelltree schema` prints."""
    schema = sw.case_schema()
    text = _heading("Keys of case files", "=")
    text += "From the schema that ``swelltree schema`` prints. Keys in bold must be given.\n\n"
    text += _heading("case") + _keys(schema)
    for name, part in schema["properties"]["system"]["properties"].items():
        text += "".join(_item(f"system.{name}", item) for item in _choices(part))
    for name in ("hydro", "studies"):
        text += "".join(_item(name, item) for item in _choices(schema["properties"][name]))
    return text


def _choices(part: dict[str, Any]) -> list[dict[str, Any]]:
    """Tables that are possible at a key of the file."""
    part = part.get("items", part)
    rows = part.get("oneOf") or part.get("anyOf") or [part]
    return [row for row in rows if "properties" in row]


def _item(place: str, item: dict[str, Any]) -> str:
    title = item.get("title", "")
    text = _heading(f"{place}: {title}" if title else place)
    return text + f"{_plain_bars(item.get('description', ''))}\n\n" + _keys(item)


def _keys(item: dict[str, Any]) -> str:
    text = ""
    for key, value in item.get("properties", {}).items():
        mark = f"**{key}**" if key in item.get("required", ()) else f"``{key}``"
        default = f", {value['default']!r} if not given" if "default" in value else ""
        words = value.get("description", "")
        text += f"{mark} ({_type(value)}{default})\n"
        text += f"{_indented(_plain_bars(words))}\n" if words else "\n"
    return text


def _type(value: dict[str, Any]) -> str:
    if "const" in value:
        return f'"{value["const"]}"'
    if "enum" in value:
        return " or ".join(f'"{each}"' for each in value["enum"])
    rows = value.get("oneOf") or value.get("anyOf")
    if rows:
        return " or ".join(dict.fromkeys(map(_type, rows)))
    if value.get("type") == "array" and isinstance(value.get("items"), dict):
        return f"list of {_type(value['items'])}"
    return value.get("title") or value.get("type") or "any"


# results


def result_variables() -> str:
    """Every variable of a run, from the labels."""
    from swelltree.model.channels import CHANNELS

    text = _heading("Variables of results", "=")
    text += "Variables of the dataset of a run; the dimensions follow ``time``.\n\n"
    text += ".. list-table::\n   :header-rows: 1\n   :widths: 25 25 15 35\n\n"
    rows = [("variable", "dimensions", "unit", "meaning")]
    for label in sorted(CHANNELS.values()):
        frame = f"; {label.frame}" if label.frame else ""
        rows.append((label.name, ", ".join(label.dims), label.units, label.long_name + frame))
    for row in dict.fromkeys(rows):
        cells = [f"``{cell}``" if k == 0 and row != rows[0] else cell for k, cell in enumerate(row)]
        text += "   * - " + "\n     - ".join(cells) + "\n"
    return text


# messages


def messages() -> dict[str, list[str]]:
    """Every error message of each package; "..." stands for inserted values."""
    result: dict[str, list[str]] = {}
    for file in sorted(SOURCE.rglob("*.py")):
        package = file.relative_to(SOURCE).parts[0].removesuffix(".py")
        result.setdefault(package, []).extend(_messages_of(ast.parse(file.read_text())))
    return {package: sorted(set(rows), key=str.lower) for package, rows in result.items() if rows}


def _messages_of(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = (
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        )
        if name in ("SwelltreeError", "LimitError", "error_in_file", "fail"):
            text = _text(node.args[0])
            if len(text.replace("...", "").split()) > 2:
                yield " ".join(text.split())


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    return "..."


def messages_page() -> str:
    """All error messages, by package."""
    text = _heading("Error messages", "=")
    text += "Each names the item, the value and what to do; ``...`` stands for inserted values.\n"
    text += "On the command line an error ends with exit code 2.\n\n"
    for package, rows in messages().items():
        text += _heading(package) + "::\n\n" + _indented("\n".join(_wrapped(rows))) + "\n"
    return text


def _wrapped(rows: list[str]) -> Iterator[str]:
    import textwrap

    for row in rows:
        yield from textwrap.wrap(row, 92, subsequent_indent="    ", break_on_hyphens=False)
