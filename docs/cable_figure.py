"""Draws the figure of the page on cables: `python docs/cable_figure.py`."""

from pathlib import Path

import matplotlib.pyplot as plt

import swelltree as sw
from swelltree.validation.cables import READINGS, floater_run, table_1

HERE = Path(__file__).parent


def main() -> None:
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
    for ax, (words, damping) in zip(axes, READINGS.items(), strict=False):
        model = sw.compile(table_1("multibody", "block", damping))
        run = sw.simulate(model, duration=10.0, output_step=0.01)
        for k in range(3):
            ax.plot(
                run.time, run.line_stretched_length.isel(line=0, line_segment=k), label=f"{k + 1}"
            )
        ax.set(xlabel="time [s]", ylabel="length of element [m]", title=words)
        ax.legend(frameon=False)
        ax.grid(alpha=0.3)
    for words, with_cable in (("with cable", True), ("one piece", False)):
        run = floater_run(with_cable)
        axes[2].plot(run.time, run.position.sel(body="float", dof="Surge"), label=words)
    axes[2].set(xlabel="time [s]", ylabel="surge [m]", title="section 6.2")
    axes[2].legend(frameon=False)
    axes[2].grid(alpha=0.3)
    figure.savefig(HERE / "_static" / "cables.png", dpi=110)


if __name__ == "__main__":
    main()
