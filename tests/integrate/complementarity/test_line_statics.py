"""Lines at rest against closed forms: catenaries, beams, slopes and friction."""

import numpy as np
import pytest
from scipy.optimize import fsolve

import swelltree as sw
from made_lines import HAND, at_their_rest, led_lines, line_form, placed, stepped, straight

G = 9.81


@pytest.mark.parametrize(
    ("n", "tolerance"),
    [(20, 3e-3), pytest.param(40, 1e-3, marks=pytest.mark.slow)],
)
def test_inextensible_chain_on_the_bed_tends_to_the_catenary(n, tolerance):
    """Depth 100 m, span 400 m, 430 m of chain: H = 281 328.9 N, top tension 410 709.8 N."""
    chain = sw.LineType("chain", 0.15, 150.0, EA=1e9)
    A, B = (-400.0, 0, -100), (0.0, 0, 0)
    line = sw.Line("chain", A, HAND, 430.0, chain, segments=n, axial="inextensible")
    model = led_lines([line], water=sw.Water(1025.0, G, 100.0))
    rest = at_their_rest(model, placed(model, line_form(model), straight(A, B, n)[None]))
    at_A, at_B = rest.report.end_force[0]
    assert at_A[0] == pytest.approx(281328.9, rel=tolerance)
    assert -at_B[0] == pytest.approx(at_A[0], rel=1e-7)  # no friction
    assert np.linalg.norm(at_B) == pytest.approx(410709.8, rel=tolerance)
    assert np.min(rest.q[..., 2]) > -100 - 1e-8


@pytest.mark.parametrize("top", [-0.3, -2.0, 6.0])
@pytest.mark.parametrize("upwards", [True, False])
def test_ends_of_taut_lines_near_the_surface_lose_no_buoyancy(top, upwards):
    """Only what is above the surface is dry, whichever way a line runs and however it is cut."""
    L, m, D, rho, yaw = 300.0, 25.0, 0.15, 1025.0, 0.8
    way = np.array([0.8 * np.cos(yaw), 0.8 * np.sin(yaw), 0.6])
    kind = sw.LineType("rope", D, m, EA=2e8)
    upper = np.array([3.0, -1.0, top])
    lower = upper - 1.01 * L * way
    parts = [sw.Section(kind, 100.0, segments=3), sw.Section(kind, 200.0, segments=9)]
    ends = (lower, upper) if upwards else (upper, lower)
    line = sw.Line("l", *ends, sections=parts)
    water = sw.Water(rho=rho, g=G, depth=500.0)
    rest = sw.equilibrium(sw.compile(sw.System("s", lines=[line], water=water)))
    fraction = max(top, 0.0) / 0.6 / (1.01 * L)
    weight = (m - (1.0 - fraction) * rho * np.pi / 4 * D**2) * G * L
    carried = -float(rest.fairlead_force[0, 2] + rest.anchor_force[0, 2])
    # it breaks the surface within its thickness, which moves a tenth of a metre
    assert carried == pytest.approx(weight, abs=0.15 * rho * np.pi / 4 * D**2 * G)


def elastic_catenary(L, EA, w, X, Z):
    """Horizontal and vertical pull at the top of a hanging elastic line (Irvine 1981)."""

    def gap(u):
        H, V = u
        a, b = V / H, (V - w * L) / H
        x = H * L / EA + H / w * (np.arcsinh(a) - np.arcsinh(b))
        z = w * L / EA * (V / w - L / 2) + H / w * (np.hypot(1, a) - np.hypot(1, b))
        return x - X, z - Z

    return fsolve(gap, (w * L / 2, w * L), xtol=1e-13)


@pytest.mark.slow
def test_hanging_elastic_line_tends_to_the_elastic_catenary_with_order_two():
    """10 % of stretch: the law is that of engineering strain."""
    L, EA, m, X, Z = 100.0, 2e5, 20.0, 80.0, 50.0
    H, V = elastic_catenary(L, EA, m * G, X, Z)
    errors = []
    for n in (10, 20):
        rope = sw.LineType("rope", 1e-4, m, EA=EA)
        model = led_lines([sw.Line("rope", (-X, 0, -Z), HAND, L, rope, segments=n)])
        at_B = at_their_rest(model).report.end_force[0, 1]
        errors.append(np.hypot(-at_B[0] - H, -at_B[2] - V) / np.hypot(H, V))
    assert errors[1] < 1e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("clamped", [(1.0, 0.0), (0.0, 0.0), (1.0, 1.0)])
def test_beam_sags_as_euler_and_bernoulli_say(clamped):
    """Cantilever, simply supported and clamped beam of 10 m under its own weight."""
    L, n, EI = 10.0, 20, 1e7
    free = clamped == (1.0, 0.0)
    kind = sw.LineType("beam", 1e-4, 100.0, EA=1.5e9, EI=EI)
    tip = sw.Junction("tip", (L, 0, 0))
    clamps = {
        f"clamp_{end}": (1.0, 0.0, 0.0) for end, held in zip("AB", clamped, strict=True) if held
    }
    line = sw.Line("beam", (0, 0, 0), tip if free else (L, 0, 0), L, kind, segments=n, **clamps)
    model = led_lines([line], junctions=[tip] if free else [])
    form = line_form(model)
    state = placed(
        model, form, straight([0, 0, 0], [L, 0, 0], n)[None], [[L, 0, 0]] if free else []
    )
    z = at_their_rest(model, state).q[0, :, 2]
    x, p = np.linspace(0, L, n + 1), 100.0 * G
    if free:
        exact = -p * x**2 * (6 * L**2 - 4 * x * L + x**2) / (24 * EI)
    elif clamped == (0.0, 0.0):
        exact = -p * x * (L**3 - 2 * x**2 * L + x**3) / (24 * EI)
    else:
        exact = -p * x**2 * (L - x) ** 2 / (24 * EI)
    # the clamp itself is resolved by half a segment
    assert np.max(np.abs(z - exact)) < (0.01 + 0.01 * sum(clamped)) * np.max(np.abs(exact))


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.4, 0.1])
def test_line_slides_on_a_slope_only_when_friction_is_too_small(friction):
    """On a slope of 0.2 friction 0.4 holds; with 0.1 the line slides at g (sin - 0.1 cos)."""
    n, rise, depth, h = 4, 0.2, 30.0, 0.05
    angle = np.arctan(rise)
    low = np.array([0.0, 0, -depth])
    high = low + 10.0 * np.array([np.cos(angle), 0, np.sin(angle)])
    ends = [sw.Junction(name, tuple(x), mass=1.0) for name, x in (("low", low), ("high", high))]
    chain = sw.LineType("chain", 1e-4, 50.0, EA=1e9)
    line = sw.Line("chain", *ends, 10.0, chain, segments=n, axial="inextensible")
    model = led_lines(
        [line],
        junctions=ends,
        water=sw.Water(rho=1e-9, depth=depth),
        seabed=sw.Seabed(slope=(rise, 0.0), friction=friction, friction_velocity=5e-3),
    )
    q = straight(low, high, n)
    run = stepped(model, h, 40, placed(model, line_form(model), q[None], [low, high]))
    assert run.samples.solved.all()
    along = run.lines.q[:, 0, :, 0] / np.cos(angle)
    a = G * (np.sin(angle) - friction * np.cos(angle))
    if a < 0:
        assert np.abs(along[-1] - along[0]).max() < 5e-3 * 40 * h  # creeps below that velocity
    else:
        np.testing.assert_allclose(np.diff(along, 2, axis=0)[2:] / h**2, -a, rtol=1e-3)


ROPE = {"diameter": 0.12, "mass_per_length": 5.0, "EA": 1e6, "Cdn": 1.2}


@pytest.mark.parametrize("current", [None, sw.UniformCurrent(0.5, beta=1.0)])
def test_a_floating_line_comes_to_rest_on_the_surface(current):
    """Buoyancy follows the heights in a step of statics; one taken before it leaps up and down."""
    rope = sw.LineType("rope", **ROPE)
    line = sw.Line("rope", (0, 0, -80), (40, 30, 0.0), 130.0, rope, segments=12)
    model = sw.compile(sw.System("s", lines=[line], water=sw.Water(depth=80.0), current=current))
    rest = sw.equilibrium(model)
    assert rest.attrs["iterations"] < 100
    assert rest.attrs["largest_motion"] < 1e-6
    z = rest.line_position.values[0, :, 2]
    # what lies on the surface floats within its thickness, but for the node where it comes up
    floats = z[np.argmax(z > -0.06) + 1 :]
    assert len(floats) >= 4
    assert np.abs(floats).max() < 0.06
    run = sw.simulate(model, duration=10.0, output_step=5.0, progress=False)
    assert run.line_position.values[-1] == pytest.approx(rest.line_position.values, abs=1e-4)


@pytest.mark.parametrize("length", [30.0, 45.0])
def test_a_buoy_at_a_junction_does_not_rise_above_the_water(length):
    volume, mass = 0.5, 100.0
    buoy = sw.Junction("buoy", (10.0, 5.0, -2.0), mass=mass, volume=volume, drag_area=0.5)
    wire = sw.LineType("wire", 0.05, 8.0, EA=1e7)
    line = sw.Line("wire", (0, 0, -40), buoy, length, wire, segments=8)
    model = sw.compile(
        sw.System("s", junctions=[buoy], lines=[line], water=sw.Water(1025.0, G, 40.0))
    )
    rest = sw.equilibrium(model)
    z = float(rest.junction_position[0, 2])
    radius = np.cbrt(0.75 / np.pi * volume)
    share = np.clip(0.5 - 0.5 * z / radius, 0.0, 1.0)
    pull = (1025.0 * share * volume - mass) * G
    assert -rest.fairlead_force.values[0, 2] == pytest.approx(pull, rel=1e-5)
    assert (share < 1.0) == (length > 40.0)
    assert abs(z) < radius if length > 40.0 else z == pytest.approx(-10.0, abs=0.02)
