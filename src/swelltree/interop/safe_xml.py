"""XML from files that nobody has checked: limited in size and depth, without a document type.

The entities of a document type could expand without end, or name other files.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

MAX_ELEMENTS = 100_000
MAX_XML_DEPTH = 100
LINE = "@line"  # of an element: beside its attributes, whose names have no "@"


def xml_tree(content: bytes) -> Element:
    """The tree of a document; every element knows its line.

    Raises:
        ValueError: with a text of at most 100 characters.
    """
    builder, parser = TreeBuilder(), expat.ParserCreate()
    depth = count = 0

    def doctype(*_: object) -> None:
        raise ValueError("it declares a document type")

    def start(tag: str, values: dict[str, str]) -> None:
        nonlocal depth, count
        depth, count = depth + 1, count + 1
        if depth > MAX_XML_DEPTH:
            raise ValueError(f"its elements are more than {MAX_XML_DEPTH} deep")
        if count > MAX_ELEMENTS:
            raise ValueError(f"it has more than {MAX_ELEMENTS} elements")
        builder.start(tag, values | {LINE: str(parser.CurrentLineNumber)})

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = doctype
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(content, True)
        return builder.close()
    except (expat.ExpatError, ValueError, LookupError, AssertionError) as error:
        raise ValueError(" ".join(str(error).split())[:100]) from None
