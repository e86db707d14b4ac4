"""Elastic catenaries: limits, invariants and derivatives."""

from dataclasses import replace

import numpy as np
import pytest

from swelltree.jit import jax, jnp
from swelltree.mooring.catenary.catenary import Sections, span
from swelltree.mooring.catenary.catenary_ends import Bed, Pieces, ends
from swelltree.mooring.catenary.catenary_solve import MIN_HORIZONTAL, end_force
from swelltree.mooring.catenary.catenary_stiffness import inside
from swelltree.mooring.catenary.junctions import end_stiffness

BED = -50.0


def pieces(length, weight, EA, on_bed=True, touch=False, slope=(0.0, 0.0), friction=0.0):
    rows = [np.atleast_1d(np.asarray(x, dtype=float)) for x in (length, weight, 1.0 / np.array(EA))]
    rows = np.broadcast_arrays(*rows)
    rests = np.full(rows[0].shape, float(on_bed or touch))
    sections = Sections(*(x[None] for x in (*rows, rests)))
    bed = Bed(np.array(BED), np.array(slope), np.array(friction))
    return Pieces(sections, bed, (on_bed,), (touch,), plain=not any(slope) and not friction)


def at(own, a, b):
    return ends(own, np.array([a], dtype=float), np.array([b], dtype=float))


def within(own, a, b):
    a, b = np.array([a], dtype=float), np.array([b], dtype=float)
    return inside(own, ends(own, a, b), a, b)


def random_lines(seed, count, on_bed):
    rng = np.random.default_rng(seed)
    length = 10 ** rng.uniform(0, 3.5, (count, 1)) * rng.dirichlet(np.ones(3), count)
    weight = 10 ** rng.uniform(-1, 4, (count, 1)) * 10 ** rng.uniform(-1, 1, (count, 3))
    if not on_bed:
        weight = weight * rng.choice([-1.0, 1.0], (count, 3))
    size = np.abs(length * weight).sum(1, keepdims=True)
    EA = size * 10 ** rng.uniform(0, 6, (count, 1)) * 10 ** rng.uniform(-1, 1, (count, 3))
    total = length.sum(1)
    chord = total * rng.choice([0.01, 0.3, 0.8, 0.95, 0.999, 1.0, 1.0001, 1.01, 1.1], count)
    angle = rng.uniform(0.0 if on_bed else -np.pi / 2, np.pi / 2, count)
    x = np.where(rng.uniform(size=count) < 0.1, 0.0, chord * np.cos(angle))
    sections = Sections(length, weight, 1.0 / EA, np.full((count, 3), float(on_bed)))
    return sections, np.hypot(x, 1e-6 * total), np.maximum(chord * np.sin(angle), -chord)


@pytest.mark.parametrize("on_bed", [True, False])
@pytest.mark.parametrize("friction", [0.0, 0.6])
def test_any_line_of_three_sections_finds_its_ends(on_bed, friction):
    sections, x, z = random_lines(3, 2000, on_bed)
    flat, brake = 0.0 * x, friction + 0.0 * x
    found = end_force(sections, x, z, flat, brake)
    H = np.maximum(found.H, MIN_HORIZONTAL * sections.size)
    here = span(sections, H, found.V, flat, brake)
    length = sections.total_length
    assert np.abs(here.z - z).max() < 1e-9 * length.max()
    misfit = np.where(found.slack, 0.0, here.x - x) / length
    assert np.abs(misfit).max() < 1e-9
    # a heap has more line than it needs
    assert (here.x[found.slack] >= x[found.slack]).all()


def test_slack_line_pulls_with_the_weight_of_what_hangs_and_nothing_else():
    place = pieces(200.0, 700.0, 1e12), (0, 0, BED), (60, 0, -10.0)
    found = at(*place)
    assert found.H[0] == 0.0
    assert found.force_B[0] == pytest.approx([0.0, 0.0, -700.0 * 40.0], rel=1e-6)
    assert found.force_A[0] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    assert within(*place).lying[0] == pytest.approx([0.0, 160.0], rel=1e-6)


def test_upright_line_carries_its_weight_and_the_pull():
    own = pieces(100.0, 50.0, 1e6, on_bed=False)
    stretch = 0.5
    found = at(own, (3, 4, -150.0), (3, 4, -50.0 + stretch))
    # mean tension from the stretch, half the weight more at the top
    mean = 1e6 * stretch / 100.0
    assert found.force_B[0] == pytest.approx([0.0, 0.0, -mean - 2500.0], rel=1e-9, abs=1e-6)
    assert found.force_A[0] == pytest.approx([0.0, 0.0, mean - 2500.0], rel=1e-9, abs=1e-6)


def test_line_without_weight_is_a_spring():
    found = at(pieces(100.0, 0.0, 2e6, on_bed=False), (0, 0, -30.0), (60.0, 0.0, 51.0))
    pull = 2e6 * (np.hypot(60.0, 81.0) / 100.0 - 1.0)
    direction = np.array([60.0, 0.0, 81.0]) / np.hypot(60.0, 81.0)
    assert found.force_A[0] == pytest.approx(pull * direction, rel=1e-6, abs=1e-9)


def test_buoyant_line_is_a_heavy_line_upside_down():
    heavy = at(pieces(120.0, 30.0, 1e7, on_bed=False), (0, 0, -40.0), (90.0, 0.0, -5.0))
    light = at(pieces(120.0, -30.0, 1e7, on_bed=False), (0, 0, -5.0), (90.0, 0.0, -40.0))
    mirror = np.array([1.0, 1.0, -1.0])
    assert light.force_B[0] == pytest.approx(heavy.force_B[0] * mirror, rel=1e-10)


def test_two_sections_of_one_type_are_one_section():
    one = at(pieces(230.0, 600.0, 3e8), (0, 0, BED), (210.0, 20.0, -2.0))
    two = at(pieces([90.0, 140.0], 600.0, 3e8), (0, 0, BED), (210.0, 20.0, -2.0))
    assert two.force_B[0] == pytest.approx(one.force_B[0], rel=1e-11)


def test_line_between_two_floats_lies_on_the_bed():
    own = pieces(260.0, 500.0, 1e9, on_bed=False, touch=True)
    found = at(own, (-100.0, 0, -20.0), (100.0, 0, -30.0))
    begin, end = within(own, (-100.0, 0, -20.0), (100.0, 0, -30.0)).lying[0]
    assert 0.0 < begin < end < 260.0
    assert found.down_A[0] == pytest.approx(500.0 * begin, rel=1e-9)
    assert found.down_B[0] == pytest.approx(500.0 * (260.0 - end), rel=1e-9)
    # each half is a line anchored where it touches
    half = pieces(260.0 - end, 500.0, 1e9)
    span_x = np.array([0.0])
    V = found.down_B
    seen = span(half.sections, found.H, V, span_x, span_x)
    assert seen.z[0] == pytest.approx(20.0, rel=1e-9)


def test_balance_along_a_sloped_bed_without_friction():
    slope = 0.08
    own = pieces(300.0, 900.0, 1e9, slope=(slope, 0.0))
    found = at(own, (0, 0, BED), (295.0, 0, -5.0))
    assert within(own, (0, 0, BED), (295.0, 0, -5.0)).lying[0, 1] > 10.0
    forces = -found.force_A[0] - found.force_B[0] - np.array([0.0, 0.0, 300.0 * 900.0])
    along = np.array([1.0, 0.0, slope]) / np.hypot(1.0, slope)
    # the bed pushes at right angles to itself
    assert forces @ along == pytest.approx(0.0, abs=1e-9 * 300.0 * 900.0)


def test_friction_takes_off_tension_towards_the_anchor():
    ends_at = (0, 0, BED), (292.0, 0, -5.0)
    free, rough = (at(pieces(300.0, 900.0, 1e9, friction=f), *ends_at) for f in (0.0, 0.3))
    lying = within(pieces(300.0, 900.0, 1e9, friction=0.3), *ends_at).lying[0, 1]
    assert lying > 50.0
    assert rough.H_A[0] == pytest.approx(rough.H[0] - 0.3 * 900.0 * lying, rel=1e-9)
    assert free.H_A[0] == pytest.approx(free.H[0], rel=1e-12)


@pytest.mark.parametrize(
    ("own", "a", "b"),
    [
        (pieces(230.0, 600.0, 3e8), (0, 0, BED), (200.0, 40.0, -2.0)),
        (pieces([90, 30], [600.0, -200], 3e6, on_bed=False), (0, 0, -40.0), (60.0, 20.0, -2.0)),
        (pieces(260.0, 500.0, 1e8, False, True), (-100, 0, -20.0), (120.0, 60.0, -30.0)),
        (pieces(260.0, 500.0, 1e8, False, True), (-100, 0, -20.0), (90.0, 20.0, -30.0)),
    ],
    ids=["anchored", "free", "touching", "heap"],
)
def test_forces_are_the_gradient_of_the_stored_energy(own, a, b):
    x, h = np.array([a, b], dtype=float), 1e-3
    found = at(own, a, b)
    forces = np.concatenate([found.force_A, found.force_B])
    for end in [1] if own.anchored[0] else [0, 1]:
        for k in range(3):
            step = np.zeros((2, 3))
            step[end, k] = h
            high, low = (within(own, *moved).energy[0] for moved in (x + step, x - step))
            # fourth digit of a joule of a megajoule over two millimetres
            assert -(high - low) / (2 * h) == pytest.approx(forces[end, k], rel=1e-6, abs=1e-2)


@pytest.mark.parametrize(
    ("own", "a", "b"),
    [
        (pieces([90, 30], [600.0, -200], 3e6, on_bed=False), (0, 0, -40.0), (60.0, 20.0, -2.0)),
        (pieces(260.0, 500.0, 1e8, False, True), (-100, 0, -20.0), (120.0, 60.0, -30.0)),
    ],
    ids=["free", "touching"],
)
def test_stiffness_is_the_change_of_the_forces(own, a, b):
    x, h = np.array([a, b], dtype=float), 1e-4
    K = end_stiffness(at(own, a, b), within(own, a, b).stiffness)
    for end, name in enumerate("AB"):
        for k in range(3):
            step = np.zeros((2, 3))
            step[end, k] = h
            high, low = (at(own, *moved) for moved in (x + step, x - step))
            for other, field in (("A", "force_A"), ("B", "force_B")):
                rise = (getattr(high, field) - getattr(low, field))[0] / (2 * h)
                found = -K[other + name][0, :, k]
                assert found == pytest.approx(rise, rel=1e-5, abs=1e-3)


def test_jax_gives_the_same_forces_and_their_derivatives():
    own = pieces([90.0, 140.0], [600.0, 300.0], 3e8)
    a, b, h = (0.0, 0.0, BED), np.array([205.0, 20.0, -2.0]), 1e-3

    def pull(b):
        return ends(own, jnp.array([a]), b[None]).force_B[0]

    force, slope = jax.jit(lambda b: jax.jvp(pull, (b,), (jnp.array([1.0, 0.5, -0.3]),)))(b)
    assert np.asarray(force) == pytest.approx(at(own, a, b).force_B[0], rel=1e-12)
    step = h * np.array([1.0, 0.5, -0.3])
    rise = at(own, a, b + step).force_B[0] - at(own, a, b - step).force_B[0]
    assert np.asarray(slope) == pytest.approx(rise / (2 * h), rel=1e-7)


@pytest.mark.slow
def test_second_derivatives_are_exact():
    """Third derivatives of the energy, against differences of the stiffness."""
    own = pieces([90.0, 140.0], [600.0, 300.0], 3e8)
    a = jnp.array([[0.0, 0.0, BED]])

    def pull(b):
        return ends(own, a, b[None]).force_B[0]

    b, h = jnp.array([205.0, 20.0, -2.0]), 1e-4
    stiffness = jax.jit(jax.jacfwd(pull))
    step = jnp.array([h, 0.0, 0.0])
    requested = (stiffness(b + step) - stiffness(b - step)) / (2 * h)
    found = jax.jit(jax.jacfwd(jax.jacfwd(pull)))(b)[:, :, 0]
    assert np.asarray(found) == pytest.approx(np.asarray(requested), rel=1e-5, abs=1e-4)


TABLE = np.array([[0.0, 0.0], [0.02, 1e5], [0.03, 4e5], [0.06, 6e5], [0.07, 1.5e6]])


def strain(T):
    """Of the table, its last slope beyond it."""
    last = np.diff(TABLE[-2:], axis=0)[0]
    return np.interp(T, TABLE[:, 1], TABLE[:, 0]) + last[0] / last[1] * np.maximum(
        T - TABLE[-1, 1], 0.0
    )


def with_table(sections):
    soft = np.diff(TABLE[:, 0]) / np.diff(TABLE[:, 1])
    shape = (*sections.length.shape, 1)
    return replace(
        sections,
        compliance=soft[0] + 0.0 * sections.length,
        knee=np.ones(shape) * TABLE[1:-1, 1],
        softer=np.ones(shape) * np.diff(soft),
    )


@pytest.mark.parametrize("bed", ["none", "flat", "rough slope"])
def test_stretch_table_is_followed_along_the_line(bed):
    """Distances against sums over short parts, and derivatives against differences."""
    rng = np.random.default_rng(8)
    count, L = 40, 500.0
    weight = rng.choice([-200.0, 0.0, 1e-9, 300.0, 1500.0], count)
    if bed != "none":
        weight = np.abs(weight) + 100.0
    rests = np.full((count, 1), float(bed != "none"))
    sections = Sections(np.full((count, 1), L), weight[:, None], rests, rests)
    sections = with_table(sections)
    H, V = 10 ** rng.uniform(4.0, 6.1, count), rng.uniform(-0.5, 1.5, count) * weight * L
    slope = np.full(count, 0.05) if bed == "rough slope" else None
    friction = np.full(count, 0.4 if slope is not None else 0.0)
    V = (
        np.maximum(V, H * slope)
        if slope is not None
        else (np.maximum(V, 0) if bed == "flat" else V)
    )
    here = span(sections, H, V, slope, friction)
    # sums over 20000 parts, the upper end first
    s = (np.arange(20000) + 0.5) * L / 20000
    v = V[:, None] - weight[:, None] * s
    x = z = 0.0
    if bed == "none":
        T = np.hypot(H[:, None], v)
        x, z = (((1 + strain(T)) * f / T).mean(-1) * L for f in (H[:, None] + 0 * v, v))
    else:
        rise = 0.0 if slope is None else slope[:, None]
        lies = v < H[:, None] * rise
        cosine = 1.0 / np.sqrt(1.0 + rise**2)
        loss = rise * cosine + friction[:, None] * cosine
        below = np.maximum(s - (V[:, None] - H[:, None] * rise) / weight[:, None], 0.0)
        T = np.where(
            lies,
            np.maximum(H[:, None] / cosine - loss * weight[:, None] * below, 0.0),
            np.hypot(H[:, None], v),
        )
        at = np.hypot(H[:, None], v)
        along_x = np.where(lies, cosine, H[:, None] / at)
        along_z = np.where(lies, rise * cosine, v / at)
        x, z = (((1 + strain(T)) * f).mean(-1) * L for f in (along_x, along_z))
    assert here.x == pytest.approx(x, abs=1e-4 * L)
    assert here.z == pytest.approx(z, abs=1e-4 * L)
    # a vertical force below that of the touchdown has another branch
    e = 1e-4
    if bed != "none":
        V = V + 1e-3 * H
        here = span(sections, H, V, slope, friction)
    by_H = [span(sections, H + d * H, V, slope, friction) for d in (e, -e)]
    by_V = [span(sections, H, V + d * H, slope, friction) for d in (e, -e)]
    for name, (up, down) in {"H": by_H, "V": by_V}.items():
        for end in ("x", "z"):
            rate = (getattr(up, end) - getattr(down, end)) / (2 * e * H)
            specified = getattr(here, f"{end}_{name}")
            assert np.abs((specified - rate) * H).max() < 2e-3 * L


def test_energy_of_a_line_with_a_stretch_table_has_its_forces_as_gradient():
    own = pieces(420.0, 400.0, 1e6)
    own = Pieces(with_table(own.sections), own.bed, own.anchored, own.may_touch, plain=True)
    a = np.array([0.0, 0.0, BED])
    for b in ([400.0, 30.0, 0.0], [425.0, -20.0, 5.0], [436.0, 10.0, -1.0]):
        b = np.array(b)
        force = at(own, a, b).force_B[0]
        for k in range(3):
            e = 1e-4 * np.eye(3)[k]
            rise = within(own, a, b + e).energy - within(own, a, b - e).energy
            assert force[k] == pytest.approx(-float(rise[0]) / 2e-4, rel=1e-5, abs=1.0)
