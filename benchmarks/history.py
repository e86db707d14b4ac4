"""The figure of earlier measurements: `history.json`, drawn as before and after of every case."""

import json
from pathlib import Path

import matplotlib.pyplot as plt

HERE = Path(__file__).parent
FIGURE = HERE.parent / "docs" / "_static" / "benchmark_history.png"


def draw(rows: list[dict], path: Path) -> None:
    """One line for each case, from the earliest value to the latest, on a logarithmic axis."""
    kinds = list(dict.fromkeys(row["quantity"] for row in rows))
    counts = [sum(row["quantity"] == kind for row in rows) for kind in kinds]
    figure, axes = plt.subplots(
        len(kinds), 1, figsize=(8.5, 1.6 * len(kinds) + 0.2 * len(rows)), layout="constrained",
        gridspec_kw={"height_ratios": counts},
    )  # fmt: skip
    for ax, kind in zip(axes, kinds, strict=True):
        chosen = [row for row in rows if row["quantity"] == kind][::-1]
        for y, row in enumerate(chosen):
            values = [each["value"] for each in row["values"]]
            ax.plot(values, [y] * len(values), color="0.6", linewidth=1.5, zorder=1)
            ax.plot(values[0], y, "o", markerfacecolor="white", color="#1f6fae", zorder=2)
            ax.plot(values[-1], y, "o", color="#1f6fae", zorder=3)
        ax.set_yticks(range(len(chosen)), [row["case"] for row in chosen], fontsize=7.5)
        ax.set_xscale("log")
        ax.set_title(f"{kind} [s]: earlier (open), later (filled)", loc="left", fontsize=9)
        ax.grid(axis="x", alpha=0.3)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    draw(json.loads((HERE / "history.json").read_text("utf-8")), FIGURE)
