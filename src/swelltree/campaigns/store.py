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
import os
import platform
import shlex
import shutil
import threading
import time
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from swelltree.campaigns.cases import code
from swelltree.describe.errors import SwelltreeError, listed
from swelltree.describe.files.atomic import (
    is_full,
    plain_bytes,
    plain_text,
    unwritable,
    write_atomic,
)
from swelltree.describe.values import NamedValues
from swelltree.hydro.linear.radiation import radiation_memory, with_radiation_memory
from swelltree.jit import Contents, Tree, hashed, leaves_of
from swelltree.model.model import Described, Model

if TYPE_CHECKING:
    import xarray as xr

ABOUT, RESULTS, INDEX = "campaign.json", "results.zarr", "index"
LAYOUT = 1  # of the store
STATES = ("done", "failed")  # of a case that was run
REQUIRED_KEYS = (
    "name",
    "key",
    "cases",
    "lanes",
    "dims",
    "columns",
    "place",
    "attrs",
)  # of ABOUT, at least
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
        return (self.folder / ABOUT).exists()

    def about(self) -> NamedValues:
        path = self.folder / ABOUT
        try:
            about = json.loads(plain_text(path))
            there = about if isinstance(about, dict) else {}
            lost = [name for name in ("layout", *REQUIRED_KEYS) if name not in there]
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
            write_atomic(self.folder / ABOUT, text)

    def _make_arrays(self, template: xr.Dataset, cases: int, lanes: int) -> None:
        import dask.array as da

        complete = template.isel(case=0, drop=True)
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
        blank = complete.drop_vars(list(complete.data_vars)).assign(data)
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
        """Size and checksum of each file outside the blocks, by path in the arrays."""
        arrays = self.folder / RESULTS
        labels = [str(name) for name in template.coords if name != "case"]
        described = ["zarr.json", *(f"{name}/zarr.json" for name in template.data_vars)]
        files = [file for name in labels for file in (arrays / name).rglob("*") if file.is_file()]
        files += [arrays / name for name in described]
        return {f.relative_to(arrays).as_posix(): sum_of(f.read_bytes()) for f in sorted(files)}

    @property
    def variables(self) -> NamedValues:
        """Stored arrays by name, opened once."""
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
                    "with --resume, which computes it again."
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
        write_atomic(self._index(block), json.dumps(signed(entry)))

    def _unwritable(self, path: Path, error: OSError) -> SwelltreeError:
        if is_full(error):
            return SwelltreeError(
                f"the disk of '{path}' is full. Free some space and continue with --resume; all "
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
        """Index of a block; None if there is none or it cannot be read."""
        try:
            entry = json.loads(plain_text(self._index(block)))
        except (OSError, ValueError, RecursionError):
            return None
        return entry if _is_entry(entry) and entry["block"] == block else None

    def has_index(self, block: int) -> bool:
        """Whether a block has an index, valid or not."""
        return self._index(block).exists()

    def is_complete(self, block: int, entry: NamedValues | None, *, thorough: bool = True) -> bool:
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
        """Index of all complete blocks by number."""
        entries = ((block, self.entry(block)) for block in range(blocks))
        return {
            block: entry
            for block, entry in entries
            if entry is not None and self.is_complete(block, entry, thorough=thorough)
        }

    def repair(self) -> str:
        """Command that runs missing and damaged cases again."""
        return shlex.join(["swelltree", "sweep", "CAMPAIGN", "--out", str(self.folder), "--resume"])

    def verify(self) -> tuple[int, list[str]]:
        """Verify all checksums: number of intact blocks, and a message for each damaged item."""
        about = self.about()
        found = []
        for name, stored in about.get(PARTS, {}).items():
            try:
                is_stored = sum_of(plain_bytes(self.folder / RESULTS / name)) == stored
            except OSError:
                is_stored = False
            if not is_stored:
                found.append(f"'{RESULTS}/{name}', labels of the results, are damaged")
        if found:
            return 0, found
        blocks = range(-(-int(about["cases"]) // int(about["lanes"])))
        complete = self.entries(len(blocks))
        for block in blocks:
            if block not in complete and self.has_index(block):
                found.append(f"block {block} is damaged")
        return len(complete), found


def need_packages() -> None:
    missing = [name for name in ("zarr", "dask") if importlib.util.find_spec(name) is None]
    if missing:
        raise SwelltreeError(
            f"the store of a campaign needs {' and '.join(missing)}. Install the extra: pip "
            "install 'swelltree[campaign]'; or use simulate_batch, which keeps all in memory."
        )


def _is_entry(entry: Tree) -> bool:
    """Whether an index has the expected structure."""
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
    return [len(content), zlib.crc32(content)]


def _own_sum(entries: NamedValues) -> int:
    """Checksum of the content of a JSON file, excluding the checksum itself."""
    rest = {key: value for key, value in entries.items() if key != SUM}
    return zlib.crc32(json.dumps(rest, sort_keys=True).encode())


def signed(entries: NamedValues) -> NamedValues:
    """Content of a JSON file with its checksum."""
    plain = json.loads(json.dumps(entries))  # as it will be read
    return plain | {SUM: _own_sum(plain)}


def _is_sound(entries: NamedValues) -> bool:
    """Whether the checksum of a JSON file is correct."""
    return SUM not in entries or entries[SUM] == _own_sum(entries)


def _same(a: Path, b: Path) -> bool:
    return b.is_file() and a.read_bytes() == b.read_bytes()


# --- One driver per store: a lock that the system takes back when its owner dies

FILE = "lock.json"
STALE = 120.0  # s without renewal
RENEWED = 10.0  # s between renewals


class DriverLock:
    """Held by the one process that drives a campaign into a store.

    Args:
        folder: of the store.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._file: IO[str] | None = None
        self._ended = threading.Event()

    def __enter__(self) -> DriverLock:
        try:
            file = self.path.open("a+", encoding="utf-8")
        except OSError as error:
            raise unwritable(self.path, error) from None
        if not _taken(file):
            owner = self.owner()
            file.close()
            raise SwelltreeError(
                f"campaign '{self.path.parent}' is being run by process {owner.get('process')} on "
                f"'{owner.get('machine')}' since {owner.get('since')}. Wait for it, or end it."
            )
        self._file = file
        owner = {
            "machine": platform.node(),
            "process": os.getpid(),
            "since": time.strftime("%Y-%m-%d %H:%M:%S"),
        }
        try:
            file.truncate(0)
            file.write(json.dumps(owner))
            file.flush()
        except OSError as error:
            self.path.unlink(missing_ok=True)
            raise unwritable(self.path, error) from None
        threading.Thread(target=self._renew, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        assert self._file is not None
        self._ended.set()
        if os.name == "nt":  # an open file cannot be removed there
            self._file.close()
        self.path.unlink(missing_ok=True)
        self._file.close()

    def _renew(self) -> None:
        """Renew the lock periodically: a block or a queue may take hours."""
        while not self._ended.wait(RENEWED):
            try:
                os.utime(self.path)
            except OSError:  # removed by hand: the lock on the open file is still ours
                return

    def owner(self) -> NamedValues:
        """Content of the lock file."""
        try:
            return dict(json.loads(plain_text(self.path)))
        except (OSError, ValueError):
            return {"process": "unknown", "machine": "unknown", "since": "unknown time"}


def _taken(file: IO[str]) -> bool:
    """Whether this process holds the lock on an open file."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system: judge by age
        return _is_stale(Path(file.name))
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # this file system has no locks
        return _is_stale(Path(file.name))
    # the owner before removes the file when it ends: is it still the one of that name?
    try:
        return os.fstat(file.fileno()).st_ino == file_number(Path(file.name))
    except OSError:
        return False


def file_number(path: Path) -> int:
    """Inode number of a file."""
    return path.stat().st_ino


def _is_stale(path: Path) -> bool:
    stat = path.stat()
    return stat.st_size == 0 or time.time() - stat.st_mtime > STALE


# --- What the numbers of a campaign's cases depend on, as one hash

NOISE = 1e-13  # of the largest number of an array: nothing but rounding


class Rounded(Contents):
    """Hasher that rounds arrays to seven digits."""

    def _array(self, array: np.ndarray) -> str:
        if array.dtype.kind not in "fc" or not array.size:
            return super()._array(array)
        size = np.abs(np.where(np.isfinite(array), array, 0.0))
        array = np.where(np.isfinite(array) & (size <= NOISE * size.max()), 0.0, array)
        with np.errstate(over="ignore"):  # numbers that mean "no limit" become infinite
            short = array.astype(np.complex64 if array.dtype.kind == "c" else np.float32)
        return super()._array(np.asarray(short + 0.0))  # no zero below zero


def campaign_key(model: Model, *others: object) -> str:
    """Hash of a model and of all else that the numbers of its cases depend on.

    Args:
        model: from `compile`.
        others: the sea, options.
    """
    contents = Rounded()
    parts = [_sizes_of_memory(model), model.replace(described=Described()), *others]
    if radiation_memory(model) is not None:
        parts[1] = with_radiation_memory(model, None).replace(described=Described())
    return hashed(*(contents.of(part) for part in parts))[:32]


def _sizes_of_memory(model: Model) -> list[object]:
    """Kind and array sizes of the radiation memory."""
    memory = radiation_memory(model)
    if memory is None:
        return []
    sizes = [np.shape(leaf) for leaf in leaves_of(memory)]
    return [type(memory).__name__, memory.required_step, *sizes]
