"""One step of the two-step scheme: its solver, and the derivatives that go through it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.integrate.complementarity.attached import attached_points, end_positions
from swelltree.integrate.complementarity.between_steps import after_events
from swelltree.integrate.complementarity.equations import Rub, contact_forces, moved, poses_around
from swelltree.integrate.complementarity.immersed import immersed_power
from swelltree.integrate.complementarity.instant import (
    Step,
    element_rates,
    flow_advanced,
    flow_power,
    mean_memory,
    now_at,
    step_from,
)
from swelltree.integrate.complementarity.lines.report import report
from swelltree.integrate.complementarity.lines.stretch import next_slow
from swelltree.integrate.complementarity.lines.winch_step import finished_winches
from swelltree.integrate.complementarity.poses import PoseStencil
from swelltree.integrate.complementarity.samples import LineSample, Sample
from swelltree.integrate.complementarity.solve.complementarity import Slack
from swelltree.integrate.complementarity.solve.mehrotra import Pairs, interior_point
from swelltree.integrate.complementarity.solve.newton import (
    Iterate,
    first_iterate,
    next_trend,
    search,
)
from swelltree.integrate.complementarity.start import motion_at
from swelltree.integrate.complementarity.state import (
    CAUGHT,
    MISSED,
    RELEASED,
    LineState,
    SchemeOptions,
    StepConstants,
    StepperState,
    noted,
)
from swelltree.integrate.complementarity.step_rows import (
    Unknowns,
    changed,
    direction,
    ends_before,
    evaluate,
    line_rows,
)
from swelltree.integrate.complementarity.sticking import with_stick_forces
from swelltree.jit import Array, Tree, jax, jnp
from swelltree.model.capabilities import CommandsStrokes, HasFirstStates, InternalState, having
from swelltree.model.effect import Instant
from swelltree.model.model import Model
from swelltree.model.signals import drives_at
from swelltree.mooring.dynamic.lines import WAITS, lines_of
from swelltree.multibody.kinematics import Pose, dof_coordinates, with_world
from swelltree.spatial.rotations import dot, matvec, transpose

if TYPE_CHECKING:
    from swelltree.integrate.complementarity.lines.rows import LineRows


def sampled(
    model: Model, h: Array, state: StepperState, before: StepperState | None = None
) -> StepperState:
    """The state with what controllers command from now on, after samples and crossed surfaces.

    They measure the velocities of the half step before.

    Args:
        model: as compiled.
        h: step [s].
        state: at the end of a step.
        before: at its beginning; None: the run begins here.
    """

    def now_of(state: StepperState, later: Array | float = 0.0) -> Instant:
        motion = motion_at(model, state.pose, state.v_minus, state.angles)
        return Instant(state.t + later, motion, InternalState(state.chi, state.elements))

    for effect in having(model, HasFirstStates):
        if effect.kind not in state.elements:
            continue
        now = now_of(state)
        if before is None:
            states = effect.first_states(model, lambda now=now: now)
            if states is None:
                continue
        elif isinstance(effect, CommandsStrokes) and effect.event_count:
            # a sample is due at this step or, by rounding, a little behind it
            hit = effect.event_values(model, now_of(state, 1e-6 * h)) <= 0.0
            hit = hit & (effect.event_values(model, now_of(before)) > 0.0)
            states = jax.lax.cond(
                hit.any(),
                lambda x, effect=effect, now=now, hit=hit: effect.switched(model, now, hit),
                lambda x: x,
                state.elements[effect.kind],
            )
        else:
            continue
        state = replace(state, elements=state.elements | {effect.kind: states})
    return state


def finished_ties(
    step: Step, after: Pose, y: Array, tie: Array, log: Tree
) -> tuple[Array, Array, Tree]:
    """Which ties hold after the step, where, and the log.

    An end that is caught keeps its place on the body; its velocity joins that of the body in the
    next step. One that is out of reach when its time comes stays loose. `let_go` is 0 while a tie
    holds, 1 when it is loose, and WAITS until it is caught.

    Args:
        step: as solved.
        after: poses after it.
        y: junctions after it (junction, 3).
        tie: forces of the ties (tie, 3).
        log: so far.
    """
    state, setup = step.state, step.setup
    if not state.let_go.shape[0]:
        return state.let_go, state.tie_point, log
    lines = step.lines
    t = state.t + setup.ahead
    size = jnp.sqrt(dot(tie, tie))
    holds = state.let_go == 0.0
    due = holds & ((t >= lines.tie_end - 1e-9) | (size >= lines.tie_tension))
    body = np.array(lines.tie_body, dtype=int)
    end = y[np.array(lines.tie_junction)]
    none = tuple(y.shape[0] for _ in lines.tie_body)
    off = end - attached_points(lines.tie_body, none, state.tie_point, after, y)
    far = jnp.sqrt(dot(off, off))
    now = (state.let_go == WAITS) & (t >= lines.tie_begin - 1e-9)
    caught = now & (far <= lines.tie_reach)
    p, R = with_world(after.p, np.zeros(3))[body], with_world(after.R, np.eye(3))[body]
    point = jnp.where(caught[:, None], matvec(transpose(R), end - p), state.tie_point)
    let_go = jnp.where(due | (now & ~caught), 1.0, jnp.where(caught, 0.0, state.let_go))
    for k in range(len(body)):
        log = noted(log, now[k], t, jnp.where(caught[k], CAUGHT, MISSED), k, far[k])
        log = noted(log, due[k], t, RELEASED, k, size[k])
    return let_go, point, log


# --- A solved step: the state after it, and the sample of the instant it leaves


def finished(step: Step, it: Iterate) -> tuple[StepperState, Sample]:
    """The next state, and the sample of the instant before it."""
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
    power = it.power + immersed_power(model, setup, step.now.splash_state, three)
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
        excess = None
        if step.lines.nodes.bending:
            excess = tuple(end_positions(step.lines, *at)[:, 2:] for at in (here, ahead))
        lines, winch, log = finished_winches(step, lines, sample.report, excess, log)
        sample = replace(sample, winch=winch)
    let_go, tie_point, log = finished_ties(step, three.next, y, tie, log)
    touching = jnp.zeros((0, 3))
    if step.size.contacts:
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
        trend=next_trend(step, it.at),
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


def contact_power(step: Step, three: PoseStencil, force: Array) -> Array:
    """Power of the seabed on bodies, one term where bodies may touch it."""
    lines = lines_of(step.model)
    if lines is None or not lines.touches:
        return jnp.zeros(0)
    on_body = np.array(lines.contact_body, dtype=int) < step.model.layout.n_bodies
    v = _point_velocity(step, three, lines.contact_body, lines.contact_point)
    return jnp.sum(on_body[:, None] * force * v)[None]


def _point_velocity(
    step: Step, three: PoseStencil, bodies: tuple[int, ...], points: Array
) -> Array:
    """Mean velocity over the last and the next step of points on bodies (k, 3)."""
    none = jnp.zeros((0, 3))
    places = [attached_points(bodies, (), points, pose, none) for pose in (three.last, three.next)]
    return (places[1] - places[0]) / (2.0 * step.setup.h)


def driven_power(step: Step, lam: Array) -> Array:
    """Power of each prescribed motion on the system now."""
    model = step.model
    count = len(model.layout.drives)
    if count == 0:
        return jnp.zeros(0)
    drive = np.array([r.j if r.prescribed else -1 for r in step.form.rows], dtype=int)
    hits = (np.arange(count)[:, None] == drive[None, :]).astype(float)
    return (hits @ lam) * drives_at(model.drives, step.state.t).rate


def _finished_lines(
    step: Step, it: Iterate, three: PoseStencil, y: Array, tie: Array
) -> tuple[LineState, LineSample, Array]:
    """Lines at the next instant, their sample now, and their power on bodies."""
    setup, state = step.setup, step.state
    lines, at = state.lines, it.at
    q, mu, nu = at.q, at.mu, at.nu
    v = (q - lines.q_last) / (2.0 * setup.h)
    excess = None
    if step.lines.nodes.bending:
        here = end_positions(step.lines, state.pose, lines.y)
        ahead = end_positions(step.lines, three.next, y)
        excess = ends_before(step)[:, 2:], here[:, 2:], ahead[:, 2:]
    reported = report(
        step.lines.nodes,
        step.now.frozen,
        setup.h,
        lines.q_last,
        lines.q,
        q,
        mu,
        nu,
        excess,
        setup.theta,
        at.rub,
        winds=lines.winch is not None,
    )
    end_velocity = jnp.stack([v[:, 0], v[:, -1]], axis=1)
    if excess is not None:
        beyond = (excess[2] - excess[0]) / (2.0 * setup.h)
        end_velocity = jnp.concatenate([end_velocity, beyond], axis=1)
    body = np.array(step.lines.end_body).reshape(-1, step.lines.n_points)
    on_body = (body < state.v_minus.shape[0]).astype(float)
    pulled = (on_body[:, :, None] * reported.end_force * end_velocity).sum((1, 2))
    if step.lines.tie_body:
        # where an end is caught it meets the body at another velocity: what that takes is its own
        moving = _point_velocity(step, three, step.lines.tie_body, state.tie_point)
        of_line = np.eye(q.shape[0])[np.array(step.lines.tie_line)]
        pulled = pulled - of_line.T @ (tie * moving).sum(-1)
    slow = lines.slow
    if slow is not None:
        slow = next_slow(step.lines.nodes, step.now.frozen.spring, slow, reported.tension)
    moved_on = LineState(q, lines.q, mu, nu, y, lines.y, lines.winch, at.rub, slow)
    return (
        moved_on,
        LineSample(
            lines.q,
            v,
            nu,
            reported,
            lines.y,
            setup.h * reported.tension,
            setup.h,
            most=lines.slow.most if step.lines.nodes.original.shape[-2] else None,
        ),
        pulled,
    )


# --- A step of lines by the interior point, as paper 002 has it

INSIDE = 1e-8  # m, tolerance of the interior point before the last correction


def search_inside(step: Step) -> Iterate:
    """A step by the interior-point method; contacts of bodies keep their smooth rows."""
    first, setup = first_iterate(step), step.setup
    frozen, arrays = step.now.frozen, step.lines.nodes
    rest, contact = frozen.rest[:, 1], frozen.contact

    def gaps(u: Unknowns) -> tuple[Array, Array]:
        d = u.q[:, 1:] - u.q[:, :-1]
        clearance = (contact.normal * u.q).sum(-1) - contact.offset
        return (rest**2 - (d * d).sum(-1)) / (2.0 * rest), clearance

    pairs = Pairs(
        masks=(
            ~(jnp.isfinite(arrays.EA) | arrays.pushes) & (frozen.active > 0.0),
            (contact.touch > 0.0) & (contact.kind == "rigid"),
        ),
        scales=(
            2.0 * setup.h**2 / (frozen.scale[:, 1:] + frozen.scale[:, :-1]),
            setup.h**2 / frozen.scale,
        ),
        gaps=gaps,
        multipliers=lambda u: (u.mu, u.nu),
        with_multipliers=lambda u, new: replace(u, mu=new[0], nu=new[1]),
    )

    def rows_at(
        u: Unknowns, s: list[Array], requested: list[Array]
    ) -> tuple[tuple[Unknowns, LineRows], Array]:
        slack = Slack(tension=s[0], bed=s[1], tension_target=requested[0], bed_target=requested[1])
        rows = line_rows(step, u, slack)
        value = evaluate(step, u, rows=rows).off
        return (u, rows), jnp.maximum(jnp.abs(value).max(), rows.error.max())

    def towards(result: tuple[Unknowns, LineRows], add: list[Array]) -> Unknowns:
        u, rows = result
        rows = replace(rows, F=rows.F + add[0], bed_F=rows.bed_F + add[1])
        return direction(step, u, rows=rows).change

    def further(u: Unknowns, du: Unknowns, share: Array) -> Unknowns:
        part = jax.tree.map(lambda x: share * x, du)
        return changed(step, u, part)

    most = 2 * step.form.max_iterations
    u, error, count = interior_point(
        pairs, rows_at, towards, further, first.at, setup.tau, INSIDE, most
    )
    # the last correction and powers as the other solver has them
    last = direction(step, u)
    return replace(
        first,
        at=changed(step, u, last.change),
        error=error,
        count=count,
        done=error <= INSIDE,
        power=last.power,
    )


POLISHING = 2  # Newton steps that carry derivatives


def advance(
    model: Model, form: SchemeOptions, setup: StepConstants, state: StepperState
) -> tuple[StepperState, Sample]:
    step = step_from(model, form, setup, state)
    inside = form.interior_point and step.now.frozen is not None
    solve = polished if form.differentiable else search_inside if inside else search
    solution = solve(step)
    after, sample = finished(step, solution)
    after = sampled(model, setup.h, after, state)
    return after_events(model, form, setup, step.size.split(solution.at.x)[0], after), sample


def polished(step: Step) -> Iterate:
    """The solution with the derivatives of the implicit function.

    It is found without derivatives; more Newton steps with the Jacobian held fixed leave its value
    and give it its derivatives.
    """
    solution = jax.lax.stop_gradient(search(jax.lax.stop_gradient(step)))
    at, power = solution.at, solution.power
    for _ in range(POLISHING):
        last = direction(step, at, frozen_jacobian=True)
        at = changed(step, at, last.change)
        power = last.power
    return replace(solution, at=at, power=power)
