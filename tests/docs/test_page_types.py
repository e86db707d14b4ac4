"""What readers copy is free of type errors: the README, the pages and the examples."""

import json
import re
import subprocess
import sys
from pathlib import Path

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


def test_pages_and_examples_have_no_type_errors(tmp_path):
    for page in PAGES:
        if code := python_lines(page):
            name = page.relative_to(ROOT).with_suffix(".py").as_posix().replace("/", "__")
            (tmp_path / name).write_text(code)
    settings = {
        "include": [str(tmp_path), str(ROOT / "examples")],
        "typeCheckingMode": "standard",
        "reportMissingImports": "none",  # optional companions, as gymnasium
        "reportPrivateImportUsage": False,
    }
    config = tmp_path / "pyrightconfig.json"
    config.write_text(json.dumps(settings))
    checker = [sys.executable, "-m", "basedpyright", "--outputjson", "--level", "error"]
    done = subprocess.run(
        [*checker, "--pythonpath", sys.executable, "-p", str(config)],
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] > 50
    assert not [
        f"{Path(error['file']).name}:{error['range']['start']['line'] + 1}: {error['message']}"
        for error in found["generalDiagnostics"]
    ]
