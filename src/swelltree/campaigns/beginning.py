"""Before a campaign begins: its folder, its version, input checks and warnings."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.campaigns.vary import Vary
from swelltree.describe.errors import SwelltreeError, SwelltreeWarning, listed, shown, warn_user
from swelltree.describe.values import NamedValues, as_number, row_of
from swelltree.jit import hashed, versions

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.campaigns.cases import CaseTable

# variables that results have besides those of a run
OURS = ("state", "message", "case_id", "seconds", "occurrence", "Hm0", "Te", "J", "case")


@contextmanager
def created_folder(folder: Path) -> Iterator[Path]:
    """Create a folder and its parents; empty ones are removed again at the end."""
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SwelltreeError(
            f"cannot make the folder '{folder}': {error.strerror}. Choose another."
        ) from None
    try:
        yield folder
    finally:
        for path in new:
            if any(path.iterdir()):
                break
            path.rmdir()


@contextmanager
def report_each_once() -> Iterator[set[str]]:
    """Collect warnings of the block and emit each once at its end; yields the set of messages."""
    sentences: set[str] = set()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SwelltreeWarning)
        try:
            yield sentences
        finally:
            reported = {(one.category, str(one.message)): one for one in caught}
    for one in reported.values():
        if issubclass(one.category, SwelltreeWarning):
            sentences.add(str(one.message))
            warn_user(str(one.message), one.category)
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def check_vary(vary: object, name: str) -> None:
    """A list of what varies.

    Args:
        vary: as given.
        name: of the campaign.
    """
    rows = None if isinstance(vary, Vary) else row_of(vary)
    wrong = vary if rows is None else next((x for x in rows if not isinstance(x, Vary)), None)
    if wrong is not None:
        specified = shown(wrong) if isinstance(wrong, str) else type(wrong).__name__
        raise SwelltreeError(
            f"campaign '{name}': vary is {specified}, not a list of what varies. Give e.g. "
            "[Values('Hs', [1.0, 2.0]), Seeds(6)]."
        )


def check_numbers(name: str, *, seconds: NamedValues, counts: NamedValues) -> None:
    """Times in seconds and whole numbers, as given.

    Args:
        name: of the campaign.
        seconds: by word; None where not given.
        counts: by name, each with its min value; None where not given.
    """
    for word, value in seconds.items():
        if value is None:
            continue
        try:
            is_more = as_number(value) > 0
        except ValueError as error:
            raise SwelltreeError(f"campaign '{name}': {word} {error}") from None
        if not is_more:
            raise SwelltreeError(
                f"campaign '{name}': {word} {value} s is not positive. Give more than zero."
            )
    for word, (value, least) in counts.items():
        if value is None:
            continue
        is_complete = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not is_complete or value < least:
            raise SwelltreeError(
                f"campaign '{name}': {word} {value} is not a whole number of at least {least}. "
                f"Give {least} or more."
            )


def check_dims(table: CaseTable, blank: xr.Dataset) -> None:
    """No dimension of the cases has the name of something else in the results.

    Args:
        table: the cases.
        blank: what is kept of one.
    """
    taken = {str(name) for name in (*blank.variables, *blank.dims, *OURS)}
    clash = [name for name in table.dims if name in taken]
    if clash:
        raise SwelltreeError(
            f"campaign: the dimension {listed(clash)} has the name of a part of the results. Give "
            "another dim."
        )


@functools.cache
def code() -> str:
    """Hash of the package's text and of the versions of what computes."""
    return hashed(*versions())[:16]


@functools.cache
def own_text() -> str:
    return hashed(versions()[1])


def check_version(folder: Path, about: NamedValues) -> None:
    """Warn where a store was begun with another version.

    Args:
        folder: of the store.
        about: what it keeps.
    """
    if about.get("code", code()) != code():
        version = about["attrs"].get("swelltree_version", "unknown")
        warn_user(
            f"'{folder}' was begun with another version (swelltree {version}, or of Python, JAX, "
            "numpy, scipy or llvmlite): cases that run now may differ from those that are there. "
            "Name another folder where that matters; the index distinguishes them by `code`."
        )
