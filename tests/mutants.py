"""Damaged files: a seed makes one damage, always the same.

`damage_text`, `damage_bytes` and `damage_hdf5` change a file in place. Whoever reads it afterwards
gives finite data or a sentence; `outcome` tells which, or what else came.
"""

import random
import resource
import signal
import warnings
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np

from swelltree.describe.errors import SwelltreeError, SwelltreeWarning

NUMBERS = (
    *("nan", "inf", "-inf", "NaN", "1e400", "-1e400", "1e300", "-1e300", "1e30", "1e-300", "1e-30"),
    *("0", "-0.0", "-1", "-5", "1", "40000", "2147483648", "1e19", "0.5", "1.5", "-2.5", "3"),
    *("x", "1,5", "1e", "0x10", "1_000", "--3", "1.2.3", "", "１", "[1, 2]", "'7'", "true", "~"),
)
JUNK = (
    *("[" * 3000, "{" * 3000, "a: " * 500, "- " * 500, "\x00\xff", "9 " * 3000, "\n\n", "é" * 200),
    *("a." * 30_000, "x = " + "9" * 5000),
)


def damage_text(path: Path, seed: int) -> None:
    """Change bytes, lines or numbers of a text file."""
    rng = random.Random(seed)
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    kind = rng.choice(("number", "number", "number", "bytes", "cut", "lines", "junk"))
    if kind == "number":
        for _ in range(rng.choice((1, 1, 2, 5))):
            _other_number(rng, lines)
    elif kind == "cut":
        lines = text[: rng.randrange(len(text) + 1)].split("\n")
    elif kind == "lines":
        _other_lines(rng, lines)
    elif kind == "junk":
        k = rng.randrange(len(lines))
        at = rng.randrange(len(lines[k]) + 1)
        lines[k] = lines[k][:at] + rng.choice(JUNK) + lines[k][at:]
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    if kind == "bytes":
        damage_bytes(path, seed, ("flip", "flip", "insert", "remove"))


def _other_number(rng: random.Random, lines: list[str]) -> None:
    """Another word in place of one that holds a digit."""
    for _ in range(50):
        k = rng.randrange(len(lines))
        words = lines[k].split(" ")
        digits = [i for i, word in enumerate(words) if any(c.isdigit() for c in word)]
        if digits:
            words[rng.choice(digits)] = rng.choice(NUMBERS)
            lines[k] = " ".join(words)
            return


def _other_lines(rng: random.Random, lines: list[str]) -> None:
    """Lines left out, repeated, moved or emptied."""
    a = rng.randrange(len(lines))
    b = min(len(lines), a + rng.choice((1, 1, 1, 3, 10, 40)))
    block = lines[a:b]
    match rng.choice(("remove", "repeat", "repeat elsewhere", "move", "empty")):
        case "remove":
            del lines[a:b]
        case "repeat":
            lines[b:b] = block
        case "repeat elsewhere":
            k = rng.randrange(len(lines))
            lines[k:k] = block
        case "move":
            del lines[a:b]
            k = rng.randrange(len(lines) + 1)
            lines[k:k] = block
        case _:
            lines[a:b] = [""] * len(block)


def damage_bytes(path: Path, seed: int, kinds=("flip", "flip", "cut", "insert", "remove", "zero")):
    """Change the bytes of any file."""
    rng = random.Random(seed)
    content = bytearray(path.read_bytes())
    size = max(len(content), 1)
    a = rng.randrange(size)
    b = a + rng.choice((1, 2, 8, 64, 512))
    match rng.choice(kinds):
        case "flip":
            for _ in range(rng.choice((1, 1, 3, 20))):
                if content:
                    content[rng.randrange(len(content))] = rng.randrange(256)
        case "cut":
            del content[a:]
        case "insert":
            content[a:a] = rng.randbytes(b - a)
        case "remove":
            del content[a:b]
        case _:
            content[a:b] = bytes(len(content[a:b]))
    path.write_bytes(bytes(content))


def damage_hdf5(path: Path, seed: int) -> None:
    """Change the bytes, the structure or the values of an HDF5 file."""
    rng = random.Random(seed)
    if rng.random() < 0.3:
        damage_bytes(path, seed)
        return
    with h5py.File(path, "r+") as file:
        names = ["/"]
        file.visit(names.append)
        for _ in range(rng.choice((1, 1, 1, 2))):
            _other_item(rng, file, rng.choice(names))


def _other_item(rng: random.Random, file: h5py.File, name: str) -> None:
    item = file.get(name)
    if item is None:  # an earlier damage took it away or led it elsewhere
        return
    if isinstance(item, h5py.Dataset) and rng.random() < 0.75:
        _other_dataset(rng, file, name)
        return
    kinds = ("delete", "rename", "attribute", "outside", "nowhere", "group", "dataset")
    match "attribute" if name == "/" else rng.choice(kinds):
        case "delete":
            del file[name]
        case "rename":
            file.move(name, name + "_other")
        case "attribute":
            keys = sorted(item.attrs) or ["note"]
            key = rng.choice(keys)
            if rng.random() < 0.4 and key in item.attrs:
                del item.attrs[key]
            else:
                value = rng.choice((np.nan, "", "1e5", 7, np.zeros(3), np.array([], "f8"), b"\xff"))
                item.attrs[key] = value
        case "outside":
            del file[name]
            file[name] = h5py.ExternalLink("other.h5", "/" + name)
        case "nowhere":
            del file[name]
            file[name] = h5py.SoftLink("/nowhere")
        case "group":
            del file[name]
            file.create_group(name)
        case _:
            del file[name]
            file[name] = 3.0


def _other_dataset(rng: random.Random, file: h5py.File, name: str) -> None:
    """Another value, type or shape of a dataset."""
    if (file[name].size or 0) > 1e8:  # an earlier damage made it huge
        return
    old = file[name][()]
    attrs = {k: v for k, v in file[name].attrs.items() if k not in ("DIMENSION_LIST", "CLASS")}
    values = np.array(old)
    kind = rng.choice(("value", "value", "value", "type", "shape", "shape", "huge"))
    if kind == "value" and values.size:
        odd = rng.choice((np.nan, np.inf, -np.inf, 1e300, -1e300, 0, -1, -5, 1e30, 40000, 1e-300))
        where = tuple(rng.randrange(n) for n in values.shape)
        if values.dtype.kind in "fiu":
            try:
                if rng.random() < 0.2:
                    values[...] = odd
                else:
                    values[where] = odd
            except (OverflowError, ValueError):
                return
            file[name][...] = values
        elif file[name].dtype.kind == "O":
            file[name][where if where else ()] = rng.choice(("", "x", "Heave", "body__", "__", "é"))
        return
    if kind == "type":
        values = rng.choice(
            (np.array("text", "S"), 3.5, values.astype("S"), np.zeros(values.shape, "i4"))
            + (np.zeros(values.shape, "?"), np.zeros(values.shape, "c16"), np.array([], "f8"))
        )
    elif kind == "shape":
        built = [values.reshape(-1), values[None], values.T, values[..., None]]
        if values.ndim:
            built += [values[:-1], values[..., :-1], values[:0], np.concatenate([values, values])]
        values = rng.choice(built)
    del file[name]
    if kind == "huge":
        file.create_dataset(name, shape=(10**6,) * max(values.ndim, 1), chunks=True, dtype="f8")
    elif getattr(values, "dtype", np.dtype("f8")).kind in "OU":
        file.create_dataset(name, data=values.astype(object), dtype=h5py.string_dtype())
    else:
        file[name] = values
    for key, value in attrs.items():
        if key not in ("REFERENCE_LIST",):
            file[name].attrs[key] = value


@contextmanager
def bounded(seconds: float = 20.0, gigabytes: float = 2.0):
    """No more memory and time than whoever reads a small file needs."""
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)

    def stop(*_):
        raise TimeoutError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    resource.setrlimit(resource.RLIMIT_AS, (now + int(gigabytes * 2**30), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def outcome(read, finite) -> str:
    """ "data", "sentence", or what else came of reading a damaged file."""
    try:
        with bounded(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = read()
    except SwelltreeError as error:
        text = str(error)
        if "\n" in text or len(text) > 600:
            return f"not one sentence: {text[:200]!r}"
        return "sentence"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    leaked = [x for x in caught if not issubclass(x.category, SwelltreeWarning)]
    if leaked:  # those of numpy say nothing to whoever reads a file
        return f"{leaked[0].category.__name__}: {leaked[0].message}"
    wrong = finite(found)
    return f"not finite: {wrong}" if wrong else "data"
