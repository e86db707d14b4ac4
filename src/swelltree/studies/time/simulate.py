"""`simulate`: the motion of a model in time."""

from __future__ import annotations

import functools
import json
import textwrap
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from swelltree.compiler.corners import corner_times, noticed_times
from swelltree.compiler.step_means import with_step_means
from swelltree.compiler.unseen import unseen_times
from swelltree.effects.controllers.controllers import raise_faults
from swelltree.effects.controllers.law_checks import not_finite
from swelltree.effects.linear_hydro.data import Convolution, without_table
from swelltree.effects.linear_hydro.in_sea import in_waves
from swelltree.engine.backend import Tracer, jax, jnp, make_room
from swelltree.formulations import Formulation, State
from swelltree.formulations import formulation as chosen_formulation
from swelltree.formulations.equations import (
    Phase,
    event_count,
    event_values,
    observe,
    rates,
    settle,
    settled_at,
    start_phase,
    switched,
)
from swelltree.model.effect import Now
from swelltree.model.model import Model
from swelltree.solvers.chunks import gathered, run_chunks
from swelltree.solvers.fingerprint import run_key
from swelltree.solvers.problem import padded_corners
from swelltree.solvers.solution import Code, describe
from swelltree.solvers.stepping.smooth import Carry, Options, Problem, compiled, integrate
from swelltree.solvers.stepping.smooth import start as start_carry
from swelltree.spatial.products import compact
from swelltree.studies.given import study_of_model
from swelltree.studies.time.continuing import (
    continued,
    end_of,
    end_time,
    is_run,
    keep_end,
    refuse_start,
)
from swelltree.studies.time.output_step import output_times
from swelltree.studies.time.watch import watched, why_stopped
from swelltree.studies.time.watch_traced import with_watch
from swelltree.studies.time.winch_findings import (
    all_winches,
    refuse_what_cannot_be_obeyed,
    stages_until,
)
from swelltree.system.errors import SwelltreeError, SwelltreeWarning
from swelltree.two_step.state import usual_formulation

MOORED = ("two_step", "interior_point")  # solvers of systems with dynamic lines or contacts
PROBES = 40  # states on the way into a failed step
AHEAD = 0.1  # s: at least so far they are looked for; methods of fixed steps keep no step
FAST = 1e6  # m/s, rad/s: beyond this a motion has diverged


@functools.lru_cache(maxsize=64)
def problem(formulation: Formulation, matters: bool, eventful: bool = False) -> Problem:
    """The initial-value problem of a formulation; one object per choice, so one compilation."""

    def event(model: Model, t: Any, y: Phase) -> Any:
        return event_values(model, formulation, t, y)

    def switch(model: Model, t: Any, y: Phase, hit: Any) -> Phase:
        return switched(model, formulation, t, y, hit)

    return Problem(
        rate=lambda model, t, y: rates(model, formulation, t, y),
        settle=lambda model, t, y: settle(model, formulation, t, y),
        limit=lambda model, t, y: jnp.abs(y.state.s).max(initial=0.0) > FAST,
        weights=Phase(State(True, True, True), False, True),  # the work steers no step
        settle_changes_rate=matters,
        event=event if eventful else None,
        switch=switch if eventful else None,
    )


@functools.lru_cache(maxsize=64)
def _observer(formulation: Formulation) -> Any:
    """Compiled observation of a stack of phases."""

    def one(model: Model, t: Any, y: Phase) -> dict[str, Any]:
        with compact():
            return observe(model, formulation, t, y)

    return jax.jit(lambda model, t, y: jax.lax.map(lambda x: one(model, *x), (t, y)))


def kept_step(model: Model) -> float | None:
    """The step that the model was compiled for [s], if it was."""
    memory = None if model.hydro is None else model.hydro.memory
    return float(memory.step) if isinstance(memory, Convolution) else None


def _convolution_step(
    memory: Convolution, solver: str, step: float | None, times: np.ndarray
) -> float:
    """The step of the convolution, which the run must keep."""
    own = float(memory.step)
    if solver != "rk4":
        raise SwelltreeError(
            f"radiation='convolution' needs solver='rk4' with its step of {own:g} s, "
            f"not '{solver}'. Use radiation='state_space' with adaptive solvers."
        )
    if step is not None and abs(step - own) > 1e-9 * own:
        raise SwelltreeError(
            f"step {step:g} s is not the {own:g} s that the convolution was compiled for. "
            f"Compile with step={step:g}."
        )
    ratio = np.diff(times, prepend=0.0) / own
    if np.abs(ratio - np.round(ratio)).max() > 1e-6:
        raise SwelltreeError(
            f"output times must be multiples of the convolution's step of {own:g} s. "
            "Choose output_step accordingly."
        )
    return own


def realised(model: Model, wave: Any, case: int | str) -> Any:
    """A described sea in the model's water."""
    from swelltree.waves.airy import Components
    from swelltree.waves.sea import realise

    return wave if isinstance(wave, Components) else realise(wave, model.water, case)


def with_elevation(result: Any, wave: Any, waves: Any) -> Any:
    """The result with the free surface at the origin."""
    from swelltree.results.sea import sea_quantities, sea_text
    from swelltree.waves.sea import elevation

    surface = np.asarray(elevation(waves, np.asarray(result.time), 0.0, 0.0))
    attrs = {"units": "m", "long_name": "free surface at the origin", "frame": "world"}
    # a measured record would fill the attributes with its samples
    text = textwrap.shorten(repr(wave), 500, placeholder=" ...")
    words = json.dumps(sea_quantities(wave, waves))
    about = {"wave": text, "wave_components": sea_text(waves), "sea_quantities": words}
    # on the axis, so that every variable taken out of the result knows its ramp
    time = result["time"].assign_attrs(ramp=float(waves.ramp))
    result = result.assign(elevation=("time", surface, attrs)).assign_coords(time=time)
    return result.assign_attrs(about)


def _warm_observer(model: Model, formulation: Formulation, y0: Phase, count: int) -> None:
    """Compile the observation while the stepper compiles and runs."""
    stack = jax.tree.map(lambda x: np.broadcast_to(x, (count, *np.shape(x))), y0)
    _observer(formulation)(model, np.zeros(count), stack)


def is_traced(model: Any) -> bool:
    """Are we inside jit, grad or vmap?"""
    return any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(model))


@study_of_model
def simulate(
    model: Model,
    wave: Any = None,
    *,
    duration: float = 0.0,
    output_step: float | None = None,
    times: Any = None,
    formulation: str | Formulation | None = None,
    solver: str | None = None,
    rtol: float = 1e-6,
    atol: float = 1e-9,
    step: float | None = None,
    max_step: float | None = None,
    start: Any = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    progress: bool | None = None,
    chunk: int = 200,
    max_steps_per_output: int = 64,
    case: int | str = 0,
    excitation: str = "components",
    provenance: dict[str, Any] | None = None,
) -> Any:
    """Simulate a model and return an `xarray.Dataset`.

    Inside `jit`, `grad` or `vmap` the result is a dict of arrays instead (time first).

    Args:
        model: from `compile`.
        wave: a described sea; still water if not given.
        duration: [s].
        output_step: time between samples [s]; if not given a twentieth of the shortest period of
            the waves and of the bodies, and no more than a two-hundredth of the duration.
        times: the output times themselves, instead of duration and step [s].
        formulation: name or object: path_matrix (the default), partial_velocity, composite_body,
            partition, lagrange. The two-step scheme knows lagrange (its default) and path_matrix
            (its default where all bodies and joints together have more than 100 unknowns).
        solver: tsit5 (adaptive, the default), dopri5 (adaptive), rk4 (fixed step) or stiff
            (implicit). Systems with dynamic lines or contacts are stepped by two_step or
            interior_point.
        rtol: relative tolerance of the adaptive solvers.
        atol: absolute tolerance of the adaptive solvers; ten times the largest residual of steps of
            the two-step scheme [m, rad].
        step: step of rk4 [s], the output step if not given; of the two-step scheme, chosen from
            the waves and the bodies' periods if not given.
        max_step: longest step of any solver [s]. Without it steps grow as far as the tolerances
            allow; they end at the corners of tables and operations, and functions of time are
            sampled for theirs.
        start: the result of another run of the same model, to go on where it ended (time goes on
            too, and with it the waves); another initial phase than the assembled one; or a word:
            "equilibrium" (at rest in still water, the default of systems with lines) or
            "described" (bodies as described, lines at rest), with dynamic lines also "cold" (drawn
            straight between their ends).
        checkpoint: folder that keeps the run chunk by chunk.
        resume: continue from that folder.
        progress: show a progress bar; by default on a terminal.
        chunk: samples per chunk.
        max_steps_per_output: most steps between outputs inside a derivative.
        case: number or name of the run; with the seed of the sea it gives the random phases.
        excitation: "components" (sum over the waves) or "convolution" (impulse response on the
            elevation at the origin, which looks ahead in time).
        provenance: attributes added to the result.
    """
    moored = model.has_unknowns or solver in MOORED
    formulation = formulation or (usual_formulation(model) if moored else "path_matrix")
    how = chosen_formulation(formulation)
    solver = solver or ("two_step" if moored else "tsit5")
    if not rtol > 0 or not atol > 0:
        raise SwelltreeError(f"rtol {rtol} and atol {atol} must be positive. Give e.g. 1e-6.")
    if chunk < 1:
        raise SwelltreeError(f"chunk {chunk} is not a number of samples. Give one or more.")
    for word, value in (("step", step), ("max_step", max_step)):
        if value is not None and not value > 0:
            raise SwelltreeError(f"{word} {value} s is not positive. Give more than zero.")
    waves, still = None if wave is None else realised(model, wave, case), model
    keeps = step if step is not None else kept_step(model)
    t_out = output_times(model, waves, duration, output_step, times, keeps)
    begin = end_time(start) if is_run(start) else 0.0
    if is_run(start):
        t_out = continued(t_out, begin, times is not None)
    if moored and (solver not in MOORED or how.name not in ("lagrange", "path_matrix")):
        raise SwelltreeError(
            f"solver '{solver}' with formulation '{how.name}' does not step dynamic lines. Use "
            "solver='two_step' with 'lagrange' or 'path_matrix', or quasi-static lines."
        )
    if not moored and model.hydro is not None and isinstance(model.hydro.memory, Convolution):
        if event_count(model):
            raise SwelltreeError(
                "radiation='convolution' keeps its step, and this model switches at events "
                "(latching, declutching) between steps. Compile with radiation='state_space'."
            )
        step = _convolution_step(model.hydro.memory, solver, step, t_out - begin)
    fixed = step if step is not None else float(np.diff(t_out, prepend=begin).max())
    longest = np.inf if max_step is None else max_step
    options = Options(rtol=rtol, atol=atol, step=fixed, max_step=longest)
    if waves is not None:
        model = in_waves(model, waves, float(t_out[-1]), excitation)
    known = []
    if not is_traced((model, start)):
        known = _checked(model)
        refuse_what_cannot_be_obeyed(model, t_out)
        make_room()
    model = without_table(model)
    if moored and is_traced((model, start)):
        from swelltree.studies.time.moored_traced import moored_traced

        return moored_traced(model, t_out, how.name, step, longest, start)
    if moored:
        from swelltree.studies.time.moored import simulate_moored

        result = simulate_moored(
            model,
            t_out,
            formulation=how.name,
            solver=solver,
            step=step,
            max_step=longest,
            atol=atol,
            start=start,
            still=still,
            waves=waves,
            chunk=chunk,
            progress=progress,
            checkpoint=checkpoint,
            resume=resume,
            provenance=provenance,
        )
        result = _with_findings(model, watched(model, result), waves, known)
        return result if waves is None else with_elevation(result, wave, waves)
    options = options._replace(corners=_corners(model, solver, np.union1d(begin, t_out), fixed))
    task = problem(how, how.settling_matters(model), event_count(model) > 0)
    if is_run(start):
        carry = _continued(still, how, start)
    else:
        y0 = _first_phase(still, how, start)
        if is_traced((model, y0)):
            return _traced(model, how, task, t_out, options, solver, y0, max_steps_per_output)
        carry = start_carry(0.0, y0, events=event_count(model))
    advance = compiled(task, solver)
    stepped = model if kept_step(model) is None else with_step_means(model, fixed)
    width = min(chunk, len(t_out))
    observer = threading.Thread(target=_warm_observer, args=(model, how, carry.y, width))
    observer.start()
    key = "" if checkpoint is None else run_key(model, carry, how, solver, options, chunk, t_out)
    run = run_chunks(
        lambda carry, t: advance(stepped, options, carry, t),
        carry,
        t_out,
        chunk=chunk,
        progress=progress,
        checkpoint=checkpoint,
        resume=resume,
        key=key,
    )
    observer.join()
    near = start.joint_coordinate.values[-1] if is_run(start) else None
    result = _to_dataset(model, how, solver, options, run, width, provenance, near)
    result = keep_end(result, still, _coordinates(how), run.carry, float(run.carry.t))
    result = _with_findings(model, watched(model, result), waves, known)
    return result if waves is None else with_elevation(result, wave, waves)


def _corners(model: Model, solver: str, times: np.ndarray, step: float) -> Any:
    """Where steps end besides the samples."""
    if kept_step(model) is not None:  # means over the steps stand for loads in time
        return padded_corners(())
    known = corner_times(model)
    if is_traced(model):
        return padded_corners(known)
    if solver != "rk4":
        return padded_corners(np.concatenate([known, noticed_times(model, times)]))
    unseen, divided = unseen_times(model, times, step)
    if divided and not unseen.size:
        warnings.warn(
            f"step {step:g} s is too long for a function of time in this model: in {divided} steps "
            "it does what its values at their ends and middles do not tell. Give a shorter step.",
            SwelltreeWarning,
            stacklevel=4,
        )
    return padded_corners(np.concatenate([known, unseen]))


def _checked(model: Model) -> list[Any]:
    """What is wrong with the physics of a model at first sight, told as warnings."""
    from swelltree.studies.doctor.check_physics import brief_check

    found = brief_check(model)
    for finding in found:
        warnings.warn(finding.sentence, SwelltreeWarning, stacklevel=3)
    return found


def _with_findings(model: Model, result: Any, waves: Any, known: list[Any]) -> Any:
    """The result with what was found before and after the run."""
    from swelltree.studies.time.linear_range import left_linear_range

    after = left_linear_range(model, result, waves)
    for finding in after:
        warnings.warn(finding.sentence, SwelltreeWarning, stacklevel=3)
    return result.assign_attrs(findings="\n".join(str(finding) for finding in known + after))


def _coordinates(how: Formulation) -> str:
    return f"a smooth solver with formulation '{how.name}'"


def _continued(model: Model, how: Formulation, run: Any) -> Carry:
    """State of the stepper at the end of another run."""
    if is_traced(model):
        raise SwelltreeError(
            "start: inside jit, grad or vmap a run cannot go on from a result. Give a phase."
        )
    like = start_carry(0.0, start_phase(model, how), events=event_count(model))
    return end_of(run, model, _coordinates(how), like)


def _first_phase(model: Model, how: Formulation, start: Any) -> Phase:
    """The phase a smooth run begins from; lines begin at rest."""
    from swelltree.studies.rest.equilibrium import equilibrium_state, find_rest

    if isinstance(start, Phase):
        return start
    if start is not None and not isinstance(start, str):
        raise refuse_start(start, "'equilibrium' or 'described'")
    at_rest = any(effect.begins_at_rest for effect in model.effects)
    word = start or ("equilibrium" if at_rest else "described")
    if word not in ("equilibrium", "described"):
        raise SwelltreeError(
            f"start '{word}' is not known. A run starts from 'equilibrium' or 'described'."
        )
    begin = start_phase(model, how)
    if word == "described":
        return begin
    rest = equilibrium_state(model, how)[0] if is_traced(model) else find_rest(model, how)[0]
    state = State(rest.q, begin.state.s, rest.chart)
    return Phase(state, begin.work, settled_at(model, how, state))


def _traced(
    model: Model,
    how: Formulation,
    task: Problem,
    times: np.ndarray,
    options: Options,
    solver: str,
    y0: Phase,
    max_steps: int,
) -> dict[str, Any]:
    """The whole run in one graph, differentiable in both modes."""
    carry, phases = integrate(
        task,
        model,
        start_carry(0.0, y0, events=event_count(model)),
        times,
        options,
        method=solver,
        differentiable=True,
        max_steps_per_output=max_steps,
    )
    seen = jax.vmap(lambda t, y: observe(model, how, t, y))(jnp.asarray(times), phases)
    seen = seen | {"time": jnp.asarray(times), "phase": phases}
    return with_watch(model, seen, carry.code, solver, float(options.rtol))


def _to_dataset(
    model: Model,
    how: Formulation,
    solver: str,
    options: Options,
    run: Any,
    width: int,
    provenance: Any,
    near: Any,
) -> Any:
    from swelltree.results.dataset import to_dataset

    raise_faults(model)
    code, message = run.code, run.message
    if code is not Code.SUCCESS:
        code, message = _failure(model, how, run)
        warnings.warn(message, SwelltreeWarning, stacklevel=3)
    if len(run.times) == 0:
        raise SwelltreeError(message)
    watch = _observer(how)

    def observed() -> Iterator[dict[str, np.ndarray]]:
        first = 0
        for phases in run.outputs_by_chunk():
            count = len(jax.tree.leaves(phases)[0])
            t = run.times[first : first + count]
            first += count
            # chunks of one length share a compiled program
            seen = watch(model, *jax.tree.map(lambda x: _padded(x, width), (t, phases)))
            yield {name: np.asarray(x)[:count] for name, x in seen.items()}

    channels = gathered(observed(), len(run.times))
    attrs = {
        "formulation": how.name,
        "solver": solver,
        "rtol": float(options.rtol),
        "atol": float(options.atol),
        "result": code.name.lower(),
        "message": message,
        "steps_accepted": int(run.carry.n_accepted),
        "steps_rejected": int(run.carry.n_rejected),
        "rate_evaluations": int(run.carry.n_rate),
    }
    if event_count(model):
        attrs["events"] = int(run.carry.n_events)
    if all_winches(model):
        attrs["event_log"] = "\n".join(stages_until(model, float(run.times[-1])))
    if solver == "rk4":
        attrs["step"] = float(options.step)
    return to_dataset(model, run.times, channels, attrs | (provenance or {}), near)


def _padded(x: np.ndarray, length: int) -> np.ndarray:
    """Rows repeated at the end up to a length."""
    x = np.asarray(x)
    return np.concatenate([x, np.repeat(x[-1:], length - len(x), axis=0)])


def _moments(model: Model, how: Formulation, run: Any, when: float) -> Iterator[Now]:
    """The last good state, a time just behind it, and where the motion was going from there.

    A step that failed met a law at a state that was not kept: the states on the tangent of the
    motion lead there, the nearest first.
    """
    y = jax.tree.map(jnp.asarray, run.carry.y)
    t = float(run.carry.t)

    def at(later: Any, h: Any, rate: Any) -> Now:
        moved = y if rate is None else jax.tree.map(lambda a, b: a + h * b, y, rate)
        kin = how.kinematics(model, jnp.asarray(later), moved.state)
        return Now(jnp.asarray(later), kin.motion, moved.internal)

    yield at(t, 0.0, None)
    yield at(when + 1e-9, 0.0, None)
    rate = rates(model, how, jnp.asarray(t), y)
    probe = jax.jit(lambda h: at(t + h, h, rate))
    longest = max(float(run.carry.step), when - t, AHEAD)
    for h in np.geomspace(1e-9, longest, PROBES):
        yield probe(h)


def _failure(model: Model, how: Formulation, run: Any) -> tuple[Code, str]:
    """Which body or loop, when and why."""
    when = float(run.carry.t) if run.code is Code.STOPPED_BY_USER else float(run.carry.t_fail)
    sentence = describe(run.code, when)
    if run.code is Code.STOPPED_BY_USER:
        return run.code, sentence
    # the body that moves fastest at the last good state is where to look
    phase = jax.tree.map(jnp.asarray, run.carry.y)
    kin = how.kinematics(model, jnp.asarray(run.carry.t), phase.state)
    pose, coordinate = jax.tree.map(np.asarray, (kin.motion.pose, kin.motion.coordinate))
    angles = coordinate[np.array(model.layout.angle_dofs, dtype=int)]
    loop = why_stopped(model, float(run.carry.t), pose, angles)
    if loop is not None:
        return Code.LOOP_SINGULAR, f"time stepping stopped at t = {when:.6g} s. {loop}"
    speed = np.abs(np.asarray(kin.motion.v)).max(axis=1)
    body = model.layout.bodies[int(np.nanargmax(np.where(np.isnan(speed), np.inf, speed)))]
    law = not_finite(model, _moments(model, how, run, when))
    sentence += f" Look at body '{body}', which moves fastest there."
    return run.code, sentence + (f" {law}" * bool(law))
