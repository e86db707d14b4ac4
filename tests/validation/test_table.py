"""The table of `swelltree validate`: what passes, fails, is skipped or unknown."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from swelltree.describe.errors import SwelltreeError
from validation import all_cases, validate
from validation.table import (
    GROUPS,
    NO_DATA,
    Case,
    Check,
    case,
    perform,
    reference_folder,
    run_cases,
    summary,
)

GOOD = Check("period", 2.001, 0.01, "s", "reading of the figure", reference=2.0)
BAD = Check("closure", 2e-3, 1e-8, "m", "projected")


def built(*checks: Check, name: str = "made_up", needs: str | None = None) -> Case:
    return Case("joints", name, "nowhere", needs, lambda *_: list(checks))


def shown(only: str | None, *cases: Case, folder: Path = Path("nowhere")) -> tuple[int, list[str]]:
    """Exit code and lines of the command."""
    file = io.StringIO()
    code = run_cases(only, cases, folder, Console(file=file, width=150))
    return code, file.getvalue().splitlines()


def test_checks_within_their_tolerance_pass_and_the_last_line_counts_them():
    code, lines = shown(None, built(GOOD, Check("error", 1e-9, 1e-8, "m")))
    assert code == 0
    assert lines[-1] == "validate: 2 passed, 0 failed, 0 skipped"
    text = "\n".join(lines)
    for part in ("made_up", "period", "2.001 s", "2 ± 0.01 s", "reading of the figure", "<= 1e-08"):
        assert part in text


def test_one_failure_gives_exit_code_1():
    code, lines = shown(None, built(GOOD, BAD))
    assert code == 1
    assert lines[-1] == "validate: 1 passed, 1 failed, 0 skipped"
    assert "FAIL" in "\n".join(lines)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_value_that_is_not_finite_fails(value):
    assert not Check("energy", value, 1e-9).ok


def test_a_case_that_breaks_fails_and_says_why():
    def broken() -> list[Check]:
        raise SwelltreeError("time stepping stopped at t = 31.2 s.")

    code, lines = shown(None, Case("joints", "broken", "nowhere", None, broken), built(GOOD))
    assert code == 1
    assert "time stepping stopped at t = 31.2 s." in "\n".join(lines)
    assert lines[-1] == "validate: 1 passed, 1 failed, 0 skipped"


def test_a_case_without_its_reference_data_is_skipped(tmp_path):
    code, lines = shown(None, built(BAD, needs="far_away"), folder=tmp_path)
    assert code == 0
    assert NO_DATA == "skipped: no reference data"
    assert NO_DATA in "\n".join(lines)
    assert lines[-1] == "validate: 0 passed, 0 failed, 1 skipped"


def test_a_case_gets_the_folder_of_its_reference_data(tmp_path):
    (tmp_path / "here").mkdir()
    seen = []
    here = Case("joints", "here", "nowhere", "here", lambda path: seen.append(path) or [GOOD])
    assert summary([perform(here, tmp_path)]) == ("validate: 1 passed, 0 failed, 0 skipped", 0)
    assert seen == [tmp_path / "here"]


def test_only_picks_a_case_or_a_group():
    cases = (built(GOOD, name="first"), built(BAD, name="second"))
    assert shown("first", *cases)[0] == 0
    assert shown("second", *cases)[0] == 1
    assert shown("joints", *cases)[1][-1] == "validate: 1 passed, 1 failed, 0 skipped"


@pytest.mark.parametrize("group", [group for group in GROUPS if group != "joints"])
def test_an_empty_group_says_so(group):
    code, lines = shown(group, built(GOOD))
    assert code == 0
    assert lines == [
        f"group '{group}' has no cases yet.",
        "validate: 0 passed, 0 failed, 0 skipped",
    ]


def test_the_table_is_kept_as_markdown_with_one_section_for_each_group(tmp_path):
    wave = Case("hydro", "wave", "a book", None, lambda: [Check("|RAO|", 1.0, 0.1, reference=1.0)])
    cases = (built(GOOD, BAD), wave, built(GOOD, name="second", needs="far_away"))
    run_cases(None, cases, tmp_path, Console(file=io.StringIO()), write=tmp_path / "table.md")
    text = (tmp_path / "table.md").read_text()
    assert text.startswith("`swelltree validate: 2 passed, 1 failed, 1 skipped`")
    assert [line for line in text.splitlines() if line.startswith("#")] == ["## Joints", "## Hydro"]
    assert "| period | 2.001 s | 2 ± 0.01 s | reading of the figure |" in text
    assert "| closure | **0.002 m** (fails) |" in text
    assert r"\|RAO\|" in text
    assert NO_DATA in text


def test_an_unknown_name_is_refused_with_a_suggestion():
    with pytest.raises(
        SwelltreeError, match=r"no case or group 'four_bat'. Did you mean 'four_bar'"
    ):
        validate("four_bat")
    with pytest.raises(SwelltreeError, match=r"no case or group 'joint'. Did you mean 'joints'"):
        validate("joint")


def test_a_name_is_given_to_one_case_only():
    all_cases()
    with pytest.raises(ValueError, match="name taken"):
        case("joints", "four_bar", source="nowhere")(list)
    with pytest.raises(ValueError, match="unknown group"):
        case("knots", "reef", source="nowhere")(list)


def test_reference_data_are_looked_for_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("SWELLTREE_REFDATA", str(tmp_path))
    assert reference_folder() == tmp_path
    monkeypatch.delenv("SWELLTREE_REFDATA")
    assert reference_folder() == Path("../shared/refdata")


def test_every_case_of_the_package_has_a_known_group_and_a_source():
    cases = all_cases()
    assert len(cases) >= 20
    assert all(c.group in GROUPS and c.source and c.name == name for name, c in cases.items())
