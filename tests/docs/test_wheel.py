"""The wheel: what users install has the package, its data and the examples, and works alone."""

import os
import re
import subprocess
import sys
import zipfile

import pytest

from support import ROOT

PACKAGE = ROOT / "src" / "swelltree"
COMMAND = ("-c", "from swelltree.command import main; main()")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Folder with the contents of a wheel that is built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def run_there(installed, folder, *arguments):
    """A command of Python with the wheel in place of this checkout."""
    environment = {k: v for k, v in os.environ.items() if k != "SWELLTREE_REFDATA"}
    environment["PYTHONPATH"] = str(installed)
    command = [sys.executable, "-P", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_wheel_has_every_file_of_the_package_and_the_examples(installed):
    expected = {
        file.relative_to(PACKAGE)
        for file in PACKAGE.rglob("*")
        if file.is_file() and not {"__pycache__", "node_modules"} & {*file.parts}
    }
    found = {
        file.relative_to(installed / "swelltree")
        for file in (installed / "swelltree").rglob("*")
        if file.is_file() and "examples" not in file.parts
    }
    assert found == expected
    for name in expected:
        assert (installed / "swelltree" / name).read_bytes() == (PACKAGE / name).read_bytes(), name
    examples = {file.name for file in (ROOT / "examples").iterdir() if file.is_file()}
    assert {file.name for file in (installed / "swelltree" / "examples").iterdir()} == examples


def test_wheel_runs_a_page_and_an_example_in_an_empty_folder(installed, tmp_path):
    copied = run_there(installed, tmp_path, *COMMAND, "examples", "--copy")
    assert copied.returncode == 0, copied.stderr
    done = run_there(installed, tmp_path / "examples", "geared_brake.py")
    assert "the flap stops at" in done.stdout, done.stderr
    case = run_there(installed, tmp_path, *COMMAND, "run", "examples/hinged_barges.toml")
    assert case.returncode == 0, case.stderr
    text = (ROOT / "docs" / "tutorial" / "first_chain.md").read_text("utf-8")
    (tmp_path / "page.py").write_text(
        "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    )
    page = run_there(installed, tmp_path, "page.py")
    assert page.returncode == 0, page.stderr
    where = run_there(installed, tmp_path, "-c", "import swelltree; print(swelltree.__file__)")
    assert where.stdout.startswith(str(installed))
