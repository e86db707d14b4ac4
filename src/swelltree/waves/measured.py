"""A measured record of the free surface as complex components."""

from __future__ import annotations

import gzip
import io
import math
import warnings
import zlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.environment.seas import MOST_COMPONENTS, MeasuredWave
from swelltree.describe.errors import SwelltreeError, listed, warn_user
from swelltree.describe.files.atomic import plain_bytes, user_path
from swelltree.describe.files.hdf5 import broken, read_netcdf4
from swelltree.describe.files.numbers import is_number, to_number
from swelltree.waves.airy import Components
from swelltree.waves.dispersion import AnyWater, dispersion

if TYPE_CHECKING:
    import xarray as xr

PARTED = str.maketrans(",;:", "   ")
EVEN = 1e-6  # of the step: how far samples may be off an even spacing
EXTENDED = 1.1  # length of the series of a band over that of the record
MAX_COMPONENTS = 2000  # components fitted together: as many rows of a dense matrix, twice
RIDGE = 1e-3  # of the number of samples: keeps waves that cancel one another small
MOST_BYTES = 2**29  # of an unpacked record
LOUD = 0.05  # residual above which a warning is given


def read_record(path: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """Time [s] and elevation [m] from a text file with two columns.

    Args:
        path: of the file, which may be compressed by gzip. Columns are separated by blanks, tabs,
            commas, colons or semicolons; lines that begin with #, % or a letter are skipped.
    """
    try:
        content = plain_bytes(user_path(path, "record"), MOST_BYTES)
        if content[:2] == b"\x1f\x8b":
            content = _unpacked(path, content)
        lines = content.decode("utf-8-sig").splitlines()
    except OSError as error:
        raise SwelltreeError(
            f"record '{path}' cannot be read: {error.strerror}. Check the path."
        ) from None
    except UnicodeDecodeError:
        raise SwelltreeError(f"record '{path}' is not text. Give a file of two columns.") from None
    rows = []
    for number, line in enumerate(lines, 1):
        words = line.translate(PARTED).split()
        if not words or line.lstrip()[0] in "#%\"'" or line.lstrip()[0].isalpha():
            continue
        if len(words) < 2 or not (is_number(words[0]) and is_number(words[1])):
            raise SwelltreeError(
                f"record '{path}', line {number}: {line.strip()[:60]!r} is not time and elevation. "
                "Give two numbers on each line."
            )
        fail = partial(_wrong, path, number)
        rows.append((to_number(words[0], "time", fail), to_number(words[1], "elevation", fail)))
    time, eta = np.array(rows).reshape(-1, 2).T
    if len(time) < 4:
        raise SwelltreeError(f"record '{path}' has {len(time)} samples. Give at least four.")
    bad = np.flatnonzero(~(np.isfinite(time) & np.isfinite(eta)))
    if len(bad):
        raise SwelltreeError(
            f"record '{path}': sample {bad[0] + 1} is not finite. Leave it out or fix it."
        )
    back = np.flatnonzero(np.diff(time) <= 0)
    if len(back):
        raise SwelltreeError(
            f"record '{path}': time {time[back[0] + 1]} s follows {time[back[0]]} s. "
            "Give increasing times."
        )
    return time, eta


def _wrong(path: str | Path, number: int, text: str) -> SwelltreeError:
    return SwelltreeError(f"record '{path}', line {number}: {text}")


def _unpacked(path: str | Path, content: bytes) -> bytes:
    """Content of a gzip file, with a size limit."""
    try:
        with gzip.open(io.BytesIO(content)) as file:
            plain = file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise SwelltreeError(
            f"record '{path}' cannot be unpacked: {error}. Is the file whole?"
        ) from None
    if len(plain) > MOST_BYTES:
        raise SwelltreeError(
            f"record '{path}' unpacks to more than {MOST_BYTES >> 20} MiB. Give a shorter one."
        )
    return plain


def recorded(sea: MeasuredWave) -> tuple[np.ndarray, np.ndarray]:
    """Time [s] and elevation [m] of a record."""
    if sea.file is not None:
        return read_record(sea.file)
    return np.array(sea.time), np.array(sea.elevation)


def last_time(sea: MeasuredWave) -> float:
    """End of the record, the latest end of a run [s]."""
    return np.inf if sea.outside == "repeat" else float(recorded(sea)[0][-1])


def check_inside(sea: MeasuredWave, begin: float, end: float) -> None:
    """Reject a run outside the times of a record, unless it is to be repeated there.

    Args:
        sea: MeasuredWave(...).
        begin: of the run [s].
        end: of the run [s].
    """
    if sea.outside == "repeat":
        return
    time, _ = recorded(sea)
    # the series goes on for one step
    step = (time[-1] - time[0]) / (len(time) - 1)
    if begin < time[0] - step or end > time[-1] + step:
        raise sea.fail(
            f"the record holds {time[0]:.6g} to {time[-1]:.6g} s, but the run goes from "
            f"{begin:.6g} to {end:.6g} s. Shift its times, shorten the run, or give "
            "outside='repeat'."
        )


def measured(sea: MeasuredWave, water: AnyWater) -> Components:
    """Components that reproduce a record at its place.

    Args:
        sea: MeasuredWave(...).
        water: depth and g.
    """
    time, eta = recorded(sea)
    result = from_record(time, eta, water, sea.x, sea.y, sea.beta, sea.omega_min, sea.omega_max)
    if not len(result):
        raise sea.fail(
            f"the record of {time[-1] - time[0]:.4g} s has no frequency in the band from "
            f"{sea.omega_min or 0:.4g} to {sea.omega_max or math.inf:.4g} rad/s. Widen the band."
        )
    if result.residual > LOUD:
        warn_user(
            f"{sea.label}: its components miss {100 * result.residual:.3g} % of the record (rms). "
            "Widen the band if that matters."
        )
    return result


def from_record(
    time: np.ndarray,
    eta: np.ndarray,
    water: AnyWater,
    x: float = 0.0,
    y: float = 0.0,
    beta: float = 0.0,
    omega_min: float | None = None,
    omega_max: float | None = None,
) -> Components:
    r"""Complex components of a record by least squares.

    .. math:: \eta(t) \approx \bar\eta + \mathrm{Re} \sum_j A_j e^{-i\omega_j t}, \quad
              \omega_j = 2\pi j / T

    Without a band, T is the length of the record and one mean step, and for even spacing the least
    squares are a Fourier transform. With a band, T is a tenth longer: the jump between the end of
    the record and its beginning then falls outside of it and does not leak into the band. The
    mean is taken off: a mean level is not a wave. The residual is the rms of
    what is missed over the rms of the record, both without the mean.

    Args:
        time: increasing [s].
        eta: [m].
        water: depth and g.
        x: place of the record [m].
        y: [m].
        beta: heading [rad].
        omega_min: lower end of the band [rad/s].
        omega_max: upper end [rad/s].
    """
    n = len(time)
    step = (time[-1] - time[0]) / (n - 1)
    even = bool(np.abs(time - (time[0] + step * np.arange(n))).max() < EVEN * step)
    band = (omega_min or 0.0, math.inf if omega_max is None else omega_max)
    period = n * step
    _check_size(n, period, band, even)
    omega, mean, A, residual = _series(time, eta, period, band, even)
    if band != (0.0, math.inf) and len(omega) < MAX_COMPONENTS:
        longer = _series(time, eta, EXTENDED * period, band, False)
        # a band that does not hold the record would be filled with large waves that cancel
        if longer[-1] < min(residual, LOUD):
            period, (omega, mean, A, residual) = EXTENDED * period, longer
    k = dispersion(omega, water.depth, water.g)
    along = x * math.cos(beta) + y * math.sin(beta)
    return Components(
        amplitude=np.abs(A),
        omega=omega,
        wavenumber=k,
        beta=np.full(len(omega), float(beta)),
        phase=np.angle(A) - k * along,
        repeat_period=float(period),
        residual=residual,
        mean=mean,
        width=np.full(len(omega), 2 * math.pi / period),
    )


def _check_size(n: int, period: float, band: tuple[float, float], even: bool) -> None:
    """Limit the number of components by memory; lower if they are fitted together."""
    count = int((min(math.pi * n / period, band[1]) - band[0]) * period / (2 * math.pi))
    most = MOST_COMPONENTS if even else MAX_COMPONENTS
    if count > most:
        kind = "" if even else "unevenly spaced "
        cure = "" if even else ", or samples at even times"
        raise SwelltreeError(
            f"record: {n} {kind}samples ask for {count} components, more than the {most} that "
            f"{'fit into memory' if even else 'can be fitted together'}. Give a band with "
            f"omega_max{cure}."
        )


def _series(
    time: np.ndarray, eta: np.ndarray, period: float, band: tuple[float, float], even: bool
) -> tuple[np.ndarray, float, np.ndarray, float]:
    """Frequencies in the band, mean and complex amplitudes of the series of a period; residual."""
    n = len(time)
    # samples resolve frequencies below half the sampling rate
    highest = math.pi * (n - 1) / (time[-1] - time[0])
    base = 2 * np.pi / period
    omega = base * np.arange(1, n)
    omega = omega[omega < highest * (1 - 1e-9)]
    inside = (omega >= band[0] * (1 - 1e-12)) & (omega <= band[1] * (1 + 1e-12))
    omega = omega[inside]
    if even:
        mean = float(eta.mean())
        transform = np.fft.rfft(eta - mean)
        stored = np.zeros_like(transform)
        stored[1 : len(inside) + 1] = np.where(inside, transform[1 : len(inside) + 1], 0.0)
        # sum eta exp(+i omega t): the conjugate of numpy's transform
        A = 2 / n * np.conj(transform[1 : len(inside) + 1])[inside] * np.exp(1j * omega * time[0])
        fitted = np.fft.irfft(stored, n)
    else:
        j = 1 + np.flatnonzero(inside)
        mean, A = _least_squares(time, eta, base, j) if len(j) else (float(eta.mean()), np.zeros(0))
        fitted = _record(time, base, j, A) if len(j) else np.zeros(n)
    rms = np.sqrt(np.mean((eta - eta.mean()) ** 2))
    missed = np.sqrt(np.mean((eta - mean - fitted) ** 2))
    return omega, mean, A, float(missed / rms) if rms > 0 else 0.0


def _record(time: np.ndarray, base: float, j: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Re sum A exp(-i j base t)."""
    z, turned = np.exp(-1j * base * time), np.exp(-1j * base * j[0] * time)
    result = np.zeros(len(time))
    for amplitude in A:  # one harmonic after the other, each a turn further
        result += (amplitude * turned).real
        turned *= z
    return result


def _least_squares(
    time: np.ndarray, eta: np.ndarray, base: float, j: np.ndarray
) -> tuple[float, np.ndarray]:
    r"""Mean and complex amplitudes of the harmonics j of a frequency that fit a record best.

    Products of harmonics are harmonics,
    :math:`2 \cos j\theta \cos k\theta = \cos (j-k)\theta + \cos (j+k)\theta`,
    so that the normal equations follow from the sums of :math:`e^{i l \theta}` over the samples.
    """
    sums: np.ndarray = np.empty(2 * j[-1] + 1, complex)
    right: np.ndarray = np.empty(j[-1] + 1, complex)
    z, turned = np.exp(1j * base * time), np.ones(len(time), complex)
    for k in range(len(sums)):
        sums[k] = turned.sum()
        if k < len(right):
            right[k] = turned @ eta
        turned *= z
    less, more = j[:, None] - j[None, :], j[:, None] + j[None, :]
    C, S = np.real(sums), np.imag(sums)
    even, odd = C[np.abs(less)], np.sign(less) * S[np.abs(less)]  # of the difference
    both = np.block(
        [
            [np.array([[C[0]]]), C[j][None], S[j][None]],
            [C[j][:, None], 0.5 * (even + C[more]), 0.5 * (S[more] - odd)],
            [S[j][:, None], 0.5 * (S[more] + odd), 0.5 * (even - C[more])],
        ]
    )
    # what the samples barely distinguish is kept small
    known = np.concatenate([[eta.sum()], np.real(right[j]), np.imag(right[j])])
    both[np.diag_indices_from(both)] += RIDGE * len(time)
    result = np.linalg.solve(both, known)
    m = len(j)
    return float(result[0]), result[1 : m + 1] + 1j * result[m + 1 :]


# --- netCDF files of any version as a dataset: one way for waves, hydrodynamic data and results


def open_netcdf(path: Path, what: str) -> xr.Dataset:
    """A netCDF file, version 4 (HDF5) or 3, in memory.

    Args:
        path: of the file.
        what: it is, for messages: "hydro data", "result file".
    """
    import xarray as xr

    path = user_path(path, what)
    try:
        # numpy's warnings about damaged files add nothing to the error below
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)
            complete = _loaded(path, what)
        return xr.Dataset(dict(complete.variables), attrs=complete.attrs).set_coords(
            complete.coords
        )
    except SwelltreeError:
        raise
    except Exception as error:  # the libraries answer with many kinds
        raise broken(path, what, error) from None


def _loaded(path: Path, what: str) -> xr.Dataset:
    import xarray as xr

    with path.open("rb") as file:
        old = file.read(3) == b"CDF"
    if old:
        with xr.open_dataset(path, engine="scipy") as result:
            complete = result.load()
        _refuse_repeated_dimensions(complete, path, what)
        return complete
    variables, attrs = read_netcdf4(path, what)
    return xr.decode_cf(xr.Dataset(variables, attrs=attrs)).load()


def _refuse_repeated_dimensions(dataset: xr.Dataset, path: Path, what: str) -> None:
    """Reject variables with a repeated dimension: rows and columns have the same name."""
    for name, variable in dataset.variables.items():
        dims = [str(dim) for dim in variable.dims]
        if len(set(dims)) < len(dims):
            raise SwelltreeError(
                f"{what} '{path}': variable {listed([str(name)])} has the dimensions "
                f"{listed(dims)}, of which one is there twice. Is the file whole?"
            )
