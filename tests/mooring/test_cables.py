"""Cables whose nodes are bodies: chains in the tree, plain and in blocks, and lumped masses."""

import functools

import numpy as np
import pytest

import swelltree as sw
from swelltree.describe import load
from swelltree.describe.errors import SwelltreeError
from swelltree.jit import jax, jnp
from swelltree.mooring.cable.expand import described_nodes, onto
from swelltree.multibody.formulations import formulation
from swelltree.multibody.formulations.base import State
from swelltree.multibody.formulations.equations import Phase, solve_motion, start_phase

ROPE = sw.LineType("rope", diameter=0.05, mass_per_length=8.0, EA=4e4, BA=300.0)
LOOSE = sw.LineType("loose", diameter=0.05, mass_per_length=8.0, EA=4e4)


def hoist(model="multibody", form="block", kind=ROPE, n=4, free=True, dry=True, **more):
    """A float with a cable that hangs from a point of it, slack and bent, and a load."""
    ship = sw.Body("ship", mass=400.0, inertia=(90.0, 120.0, 150.0), position=(0, 0, 10))
    load = sw.Body("load", mass=60.0, inertia=(3.0, 4.0, 5.0), position=(2.5, 0.8, 8.2))
    joint = sw.Free("free", sw.WORLD, ship) if free else sw.Weld("held", sw.WORLD, ship)
    line = sw.Line(
        "rope", ship.at(0.5, 0.2, -0.5), load.at(0, 0, 0.4), 3.0, kind, model, n,
        form=form, dry=dry, **more,
    )  # fmt: skip
    return sw.System("hoist", [ship, load], [joint], lines=[line], water=sw.Water(g=9.81))


def node_rows(model, names):
    """Rows of P that give the velocities of the named bodies' points."""
    bodies = [model.layout.bodies.index(name) for name in names]
    return np.concatenate([np.arange(6 * b, 6 * b + 3) for b in bodies])


def accelerations(system, how, seed=0):
    """Accelerations of ship, nodes and load at given velocities of ship, nodes and load."""
    model = sw.compile(system)
    how = formulation(how)
    names = ["ship", "rope_1", "rope_2", "rope_3", "load"]
    y = start_phase(model, how)
    kin = how.kinematics(model, 0.0, y.state)
    rng = np.random.default_rng(seed)
    requested = rng.normal(size=15)
    rows = node_rows(model, names)
    ship = 6 * model.layout.bodies.index("ship")
    load = 6 * model.layout.bodies.index("load")
    rows = np.concatenate([rows, ship + np.arange(3, 6), load + np.arange(3, 6)])
    requested = np.concatenate([requested, rng.normal(size=6)])
    s = np.linalg.lstsq(np.asarray(kin.P)[rows], requested, rcond=None)[0]
    if how.name == "lagrange":
        # the nodes turn too: velocities of all bodies from the chain
        tree = formulation("path_matrix")
        P = np.asarray(tree.kinematics(model, 0.0, tree.start(model)).P)
        s = P @ np.linalg.lstsq(P[rows], requested, rcond=None)[0]
    state = State(y.state.q, s, y.state.chart)
    kin, _, a = solve_motion(model, how, 0.0, state, y.internal)
    assert np.abs(np.asarray(kin.motion.v).reshape(-1)[rows] - requested).max() < 1e-10
    return np.asarray(a.v_dot).reshape(-1)[rows]


@functools.cache
def reference():
    return accelerations(hoist(), "path_matrix")


@pytest.mark.parametrize(
    ("form", "how"),
    [
        ("block", "composite_body"),
        ("plain", "composite_body"),
        pytest.param("plain", "path_matrix", marks=pytest.mark.slow),
        pytest.param("block", "partial_velocity", marks=pytest.mark.slow),
        pytest.param("block", "lagrange", marks=pytest.mark.slow),
    ],
)
def test_block_and_plain_form_give_the_same_accelerations(form, how):
    found = accelerations(hoist(form=form), how)
    error = np.abs(found - reference()).max() / np.abs(reference()).max()
    # constraints of absolute coordinates are solved by a null space
    assert error < (1e-11 if how == "lagrange" else 1e-12)


def test_lumped_masses_have_the_accelerations_of_the_chain():
    found = accelerations(hoist("lumped"), "path_matrix")
    assert np.abs(found - reference()).max() < 1e-11 * np.abs(reference()).max()


def pendulum(direction, n=1):
    """A cable with a heavy end, drawn in a direction from a fixed point."""
    tip = np.array(direction, float) * 2.0
    junction = sw.Junction("tip", tuple(tip), mass=50.0)
    line = sw.Line("rope", sw.WORLD.at(0, 0, 0), junction, 2.0, LOOSE, "multibody", n, dry=True)
    return sw.compile(sw.System("swing", lines=[line], junctions=[junction]))


@pytest.mark.parametrize("direction", [(0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, -1)])
def test_swinging_through_every_angle_keeps_the_energy(direction):
    model = pendulum(direction)
    how = formulation("path_matrix")
    y = start_phase(model, how)
    # fast enough to go round over the top, in a plane that leans over
    P = np.asarray(how.kinematics(model, 0.0, y.state).P)[:3]
    across = np.array([2.0, 3.0, 12.0]) if direction[2] == 0 else np.array([13.0, 4.0, 0.0])
    across -= np.array(direction) * np.dot(direction, across)
    s = np.linalg.solve(P, across)
    begin = Phase(State(y.state.q, s, y.state.chart), y.work, y.internal)
    run = sw.simulate(model, duration=4.0, start=begin, rtol=1e-10, atol=1e-12)
    kinetic = float(run.kinetic_energy.isel(time=0).sum())
    assert np.abs(run.energy_residual.values).max() < 1e-7 * kinetic
    place = run.line_position.isel(line=0, line_node=-1).values
    up = place[:, 2] / np.linalg.norm(place, axis=1)
    assert up.min() < -0.85
    assert up.max() > 0.85


@pytest.mark.slow
def test_momentum_of_a_float_with_its_cable_and_load_is_kept():
    system = hoist(kind=LOOSE).replace(water=sw.Water(g=0.0))
    model = sw.compile(system)
    y = start_phase(model, formulation("path_matrix"))
    s = np.random.default_rng(3).normal(size=len(y.state.s)) * 0.5
    begin = Phase(State(y.state.q, s, y.state.chart), y.work, y.internal)
    run = sw.simulate(model, duration=1.5, output_step=0.05, start=begin, rtol=1e-10, atol=1e-11)
    mass = np.array([float(model.value(f"{name}.mass")) for name in run.body.values])
    velocity = run.velocity.isel(dof=slice(0, 3)).values
    place = run.position.isel(dof=slice(0, 3)).values
    R = run.rotation.values
    inertia = np.array([model.value(f"{name}.inertia") for name in run.body.values])
    spin = np.einsum("tbij,bjk,tblk,tbl->tbi", R, inertia, R, run.velocity.values[..., 3:])
    linear = (mass[:, None] * velocity).sum(1)
    angular = (np.cross(place, mass[:, None] * velocity) + spin).sum(1)
    assert np.ptp(linear, axis=0).max() < 1e-7 * np.abs(linear).max()
    assert np.ptp(angular, axis=0).max() < 1e-7 * np.abs(angular).max()
    gained = float(run.kinetic_energy.isel(time=0).sum())
    assert np.abs(run.energy_residual.values).max() < 1e-6 * gained


@pytest.mark.slow
def test_a_load_on_a_cable_rests_and_stays_at_rest():
    model = sw.compile(hoist(free=False))
    still = sw.equilibrium(model)
    tension = still.line_tension.isel(line=0).values
    carried = 9.81 * (60.0 + 8.0 * 3.0 - 8.0 * 0.75 * (np.arange(4) + 0.5))
    assert np.abs(tension - carried).max() < 1e-6 * carried.max()
    run = sw.simulate(model, duration=2.0, start="equilibrium")
    assert np.abs(run.velocity.values).max() < 1e-6


@pytest.mark.slow
def test_forms_move_alike():
    runs = [
        sw.simulate(sw.compile(hoist(model, form)), duration=0.6, output_step=0.1, rtol=1e-9)
        for model, form in (("multibody", "block"), ("lumped", "block"))
    ]
    one, other = (run.line_position.values for run in runs)
    assert np.abs(one - other).max() < 1e-6


def test_the_first_half_of_a_cable_rides_on_what_holds_it():
    model = sw.compile(hoist())
    names = [name for name in model.layout.bodies if name.startswith("rope")]
    mass = sum(float(model.value(f"{name}.mass")) for name in names)
    assert mass == pytest.approx(24.0, abs=1e-12)
    assert float(model.value("rope_0.mass")) == pytest.approx(3.0)


@pytest.mark.slow
def test_slings_from_a_spreader_share_the_load():
    """A cable to a spreader and two slings to one load: the second sling closes a loop."""
    bar = sw.Body("bar", mass=20.0, inertia=(1.0, 8.0, 8.0), position=(0, 0, 6))
    load = sw.Body("load", mass=100.0, inertia=(10.0, 10.0, 10.0), position=(0, 0, 3))
    light = sw.LineType("sling", diameter=0.02, mass_per_length=1.0, EA=1e6, BA=1e3)
    slings = [
        sw.Line(
            f"sling{k}", bar.at(x, 0, 0), load.at(0.5 * x, 0, 0.5), 2.5495097568, light,
            "multibody", 2, dry=True,
        )
        for k, x in enumerate((1.0, -1.0))
    ]  # fmt: skip
    hoisting = sw.Line("hoist", (0, 0, 10), bar.at(0, 0, 0), 4.0, light, "multibody", 2, dry=True)
    system = sw.System("spreader", [bar, load], [], lines=[*slings, hoisting])
    model = sw.compile(system)
    assert any("sling1_end" in sentence for sentence in model.report)
    still = sw.equilibrium(model)
    pull = still.fairlead_tension.sel(line=["sling0", "sling1"]).values
    upright = 2.5 / 2.5495097568
    assert pull == pytest.approx(100 * 9.81 / 2 / upright, rel=0.02)
    complete = (100 + 20 + 2 * 2.5495 + 4.0) * 9.81
    # the end tension holds the half element at A too
    assert float(still.anchor_tension.sel(line="hoist")) == pytest.approx(complete, rel=1e-6)


@pytest.mark.slow
def test_a_cable_described_from_its_load_is_held_by_the_other_end():
    load = sw.Body("load", mass=60.0, inertia=(3.0, 4.0, 5.0), position=(0, 0, 5))
    line = sw.Line("rope", load.at(), (0, 0, 8), 3.0, ROPE, "multibody", 3, dry=True)
    still = sw.equilibrium(sw.compile(sw.System("turned", [load], [], lines=[line])))
    tension = still.line_tension.isel(line=0).values
    assert tension[0] < tension[-1]
    assert tension[0] == pytest.approx(9.81 * (60.0 + 4.0))


@pytest.mark.slow
def test_both_ends_fixed_hangs_like_the_catenary():
    ends = ((0, 0, 30), (40, 0, 35))
    sags = []
    for model in ("multibody", "quasi_static"):
        post = sw.Body("post", mass=1.0, inertia=(1, 1, 1))
        line = sw.Line("rope", *ends, 50.0, LOOSE, model, None if model == "quasi_static" else 10)
        water = sw.Water(depth=100.0, rho=1e-6)
        held = sw.Weld("held", sw.WORLD, post)
        still = sw.equilibrium(
            sw.compile(sw.System("span", [post], [held], lines=[line], water=water))
        )
        lowest = float(still.line_position.sel(axis="z").min())
        sags.append((lowest, still.anchor_tension.item()))
    assert sags[0][0] == pytest.approx(sags[1][0], abs=0.2)
    # an element tells the tension in its middle: half of its weight is missing at the end
    assert sags[0][1] == pytest.approx(sags[1][1], abs=0.5 * 5.0 * 8.0 * 9.81)


@pytest.mark.slow
def test_the_weight_in_water_is_less_by_the_water_displaced():
    junction = sw.Junction("end", (0, 0, -14))
    line = sw.Line("rope", (0, 0, -10), junction, 4.0, ROPE, "multibody", 4)
    still = sw.equilibrium(sw.compile(sw.System("deep", lines=[line], junctions=[junction])))
    w = ROPE.weight_per_length(1025.0, 9.81)
    assert still.line_tension.values[0] == pytest.approx(w * (4.0 - np.arange(4) - 0.5), rel=1e-9)


@pytest.mark.parametrize("model", ["multibody", pytest.param("lumped", marks=pytest.mark.slow)])
def test_buoyancy_gives_back_what_it_took_from_a_cable_that_dips_in(model):
    kind = LOOSE.replace(Cdn=0.0, Can=0.0, diameter=0.08)
    junction = sw.Junction("end", (2.0, 0, 0.8))
    line = sw.Line("rope", (0, 0, 0.8), junction, 2.0, kind, model, 3)
    water = sw.Water()
    compiled = sw.compile(sw.System("dip", lines=[line], junctions=[junction], water=water))
    run = sw.simulate(compiled, duration=1.2, output_step=0.05, rtol=1e-9, atol=1e-10)
    assert float(run.line_position.sel(axis="z").min()) < -0.3
    assert np.abs(run.energy_residual.values).max() < 1e-5 * float(
        run.kinetic_energy.sum("body").max()
    )


@pytest.mark.slow
def test_drag_brings_a_cable_to_the_speed_of_the_current():
    kind = ROPE.replace(Cdt=0.5)
    junction = sw.Junction("end", (0, 0, -12))
    line = sw.Line("rope", (0, 0, -10), junction, 2.0, kind, "multibody", 2)
    system = sw.System("stream", lines=[line], junctions=[junction], current=sw.UniformCurrent(1.0))
    still = sw.equilibrium(sw.compile(system))
    lean = float(still.line_position.isel(line=0, line_node=-1).sel(axis="x"))
    # the last node: half an element of drag against half an element of weight
    t = still.line_position.isel(line=0).values
    along = (t[1] - t[2]) / np.linalg.norm(t[1] - t[2])
    u = np.array([1.0, 0, 0])
    u_t = u @ along
    u_n = u - u_t * along
    drag = (
        0.5
        * 1025
        * 0.5
        * (1.2 * 0.05 * np.linalg.norm(u_n) * u_n + np.pi * 0.5 * 0.05 * abs(u_t) * u_t * along)
    )
    weight = -ROPE.weight_per_length(1025.0, 9.81) * 0.5 * np.array([0, 0, 1.0])
    pull = float(still.line_tension.values[0, -1]) * along
    assert lean > 0.1
    assert np.abs(drag + weight + pull).max() < 1e-6 * np.linalg.norm(weight)


@pytest.mark.slow
def test_a_physical_rope_never_pushes_and_the_printed_law_does():
    def least(slack):
        kind = sw.LineType("short", diameter=0.05, mass_per_length=8.0, EA=1e4, BA=400.0)
        junction = sw.Junction("end", (0, 0, 4))
        line = sw.Line(
            "rope", (0, 0, 10), junction, 5.0, kind, "multibody", 3, dry=True, slack=slack
        )
        model = sw.compile(sw.System("bounce", lines=[line], junctions=[junction]))
        return float(sw.simulate(model, duration=1.0).line_tension.min())

    assert least("pulls_only") >= 0.0
    assert least("damped") < -1.0


def test_case_files_keep_cables(tmp_path):
    system = hoist(form="plain", slack="damped")
    text = system.to_toml(tmp_path / "case.toml")
    assert 'form = "plain"' in text
    again = load(tmp_path / "case.toml").system
    assert again.lines == system.lines


def test_frames_and_shapes_of_described_cables():
    rng = np.random.default_rng(1)
    for direction in (*rng.normal(size=(5, 3)), np.array([0, 0, -1.0])):
        R = onto(direction)
        assert np.abs(R @ R.T - np.eye(3)).max() < 1e-14
        assert np.linalg.det(R) > 0
        assert np.abs(R[:, 2] - direction / np.linalg.norm(direction)).max() < 1e-14
    for b in (np.array([3.0, 1.0, 2.0]), np.array([0.0, 0.0, 1.0])):
        at = described_nodes(np.zeros(3), b, np.full(60, 0.1))
        assert np.abs(at[-1] - b).max() < 1e-12
        assert np.linalg.norm(np.diff(at, axis=0), axis=1) == pytest.approx(0.1, rel=0.05)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"axial": "inextensible"}, "a multibody cable stretches"),
        ({"clamp_A": (0, 0, 1)}, "is not clamped"),
        ({"release_time": 3.0}, "is not released"),
        ({"model": "quasi_static", "slack": "damped"}, "slack, form and dry are of cables"),
        ({"model": "lumped", "form": "plain"}, "form 'plain' is of multibody cables"),
    ],
)
def test_what_cables_cannot_be_is_said(change, sentence):
    line = {"model": "multibody"} | change
    with pytest.raises(SwelltreeError, match=sentence):
        sw.Line("rope", (0, 0, 0), (1, 0, -1), 2.0, ROPE, **line)


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (ROPE.replace(EI=5.0), "has bending stiffness"),
        (ROPE.replace(EA=None, stretch=((0, 0), (0.1, 1e3))), "has a stretch table"),
    ],
)
def test_types_that_cables_do_not_take_are_named(kind, sentence):
    with pytest.raises(SwelltreeError, match=sentence):
        sw.compile(hoist(kind=kind))


def test_an_end_between_nodes_of_another_cable_is_refused():
    system = hoist()
    junction = sw.Junction("tip", (0, 0, 5))
    branch = sw.Line("branch", sw.OnLine("rope", 1.0), junction, 1.0, ROPE, "multibody", 2)
    with pytest.raises(SwelltreeError, match="is between nodes"):
        sw.compile(system.replace(lines=(*system.lines, branch), junctions=(junction,)))
    at_node = branch.replace(A=sw.OnLine("rope", 1.5))
    model = sw.compile(system.replace(lines=(*system.lines, at_node), junctions=(junction,)))
    k = model.layout.bodies.index("branch_1")
    assert model.layout.bodies[model.layout.parent[k]] == "rope_2"


def test_gradients_pass_through_a_cable():
    model = sw.compile(hoist())
    how = formulation("path_matrix")

    @jax.jit
    def fall(mass):
        changed = model.with_values({"load.mass": mass})
        y = start_phase(changed, how)
        state = State(jnp.asarray(y.state.q), jnp.asarray(y.state.s), ())
        return solve_motion(changed, how, 0.0, state, y.internal)[2].v_dot[:, 2].sum()

    h = 1e-2
    slope = (fall(60.0 + h) - fall(60.0 - h)) / (2 * h)
    assert float(jax.grad(fall)(60.0)) == pytest.approx(float(slope), rel=1e-5, abs=1e-9)


def test_a_cable_that_goes_through_the_seabed_is_told():
    load = sw.Body("load", mass=60.0, inertia=(3.0, 4.0, 5.0), position=(0, 0, -4.9))
    rope = sw.Line("rope", (0, 0, -2.0), load, 3.0, ROPE, "lumped", 2)
    system = sw.System("deep", [load], lines=[rope], water=sw.Water(depth=5.0))
    with pytest.warns(sw.SwelltreeWarning, match=r"line 'rope' was .* m below the seabed at t ="):
        sw.simulate(sw.compile(system), duration=1.0, output_step=0.1, start="described")
