"""Lines with bending stiffness against the elastica and the heavy elastica, and in time."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_bvp

import swelltree as sw
from made_lines import led_lines, line_form, placed, stepped
from swelltree.results.energy import energy_scale

DIAMETER, MASS = 0.1, 20.0
WEIGHT = (MASS - 1025.0 * 0.25 * np.pi * DIAMETER**2) * 9.81  # N/m


def planar(EI, w):
    """Equations of a heavy rod: x, z, angle and curvature over s; p = forces at s = 0."""

    def rates(s, y, p):
        H, V = p[0], p[1] + w * s
        _, _, angle, k = y
        bent = (H * np.sin(angle) - V * np.cos(angle)) / EI
        return np.vstack([np.cos(angle), np.sin(angle), k, bent])

    return rates


def solved(rates, conditions, s, guess, p):
    result = solve_bvp(rates, conditions, s, guess, p=p, max_nodes=50_000, tol=1e-7)
    assert result.success, result.message
    return result


def turned(points, yaw):
    """Points of the plane x, z in a vertical plane that is turned."""
    x, z = np.moveaxis(np.asarray(points, float), -1, 0)
    return np.stack([x * np.cos(yaw), x * np.sin(yaw), z], -1)


def in_plane(result, yaw):
    """Positions of the nodes of the only line, x along the plane (node, 2)."""
    q = result.line_position.values[0]
    assert np.abs(q @ [-np.sin(yaw), np.cos(yaw), 0.0]).max() < 1e-6
    return np.stack([q @ [np.cos(yaw), np.sin(yaw), 0.0], q[:, 2]], -1)


@pytest.mark.parametrize("axial", ["elastic", pytest.param("inextensible", marks=pytest.mark.slow)])
def test_tip_of_a_loaded_cantilever_is_where_the_elastica_ends(axial):
    """Clamped at 0.5 rad above level; loads that bend it little and that turn it downwards."""
    length, EI, up, yaw, n, mass = 10.0, 1e5, 0.5, 0.7, 20, 5.0
    s = np.linspace(0.0, length, 101)
    guess = np.vstack([s, 0 * s, up + 0 * s, 0 * s])
    for load in (1e2, 1e3, 5.25e3, 2e4):
        total = load + mass * 9.81 * length

        def conditions(a, b, p, total=total):
            return np.array([a[0], a[1], a[2] - up, b[3], p[0], p[1] + total])

        # from load to load: there are elastica with loops too
        curve = solved(planar(EI, mass * 9.81), conditions, s, guess, [0.0, -total])
        guess, exact = curve.sol(s), curve.y[:, -1]
        kind = sw.LineType("rod", 1e-3, mass, EA=1e9, EI=EI)
        tip = sw.Junction("tip", turned([9.0, 2.0], yaw), mass=load / 9.81)
        way = turned([np.cos(up), np.sin(up)], yaw)
        line = sw.Line(
            "rod", (0, 0, 0), tip, length, kind, segments=n, axial=axial, clamp_A=tuple(way)
        )
        water = sw.Water(rho=1e-9)
        model = sw.compile(sw.System("rod", lines=[line], junctions=[tip], water=water))
        result = sw.equilibrium(model)
        q = in_plane(result, yaw)
        # segments of half a metre: second order
        assert q[-1] == pytest.approx(exact[:2], abs=0.05)
        drawn = np.linalg.norm(np.diff(q, axis=0), axis=1)
        assert drawn == pytest.approx(length / n, rel=1e-4)
        # the moment at the clamp: load and weights times their levers
        weights = mass * 9.81 * length / n * np.r_[0.5, np.ones(n - 1), 0.5]
        lever = load * q[-1, 0] + weights @ q[:, 0]
        moment = float(result.line_bending_moment[0, 0])
        assert moment == pytest.approx(lever, rel=0.03)


@pytest.mark.parametrize(
    ("gap", "EI", "axial"),
    [
        (20.0, 1e4, "elastic"),
        (26.0, 1e4, "elastic"),
        (10.0, 4e5, "elastic"),  # pushed together: compression in the bend
        pytest.param(10.0, 4e5, "inextensible", marks=pytest.mark.slow),
    ],
)
def test_umbilical_clamped_upright_at_both_ends_hangs_as_a_heavy_elastica(gap, EI, axial):
    length, n, yaw = 60.0, 30, -1.1
    s = np.linspace(0.0, length, 201)
    angle = np.pi * (s / length - 0.5)
    guess = np.vstack([gap * s / length, -20.0 * np.cos(angle), angle, np.pi / length + 0 * s])

    def conditions(a, b, p):
        up = np.pi / 2
        return np.array([a[0], a[1], a[2] + up, b[0] - gap, b[1], b[2] - up])

    exact = solved(planar(EI, WEIGHT), conditions, s, guess, [0.0, -0.5 * WEIGHT * length])
    kind = sw.LineType("umbilical", DIAMETER, MASS, EA=1e9, EI=EI)
    ends = turned([[0.0, -5.0], [gap, -5.0]], yaw)
    line = sw.Line(
        "u", ends[0], ends[1], length, kind, segments=n, axial=axial,
        clamp_A=(0, 0, -1), clamp_B=(0, 0, 1),
    )  # fmt: skip
    result = sw.equilibrium(sw.compile(sw.System("u", lines=[line], water=sw.Water(depth=200.0))))
    q = in_plane(result, yaw)
    assert np.linalg.norm(np.diff(q, axis=0), axis=1).sum() == pytest.approx(length, rel=1e-4)
    at = exact.sol(np.linspace(0.0, length, n + 1))
    assert q[:, 0] == pytest.approx(at[0], abs=0.05)
    assert q[:, 1] + 5.0 == pytest.approx(at[1], abs=0.08)
    middle = np.abs(at[3, n // 2])
    assert float(result.line_curvature[0, n // 2]) == pytest.approx(middle, rel=0.015)
    assert float(result.line_bending_moment[0, n // 2]) == pytest.approx(EI * middle, rel=0.015)
    # tension turns the upper ends within a segment of the clamps; second order in segments of 2 m
    for end in (0, n):
        clamped = np.abs(at[3, end])
        assert float(result.line_curvature[0, end]) == pytest.approx(clamped, rel=0.025)
        assert float(result.line_bending_moment[0, end]) == pytest.approx(EI * clamped, rel=0.025)
    largest = float(result.line_curvature.max())
    assert float(result.line_bend_radius[0]) == pytest.approx(1.0 / largest)
    # the horizontal force is the tension in the middle, compression where it is negative
    tension = result.line_tension.values[0, n // 2 - 1 : n // 2 + 1].mean()
    assert tension == pytest.approx(exact.p[0], rel=0.04, abs=0.01 * WEIGHT * length)
    assert (exact.p[0] < 0.0) == (EI > 1e5)


@pytest.mark.slow
def test_sag_bend_and_hang_off_of_a_pipe_at_low_tension():
    """A pipe from a clamped hang-off to a rigid bed, against the rod with a free touchdown."""
    length, EI, depth, reach, up = 80.0, 2e5, 30.0, 60.0, 1.2
    n = 80

    def rates(x, y, p):  # on 0 <= x <= 1, hanging length p[2]
        return p[2] * planar(EI, WEIGHT)(p[2] * x, y, p)

    def conditions(a, b, p):
        lies = length - p[2]
        return np.array([a[0] - lies, a[1], a[2], a[3], b[0] - reach, b[1] - depth, b[2] - up])

    x = np.linspace(0.0, 1.0, 201)
    guess = np.vstack([35.0 + 25 * x, depth * x**2, up * x, 0.04 + 0 * x])
    exact = solved(rates, conditions, x, guess, [2e3, 0.0, 45.0])
    kind = sw.LineType("pipe", DIAMETER, MASS, EA=1e9, EI=EI)
    way = (np.cos(up), 0.0, np.sin(up))
    line = sw.Line(
        "pipe", (0, 0, -50.0), (reach, 0, depth - 50.0), length, kind, segments=n, clamp_B=way
    )
    system = sw.System("pipe", lines=[line], water=sw.Water(depth=50.0), seabed=sw.Seabed())
    result = sw.equilibrium(sw.compile(system))
    lies = length - exact.p[2]
    at = exact.sol(np.clip((np.linspace(0, length, n + 1) - lies) / exact.p[2], 0, 1))
    z = np.where(np.linspace(0, length, n + 1) < lies, 0.0, at[1])
    assert result.line_position.values[0, :, 2] + 50.0 == pytest.approx(z, abs=0.06)
    k = result.line_curvature.values[0]
    sag = int(np.abs(at[3, : n - 5]).argmax())
    assert k[sag] == pytest.approx(np.abs(at[3, sag]), rel=0.03)
    assert float(result.line_tension[0, 0]) == pytest.approx(exact.p[0], rel=0.03)


@pytest.mark.parametrize("law", ["inextensible", pytest.param("elastic", marks=pytest.mark.slow)])
def test_whipping_rod_keeps_its_energy(law):
    """Clamped at its upper end in vacuum, let go far from its rest: large turns, compression."""
    n, h = 8, 0.02
    kind = sw.LineType("rod", 1e-3, 20.0, EA=1e8, EI=2e4, BA=0.0)
    tip = sw.Junction("tip", (8.0, 0, -1), mass=50.0)
    line = sw.Line("rod", (0, 0, 0), tip, 8.0, kind, segments=n, axial=law, clamp_A=(0.6, 0, 0.8))
    model = led_lines([line], junctions=[tip])
    angle = np.linspace(0.9, -1.5, n)
    d = np.stack([np.cos(angle), 0.2 * np.sin(5 * angle), np.sin(angle)], -1)
    d *= (8.0 / n) / np.linalg.norm(d, axis=1)[:, None]
    q = np.concatenate([np.zeros((1, 3)), np.cumsum(d, 0)])[None]
    form = line_form(model, tolerance=5e-14)
    start = placed(model, form, q, [q[0, -1]])
    start = replace(start, lines=replace(start.lines, mu=0.0 * start.lines.mu))
    run = stepped(model, h, 300, start, form)
    assert run.samples.solved.all()
    x = run.junctions[:, 0]
    v = np.diff(x, axis=0) / h
    own = 0.5 * 50.0 * (v**2).sum(-1) + 50.0 * 9.81 * 0.5 * (x[1:, 2] + x[:-1, 2])
    own = 0.5 * (own[1:] + own[:-1])
    reported = run.report
    E = own + (reported.kinetic + reported.stored + reported.potential)[1:, 0]
    moved = np.ptp(reported.kinetic[1:, 0] + own)
    assert moved > 1e3
    assert np.ptp(E) < 1e-9 * moved
    assert reported.tension.min() < -10.0
    assert reported.length_violation.max() < 1e-8


@pytest.mark.parametrize("end", ["A", "B"])
def test_work_of_a_clamp_on_a_turning_body_is_in_its_energy_balance(end):
    """A stiff pipe clamped aside of a body that is swung: what the clamp takes is accounted for."""
    body = sw.Body("body", mass=500.0, inertia=(300.0, 400.0, 500.0), position=(1.0, -0.5, 0.0))
    pipe = sw.LineType("pipe", 0.05, 20.0, EA=1e7, EI=3e4, BA=1e4, Cdn=0.0)
    ends, clamp = [body.at(0.4, 0.3, -0.2), (7.0, 2.0, -1.0)], (1.0, 0.2, 0.1)
    ends = ends if end == "A" else ends[::-1]
    line = sw.Line("pipe", *ends, 6.9, pipe, segments=6, **{f"clamp_{end}": clamp})
    stiffness = dict.fromkeys(("Surge", "Sway", "Heave"), 2e4)
    stiffness |= dict.fromkeys(("Roll", "Pitch", "Yaw"), 1e4)
    held = sw.LinearMooring("held", body, stiffness, pretension={"Heave": 500.0 * 9.81})
    torque = (sw.Harmonic(2e3, 2.0), 0.0, sw.Harmonic(2e3, 3.0))
    swung = sw.AppliedForce("swung", body.at(), torque=torque)
    system = sw.System(
        "s",
        [body],
        [sw.Free("free", sw.WORLD, body)],
        lines=[line],
        moorings=[held],
        forces=[swung],
        water=sw.Water(rho=1e-9),
    )
    run = sw.simulate(
        sw.compile(system), duration=3.0, output_step=0.1, step=0.01, start="described",
        progress=False,
    )  # fmt: skip
    assert np.abs(run.work.sel(element="line pipe").values).max() > 1e3
    # second order of the step: a quarter of it at half the step
    assert np.abs(run.energy_residual.values).max() < 2e-3 * energy_scale(run)
