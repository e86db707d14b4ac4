"""One look for all plots, and how they are kept."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.files.atomic import write_atomic
from swelltree.describe.values import NamedValues
from swelltree.report.scene import COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend


INK = "#22303c"
SOFT = "#5b6b79"
FORMATS = ("png", "svg", "pdf")


class Picture(Figure):
    """A figure that notebooks show without a plotting backend."""

    def _repr_png_(self) -> bytes:
        return to_png(self)


def figure(
    rows: int, columns: int = 1, width: float = 9.6, height: float = 4.0, **more: object
) -> tuple[Figure, np.ndarray]:
    """A figure with styled axes, (rows, columns) of them."""
    fig = Picture(figsize=(width, height), layout="constrained", facecolor="white")
    options: NamedValues = {"sharex": True} | more
    axes = fig.subplots(rows, columns, squeeze=False, **options)
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines[["left", "bottom"]].set_color("#9aa7b2")
        ax.tick_params(colors=SOFT, labelsize=8)
        ax.grid(True, color="#e6ebef", linewidth=0.8)
        ax.set_axisbelow(True)
        ax.margins(x=0)
    return fig, axes


def color(number: int) -> str:
    return COLORS[number % len(COLORS)]


def style(number: int) -> str:
    """Line style: solid, then dashed, then dotted after all colours are used."""
    return ("-", "--", ":")[min(number // len(COLORS), 2)]


def heading(ax: Axes, text: str, unit: str) -> None:
    """Title of a panel with its unit, without math formatting."""
    text = short(text, 90)
    ax.set_title(text, loc="left", fontsize=9.5, color=INK, fontweight="bold", parse_math=False)
    ax.set_title(unit, loc="right", fontsize=8, color=SOFT)


def below(ax: Axes, text: str) -> None:
    """Label of the horizontal axis."""
    ax.set_xlabel(text, fontsize=8.5, color=INK)


def no_tiny_range(ax: Axes) -> None:
    """Enlarge ranges that contain rounding errors only."""
    low, high = ax.get_ylim()
    if high - low < 1e-6:
        ax.set_ylim(-1.0, 1.0)


def legend(ax: Axes, entries: int, columns: int, fontsize: float = 8) -> None:
    """Legend above the panel."""
    rows = -(-entries // columns)
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + (0.02 + 0.11 * rows) * (high - low))
    built = ax.legend(
        fontsize=fontsize, frameon=False, ncols=columns, loc="upper left", borderaxespad=0.2
    )
    plain(built)


def plain(built: Legend) -> None:
    """Disable math formatting of legend labels."""
    for text in built.get_texts():
        text.set_parse_math(False)
        text.set_text(short(text.get_text()))


def short(text: str, most: int = 32) -> str:
    """A name cut to a maximum length."""
    return text if len(text) <= most else text[: most - 1] + "…"


def to_png(fig: Figure, dpi: int = 130) -> bytes:
    """A figure as the bytes of a PNG file.

    Args:
        fig: from one of the plots.
        dpi: points per inch.
    """
    return _bytes(fig, "png", dpi)


def _bytes(fig: Figure, kind: str, dpi: int) -> bytes:
    stream = io.BytesIO()
    fig.savefig(stream, format=kind, dpi=dpi)
    return stream.getvalue()


def write_figure(fig: Figure, path: str | Path, dpi: int = 130) -> Path:
    """Keep a figure as a file, whole or not at all.

    Args:
        fig: from one of the plots.
        path: ending in .png, .svg or .pdf.
        dpi: points per inch of a PNG.
    """
    path = Path(path)
    kind = path.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise SwelltreeError(
            f"figure '{path}': a plot is kept as .png, .svg or .pdf. Choose one of these endings."
        )
    return write_atomic(path, _bytes(fig, kind, dpi))
