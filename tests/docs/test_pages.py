"""The examples that readers copy must run: the README, the tutorial and the case file."""

import re

import pytest

from support import ROOT
from swelltree.system import loads


def blocks(page: str, language: str) -> list[str]:
    """Code blocks of one language, in the order of the page."""
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/tutorial/first_chain.md",
        pytest.param("docs/tutorial/first_waves.md", marks=pytest.mark.slow),
        "docs/how-to/seas.md",
        pytest.param("docs/how-to/ptos.md", marks=pytest.mark.slow),
        "docs/how-to/check_physics.md",
        "docs/how-to/view_results.md",
        pytest.param("docs/how-to/state_space.md", marks=pytest.mark.slow),
        pytest.param("docs/how-to/drag.md", marks=pytest.mark.slow),
        pytest.param("docs/how-to/moorings.md", marks=pytest.mark.slow),
        pytest.param("docs/how-to/dynamic_lines.md", marks=pytest.mark.slow),
        pytest.param("docs/tutorial/lowering.md", marks=pytest.mark.slow),
        pytest.param("docs/how-to/splash_zone.md", marks=pytest.mark.slow),
        "docs/how-to/interchange.md",
    ],
)
def test_python_blocks_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pages may write files
    found = blocks(page, "python")
    assert found
    names: dict[str, object] = {}
    for block in found:
        exec(compile(block, page, "exec"), names)


def test_page_of_seas_describes_its_waves():
    (text,) = blocks("docs/how-to/seas.md", "toml")
    assert [study.wave.type for study in loads(text).studies] == ["irregular", "regular"]


def test_page_of_drag_describes_its_forces():
    (text,) = blocks("docs/how-to/drag.md", "toml")
    system = loads(text).system
    assert [force.type for force in system.forces] == ["morison", "wind_drag"]
    assert system.current.depth == 60.0


def test_page_of_the_splash_zone_describes_its_float():
    (text,) = blocks("docs/how-to/splash_zone.md", "toml")
    assert [force.type for force in loads(text).system.forces] == ["immersion"]


def test_case_file_page_describes_a_system():
    (text,) = blocks("docs/how-to/case_file.md", "toml")
    case = loads(text)
    assert case.system.name == "pendulum"
    assert [study.name for study in case.studies] == ["swing"]


def test_page_of_ptos_describes_a_machine_and_its_law():
    (text,) = blocks("docs/how-to/ptos.md", "toml")
    system = loads(text).system
    assert [pto.type for pto in system.ptos] == ["hydraulic"]
    assert system.controllers[0].plain
