"""Draws the offset curve of the page on moorings: `python docs/offset_figure.py`."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import swelltree as sw

HERE = Path(__file__).parent


def main() -> None:
    page = (HERE / "how-to" / "moorings.md").read_text()
    names: dict = {}
    exec(page.split("```python\n")[1].split("```")[0], names)
    curve = sw.offset_curve(names["model"], "buoy", "Surge", np.linspace(-6, 6, 49))
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    left.plot(curve.offset, curve.restoring_force / 1e3, "k", label="restoring force")
    for name in curve.line.values[:2]:
        tension = curve.fairlead_tension.sel(line=name) / 1e3
        left.plot(curve.offset, tension, "--", label=f"tension of {name}")
    left.set(xlabel="offset in surge [m]", ylabel="[kN]")
    left.grid(alpha=0.3)
    left.legend(frameon=False)
    for offset, style in ((-6, "C1"), (0, "k"), (6, "C0")):
        shape = curve.line_position.sel(offset=offset, line="line1")
        right.plot(shape.sel(axis="x"), shape.sel(axis="z"), style, label=f"{offset} m")
    right.set(xlabel="x [m]", ylabel="z [m]", title="line1")
    right.legend(frameon=False)
    figure.savefig(HERE / "_static" / "offset_curve.png", dpi=110)


if __name__ == "__main__":
    main()
