r"""Bodies at the surface of the water over two steps in a row.

With A at the half steps before and after and A_n now, the water with the body takes

.. math::
    A_n \frac{v_+ - v_-}{h} + \frac{(A_+ - A_n)_+ (v_+ - u) + (A_n - A_-)_+ (v_- - u)}{h}

On entry that is (A_+ v_+ - A_- v_-)/h: however long the step, the momentum that the water has
when the body is in was taken from it. On exit A_n remains, which is not negative. Buoyancy is
the mean of those at the half steps, which weighs its linear part 1/4, 1/2, 1/4 and is stable
at any step. On the way to rest, where time stands still, buoyancy is that of the next instant and
the water has no inertia.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swelltree.hydro.splash_zone.immersions import Immersions, Wet, immersions, surface_near, wet_at
from swelltree.integrate.complementarity.poses import PoseStencil, before
from swelltree.integrate.complementarity.state import StepConstants, StepperState
from swelltree.jit import Array, Tree, jnp, pytree
from swelltree.model.model import Model
from swelltree.model.sea import surface_at
from swelltree.model.solved import element_names
from swelltree.multibody.inertia import kirchhoff
from swelltree.multibody.kinematics import Motion, Pose, point_motion
from swelltree.spatial.rotations import dot, matvec


@pytree()
class SplashState:
    """Data of immersing bodies that are known before a step is solved."""

    now: Wet
    before: Wet  # half a step ago
    flow: Tree  # water at the centres now
    height: Array  # (e,) of the surface half a step ahead, where the body is then if it goes on
    slope: Array  # (e, 2) there
    place: Array  # (e, 2)


def apart(model: Model) -> Model:
    """The model without immersing bodies, which the steps treat separately."""
    group = immersions(model)
    if group is None:
        return model
    groups = (replace(group, stepped=True) if g is group else g for g in model.effects)
    return model.replace(effects=tuple(groups))


def splash_state(
    model: Model, setup: StepConstants, state: StepperState, motion: Motion
) -> SplashState | None:
    """Surface and water around a step."""
    group = immersions(model)
    if group is None:
        return None
    body = np.array(group.body)
    last = before(state.pose, state.v_minus, setup.h)
    here, there = (_points(group, pose) for pose in (state.pose, last))
    half = 0.5 * setup.ahead
    middle = 0.5 * (here + there)
    ahead = here + half * point_motion(motion, body, group.point).velocity
    surface, depth, _ = group.depths(model, state.t, motion)
    wet = wet_at(group.tables, depth)
    next_surface = surface_near(model, state.t + half, ahead[:, :2])
    return SplashState(
        now=wet,
        before=wet_at(group.tables, surface_at(model, state.t - half, middle) - middle[:, 2]),
        flow=group.water(model, state.t, motion, wet, surface.height),
        height=next_surface.height,
        slope=next_surface.slope,
        place=ahead[:, :2],
    )


def _points(group: Immersions, pose: Pose) -> Array:
    """Places of the points whose depth counts (e, 3)."""
    body = np.array(group.body)
    return pose.p[body] + matvec(pose.R[body], group.point)


def _after(group: Immersions, setup: StepConstants, water: SplashState, three: PoseStencil) -> Wet:
    """Wet parts half a step ahead; in statics at the next instant."""
    here, there = _points(group, three.now), _points(group, three.next)
    at = here + (1.0 - 0.5 * setup.ahead / setup.h) * (there - here)
    height = water.height + dot(water.slope, at[:, :2] - water.place)
    return wet_at(group.tables, height - at[:, 2])


def immersed_balance(
    model: Model, setup: StepConstants, water: SplashState | None, three: PoseStencil
) -> tuple[Array, Array]:
    """Wrench of the water on immersing bodies (N, 6), and powers of their terms."""
    group = immersions(model)
    if group is None or water is None:
        return jnp.zeros_like(three.v), jnp.zeros(0)
    body, h = np.array(group.body), setup.h
    plus, minus = three.v_plus[body], three.v_minus[body]
    v = 0.5 * (plus + minus)
    motion = Motion(three.now, three.v, three.next_frames, jnp.zeros(0), jnp.zeros(0))
    after = _after(group, setup, water, three)
    moving = setup.ahead / h
    u, wet = water.flow.velocity, water.now
    grown = after.added - wet.added, wet.added - water.before.added
    A, G, F = (
        moving * group.six(motion, x)
        for x in (wet.added, group.taken(grown[0]), group.taken(grown[1]))
    )
    slam = matvec(G, group.relative(plus, u)) + matvec(F, group.relative(minus, u))
    inertia = (matvec(A, plus - minus) + slam) / h
    inertia = inertia + kirchhoff(A, group.relative(v, u))
    inertia = inertia - moving * group.pushed(A, water.flow.acceleration)
    drag = group.drawn(model, motion, wet, water.flow, moving * v)
    share = 0.5 * moving
    volume = (1.0 - share) * after.volume + share * water.before.volume
    pressed = moving * group.pressed(model, wet, water.flow)
    force = drag + group.lift(model, volume) + pressed
    needed = inertia - group.at_center(motion, wet, force)
    # energy of the water with the body, half a step ahead less half a step ago
    E, B = (moving * group.six(motion, x) for x in (after.added, water.before.added))
    gained = 0.5 * (dot(plus, matvec(E, plus)) - dot(minus, matvec(B, minus))) / h
    relative = group.relative(v, u)
    lost = G + F - 0.5 * (E - B)
    spray = -dot(relative, matvec(lost, relative)) / h
    power = gained - dot(needed - kirchhoff(A, v), v)
    if model.sea.waves is None:
        stored = -model.rho * model.gravity[2] * group.buoyant
        power = power + stored * (after.head - water.before.head) / h
    return group.spread(model, needed), jnp.concatenate([power - spray, spray])


def immersed_power(
    model: Model, setup: StepConstants, water: SplashState | None, three: PoseStencil
) -> Array:
    """Powers of immersing bodies among those of all elements."""
    names = element_names(model)
    group = immersions(model)
    if group is None:
        return jnp.zeros(len(names))
    power = immersed_balance(model, setup, water, three)[1]
    # names of elements are unique
    first = names.index(group.names[0])
    return jnp.pad(power, (first, len(names) - first - power.shape[0]))
