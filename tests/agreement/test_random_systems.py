"""All formulations give the same motion and the same reactions, whatever the system.

A fixed handful runs by default and covers every kind of joint; the slow tests draw more with
hypothesis. `SWELLTREE_EXAMPLES=200` draws that many new ones instead of the usual fixed set.
"""

import os
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, note, settings
from hypothesis import strategies as st

from agreement.compare import (
    CONDITION,
    NAMES,
    Unfit,
    compiled_system,
    first_instant,
    needed_wrench,
    net_reactions,
    trajectory,
)
from agreement.generate import KINDS, RandomSystem, random_system
from swelltree.integrate.complementarity.start import start_motion

# chosen so that together they hold all joints and traits: see the first test
HANDFUL = (1241, 1066, 1002)
PATHS = (
    pytest.param(2000, "composite_body", marks=pytest.mark.slow),
    (2013, "lagrange"),
    pytest.param(2024, "partition", marks=pytest.mark.slow),
    (2035, "partial_velocity"),
)

# systems with redundant joints
TWINS = (
    (48, "lagrange"),
    pytest.param(76, "partition", marks=pytest.mark.slow),
    pytest.param(41, "composite_body", marks=pytest.mark.slow),
    pytest.param(65, "partial_velocity", marks=pytest.mark.slow),
    pytest.param(30, "path_matrix", marks=pytest.mark.slow),
)

structures = st.randoms(use_true_random=False)


def examples(count: int) -> settings:
    """A fixed set of examples, or as many new ones as the environment asks for."""
    requested = os.environ.get("SWELLTREE_EXAMPLES")
    return settings(
        max_examples=int(requested) if requested else count,
        derandomize=requested is None,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )


def check_instant(drawn: RandomSystem) -> None:
    """Accelerations and reactions of all formulations at the start."""
    model = compiled_system(drawn)
    seen = {name: first_instant(model, name) for name in NAMES}
    reference = seen["path_matrix"]
    # "of the largest"; where nothing accelerates, rounding of the weight remains (1e-3 m/s^2, N)
    acceleration = max(np.abs(reference["acceleration"]).max(), 1e-3)
    force = max(np.abs(reference["reaction"]).max(), np.abs(reference["wrench"]).max(), 1e-3)
    for name in NAMES:
        tolerance = 1e-9
        if name == "partition":
            # digits are lost in proportion to the condition number of the dependent block,
            # which QR with pivoting keeps small
            condition = float(seen[name].get("partition_condition", 1.0))
            assert condition < CONDITION
            tolerance = max(1e-9, 1e-13 * condition)

        def agrees(key, scale, name=name, tolerance=tolerance):
            gap = np.abs(seen[name][key] - reference[key]).max(initial=0.0)
            assert gap <= tolerance * scale, f"{key} of {name} is off by {gap / scale:.1e}"

        agrees("acceleration", acceleration)
        # unique reactions, or the least-norm ones where they are not
        agrees("reaction", force)
        agrees("reaction_joint_axes", force)
        for key in ("position", "velocity", "coordinate", "rate", "kinetic_energy"):
            agrees(key, max(np.abs(reference[key]).max(initial=0.0), 1.0))
        # the joints together give every body the wrench that Newton and Euler ask for
        net, needed = net_reactions(model, seen[name]), needed_wrench(model, seen[name])
        assert np.abs(net - needed).max() <= tolerance * force
        # loops were closed by construction: rounding of coordinates of a few metres remains
        assert seen[name]["closure"] < 1e-11


def check_paths(drawn: RandomSystem, names: tuple[str, ...]) -> float:
    """Positions over two seconds; returns the largest gap [m]."""
    model = compiled_system(drawn)
    times = np.linspace(0.0, 2.0, 9)
    reference = trajectory(model, names[0], times)
    worst = 0.0
    for name in names[1:]:
        other = trajectory(model, name, times)
        stopped = np.isnan(reference).any((1, 2)) | np.isnan(other).any((1, 2))
        # a mechanism at its dead point stops in every formulation, nearly at once
        assert stopped.sum() == np.isnan(reference).any((1, 2)).sum()
        gap = np.abs(other - reference)[~stopped].max(initial=0.0, axis=(1, 2))
        worst = max(worst, float(gap.max(initial=0.0)))
        if worst > 1e-7:
            # so violent that it magnifies any disturbance: a kick of 1e-12 tells by how much;
            # thousands of steps with errors of 1e-12 each add up to a hundred such kicks
            kicked = np.abs(trajectory(model, names[0], times, kick=1e-12) - reference)
            growth = kicked[~stopped].max(axis=(1, 2))
            assert (gap <= np.maximum(1e-7, 100.0 * growth)).all(), (name, gap, growth)
    return worst


def test_the_handful_holds_every_joint_and_trait():
    traits = frozenset().union(*(random_system(Random(seed)).traits for seed in HANDFUL))
    assert traits >= set(KINDS)
    assert traits >= {"loop", "twin", "driven", "reversed", "several trees", "added mass"}
    assert traits >= {"massless body", "displaced description"}


def with_and_without_twin(drawn: RandomSystem) -> tuple[RandomSystem, RandomSystem]:
    """A system, and the same with one joint in the place of two; no force on the second joint."""
    one = [j for j in drawn.system.joints if not j.name.endswith("_twin")]
    forces = [f for f in drawn.system.forces if not getattr(f, "joint", "").endswith("_twin")]
    many = drawn.system.replace(forces=tuple(forces))
    few = many.replace(joints=tuple(one))
    return replace(drawn, system=many), replace(drawn, system=few)


@pytest.mark.slow
def test_redundant_joints_in_random_directions_are_named_and_take_no_freedom():
    seen = set()
    for seed in range(200):
        # welds are rare: every second system begins with one
        kinds = ("weld",) if seed % 2 else ()
        drawn = random_system(Random(seed), max_bodies=4, kinds=kinds)
        if "twin" not in drawn.traits:
            continue
        try:
            many, few = (compiled_system(x) for x in with_and_without_twin(drawn))
        except Unfit:
            continue
        assert many.dofs == few.dofs, (seed, drawn)
        pair = [n for n in many.layout.joints if n.endswith("_twin")]
        pair += [n.removesuffix("_twin") for n in pair]
        reported = [text for text in many.report if "its reaction is not unique" in text]
        assert any(f"'{name}' " in text for text in reported for name in pair), (seed, reported)
        seen |= {j.type for j in drawn.system.joints if j.name.endswith("_twin")}
    assert seen >= {"weld", "hinge", "ball", "cylindrical", "slider", "planar"}


@pytest.mark.parametrize(("seed", "name"), TWINS)
def test_a_system_with_redundant_joints_moves_as_with_one(seed, name):
    drawn = random_system(Random(seed), max_bodies=4, calm=True)
    assert "twin" in drawn.traits
    many, few = (compiled_system(x) for x in with_and_without_twin(drawn))
    # the same joint velocities; of two equal joints, and of a loop, either may be in the tree
    rate = dict(zip(few.layout.dof_labels, np.asarray(start_motion(few).rate), strict=True))
    tree = many.layout.dof_labels[: many.layout.n_tree]
    s = np.array([rate[label.replace("_twin", "")] for label in tree])
    many = many.replace(start=replace(many.start, s=s))
    times = np.linspace(0.0, 1.0, 5)
    order = [few.layout.bodies.index(body) for body in many.layout.bodies]
    gap = trajectory(many, name, times) - trajectory(few, "path_matrix", times)[:, order]
    assert np.abs(gap).max() < 1e-7


@pytest.mark.parametrize("seed", HANDFUL)
def test_formulations_agree_on_accelerations_and_reactions(seed):
    check_instant(random_system(Random(seed)))


@pytest.mark.parametrize(("seed", "other"), PATHS)
def test_formulations_agree_on_the_path_over_two_seconds(seed, other):
    drawn = random_system(Random(seed), max_bodies=4, calm=True)
    check_paths(drawn, ("path_matrix", other))


@pytest.mark.slow
@examples(80)
@given(structures)
def test_formulations_agree_on_any_system(choose):
    drawn = random_system(choose)
    note(repr(drawn))
    try:
        check_instant(drawn)
    except Unfit:
        assume(False)


@pytest.mark.slow
@examples(20)
@given(structures)
def test_formulations_agree_on_the_path_of_any_system(choose):
    drawn = random_system(choose, max_bodies=5, calm=True)
    note(repr(drawn))
    try:
        check_paths(drawn, NAMES)
    except Unfit:
        assume(False)
