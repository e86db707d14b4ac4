"""Fibre ropes with static and dynamic stiffness: two springs in series, the slow one damped."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import swelltree as sw
from swelltree.jit import namespace

LENGTH, STRETCH, Z = 20.0, 0.4, -10.0
EA, FAST, SLOPE, SLOW_BA, BA = 1e6, 2e6, 3.0, 4e7, 2e3
# as heavy as water, so that it does not sag
MASS = 1025.0 * np.pi / 4 * 0.1**2 * 1.0001
ROPE = sw.LineType(
    "fibre", 0.1, MASS, EA=EA, dynamic_EA=FAST, dynamic_EA_slope=SLOPE, slow_BA=SLOW_BA, BA=BA,
    Cdn=0.0, Can=0.0,
)  # fmt: skip
AMPLITUDE, OMEGA = 0.05, 1.3
YAW = 0.6


def pulled(kind=ROPE, amplitude=AMPLITUDE, **more):
    """A rope to a body that is led to and fro along it."""
    along = np.array([np.cos(YAW), np.sin(YAW), 0.0])
    place = np.array([3.0, -2.0, Z])
    at = tuple(place + (LENGTH + STRETCH) * along)
    body = sw.Body("body", mass=1e4, inertia=(1e4,) * 3, position=at)

    def motion(t):
        return amplitude * namespace(t).sin(OMEGA * t)

    rail = sw.Slider("rail", sw.WORLD.at(*at), body, axis=tuple(along), motion=motion)
    line = sw.Line("rope", tuple(place), body.at(), LENGTH, kind, segments=2, **more)
    return sw.System("s", [body], [rail], lines=[line], water=sw.Water(depth=50.0))


def fast_and_slow(z):
    """Stiffness of both springs, by the mean tension, which is that of the slow one."""
    slow = FAST * EA / (FAST - EA)
    for _ in range(60):
        fast = FAST + SLOPE * slow * z
        slow = fast * EA / (fast - EA)
    return fast, slow


def exact(times):
    """Tension of a rope whose strain is led (time,) [N]."""

    def rate(t, z):
        strain = (STRETCH + AMPLITUDE * np.sin(OMEGA * t)) / LENGTH
        change = AMPLITUDE * OMEGA * np.cos(OMEGA * t) / LENGTH
        fast, slow = fast_and_slow(z)
        return (fast * (strain - z) + BA * change - slow * z) / (SLOW_BA + BA), slow

    z0 = STRETCH / LENGTH
    for _ in range(60):
        z0 = EA * STRETCH / LENGTH / fast_and_slow(z0)[1]
    args = {"t_eval": times, "rtol": 1e-9, "atol": 1e-12}
    z = solve_ivp(lambda t, z: [rate(t, z[0])[0]], (0.0, times[-1]), [z0], **args).y[0]
    found = [(rate(t, x), x) for t, x in zip(times, z, strict=True)]
    return np.array([slow * x + SLOW_BA * change for (change, slow), x in found])


def test_led_rope_has_the_tension_of_two_springs_and_a_damper():
    model = sw.compile(pulled())
    rest = sw.equilibrium(model)
    assert float(rest.fairlead_tension[0]) == pytest.approx(EA * STRETCH / LENGTH, rel=1e-6)
    run = sw.simulate(model, duration=30.0, output_step=0.1, step=0.05, progress=False)
    tension, wanted = run.line_tension.values[:, 0, -1], exact(run.time.values)
    still = sw.compile(pulled(amplitude=0.0))
    held = sw.simulate(still, duration=5.0, output_step=1.0, progress=False).fairlead_tension
    assert held.values == pytest.approx(EA * STRETCH / LENGTH, rel=1e-6)
    # the body is at rest before it is led; steps of a hundredth of the period
    assert tension[10:] == pytest.approx(wanted[10:], abs=3e-3 * np.ptp(wanted))
    # against fast changes it is stiffer than EA, and slowly gives way
    strain = AMPLITUDE / LENGTH
    assert np.ptp(tension[-60:]) > 1.9 * EA * 2 * strain


def test_mooring_polyester_has_its_stiffness_by_the_breaking_load():
    rope = sw.mooring_polyester(0.2)
    load = rope.breaking_load
    assert pytest.approx(14.0 * load) == rope.EA
    at_a_fifth = rope.dynamic_EA + rope.dynamic_EA_slope * 0.2 * load
    assert at_a_fifth == pytest.approx((11.615 + 0.396 * 20.0) * load)
    area = np.pi / 4 * rope.diameter**2
    assert rope.mass_per_length == pytest.approx(1380.0 * area)


@pytest.mark.parametrize(
    ("built", "said"),
    [
        (lambda: ROPE.replace(slow_BA=None), "dynamic_EA and slow_BA belong together"),
        (lambda: ROPE.replace(EA=None), "dynamic_EA needs the stiffness of slow changes"),
        (lambda: ROPE.replace(slow_BA=-1.0), "slow_BA -1.0 N s is not positive"),
        (
            lambda: sw.compile(pulled(model="quasi_static")),
            "type 'fibre' has a dynamic_EA, and a quasi-static line has no memory",
        ),
        (
            lambda: sw.compile(pulled(model="multibody")),
            "'fibre' has a dynamic_EA, which a multibody cable does not take",
        ),
        (
            lambda: sw.compile(pulled(ROPE.replace(EI=10.0))),
            "has a dynamic_EA, which cannot be combined with EI",
        ),
        (
            lambda: sw.compile(
                pulled().replace(winches=[sw.Winch("w", "rope", speed=0.1, drum=30.0)])
            ),
            "has a dynamic_EA, whose slow spring winches do not support",
        ),
    ],
)
def test_what_does_not_go_with_a_slow_spring_is_refused(built, said):
    with pytest.raises(sw.SwelltreeError, match=said):
        built()


def test_a_fibre_rope_goes_through_a_moordyn_file(tmp_path):
    file = tmp_path / "rope.txt"
    point = sw.Junction("end", (3.0, 1.0, -9.0), mass=10.0)
    line = sw.Line("rope", (0, 0, -10), point, 3.1, ROPE, segments=4)
    water = sw.Water(depth=50.0)
    sw.write_moordyn(sw.System("s", lines=[line], junctions=[point], water=water), file)
    (kind,) = sw.read_moordyn(file).line_types
    for name in ("EA", "dynamic_EA", "dynamic_EA_slope", "slow_BA", "BA"):
        assert getattr(kind, name) == getattr(ROPE, name)
