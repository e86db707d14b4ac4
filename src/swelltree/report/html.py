"""Small pieces of HTML; every text is escaped here and nowhere else."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.values import NamedValues

if TYPE_CHECKING:
    import xarray as xr


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], total: int = 0, numbers: bool = True
) -> str:
    """A table.

    Args:
        heads: of the columns.
        rows: of texts.
        total: rows at the end that are sums.
        numbers: all columns but the first are numbers.
    """
    right = [" class=n" if numbers and i else "" for i in range(len(heads))]
    head = "".join(
        f'<th scope="col"{c}>{escape(text)}</th>' for c, text in zip(right, heads, strict=True)
    )
    body = "".join(
        f"<tr{' class=sum' if total and i == len(rows) - total else ''}>"
        + "".join(f"<td{c}>{escape(text)}</td>" for c, text in zip(right, row, strict=True))
        + "</tr>"
        for i, row in enumerate(rows)
    )
    return (
        '<div class="scroll" tabindex="0" role="group" aria-label="Table">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def card(title: str, content: str) -> str:
    """A section with a heading; the content is HTML."""
    return f'<section class="card"><h2>{escape(title)}</h2>{content}</section>'


def folded(title: str, content: str) -> str:
    """Collapsible section; the content is HTML."""
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


# --- The papers behind the methods that a result used, found from its own attributes

FORMULATIONS = {
    "path_matrix": "MBS4WEC, Dynamic simulation of multi-body systems for wave energy conversion "
    "with non-linear body-to-body joints, NUI Maynooth. (path matrix)",
    "partial_velocity": "Ó Catháin, Fossen, Leira (2006), Control-oriented modeling of a 2-body "
    "interconnected marine structure, MCMC'06, Lisbon. (partial velocities)",
    "composite_body": "Wuillaume, Rongère, Babarit, Philippe, Ferrant (2017), and Featherstone "
    "(2008), Rigid Body Dynamics Algorithms, Springer. (composite bodies)",
    "partition": "Paparella, Bacelli, Ó Catháin, Ringwood (2015), On the solution of multi-body "
    "wave energy converter motions using pseudo-spectral methods, EWTEC. (coordinate partition)",
    "lagrange": "Fabien, An approach to modeling multibody systems with compliant moorings, "
    "University of Washington; Paparella et al. (2015). (Lagrange multipliers)",
}
SOLVERS = {
    "tsit5": "Tsitouras (2011), Runge-Kutta pairs of order 5(4) satisfying only the first column "
    "simplifying assumption, Computers & Mathematics with Applications 62. (time stepping)",
    "dopri5": "Dormand, Prince (1980), A family of embedded Runge-Kutta formulae, Journal of "
    "Computational and Applied Mathematics 6. (time stepping)",
}
# variable of the result -> paper
FORCES = {
    "radiation_force": "Cummins (1962), The impulse response function and ship motions, "
    "Schiffstechnik 9; Gustavsen, Semlyen (1999), Rational approximation of frequency domain "
    "responses by vector fitting, IEEE Transactions on Power Delivery 14. (radiation memory)",
    "drift_force": "Pinkster (1980), Low frequency second order wave exciting forces on floating "
    "structures, TU Delft; Newman (1974). (second-order wave loads)",
    "member_force": "Morison, Johnson, Schaaf, O'Brien (1950), The force exerted by surface waves "
    "on piles, Petroleum Transactions 189. (slender members)",
    "slamming_force": "von Karman (1929), The impact on seaplane floats during landing, NACA "
    "TN 321. (entry into the water)",
    "line_position": "Wuillaume et al. (2017). (cables)",
}
SEAS = {
    "Jonswap": "Hasselmann et al. (1973), Measurements of wind-wave growth and swell decay during "
    "the Joint North Sea Wave Project, Deutsche Hydrographische Zeitschrift A8. (sea spectrum)",
    "PiersonMoskowitz": "Pierson, Moskowitz (1964), A proposed spectral form for fully developed "
    "wind seas, Journal of Geophysical Research 69. (sea spectrum)",
    "OchiHubble": "Ochi, Hubble (1976), Six-parameter wave spectra, ICCE. (sea spectrum)",
    "FocusedWave": "Tromans, Anaturk, Hagemeijer (1991), A new model for the kinematics of large "
    "ocean waves, ISOPE. (focused wave)",
    "StreamFunction": "Fenton (1988), The numerical solution of steady water wave problems, "
    "Computers & Geosciences 14. (steep wave)",
    "Cos2s": "Jefferys (1987), Directional seas should be ergodic, Applied Ocean Research 9. "
    "(short-crested sea)",
}
RAYLEIGH = (
    "Longuet-Higgins (1952), On the statistical distribution of the heights of sea waves, Journal "
    "of Marine Research 11. (most probable maximum)"
)


def citations(dataset: xr.Dataset) -> list[str]:
    """References of the methods of a result."""
    attrs = dataset.attrs
    wave = str(attrs.get("sea", ""))
    texts = [
        FORMULATIONS.get(str(attrs.get("formulation", "")), ""),
        SOLVERS.get(str(attrs.get("solver", "")), ""),
        *(text for name, text in FORCES.items() if name in dataset),
        *(text for name, text in SEAS.items() if name in wave),
        RAYLEIGH if "time" in dataset.dims else "",
    ]
    return list(dict.fromkeys(text for text in texts if text))


# --- Numbers packed for a page: 16 bits each, differences in time, compressed, as text

TOP = 32767
GAP = -32768  # stands for a missing value


class Blocks:
    def __init__(self) -> None:
        self.texts: list[str] = []

    def add(self, values: np.ndarray) -> NamedValues:
        """Pack samples (time, channel); the result says how to read them.

        Args:
            values: real numbers; NaN is kept as a gap.
        """
        about, text = write_block(np.asarray(values, float).reshape(len(values), -1))
        self.texts.append(text)
        return about | {"block": len(self.texts) - 1}


def write_block(values: np.ndarray) -> tuple[NamedValues, str]:
    """A block and its description: rows, columns, order of differences, offsets and scales."""
    gaps = ~np.isfinite(values)
    low = np.where(gaps, np.inf, values).min(0, initial=np.inf)
    high = np.where(gaps, -np.inf, values).max(0, initial=-np.inf)
    low, high = np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 0.0)
    offset, scale = 0.5 * (low + high), (high - low) / (2 * TOP)
    steps = np.round((np.where(gaps, offset, values) - offset) / np.where(scale > 0, scale, 1.0))
    numbers = np.where(gaps, GAP, steps).astype(np.int16)
    order = min(range(3), key=lambda n: len(_compressed(numbers[:2048], n, 1)))
    about = {
        "rows": values.shape[0],
        "columns": values.shape[1],
        "order": order,
        "offset": [_digits(x) for x in offset],
        "scale": [_digits(x) for x in scale],
    }
    return about, base64.b64encode(_compressed(numbers, order, 6)).decode()


def _digits(value: float) -> float:
    return float(f"{value:.10g}")


def _compressed(numbers: np.ndarray, order: int, level: int) -> bytes:
    """Differences in time by channel, low bytes before high bytes, deflated."""
    rows = numbers.T.astype(np.int16, order="C")
    for _ in range(order):
        rows = np.diff(rows, axis=1, prepend=np.int16(0))  # wraps around, and back when read
    planes = rows.astype("<i2").view(np.uint8).reshape(-1, 2).T
    return zlib.compress(np.ascontiguousarray(planes).tobytes(), level)
