"""What readers copy is free of type errors: the README, the pages and the examples."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import swelltree as sw
from support import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]


def python_lines(page: Path) -> str:
    """The Python blocks of a page, each at its own line."""

    def blank(text: str) -> str:
        return "\n" * text.count("\n")

    out, at = "", 0
    for block in re.finditer(r"```python\n(.*?)```", text := page.read_text(), re.DOTALL):
        out += blank(text[at : block.start(1)]) + block[1]
        at = block.end(1)
    return out


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """What the type checker says of all pages, the examples and every public name, in one run."""
    if importlib.util.find_spec("basedpyright") is None:
        pytest.skip("basedpyright is not installed: pip install basedpyright")
    folder = tmp_path_factory.mktemp("pages")
    for page in PAGES:
        if code := python_lines(page):
            name = page.relative_to(ROOT).with_suffix(".py").as_posix().replace("/", "__")
            (folder / name).write_text(code)
    names = [f"reveal_type(sw.{name})" for name in (*sw.__all__, "__version__")]
    (folder / "names.py").write_text("\n".join(["import swelltree as sw", *names, ""]))
    settings = {
        "include": [str(folder), str(ROOT / "examples")],
        "extraPaths": [str(ROOT / "src")],
        "typeCheckingMode": "standard",
        "reportMissingImports": "none",  # optional companions, as gymnasium
        "reportPrivateImportUsage": False,
    }
    config = folder / "pyrightconfig.json"
    config.write_text(json.dumps(settings))
    done = subprocess.run(
        [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable]
        + ["-p", str(config)],
        capture_output=True,
        text=True,
        check=False,
    )
    return json.loads(done.stdout)


def test_pages_and_examples_have_no_type_errors(checked):
    assert checked["summary"]["filesAnalyzed"] > 50
    assert not [
        f"{Path(error['file']).name}:{error['range']['start']['line'] + 1}: {error['message']}"
        for error in checked["generalDiagnostics"]
        if error["severity"] == "error"
    ]


def test_an_editor_knows_every_public_name_with_its_signature(checked):
    said = [x["message"] for x in checked["generalDiagnostics"] if "Type of" in x["message"]]
    types = dict(re.fullmatch(r'Type of "sw\.(\w+)" is "(.*)"', x, re.S).groups() for x in said)
    assert sorted(types) == sorted([*sw.__all__, "__version__"])
    assert not [f"{name}: {kind}" for name, kind in types.items() if kind in ("object", "Any")]
    assert not [name for name, kind in types.items() if "Unknown" in kind or kind[:5] == "(...)"]
    assert types["simulate"].startswith("(model: Model, sea: ")
    assert types["__version__"] == "str"
