"""`read_wecsim`: a folder of WEC-Sim as case files that run, and a list of what was left out."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import xarray as xr

from swelltree.describe.casefile.case import Case, loads
from swelltree.describe.casefile.toml import to_text
from swelltree.describe.errors import SwelltreeError, suggest
from swelltree.describe.files.atomic import write_atomic
from swelltree.describe.files.paths import plain_bytes, user_path
from swelltree.describe.values import NamedValues
from swelltree.interop.wecsim.diagram import read_diagram
from swelltree.interop.wecsim.findings import Findings, Left
from swelltree.interop.wecsim.hydro_data import plain_name
from swelltree.interop.wecsim.script.run import Script
from swelltree.interop.wecsim.script.values import Value
from swelltree.interop.wecsim.seas import variants_of
from swelltree.interop.wecsim.translation import Translation, Translator

# --- A case file with comments: the tables as TOML, and above each item what was chosen for it

WIDTH = 96


def case_text(tables: NamedValues, head: list[str], findings: Findings) -> str:
    """The text of a case file.

    Args:
        tables: [system], [hydro] and [[studies]].
        head: lines at the beginning.
        findings: comments of items, and what was left out.
    """
    left = [f"- {item}" for item in findings.left]
    lead = [*head, *(["", "Not translated:", *left] if left else [])]
    blocks = to_text(tables).rstrip("\n").split("\n\n")
    commented: set[tuple[str, str]] = set()
    built = [_commented(lead)]
    for block in blocks:
        built.append("\n".join([*_comments_of(block, findings, commented), block]))
    return "\n\n".join(built) + "\n"


def _comments_of(block: str, findings: Findings, commented: set[tuple[str, str]]) -> list[str]:
    """Comments that belong above a block of TOML: of its section the first time, of its item."""
    first, _, rest = block.partition("\n")
    section = first.strip("[]").removeprefix("system.")
    name = rest.partition('name = "')[2].partition('"')[0]
    rows: list[str] = []
    for key in ((section, ""), (section, name)):
        if key not in commented:
            commented.add(key)
            rows += findings.comments.get(key, [])
    return [_commented(rows)] if rows else []


def _commented(rows: list[str]) -> str:
    """Rows as comments of TOML, wrapped."""
    lines = []
    for row in rows:
        safe = "".join(c if c.isprintable() else " " for c in row)
        wrapped = textwrap.wrap(safe, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        lines += [f"# {line}" for line in wrapped] or ["#"]
    return "\n".join(lines)


SCRIPT = "wecSimInputFile.m"
LARGEST_SCRIPT = 2 * 2**20  # bytes


@dataclass(frozen=True)
class WecsimCase:
    """A case of WEC-Sim, translated.

    Args:
        name: of the case.
        texts: of the case files by their name; several where PTOs have several settings.
        left: what was not translated, with file and line or block.
        folder: that paths in the texts are relative to.
        data: hydrodynamic data to be kept beside the case, None where it names a file.
        records: elevations to be kept beside it, by name of the file.
    """

    name: str
    texts: dict[str, str]
    left: tuple[Left, ...]
    folder: Path
    data: xr.Dataset | None = None
    records: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether everything was translated."""
        return not self.left

    @property
    def text(self) -> str:
        """The first case file."""
        return next(iter(self.texts.values()))

    @property
    def case(self) -> Case:
        """The first case; an error where it cannot be described, as with data that are missing.

        Data that had to be put together are there after `write`.
        """
        return loads(self.text, next(iter(self.texts)), self.folder)

    def write(self, *, overwrite: bool = False) -> list[Path]:
        """Write the case files, and data that had to be put together, all or none.

        Args:
            overwrite: replace files that are there.
        """
        data_path = self.folder / f"{self.name}_hydro.nc"
        texts = {
            name: "".join(f"{t!r} {eta!r}\n" for t, eta in rows.tolist())
            for name, rows in self.records.items()
        } | self.texts
        paths = [self.folder / name for name in texts]
        every = [*([data_path] if self.data is not None else []), *paths]
        for path in every:
            if path.exists() and not overwrite:
                raise SwelltreeError(
                    f"'{path}' exists already. Choose another name, or use the option to "
                    "overwrite it."
                )
        written: list[Path] = []
        try:
            if self.data is not None:
                from swelltree.hydro.data.write import write_hydro

                written.append(write_hydro(self.data, data_path))
            for path, text in zip(paths, texts.values(), strict=True):
                written.append(write_atomic(path, text))
        except SwelltreeError:
            for path in () if overwrite else written:
                path.unlink(missing_ok=True)
            raise
        return written


def read_wecsim(
    folder: str | Path,
    *,
    hydro: str | Path | None = None,
    out: str | Path | None = None,
    name: str | None = None,
) -> WecsimCase:
    """Translate a case of WEC-Sim: its input script and the Simulink model beside it.

    Args:
        folder: with wecSimInputFile.m, or the script itself.
        hydro: hydrodynamic data of any code, in place of those that the script names.
        out: folder that the case files are for; that of the script by default.
        name: of the case; that of the model by default.
    """
    path = _script_path(user_path(folder, "input script"))
    script = Script(_script_text(path))
    simu = script.objects("simu").get(1)
    model = simu.fields.get("simMechanicsFile") if simu is not None else None
    diagram = read_diagram(_model_path(path, model))
    instead = None if hydro is None else user_path(hydro, "hydro data")
    if instead is not None and not instead.exists():
        raise SwelltreeError(f"hydrodynamic data '{instead}' do not exist. Check the path.")
    place = path.parent if out is None else Path(out)
    title = plain_name(name or diagram.path.stem) or "wecsim"
    if set(title) & set("/\\"):
        raise SwelltreeError(f"name '{title}' holds a slash. Give a plain name.")
    findings = Findings()
    built: list[Translation] = []
    for variant in variants_of(script, path.parent, path.name, findings):
        other = script.changed(variant.settings)
        settings = (diagram, path, place, title, instead, variant.seas, findings)
        built.append(Translator(other, *settings).run())
    result = WecsimCase(
        title,
        _texts(built, title, [path.name, diagram.path.name], findings),
        tuple(findings.left),
        place,
        built[0].hydro.data if built[0].hydro.built else None,
        {name: rows for part in built for name, rows in part.records.items()},
    )
    if built[0].hydro.file is None or built[0].hydro.data is not None:
        _check(result)
    return result


def _texts(
    built: list[Translation], title: str, sources: list[str], findings: Findings
) -> dict[str, str]:
    """Case files by name."""
    head = [
        f"Translated from WEC-Sim: {' and '.join(sources)}.",
        "Frames of bodies lie at the origin of the world while the bodies are at rest.",
    ]
    tables = [table for part in built for table in part.variants]
    names = [f"{title}_{k}.toml" for k in range(1, len(tables) + 1)]
    names = [f"{title}.toml"] if len(tables) == 1 else names
    return {
        name: case_text(table, head, findings) for name, table in zip(names, tables, strict=True)
    }


def _check(result: WecsimCase) -> None:
    """Check that the file written is a valid case; invalid values are reported now."""
    for file, text in result.texts.items():
        try:
            loads(text, file, result.folder)
        except SwelltreeError as error:
            raise SwelltreeError(f"the translated case cannot be described: {error}") from None


def _script_path(path: Path) -> Path:
    if path.is_dir():
        script = path / SCRIPT
        if not script.is_file():
            others = sorted(file.name for file in path.glob("*.m"))
            hint = f" It has {', '.join(others[:5])}: name one of them." if others else ""
            raise SwelltreeError(f"folder '{path}' has no {SCRIPT}.{hint or ' Check the folder.'}")
        return script
    if not path.is_file():
        near = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        hint = suggest(path.name, near) or " Give the folder of the input script."
        raise SwelltreeError(f"'{path}' does not exist.{hint}")
    if path.suffix.lower() != ".m":
        raise SwelltreeError(f"'{path}' is not an input script (.m). Give its folder.")
    return path


def _script_text(path: Path) -> str:
    size = path.stat().st_size
    if size > LARGEST_SCRIPT:
        raise SwelltreeError(
            f"'{path}' has {size / 2**20:.0f} MiB, more than an input script has. Check the file."
        )
    try:
        content = plain_bytes(path)
    except OSError as error:
        raise SwelltreeError(f"'{path}' cannot be read: {error.strerror}. Check it.") from None
    text = content.decode("utf-8", "replace")
    if "\0" in text:
        raise SwelltreeError(f"'{path}' is not a text. Save it as UTF-8.")
    return text


def _model_path(script: Path, named: Value | None) -> Path:
    """The model that the script names, or the only one beside it."""
    adjacent = sorted(script.parent.glob("*.slx"))
    if isinstance(named, str) and named.strip() and "\0" not in named:
        return script.parent / named.strip().replace("\\", "/")
    if len(adjacent) == 1:
        return adjacent[0]
    raise SwelltreeError(
        f"'{script}' names no Simulink model (simu.simMechanicsFile); {len(adjacent)} lie beside "
        "it. Name one."
    )
