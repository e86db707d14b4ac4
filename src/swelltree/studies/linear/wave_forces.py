"""Linear wave forces of effects without data: members, bodies given by numbers, drag in a current.

Their loads are differentiated with respect to the amplitude of one plane wave at the state of
rest, at two instants a quarter period apart, which are the real and the imaginary part.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from swelltree.jit import Array, Points, jax, jnp
from swelltree.model.capabilities import ExcitedByWaves, having
from swelltree.model.effect import Instant
from swelltree.model.model import Model
from swelltree.multibody.formulations import Formulation, State
from swelltree.multibody.formulations.equations import settled_at
from swelltree.waves.airy import Components
from swelltree.waves.dispersion import depth_decay, dispersion


def excited(model: Model) -> list[ExcitedByWaves]:
    """Effects with wave loads that are not in the hydrodynamic data."""
    return [effect for effect in having(model, ExcitedByWaves) if "waves" in effect.feels]


@functools.lru_cache(maxsize=32)
def _compiled(formulation: Formulation) -> Callable[..., np.ndarray]:
    """Force per metre of amplitude of many waves, real and imaginary part, (c, 2, 6N)."""

    def forces(model: Model, state: State, w: Array, k: Array, b: Array) -> Array:
        motion = formulation.kinematics(model, jnp.zeros(()), state).motion
        internal = settled_at(model, formulation, state)

        def at(t: Array, a: Array) -> Array:
            one = [jnp.reshape(x, (1,)) for x in (a, w, k, b, 0.0 * a)]
            sea = replace(model.sea, waves=Components(*one))
            moved = model.replace(sea=sea)
            groups = excited(model)
            parts = [group.loads(moved, Instant(t, motion, internal)).wrench for group in groups]
            return jnp.asarray(sum(parts)).reshape(-1)

        def rate(part: float) -> Array:
            t = part * 0.5 * jnp.pi / w
            slope = (jnp.zeros(()),), (jnp.ones(()),)
            return jax.jvp(lambda a: at(t, a), *slope)[1]

        return jnp.stack([rate(0.0), rate(1.0)])

    return Points(forces, fixed=2, many=True)


def group_excitation(
    model: Model, how: Formulation, state: State, omega: np.ndarray, beta: np.ndarray
) -> np.ndarray:
    """Excitation of effects per metre of a crest at the origin, (c, 6N) complex.

    Args:
        model: without waves.
        how: the formulation of the state.
        state: of rest.
        omega: of each wave [rad/s].
        beta: of each wave [rad].
    """
    if not excited(model):
        return np.zeros((len(omega), 6 * model.layout.n_bodies), dtype=complex)
    k = np.asarray(dispersion(omega, model.water.depth, model.water.g))
    waves = (np.asarray(x, float) for x in (omega, k, beta))
    parts = _compiled(how)(model, state, *waves)
    return parts[:, 0] + 1j * parts[:, 1]


def water_velocity(model: Model, omega: np.ndarray, beta: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Velocity of linear waves per metre of a crest at the origin, exp(-iwt), (c, k, 3)."""
    water = model.water
    k = np.asarray(dispersion(omega, water.depth, water.g))[:, None]
    C, S = depth_decay(k, np.minimum(at[:, 2], 0.0)[None], water.depth)
    ahead = np.cos(beta)[:, None], np.sin(beta)[:, None]
    way = np.exp(1j * k * (ahead[0] * at[:, 0] + ahead[1] * at[:, 1]))
    size = water.g * k / omega[:, None] * way
    return np.stack([size * C * ahead[0], size * C * ahead[1], -1j * size * S], axis=-1)
