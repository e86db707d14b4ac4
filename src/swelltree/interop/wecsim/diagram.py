"""The diagram of a Simulink model: its blocks, and which ports lines join.

Physical lines join frames: all ports on one of them are the same frame. Other lines carry signals.
A subsystem that holds bodies, joints or moorings is opened, whatever its depth: its blocks are
blocks of the diagram, and a port on its rim is one frame inside and outside. Other subsystems are
known by what they hold.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element

from swelltree.describe.errors import SwelltreeError, error_in_file
from swelltree.describe.topology import Groups
from swelltree.interop.wecsim.package import LINE, read_package

MOST_BLOCKS = 5_000
DEEPEST = 50  # subsystems in subsystems
MECHANICS = ("frames", "body elements", "constraints", "ptos", "moorings", "cables")
RIM = "PMIOPort"  # a physical port on the rim of a subsystem, seen from inside


@dataclass(frozen=True)
class Block:
    """A block of a model.

    Args:
        sid: its number in the file, after those of the subsystems that it lies in: "4/12".
        name: as in the model.
        kind: Reference, SubSystem, Scope ...
        source: of a Reference: the block of the library, such as "Constraints/Fixed".
        values: of its mask, by name.
        inside: blocks of a subsystem as "kind or source".
        chosen: it is a subsystem of variants, of which Simulink chooses one.
        above: names of the subsystems that it lies in.
        line: part of the file and line of its XML, "system_root.xml:12".
    """

    sid: str
    name: str
    kind: str
    source: str = ""
    values: dict[str, str] = field(default_factory=dict)
    inside: tuple[str, ...] = ()
    chosen: bool = False
    above: tuple[str, ...] = ()
    line: str = ""

    @property
    def library(self) -> str:
        """Which library of WEC-Sim the block is from, in lower case; empty for others."""
        return library_of(self.source)

    @property
    def word(self) -> str:
        """Name of the library's block in lower case."""
        return " ".join(self.source.rpartition("/")[2].lower().split())

    @property
    def mechanics(self) -> list[str]:
        """What a subsystem holds of WEC-Sim's bodies, joints, moorings, cables and frames."""
        return [source for source in self.inside if library_of(source) in MECHANICS]


def library_of(source: str) -> str:
    """Which library of WEC-Sim a source names, in lower case; empty for others."""
    head, _, _ = source.rpartition("/")
    if not head.startswith("WECSim_Lib"):
        return ""
    return head.removeprefix("WECSim_Lib").strip("/_").replace("_", " ").lower()


@dataclass(frozen=True)
class Diagram:
    """Blocks and frames of a model.

    Args:
        path: of the model.
        blocks: by number.
        frames: the frame of each physical port, "12#lconn:1".
    """

    path: Path
    blocks: dict[str, Block]
    frames: dict[str, str]

    def frame(self, sid: str, port: str) -> str | None:
        """The frame that a port is on, None where nothing is joined to it."""
        return self.frames.get(f"{sid}#{port}")

    def place(self, block: Block) -> str:
        """Where a block stands: file, line of its XML, names from the top down."""
        name = "/".join((*block.above, block.name))
        return f"{self.path.name}, {block.line}, block '{name}'"


def read_diagram(path: Path) -> Diagram:
    """The diagram of an .slx file."""
    parts = read_package(path)
    part, top = _top_system(parts, path)
    reading = _Reading(path, parts)
    reading.read(top, _Within((part,)))
    return Diagram(path, reading.blocks, reading.joined())


@dataclass(frozen=True)
class _Within:
    """Where a system stands: parts of the file, numbers and names of subsystems, top first."""

    parts: tuple[str, ...]
    head: str = ""
    names: tuple[str, ...] = ()


class _Reading:
    """Collects blocks and frames of systems and of those within them."""

    def __init__(self, path: Path, parts: dict[str, Element]) -> None:
        self.path, self.parts = path, parts
        self.blocks: dict[str, Block] = {}
        self.frames = Groups(())
        self.count = 0
        self.parts_of: dict[str, tuple[str, ...]] = {}  # what each part holds

    def read(self, system: Element, within: _Within) -> None:
        """Blocks and frames of a system; what it holds in subsystems with mechanics is its own."""
        visited: set[str] = set()
        ends: dict[str, str] = {}  # of blocks that lines can join: where their ports are
        for element in system.findall("Block"):
            sid = element.get("SID", "")
            if sid in visited:
                raise _fail(self.path, f"two blocks have the number {sid[:20]}")
            visited.add(sid)
            self.count += 1
            if self.count > MOST_BLOCKS:
                raise _fail(self.path, f"it has more than {MOST_BLOCKS} blocks")
            if _value(element, "Commented") in ("on", "through"):
                continue
            block = self._block(element, within)
            ends[sid] = f"{block.sid}#rim" if block.kind == RIM else ""
            if block.mechanics and not block.chosen:
                self._open(element, block, within)
            else:
                self.blocks[block.sid] = block
        for line in system.findall("Line"):
            if line.get("LineType") == "Connection":
                found = (port.partition("#") for port in _ports(line))
                self._join(
                    [
                        ends[sid] or f"{within.head}{sid}#{port}"
                        for sid, _, port in found
                        if sid in ends
                    ]
                )

    def joined(self) -> dict[str, str]:
        """The frame of each port of a block; a line that ends on a rim joins nothing."""
        blocks = {sid for sid, block in self.blocks.items() if block.kind != RIM}
        named = {
            port: self.frames.top(port)
            for port in self.frames.above
            if port.partition("#")[0] in blocks
        }
        count = Counter(named.values())
        return {port: frame for port, frame in named.items() if count[frame] > 1}

    def _open(self, element: Element, block: Block, within: _Within) -> None:
        """Take what a subsystem holds, and join the ports of its rim to those inside."""
        part, inner, another = _system_of(element, self.parts, within.parts[-1])
        if another and part in within.parts:
            raise _fail(self.path, f"its subsystem '{block.name[:60]}' holds itself")
        if len(within.names) > DEEPEST:
            raise _fail(self.path, f"its subsystems are more than {DEEPEST} deep")
        if inner is None:
            raise _fail(self.path, f"what its subsystem '{block.name[:60]}' holds is missing")
        head = f"{block.sid}/"
        self.read(inner, _Within((*within.parts, part), head, (*within.names, block.name)))
        rims = [x for x in inner.findall("Block") if x.get("BlockType") == RIM]
        for side, letter in (("Left", "l"), ("Right", "r")):
            # ports count from one on each side, in the order of their numbers
            mine = sorted(
                (x for x in rims if (_value(x, "Side") or "Left") == side), key=_port_number
            )
            for k, rim in enumerate(mine, 1):
                self._join([f"{block.sid}#{letter}conn:{k}", f"{head}{rim.get('SID', '')}#rim"])

    def _block(self, element: Element, within: _Within) -> Block:
        sid, part = element.get("SID", ""), within.parts[-1]
        kind = element.get("BlockType", "")
        return Block(
            f"{within.head}{sid}",
            " ".join(element.get("Name", "").split()) or f"block {sid}",
            kind,
            " ".join(_value(element, "SourceBlock").split()),
            _mask(element),
            self._inside(element, part) if kind == "SubSystem" else (),
            _value(element, "Variant") == "on",
            within.names,
            f"{part.rpartition('/')[2]}:{element.get(LINE, '')}",
        )

    def _inside(self, element: Element, part: str) -> tuple[str, ...]:
        """What a subsystem holds, also in subsystems of its own; each part is gone through once."""
        first = _system_of(element, self.parts, part)
        if first[0] in self.parts_of and first[2]:
            return self.parts_of[first[0]]
        result: list[str] = []
        visited = {first[0]}
        waiting = [first[:2]]
        while waiting:
            here, system = waiting.pop()
            for block in () if system is None else system.findall("Block"):
                result.append(_value(block, "SourceBlock") or block.get("BlockType", ""))
                there, inner, another = _system_of(block, self.parts, here)
                if not (another and there in visited):
                    visited.add(there)
                    waiting.append((there, inner))
        if first[2]:
            self.parts_of[first[0]] = tuple(result)
        return tuple(result)

    def _join(self, ports: list[str]) -> None:
        for port in ports:
            if port not in self.frames.above:
                self.frames.add(port)
            self.frames.join(ports[0], port)


def _fail(path: Path, text: str) -> SwelltreeError:
    return error_in_file(f"Simulink model '{path}': {text}. Check the model in Simulink.")


def _top_system(parts: dict[str, Element], path: Path) -> tuple[str, Element]:
    """The system at the top, in a part of its own (newer files) or within the diagram."""
    name = "simulink/systems/system_root.xml"
    if name in parts and parts[name].tag == "System":
        return name, parts[name]
    name = "simulink/blockdiagram.xml"
    diagram = parts.get(name)
    for kind in ("Model", "Library"):
        system = None if diagram is None else diagram.find(f"./{kind}/System")
        if system is not None and system.find("Block") is not None:
            return name, system
    raise _fail(path, "it has no blocks at its top")


def _system_of(
    element: Element, parts: dict[str, Element], part: str
) -> tuple[str, Element | None, bool]:
    """The system of a subsystem's block, the part that it is in, and whether that is another."""
    system = element.find("System")
    name = None if system is None else system.get("Ref")
    if name is None:
        return part, system, False
    name = f"simulink/systems/{name}.xml"
    return name, parts.get(name), True


def _value(element: Element, name: str) -> str:
    for child in element.findall("P"):
        if child.get("Name") == name:
            return (child.text or "").strip()
    return ""


def _port_number(element: Element) -> int:
    text = _value(element, "Port") or "1"
    return int(text) if text.isdecimal() and len(text) < 7 else 0


def _mask(element: Element) -> dict[str, str]:
    """Values of a block's mask by name."""
    return {
        str(child.get("Name", "")): (child.text or "").strip()
        for data in element.findall("InstanceData")
        for child in data.findall("P")
    }


def _ports(line: Element) -> list[str]:
    """All ports of a line with its branches, the source first."""
    sources, ends = [], []
    for element in line.iter():
        if element.tag in ("Line", "Branch"):
            sources += [_value(element, "Src")]
            ends += [_value(element, "Dst")]
    return [port for port in (*sources, *ends) if port]
