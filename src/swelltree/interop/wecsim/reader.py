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
from swelltree.describe.files.atomic import plain_bytes, user_path, write_atomic
from swelltree.describe.values import NamedValues
from swelltree.interop.wecsim.assignments import Findings, Left, plain_name
from swelltree.interop.wecsim.diagram import read_diagram
from swelltree.interop.wecsim.hydro_data import HydroData
from swelltree.interop.wecsim.script import Script
from swelltree.interop.wecsim.seas import variants_of
from swelltree.interop.wecsim.translation import Translator
from swelltree.interop.wecsim.values import Value

SCRIPT = "wecSimInputFile.m"
MAX_SCRIPT = 2 * 2**20  # bytes
WIDTH = 96  # of comments


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
    tables: list[NamedValues] = []
    records: dict[str, np.ndarray] = {}
    found = HydroData()
    for variant in variants_of(script, path.parent, path.name, findings):
        other = script.changed(variant.settings)
        translator = Translator(other, diagram, path, place, title, instead, findings)
        tables += translator.run(variant.seas)
        records |= translator.seas.records
        found = translator.hydro
    head = [
        f"Translated from WEC-Sim: {path.name} and {diagram.path.name}.",
        "Frames of bodies lie at the origin of the world while the bodies are at rest.",
    ]
    texts = {
        f"{title}.toml" if len(tables) == 1 else f"{title}_{k}.toml": _text(table, head, findings)
        for k, table in enumerate(tables, 1)
    }
    if found.file is None or found.data is not None:
        for file, text in texts.items():
            try:
                loads(text, file, place)
            except SwelltreeError as error:
                raise SwelltreeError(f"the translated case cannot be described: {error}") from None
    data = found.data if found.built else None
    return WecsimCase(title, texts, tuple(findings.left), place, data, records)


def _text(tables: NamedValues, head: list[str], findings: Findings) -> str:
    """TOML text of a case, with choices noted above each item."""
    left = [f"- {item}" for item in findings.left]
    built = [_commented([*head, *(["", "Not translated:", *left] if left else [])])]
    comments = dict(findings.comments)
    for block in to_text(tables).rstrip("\n").split("\n\n"):
        first, _, rest = block.partition("\n")
        section = first.strip("[]").removeprefix("system.")
        name = rest.partition('name = "')[2].partition('"')[0]
        rows = [*comments.pop((section, ""), ()), *comments.pop((section, name), ())]
        built.append("\n".join([_commented(rows), block] if rows else [block]))
    return "\n\n".join(built) + "\n"


def _commented(rows: list[str]) -> str:
    lines = []
    for row in rows:
        safe = "".join(c if c.isprintable() else " " for c in row)
        wrapped = textwrap.wrap(safe, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        lines += [f"# {line}" for line in wrapped] or ["#"]
    return "\n".join(lines)


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
    if size > MAX_SCRIPT:
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
    """Model file named by the script, or the only one in its folder."""
    adjacent = sorted(script.parent.glob("*.slx"))
    if isinstance(named, str) and named.strip() and "\0" not in named:
        return script.parent / named.strip().replace("\\", "/")
    if len(adjacent) == 1:
        return adjacent[0]
    raise SwelltreeError(
        f"'{script}' names no Simulink model (simu.simMechanicsFile); {len(adjacent)} lie beside "
        "it. Name one."
    )
