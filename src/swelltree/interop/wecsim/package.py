"""A Simulink model file (.slx) as trees of XML: a zip that is read with care.

Nothing is unpacked to disk. Sizes are checked before memory is taken, both those that the zip
claims and those that come out; names that lead elsewhere, links, and XML with a document type
(whose entities could expand without end) are rejected.
"""

from __future__ import annotations

import os
import re
import stat
import zipfile
import zlib
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

from swelltree.describe.errors import SwelltreeError, error_in_file

LARGEST_FILE = 64 * 2**20  # bytes of the zip
LARGEST_PART = 16 * 2**20  # bytes of one part, unpacked
MOST_BYTES = 48 * 2**20  # of all parts that are read
MOST_PARTS = 20_000
MOST_ELEMENTS = 100_000
DEEPEST = 100
LINE = "@line"  # of an element in its part: beside its attributes, whose names have no "@"
PART_NAMES = re.compile(r"simulink/(?:systems/[^/]+\.xml|blockdiagram\.xml)")


def read_package(path: Path) -> dict[str, ElementTree.Element]:
    """The parts of a model that hold blocks and lines, by name.

    Args:
        path: of the .slx file.
    """
    _check_kind(path)
    try:
        with zipfile.ZipFile(path) as archive:
            requested = _checked_entries(archive, path)
            left = MOST_BYTES
            result = {}
            for entry in requested:
                content = _read(archive, entry, path, left)
                left -= len(content)
                result[entry.filename] = _tree(content, path, entry.filename)
            return result
    except SwelltreeError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        text = " ".join(str(error).split())[:100] or type(error).__name__
        raise _fail(path, f"it is a damaged zip ({text})") from None
    except (OSError, ValueError, OverflowError) as error:
        text = getattr(error, "strerror", None) or " ".join(str(error).split())[:100]
        raise _fail(path, f"it cannot be read ({text})") from None


def _fail(path: Path, text: str) -> SwelltreeError:
    return error_in_file(
        f"Simulink model '{path}': {text}. Save the model again in Simulink as .slx."
    )


def _check_kind(path: Path) -> None:
    """It is there, of a kind that is read, and not too large."""
    ending = path.suffix.lower()
    if ending == ".mdl":
        raise error_in_file(
            f"Simulink model '{path}' is of the old form .mdl, which is not read. Save it in "
            "Simulink as .slx."
        )
    if ending != ".slx":
        raise error_in_file(
            f"Simulink model '{path}': the ending '{ending}' is not known. Give an .slx file."
        )
    if not os.path.isfile(path):
        raise error_in_file(
            f"Simulink model '{path}' does not exist. It alone says which joints the case has: "
            "put it beside the input script."
        )
    size = path.stat().st_size
    if size > LARGEST_FILE:
        raise _fail(path, f"it has {size / 2**20:.0f} MiB, more than {LARGEST_FILE // 2**20}")


def _checked_entries(archive: zipfile.ZipFile, path: Path) -> list[zipfile.ZipInfo]:
    """The entries that are read, after a look at all of them."""
    entries = archive.infolist()
    if len(entries) > MOST_PARTS:
        raise _fail(path, f"it has {len(entries)} parts, more than {MOST_PARTS}")
    names = set()
    for entry in entries:
        name = entry.filename
        parts = name.replace("\\", "/").split("/")
        if ".." in parts or name.startswith(("/", "\\")) or ":" in parts[0]:
            raise _fail(path, f"its part '{name[:80]}' leads out of the file")
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise _fail(path, f"its part '{name[:80]}' is a link")
        if name in names:
            raise _fail(path, f"its part '{name[:80]}' is there twice")
        names.add(name)
    requested = [entry for entry in entries if PART_NAMES.fullmatch(entry.filename)]
    for entry in requested:
        if entry.file_size > LARGEST_PART:
            size = entry.file_size / 2**20
            raise _fail(path, f"its part '{entry.filename}' unpacks to {size:.0f} MiB")
        if entry.flag_bits & 1:
            raise _fail(path, f"its part '{entry.filename}' is locked by a password")
    if not requested:
        raise _fail(path, "it holds no diagram of Simulink")
    return requested


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, left: int) -> bytes:
    """The bytes of a part, whatever size it claims."""
    most = min(LARGEST_PART, left)
    with archive.open(entry) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise _fail(
            path, f"its part '{entry.filename}' unpacks to more than {most / 2**20:.0f} MiB"
        )
    return content


class _Builder(ElementTree.TreeBuilder):
    """Builds a tree of limited size and depth; document types are rejected."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = self.count = 0

    def doctype(self, *_: object) -> None:
        """A document type: its entities may expand without end."""
        raise ValueError("it declares a document type")

    def start(self, tag: str, attrs: dict[str, str]) -> ElementTree.Element:
        """One more element."""
        self.depth += 1
        self.count += 1
        if self.depth > DEEPEST:
            raise ValueError(f"its elements are more than {DEEPEST} deep")
        if self.count > MOST_ELEMENTS:
            raise ValueError(f"it has more than {MOST_ELEMENTS} elements")
        return super().start(tag, attrs)

    def end(self, tag: str) -> ElementTree.Element:
        """An element closes."""
        self.depth -= 1
        return super().end(tag)


def _tree(content: bytes, path: Path, name: str) -> ElementTree.Element:
    """A part as a tree; every element knows its line."""
    builder, parser = _Builder(), expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = builder.doctype
    parser.StartElementHandler = lambda tag, values: builder.start(
        tag, values | {LINE: str(parser.CurrentLineNumber)}
    )
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(content, True)
        return builder.close()
    except (expat.ExpatError, ValueError, LookupError, AssertionError) as error:
        text = " ".join(str(error).split())[:100]
        raise _fail(path, f"its part '{name}' is not sound XML ({text})") from None
