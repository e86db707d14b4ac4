"""The diagram of a Simulink model: its blocks, and which ports lines join.

Physical lines join frames: all ports on one of them are the same frame. Other lines carry signals.
Only the top of the model is followed; what lies in subsystems is known by name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from swelltree.interchange.wecsim.package import read_package
from swelltree.system.errors import SwelltreeError, error_in_file
from swelltree.system.topology import Groups

MOST_BLOCKS = 5_000


@dataclass(frozen=True)
class Block:
    """A block of the top of a model.

    Args:
        sid: its number in the file.
        name: as in the model.
        kind: Reference, SubSystem, Scope ...
        source: of a Reference: the block of the library, such as "Constraints/Fixed".
        values: of its mask, by name.
        inside: blocks of a subsystem as "kind or source".
    """

    sid: str
    name: str
    kind: str
    source: str = ""
    values: dict[str, str] = field(default_factory=dict)
    inside: tuple[str, ...] = ()

    @property
    def library(self) -> str:
        """Which library of WEC-Sim the block is from, in lower case; empty for others."""
        head, _, _ = self.source.rpartition("/")
        if not head.startswith("WECSim_Lib"):
            return ""
        return head.removeprefix("WECSim_Lib").strip("/_").replace("_", " ").lower()

    @property
    def word(self) -> str:
        """Name of the library's block in lower case."""
        return " ".join(self.source.rpartition("/")[2].lower().split())


@dataclass(frozen=True)
class Diagram:
    """Blocks and frames of the top of a model.

    Args:
        path: of the model.
        blocks: by number.
        frames: the frame of each physical port, "12#lconn:1".
        signals: pairs (from block, to block) that signal lines join.
    """

    path: Path
    blocks: dict[str, Block]
    frames: dict[str, str]
    signals: tuple[tuple[str, str], ...]

    def frame(self, sid: str, port: str) -> str | None:
        """The frame that a port is on, None where nothing is joined to it."""
        return self.frames.get(f"{sid}#{port}")


def read_diagram(path: Path) -> Diagram:
    """The diagram of an .slx file."""
    parts = read_package(path)
    top = _top_system(parts, path)
    blocks: dict[str, Block] = {}
    for element in top.findall("Block"):
        sid = element.get("SID", "")
        if sid in blocks:
            raise _fail(path, f"two blocks have the number {sid[:20]}")
        if _value(element, "Commented") in ("on", "through"):
            continue
        blocks[sid] = _block(element, parts, sid)
        if len(blocks) > MOST_BLOCKS:
            raise _fail(path, f"it has more than {MOST_BLOCKS} blocks")
    frames, signals = Groups(()), []
    for line in top.findall("Line"):
        ports = _ports(line)
        if line.get("LineType") == "Connection":
            _join(frames, [port for port in ports if port.partition("#")[0] in blocks])
        else:
            signals += [(ports[0].partition("#")[0], p.partition("#")[0]) for p in ports[1:]]
    named = {port: frames.top(port) for port in frames.above}
    return Diagram(path, blocks, named, tuple(signals))


def _fail(path: Path, text: str) -> SwelltreeError:
    return error_in_file(f"Simulink model '{path}': {text}. Check the model in Simulink.")


def _top_system(parts: dict[str, Any], path: Path) -> Any:
    """The system at the top, in a part of its own (newer files) or within the diagram."""
    if "simulink/systems/system_root.xml" in parts:
        root = parts["simulink/systems/system_root.xml"]
        if root.tag == "System":
            return root
    diagram = parts.get("simulink/blockdiagram.xml")
    for kind in ("Model", "Library"):
        system = None if diagram is None else diagram.find(f"./{kind}/System")
        if system is not None and system.find("Block") is not None:
            return system
    raise _fail(path, "it has no blocks at its top")


def _value(element: Any, name: str) -> str:
    for child in element.findall("P"):
        if child.get("Name") == name:
            return (child.text or "").strip()
    return ""


def _block(element: Any, parts: dict[str, Any], sid: str) -> Block:
    values = {
        str(child.get("Name", "")): (child.text or "").strip()
        for data in element.findall("InstanceData")
        for child in data.findall("P")
    }
    kind = element.get("BlockType", "")
    name = " ".join(element.get("Name", "").split()) or f"block {sid}"
    inside = _inside(element, parts) if kind == "SubSystem" else ()
    return Block(sid, name, kind, " ".join(_value(element, "SourceBlock").split()), values, inside)


def _inside(element: Any, parts: dict[str, Any]) -> tuple[str, ...]:
    """What a subsystem holds, also in subsystems of its own."""
    result: list[str] = []
    visited: set[str] = set()
    waiting = [element.find("System")]
    while waiting:
        system = waiting.pop()
        if system is None:
            continue
        part = system.get("Ref")
        if part is not None:
            if part not in visited:
                visited.add(part)
                waiting.append(parts.get(f"simulink/systems/{part}.xml"))
            continue
        for block in system.findall("Block"):
            result.append(_value(block, "SourceBlock") or block.get("BlockType", ""))
            waiting.append(block.find("System"))
    return tuple(result)


def _ports(line: Any) -> list[str]:
    """All ports of a line with its branches, the source first."""
    sources, ends = [], []
    for element in line.iter():
        if element.tag in ("Line", "Branch"):
            sources += [_value(element, "Src")]
            ends += [_value(element, "Dst")]
    return [port for port in (*sources, *ends) if port]


def _join(frames: Groups, ports: list[str]) -> None:
    for port in ports:
        if port not in frames.above:
            frames.add(port)
        frames.join(ports[0], port)
