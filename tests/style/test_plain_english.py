"""Names, messages and pages use the field's words; the old ones can only become fewer."""

import ast
import re

from support import ROOT

TEXT = re.compile(
    r"\b(freedoms|books? of|booked|told|tells?|mend(?:ed|s|ing)?|greatest|graphics processors?"
    r"|from nowhere|the clock|floats? of four bytes|without a word|a sentence|sentences"
    r"|physics doctor|to doubt|is no (?:number|pto|name)|side by side|one by one|state of rest)\b",
    re.IGNORECASE,
)
PARTS = {
    *("told", "tell", "tells", "given", "made", "kept", "whole", "beside", "mend", "mended"),
    *("bends", "awash", "asked", "wanted", "freedoms", "books", "booked", "beyond", "fewest"),
    *("unseen", "noticed", "keeping", "alike"),
}
CONSTANTS = {"MOST", "LARGEST", "FEW", "KEPT", "SMALL", "BEYOND", "LEAST", "GREATEST", "ENOUGH"}
MAX_NAMES = 26  # local names left, each where the plain word is taken
MAX_TEXT = 80


def odd_names(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        else:
            continue
        parts = {p.lower() for p in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}
        if name in CONSTANTS or parts & PARTS:
            yield name


def odd_text(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield from TEXT.findall(node.value)


def test_names_are_words_of_the_field():
    trees = [ast.parse(path.read_text("utf-8")) for path in (ROOT / "src").rglob("*.py")]
    found = [name for tree in trees for name in odd_names(tree)]
    assert len(found) <= MAX_NAMES, sorted(found)


def test_messages_and_pages_are_plain_english():
    trees = [ast.parse(path.read_text("utf-8")) for path in (ROOT / "src").rglob("*.py")]
    found = [word for tree in trees for word in odd_text(tree)]
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    for page in pages:
        if "_build" not in page.parts:
            found += TEXT.findall(page.read_text("utf-8"))
    assert len(found) <= MAX_TEXT, sorted(found)


def test_odd_words_are_found():
    tree = ast.parse('kept = 1\ndef tell_user(a): raise ValueError("it is told in a sentence")')
    assert (list(odd_names(tree)), len(list(odd_text(tree)))) == (["tell_user", "kept"], 2)
