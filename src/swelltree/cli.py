"""The command `swelltree`.

Everything heavy is imported inside the commands: `swelltree check` needs no JAX and answers in
well under a second. Mistakes in the input end with an error message and exit code 2.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

import swelltree.describe as sw
from swelltree.command import CODE, STOPPED, hear, main, was_stopped
from swelltree.describe.casefile.studies import Study
from swelltree.describe.errors import SwelltreeError, SwelltreeWarning
from swelltree.describe.values import NamedValues

if TYPE_CHECKING:
    import xarray as xr
    from rich.console import RenderableType

    from swelltree.describe.casefile.case import Case
    from swelltree.model.model import Model


OUT_HELP = "Folder for the results."


class _Commands(TyperGroup):
    """Command group in which input errors end with one error message."""

    def invoke(self, ctx: Any) -> object:
        import warnings

        ours = hear(stop=True)
        with warnings.catch_warnings():
            _show_warnings_short()
            try:
                return super().invoke(ctx)
            except SwelltreeError as error:
                _unless_stopped(ours)
                typer.secho(f"swelltree: {error}", err=True, fg="red")
                raise typer.Exit(2) from None
            except KeyboardInterrupt:
                typer.secho(STOPPED, err=True, fg="yellow")
                raise typer.Exit(CODE) from None
            except (ImportError, SystemError, RuntimeError, AttributeError):
                _unless_stopped(ours)  # what some packages make of it while they are imported
                raise
            finally:
                if ours:
                    hear(stop=False)


def _unless_stopped(ours: bool) -> None:
    """End as interrupted if the keyboard caused an error."""
    if ours and was_stopped():
        typer.secho(STOPPED, err=True, fg="yellow")
        raise typer.Exit(CODE) from None


def _show_warnings_short() -> None:
    """Show warnings of this package on one line; others are unchanged."""
    import warnings

    usual = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, SwelltreeWarning):
            typer.secho(f"warning: {message}", err=True, fg="yellow")
        else:
            usual(message, category, filename, lineno, file, line)

    warnings.simplefilter("always", SwelltreeWarning)
    warnings.showwarning = show


app = typer.Typer(
    name="swelltree",
    cls=_Commands,
    help="Multibody systems at sea: check, run and compare.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _say(*items: RenderableType) -> None:
    """Print tables, and lines as they are: no markup, no highlights, no breaks."""
    from rich.console import Console

    for item in items:
        if isinstance(item, str):
            Console(soft_wrap=True, highlight=False, markup=False).print(item)
        else:
            Console().print(item)


def _compiled(loaded: Case, case: Path) -> Model:
    """The model of a case, with the code beside it."""
    from swelltree.compiler.compile import compile_case
    from swelltree.describe.casefile.case import use_adjacent_code

    use_adjacent_code(loaded, case)
    return compile_case(loaded)


Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Set an option of the file, e.g. --set duration=60; `swelltree options` lists them.",
    ),
]
CasePath = Annotated[Path, typer.Argument(metavar="CASE", help="Case file (TOML).")]


def _version(requested: bool) -> bool:
    if requested:
        typer.echo(_versions())
        raise typer.Exit
    return requested


def _versions() -> str:
    """Versions of package, system and libraries for bug reports."""
    import platform
    from importlib import metadata

    lines = [f"swelltree {metadata.version('swelltree')}"]
    lines += [f"Python {platform.python_version()} on {platform.platform(terse=True)}"]
    for name in ("jax", "jaxlib", "llvmlite", "numpy", "capytaine", "dask", "zarr"):
        try:
            lines += [f"{name} {metadata.version(name)}"]
        except metadata.PackageNotFoundError:
            lines += [f"{name} is not installed"]
        if name == "llvmlite":
            from llvmlite import binding

            lines[-1] += f" (LLVM {'.'.join(map(str, binding.llvm_version_info))})"
    return "\n".join(lines)


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print versions.")
    ] = False,
) -> None:
    pass


@app.command()
def check(
    case: CasePath,
    physics: Annotated[bool, typer.Option("--physics", help="Also run the model checks.")] = False,
) -> None:
    """Read and assemble a case and show its contents; nothing is run."""
    from swelltree.compiler.compile import check_bands, compile
    from swelltree.describe import load
    from swelltree.hydro.data.case import check_hydro_file
    from swelltree.model.checks import mass_against_displacement
    from swelltree.report.outline import outline, without_user_code

    loaded = load(case)
    check_hydro_file(loaded)
    bands = check_bands(loaded)
    system, notes = without_user_code(loaded.system)
    notes += bands
    model = compile(system)
    if not physics:
        notes += [f.sentence for f in mass_against_displacement(model) if f.severity == "note"]
    _say(outline(loaded, model, notes))
    if physics:
        raise typer.Exit(_check_physics(loaded, case, {*model.report, *notes}))
    _say(f"engine: {_expected_engine()}")


def _expected_engine() -> str:
    """Engine of each study of a case, as far as it is known before compilation."""
    from swelltree.jit import switched_off

    refused = switched_off()
    if refused:
        return f"XLA: {refused}"
    return "LLVM, or XLA if LLVM cannot be used; check --physics states which, and the reason"


def _check_physics(loaded: Case, case: Path, said: set[str]) -> int:
    """Print model checks of a case that were not printed before; 1 if one fails."""
    from rich.console import Console

    from swelltree.studies.checks.check_physics import check_physics

    model = _compiled(loaded, case)
    runs = [(study.name, study.in_time) for study in loaded.studies if study.in_time is not None]
    console, colours = Console(), {"error": "red", "warning": "yellow", "note": "green"}
    wrong = 0
    for name, run in runs or [("", None)]:
        sea, duration = (None, None) if run is None else (run.sea, run.duration)
        console.print("physics" + (f" of study {name}:" if name else ":"))
        findings = check_physics(model, sea, duration=duration)
        for finding in findings:
            if finding.sentence in said:
                continue  # of the model, reported with the study before
            said.add(finding.sentence)
            wrong += finding.severity == "error"
            console.print(f"- {finding}", style=colours[finding.severity], markup=False)
        if run is not None:
            _say(f"- engine: {_engine(model, run)}")
    for study in (study for study in loaded.studies if study.in_time is None):
        engine = _engine(model, study)
        _say(f"engine of study {study.name}: {engine}")
    return int(wrong > 0)


def _engine(model: Model, study: Study) -> str:
    """Engine of a study, or why it is not known."""
    from swelltree.studies.engines import engine_of_study

    try:
        return engine_of_study(model, study)
    except SwelltreeError as error:
        return f"not known, the study would not begin: {error}"


@app.command()
def run(
    case: CasePath,
    out: Annotated[Path | None, typer.Option(help=f"{OUT_HELP}  [default: out/CASE]")] = None,
    study: Annotated[str | None, typer.Option(help="Run only this study.")] = None,
    changes: Set = None,
    checkpoint: Annotated[bool, typer.Option(help="Save the run in chunks.")] = False,
    resume: Annotated[bool, typer.Option(help="Continue a run saved by --checkpoint.")] = False,
    report: Annotated[bool, typer.Option(help="Also write an HTML report.")] = False,
) -> None:
    """Run the studies of a case; each result is written as netCDF."""
    from swelltree.describe import load
    from swelltree.describe.files.atomic import file_stems
    from swelltree.results.files import (
        make_folder,
        place_of,
        refuse_results_of_others,
        save,
    )
    from swelltree.results.summary import summary

    loaded = load(case)
    studies = loaded.studies if study is None else (loaded.study(study),)
    if not studies:
        raise SwelltreeError(f"case '{case}' has no studies. Add [[studies]] to say what to run.")
    studies = _changed(studies, changes)
    folder = make_folder(Path("out") / case.stem if out is None else out)
    stems = file_stems([spec.name for spec in loaded.studies])
    for spec in studies:
        refuse_results_of_others(folder / f"{stems[spec.name]}.nc", case)
    model = _compiled(loaded, case)
    failed = 0
    for spec in studies:
        stem = stems[spec.name]
        keep = folder / f"{stem}.checkpoint" if checkpoint or resume else None
        attrs = {"case": loaded.text, "case_file": case.name, "case_place": place_of(case, folder)}
        attrs["study_name"] = spec.name
        result = run_study(model, spec, provenance=attrs, checkpoint=keep, resume=resume)
        path = save(result, folder / f"{stem}.nc")
        _say(summary(result, f"{loaded.system.name}: {spec.name} ({spec.type})"))
        _say(f"written: {path}")
        if report:
            from swelltree.report.report import write_report

            page = write_report(result, folder / f"{stem}.html")
            _say(f"open: {page}")
        ended = result.attrs.get("result", "success")
        if ended == "stopped_by_user":
            raise KeyboardInterrupt
        failed += ended != "success"
    if failed:
        raise typer.Exit(1)


@app.command()
def sweep(
    campaign: Annotated[Path, typer.Argument(metavar="CAMPAIGN", help="Campaign file (TOML).")],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the store.  [default: out/CAMPAIGN]")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Run only the cases missing in the store.")] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Like --resume, and repeat failed cases.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(help="Processes; 0: this one.  [default: one per core]"),
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler: tls://host:8786.")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="Its certificate, from `swelltree certificate`.")
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Accept a scheduler without a certificate.")
    ] = False,
    changes: Set = None,
    report: Annotated[bool, typer.Option(help="Also write an HTML report.")] = True,
    check: Annotated[
        bool, typer.Option("--check", help="Compile the extreme cases; run nothing.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Verify the checksums of the store; run nothing.")
    ] = False,
    replay: Annotated[
        str | None, typer.Option(metavar="CASE", help="Run only this case, with all channels.")
    ] = None,
    progress: Annotated[bool, typer.Option("--progress/--quiet", help="Show progress.")] = True,
) -> None:
    """Run the cases of a campaign into a store; finished blocks are kept."""
    from swelltree.campaigns.file import load_campaign

    folder = Path("out") / campaign.stem if out is None else out
    if verify:
        raise typer.Exit(_verify(campaign if campaign.is_dir() else folder))
    loaded = load_campaign(campaign, **_options_of_words(changes))
    table = loaded.table
    dims = " x ".join(f"{len(values)} {name}" for name, values in table.dims.items())
    _say(f"{loaded.name}: {len(table)} cases ({dims})")
    if check:
        refused = loaded.build_failure()
        for what, why in refused.items():
            _say(f"the case with {what} cannot be run: {why}")
        raise typer.Exit(2 if refused else 0)
    if replay is not None:
        from swelltree.report.report import write_report

        run = loaded.replay(replay)
        (folder / "replays").mkdir(parents=True, exist_ok=True)
        _say(f"open: {write_report(run, folder / 'replays' / f'{replay}.html')}")
        if report and (folder / "campaign.json").exists():
            _say(f"with a link in: {write_campaign_page(folder)}")
        return
    if (resume or retry_failed) and not (folder / "campaign.json").exists():
        _say(f"'{folder}' holds no campaign yet: beginning it")
    try:
        result = loaded.run(
            folder,
            resume=resume,
            retry_failed=retry_failed,
            workers=workers,
            scheduler=scheduler,
            progress=progress,
            certificate=certificate,
            insecure=insecure,
        )
    except KeyboardInterrupt:
        specified = {"--out": out, "--workers": workers, "--scheduler": scheduler}
        specified["--certificate"] = certificate
        words = [word for name, x in specified.items() if x is not None for word in (name, str(x))]
        words += ["--insecure"] if insecure else []
        words += [word for change in changes or () for word in ("--set", change)]
        again = shlex.join(["swelltree", "sweep", str(campaign), *words, "--resume"])
        _say(f"stopped; continue with: {again}")
        raise
    done, failed = result.attrs["cases_done"], result.attrs["cases_failed"]
    _say(f"written: {folder} ({done} done, {failed} failed)")
    if report:
        _say(f"open: {write_campaign_page(folder)}")
    raise typer.Exit(int(failed > 0))


@app.command()
def options(
    study: Annotated[
        str | None, typer.Argument(metavar="STUDY", help="Type of study, or campaign; default all.")
    ] = None,
) -> None:
    """List the options of studies and campaigns: names, types, defaults, meaning."""
    from swelltree.campaigns.file import CampaignTable
    from swelltree.describe.casefile.case import STUDY_TYPES
    from swelltree.describe.errors import listed, suggest
    from swelltree.describe.spec import help_of_arguments, plain_signature

    known = {**STUDY_TYPES, "campaign": CampaignTable}
    if study is not None and study not in known:
        raise SwelltreeError(
            f"options: there is no study '{study}'.{suggest(study, known)} Give {listed(known)}."
        )
    for name in known if study is None else [study]:
        texts = help_of_arguments(known[name])
        typer.echo(name)
        for option, row in plain_signature(known[name]).parameters.items():
            if option != "name":
                typer.echo(f"  {row}\n{_wrapped(texts[option])}")


def _wrapped(text: str) -> str:
    import textwrap

    return textwrap.fill(text, 96, initial_indent=" " * 6, subsequent_indent=" " * 6)


def _options_of_words(changes: Sequence[str] | None) -> NamedValues:
    """Parse words such as `rtol=1e-8`: values in TOML syntax, or plain text."""
    import tomllib

    result: NamedValues = {}
    for word in changes or ():
        name, equals, text = word.partition("=")
        if not equals:
            raise SwelltreeError(f"--set {word}: there is no '='. Give e.g. --set duration=60.")
        try:
            result[name.strip()] = tomllib.loads(f"x = {text}")["x"]
        except tomllib.TOMLDecodeError:
            result[name.strip()] = text
    return result


def _changed(studies: Sequence[Study], changes: Sequence[str] | None) -> tuple[Study, ...]:
    """Studies with changed options, each with those it has."""
    specified = _options_of_words(changes)
    has = [{name for name in specified if name in study.option_names()} for study in studies]
    unknown = [name for name in specified if not any(name in names for names in has)]
    if unknown:
        studies[0].replace(**{unknown[0]: specified[unknown[0]]})  # has the error message
    pairs = zip(studies, has, strict=True)
    return tuple(s.replace(**{name: specified[name] for name in names}) for s, names in pairs)


@app.command()
def certificate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="New file; only you may read it.")],
) -> None:
    """Create the certificate of a cluster; only those who have it can run code on it."""
    from swelltree.campaigns.pool import write_certificate

    typer.echo(f"written: {write_certificate(file)}")


def _verify(folder: Path) -> int:
    """Verify all checksums of a store; 1 if something is damaged."""
    from swelltree.campaigns.store import Store

    store = Store(folder)
    about = store.about()
    blocks = -(-int(about["cases"]) // int(about["lanes"]))
    count, damage = store.verify()
    for text in damage:
        _say(text)
    _say(f"{count} of {blocks} blocks are whole")
    if damage:
        _say(f"make the others again with: {store.repair()}")
    return int(bool(damage))


def write_campaign_page(folder: Path) -> Path:
    """The report of a campaign, next to its store."""
    from swelltree.campaigns.opened import open_campaign
    from swelltree.report.campaign_page import write_campaign_report

    return write_campaign_report(open_campaign(folder), folder / "report.html")


ResultPaths = Annotated[
    list[Path], typer.Argument(metavar="RESULT...", help="Result files (.nc): runs, rao, modes.")
]


@app.command()
def report(
    results: ResultPaths,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="HTML file.  [default: RESULT.html]")
    ] = None,
    note: Annotated[str, typer.Option(help="Text below the heading.")] = "",
) -> None:
    """Write results as one HTML file, and print their tables."""
    from swelltree.report.report import title_of, write_report
    from swelltree.results.files import load_result
    from swelltree.results.summary import summary

    loaded = [load_result(path) for path in results]
    path = results[0].with_suffix(".html") if out is None else out
    written = write_report(loaded, path, note=note)
    for dataset in loaded:
        _say(summary(dataset, title_of(dataset)))
    _say(f"written: {written}")


OpenBrowser = Annotated[bool, typer.Option(help="Open the browser.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Local port; 0: any free one.")]


@app.command()
def view(results: ResultPaths, browser: OpenBrowser = True, port: Port = 0) -> None:
    """Show results in the browser; served to this machine only, until Ctrl-C."""
    from swelltree.report.serve import view as show

    served = show(list(results), browser=browser, port=port)
    typer.echo(f"{served.url} (stop with Ctrl-C)")
    served.wait()


@app.command()
def live(
    case: CasePath,
    study: Annotated[str | None, typer.Option(help="Study to run.  [default: first]")] = None,
    slider: Annotated[
        list[str] | None,
        typer.Option(help="Parameter for a slider: ptos.pto.damping=0:1e6.  [default: some]"),
    ] = None,
    trace: Annotated[
        list[str] | None, typer.Option(help="Channel to plot: float.Heave.  [default: some]")
    ] = None,
    speed: Annotated[float, typer.Option(help="Speed relative to real time.")] = 1.0,
    browser: OpenBrowser = True,
    port: Port = 0,
) -> None:
    """Run a case in the browser with sliders; served to this machine only, until Ctrl-C."""
    from swelltree.describe import load
    from swelltree.report.live.view import live as show
    from swelltree.report.live.view import study_options

    loaded = load(case)
    sea, options = study_options(loaded, study)
    shown = show(
        _compiled(loaded, case),
        sea,
        sliders=slider or None,
        traces=trace or None,
        speed=speed,
        browser=browser,
        port=port,
        **options,
    )
    typer.echo(f"{shown.url} (stop with Ctrl-C)")
    shown.wait()


@app.command()
def export(
    source: Annotated[
        Path,
        typer.Argument(metavar="SOURCE", help="Result (.nc), or case for FMU and C."),
    ],
    out: Annotated[
        Path | None,
        typer.Argument(
            help="File ending in .csv, .mat, .glb, .usda, .gif, .mp4, .png, .svg, .pdf, .pvd; of a "
            "case in .fmu."
        ),
    ] = None,
    c: Annotated[
        Path | None, typer.Option("--c", metavar="FOLDER", help="Write a case as C code.")
    ] = None,
    study: Annotated[
        str | None, typer.Option(help="Sea and solver of a case.  [default: first study in time]")
    ] = None,
    version: Annotated[str, typer.Option("--fmi", help="Version of an FMU: 2.0 or 3.0.")] = "2.0",
    platforms: Annotated[
        list[str] | None,
        typer.Option("--platform", help="Platform: win64.  [default: this one]"),
    ] = None,
    inputs: Annotated[
        list[str] | None, typer.Option("--input", help="PTO or force to drive.  [default: all]")
    ] = None,
    outputs: Annotated[
        list[str] | None, typer.Option("--output", help="Channel: float.Heave.  [default: some]")
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option("--parameter", help="Parameter: pto.damping."),
    ] = None,
    changes: Set = None,
) -> None:
    """Write a result as a table, animation or plot, or a case as FMU or C code."""
    if source.suffix.lower() == ".toml":
        named = {"inputs": inputs, "outputs": outputs, "parameters": parameters}
        chosen = {name: x for name, x in named.items() if x} | _options_of_words(changes)
        written = _export_case(source, out, c, study, (version, platforms or None), chosen)
    else:
        from swelltree.report.export import export as write
        from swelltree.results.files import load_result

        if out is None or c is not None:
            raise SwelltreeError(
                f"export '{source}': a result goes into a file (run.csv); C code is made of a case "
                "file (case.toml)."
            )
        written = write(load_result(source), out)
    _say(f"written: {written}")


def _export_case(
    case: Path,
    out: Path | None,
    folder: Path | None,
    study: str | None,
    kind: tuple[str, list[str] | None],
    options: NamedValues,
) -> Path:
    from swelltree.describe import load
    from swelltree.describe.errors import listed, suggest
    from swelltree.describe.options import ExportOptions, options_of
    from swelltree.interop.fmi.c_code import export_c
    from swelltree.interop.fmi.fmu import export_fmu
    from swelltree.report.live.view import study_options

    if (out is None) == (folder is None):
        raise SwelltreeError(
            f"export '{case}': a case goes into an FMU (device.fmu) or, with --c, into a folder. "
            "Give one of them."
        )
    known = options_of(ExportOptions)
    for name in options:
        if name not in known:
            raise SwelltreeError(
                f"--set {name}: an export has no such option.{suggest(name, known)} It has "
                f"{listed(known)}."
            )
    loaded = load(case)
    sea, usual = study_options(loaded, study)
    model = _compiled(loaded, case)
    if folder is not None:
        return export_c(model, sea, folder, **usual | options)
    assert out is not None
    version, platforms = kind
    return export_fmu(model, sea, out, version=version, platforms=platforms, **usual | options)


@app.command()
def bem(
    case: CasePath,
    out: Annotated[
        Path | None, typer.Option(help="File for the data.  [default: out/CASE/hydro.nc]")
    ] = None,
    cache: Annotated[bool, typer.Option(help="Use cached results of earlier runs.")] = True,
) -> None:
    """Compute the hydrodynamic data of a case from its hulls; needs a [hydro] section."""
    from swelltree.describe import load
    from swelltree.hydro.bem.run import bem_of_case
    from swelltree.hydro.data.write import write_hydro
    from swelltree.results.files import make_folder, place_of, refuse_results_of_others

    loaded = load(case)
    path = Path("out") / case.stem / "hydro.nc" if out is None else out
    make_folder(path.parent)
    refuse_results_of_others(path, case)
    data = bem_of_case(loaded, cache=cache)
    place = place_of(case, path.parent)
    data.attrs.update(case=loaded.text, case_file=case.name, case_place=place)
    for line in data.attrs["notes"].splitlines():
        _say(f"- {line}")
    sizes = f"{data.sizes['body']} bodies, {data.sizes['omega']} frequencies"
    _say(f"{sizes}, {int(data['panels'].sum())} panels")
    _say(f"written: {write_hydro(data, path)}")


def run_study(model: Model, study: Study, **options: object) -> xr.Dataset:
    """Run a study of a case file; options that it does not have are ignored."""
    import inspect

    import swelltree

    function: Callable[..., xr.Dataset] = getattr(swelltree, study.type)
    specified = study.arguments()
    known = inspect.signature(function).parameters
    extra = {name: value for name, value in options.items() if name in known}
    result = function(model, **{k: v for k, v in specified.items() if k in known}, **extra)
    return result.assign_attrs(options.get("provenance", {}))


NOTE = (
    "Linear hydrodynamics of the three barges together: hydrostatics, added mass, radiation memory "
    "and excitation, with the exact motion of the hinged bodies. The surface shown is the sea as "
    "it comes in; what the barges reflect and radiate acts on them but is not drawn."
)


def run_demo(out: str | Path, duration: float = 120.0) -> tuple[xr.Dataset, list[Path]]:
    """Simulate three hinged barges in a short-crested sea; write case, data, result and report.

    The barges come from the gallery with their hydrodynamic data, so the demo needs no BEM code.

    Args:
        out: folder, made if need be.
        duration: of the run [s].

    Returns:
        the result and the files, the report last.
    """
    import numpy as np

    from swelltree.compiler.compile import compile
    from swelltree.describe.files.atomic import write_atomic
    from swelltree.gallery.barges import barges
    from swelltree.hydro.readers.read import read_hydro
    from swelltree.report import plots as plot
    from swelltree.report.plots import write_figure
    from swelltree.report.report import write_report
    from swelltree.results.files import make_folder, save
    from swelltree.studies.linear.modes import modes
    from swelltree.studies.linear.rao import rao
    from swelltree.studies.time.simulate import simulate

    folder = make_folder(out)
    ready = barges()
    system, sea = ready.system, ready.sea
    # the case file and its data lie beside the result: `swelltree run demo.toml` repeats it
    data = write_atomic(folder / "barges.nc", ready.file.read_bytes())
    study = sw.SimulateStudy("demo", duration=duration, output_step=0.2, sea=sea)
    case = sw.Case(system, (study,), hydro=sw.HydroSpec(file=data.name))
    text = case.to_toml(folder / "demo.toml")
    # a looser fit than the default: quick, and its error is reported in the result
    model = compile(system, read_hydro(data), fit={"error": 0.05})
    result = simulate(
        model,
        **study.arguments(),
        provenance={"case": text, "case_file": "demo.toml", "study_name": study.name},
    )
    provenance = {"case": text, "case_file": "demo.toml"}
    linear = rao(model, omega=np.linspace(0.2, 2.0, 181), wave_direction=0.0, provenance=provenance)
    natural = modes(model, provenance=provenance)
    pictures = {
        "sea.png": plot.sea(result),
        "motion.png": plot.motion(result),
        "rao.png": plot.rao(linear),
        "energy.png": plot.energy(result),
    }
    files = [folder / "demo.toml", data, save(result, folder / "demo.nc")]
    files += [save(linear, folder / "rao.nc"), save(natural, folder / "modes.nc")]
    files += [write_figure(fig, folder / name) for name, fig in pictures.items()]
    page = write_report([result, linear, natural], folder / "report.html", note=NOTE)
    return result, [*files, page]


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help=OUT_HELP)] = Path("out/demo"),
) -> None:
    """Simulate three hinged barges in waves and write a report."""
    from swelltree.results.summary import summary

    result, files = run_demo(out)
    _say(summary(result, "demo: three hinged barges in waves"))
    for path in files:
        _say(f"written: {path}")
    _say(f"Open {files[-1].resolve()} in a browser to see it move.")


@app.command()
def examples(
    copy: Annotated[bool, typer.Option("--copy", help="Copy them into a new folder.")] = False,
    out: Annotated[Path, typer.Option(help="The new folder.")] = Path("examples"),
) -> None:
    """List the examples that come with the package, or copy them."""
    import shutil

    files = _example_files()
    if not copy:
        for file in files:
            typer.echo(f"{file.name:32} {_first_line(file)}")
        typer.echo("`swelltree examples --copy` copies them into a folder.")
        return
    if out.exists():
        raise SwelltreeError(f"folder '{out}' exists. Give another one with --out.")
    out.mkdir(parents=True)
    data = "../src/swelltree/gallery/data/"  # of case files in the repository
    for file in files:
        text = file.read_text("utf-8")
        for name in re.findall(rf'"{data}(\w+\.nc)"', text):
            shutil.copyfile(Path(__file__).parent / "gallery" / "data" / name, out / name)
        (out / file.name).write_text(text.replace(data, ""), "utf-8")
    typer.echo(f"{len(files)} examples are in {out}: try `python {out / 'moored_float.py'}`.")


def _example_files() -> list[Path]:
    """Examples in the wheel, or those of the repository."""
    package = Path(__file__).resolve().parent
    for folder in (package / "examples", package.parents[1] / "examples"):
        files = sorted([*folder.glob("*.py"), *folder.glob("*.toml")])
        if files:
            return files
    raise SwelltreeError("no examples are installed. Install swelltree from a wheel.")


def _first_line(file: Path) -> str:
    """First line of the docstring or comment of an example."""
    lines = file.read_text("utf-8").splitlines()
    return next((text for line in lines if (text := line.strip('#" '))), "")


@app.command()
def validate(
    only: Annotated[str | None, typer.Option(help="One case or one group of cases.")] = None,
    write: Annotated[
        Path | None, typer.Option(metavar="FILE.md", help="Write the table as Markdown.")
    ] = None,
) -> None:
    """Compare results with closed forms, papers and other codes."""
    import importlib

    checkout = Path(__file__).resolve().parents[2]
    if not (checkout / "validation" / "__init__.py").is_file():
        raise SwelltreeError(
            "validate: the validation cases are not part of the installed package. Clone the "
            "repository, `make setup`, and run `swelltree validate` of that environment."
        )
    sys.path.insert(0, str(checkout))
    validation = importlib.import_module("validation")

    raise typer.Exit(validation.validate(only, write))


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def bench(ctx: typer.Context) -> None:
    """Measure speed; works in a checkout of the repository (see `make bench`)."""
    import subprocess

    script = Path(__file__).resolve().parents[2] / "benchmarks" / "run.py"
    if not script.is_file():
        raise SwelltreeError(
            "the benchmarks are not part of the installed package. "
            "Clone the repository and run `make bench` there."
        )
    raise typer.Exit(subprocess.run([sys.executable, str(script), *ctx.args]).returncode)


@app.command()
def hydro(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File or folder of any BEM code.")],
    rho: Annotated[float | None, typer.Option(help="Density, if not in the file [kg/m^3].")] = None,
    g: Annotated[float | None, typer.Option(help="Gravity, if not in the file [m/s^2].")] = None,
    depth: Annotated[float | None, typer.Option(help="Depth, if not in the file [m].")] = None,
) -> None:
    """Show the contents of hydrodynamic data and the report of their checks."""
    from swelltree.hydro.data.report import hydro_report
    from swelltree.hydro.data.write import hydro_outline
    from swelltree.hydro.readers.read import read_hydro

    data = read_hydro(file, rho=rho, g=g, depth=depth, check=False, gaps="keep")
    findings = hydro_report(data)
    text = hydro_outline(data, findings)
    _say(text)
    raise typer.Exit(int(any(finding.severity == "error" for finding in findings)))


importing = typer.Typer(help="Translate cases of other programs.", no_args_is_help=True)
app.add_typer(importing, name="import")


@importing.command("wecsim")
def import_wecsim(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder with wecSimInputFile.m.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The case file.  [default: MODEL.toml]")
    ] = None,
    hydro: Annotated[
        Path | None, typer.Option(help="Data of any BEM code, in place of those of the script.")
    ] = None,
    overwrite: Annotated[bool, typer.Option(help="Overwrite existing files.")] = False,
) -> None:
    """Write a case of WEC-Sim as a case file; exit code 1 if something was not translated."""
    from swelltree.interop.wecsim.reader import read_wecsim

    place, name = (Path(), None) if out is None else (out.parent, out.stem)
    imported = read_wecsim(folder, hydro=hydro, out=place, name=name)
    written = imported.write(overwrite=overwrite)
    for path in written:
        _say(f"written: {path}")
    if imported.left:
        _say("not translated:")
    for item in imported.left:
        _say(f"- {item}")
    raise typer.Exit(int(bool(imported.left)))


@app.command()
def schema(
    campaign: Annotated[bool, typer.Option("--campaign", help="Schema of campaign files.")] = False,
) -> None:
    """Print the JSON schema of case files, for editors that complete and check."""
    import json

    if campaign:
        from swelltree.campaigns.file import campaign_schema

        typer.echo(json.dumps(campaign_schema(), indent=2))
        return
    from swelltree.describe import case_schema

    typer.echo(json.dumps(case_schema(), indent=2))


if __name__ == "__main__":
    main()
