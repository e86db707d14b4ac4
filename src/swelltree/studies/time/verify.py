"""A run looks at itself: closure, rank and energy against what its solver promises.

Joint equations are solved again after every step, so a closure that is not small beside the
tolerance of the steps means that they had no solution: a loop was led where it cannot go. The
energy budget is kept beside the motion, so a gap in it means that the motion is not the one of the
equations. Where a loop is singular its multipliers, and what follows, are not determined.

Winches before and after a run: steps that can carry them, lines that went slack.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.integrate.complementarity.lines.winch_statics import CARRY
from swelltree.integrate.problem import Code, describe
from swelltree.jit import Array, jax, jitted, jnp, namespace
from swelltree.model.capabilities import StoresElastically, all_winches
from swelltree.model.checks import RANK, term_size
from swelltree.model.model import Model
from swelltree.model.signals import held_drives
from swelltree.mooring.dynamic.lines import lines_of, required_lines
from swelltree.mooring.winches import FREE, SetSpeed, Winches
from swelltree.multibody.build_layout import Rows, evaluate_rows
from swelltree.multibody.kinematics import Pose, joint_frames, tree_blocks, velocity_matrix
from swelltree.multibody.layout import Row
from swelltree.results.energy import energy_moved, energy_residual
from swelltree.spatial.rotations import quat_to_matrix

if TYPE_CHECKING:
    import xarray as xr


SLACK_FOR = 1.0  # s: shorter slack is a snap, which the tension shows
SAMPLES = 2001
RELEASE = re.compile(
    r"(?P<time>\S+) s: (?:end B of )?line '(?P<line>.+)' (?P<what>is released|is caught).*"
)
UPRIGHT, SHORT = 0.3, 0.995  # of the length: a hoisting line, and one that is not straight


def validate_winch_commands(model: Model, times: np.ndarray) -> None:
    """Reject set speeds and stages that exceed the winch's limits together."""
    for winches in all_winches(model):
        for name, set_speed, limit in zip(
            winches.names, winches.speed, winches.max_speed, strict=True
        ):
            at, speed = _set_rates(set_speed, times)
            speed = speed * np.array([1.0 - float(set_speed.braked(np.asarray(t))) for t in at])
            k = int(np.argmax(np.abs(speed)))
            if abs(speed[k]) > limit * (1.0 + 1e-9):
                raise SwelltreeError(
                    f"winch '{name}': at t = {at[k]:.6g} s its set speed and its stages ask for "
                    f"{speed[k]:.6g} m/s, more than max_speed {float(limit):.6g} m/s. "
                    "Ask for less, or give a larger max_speed."
                )


def stages_until(model: Model, t: float) -> list[str]:
    """Stages of winches up to a time, one message each."""
    rows = sorted(row for winches in all_winches(model) for row in winches.stages)
    return [f"{begin:.6g} s: {text}" for begin, text in rows if begin <= t]


def _set_rates(speed: SetSpeed, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Set speed with stages at many times of a run and at all its breakpoints."""
    fine = np.linspace(times[0], times[-1], SAMPLES)
    corners = np.asarray(speed.time)
    at = np.concatenate([fine, corners[(corners >= times[0]) & (corners <= times[-1])]])
    return at, np.array([float(speed(np.asarray(t))) for t in at])


def set_speeds(winches: Winches, times: np.ndarray) -> np.ndarray:
    """Maximum set speed of every winch during a run (winch,) [m/s], within its limit."""
    largest = [np.abs(_set_rates(speed, times)[1]).max() for speed in winches.speed]
    return np.minimum(largest, winches.max_speed)


def longest_step(model: Model, times: np.ndarray) -> float:
    """Maximum step for all winches at their set and limited speeds [s]."""
    longest = np.inf
    for winches in all_winches(model):
        controlled = (winches.tension_gain > 0.0) | (winches.heave_gain > 0.0)
        limited = np.where(controlled & (winches.max_speed < FREE), winches.max_speed, 0.0)
        speed = np.maximum(set_speeds(winches, times), limited)
        steps = CARRY * winches.segment / np.maximum(speed, 1e-12)
        longest = min(longest, float(steps.min()))
    return longest


def refuse_fast_winches(model: Model, step: float, times: np.ndarray) -> None:
    """Reject winches that split or merge more than one segment per step."""
    for winches in all_winches(model):
        speeds = set_speeds(winches, times)
        for name, segment, speed in zip(winches.names, winches.segment, speeds, strict=True):
            most = CARRY * float(segment)
            if speed * step > most * (1.0 + 1e-9):
                raise SwelltreeError(
                    f"winch '{name}': at {speed:.4g} m/s it moves {speed * step:.4g} m in a step "
                    f"of {step:.4g} s, more than the {most:.4g} m that segments of "
                    f"{float(segment):.4g} m carry. Give step={most / speed:.2g} or less, or "
                    "fewer segments."
                )


def warn_light_hook_loads(model: Model) -> None:
    """Warn before a run of loads lighter than the water they displace."""
    if not all_winches(model):
        return
    lines = lines_of(model)
    winches = None if lines is None else lines.winches
    if lines is None or winches is None:
        return
    ends = np.array(lines.end_body).reshape(-1, lines.n_points)[:, 1]
    for name, k in zip(winches.names, winches.line, strict=True):
        body = int(ends[k])
        if body >= model.layout.n_bodies:
            continue
        mass = float(np.asarray(model.bodies.mass)[body])
        lift = float(np.asarray(model.bodies.volume)[body] * model.rho)
        if lift > mass:
            warn_user(
                f"winch '{name}': its load '{model.layout.bodies[body]}' of {mass:.4g} kg "
                f"displaces {lift:.4g} kg of water, so it rises and its line goes slack. "
                "Give more mass."
            )


def warn_winch_findings(model: Model, result: xr.Dataset) -> None:
    """Warn after a run of slack lines, failed couplings and limited speeds."""
    for text in _sentences(model, result):
        warn_user(text)


def _sentences(model: Model, result: xr.Dataset) -> list[str]:
    rows = str(result.attrs.get("event_log", "")).split("\n")
    failed = [row for row in rows if "not caught" in row or "can carry" in row]
    if not all_winches(model) or result.sizes["time"] < 2:
        return failed
    lines = lines_of(model)
    if lines is None:  # winches of cables say nothing here
        return []
    if lines.winches is None:
        return failed
    time = np.asarray(result["time"])
    span = float(time[1] - time[0])
    excused = _resting(model, result) | _released(lines.lines, rows, time)
    for name, k in zip(lines.winches.names, lines.winches.line, strict=True):
        nodes = result["line_position"].sel(line=lines.pieces[k]).values
        nodes = nodes[:, ::-1] if lines.turned[k] else nodes
        way = nodes[:, -1] - nodes[:, 0]
        length = result["winch_length"].sel(winch=name).values
        # mooring lines sag; hoisting lines hang down
        hangs = np.hypot(way[:, 0], way[:, 1]) < UPRIGHT * length
        straight = np.linalg.norm(way, axis=1) >= SHORT * length
        loose = hangs & ~(straight & (way[:, 2] < 0.0)) & ~excused[:, k]
        if loose.sum() * span > SLACK_FOR:
            failed.append(
                f"winch '{name}': line '{lines.pieces[k]}' hung slack for {loose.sum() * span:.3g} "
                f"s, first at t = {time[loose.argmax()]:.6g} s; its load is lighter than water or "
                "is lowered faster than it sinks. Give more weight or less speed."
            )
    return failed


def _released(names: tuple[str, ...], log: list[str], time: np.ndarray) -> np.ndarray:
    """Times when end B of each line was released (time, line)."""
    out = np.zeros((len(time), len(names)), bool)
    for row in log:  # in time: an end that is caught again carries again
        if match := RELEASE.fullmatch(row):
            of_line = np.array([name == match["line"] for name in names])
            later = time >= float(match["time"]) - 1e-9
            out[np.ix_(later, of_line)] = match["what"] == "is released"
    return out


def _resting(model: Model, result: xr.Dataset) -> np.ndarray:
    """Times when the load of each line rested on the seabed (time, line)."""
    lines = required_lines(model)
    out = np.zeros((result.sizes["time"], len(lines.pieces)), bool)
    if "contact_force" not in result:
        return out
    force = np.linalg.norm(np.asarray(result["contact_force"]), axis=-1) > 0.0
    ends = np.array(lines.end_body).reshape(-1, lines.n_points)[:, 1]
    for k, body in enumerate(ends):
        of_body = np.array(lines.contact_body) == body
        out[:, k] = force[:, of_body].any(axis=1)
    return out


OPEN = 1e3  # closure in units of the relative tolerance and the size of the system
LOST = {True: 1e-2, False: 1e-1}  # of the energy that moved; steps of given length may be coarse
ADAPTIVE = ("tsit5", "dopri5", "stiff")
NEAR = 1e-3  # smallest singular value, of the largest: a step that fails here fails because of it
A_STEP_NEAR = 0.1  # the same where steps are fixed and end up to one of them before
STILL = 1e-6  # m: energy of weights over such a way is none
LOOKS = 200  # samples at which the rank is taken


def watched(model: Model, result: xr.Dataset) -> xr.Dataset:
    """The result with another status than success where the run has left what it must keep.

    A run that stopped may have done so because a loop had opened before.
    """
    stopped = "" if result.attrs["result"] == "success" else f" Then {result.attrs['message']}"
    finding = _open_loop(model, result)
    if not stopped:
        finding = finding or _lost_energy(model, result) or _singular_loop(model, result)
    if finding is None:
        return result
    code, when, about = finding
    message = f"{describe(code, when)} {about}{stopped}"
    warn_user(message)
    return result.assign_attrs(result=code.name.lower(), message=message)


def _open_loop(model: Model, result: xr.Dataset) -> tuple[Code, float, str] | None:
    """First sample with a violated joint equation."""
    closure = result["closure"].values
    limit = open_limit(result["joint_point"].values, float(result.attrs.get("rtol", 1e-6)))
    late = np.flatnonzero(~(closure <= limit))
    if not late.size:
        return None
    k = int(late[0])
    pose, angles = _sample(model, result, k)
    rows = model.layout.rows
    t = float(result.time[k])
    gap = np.abs(_rows(model, rows, pose, angles, t)[0].residual)
    worst = rows[int(gap.argmax())]
    unit = worst.unit
    about = (
        f"{loop_of(model, worst)} is open by {gap.max():.3g} {unit}, "
        f"where {limit:.1g} is allowed.{_drives_of(model, worst.joint)}"
    )
    return Code.LOOP_OPEN, t, about


def _lost_energy(model: Model, result: xr.Dataset) -> tuple[Code, float, str] | None:
    """First sample at which the energy residual exceeds its limit."""
    if "energy_residual" not in result:
        return None
    gap = np.abs(result["energy_residual"].values)
    names = ("kinetic_energy", "potential_energy", "work")
    kinetic, potential, work = (result[name].values for name in names)
    solver, rtol = str(result.attrs.get("solver")), float(result.attrs.get("rtol", 0.0))
    limit = float(lost_limit(model, kinetic, potential, work, solver, rtol))
    late = np.flatnonzero(~(lasting(gap) <= limit))
    if not late.size:
        return None
    k = int(late[0])
    about = f"{gap[k]:.3g} J are missing in the energy budget, where {limit:.2g} J are allowed."
    if model.cut_rows:
        margins = [
            (margin_at(model, *_sample(model, result, i), float(result.time[i])), i)
            for i in _looks(k + 1)
        ]
        (margin, row), i = min(margins, key=lambda pair: pair[0][0])
        about += (
            f" {loop_of(model, row)} was nearest to a singular position at "
            f"t = {float(result.time[i]):.6g} s ({margin:.1g} of a regular one)."
        )
    return Code.ENERGY_LOST, float(result.time[k]), about


def _singular_loop(model: Model, result: xr.Dataset) -> tuple[Code, float, str] | None:
    """First sample with a loss of rank of the joint equations."""
    if not model.cut_rows:
        return None
    for k in _looks(len(result.time)):
        t = float(result.time[k])
        margin, row = margin_at(model, *_sample(model, result, k), t)
        if not margin > RANK:
            drives = _drives_of(model, row.joint)
            about = f"{loop_of(model, row)} is in a singular position.{drives}"
            return Code.LOOP_SINGULAR, t, about
    return None


def why_stopped(
    model: Model, t: float, pose: Pose, angles: np.ndarray, near: float = NEAR
) -> str | None:
    """The loop that made a step fail, if any."""
    if not model.cut_rows or not np.isfinite(pose.p).all():
        return None
    margin, row = margin_at(model, pose, angles, t)
    if margin > near:
        return None
    drives = _drives_of(model, row.joint)
    what = drives or " Its motion beyond is not determined: change lengths, or start it otherwise."
    return f"{loop_of(model, row)} comes to a singular position there.{what}"


def margin_at(model: Model, pose: Pose, angles: np.ndarray, t: float) -> tuple[float, Row]:
    """Smallest relevant singular value relative to the largest, and its row."""
    rows, size, P = _rows(model, model.cut_rows, pose, angles, t)
    J = rows.jacobian @ P / size[:, None]
    rank = len(model.cut_rows) - model.surplus
    if not np.isfinite(J).all():
        return 0.0, model.cut_rows[0]
    U, s, _ = np.linalg.svd(J, full_matrices=False)
    if rank == 0 or rank > len(s):
        return 1.0, model.cut_rows[0]
    row = model.cut_rows[int(np.abs(U[:, rank - 1]).argmax())]
    return float(s[rank - 1] / max(s[0], RANK)), row


def loop_of(model: Model, row: Row) -> str:
    """Description of a loop by its joints; of a tree joint; of a coupling."""
    name = model.layout.joints[row.joint]
    if row.coupling is not None:
        return row.owner(model.layout).capitalize()
    through = ", ".join(f"'{other}'" for other in _loops(model).get(name, ()))
    return f"The loop of joint '{name}' through {through}" if through else f"Joint '{name}'"


def _drives_of(model: Model, joint: int) -> str:
    """Message about prescribed motions in a loop."""
    layout = model.layout
    name = layout.joints[joint]
    loops = _loops(model)
    around = {name, *loops.get(name, ())}
    # a drive may stand anywhere in a loop, and loops share joints
    for cut, through in loops.items():
        if around & {cut, *through}:
            around |= {cut, *through}
    driven = [layout.joints[layout.dofs[k].joint] for k in layout.drives]
    named = ", ".join(f"'{d}'" for d in dict.fromkeys(driven) if d in around)
    if not named:
        return ""
    return f" The prescribed motion of joint {named} asks for what the loop cannot follow."


def _loops(model: Model) -> dict[str, tuple[str, ...]]:
    system = model.described.system
    return {} if system is None else dict(system.topology.loops)


def _rows(
    model: Model, rows: tuple[Row, ...], pose: Pose, angles: np.ndarray, t: float
) -> tuple[Rows, np.ndarray, np.ndarray]:
    """Rows at a pose, their sizes, and the velocity transformation of the tree."""
    frames = joint_frames(model, pose)
    P = velocity_matrix(*tree_blocks(model, pose, frames))
    now = held_drives(model.drives, np.asarray(t))
    still = np.zeros((model.layout.n_bodies, 6))
    result = evaluate_rows(model, rows, pose, frames, still, angles, now)
    return result, term_size(np.asarray(result.jacobian), P), P


def _sample(model: Model, result: xr.Dataset, k: int) -> tuple[Pose, np.ndarray]:
    """Poses depth first and the single angles of one sample."""
    layout = model.layout
    order = [layout.described.index(name) for name in layout.bodies]
    p = result["position"].values[k][order, :3]
    R = np.asarray(quat_to_matrix(result["quaternion"].values[k][order]))
    angles = result["joint_coordinate"].values[k][np.array(layout.angle_dofs, dtype=int)]
    return Pose(p, R), angles


def open_limit(joint_points: Array, rtol: float) -> Array:
    """Largest closure of a run, by the extent of the system at its start [m, rad].

    Args:
        joint_points: (time, joint, 3) [m].
        rtol: tolerance of its steps.
    """
    extent = (joint_points[0].max(0) - joint_points[0].min(0)).max() if joint_points.size else 0.0
    return open_limit_of(extent, rtol)


def open_limit_of(extent: Array, rtol: float) -> Array:
    """Maximum joint violation of a system of this extent [m]."""
    xp = namespace(extent)
    return OPEN * max(rtol, 1e-9) * xp.maximum(1.0, extent)  # a metre at least


def lasting(gap: Array) -> Array:
    """The part of each gap in the energy budget that is still there a sample later.

    In the step of a rigid impact the velocity is a mean of before and after, and the budget of that
    sample is open; what has closed again was never lost.
    """
    xp = namespace(gap)
    return xp.minimum(gap, xp.concatenate([gap[1:], gap[-1:]]))


def lost_limit(
    model: Model, kinetic: Array, potential: Array, work: Array, solver: str, rtol: float
) -> Array:
    """Maximum energy residual [J]; energies as in `results.energy`."""
    moved = energy_moved(kinetic, potential, work)
    allowed = energy_allowance(model, potential, solver, rtol).max(initial=0.0)
    return lost_limit_of(moved, allowed, solver, rtol)


def lost_limit_of(moved: Array, allowed: Array, solver: str, rtol: float) -> Array:
    """Maximum energy residual from the exchanged energy and the largest `energy_allowance`."""
    return lost_share(solver, rtol) * moved + allowed


def energy_allowance(model: Model, potential: Array, solver: str, rtol: float) -> Array:
    """Residual that the stored energies of samples (..., element) allow, whatever moves [J].

    Energy may move between two samples that show none of it, as of a spring that moves from latch
    to latch. What springs hold is counted, to the accuracy of the steps. What stands on the seabed
    moves by nothing but the give of its contacts.
    """
    stored = abs(potential)
    names = [isinstance(e, StoresElastically) for e in model.effects for _ in e.names]
    springs = stored[..., np.flatnonzero(names)].sum(-1)
    steps = 100.0 * rtol if solver in ADAPTIVE else lost_share(solver, rtol)
    weight = model.bodies.mass.sum() * abs(model.gravity).max()
    return steps * springs + 1e-9 * stored.max(-1, initial=0.0) + STILL * weight + 1e-12


def lost_share(solver: str, rtol: float) -> float:
    """Maximum energy residual as a fraction of the exchanged energy."""
    return max(LOST[solver in ADAPTIVE], 100.0 * rtol)


def _looks(count: int) -> list[int]:
    return np.unique(np.linspace(0, count - 1, min(count, LOOKS)).astype(int)).tolist()


# --- Runs inside `jit`, `grad` and `vmap` look at themselves too: numbers, and a code


def with_watch(
    model: Model, channels: dict[str, Array], code: Array, solver: str, rtol: float = 1e-6
) -> dict[str, Array]:
    """Channels of a run with `energy_residual`, `loop_margin` and `code`.

    Args:
        model: compiled.
        channels: channels of all samples, time first.
        code: how stepping ended.
        solver: its name.
        rtol: its tolerance.
    """
    kinetic, potential, work = (
        channels[name] for name in ("kinetic_energy", "potential_energy", "work")
    )
    residual = energy_residual(kinetic, potential, work)
    margin = jnp.ones(len(channels["time"]))
    if model.cut_rows and len(model.cut_rows) > model.surplus:
        margin = jax.vmap(lambda *x: _margin(model, *x))(
            *jax.lax.stop_gradient(_places(model, channels))
        )
    limit = lost_limit(model, kinetic, potential, work, solver, rtol)
    result = (
        (code != Code.SUCCESS, code),
        (~(channels["closure"] <= open_limit(channels["joint_point"], rtol)).all(), Code.LOOP_OPEN),
        (~(lasting(jnp.abs(residual)) <= limit).all(), Code.ENERGY_LOST),
        (~(margin > RANK).all(), Code.LOOP_SINGULAR),
    )
    conditions = [condition for condition, _ in result]
    ended = jnp.select(conditions, [jnp.asarray(code, int) for _, code in result], 0)
    return channels | {"energy_residual": residual, "loop_margin": margin, "code": ended}


def ended_with_loops(
    models: list[Model], channels: dict[str, np.ndarray], codes: np.ndarray, solver: str
) -> np.ndarray:
    """Codes of parallel runs that have ended, by the same limits.

    Args:
        models: compiled, one of each run.
        channels: of all samples, runs first.
        codes: how stepping ended.
        solver: its name.
    """
    rows = [{name: x[k] for name, x in channels.items()} for k in range(len(models))]
    codes_found = [_of_loops(*each, solver) for each in zip(models, rows, codes, strict=True)]
    return np.array([int(code) for code in codes_found])


@functools.partial(jitted, static_argnames="solver")
def _of_loops(model: Model, channels: dict[str, Array], code: Array, solver: str) -> Array:
    return with_watch(model, channels, code, solver)["code"]


def _places(model: Model, channels: dict[str, Array]) -> tuple[Array, ...]:
    angles = channels["coordinate"][:, np.array(model.layout.angle_dofs, dtype=int)]
    return channels["time"], channels["position"], channels["rotation"], angles


def _margin(model: Model, t: Array, p: Array, R: Array, angles: Array) -> Array:
    """Smallest relevant singular value of the loops, relative to the largest."""
    pose = Pose(p, R)
    frames = joint_frames(model, pose)
    P = velocity_matrix(*tree_blocks(model, pose, frames))
    still = jnp.zeros((model.layout.n_bodies, 6))
    now = held_drives(model.drives, t)
    J = evaluate_rows(model, model.cut_rows, pose, frames, still, angles, now).jacobian
    s = jnp.linalg.svd(J @ P / term_size(J, P)[:, None], compute_uv=False)
    rank = len(model.cut_rows) - model.surplus
    return s[rank - 1] / jnp.maximum(s[0], RANK) if rank <= len(s) else jnp.ones(())
