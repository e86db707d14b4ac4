"""The store of a campaign: a folder with numbers in Zarr and an index of finished blocks.

    campaign.json        what is run, and how: key, table, step, channels
    results.zarr/        one array per variable, cases first, one chunk per block
    index/000012.json    written last, whole or not at all: block 12 is there

A block counts as finished when its index file is there and its chunks have the sizes and checksums
that it names. Whatever was cut off, lost or changed makes a block missing, and it is run again.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.campaigns.beginning import code
from swelltree.engine.arrays import Tree
from swelltree.system.errors import SwelltreeError, listed
from swelltree.system.files.whole_files import is_full, unwritable, write_whole
from swelltree.system.named_values import NamedValues

if TYPE_CHECKING:
    import xarray as xr

ABOUT, RESULTS, INDEX = "campaign.json", "results.zarr", "index"
LAYOUT = 1  # of the store
STATES = ("done", "failed")  # of a case that was run
KEPT = ("name", "key", "cases", "lanes", "dims", "columns", "place", "attrs")  # of ABOUT, at least


class Store:
    """Blocks of results on disk.

    Args:
        folder: of the store.
    """

    def __init__(self, folder: str | Path) -> None:
        need_packages()
        self.folder = Path(folder)
        self._opened: NamedValues | None = None

    @property
    def exists(self) -> bool:
        """Whether there is a campaign."""
        return (self.folder / ABOUT).exists()

    def about(self) -> NamedValues:
        """What `create` was given."""
        path = self.folder / ABOUT
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
            there = about if isinstance(about, dict) else {}
            lost = [name for name in ("layout", *KEPT) if name not in there]
            if lost:
                raise ValueError(f"it has no {listed(lost)}")
        except FileNotFoundError:
            raise SwelltreeError(
                f"'{self.folder}' holds no campaign: '{ABOUT}' is not there. Check the path, or "
                "run the campaign."
            ) from None
        except (OSError, ValueError) as error:
            raise SwelltreeError(
                f"'{path}' cannot be read ({error}). Run the campaign into another folder."
            ) from None
        if about["layout"] != LAYOUT:
            raise SwelltreeError(
                f"'{path}' has layout {about['layout']}, and this version reads {LAYOUT}. "
                "Use the version that wrote it."
            )
        return about

    def create(self, about: NamedValues, template: xr.Dataset) -> None:
        """Make the folder, ready for blocks; parts that are missing are made again.

        Args:
            about: what is run, as JSON knows it, with `cases` and `lanes`.
            template: what is kept of one case, with its labels.
        """
        try:
            (self.folder / INDEX).mkdir(parents=True, exist_ok=True)
            self._make_arrays(template, int(about["cases"]), int(about["lanes"]))
        except OSError as error:
            raise self._unwritable(self.folder / RESULTS, error) from None
        if not self.exists:
            write_whole(self.folder / ABOUT, json.dumps({"layout": LAYOUT, **about}, indent=1))

    def _make_arrays(self, template: xr.Dataset, cases: int, lanes: int) -> None:
        import dask.array as da

        whole = template.isel(case=0, drop=True)
        data = {}
        for name, x in template.data_vars.items():
            assert x.dims[0] == "case", f"{name} does not begin with the cases"
            shape = (cases, *x.shape[1:])
            chunks = (min(lanes, cases), *x.shape[1:])
            data[name] = (x.dims, da.full(shape, np.nan, chunks=chunks), x.attrs)
        fresh, target = self.folder / f"{RESULTS}.new", self.folder / RESULTS
        shutil.rmtree(fresh, ignore_errors=True)
        for path in (fresh, target):
            if path.is_file():  # in the place of a folder of ours
                path.unlink()
        blank = whole.drop_vars(list(whole.data_vars)).assign(data)
        # texts of any length, which the format has a name for
        texts = {n: x.astype(object) for n, x in blank.coords.items() if x.dtype.kind == "U"}
        blank = blank.assign_coords(texts)
        blank.to_zarr(fresh, compute=False, consolidated=False, zarr_format=3)
        if not target.exists():
            fresh.rename(target)
            return
        # only what describes the arrays, and their labels; blocks stay as they are
        self._opened = None
        labels = {str(name) for name in blank.coords}
        for file in fresh.rglob("*"):
            inside = file.relative_to(fresh)
            old = target / inside
            is_label = inside.parts[0] in labels
            if file.is_file() and (file.name == "zarr.json" or is_label) and not _same(file, old):
                old.parent.mkdir(parents=True, exist_ok=True)
                file.replace(old)
        shutil.rmtree(fresh)

    @property
    def variables(self) -> NamedValues:
        """Arrays of what is kept, by name, opened once."""
        import zarr

        if self._opened is None:
            try:
                # cases that all failed are gaps throughout, and written too; known when opened
                with zarr.config.set({"array.write_empty_chunks": True}):
                    group = zarr.open_group(self.folder / RESULTS, mode="r+", zarr_format=3)
                    arrays = dict(group.arrays())
            except Exception as error:
                raise SwelltreeError(
                    f"'{self.folder / RESULTS}' cannot be read ({error}). Continue the campaign "
                    "with --resume, which makes it again."
                ) from None
            self._opened = {
                name: x
                for name, x in arrays.items()
                if (getattr(x.metadata, "dimension_names", None) or ("",))[0] == "case"
            }
        return self._opened

    def write(
        self, block: int, first: int, values: dict[str, np.ndarray], cases: list[NamedValues]
    ) -> None:
        """Write a finished block; it counts when all of it is on disk.

        Args:
            block: its number.
            first: number of its first case.
            values: by variable, cases first.
            cases: a line of the log for each case: id, state, message, seconds ...
        """
        arrays = self.variables
        try:
            for name, x in values.items():
                arrays[name][first : first + len(x)] = x
            sums = {name: self._sum(name, block) for name in values}
        except OSError as error:
            raise self._unwritable(self.folder / RESULTS, error) from None
        entry = {"block": block, "first": first, "code": code(), "chunks": sums, "cases": cases}
        text = json.dumps(entry)
        write_whole(self._index(block), text)

    def _unwritable(self, path: Path, error: OSError) -> SwelltreeError:
        if is_full(error):
            return SwelltreeError(
                f"the disk of '{path}' is full. Free some room and continue with --resume; all "
                "finished blocks are kept."
            )
        return unwritable(path, error)

    def _index(self, block: int) -> Path:
        return self.folder / INDEX / f"{block:06d}.json"

    def _chunk(self, name: str, block: int) -> Path:
        dims = self.variables[name].ndim - 1
        return self.folder.joinpath(RESULTS, name, "c", str(block), *["0"] * dims)

    def _sum(self, name: str, block: int) -> list[int]:
        content = self._chunk(name, block).read_bytes()
        return [len(content), zlib.crc32(content)]

    def entry(self, block: int) -> NamedValues | None:
        """The index of a block, None where there is none that can be read."""
        try:
            entry = json.loads(self._index(block).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return entry if _is_entry(entry) and entry["block"] == block else None

    def is_whole(self, block: int, entry: NamedValues | None, *, thorough: bool = True) -> bool:
        """Whether a block's chunks are those that its index names.

        Args:
            block: its number.
            entry: from `entry`.
            thorough: read them and compare checksums, not only sizes.
        """
        names = self.variables
        if entry is None or not set(entry["chunks"]) <= set(names):
            return False
        sums = entry["chunks"]
        array = names[next(iter(sums))]
        lanes = array.chunks[0]
        if len(entry["cases"]) != min(lanes, array.shape[0] - block * lanes):
            return False
        try:
            if thorough:
                return all(self._sum(name, block) == sums[name] for name in sums)
            return all(self._chunk(name, block).stat().st_size == sums[name][0] for name in sums)
        except OSError:
            return False

    def entries(self, blocks: int, *, thorough: bool = True) -> dict[int, NamedValues]:
        """Index of all blocks that are whole, by number."""
        entries = ((block, self.entry(block)) for block in range(blocks))
        return {
            block: entry
            for block, entry in entries
            if entry is not None and self.is_whole(block, entry, thorough=thorough)
        }


def need_packages() -> None:
    """A sentence where the packages of the extra are not installed."""
    missing = [name for name in ("zarr", "dask") if importlib.util.find_spec(name) is None]
    if missing:
        raise SwelltreeError(
            f"the store of a campaign needs {' and '.join(missing)}. Install the extra: pip "
            "install 'swelltree[campaign]'; or use simulate_batch, which keeps all in memory."
        )


def _is_entry(entry: Tree) -> bool:
    """Whether an index has what one has, whatever was done to its file."""
    if not isinstance(entry, dict) or not {"block", "first", "chunks", "cases"} <= set(entry):
        return False
    sums, cases = entry["chunks"], entry["cases"]
    return (
        isinstance(sums, dict)
        and len(sums) > 0
        and all(isinstance(pair, list) and len(pair) == 2 for pair in sums.values())
        and isinstance(cases, list)
        and all(isinstance(case, dict) and case.get("state") in STATES for case in cases)
        and all(isinstance(case.get("id"), str) for case in cases)
    )


def _same(a: Path, b: Path) -> bool:
    return b.is_file() and a.read_bytes() == b.read_bytes()
