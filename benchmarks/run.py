"""All benchmarks in one go, on one machine, as a table with ratios: `make bench`.

Each engine runs in a process of its own, one after the other. Numbers of different machines or runs
are never mixed: a ratio here is always between two lines of the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from chain import Chain

HERE = Path(__file__).parent
SIZES = [2, 3, 10, 30]
COLD_SIZES = [2, 3, 10]
SCATTERER_SIZES = ("500", "1000", "2000")

Row = dict[str, Any]


def collect(python: str, script: str, *arguments: str) -> list[Row]:
    """Run one script and read its lines of JSON."""
    done = subprocess.run(
        [python, str(HERE / script), *arguments], stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{script} stopped with code {done.returncode}: see its message above")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def same_problem(rows: list[Row]) -> None:
    """Refuse to compare engines that did not start from the same energy."""
    for row in rows:
        expected = Chain(row["n_bodies"]).kinetic_energy
        if abs(row["kinetic_energy"] / expected - 1.0) > 1e-9:
            raise SystemExit(
                f"{row['engine']}, {row['n_bodies']} bodies: kinetic energy "
                f"{row['kinetic_energy']} J, but the chain has {expected} J. Not the same problem."
            )


def cost(row: Row) -> float:
    """Time of one right-hand side [us]; inside the engine's own stepper where it has one."""
    return row["rhs_inside_stepper_us"] or row["rhs_us"]


def number(value: float | None, digits: int = 3) -> str:
    """A short number, or a dash where there is nothing to measure."""
    return "-" if value is None else f"{value:.{digits}g}"


def chain_table(rows: list[Row]) -> Table:
    table = Table(title="Hinged chain, rigid dynamics only")
    for heading in ("bodies", "engine", "RHS (us)", "vs MuJoCo", "1 s, RK4 0.01 s (ms)",
                    "vs MuJoCo", "first call (s)", "adaptive (x real time)"):  # fmt: skip
        table.add_column(heading, justify="left" if heading == "engine" else "right")
    for n_bodies in sorted({row["n_bodies"] for row in rows}):
        group = [row for row in rows if row["n_bodies"] == n_bodies]
        peer = next((row for row in group if row["engine"] == "mujoco"), None)
        for row in group:
            second = row["second_ms"]
            table.add_row(
                str(n_bodies),
                f"{row['engine']} {row['version']}",
                number(cost(row)),
                number(cost(row) / cost(peer) if peer else None, 2),
                number(second),
                number(second / peer["second_ms"] if peer and second else None, 2),
                number(row["first_call_s"]),
                number(row.get("adaptive_times_real_time")),
            )
        table.add_section()
    return table


def cold_table(rows: list[Row]) -> Table:
    table = Table(title="Fresh process to first result, 10 s adaptive")
    for heading in ("bodies", "empty cache (s)", "filled cache (s)"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(str(row["n_bodies"]), number(row["cold_s"]), number(row["cached_s"]))
    return table


def floating_table(rows: list[Row]) -> Table:
    table = Table(title="Floating systems, adaptive, sample every 0.1 s (SEA-Stack: as published)")
    for heading in ("system", "radiation states", "x real time", "SEA-Stack", "first call (s)"):
        table.add_column(heading, justify="left" if heading == "system" else "right")
    for row in rows:
        table.add_row(
            row["system"],
            str(row["radiation_states"]),
            f"{row['times_real_time']:.0f}",
            f"{row['published_by_sea_stack']:.0f}",
            number(row["first_call_s"]),
        )
    return table


def periodic_table(rows: list[Row]) -> Table:
    table = Table(title="Periodic motion, hinge barge: series (PS) against Runge-Kutta (RK)")
    for heading in ("equations", "method", "step (s)", "simulated (s)", "warm (ms)", "RK / PS-ODE",
                    "first call (s)"):  # fmt: skip
        table.add_column(heading, justify="left" if heading == "equations" else "right")
    series = {row["who"]: row["warm"] for row in rows if row["method"] == "PS-ODE"}
    for row in rows:
        table.add_row(
            row["who"],
            row["method"],
            number(row.get("step")),
            number(row.get("duration"), 4),
            number(1e3 * row["warm"]),
            number(row["warm"] / series[row["who"]] if row["method"] == "RK" else None),
            number(row["first"]),
        )
    return table


def scatterer_table(rows: list[Row]) -> Table:
    table = Table(title="Weak scatterers: one geometry, and one step of four stages with one of it")
    for heading in ("vertices", "triangles", "device", "assembly (s)", "factors (s)", "stages (s)",
                    "step (s)"):  # fmt: skip
        table.add_column(heading, justify="left" if heading == "device" else "right")
    for row in rows:
        parts = ("assembly_s", "factorisation_s", "stages_s", "step_s")
        table.add_row(
            str(row["vertices"]),
            str(row["triangles"]),
            row["device"],
            *(number(row[part]) for part in parts),
        )
    return table


def as_markdown(table: Table) -> str:
    """A table for the pages."""
    rows = list(zip(*(column.cells for column in table.columns), strict=True))
    lines = [[str(column.header) for column in table.columns], ["---"] * len(table.columns)]
    lines += [[str(cell) for cell in row] for row in rows]
    body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"## {table.title}\n\n{body}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", help="Python with MuJoCo and Pinocchio; without it ours alone")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--json", type=Path, help="also write all numbers to this file")
    parser.add_argument("--markdown", type=Path, help="also write the tables to this file")
    options = parser.parse_args()
    sizes = [str(n) for n in options.sizes]
    cold_sizes = [str(n) for n in options.sizes if n in COLD_SIZES]

    rows = collect(options.peers, "rigid_chain.py", *sizes) if options.peers else []
    rows += collect(sys.executable, "ours.py", *sizes)
    same_problem(rows)
    cold = collect(sys.executable, "cold_start.py", *cold_sizes) if cold_sizes else []
    floating = collect(sys.executable, "floating.py")
    drawn = HERE.parent / "out" / "periodic.png"
    periodic = collect(sys.executable, "periodic.py", "--figure", str(drawn))
    scatterers = collect(sys.executable, "weak_scatterer.py", *SCATTERER_SIZES)

    console = Console()
    where = f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores"
    console.print(where)
    tables = [chain_table(rows)]
    if cold:
        tables.append(cold_table(cold))
    if floating:
        tables.append(floating_table(floating))
    tables += [periodic_table(periodic), scatterer_table(scatterers)]
    for table in tables:
        console.print(table)
    if options.markdown:
        pages = "\n".join(as_markdown(table) for table in tables)
        options.markdown.write_text(f"`python benchmarks/run.py` on {where}\n\n{pages}")
    console.print(f"Figs. 6 and 7 of paper 001 again: {drawn}")
    if options.json:
        everything = {
            "chain": rows,
            "cold_start": cold,
            "floating": floating,
            "periodic": periodic,
            "weak_scatterers": scatterers,
        }
        options.json.write_text(json.dumps(everything, indent=2))


if __name__ == "__main__":
    main()
