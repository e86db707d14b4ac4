"""Checkpoint files: one per chunk, written whole or not at all.

A file holds the state of the stepper at the end of its chunk, the outputs and times of the
chunk and the fingerprint of the run. Plain numpy archives without pickles, so that reading a
foreign file can do no harm.
"""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.engine.arrays import Tree
from swelltree.engine.trees import flatten, leaves_of
from swelltree.system.errors import SwelltreeError
from swelltree.system.files.whole_files import clean_up, whole

if TYPE_CHECKING:
    from swelltree.solvers.problem import Carry


def path(folder: Path, number: int) -> Path:
    """File of a chunk."""
    return folder / f"chunk_{number:06d}.npz"


def index(file: Path) -> int:
    """Number of the chunk of a file."""
    match = re.fullmatch(r"chunk_(\d{6,})", file.stem)
    if match is None:
        raise SwelltreeError(f"checkpoint '{file}': this is not a file of a chunk.")
    return int(match.group(1))


def prepare(folder: Path, resume: bool) -> None:
    """Make the folder, and refuse one in use unless the run is to be resumed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SwelltreeError(
            f"checkpoint '{folder}': the folder cannot be made ({error.strerror}). "
            "Choose a folder you may write to."
        ) from error
    clean_up(folder)
    if not resume and any(folder.glob("chunk_*.npz")):
        raise SwelltreeError(
            f"checkpoint '{folder}': the folder holds an earlier run. "
            "Resume it with resume=True or choose an empty folder."
        )


def write(
    file: Path, key: str, number: int, times: np.ndarray, carry: Carry, outputs: Tree
) -> None:
    """Write one chunk; a crash leaves either the whole file or none."""
    arrays = {f"carry_{i}": x for i, x in enumerate(leaves_of(carry))}
    arrays |= {f"outputs_{i}": x for i, x in enumerate(leaves_of(outputs))}
    try:
        with whole(file) as temporary, temporary.open("wb") as stream:
            np.savez(stream, key=np.array(key), number=np.array(number), times=times, **arrays)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise SwelltreeError(
            f"checkpoint '{file}': the file cannot be written ({error.strerror}). "
            "Free some disk space or choose another folder."
        ) from error


def read(
    file: Path, key: str, times: np.ndarray, carry_like: Carry, outputs_like: Tree
) -> tuple[Tree, Tree]:
    """Carry and outputs of a chunk, refusing a file that is not whole or not of this run.

    Args:
        file: the file.
        key: fingerprint of the run.
        times: output times of the chunk, padded.
        carry_like: tree with the shapes of the carry.
        outputs_like: tree with the shapes of the outputs.
    """
    try:
        with np.load(file, allow_pickle=False) as archive:
            result = {name: archive[name] for name in archive.files}
        found_key, found_number, found_times = (result[name] for name in ("key", "number", "times"))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise SwelltreeError(
            f"checkpoint '{file}': the file is damaged or cut short. "
            "Delete it and resume: the run continues from the file before it."
        ) from error
    if str(found_key) != key:
        raise SwelltreeError(
            f"checkpoint '{file}': the file belongs to another case, other settings or other "
            "versions. Choose an empty folder, or go back to the case and versions it came from."
        )
    if int(found_number) != index(file) or not np.array_equal(found_times, times):
        raise SwelltreeError(
            f"checkpoint '{file}': the file holds other output times than this run asks for. "
            "Choose an empty folder, or ask for the times it was made with."
        )
    trees = []
    for name, like in (("carry", carry_like), ("outputs", outputs_like)):
        leaves, structure = flatten(like)
        values = [result.get(f"{name}_{i}") for i in range(len(leaves))]
        for value, leaf in zip(values, leaves, strict=True):
            if value is None or value.shape != leaf.shape or value.dtype != leaf.dtype:
                raise SwelltreeError(
                    f"checkpoint '{file}': its {name} does not fit this model. "
                    "Choose an empty folder."
                )
        trees.append(structure.unflatten(values))
    return trees[0], trees[1]
