"""Winches on multibody cables: splitting and merging, work, stops and controls."""

import functools

import numpy as np
import pytest

import swelltree as sw
from swelltree.describe.errors import SwelltreeError
from swelltree.jit import jax
from swelltree.model.capabilities import InternalState
from swelltree.mooring.cable.cable_winch import IDLE, LENGTH
from swelltree.multibody.formulations import formulation
from swelltree.multibody.formulations.base import Phase, State
from swelltree.multibody.formulations.equations import observe, start_phase, switched

MASS, TOP = 2000.0, 50.0
WIRE = sw.LineType("wire", 0.03, 3.0, EA=4e6, BA=4e4)


def hoist(length=4.0, n=2, rope=WIRE, tip=None, stages=(), **winch):
    """A load of 2 t on a winch, in air; on a boom that moves up and down where tip is given."""
    load = sw.Body("load", mass=MASS, inertia=(MASS,) * 3, position=(0, 0, TOP - length))
    bodies, joints, top = [load], [], sw.WORLD.at(0, 0, TOP)
    if tip is not None:
        boom = sw.Body("boom", mass=1e3, inertia=(1e3,) * 3, position=(0, 0, TOP))
        bodies.append(boom)
        joints.append(sw.Slider("heave", top, boom, axis="z", motion=tip))
        top = boom.at(0, 0, 0)
    line = sw.Line("hoist", top, load.at(), length, rope, "multibody", n, dry=True)
    return sw.System(
        "hoist",
        bodies,
        joints,
        lines=[line],
        winches=[sw.Winch("winch", line, **winch)],
        operations=[sw.Operation("operation", stages)] if stages else [],
    )


@functools.cache
def before_an_event(length):
    """Model, formulation and a phase in motion with this length of rope out."""
    model = sw.compile(hoist(drum=8.0, speed=0.7))
    how = formulation("path_matrix")
    y = start_phase(model, how)
    x = np.array(y.internal.elements["cables"])
    x[0, LENGTH] = length
    heave = [model.layout.dof_number(f"hoist_{k}_link", "Heave") for k in (4, 5)]
    q, s = np.array(y.state.q), np.zeros(len(y.state.s))
    first = length - 2.0
    q[model.layout.dof_position[heave[0]]] = 1.006 * first
    q[model.layout.dof_position[heave[1]]] = 1.004 * 2.0
    s[heave[0]], s[heave[1]] = 0.75, -0.02
    for j, rate in (("hoist_4_link", (0.2, -0.1)), ("hoist_5_link", (0.05, 0.3))):
        for dof, value in zip(("Roll", "Pitch"), rate, strict=True):
            s[model.layout.dof_number(j, dof)] = value
    internal = InternalState(y.internal.radiation, {"cables": x})
    return model, how, Phase(State(q, s, ()), y.work, internal)


@functools.cache
def programs():
    model, how, _ = before_an_event(5.0)
    seen = jax.jit(lambda y: observe(model, how, np.zeros(()), y))
    change = jax.jit(lambda y, hit: switched(model, how, np.zeros(()), y, hit))
    return lambda y: jax.tree.map(np.asarray, seen(y)), change


def momentum(model, seen):
    """Of all bodies, with the half element at the drum."""
    rest = seen["winch_length"][0]
    used = int(seen["winch_segments"][0])
    mass = np.zeros(model.layout.n_bodies)
    nodes = [model.layout.bodies.index(f"hoist_{k}") for k in range(1, 6)]
    lengths = [0.0] * (5 - used) + [rest - 2.0 * (used - 1)] + [2.0] * (used - 1)
    for k, length in enumerate(lengths):
        mass[nodes[k]] += 1.5 * length
        if k:
            mass[nodes[k - 1]] += 1.5 * length
    mass[model.layout.bodies.index("load")] = MASS
    first = seen["line_position"][0]
    k = 5 - used
    down = first[k + 1] - first[k]
    down = down / np.linalg.norm(down)
    drum = 1.5 * lengths[k] * seen["winch_speed"][0] * down
    return (mass[:, None] * seen["velocity"][:, :3]).sum(0) + drum


def test_a_split_keeps_tension_momentum_and_the_place_of_everything():
    model, _, y = before_an_event(5.0)
    look, change = programs()
    after = change(y, np.array([True, False]))
    a, b = look(y), look(after)
    assert float(after.internal.elements["cables"][0, IDLE]) == 2.0
    top = a["line_tension"][0, -2]
    assert np.abs(b["line_tension"][0, -3:-1] / top - 1.0).max() < 1e-12
    assert np.abs(b["line_tension"][0, -1] / a["line_tension"][0, -1] - 1.0) < 1e-12
    assert (
        np.abs(b["line_stretched_length"][0, -3:-1] / (1.006 * np.array([1.0, 2.0])) - 1.0).max()
        < 1e-12
    )
    old = [model.layout.bodies.index(name) for name in ("hoist_4", "hoist_5", "load")]
    for name in ("position", "velocity"):
        assert np.abs(b[name][old, :3] - a[name][old, :3]).max() < 1e-12
    assert np.abs(momentum(model, b) - momentum(model, a)).max() < 1e-9
    assert b["winch_rope_mass"] == pytest.approx(a["winch_rope_mass"], rel=1e-14)
    assert np.abs(b["winch_lost_momentum"]).max() < 1e-9


def test_a_merge_undoes_a_split():
    model, _, y = before_an_event(5.0)
    look, change = programs()
    again = change(change(y, np.array([True, False])), np.array([False, True]))
    a, b = look(y), look(again)
    assert float(again.internal.elements["cables"][0, IDLE]) == 3.0
    for name in ("position", "velocity", "line_stretched_length"):
        assert np.abs(b[name][..., :3] - a[name][..., :3]).max() < 1e-12
    assert np.abs(b["line_tension"] / a["line_tension"] - 1.0).max() < 1e-11
    assert np.abs(momentum(model, b) - momentum(model, a)).max() < 1e-9


def test_a_merge_of_a_bent_cable_keeps_momentum_and_the_mean_strain():
    model, _, y = before_an_event(3.0)
    look, change = programs()
    q = np.array(y.state.q)
    joint = model.layout.joints.index("hoist_5_link")
    first = dict(model.layout.quaternions)[joint]
    q[first : first + 4] = np.cos(0.02), np.sin(0.02), 0.0, 0.0
    bent = Phase(State(q, y.state.s, ()), y.work, y.internal)
    a, b = look(bent), look(change(bent, np.array([False, True])))
    assert b["winch_segments"][0] == 1.0
    nodes = a["line_position"][0]
    assert b["line_stretched_length"][0, -1] == pytest.approx(np.linalg.norm(nodes[-1] - nodes[0]))
    assert np.abs(b["position"][-1, :3] - a["position"][-1, :3]).max() < 1e-12
    assert np.abs(momentum(model, b) - momentum(model, a)).max() < 1e-9 * MASS
    lost = b["winch_lost_energy"][0]
    before = a["kinetic_energy"].sum() + a["potential_energy"].sum()
    assert before - b["kinetic_energy"].sum() - b["potential_energy"].sum() == pytest.approx(lost)


@pytest.mark.slow
def test_a_load_on_a_weightless_rope_moves_as_fast_as_the_winch():
    rope = sw.LineType("cord", 0.03, 1e-6, EA=4e6, BA=0.0)
    model = sw.compile(hoist(rope=rope, n=1, speed=0.5, drum=7.0))
    how = formulation("path_matrix")
    y = start_phase(model, how)
    strain = MASS * 9.81 / 4e6
    q, s = np.array(y.state.q), np.array(y.state.s)
    heave = model.layout.dof_number("hoist_3_link", "Heave")
    q[model.layout.dof_position[heave]] = 4.0 * (1.0 + strain)
    s[heave] = 0.5 * (1.0 + strain)
    begin = Phase(State(q, s, y.state.chart), y.work, y.internal)
    run = sw.simulate(model, duration=2.0, output_step=0.1, start=begin, rtol=1e-9, atol=1e-10)
    fall = run.velocity.sel(body="load", dof="Heave").values
    assert np.abs(fall / (-0.5 * (1.0 + strain)) - 1.0).max() < 1e-7
    assert float(run.winch_length[-1, 0]) == pytest.approx(5.0, abs=1e-9)


def lowered():
    """Down by 4 m, held, and up again by 4 m."""
    down = sw.Stage("pay_out", "winch", length=4.0, speed=2.0, ramp=1.0)
    up = sw.Stage("haul_in", "winch", length=4.0, speed=2.0, ramp=1.0)
    rest = sw.Stage("hold", "winch", duration=0.5)
    system = hoist(stages=[down, rest, up])
    model = sw.compile(system)
    return sw.simulate(
        model, duration=7.0, output_step=0.02, start="equilibrium", rtol=1e-7, atol=1e-8
    )


@pytest.mark.slow
def test_lowering_and_lifting_back_books_rope_and_energy():
    run = lowered()
    length = run.winch_length.values[:, 0]
    assert run.attrs["events"] == 4
    assert length.max() == pytest.approx(8.0, abs=1e-6)
    assert length[-1] == pytest.approx(4.0, abs=1e-6)
    assert np.abs(run.winch_rope_mass.values[:, 0] / (3.0 * length) - 1.0).max() < 1e-9
    work = float(np.ptp(run.winch_work.values))
    assert work == pytest.approx(MASS * 9.81 * 4.0, rel=0.05)
    assert np.abs(run.energy_residual.values).max() < 1e-4 * work
    assert np.abs(run.winch_lost_energy.values).max() < 1e-3 * work


@pytest.mark.slow
def test_heave_compensation_holds_the_load_still():
    tip = sw.Harmonic(amplitude=0.5, omega=1.0)
    moves = []
    for control in (None, sw.HeaveCompensation(gain=0.9)):
        system = hoist(length=6.0, n=3, tip=tip, drum=10.0, control=control)
        run = sw.simulate(sw.compile(system), duration=8.0, start="equilibrium", rtol=1e-6)
        z = run.position.sel(body="load", dof="Heave").values
        moves.append(np.ptp(z[len(z) // 4 :]))
    assert moves[1] < 0.25 * moves[0]


@pytest.mark.slow
def test_constant_tension_follows_a_rising_tip():
    tip = sw.Harmonic(amplitude=0.5, omega=1.0)
    control = sw.ConstantTension(tension=MASS * 9.81, gain=1e-3)
    system = hoist(length=6.0, n=3, tip=tip, drum=10.0, control=control)
    run = sw.simulate(sw.compile(system), duration=6.0, start="equilibrium", rtol=1e-6)
    tension = run.winch_tension.values[20:, 0]
    assert np.abs(tension / (MASS * 9.81) - 1.0).max() < 0.05
    assert np.ptp(run.winch_length.values) > 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("speed", "end"), [(1.5, 7.0), (-1.5, 2.0)])
def test_winches_stop_at_the_ends_of_their_rope(speed, end):
    system = hoist(speed=speed, drum=7.0, time_constant=0.3, stopping_time=0.3)
    run = sw.simulate(sw.compile(system), duration=6.0, start="equilibrium", rtol=1e-6)
    assert float(run.winch_length[-1, 0]) == pytest.approx(end, abs=1e-2)
    assert float(run.winch_length.max()) < 7.0 + 1e-6
    assert abs(float(run.winch_speed[-1, 0])) < 1e-2


@pytest.mark.slow
def test_rest_is_found_with_the_drum_held():
    still = sw.equilibrium(sw.compile(hoist(speed=0.7, drum=8.0)))
    carried = 9.81 * (MASS + 3.0 * np.array([3.0, 1.0]))
    assert still.line_tension.values[0, -2:] == pytest.approx(carried, rel=1e-7)


@pytest.mark.parametrize("study", ["modes", "rao"])
def test_studies_about_rest_take_no_winch(study):
    model = sw.compile(hoist(drum=8.0))
    with pytest.raises(SwelltreeError, match="takes no winch"):
        getattr(sw, study)(model)


@pytest.mark.slow
def test_absolute_coordinates_take_no_winch():
    model = sw.compile(hoist(drum=8.0))
    with pytest.raises(SwelltreeError, match="needs joint coordinates"):
        sw.simulate(model, duration=1.0, formulation="lagrange")


def test_a_winch_at_the_hanging_end_is_refused():
    load = sw.Body("load", mass=MASS, inertia=(MASS,) * 3, position=(0, 0, TOP - 4.0))
    line = sw.Line("hoist", load.at(), (0, 0, TOP), 4.0, WIRE, "multibody", 2, dry=True)
    system = sw.System("up", [load], [], lines=[line], winches=[sw.Winch("winch", line, drum=8.0)])
    with pytest.raises(SwelltreeError, match="Give the winch the other end, or swap the ends"):
        sw.compile(system)


def test_a_jump_of_the_speed_is_stepped_to_and_not_over():
    # the default ramp of zero stopped the run at the jump
    stages = [sw.Stage("pay_out", "winch", length=1.3, speed=0.9, start=0.37)]
    run = sw.simulate(sw.compile(hoist(stages=stages)), duration=2.5, output_step=0.5)
    assert run.attrs["result"] == "success"
    assert run.winch_length.values[-1, 0] == pytest.approx(5.3, abs=1e-9)
    assert "0.37 s: operation 'operation' stage 1 pays out 1.3 m" in run.attrs["event_log"]
