"""Random moorings: they run, or say in a sentence why not; never a number that is not one."""

import numpy as np
import pytest

import swelltree as sw

# lines, and segments of the longest: every pair is a program, which takes its time to compile
SHAPES = ((1, 60), (3, 20), (6, 5))


def random_mooring(seed: int) -> tuple[sw.System, sw.IrregularSea]:
    """A float on one to six lines, slack to taut, each elastic (EA 1e6 to 1e11) or inextensible."""
    rng = np.random.default_rng(seed)
    count, most = SHAPES[rng.integers(len(SHAPES))]
    depth = 10.0 ** rng.uniform(1.3, 2.3)
    volume = 10.0 ** rng.uniform(1.5, 3.5)
    size = volume ** (1 / 3)
    mass = 1025.0 * volume * rng.uniform(0.6, 0.98)
    body = sw.Body(
        "float",
        mass=mass,
        inertia=tuple(mass * size**2 * rng.uniform(0.15, 0.28, 3)),
        displaced_volume=volume,
        position=(0, 0, -0.3 * size),
    )
    lines = []
    for k in range(count):
        angle = 2 * np.pi * (k + rng.uniform(-0.2, 0.2)) / count
        reach = depth * rng.uniform(0.5, 5.0)
        A = np.array([reach * np.cos(angle), reach * np.sin(angle), -depth])
        B = 0.5 * size * np.array([np.cos(angle), np.sin(angle), 0.0])
        gap = np.linalg.norm(A - B - [0, 0, -0.3 * size])
        diameter = 10.0 ** rng.uniform(-1.7, -0.7)
        weight = 10.0 ** rng.uniform(0.0, 2.5)
        kind = sw.LineType(
            f"type{k}",
            diameter,
            weight + 1025.0 * np.pi / 4 * diameter**2 * rng.choice([0.3, 1.0]),
            EA=10.0 ** rng.uniform(6, 11),
            damping_ratio=rng.uniform(0.0, 0.8),
        )
        axial = rng.choice(["elastic", "inextensible"])
        segments = most if k == 0 else int(rng.integers(3, most + 1))
        slack = rng.uniform(1.002, 1.3) if axial == "inextensible" else rng.uniform(0.99, 1.3)
        point = body.at(*B)
        lines.append(
            sw.Line(f"line{k}", tuple(A), point, gap * slack, kind, segments=segments, axial=axial)
        )
    plane = 1025.0 * 9.81 * size**2
    system = sw.System(
        "random",
        bodies=[body],
        joints=[sw.Free("free", sw.WORLD, body)],
        water=sw.Water(depth=depth),
        lines=lines,
        moorings=[
            sw.LinearMooring(
                "plane", body, {"Heave": plane, "Roll": plane * size**2, "Pitch": plane * size**2}
            )
        ],
    )
    Tp = rng.uniform(5.0, 14.0)
    sea = sw.IrregularSea(
        sw.Jonswap(Hs=rng.uniform(0.5, 5.0), Tp=Tp), seed=seed, components=20, ramp=5.0
    )
    return system, sea


def check(seed: int) -> None:
    system, sea = random_mooring(seed)
    message = ""
    try:
        run = sw.simulate(sw.compile(system), sea, duration=10.0, output_step=0.5, step=0.1)
    except sw.SwelltreeError as error:
        message = str(error)
        run = None
    if run is None:
        assert "line '" in message or "equilibrium" in message
        return
    assert np.isfinite(run.position.values).all()
    assert np.isfinite(run.line_tension.values).all()
    assert (run.line_tension.values >= -1e-6 * abs(run.line_tension.values).max()).all()
    assert run.length_violation.max() < 1e-6
    assert run.penetration.max() < 1e-6
    if run.attrs["result"] != "success":
        assert "line '" in run.attrs["message"]


@pytest.mark.filterwarnings("ignore")
def test_a_random_mooring_runs_or_says_why_not():
    check(4)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_random_moorings_run_or_say_why_not():
    """All seeds, whichever fail: each failure is told with its seed."""
    wrong = {}
    for seed in range(60):
        try:
            check(seed)
        except Exception as error:
            wrong[seed] = f"{type(error).__name__}: {error}"
    assert wrong == {}
