"""The diagram of a Simulink model (.slx): its blocks, and which ports lines join.

The file is a zip of XML that is read with care: nothing is unpacked to disk, sizes are checked
before memory is taken, and names that lead elsewhere, links, and XML with a document type (whose
entities could expand without end) are rejected.

Physical lines join frames: all ports on one of them are the same frame. Other lines carry signals.
A subsystem that holds bodies, joints or moorings is opened, whatever its depth: its blocks are
blocks of the diagram, and a port on its rim is one frame inside and outside. Other subsystems are
known by what they hold.
"""

from __future__ import annotations

import os
import re
import stat
import zipfile
import zlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

from swelltree.describe.errors import SwelltreeError, error_in_file
from swelltree.describe.topology import Groups
from swelltree.interop.safe_xml import LINE, xml_tree

MAX_FILE = 64 * 2**20  # bytes of the zip
MAX_PART = 16 * 2**20  # bytes of one part, unpacked
MAX_BYTES = 48 * 2**20  # of all parts that are read
MAX_PARTS = 20_000
MAX_BLOCKS = 5_000
MAX_SUBSYSTEMS = 50  # within one another
PART_NAMES = re.compile(r"simulink/(?:systems/[^/]+\.xml|blockdiagram\.xml)")
MECHANICS = ("frames", "body elements", "constraints", "ptos", "moorings", "cables")
RIM = "PMIOPort"  # a physical port on the rim of a subsystem, seen from inside

# --- The file


def read_package(path: Path) -> dict[str, Element]:
    """The parts of a model that hold blocks and lines, by name.

    Args:
        path: of the .slx file.
    """
    _check_kind(path)
    result: dict[str, Element] = {}
    left = MAX_BYTES
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in _checked_entries(archive, path):
                most = min(MAX_PART, left)
                with archive.open(entry) as file:
                    content = file.read(most + 1)  # whatever size it claims
                if len(content) > most:
                    size = f"more than {most / 2**20:.0f} MiB"
                    raise _fail(path, f"its part '{entry.filename}' unpacks to {size}")
                left -= len(content)
                result[entry.filename] = _tree(content, path, entry.filename)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        text = " ".join(str(error).split())[:100] or type(error).__name__
        raise _fail(path, f"it is a damaged zip ({text})") from None
    except (OSError, ValueError, OverflowError) as error:
        text = getattr(error, "strerror", None) or " ".join(str(error).split())[:100]
        raise _fail(path, f"it cannot be read ({text})") from None
    return result


def _fail(path: Path, text: str, advice: str = "") -> SwelltreeError:
    advice = advice or "Save the model again in Simulink as .slx."
    return error_in_file(f"Simulink model '{path}': {text}. {advice}")


def _check_kind(path: Path) -> None:
    """Check existence, type and size of a file."""
    ending = path.suffix.lower()
    if ending == ".mdl":
        raise _fail(path, "it is of the old form .mdl, which is not read")
    if ending != ".slx":
        raise _fail(path, f"the ending '{ending}' is not known", "Give an .slx file.")
    if not os.path.isfile(path):
        raise error_in_file(
            f"Simulink model '{path}' does not exist. It alone says which joints the case has: "
            "put it beside the input script."
        )
    size = path.stat().st_size
    if size > MAX_FILE:
        raise _fail(path, f"it has {size / 2**20:.0f} MiB, more than {MAX_FILE // 2**20}")


def _checked_entries(archive: zipfile.ZipFile, path: Path) -> list[zipfile.ZipInfo]:
    entries = archive.infolist()
    if len(entries) > MAX_PARTS:
        raise _fail(path, f"it has {len(entries)} parts, more than {MAX_PARTS}")
    requested: dict[str, zipfile.ZipInfo] = {}
    names = Counter(entry.filename for entry in entries)
    for entry in entries:
        name = entry.filename
        parts = name.replace("\\", "/").split("/")
        is_read = PART_NAMES.fullmatch(name) is not None
        if ".." in parts or name.startswith(("/", "\\")) or ":" in parts[0]:
            why = "leads out of the file"
        elif stat.S_ISLNK(entry.external_attr >> 16):
            why = "is a link"
        elif names[name] > 1:
            why = "is there twice"
        elif is_read and entry.file_size > MAX_PART:
            why = f"unpacks to {entry.file_size / 2**20:.0f} MiB"
        elif is_read and entry.flag_bits & 1:
            why = "is locked by a password"
        else:
            requested |= {name: entry} if is_read else {}
            continue
        raise _fail(path, f"its part '{name[:80]}' {why}")
    if not requested:
        raise _fail(path, "it holds no diagram of Simulink")
    return list(requested.values())


def _tree(content: bytes, path: Path, name: str) -> Element:
    """XML tree of a part."""
    try:
        return xml_tree(content)
    except ValueError as error:
        raise _fail(path, f"its part '{name}' is not sound XML ({error})") from None


# --- Blocks and frames


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
        """WEC-Sim library of the block in lower case; empty for others."""
        return library_of(self.source)

    @property
    def word(self) -> str:
        """Name of the library's block in lower case."""
        return " ".join(self.source.rpartition("/")[2].lower().split())

    @property
    def mechanics(self) -> list[str]:
        """Bodies, joints, moorings, cables and frames in a subsystem."""
        return [source for source in self.inside if library_of(source) in MECHANICS]


def library_of(source: str) -> str:
    """WEC-Sim library named by a source, in lower case; empty for others."""
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

    def ends(self, block: Block) -> list[str | None]:
        """Base and follower frames of a joint, None where unconnected."""
        return [self.frames.get(f"{block.sid}#{port}") for port in ("lconn:1", "rconn:1")]

    def frames_of(self, block: Block) -> list[str]:
        head = f"{block.sid}#"
        return [frame for port, frame in self.frames.items() if port.startswith(head)]

    def place(self, block: Block) -> str:
        name = "/".join((*block.above, block.name))
        return f"{self.path.name}, {block.line}, block '{name}'"


def read_diagram(path: Path) -> Diagram:
    reading = _Reading(path, read_package(path))
    part, top = reading.top()
    reading.read(top, _Within((part,)))
    return Diagram(path, reading.blocks, reading.joined())


class _Within(NamedTuple):
    """Location of a system: parts of the file, numbers and names of subsystems, top first."""

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

    def fail(self, text: str) -> SwelltreeError:
        return _fail(self.path, text, "Check the model in Simulink.")

    def top(self) -> tuple[str, Element]:
        """The system at the top, in a part of its own (newer files) or within the diagram."""
        name = "simulink/systems/system_root.xml"
        if name in self.parts and self.parts[name].tag == "System":
            return name, self.parts[name]
        name = "simulink/blockdiagram.xml"
        diagram = self.parts.get(name)
        for kind in ("Model", "Library"):
            system = None if diagram is None else diagram.find(f"./{kind}/System")
            if system is not None and system.find("Block") is not None:
                return name, system
        raise self.fail("it has no blocks at its top")

    def read(self, system: Element, within: _Within) -> None:
        """Blocks and frames of a system, and of subsystems with mechanics."""
        visited: set[str] = set()
        ends: dict[str, str] = {}  # of blocks that lines can join: where their ports are
        for element in system.findall("Block"):
            sid = element.get("SID", "")
            if sid in visited:
                raise self.fail(f"two blocks have the number {sid[:20]}")
            visited.add(sid)
            self.count += 1
            if self.count > MAX_BLOCKS:
                raise self.fail(f"it has more than {MAX_BLOCKS} blocks")
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
                ports = [
                    _value(element, name)
                    for name in ("Src", "Dst")
                    for element in line.iter()
                    if element.tag in ("Line", "Branch")
                ]
                pairs = [(port.partition("#")[0], port) for port in ports if port]
                self._join([ends[s] or f"{within.head}{port}" for s, port in pairs if s in ends])

    def joined(self) -> dict[str, str]:
        """Frame of each port of a block; lines to an unconnected rim are ignored."""
        blocks = {sid for sid, block in self.blocks.items() if block.kind != RIM}
        named = {
            port: self.frames.top(port)
            for port in self.frames.above
            if port.partition("#")[0] in blocks
        }
        count = Counter(named.values())
        return {port: frame for port, frame in named.items() if count[frame] > 1}

    def _open(self, element: Element, block: Block, within: _Within) -> None:
        """Add the content of a subsystem, and connect its outer ports to the inner ones."""
        part, inner, another = self._system_of(element, within.parts[-1])
        if another and part in within.parts:
            raise self.fail(f"its subsystem '{block.name[:60]}' holds itself")
        if len(within.names) > MAX_SUBSYSTEMS:
            raise self.fail(f"its subsystems are more than {MAX_SUBSYSTEMS} deep")
        if inner is None:
            raise self.fail(f"what its subsystem '{block.name[:60]}' holds is missing")
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
            {
                str(child.get("Name", "")): (child.text or "").strip()
                for child in element.findall("InstanceData/P")
            },
            self._inside(element, part) if kind == "SubSystem" else (),
            _value(element, "Variant") == "on",
            within.names,
            f"{part.rpartition('/')[2]}:{element.get(LINE, '')}",
        )

    def _inside(self, element: Element, part: str) -> tuple[str, ...]:
        """Content of a subsystem including nested ones; each part is visited once."""
        name, system, is_part = self._system_of(element, part)
        if is_part and name in self.parts_of:
            return self.parts_of[name]
        result: list[str] = []
        visited = {name}
        waiting = [(name, system)]
        while waiting:
            here, system = waiting.pop()
            for block in () if system is None else system.findall("Block"):
                result.append(_value(block, "SourceBlock") or block.get("BlockType", ""))
                there, inner, another = self._system_of(block, here)
                if not (another and there in visited):
                    visited.add(there)
                    waiting.append((there, inner))
        if is_part:
            self.parts_of[name] = tuple(result)
        return tuple(result)

    def _system_of(self, element: Element, part: str) -> tuple[str, Element | None, bool]:
        """System of a subsystem's block, its part, and whether that is another part."""
        system = element.find("System")
        name = None if system is None else system.get("Ref")
        if name is None:
            return part, system, False
        name = f"simulink/systems/{name}.xml"
        return name, self.parts.get(name), True

    def _join(self, ports: list[str]) -> None:
        for port in ports:
            if port not in self.frames.above:
                self.frames.add(port)
            self.frames.join(ports[0], port)


def _value(element: Element, name: str) -> str:
    for child in element.findall("P"):
        if child.get("Name") == name:
            return (child.text or "").strip()
    return ""


def _port_number(element: Element) -> int:
    text = _value(element, "Port") or "1"
    return int(text) if text.isdecimal() and len(text) < 7 else 0
