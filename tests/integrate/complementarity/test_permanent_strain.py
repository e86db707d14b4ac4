"""Fibre ropes on their original and working curves: permanent strain, slow and fast stiffness."""

import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import swelltree as sw
from swelltree.jit import namespace

LENGTH, Z, YAW = 20.0, -10.0, 0.6
MASS = 1025.0 * np.pi / 4 * 0.1**2 * 1.0001  # as heavy as water, so that it does not sag
CURVE = ((0.0, 0.0), (0.02, 2e4), (0.05, 8e4))
EA, FAST, SLOPE, SLOW_BA, BA = 2.5e6, 5e6, 5.0, 2e6, 2e3
ROPE = sw.LineType(
    "fibre", 0.1, MASS, original_curve=CURVE, EA=EA, dynamic_EA=FAST,
    dynamic_EA_slope=SLOPE, slow_BA=SLOW_BA, BA=BA, Cdn=0.0, Can=0.0,
)  # fmt: skip


def pulled(stretch, kind=ROPE, motion=None, **more):
    """A rope to a body that is led along it."""
    along = np.array([np.cos(YAW), np.sin(YAW), 0.0])
    place = np.array([3.0, -2.0, Z])
    at = tuple(place + (LENGTH + stretch) * along)
    body = sw.Body("body", mass=1e4, inertia=(1e4,) * 3, position=at)
    rail = sw.Slider("rail", sw.WORLD.at(*at), body, axis=tuple(along), motion=motion or still)
    line = sw.Line("rope", tuple(place), body.at(), LENGTH, kind, segments=2, **more)
    return sw.System("s", [body], [rail], lines=[line], water=sw.Water(depth=50.0))


def still(t):
    return 0.0 * namespace(t).sin(t)


def permanent(most):
    """Strain at the foot of the working curve."""
    return np.interp(most, *np.array(CURVE).T[::-1]) - most / EA


def slow_strain(tension, most):
    return permanent(most) + tension / EA - tension / (FAST + SLOPE * tension)


FIRST = np.linspace(0.0, CURVE[-1][1], 801)[1:]
FIRST_STRAIN = [slow_strain(T, T) for T in FIRST]


def tension_of(z, most):
    """Mean tension at a slow strain, and the max mean tension after it."""
    if z <= slow_strain(most, most):
        grid = np.linspace(0.0, most, 401)
        return np.interp(z, slow_strain(grid, most), grid), most
    T = np.interp(z, FIRST_STRAIN, FIRST)
    return T, max(T, most)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_static_tension_is_that_of_the_working_curve_up_to_the_largest_load(way):
    """Before and beyond the max mean tension of the past."""
    rope = ROPE.replace(max_mean_tension=5e4)
    strain = permanent(5e4) + (5e4 + 1e4 * way) / EA
    wanted = 4e4 if way < 0 else np.interp(strain, *np.array(CURVE).T)
    rest = sw.equilibrium(sw.compile(pulled(strain * LENGTH, rope)))
    assert rest.fairlead_tension.values[0] == pytest.approx(wanted, rel=2e-6)
    most = max(5e4, wanted)
    assert rest.line_permanent_strain.values[0] == pytest.approx(permanent(most), rel=1e-6)


def test_led_rope_creeps_along_its_original_curve_and_back_on_a_working_curve():
    """Out, held, and partly back: against the equations of the springs, solved elsewhere."""
    start, out, back, rise, hold = 0.02, 0.04, 0.032, 10.0, 20.0

    def strain(t):
        xp = namespace(t)
        s = lambda x: xp.sin(0.5 * np.pi * xp.clip(x, 0.0, 1.0)) ** 2  # noqa: E731
        return start + (out - start) * s(t / rise) + (back - out) * s((t - rise - hold) / rise)

    def motion(t):
        return LENGTH * (strain(t) - start)

    model = sw.compile(pulled(start * LENGTH, motion=motion))
    end = 2 * rise + 2 * hold
    run = sw.simulate(model, duration=end, output_step=0.25, step=0.05, progress=False)
    assert run.attrs["result"] == "success"
    most = [2e4]

    def rate(t, z):
        T, _ = tension_of(z, most[0])
        fast = FAST + SLOPE * T
        change = (strain(t + 1e-4) - strain(t - 1e-4)) / 2e-4
        return (fast * (strain(t) - z) + BA * change - T) / (SLOW_BA + BA), T

    # the max mean tension goes on between short pieces
    times, z, wanted = run.time.values, slow_strain(2e4, 2e4), []
    for k, t in enumerate(times):
        if k:
            pieces = np.linspace(times[k - 1], t, 4)
            for a, b in itertools.pairwise(pieces):
                z = solve_ivp(
                    lambda t, z: [rate(t, z[0])[0]], (a, b), [z], rtol=1e-7, atol=1e-10
                ).y[0, -1]
                most[0] = max(most[0], tension_of(z, most[0])[1])
        change, T = rate(t, z)
        wanted.append(T + SLOW_BA * change)
    tension = run.line_tension.values[:, 0, -1]
    assert np.ptp(wanted) > 3e4
    np.testing.assert_allclose(tension[8:], wanted[8:], rtol=0, atol=3e-3 * np.ptp(wanted))
    remains = run.line_permanent_strain.values[:, 0, -1]
    assert (np.diff(remains) >= 0.0).all()
    assert remains[-1] == pytest.approx(permanent(most[0]), rel=2e-3)
    assert remains[-1] > 1.2 * remains[0]


def test_every_cycle_of_a_rope_takes_energy():
    """Slow large cycles with fast small ones; the first, beyond the past load, takes more."""
    omega = 0.3

    def motion(t):
        return 0.2 * namespace(t).sin(omega * t) + 0.02 * namespace(t).sin(10 * omega * t)

    model = sw.compile(pulled(0.03 * LENGTH, ROPE.replace(max_mean_tension=4.5e4), motion=motion))
    period = 2.0 * np.pi / omega
    run = sw.simulate(
        model, duration=3 * period, output_step=period / 400, step=period / 400, progress=False
    )
    T, x = run.line_tension.values[:, 0, -1], motion(run.time.values)
    work = np.concatenate([[0.0], np.cumsum(0.5 * (T[1:] + T[:-1]) * np.diff(x))])
    cycles = np.diff(work[::400])
    assert (cycles > 0.0).all()
    assert cycles[0] > 1.1 * cycles[1]
    assert cycles[2] == pytest.approx(cycles[1], rel=0.05)


def test_a_rope_between_chains_has_a_table_of_its_own():
    chain = sw.LineType("chain", 0.1, MASS, EA=5e6, Cdn=0.0, Can=0.0)
    system = pulled(0.5, ROPE.replace(max_mean_tension=4e4))
    parts = [sw.Section(chain, 5.0, 1), sw.Section(ROPE, 10.0, 2), sw.Section(chain, 5.0, 1)]
    line = system.lines[0].replace(sections=parts, type=None, rest_length=None, segments=None)
    rest = sw.equilibrium(sw.compile(system.replace(lines=[line])))
    T = float(rest.fairlead_tension[0])
    strain = np.interp(T, *np.array(CURVE).T[::-1])
    assert 10.0 * strain + 10.0 * T / 5e6 == pytest.approx(0.5, rel=1e-5)


def test_EA_by_name_beside_a_line_with_a_table():
    """It is that of the line with one EA, and none of the line with the table."""

    def built(EA):
        rope = ROPE.replace(max_mean_tension=4e4)
        wire = sw.LineType("wire", 0.1, MASS, EA=EA, Cdn=0.0, Can=0.0)
        system = pulled(0.5, rope)
        beside = system.lines[0].replace(name="wire", type=wire)
        return sw.compile(system.replace(lines=[*system.lines, beside]))

    rest = sw.equilibrium(built(2e6).with_values({"wire.EA": 3e6}))
    wanted = sw.equilibrium(built(3e6))
    assert rest.line_tension.values == pytest.approx(wanted.line_tension.values, rel=1e-9)
    with pytest.raises(sw.SwelltreeError, match="EA"):
        built(2e6).with_values({"rope.EA": 3e6})


def test_damping_of_a_rope_with_a_table_is_what_is_given():
    """A table that stiffens: BA acts on the strain rate as it does with one EA."""
    rows = ((0.0, 0.0), (0.01, 1e4), (0.05, 4e5))
    BA = 5e5

    def motion(t):
        return 0.2 * namespace(t).sin(0.5 * t) ** 2

    kind = sw.LineType("rope", 0.1, MASS, stretch=rows, BA=BA, Cdn=0.0, Can=0.0)
    run = sw.simulate(
        sw.compile(pulled(0.4, kind, motion)), duration=6.0, output_step=0.05, step=0.0125,
        progress=False,
    )  # fmt: skip
    t, T = run.time.values[4:], run.line_tension.values[4:, 0, -1]
    strain = (0.4 + motion(t)) / LENGTH
    change = 0.2 * 0.5 * np.sin(t) / LENGTH
    wanted = np.interp(strain, *np.array(rows).T) + BA * change
    np.testing.assert_allclose(T, wanted, rtol=0, atol=0.01 * BA * np.abs(change).max())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"max_mean_tension": 9e4}, "max_mean_tension 90000 N is beyond the original_curve"),
        ({"dynamic_EA": None, "slow_BA": None}, "original_curve needs EA, dynamic_EA and slow_BA"),
        ({"original_curve": None, "max_mean_tension": 1e4}, "needs an original_curve"),
        ({"stretch": CURVE}, "EA and stretch are both given"),
        ({"EA": 1.5e6}, "more than EA 1.5e\\+06 N of the curves on which the rope is unloaded"),
    ],
)
def test_curves_that_cannot_be_are_rejected(change, said):
    with pytest.raises(sw.SwelltreeError, match=said):
        ROPE.replace(**change)


def test_an_original_curve_is_not_written_to_a_moordyn_file(tmp_path):
    end = sw.Junction("end", (3.0, 1.0, -9.0), mass=10.0)
    line = sw.Line("rope", (0, 0, -10), end, 3.1, ROPE, segments=4)
    system = sw.System("s", lines=[line], junctions=[end], water=sw.Water(depth=50.0))
    with pytest.raises(sw.SwelltreeError, match="an original_curve cannot be written"):
        sw.write_moordyn(system, tmp_path / "rope.txt")
