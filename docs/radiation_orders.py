"""Writes the table of orders of theory/radiation.md: `.venv/bin/python docs/radiation_orders.py`.

Data of other codes are read from the folder that `SWELLTREE_REFDATA` names.
"""

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import swelltree as sw
from swelltree.gallery.pack import data_file
from swelltree.hydro.radiation.fit import fit_radiation
from validation.table import reference_folder

TABLE = Path(__file__).parent / "tables" / "radiation.md"
# data, their file and highest frequency, then (method, error asked for, most states)
ROWS: dict[str, tuple[Path, float, tuple[tuple[str, float, int], ...]]] = {
    "two barges, 12 x 12, to 9 rad/s": (
        data_file("tank"),
        9.0,
        (
            ("vector_fitting", 0.05, 72),
            ("vector_fitting", 0.03, 72),
            ("vector_fitting", 0.001, 72),
            ("balanced", 0.05, 72),
            ("era", 0.05, 48),
            ("kristiansen", 0.05, 432),
            ("per_entry", 0.05, 432),
        ),
    ),
    "sphere, 6 x 6, to 12 rad/s": (
        reference_folder() / "bem_sphere" / "iea_oes_task10" / "sphere.h5",
        12.0,
        (("vector_fitting", 0.01, 40), ("vector_fitting", 0.001, 40)),
    ),
    "RM3, 12 x 12, to 5.2 rad/s": (
        reference_folder() / "bem_rm3" / "wamit" / "rm3.out",
        5.2,
        (("vector_fitting", 0.05, 72), ("vector_fitting", 0.03, 72)),
    ),
    "OSWEC, 12 x 12, to 8 rad/s": (
        reference_folder() / "bem_oswec" / "capytaine",
        8.0,
        (("vector_fitting", 0.03, 72),),
    ),
    "three barges, 18 x 18, to 2.2 rad/s": (
        data_file("barges"),
        2.2,
        (
            ("vector_fitting", 0.05, 108),
            ("vector_fitting", 0.03, 108),
            ("balanced", 0.03, 140),
        ),
    ),
    "five-segment attenuator, 30 x 30, to 3 rad/s": (
        reference_folder() / "bem_5sa" / "5sa_capytaine.nc",
        3.0,
        (("vector_fitting", 0.08, 126),),
    ),
}


def radiation(path: Path) -> tuple[Any, ...]:
    """Frequencies, added mass, damping and added mass at infinity of a file."""
    if path.is_dir():
        path = sorted(path.glob("*.nc"))[0]
    rho = {"rho": 1000.0} if path.suffix == ".out" else {}
    data = sw.read_hydro(path, check=False, gaps="drop", **rho)
    omega = data["omega"].values
    A, B = (data[n].transpose("omega", ...).values for n in ("added_mass", "radiation_damping"))
    rows = np.isfinite(omega) & (omega > 0)
    return omega[rows], A[rows], B[rows], A[-1] if np.isinf(omega[-1]) else None


def main() -> None:
    """Fit everything and write the table."""
    lines = [
        "| data | method | states | error | min eigenvalue / max abs K |",
        "|---|---|---|---|---|",
    ]
    for name, (path, highest, requested) in ROWS.items():
        omega, A, B, A_inf = radiation(path)
        for k, (method, error, order) in enumerate(requested):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fit = fit_radiation(
                    *(omega, A, B, A_inf),
                    error=error,
                    max_order=order,
                    method=method,
                    omega_max=highest,
                    cache=False,
                )
            lines.append(
                f"| {'' if k else name} | `{method}` | {fit.order} | {100 * fit.error:.2g} % | "
                f"{fit.passivity_margin:.0e} |"
            )
            sys.stdout.write(lines[-1] + "\n")
            sys.stdout.flush()
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
