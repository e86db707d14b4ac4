"""Cases of `swelltree validate`, how they are run, and the table they fill.

A case compares swelltree with something else: a closed form, an invariant, another code. It
returns one `Check` per number. Cases are registered by a decorator and belong to a group; those
that need reference data are skipped where there are none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from swelltree.describe.errors import SwelltreeError, suggest
from swelltree.describe.files.atomic import write_atomic
from swelltree.jit import trim_cache

GROUPS = (
    "joints",
    "hydro",
    "viscous",
    "control",
    "pto",
    "combinations",
    "control_models",
    "many_cases",
    "periodic",
    "lines",
    "cables",
    "winches",
    "splash",
    "weak_scatterer",
)
NO_DATA = "skipped: no reference data"


@dataclass(frozen=True)
class Check:
    """One number of a case: it passes when it lies within the tolerance of the reference.

    Args:
        quantity: what is compared.
        value: what was found.
        tolerance: largest difference allowed.
        unit: of all three; empty for ratios.
        reason: why the tolerance is what it is.
        reference: what it should be; zero for errors, so that the tolerance is a limit.
    """

    quantity: str
    value: float
    tolerance: float
    unit: str = ""
    reason: str = ""
    reference: float = 0.0

    @property
    def ok(self) -> bool:
        """Within the tolerance; a value that is not a number never is."""
        return bool(abs(self.value - self.reference) <= self.tolerance)

    @property
    def shown_value(self) -> str:
        """The value as shown."""
        digits = ".3g" if self.reference == 0.0 else ".6g"
        return f"{self.value:{digits}} {self.unit}".strip()

    @property
    def allowed(self) -> str:
        """What would pass, as shown."""
        if self.reference == 0.0:
            return f"<= {self.tolerance:.3g} {self.unit}".strip()
        return f"{self.reference:.6g} ± {self.tolerance:.2g} {self.unit}".strip()


@dataclass(frozen=True)
class Case:
    """A registered case.

    Args:
        group: one of `GROUPS`.
        name: unique.
        source: where the reference comes from, in words.
        needs: folder in the reference data that `run` takes as its argument, or None.
        run: does the work and returns the checks.
    """

    group: str
    name: str
    source: str
    needs: str | None
    run: Callable[..., list[Check]]


@dataclass(frozen=True)
class Outcome:
    """What became of a case: its checks, or why there are none."""

    case: Case
    checks: tuple[Check, ...] = ()
    skipped: str = ""
    error: str = ""


CASES: dict[str, Case] = {}


def case(
    group: str, name: str, *, source: str, needs: str | None = None
) -> Callable[[Callable[..., list[Check]]], Callable[..., list[Check]]]:
    """Register a function as a case.

    Args:
        group: one of `GROUPS`.
        name: unique, not the name of a group.
        source: where the reference comes from, in words.
        needs: folder of the reference data, given to the function as a path.
    """

    def register(run: Callable[..., list[Check]]) -> Callable[..., list[Check]]:
        if group not in GROUPS or name in GROUPS or name in CASES:
            raise ValueError(f"case '{name}' of group '{group}': unknown group or name taken")
        CASES[name] = Case(group, name, source, needs, run)
        return run

    return register


def reference_folder() -> Path:
    """Folder of the reference data: `SWELLTREE_REFDATA`, else `../shared/refdata`."""
    return Path(os.environ.get("SWELLTREE_REFDATA") or Path("..") / "shared" / "refdata")


def select(only: str | None, cases: Iterable[Case]) -> list[Case]:
    """Cases of that name or group; all when none is named."""
    cases = list(cases)
    if only is None:
        return cases
    names = [c.name for c in cases]
    if only not in GROUPS and only not in names:
        known = (*GROUPS, *names)
        raise SwelltreeError(
            f"validate: there is no case or group '{only}'.{suggest(only, known)} "
            f"Groups are {', '.join(GROUPS)}; `swelltree validate` without --only lists the cases."
        )
    return [c for c in cases if only in (c.group, c.name)]


def perform(chosen: Case, folder: Path) -> Outcome:
    """Run one case; a case that breaks has failed, and says why."""
    arguments: list[Path] = []
    if chosen.needs is not None:
        path = folder / chosen.needs
        if not path.exists():
            return Outcome(chosen, skipped=NO_DATA)
        arguments = [path]
    try:
        return Outcome(chosen, tuple(chosen.run(*arguments)))
    except Exception as error:
        sentence = " ".join(f"{type(error).__name__}: {error}".split())
        return Outcome(chosen, error=sentence[:300])


def outcome_table(outcomes: Iterable[Outcome]) -> Table:
    """One row per check."""
    table = Table(title="swelltree validate", title_justify="left")
    table.add_column("case", style="bold", overflow="fold")
    for column in ("quantity", "found", "allowed", "reason"):
        table.add_column(column, overflow="fold")
    table.add_column("ok", justify="center")
    for outcome in outcomes:
        label = outcome.case.name
        if outcome.skipped:
            table.add_row(label, outcome.skipped, "", "", outcome.case.source, "-", style="dim")
        elif outcome.error:
            table.add_row(label, outcome.error, "", "", outcome.case.source, "[red]FAIL[/red]")
        for check in outcome.checks:
            mark = "[green]yes[/green]" if check.ok else "[red]FAIL[/red]"
            table.add_row(
                label, check.quantity, check.shown_value, check.allowed, check.reason, mark
            )
            label = ""
        table.add_section()
    return table


def markdown(outcomes: Iterable[Outcome]) -> str:
    """The same table as text for the pages: one section for each group, one row per check."""
    lines: list[str] = []
    group = ""
    for outcome in sorted(outcomes, key=lambda one: GROUPS.index(one.case.group)):
        if outcome.case.group != group:
            group = outcome.case.group
            lines += ["", f"## {group.replace('_', ' ').capitalize()}"]
        lines += ["", f"**{outcome.case.name}**: {outcome.case.source}", ""]
        if not outcome.checks:
            lines.append(outcome.skipped or f"FAILED: {outcome.error}")
            continue
        lines += ["| quantity | found | allowed | why this limit |", "|---|---|---|---|"]
        for check in outcome.checks:
            result = check.shown_value if check.ok else f"**{check.shown_value}** (fails)"
            cells = (check.quantity, result, check.allowed, check.reason)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines).strip() + "\n"


def summary(outcomes: Iterable[Outcome]) -> tuple[str, int]:
    """Last line of the command and its exit code; every check counts one, a broken case too."""
    outcomes = list(outcomes)
    checks = [check for outcome in outcomes for check in outcome.checks]
    passed = sum(check.ok for check in checks)
    failed = len(checks) - passed + sum(bool(outcome.error) for outcome in outcomes)
    skipped = sum(bool(outcome.skipped) for outcome in outcomes)
    return f"validate: {passed} passed, {failed} failed, {skipped} skipped", int(failed > 0)


def run_cases(
    only: str | None,
    cases: Iterable[Case],
    folder: Path,
    console: Console | None = None,
    write: Path | None = None,
) -> int:
    """Run the selected cases, print the table and the summary, return the exit code.

    Args:
        only: a case or a group.
        cases: all of them.
        folder: of the reference data.
        console: where to print.
        write: Markdown file that gets the table and the summary too.
    """
    if console is None:
        console = Console()
        if not console.is_terminal:
            console = Console(width=150)  # a file has room
    chosen = select(only, cases)
    outcomes = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task("validate", total=len(chosen))
        for one in chosen:
            bar.update(task, description=f"{one.group}: {one.name}")
            outcomes.append(perform(one, folder))
            if write is not None:  # a long table is kept as far as it has come
                write_atomic(write, f"`swelltree {summary(outcomes)[0]}`\n\n{markdown(outcomes)}")
            trim_cache()
            bar.advance(task)
    if outcomes:
        console.print(outcome_table(outcomes))
    else:
        console.print(f"group '{only}' has no cases yet.", highlight=False)
    text, code = summary(outcomes)
    console.print(text, highlight=False, soft_wrap=True)
    return code
