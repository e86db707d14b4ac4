"""Small WEC-Sim cases made here: an input script, and a model, which is a zip of XML."""

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

GROUND = ("Frames/Global Reference Frame", "waves", "waves")
PORTS = {"l": "lconn:1", "r": "rconn:1", "m": "lconn:2"}


def system_xml(blocks, lines, more=""):
    """The top of a model.

    Args:
        blocks: {number: (block of the library, kind of object, object)}.
        lines: lists of ports such as "3l" (left of block 3), "4r"; one list for each line.
        more: further elements.
    """
    rows = []
    for sid, (source, kind, item) in blocks.items():
        rows.append(
            f"<Block BlockType='Reference' Name={quoteattr(source.rpartition('/')[2])} SID='{sid}'>"
            f"<P Name='SourceBlock'>WECSim_Lib/{escape(source)}</P>"
            f"<InstanceData><P Name='{kind}'>{escape(item)}</P></InstanceData></Block>"
        )
    for ports in lines:
        named = [f"{port[:-1]}#{PORTS[port[-1]]}" for port in ports]
        branches = "".join(f"<Branch><P Name='Dst'>{port}</P></Branch>" for port in named[1:])
        rows.append(f"<Line LineType='Connection'><P Name='Src'>{named[0]}</P>{branches}</Line>")
    return f"<?xml version='1.0' encoding='utf-8'?><System>{''.join(rows)}{more}</System>"


def subsystem(sid, name, inner, more=""):
    """A subsystem at the top: `inner` is its system, or the name of the part that has it."""
    system = inner.partition("?>")[2] if inner.startswith("<") else f"<System Ref='{inner}'/>"
    head = f"<Block BlockType='SubSystem' Name={quoteattr(name)} SID='{sid}'>"
    return f"{head}{more}{system}</Block>"


def rim(sid, side, number):
    """A physical port on the rim of a subsystem, within it."""
    rows = {"Port": number, "Side": side}
    values = "".join(f"<P Name='{key}'>{value}</P>" for key, value in rows.items() if value)
    return f"<Block BlockType='PMIOPort' Name='Conn{number}' SID='{sid}'>{values}</Block>"


def write_slx(path: Path, parts: dict[str, str | bytes]) -> Path:
    """A model file of parts by name."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def write_case(folder: Path, script: str, blocks, lines, more="", systems=None) -> Path:
    """A folder with a script and its model, whose subsystems are parts by name."""
    folder.mkdir(parents=True, exist_ok=True)
    head = "simu = simulationClass();\nsimu.simMechanicsFile = 'model.slx';\n"
    (folder / "wecSimInputFile.m").write_text(head + script)
    parts = {"system_root": system_xml(blocks, lines, more)} | (systems or {})
    write_slx(
        folder / "model.slx",
        {f"simulink/systems/{name}.xml": content for name, content in parts.items()},
    )
    return folder


def dry_body(number: int, mass=1000.0, center=(0.0, 0.0, 0.0), more="") -> str:
    """Lines of a script for a body without hydrodynamic data."""
    name = f"body({number})"
    x, y, z = (float(v) for v in center)
    return (
        f"{name} = bodyClass('');\n{name}.nonHydro = 1;\n{name}.name = 'part{number}';\n"
        f"{name}.mass = {mass!r};\n{name}.inertia = [300 400 500];\n"
        f"{name}.centerGravity = [{x!r} {y!r} {z!r}];\n{name}.volume = 0;\n{more}"
    )


STILL = "waves = waveClass('noWaveCIC');\n"
# a body on a hinge on the ground, with a damper
PENDULUM = (
    STILL
    + dry_body(1, center=(0.0, 0.0, -2.0))
    + "pto(1) = ptoClass('PTO1');\npto(1).location = [0 0 0];\npto(1).damping = 50;\n"
)
PENDULUM_BLOCKS = {
    1: GROUND,
    2: ("PTOs/Rotational PTO", "pto", "pto(1)"),
    3: ("Body Elements/Rigid Body", "body", "body(1)"),
}
PENDULUM_LINES = [["1r", "2l"], ["2r", "3r"]]


def write_pendulum(folder: Path) -> Path:
    """The smallest whole case."""
    return write_case(folder, PENDULUM, PENDULUM_BLOCKS, PENDULUM_LINES)
