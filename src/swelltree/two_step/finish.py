"""A solved step: the state after it, and the sample of the instant it leaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swelltree.engine.arrays import Array
from swelltree.engine.backend import jax, jnp
from swelltree.model.internal_state import InternalState
from swelltree.model.kinematics import dof_coordinates
from swelltree.model.signals import drives_at
from swelltree.two_step.attached import attached_points, end_positions
from swelltree.two_step.equations import Rub, contact_forces, moved, poses_around
from swelltree.two_step.flow import flow_advanced, flow_power
from swelltree.two_step.immersed import immersed_power
from swelltree.two_step.instant import Step, element_rates, mean_memory, now_at
from swelltree.two_step.lines.report import report
from swelltree.two_step.lines.ties import finished_ties
from swelltree.two_step.lines.winch_step import finished_winches
from swelltree.two_step.poses import Three
from swelltree.two_step.samples import LineSample, Sample
from swelltree.two_step.solve.newton import Iterate
from swelltree.two_step.state import LineState, StepperState
from swelltree.two_step.step_rows import ends_before
from swelltree.two_step.sticking import with_stick_forces


def finished(step: Step, it: Iterate) -> tuple[StepperState, Sample]:
    """The next state, and the sample of the instant that was left."""
    u, y, lam, contact, tie, sticking = step.size.split(it.at.x)
    step = with_stick_forces(step, sticking)
    model, setup, state = step.model, step.setup, step.state
    p, g, q = moved(step, u)
    three = poses_around(step, p, g)
    v = three.v
    chi = mean_memory(step, v)
    coordinate = dof_coordinates(model, three.next_frames, step.now.next_angles)
    angles = coordinate[np.array(model.layout.angle_dofs, dtype=int)]
    rates = element_rates(step, v)
    elements = jax.tree.map(
        lambda x, new, old: x + setup.ahead * (1.5 * new - 0.5 * old),
        state.elements,
        rates,
        state.element_rates,
    )
    now = now_at(step, setup.ahead / setup.h * v)
    elements = flow_advanced(model, now, three, setup.ahead, elements)
    power = it.power + immersed_power(model, setup, step.now.awash, three)
    power = power + flow_power(model, now, (three.v_plus - three.v_minus) / setup.h)
    lines, sample = state.lines, None
    if it.at.q is not None:
        lines, sample, pulled = _finished_lines(step, it, three, y, tie)
        power = jnp.concatenate([power, pulled])
    elif lines is not None:
        lines = LineState(lines.q, lines.q, lines.mu, lines.nu, y, lines.y)
    log = state.log
    here, ahead = (state.pose, None if lines is None else lines.y_last), (three.next, y)
    if lines is not None and lines.winch is not None:
        assert sample is not None
        beyond = None
        if model.dynamic_lines.nodes.bending:
            beyond = tuple(end_positions(model.dynamic_lines, *at)[:, 2:] for at in (here, ahead))
        lines, winch, log = finished_winches(step, lines, sample.report, beyond, log)
        sample = replace(sample, winch=winch)
    let_go, tie_point, log = finished_ties(step, three.next, y, tie, log)
    touching = jnp.zeros((0, 3))
    if model.lines is not None and model.lines.n_contacts:
        none = jnp.zeros((step.size.contacts, 3))
        held = none if it.at.contact_rub is None else it.at.contact_rub
        touching, *_ = contact_forces(
            step, three, y, contact, Rub(none, held, contact, none, 0.0, exact=True)
        )
    power = jnp.concatenate([power, contact_power(step, three, touching), driven_power(step, lam)])
    after = StepperState(
        t=state.t + setup.ahead,
        pose=three.next,
        v_minus=three.v_plus,
        q=q,
        angles=angles,
        chi=chi if setup.memory is None else 2.0 * chi - state.chi,
        elements=elements,
        element_rates=rates,
        work=state.work + setup.h * power,
        lam=lam,
        contact=contact,
        contact_rub=it.at.contact_rub,
        tie=tie,
        let_go=let_go,
        tie_point=tie_point,
        lines=lines,
        log=log,
    )
    return after, Sample(
        t=state.t,
        pose=state.pose,
        v=v,
        v_dot=(three.v_plus - three.v_minus) / setup.h,
        angles=state.angles,
        internal=InternalState(chi, state.elements),
        lam=lam,
        contact=contact,
        contact_force=touching,
        tie=tie,
        tie_point=state.tie_point,
        work=state.work + 0.5 * setup.h * power,
        lines=sample,
        iterations=it.count,
        error=it.error,
        solved=it.done,
    )


def contact_power(step: Step, three: Three, force: Array) -> Array:
    """Power of the seabed on bodies, one term where bodies may touch it."""
    lines = step.model.lines
    if lines is None or not lines.touches:
        return jnp.zeros(0)
    on_body = np.array(lines.contact_body, dtype=int) < step.model.layout.n_bodies
    v = _point_velocity(step, three, lines.contact_body, lines.contact_point)
    return jnp.sum(on_body[:, None] * force * v)[None]


def _point_velocity(step: Step, three: Three, bodies: tuple[int, ...], points: Array) -> Array:
    """Mean velocity over the last and the next step of points on bodies (k, 3)."""
    none = jnp.zeros((0, 3))
    places = [attached_points(bodies, (), points, pose, none) for pose in (three.last, three.next)]
    return (places[1] - places[0]) / (2.0 * step.setup.h)


def driven_power(step: Step, lam: Array) -> Array:
    """Power that each prescribed motion puts into the system now."""
    model = step.model
    count = len(model.layout.drives)
    if count == 0:
        return jnp.zeros(0)
    drive = np.array([r.j if r.prescribed else -1 for r in step.form.rows], dtype=int)
    hits = (np.arange(count)[:, None] == drive[None, :]).astype(float)
    return (hits @ lam) * drives_at(model.drives, step.state.t).rate


def _finished_lines(
    step: Step, it: Iterate, three: Three, y: Array, tie: Array
) -> tuple[LineState, LineSample, Array]:
    """Lines at the next instant, their sample now, and the power they give to bodies."""
    model, setup, state = step.model, step.setup, step.state
    lines, at = state.lines, it.at
    q, mu, nu = at.q, at.mu, at.nu
    v = (q - lines.q_last) / (2.0 * setup.h)
    beyond = None
    if model.dynamic_lines.nodes.bending:
        here = end_positions(model.dynamic_lines, state.pose, lines.y)
        ahead = end_positions(model.dynamic_lines, three.next, y)
        beyond = ends_before(step)[:, 2:], here[:, 2:], ahead[:, 2:]
    reported = report(
        model.dynamic_lines.nodes,
        step.now.frozen,
        setup.h,
        lines.q_last,
        lines.q,
        q,
        mu,
        nu,
        beyond,
        setup.theta,
        at.rub,
    )
    end_velocity = jnp.stack([v[:, 0], v[:, -1]], axis=1)
    body = np.array(model.dynamic_lines.end_body).reshape(-1, model.dynamic_lines.n_points)[:, :2]
    on_body = (body < state.v_minus.shape[0]).astype(float)
    pulled = (on_body[:, :, None] * reported.end_force[:, :2] * end_velocity).sum((1, 2))
    if model.dynamic_lines.tie_body:
        # where an end is caught it meets the body at another velocity: what that takes is its own
        moving = _point_velocity(step, three, model.dynamic_lines.tie_body, state.tie_point)
        of_line = np.eye(q.shape[0])[np.array(model.dynamic_lines.tie_line)]
        pulled = pulled - of_line.T @ (tie * moving).sum(-1)
    moved_on = LineState(q, lines.q, mu, nu, y, lines.y, lines.winch, at.rub)
    return (
        moved_on,
        LineSample(lines.q, v, nu, reported, lines.y, setup.h * reported.tension, setup.h),
        pulled,
    )
