"""The pages that explain the house speak of what is there."""

import ast
import importlib
import re

import pytest

from support import ROOT

WALKS = (ROOT / "docs/theory/how_a_number_travels.md").read_text()
STOPS = re.findall(r"^\| `(swelltree[\w.]+)` \| `(\w+)` \|", WALKS, re.MULTILINE)
SOURCE = ROOT / "src" / "swelltree"


@pytest.mark.parametrize("stop", STOPS, ids=".".join)
def test_every_stop_of_a_number_is_there(stop):
    module, name = stop
    assert hasattr(importlib.import_module(module), name)


def rooms():
    folders = [path.parent for path in SOURCE.rglob("*.py")]
    return sorted({f for f in folders if "web" not in f.parts and f != SOURCE})


def test_the_map_of_contributors_shows_every_room():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    house = text[text.index("## Package layout") : text.index("## A change")]
    for folder in rooms():
        if folder.name != "laws":
            assert f"`{folder.name}/`" in house, folder


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/glossary.md"])
def test_files_named_on_a_page_exist(page):
    named = set(re.findall(r"`([\w/]+(?:\.py|/))`", (ROOT / page).read_text()))
    below = {name for name in named if "/" in name.rstrip("/")}
    roots = (SOURCE, ROOT)
    assert len(below) > 10
    assert [name for name in sorted(below) if not any((r / name).exists() for r in roots)] == []


def imports_of_the_house():
    """Modules with what they import at the top, and (module, imported) inside of functions."""
    trees = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        trees[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(
            path.read_text()
        )
    top, inside = {name: set() for name in trees}, []

    def visit(name, node, in_function):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                continue
            if isinstance(child, ast.ImportFrom) and (child.module or "").startswith("swelltree"):
                full = [f"{child.module}.{alias.name}" for alias in child.names]
                for module in (w if w in trees else child.module for w in full):
                    inside.append((name, module)) if in_function else top[name].add(module)
            visit(name, child, in_function or isinstance(child, ast.FunctionDef | ast.Lambda))

    for name, tree in trees.items():
        visit(name, tree, False)
    return top, inside


def test_no_import_waits_inside_a_function_to_break_a_cycle():
    top, inside = imports_of_the_house()

    def reached(module):
        known, left = set(), [module]
        while left:
            if (here := left.pop()) not in known:
                known.add(here)
                left += top.get(here, ())
        return known

    assert len(inside) > 50  # what costs time to import waits, and may
    assert [pair for pair in inside if pair[0] in reached(pair[1])] == []
