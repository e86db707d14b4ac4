"""Linear wave forces of effects without data: members, bodies given by numbers, drag in a current.

Their loads are differentiated with respect to the amplitude of one plane wave at the state of
rest, at two instants a quarter period apart, which are the real and the imaginary part.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from swelltree.engine.arrays import Array, Tree
from swelltree.engine.backend import jax, jnp
from swelltree.formulations import Formulation, State
from swelltree.formulations.equations import settled_at
from swelltree.model.effect import Now
from swelltree.model.model import Model
from swelltree.waves.airy import Components
from swelltree.waves.dispersion import depth_decay, dispersion


@functools.lru_cache(maxsize=32)
def _compiled(formulation: Formulation) -> Tree:
    """Force per metre of amplitude of many waves, real and imaginary part, (2, c, 6N)."""

    def forces(model: Model, state: State, omega: Array, k: Array, beta: Array) -> Array:
        motion = formulation.kinematics(model, jnp.zeros(()), state).motion
        internal = settled_at(model, formulation, state)

        def at(t: Array, a: Array, w: Array, k: Array, b: Array) -> Array:
            one = [jnp.reshape(x, (1,)) for x in (a, w, k, b, 0.0 * a)]
            sea = replace(model.sea, waves=Components(*one))
            moved = model.replace(sea=sea)
            groups = [group for group in model.effects if group.adds_excitation]
            parts = [group.loads(moved, Now(t, motion, internal)).wrench for group in groups]
            return jnp.asarray(sum(parts)).reshape(-1)

        def rate(part: float, w: Array, k: Array, b: Array) -> Array:
            t = part * 0.5 * jnp.pi / w
            slope = (jnp.zeros(()),), (jnp.ones(()),)
            return jax.jvp(lambda a: at(t, a, w, k, b), *slope)[1]

        def both(w: Array, k: Array, b: Array) -> Array:
            return jnp.stack([rate(0.0, w, k, b), rate(1.0, w, k, b)])

        return jax.vmap(both, out_axes=1)(omega, k, beta)

    return jax.jit(forces)


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
    if not any(group.adds_excitation for group in model.effects):
        return np.zeros((len(omega), 6 * model.layout.n_bodies), dtype=complex)
    k = np.asarray(dispersion(omega, model.water.depth, model.water.g))
    real, imaginary = np.asarray(_compiled(how)(model, state, omega, k, beta))
    return real + 1j * imaginary


def water_velocity(model: Model, omega: np.ndarray, beta: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Velocity of linear waves per metre of a crest at the origin, exp(-iwt), (c, k, 3)."""
    water = model.water
    k = np.asarray(dispersion(omega, water.depth, water.g))[:, None]
    C, S = depth_decay(k, np.minimum(at[:, 2], 0.0)[None], water.depth)
    ahead = np.cos(beta)[:, None], np.sin(beta)[:, None]
    way = np.exp(1j * k * (ahead[0] * at[:, 0] + ahead[1] * at[:, 1]))
    size = water.g * k / omega[:, None] * way
    return np.stack([size * C * ahead[0], size * C * ahead[1], -1j * size * S], axis=-1)
