"""The hydrodynamic data that a case asks for."""

from __future__ import annotations

import os
from collections.abc import Callable
from inspect import signature
from typing import TYPE_CHECKING

from swelltree.describe.casefile.case import Case
from swelltree.describe.errors import SwelltreeError, suggest
from swelltree.describe.files.atomic import user_path
from swelltree.describe.values import NamedValues

if TYPE_CHECKING:
    import xarray as xr


def hydro_options(case: Case) -> NamedValues:
    """Options of `compile` for the data of the [hydro] section."""
    return {} if case.hydro is None else case.hydro.compile_options


def check_hydro_file(case: Case) -> None:
    """Reject a missing file or folder of the [hydro] section."""
    if case.hydro is None or case.hydro.file is None or os.path.exists(case.hydro.file):
        return
    path = user_path(case.hydro.file, "hydro: file")
    near = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
    hint = suggest(path.name, near) or " Check the path; it is taken from the case file's folder."
    raise SwelltreeError(f"hydro: file '{path}' does not exist.{hint}")


def hydro_of_case(
    case: Case, *, progress: bool | Callable[[int, int], None] | None = None
) -> xr.Dataset | None:
    """Data of the [hydro] section: computed or read; None where there are none.

    Args:
        case: a case.
        progress: of a BEM run, as in `run_bem`.
    """
    if case.hydro is None or (case.hydro.source is None and case.hydro.file is None):
        return None
    if case.hydro.source is not None:
        from swelltree.hydro.bem.run import bem_of_case
        from swelltree.hydro.data.gaps import fill_gaps

        return _mirrored(case, fill_gaps(bem_of_case(case, progress=progress), case.hydro.gaps))
    from swelltree.hydro.readers.read import read_hydro

    assert case.hydro.file is not None
    names = [name for name in signature(read_hydro).parameters if name not in ("path", "water")]
    options = case.hydro.options_of(names)
    return _mirrored(case, read_hydro(case.hydro.file, water=case.system.water, **options))


def _mirrored(case: Case, data: xr.Dataset) -> xr.Dataset:
    """The data with mirrored headings, if the case requests them."""
    from swelltree.hydro.data.mirrored import mirror_headings

    return mirror_headings(data) if case.hydro is not None and case.hydro.mirror else data
