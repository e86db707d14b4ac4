"""A campaign's store as one dataset, read when numbers are asked for.

Dimensions are those of the campaign (Hs, Tp, seed ...). Cases that did not run yet, failed, or are
not part of the table (sea states that do not occur) are gaps; `state` says which.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.campaigns.store import PARTS, RESULTS, Store, sum_of
from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.describe.files.atomic import user_path
from swelltree.describe.values import NamedValues
from swelltree.jit import Tree

if TYPE_CHECKING:
    import xarray as xr

UNITS = {"Hs": "m", "Tp": "s", "beta": "rad"}
WORDS = {"Hs": "significant wave height", "Tp": "peak period", "beta": "heading"}


def open_campaign(folder: str | Path) -> xr.Dataset:
    """The results of a campaign, lazily, with the campaign's dimensions.

    Args:
        folder: of its store.
    """
    cases = open_cases(folder)
    about = Store(folder).about()
    import xarray as xr

    dims = {name: np.array(values) for name, values in about["dims"].items()}
    place = np.array(about["place"], dtype=int)
    shape = tuple(len(values) for values in dims.values())
    grid = np.full(int(np.prod(shape)), -1)
    grid[place] = np.arange(len(place))
    grid = grid.reshape(shape)
    coords = {name: (name, values, _about(name)) for name, values in dims.items()}
    at = xr.DataArray(np.maximum(grid, 0), dims=list(dims), coords=coords)
    here = xr.DataArray(grid >= 0, dims=list(dims), coords=coords)
    result = cases.drop_vars([name for name in dims if name in cases.coords]).isel(case=at)
    result = result.drop_vars("case")
    numbers = {
        n: x.where(here).assign_attrs(x.attrs)
        for n, x in result.data_vars.items()
        if x.dtype.kind == "f"
    }
    texts = {
        n: x.where(here, "none" if n == "state" else "")
        for n, x in result.data_vars.items()
        if x.dtype.kind == "O"
    }
    return result.assign(numbers | texts)


def open_cases(folder: str | Path) -> xr.Dataset:
    """All cases along one dimension, in the order of the table."""
    import xarray as xr

    store = Store(user_path(folder, "campaign"))
    about = store.about()
    count, lanes = int(about["cases"]), int(about["lanes"])
    blocks = -(-count // lanes)
    entries = store.entries(blocks, thorough=False)
    warn_damaged(store, blocks, entries)
    try:
        source = checked_chunks(store, about.get(PARTS, {}), entries)
        data = xr.open_zarr(source, chunks={}, consolidated=False)
        # labels as those of single results
        texts = {n: x.load().astype(object) for n, x in data.coords.items() if x.dtype.kind == "T"}
    except (OSError, ValueError, KeyError, RuntimeError, TypeError) as error:
        raise SwelltreeError(
            f"'{Path(folder) / RESULTS}' cannot be read ({error}). Continue the campaign with "
            "--resume, which computes it again."
        ) from None
    data = data.assign_coords(texts)
    complete = np.repeat([block in entries for block in range(blocks)], lanes)[:count]
    log = [case for block in range(blocks) for case in _log(entries, block, lanes, count)]
    known = xr.DataArray(complete, dims="case")
    data = data.map(lambda x: x.where(known).assign_attrs(x.attrs) if "case" in x.dims else x)
    columns = {
        name: ("case", np.array(values), _about(name)) for name, values in about["columns"].items()
    }

    def column(key: str, gap: object) -> Tree:
        return np.array([case.get(key, gap) for case in log], dtype=object)

    extra: NamedValues = {
        "state": ("case", column("state", "missing"), {"long_name": "done, failed or missing"}),
        "message": ("case", column("message", ""), {"long_name": "why a case failed"}),
        "case_id": ("case", column("id", ""), {"long_name": "hash of the case's content"}),
        "seconds": (
            "case",
            column("seconds", np.nan).astype(float),
            {"long_name": "computing time, an equal part of that of its block", "units": "s"},
        ),
    }
    if about.get("occurrence") is not None:
        often = np.array(about["occurrence"])
        extra["occurrence"] = ("case", often, {"long_name": "fraction of time", "units": "1"})
    for name, values in about.get("sea", {}).items():
        extra[name] = ("case", np.array(values["values"], float), values["attrs"])
    result = data.assign(extra).assign_coords(columns)
    counts = {
        f"cases_{state}": int((extra["state"][1] == state).sum())
        for state in ("done", "failed", "missing")
    }
    return result.assign_coords(case=np.arange(count)).assign_attrs(about["attrs"] | counts)


def warn_damaged(store: Store, blocks: int, entries: dict[int, Tree]) -> None:
    """Warn of blocks that were written and are damaged."""
    bad = [block for block in range(blocks) if block not in entries and store.has_index(block)]
    if bad:
        which = ", ".join(map(str, bad[:8])) + (" ..." if len(bad) > 8 else "")
        warn_user(
            f"'{store.folder}': block {which} is damaged, and its cases count as missing. "
            f"Run them again with {store.repair()}"
        )


def checked_chunks(store: Store, parts: NamedValues, entries: dict[int, Tree]) -> Tree:
    """The arrays of a store for Zarr, each file compared with its checksum when it is read.

    Args:
        store: the campaign.
        parts: size and checksum of files that describe and label arrays.
        entries: index of the blocks that are there; chunks of others are not read.
    """
    from zarr.storage import LocalStore, WrapperStore

    ours = {name for entry in entries.values() for name in entry["chunks"]}

    class Checked(WrapperStore[LocalStore]):
        """Array store that verifies checksums on reading."""

        async def get(self, key: str, prototype: Tree, byte_range: Tree = None) -> Tree:
            name, _, place = key.partition("/c/")
            block = int(place.partition("/")[0]) if place and name in ours else None
            if block is not None and block not in entries:
                return None  # begun, not finished
            content = await super().get(key, prototype, byte_range)
            stored = parts.get(key) if block is None else entries[block]["chunks"].get(name)
            if stored is None or byte_range is not None:
                return content
            found = None if content is None else content.to_bytes()
            if found is not None and sum_of(found) == stored:
                return content
            where = "the labels" if block is None else f"block {block}"
            raise SwelltreeError(
                f"'{store.folder}': {where} of the results is damaged: '{RESULTS}/{key}' is not "
                f"what was written. Run {store.repair()}, which computes it again."
            )

    return Checked(LocalStore(store.folder / RESULTS, read_only=True))


def _log(entries: dict[int, Tree], block: int, lanes: int, count: int) -> list[NamedValues]:
    size = min(lanes, count - block * lanes)
    return entries[block]["cases"] if block in entries else [{}] * size


def _about(name: str) -> dict[str, str]:
    about = {"long_name": WORDS.get(name, name)}
    return about | ({"units": UNITS[name]} if name in UNITS else {})
