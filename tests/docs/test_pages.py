"""The examples that readers copy must run: the README, the tutorial and the case file."""

import importlib.util
import inspect
import re
import shutil
import warnings

import pytest

import swelltree as sw
from support import ROOT
from swelltree.describe import loads
from swelltree.describe.spec import help_of_arguments


def blocks(page: str, language: str) -> list[str]:
    """Code blocks of one language, in the order of the page."""
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


# pages that take more than a few seconds
SLOW = {
    "docs/index.md",
    "docs/tutorial/first_waves.md",
    "docs/tutorial/lowering.md",
    "docs/tutorial/annual_energy.md",
    "docs/how-to/campaigns.md",
    "docs/how-to/splash_zone.md",
    "docs/how-to/stepping.md",
    "docs/how-to/weak_scatterer.md",
    "docs/tutorial/rm3_control.md",
    "docs/tutorial/moored_network.md",
    "docs/how-to/ptos.md",
    "docs/how-to/state_space.md",
    "docs/how-to/drag.md",
    "docs/how-to/moorings.md",
    "docs/how-to/dynamic_lines.md",
    "docs/how-to/winches_and_operations.md",
    "docs/how-to/closed_loops.md",
    "docs/how-to/gradients.md",
    "docs/how-to/optimal_control.md",
    "docs/how-to/bem.md",
    "docs/how-to/cables.md",
    "docs/how-to/from_moordyn.md",
    "docs/how-to/from_orcaflex.md",
    "docs/how-to/from_wecopttool.md",
    "docs/how-to/from_wecsim.md",
    "docs/how-to/from_openfast.md",
    "docs/devices/point_absorber.md",
    "docs/devices/flap.md",
    "docs/devices/hinged_raft.md",
    "docs/devices/spar.md",
    "docs/devices/ship_and_crane.md",
}
TEXTS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"))
    if "_build" not in path.parts
)
PAGES = [page for page in TEXTS if blocks(page, "python")]


def test_slow_pages_exist():
    assert set(PAGES) >= SLOW


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow) if page in SLOW else page for page in PAGES],
)
def test_python_blocks_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.delenv("SWELLTREE_REFDATA", raising=False)  # no page needs files of other codes
    if page in ("docs/how-to/fmi.md", "docs/how-to/fmu_import.md") and not shutil.which("cc"):
        pytest.skip("skipped: there is no C compiler (cc)")
    monkeypatch.chdir(tmp_path)  # pages may write files
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        if page == "README.md":  # what users run first
            warnings.simplefilter("error", sw.SwelltreeWarning)
        for block in blocks(page, "python"):
            exec(compile(block, page, "exec"), names)


@pytest.mark.parametrize("page", TEXTS)
def test_links_to_files_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in target and not target.startswith("mailto:"):
            assert ((ROOT / page).parent / target).exists(), target


def test_notebooks_have_the_code_of_their_pages():
    module = docs_module("notebooks")
    assert len(module.PAGES) >= 12
    for path in module.PAGES.values():
        page = path.relative_to(ROOT).as_posix()
        cells = module.notebook(path.read_text())["cells"]
        code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        assert code == [block.strip() for block in blocks(page, "python")]
        assert "](../" not in "".join(cell["source"] for cell in cells), page


def test_every_page_is_in_a_table_of_contents():
    index = (ROOT / "docs" / "index.md").read_text()
    listed = {line.strip() for line in index.splitlines()}
    for page in TEXTS:
        if page.startswith("docs/") and "/tables/" not in page and page != "docs/index.md":
            assert page.removeprefix("docs/").removesuffix(".md") in listed, page


def docs_module(name):
    """A module that writes pages of the documentation."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reference():
    """The module that writes the reference from the package."""
    return docs_module("reference")


def test_the_reference_has_every_public_name_once():
    pages = reference().topic_names()
    names = [name for page in pages.values() for name in page]
    assert sorted(names) == sorted(sw.__all__)
    index = (ROOT / "docs" / "index.md").read_text()
    assert all(f"reference/{topic}\n" in index for topic in pages)


def test_the_reference_shows_names_as_users_write_them(tmp_path):
    pages = reference()
    pages.write(tmp_path)
    text = {file.stem: file.read_text() for file in tmp_path.iterdir()}
    assert "py:class:: sw.Body(name, mass=None" in text["bodies"]
    assert ":param mass: [kg]" in text["bodies"]
    assert "py:method:: replace(**changes)" in text["bodies"]
    assert "sw.gallery.rm3" in text["systems"]
    assert not any("model_fields" in page or "pydantic" in page for page in text.values())
    assert all(f"swelltree {name}\n" in text["command_line"] for name in ("run", "check", "sweep"))
    assert "**name** (string)\n   unique in the system." in text["case_keys"]
    assert "``fairlead_tension``" in text["result_variables"]
    assert len(max(text["messages"].splitlines(), key=len)) < 100
    # messages of the lowest and of the highest package, their values left open
    assert "output_step ... s is not a multiple of step ... s." in text["messages"]
    assert "is not in the system" in text["messages"]
    assert "sw.Model\n" in text["models"]  # made by compile
    assert max(map(len, text.values())) < 200_000


def public_items():
    """Functions and classes of the reference that users call, by name."""
    pages = reference()
    for name in sw.__all__:
        item = getattr(sw, name)
        if inspect.ismodule(item):
            yield from ((f"{name}.{part}", getattr(item, part)) for part in pages._members(item))
        elif callable(item) and name not in {
            *pages.MADE_BY_FUNCTIONS,
            "SwelltreeError",
            "SwelltreeWarning",
        }:
            yield name, item


def test_the_reference_has_a_line_for_every_parameter():
    missing = []
    for name, item in public_items():
        lines = help_of_arguments(item)
        documented = {each.strip(" *") for key in lines for each in key.split(",")}
        parameters = {p for p in inspect.signature(item).parameters if p not in ("self", "args")}
        missing += [f"{name}: {each}" for each in sorted(parameters - documented)]
    assert not missing


def test_help_of_a_pto_has_the_parameters_of_all_ptos_in_the_order_of_the_call():
    lines = list(help_of_arguments(sw.HydraulicPto))
    assert lines == list(inspect.signature(sw.HydraulicPto).parameters)
    assert "    lower: lower end stop of the stroke [m, rad].\n" in sw.HydraulicPto.__doc__


def test_page_of_seas_describes_its_waves():
    (text,) = blocks("docs/how-to/seas.md", "toml")
    assert [study.sea.type for study in loads(text).studies] == ["irregular", "regular"]


def test_page_of_the_splash_zone_describes_its_float():
    text, _ = blocks("docs/how-to/splash_zone.md", "toml")
    assert [force.type for force in loads(text).system.forces] == ["immersion"]


def test_page_of_the_splash_zone_tells_sea_states_apart():
    _, text = blocks("docs/how-to/splash_zone.md", "toml")
    case = loads(text)
    (study,) = case.studies
    table = sw.operability(sw.compile_case(case), **study.arguments())
    assert table["operable"].sel(Hs=0.5).all()
    assert not table["operable"].sel(Hs=1.5).any()


def test_page_of_weak_scatterers_describes_its_tank():
    (text,) = blocks("docs/how-to/weak_scatterer.md", "toml")
    (force,) = loads(text).system.forces
    assert (force.type, force.mode, force.bodies) == ("weak_scatterer", "linear", ("ball",))


def test_page_of_drag_describes_its_forces():
    (text,) = blocks("docs/how-to/drag.md", "toml")
    system = loads(text).system
    assert [force.type for force in system.forces] == ["morison", "wind_drag"]
    assert system.current.depth == 60.0


def test_case_file_page_describes_a_system():
    text, _ = blocks("docs/how-to/case_file.md", "toml")
    case = loads(text)
    assert case.system.name == "pendulum"
    assert [study.name for study in case.studies] == ["swing"]


def test_page_of_ptos_describes_a_machine_and_its_law():
    text, sampled = blocks("docs/how-to/ptos.md", "toml")
    system = loads(text).system
    assert [pto.type for pto in system.ptos] == ["hydraulic"]
    assert system.controllers[0].plain
    control = loads(sampled).system.controllers[0]
    assert (control.states, control.sample_time) == (("integral",), 0.1)
