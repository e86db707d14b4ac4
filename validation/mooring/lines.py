"""Quasi-static lines: integration in high precision, other codes, balance and energy."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import (
    WORLD,
    Body,
    Cylinder,
    Free,
    Junction,
    Line,
    LineType,
    Seabed,
    System,
    Water,
    Weld,
    chain,
    wire_rope,
)
from swelltree.describe.values import NamedValues
from swelltree.mooring.catenary.catenary import Sections
from swelltree.mooring.catenary.catenary_ends import Bed, Ends, Pieces, ends
from swelltree.mooring.catenary.catenary_stiffness import inside
from swelltree.mooring.catenary.equilibrium_shapes import static_network, static_shape
from swelltree.mooring.network import line_network
from swelltree.multibody.build_layout import all_joints, build_layout
from swelltree.studies.statics.mooring import mooring_stiffness, offset_curve
from swelltree.studies.time.simulate import simulate
from validation.table import Check, case


@dataclass(frozen=True)
class Hanging:
    """A line of one type with end A on the bed or hanging free.

    Args:
        x: horizontal distance [m].
        z: height of B above A [m].
        length: unstretched [m].
        weight: in water [N/m].
        EA: [N].
        on_bed: does A lie on the bed?
        friction: of the bed.
    """

    x: float
    z: float
    length: float
    weight: float
    EA: float
    on_bed: bool = False
    friction: float = 0.0

    def solved(self) -> tuple[Ends, float]:
        """End forces, and the length on the bed, as swelltree finds them."""
        row = (self.length, self.weight, 1.0 / self.EA, float(self.on_bed))
        bed = Bed(np.array(0.0), np.zeros(2), np.array(self.friction))
        sections = Sections(*(np.array([[value]]) for value in row))
        pieces = Pieces(sections, bed, (self.on_bed,), (False,))
        a, b = np.zeros((1, 3)), np.array([[self.x, 0.0, self.z]])
        at_ends = ends(pieces, a, b)
        return at_ends, float(inside(pieces, at_ends, a, b).lying[0, 1])


CLASSIC = {
    "slack": Hanging(150.0, 50.0, 190.0, 800.0, 1e9, on_bed=True),
    "taut": Hanging(300.0, 200.0, 350.0, 150.0, 2e7),
    "near-taut": Hanging(300.0, 200.0, 360.8, 150.0, 2e9),
    "light rope": Hanging(90.0, 60.0, 112.0, -3.0, 5e6),
    "model scale": Hanging(6.95, 0.86, 7.2, 0.59, 29e3, on_bed=True),
    "friction": Hanging(790.0, 180.0, 850.0, 1500.0, 6e8, on_bed=True, friction=0.4),
}


def integrated(line: Hanging, H: float, V: float) -> np.ndarray:
    """Span and height by Gauss quadrature of the equations of the elastic line."""
    w, L = line.weight, line.length
    nodes, weights = np.polynomial.legendre.leggauss(20)

    def sums(edges: np.ndarray, rate: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        half, middle = 0.5 * np.diff(edges), 0.5 * (edges[1:] + edges[:-1])
        s = middle[:, None] + half[:, None] * nodes
        return np.einsum("kpn,p,n->k", rate(s), half, weights)

    def hanging(s: np.ndarray) -> np.ndarray:
        vertical = V - w * (L - s)
        T = np.hypot(H, vertical)
        return np.stack([H / T + H / line.EA, vertical / T + vertical / line.EA])

    def lying(s: np.ndarray) -> np.ndarray:
        T = np.maximum(H - line.friction * w * (turn - s), 0.0)
        return np.stack([1.0 + T / line.EA, 0.0 * s])

    # panels grow from the lowest point, where the line bends most
    turn = min(max(L - V / w, 0.0), L)
    grow = np.linspace(0.0, 1.0, 41) ** 3
    total = sums(turn + (L - turn) * grow, hanging)
    if not line.on_bed:
        return total + sums(turn * (1.0 - grow[::-1]), hanging)
    corner = max(0.0, turn - H / (line.friction * w)) if line.friction else 0.0
    return total + sums(np.array([0.0, corner, turn]), lying)


def root_of(line: Hanging, H: float, V: float) -> np.ndarray:
    """Forces at B that give the ends, by Newton with differences and full steps."""
    u = np.array([H, V])
    goal = np.array([line.x, line.z])
    for _ in range(30):
        r = integrated(line, *u) - goal
        steps = 1e-6 * np.maximum(np.abs(u), 1e-3 * abs(line.weight) * line.length)
        J = np.empty((2, 2))
        for k in range(2):
            shift = np.eye(2)[k] * steps[k]
            rise = integrated(line, *(u + shift)) - integrated(line, *(u - shift))
            J[:, k] = rise / (2.0 * steps[k])
        step = np.linalg.solve(J, -r)
        u = u + step
        if np.abs(step / u).max() < 1e-14:
            break
    return u


@case("lines", "catenary_classic", source="Gauss quadrature of the elastic line, Newton's method")
def classic_catenaries() -> list[Check]:
    """Forces at the upper end in six classic configurations."""
    checks = []
    for name, line in CLASSIC.items():
        ours, _ = line.solved()
        H, V = float(ours.H[0]), float(ours.down_B[0])
        # from a start that is off by more than the tolerance
        requested = root_of(line, H * (1.0 + 1e-4), V * (1.0 + 1e-4))
        error = float(np.abs(np.array([H, V]) / requested - 1.0).max())
        checks.append(Check(f"{name}: force at B", error, 1e-8, "", "rounding of the reference"))
    return checks


@case("lines", "catenary_moorpy", source="MoorPy's own tests", needs="moor_catenary")
def moorpy_catenaries(folder: Path) -> list[Check]:
    """End forces and length on the bed of five lines."""
    checks = []
    with open(folder / "catenary_expected.csv") as file:
        rows = [{key: float(x) for key, x in row.items()} for row in csv.DictReader(file)]
    for row in rows:
        on_bed = row["CB"] >= 0.0
        line = Hanging(
            row["XF_m"],
            row["ZF_m"],
            row["L_m"],
            row["w_N_per_m"],
            row["EA_N"],
            on_bed,
            max(row["CB"], 0.0),
        )
        ours, lying = line.solved()
        requested = [row["fAH_N"], row["fAV_N"], row["fBH_N"], row["fBV_N"]]
        force = [*ours.force_A[0, [0, 2]], *ours.force_B[0, [0, 2]]]
        error = np.abs(np.subtract(force, requested)).max() / abs(row["fBV_N"])
        name = f"case {row['case']:g}"
        why = "tolerance of the reference solution"
        checks.append(Check(f"{name}: forces", float(error), 1e-4, "", why))
        checks.append(Check(f"{name}: on the bed", lying - row["LBot_m"], 1e-3, "m", why))
    return checks


@case("lines", "catenary_static_chain", source="MoorDyn's test case", needs="moor_static_chain")
def static_chain(folder: Path) -> list[Check]:
    """Tension of a chain in 50 m of water at fairlead and anchor."""
    with open(folder / "static_expected.csv") as file:
        (row,) = csv.DictReader(file)
    heavy = LineType("chain", diameter=0.252, mass_per_length=390.0, EA=1.674e9)
    water = Water(rho=1025.0, g=9.80665, depth=float(row["depth_m"]))
    anchor = (float(row["anchor_x_m"]), 0.0, float(row["anchor_z_m"]))
    line = Line("chain", anchor, (0.0, 0.0, 0.0), float(row["L_m"]), heavy, model="quasi_static")
    block = Body("block", mass=1.0, inertia=(1.0, 1.0, 1.0))
    joints = [Weld("held", WORLD, block)]
    # the origin lays its line without friction
    system = System("chain", [block], joints, lines=[line], water=water)
    network = line_network(system, build_layout(system, all_joints(system)), "quasi_static")
    shape = static_shape(system, network.pieces[0], np.array(anchor), np.zeros(3))
    ours = {"fairlead": shape.force_B, "anchor": shape.force_A}
    return [
        Check(
            f"tension at the {name}",
            float(np.linalg.norm(force)) / float(row[f"T_{name}_N"]),
            0.015,
            "",
            "the reference has 41 segments on a soft bed",
            1.0,
        )
        for name, force in ours.items()
    ]


def three_lines() -> System:
    """Two chains and a wire that meet at a junction, and two more chains on the other side."""
    buoy = Body("buoy", hull=Cylinder(radius=3.0, draft=4.0, height=6.0), reference_point=(0, 0, 0))
    knot, light = Junction("knot", (-60.0, 0.0, -30.0), mass=500.0, volume=0.1), chain(0.05)
    way: NamedValues = {"model": "quasi_static"}
    lines = [
        Line("port", (-200.0, 80.0, -50.0), knot, 163.5, light, **way),
        Line("starboard", (-200.0, -80.0, -50.0), knot, 163.5, light, **way),
        Line("bridle", knot, buoy.at(-3.0, 0.0, -1.0), 66.0, wire_rope(0.04), **way),
        Line("aft", (200.0, 0.0, -50.0), buoy.at(3.0, 0.0, -1.0), 212.0, light, **way),
    ]
    joints = [Free("free", WORLD, buoy)]
    return System("network", [buoy], joints, lines=lines, junctions=[knot], water=Water(depth=50.0))


@case("lines", "network_balance", source="balance of forces")
def network_balance() -> list[Check]:
    """Forces on a junction of three lines; vertical forces against the weight off the bed."""
    system = three_lines()
    network = line_network(system, build_layout(system, all_joints(system)), "quasi_static")
    a = np.array([system.end_point(piece.line.A) for piece in network.pieces])
    b = np.array([system.end_point(piece.line.B) for piece in network.pieces])
    rest = static_network(system, network, a, b)
    knot, water = network.junctions[0], system.water
    total = np.array([0.0, 0.0, (water.rho * knot.volume - knot.mass) * water.g])
    for piece, shape in zip(network.pieces, rest.shapes, strict=True):
        total = total + (piece.A.kind == "junction") * shape.force_A
        total = total + (piece.B.kind == "junction") * shape.force_B
    scale = max(float(np.linalg.norm(shape.force_B)) for shape in rest.shapes)
    # the weight that hangs is counted on the shape: the length of its steps that leave the bed
    shape, heavy = rest.shapes[3], network.pieces[3].parts[0].type
    fine = replace(network.pieces[3], parts=(replace(network.pieces[3].parts[0], segments=4000),))
    shape = static_shape(system, fine, a[3], b[3])
    hangs = float((shape.position[1:, 2] > -50.0 + 1e-6).mean()) * fine.length
    weight = heavy.weight_per_length(water.rho, water.g) * hangs
    carried = -float(shape.force_A[2] + shape.force_B[2])
    return [
        Check("imbalance of the junction", float(np.abs(total).max()) / scale, 1e-8, "T", "exact"),
        Check("height of the junction", float(rest.junctions[0, 2]), 20.0, "m", "it hangs", -30.0),
        Check("weight carried", carried / weight, 1e-3, "", "nodes every 5 cm", 1.0),
    ]


def moored_buoy(friction: float = 0.0) -> System:
    """A buoy on three chains."""
    buoy = Body("buoy", hull=Cylinder(radius=4.0, draft=3.0, height=5.0), reference_point=(0, 0, 0))
    lines = []
    for k, angle in enumerate(np.radians([0.0, 120.0, 240.0])):
        way = np.array([np.cos(angle), np.sin(angle), 0.0])
        anchor, fairlead = 220.0 * way - [0, 0, 50.0], 4.0 * way - [0, 0, 1.0]
        lines.append(
            Line(
                f"line{k + 1}",
                tuple(anchor),
                buoy.at(*fairlead),
                235.0,
                chain(0.06),
                model="quasi_static",
            )
        )
    joints = [Free("free", WORLD, buoy)]
    bed = Seabed(friction=friction)
    return System("moored", [buoy], joints, lines=lines, water=Water(depth=50.0), seabed=bed)


@case("lines", "mooring_stiffness", source="differences of the offset curve")
def stiffness_by_differences() -> list[Check]:
    """The matrix of a buoy on three chains, column by column."""
    model = compile_system(moored_buoy(), nonlinear=True)
    K = mooring_stiffness(model).mooring_stiffness.values
    checks = []
    for column, name in enumerate(("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw")):
        h = 1e-3
        wrench = offset_curve(model, "buoy", name, [-h, h]).mooring_wrench.values
        error = np.abs((wrench[0] - wrench[1]) / (2 * h) - K[:, column]).max()
        size = np.abs(K[:, column]).max()
        checks.append(Check(name, float(error / size), 1e-5, "", "step of 1 mm or mrad"))
    return checks


@case("lines", "line_energy", source="conservation of energy")
def line_energy() -> list[Check]:
    """Work around a closed path of the upper end, and the energy budget of a moored buoy."""
    system = moored_buoy()
    network = line_network(system, build_layout(system, all_joints(system)), "quasi_static")
    piece = network.pieces[0]
    angle = 2.0 * np.pi * np.arange(64) / 64
    work, size = 0.0, 0.0
    for phase in angle:
        # from slack to suspended and back
        place = np.array(
            [4.0 - 9.0 * np.cos(phase), 5.0 * np.sin(phase), -1.0 + 3.0 * np.sin(phase)]
        )
        rate = np.array([9.0 * np.sin(phase), 5.0 * np.cos(phase), 3.0 * np.cos(phase)])
        power = float(static_shape(system, piece, piece.A.point, place).force_B @ rate)
        work, size = work + power, size + abs(power)
    model = compile_system(system, nonlinear=True)
    start = model.start.q.copy()
    start[:3] += [2.0, 0.0, 0.5]
    moved = model.replace(start=replace(model.start, q=start))
    run = simulate(moved, duration=30.0, rtol=1e-8, atol=1e-10, start="described", progress=False)
    swing = float(np.ptp(run.kinetic_energy.values))
    residual = float(np.abs(run.energy_residual.values).max()) / swing
    return [
        Check("work around a closed path", abs(work) / size, 1e-9, "", "64 points of a circle"),
        Check("energy residual of the decay", residual, 1e-5, "", "rtol 1e-8"),
    ]
