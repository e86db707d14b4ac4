"""Lines with bending stiffness against the heavy elastica, and friction that holds."""

from __future__ import annotations

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import Line, LineType, Seabed, System, Water
from swelltree.studies.statics.equilibrium import equilibrium
from validation.table import Check, case

LENGTH, SEGMENTS = 60.0, 40


def heavy_elastica(EI: float, weight: float, gap: float) -> tuple[np.ndarray, float]:
    """Height and curvature of the middle, curvature at a clamp, and horizontal force.

    Of a rod clamped upright at both ends.

    Args:
        EI: bending stiffness [N m^2].
        weight: in water [N/m].
        gap: between its ends [m].
    """
    from scipy.integrate import solve_bvp

    def rates(s: np.ndarray, y: np.ndarray, p: np.ndarray) -> np.ndarray:
        _, _, angle, k = y
        bent = (p[0] * np.sin(angle) - (p[1] + weight * s) * np.cos(angle)) / EI
        return np.vstack([np.cos(angle), np.sin(angle), k, bent])

    def ends(a: np.ndarray, b: np.ndarray, p: np.ndarray) -> np.ndarray:
        up = 0.5 * np.pi
        return np.array([a[0], a[1], a[2] + up, b[0] - gap, b[1], b[2] - up])

    s = np.linspace(0.0, LENGTH, 201)
    angle = np.pi * (s / LENGTH - 0.5)
    guess = np.vstack([gap * s / LENGTH, -20.0 * np.cos(angle), angle, np.pi / LENGTH + 0 * s])
    begin = [0.0, -0.5 * weight * LENGTH]
    found = solve_bvp(rates, ends, s, guess, p=begin, max_nodes=50_000, tol=1e-7)
    assert found.success, found.message
    low, k = found.sol(0.5 * LENGTH)[[1, 3]]
    return np.array([low, k, found.sol(0.0)[3]]), float(found.p[0])


@case("lines", "umbilical clamped upright at both ends", source="heavy elastica, solve_bvp")
def umbilical() -> list[Check]:
    """Shape, curvature and force of the bend, the last with compression."""
    checks = []
    for gap, EI in ((20.0, 1e4), (26.0, 1e4), (10.0, 4e5)):
        kind = LineType("umbilical", 0.1, 20.0, EA=1e9, EI=EI)
        line = Line(
            "u", (0, 0, -5), (gap, 0, -5), LENGTH, kind, segments=SEGMENTS,
            clamp_A=(0, 0, -1), clamp_B=(0, 0, 1),
        )  # fmt: skip
        rest = equilibrium(compile_system(System("u", lines=[line], water=Water(depth=200.0))))
        (low, k, k_A), H = heavy_elastica(EI, kind.weight_per_length(1025.0, 9.81), gap)
        q = rest.line_position.values[0]
        length = float(np.linalg.norm(np.diff(q, axis=0), axis=1).sum())
        middle = SEGMENTS // 2
        word = f"{gap:g} m apart, EI {EI:g} N m^2"
        second = "second order in segments of 1.5 m"
        bent = float(rest.line_curvature[0, middle]) / k - 1.0
        clamped = float(rest.line_curvature[0, 0]) / abs(k_A) - 1.0
        pull = float(rest.line_tension[0, middle - 1 : middle + 1].mean()) - H
        of = kind.weight_per_length(1025.0, 9.81) * LENGTH
        checks += [
            Check(f"length, {word}", length / LENGTH - 1.0, 1e-4, "", "EA of the umbilical"),
            Check(f"curvature, {word}, relative", bent, 0.01, "", second),
            Check(f"curvature at the clamp, {word}, relative", clamped, 0.015, "", second),
            Check(f"depth of the bend, {word}", q[middle, 2] + 5.0 - low, 0.05, "m", second),
            Check(f"force in the bend, {word}, of the weight", pull / of, 0.015, "", second),
        ]
    return checks


@case("lines", "chain on a rough bed at rest", source="catenary with friction of the bed")
def rough_bed() -> list[Check]:
    """Tensions at both ends of a dynamic line and of a quasi-static one."""
    kind, found = LineType("chain", 0.15, 150.0, EA=1e9, damping_ratio=0.5), {}
    for model in ("quasi_static", "dynamic"):
        line = Line("l", (-500.0, 120.0, -100.0), (30.0, 0, 0), 575.0, kind, model, segments=40)
        seabed = Seabed(friction=0.5)
        system = System("l", lines=[line], water=Water(depth=100.0), seabed=seabed)
        rest = equilibrium(compile_system(system))
        found[model] = [float(rest[f"{end}_tension"][0]) for end in ("fairlead", "anchor")]
    (top, low), (B, A) = found["quasi_static"], found["dynamic"]
    why = "40 segments, as without friction"
    return [
        Check("tension at the fairlead, relative", B / top - 1.0, 0.01, "", why),
        Check("tension at the anchor, of that at the fairlead", (A - low) / top, 0.02, "", why),
    ]
