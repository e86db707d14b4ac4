"""Random numbers by counting: each depends on its key alone, never on what was drawn before.

Serial, parallel and batched runs therefore meet the same sea, and adding components leaves the
numbers of the others alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from swelltree.engine.arrays import Array, known

PHASE, JITTER, AMPLITUDE, HEADING = range(4)


def case_number(case: int | str) -> int:
    """The number of a case; a name is hashed."""
    if isinstance(case, str):
        return int.from_bytes(hashlib.blake2b(case.encode(), digest_size=8).digest(), "little")
    return int(case) % 2**64


def uniforms(seed: Array, case: int | str, count: int, train: int = 0) -> Array:
    """Numbers in [0, 1), four for each component: for phase, jitter, amplitude, heading.

    Philox gives one block of four numbers per count, so component i always owns block i of the
    key (seed, case) and of the train.

    Args:
        seed: of the sea; one that JAX is tracing is drawn by calling back.
        case: number or name of the run.
        count: how many components.
        train: number of the wave train in a sea of several.

    Returns:
        (count, 4)
    """
    if not known(seed):
        return _called_back(seed, case, count, train)
    generator = np.random.Philox(
        key=np.array([seed, case_number(case)], np.uint64),
        counter=np.array([0, 0, 0, train], np.uint64),
    )
    raw = generator.random_raw(4 * count).reshape(count, 4)
    return (raw >> np.uint64(11)) * 2.0**-53


def uniforms_of_many(seeds: Sequence[int], cases: Sequence[int | str], count: int) -> np.ndarray:
    """The numbers of `uniforms` for many seeds and runs, (seed, count, 4), by one generator."""
    generator = np.random.Philox(key=np.zeros(2, np.uint64))
    state = generator.state
    raw = np.empty((len(seeds), 4 * count), np.uint64)
    for k, (seed, case) in enumerate(zip(seeds, cases, strict=True)):
        state["state"]["key"] = np.array([seed, case_number(case)], np.uint64)
        generator.state = state
        raw[k] = generator.random_raw(4 * count)
    return ((raw >> np.uint64(11)) * 2.0**-53).reshape(len(seeds), count, 4)


def _called_back(seed: Array, case: int | str, count: int, train: int) -> Array:
    """The same numbers inside compiled programs."""
    from swelltree.engine.backend import jax

    shape = jax.ShapeDtypeStruct((count, 4), float)
    return jax.pure_callback(
        lambda given: uniforms(int(given), case, count, train),
        shape,
        seed,
        vmap_method="sequential",
    )
