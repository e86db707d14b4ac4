"""The store of a campaign: a folder with numbers in Zarr and an index of finished blocks.

    campaign.json        what is run, and how: key, table, step, channels
    results.zarr/        one array per variable, cases first, one chunk per block
    index/000012.json    written last, whole or not at all: block 12 is there

A block counts as finished when its index file is there and its chunks have the sizes and checksums
that it names. Whatever was cut off, lost or changed makes a block missing, and it is run again.
Checksums are CRC-32: of every chunk, of the index file itself, of `campaign.json`, and there of the
labels and descriptions of the arrays. They find damage, not a forger.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import shlex
import shutil
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.campaigns.beginning import code
from swelltree.engine.arrays import Tree
from swelltree.system.errors import SwelltreeError, listed
from swelltree.system.files.plain_files import plain_bytes, plain_text
from swelltree.system.files.whole_files import is_full, unwritable, write_whole
from swelltree.system.named_values import NamedValues

if TYPE_CHECKING:
    import xarray as xr

ABOUT, RESULTS, INDEX = "campaign.json", "results.zarr", "index"
LAYOUT = 1  # of the store
STATES = ("done", "failed")  # of a case that was run
KEPT = ("name", "key", "cases", "lanes", "dims", "columns", "place", "attrs")  # of ABOUT, at least
SUM = "checksum"  # of the other entries of a JSON file; files of earlier versions have none
PARTS = "parts"  # of ABOUT: size and checksum of each file that describes arrays or labels them


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
            about = json.loads(plain_text(path))
            there = about if isinstance(about, dict) else {}
            lost = [name for name in ("layout", *KEPT) if name not in there]
            if lost:
                raise ValueError(f"it has no {listed(lost)}")
            if not _is_sound(about):
                raise ValueError("its checksum is wrong: it was changed or damaged")
        except FileNotFoundError:
            raise SwelltreeError(
                f"'{self.folder}' holds no campaign: '{ABOUT}' is not there. Check the path, or "
                "run the campaign."
            ) from None
        except (OSError, ValueError, RecursionError) as error:
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
        is_new = not self.exists
        try:
            self._create(about, template)
        except BaseException:
            if is_new:  # a full disk, or the keyboard: nothing half made stays
                for name in (RESULTS, f"{RESULTS}.new", INDEX, ABOUT):
                    shutil.rmtree(self.folder / name, ignore_errors=True)
                    with contextlib.suppress(OSError):
                        (self.folder / name).unlink(missing_ok=True)
            raise

    def _create(self, about: NamedValues, template: xr.Dataset) -> None:
        try:
            (self.folder / INDEX).mkdir(parents=True, exist_ok=True)
            self._make_arrays(template, int(about["cases"]), int(about["lanes"]))
            parts = self._parts(template)
        except OSError as error:
            raise self._unwritable(self.folder / RESULTS, error) from None
        old = self.about() if self.exists else {"layout": LAYOUT, **about}
        if not self.exists or old.get(PARTS) != parts:
            text = json.dumps(signed(old | {PARTS: parts}), indent=1)
            write_whole(self.folder / ABOUT, text)

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

    def _parts(self, template: xr.Dataset) -> NamedValues:
        """Size and checksum of each file that is not part of a block, by path in the arrays."""
        arrays = self.folder / RESULTS
        labels = [str(name) for name in template.coords if name != "case"]
        described = ["zarr.json", *(f"{name}/zarr.json" for name in template.data_vars)]
        files = [file for name in labels for file in (arrays / name).rglob("*") if file.is_file()]
        files += [arrays / name for name in described]
        return {f.relative_to(arrays).as_posix(): sum_of(f.read_bytes()) for f in sorted(files)}

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
        write_whole(self._index(block), json.dumps(signed(entry)))

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
        return sum_of(plain_bytes(self._chunk(name, block)))

    def entry(self, block: int) -> NamedValues | None:
        """The index of a block, None where there is none that can be read."""
        try:
            entry = json.loads(plain_text(self._index(block)))
        except (OSError, ValueError, RecursionError):
            return None
        return entry if _is_entry(entry) and entry["block"] == block else None

    def has_index(self, block: int) -> bool:
        """Whether there is an index of a block, whole or not."""
        return self._index(block).exists()

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

    def repair(self) -> str:
        """The command that runs again what is missing or damaged."""
        return shlex.join(["swelltree", "sweep", "CAMPAIGN", "--out", str(self.folder), "--resume"])

    def verify(self) -> tuple[int, list[str]]:
        """Read all of it: how many blocks are whole, and a message for each damage."""
        about = self.about()
        found = []
        for name, kept in about.get(PARTS, {}).items():
            try:
                is_kept = sum_of(plain_bytes(self.folder / RESULTS / name)) == kept
            except OSError:
                is_kept = False
            if not is_kept:
                found.append(f"'{RESULTS}/{name}', labels of the results, is damaged")
        if found:
            return 0, found
        blocks = range(-(-int(about["cases"]) // int(about["lanes"])))
        whole = self.entries(len(blocks))
        for block in blocks:
            if block not in whole and self.has_index(block):
                found.append(f"block {block} is damaged")
        return len(whole), found


def need_packages() -> None:
    """Raise an error where the packages of the extra are not installed."""
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
        _is_sound(entry)
        and isinstance(sums, dict)
        and len(sums) > 0
        and all(isinstance(pair, list) and len(pair) == 2 for pair in sums.values())
        and isinstance(cases, list)
        and all(isinstance(case, dict) and case.get("state") in STATES for case in cases)
        and all(isinstance(case.get("id"), str) for case in cases)
    )


def sum_of(content: bytes) -> list[int]:
    """Size and checksum of a file."""
    return [len(content), zlib.crc32(content)]


def _own_sum(entries: NamedValues) -> int:
    """Checksum of what a JSON file says, without the checksum."""
    rest = {key: value for key, value in entries.items() if key != SUM}
    return zlib.crc32(json.dumps(rest, sort_keys=True).encode())


def signed(entries: NamedValues) -> NamedValues:
    """What a JSON file says with its checksum."""
    plain = json.loads(json.dumps(entries))  # as it will be read
    return plain | {SUM: _own_sum(plain)}


def _is_sound(entries: NamedValues) -> bool:
    """Whether the content of a JSON file is what was written."""
    return SUM not in entries or entries[SUM] == _own_sum(entries)


def _same(a: Path, b: Path) -> bool:
    return b.is_file() and a.read_bytes() == b.read_bytes()
