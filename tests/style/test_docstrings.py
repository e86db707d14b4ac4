"""What a docstring says of an argument is said of one that is there."""

import ast
import re

from support import ROOT


def arguments(node):
    """Names that may be described; None where others may be handed on."""
    if isinstance(node, ast.ClassDef):
        if node.bases:
            return None  # fields of the base class
        inits = [f for f in node.body if isinstance(f, ast.FunctionDef) and f.name == "__init__"]
        names = {f.target.id for f in node.body if isinstance(f, ast.AnnAssign)}
        return names.union(*(arguments(f) or set() for f in inits))
    a = node.args
    if a.kwarg is not None:
        return None
    more = {a.vararg.arg} if a.vararg else set()
    return {arg.arg for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs)} | more


def described(node):
    found = re.search(r"^Args:\n((?:    .*\n?|\n)+)", ast.get_docstring(node) or "", re.MULTILINE)
    keys = re.findall(r"^    (\*?\w+(?:, \w+)*):", found[1], re.MULTILINE) if found else []
    return {name.lstrip("*") for key in keys for name in key.split(", ")}


def strangers(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = arguments(node)
            if names is not None:
                yield from (f"{node.name}: {name}" for name in described(node) - names)


def test_docstrings_describe_arguments_that_exist():
    found = []
    for path in (ROOT / "src").rglob("*.py"):
        wrong = strangers(ast.parse(path.read_text("utf-8")))
        found += [f"{path.relative_to(ROOT)} {name}" for name in wrong]
    assert not found


def test_a_renamed_argument_is_found():
    text = 'def f(a, b):\n    """F.\n\n    Args:\n        a: one.\n        c: two.\n    """\n'
    assert list(strangers(ast.parse(text))) == ["f: c"]
